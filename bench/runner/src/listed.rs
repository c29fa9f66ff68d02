//! The entries of a suite's `implementations`: existing programs and builds.

use std::fmt;

use anyhow::{Result, anyhow, bail, ensure};
use serde::Deserialize;
use tls_harness::implementation::{MASK_VARIABLE, TUNED, TUNED_VARIABLE};

use crate::lines::readable;

/// One entry of a suite's `implementations`.
#[derive(Clone, Debug, PartialEq)]
pub enum Listed {
    /// The name of a program beside `tlsbench`.
    Program(String),
    Build(Build),
}

/// A library in one version and build. Absent options are as in the workspace of `bench/`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Folder of the adapter below `bench/libraries/`.
    pub library: String,
    /// Cargo's version of the package that contains the library: `0.23.46`, `300.0.13+3.0.8`.
    pub version: Option<String>,
    /// Feature of the adapter that selects the cryptography, if there are several.
    pub provider: Option<String>,
    #[serde(default)]
    pub allocator: Allocator,
    pub compiler: Option<Compiler>,
    /// Flags of the C compiler, separated by spaces.
    pub flags: Option<String>,
    /// The processor for which both compilers optimize: `-march=` and `-C target-cpu=`.
    pub target_cpu: Option<String>,
    /// Whether Rust is optimized as a whole: fat LTO and one codegen unit.
    #[serde(default)]
    pub lto: bool,
    /// Processor features that are masked, so that the library does not use them.
    #[serde(default)]
    pub cpu_mask: Vec<CpuFeature>,
    /// The settings that the library's own documentation recommends; the program is the same.
    #[serde(default)]
    pub tuned: bool,
    /// A local tree or an installed prefix, instead of a version of the package.
    pub source: Option<String>,
    /// Distinguishes it from a build with the same options, such as one of another tree.
    pub name: Option<String>,
}

/// The `malloc` of the whole process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Allocator {
    #[default]
    System,
    Jemalloc,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compiler {
    Gcc,
    Clang,
}

impl Allocator {
    pub fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Jemalloc => "jemalloc",
        }
    }
}

impl Compiler {
    /// The command of the C compiler, which is also the name of its Debian package.
    pub fn c(self) -> &'static str {
        match self {
            Self::Gcc => "gcc",
            Self::Clang => "clang",
        }
    }

    pub fn cxx(self) -> &'static str {
        match self {
            Self::Gcc => "g++",
            Self::Clang => "clang++",
        }
    }
}

/// Processor features that `OPENSSL_ia32cap` can hide from libraries derived from OpenSSL (see its
/// manual page).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CpuFeature {
    /// AES and carry-less multiplication, in vectors of any width.
    Aes,
    Avx2,
    Avx512,
    /// Only the multiplication of 52-bit integers, with which OpenSSL and AWS-LC compute RSA.
    Ifma,
}

impl CpuFeature {
    fn name(self) -> &'static str {
        match self {
            Self::Aes => "aes",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Ifma => "ifma",
        }
    }

    /// What it masks, by the words of `HostFacts::features`.
    fn of_hosts(self) -> &'static [&'static str] {
        match self {
            Self::Aes => &["aes", "vaes", "pclmulqdq", "vpclmulqdq"],
            Self::Avx2 => &["avx2"],
            Self::Avx512 => &["avx512f"],
            Self::Ifma => &["avx512ifma"],
        }
    }

    /// Bits in the two words of the variable: CPUID.1 EDX and ECX, CPUID.7 EBX and ECX, each with
    /// the first register in the lower half (Intel's Software Developer's Manual, volume 2, CPUID).
    fn bits(self) -> [&'static [u32]; 2] {
        match self {
            // PCLMULQDQ, AESNI; VAES, VPCLMULQDQ
            Self::Aes => [&[32 + 1, 32 + 25], &[32 + 9, 32 + 10]],
            Self::Avx2 => [&[], &[5]],
            // F, DQ, IFMA, PF, ER, CD, BW, VL; VBMI, VBMI2, VNNI, BITALG, VPOPCNTDQ
            Self::Avx512 => [&[], &[16, 17, 21, 26, 27, 28, 30, 31, 33, 38, 43, 44, 46]],
            // Both test it beside F, DQ and VL: ossl_rsaz_avx512ifma_eligible of OpenSSL's
            // rsaz-2k-avx512.pl, CRYPTO_is_AVX512IFMA_capable of AWS-LC's cpucap/internal.h.
            Self::Ifma => [&[], &[21]],
        }
    }
}

