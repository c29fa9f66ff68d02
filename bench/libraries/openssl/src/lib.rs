//! Adapter for OpenSSL.

#[cfg(openssl_3)]
#[path = "../../shared/evp.rs"]
mod evp;
mod ffi;
#[cfg(openssl_3)]
mod primitives;
#[path = "../../shared/ssl/mod.rs"]
mod ssl;
mod tuned;

pub use crate::{ssl::Ssl as OpenSsl, tuned::Tuned};

use anyhow::{Context as _, Result};
use tls_harness::{
    binary,
    implementation::{self, Implementation},
    library::{Setup, primitives::Cryptography},
    scenario::{Operation, Scenario, Variant},
};

/// `OPENSSL_VERSION` and `OPENSSL_CFLAGS` of crypto.h.
const OPENSSL_VERSION: i32 = 0;
const OPENSSL_CFLAGS: i32 = 1;

fn reported(kind: i32) -> Result<&'static str> {
    // SAFETY: the library returns a static string.
    unsafe { ffi::text(ffi::OpenSSL_version(kind)) }
}

/// Describes this build.
fn implementation() -> Result<Implementation> {
    // For example "OpenSSL 3.6.3 9 Jun 2026".
    let name = reported(OPENSSL_VERSION)?;
    let version = name.split(' ').nth(1);
    let version = version.with_context(|| format!("\"{name}\" names no version"))?;
    let package = binary::package_version(env!("PACKAGES"), "openssl-src");
    let package = package.filter(|_| cfg!(feature = "vendored"));
    Ok(Implementation {
        configure: option_env!("CONFIGURE").map(Into::into),
        flags: Some(
            reported(OPENSSL_CFLAGS)?
                .trim_start_matches("compiler: ")
                .into(),
        ),
        cpu_mask: implementation::cpu_mask(),
        linkage: Some(binary::linkage("libssl")?),
        source: package.map(|version| format!("cargo package openssl-src {version}")),
        ..Implementation::new(env!("LIBRARY"), version)?
    })
}

/// Reason why older versions have no primitives here.
const PRIMITIVES: &str = "primitives are measured by an API that OpenSSL has since 3.0";

/// Reason why QUIC's packets are not measured.
const PACKETS: &str =
    "OpenSSL gives traffic secrets to QUIC since 3.5, and has no API that protects packets";

/// Reason why certificates are not compressed.
const COMPRESSION: &str = "OpenSSL is built without zlib by default";

/// The reason why this OpenSSL does not support the scenario, if it does not.
fn unsupported(scenario: &Scenario) -> Option<String> {
    if scenario.operation == Operation::QuicPacket {
        return Some(PACKETS.into());
    }
    if scenario.variant == Some(Variant::Compressed) {
        return Some(COMPRESSION.into());
    }
    if cfg!(openssl_hybrid) {
        return None;
    }
    if let Ok(primitive) = scenario.primitive() {
        return match (
            cfg!(openssl_3),
            primitive.is_ml_kem(),
            primitive.is_ml_dsa(),
        ) {
            (false, ..) => Some(PRIMITIVES.into()),
            (true, true, _) => Some("OpenSSL has ML-KEM since 3.5".into()),
            (true, _, true) => Some("OpenSSL has ML-DSA since 3.5".into()),
            (true, false, false) => None,
        };
    }
    // An invalid configuration is an error, which creating it reports.
    let setup = Setup::client(scenario).ok()?;
    if let Some(group) = setup.groups.iter().find(|it| it.has_ml_kem()) {
        return Some(format!("OpenSSL has {group} since 3.5"));
    }
    if setup.certificate.is_ml_dsa() {
        return Some("OpenSSL has ML-DSA since 3.5".into());
    }
    (setup.key_shares > 1).then(|| "OpenSSL sends more than one key share since 3.5".into())
}

/// The library's cryptography, for primitives.
fn cryptography() -> Result<&'static dyn Cryptography> {
    #[cfg(openssl_3)]
    return Ok(&primitives::Evp);
    #[cfg(not(openssl_3))]
    anyhow::bail!(PRIMITIVES)
}
