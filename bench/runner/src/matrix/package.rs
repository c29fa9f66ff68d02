//! The manifest of one build: its adapter's, with the requested version of the library.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tls_harness::implementation::MASK_VARIABLE;
use toml::{Table, Value};

use crate::lines;
use crate::listed::{Allocator, Build};
use crate::matrix::checkout::Checkout;
use crate::matrix::compilers::Variable;
use crate::matrix::install::Prefix;
use crate::matrix::lock::Lock;
use crate::matrix::manifest::Manifest;
use crate::matrix::metadata::Metadata;

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
#[derive(Debug)]
pub struct Package {
    pub manifest: String,
    /// The manifest of a workspace with this package alone.
    pub workspace: String,
    /// Arguments of Cargo that select the package and its features.
    pub arguments: Vec<String>,
    /// File name of its program.
    pub program: String,
    /// Environment variables of the build.
    pub environment: Vec<Variable>,
    /// Environment variables that must not be set.
    pub foreign: Vec<String>,
    /// Variables that name scripts in the adapter's folder.
    pub programs: BTreeMap<String, String>,
    /// The library to install first.
    pub prefix: Option<Prefix>,
    /// The local tree that the library's package builds.
    pub checkout: Option<Checkout>,
}

/// Derives the package of a build from its adapter's manifest. `lock` is the lock of the workspace.
pub fn derive(adapter: &str, workspace: &str, lock: &Lock, build: &Build) -> Result<Package> {
    let library = &build.library;
    let name = format!("bench/libraries/{library}/Cargo.toml");
    let mut manifest: Manifest = lines::parse(&name, adapter)?;
    let Adapter { package, bin } = lines::parse(&name, adapter)?;
    let metadata = package.metadata.and_then(|all| all.matrix);
    let metadata = metadata
        .context("no [package.metadata.matrix]: this library is built in one version only")
        .with_context(|| name.clone())?;
    check(build, &metadata)?;
    let mut arguments = vec!["--package".to_owned(), package.name.clone()];
    if build.allocator == Allocator::Jemalloc {
        arguments.extend(["--features".to_owned(), "tls-harness/jemalloc".to_owned()]);
    }
    let program = program(bin, &package.name, build)?;
    let mut workspace: Table = lines::parse("bench/Cargo.toml", workspace)?;
    manifest.leave_workspace();
    if let Some(generation) = metadata.generation(build)? {
        manifest.set_generation(generation, build, &metadata)?;
    }
    if let Some(provider) = &build.provider {
        manifest.leave_provider(provider);
    }
    if build.lto {
        let profiles = workspace.entry("profile").or_insert(Table::new().into());
        let profiles = profiles
            .as_table_mut()
            .context("bench/Cargo.toml: no [profile]")?;
        let whole: Table = toml::from_str("lto = \"fat\"\ncodegen-units = 1")?;
        profiles.insert("release".to_owned(), whole.into());
    }
    let mut environment = Vec::new();
    let mut prefix = None;
    let mut checkout = None;
    if let Some(found) = &metadata.prefix {
        manifest.remove_feature(&found.without);
        environment.extend(found.environment.clone());
        let tree = build.source.clone();
        environment.extend(tree.map(|tree| (found.variable.clone(), tree)));
        if let Some(version) = &build.version {
            prefix = Some(Prefix::new(version, &metadata, found, &workspace, lock)?);
        }
    } else if let Some(version) = &build.version {
        manifest.pin(version, &metadata)?;
    } else if let (Some(tree), Some(found)) = (&build.source, &metadata.checkout) {
        environment.extend(found.environment.clone());
        // A build resolves from all recorded versions.
        if found.variable.is_some() {
            manifest.pin(lock.version_of(&metadata.package)?, &metadata)?;
        }
        let tree = Checkout::new(tree, &metadata.package, found)?;
        tree.patch(&mut workspace)?;
        checkout = Some(tree);
    } else if let (Some(tree), Some(folder)) = (&build.source, &metadata.folder) {
        manifest.take_from(tree, folder, &metadata)?;
    }
    let members = vec![format!("libraries/{library}")];
    let own = workspace.get_mut("workspace").and_then(Value::as_table_mut);
    let own = own.context("bench/Cargo.toml: no [workspace]")?;
    own.insert("members".to_owned(), members.into());
    Ok(Package {
        manifest: toml::to_string(&manifest)?,
        workspace: toml::to_string(&workspace)?,
        arguments,
        program,
        environment,
        foreign: metadata.foreign,
        programs: metadata.programs,
        prefix,
        checkout,
    })
}

