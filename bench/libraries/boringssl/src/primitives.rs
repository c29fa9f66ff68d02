//! BoringSSL's own cryptography.

use std::{mem::MaybeUninit, ptr};

use anyhow::{Context, Result, ensure};
use tls_harness::{
    scenario::Certificate,
    workloads::primitives::{
        Aead, Cipher, Cryptography, Group, KeyExchange, NONCE, PrivateKey, Secret, Signature, TAG,
    },
};

use crate::{evp, ffi, ssl::check};

pub struct Boring;

impl Cryptography for Boring {
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
        // SAFETY: the ciphers are static, and the library copies the key.
        let context = unsafe {
            let cipher = match cipher {
                Cipher::Aes128Gcm => ffi::EVP_aead_aes_128_gcm(),
                Cipher::Aes256Gcm => ffi::EVP_aead_aes_256_gcm(),
                Cipher::ChaCha20Poly1305 => ffi::EVP_aead_chacha20_poly1305(),
            };
            ffi::EVP_AEAD_CTX_new(cipher, key.as_ptr(), key.len(), TAG)
        };
        check(!context.is_null(), "EVP_AEAD_CTX_new")?;
        Ok(Box::new(BoringAead(context)))
    }

    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
        evp::signature(certificate, key)
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>> {
        Ok(match group {
            Group::X25519 => Box::new(X25519),
            Group::MlKem768 => Box::new(MlKem768),
        })
    }
}

struct BoringAead(*mut ffi::EVP_AEAD_CTX);

impl Drop for BoringAead {
    fn drop(&mut self) {
        // SAFETY: `self` owns the context.
        unsafe { ffi::EVP_AEAD_CTX_free(self.0) };
    }
}

fn split(record: &mut [u8]) -> Result<(&mut [u8], &mut [u8])> {
    let data = record.len().checked_sub(TAG);
    Ok(record.split_at_mut(data.context("a record without room for a tag")?))
}

impl Aead for BoringAead {
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let (data, tag) = split(record)?;
        let mut length = 0;
        // SAFETY: the context is valid, all lengths are those of their buffers, and sealing in
        // place is allowed.
        let result = unsafe {
            ffi::EVP_AEAD_CTX_seal_scatter(
                self.0,
                data.as_mut_ptr(),
                tag.as_mut_ptr(),
                &mut length,
                tag.len(),
                nonce.as_ptr(),
                nonce.len(),
                data.as_ptr(),
                data.len(),
                ptr::null(),
                0,
                additional.as_ptr(),
                additional.len(),
            )
        };
        check(result == 1, "EVP_AEAD_CTX_seal_scatter")?;
        ensure!(length == TAG, "a tag of {length} bytes, expected {TAG}");
        Ok(())
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let (data, tag) = split(record)?;
        // SAFETY: as in `seal`.
        let result = unsafe {
            ffi::EVP_AEAD_CTX_open_gather(
                self.0,
                data.as_mut_ptr(),
                nonce.as_ptr(),
                nonce.len(),
                data.as_ptr(),
                data.len(),
                tag.as_ptr(),
                tag.len(),
                additional.as_ptr(),
                additional.len(),
            )
        };
        check(result == 1, "EVP_AEAD_CTX_open_gather")
    }
}

/// Fails unless a message has the length that its algorithm defines.
fn has_length(message: &[u8], expected: usize) -> Result<()> {
    ensure!(
        message.len() == expected,
        "{} bytes, expected {expected}",
        message.len()
    );
    Ok(())
}

struct X25519;

struct X25519Key([u8; ffi::X25519_PRIVATE_KEY_LEN as usize]);

impl KeyExchange for X25519 {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        has_length(share, ffi::X25519_PUBLIC_VALUE_LEN as usize)?;
        let mut key = Box::new(X25519Key([0; _]));
        // SAFETY: both buffers have the length that is written.
        unsafe { ffi::X25519_keypair(share.as_mut_ptr(), key.0.as_mut_ptr()) };
        Ok(key)
    }
}

impl PrivateKey for X25519Key {
    fn agree(&mut self, answer: &[u8], secret: &mut Secret) -> Result<()> {
        has_length(answer, ffi::X25519_PUBLIC_VALUE_LEN as usize)?;
        // SAFETY: all buffers have the length that is read or written.
        let result = unsafe { ffi::X25519(secret.as_mut_ptr(), self.0.as_ptr(), answer.as_ptr()) };
        check(result == 1, "X25519")
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

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut Secret) -> Result<()> {
        has_length(answer, ffi::MLKEM768_CIPHERTEXT_BYTES as usize)?;
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
    fn agree(&mut self, answer: &[u8], secret: &mut Secret) -> Result<()> {
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
