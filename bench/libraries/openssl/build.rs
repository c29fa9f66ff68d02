//! Build script: detects what this version of OpenSSL supports, in addition to the steps of every
//! adapter. OpenSSL may come without a package, so openssl-sys reports the version of its headers.

#[path = "../shared/build.rs"]
mod adapter;

use std::{env, error::Error, fs, path::Path};

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
    // By the script `perl`; a prefix that a user made has no such file.
    let headers = env::var("DEP_OPENSSL_INCLUDE")?;
    let told = Path::new(&headers).with_file_name("configured");
    match fs::read_to_string(&told) {
        Ok(told) => println!("cargo::rustc-env=CONFIGURE={}", told.trim()),
        Err(_) if env::var_os("CARGO_FEATURE_VENDORED").is_none() => {}
        Err(error) => {
            let what =
                "OpenSSL was configured without bench/libraries/openssl/perl: run `make libraries`";
            return Err(format!("{}: {error}; {what}", told.display()).into());
        }
    }
    Ok(())
}
