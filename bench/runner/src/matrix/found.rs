//! Compares the options of a build with the description that its program gives.

use tls_harness::implementation::Implementation;

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
        // BoringSSL reports "boring-sys 5.4.0, API 44".
        let mut words = found.version.split([' ', ',']);
        let holds = words.any(|word| word == version);
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

    // "GCC: (Debian 12.2.0-14) 12.2.0; Debian clang version 14.0.6; clang version 22.1.0-rc2": the
    // first is also that of the C library's start-up code, the last that of Rust's standard
    // library.
    let c = found.c_compiler.as_deref();
    let names = c.unwrap_or_default().split("; ");
    let mut names = names.filter(|name| !is_rusts(name, &compilers.llvm));
    let is_expected = |name: &str| compilers.c.contains(name.trim_start_matches("GCC: "));
    let named = names.clone().any(is_expected);
    let foreign = names.any(|name| name.contains("clang") && !is_expected(name));
    expect("C compiler", named && !foreign, c, &compilers.c);

    let flags = found.flags.as_deref();
    let has = |flag: &str| {
        let mut words = flags.unwrap_or_default().split_whitespace();
        words.any(|word| word.trim_start_matches("CFLAGS=") == flag)
    };
    let march = build.target_cpu.as_ref().map(|cpu| format!("-march={cpu}"));
    let wanted = build.flags.as_deref().unwrap_or_default();
    for flag in wanted.split_whitespace().chain(march.as_deref()) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::{Allocator, CpuFeature};

    type Change<'a> = &'a dyn Fn(&mut Build, &mut Implementation);

    fn build() -> Build {
        Build {
            library: "openssl".into(),
            version: Some("300.0.13+3.0.8".into()),
            ..Build::default()
        }
    }

    fn gcc() -> Compilers {
        Compilers {
            rust: "rustc 1.95.0 (59807616e 2026-04-14)".into(),
            llvm: "22.1.2".into(),
            c: "gcc (Debian 12.2.0-14+deb12u1) 12.2.0".into(),
            cxx: "g++ (Debian 12.2.0-14+deb12u1) 12.2.0".into(),
            named: None,
        }
    }

    fn found() -> Implementation {
        serde_json::from_value(serde_json::json!({
            "id": "openssl-3.0.8", "library": "openssl", "version": "3.0.8",
            "rust_compiler": "rustc version 1.95.0 (59807616e 2026-04-14)",
            "c_compiler": "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0",
            "flags": "cc -fPIC -O3", "allocator": "system",
        }))
        .unwrap()
    }

    fn reported(build: &Build, compilers: &Compilers, found: &Implementation) -> String {
        differences(build, compilers, found).join("; ")
    }

    #[test]
    fn a_build_as_requested_has_no_differences() {
        assert_eq!(reported(&build(), &gcc(), &found()), "");
        let clang = Compilers {
            c: "Debian clang version 14.0.6".into(),
            ..gcc()
        };
        let found = Implementation {
            c_compiler: Some(
                "Debian clang version 14.0.6; GCC: (Debian 12.2.0-14+deb12u1) 12.2.0".into(),
            ),
            allocator: Some("jemalloc 5.3.1".into()),
            flags: Some("opt-level=3 CC=clang CFLAGS=-O2 -march=native".into()),
            cpu_mask: Some("~0x200000200000000:~0x60000000000".into()),
            ..found()
        };
        let build = Build {
            allocator: Allocator::Jemalloc,
            compiler: Some(Compiler::Clang),
            flags: Some("-O2".into()),
            target_cpu: Some("native".into()),
            cpu_mask: vec![CpuFeature::Aes],
            ..build()
        };
        assert_eq!(reported(&build, &clang, &found), "");
    }

    #[test]
    fn every_difference_from_the_request_is_named() {
        let c = |found: &mut Implementation, c: &str| found.c_compiler = Some(c.into());
        let beside = |found: &mut Implementation, clang: &str| {
            let gcc = found.c_compiler.take().unwrap();
            found.c_compiler = Some(format!("{gcc}; {clang}"));
        };
        let rows: [(Change, &str); 14] = [
            (
                &|_, it| it.version = "3.0.9".into(),
                "version: found 3.0.9, expected 3.0.8",
            ),
            (
                &|it, _| it.provider = Some("ring".into()),
                "provider: found nothing, expected ring",
            ),
            (
                &|it, _| it.allocator = Allocator::Jemalloc,
                "allocator: found system, expected jemalloc",
            ),
            (
                &|_, it| it.allocator = Some("jemalloc 5.3.1".into()),
                "allocator: found jemalloc 5.3.1, expected system",
            ),
            (
                &|_, it| it.rust_compiler = Some("rustc version 1.94.0 (x)".into()),
                "Rust compiler: found rustc version 1.94.0",
            ),
            (
                &|_, it| c(it, "GCC: (Debian 11.1.0) 11.1.0"),
                "C compiler: found GCC: (Debian 11.1.0) 11.1.0, expected gcc (Debian 12",
            ),
            // A clang must be Rust's own or requested.
            (&|_, it| beside(it, "clang version 22.1.0-rc2"), ""),
            (
                &|_, it| beside(it, "clang version 14.0.6"),
                "C compiler: found GCC",
            ),
            (
                &|_, it| beside(it, "Debian clang version 22.1.2"),
                "C compiler: found GCC",
            ),
            (
                &|it, _| it.flags = Some("-O2".into()),
                "flags: found cc -fPIC -O3, expected -O2",
            ),
            (
                &|it, _| it.target_cpu = Some("native".into()),
                "flags: found cc -fPIC -O3, expected -march=native",
            ),
            (
                &|it, _| it.tuned = true,
                "settings: found the default, expected tuned",
            ),
            (
                &|_, it| it.build = Some("tuned".into()),
                "settings: found tuned, expected the default",
            ),
            (
                &|_, it| it.cpu_mask = Some("~0x1".into()),
                "CPU mask: found ~0x1, expected none",
            ),
        ];
        for (change, expected) in rows {
            let (mut build, mut found) = (build(), found());
            change(&mut build, &mut found);
            let reported = reported(&build, &gcc(), &found);
            assert_eq!(reported.is_empty(), expected.is_empty(), "{reported}");
            assert!(reported.starts_with(expected), "{reported}: {expected}");
        }
    }
}
