//! Build script: generates bindings from the headers of the installed GnuTLS, in addition to the
//! steps of every adapter.
//!
//! No package contains its source. Programs of a distribution use the shared library, too.

#[path = "../shared/build.rs"]
mod adapter;

use std::{env, error::Error, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    adapter::main()?;
    // gnutls_ciphersuite_get, which reports the cipher suite, exists since 3.7.4.
    let library = pkg_config::Config::new()
        .atleast_version("3.7.4")
        .probe("gnutls")
        .map_err(|error| format!("{error}\nGnuTLS is missing: apt-get install libgnutls28-dev"))?;
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
