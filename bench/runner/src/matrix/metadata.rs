//! `[package.metadata.matrix]` of an adapter's Cargo.toml: how the versions of its library are built
//! (`docs/build-matrix.md`).

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Error, Result};
use serde::Deserialize;
use toml::Table;

use crate::files::parsed;
use crate::listed::Build;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Metadata {
    /// The package that contains the library.
    pub package: String,
    /// Features of that package, with their first versions.
    #[serde(default)]
    since: BTreeMap<String, Release>,
    /// The folder of the package in a local tree.
    pub folder: Option<String>,
    /// Settings by first version.
    #[serde(default)]
    from: BTreeMap<Release, Generation>,
    /// The package is not a dependency of the adapter, but installs the library.
    pub prefix: Option<PrefixMetadata>,
    pub checkout: Option<CheckoutMetadata>,
    /// Variables that would select another library than the requested one.
    #[serde(default)]
    pub foreign: Vec<String>,
    /// Variables that name a program of the library's build, each with a script in the adapter's
    /// folder that stands for it.
    #[serde(default)]
    pub programs: BTreeMap<String, String>,
    /// Providers that ignore the variable for the CPU mask.
    #[serde(default)]
    pub unmaskable: Vec<String>,
    /// Whether the adapter supports the settings that the library's documentation recommends.
    #[serde(default)]
    pub tuned: bool,
}

/// Versions that consist of other packages than older ones.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generation {
    /// Features of the library's package.
    pub features: Vec<String>,
    /// The packages of the providers, which have the library's version. In a local tree the folder
    /// of each has its name.
    pub providers: BTreeMap<String, String>,
}

/// How a build uses an installed library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PrefixMetadata {
    /// Build script that makes the package install the library into `PREFIX`.
    pub script: String,
    /// Environment variable that passes the prefix to the adapter's build.
    pub variable: String,
    /// A file that every prefix contains.
    pub holds: String,
    /// Other environment variables of the adapter's build.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Feature of the adapter that must be off, since it would add the library in another way.
    pub without: String,
}

/// How the package builds a local tree of a library in another language.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CheckoutMetadata {
    /// A file that every checkout contains.
    pub holds: String,
    /// Environment variable that passes the checkout to the package's build script. Without it, the
    /// package is used with the checkout in its folder `within`.
    pub variable: Option<String>,
    pub within: Option<String>,
    /// Other environment variables of the build.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
}

/// Major, minor and patch number of a version.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "String")]
struct Release([u64; 3]);

impl TryFrom<String> for Release {
    type Error = Error;

    fn try_from(version: String) -> Result<Self> {
        let number = version.split(['+', '-']).next().unwrap_or_default();
        let numbers: Result<Vec<u64>, _> = number.split('.').map(str::parse).collect();
        let numbers = numbers.ok().and_then(|it| it.try_into().ok());
        let numbers = numbers.map(Self);
        numbers.with_context(|| format!("version = \"{version}\": expected three numbers"))
    }
}

impl Metadata {
    /// A file that every local tree of the library contains.
    pub fn holds(&self) -> Option<String> {
        match (&self.prefix, &self.checkout, &self.folder) {
            (Some(prefix), _, _) => Some(prefix.holds.clone()),
            (None, Some(checkout), _) => Some(checkout.holds.clone()),
            (None, None, folder) => folder.as_ref().map(|it| format!("{it}/Cargo.toml")),
        }
    }

    /// The features of the library's package that a version has.
    pub fn features_of(&self, version: &str, mut all: Vec<String>) -> Result<Vec<String>> {
        let own = Release::try_from(version.to_owned())?;
        all.retain(|feature| self.since.get(feature).is_none_or(|since| *since <= own));
        Ok(all)
    }

    /// The settings for the version of a build, if they differ from the adapter's own manifest.
    pub fn generation(&self, build: &Build) -> Result<Option<&Generation>> {
        let version = match (&build.version, &build.source, &self.folder) {
            (Some(version), _, _) => version.clone(),
            (None, Some(tree), Some(folder)) => tree_version(&Path::new(tree).join(folder))?,
            _ => return Ok(None),
        };
        let older = self.from.range(..=Release::try_from(version)?);
        Ok(older.last().map(|(_, newest)| newest))
    }
}

/// The version that the package in a folder states.
fn tree_version(folder: &Path) -> Result<String> {
    let path = folder.join("Cargo.toml");
    let manifest: Table = parsed(&path)?;
    let version = manifest.get("package").and_then(|it| it.get("version"));
    let version = version.and_then(|it| it.as_str()).with_context(|| {
        let path = path.display();
        format!("{path}: found no version of the package, expected one such as \"0.23.46\"")
    })?;
    Ok(version.to_owned())
}
