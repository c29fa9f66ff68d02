//! Compiles the library that counts calls of the allocator and of locks, which `counters/interposed.rs`
//! carries. It is for glibc; elsewhere there is an empty file in its place.

use std::{env, error::Error, fs, path::PathBuf, process::Command};

const SOURCE: &str = "interposer/lib.rs";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={SOURCE}");
    let library = PathBuf::from(env::var("OUT_DIR")?).join("libtls_calls.so");
    if env::var("CARGO_CFG_TARGET_OS")? != "linux" || env::var("CARGO_CFG_TARGET_ENV")? != "gnu" {
        fs::write(library, [])?;
        return Ok(());
    }
    let status = Command::new(env::var("RUSTC")?)
        .args(["--crate-name", "tls_calls", "--crate-type", "cdylib"])
        .args(["--edition", "2024", "-D", "warnings"])
        .args(["-Copt-level=2", "-Cpanic=abort", "-Cstrip=symbols"])
        .arg("-Clink-arg=-lc")
        .args(["--target", &env::var("TARGET")?])
        .arg("-o")
        .arg(&library)
        .arg(SOURCE)
        .status()?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{SOURCE}: rustc: {status}").into()),
    }
}
