//! BoringSSL, as the package boring-sys brings it.

#[path = "../../bssl.rs"]
mod bssl;
#[path = "../../evp.rs"]
mod evp;
mod ffi;
mod primitives;
#[path = "../../ssl.rs"]
mod ssl;

pub use crate::ssl::Ssl as BoringSsl;

use anyhow::{Context as _, Result};
use tls_harness::{
    binary,
    implementation::{Implementation, Library},
    primitive::Cryptography,
    scenario::{Protocol, Resumption, Scenario},
};

/// What this build is.
///
/// # Errors
/// The program's own file can't be read.
fn implementation() -> Result<Implementation> {
    let package = binary::package_version(env!("PACKAGES"), "boring-sys");
    let package = package.context("Cargo.lock has no boring-sys")?;
    let compilers = binary::compilers()?;
    Ok(Implementation {
        // BoringSSL has no versions, and the package does not record the commit.
        id: format!("boringssl-boring-sys-{package}"),
        library: Library::BoringSsl,
        version: format!("boring-sys {package}, API {}", ffi::BORINGSSL_API_VERSION),
        commit: None,
        provider: None,
        provider_version: None,
        build: None,
        rust_compiler: compilers.rust,
        c_compiler: compilers.c,
        flags: Some(env!("BORINGSSL_FLAGS").into()),
        allocator: Some("system".into()),
        linkage: Some(binary::linkage("libssl")?),
        source: Some(format!("cargo package boring-sys {package}")),
        binary_sha256: None,
        note: Some("with the package's own patch boring-pq.patch".into()),
    })
}

/// Why BoringSSL can't do the scenario, if it can't.
fn missing(scenario: &Scenario) -> Option<String> {
    let by_id = (scenario.protocol, scenario.resumption)
        == (Some(Protocol::Tls13), Some(Resumption::SessionId));
    by_id.then(|| "BoringSSL resumes TLS1.3 sessions by self-contained tickets only".into())
}

/// What is measured as primitives.
fn cryptography() -> Result<&'static dyn Cryptography> {
    Ok(&primitives::Boring)
}
