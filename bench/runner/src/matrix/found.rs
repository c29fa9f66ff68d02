//! Compares the options of a build with the description that its program gives.

use tls_harness::binary::is_compiled_by;
use tls_harness::implementation::{Implementation, TUNED, effective_flags};

use crate::listed::{Build, Compiler};
use crate::matrix::compilers::Compilers;

/// All differences, as text; empty if the program is the requested one.
pub fn differences(build: &Build, compilers: &Compilers, found: &Implementation) -> Vec<String> {
    let mut differences = Vec::new();
    let mut expect = |what: &str, holds: bool, found: Option<&str>, expected: &str| {
        if !holds {
            let found = found.unwrap_or("nothing");
            differences.push(format!("{what}: found {found}, expected {expected}"));
        }
    };
    if let Some(version) = build.library_version() {
        let holds = is_in(version, found);
        expect("version", holds, Some(&found.version), version);
    }
    if let Some(provider) = &build.provider {
        let own = found.provider.as_deref();
        expect("provider", own == Some(provider), own, provider);
    }
    let allocator = found.allocator.as_deref();
    let first = allocator.and_then(|it| it.split(' ').next());
    let name = build.allocator.name();
    expect("allocator", first == Some(name), allocator, name);

    // The program contains "rustc version 1.95.0 (59807616e 2026-04-14)"; rustc prints it without
    // "version".
    let rust = found.rust_compiler.as_deref();
    let expected = compilers.rust.trim_start_matches("rustc ");
    let holds = rust.is_some_and(|rust| rust.trim_start_matches("rustc version ") == expected);
    expect("Rust compiler", holds, rust, &compilers.rust);

    let c = found.c_compiler.as_deref();
    let holds = is_compiled_by(c.unwrap_or_default(), &compilers.c, &compilers.llvm);
    expect("C compiler", holds, c, &compilers.c);

    let flags = found.flags.as_deref();
    let has = |flag: &str| {
        let mut words = flags.unwrap_or_default().split_whitespace();
        words.any(|word| word.trim_start_matches("CFLAGS=") == flag)
    };
    let march = build.target_cpu.as_ref().map(|cpu| format!("-march={cpu}"));
    let lto = build.lto.then_some("lto=fat");
    let wanted = effective_flags(build.flags.as_deref().unwrap_or_default());
    for flag in wanted.split_whitespace().chain(march.as_deref()).chain(lto) {
        expect("flags", has(flag), flags, flag);
    }
    // The compiler that the build itself reports, if it does: `compiler: clang -fPIC`.
    if build.compiler == Some(Compiler::Gcc) {
        let holds = !flags.unwrap_or_default().contains("clang");
        expect("flags", holds, flags, "gcc");
    }
    let name = |tuned| if tuned { "tuned" } else { "the default" };
    let own = found.reports_tuned();
    let holds = own == build.tuned;
    expect("settings", holds, Some(name(own)), name(build.tuned));
    let mask = build.mask_value();
    let own = found.cpu_mask.as_deref();
    expect(
        "CPU mask",
        own == mask.as_deref(),
        own,
        mask.as_deref().unwrap_or("none"),
    );
    differences
}

/// Whether a program that reports this has the id that a build will have.
pub fn has_id_of(build: &Build, found: &Implementation) -> bool {
    let parts = [build.tuned.then(|| TUNED.to_owned()), build.label()];
    let label = parts.into_iter().flatten().collect::<Vec<_>>().join("-");
    found.library == build.library
        && build.library_version().is_some_and(|it| is_in(it, found))
        && found.provider == build.provider
        && found.build.as_deref().unwrap_or_default() == label
}

