//! Build script: reports how wolfSSL was compiled, in addition to the steps of every adapter.

#[path = "../shared/build.rs"]
mod adapter;

use std::{env, error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    adapter::main()?;
    let root = env::var("DEP_WOLFSSL_ROOT")?;
    let makefile = Path::new(&root).join("build/Makefile");
    let text = fs::read_to_string(&makefile)
        .map_err(|error| format!("{}: {error}", makefile.display()))?;
    let value = |name: &str| {
        let found = text.lines().find_map(|line| line.strip_prefix(name));
        let found = found.ok_or_else(|| format!("{}: no {name}", makefile.display()));
        found.map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    let flags = format!("{} {}", value("CC = ")?, value("CFLAGS = ")?);
    println!("cargo::rustc-env=WOLFSSL_FLAGS={flags}");
    Ok(())
}
