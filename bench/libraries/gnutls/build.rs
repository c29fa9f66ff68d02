//! Build script: links GnuTLS and generates bindings from its headers, in addition to the steps of every adapter.
//!
//! Two programs have the same code: `tls-gnutls` is linked with the GnuTLS that `scripts/build-gnutls` built, statically
//! as the other libraries are, or with that of `PKG_CONFIG_PATH`; `tls-gnutls-host` with the one that the host's own
//! programs use.

#[path = "../shared/build.rs"]
mod adapter;

use std::{
    env,
    error::Error,
    fs,
    path::{Path, PathBuf},
};

/// The variable in which pkg-config looks for libraries that are not the host's.
const SEARCH: &str = "PKG_CONFIG_PATH";

const EXPECTED: &str = "expected what scripts/build-gnutls builds (`make more-libraries \
    LIBRARY=gnutls` runs it), or a GnuTLS of 3.8 or later, with PKG_CONFIG_PATH naming the folder \
    of its gnutls.pc";

fn main() -> Result<(), Box<dyn Error>> {
    adapter::main()?;
    println!("cargo::rerun-if-env-changed={SEARCH}");
    let own = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../../build/gnutls");
    let built = own.join("built");
    println!("cargo::rerun-if-changed={}", built.display());
    let named = env::var_os(SEARCH).unwrap_or_default();
    // Others set the variable too, for libraries of their own.
    if !env::split_paths(&named).any(|it| it.join("gnutls.pc").exists()) {
        let facts = fs::read_to_string(&built)
            .map_err(|error| format!("{}: {error}; {EXPECTED}", built.display()))?;
        for fact in facts.lines() {
            println!("cargo::rustc-env={fact}");
        }
        // SAFETY: no other thread of this build script runs.
        unsafe { env::set_var(SEARCH, own.join("lib/pkgconfig")) };
    }
    let found = |error: pkg_config::Error| format!("{error}\n{EXPECTED}");
    let folder = PathBuf::from(pkg_config::get_variable("gnutls", "libdir").map_err(found)?);
    let is_shared = folder.join("libgnutls.so").exists();
    let library = pkg_config::Config::new()
        .atleast_version("3.8")
        .cargo_metadata(false)
        .statik(!is_shared)
        .probe("gnutls")
        .map_err(found)?;
    let folders = library.link_paths.iter();
    let mut arguments: Vec<_> = folders.map(|it| format!("-L{}", it.display())).collect();
    arguments.extend(library.libs.iter().map(|it| format!("-l{it}")));
    if is_shared {
        arguments.push(format!("-Wl,-rpath,{}", folder.display()));
    }
    for argument in arguments {
        println!("cargo::rustc-link-arg-tests={argument}");
        println!("cargo::rustc-link-arg-bin=tls-gnutls={argument}");
    }
    println!("cargo::rustc-link-arg-bin=tls-gnutls-host=-lgnutls");
    let folders = library.include_paths.iter();
    bindgen::Builder::default()
        .header_contents(
            "api.h",
            "#include <errno.h>\n#include <gnutls/gnutls.h>\n#include <gnutls/x509.h>",
        )
        .clang_args(folders.map(|folder| format!("-I{}", folder.display())))
        .allowlist_function("gnutls_.*")
        .allowlist_type("gnutls_.*")
        // Some of the other names are both macros and enumeration values.
        .allowlist_var("GNUTLS_E_AGAIN|GNUTLS_E_DB_ENTRY_EXISTS|GNUTLS_HOOK_POST|gnutls_free")
        .prepend_enum_name(false)
        .generate()?
        .write_to_file(Path::new(&env::var("OUT_DIR")?).join("gnutls.rs"))?;
    Ok(())
}
