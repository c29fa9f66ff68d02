//! Adapter for AWS-LC's libssl from the package aws-lc-sys.

#[path = "../../shared/bssl.rs"]
mod bssl;
#[path = "../../shared/bssl_primitives.rs"]
mod bssl_primitives;
#[path = "../../shared/evp.rs"]
mod evp;
mod ffi;
mod primitives;
#[path = "../../shared/ssl/mod.rs"]
mod ssl;

pub use crate::ssl::Ssl as AwsLc;

use std::ffi::CStr;

use anyhow::{Context as _, Result};
use tls_harness::{
    binary,
    implementation::{self, Implementation},
    library::{Setup, primitives::Cryptography},
    scenario::{KeyExchange, Operation, Protocol, Scenario},
};

/// Reason why QUIC's packets are not measured.
const PACKETS: &str = "AWS-LC gives traffic secrets to QUIC, and has no API that protects packets";

/// Describes this build.
fn implementation() -> Result<Implementation> {
    let package = binary::package_version(env!("PACKAGES"), "aws-lc-sys");
    let package = package.context("Cargo.lock has no aws-lc-sys")?;
    let version = CStr::from_bytes_with_nul(ffi::AWSLC_VERSION_NUMBER_STRING)?.to_str()?;
    Ok(Implementation {
        configure: option_env!("CONFIGURE").map(Into::into),
        flags: Some(env!("CMAKE_FLAGS").into()),
        cpu_mask: implementation::cpu_mask(),
        linkage: Some(binary::linkage("libssl")?),
        source: Some(format!("cargo package aws-lc-sys {package}")),
        ..Implementation::new(env!("LIBRARY"), version)?
    })
}

/// The reason why AWS-LC does not support the scenario, if it does not.
fn unsupported(scenario: &Scenario) -> Option<String> {
    if scenario.operation == Operation::QuicPacket {
        return Some(PACKETS.into());
    }
    if let Some(reason) = bssl::unsupported_session_id(scenario, "AWS-LC") {
        return Some(reason);
    }
    // An invalid configuration is an error, which creating it reports.
    let setup = Setup::client(scenario).ok()?;
    let pinned = setup.protocol == Protocol::Tls12
        || chosen_key_shares(&setup.groups) == setup.groups[..setup.key_shares];
    (!pinned).then(|| {
        "AWS-LC sends key shares for its first group and the first of the other kind, \
         post-quantum or not: no others can be chosen"
            .into()
    })
}

/// The library's cryptography, for primitives.
fn cryptography() -> Result<&'static dyn Cryptography> {
    Ok(&primitives::AwsLcCrypto)
}

/// The groups whose key shares a client sends.
fn chosen_key_shares(groups: &[KeyExchange]) -> Vec<KeyExchange> {
    let is_hybrid = |group: &KeyExchange| group.has_ml_kem();
    let first = groups.first();
    let other = groups
        .iter()
        .find(|group| first.is_some_and(|first| is_hybrid(first) != is_hybrid(group)));
    first.into_iter().chain(other).copied().collect()
}
