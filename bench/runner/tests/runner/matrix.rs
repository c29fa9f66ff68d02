//! The build matrix: a miniature checkout for tests without a TLS library, and two real builds.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;
use tempfile::TempDir;
use tlsbench::implementations::Places;
use tlsbench::listed::{Build, Listed};
use tlsbench::manifest::Run;
use tlsbench::matrix::{Matrix, differences, in_layout};
use tlsbench::plan::Order;

use crate::common::{Bench, check_finished, copy, header, read_run, scenario, silent_host};
use crate::signals::{accepting_signals, ends, stopped};

const ADAPTER: &str = r#"[package]
name = "tls-toy"
edition.workspace = true
[package.metadata.matrix]
package = "toy"
[dependencies]
tls-harness.workspace = true
toy = { version = "1.0.0", path = "../../toy" }
"#;

const WORKSPACE: &str = r#"[workspace]
resolver = "3"
members = ["harness", "libraries/toy", "toy"]
[workspace.package]
edition = "2024"
[workspace.dependencies]
tls-harness = { path = "harness" }
"#;

/// A checkout with one adapter, `toy`, for a library that is a path dependency.
struct Checkout {
    folder: TempDir,
}

impl Checkout {
    fn new() -> Self {
        let checkout = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let package = |name: &str| {
            format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n")
        };
        let harness = package("tls-harness") + "[features]\njemalloc = []\n";
        for (path, text) in [
            ("Cargo.toml", WORKSPACE),
            ("Cargo.lock", "version = 4\n"),
            ("harness/Cargo.toml", &harness),
            ("harness/build.rs", "fn main() {}"),
            ("harness/interposer/lib.rs", ""),
            ("harness/src/lib.rs", ""),
            ("harness/certificates/root.pem", ""),
            ("../config.toml", ""),
            ("../data/schema/record.schema.json", "{}"),
            ("libraries/shared/build.rs", ""),
            ("libraries/toy/Cargo.toml", ADAPTER),
            ("libraries/toy/src/lib.rs", ""),
            (
                "libraries/toy/src/main.rs",
                "fn main() { println!(\"{}\", toy::NAME) }",
            ),
            ("libraries/toy/tests/conformance.rs", "#[test] fn toy() {}"),
            ("toy/Cargo.toml", &package("toy")),
            ("toy/src/lib.rs", "pub const NAME: &str = \"toy\";"),
        ] {
            checkout.write(path, text);
        }
        checkout
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path("bench").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn matrix(&self) -> Matrix {
        self.matrix_in(1)
    }

    fn matrix_in(&self, layouts: u32) -> Matrix {
        Matrix::new(&self.path("bench"), &self.path("build/matrix"), layouts).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn build(&self, build: &Build) -> anyhow::Result<PathBuf> {
        self.matrix()
            .build(build, |_| ())
            .map(|built| built.program)
    }
}

/// The build that a table in a suite describes.
fn build(table: &str) -> Build {
    match Listed::read(toml::Value::Table(
        toml::from_str(&table.replace(", ", "\n")).unwrap(),
    )) {
        Ok(Listed::Build(build)) => build,
        other => panic!("{other:?} is no build"),
    }
}

fn suite_of(implementations: &str, scenarios: &str) -> String {
    let header = header(1, 0.02);
    format!("{header}implementations = [{implementations}]\n{scenarios}")
}

const TOY: &str = "library = \"toy\", version = \"1.0.0\"";

#[test]
fn a_build_is_made_once_and_never_used_for_other_inputs() {
    let checkout = Checkout::new();
    let toy = build(TOY);
    assert!(!checkout.matrix().is_built(&toy).unwrap());
    let program = checkout.build(&toy).unwrap();
    let output = std::process::Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "toy\n");

    // The same inputs give the existing program, unchanged.
    fs::write(&program, "as it was").unwrap();
    assert_eq!(checkout.build(&toy).unwrap(), program);
    assert_eq!(fs::read_to_string(&program).unwrap(), "as it was");

    // Each option that is an input of a build.
    for more in [
        "flags = \"-O2\"",
        "compiler = \"clang\"",
        "allocator = \"jemalloc\"",
        "target_cpu = \"native\"",
    ] {
        let other = build(&format!("{TOY}, {more}"));
        assert!(!checkout.matrix().is_built(&other).unwrap(), "{more}");
    }
    let version = build("library = \"toy\", version = \"1.0.1\"");
    assert!(!checkout.matrix().is_built(&version).unwrap());
    // A mask does not change the program.
    let masked = build(&format!("{TOY}, cpu_mask = [\"aes\"]"));
    assert!(checkout.matrix().is_built(&masked).unwrap());

    // Each file that is an input of a build: changed, and changed back.
    for (path, text) in [
        ("Cargo.lock", "version = 4\n# other\n"),
        ("harness/src/lib.rs", "// other"),
        ("harness/interposer/lib.rs", "// other"),
        ("harness/certificates/root.pem", "other"),
        ("../data/schema/record.schema.json", "{ }"),
        ("libraries/shared/build.rs", "// other"),
        ("libraries/toy/src/lib.rs", "// other"),
    ] {
        let whole = checkout.path("bench").join(path);
        let before = fs::read_to_string(&whole).unwrap();
        checkout.write(path, text);
        assert!(!checkout.matrix().is_built(&toy).unwrap(), "{path}");
        checkout.write(path, &before);
        assert!(checkout.matrix().is_built(&toy).unwrap(), "{path}");
    }
    // A file of another library is not an input.
    checkout.write("libraries/other/src/lib.rs", "");
    assert!(checkout.matrix().is_built(&toy).unwrap());
}

#[test]
fn a_build_is_linked_in_each_layout_from_its_own_objects() {
    let checkout = Checkout::new();
    let matrix = checkout.matrix_in(3);
    let programs = |build: &Build| {
        let own = matrix.build(build, |_| ()).unwrap().program;
        let all = [own.clone(), in_layout(&own, 1), in_layout(&own, 2)];
        for program in &all {
            let output = std::process::Command::new(program).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "toy\n");
        }
        (own, all.map(|path| fs::read(path).unwrap()))
    };
    let toy = build(TOY);
    let (own, linked) = programs(&toy);
    assert!(linked[0] != linked[1] && linked[1] != linked[2] && linked[0] != linked[2]);

