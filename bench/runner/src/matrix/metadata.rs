//! `[package.metadata.matrix]` of an adapter's Cargo.toml: how the versions of its library are built
//! (`docs/build-matrix.md`).

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Metadata {
    /// The package that contains the library.
    pub package: String,
    /// Features of that package, with their first versions.
    #[serde(default)]
    pub since: BTreeMap<String, String>,
    /// The folder of the package in a local tree.
    pub folder: Option<String>,
    /// Settings by first version.
    #[serde(default)]
    pub from: BTreeMap<String, Generation>,
    /// The package is not a dependency of the adapter, but installs the library.
    pub prefix: Option<PrefixMetadata>,
    pub checkout: Option<CheckoutMetadata>,
    /// Variables that would select another library than the requested one.
    #[serde(default)]
    pub foreign: Vec<String>,
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
    #[serde(default)]
    pub features: Vec<String>,
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
#[derive(Debug, Deserialize)]
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
