//! Build script of a package that installs a version of OpenSSL into the folder `PREFIX`, in the
//! same way as openssl-sys builds its own copy (docs/build-matrix.md).

use std::{env, fs};

fn main() {
    let prefix = env::var_os("PREFIX").expect("PREFIX is set by tlsbench");
    let artifacts = openssl_src::Build::new().build();
    let installed = artifacts.include_dir().parent();
    let installed = installed.expect("the folder of the headers is inside the installation");
    fs::rename(installed, prefix).expect("the installation cannot be moved to PREFIX");
}
