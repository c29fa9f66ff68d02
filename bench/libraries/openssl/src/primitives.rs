//! OpenSSL's cryptography. Algorithms are fetched once, because using them by name would fetch them
//! each time.

use std::{
    ffi::{CStr, c_int},
    ptr,
};

use anyhow::{Context, Result, ensure};
use tls_harness::{
    library::primitives::{
        Aead, Cipher, Cryptography, Group, KeyExchange, NONCE, PrivateKey, Signature, TAG,
    },
    scenario::Certificate,
};

use crate::{evp, ffi, ssl::check};

pub struct Evp;

impl Cryptography for Evp {
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
        Ok(Box::new(EvpAead::new(cipher, key)?))
    }

    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
        evp::signature(certificate, key)
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>> {
        Ok(Box::new(EvpKeyExchange::new(group)?))
    }
}

/// A key with one context for each direction.
struct EvpAead {
    sealer: *mut ffi::EVP_CIPHER_CTX,
    opener: *mut ffi::EVP_CIPHER_CTX,
}

impl EvpAead {
    fn new(cipher: Cipher, key: &[u8]) -> Result<Self> {
        let (name, key_length) = match cipher {
            Cipher::Aes128Gcm => (c"AES-128-GCM", 16),
            Cipher::Aes256Gcm => (c"AES-256-GCM", 32),
            Cipher::ChaCha20Poly1305 => (c"ChaCha20-Poly1305", 32),
        };
        ensure!(
            key.len() == key_length,
            "a key of {} bytes, expected {key_length}",
            key.len()
        );
        // SAFETY: the returned value owns both contexts, which hold references to the cipher; the
        // key has the length that is read, and is copied.
        unsafe {
            let this = Self {
                sealer: ffi::EVP_CIPHER_CTX_new(),
                opener: ffi::EVP_CIPHER_CTX_new(),
            };
            check(!this.sealer.is_null(), "EVP_CIPHER_CTX_new")?;
            check(!this.opener.is_null(), "EVP_CIPHER_CTX_new")?;
            let cipher = ffi::EVP_CIPHER_fetch(ptr::null_mut(), name.as_ptr(), ptr::null());
            check(!cipher.is_null(), "EVP_CIPHER_fetch")?;
            let ready = [(this.sealer, 1), (this.opener, 0)].map(|(context, seals)| {
                let (none, no_nonce) = (ptr::null_mut(), ptr::null());
                ffi::EVP_CipherInit_ex(context, cipher, none, key.as_ptr(), no_nonce, seals) == 1
            });
            ffi::EVP_CIPHER_free(cipher);
            check(ready == [true; 2], "EVP_CipherInit_ex")?;
            Ok(this)
        }
    }
}

impl Drop for EvpAead {
    fn drop(&mut self) {
        // SAFETY: `self` owns both contexts, and freeing null is allowed.
        unsafe {
            ffi::EVP_CIPHER_CTX_free(self.opener);
            ffi::EVP_CIPHER_CTX_free(self.sealer);
        }
    }
}

/// Length of a record's data, without the tag, in both integer types of the API.
fn data_length(record: &[u8]) -> Result<(usize, c_int)> {
    let data = record.len().checked_sub(TAG);
    let data = data.context("a record without room for a tag")?;
    Ok((data, data.try_into()?))
}

impl Aead for EvpAead {
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let (context, none) = (self.sealer, ptr::null_mut());
        let (data, length) = data_length(record)?;
        let additional_length = additional.len().try_into()?;
        let (record, mut written) = (record.as_mut_ptr(), 0);
        // SAFETY: the context is valid and accepts nonces of this length by default; all lengths
        // are those of their buffers; sealing in place is allowed; the tag follows the data.
        let done = unsafe {
            ffi::EVP_EncryptInit_ex(context, ptr::null(), none, ptr::null(), nonce.as_ptr()) == 1
                && ffi::EVP_EncryptUpdate(
                    context,
                    ptr::null_mut(),
                    &mut written,
                    additional.as_ptr(),
                    additional_length,
                ) == 1
                && ffi::EVP_EncryptUpdate(context, record, &mut written, record, length) == 1
                && ffi::EVP_EncryptFinal_ex(context, record.add(data), &mut written) == 1
                && ffi::EVP_CIPHER_CTX_ctrl(
                    context,
                    ffi::EVP_CTRL_GCM_GET_TAG,
                    TAG as c_int,
                    record.add(data).cast(),
                ) == 1
        };
        check(done, "EVP_Encrypt…")
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let (context, none) = (self.opener, ptr::null_mut());
        let (data, length) = data_length(record)?;
        let additional_length = additional.len().try_into()?;
        let (record, mut written) = (record.as_mut_ptr(), 0);
        // SAFETY: as in `seal`.
        let done = unsafe {
            ffi::EVP_DecryptInit_ex(context, ptr::null(), none, ptr::null(), nonce.as_ptr()) == 1
                && ffi::EVP_CIPHER_CTX_ctrl(
                    context,
                    ffi::EVP_CTRL_GCM_SET_TAG,
                    TAG as c_int,
                    record.add(data).cast(),
                ) == 1
                && ffi::EVP_DecryptUpdate(
                    context,
                    ptr::null_mut(),
                    &mut written,
                    additional.as_ptr(),
                    additional_length,
                ) == 1
                && ffi::EVP_DecryptUpdate(context, record, &mut written, record, length) == 1
                && ffi::EVP_DecryptFinal_ex(context, record.add(data), &mut written) == 1
        };
        check(done, "EVP_Decrypt…")
    }
}

