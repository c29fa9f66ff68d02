//! Primitives of graviola.

use std::marker::PhantomData;

use anyhow::{Result, anyhow, bail};
use graviola::{
    Error,
    aead::{AesGcm, ChaCha20Poly1305},
    hashing::{Hash, Sha256, Sha384},
    key_agreement::{mlkem768, p256, p384, x25519},
    signing::{ecdsa, eddsa, rsa},
};
use pki_types::{PrivateKeyDer, pem::PemObject};
use tls_harness::{
    library::primitives::{
        Aead, Cipher, Cryptography, Group, KeyExchange, NONCE, PrivateKey, Signature,
    },
    scenario::Certificate,
};

use crate::primitive::{Once, data_and_tag};

pub struct Graviola;

impl Cryptography for Graviola {
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
        Ok(Box::new(match cipher {
            Cipher::Aes128Gcm | Cipher::Aes256Gcm => Key::Aes(AesGcm::new(key)),
            Cipher::ChaCha20Poly1305 => Key::ChaCha20(ChaCha20Poly1305::new(key.try_into()?)),
        }))
    }

    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
        let der = PrivateKeyDer::from_pem_slice(key.as_bytes())?;
        let der = der.secret_der();
        Ok(match certificate {
            Certificate::Rsa2048 => {
                let key = rsa::SigningKey::from_pkcs8_der(der).map_err(failed)?;
                let public = key.public_key();
                Box::new(Rsa { key, public })
            }
            Certificate::EcdsaP256 => {
                let key = ecdsa::SigningKey::<ecdsa::P256>::from_pkcs8_der(der).map_err(failed)?;
                let public = key.private_key.public_key_uncompressed();
                Box::new(Ecdsa::<_, Sha256>::new(key, &public)?)
            }
            Certificate::EcdsaP384 => {
                let key = ecdsa::SigningKey::<ecdsa::P384>::from_pkcs8_der(der).map_err(failed)?;
                let public = key.private_key.public_key_uncompressed();
                Box::new(Ecdsa::<_, Sha384>::new(key, &public)?)
            }
            Certificate::Ed25519 => {
                let key = eddsa::Ed25519SigningKey::from_pkcs8_der(der).map_err(failed)?;
                let public = key.public_key();
                Box::new(Ed25519 { key, public })
            }
            other => bail!("{other} is not a primitive"),
        })
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>> {
        Ok(match group {
            Group::X25519 => Box::new(X25519),
            Group::Secp256r1 => Box::new(P256),
            Group::Secp384r1 => Box::new(P384),
            Group::MlKem768 => Box::new(MlKem768),
        })
    }
}

fn failed(error: Error) -> anyhow::Error {
    anyhow!("graviola: {error:?}")
}

#[expect(
    clippy::large_enum_variant,
    reason = "it is boxed, and used for a whole measurement"
)]
enum Key {
    Aes(AesGcm),
    ChaCha20(ChaCha20Poly1305),
}

impl Aead for Key {
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let (data, tag) = data_and_tag(record)?;
        match self {
            Self::Aes(key) => key.encrypt(nonce, additional, data, tag),
            Self::ChaCha20(key) => key.encrypt(nonce, additional, data, tag),
        }
        Ok(())
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        let (data, tag) = data_and_tag(record)?;
        let opened = match self {
            Self::Aes(key) => key.decrypt(nonce, additional, data, tag),
            Self::ChaCha20(key) => key.decrypt(nonce, additional, data, tag),
        };
        opened.map_err(failed)
    }
}

struct Rsa {
    key: rsa::SigningKey,
    public: rsa::VerifyingKey,
}

impl Signature for Rsa {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let made = self.key.sign_pss_sha256(signature, message);
        Ok(made.map_err(failed)?.len())
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        let verified = self.public.verify_pss_sha256(signature, message);
        verified.map_err(failed)
    }
}

/// ECDSA on a curve with a hash.
struct Ecdsa<C: ecdsa::Curve, H> {
    key: ecdsa::SigningKey<C>,
    public: ecdsa::VerifyingKey<C>,
    hash: PhantomData<H>,
}

impl<C: ecdsa::Curve, H> Ecdsa<C, H> {
    fn new(key: ecdsa::SigningKey<C>, public: &[u8]) -> Result<Self> {
        let public = ecdsa::VerifyingKey::from_x962_uncompressed(public).map_err(failed)?;
        let hash = PhantomData;
        Ok(Self { key, public, hash })
    }
}

impl<C: ecdsa::Curve, H: Hash> Signature for Ecdsa<C, H> {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let made = self.key.sign_asn1::<H>(&[message], signature);
        Ok(made.map_err(failed)?.len())
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        let verified = self.public.verify_asn1::<H>(&[message], signature);
        verified.map_err(failed)
    }
}

struct Ed25519 {
    key: eddsa::Ed25519SigningKey,
    public: eddsa::Ed25519VerifyingKey,
}

impl Signature for Ed25519 {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let made = self.key.sign(message);
        signature[..made.len()].copy_from_slice(&made);
        Ok(made.len())
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        self.public.verify(signature, message).map_err(failed)
    }
}

struct X25519;

impl KeyExchange for X25519 {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        let key = x25519::PrivateKey::new_random().map_err(failed)?;
        share.copy_from_slice(&key.public_key().as_bytes());
        Ok(Box::new(Once::new(key)))
    }
}

impl PrivateKey for Once<x25519::PrivateKey> {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        let peer = x25519::PublicKey::try_from_slice(answer).map_err(failed)?;
        let agreed = self.take()?.diffie_hellman(&peer).map_err(failed)?;
        secret.copy_from_slice(&agreed.0);
        Ok(())
    }
}

/// A curve of NIST.
macro_rules! curve {
    ($name:ident, $module:ident) => {
        struct $name;

        impl KeyExchange for $name {
            fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
                let key = $module::PrivateKey::new_random().map_err(failed)?;
                share.copy_from_slice(&key.public_key_uncompressed());
                Ok(Box::new(Once::new(key)))
            }
        }

        impl PrivateKey for Once<$module::PrivateKey> {
            fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
                let peer = $module::PublicKey::from_x962_uncompressed(answer).map_err(failed)?;
                let agreed = self.take()?.diffie_hellman(&peer).map_err(failed)?;
                secret.copy_from_slice(&agreed.0);
                Ok(())
            }
        }
    };
}

curve!(P256, p256);
curve!(P384, p384);

struct MlKem768;

impl KeyExchange for MlKem768 {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        let key = mlkem768::DecapKey::generate().map_err(failed)?;
        share.copy_from_slice(&key.encapsulation_key().as_bytes());
        Ok(Box::new(Once::new(key)))
    }

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        let key = mlkem768::EncapKey::from_bytes(share.try_into()?).map_err(failed)?;
        let (agreed, ciphertext) = key.encaps().map_err(failed)?;
        answer.copy_from_slice(ciphertext.as_ref());
        secret.copy_from_slice(agreed.as_ref());
        Ok(())
    }
}

impl PrivateKey for Once<mlkem768::DecapKey> {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        let ciphertext: [u8; 1088] = answer.try_into()?;
        let agreed = self.take()?.decaps(&ciphertext.into());
        secret.copy_from_slice(agreed.as_ref());
        Ok(())
    }
}
