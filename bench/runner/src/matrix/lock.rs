//! A Cargo.lock: packages in the versions of which a build is made.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::files::parsed;

/// Its file name.
pub const LOCK: &str = "Cargo.lock";

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Lock {
    /// Of the format.
    pub version: u32,
    #[serde(default, rename = "package", skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<Package>,
}

/// A package. One without a source is local.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
pub struct Package {
    pub name: String,
    pub version: String,
    pub source: Option<String>,
    pub checksum: Option<String>,
    /// `name`, or `name version` if the lock has several versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependencies: Vec<String>,
}

impl Lock {
    pub fn read(path: &Path) -> Result<Self> {
        parsed(path)
    }

    /// The version of a package.
    pub fn version_of(&self, package: &str) -> Result<&str> {
        let found = self.packages.iter().find(|it| it.name == package);
        let found = found.with_context(|| format!("{package} is not locked"))?;
        Ok(&found.version)
    }

    /// The dependencies of a package, without itself: they must be those of the workspace in any
    /// version of the package. Empty if it is not locked.
    pub fn below(mut self, package: &str) -> Self {
        let mut needed = BTreeSet::new();
        let mut names = vec![package.to_owned()];
        while let Some(name) = names.pop() {
            let found = self.packages.iter().find(|it| it.name == name);
            for it in found.into_iter().flat_map(|it| &it.dependencies) {
                let name = it.split(' ').next().unwrap_or(it);
                if needed.insert(name.to_owned()) {
                    names.push(name.to_owned());
                }
            }
        }
        self.packages.retain(|it| needed.contains(&it.name));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_an_installed_library_are_locked_as_in_the_workspace() {
        let lock: Lock = toml::from_str(include_str!("../../../Cargo.lock")).unwrap();
        let below = lock.clone().below("openssl-src");
        // The second one is a dependency of the first one.
        for name in ["cc", "find-msvc-tools"] {
            let version = lock.version_of(name).unwrap();
            assert_eq!(below.version_of(name).unwrap(), version);
        }
        for other in ["openssl-src", "rustls"] {
            let error = below.version_of(other).unwrap_err();
            assert_eq!(error.to_string(), format!("{other} is not locked"));
        }
        let empty: Lock = toml::from_str("version = 4").unwrap();
        assert_eq!(toml::to_string(&empty.below("x")).unwrap(), "version = 4\n");
    }
}
