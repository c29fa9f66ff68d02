//! Generates the certificates of the project: `cargo run -p tls-harness --example certificates`
//! writes `certificates/<type>/` and `certificates/<chain>/<type>/` with new keys where there are
//! none, and their signatures where these are missing, and `-- set-up` writes `certificates/set-up/`. They protect nothing: the keys are public.
//! `-- mozilla` prints Mozilla's trust anchors together with our root, in the form that set-ups load.

use std::{env, fs, path::Path};

use anyhow::{Result, bail};
use aws_lc_rs::{
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, EcdsaKeyPair,
        Ed25519KeyPair, ML_DSA_44_SIGNING, ML_DSA_65_SIGNING, ML_DSA_87_SIGNING, PqdsaKeyPair,
        RSA_PSS_SHA256, RsaKeyPair,
    },
};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose, PKCS_ECDSA_P256_SHA256, PKCS_ECDSA_P384_SHA384, PKCS_ML_DSA_44,
    PKCS_ML_DSA_65, PKCS_ML_DSA_87, PKCS_RSA_SHA256, RsaKeySize, date_time_ymd,
};
use tls_harness::{
    certificates::{HOST_NAME, SIGNED, set_up::trusted},
    scenario::{Anchors, Certificate, Chain},
};

fn key(certificate: Certificate) -> Result<KeyPair> {
    Ok(match certificate {
        Certificate::Rsa2048 => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_2048)?,
        Certificate::Rsa4096 => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_4096)?,
        Certificate::EcdsaP256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?,
        Certificate::EcdsaP384 => KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384)?,
        Certificate::Ed25519 => {
            // PKCS #8 version 1: BoringSSL rejects version 2, which is the default.
            let key = Ed25519KeyPair::generate()?.to_pkcs8v1()?;
            KeyPair::try_from(key.as_ref())?
        }
        Certificate::MlDsa44 => KeyPair::generate_for(&PKCS_ML_DSA_44)?,
        Certificate::MlDsa65 => KeyPair::generate_for(&PKCS_ML_DSA_65)?,
        Certificate::MlDsa87 => KeyPair::generate_for(&PKCS_ML_DSA_87)?,
    })
}