/// Checks that an adapter supports the options of a build.
fn check(build: &Build, metadata: &Metadata) -> Result<()> {
    if let Some(provider) = &build.provider
        && metadata.unmaskable.contains(provider)
    {
        ensure!(
            build.cpu_mask.is_empty(),
            "found cpu_mask with the provider {provider}, which ignores {MASK_VARIABLE}: expected \
             another provider, or no cpu_mask"
        );
    }
    let library = &build.library;
    ensure!(
        metadata.tuned || !build.tuned,
        "found tuned = true with {library}, which has no settings of its own: docs/tuned.md says why"
    );
    ensure!(
        !build.lto || metadata.folder.is_some(),
        "found lto = true with {library}, which is not in Rust: expected rustls"
    );
    let Some(source) = &build.source else {
        return Ok(());
    };
    let needed = metadata.holds();
    let needed = needed.with_context(|| format!("{library} cannot be built from a local tree"))?;
    let mut folders = Path::new(source).ancestors();
    let expected = match folders.find(|it| it.join(&needed).exists()) {
        Some(found) if found == Path::new(source) => return Ok(()),
        Some(better) => format!("source = \"{}\"", better.display()),
        None => format!("the top of a checkout or of a prefix of {library}"),
    };
    bail!("source = \"{source}\": found no {needed} in it, expected {expected}")
}

