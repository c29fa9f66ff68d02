//! Build script of every adapter: passes facts to the program that it cannot read at run time.
//!
//! `LIBRARY`: the library's id, from library.toml;
//! `PACKAGES`: its `packages` as locked, `name version` separated by commas;
//! `FLAGS`: how the Rust code was optimized;
//! `CMAKE_FLAGS`: how CMake compiled a dependency that it builds;
//! `CONFIGURE`: what CMake was told for the library, if that is known;
//! `DEFAULT_CONFIGURE`, `DEFAULT_FLAGS`, `DEFAULT_COMPILER`: what `[default]` of library.toml states;
//! `LARGE_CONNECTION`: why a connection is large, if library.toml says so.

use std::{
    collections::BTreeMap,
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use toml::{Table, Value};

/// The fields of library.toml that a build needs.
#[derive(Deserialize)]
struct Library {
    id: String,
    packages: Vec<String>,
    default: Option<Stated>,
}

/// The part of `[default]` that the program must report.
#[derive(Default, Deserialize)]
struct Stated {
    #[serde(default)]
    configure: String,
    #[serde(default)]
    flags: String,
    #[serde(default)]
    compiler: String,
    large_connection: Option<String>,
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
        let build = cmake_build(package)?;
        println!("cargo::rustc-env=CMAKE_FLAGS={}", cmake_flags(&build)?);
        // By libraries/boringssl/cmake, if the environment names it.
        if let Ok(told) = fs::read_to_string(build.join("configured")) {
            println!("cargo::rustc-env=CONFIGURE={}", told.trim());
        }
    }
    if let Some(default) = &library.default {
        println!("cargo::rustc-env=DEFAULT_CONFIGURE={}", default.configure);
        println!("cargo::rustc-env=DEFAULT_FLAGS={}", default.flags);
        println!("cargo::rustc-env=DEFAULT_COMPILER={}", default.compiler);
        if let Some(reason) = &default.large_connection {
            println!("cargo::rustc-env=LARGE_CONNECTION={reason}");
        }
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

/// The optimization flags of the Rust code, from the workspace's profile and the environment. What
/// a release build does not state is Cargo's default.
fn rust_flags(workspace: &Table) -> Result<String, Box<dyn Error>> {
    let mut flags = vec![format!("opt-level={}", env::var("OPT_LEVEL")?)];
    let name = env::var("PROFILE")?;
    let profile = workspace.get("profile").and_then(|all| all.get(&name));
    for (key, default) in [("lto", "thin-local"), ("codegen-units", "16")] {
        let stated = profile.and_then(|it| it.get(key)).map(Value::to_string);
        if let Some(value) = stated.or((name == "release").then(|| default.to_owned())) {
            flags.push(format!("{key}={}", value.trim_matches('"')));
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

/// The folder in which CMake built a package.
fn cmake_build(package: &str) -> Result<PathBuf, Box<dyn Error>> {
    // The name of the variable may contain the package's version.
    let is_root =
        |name: &str| name.starts_with(&format!("DEP_{package}_")) && name.ends_with("_ROOT");
    let (_, root) = env::vars()
        .find(|(name, _)| is_root(name))
        .ok_or_else(|| format!("no variable DEP_{package}_…_ROOT"))?;
    Ok(Path::new(&root).join("build"))
}

/// The flags of the build type, from lines such as `CMAKE_BUILD_TYPE:STRING=Release`.
fn cmake_flags(build: &Path) -> Result<String, Box<dyn Error>> {
    let cache = fs::read_to_string(build.join("CMakeCache.txt"))?;
    let value = |name: &str| -> Result<String, Box<dyn Error>> {
        let mut lines = cache.lines();
        let line = lines.find(|line| line.starts_with(&format!("{name}:")));
        let (_, value) = line
            .and_then(|line| line.split_once('='))
            .ok_or_else(|| format!("CMakeCache.txt has no {name}"))?;
        Ok(value.trim().to_owned())
    };
    let kind = value("CMAKE_BUILD_TYPE")?.to_uppercase();
    let of_kind = value(&format!("CMAKE_C_FLAGS_{kind}"))?;
    Ok(format!("{} {of_kind}", value("CMAKE_C_FLAGS")?))
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
