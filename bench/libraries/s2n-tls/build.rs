//! Build script: compiles policy.c with the headers of the linked s2n-tls, and reports how the
//! library was compiled, in addition to the steps of every adapter.

#[path = "../shared/build.rs"]
mod adapter;

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    adapter::main()?;
    println!("cargo::rerun-if-changed=policy.c");
    let sources = sources()?.join("lib");
    cc::Build::new()
        .file("policy.c")
        .include(&sources)
        .include(sources.join("api"))
        .include(crypto_headers()?)
        .flag("-include")
        .flag(sources.join("utils/s2n_prelude.h"))
        .warnings(false) // the headers cause some
        .compile("policy");
    println!("cargo::rustc-env=S2N_FLAGS={}", flags()?);
    Ok(())
}

/// The flags that cc gives each package which it builds, as s2n-tls and AWS-LC, with the standard
/// that both choose. The -flto of s2n-tls is without effect: the program is linked without it.
fn flags() -> Result<String, Box<dyn Error>> {
    let mut build = cc::Build::new();
    let compiler = build.std("c11").warnings(false).try_get_compiler()?;
    let flags = compiler.args().iter().map(|it| it.to_string_lossy());
    let flags: Vec<_> = flags.filter(|it| !it.starts_with("-w")).collect();
    Ok(flags.join(" "))
}

/// The folder of the package s2n-tls-sys, whose build script exposes only the public header.
fn sources() -> Result<PathBuf, Box<dyn Error>> {
    let output = Command::new(env::var("CARGO")?)
        .args(["metadata", "--format-version=1", "--offline"])
        .args(["--filter-platform", &env::var("TARGET")?])
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let package = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "s2n-tls-sys")
        .and_then(|package| Path::new(package["manifest_path"].as_str()?).parent());
    Ok(package.ok_or("cargo metadata has no s2n-tls-sys")?.into())
}

/// The headers of AWS-LC, from an environment variable whose name contains the version.
fn crypto_headers() -> Result<String, Box<dyn Error>> {
    env::vars()
        .find(|(name, _)| name.starts_with("DEP_AWS_LC_") && name.ends_with("_INCLUDE"))
        .map(|(_, value)| value)
        .ok_or_else(|| "no variable DEP_AWS_LC_…_INCLUDE".into())
}
