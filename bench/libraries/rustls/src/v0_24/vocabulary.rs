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
    SignatureScheme(certificate.signature_scheme())
}
