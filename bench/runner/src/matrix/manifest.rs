//! Changes to the adapter's manifest for a build.
//!
//! `cargo add` and `cargo update --precise` cannot pin an older version: the first rejects a
//! version that lacks a requested feature, the second one outside the adapter's requirement.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::listed::Build;
use crate::matrix::metadata::Metadata;

/// Sets the default features: those of the adapter, or the provider alone. Removes the feature that
/// would add the library in another way than by its prefix.
pub fn features(manifest: &mut Table, build: &Build, without: Option<&str>) -> Result<()> {
    if !manifest.contains_key("features") {
        return Ok(());
    }
    let features = table(manifest, "features")?;
    if let Some(feature) = without {
        features.remove(feature);
    }
    let default = match (&build.provider, features.get_mut("default")) {
        (Some(provider), _) => vec![provider.as_str().into()],
        (None, Some(all)) => {
            let all = all.as_array_mut();
            let all = all.context("features.default: expected an array")?;
            all.retain(|it| it.as_str() != without);
            return Ok(());
        }
        (None, None) => return Ok(()),
    };
    features.insert("default".to_owned(), Value::Array(default));
    Ok(())
}

/// Removes the packages of all other providers. They may require another version of the library,
/// and Cargo resolves them even if it does not build them.
pub fn without_other_providers(manifest: &mut Table, provider: &str) -> Result<()> {
    let mut kept = BTreeSet::new();
    for (name, all) in table(manifest, "features")?.iter_mut() {
        let all = all.as_array_mut();
        let all = all.with_context(|| format!("features.{name}: expected an array"))?;
        if name == provider {
            let needed = all.iter().filter_map(Value::as_str);
            let needed = needed.filter_map(|it| it.strip_prefix("dep:"));
            kept.extend(needed.map(str::to_owned));
        } else if name != "default" {
            // The sources may test for the feature, so it stays, without dependencies.
            all.clear();
        }
    }
    table(manifest, "dependencies")?.retain(|name, dependency| {
        let optional = dependency.get("optional").and_then(Value::as_bool);
        optional != Some(true) || kept.contains(name)
    });
    Ok(())
}

/// The library's package in the adapter's dependencies, as a table, whatever its form was.
pub fn library_package<'a>(manifest: &'a mut Table, metadata: &Metadata) -> Result<&'a mut Table> {
    let package = &metadata.package;
    let found = table(manifest, "dependencies")?.get_mut(package);
    let found = found.with_context(|| format!("{package} is not a dependency of the adapter"))?;
    if found.is_str() {
        *found = Table::from_iter([("version".to_owned(), found.clone())]).into();
    }
    let found = found.as_table_mut();
    found.context("a dependency is neither a version nor a table")
}

/// Pins the version of the library's package, and removes features that this version lacks.
pub fn pin(manifest: &mut Table, version: &str, metadata: &Metadata) -> Result<()> {
    let found = library_package(manifest, metadata)?;
    found.insert("version".to_owned(), format!("={version}").into());
    if let Some(all) = found.get("features").and_then(Value::as_array) {
        let all = all.iter().filter_map(Value::as_str);
        let kept = features_of(version, metadata, all)?;
        found.insert("features".to_owned(), kept);
    }
    Ok(())
}

/// The features that a version of the library's package has.
pub fn features_of<'a>(
    version: &str,
    metadata: &Metadata,
    all: impl Iterator<Item = &'a str>,
) -> Result<Value> {
    let numbers = numbers(version).with_context(|| format!("version = \"{version}\""))?;
    let mut kept = Vec::new();
    for feature in all {
        match metadata.since.get(feature) {
            Some(since) if numbers < self::numbers(since)? => {}
            _ => kept.push(feature.into()),
        }
    }
    Ok(Value::Array(kept))
}

/// Major, minor and patch number.
pub fn numbers(version: &str) -> Result<[u64; 3]> {
    let number = version.split(['+', '-']).next().unwrap_or_default();
    let numbers: Vec<u64> = number
        .split('.')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let found: Result<[u64; 3], _> = numbers.try_into();
    found.ok().context("expected three numbers")
}

pub fn table<'a>(manifest: &'a mut Table, name: &str) -> Result<&'a mut Table> {
    let found = manifest.get_mut(name).and_then(Value::as_table_mut);
    found.with_context(|| format!("no [{name}]"))
}