impl Listed {
    /// Parses one entry of `implementations`.
    pub fn read(value: toml::Value) -> Result<Self> {
        match value {
            toml::Value::String(name) => Ok(Self::Program(name)),
            toml::Value::Table(table) => {
                let build: Result<Build, _> = table.try_into();
                let build = build.map_err(|error| anyhow!("{}", readable(error.message())))?;
                build.check()?;
                Ok(Self::Build(build))
            }
            other => bail!(
                "found {other}, expected the name of a program, or a table such as \
                 {{ library = \"rustls\", version = \"0.22.4\" }}"
            ),
        }
    }
}

impl fmt::Display for Listed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(name) => f.write_str(name),
            Self::Build(build) => f.write_str(&build.name()),
        }
    }
}

impl Build {
    fn check(&self) -> Result<()> {
        ensure!(
            self.version.is_some() != self.source.is_some(),
            "found a build of {} with {}, expected either a version or a source",
            self.library,
            match self.version {
                Some(_) => "both",
                None => "neither version nor source",
            }
        );
        let word = |text: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
            !text.is_empty() && text.chars().all(plain) && !text.starts_with('.')
        };
        let named = [&Some(self.library.clone()), &self.version, &self.provider];
        for text in named
            .into_iter()
            .chain([&self.target_cpu, &self.name])
            .flatten()
        {
            ensure!(
                word(text),
                "found \"{text}\", expected letters, digits, +, -, . and _"
            );
        }
        Ok(())
    }

    /// The library's own version: the part of `300.0.13+3.0.8` after the plus.
    pub fn library_version(&self) -> Option<&str> {
        let version = self.version.as_deref()?;
        Some(version.split_once('+').map_or(version, |(_, own)| own))
    }

    /// The label that distinguishes this build from the workspace's of the same version; the last
    /// part of its id.
    pub fn label(&self) -> Option<String> {
        let mut parts = Vec::new();
        parts.extend(self.compiler.map(|compiler| compiler.c().to_owned()));
        if self.allocator != Allocator::System {
            parts.push(self.allocator.name().to_owned());
        }
        parts.extend(self.flags.as_deref().map(slug));
        parts.extend(
            self.target_cpu
                .as_deref()
                .map(|cpu| format!("cpu-{}", slug(cpu))),
        );
        parts.extend(self.lto.then(|| "lto".to_owned()));
        parts.extend(self.cpu_mask.iter().map(|it| format!("no-{}", it.name())));
        match (&self.name, &self.source) {
            (Some(name), _) => parts.push(slug(name)),
            (None, Some(_)) => parts.push("local".to_owned()),
            (None, None) => {}
        }
        (!parts.is_empty()).then(|| parts.join("-"))
    }

    /// Its name before it is built: equal to the id, unless the library's version differs from the
    /// package's.
    pub fn name(&self) -> String {
        let label = self.label();
        let parts = [
            Some(self.library.as_str()),
            self.library_version(),
            self.provider.as_deref(),
            self.tuned.then_some(TUNED),
            label.as_deref(),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("-")
    }

    /// The value of the variable that masks processor features, if any are masked.
    pub fn mask_value(&self) -> Option<String> {
        let word = |index: usize| {
            let bits = self.cpu_mask.iter().flat_map(|it| it.bits()[index]);
            format!("~{:#x}", bits.fold(0_u64, |word, bit| word | 1 << bit))
        };
        (!self.cpu_mask.is_empty()).then(|| format!("{}:{}", word(0), word(1)))
    }

    /// The masked features, if a processor with these features has none of them.
    pub fn masked_in_vain(&self, features: &[String]) -> Option<String> {
        let masked: Vec<_> = self.cpu_mask.iter().flat_map(|it| it.of_hosts()).collect();
        let is_there = |it: &&&str| features.iter().any(|has| has == **it);
        (!masked.is_empty() && !masked.iter().any(is_there)).then(|| {
            let words: Vec<&str> = masked.into_iter().copied().collect();
            words.join(", ")
        })
    }

    /// Environment variables that are set for its program.
    pub fn variables(&self) -> Vec<(String, String)> {
        let mask = self.mask_value();
        let mask = mask.map(|value| (MASK_VARIABLE.to_owned(), value));
        let tuned = self
            .tuned
            .then(|| (TUNED_VARIABLE.to_owned(), "1".to_owned()));
        mask.into_iter().chain(tuned).collect()
    }
}

