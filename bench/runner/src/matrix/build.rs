//! Builds what a suite asks for, each build into a place of its own in the cache. The place is
//! named by a checksum of everything that goes into the build, so it is never used for anything
//! else, and what is ready is not built again. So is the prefix that a library is installed in
//! before its adapter is built: into that go no sources of ours but the script that installs it.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use crate::matrix::package::{self, Package};
use crate::matrix::subject::{Build, Compiler};
use crate::suite::hex;

/// Variables that would change a build behind its inputs' back.
const FOREIGN: [&str; 15] = [
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
    "OPENSSL_DIR",
    "OPENSSL_LIB_DIR",
    "OPENSSL_INCLUDE_DIR",
    "OPENSSL_NO_VENDOR",
];

/// The builds of one checkout.
pub struct Matrix {
    /// The workspace of the harness.
    bench: PathBuf,
    cache: PathBuf,
}

/// Compilers, as they tell their version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compilers {
    pub rust: String,
    /// Version of Rust's LLVM: its standard library holds C code by a clang of that.
    pub llvm: String,
    pub c: String,
    pub cxx: String,
    /// The one to name to the build, where it is not the host's own anyway.
    pub named: Option<Compiler>,
}

/// A build with all that goes into it.
struct Inputs<'a> {
    build: &'a Build,
    package: Package,
    prefix: Option<Prefix>,
    compilers: Compilers,
    checksum: String,
}

/// What installs a library, with all that goes into it.
struct Prefix {
    package: package::Prefix,
    script: String,
    /// Cargo.lock to begin with.
    lock: String,
    place: PathBuf,
}

impl Prefix {
    /// Writes its package beside its place.
    fn begin(&self) -> Result<PathBuf> {
        let beside = self.place.with_extension("building");
        if beside.exists() {
            fs::remove_dir_all(&beside)?;
        }
        fs::create_dir_all(beside.join("src"))?;
        fs::write(beside.join("src/lib.rs"), "")?;
        fs::write(beside.join("Cargo.toml"), &self.package.manifest)?;
        fs::write(beside.join("build.rs"), &self.script)?;
        fs::write(beside.join(LOCK), &self.lock)?;
        Ok(beside)
    }
}

/// A build that is ready.
#[derive(Debug)]
pub struct Built {
    pub program: PathBuf,
    /// Its Cargo.lock.
    pub lock: PathBuf,
    /// The library, where it was installed by a package of its own.
    pub installed: Option<Installed>,
    pub compilers: Compilers,
}

/// A library in its prefix.
#[derive(Debug)]
pub struct Installed {
    /// The package that brought it.
    pub package: String,
    pub version: String,
    /// The Cargo.lock that this was built with.
    pub lock: PathBuf,
}

impl Matrix {
    /// # Errors
    /// There is no workspace of the harness in `bench`.
    pub fn new(bench: &Path, cache: &Path) -> Result<Self> {
        let absolute = |path: &Path| {
            path.canonicalize()
                .with_context(|| path.display().to_string())
        };
        fs::create_dir_all(cache).with_context(|| cache.display().to_string())?;
        Ok(Self {
            bench: absolute(bench).context("builds are made from a checkout, at its top")?,
            cache: absolute(cache)?,
        })
    }

    /// Whether a build is there, with exactly these inputs.
    ///
    /// # Errors
    /// The inputs cannot be told.
    pub fn is_built(&self, build: &Build) -> Result<bool> {
        Ok(self.place(&self.inputs(build)?).exists())
    }

    /// Builds what is not there yet. `say` is given what a person may want to read meanwhile.
    ///
    /// # Errors
    /// The build failed: names the command and its log.
    pub fn build(&self, build: &Build, say: impl Fn(&str)) -> Result<Built> {
        let inputs = self.inputs(build)?;
        let place = self.place(&inputs);
        let installed = self.install(&inputs, &say)?;
        if !place.exists() {
            let target = self.target(&inputs);
            let _lock = lock(&target, &say)?;
            self.make(&inputs, &target, &say)?;
        }
        Ok(Built {
            program: place.join(PROGRAM),
            lock: place.join(LOCK),
            installed,
            compilers: inputs.compilers,
        })
    }

    /// Builds a program, unless another process did while this one waited for the lock.
    fn make(&self, inputs: &Inputs, target: &Path, say: &impl Fn(&str)) -> Result<()> {
        let place = self.place(inputs);
        if place.exists() {
            return Ok(());
        }
        let beside = self.begin(inputs)?;
        say(&format!("building, log: {}", beside.join(LOG).display()));
        let start = Instant::now();
        let environment = all_of(inputs);
        let program = cargo(&self.bench, &beside, target, &["build"], &environment, say)?;
        let program = program.context("cargo told of no program")?;
        ensure!(
            self.inputs(inputs.build)?.checksum == inputs.checksum,
            "sources changed while they were built; run it again"
        );
        fs::copy(&program, beside.join(PROGRAM))?;
        fs::rename(&beside, &place).with_context(|| place.display().to_string())?;
        say(&format!("built in {:.0} s", start.elapsed().as_secs_f64()));
        Ok(())
    }

