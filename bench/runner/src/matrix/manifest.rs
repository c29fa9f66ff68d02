//! Changes to the adapter's manifest for a build.
//!
//! `cargo add` and `cargo update --precise` cannot pin an older version: the first rejects a
//! version that lacks a requested feature, the second one outside the adapter's requirement.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::matrix::package::Metadata;
use crate::matrix::prefix::PrefixMetadata;
use crate::matrix::subject::Build;

/// Sets the default features: those of the adapter, or the provider alone. Removes features that
/// would add the library in another way than by its prefix.
pub fn features(
    manifest: &mut DocumentMut,
    build: &Build,
    prefix: Option<&PrefixMetadata>,
) -> Result<()> {
    let Some(features) = manifest.get_mut("features") else {
        return Ok(());
    };
    let features = features
        .as_table_mut()
        .context("features: expected a table")?;
    let without = prefix.map(|it| it.without.as_str());
    if let Some(feature) = without {
        features.remove(feature);
    }
    let default: Vec<String> = match (&build.provider, features.get("default")) {
        (Some(provider), _) => vec![provider.clone()],
        (None, Some(all)) => {
            let all = all
                .as_array()
                .context("features.default: expected an array")?;
            let all = all.iter().filter_map(Value::as_str);
            all.filter(|it| Some(*it) != without)
                .map(str::to_owned)
                .collect()
        }
        (None, None) => return Ok(()),
    };
    features["default"] = value(Array::from_iter(default));
    Ok(())
}

/// Removes the packages of all other providers. They may require another version of the library,
/// and Cargo resolves them even if it does not build them.
pub fn without_other_providers(manifest: &mut DocumentMut, provider: &str) -> Result<()> {
    let features = table(manifest, "features")?;
    let mut kept = BTreeSet::new();
    for (name, item) in features.iter_mut() {
        let all = item.as_array_mut();
        let all = all.with_context(|| format!("features.{name}: expected an array"))?;
        if name.get() == provider {
            let needed = all.iter().filter_map(Value::as_str);
            let needed = needed.filter_map(|it| it.strip_prefix("dep:"));
            kept.extend(needed.map(str::to_owned));
        } else if name.get() != "default" {
            // The sources may test for the feature, so it stays, without dependencies.
            all.clear();
        }
    }
    for (name, item) in table(manifest, "dependencies")?.iter_mut() {
        let optional = item.get("optional").and_then(Item::as_bool) == Some(true);
        if optional && !kept.contains(name.get()) {
            *item = Item::None;
        }
    }
    Ok(())
}

/// The library's package in the adapter's dependencies.
pub fn library_package<'a>(
    manifest: &'a mut DocumentMut,
    metadata: &Metadata,
) -> Result<&'a mut InlineTable> {
    let package = &metadata.package;
    let found = table(manifest, "dependencies")?.get_mut(package);
    inline(found.with_context(|| format!("{package} is not a dependency of the adapter"))?)
}

/// Pins the version of the library's package, and removes features that this version lacks.
pub fn pin(manifest: &mut DocumentMut, version: &str, metadata: &Metadata) -> Result<()> {
    let found = library_package(manifest, metadata)?;
    found.insert("version", format!("={version}").into());
    if let Some(all) = found.get("features").and_then(Value::as_array) {
        let all = all.iter().filter_map(Value::as_str);
        let kept = features_of(version, metadata, all)?;
        found.insert("features", Value::Array(kept));
    }
    Ok(())
}

/// The features that a version of the library's package has.
pub fn features_of<'a>(
    version: &str,
    metadata: &Metadata,
    all: impl Iterator<Item = &'a str>,
) -> Result<Array> {
    let numbers = numbers(version).with_context(|| format!("version = \"{version}\""))?;
    let mut kept = Array::new();
    for feature in all {
        match metadata.since.get(feature) {
            Some(since) if numbers < self::numbers(since)? => {}
            _ => kept.push(feature),
        }
    }
    Ok(kept)
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

pub fn table<'a>(manifest: &'a mut DocumentMut, name: &str) -> Result<&'a mut Table> {
    let found = manifest.get_mut(name).and_then(Item::as_table_mut);
    found.with_context(|| format!("no [{name}]"))
}

/// Returns a dependency as an inline table, whatever its form was.
fn inline(item: &mut Item) -> Result<&mut InlineTable> {
    if let Some(version) = item.as_str() {
        let mut table = InlineTable::new();
        table.insert("version", version.into());
        *item = value(table);
    } else if let Some(table) = item.as_table() {
        *item = value(table.clone().into_inline_table());
    }
    let found = item.as_inline_table_mut();
    found.context("a dependency is neither a version nor a table")
}
