//! Maps names of the harness to names of rustls.

use anyhow::{Context, Result};
use tls_harness::scenario::{Certificate, CipherSuite, KeyExchange};

use crate::api::{self, NamedGroup, SignatureScheme};

/// Converts a cipher suite of rustls. It compares values, since old versions do not expose the
/// number.
pub fn cipher_suite(found: api::CipherSuite) -> Result<CipherSuite> {
    let same = |it: &&CipherSuite| api::CipherSuite::from(it.number()) == found;
    let suite = CipherSuite::ALL.iter().find(same).copied();
    suite.with_context(|| format!("{found:?} is not in the vocabulary"))
}

pub fn is_suite(found: api::CipherSuite, wanted: CipherSuite) -> bool {
    found == api::CipherSuite::from(wanted.number())
}

/// Converts by number: old versions do not have a constant for every group.
pub fn named_group(group: KeyExchange) -> NamedGroup {
    NamedGroup::from(group.number())
}

/// Converts by number, for the same reason.
pub fn signature_scheme(certificate: Certificate) -> SignatureScheme {
    SignatureScheme::from(certificate.signature_scheme())
}