    /// Runs the conformance tests of the harness against a build.
    ///
    /// # Errors
    /// It cannot be built, or a test failed: names the command and its log.
    pub fn test(&self, build: &Build, say: impl Fn(&str)) -> Result<()> {
        let inputs = self.inputs(build)?;
        self.install(&inputs, &say)?;
        let _lock = lock(&self.target(&inputs), &say)?;
        let beside = self.begin(&inputs)?;
        let arguments = ["test", "--test", "conformance"];
        let target = self.target(&inputs);
        cargo(
            &self.bench,
            &beside,
            &target,
            &arguments,
            &all_of(&inputs),
            &say,
        )
        .map(drop)
    }

    /// Installs a build's library, if that is how it comes, and is not there yet.
    fn install(&self, inputs: &Inputs, say: &impl Fn(&str)) -> Result<Option<Installed>> {
        let Some(prefix) = &inputs.prefix else {
            return Ok(None);
        };
        let (place, package) = (&prefix.place, &prefix.package.package);
        if !place.exists() {
            let _lock = lock(&self.cache.join(PREFIXES), say)?;
            self.fill(inputs, prefix, say)?;
        }
        let lock = place.join(LOCK);
        let text = fs::read_to_string(&lock).with_context(|| lock.display().to_string())?;
        Ok(Some(Installed {
            package: package.clone(),
            version: package::locked_version(&text, package)?,
            lock,
        }))
    }

    /// Fills a prefix, unless another process did while this one waited for the lock.
    fn fill(&self, inputs: &Inputs, prefix: &Prefix, say: &impl Fn(&str)) -> Result<()> {
        let (place, package) = (&prefix.place, &prefix.package.package);
        if place.exists() {
            return Ok(());
        }
        let beside = prefix.begin()?;
        let log = beside.join(LOG);
        say(&format!("building {package}, log: {}", log.display()));
        let start = Instant::now();
        let target = beside.join("target");
        let mut environment = environment(inputs);
        let here = beside.join(PREFIX).display().to_string();
        environment.push(("PREFIX".to_owned(), here));
        cargo(&self.bench, &beside, &target, &["build"], &environment, say)?;
        fs::remove_dir_all(&target)?;
        fs::rename(&beside, place).with_context(|| place.display().to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        say(&format!("built {package} in {seconds:.0} s"));
        Ok(())
    }

    fn place(&self, inputs: &Inputs) -> PathBuf {
        self.cache.join(&inputs.checksum[..16])
    }

    /// Writes the package beside its place.
    fn begin(&self, inputs: &Inputs) -> Result<PathBuf> {
        let beside = self.place(inputs).with_extension("building");
        fs::create_dir_all(&beside)?;
        fs::write(beside.join("Cargo.toml"), &inputs.package.manifest)?;
        let lock = self.bench.join(LOCK);
        fs::copy(&lock, beside.join(LOCK)).with_context(|| lock.display().to_string())?;
        Ok(beside)
    }

    /// Builds of one set of compilers and flags share what they have in common.
    fn target(&self, inputs: &Inputs) -> PathBuf {
        let checksum = hex(&begin_digest(inputs).finalize());
        self.cache.join("target").join(&checksum[..16])
    }

    fn inputs<'a>(&self, build: &'a Build) -> Result<Inputs<'a>> {
        let libraries = self.bench.join("libraries");
        let adapter = libraries.join(&build.library);
        ensure!(
            adapter.join("Cargo.toml").exists(),
            "library = \"{}\": there is no bench/libraries/{0}",
            build.library
        );
        let read =
            |path: PathBuf| fs::read_to_string(&path).with_context(|| path.display().to_string());
        let mut build_from = build.clone();
        if let Some(source) = &build.source {
            let tree = Path::new(source).canonicalize();
            let tree = tree.with_context(|| format!("source = \"{source}\""))?;
            build_from.source = Some(tree.display().to_string());
        }
        let package = package::derive(
            &read(adapter.join("Cargo.toml"))?,
            &read(self.bench.join("Cargo.toml"))?,
            &self.bench,
            &build_from,
        )?;
        let lock = read(self.bench.join(LOCK))?;
        let mut inputs = Inputs {
            build,
            package,
            prefix: None,
            compilers: compilers(build)?,
            checksum: String::new(),
        };
        if let Some(package) = inputs.package.prefix.take() {
            let script = read(adapter.join(&package.script))?;
            let lock = package::lock_below(&lock, &package.package)?;
            let mut digest = begin_digest(&inputs);
            for text in [&package.manifest, &script, &lock] {
                add(&mut digest, "prefix", text.as_bytes());
            }
            let checksum = hex(&digest.finalize());
            let place = self.cache.join(PREFIXES).join(&checksum[..16]);
            let prefix = place.join(PREFIX).display().to_string();
            let variable = package.variable.clone();
            inputs.package.environment.push((variable, prefix));
            inputs.prefix = Some(Prefix {
                package,
                script,
                lock,
                place,
            });
        }

