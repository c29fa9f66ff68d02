//! Build script: besides what every adapter's does, the API of the GnuTLS that the host has installed, from its own headers.
//!
//! No package brings its source; the shared library is what programs of a distribution use.

#[path = "../shared/build.rs"]
mod adapter;

use std::{env, error::Error, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    adapter::main()?;
    // The cipher suite of a session can be asked for since 3.7.4.
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
        // Of the others some are both macro and value of an enumeration.
        .allowlist_var("GNUTLS_E_AGAIN|GNUTLS_HOOK_POST|gnutls_free")
        .prepend_enum_name(false)
        .generate()?
        .write_to_file(Path::new(&env::var("OUT_DIR")?).join("gnutls.rs"))?;
    Ok(())
}
