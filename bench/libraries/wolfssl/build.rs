//! Build script: builds wolfSSL from the source in the package wolfssl-sys, whose own build script does
//! not run, in addition to the steps of every adapter.

#[path = "../shared/build.rs"]
mod adapter;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Options of wolfSSL's configure script; library.toml has the reason of each.
const CONFIGURE: &[&str] = &[
    "--enable-all-asm",
    "--enable-curve25519",
    "--enable-session-ticket",
    "--enable-static",
    "--disable-shared",
    "--with-pic",
];

fn main() -> Result<()> {
    adapter::main()?;
    println!("cargo::rerun-if-changed=internal.c");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let folder = out.join("wolfssl");
    build(&folder)?;
    println!("cargo::rustc-env=WOLFSSL_CONFIGURE={}", CONFIGURE.join(" "));
    println!("cargo::rustc-env=WOLFSSL_FLAGS={}", flags(&folder)?);
    cc::Build::new()
        .file("internal.c")
        .include(&folder)
        .flag_if_supported("-Wno-unused-parameter") // in wolfSSL's headers
        .compile("internal");
    let built = folder.join("src/.libs");
    println!("cargo::rustc-link-search=native={}", built.display());
    println!("cargo::rustc-link-lib=static=wolfssl");
    bindgen::Builder::default()
        .header_contents(
            "api.h",
            "#include <wolfssl/options.h>\n#include <wolfssl/ssl.h>",
        )
        .clang_arg(format!("-I{}", folder.display()))
        .allowlist_function("wolf(SSL|TLS).*")
        .allowlist_var("WOLFSSL_.*")
        .generate()?
        .write_to_file(out.join("wolfssl.rs"))?;
    Ok(())
}

/// Builds the library in `folder`, if it is not there already: other changes of this package must not
/// cost minutes.
fn build(folder: &Path) -> Result<()> {
    let sources = sources()?;
    let compiler = ["CC", "CFLAGS"].map(|name| env::var(name).unwrap_or_default());
    let wanted = format!("{sources:?} {CONFIGURE:?} {compiler:?}");
    let record = folder.join("built");
    if fs::read_to_string(&record).is_ok_and(|built| built == wanted) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    run(Command::new("cp").arg("-R").arg(sources).arg(folder))?;
    let within = |program: &str, arguments: &[&str]| {
        run(Command::new(program).args(arguments).current_dir(folder))
    };
    within("./autogen.sh", &[])?;
    within("./configure", CONFIGURE)?;
    // The package has no certificates, so wolfSSL's programs cannot be built.
    within("make", &["-j", &env::var("NUM_JOBS")?, "src/libwolfssl.la"])?;
    Ok(fs::write(record, wanted)?)
}

/// The folder of wolfSSL's source. Cargo downloads the package for this command, since it is a
/// dependency for no target.
fn sources() -> Result<PathBuf> {
    let metadata =
        run(Command::new(env::var("CARGO")?).args(["metadata", "--format-version=1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let package = metadata["packages"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|package| package["name"] == "wolfssl-sys")
        .and_then(|package| Path::new(package["manifest_path"].as_str()?).parent());
    Ok(package
        .ok_or("cargo metadata has no wolfssl-sys")?
        .join("wolfssl-src"))
}

/// The flags that wolfSSL was compiled with, without macros: options of configure set them.
fn flags(folder: &Path) -> Result<String> {
    let makefile = folder.join("Makefile");
    let text = fs::read_to_string(&makefile)
        .map_err(|error| format!("{}: {error}", makefile.display()))?;
    let mut flags = Vec::new();
    for name in ["AM_CFLAGS = ", "CFLAGS = "] {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let line = line.ok_or_else(|| format!("{}: no {name}", makefile.display()))?;
        let words = line.split_whitespace();
        flags.extend(words.filter(|it| !it.starts_with("-D") && !it.starts_with("$(")));
    }
    Ok(flags.join(" "))
}

/// Runs a command and returns its output; an error has its messages.
fn run(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{command:?}: {}\n{text}\n{messages}", output.status).into());
    }
    Ok(text)
}
