//! Build script of a package that installs a version of OpenSSL into the folder `PREFIX`, as the
//! build script of openssl-sys would for its own use (docs/build-matrix.md).

use std::{env, fs};

fn main() {
    let prefix = env::var_os("PREFIX").expect("tlsbench says where in PREFIX");
    let artifacts = openssl_src::Build::new().build();
    let installed = artifacts.include_dir().parent();
    let installed = installed.expect("headers are in a folder of what is installed");
    fs::rename(installed, prefix).expect("what is installed cannot be moved to PREFIX");
}