/// Signs `SIGNED`; returns `None` for key types that no primitive uses.
fn signature(certificate: Certificate, key: &KeyPair) -> Result<Option<Vec<u8>>> {
    let (key, random) = (key.serialized_der(), SystemRandom::new());
    let ml_dsa = match certificate {
        Certificate::MlDsa44 => Some(&ML_DSA_44_SIGNING),
        Certificate::MlDsa65 => Some(&ML_DSA_65_SIGNING),
        Certificate::MlDsa87 => Some(&ML_DSA_87_SIGNING),
        _ => None,
    };
    if let Some(algorithm) = ml_dsa {
        let mut signature = vec![0; algorithm.signature_len()];
        PqdsaKeyPair::from_pkcs8(algorithm, key)?.sign(SIGNED, &mut signature)?;
        return Ok(Some(signature));
    }
    Ok(match certificate {
        Certificate::Rsa2048 => {
            let key = RsaKeyPair::from_pkcs8(key)?;
            let mut signature = vec![0; key.public_modulus_len()];
            key.sign(&RSA_PSS_SHA256, &random, SIGNED, &mut signature)?;
            Some(signature)
        }
        Certificate::EcdsaP256 | Certificate::EcdsaP384 => {
            let algorithm = match certificate {
                Certificate::EcdsaP256 => &ECDSA_P256_SHA256_ASN1_SIGNING,
                _ => &ECDSA_P384_SHA384_ASN1_SIGNING,
            };
            let key = EcdsaKeyPair::from_pkcs8(algorithm, key)?;
            Some(key.sign(&random, SIGNED)?.as_ref().to_vec())
        }
        Certificate::Ed25519 => {
            let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(key)?;
            Some(key.sign(SIGNED).as_ref().to_vec())
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

/// Trust anchors besides the root that verifies the chain.
const ANCHORS: u32 = 999;

/// Server certificates, each with its own name and key.
const NAMED: u32 = 100;

/// Writes the anchors and certificates that set-ups use in large numbers, all ECDSA P-256.
fn set_up(folder: &Path) -> Result<()> {
    let key = || key(Certificate::EcdsaP256);
    fs::create_dir_all(folder)?;
    let mut anchors = String::new();
    for number in 0..ANCHORS {
        let name = format!("TLS benchmark anchor {number:03}");
        let root = authority(&name, BasicConstraints::Unconstrained)?;
        anchors += &root.self_signed(&key()?)?.pem();
    }
    fs::write(folder.join("anchors.pem"), anchors)?;
    let root = authority(
        "TLS benchmark root of names",
        BasicConstraints::Unconstrained,
    )?;
    let root = CertifiedIssuer::self_signed(root, key()?)?;
    let intermediate = authority(
        "TLS benchmark intermediate of names",
        BasicConstraints::Constrained(0),
    )?;
    let intermediate = CertifiedIssuer::signed_by(intermediate, key()?, &root)?;
    let (mut leaves, mut keys) = (String::new(), String::new());
    for number in 0..NAMED {
        let name = format!("site-{number:05}.example");
        let mut leaf = parameters(&[&name], &name)?;
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let key = key()?;
        leaves += &leaf.signed_by(&key, &intermediate)?.pem();
        keys += &key.serialize_pem();
    }
    fs::write(folder.join("root.pem"), root.pem())?;
    fs::write(folder.join("intermediate.pem"), intermediate.pem())?;
    fs::write(folder.join("leaves.pem"), leaves)?;
    fs::write(folder.join("keys.pem"), keys)?;
    Ok(())
}

/// Writes a root, and for a server and a client a leaf with the chain of its issuers. `issuers`: the
/// types of their keys, from the root on. Nothing is written if the folder exists.
fn chain(folder: &Path, leaf: Certificate, issuers: &[Certificate]) -> Result<()> {
    if folder.exists() {
        return Ok(());
    }
    let [root, intermediates @ ..] = issuers else {
        bail!("found no issuer of {leaf}, expected a root");
    };
    let parameters_of_root = authority("TLS benchmark root", BasicConstraints::Unconstrained)?;
    let mut issuer = CertifiedIssuer::self_signed(parameters_of_root, key(*root)?)?;
    fs::create_dir_all(folder)?;
    fs::write(folder.join("root.pem"), issuer.pem())?;
    let mut sent = String::new();
    for (i, certificate) in intermediates.iter().enumerate() {
        let name = match intermediates {
            [_] => "TLS benchmark intermediate".to_owned(),
            _ => format!("TLS benchmark intermediate {}", i + 1),
        };
        let below = intermediates.len() - 1 - i;
        let constraint = BasicConstraints::Constrained(below.try_into()?);
        issuer =
            CertifiedIssuer::signed_by(authority(&name, constraint)?, key(*certificate)?, &issuer)?;
        sent.insert_str(0, &issuer.pem());
    }
    for (role, name, purpose) in [
        (
            "client",
            "client.example",
            ExtendedKeyUsagePurpose::ClientAuth,
        ),
        ("server", HOST_NAME, ExtendedKeyUsagePurpose::ServerAuth),
    ] {
        let mut parameters = parameters(&[name], name)?;
        parameters.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        parameters.extended_key_usages = vec![purpose];
        let key = key(leaf)?;
        let chain = parameters.signed_by(&key, &issuer)?.pem() + &sent;
        fs::write(folder.join(role).with_extension("pem"), chain)?;
        fs::write(folder.join(role).with_extension("key"), key.serialize_pem())?;
    }
    Ok(())
}

fn main() -> Result<()> {
    let certificates = Path::new(env!("CARGO_MANIFEST_DIR")).join("certificates");
    match env::args().nth(1).as_deref() {
        Some("set-up") => return set_up(&certificates.join("set-up")),
        Some("mozilla") => {
            print!("{}", trusted(Certificate::EcdsaP256, Anchors::Mozilla));
            return Ok(());
        }
        Some(other) => bail!("found {other}, expected set-up or mozilla"),
        None => {}
    }
    for &certificate in Certificate::ALL {
        let folder = certificates.join(certificate.as_str());
        let issuers = [certificate; 2];
        chain(&folder, certificate, &issuers)?;
        let signed = folder.join("server.sig");
        let key = fs::read_to_string(folder.join("server.key"))?;
        if !signed.exists()
            && let Some(signature) = signature(certificate, &KeyPair::from_pem(&key)?)?
        {
            fs::write(signed, signature)?;
        }
    }
    for it in Chain::ALL {
        for &certificate in it.certificates() {
            let folder = certificates.join(it.as_str()).join(certificate.as_str());
            chain(&folder, certificate, &it.issuers(certificate))?;
        }
    }
    Ok(())
}
