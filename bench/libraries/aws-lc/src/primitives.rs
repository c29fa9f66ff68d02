//! AWS-LC's own cryptography, with the API that its libssl uses.

use std::ptr;

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

pub struct AwsLcCrypto;

impl Cryptography for AwsLcCrypto {
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

/// A public key or a key pair.
struct MlKem768Key(*mut ffi::EVP_PKEY);

impl Drop for MlKem768Key {
    fn drop(&mut self) {
        // SAFETY: `self` owns the key.
        unsafe { ffi::EVP_PKEY_free(self.0) };
    }
}

/// A context for one operation.
struct KeyContext(*mut ffi::EVP_PKEY_CTX);

impl Drop for KeyContext {
    fn drop(&mut self) {
        // SAFETY: `self` owns the context.
        unsafe { ffi::EVP_PKEY_CTX_free(self.0) };
    }
}

impl MlKem768Key {
    fn context(&self) -> Result<KeyContext> {
        // SAFETY: the key is valid, and the returned value owns the context.
        let context = KeyContext(unsafe { ffi::EVP_PKEY_CTX_new(self.0, ptr::null_mut()) });
        check(!context.0.is_null(), "EVP_PKEY_CTX_new")?;
        Ok(context)
    }
}

impl KeyExchange for MlKem768 {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        let mut key = MlKem768Key(ptr::null_mut());
        let mut length = share.len();
        // SAFETY: the values own the context and the key, and the length is that of the buffer.
        unsafe {
            let none = ptr::null_mut();
            let context = KeyContext(ffi::EVP_PKEY_CTX_new_id(ffi::EVP_PKEY_KEM, none));
            check(!context.0.is_null(), "EVP_PKEY_CTX_new_id")?;
            let made = ffi::EVP_PKEY_CTX_kem_set_params(context.0, ffi::NID_MLKEM768) == 1
                && ffi::EVP_PKEY_keygen_init(context.0) == 1
                && ffi::EVP_PKEY_keygen(context.0, &mut key.0) == 1;
            check(made, "EVP_PKEY_keygen")?;
            let written =
                ffi::EVP_PKEY_get_raw_public_key(key.0, share.as_mut_ptr(), &mut length) == 1;
            check(written, "EVP_PKEY_get_raw_public_key")?;
        }
        has_length(share, length)?;
        Ok(Box::new(key))
    }

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        // SAFETY: the length is that of the buffer, and the value owns the key.
        let key = MlKem768Key(unsafe {
            ffi::EVP_PKEY_kem_new_raw_public_key(ffi::NID_MLKEM768, share.as_ptr(), share.len())
        });
        check(!key.0.is_null(), "EVP_PKEY_kem_new_raw_public_key")?;
        let context = key.context()?;
        let (mut answer_length, mut secret_length) = (answer.len(), secret.len());
        // SAFETY: the context is valid, and the lengths are those of the buffers.
        let done = unsafe {
            ffi::EVP_PKEY_encapsulate(
                context.0,
                answer.as_mut_ptr(),
                &mut answer_length,
                secret.as_mut_ptr(),
                &mut secret_length,
            )
        };
        check(done == 1, "EVP_PKEY_encapsulate")?;
        has_length(answer, answer_length)?;
        has_length(secret, secret_length)
    }
}

impl PrivateKey for MlKem768Key {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        let context = self.context()?;
        let mut length = secret.len();
        // SAFETY: the context is valid, and the lengths are those of the buffers.
        let done = unsafe {
            ffi::EVP_PKEY_decapsulate(
                context.0,
                secret.as_mut_ptr(),
                &mut length,
                answer.as_ptr(),
                answer.len(),
            )
        };
        check(done == 1, "EVP_PKEY_decapsulate")?;
        has_length(secret, length)
    }
}