/// Lower-case letters and digits with single hyphens between them: `-O2 -g` becomes `o2-g`.
pub fn slug(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(entry: &str) -> String {
        let mut table: toml::Table = toml::from_str(&format!("entry = {entry}")).unwrap();
        let value = table.remove("entry").unwrap();
        Listed::read(value).unwrap().to_string()
    }

    #[test]
    fn the_name_of_a_build_contains_its_options() {
        for (entry, expected) in [
            (
                "{ library = \"openssl\", version = \"300.0.13+3.0.8\" }",
                "openssl-3.0.8",
            ),
            (
                "{ library = \"rustls\", version = \"0.22.4\", provider = \"ring\", \
                 compiler = \"gcc\", allocator = \"jemalloc\" }",
                "rustls-0.22.4-ring-gcc-jemalloc",
            ),
            (
                "{ library = \"openssl\", version = \"1\", flags = \"-O2 -march=native\", \
                 cpu_mask = [\"aes\", \"avx512\"], target_cpu = \"x86-64-v3\" }",
                "openssl-1-o2-march-native-cpu-x86-64-v3-no-aes-no-avx512",
            ),
            (
                "{ library = \"openssl\", version = \"300.6.1+3.6.3\", tuned = true, compiler = \"gcc\" }",
                "openssl-3.6.3-tuned-gcc",
            ),
            (
                "{ library = \"rustls\", version = \"1\", provider = \"ring\", lto = true }",
                "rustls-1-ring-lto",
            ),
            (
                "{ library = \"rustls\", source = \"../rustls\" }",
                "rustls-local",
            ),
            (
                "{ library = \"rustls\", source = \"../rustls\", name = \"Head_1\" }",
                "rustls-head-1",
            ),
        ] {
            assert_eq!(name(entry), expected);
        }
    }

    #[test]
    fn a_mask_clears_the_bits_of_its_features() {
        let build = |cpu_mask| Build {
            cpu_mask,
            ..Build::default()
        };
        assert_eq!(build(vec![]).mask_value(), None);
        // The first word is the example for AES-NI and PCLMULQDQ in OPENSSL_ia32cap(3).
        let aes = build(vec![CpuFeature::Aes]).mask_value().unwrap();
        assert_eq!(aes, "~0x200000200000000:~0x60000000000");
        let both = build(vec![CpuFeature::Aes, CpuFeature::Avx2])
            .mask_value()
            .unwrap();
        assert_eq!(both, "~0x200000200000000:~0x60000000020");
        let ifma = build(vec![CpuFeature::Ifma]).mask_value().unwrap();
        assert_eq!(ifma, "~0x0:~0x200000");
    }

    #[test]
    fn a_mask_is_in_vain_if_the_processor_has_nothing_that_it_hides() {
        let masked = |cpu_mask: &[CpuFeature], features: &[&str]| {
            let features: Vec<_> = features.iter().map(|it| (*it).to_owned()).collect();
            let build = Build {
                cpu_mask: cpu_mask.to_vec(),
                ..Build::default()
            };
            build.masked_in_vain(&features)
        };
        use CpuFeature::{Aes, Avx2, Ifma};
        let zen_3 = ["aes", "avx2", "sha_ni"];
        assert_eq!(masked(&[Ifma], &zen_3).as_deref(), Some("avx512ifma"));
        assert_eq!(masked(&[Ifma], &["avx512f", "avx512ifma"]), None);
        assert_eq!(masked(&[Aes], &zen_3), None);
        assert_eq!(masked(&[Ifma, Avx2], &zen_3), None);
        assert_eq!(masked(&[], &[]), None);
    }
}