    // A build in one layout is another one, and the other way round.
    assert!(!checkout.matrix().is_built(&toy).unwrap());
    checkout.build(&toy).unwrap();

    // Another build with the same program in the same target folder, then the first one again.
    programs(&build(&format!("{TOY}, allocator = \"jemalloc\"")));
    fs::remove_dir_all(own.parent().unwrap()).unwrap();
    assert!(programs(&toy).1 == linked);
}

#[test]
fn a_compiler_of_another_version_makes_another_build() {
    use std::os::unix::fs::PermissionsExt as _;

    // The test needs its own process to change the path of compilers.
    let checkout = Checkout::new();
    let compilers = checkout.path("bin");
    fs::create_dir(&compilers).unwrap();
    for name in ["cc", "c++"] {
        let path = compilers.join(name);
        fs::write(&path, format!("#!/bin/sh\necho '{name} 1.0'\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    checkout.build(&build(TOY)).unwrap();
    let suite = checkout.path("suite.toml");
    fs::write(&suite, suite_of(&format!("{{ {TOY} }}"), &scenario(1))).unwrap();
    let others = std::env::var("PATH").unwrap();
    for (path, is_built) in [
        (format!("{}:{others}", compilers.display()), false),
        (others.clone(), true),
    ] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_tlsbench"))
            .args(["list", "--suite"])
            .arg(&suite)
            .current_dir(checkout.folder.path())
            .env("PATH", path)
            .output()
            .unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        assert_eq!(
            !listed.contains("toy-1.0.0: not built yet"),
            is_built,
            "{listed}"
        );
        assert!(listed.contains("toy-1.0.0"), "{listed}");
    }
}

#[test]
fn a_build_that_fails_names_its_command_and_its_log() {
    let checkout = Checkout::new();
    checkout.write("toy/src/lib.rs", "this is no Rust");
    let error = format!("{:#}", checkout.build(&build(TOY)).unwrap_err());
    assert!(
        error.contains("`cargo build` of") && error.contains("failed: error"),
        "{error}"
    );
    let (_, log) = error.split_once("log: ").unwrap();
    assert!(fs::read_to_string(log).unwrap().contains("this is no Rust"));
    let error = checkout
        .build(&build("library = \"none\", version = \"1.0.0\""))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("found library = \"none\", expected one of"),
        "{error}"
    );
}

#[test]
fn a_stopped_build_ends_what_it_started_and_the_next_one_is_whole() {
    let checkout = Checkout::new();
    let script = "fn main() {
        std::fs::write(\"BUILDING\", std::process::id().to_string()).unwrap();
        std::thread::sleep(std::time::Duration::from_secs(3600));
    }";
    let building = checkout.path("building");
    checkout.write(
        "toy/build.rs",
        &script.replace("BUILDING", building.to_str().unwrap()),
    );
    let suite = suite_of(&format!("{{ {TOY} }}"), &scenario(1));
    fs::write(checkout.path("suite.toml"), suite).unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_tlsbench"));
    std::os::unix::fs::symlink(program, checkout.path("tlsbench")).unwrap();
    let mut build = accepting_signals(checkout.folder.path(), "build --suite suite.toml");
    let mut build = build.spawn().unwrap();
    let process = loop {
        if let Ok(process) = fs::read_to_string(&building).unwrap_or_default().parse() {
            break process;
        }
        assert_eq!(build.try_wait().unwrap(), None);
        std::thread::sleep(Duration::from_millis(10));
    };
    let (code, errors) = stopped(build, Signal::INT);
    assert_eq!(code, Some(130), "{errors}");
    let last = "stopped: finished builds are kept; the same command goes on\n";
    assert!(errors.ends_with(last), "{errors}");
    assert!(ends(process), "the build script outlives the runner");
    checkout.write("toy/build.rs", "fn main() {}");
    checkout.build(&self::build(TOY)).unwrap();
}

/// Adds a package `extra` to a folder that replaces the registry, so that Cargo needs no network.
fn publish(checkout: &Checkout, version: &str) {
    let folder = checkout.path("bench/vendor");
    let config = format!(
        "[source.crates-io]\nreplace-with = \"vendor\"\n[source.vendor]\ndirectory = \"{}\"\n",
        folder.display()
    );
    checkout.write(".cargo/config.toml", &config);
    let at = format!("vendor/extra-{version}");
    let manifest =
        format!("[package]\nname = \"extra\"\nversion = \"{version}\"\nedition = \"2024\"\n");
    checkout.write(&format!("{at}/Cargo.toml"), &manifest);
    checkout.write(&format!("{at}/src/lib.rs"), "");
    let checksum = "0".repeat(63) + &version[..1];
    checkout.write(
        &format!("{at}/.cargo-checksum.json"),
        &format!("{{\"files\":{{}},\"package\":\"{checksum}\"}}"),
    );
}

/// Everything that makes Cargo resolve: a build, its tests, an existing build, and the installation
/// of a library.
#[test]
fn packages_that_are_not_recorded_are_never_built() {
    let checkout = Checkout::new();
    publish(&checkout, "1.0.0");
    let with_extra = ADAPTER.replace("toy = {", "extra = \"1.0\"\ntoy = {");
    checkout.write("libraries/toy/Cargo.toml", &with_extra);
    let toy = build(TOY);
    let matrix = checkout.matrix();
    let refused = |result: anyhow::Result<()>, version: &str| {
        let error = format!("{:#}", result.unwrap_err());
        let expected =
            format!("extra {version} is not in bench/Cargo.lock or bench/matrix.lock, 1 package");
        assert!(error.contains(&expected), "{error}");
        assert!(error.contains("run tlsbench lock --suite FILE"), "{error}");
    };
    let compiled = || {
        let target = checkout.path("build/matrix/target");
        let builds = fs::read_dir(target).into_iter().flatten().flatten();
        builds
            .filter(|it| it.path().join("release").exists())
            .count()
    };
    refused(checkout.build(&toy).map(drop), "1.0.0");
    refused(matrix.test(&toy, |_| ()), "1.0.0");
    assert_eq!(
        compiled(),
        0,
        "something was compiled before it was refused"
    );

    // It is built once it is recorded; a newer release changes nothing.
    assert_eq!(matrix.record(&toy).unwrap(), 1);
    publish(&checkout, "1.1.0");
    let built = matrix.build(&toy, |_| ()).unwrap();
    let lock = fs::read_to_string(&built.lock).unwrap();
    assert!(
        lock.contains("name = \"extra\"\nversion = \"1.0.0\""),
        "{lock}"
    );
    matrix.test(&toy, |_| ()).unwrap();

    // An existing build is not measured after its packages were removed from the record.
    let record = checkout.path("bench/matrix.lock");
    fs::remove_file(&record).unwrap();
    assert!(matrix.is_built(&toy).unwrap());
    refused(checkout.build(&toy).map(drop), "1.0.0");

    // A library that a package installs.
    let prefix = "package = \"extra\"\n[package.metadata.matrix.prefix]\nscript = \"prefix.rs\"\n\
                  variable = \"TOY_DIR\"\nholds = \"toy.h\"\nwithout = \"vendored\"";
    let installing = ADAPTER.replace("package = \"toy\"", prefix);
    checkout.write("libraries/toy/Cargo.toml", &installing);
    checkout.write("libraries/toy/prefix.rs", "fn main() {}");
    let installed = build("library = \"toy\", version = \"1.1.0\"");
    let before = compiled();
    refused(checkout.build(&installed).map(drop), "1.1.0");
    refused(matrix.test(&installed, |_| ()), "1.1.0");
    assert_eq!(
        compiled(),
        before,
        "something was compiled before it was refused"
    );
    let prefixes = fs::read_dir(checkout.path("build/matrix/prefixes")).unwrap();
    let prefixes: Vec<_> = prefixes.map(|it| it.unwrap().path()).collect();
    let [unfinished] = &prefixes[..] else {
        panic!("a library was installed: {prefixes:?}");
    };
    assert_eq!(unfinished.extension().unwrap(), "building");
    // One that is installed is not used either.
    fs::rename(unfinished, unfinished.with_extension("")).unwrap();
    refused(checkout.build(&installed).map(drop), "1.1.0");
}

/// The first line of what a compiler says about its version, without its name.
fn version(compiler: &str) -> String {
    let output = std::process::Command::new(compiler)
        .arg("--version")
        .output();
    let text = String::from_utf8(output.unwrap().stdout).unwrap();
    let (_, version) = text.lines().next().unwrap().split_once(' ').unwrap();
    version.to_owned()
}

/// Orders a run of `implementations`, in which the program of `toy` measures as `fake-b` does.
fn order_of_toys(bench: &Bench, checkout: &Checkout, implementations: &str) -> Order {
    let described = serde_json::json!({
        "id": "toy-1.0.0", "library": "toy", "version": "1.0.0", "allocator": "system",
        "rust_compiler": format!("rustc version {}", version("rustc")),
        "c_compiler": format!("GCC: {}", version("cc")),
    });
    let main = format!(
        "use std::os::unix::process::CommandExt as _;\n\
         fn main() {{ match std::env::args().nth(1).as_deref() {{\n\
         Some(\"describe\") => println!(\"{{}}\", {:?}),\n\
         _ => panic!(\"{{}}\", std::process::Command::new({:?}).arg(\"measure\").exec()) }} }}",
        described.to_string(),
        bench.path("fake-b"),
    );
    checkout.write("libraries/toy/src/main.rs", &main);
    bench.suite(1, 0.001, &["one"]);
    bench.edit("\"fake-a\", \"fake-b\"", implementations);
    let mut order = bench.order();
    order.places.bench = checkout.path("bench");
    order.places.cache = checkout.path("build/matrix");
    order
}

#[test]
fn a_build_is_measured_and_recorded_as_found_and_one_that_fails_is_named() {
    let (bench, checkout) = (Bench::new(), Checkout::new());
    let failing = TOY.replace("1.0.0", "1.0.1");
    let all = format!("{{ {TOY} }}, {{ {failing} }}, \"fake-a\"");
    let order = order_of_toys(&bench, &checkout, &all);
    tlsbench::run::run(&order, &silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 1);
    let run = read_run(&bench.path("run"));
    assert_eq!(run.implementations[0].id, "toy-1.0.0");
    let [_, lock] = &run.files[..] else {
        panic!("{:?}", run.files);
    };
    assert_eq!(lock.path, "raw/builds/toy-1.0.0.lock");
    assert_eq!(lock.implementation.as_deref(), Some("toy-1.0.0"));
    let text = fs::read_to_string(bench.path("run").join(&lock.path)).unwrap();
    assert!(
        text.contains("name = \"toy\"\nversion = \"1.0.0\""),
        "{text}"
    );
    failed_build_is_named(&run, "toy-1.0.1", checkout.folder.path());
}

/// The failed build is reported without a path of this machine.
fn failed_build_is_named(run: &Run, name: &str, checkout: &Path) {
    let mut warnings = run.warnings.iter();
    let warning = warnings.find(|it| it.code == "failed-build").unwrap();
    let message = &warning.message;
    let expected = format!("{name} could not be built");
    assert!(message.starts_with(&expected), "{message}");
    assert!(!message.contains(checkout.to_str().unwrap()), "{message}");
}

#[test]
fn a_program_that_reports_the_id_of_a_build_is_refused() {
    let (bench, checkout) = (Bench::new(), Checkout::new());
    let order = order_of_toys(&bench, &checkout, &format!("{{ {TOY} }}, \"toy\""));
    copy(
        &checkout.build(&build(TOY)).unwrap(),
        &bench.path("toy"),
        "",
    );
    let error = tlsbench::run::run(&order, &silent_host(&bench)).unwrap_err();
    let expected = "toy-1.0.0 and toy both report the id toy-1.0.0, expected builds with ids of";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn a_complete_run_makes_no_other_build_than_it_measured() {
    let (bench, checkout) = (Bench::new(), Checkout::new());
    let order = order_of_toys(&bench, &checkout, &format!("{{ {TOY} }}"));
    tlsbench::run::run(&order, &silent_host(&bench)).unwrap();
    tlsbench::run::run(&order, &silent_host(&bench)).unwrap();
    checkout.write("libraries/toy/src/lib.rs", "// other");
    let error = tlsbench::run::run(&order, &silent_host(&bench)).unwrap_err();
    let expected = "the run is complete, and toy-1.0.0 is not the build that it measured";
    assert!(error.to_string().contains(expected), "{error}");
    assert!(!checkout.matrix().is_built(&build(TOY)).unwrap());
}

#[test]
fn a_run_in_which_every_build_fails_is_an_error() {
    let (bench, checkout) = (Bench::new(), Checkout::new());
    let failing = format!("{{ {} }}", TOY.replace("1.0.0", "1.0.1"));
    let order = order_of_toys(&bench, &checkout, &failing);
    let error = tlsbench::run::run(&order, &silent_host(&bench)).unwrap_err();
    assert!(error.to_string().contains("every build failed"), "{error}");
}

/// The cheapest real build: rustls 0.22 with ring. It is kept between runs of the tests.
fn real_places(bench: &Bench) -> Places {
    Places {
        programs: bench.folder.path().to_owned(),
        bench: Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
        cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("matrix"),
        layouts: PathBuf::new(),
    }
}

#[test]
#[ignore = "nightly: it builds rustls 0.22 and ring"]
fn an_old_version_is_built_measured_and_recorded_as_found() {
    let bench = Bench::new();
    let failing = "{ library = \"rustls\", version = \"0.22.99\", provider = \"ring\" }";
    let built = failing.replace("0.22.99", "0.22.4");
    let resumed = scenario(1).replace("\"none\"", "\"ticket\"");
    let suite = suite_of(&format!("{built}, {failing}, \"fake-a\""), &resumed);
    fs::write(bench.path("suite.toml"), suite).unwrap();
    let mut order = bench.order();
    order.places = real_places(&bench);
    tlsbench::run::run(&order, &silent_host(&bench)).unwrap();

    check_finished(&bench.path("run"), 1, 2, 1);
    let run = read_run(&bench.path("run"));
    let found = &run.implementations[0];
    assert_eq!(found.id, "rustls-0.22.4-ring");
    assert_eq!((&*found.library, &*found.version), ("rustls", "0.22.4"));
    assert_eq!(found.allocator.as_deref(), Some("system"));

    // The run contains the lock of the build.
    let lock = &run.files[1];
    assert_eq!(lock.path, "raw/builds/rustls-0.22.4-ring.lock");
    assert_eq!(lock.implementation.as_deref(), Some(&*found.id));
    let text = fs::read_to_string(bench.path("run").join(&lock.path)).unwrap();
    assert!(text.contains("name = \"rustls\"\nversion = \"0.22.4\""));

    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"))
        .canonicalize()
        .unwrap();
    let above = checkout.parent().unwrap().parent().unwrap();
    failed_build_is_named(&run, "rustls-0.22.99-ring", above);

    // The program differs from this request and is rejected.
    let same = build("library = \"rustls\", version = \"0.22.4\", provider = \"ring\"");
    let matrix = Matrix::new(&order.places.bench, &order.places.cache, 1).unwrap();
    let built = matrix.build(&same, |_| ()).unwrap();
    let other = build(
        "library = \"rustls\", version = \"0.22.3\", provider = \"aws-lc-rs\", \
         allocator = \"jemalloc\", flags = \"-O1\"",
    );
    assert_eq!(differences(&other, &built.compilers, found).len(), 4);
}

/// Makes a checkout of rustls 0.24 from its packages, whose manifests are those of its repository.
fn checkout_of_rustls(folder: &Path) {
    const VERSION: &str = "0.24.0-dev.2";
    const MEMBERS: [&str; 2] = ["rustls", "rustls-ring"];
    let user = folder.join("user");
    let dependencies = MEMBERS.map(|name| format!("{name} = \"={VERSION}\"\n"));
    let manifest = format!(
        "[workspace]\n[package]\nname = \"user\"\n[lib]\npath = \"lib.rs\"\n[dependencies]\n{}",
        dependencies.concat()
    );
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("Cargo.toml"), manifest).unwrap();
    fs::write(user.join("lib.rs"), "").unwrap();
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = std::process::Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--format-version=1",
            "--filter-platform",
            &target,
        ])
        .current_dir(&user)
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{message}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for name in MEMBERS {
        let mut packages = metadata["packages"].as_array().unwrap().iter();
        let package = packages.find(|it| it["name"] == name).unwrap();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        let member = folder.join(name);
        fs::create_dir(&member).unwrap();
        fs::copy(
            manifest.with_extension("toml.orig"),
            member.join("Cargo.toml"),
        )
        .unwrap();
        let sources = manifest.with_file_name("src");
        let copied = std::process::Command::new("cp")
            .arg("--recursive")
            .args([&sources, &member])
            .status();
        assert!(copied.unwrap().success(), "{}", sources.display());
    }
    fs::remove_dir_all(user).unwrap();
    fs::write(folder.join("Cargo.toml"), include_str!("rustls-0.24.toml")).unwrap();
}

#[test]
#[ignore = "nightly: it builds rustls 0.24 and ring"]
fn a_checkout_whose_providers_are_packages_of_their_own_is_built_and_measured() {
    let bench = Bench::new();
    checkout_of_rustls(&bench.path("rustls"));
    let tree = bench.path("rustls");
    let tree = tree.display();
    let build = format!("{{ library = \"rustls\", source = \"{tree}\", provider = \"ring\" }}");
    let suite = suite_of(&build, &scenario(1));
    fs::write(bench.path("suite.toml"), suite).unwrap();
    let mut order = bench.order();
    order.places = real_places(&bench);
    tlsbench::run::run(&order, &silent_host(&bench)).unwrap();

    check_finished(&bench.path("run"), 1, 1, 1);
    let run = read_run(&bench.path("run"));
    assert_eq!(run.implementations[0].id, "rustls-0.24.0-dev.2-ring-local");
    // Both packages are those of the checkout, which have no source.
    let lock = fs::read_to_string(bench.path("run").join(&run.files[1].path)).unwrap();
    for name in ["rustls", "rustls-ring"] {
        let own = format!("name = \"{name}\"\nversion = \"0.24.0-dev.2\"\ndependencies");
        assert!(lock.contains(&own), "{lock}");
    }
}
