//! Primitives of ring and aws-lc-rs, whose APIs are nearly the same: a module of both. Where they
//! differ, it calls `super`, the module of the provider.

use anyhow::{Result, anyhow};
use pki_types::{PrivateKeyDer, pem::PemObject};
use tls_harness::{
    library::primitives::{Aead, Cipher, Group, KeyExchange, NONCE, PrivateKey, Signature},
    scenario::Certificate,
};

use super::crypto::{
    aead::{AES_128_GCM, AES_256_GCM, Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey},
    agreement::{self, ECDH_P256, ECDH_P384, EphemeralPrivateKey, X25519},
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1,
        ECDSA_P384_SHA384_ASN1_SIGNING, ED25519, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
        RSA_PSS_2048_8192_SHA256, RSA_PSS_SHA256, RsaKeyPair,
    },
};
use crate::primitive::{Once, data_and_tag};

pub struct ProviderAead(LessSafeKey);

impl ProviderAead {
    pub fn new(cipher: Cipher, key: &[u8]) -> Result<Self> {
        let cipher = match cipher {
            Cipher::Aes128Gcm => &AES_128_GCM,
            Cipher::Aes256Gcm => &AES_256_GCM,
            Cipher::ChaCha20Poly1305 => &CHACHA20_POLY1305,
        };
        let key =
            UnboundKey::new(cipher, key).map_err(|_| anyhow!("the library rejected the key"))?;
        Ok(Self(LessSafeKey::new(key)))
    }
}

impl Aead for ProviderAead {
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let (data, tag) = data_and_tag(record)?;
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let sealed = (self.0).seal_in_place_separate_tag(nonce, Aad::from(additional), data);
        let sealed = sealed.map_err(|_| anyhow!("sealing failed"))?;
        tag.copy_from_slice(sealed.as_ref());
        Ok(())
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let opened = self.0.open_in_place(nonce, Aad::from(additional), record);
        opened.map(drop).map_err(|_| anyhow!("the tag is wrong"))
    }
}

enum SigningKey {
    Rsa(Box<RsaKeyPair>),
    Ecdsa(Box<EcdsaKeyPair>),
    Ed25519(Box<Ed25519KeyPair>),
    MlDsa(super::MlDsaKey),
}

/// A key pair whose public key is parsed once, if the provider allows it.
pub struct ProviderSignature {
    key: SigningKey,
    public: super::PublicKey,
    random: SystemRandom,
}

impl ProviderSignature {
    pub fn new(certificate: Certificate, key: &str) -> Result<Self> {
        let der = PrivateKeyDer::from_pem_slice(key.as_bytes())?;
        let refused = |error| anyhow!("the library rejected the key: {error}");
        let (key, public) = match certificate {
            Certificate::Rsa2048 => {
                let key = RsaKeyPair::from_pkcs8(der.secret_der()).map_err(refused)?;
                let public = super::public_key(&RSA_PSS_2048_8192_SHA256, key.public_key())?;
                (SigningKey::Rsa(Box::new(key)), public)
            }
            Certificate::EcdsaP256 | Certificate::EcdsaP384 => {
                let (signing, verifying) = match certificate {
                    Certificate::EcdsaP256 => {
                        (&ECDSA_P256_SHA256_ASN1_SIGNING, &ECDSA_P256_SHA256_ASN1)
                    }
                    _ => (&ECDSA_P384_SHA384_ASN1_SIGNING, &ECDSA_P384_SHA384_ASN1),
                };
                let key = super::ecdsa_key(signing, der.secret_der()).map_err(refused)?;
                let public = super::public_key(verifying, key.public_key())?;
                (SigningKey::Ecdsa(Box::new(key)), public)
            }
            Certificate::Ed25519 => {
                // PKCS #8 version 1 has no public key to check.
                let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_der());
                let key = key.map_err(refused)?;
                let public = super::public_key(&ED25519, key.public_key())?;
                (SigningKey::Ed25519(Box::new(key)), public)
            }
            other => {
                let (key, public) = super::ml_dsa_key(other, der.secret_der())?;
                (SigningKey::MlDsa(key), public)
            }
        };
        Ok(Self {
            key,
            public,
            random: SystemRandom::new(),
        })
    }
}

/// Copies a signature to the front of a buffer, and returns its length.
fn copied(made: &[u8], signature: &mut [u8]) -> usize {
    signature[..made.len()].copy_from_slice(made);
    made.len()
}

impl Signature for ProviderSignature {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let failed = |_| anyhow!("signing failed");
        match &self.key {
            SigningKey::Rsa(key) => {
                let length = super::signature_length(key);
                let signature = &mut signature[..length];
                key.sign(&RSA_PSS_SHA256, &self.random, message, signature)
                    .map_err(failed)?;
                Ok(length)
            }
            SigningKey::Ecdsa(key) => {
                let made = key.sign(&self.random, message).map_err(failed)?;
                Ok(copied(made.as_ref(), signature))
            }
            SigningKey::Ed25519(key) => Ok(copied(key.sign(message).as_ref(), signature)),
            SigningKey::MlDsa(key) => super::ml_dsa_sign(key, message, signature).map_err(failed),
        }
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        super::verify(&self.public, message, signature)
            .map_err(|_| anyhow!("the signature is wrong"))
    }
}

pub struct ProviderCurve {
    algorithm: &'static agreement::Algorithm,
    random: SystemRandom,
}

impl ProviderCurve {
    /// `None` if the group is no elliptic curve.
    pub fn new(group: Group) -> Option<Self> {
        let algorithm = match group {
            Group::X25519 => &X25519,
            Group::Secp256r1 => &ECDH_P256,
            Group::Secp384r1 => &ECDH_P384,
            Group::MlKem768 => return None,
        };
        let random = SystemRandom::new();
        Some(Self { algorithm, random })
    }
}

impl KeyExchange for ProviderCurve {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        let failed = |_| anyhow!("generating a key failed");
        let key = EphemeralPrivateKey::generate(self.algorithm, &self.random).map_err(failed)?;
        share.copy_from_slice(key.compute_public_key().map_err(failed)?.as_ref());
        Ok(Box::new(Once::new(key)))
    }
}

impl PrivateKey for Once<EphemeralPrivateKey> {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        super::agree(self.take()?, answer, secret)
            .map_err(|_| anyhow!("the library rejected the peer's key"))
    }
}
