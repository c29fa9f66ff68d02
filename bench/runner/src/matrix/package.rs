//! The Cargo package of one build, derived from its adapter's: the same dependencies, profile and
//! sources, but for what the build asks for.
//!
//! What an adapter must tell for it stands in its Cargo.toml, in `[package.metadata.matrix]`:
//! `package`, that brings the library; `since`, features of that package and the versions that
//! first had them; `folder`, where a local tree has that package; or `prefix`, where the package is
//! no dependency of the adapter but installs the library: then both a version and a local tree are
//! a prefix that the library is installed in.

use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

use crate::matrix::subject::{Allocator, Build};

/// `[package.metadata.matrix]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Metadata {
    package: String,
    #[serde(default)]
    since: BTreeMap<String, String>,
    folder: Option<String>,
    prefix: Option<PrefixMetadata>,
}

/// `[package.metadata.matrix.prefix]`: how an installed library becomes part of a build.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct PrefixMetadata {
    /// Build script that has the package install the library where `PREFIX` says.
    script: String,
    /// Of the package.
    #[serde(default)]
    features: Vec<String>,
    /// Variable of the build that names the prefix.
    variable: String,
    /// What else stands in the environment of the build.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Feature of the adapter, that would bring the library in another way.
    without: String,
}

/// A package that Cargo can build.
#[derive(Debug, PartialEq)]
pub struct Package {
    pub manifest: String,
    /// Name of its program.
    pub program: String,
    /// Variables for the environment of the build.
    pub environment: Vec<(String, String)>,
    /// What must be installed first.
    pub prefix: Option<Prefix>,
}

/// A package whose build script installs a library.
#[derive(Debug, PartialEq)]
pub struct Prefix {
    /// The package that brings the library.
    pub package: String,
    pub manifest: String,
    /// Its build script, within the adapter's folder.
    pub script: String,
    /// Variable for the environment of the build, that names where it is installed.
    pub variable: String,
}

/// Derives the package of a build: from its adapter's manifest, that of the workspace, and the
/// folder of the workspace, as an absolute path.
///
/// # Errors
/// A manifest cannot be understood, or the adapter cannot be built so.
pub fn derive(adapter: &str, workspace: &str, bench: &Path, build: &Build) -> Result<Package> {
    let library = &build.library;
    let name = format!("bench/libraries/{library}/Cargo.toml");
    let mut manifest: DocumentMut = adapter.parse().with_context(|| name.clone())?;
    let workspace: DocumentMut = workspace.parse().context("bench/Cargo.toml")?;
    let metadata = metadata(adapter).with_context(|| name.clone())?;
    let folder = bench.join("libraries").join(library);
    let at = |path: &str| -> String { folder.join(path).display().to_string() };

    let package = table(&mut manifest, "package")?;
    inherit(package, workspace["workspace"].get("package"))?;
    package.remove("metadata");
    for (key, item) in package.iter_mut() {
        if key == "build" {
            let path = item.as_str().map(at);
            *item = value(path.context("package.build: expected a path")?);
        }
    }
    for key in ["autobins", "autotests", "autoexamples", "autobenches"] {
        package[key] = value(false);
    }
    let crate_name = text(package, "name")?;
    let mut lib = Table::new();
    lib["path"] = value(at("src/lib.rs"));
    manifest["lib"] = Item::Table(lib);
    let program = program(&mut manifest, build, &crate_name, &at)?;
    let mut test = Table::new();
    test["name"] = value("conformance");
    test["path"] = value(at("tests/conformance.rs"));
    manifest["test"] = array_of(test);

    for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let Some(found) = manifest.get_mut(section) else {
            continue;
        };
        let found = found
            .as_table_mut()
            .context("dependencies: expected a table")?;
        for (package, item) in found.iter_mut() {
            dependency(item, package.get(), &workspace, bench, &folder)?;
        }
    }
    if build.allocator == Allocator::Jemalloc {
        let dependencies = table(&mut manifest, "dependencies")?;
        let harness = inline(&mut dependencies["tls-harness"])?;
        harness.insert("features", Value::Array(Array::from_iter(["jemalloc"])));
    }

    features(&mut manifest, build, metadata.prefix.as_ref())?;
    if let Some(provider) = &build.provider {
        without_other_providers(&mut manifest, provider)?;
    }
    let mut environment = Vec::new();
    let mut prefix = None;
    match (&build.version, &build.source, &metadata.prefix) {
        (version, source, Some(found)) => {
            environment.extend(found.environment.clone());
            environment.extend(source.clone().map(|tree| (found.variable.clone(), tree)));
            if let Some(version) = version {
                prefix = Some(prefix_of(version, &metadata, found, &workspace)?);
            }
        }
        (Some(version), _, None) => pin(&mut manifest, version, &metadata)?,
        (None, tree, None) => {
            let found = tree.as_ref().zip(metadata.folder.as_ref());
            let (tree, inner) =
                found.with_context(|| format!("{library} cannot be built from a local tree"))?;
            let library = library_package(&mut manifest, &metadata)?;
            library.remove("version");
            let path = Path::new(tree).join(inner);
            library.insert("path", path.display().to_string().into());
        }
    }
    stand_alone(&mut manifest, &workspace);
    Ok(Package {
        manifest: manifest.to_string(),
        program,
        environment,
        prefix,
    })
}

