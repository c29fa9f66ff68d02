//! Signatures through the API that OpenSSL and BoringSSL share: a module of both adapters.

use std::ptr;

use anyhow::{Result, ensure};
use tls_harness::{scenario::Certificate, workloads::primitives::Signature};

use crate::{
    ffi,
    ssl::{check, private_key},
};

const HASH: usize = 32;

/// The salt is as long as the hash: `RSA_PSS_SALTLEN_DIGEST` of rsa.h.
const SALT_AS_HASH: i32 = -1;

/// A key, with contexts for signing, verifying and hashing.
pub struct EvpSignature {
    key: *mut ffi::EVP_PKEY,
    signer: *mut ffi::EVP_PKEY_CTX,
    verifier: *mut ffi::EVP_PKEY_CTX,
    hasher: *mut ffi::EVP_MD_CTX,
    /// Never freed.
    sha256: *const ffi::EVP_MD,
}

impl EvpSignature {
    /// # Errors
    ///
    /// The library rejects the key.
    pub fn new(certificate: Certificate, key: &str) -> Result<Self> {
        let sha256 = ffi::sha256()?;
        let key = private_key(key)?;
        // SAFETY: the returned value owns each object, and a context holds a reference to the key.
        let this = unsafe {
            Self {
                key,
                signer: ffi::EVP_PKEY_CTX_new(key, ptr::null_mut()),
                verifier: ffi::EVP_PKEY_CTX_new(key, ptr::null_mut()),
                hasher: ffi::EVP_MD_CTX_new(),
                sha256,
            }
        };
        check(!this.signer.is_null(), "EVP_PKEY_CTX_new")?;
        check(!this.verifier.is_null(), "EVP_PKEY_CTX_new")?;
        check(!this.hasher.is_null(), "EVP_MD_CTX_new")?;
        // SAFETY: the contexts and the hash are valid.
        unsafe {
            check(
                ffi::EVP_PKEY_sign_init(this.signer) == 1,
                "EVP_PKEY_sign_init",
            )?;
            check(
                ffi::EVP_PKEY_verify_init(this.verifier) == 1,
                "EVP_PKEY_verify_init",
            )?;
            for context in [this.signer, this.verifier] {
                check(
                    ffi::EVP_PKEY_CTX_set_signature_md(context, sha256) == 1,
                    "EVP_PKEY_CTX_set_signature_md",
                )?;
                if matches!(certificate, Certificate::Rsa2048 | Certificate::Rsa4096) {
                    let padding = ffi::RSA_PKCS1_PSS_PADDING;
                    check(
                        ffi::EVP_PKEY_CTX_set_rsa_padding(context, padding) == 1,
                        "EVP_PKEY_CTX_set_rsa_padding",
                    )?;
                    check(
                        ffi::EVP_PKEY_CTX_set_rsa_pss_saltlen(context, SALT_AS_HASH) == 1,
                        "EVP_PKEY_CTX_set_rsa_pss_saltlen",
                    )?;
                }
            }
        }
        Ok(this)
    }

    fn hash(&mut self, message: &[u8]) -> Result<[u8; HASH]> {
        let (mut hash, mut length) = ([0; HASH], 0);
        // SAFETY: the context is valid, and the buffer has the length of a SHA-256 hash.
        let done = unsafe {
            ffi::EVP_DigestInit_ex(self.hasher, self.sha256, ptr::null_mut()) == 1
                && ffi::EVP_DigestUpdate(self.hasher, message.as_ptr().cast(), message.len()) == 1
                && ffi::EVP_DigestFinal_ex(self.hasher, hash.as_mut_ptr(), &mut length) == 1
        };
        check(done, "EVP_Digest…")?;
        ensure!(
            length as usize == HASH,
            "a hash of {length} bytes, expected {HASH}"
        );
        Ok(hash)
    }
}

impl Signature for EvpSignature {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let hash = self.hash(message)?;
        let mut length = signature.len();
        // SAFETY: the context is valid, and both lengths are those of their buffers.
        let result = unsafe {
            ffi::EVP_PKEY_sign(
                self.signer,
                signature.as_mut_ptr(),
                &mut length,
                hash.as_ptr(),
                HASH,
            )
        };
        check(result == 1, "EVP_PKEY_sign")?;
        Ok(length)
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        let hash = self.hash(message)?;
        // SAFETY: the context is valid, and both lengths are those of their buffers.
        let result = unsafe {
            ffi::EVP_PKEY_verify(
                self.verifier,
                signature.as_ptr(),
                signature.len(),
                hash.as_ptr(),
                HASH,
            )
        };
        check(result == 1, "EVP_PKEY_verify")
    }
}

impl Drop for EvpSignature {
    fn drop(&mut self) {
        // SAFETY: `self` owns all of them, and freeing null is allowed.
        unsafe {
            ffi::EVP_MD_CTX_free(self.hasher);
            ffi::EVP_PKEY_CTX_free(self.verifier);
            ffi::EVP_PKEY_CTX_free(self.signer);
            ffi::EVP_PKEY_free(self.key);
        }
    }
}
