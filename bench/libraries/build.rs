//! Build script of every adapter: what a program can't find out about itself when it runs.
//!
//! `PACKAGES`: versions of the library's packages as locked, `name version` separated by commas;
//! `FLAGS`: how the Rust code was optimized;
//! `BORINGSSL_FLAGS`, `AWS_LC_FLAGS`: how CMake was told to compile it, where that is a dependency.

use std::{env, error::Error, fs, path::Path};

use toml::{Table, Value};

/// Packages that may be part of a measured library.
const PACKAGES: [&str; 8] = [
    "aws-lc-rs",
    "aws-lc-sys",
    "boring-sys",
    "openssl-src",
    "ring",
    "rustls",
    "rustls-webpki",
    "s2n-tls-sys",
];

pub fn main() -> Result<(), Box<dyn Error>> {
    let manifest = env::var("CARGO_MANIFEST_DIR")?;
    // An adapter that is no part of the workspace is one of its own.
    let workspace = Path::new(&manifest)
        .ancestors()
        .find(|folder| folder.join("Cargo.lock").exists())
        .ok_or("there is no Cargo.lock")?;
    let read = |file: &str| -> Result<Table, Box<dyn Error>> {
        let path = workspace.join(file);
        println!("cargo::rerun-if-changed={}", path.display());
        Ok(fs::read_to_string(path)?.parse()?)
    };

    let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
    let lock = read("Cargo.lock")?;
    let packages: Vec<String> = lock
        .get("package")
        .and_then(Value::as_array)
        .ok_or("Cargo.lock has no packages")?
        .iter()
        .filter_map(|package| Some((text(package, "name")?, text(package, "version")?)))
        .filter(|(name, _)| PACKAGES.contains(&name.as_str()))
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    println!("cargo::rustc-env=PACKAGES={}", packages.join(","));

    let mut flags = vec![format!("opt-level={}", env::var("OPT_LEVEL")?)];
    let profile = env::var("PROFILE")?;
    if let Some(profile) = read("Cargo.toml")?
        .get("profile")
        .and_then(|all| all.get(&profile))
    {
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
    println!("cargo::rustc-env=FLAGS={}", flags.join(" "));
    // AWS-LC's variable has its version in its name.
    for library in ["BORINGSSL", "AWS_LC"] {
        let root = env::vars().find(|(name, _)| {
            name.starts_with(&format!("DEP_{library}_")) && name.ends_with("_ROOT")
        });
        let cache = root.map(|(_, root)| Path::new(&root).join("build/CMakeCache.txt"));
        // Without its libssl AWS-LC takes no CMake.
        if let Some(cache) = cache.filter(|cache| cache.exists()) {
            let flags = cmake_flags(&fs::read_to_string(cache)?)?;
            println!("cargo::rustc-env={library}_FLAGS={flags}");
        }
    }
    Ok(())
}

/// The type of build and its flags, from lines such as `CMAKE_BUILD_TYPE:STRING=Release`.
fn cmake_flags(cache: &str) -> Result<String, Box<dyn Error>> {
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
    // Names a folder of this machine, and compiles nothing differently.
    let compiles = |flag: &&str| !flag.starts_with("-ffile-prefix-map=");
    Ok(flags
        .split(' ')
        .filter(compiles)
        .collect::<Vec<_>>()
        .join(" "))
}
