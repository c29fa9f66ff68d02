//! Build script of every adapter: passes facts to the program that it cannot read at run time.
//!
//! `LIBRARY`: the library's id, from library.toml;
//! `PACKAGES`: its `packages` as locked, `name version` separated by commas;
//! `FLAGS`: how the Rust code was optimized;
//! `CMAKE_FLAGS`: how CMake compiled a dependency that it builds.

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use serde::Deserialize;
use toml::{Table, Value};

/// The fields of library.toml that a build needs.
#[derive(Deserialize)]
struct Library {
    id: String,
    packages: Vec<String>,
}

/// `[package.metadata.adapter]` of an adapter's Cargo.toml.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Adapter {
    /// A `cfg`, with the package and the first version known to support it: `rustls 0.23.5`.
    #[serde(default)]
    since: BTreeMap<String, String>,
    /// Prefix of the variables of the package that CMake builds: `BORINGSSL` of
    /// `DEP_BORINGSSL_ROOT`.
    cmake: Option<String>,
}

pub fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::var("CARGO_MANIFEST_DIR")?;
    let folder = Path::new(&folder);
    // An adapter outside the workspace is its own workspace.
    let workspace = folder
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").exists())
        .ok_or("there is no Cargo.lock")?;
    let library: Library = read(&folder.join("library.toml"))?.try_into()?;
    let manifest = read(&folder.join("Cargo.toml"))?;
    let adapter = manifest["package"]
        .get("metadata")
        .and_then(|metadata| metadata.get("adapter"));
    let adapter: Adapter = adapter
        .cloned()
        .map(Value::try_into)
        .transpose()?
        .unwrap_or_default();

    println!("cargo::rustc-env=LIBRARY={}", library.id);
    let packages = packages(&read(&workspace.join("Cargo.lock"))?, &library.packages)?;
    let listed: Vec<_> = packages
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    println!("cargo::rustc-env=PACKAGES={}", listed.join(","));
    for (name, first) in &adapter.since {
        println!("cargo::rustc-check-cfg=cfg({name})");
        let (package, first) = first.split_once(' ').ok_or("since: no version")?;
        let version = packages.get(package);
        let version = version.map(|version| numbers(version)).transpose()?;
        if version >= Some(numbers(first)?) {
            println!("cargo::rustc-cfg={name}");
        }
    }
    let flags = rust_flags(&read(&workspace.join("Cargo.toml"))?)?;
    println!("cargo::rustc-env=FLAGS={flags}");
    if let Some(package) = &adapter.cmake {
        println!("cargo::rustc-env=CMAKE_FLAGS={}", cmake_flags(package)?);
    }
    Ok(())
}

fn read(path: &Path) -> Result<Table, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(text.parse()?)
}

/// The versions of some packages in a Cargo.lock.
fn packages(lock: &Table, wanted: &[String]) -> Result<BTreeMap<String, String>, Box<dyn Error>> {
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let all = lock.get("package").ok_or("Cargo.lock has no packages")?;
    let all: Vec<Package> = all.clone().try_into()?;
    let wanted = all.into_iter().filter(|it| wanted.contains(&it.name));
    Ok(wanted.map(|it| (it.name, it.version)).collect())
}

/// The optimization flags of the Rust code, from the workspace's profile and the environment.
fn rust_flags(workspace: &Table) -> Result<String, Box<dyn Error>> {
    let mut flags = vec![format!("opt-level={}", env::var("OPT_LEVEL")?)];
    let profile = env::var("PROFILE")?;
    if let Some(profile) = workspace.get("profile").and_then(|all| all.get(&profile)) {
        for key in ["lto", "codegen-units"] {
            if let Some(value) = profile.get(key) {
                let value = value.to_string();
                flags.push(format!("{key}={}", value.trim_matches('"')));
            }
        }
    }
    if let Ok(extra) = env::var("CARGO_ENCODED_RUSTFLAGS") {
        flags.extend(
            extra
                .split('\x1f')
                .filter(|flag| !flag.is_empty())
                .map(Into::into),
        );
    }
    for name in ["CC", "CFLAGS"] {
        println!("cargo::rerun-if-env-changed={name}");
        if let Ok(value) = env::var(name) {
            flags.push(format!("{name}={value}"));
        }
    }
    Ok(flags.join(" "))
}

/// The build type and its flags, from lines such as `CMAKE_BUILD_TYPE:STRING=Release`.
fn cmake_flags(package: &str) -> Result<String, Box<dyn Error>> {
    // The name of the variable may contain the package's version.
    let is_root =
        |name: &str| name.starts_with(&format!("DEP_{package}_")) && name.ends_with("_ROOT");
    let (_, root) = env::vars()
        .find(|(name, _)| is_root(name))
        .ok_or_else(|| format!("no variable DEP_{package}_…_ROOT"))?;
    let cache = fs::read_to_string(Path::new(&root).join("build/CMakeCache.txt"))?;
    let value = |name: &str| -> Result<String, Box<dyn Error>> {
        let mut lines = cache.lines();
        let line = lines.find(|line| line.starts_with(&format!("{name}:")));
        let (_, value) = line
            .and_then(|line| line.split_once('='))
            .ok_or_else(|| format!("CMakeCache.txt has no {name}"))?;
        Ok(value.trim().to_owned())
    };
    let build = value("CMAKE_BUILD_TYPE")?;
    let flags = [
        format!("CMake {build}:"),
        value("CMAKE_C_FLAGS")?,
        value(&format!("CMAKE_C_FLAGS_{}", build.to_uppercase()))?,
    ]
    .join(" ");
    // This flag names a folder of this machine, and does not change the code.
    let compiles = |flag: &&str| !flag.starts_with("-ffile-prefix-map=");
    Ok(flags
        .split(' ')
        .filter(compiles)
        .collect::<Vec<_>>()
        .join(" "))
}

/// Major, minor and patch version.
fn numbers(version: &str) -> Result<[u64; 3], Box<dyn Error>> {
    let number = version.split(['+', '-']).next().unwrap_or_default();
    let numbers: Vec<u64> = number
        .split('.')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    numbers
        .try_into()
        .map_err(|_| format!("version {version}: expected three numbers").into())
}
