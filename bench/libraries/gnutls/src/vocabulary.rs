//! Maps names of the harness to names of GnuTLS. A priority string pins every parameter.

use std::ffi::{CStr, CString};

use anyhow::{Context as _, Result, ensure};
use tls_harness::{
    library::Setup,
    scenario::{Authentication, Certificate, CipherSuite, KeyExchange, Protocol},
};

use crate::ffi::*;

/// The name of a group in priority strings; this version of GnuTLS may not support the group.
pub fn group_name(group: KeyExchange) -> &'static CStr {
    match group {
        KeyExchange::X25519 => c"X25519",
        KeyExchange::Secp256r1 => c"SECP256R1",
        KeyExchange::Secp384r1 => c"SECP384R1",
        KeyExchange::X25519MlKem768 => c"X25519-MLKEM768",
        KeyExchange::Secp256r1MlKem768 => c"SECP256R1-MLKEM768",
        KeyExchange::MlKem768 => c"MLKEM768",
    }
}

pub fn has_group(group: KeyExchange) -> bool {
    // SAFETY: the name is a C string.
    let id = unsafe { gnutls_group_get_id(group_name(group).as_ptr()) };
    id != GNUTLS_GROUP_INVALID
}

/// Whether this build of GnuTLS has the type of signature, of those that some lack.
pub fn has_signature(certificate: Certificate) -> bool {
    let name = match certificate {
        Certificate::MlDsa44 => c"ML-DSA-44",
        Certificate::MlDsa65 => c"ML-DSA-65",
        Certificate::MlDsa87 => c"ML-DSA-87",
        _ => return true,
    };
    // A name may be known to a build without the algorithm, but the list has only what it can do.
    // SAFETY: the name is a C string, and the list ends with a zero.
    unsafe {
        let id = gnutls_sign_get_id(name.as_ptr());
        let mut listed = gnutls_sign_list();
        while *listed != 0 && *listed != id {
            listed = listed.add(1);
        }
        id != GNUTLS_SIGN_UNKNOWN && *listed == id
    }
}

/// The name of the scheme of a type of key. TLS 1.2 names the same code points differently, because
/// there they do not include the curve.
fn signature_name(certificate: Certificate, protocol: Protocol) -> &'static str {
    match (certificate, protocol) {
        (Certificate::Rsa2048 | Certificate::Rsa4096, _) => "RSA-PSS-RSAE-SHA256",
        (Certificate::EcdsaP256, Protocol::Tls12) => "ECDSA-SHA256",
        (Certificate::EcdsaP256, Protocol::Tls13) => "ECDSA-SECP256R1-SHA256",
        (Certificate::EcdsaP384, Protocol::Tls12) => "ECDSA-SHA384",
        (Certificate::EcdsaP384, Protocol::Tls13) => "ECDSA-SECP384R1-SHA384",
        (Certificate::Ed25519, _) => "EDDSA-ED25519",
        (Certificate::MlDsa44, _) => "ML-DSA-44",
        (Certificate::MlDsa65, _) => "ML-DSA-65",
        (Certificate::MlDsa87, _) => "ML-DSA-87",
    }
}

/// The number of a scheme of TLS 1.3 by GnuTLS' name.
pub fn named_signature(name: &str) -> Result<u16> {
    let found = Certificate::ALL
        .iter()
        .find(|it| signature_name(**it, Protocol::Tls13).eq_ignore_ascii_case(name));
    found
        .map(|it| it.signature_scheme())
        .with_context(|| format!("signature scheme \"{name}\" is not in the vocabulary"))
}

/// The priority string of a configuration: it allows its parameters and no others.
pub fn priorities(setup: &Setup) -> Result<CString> {
    let version = match setup.protocol {
        Protocol::Tls12 => "VERS-TLS1.2",
        Protocol::Tls13 => "VERS-TLS1.3",
    };
    let (key_exchange, cipher) = match setup.cipher_suite {
        CipherSuite::Aes128Gcm => (None, "AES-128-GCM"),
        CipherSuite::Aes256Gcm => (None, "AES-256-GCM"),
        CipherSuite::ChaCha20Poly1305 => (None, "CHACHA20-POLY1305"),
        CipherSuite::EcdheRsaAes128Gcm => (Some("ECDHE-RSA"), "AES-128-GCM"),
        CipherSuite::EcdheRsaAes256Gcm => (Some("ECDHE-RSA"), "AES-256-GCM"),
        CipherSuite::EcdheRsaChaCha20Poly1305 => (Some("ECDHE-RSA"), "CHACHA20-POLY1305"),
        CipherSuite::EcdheEcdsaAes128Gcm => (Some("ECDHE-ECDSA"), "AES-128-GCM"),
        CipherSuite::EcdheEcdsaAes256Gcm => (Some("ECDHE-ECDSA"), "AES-256-GCM"),
        CipherSuite::EcdheEcdsaChaCha20Poly1305 => (Some("ECDHE-ECDSA"), "CHACHA20-POLY1305"),
    };
    let signature = signature_name(setup.certificate, setup.protocol);
    let mut parts = vec!["NONE".to_owned(), "+CTYPE-X509".into(), "+AEAD".into()];
    let pinned = [Some(version), Some(cipher), key_exchange];
    parts.extend(pinned.into_iter().flatten().map(|it| format!("+{it}")));
    parts.push(format!("+SIGN-{signature}"));
    let by_rsa_in_13 = matches!(
        (setup.protocol, setup.certificate),
        (Protocol::Tls13, Certificate::Rsa2048 | Certificate::Rsa4096)
    );
    if by_rsa_in_13 && setup.authentication == Authentication::Mutual {
        // A client that is offered only RSA-PSS does not present an RSA certificate: GnuTLS treats
        // RSA-PSS as a separate key type. TLS 1.3 allows this algorithm in certificates only.
        parts.push("+SIGN-RSA-SHA256".into());
    }
    for group in &setup.groups {
        ensure!(has_group(*group), "GnuTLS has no {group}");
        parts.push(format!("+GROUP-{}", group_name(*group).to_str()?));
    }
    Ok(CString::new(parts.join(":"))?)
}

/// Finds a cipher suite by GnuTLS' name; its TLS 1.2 names lack "WITH".
pub fn named_suite(name: &str) -> Result<CipherSuite> {
    let found = CipherSuite::ALL
        .iter()
        .find(|suite| suite.as_str().replace("_WITH", "") == name.replace("_WITH", ""));
    found
        .copied()
        .with_context(|| format!("cipher suite \"{name}\" is not in the vocabulary"))
}

pub fn named_group(name: &str) -> Result<KeyExchange> {
    let found = KeyExchange::ALL
        .iter()
        .find(|group| group_name(**group).to_str() == Ok(name));
    found
        .copied()
        .with_context(|| format!("group \"{name}\" is not in the vocabulary"))
}
