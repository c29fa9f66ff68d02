//! Build script: reports the features that Cargo was asked for, and how the package `cc` compiles the
//! C of a provider (neither aws-lc-rs nor ring tells), in addition to the steps of every adapter.

#[path = "../shared/build.rs"]
mod adapter;

use std::{env, error::Error, fs};

use toml::{Table, Value};

fn main() -> Result<(), Box<dyn Error>> {
    adapter::main()?;
    let manifest: Table = fs::read_to_string("Cargo.toml")?.parse()?;
    let mut told = features(&manifest);
    if env::var("PROFILE")? == "release" {
        told.insert(0, "--release".into());
    }
    println!("cargo::rustc-env=CONFIGURE={}", told.join(" "));
    let compiler = cc::Build::new().try_get_compiler()?;
    let mut words = vec![compiler.path().to_string_lossy()];
    words.extend(compiler.args().iter().map(|it| it.to_string_lossy()));
    println!("cargo::rustc-env=C_FLAGS={}", words.join(" "));
    Ok(())
}

/// Features of the measured packages, as in `rustls/tls12`: those of their dependencies, and those that
/// the enabled features of the adapter add.
fn features(manifest: &Table) -> Vec<String> {
    let table = |name: &str| manifest.get(name).and_then(Value::as_table);
    let texts = |list: &Value| -> Vec<String> {
        let list = list.as_array().into_iter().flatten();
        list.filter_map(|it| it.as_str().map(Into::into)).collect()
    };
    let mut found = Vec::new();
    for name in ["rustls", "aws-lc-rs", "ring", "graviola"] {
        let dependency = table("dependencies").and_then(|all| all.get(name));
        let Some(dependency) = dependency else {
            continue;
        };
        let is_optional = dependency.get("optional").and_then(Value::as_bool) == Some(true);
        if is_optional && !is_enabled(name) {
            continue;
        }
        if dependency.get("default-features").and_then(Value::as_bool) != Some(false) {
            found.push(format!("{name}/default"));
        }
        let own = dependency.get("features").map(texts).unwrap_or_default();
        found.extend(own.iter().map(|it| format!("{name}/{it}")));
    }
    for (name, adds) in table("features").into_iter().flatten() {
        if is_enabled(name) {
            found.extend(texts(adds).into_iter().filter(|it| it.contains('/')));
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Whether Cargo enabled a feature of the adapter.
fn is_enabled(feature: &str) -> bool {
    let name = feature.to_uppercase().replace('-', "_");
    env::var_os(format!("CARGO_FEATURE_{name}")).is_some()
}