/// The name of the program that a build selects. Programs that need more than a provider are not in
/// the matrix.
fn program(mut all: Vec<Program>, package: &str, build: &Build) -> Result<String> {
    all.retain(|it| it.required_features.len() < 2);
    if all.is_empty() {
        all.push(Program {
            name: package.to_owned(),
            required_features: Vec::new(),
        });
    }
    let provider = |it: &Program| it.required_features.first().cloned();
    let named = |provider: Option<String>| provider.unwrap_or_else(|| "none".to_owned());
    let providers: Vec<_> = all.iter().map(|it| named(provider(it))).collect();
    let found = all.into_iter().find(|it| provider(it) == build.provider);
    let found = found.with_context(|| {
        format!(
            "{}: found the provider {}, expected {}",
            build.library,
            named(build.provider.clone()),
            providers.join(" or ")
        )
    })?;
    Ok(found.name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::listed::Listed;

    /// Entries of suites, each with what its package has that the checkout does not have, and the
    /// reverse. The compiler, its flags and the processor are in the environment of Cargo, the mask
    /// and the settings in the program's.
    const BUILDS: &str = r#"
library = "rustls", version = "0.23.0", provider = "graviola"
tls-rustls-graviola
- dependencies.aws-lc-rs
- dependencies.ring
dependencies.rustls = { default-features = false, features = ["logging", "std", "tls12"], version = "=0.23.0" }
features.aws-lc-rs = []
features.certificate-compression = []
features.default = ["graviola"]
features.ring = []

library = "rustls", version = "0.22.4", provider = "aws-lc-rs"
tls-rustls-aws-lc-rs
- dependencies.graviola
- dependencies.ring
- dependencies.rustls-graviola
dependencies.rustls = { default-features = false, features = ["logging", "tls12"], version = "=0.22.4" }
features.certificate-compression = []
features.default = ["aws-lc-rs"]
features.graviola = []
features.ring = []

library = "rustls", version = "0.24.0-dev.2", provider = "ring"
tls-rustls-ring
- dependencies.aws-lc-rs
- dependencies.graviola
- dependencies.rustls-graviola
dependencies.rustls = { default-features = false, features = ["webpki"], version = "=0.24.0-dev.2" }
dependencies.rustls-ring = { optional = true, version = "=0.24.0-dev.2" }
features.aws-lc-rs = []
features.certificate-compression = []
features.default = ["ring"]
features.graviola = []
features.ring = ["dep:ring", "dep:rustls-ring"]

library = "rustls", version = "0.23.0", provider = "graviola", lto = true
tls-rustls-graviola
- dependencies.aws-lc-rs
- dependencies.ring
dependencies.rustls = { default-features = false, features = ["logging", "std", "tls12"], version = "=0.23.0" }
features.aws-lc-rs = []
features.certificate-compression = []
features.default = ["graviola"]
features.ring = []
workspace: profile.release = { codegen-units = 1, lto = "fat" }

library = "rustls", source = "TREES/older", provider = "ring"
tls-rustls-ring
- dependencies.aws-lc-rs
- dependencies.graviola
- dependencies.rustls-graviola
dependencies.rustls = { default-features = false, features = ["logging", "std", "tls12"], path = "TREES/older/rustls" }
features.aws-lc-rs = []
features.certificate-compression = []
features.default = ["ring"]
features.graviola = []

library = "rustls", source = "TREES/newer", provider = "aws-lc-rs"
tls-rustls-aws-lc-rs
- dependencies.graviola
- dependencies.ring
- dependencies.rustls-graviola
dependencies.rustls = { default-features = false, features = ["webpki"], path = "TREES/newer/rustls" }
dependencies.rustls-aws-lc-rs = { optional = true, path = "TREES/newer/rustls-aws-lc-rs" }
features.aws-lc-rs = ["dep:aws-lc-rs", "dep:rustls-aws-lc-rs"]
features.certificate-compression = []
features.default = ["aws-lc-rs"]
features.graviola = []
features.ring = []

library = "boringssl", version = "4.2.0", compiler = "clang", flags = "-O2", target_cpu = "native"
tls-boringssl
dependencies.boring-sys = { version = "=4.2.0" }

library = "boringssl", source = "TREES/c"
tls-boringssl
dependencies.boring-sys = { version = "=LOCKED" }
BORING_BSSL_ASSUME_PATCHED=1
BORING_BSSL_SOURCE_PATH=build/library

library = "aws-lc", source = "TREES/c"
tls-aws-lc
workspace: patch.crates-io = { aws-lc-sys = { path = "library" } }

library = "openssl", version = "111.28.2+1.1.1w", tuned = true, cpu_mask = ["aes"]
tls-openssl
- features.vendored
features.default = []
prefix: build-dependencies.openssl-src = "=111.28.2+1.1.1w"
OPENSSL_STATIC=1

library = "openssl", version = "300.0.13+3.0.8", allocator = "jemalloc"
tls-openssl --features tls-harness/jemalloc
- features.vendored
features.default = []
prefix: build-dependencies.openssl-src = "=300.0.13+3.0.8"
OPENSSL_STATIC=1

library = "openssl", source = "TREES/c"
tls-openssl
- features.vendored
features.default = []
OPENSSL_STATIC=1
OPENSSL_DIR=TREES/c
"#;

    /// Entries that an adapter does not support, and the reasons.
    const UNSUPPORTED: &str = r#"
library = "rustls", version = "0.23.46" | found the provider none, expected aws-lc-rs or ring or graviola
library = "rustls", version = "0.23.46", provider = "x" | found the provider x, expected aws-lc-rs or ring or graviola
library = "rustls", version = "0.24.0-dev.2", provider = "graviola" | rustls-0.24.0-dev.2-graviola: found the provider graviola, expected aws-lc-rs or ring,
library = "rustls", version = "0.23", provider = "ring" | version = "0.23": expected three numbers
library = "rustls", version = "0.23.46", provider = "ring", tuned = true | found tuned = true with rustls, which has no settings of its own
library = "rustls", source = "TREES/none", provider = "ring" | rustls/Cargo.toml: found no version of the package, expected one
library = "openssl", version = "300.6.1+3.6.3", lto = true | found lto = true with openssl, which is not in Rust
library = "boringssl", version = "5.4.0", provider = "ring" | found the provider ring, expected none
library = "gnutls", version = "1.0.0" | bench/libraries/gnutls/Cargo.toml: no [package.metadata.matrix]
"#;

    fn read(path: &str) -> String {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::read_to_string(bench.join(path)).unwrap()
    }

    fn lock() -> Lock {
        toml::from_str(&read("Cargo.lock")).unwrap()
    }

    /// The build of an entry, and the manifest of its adapter.
    fn listed(entry: &str) -> (Build, String) {
        let entry = toml::from_str(&entry.replace(", ", "\n")).unwrap();
        let Ok(Listed::Build(build)) = Listed::read(Value::Table(entry)) else {
            panic!("a table is a build");
        };
        let adapter = read(&format!("libraries/{}/Cargo.toml", build.library));
        (build, adapter)
    }

    /// Trees of libraries; those of rustls state a version.
    fn trees() -> tempfile::TempDir {
        let trees = tempfile::tempdir().unwrap();
        for (file, text) in [
            ("older/rustls/Cargo.toml", "package.version = \"0.23.99\""),
            ("newer/rustls/Cargo.toml", "package.version = \"0.24.0\""),
            ("none/rustls/Cargo.toml", "package.name = \"rustls\""),
            ("c/include/openssl/ssl.h", ""),
        ] {
            let path = trees.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        trees
    }

    /// The tables of a manifest, each value with its name.
    fn values(manifest: &str) -> BTreeMap<String, Value> {
        let mut all = BTreeMap::new();
        for (name, value) in toml::from_str::<Table>(manifest).unwrap() {
            match value {
                Value::Table(table) => {
                    let values = table.into_iter();
                    all.extend(values.map(|(key, value)| (format!("{name}.{key}"), value)));
                }
                value => drop(all.insert(name, value)),
            }
        }
        all
    }

    fn changes(before: &str, after: &str) -> Vec<String> {
        let (before, after) = (values(before), values(after));
        let gone = before.keys().filter(|it| !after.contains_key(*it));
        let gone = gone.map(|it| format!("- {it}"));
        let new = after
            .iter()
            .filter(|(name, it)| before.get(*name) != Some(it));
        gone.chain(new.map(|(name, it)| format!("{name} = {it}")))
            .collect()
    }

    /// What a package differs in, one line for each value.
    fn described(build: &Build, adapter: &str) -> Vec<String> {
        let workspace = read("Cargo.toml");
        let package = derive(adapter, &workspace, &lock(), build).unwrap();
        let library = &build.library;
        let (own, more) = package.arguments.split_at(2);
        assert_eq!(own, ["--package", &format!("tls-{library}")]);
        let mut all = vec![[&[package.program], more].concat().join(" ")];
        all.extend(changes(adapter, &package.manifest));
        let mut of_workspace = changes(&workspace, &package.workspace);
        let members = format!("workspace.members = [\"libraries/{library}\"]");
        assert_eq!(of_workspace.pop(), Some(members));
        all.extend(of_workspace.iter().map(|it| format!("workspace: {it}")));
        // It has the profile of the workspace, and is a package of its own.
        let own = package.prefix.map(|it| changes(&workspace, &it.manifest));
        let own = own.into_iter().flatten();
        let own = own.filter(|it| !it.starts_with("- workspace.") && !it.starts_with("package."));
        all.extend(own.map(|it| format!("prefix: {it}")));
        let checkout = package.checkout.as_ref();
        let placed = checkout.and_then(|it| it.variable(Path::new("build")));
        let variables = package.environment.into_iter().chain(placed);
        all.extend(variables.map(|(name, value)| format!("{name}={value}")));
        all
    }

    #[test]
    fn a_build_differs_from_the_checkout_in_what_its_entry_says_alone() {
        let trees = trees();
        let builds = BUILDS.replace("TREES", trees.path().to_str().unwrap());
        let builds = builds.replace("LOCKED", lock().version_of("boring-sys").unwrap());
        for block in builds.trim().split("\n\n") {
            let (entry, expected) = block.split_once('\n').unwrap();
            let (build, adapter) = listed(entry);
            let found = described(&build, &adapter);
            assert_eq!(found, expected.lines().collect::<Vec<_>>(), "{entry}");
        }
    }

    #[test]
    fn options_that_an_adapter_does_not_support_are_named() {
        let trees = trees();
        let rows = UNSUPPORTED.replace("TREES", trees.path().to_str().unwrap());
        let error = |build: &Build, adapter: &str| {
            let error = derive(adapter, &read("Cargo.toml"), &lock(), build).unwrap_err();
            format!("{error:#}")
        };
        for row in rows.trim().lines() {
            let (entry, expected) = row.split_once(" | ").unwrap();
            let (build, adapter) = listed(entry);
            let error = error(&build, &adapter);
            assert!(error.contains(expected), "{error}");
        }
        let (build, _) = listed("library = \"gnutls\", source = \"x\"");
        let adapter = "[package]\nname = \"x\"\nmetadata.matrix.package = \"x\"";
        let expected = "gnutls cannot be built from a local tree";
        assert_eq!(error(&build, adapter), expected);
    }
}
