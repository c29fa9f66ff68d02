//! Links layouts of a checkout whose library is a few lines of C.

use std::fs;
use std::process::Command;

use tlsbench::suite::SuiteFile;

use crate::common::{Bench, expect, scenario};

const WORKSPACE: &str = r#"
[workspace]
resolver = "3"
members = ["libraries/tiny"]
[profile.release]
codegen-units = 1
"#;

const PROGRAM: &str = r#"
[package]
name = "tls-tiny"
version = "1.0.0"
edition = "2024"
links = "tiny"
"#;

const MAIN: &str = r#"
unsafe extern "C" { fn answer() -> i32; }
fn main() {
    assert_eq!(unsafe { answer() }, 42);
}
"#;

const BUILD: &str = r#"
use std::process::Command;
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let source = format!("{}/tiny.c", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let run = |command: &mut Command| assert!(command.current_dir(&out).status().unwrap().success());
    run(Command::new("cc").args(["-fPIC", "-c", &source]));
    run(Command::new("ar").args(["crsD", "libtiny.a", "tiny.o"]));
    println!("cargo::rustc-link-search=native={out}");
    println!("cargo::rustc-link-lib=static=tiny");
}
"#;

const LIBRARY: &str =
    "id = \"tiny\"\norder = 1\nworkspace = \"shared\"\nprograms = [\"tls-tiny\"]\n";

/// A checkout with `more` in its profile, and a suite of the library that begins with `head`.
fn tiny(more: &str, head: &str) -> Bench {
    let bench = Bench::new();
    for (path, text) in [
        ("Cargo.toml", &*format!("{WORKSPACE}{more}")),
        ("libraries/tiny/Cargo.toml", PROGRAM),
        ("libraries/tiny/build.rs", BUILD),
        ("libraries/tiny/src/main.rs", MAIN),
        ("libraries/tiny/tiny.c", "int answer(void) { return 42; }"),
        ("libraries/tiny/library.toml", LIBRARY),
    ] {
        let path = bench.path("bench").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let locked = Command::new("cargo")
        .args(["generate-lockfile", "--offline", "--quiet"])
        .current_dir(bench.path("bench"))
        .status();
    assert!(locked.unwrap().success());
    let suite = bench.suite(1, 0.001, &[]);
    let text = fs::read_to_string(&suite).unwrap();
    let text = text.replace("\"fake-a\", \"fake-b\"", "\"tls-tiny\"");
    let text = format!("{head}{text}{}", scenario(1));
    fs::write(&suite, text).unwrap();
    bench
}

#[test]
fn a_program_is_built_if_it_is_neither_beside_tlsbench_nor_built() {
    let bench = tiny("", "");
    let (beside, target) = (bench.path("tls-tiny"), bench.path("bench/target"));
    let built = target.join("release/tls-tiny");
    let state = || bench.tlsbench("", "list --suite suite.toml").printed;
    expect(&state(), &["tls-tiny: not built yet: run builds it"]);
    let build = || bench.tlsbench("", "build --suite suite.toml").done();
    build();
    assert!(built.exists());
    expect(&state(), &["tls-tiny: built"]);
    fs::rename(&built, &beside).unwrap();
    fs::remove_dir_all(&target).unwrap();
    expect(&state(), &["tls-tiny: built"]);
    build();
    assert!(!target.exists());
}

/// Links a program in three layouts, in a workspace with `more` in its profile.
fn linking_again_gives_the_same_programs(more: &str) {
    let bench = tiny(more, "sessions = 3\nlayouts = 3\n");
    let suite = SuiteFile::read(&bench.path("suite.toml"), None)
        .unwrap()
        .suite;
    let mut places = bench.order().places;
    places.bench = bench.path("bench");

    let layouts = places.linked(3);
    let folder = |layout: u32| bench.path(&format!("layouts/shifted-3/{layout}"));
    let linked = || {
        layouts.link(&suite, &places.bench).unwrap();
        [0, 1, 2].map(|layout| {
            let program = folder(layout).join("tls-tiny");
            assert!(Command::new(&program).status().unwrap().success());
            fs::read(program).unwrap()
        })
    };
    let first = linked();
    assert!(first[0] != first[1] && first[1] != first[2]);
    for layout in 0..3 {
        fs::remove_dir_all(folder(layout)).unwrap();
    }
    assert!(linked() == first);
}

#[test]
fn linking_again_gives_the_same_programs_byte_for_byte() {
    linking_again_gives_the_same_programs("");
}

#[test]
#[ignore = "nightly: it optimizes the standard library"]
fn linking_optimized_programs_again_gives_the_same_ones() {
    linking_again_gives_the_same_programs("lto = \"fat\"\n");
}
