//! Makes the builds of a suite, each in its own folder of the cache. A checksum of all inputs names
//! the folder, so a finished build is reused for exactly these inputs and no others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::layouts::Layouts;
use crate::libraries::Libraries;
use crate::lines::suggestion;
use crate::listed::Build;
use crate::matrix::cargo::{Cargo, LOG};
use crate::matrix::checkout::link_all;
use crate::matrix::checksum::Checksum;
use crate::matrix::compilers::Compilers;
use crate::matrix::install::{Installation, Installed};
use crate::matrix::lock::{LOCK, Lock};
use crate::matrix::package::{self, Package};
use crate::matrix::place;
use crate::matrix::recorded::Recorded;

/// File name of the program in the folder of a build.
const PROGRAM: &str = "program";

/// The builds of one checkout.
pub struct Matrix {
    /// The workspace of the harness.
    bench: PathBuf,
    cache: PathBuf,
    /// In how many layouts each program is linked.
    layouts: u32,
}

/// The program of a build in another layout, by that in the linker's own order.
pub fn in_layout(program: &Path, layout: u32) -> PathBuf {
    program.with_file_name(format!("{PROGRAM}-{layout}"))
}

/// A build and all its inputs.
struct Inputs<'a> {
    build: &'a Build,
    package: Package,
    installation: Option<Installation>,
    compilers: Compilers,
    /// The folder of the finished build.
    place: PathBuf,
    /// Target folder, shared by builds with the same compilers and flags.
    target: PathBuf,
}

impl Inputs<'_> {
    /// The environment of the adapter's build.
    fn environment(&self) -> Vec<(String, String)> {
        let mut all = self.compilers.environment(self.build);
        all.extend(self.package.environment.clone());
        all.extend(self.installation.as_ref().map(Installation::variable));
        all
    }
}

#[derive(Debug)]
pub struct Built {
    pub program: PathBuf,
    pub lock: PathBuf,
    /// The library, if a separate package installed it.
    pub installed: Option<Installed>,
    pub compilers: Compilers,
}

impl Matrix {
    pub fn new(bench: &Path, cache: &Path, layouts: u32) -> Result<Self> {
        let absolute = |path: &Path| {
            path.canonicalize()
                .with_context(|| path.display().to_string())
        };
        fs::create_dir_all(cache).with_context(|| cache.display().to_string())?;
        Ok(Self {
            bench: absolute(bench).context("builds are made from a checkout, at its top")?,
            cache: absolute(cache)?,
            layouts,
        })
    }

    /// Checks a build's options, without its compilers.
    pub fn check(&self, build: &Build) -> Result<()> {
        self.package(build).map(drop)
    }

    /// Whether a build with exactly these inputs exists.
    pub fn is_built(&self, build: &Build) -> Result<bool> {
        Ok(self.inputs(build)?.place.exists())
    }

    /// Builds the program if it is missing. `say` receives progress messages.
    pub fn build(&self, build: &Build, say: impl Fn(&str)) -> Result<Built> {
        let inputs = self.inputs(build)?;
        let installed = self.install(&inputs, &say)?;
        if !inputs.place.exists() {
            let _lock = place::lock(&inputs.target, &say)?;
            self.make(&inputs, &say)?;
        }
        Recorded::read(&self.bench)?.check(&inputs.place.join(LOCK))?;
        Ok(Built {
            program: inputs.place.join(PROGRAM),
            lock: inputs.place.join(LOCK),
            installed,
            compilers: inputs.compilers,
        })
    }

    /// Builds a program, unless another process built it while this one waited for the lock.
    fn make(&self, inputs: &Inputs, say: &impl Fn(&str)) -> Result<()> {
        let place = &inputs.place;
        if place.exists() {
            return Ok(());
        }
        let beside = self.begin(inputs)?;
        say(&format!("building, log: {}", beside.join(LOG).display()));
        let start = Instant::now();
        let program = self.link(inputs, &beside, say)?;
        ensure!(
            self.inputs(inputs.build)?.place == *place,
            "sources changed while they were built; run it again"
        );
        let own = beside.join(PROGRAM);
        fs::copy(&program, &own)?;
        for layout in 1..self.layouts {
            let linked = layouts(inputs, self.layouts).program(layout, &inputs.package.program);
            fs::copy(&linked, in_layout(&own, layout))
                .with_context(|| linked.display().to_string())?;
        }
        place::finish(&beside, place)?;
        say(&format!("built in {:.0} s", start.elapsed().as_secs_f64()));
        Ok(())
    }

