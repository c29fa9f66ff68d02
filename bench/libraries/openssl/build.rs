//! Build script: detects what this version of OpenSSL supports, in addition to the steps of every
//! adapter. OpenSSL may come without a package, so openssl-sys reports the version of its headers.

#[path = "../shared/build.rs"]
mod adapter;

use std::{env, error::Error};

fn main() -> Result<(), Box<dyn Error>> {
    adapter::main()?;
    let number = env::var("DEP_OPENSSL_VERSION_NUMBER")?;
    let number = u64::from_str_radix(&number, 16)?;
    for (name, first) in [
        ("openssl_3", 0x3000_0000),
        ("openssl_group_name", 0x3020_0000),
        ("openssl_hybrid", 0x3050_0000),
    ] {
        println!("cargo::rustc-check-cfg=cfg({name})");
        if number >= first {
            println!("cargo::rustc-cfg={name}");
        }
    }
    Ok(())
}