/// Has a package built as those of the workspace are, without being one.
fn stand_alone(manifest: &mut DocumentMut, workspace: &DocumentMut) {
    if let Some(profile) = workspace.get("profile") {
        manifest["profile"] = profile.clone();
    }
    // It is no member of a workspace that may fault above it.
    manifest["workspace"] = Item::Table(Table::new());
}

/// Of a Cargo.lock, the packages that `package` needs, without itself: in any version of it, they
/// are to be those of the workspace. Empty where it is not locked.
///
/// # Errors
/// It is no Cargo.lock.
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
            // "name", or "name version" where there are several.
            let name = it.split(' ').next().unwrap_or(it);
            if needed.insert(name.to_owned()) {
                names.push(name.to_owned());
            }
        }
    }
    all.retain(|it| text(it, "name").is_ok_and(|name| needed.contains(&name)));
    Ok(lock.to_string())
}

/// The version of a package, by a Cargo.lock.
///
/// # Errors
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

fn metadata(adapter: &str) -> Result<Metadata> {
    #[derive(Deserialize)]
    struct Manifest {
        package: Inner,
    }
    #[derive(Deserialize)]
    struct Inner {
        metadata: Option<All>,
    }
    #[derive(Deserialize)]
    struct All {
        matrix: Option<Metadata>,
    }
    let manifest: Manifest = toml::from_str(adapter)?;
    let found = manifest.package.metadata.and_then(|all| all.matrix);
    found.context("no [package.metadata.matrix]: this library is built in one version only")
}

/// Replaces `key.workspace = true` by what the workspace says.
fn inherit(table: &mut Table, from: Option<&Item>) -> Result<()> {
    for (key, item) in table.iter_mut() {
        let inherits = item.get("workspace").and_then(Item::as_bool) == Some(true);
        if inherits {
            let found = from.and_then(|from| from.get(key.get()));
            let found = found.with_context(|| format!("bench/Cargo.toml tells no {key}"))?;
            *item = found.clone();
        }
    }
    Ok(())
}

/// A dependency as it must stand outside of the workspace: nothing inherited, paths absolute.
fn dependency(
    item: &mut Item,
    name: &str,
    workspace: &DocumentMut,
    bench: &Path,
    folder: &Path,
) -> Result<()> {
    let mut base = folder;
    if item.get("workspace").and_then(Item::as_bool) == Some(true) {
        let all = workspace["workspace"].get("dependencies");
        let found = all.and_then(|all| all.get(name));
        let own = std::mem::take(item);
        *item = found
            .with_context(|| format!("bench/Cargo.toml tells no {name}"))?
            .clone();
        let inherited = inline(item)?;
        let own = own.as_table_like().context("expected a table")?;
        for (key, found) in own.iter().filter(|(key, _)| *key != "workspace") {
            let found = found.as_value().context("expected a value")?;
            inherited.insert(key, found.clone());
        }
        base = bench;
    }
    let table = inline(item)?;
    if let Some(path) = table.get("path").and_then(Value::as_str) {
        let path = base.join(path).display().to_string();
        table.insert("path", path.into());
    }
    Ok(())
}

