//! Links layouts of a checkout whose library is a few lines of C.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use tlsbench::implementations::{Places, Ready, prepare};
use tlsbench::layouts::Layouts;
use tlsbench::manifest::LayoutKind;
use tlsbench::suite::{Suite, SuiteFile};

use crate::common::{Bench, scenario};

/// A checkout with the program of one library, which it links from an archive.
struct Checkout(Bench);

const WORKSPACE: &str = r#"
[workspace]
resolver = "3"
members = ["libraries/tiny", "tiny-sys", "base-sys"]
[profile.release]
codegen-units = 1
"#;

const PROGRAM: &str = r#"
[package]
name = "tls-tiny"
version = "1.0.0"
edition = "2024"
[dependencies]
tiny-sys = { path = "../../tiny-sys" }
"#;

/// Prints how it is linked, from the files that it has mapped.
const MAIN: &str = r#"
fn main() {
    assert_eq!(tiny_sys::answer(), 42);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let linkage = if maps.contains("/libtiny.so") { "shared" } else { "static" };
    println!("{{\"id\":\"tiny-1.0\",\"library\":\"tiny\",\"version\":\"1.0\",\"linkage\":\"{linkage}\"}}");
}
"#;

/// The library calls another package, as s2n-tls calls its cryptography.
const PACKAGE: &str = r#"
[package]
name = "tiny-sys"
version = "1.0.0"
edition = "2024"
links = "tiny"
[dependencies]
base-sys = { path = "../base-sys" }
"#;

const BASE_PACKAGE: &str = r#"
[package]
name = "base-sys"
version = "1.0.0"
edition = "2024"
links = "base"
"#;

/// Its symbols are hidden, like those of BoringSSL.
const BUILD: &str = r#"
use std::process::Command;
fn main() {
    let out = std::env::var("OUT_DIR").unwrap();
    let name = std::env::var("CARGO_MANIFEST_LINKS").unwrap();
    let source = format!("{}/{name}.c", std::env::var("CARGO_MANIFEST_DIR").unwrap());
    let run = |command: &mut Command| assert!(command.current_dir(&out).status().unwrap().success());
    run(Command::new("cc").args(["-fPIC", "-fvisibility=hidden", "-c", &source]));
    run(Command::new("ar").args(["crsD", &format!("lib{name}.a"), &format!("{name}.o")]));
    println!("cargo::rustc-link-search=native={out}");
    println!("cargo::rustc-link-lib=static={name}");
}
"#;

const BINDING: &str = r#"
use base_sys as _;
unsafe extern "C" { fn tiny_answer() -> i32; }
pub fn answer() -> i32 { unsafe { tiny_answer() } }
"#;

const SOURCE: &str = "int base_answer(void); int tiny_answer(void) { return base_answer(); }";

/// A string that appears in the file that contains this object.
const WORDS: &str = "the base is in this file";

const SHARED: &str =
    "[shared_library]\npackages = [\"tiny_sys\", \"base_sys\"]\nname = \"libtiny\"\n";

