//! The primitives that BoringSSL and AWS-LC, a fork of it, have in the same API: a module of both
//! adapters.

use std::{ffi::c_int, ptr};

use anyhow::{Context, Result, bail, ensure};
use tls_harness::{
    library::primitives::{Aead, Cipher, Group, KeyExchange, NONCE, PrivateKey, TAG},
    scenario::Certificate,
};

use crate::{ffi, ssl::check};

/// The hash of measured signatures.
pub fn hash(certificate: Certificate) -> Result<*const ffi::EVP_MD> {
    // SAFETY: these functions return static objects.
    Ok(unsafe {
        match certificate {
            Certificate::EcdsaP384 => ffi::EVP_sha384(),
            _ => ffi::EVP_sha256(),
        }
    })
}

/// A cipher with its key.
pub fn aead(cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
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

/// The key exchange of an elliptic curve.
pub fn elliptic(group: Group) -> Result<Box<dyn KeyExchange>> {
    Ok(match group {
        Group::X25519 => Box::new(X25519),
        Group::Secp256r1 => Box::new(Curve(ffi::NID_X9_62_prime256v1)),
        Group::Secp384r1 => Box::new(Curve(ffi::NID_secp384r1)),
        Group::MlKem768 => bail!("found {group}, expected an elliptic curve"),
    })
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

/// Fails unless a message or a secret has the length that its algorithm defines.
pub fn has_length(message: &[u8], expected: usize) -> Result<()> {
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
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        has_length(answer, ffi::X25519_PUBLIC_VALUE_LEN as usize)?;
        has_length(secret, ffi::X25519_SHARED_KEY_LEN as usize)?;
        // SAFETY: all buffers have the length that is read or written.
        let result = unsafe { ffi::X25519(secret.as_mut_ptr(), self.0.as_ptr(), answer.as_ptr()) };
        check(result == 1, "X25519")
    }
}

/// A curve of NIST, by its number in the library.
struct Curve(c_int);

struct CurveKey(*mut ffi::EC_KEY);

impl Drop for CurveKey {
    fn drop(&mut self) {
        // SAFETY: `self` owns the key.
        unsafe { ffi::EC_KEY_free(self.0) };
    }
}

/// A point that was parsed.
struct Point(*mut ffi::EC_POINT);

impl Drop for Point {
    fn drop(&mut self) {
        // SAFETY: `self` owns the point.
        unsafe { ffi::EC_POINT_free(self.0) };
    }
}

impl KeyExchange for Curve {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        // SAFETY: the returned value owns the key.
        let key = CurveKey(unsafe { ffi::EC_KEY_new_by_curve_name(self.0) });
        check(!key.0.is_null(), "EC_KEY_new_by_curve_name")?;
        // SAFETY: the key is valid and owns its group and its point, and the length is that of the
        // buffer.
        let length = unsafe {
            check(ffi::EC_KEY_generate_key(key.0) == 1, "EC_KEY_generate_key")?;
            ffi::EC_POINT_point2oct(
                ffi::EC_KEY_get0_group(key.0),
                ffi::EC_KEY_get0_public_key(key.0),
                ffi::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED,
                share.as_mut_ptr(),
                share.len(),
                ptr::null_mut(),
            )
        };
        has_length(share, length)?;
        Ok(Box::new(key))
    }
}

impl PrivateKey for CurveKey {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        // SAFETY: the key is valid and owns its group, the returned value owns the point, and all
        // lengths are those of their buffers.
        let length = unsafe {
            let group = ffi::EC_KEY_get0_group(self.0);
            let peer = Point(ffi::EC_POINT_new(group));
            check(!peer.0.is_null(), "EC_POINT_new")?;
            let none = ptr::null_mut();
            let parsed =
                ffi::EC_POINT_oct2point(group, peer.0, answer.as_ptr(), answer.len(), none);
            check(parsed == 1, "EC_POINT_oct2point")?;
            let length = secret.len();
            ffi::ECDH_compute_key(secret.as_mut_ptr().cast(), length, peer.0, self.0, None)
        };
        has_length(secret, usize::try_from(length)?)
    }
}