        let mut digest = begin_digest(&inputs);
        add(&mut digest, "manifest", inputs.package.manifest.as_bytes());
        for (name, value) in &inputs.package.environment {
            add(&mut digest, name, value.as_bytes());
        }
        for file in ["Cargo.toml", LOCK] {
            add(&mut digest, file, &fs::read(self.bench.join(file))?);
        }
        for name in ["Cargo.toml", "src", "certificates"] {
            add_files(&mut digest, &self.bench.join("harness").join(name))?;
        }
        add_files(&mut digest, &adapter)?;
        add_files(&mut digest, &libraries.join("shared"))?;
        if let Some(source) = &build_from.source {
            add_files(&mut digest, Path::new(source))?;
        }
        inputs.checksum = hex(&digest.finalize());
        Ok(inputs)
    }
}

/// One build at a time in one folder: a target directory holds only the last program.
fn lock(folder: &Path, say: &impl Fn(&str)) -> Result<File> {
    fs::create_dir_all(folder)?;
    let path = folder.join("lock");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    if file.try_lock().is_err() {
        say(&format!("waiting for another build: {}", path.display()));
        file.lock()?;
    }
    Ok(file)
}

/// Runs cargo on the package in a folder; returns the program that it built, if it did.
fn cargo(
    bench: &Path,
    folder: &Path,
    target: &Path,
    arguments: &[&str],
    environment: &[(String, String)],
    say: &impl Fn(&str),
) -> Result<Option<PathBuf>> {
    let log = folder.join(LOG);
    let manifest = folder.join("Cargo.toml");
    let mut command = Command::new("cargo");
    let (program, arguments) = arguments.split_first().context("no command")?;
    command
        .arg(program)
        .args(["--release", "--message-format=json-render-diagnostics"])
        .arg("--manifest-path")
        .arg(&manifest)
        .arg("--target-dir")
        .arg(target)
        .args(arguments)
        // The configuration of bench/ holds here too.
        .current_dir(bench)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(File::create(&log)?);
    for variable in FOREIGN {
        command.env_remove(variable);
    }
    command.envs(environment.iter().cloned());
    let mut child = command.spawn().context("cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let mut built = None;
    for line in BufReader::new(output).lines() {
        let line = line?;
        // What is no message of cargo's is a test's output.
        let Ok(message) = serde_json::from_str::<Message>(&line) else {
            if line.starts_with("test ") {
                say(&line);
            }
            continue;
        };
        if let Some(executable) = message.executable {
            built = Some(executable);
        }
    }
    if !child.wait()?.success() {
        let text = fs::read_to_string(&log).unwrap_or_default();
        let reason = text.lines().find(|line| line.starts_with("error"));
        bail!(
            "`cargo {program}` of {} failed: {}; log: {}",
            manifest.display(),
            reason.unwrap_or("it told no reason"),
            log.display()
        );
    }
    Ok(built)
}

/// The checksum of what every part of a build is built with.
fn begin_digest(inputs: &Inputs) -> Sha256 {
    let Compilers { rust, c, cxx, .. } = &inputs.compilers;
    let mut digest = Sha256::new();
    for text in [rust, c, cxx] {
        add(&mut digest, "compiler", text.as_bytes());
    }
    for (name, value) in environment(inputs) {
        add(&mut digest, &name, value.as_bytes());
    }
    digest
}

/// Name of a package's lock, as Cargo calls it.
const LOCK: &str = "Cargo.lock";

/// Name of the folder of what is installed, in the cache.
const PREFIXES: &str = "prefixes";

/// Name of the folder that a library is installed in, in its place.
const PREFIX: &str = "prefix";

/// Name of the program in its place.
const PROGRAM: &str = "program";

/// Name of cargo's log beside it.
const LOG: &str = "log";

/// A message of cargo's, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

/// What an adapter's build finds in its environment.
fn all_of(inputs: &Inputs) -> Vec<(String, String)> {
    let mut all = environment(inputs);
    all.extend(inputs.package.environment.clone());
    all
}

/// What compiles all parts of a build, as its environment tells.
fn environment(inputs: &Inputs) -> Vec<(String, String)> {
    let build = inputs.build;
    let mut all = Vec::new();
    let mut set = |name: &str, value: String| all.push((name.to_owned(), value));
    if let Some(compiler) = inputs.compilers.named {
        set("CC", compiler.c().to_owned());
        set("CXX", compiler.cxx().to_owned());
    }
    let mut flags: Vec<String> = build.flags.iter().cloned().collect();
    if let Some(cpu) = &build.target_cpu {
        flags.push(format!("-march={cpu}"));
        set("RUSTFLAGS", format!("-C target-cpu={cpu}"));
    }
    if !flags.is_empty() {
        set("CFLAGS", flags.join(" "));
        set("CXXFLAGS", flags.join(" "));
    }
    all
}

/// Asks the compilers of a build what they are.
fn compilers(build: &Build) -> Result<Compilers> {
    let rust = version("rustc", "rustc")?;
    let llvm = told("rustc", "-vV", "rustc")?;
    let llvm = llvm
        .lines()
        .find_map(|line| line.strip_prefix("LLVM version: "));
    let llvm = llvm.context("rustc -vV tells no LLVM version")?.to_owned();
    let own = version("cc", "g++").and_then(|c| Ok((c, version("c++", "g++")?)));
    let ((c, cxx), named) = match build.compiler {
        None => (own?, None),
        Some(compiler) => {
            let package = match compiler {
                Compiler::Gcc => "g++",
                Compiler::Clang => "clang",
            };
            let asked = (
                version(compiler.c(), package)?,
                version(compiler.cxx(), package)?,
            );
            // What a compiler tells begins with the name that it was called by, if it is GCC.
            let unnamed = |text: &str| text.split_once(' ').map(|(_, rest)| rest.to_owned());
            match own {
                Ok(own) if unnamed(&own.0) == unnamed(&asked.0) => (own, None),
                _ => (asked, Some(compiler)),
            }
        }
    };
    Ok(Compilers {
        rust,
        llvm,
        c,
        cxx,
        named,
    })
}

/// The first line of what a compiler tells about itself; `package` is Debian's that brings it.
fn version(name: &str, package: &str) -> Result<String> {
    let told = told(name, "--version", package)?;
    Ok(told.lines().next().unwrap_or_default().to_owned())
}

/// What a compiler answers.
fn told(name: &str, question: &str, package: &str) -> Result<String> {
    let told = Command::new(name).arg(question).output();
    let told =
        told.with_context(|| format!("no {name} here; install it: apt-get install -y {package}"))?;
    ensure!(told.status.success(), "{name} {question} failed");
    Ok(String::from_utf8_lossy(&told.stdout).into_owned())
}

/// Adds a part with its name and length, so that no two lists of parts are alike.
fn add(digest: &mut Sha256, name: &str, bytes: &[u8]) {
    digest.update(format!("{name}\n{}\n", bytes.len()));
    digest.update(bytes);
}

/// Adds a file, or all files below a folder but for git's and cargo's own, with their names.
fn add_files(digest: &mut Sha256, path: &Path) -> Result<()> {
    let name = path.file_name().and_then(|name| name.to_str());
    if matches!(name, Some(".git" | "target")) {
        return Ok(());
    }
    if path.is_dir() {
        for inner in sorted(path)? {
            add_files(digest, &inner)?;
        }
        return Ok(());
    }
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    add(digest, &path.display().to_string(), &bytes);
    Ok(())
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|it| it.path())).collect();
    let mut paths = paths?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::subject::{Allocator, CpuFeature, compiled_otherwise};

    #[test]
    fn a_prefix_is_for_one_version_by_one_compiler_with_one_set_of_flags() {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let cache = tempfile::tempdir().unwrap();
        let matrix = Matrix::new(&bench, cache.path()).unwrap();
        let prefix = |build: &Build| matrix.inputs(build).unwrap().prefix.unwrap().place;
        let base = Build {
            library: "openssl".into(),
            version: Some("300.5.5+3.5.5".into()),
            ..Build::default()
        };
        // What is no part of the library: the same prefix, for a program of its own or the same.
        let jemalloc = Build {
            allocator: Allocator::Jemalloc,
            ..base.clone()
        };
        let masked = Build {
            cpu_mask: vec![CpuFeature::Aes],
            ..base.clone()
        };
        let place = |build: &Build| matrix.place(&matrix.inputs(build).unwrap());
        assert_eq!(prefix(&jemalloc), prefix(&base));
        assert_ne!(place(&jemalloc), place(&base));
        assert_eq!(prefix(&masked), prefix(&base));
        let older = Build {
            version: Some("300.4.2+3.4.1".into()),
            ..base.clone()
        };
        for other in compiled_otherwise(&base).into_iter().chain([older]) {
            assert_ne!(prefix(&other), prefix(&base), "{other:?}");
        }
    }
}
