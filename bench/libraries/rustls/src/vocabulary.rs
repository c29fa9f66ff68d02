//! Names of the harness as rustls has them.

use anyhow::{Context, Result};
use rustls::{
    NamedGroup, SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion,
    version::{TLS12, TLS13},
};
use tls_harness::scenario::{Certificate, CipherSuite, KeyExchange, Protocol};

/// A suite of rustls in the harness's vocabulary. Old versions do not give away its number.
pub fn cipher_suite(found: rustls::CipherSuite) -> Result<CipherSuite> {
    let same = |it: &&CipherSuite| rustls::CipherSuite::from(it.number()) == found;
    let suite = CipherSuite::ALL.iter().find(same).copied();
    suite.with_context(|| format!("{found:?} is not in the vocabulary"))
}

pub fn is_suite(found: &SupportedCipherSuite, wanted: CipherSuite) -> bool {
    cipher_suite(found.suite()).is_ok_and(|it| it == wanted)
}

/// By its number: old versions have no name for every group.
pub fn named_group(group: KeyExchange) -> NamedGroup {
    NamedGroup::from(group.number())
}

pub fn signature_scheme(certificate: Certificate) -> SignatureScheme {
    match certificate {
        Certificate::Rsa2048 | Certificate::Rsa4096 => SignatureScheme::RSA_PSS_SHA256,
        Certificate::EcdsaP256 => SignatureScheme::ECDSA_NISTP256_SHA256,
        Certificate::EcdsaP384 => SignatureScheme::ECDSA_NISTP384_SHA384,
        Certificate::Ed25519 => SignatureScheme::ED25519,
    }
}

pub fn version(protocol: Protocol) -> &'static SupportedProtocolVersion {
    match protocol {
        Protocol::Tls12 => &TLS12,
        Protocol::Tls13 => &TLS13,
    }
}
