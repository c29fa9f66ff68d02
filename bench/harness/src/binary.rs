//! Facts about the file that the program runs from.

use std::{env, fs};

use anyhow::{Context, Result};
use object::{Object, ObjectSection};
use serde::{Deserialize, Serialize};

/// How the library is linked into its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Linkage {
    Static,
    Shared,
}

/// The compilers that recorded their names in the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compilers {
    /// `rustc version 1.95.0 (59807616e 2026-04-14)`
    pub rust: Option<String>,
    /// All other compilers, separated by semicolons: `GCC: (Debian 12.2.0-14) 12.2.0`. They include
    /// the compiler of the C library's start-up code.
    pub c: Option<String>,
}

/// Reads the section `.comment` of the running program.
pub fn compilers() -> Result<Compilers> {
    let path = env::current_exe()?;
    let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
    let file = object::File::parse(&*bytes)?;
    let Some(section) = file.section_by_name(".comment") else {
        return Ok(Compilers::default());
    };
    let section = section.uncompressed_data()?;
    let mut names: Vec<String> = section
        .split(|byte| *byte == 0)
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .filter(|name| !name.is_empty() && !name.starts_with("Linker:"))
        .collect();
    names.sort();
    names.dedup();
    let (rust, c): (Vec<_>, Vec<_>) = names
        .into_iter()
        .partition(|name| name.starts_with("rustc "));
    Ok(Compilers {
        rust: (!rust.is_empty()).then(|| rust.join("; ")),
        c: (!c.is_empty()).then(|| c.join("; ")),
    })
}

/// Whether a program that names these compilers (`Implementation::c_compiler`) has its C from the one
/// that prints `expected` about itself. "GCC: (Debian 12.2.0-14) 12.2.0; Debian clang version 14.0.6;
/// clang version 22.1.0-rc2": the first is also that of the C library's start-up code, the last that
/// of Rust's standard library, whose LLVM has the version `llvm`.
pub fn is_compiled_by(named: &str, expected: &str, llvm: &str) -> bool {
    let is_expected = |name: &str| expected.contains(name.trim_start_matches("GCC: "));
    let mut names = named.split("; ").filter(|name| !is_rusts(name, llvm));
    let is_named = names.clone().any(is_expected);
    is_named && !names.any(|name| name.contains("clang") && !is_expected(name))
}

/// Whether this C compiler made the C code of Rust's standard library: a clang with the major and
/// minor version of Rust's LLVM. The rest may be that of a release candidate.
fn is_rusts(name: &str, llvm: &str) -> bool {
    let series = |version: &str| {
        version
            .rsplit_once('.')
            .map(|(series, _)| series.to_owned())
    };
    let found = name.strip_prefix("clang version ").and_then(series);
    found.is_some() && found == series(llvm)
}

/// The locked version of a package, from the list that `libraries/shared/build.rs` makes.
pub fn package_version(packages: &str, name: &str) -> Option<String> {
    packages
        .split(',')
        .filter_map(|package| package.split_once(' '))
        .find(|(found, _)| *found == name)
        .map(|(_, version)| version.into())
}

/// Whether a library is linked dynamically: true if the process has mapped a file `<name>.so…`.
pub fn linkage(name: &str) -> Result<Linkage> {
    let maps = fs::read_to_string("/proc/self/maps").context("/proc/self/maps")?;
    Ok(match maps.contains(&format!("/{name}.so")) {
        true => Linkage::Shared,
        false => Linkage::Static,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_was_compiled_by_rustc() {
        let rust = compilers().unwrap().rust.unwrap();
        assert!(rust.starts_with("rustc version 1."), "{rust}");
    }

    #[test]
    fn a_package_is_found_by_its_whole_name() {
        let packages = "aws-lc-rs 1.2.3,ring 0.17.1,rustls 0.23.9";
        assert_eq!(package_version(packages, "rustls").unwrap(), "0.23.9");
        assert_eq!(package_version(packages, "rust"), None);
    }

    #[test]
    fn the_c_library_is_shared_and_others_are_not() {
        assert_eq!(linkage("libc").unwrap(), Linkage::Shared);
        assert_eq!(linkage("libssl").unwrap(), Linkage::Static);
    }
}