/// Whether a program reports a version: BoringSSL's is "boring-sys 5.4.0, API 44".
fn is_in(version: &str, found: &Implementation) -> bool {
    found.version.split([' ', ',']).any(|word| word == version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::Listed;

    /// What an entry says beside the version, what its program reports otherwise than a plain build
    /// of OpenSSL 3.0.8 by GCC, and the beginning of the difference.
    const ROWS: &str = r#"
 | |
 | version = "3.0.9" | version: found 3.0.9, expected 3.0.8
provider = "ring" | | provider: found nothing, expected ring
allocator = "jemalloc" | | allocator: found system, expected jemalloc
 | allocator = "jemalloc 5.3.1" | allocator: found jemalloc 5.3.1, expected system
allocator = "jemalloc" | allocator = "jemalloc 5.3.1" |
 | rust_compiler = "rustc version 1.94.0 (x)" | Rust compiler: found rustc version 1.94.0 (x)
 | c_compiler = "GCC: 11.1.0" | C compiler: found GCC: 11.1.0, expected gcc (Debian 12
 | c_compiler = "BESIDE clang version 22.1.0-rc2" |
 | c_compiler = "BESIDE clang version 14.0.6" | C compiler: found GCC
 | c_compiler = "BESIDE Debian clang version 22.1.2" | C compiler: found GCC
compiler = "gcc" | flags = "clang -fPIC" | flags: found clang -fPIC, expected gcc
flags = "-O2" | | flags: found cc -fPIC -O3, expected -O2
target_cpu = "native" | | flags: found cc -fPIC -O3, expected -march=native
flags = "-O2" | flags = "CC=gcc CFLAGS=-O2 -g" |
lto = true | | flags: found cc -fPIC -O3, expected lto=fat
flags = "-O2 -Wextra" | flags = "cc -O2" |
tuned = true | | settings: found the default, expected tuned
 | build = "tuned" | settings: found tuned, expected the default
 | cpu_mask = "~0x1" | CPU mask: found ~0x1, expected none
cpu_mask = ["aes"] | | CPU mask: found nothing, expected ~0x2
cpu_mask = ["aes"] | cpu_mask = "~0x200000200000000:~0x60000000000" |"#;

    const GCC: &str = "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0";

    fn reported(c: &str, entry: &str, more: &str) -> String {
        let entry = format!("library = \"openssl\"\nversion = \"300.0.13+3.0.8\"\n{entry}");
        let entry = toml::Value::Table(toml::from_str(&entry).unwrap());
        let Ok(Listed::Build(build)) = Listed::read(entry) else {
            panic!("a table is a build");
        };
        let compilers = Compilers {
            rust: "rustc 1.95.0 (59807616e 2026-04-14)".into(),
            llvm: "22.1.2".into(),
            c: c.into(),
            cxx: c.into(),
            named: None,
        };
        let mut found = serde_json::json!({
            "id": "openssl-3.0.8", "library": "openssl", "version": "3.0.8",
            "rust_compiler": "rustc version 1.95.0 (59807616e 2026-04-14)",
            "c_compiler": GCC, "flags": "cc -fPIC -O3", "allocator": "system",
        });
        let more = more.replace("BESIDE", &format!("{GCC};"));
        for (name, value) in toml::from_str::<toml::Table>(&more).unwrap() {
            found[name] = serde_json::to_value(value).unwrap();
        }
        let found = serde_json::from_value(found).unwrap();
        differences(&build, &compilers, &found).join("; ")
    }

    #[test]
    fn every_difference_from_the_request_is_named() {
        for row in ROWS.trim_start_matches('\n').lines() {
            let mut parts = row.split('|').map(str::trim);
            let mut part = || parts.next().unwrap();
            let gcc = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0";
            let (reported, expected) = (reported(gcc, part(), part()), part());
            assert_eq!(
                reported.is_empty(),
                expected.is_empty(),
                "{row}: {reported}"
            );
            assert!(reported.starts_with(expected), "{row}: {reported}");
        }
        // The C library's start-up code is by GCC.
        let clang = "Debian clang version 14.0.6";
        let beside = format!("c_compiler = \"{clang}; {GCC}\"");
        assert_eq!(reported(clang, "compiler = \"clang\"", &beside), "");
    }
}
