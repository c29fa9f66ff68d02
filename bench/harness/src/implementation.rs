//! A library in one build, as `describe` finds it and `run.toml` keeps it.

use serde::{Deserialize, Serialize};

/// Which TLS library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Library {
    #[serde(rename = "rustls")]
    Rustls,
    #[serde(rename = "openssl")]
    OpenSsl,
    #[serde(rename = "boringssl")]
    BoringSsl,
    #[serde(rename = "aws-lc")]
    AwsLc,
    #[serde(rename = "s2n-tls")]
    S2nTls,
    #[serde(rename = "gnutls")]
    GnuTls,
}

/// How the library is linked into its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Linkage {
    Static,
    Shared,
}

/// One library in one build. `id` is `<library>-<version>[-<provider>][-<build>]`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implementation {
    pub id: String,
    pub library: Library,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Who does the cryptography, where that is another package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_version: Option<String>,
    /// What tells this build from another of the same version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rust_compiler: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_compiler: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocator: Option<String>,
    /// What hides features of the processor from the library: `OPENSSL_ia32cap`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_mask: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkage: Option<Linkage>,
    /// Package or address the source came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// The variable that hides features of the processor from OpenSSL and what comes from it.
pub const MASK_VARIABLE: &str = "OPENSSL_ia32cap";

/// The mask that a library heeds. One that does not leaves `cpu_mask` empty.
pub fn cpu_mask() -> Option<String> {
    std::env::var(MASK_VARIABLE).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_spelled_as_in_the_contract() {
        let all = [
            Library::Rustls,
            Library::OpenSsl,
            Library::BoringSsl,
            Library::AwsLc,
            Library::S2nTls,
            Library::GnuTls,
        ];
        let names: Vec<_> = all
            .iter()
            .map(|library| serde_json::to_value(library).unwrap())
            .collect();
        let expected = [
            "rustls",
            "openssl",
            "boringssl",
            "aws-lc",
            "s2n-tls",
            "gnutls",
        ];
        assert_eq!(names, expected);
    }
}
