//! A library in one build, as `describe` finds it and `run.toml` keeps it.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::binary;

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
    /// Name of the library's folder in `libraries/`.
    pub library: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Who does the cryptography, where that is another package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_version: Option<String>,
    /// What distinguishes this build from another of the same version.
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

impl Implementation {
    /// A library in one version, by the compilers that left their name in the running program.
    /// An adapter adds what it alone knows.
    ///
    /// # Errors
    /// The program's file can't be read.
    pub fn new(library: &str, version: &str) -> Result<Self> {
        let compilers = binary::compilers()?;
        Ok(Self {
            id: format!("{library}-{version}"),
            library: library.into(),
            version: version.into(),
            commit: None,
            provider: None,
            provider_version: None,
            build: None,
            rust_compiler: compilers.rust,
            c_compiler: compilers.c,
            flags: None,
            allocator: None,
            cpu_mask: None,
            linkage: None,
            source: None,
            binary_sha256: None,
            note: None,
        })
    }

    /// The same, with the cryptography of another package.
    #[must_use]
    pub fn with_provider(self, name: &str, version: String) -> Self {
        Self {
            id: format!("{}-{name}", self.id),
            provider: Some(name.into()),
            provider_version: Some(version),
            ..self
        }
    }

    /// The same, in a build that is not the only one of its version.
    #[must_use]
    pub fn with_build(self, label: &str) -> Self {
        let before = self.build.map(|before| format!("{before}-"));
        Self {
            id: format!("{}-{label}", self.id),
            build: Some(format!("{}{label}", before.unwrap_or_default())),
            ..self
        }
    }
}

/// The variable that hides features of the processor from OpenSSL and what comes from it.
pub const MASK_VARIABLE: &str = "OPENSSL_ia32cap";

/// The variable that has a library measured as its own documentation tunes it, where it does.
pub const TUNED_VARIABLE: &str = "TLS_HARNESS_TUNED";

/// What such a build calls itself.
pub const TUNED: &str = "tuned";

/// Whether this process is to measure its library tuned.
pub fn is_tuned() -> bool {
    std::env::var_os(TUNED_VARIABLE).is_some()
}

impl Implementation {
    /// Whether it is tuned, as it reports.
    pub fn reports_tuned(&self) -> bool {
        let build = self.build.as_deref().unwrap_or_default();
        build.split('-').any(|label| label == TUNED)
    }
}

/// The mask, for a library that respects it. Any other leaves `cpu_mask` empty.
pub fn cpu_mask() -> Option<String> {
    std::env::var(MASK_VARIABLE).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_library_version_provider_and_build() {
        let plain = Implementation::new("a", "1.2").unwrap();
        assert_eq!((&*plain.id, &*plain.library), ("a-1.2", "a"));
        let provided = plain.with_provider("b", "3.4".into());
        assert_eq!(provided.provider_version.as_deref(), Some("3.4"));
        let built = provided.with_build("gcc").with_build("repeat-2");
        assert_eq!(built.id, "a-1.2-b-gcc-repeat-2");
        assert_eq!(built.build.as_deref(), Some("gcc-repeat-2"));
    }
}