impl Checkout {
    fn new(more: &str) -> Self {
        let checkout = Self(Bench::new());
        let library =
            "id = \"tiny\"\norder = 1\nworkspace = \"shared\"\nprograms = [\"tls-tiny\"]\n";
        let base = format!(
            "const char *volatile words = \"{WORDS}\";\n\
             int base_answer(void) {{ return words[0] == 't' ? 42 : 0; }}\n"
        );
        for (path, text) in [
            ("Cargo.toml", WORKSPACE),
            ("libraries/tiny/Cargo.toml", PROGRAM),
            ("libraries/tiny/src/main.rs", MAIN),
            ("libraries/tiny/library.toml", &format!("{library}{more}")),
            ("tiny-sys/Cargo.toml", PACKAGE),
            ("tiny-sys/build.rs", BUILD),
            ("tiny-sys/tiny.c", SOURCE),
            ("tiny-sys/src/lib.rs", BINDING),
            ("base-sys/Cargo.toml", BASE_PACKAGE),
            ("base-sys/build.rs", BUILD),
            ("base-sys/base.c", &base),
            ("base-sys/src/lib.rs", ""),
        ] {
            let path = checkout.0.path("bench").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let locked = Command::new("cargo")
            .args(["generate-lockfile", "--offline", "--quiet"])
            .current_dir(checkout.0.path("bench"))
            .status();
        assert!(locked.unwrap().success());
        let head = "schema = 1\nname = \"test\"\nfamily = \"test\"\ndescription = \"\"\nrounds = 1\n\
                    measure_seconds = 0.001\nwarmup_seconds = 0.0\nimplementations = [\"tls-tiny\"]\n\
                    sessions = 3\nlayouts = 3\n";
        fs::write(
            checkout.0.path("suite.toml"),
            head.to_owned() + &scenario(1),
        )
        .unwrap();
        checkout
    }

    /// The same with link-time optimization, as programs that are measured are built.
    fn optimized(self) -> Self {
        let workspace = format!("{WORKSPACE}lto = \"fat\"\n");
        fs::write(self.0.path("bench/Cargo.toml"), workspace).unwrap();
        self
    }

    fn places(&self) -> Places {
        Places {
            bench: self.0.path("bench"),
            ..self.0.order().places
        }
    }

    fn suite(&self) -> Suite {
        SuiteFile::read(&self.0.path("suite.toml"), None)
            .unwrap()
            .suite
    }

    fn link(&self, kind: LayoutKind) -> anyhow::Result<()> {
        let places = self.places();
        Layouts::new(&places.layouts, kind, 3).link(&self.suite(), &places)
    }

    fn prepare(&self, kind: LayoutKind) -> anyhow::Result<Ready> {
        prepare(&mut self.suite(), &self.places(), kind)
    }

    fn folder(&self, kind: LayoutKind, layout: u32) -> PathBuf {
        self.0.path(&format!("layouts/{kind}-3/{layout}"))
    }

    fn programs(&self, kind: LayoutKind) -> Vec<Vec<u8>> {
        let of = |layout| fs::read(self.folder(kind, layout).join("tls-tiny")).unwrap();
        (0..3).map(of).collect()
    }
}

#[test]
fn linking_again_gives_the_same_programs_byte_for_byte() {
    linking_again_gives_the_same_programs(&Checkout::new(SHARED));
}

#[test]
#[ignore = "nightly: it optimizes the standard library four times"]
fn linking_optimized_programs_again_gives_the_same_ones() {
    linking_again_gives_the_same_programs(&Checkout::new(SHARED).optimized());
}

fn linking_again_gives_the_same_programs(checkout: &Checkout) {
    for kind in [LayoutKind::Shifted, LayoutKind::Shared] {
        checkout.link(kind).unwrap();
        let before = checkout.programs(kind);
        assert!(before[0] != before[1] && before[1] != before[2], "{kind}");
        for layout in 0..3 {
            fs::remove_dir_all(checkout.folder(kind, layout)).unwrap();
        }
        checkout.link(kind).unwrap();
        assert!(checkout.programs(kind) == before, "{kind}");
    }
}

#[test]
fn a_shared_layout_is_recorded_if_the_running_program_has_the_shared_library() {
    let checkout = Checkout::new(SHARED);
    checkout.link(LayoutKind::Shared).unwrap();
    let ready = checkout.prepare(LayoutKind::Shared).unwrap();
    let kinds: Vec<_> = ready.layouts.iter().map(|it| it.kind).collect();
    assert_eq!(
        kinds,
        [LayoutKind::Own, LayoutKind::Shared, LayoutKind::Shared]
    );
    let [own, shared] = [0, 1].map(|n| checkout.folder(LayoutKind::Shared, n).join("tls-tiny"));
    fs::copy(own, shared).unwrap();
    let error = checkout
        .prepare(LayoutKind::Shared)
        .err()
        .unwrap()
        .to_string();
    assert!(
        error.contains("found no shared library in the running program"),
        "{error}"
    );
}

#[test]
fn a_shared_library_has_the_objects_of_all_its_packages() {
    let checkout = Checkout::new(SHARED).optimized();
    checkout.link(LayoutKind::Shared).unwrap();
    let has_words = |path: PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(WORDS.len()).any(|it| it == WORDS.as_bytes())
    };
    for layout in 1..3 {
        let folder = checkout.folder(LayoutKind::Shared, layout);
        let names = fs::read_dir(&folder).unwrap().map(|it| it.unwrap().path());
        let shared: Vec<_> = names
            .filter(|it| it.to_string_lossy().contains("/libtiny.so."))
            .collect();
        assert_eq!(shared.len(), 1, "{shared:?}");
        assert!(shared.into_iter().all(has_words));
        assert!(!has_words(folder.join("tls-tiny")));
    }
    assert!(has_words(
        checkout.folder(LayoutKind::Shared, 0).join("tls-tiny")
    ));
}

#[test]
fn a_library_that_cannot_be_shared_is_named() {
    let error = Checkout::new("")
        .link(LayoutKind::Shared)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(
            "tls-tiny has no layout with a shared library: library.toml of tiny names none"
        ),
        "{error}"
    );
}

#[test]
fn builds_of_the_matrix_have_no_layouts_but_shifted_ones() {
    let checkout = Checkout::new(SHARED);
    let path = checkout.0.path("suite.toml");
    let text = fs::read_to_string(&path).unwrap();
    let build = "{ library = \"tiny\", version = \"1.0.0\" }";
    fs::write(&path, text.replace("\"tls-tiny\"", build)).unwrap();
    checkout.link(LayoutKind::Shifted).unwrap();
    for kind in [LayoutKind::Shuffled, LayoutKind::Shared] {
        let error = checkout.link(kind).unwrap_err().to_string();
        assert!(
            error.contains(&format!("found the layout {kind}, expected shifted")),
            "{error}"
        );
    }
}

#[test]
fn a_failure_of_cargo_metadata_is_reported_with_its_message() {
    let checkout = Checkout::new(SHARED);
    fs::write(checkout.0.path("bench/Cargo.toml"), "[workspace\n").unwrap();
    let error = checkout.link(LayoutKind::Shifted).unwrap_err();
    let error = format!("{error:#}");
    assert!(error.contains("`cargo metadata` of "), "{error}");
    assert!(error.contains("Cargo.toml failed: error: "), "{error}");
}
