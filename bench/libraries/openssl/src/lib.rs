//! OpenSSL.

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
    library::Setup,
    scenario::{KeyExchange, Scenario},
    workloads::primitives::{Cryptography, Primitive},
};

/// `OPENSSL_VERSION` and `OPENSSL_CFLAGS` of crypto.h.
const OPENSSL_VERSION: i32 = 0;
const OPENSSL_CFLAGS: i32 = 1;

fn reported(kind: i32) -> Result<&'static str> {
    // SAFETY: the library returns a static string.
    unsafe { ffi::text(ffi::OpenSSL_version(kind)) }
}

/// What this build is.
///
/// # Errors
/// The program's own file can't be read, or the library does not name its version.
fn implementation() -> Result<Implementation> {
    // "OpenSSL 3.6.3 9 Jun 2026"
    let name = reported(OPENSSL_VERSION)?;
    let version = name.split(' ').nth(1);
    let version = version.with_context(|| format!("\"{name}\" names no version"))?;
    let package = binary::package_version(env!("PACKAGES"), "openssl-src");
    let package = package.filter(|_| cfg!(feature = "vendored"));
    Ok(Implementation {
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

/// Why an older one measures none.
const PRIMITIVES: &str = "primitives are measured by an API that OpenSSL has since 3.0";

/// Why this OpenSSL can't do the scenario, if it can't.
fn unsupported(scenario: &Scenario) -> Option<String> {
    if cfg!(openssl_hybrid) {
        return None;
    }
    if let Ok(primitive) = Primitive::of(scenario) {
        return match (cfg!(openssl_3), primitive.is_ml_kem()) {
            (false, _) => Some(PRIMITIVES.into()),
            (true, true) => Some("OpenSSL has ML-KEM since 3.5".into()),
            (true, false) => None,
        };
    }
    // A scenario that can't be set up is an error, which the set-up will report.
    let setup = Setup::client(scenario).ok()?;
    if setup.groups.contains(&KeyExchange::X25519MlKem768) {
        return Some("OpenSSL has X25519MLKEM768 since 3.5".into());
    }
    (setup.key_shares > 1).then(|| "OpenSSL sends more than one key share since 3.5".into())
}

/// What is measured as primitives.
fn cryptography() -> Result<&'static dyn Cryptography> {
    #[cfg(openssl_3)]
    return Ok(&primitives::Evp);
    #[cfg(not(openssl_3))]
    anyhow::bail!(PRIMITIVES)
}