    /// Builds the program in the target folder, and links it in further layouts.
    fn link(&self, inputs: &Inputs, beside: &Path, say: &impl Fn(&str)) -> Result<PathBuf> {
        let name = inputs.package.program.as_str();
        let mut cargo = self.cargo_of(inputs);
        if self.layouts > 1 {
            let layouts = layouts(inputs, self.layouts);
            // Another build left its programs, and Cargo may find nothing to link.
            layouts.clear(name)?;
            let outputs = inputs.target.join("layouts/outputs");
            cargo.environment.push(layouts.variable(&outputs, &[name])?);
        }
        let program = ["--bin".to_owned(), name.to_owned()];
        let arguments = [&inputs.package.arguments[..], &program].concat();
        let program = cargo.run("build", beside, &arguments, say)?;
        program.context("cargo named no program")
    }

    /// Runs the conformance tests of the harness against a build.
    pub fn test(&self, build: &Build, say: impl Fn(&str)) -> Result<()> {
        let inputs = self.inputs(build)?;
        self.install(&inputs, &say)?;
        let _lock = place::lock(&inputs.target, &say)?;
        let beside = self.begin(&inputs)?;
        let tests = ["--test".to_owned(), "conformance".to_owned()];
        let arguments = [&inputs.package.arguments[..], &tests].concat();
        self.cargo_of(&inputs)
            .run("test", &beside, &arguments, &say)?;
        Ok(())
    }

    /// Records the packages of a build and of its library's installation; returns the number of new
    /// ones.
    pub fn record(&self, build: &Build) -> Result<usize> {
        let inputs = self.inputs(build)?;
        let mut recorded = Recorded::read(&self.bench)?;
        let mut locks = Vec::new();
        if let Some(installation) = &inputs.installation {
            locks.push(installation.resolved(&self.bench)?);
        }
        let _lock = place::lock(&inputs.target, &|_| ())?;
        let beside = self.begin(&inputs)?;
        locks.push(self.cargo_of(&inputs).resolve(&beside)?);
        fs::remove_dir_all(&beside)?;
        locks.iter().map(|lock| recorded.add(lock)).sum()
    }

    /// Installs the library of a build, if it needs an installation.
    fn install(&self, inputs: &Inputs, say: &impl Fn(&str)) -> Result<Option<Installed>> {
        let installation = inputs.installation.as_ref();
        installation
            .map(|it| it.install(&self.bench, say))
            .transpose()
    }

    fn cargo_of<'a>(&'a self, inputs: &'a Inputs) -> Cargo<'a> {
        let mut environment = inputs.environment();
        let beside = place::beside(&inputs.place);
        let checkout = inputs.package.checkout.as_ref();
        environment.extend(checkout.and_then(|it| it.variable(&beside)));
        Cargo {
            bench: &self.bench,
            target: &inputs.target,
            foreign: &inputs.package.foreign,
            environment,
        }
    }

    /// Creates a workspace with the adapter alone; everything but the manifests is linked to the
    /// checkout.
    fn begin(&self, inputs: &Inputs) -> Result<PathBuf> {
        let beside = place::begin(&inputs.place)?;
        let libraries = self.bench.join("libraries");
        let library = inputs.build.library.as_str();
        let own = beside.join("libraries").join(library);
        fs::create_dir_all(&own)?;
        let others = ["Cargo.toml", LOCK, "libraries", "target"];
        link_all(&self.bench, &beside, &others)?;
        symlink(libraries.join("shared"), beside.join("libraries/shared"))?;
        let others = ["Cargo.toml", LOCK, "target"];
        link_all(&libraries.join(library), &own, &others)?;
        fs::write(beside.join("Cargo.toml"), &inputs.package.workspace)?;
        fs::write(own.join("Cargo.toml"), &inputs.package.manifest)?;
        if let Some(checkout) = &inputs.package.checkout {
            checkout.place(&beside, &libraries.join(library))?;
        }
        let lock = Lock::read(&self.lock(library))?;
        let lock = Recorded::read(&self.bench)?.added_to(lock)?;
        fs::write(beside.join(LOCK), lock.to_text()?)?;
        Ok(beside)
    }

    /// The lock from which the builds of a library begin: an adapter outside the workspace has its
    /// own.
    fn lock(&self, library: &str) -> PathBuf {
        let own = self.bench.join("libraries").join(library).join(LOCK);
        if own.exists() {
            own
        } else {
            self.bench.join(LOCK)
        }
    }

