//! BoringSSL's own cryptography.

use std::{mem::MaybeUninit, ptr};

use anyhow::Result;
use tls_harness::{
    library::primitives::{Aead, Cipher, Cryptography, Group, KeyExchange, PrivateKey, Signature},
    scenario::Certificate,
};

use crate::{
    bssl_primitives::{aead, elliptic, has_length},
    evp, ffi,
    ssl::check,
};

const SECRET: usize = ffi::MLKEM_SHARED_SECRET_BYTES as usize;

pub struct Boring;

impl Cryptography for Boring {
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
        aead(cipher, key)
    }

    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
        evp::signature(certificate, key)
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>> {
        match group {
            Group::MlKem768 => Ok(Box::new(MlKem768)),
            _ => elliptic(group),
        }
    }
}

struct MlKem768;

struct MlKem768Key(Box<MaybeUninit<ffi::MLKEM768_private_key>>);

impl KeyExchange for MlKem768 {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        has_length(share, ffi::MLKEM768_PUBLIC_KEY_BYTES as usize)?;
        let mut key = Box::new_uninit();
        // SAFETY: the share has the length that is written, null requests no seed, and the key is
        // written in full.
        unsafe {
            ffi::MLKEM768_generate_key(share.as_mut_ptr(), ptr::null_mut(), key.as_mut_ptr());
        }
        Ok(Box::new(MlKem768Key(key)))
    }

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        has_length(answer, ffi::MLKEM768_CIPHERTEXT_BYTES as usize)?;
        has_length(secret, SECRET)?;
        let mut key = MaybeUninit::uninit();
        let mut share = ffi::CBS {
            data: share.as_ptr(),
            len: share.len(),
        };
        // SAFETY: the CBS lies within `share`, and the key is read only after parsing succeeded;
        // answer and secret have the lengths that are written.
        unsafe {
            let parsed = ffi::MLKEM768_parse_public_key(key.as_mut_ptr(), &mut share);
            check(parsed == 1, "MLKEM768_parse_public_key")?;
            ffi::MLKEM768_encap(answer.as_mut_ptr(), secret.as_mut_ptr(), key.as_ptr());
        }
        Ok(())
    }
}

impl PrivateKey for MlKem768Key {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        has_length(secret, SECRET)?;
        // SAFETY: `generate` wrote the key, and the secret has the length that is written.
        let result = unsafe {
            ffi::MLKEM768_decap(
                secret.as_mut_ptr(),
                answer.as_ptr(),
                answer.len(),
                self.0.as_ptr(),
            )
        };
        check(result == 1, "MLKEM768_decap")
    }
}
