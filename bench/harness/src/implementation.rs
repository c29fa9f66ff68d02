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
    /// What the library was configured with, as its own configure script, CMake or Cargo was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configure: Option<String>,
    /// Flags of its compiler, as they took effect.
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
    /// What library.toml said of its build otherwise than by default, when it was measured: what and
    /// why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deviations: Vec<String>,
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

/// The flags of a compiler as they took effect: of several levels, processors and standards the
/// last, each other flag once; without warnings and without what names a folder of the host. A `;`
/// separates the flags of one library from those of another that it is built with.
pub fn effective_flags(given: &str) -> String {
    let libraries: Vec<_> = given.split(';').map(effective_in_one).collect();
    libraries.join("; ")
}

fn effective_in_one(given: &str) -> String {
    const WITH_A_FOLDER: [&str; 5] = ["-I", "-isystem", "-iquote", "-idirafter", "-include"];
    const LAST_WINS: [&str; 5] = ["-O", "-march=", "-mtune=", "-std=", "--target="];
    let mut effective: Vec<&str> = Vec::new();
    let mut words = given.split_whitespace();
    while let Some(word) = words.next() {
        if WITH_A_FOLDER.contains(&word) {
            words.next();
            continue;
        }
        // Of a program, as in `CC=/usr/bin/clang`, the name remains.
        let word = match word.rsplit_once('/') {
            Some((_, program)) if !word.starts_with('-') => program,
            Some(_) => continue,
            None => word,
        };
        // Of the assembler and the preprocessor, what changes code.
        let passed_on = word.starts_with("-Wa,-m") || word.starts_with("-Wp,");
        let ignored = (word.starts_with("-W") && !passed_on) || word.starts_with("-I");
        if ignored || word == "-w" || word.is_empty() {
            continue;
        }
        let kind = LAST_WINS.iter().find(|kind| word.starts_with(**kind));
        effective.retain(|it| match kind {
            Some(kind) => !it.starts_with(kind),
            None => *it != word,
        });
        effective.push(word);
    }
    effective.join(" ")
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
    fn flags_are_those_that_took_effect() {
        for (given, effective) in [
            ("cc -fPIC -O3 -O2 -fPIC -m64", "cc -O2 -fPIC -m64"),
            (
                "-O2 -g -Ofast -march=x86-64 -march=native",
                "-g -Ofast -march=native",
            ),
            (
                "/usr/bin/clang -Wall -w -Wa,--noexecstack -DNDEBUG",
                "clang -DNDEBUG",
            ),
            ("-I /a/include -Iheaders -isystem /b -O1", "-O1"),
            (
                "-ffile-prefix-map=/build/x=. -DCERTS=\"/etc/ssl\" -O2",
                "-O2",
            ),
            ("CMake Release:  -O3", "CMake Release: -O3"),
            (
                "-Wa,-mbranches-within-32B-boundaries",
                "-Wa,-mbranches-within-32B-boundaries",
            ),
            (
                "-O2 -O1 -fPIC; Other: -O2 -fPIC",
                "-O1 -fPIC; Other: -O2 -fPIC",
            ),
            ("", ""),
        ] {
            assert_eq!(effective_flags(given), effective, "of {given}");
        }
    }

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
