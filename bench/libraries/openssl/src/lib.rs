//! OpenSSL.

#[path = "../../evp.rs"]
mod evp;
mod ffi;
mod primitives;
#[path = "../../ssl.rs"]
mod ssl;

pub use crate::ssl::Ssl as OpenSsl;

use anyhow::{Context as _, Result};
use tls_harness::{
    binary,
    implementation::{Implementation, Library},
    primitive::{Cryptography, Group, Primitive},
    scenario::Scenario,
};

/// `OPENSSL_VERSION` and `OPENSSL_CFLAGS` of crypto.h.
const OPENSSL_VERSION: i32 = 0;
const OPENSSL_CFLAGS: i32 = 1;

fn told(kind: i32) -> Result<&'static str> {
    // SAFETY: the library returns a static string.
    unsafe { ffi::text(ffi::OpenSSL_version(kind)) }
}

/// What this build is.
///
/// # Errors
/// The program's own file can't be read, or the library does not name its version.
fn implementation() -> Result<Implementation> {
    // "OpenSSL 3.6.3 9 Jun 2026"
    let name = told(OPENSSL_VERSION)?;
    let version = name.split(' ').nth(1);
    let version = version.with_context(|| format!("\"{name}\" names no version"))?;
    let compilers = binary::compilers()?;
    let package = binary::package_version(env!("PACKAGES"), "openssl-src");
    let package = package.filter(|_| cfg!(feature = "vendored"));
    Ok(Implementation {
        id: format!("openssl-{version}"),
        library: Library::OpenSsl,
        version: version.into(),
        commit: None,
        provider: None,
        provider_version: None,
        build: None,
        rust_compiler: compilers.rust,
        c_compiler: compilers.c,
        flags: Some(
            told(OPENSSL_CFLAGS)?
                .trim_start_matches("compiler: ")
                .into(),
        ),
        allocator: Some("system".into()),
        linkage: Some(binary::linkage("libssl")?),
        source: package.map(|version| format!("cargo package openssl-src {version}")),
        binary_sha256: None,
        note: None,
    })
}

/// An OpenSSL that is old enough has no ML-KEM; all else can be done.
fn missing(scenario: &Scenario) -> Option<String> {
    let ml_kem = Primitive::of(scenario).is_ok_and(Primitive::is_ml_kem);
    (ml_kem && !primitives::has_group(Group::MlKem768))
        .then(|| "OpenSSL has ML-KEM since 3.5".into())
}

/// What is measured as primitives.
fn cryptography() -> Result<&'static dyn Cryptography> {
    Ok(&primitives::Evp)
}