/// Keeps the one program that the build asks for; returns its name.
fn program(
    manifest: &mut DocumentMut,
    build: &Build,
    crate_name: &str,
    at: &dyn Fn(&str) -> String,
) -> Result<String> {
    let library = &build.library;
    let required = |table: &Table| -> Vec<String> {
        let all = table.get("required-features").and_then(Item::as_array);
        let all = all.into_iter().flatten().filter_map(Value::as_str);
        all.map(str::to_owned).collect()
    };
    let of = |table: &Table| required(table).into_iter().next();
    let bins = manifest.get("bin").and_then(Item::as_array_of_tables);
    let mut bins: Vec<Table> = bins.map_or_else(Vec::new, |all| all.iter().cloned().collect());
    if bins.is_empty() {
        let mut only = Table::new();
        only["name"] = value(crate_name);
        only["path"] = value("src/main.rs");
        bins.push(only);
    }
    // One that needs more than a provider is no build of the matrix.
    bins.retain(|bin| required(bin).len() < 2);
    let providers: Vec<String> = bins.iter().filter_map(of).collect();
    let mut bins = bins.into_iter();
    let bin = bins.find(|bin| of(bin) == build.provider);
    let mut bin = bin.with_context(|| {
        let found = build.provider.as_deref().unwrap_or("none");
        let expected = match providers.is_empty() {
            true => "none".to_owned(),
            false => providers.join(" or "),
        };
        format!("{library}: found the provider {found}, expected {expected}")
    })?;
    bin["path"] = value(at(&text(&bin, "path")?));
    let name = text(&bin, "name")?;
    manifest["bin"] = array_of(bin);
    Ok(name)
}

/// Sets the default features: those of the adapter, or the provider alone. What would bring the
/// library in another way than by its prefix is no feature any more.
fn features(
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

/// Leaves out the packages of all providers but one: those of another may ask for another version
/// of the library, and Cargo wants a version of them even where it does not build them.
fn without_other_providers(manifest: &mut DocumentMut, provider: &str) -> Result<()> {
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
            // A feature still, which the sources may ask about, but one that brings nothing.
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

/// The library's package among the adapter's dependencies.
fn library_package<'a>(
    manifest: &'a mut DocumentMut,
    metadata: &Metadata,
) -> Result<&'a mut InlineTable> {
    let package = &metadata.package;
    let found = table(manifest, "dependencies")?.get_mut(package);
    inline(found.with_context(|| format!("{package} is no dependency of the adapter"))?)
}

/// Pins the library's package, without features that it does not have.
fn pin(manifest: &mut DocumentMut, version: &str, metadata: &Metadata) -> Result<()> {
    let found = library_package(manifest, metadata)?;
    found.insert("version", format!("={version}").into());
    if let Some(all) = found.get("features").and_then(Value::as_array) {
        let all = all.iter().filter_map(Value::as_str);
        let kept = features_of(version, metadata, all)?;
        found.insert("features", Value::Array(kept));
    }
    Ok(())
}

/// The package whose build script installs a version of the library.
fn prefix_of(
    version: &str,
    metadata: &Metadata,
    found: &PrefixMetadata,
    workspace: &DocumentMut,
) -> Result<Prefix> {
    let features = found.features.iter().map(String::as_str);
    let mut library = InlineTable::new();
    library.insert("version", format!("={version}").into());
    library.insert(
        "features",
        Value::Array(features_of(version, metadata, features)?),
    );
    let mut manifest = DocumentMut::new();
    let mut package = Table::new();
    package["name"] = value("prefix");
    package["edition"] = value("2024");
    manifest["package"] = Item::Table(package);
    let mut dependencies = Table::new();
    dependencies[&metadata.package] = value(library);
    manifest["build-dependencies"] = Item::Table(dependencies);
    stand_alone(&mut manifest, workspace);
    Ok(Prefix {
        package: metadata.package.clone(),
        manifest: manifest.to_string(),
        script: found.script.clone(),
        variable: found.variable.clone(),
    })
}

/// Those of some features that a version of the library's package has.
fn features_of<'a>(
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

/// Major, minor and patch version.
fn numbers(version: &str) -> Result<[u64; 3]> {
    let number = version.split(['+', '-']).next().unwrap_or_default();
    let numbers: Vec<u64> = number
        .split('.')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let found: Result<[u64; 3], _> = numbers.try_into();
    found.ok().context("expected three numbers")
}

fn table<'a>(manifest: &'a mut DocumentMut, name: &str) -> Result<&'a mut Table> {
    let found = manifest.get_mut(name).and_then(Item::as_table_mut);
    found.with_context(|| format!("no [{name}]"))
}

fn text(table: &Table, key: &str) -> Result<String> {
    let found = table.get(key).and_then(Item::as_str);
    Ok(found.with_context(|| format!("no {key}"))?.to_owned())
}

/// A dependency as an inline table, whether it was one, a table, or only a version.
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

