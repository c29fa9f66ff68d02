//! Primitives of ring.

#[allow(
    clippy::duplicate_mod,
    reason = "the same source on two crates with one API"
)]
#[path = "provider.rs"]
mod provider;

use ::ring::{
    self as crypto,
    agreement::{self, EphemeralPrivateKey},
    error::{KeyRejected, Unspecified},
    rand::SystemRandom,
    signature::{
        EcdsaKeyPair, EcdsaSigningAlgorithm, RsaKeyPair, UnparsedPublicKey, VerificationAlgorithm,
    },
};
use anyhow::{Result, bail};
use provider::{ProviderAead, ProviderCurve, ProviderSignature};
use tls_harness::{
    library::primitives::{Aead, Cipher, Cryptography, Group, KeyExchange, Signature},
    scenario::Certificate,
};

pub struct Ring;

impl Cryptography for Ring {
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
        Ok(Box::new(ProviderAead::new(cipher, key)?))
    }

    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
        Ok(Box::new(ProviderSignature::new(certificate, key)?))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>> {
        match ProviderCurve::new(group) {
            Some(curve) => Ok(Box::new(curve)),
            None => bail!("ring has no {group}"),
        }
    }
}

/// ring parses a public key at each verification.
type PublicKey = UnparsedPublicKey<Vec<u8>>;

fn public_key(
    algorithm: &'static dyn VerificationAlgorithm,
    key: impl AsRef<[u8]>,
) -> Result<PublicKey> {
    Ok(UnparsedPublicKey::new(algorithm, key.as_ref().to_vec()))
}

fn verify(key: &PublicKey, message: &[u8], signature: &[u8]) -> Result<(), Unspecified> {
    key.verify(message, signature)
}

fn ecdsa_key(
    algorithm: &'static EcdsaSigningAlgorithm,
    pkcs8: &[u8],
) -> Result<EcdsaKeyPair, KeyRejected> {
    EcdsaKeyPair::from_pkcs8(algorithm, pkcs8, &SystemRandom::new())
}

fn signature_length(key: &RsaKeyPair) -> usize {
    key.public().modulus_len()
}

/// ring has no ML-DSA.
enum MlDsaKey {}

fn ml_dsa_key(certificate: Certificate, _: &[u8]) -> Result<(MlDsaKey, PublicKey)> {
    bail!("ring has no primitive {certificate}")
}

fn ml_dsa_sign(key: &MlDsaKey, _: &[u8], _: &mut [u8]) -> Result<usize, Unspecified> {
    match *key {}
}

fn agree(key: EphemeralPrivateKey, peer: &[u8], secret: &mut [u8]) -> Result<(), Unspecified> {
    let peer = agreement::UnparsedPublicKey::new(key.algorithm(), peer);
    agreement::agree_ephemeral(key, &peer, |agreed| secret.copy_from_slice(agreed))
}
