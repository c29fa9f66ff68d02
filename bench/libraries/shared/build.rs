//! Build script of every adapter: what a program can't find out about itself when it runs.
//!
//! `PACKAGES`: versions of the library's packages as locked, `name version` separated by commas;
//! `FLAGS`: how the Rust code was optimized;
//! `BORINGSSL_FLAGS`, `AWS_LC_FLAGS`: how CMake was told to compile it, where that is a dependency.

use std::{collections::BTreeMap, env, error::Error, fs, path::Path};

use toml::{Table, Value};

/// Packages that may be part of a measured library.
const PACKAGES: [&str; 9] = [
    "aws-lc-rs",
    "aws-lc-sys",
    "boring-sys",
    "graviola",
    "openssl-src",
    "ring",
    "rustls",
    "rustls-webpki",
    "s2n-tls-sys",
];

/// What adapters use only where their library has it: the name of a `cfg`, and the package with its
/// first version that is known to have it. (A later one than the first that has it does no harm.)
const ABILITIES: [(&str, &str, [u64; 3]); 6] = [
    ("rustls_handshake_kind", "rustls", [0, 23, 5]),
    ("rustls_key_exchange_group", "rustls", [0, 23, 13]),
    ("rustls_hybrid", "rustls", [0, 23, 24]),
    ("rustls_counts_tickets", "rustls", [0, 23, 28]),
    ("boringssl_groups", "boring-sys", [5, 0, 0]),
    ("boringssl_tls13_ciphers", "boring-sys", [5, 4, 0]),
];

pub fn main() -> Result<(), Box<dyn Error>> {
    let manifest = env::var("CARGO_MANIFEST_DIR")?;
    // An adapter that is no part of the workspace is one of its own, and so is a build of the matrix.
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
    let all = lock
        .get("package")
        .and_then(Value::as_array)
        .ok_or("Cargo.lock has no packages")?;
    let mut packages = BTreeMap::new();
    for package in all {
        let (Some(name), Some(version)) = (text(package, "name"), text(package, "version")) else {
            continue;
        };
        if PACKAGES.contains(&name.as_str()) {
            packages.insert(name, version);
        }
    }
    let told: Vec<_> = packages
        .iter()
        .map(|(name, version)| format!("{name} {version}"))
        .collect();
    println!("cargo::rustc-env=PACKAGES={}", told.join(","));
    for (name, package, since) in ABILITIES {
        println!("cargo::rustc-check-cfg=cfg({name})");
        let version = packages
            .get(package)
            .map(|version| numbers(version))
            .transpose()?;
        if version >= Some(since) {
            println!("cargo::rustc-cfg={name}");
        }
    }

    // OpenSSL may come without a package: openssl-sys tells the version of its headers.
    let number = env::var("DEP_OPENSSL_VERSION_NUMBER").ok();
    let number = number.map(|it| u64::from_str_radix(&it, 16)).transpose()?;
    for (name, since) in [
        ("openssl_3", 0x3000_0000),
        ("openssl_group_name", 0x3020_0000),
        ("openssl_hybrid", 0x3050_0000),
    ] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if number >= Some(since) {
            println!("cargo::rustc-cfg={name}");
        }
    }

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