struct EvpKeyExchange {
    group: Group,
    generator: *mut ffi::EVP_PKEY_CTX,
}

impl EvpKeyExchange {
    fn new(group: Group) -> Result<Self> {
        // SAFETY: the returned value owns the context.
        let generator = unsafe {
            ffi::EVP_PKEY_CTX_new_from_name(ptr::null_mut(), name(group).as_ptr(), ptr::null())
        };
        check(!generator.is_null(), "EVP_PKEY_CTX_new_from_name")?;
        let this = Self { group, generator };
        // SAFETY: the context is valid.
        let ready = unsafe { ffi::EVP_PKEY_keygen_init(generator) == 1 };
        check(ready, "EVP_PKEY_keygen_init")?;
        if let Some(curve) = curve(group) {
            // SAFETY: the context is valid, and the library copies the name.
            let set = unsafe { ffi::EVP_PKEY_CTX_set_group_name(generator, curve.as_ptr()) == 1 };
            check(set, "EVP_PKEY_CTX_set_group_name")?;
        }
        Ok(this)
    }
}

impl Drop for EvpKeyExchange {
    fn drop(&mut self) {
        // SAFETY: `self` owns the context.
        unsafe { ffi::EVP_PKEY_CTX_free(self.generator) };
    }
}

fn name(group: Group) -> &'static CStr {
    match group {
        Group::X25519 => c"X25519",
        Group::Secp256r1 | Group::Secp384r1 => c"EC",
        Group::MlKem768 => c"ML-KEM-768",
    }
}

/// The curve that a key of the type "EC" has.
fn curve(group: Group) -> Option<&'static CStr> {
    match group {
        Group::Secp256r1 => Some(c"P-256"),
        Group::Secp384r1 => Some(c"P-384"),
        Group::X25519 | Group::MlKem768 => None,
    }
}

/// A public key or a key pair.
struct Key {
    key: *mut ffi::EVP_PKEY,
    group: Group,
}

impl Drop for Key {
    fn drop(&mut self) {
        // SAFETY: `self` owns the key.
        unsafe { ffi::EVP_PKEY_free(self.key) };
    }
}

impl Key {
    fn public(group: Group, share: &[u8]) -> Result<Self> {
        // SAFETY: the length is that of the buffer, and the returned value owns the key.
        let key = unsafe {
            ffi::EVP_PKEY_new_raw_public_key_ex(
                ptr::null_mut(),
                name(group).as_ptr(),
                ptr::null(),
                share.as_ptr(),
                share.len(),
            )
        };
        check(!key.is_null(), "EVP_PKEY_new_raw_public_key_ex")?;
        Ok(Self { key, group })
    }

    /// The peer's public key, of the same group.
    fn peer(&self, share: &[u8]) -> Result<Self> {
        if curve(self.group).is_none() {
            return Self::public(self.group, share);
        }
        // SAFETY: the returned value owns the new key, this key is valid, and the length is that of
        // the buffer.
        unsafe {
            let key = Self {
                key: ffi::EVP_PKEY_new(),
                group: self.group,
            };
            check(!key.key.is_null(), "EVP_PKEY_new")?;
            let set = ffi::EVP_PKEY_copy_parameters(key.key, self.key) == 1
                && ffi::EVP_PKEY_set1_encoded_public_key(key.key, share.as_ptr(), share.len()) == 1;
            check(set, "EVP_PKEY_set1_encoded_public_key")?;
            Ok(key)
        }
    }

