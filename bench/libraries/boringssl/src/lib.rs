//! Adapter for BoringSSL from the package boring-sys.

#[path = "../../shared/bssl.rs"]
mod bssl;
#[cfg(boringssl_groups)]
#[path = "../../shared/bssl_primitives.rs"]
mod bssl_primitives;
#[cfg(boringssl_groups)]
#[path = "../../shared/evp.rs"]
mod evp;
mod ffi;
#[cfg(boringssl_groups)]
mod primitives;
#[path = "../../shared/ssl/mod.rs"]
mod ssl;

pub use crate::ssl::Ssl as BoringSsl;

use anyhow::{Context as _, Result};
use tls_harness::{
    binary,
    implementation::{self, Implementation},
    library::{Setup, primitives::Cryptography},
    scenario::{CipherSuite, KeyExchange, Operation, Protocol, Scenario},
};

/// Reason why older versions have no primitives here.
const PRIMITIVES: &str = "primitives are measured in newer BoringSSL only";

/// Reason why QUIC's packets are not measured.
const PACKETS: &str =
    "BoringSSL gives traffic secrets to QUIC, and has no API that protects packets";

/// Describes this build.
fn implementation() -> Result<Implementation> {
    let package = binary::package_version(env!("PACKAGES"), "boring-sys");
    let package = package.context("Cargo.lock has no boring-sys")?;
    let api = ffi::BORINGSSL_API_VERSION;
    let version = format!("boring-sys {package}, API {api}");
    Ok(Implementation {
        // BoringSSL has no version numbers, and the package does not record the commit.
        id: format!("{}-boring-sys-{package}", env!("LIBRARY")),
        configure: option_env!("CONFIGURE").map(Into::into),
        flags: Some(env!("CMAKE_FLAGS").into()),
        cpu_mask: implementation::cpu_mask(),
        linkage: Some(binary::linkage("libssl")?),
        source: Some(format!("cargo package boring-sys {package}")),
        // A checkout is built as it is.
        note: option_env!("BORING_BSSL_ASSUME_PATCHED")
            .is_none()
            .then(|| "with the package's own patch boring-pq.patch".into()),
        ..Implementation::new(env!("LIBRARY"), &version)?
    })
}

/// The reason why BoringSSL does not support the scenario, if it does not.
fn unsupported(scenario: &Scenario) -> Option<String> {
    if scenario.operation == Operation::QuicPacket {
        return Some(PACKETS.into());
    }
    if !cfg!(boringssl_groups) && scenario.operation == Operation::Primitive {
        return Some(PRIMITIVES.into());
    }
    let ml_dsa = scenario.primitive().is_ok_and(|it| it.is_ml_dsa());
    if !cfg!(boringssl_ml_dsa) && ml_dsa {
        return Some("this BoringSSL has no ML-DSA".into());
    }
    if let Some(reason) = bssl::unsupported_session_id(scenario, "BoringSSL") {
        return Some(reason);
    }
    // An invalid configuration is an error, which creating it reports.
    let setup = Setup::client(scenario).ok()?;
    if !cfg!(boringssl_groups) {
        if setup.groups.contains(&KeyExchange::X25519MlKem768) {
            return Some("this BoringSSL has no X25519MLKEM768".into());
        }
        if setup.key_shares > 1 {
            return Some("this BoringSSL sends one key share only".into());
        }
    }
    let another = |it: &&KeyExchange| it.has_ml_kem() && **it != KeyExchange::X25519MlKem768;
    if let Some(group) = setup.groups.iter().find(another) {
        return Some(format!("BoringSSL has no {group}"));
    }
    if !cfg!(boringssl_ml_dsa) && setup.certificate.is_ml_dsa() {
        return Some("this BoringSSL has no ML-DSA in TLS".into());
    }
    let pinned = setup.protocol == Protocol::Tls12 || setup.cipher_suite == CipherSuite::Aes256Gcm;
    (!cfg!(boringssl_tls13_ciphers) && !pinned)
        .then(|| "of TLS 1.3 only TLS_AES_256_GCM_SHA384 can be pinned in this BoringSSL".into())
}

/// The library's cryptography, for primitives.
fn cryptography() -> Result<&'static dyn Cryptography> {
    #[cfg(boringssl_groups)]
    return Ok(&primitives::Boring);
    #[cfg(not(boringssl_groups))]
    anyhow::bail!(PRIMITIVES)
}
