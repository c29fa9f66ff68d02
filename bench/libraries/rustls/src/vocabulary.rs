//! Maps names of the harness to names of rustls.

use anyhow::{Context, Result};
use rustls::{
    NamedGroup, SignatureScheme, SupportedCipherSuite, SupportedProtocolVersion,
    version::{TLS12, TLS13},
};
use tls_harness::scenario::{Certificate, CipherSuite, KeyExchange, Protocol};

/// Converts a cipher suite of rustls. It compares values, since old versions do not expose the
/// number.
pub fn cipher_suite(found: rustls::CipherSuite) -> Result<CipherSuite> {
    let same = |it: &&CipherSuite| rustls::CipherSuite::from(it.number()) == found;
    let suite = CipherSuite::ALL.iter().find(same).copied();
    suite.with_context(|| format!("{found:?} is not in the vocabulary"))
}

pub fn is_suite(found: &SupportedCipherSuite, wanted: CipherSuite) -> bool {
    cipher_suite(found.suite()).is_ok_and(|it| it == wanted)
}

/// Converts by number: old versions do not have a constant for every group.
pub fn named_group(group: KeyExchange) -> NamedGroup {
    NamedGroup::from(group.number())
}

/// Converts by number, for the same reason.
pub fn signature_scheme(certificate: Certificate) -> SignatureScheme {
    SignatureScheme::from(certificate.signature_scheme())
}

pub fn version(protocol: Protocol) -> &'static SupportedProtocolVersion {
    match protocol {
        Protocol::Tls12 => &TLS12,
        Protocol::Tls13 => &TLS13,
    }
}