    /// Writes the public key as TLS encodes it.
    fn write(&self, share: &mut [u8]) -> Result<()> {
        let mut length = share.len();
        if curve(self.group).is_none() {
            // SAFETY: the key is valid, and the length is that of the buffer.
            let written = unsafe {
                ffi::EVP_PKEY_get_raw_public_key(self.key, share.as_mut_ptr(), &mut length) == 1
            };
            check(written, "EVP_PKEY_get_raw_public_key")?;
            return filled(length, share);
        }
        let mut encoded = ptr::null_mut();
        // SAFETY: the key is valid; the library allocates the encoded key, which is copied if it is
        // as long as the buffer, and freed.
        unsafe {
            length = ffi::EVP_PKEY_get1_encoded_public_key(self.key, &mut encoded);
            if length == share.len() {
                ptr::copy_nonoverlapping(encoded, share.as_mut_ptr(), length);
            }
            ffi::OPENSSL_free(encoded.cast());
        }
        check(length > 0, "EVP_PKEY_get1_encoded_public_key")?;
        filled(length, share)
    }

    fn context(&self) -> Result<KeyContext> {
        // SAFETY: the key is valid, and the returned value owns the context.
        let context = unsafe { ffi::EVP_PKEY_CTX_new(self.key, ptr::null_mut()) };
        check(!context.is_null(), "EVP_PKEY_CTX_new")?;
        Ok(KeyContext(context))
    }
}

/// A context for one operation with a key.
struct KeyContext(*mut ffi::EVP_PKEY_CTX);

impl Drop for KeyContext {
    fn drop(&mut self) {
        // SAFETY: `self` owns the context.
        unsafe { ffi::EVP_PKEY_CTX_free(self.0) };
    }
}

/// Fails unless the library filled the whole buffer.
fn filled(length: usize, buffer: &[u8]) -> Result<()> {
    ensure!(
        length == buffer.len(),
        "{length} bytes, expected {}",
        buffer.len()
    );
    Ok(())
}

impl KeyExchange for EvpKeyExchange {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        let mut key = ptr::null_mut();
        // SAFETY: the context is valid, and the returned value owns the new key.
        let made = unsafe { ffi::EVP_PKEY_generate(self.generator, &mut key) == 1 };
        check(made, "EVP_PKEY_generate")?;
        let key = Box::new(Key {
            key,
            group: self.group,
        });
        key.write(share)?;
        Ok(key)
    }

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        if self.group != Group::MlKem768 {
            return self.generate(answer)?.agree(share, secret);
        }
        let key = Key::public(self.group, share)?;
        let context = key.context()?;
        let (mut answer_length, mut secret_length) = (answer.len(), secret.len());
        // SAFETY: the context is valid, and the lengths are those of the buffers.
        let done = unsafe {
            ffi::EVP_PKEY_encapsulate_init(context.0, ptr::null()) == 1
                && ffi::EVP_PKEY_encapsulate(
                    context.0,
                    answer.as_mut_ptr(),
                    &mut answer_length,
                    secret.as_mut_ptr(),
                    &mut secret_length,
                ) == 1
        };
        check(done, "EVP_PKEY_encapsulate")?;
        filled(answer_length, answer)?;
        filled(secret_length, secret)
    }
}

impl PrivateKey for Key {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        let context = self.context()?;
        let mut length = secret.len();
        // SAFETY: the contexts and keys are valid, and the lengths are those of the buffers.
        let done = unsafe {
            match self.group {
                Group::X25519 | Group::Secp256r1 | Group::Secp384r1 => {
                    let peer = self.peer(answer)?;
                    ffi::EVP_PKEY_derive_init(context.0) == 1
                        && ffi::EVP_PKEY_derive_set_peer(context.0, peer.key) == 1
                        && ffi::EVP_PKEY_derive(context.0, secret.as_mut_ptr(), &mut length) == 1
                }
                Group::MlKem768 => {
                    ffi::EVP_PKEY_decapsulate_init(context.0, ptr::null()) == 1
                        && ffi::EVP_PKEY_decapsulate(
                            context.0,
                            secret.as_mut_ptr(),
                            &mut length,
                            answer.as_ptr(),
                            answer.len(),
                        ) == 1
                }
            }
        };
        check(done, "EVP_PKEY_derive or EVP_PKEY_decapsulate")?;
        filled(length, secret)
    }
}