fn array_of(table: Table) -> Item {
    let mut all = ArrayOfTables::new();
    all.push(table);
    Item::ArrayOfTables(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::subject::{CpuFeature, compiled_otherwise};

    const WORKSPACE: &str = include_str!("../../../Cargo.toml");
    const RUSTLS: &str = include_str!("../../../libraries/rustls/Cargo.toml");
    const OPENSSL: &str = include_str!("../../../libraries/openssl/Cargo.toml");
    const BORINGSSL: &str = include_str!("../../../libraries/boringssl/Cargo.toml");

    fn build(library: &str, version: &str) -> Build {
        Build {
            library: library.to_owned(),
            version: Some(version.to_owned()),
            ..Build::default()
        }
    }

    fn rustls(version: &str, provider: &str) -> Build {
        Build {
            provider: Some(provider.to_owned()),
            ..build("rustls", version)
        }
    }

    fn derived(adapter: &str, build: &Build) -> Result<Package> {
        derive(adapter, WORKSPACE, Path::new("/checkout/bench"), build)
    }

    fn table_of(adapter: &str, build: &Build) -> toml::Table {
        toml::from_str(&derived(adapter, build).unwrap().manifest).unwrap()
    }

    #[test]
    fn a_package_stands_alone_with_sources_by_path_and_the_profile_of_the_workspace() {
        let package = derived(RUSTLS, &rustls("0.23.46", "ring")).unwrap();
        assert_eq!(package.program, "tls-rustls-ring");
        assert!(
            !package.manifest.contains("workspace = true"),
            "{}",
            package.manifest
        );
        let table: toml::Table = toml::from_str(&package.manifest).unwrap();
        let workspace: toml::Table = toml::from_str(WORKSPACE).unwrap();
        assert_eq!(table["profile"], workspace["profile"]);
        assert_eq!(
            table["package"]["edition"],
            workspace["workspace"]["package"]["edition"]
        );
        let at = |path: &str| format!("/checkout/bench/libraries/rustls/{path}");
        assert_eq!(
            table["package"]["build"].as_str(),
            Some(&*at("../shared/build.rs"))
        );
        assert_eq!(table["lib"]["path"].as_str(), Some(&*at("src/lib.rs")));
        let bins = table["bin"].as_array().unwrap();
        assert_eq!(bins.len(), 1);
        assert_eq!(bins[0]["path"].as_str(), Some(&*at("src/bin/ring.rs")));
        let harness = &table["dependencies"]["tls-harness"];
        assert_eq!(harness["path"].as_str(), Some("/checkout/bench/harness"));
    }

    #[test]
    fn the_version_is_pinned_without_features_that_it_does_not_have() {
        let features = |version: &str| {
            let table = table_of(RUSTLS, &rustls(version, "aws-lc-rs"));
            let found = table["dependencies"]["rustls"].clone();
            assert_eq!(found["version"].as_str(), Some(&*format!("={version}")));
            assert_eq!(found["default-features"].as_bool(), Some(false));
            assert_eq!(table["features"]["default"], vec!["aws-lc-rs"].into());
            found["features"].clone()
        };
        assert_eq!(features("0.22.4"), vec!["tls12"].into());
        assert_eq!(features("0.23.0"), vec!["std", "tls12"].into());
        let boring = table_of(BORINGSSL, &build("boringssl", "4.2.0"));
        assert_eq!(
            boring["dependencies"]["boring-sys"]["version"].as_str(),
            Some("=4.2.0")
        );
    }

    #[test]
    fn what_installs_a_library_is_a_package_of_its_own() {
        let workspace: toml::Table = toml::from_str(WORKSPACE).unwrap();
        let prefix = |version: &str| {
            let package = derived(OPENSSL, &build("openssl", version)).unwrap();
            let table: toml::Table = toml::from_str(&package.manifest).unwrap();
            let features = table["features"].as_table().unwrap();
            assert_eq!(features.keys().collect::<Vec<_>>(), ["default"]);
            assert_eq!(features["default"].as_array().unwrap().len(), 0);
            assert_eq!(package.environment, [("OPENSSL_STATIC".into(), "1".into())]);
            let prefix = package.prefix.unwrap();
            assert_eq!(prefix.variable, "OPENSSL_DIR");
            let table: toml::Table = toml::from_str(&prefix.manifest).unwrap();
            assert_eq!(table["profile"], workspace["profile"]);
            let library = &table["build-dependencies"]["openssl-src"];
            assert_eq!(library["version"].as_str(), Some(&*format!("={version}")));
            library["features"].as_array().unwrap().len()
        };
        assert_eq!(prefix("111.28.2+1.1.1w"), 0);
        assert_eq!(prefix("300.0.13+3.0.8"), 1);
        assert_eq!(prefix("400.0.2+4.0.3"), 1);
    }

    #[test]
    fn what_an_installed_library_needs_is_locked_as_in_the_workspace() {
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

    #[test]
    fn builds_that_differ_in_the_allocator_differ_in_nothing_else() {
        let system = build("openssl", "300.6.1+3.6.3");
        let jemalloc = Build {
            allocator: Allocator::Jemalloc,
            ..system.clone()
        };
        let (mut ours, mut others) = (table_of(OPENSSL, &system), table_of(OPENSSL, &jemalloc));
        let harness = |table: &mut toml::Table| {
            let dependencies = table["dependencies"].as_table_mut().unwrap();
            dependencies.remove("tls-harness").unwrap()
        };
        let (plain, with) = (harness(&mut ours), harness(&mut others));
        assert_eq!(ours, others);
        assert_eq!(with["path"], plain["path"]);
        assert_eq!(with["features"], vec!["jemalloc"].into());
    }

    #[test]
    fn builds_that_differ_in_one_axis_differ_in_nothing_else() {
        let base = rustls("0.23.46", "aws-lc-rs");
        // Compiler, flags and processor are told by the environment, the mask when it runs.
        let masked = Build {
            cpu_mask: vec![CpuFeature::Aes],
            ..base.clone()
        };
        for other in compiled_otherwise(&base).into_iter().chain([masked]) {
            assert_eq!(table_of(RUSTLS, &other), table_of(RUSTLS, &base));
        }
        let without = |build: &Build, parts: &[(&str, &str)]| {
            let mut table = table_of(RUSTLS, build);
            for (section, key) in parts {
                let found = table[*section].as_table_mut().unwrap().remove(*key);
                assert!(found.is_some(), "no {section}.{key}");
            }
            table
        };
        let older = rustls("0.23.45", "aws-lc-rs");
        let library = [("dependencies", "rustls")];
        assert_ne!(table_of(RUSTLS, &older), table_of(RUSTLS, &base));
        assert_eq!(without(&older, &library), without(&base, &library));
        let packages = |name: &str, of: &[&str]| {
            let mut parts = vec![("features", "default"), ("features", name)];
            parts.extend(of.iter().map(|package| ("dependencies", *package)));
            let mut table = without(&rustls("0.23.46", name), &parts);
            // Of the others there is the name, and nothing that it brings.
            let features = table.remove("features").unwrap();
            for (feature, brings) in features.as_table().unwrap() {
                assert_eq!(brings.as_array().unwrap().len(), 0, "{feature}");
            }
            (table.remove("bin").unwrap(), table)
        };
        let found = [
            packages("aws-lc-rs", &["aws-lc-rs"]),
            packages("ring", &["ring"]),
            packages("graviola", &["graviola", "rustls-graviola"]),
        ];
        for (one, other) in [(0, 1), (0, 2), (1, 2)] {
            assert_ne!(found[one].0, found[other].0);
            assert_eq!(found[one].1, found[other].1);
        }
    }

    #[test]
    fn a_local_tree_takes_the_place_of_the_package() {
        let tree = |library: &str, provider: Option<&str>| Build {
            library: library.to_owned(),
            provider: provider.map(str::to_owned),
            source: Some("/tree".to_owned()),
            ..Build::default()
        };
        let rustls = table_of(RUSTLS, &tree("rustls", Some("ring")));
        let found = &rustls["dependencies"]["rustls"];
        assert_eq!(found["path"].as_str(), Some("/tree/rustls"));
        assert_eq!(found.get("version"), None);
        let openssl = derived(OPENSSL, &tree("openssl", None)).unwrap();
        let variables: BTreeMap<_, _> = openssl.environment.into_iter().collect();
        assert_eq!(variables["OPENSSL_DIR"], "/tree");
        assert_eq!(variables["OPENSSL_STATIC"], "1");
        assert_eq!(openssl.prefix, None);
        let error = derived(BORINGSSL, &tree("boringssl", None)).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("cannot be built from a local tree"),
            "{error}"
        );
    }

    #[test]
    fn what_an_adapter_cannot_be_built_with_is_named() {
        for (adapter, build, expected) in [
            (
                RUSTLS,
                build("rustls", "0.23.46"),
                "found the provider none, expected aws-lc-rs or ring or graviola",
            ),
            (
                RUSTLS,
                rustls("0.23.46", "openssl"),
                "found the provider openssl, expected aws-lc-rs or ring or graviola",
            ),
            (
                BORINGSSL,
                Build {
                    provider: Some("ring".into()),
                    ..build("boringssl", "5.4.0")
                },
                "expected none",
            ),
            (
                RUSTLS,
                rustls("0.23", "ring"),
                "version = \"0.23\": expected three numbers",
            ),
            (
                "[package]\nname = \"x\"",
                build("x", "1.0.0"),
                "no [package.metadata.matrix]",
            ),
        ] {
            let error = format!("{:#}", derived(adapter, &build).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
    }
}
