//! The package whose build script installs a version of a library, for adapters that link to an
//! installed library.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;
use toml_edit::{DocumentMut, InlineTable, Item, Table, Value, value};

use crate::matrix::manifest::features_of;
use crate::matrix::package::Metadata;

/// `[package.metadata.matrix.prefix]`: how a build uses an installed library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PrefixMetadata {
    /// Build script that makes the package install the library into `PREFIX`.
    pub script: String,
    #[serde(default)]
    features: Vec<String>,
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

/// A package whose build script installs a library.
#[derive(Debug, PartialEq)]
pub struct Prefix {
    /// The package that contains the library.
    pub package: String,
    pub manifest: String,
    /// Its build script, in the adapter's folder.
    pub script: String,
    /// Environment variable that passes the prefix to the adapter's build.
    pub variable: String,
}

impl Prefix {
    /// The package for one version, with the profile of the workspace.
    ///
    /// # Errors
    ///
    /// The version or the workspace's manifest is invalid.
    pub fn new(
        version: &str,
        metadata: &Metadata,
        found: &PrefixMetadata,
        workspace: &str,
    ) -> Result<Self> {
        let workspace: DocumentMut = workspace.parse().context("bench/Cargo.toml")?;
        let features = found.features.iter().map(String::as_str);
        let features = features_of(version, metadata, features)?;
        let mut library = InlineTable::new();
        library.insert("version", format!("={version}").into());
        library.insert("features", Value::Array(features));
        let mut manifest: DocumentMut =
            "[package]\nname = \"prefix\"\nedition = \"2024\"\n".parse()?;
        let mut dependencies = Table::new();
        dependencies[&metadata.package] = value(library);
        manifest["build-dependencies"] = Item::Table(dependencies);
        if let Some(profile) = workspace.get("profile") {
            manifest["profile"] = profile.clone();
        }
        manifest["workspace"] = Item::Table(Table::new());
        Ok(Self {
            package: metadata.package.clone(),
            manifest: manifest.to_string(),
            script: found.script.clone(),
            variable: found.variable.clone(),
        })
    }
}

/// The part of a Cargo.lock with the dependencies of `package`, without itself: they must be those
/// of the workspace in any version of the package. Empty if it is not locked.
///
/// # Errors
///
/// The text is not a Cargo.lock.
pub fn lock_below(lock: &str, package: &str) -> Result<String> {
    let mut lock: DocumentMut = lock.parse().context("bench/Cargo.lock")?;
    let Some(all) = lock.get_mut("package") else {
        return Ok(lock.to_string());
    };
    let all = all.as_array_of_tables_mut();
    let all = all.context("bench/Cargo.lock: package: expected an array")?;
    let mut needed = BTreeSet::new();
    let mut names = vec![package.to_owned()];
    while let Some(name) = names.pop() {
        let found = all
            .iter()
            .find(|it| text(it, "name").is_ok_and(|it| it == name));
        let dependencies = found.and_then(|it| it.get("dependencies")?.as_array());
        for it in dependencies.into_iter().flatten().filter_map(Value::as_str) {
            // An entry is "name", or "name version" if there are several versions.
            let name = it.split(' ').next().unwrap_or(it);
            if needed.insert(name.to_owned()) {
                names.push(name.to_owned());
            }
        }
    }
    all.retain(|it| text(it, "name").is_ok_and(|name| needed.contains(&name)));
    Ok(lock.to_string())
}

/// The version of a package in a Cargo.lock.
///
/// # Errors
///
/// It is not locked.
pub fn locked_version(lock: &str, package: &str) -> Result<String> {
    let lock: DocumentMut = lock.parse()?;
    let all = lock.get("package").and_then(Item::as_array_of_tables);
    let mut all = all.context("no package is locked")?.iter();
    let found = all.find(|it| text(it, "name").is_ok_and(|name| name == package));
    text(
        found.with_context(|| format!("{package} is not locked"))?,
        "version",
    )
}

fn text(table: &Table, key: &str) -> Result<String> {
    let found = table.get(key).and_then(Item::as_str);
    Ok(found.with_context(|| format!("no {key}"))?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_of_an_installed_library_are_locked_as_in_the_workspace() {
        let lock = include_str!("../../../Cargo.lock");
        let below = lock_below(lock, "openssl-src").unwrap();
        let locked = locked_version(lock, "cc").unwrap();
        assert_eq!(locked_version(&below, "cc").unwrap(), locked);
        for other in ["openssl-src", "rustls"] {
            let error = locked_version(&below, other).unwrap_err();
            assert_eq!(error.to_string(), format!("{other} is not locked"));
        }
        assert_eq!(lock_below("version = 4\n", "x").unwrap(), "version = 4\n");
    }
}