    /// The package of a build, from the adapter's manifest.
    fn package(&self, build: &Build) -> Result<Package> {
        let adapter = self.bench.join("libraries").join(&build.library);
        if !adapter.join("Cargo.toml").exists() {
            let libraries = Libraries::read(&self.bench)?;
            let ids: Vec<_> = libraries.iter().map(|it| it.id.as_str()).collect();
            bail!(
                "found library = \"{}\", expected one of {}{}",
                build.library,
                ids.join(", "),
                suggestion(&build.library, ids.iter().copied())
            );
        }
        let build = located(build)?;
        package::derive(
            &read(&adapter.join("Cargo.toml"))?,
            &read(&self.bench.join("Cargo.toml"))?,
            &Lock::read(&self.lock(&build.library))?,
            &build,
        )
    }

    fn inputs<'a>(&self, build: &'a Build) -> Result<Inputs<'a>> {
        let mut package = self.package(build)?;
        let libraries = self.bench.join("libraries");
        let adapter = libraries.join(&build.library);
        let lock = self.lock(&build.library);
        let compilers = Compilers::of(build)?;

        let mut checksum = Checksum::default();
        for text in [&compilers.rust, &compilers.c, &compilers.cxx] {
            checksum.add("compiler", text.as_bytes());
        }
        for (name, value) in compilers.environment(build) {
            checksum.add(&name, value.as_bytes());
        }
        let target = self.cache.join("target").join(checksum.clone().name());
        let prefix = package.prefix.take();
        let installation = prefix.map(|prefix| {
            Installation::new(
                prefix,
                &adapter,
                Lock::read(&lock)?,
                checksum.clone(),
                &self.cache,
                &package.foreign,
                compilers.environment(build),
            )
        });
        let mut inputs = Inputs {
            build,
            package,
            installation: installation.transpose()?,
            compilers,
            place: PathBuf::new(),
            target,
        };

        let package = &inputs.package;
        for text in [&package.manifest, &package.workspace, &package.program] {
            checksum.add("manifest", text.as_bytes());
        }
        for argument in &package.arguments {
            checksum.add("argument", argument.as_bytes());
        }
        for (name, value) in inputs.environment() {
            checksum.add(&name, value.as_bytes());
        }
        checksum.add(LOCK, read(&lock)?.as_bytes());
        for name in [
            "Cargo.toml",
            "build.rs",
            "interposer",
            "src",
            "certificates",
        ] {
            checksum.add_files(&self.bench.join("harness").join(name))?;
        }
        checksum.add_files(&self.bench.join("../data/schema/record.schema.json"))?;
        checksum.add_files(&adapter)?;
        checksum.add_files(&libraries.join("shared"))?;
        if let Some(source) = &located(build)?.source {
            checksum.add_files(Path::new(source))?;
        }
        if self.layouts > 1 {
            checksum.add("layouts", &self.layouts.to_le_bytes());
        }
        inputs.place = self.cache.join(checksum.name());
        Ok(inputs)
    }
}

/// The layouts of a build's target folder. Each target folder is locked while it is used.
fn layouts(inputs: &Inputs, count: u32) -> Layouts {
    Layouts::new(inputs.target.join("layouts"), count)
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| path.display().to_string())
}

/// The build with the absolute path of its local tree.
fn located(build: &Build) -> Result<Build> {
    let mut build = build.clone();
    if let Some(source) = &build.source {
        let tree = Path::new(source).canonicalize();
        let tree = tree.with_context(|| format!("source = \"{source}\""))?;
        build.source = Some(tree.display().to_string());
    }
    Ok(build)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listed::{Allocator, CpuFeature, compiled_otherwise};

    #[test]
    fn a_prefix_is_for_one_version_by_one_compiler_with_one_set_of_flags() {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let cache = tempfile::tempdir().unwrap();
        let matrix = Matrix::new(&bench, cache.path(), 1).unwrap();
        let prefix = |build: &Build| matrix.inputs(build).unwrap().installation.unwrap().place;
        let base = Build {
            library: "openssl".into(),
            version: Some("300.5.5+3.5.5".into()),
            ..Build::default()
        };
        // These options do not affect the library: the prefix is the same.
        let jemalloc = Build {
            allocator: Allocator::Jemalloc,
            ..base.clone()
        };
        let masked = Build {
            cpu_mask: vec![CpuFeature::Aes],
            ..base.clone()
        };
        let place = |build: &Build| matrix.inputs(build).unwrap().place;
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
