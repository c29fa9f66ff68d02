//! Signatures through the API that OpenSSL, BoringSSL and AWS-LC share: a module of these adapters.

use std::ptr;

use anyhow::Result;
use tls_harness::{library::primitives::Signature, scenario::Certificate};

use crate::{
    ffi,
    ssl::{check, private_key},
};

/// Bytes of the longest hash, SHA-384.
const LONGEST_HASH: usize = 48;

/// The salt is as long as the hash: `RSA_PSS_SALTLEN_DIGEST` of rsa.h.
const SALT_AS_HASH: i32 = -1;

/// A key that signs and verifies.
pub fn signature(certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
    let whole = certificate.is_ml_dsa() || certificate == Certificate::Ed25519;
    Ok(match whole {
        true => Box::new(MessageSignature::new(key)?),
        false => Box::new(HashSignature::new(certificate, key)?),
    })
}

/// A key that signs a hash, with contexts for signing, verifying and hashing.
struct HashSignature {
    key: *mut ffi::EVP_PKEY,
    signer: *mut ffi::EVP_PKEY_CTX,
    verifier: *mut ffi::EVP_PKEY_CTX,
    hasher: *mut ffi::EVP_MD_CTX,
    /// Never freed.
    algorithm: *const ffi::EVP_MD,
    hash: [u8; LONGEST_HASH],
}

impl HashSignature {
    fn new(certificate: Certificate, key: &str) -> Result<Self> {
        let algorithm = ffi::hash(certificate)?;
        let key = private_key(key)?;
        // SAFETY: the returned value owns each object, and a context holds a reference to the key.
        let this = unsafe {
            Self {
                key,
                signer: ffi::EVP_PKEY_CTX_new(key, ptr::null_mut()),
                verifier: ffi::EVP_PKEY_CTX_new(key, ptr::null_mut()),
                hasher: ffi::EVP_MD_CTX_new(),
                algorithm,
                hash: [0; LONGEST_HASH],
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
                    ffi::EVP_PKEY_CTX_set_signature_md(context, algorithm) == 1,
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

    /// Hashes a message into `self.hash` and returns the length of the hash.
    fn hash(&mut self, message: &[u8]) -> Result<usize> {
        let mut length = 0;
        // SAFETY: the context is valid, and the buffer has room for the longest hash.
        let done = unsafe {
            ffi::EVP_DigestInit_ex(self.hasher, self.algorithm, ptr::null_mut()) == 1
                && ffi::EVP_DigestUpdate(self.hasher, message.as_ptr().cast(), message.len()) == 1
                && ffi::EVP_DigestFinal_ex(self.hasher, self.hash.as_mut_ptr(), &mut length) == 1
        };
        check(done, "EVP_Digest…")?;
        Ok(length as usize)
    }
}

impl Signature for HashSignature {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let hash = self.hash(message)?;
        let mut length = signature.len();
        // SAFETY: the context is valid, and both lengths are those of their buffers.
        let result = unsafe {
            ffi::EVP_PKEY_sign(
                self.signer,
                signature.as_mut_ptr(),
                &mut length,
                self.hash.as_ptr(),
                hash,
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
                self.hash.as_ptr(),
                hash,
            )
        };
        check(result == 1, "EVP_PKEY_verify")
    }
}

impl Drop for HashSignature {
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

/// A key that signs a message as a whole. A context is initialized for each message: OpenSSL signs
/// one message with it.
struct MessageSignature {
    key: *mut ffi::EVP_PKEY,
    context: *mut ffi::EVP_MD_CTX,
}

impl MessageSignature {
    fn new(key: &str) -> Result<Self> {
        // SAFETY: the returned value owns both objects.
        let this = Self {
            key: private_key(key)?,
            context: unsafe { ffi::EVP_MD_CTX_new() },
        };
        check(!this.context.is_null(), "EVP_MD_CTX_new")?;
        Ok(this)
    }
}

impl Signature for MessageSignature {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let (none, mut length) = (ptr::null_mut(), signature.len());
        // SAFETY: key and context are valid, and both lengths are those of their buffers.
        unsafe {
            let (context, hash) = (self.context, ptr::null());
            check(
                ffi::EVP_DigestSignInit(context, none, hash, ptr::null_mut(), self.key) == 1,
                "EVP_DigestSignInit",
            )?;
            let (signature, message_length) = (signature.as_mut_ptr(), message.len());
            check(
                ffi::EVP_DigestSign(
                    context,
                    signature,
                    &mut length,
                    message.as_ptr(),
                    message_length,
                ) == 1,
                "EVP_DigestSign",
            )?;
        }
        Ok(length)
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        let none = ptr::null_mut();
        // SAFETY: key and context are valid, and both lengths are those of their buffers.
        unsafe {
            let (context, hash) = (self.context, ptr::null());
            check(
                ffi::EVP_DigestVerifyInit(context, none, hash, ptr::null_mut(), self.key) == 1,
                "EVP_DigestVerifyInit",
            )?;
            let (found, length) = (signature.as_ptr(), signature.len());
            check(
                ffi::EVP_DigestVerify(context, found, length, message.as_ptr(), message.len()) == 1,
                "EVP_DigestVerify",
            )
        }
    }
}

impl Drop for MessageSignature {
    fn drop(&mut self) {
        // SAFETY: `self` owns both of them, and freeing null is allowed.
        unsafe {
            ffi::EVP_MD_CTX_free(self.context);
            ffi::EVP_PKEY_free(self.key);
        }
    }
}
