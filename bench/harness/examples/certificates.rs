//! Makes the certificates of the project: `cargo run -p tls-harness --example certificates`
//! writes `certificates/<type>/` anew, with new keys. They protect nothing: the keys are public.

use std::{fs, path::Path};

use anyhow::Result;
use aws_lc_rs::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, Ed25519KeyPair, RSA_PSS_SHA256, RsaKeyPair,
    },
};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_RSA_SHA256,
    RsaKeySize, date_time_ymd,
};
use tls_harness::{
    certificates::{HOST_NAME, SIGNED},
    scenario::Certificate,
};

fn key(certificate: Certificate) -> Result<KeyPair> {
    Ok(match certificate {
        Certificate::Rsa2048 => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?,
        Certificate::Rsa4096 => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_4096)?,
        Certificate::EcdsaP256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?,
        Certificate::EcdsaP384 => KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)?,
        Certificate::Ed25519 => {
            // Version 1 of PKCS #8: BoringSSL does not read version 2, which is the default.
            let key = Ed25519KeyPair::generate()?.to_pkcs8v1()?;
            KeyPair::try_from(key.as_ref())?
        }
    })
}

/// A signature of `SIGNED`; none for the types of key that are no primitive.
fn signature(certificate: Certificate, key: &KeyPair) -> Result<Option<Vec<u8>>> {
    let (key, random) = (key.serialized_der(), SystemRandom::new());
    Ok(match certificate {
        Certificate::Rsa2048 => {
            let key = RsaKeyPair::from_pkcs8(key)?;
            let mut signature = vec![0; key.public_modulus_len()];
            key.sign(&RSA_PSS_SHA256, &random, SIGNED, &mut signature)?;
            Some(signature)
        }
        Certificate::EcdsaP256 => {
            let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, key)?;
            Some(key.sign(&random, SIGNED)?.as_ref().to_vec())
        }
        _ => None,
    })
}

fn parameters(names: &[&str], common_name: &str) -> Result<CertificateParams> {
    let names: Vec<String> = names.iter().map(|name| (*name).into()).collect();
    let mut parameters = CertificateParams::new(names)?;
    parameters.not_before = date_time_ymd(2024, 1, 1);
    parameters.not_after = date_time_ymd(2049, 12, 31);
    parameters
        .distinguished_name
        .push(DnType::CommonName, common_name);
    parameters.use_authority_key_identifier_extension = true;
    Ok(parameters)
}

fn authority(common_name: &str, constraint: BasicConstraints) -> Result<CertificateParams> {
    let mut parameters = parameters(&[], common_name)?;
    parameters.is_ca = IsCa::Ca(constraint);
    parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(parameters)
}

fn main() -> Result<()> {
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("certificates");
    for &certificate in Certificate::ALL {
        let folder = certificates.join(certificate.as_str());
        fs::create_dir_all(&folder)?;
        let root = CertifiedIssuer::self_signed(
            authority("TLS benchmark root", BasicConstraints::Unconstrained)?,
            key(certificate)?,
        )?;
        let intermediate = CertifiedIssuer::signed_by(
            authority(
                "TLS benchmark intermediate",
                BasicConstraints::Constrained(0),
            )?,
            key(certificate)?,
            &root,
        )?;
        fs::write(folder.join("root.pem"), root.pem())?;
        for (role, name, purpose) in [
            ("server", HOST_NAME, ExtendedKeyUsagePurpose::ServerAuth),
            (
                "client",
                "client.example",
                ExtendedKeyUsagePurpose::ClientAuth,
            ),
        ] {
            let mut leaf = parameters(&[name], name)?;
            leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
            leaf.extended_key_usages = vec![purpose];
            let key = key(certificate)?;
            let chain = leaf.signed_by(&key, &intermediate)?.pem() + &intermediate.pem();
            fs::write(folder.join(role).with_extension("pem"), chain)?;
            fs::write(folder.join(role).with_extension("key"), key.serialize_pem())?;
            if role == "server"
                && let Some(signature) = signature(certificate, &key)?
            {
                fs::write(folder.join("server.sig"), signature)?;
            }
        }
    }
    Ok(())
}
