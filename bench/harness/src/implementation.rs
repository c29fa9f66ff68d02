//! A library in one build, as `describe` reports it and `run.toml` records it.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::binary;
pub use crate::binary::Linkage;

/// One library in one build. `id` is `<library>-<version>[-<provider>][-<build>]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Implementation {
    pub id: String,
    /// Name of the library's folder in `libraries/`.
    pub library: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The package that does the cryptography, if it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_version: Option<String>,
    /// What distinguishes this build from others of the same version.
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
    /// The value of `OPENSSL_ia32cap`, which hides processor features from the library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_mask: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub linkage: Option<Linkage>,
    /// Package or URL of the source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_sha256: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl Implementation {
    /// Describes a library in one version, with the compilers named in the running program. The
    /// adapter adds the facts that only it has.
    pub fn new(library: &str, version: &str) -> Result<Self> {
        let compilers = binary::compilers()?;
        Ok(Self {
            id: format!("{library}-{version}"),
            library: library.into(),
            version: version.into(),
            rust_compiler: compilers.rust,
            c_compiler: compilers.c,
            ..Self::default()
        })
    }

    /// Sets the package that does the cryptography.
    #[must_use]
    pub fn with_provider(self, name: &str, version: String) -> Self {
        Self {
            id: format!("{}-{name}", self.id),
            provider: Some(name.into()),
            provider_version: Some(version),
            ..self
        }
    }

    /// Sets the label that distinguishes this build from others of its version.
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

/// The environment variable that hides processor features from OpenSSL and libraries derived from
/// it.
pub const MASK_VARIABLE: &str = "OPENSSL_ia32cap";

/// The environment variable that selects the settings that a library's documentation recommends.
pub const TUNED_VARIABLE: &str = "TLS_HARNESS_TUNED";

/// Build label of an implementation with those settings.
pub const TUNED: &str = "tuned";

/// Whether this process measures its library with the recommended settings.
pub fn is_tuned() -> bool {
    std::env::var_os(TUNED_VARIABLE).is_some()
}

impl Implementation {
    /// Whether the build label contains `TUNED`.
    pub fn reports_tuned(&self) -> bool {
        let build = self.build.as_deref().unwrap_or_default();
        build.split('-').any(|label| label == TUNED)
    }
}

/// The CPU mask, for a library that respects it. Other libraries leave `cpu_mask` empty.
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
