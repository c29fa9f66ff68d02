//! Primitives of aws-lc-rs.

#[allow(
    clippy::duplicate_mod,
    reason = "the same source on two crates with one API"
)]
#[path = "provider.rs"]
mod provider;

use ::aws_lc_rs::{
    self as crypto,
    agreement::{self, EphemeralPrivateKey},
    error::{KeyRejected, Unspecified},
    kem::{DecapsulationKey, EncapsulationKey, ML_KEM_768},
    signature::{
        EcdsaKeyPair, EcdsaSigningAlgorithm, KeyPair as _, ML_DSA_44, ML_DSA_44_SIGNING, ML_DSA_65,
        ML_DSA_65_SIGNING, ML_DSA_87, ML_DSA_87_SIGNING, ParsedPublicKey as PublicKey,
        PqdsaKeyPair as MlDsaKey, RsaKeyPair, VerificationAlgorithm,
    },
};
use anyhow::{Result, anyhow, bail};
use provider::{ProviderAead, ProviderCurve, ProviderSignature};
use tls_harness::{
    library::primitives::{Aead, Cipher, Cryptography, Group, KeyExchange, PrivateKey, Signature},
    scenario::Certificate,
};

pub struct AwsLcRs;

impl Cryptography for AwsLcRs {
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
        Ok(Box::new(ProviderAead::new(cipher, key)?))
    }

    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
        Ok(Box::new(ProviderSignature::new(certificate, key)?))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>> {
        match ProviderCurve::new(group) {
            Some(curve) => Ok(Box::new(curve)),
            None => Ok(Box::new(MlKem768)),
        }
    }
}

fn public_key(
    algorithm: &'static dyn VerificationAlgorithm,
    key: impl AsRef<[u8]>,
) -> Result<PublicKey> {
    PublicKey::new(algorithm, key).map_err(|error| anyhow!("the library rejected the key: {error}"))
}

fn verify(key: &PublicKey, message: &[u8], signature: &[u8]) -> Result<(), Unspecified> {
    key.verify_sig(message, signature)
}

fn ecdsa_key(
    algorithm: &'static EcdsaSigningAlgorithm,
    pkcs8: &[u8],
) -> Result<EcdsaKeyPair, KeyRejected> {
    EcdsaKeyPair::from_pkcs8(algorithm, pkcs8)
}

fn signature_length(key: &RsaKeyPair) -> usize {
    key.public_modulus_len()
}

/// The key, and its public key.
fn ml_dsa_key(certificate: Certificate, pkcs8: &[u8]) -> Result<(MlDsaKey, PublicKey)> {
    let (signing, verifying) = match certificate {
        Certificate::MlDsa44 => (&ML_DSA_44_SIGNING, &ML_DSA_44),
        Certificate::MlDsa65 => (&ML_DSA_65_SIGNING, &ML_DSA_65),
        Certificate::MlDsa87 => (&ML_DSA_87_SIGNING, &ML_DSA_87),
        other => bail!("{other} is not a primitive"),
    };
    let key = MlDsaKey::from_pkcs8(signing, pkcs8);
    let key = key.map_err(|error| anyhow!("the library rejected the key: {error}"))?;
    let public = public_key(verifying, key.public_key())?;
    Ok((key, public))
}

fn ml_dsa_sign(key: &MlDsaKey, message: &[u8], signature: &mut [u8]) -> Result<usize, Unspecified> {
    key.sign(message, signature)
}

fn agree(key: EphemeralPrivateKey, peer: &[u8], secret: &mut [u8]) -> Result<(), Unspecified> {
    let peer = agreement::UnparsedPublicKey::new(key.algorithm(), peer);
    agreement::agree_ephemeral(key, peer, Unspecified, |agreed| {
        secret.copy_from_slice(agreed);
        Ok(())
    })
}

struct MlKem768;

struct MlKem768Key(DecapsulationKey);

impl KeyExchange for MlKem768 {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        let failed = |_| anyhow!("generating a key failed");
        let key = DecapsulationKey::generate(&ML_KEM_768).map_err(failed)?;
        let public = key.encapsulation_key().map_err(failed)?;
        share.copy_from_slice(public.key_bytes().map_err(failed)?.as_ref());
        Ok(Box::new(MlKem768Key(key)))
    }

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        let key = EncapsulationKey::new(&ML_KEM_768, share);
        let key = key.map_err(|error| anyhow!("the library rejected the peer's key: {error}"))?;
        let (ciphertext, agreed) = key
            .encapsulate()
            .map_err(|_| anyhow!("encapsulating failed"))?;
        answer.copy_from_slice(ciphertext.as_ref());
        secret.copy_from_slice(agreed.as_ref());
        Ok(())
    }
}

impl PrivateKey for MlKem768Key {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        let agreed = self.0.decapsulate(answer.into());
        let agreed = agreed.map_err(|_| anyhow!("decapsulating failed"))?;
        secret.copy_from_slice(agreed.as_ref());
        Ok(())
    }
}
