//! Maps names of the harness to names of rustls.

use rustls::crypto::{CipherSuiteCommon, SignatureScheme, kx::NamedGroup};
use tls_harness::scenario::{Certificate, CipherSuite, KeyExchange};

pub fn is_suite(found: &CipherSuiteCommon, wanted: CipherSuite) -> bool {
    found.suite.0 == wanted.number()
}

pub fn named_group(group: KeyExchange) -> NamedGroup {
    NamedGroup(group.number())
}

pub fn signature_scheme(certificate: Certificate) -> SignatureScheme {
    match certificate {
        Certificate::Rsa2048 | Certificate::Rsa4096 => SignatureScheme::RSA_PSS_SHA256,
        Certificate::EcdsaP256 => SignatureScheme::ECDSA_NISTP256_SHA256,
        Certificate::EcdsaP384 => SignatureScheme::ECDSA_NISTP384_SHA384,
        Certificate::Ed25519 => SignatureScheme::ED25519,
    }
}
