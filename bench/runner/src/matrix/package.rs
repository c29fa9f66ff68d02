//! The manifest of one build: its adapter's, with the requested version of the library.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tls_harness::implementation::MASK_VARIABLE;
use toml::Table;

use crate::listed::{Allocator, Build};
use crate::matrix::checkout::Checkout;
use crate::matrix::install::Prefix;
use crate::matrix::lock::Lock;
use crate::matrix::manifest::{features, library_package, pin, table, without_other_providers};
use crate::matrix::metadata::{Generation, Metadata};

/// The fields of a package's manifest that a build needs.
#[derive(Deserialize)]
struct Adapter {
    package: Inner,
    #[serde(default)]
    bin: Vec<Program>,
}

#[derive(Deserialize)]
struct Inner {
    name: String,
    metadata: Option<All>,
}

#[derive(Deserialize)]
struct All {
    matrix: Option<Metadata>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Program {
    name: String,
    #[serde(default)]
    required_features: Vec<String>,
}

/// The package that builds an adapter.
#[derive(Debug, PartialEq)]
pub struct Package {
    pub manifest: String,
    /// The manifest of a workspace with this package alone.
    pub workspace: String,
    /// Arguments of Cargo that select the package and its features.
    pub arguments: Vec<String>,
    /// File name of its program.
    pub program: String,
    /// Environment variables of the build.
    pub environment: Vec<(String, String)>,
    /// Environment variables that must not be set.
    pub foreign: Vec<String>,
    /// The library to install first.
    pub prefix: Option<Prefix>,
    /// The local tree that the library's package builds.
    pub checkout: Option<Checkout>,
}

/// Derives the package of a build from its adapter's manifest. `lock` is the lock of the workspace.
pub fn derive(adapter: &str, workspace: &str, lock: &Lock, build: &Build) -> Result<Package> {
    let library = &build.library;
    let name = format!("bench/libraries/{library}/Cargo.toml");
    let mut manifest: Table = toml::from_str(adapter).with_context(|| name.clone())?;
    let adapter: Adapter = toml::from_str(adapter).with_context(|| name.clone())?;
    // An adapter outside the workspace has these of its own.
    for own in ["workspace", "profile"] {
        manifest.remove(own);
    }
    let metadata = adapter.package.metadata.and_then(|all| all.matrix);
    let metadata = metadata
        .context("no [package.metadata.matrix]: this library is built in one version only")
        .with_context(|| name.clone())?;
    if let Some(provider) = &build.provider
        && metadata.unmaskable.contains(provider)
    {
        ensure!(
            build.cpu_mask.is_empty(),
            "found cpu_mask with the provider {provider}, which ignores {MASK_VARIABLE}: expected \
             another provider, or no cpu_mask"
        );
    }
    ensure!(
        metadata.tuned || !build.tuned,
        "found tuned = true with {library}, which has no settings of its own: docs/tuned.md says why"
    );
    if let Some(tree) = &build.source {
        check_tree(Path::new(tree), library, &metadata)?;
    }
    let mut arguments = vec!["--package".to_owned(), adapter.package.name.clone()];
    if build.allocator == Allocator::Jemalloc {
        arguments.extend(["--features".to_owned(), "tls-harness/jemalloc".to_owned()]);
    }
    let program = program(adapter.bin, &adapter.package.name, build)?;
    let without = metadata.prefix.as_ref().map(|it| it.without.as_str());
    features(&mut manifest, build, without)?;
    if let Some(generation) = Generation::of(build, &metadata)? {
        generation.apply(&mut manifest, build, &metadata)?;
    }
    if let Some(provider) = &build.provider {
        without_other_providers(&mut manifest, provider)?;
    }
    let mut workspace: Table = toml::from_str(workspace).context("bench/Cargo.toml")?;
    let mut environment = Vec::new();
    let mut prefix = None;
    let mut tree = None;
    match (&build.version, &build.source, &metadata.prefix) {
        (version, source, Some(found)) => {
            environment.extend(found.environment.clone());
            environment.extend(source.clone().map(|tree| (found.variable.clone(), tree)));
            if let Some(version) = version {
                prefix = Some(Prefix::new(version, &metadata, found, &workspace)?);
            }
        }
        (Some(version), _, None) => pin(&mut manifest, version, &metadata)?,
        (None, source, None) => match (source.as_deref(), &metadata.checkout, &metadata.folder) {
            (Some(path), Some(found), _) => {
                environment.extend(found.environment.clone());
                let checkout = Checkout::new(path, found, &mut manifest, &metadata, lock);
                tree = Some(checkout?);
            }
            (Some(tree), None, Some(inner)) => {
                let library = library_package(&mut manifest, &metadata)?;
                library.remove("version");
                let path = Path::new(tree).join(inner);
                library.insert("path".to_owned(), path.display().to_string().into());
            }
            _ => bail!("{library} cannot be built from a local tree"),
        },
    }
    let members = vec![format!("libraries/{library}")];
    table(&mut workspace, "workspace")?.insert("members".to_owned(), members.into());
    if let Some(checkout) = &tree {
        checkout.patch(&mut workspace)?;
    }
    Ok(Package {
        manifest: toml::to_string(&manifest)?,
        workspace: toml::to_string(&workspace)?,
        arguments,
        program,
        environment,
        foreign: metadata.foreign,
        prefix,
        checkout: tree,
    })
}

/// Checks that a local tree has the required files, and suggests another folder that has them.
fn check_tree(tree: &Path, library: &str, metadata: &Metadata) -> Result<()> {
    let needed = match (&metadata.prefix, &metadata.checkout, &metadata.folder) {
        (Some(prefix), _, _) => prefix.holds.clone(),
        (None, Some(checkout), _) => checkout.holds.clone(),
        (None, None, Some(folder)) => format!("{folder}/Cargo.toml"),
        (None, None, None) => bail!("{library} cannot be built from a local tree"),
    };
    if tree.join(&needed).exists() {
        return Ok(());
    }
    let better = tree
        .ancestors()
        .skip(1)
        .find(|it| it.join(&needed).exists());
    bail!(
        "source = \"{}\": found no {needed} in it, expected {}",
        tree.display(),
        match better {
            Some(better) => format!("source = \"{}\"", better.display()),
            None => format!("the top of a checkout or of a prefix of {library}"),
        }
    )
}

/// The name of the program that a build selects.
fn program(mut all: Vec<Program>, crate_name: &str, build: &Build) -> Result<String> {
    if all.is_empty() {
        return match &build.provider {
            None => Ok(crate_name.to_owned()),
            Some(found) => bail!(
                "{}: found the provider {found}, expected none",
                build.library
            ),
        };
    }
    // Programs that need more than a provider are not in the matrix.
    all.retain(|it| it.required_features.len() < 2);
    let mut programs = all.iter();
    let found = programs.find(|it| it.required_features.first() == build.provider.as_ref());
    let found = found.with_context(|| {
        let providers: Vec<_> = all
            .iter()
            .flat_map(|it| it.required_features.clone())
            .collect();
        format!(
            "{}: found the provider {}, expected {}",
            build.library,
            build.provider.as_deref().unwrap_or("none"),
            providers.join(" or ")
        )
    })?;
    Ok(found.name.clone())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::listed::{CpuFeature, compiled_otherwise};

    const LOCK: &str = include_str!("../../../Cargo.lock");
    const WORKSPACE: &str = include_str!("../../../Cargo.toml");
    const RUSTLS: &str = include_str!("../../../libraries/rustls/Cargo.toml");
    const OPENSSL: &str = include_str!("../../../libraries/openssl/Cargo.toml");
    const AWS_LC: &str = include_str!("../../../libraries/aws-lc/Cargo.toml");
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

    fn lock() -> Lock {
        toml::from_str(LOCK).unwrap()
    }

    fn derived(adapter: &str, build: &Build) -> Result<Package> {
        derive(adapter, WORKSPACE, &lock(), build)
    }

    fn table_of(adapter: &str, build: &Build) -> toml::Table {
        toml::from_str(&derived(adapter, build).unwrap().manifest).unwrap()
    }

    #[test]
    fn the_package_of_a_build_is_alone_in_its_workspace() {
        let package = derived(RUSTLS, &rustls("0.23.46", "ring")).unwrap();
        assert_eq!(package.program, "tls-rustls-ring");
        assert_eq!(package.arguments, ["--package", "tls-rustls"]);
        let mut found: toml::Table = toml::from_str(&package.workspace).unwrap();
        let mut expected: toml::Table = toml::from_str(WORKSPACE).unwrap();
        let members = |table: &mut toml::Table| {
            let workspace = table["workspace"].as_table_mut().unwrap();
            workspace.remove("members").unwrap()
        };
        assert_eq!(members(&mut found), vec!["libraries/rustls"].into());
        members(&mut expected);
        assert_eq!(found, expected);
        let mut found: toml::Table = toml::from_str(&package.manifest).unwrap();
        let mut expected: toml::Table = toml::from_str(RUSTLS).unwrap();
        for table in [&mut found, &mut expected] {
            table.remove("features").unwrap();
            table.remove("dependencies").unwrap();
        }
        assert_eq!(found, expected);
    }

    #[test]
    fn a_pinned_version_loses_the_features_that_it_lacks() {
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
    fn a_separate_package_installs_the_library() {
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
    fn the_allocator_changes_nothing_else_in_a_build() {
        let system = build("openssl", "300.6.1+3.6.3");
        let jemalloc = Build {
            allocator: Allocator::Jemalloc,
            ..system.clone()
        };
        let ours = derived(OPENSSL, &system).unwrap();
        let mut others = derived(OPENSSL, &jemalloc).unwrap();
        let more = others.arguments.split_off(ours.arguments.len());
        assert_eq!(more, ["--features", "tls-harness/jemalloc"]);
        assert_eq!(ours, others);
    }

    #[test]
    fn each_option_changes_nothing_else_in_a_build() {
        let base = rustls("0.23.46", "aws-lc-rs");
        // Compiler, flags and processor are in the environment of the build, the mask in the
        // program's.
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
            // The features of the other providers remain, but without dependencies.
            let features = table.remove("features").unwrap();
            for (feature, brings) in features.as_table().unwrap() {
                assert_eq!(brings.as_array().unwrap().len(), 0, "{feature}");
            }
            table
        };
        let found = [
            packages("aws-lc-rs", &["aws-lc-rs"]),
            packages("ring", &["ring"]),
            packages("graviola", &["graviola", "rustls-graviola"]),
        ];
        assert_eq!(found[0], found[1]);
        assert_eq!(found[0], found[2]);
    }

    #[test]
    fn a_local_tree_replaces_the_package() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display().to_string();
        for file in ["rustls/Cargo.toml", "include/openssl/ssl.h"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let version = "package.version = \"0.23.99\"";
            std::fs::write(path, version).unwrap();
        }
        let tree = |library: &str, provider: Option<&str>| Build {
            library: library.to_owned(),
            provider: provider.map(str::to_owned),
            source: Some(place.clone()),
            ..Build::default()
        };
        let rustls = table_of(RUSTLS, &tree("rustls", Some("ring")));
        let found = &rustls["dependencies"]["rustls"];
        assert_eq!(found["path"].as_str(), Some(&*format!("{place}/rustls")));
        assert_eq!(found.get("version"), None);
        let openssl = derived(OPENSSL, &tree("openssl", None)).unwrap();
        let variables: BTreeMap<_, _> = openssl.environment.into_iter().collect();
        assert_eq!(variables["OPENSSL_DIR"], place);
        assert_eq!(variables["OPENSSL_STATIC"], "1");
        assert_eq!(openssl.prefix, None);
        // Their packages contain the library: it is replaced in a build, by variable or by folder.
        let boringssl = derived(BORINGSSL, &tree("boringssl", None)).unwrap();
        let unpatched = ("BORING_BSSL_ASSUME_PATCHED".to_owned(), "1".to_owned());
        assert_eq!(boringssl.environment, [unpatched]);
        let variable = boringssl
            .checkout
            .as_ref()
            .unwrap()
            .variable(Path::new("build"));
        let placed = ("BORING_BSSL_SOURCE_PATH".into(), "build/library".into());
        assert_eq!(variable, Some(placed));
        let table: toml::Table = toml::from_str(&boringssl.manifest).unwrap();
        let found = &table["dependencies"]["boring-sys"]["version"];
        let locked = format!("={}", lock().version_of("boring-sys").unwrap());
        assert_eq!(found.as_str(), Some(&*locked));
        let aws_lc = derived(AWS_LC, &tree("aws-lc", None)).unwrap();
        assert!(aws_lc.checkout.is_some());
        let workspace: toml::Table = toml::from_str(&aws_lc.workspace).unwrap();
        let patch = &workspace["patch"]["crates-io"]["aws-lc-sys"];
        assert_eq!(patch["path"].as_str(), Some("library"));
        let table: toml::Table = toml::from_str(&aws_lc.manifest).unwrap();
        assert!(!table.contains_key("workspace") && !table.contains_key("profile"));
        let gnutls = "[package]\nname = \"x\"\nmetadata.matrix.package = \"x\"";
        let error = derived(gnutls, &tree("gnutls", None)).unwrap_err();
        let expected = "gnutls cannot be built from a local tree";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn options_that_an_adapter_does_not_support_are_named() {
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
                RUSTLS,
                rustls("0.24.0-dev.2", "graviola"),
                "rustls-0.24.0-dev.2-graviola: found the provider graviola, expected aws-lc-rs or ring",
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
                Build {
                    tuned: true,
                    ..rustls("0.23.46", "ring")
                },
                "found tuned = true with rustls, which has no settings of its own",
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
