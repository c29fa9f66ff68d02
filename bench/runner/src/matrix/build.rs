//! Makes the builds of a suite, each in its own folder of the cache. A checksum of all inputs names
//! the folder, so a finished build is reused for exactly these inputs and no others.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use crate::layouts::Layouts;
use crate::libraries::Libraries;
use crate::lines::suggestion;
use crate::listed::Build;
use crate::matrix::checkout::link_all;
use crate::matrix::checksum::Checksum;
use crate::matrix::compilers::{Compilers, Variable};
use crate::matrix::install::Installed;
use crate::matrix::job::{Job, unfinished};
use crate::matrix::lock::{LOCK, Lock};
use crate::matrix::package::{self, Package};
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
struct Inputs {
    /// With the absolute path of its local tree.
    build: Build,
    package: Package,
    compilers: Compilers,
    environment: Vec<Variable>,
    /// The folder of the finished build.
    place: PathBuf,
    /// The folder of the library's installation, if it needs one.
    prefix: Option<PathBuf>,
    /// Target folder, shared by builds with the same compilers and flags.
    target: PathBuf,
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
        self.package(&located(build)?).map(drop)
    }

    /// Whether a build with exactly these inputs exists.
    pub fn is_built(&self, build: &Build) -> Result<bool> {
        Ok(self.inputs(build)?.place.exists())
    }

    /// Builds the program if it is missing. `say` receives progress messages.
    pub fn build(&self, build: &Build, say: impl Fn(&str)) -> Result<Built> {
        let inputs = self.inputs(build)?;
        let installed = self.install(&inputs, &say)?;
        let job = self.job(&inputs)?;
        job.make(&say, |folder| self.link(&inputs, &job, folder, &say))?;
        Ok(Built {
            program: inputs.place.join(PROGRAM),
            lock: inputs.place.join(LOCK),
            installed,
            compilers: inputs.compilers.clone(),
        })
    }

    /// Builds the program in the target folder, and copies it into the folder of the build in each
    /// layout.
    fn link(&self, inputs: &Inputs, job: &Job, folder: &Path, say: &dyn Fn(&str)) -> Result<()> {
        let name = inputs.package.program.as_str();
        let layouts = Layouts::new(inputs.target.join("layouts"), self.layouts);
        let mut wrapper = None;
        if self.layouts > 1 {
            // Another build left its programs, and Cargo may find nothing to link.
            layouts.clear(name)?;
            let outputs = inputs.target.join("layouts/outputs");
            wrapper = Some(layouts.variable(&outputs, &[name])?);
        }
        let program = job.run("build", folder, &["--bin", name], wrapper, say)?;
        let program = program.context("cargo named no program")?;
        ensure!(
            self.inputs(&inputs.build)?.place == inputs.place,
            "sources changed while they were built; run it again"
        );
        let own = folder.join(PROGRAM);
        fs::copy(&program, &own)?;
        for layout in 1..self.layouts {
            let linked = layouts.program(layout, name);
            fs::copy(&linked, in_layout(&own, layout))
                .with_context(|| linked.display().to_string())?;
        }
        Ok(())
    }

    /// Runs the conformance tests of the harness against a build.
    pub fn test(&self, build: &Build, say: impl Fn(&str)) -> Result<()> {
        let inputs = self.inputs(build)?;
        self.install(&inputs, &say)?;
        let job = self.job(&inputs)?;
        let _lock = job.lock_cache(&say)?;
        let tests = ["--test", "conformance"];
        job.run("test", &job.begin()?, &tests, None, &say)?;
        Ok(())
    }

    /// Records the packages of a build and of its library's installation; returns the number of new
    /// ones.
    pub fn record(&self, build: &Build) -> Result<usize> {
        let inputs = self.inputs(build)?;
        let job = self.job(&inputs)?;
        let _lock = job.lock_cache(&|_| ())?;
        let mut recorded = Recorded::read(&self.bench)?;
        let mut new = recorded.add(&job.resolved()?)?;
        if let Some(job) = self.installing(&inputs) {
            new += recorded.add(&job.resolved()?)?;
        }
        Ok(new)
    }

    /// Installs the library of a build, if it needs an installation.
    fn install(&self, inputs: &Inputs, say: &dyn Fn(&str)) -> Result<Option<Installed>> {
        let Some(job) = self.installing(inputs) else {
            return Ok(None);
        };
        let lock = job.make(say, |folder| {
            job.run("build", folder, &[], None, say)?;
            Ok(fs::remove_dir_all(&job.target)?)
        })?;
        Ok(Some(Installed {
            package: job.name.to_owned(),
            version: lock.version_of(job.name)?.to_owned(),
            lock: job.place.join(LOCK),
        }))
    }

    /// The job that installs the library of a build.
    fn installing<'a>(&'a self, inputs: &'a Inputs) -> Option<Job<'a>> {
        let prefix = inputs.package.prefix.as_ref()?;
        let place = inputs.prefix.as_deref()?;
        let folder = unfinished(place);
        let adapter = self.bench.join("libraries").join(&inputs.build.library);
        let mut environment = inputs.compilers.environment(&inputs.build);
        environment.push(("PREFIX".to_owned(), installed_in(&folder)));
        environment.extend(programs(&inputs.package, &adapter));
        Some(Job {
            name: &prefix.package,
            bench: &self.bench,
            cache: &self.cache,
            place,
            target: folder.join("target"),
            lock: prefix.lock.clone(),
            arguments: &[],
            foreign: &inputs.package.foreign,
            environment,
            write: Box::new(move |folder| prefix.write(folder, &adapter)),
        })
    }

    fn job<'a>(&'a self, inputs: &'a Inputs) -> Result<Job<'a>> {
        let package = &inputs.package;
        let checkout = package.checkout.as_ref();
        let own = checkout.and_then(|it| it.variable(&unfinished(&inputs.place)));
        Ok(Job {
            name: &package.program,
            bench: &self.bench,
            cache: &self.cache,
            place: &inputs.place,
            target: inputs.target.clone(),
            lock: Lock::read(&self.lock(&inputs.build.library))?,
            arguments: &package.arguments,
            foreign: &package.foreign,
            environment: inputs.environment.iter().cloned().chain(own).collect(),
            write: Box::new(|folder| self.write(inputs, folder)),
        })
    }

    /// Writes a workspace with the adapter alone; everything but the manifests is linked to the
    /// checkout.
    fn write(&self, inputs: &Inputs, folder: &Path) -> Result<()> {
        let libraries = self.bench.join("libraries");
        let adapter = libraries.join(&inputs.build.library);
        let own = folder.join("libraries").join(&inputs.build.library);
        fs::create_dir_all(&own)?;
        let others = ["Cargo.toml", LOCK, "libraries", "target"];
        link_all(&self.bench, folder, &others)?;
        symlink(libraries.join("shared"), folder.join("libraries/shared"))?;
        link_all(&adapter, &own, &["Cargo.toml", LOCK, "target"])?;
        fs::write(folder.join("Cargo.toml"), &inputs.package.workspace)?;
        fs::write(own.join("Cargo.toml"), &inputs.package.manifest)?;
        match &inputs.package.checkout {
            Some(checkout) => checkout.place(folder, &adapter),
            None => Ok(()),
        }
    }

    /// The lock from which the builds of a library begin: an adapter outside the workspace has its
    /// own.
    fn lock(&self, library: &str) -> PathBuf {
        let own = self.bench.join("libraries").join(library).join(LOCK);
        match own.exists() {
            true => own,
            false => self.bench.join(LOCK),
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
        package::derive(
            &read(&adapter.join("Cargo.toml"))?,
            &read(&self.bench.join("Cargo.toml"))?,
            &Lock::read(&self.lock(&build.library))?,
            build,
        )
    }

    fn inputs(&self, build: &Build) -> Result<Inputs> {
        let build = located(build)?;
        let package = self.package(&build)?;
        let libraries = self.bench.join("libraries");
        let adapter = libraries.join(&build.library);
        let lock = self.lock(&build.library);
        let default = Libraries::read(&self.bench)?.compiler(&build.library);
        let compilers = Compilers::of(&build, default)?;
        let mut environment = compilers.environment(&build);

        let mut checksum = Checksum::default();
        checksum.add("compilers", format!("{compilers:?} {environment:?}"));
        // Packages do not watch the programs that stand in for theirs.
        for program in package.programs.values() {
            checksum.add_files(&adapter.join(program))?;
        }
        let target = self.cache.join("target").join(checksum.clone().name());
        let mut prefix = None;
        if let Some(found) = &package.prefix {
            let mut checksum = checksum.clone();
            checksum.add("prefix", format!("{found:?}"));
            checksum.add_files(&adapter.join(&found.script))?;
            let place = self.cache.join("prefixes").join(checksum.name());
            environment.push((found.variable.clone(), installed_in(&place)));
            prefix = Some(place);
        }
        environment.extend(package.environment.clone());
        environment.extend(programs(&package, &adapter));
        checksum.add("package", format!("{package:?} {environment:?}"));
        checksum.add("layouts", self.layouts.to_le_bytes());
        for name in [
            "harness/Cargo.toml",
            "harness/build.rs",
            "harness/interposer",
            "harness/src",
            "harness/certificates",
            "../data/schema/record.schema.json",
            "libraries/shared",
        ] {
            checksum.add_files(&self.bench.join(name))?;
        }
        checksum.add_files(&lock)?;
        checksum.add_files(&adapter)?;
        if let Some(source) = &build.source {
            checksum.add_files(Path::new(source))?;
        }
        Ok(Inputs {
            place: self.cache.join(checksum.name()),
            build,
            package,
            compilers,
            environment,
            prefix,
            target,
        })
    }
}

/// The prefix in the folder of an installation.
fn installed_in(folder: &Path) -> String {
    folder.join("prefix").display().to_string()
}

/// The variables that name scripts of an adapter.
fn programs(package: &Package, adapter: &Path) -> Vec<Variable> {
    let path = |script: &String| adapter.join(script).display().to_string();
    let all = package.programs.iter();
    all.map(|(name, script)| (name.clone(), path(script)))
        .collect()
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
    use crate::listed::Listed;

    /// A change of an adapter, or another allocator, does not build OpenSSL again.
    #[test]
    fn an_installed_library_is_for_one_version_by_one_compiler_with_one_set_of_flags() {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let cache = tempfile::tempdir().unwrap();
        let matrix = Matrix::new(&bench, cache.path(), 1).unwrap();
        let places = |version: &str, more: &str| {
            let entry = format!("library = \"openssl\"\nversion = \"{version}\"\n{more}");
            let entry = toml::Value::Table(toml::from_str(&entry).unwrap());
            let Ok(Listed::Build(build)) = Listed::read(entry) else {
                panic!("a table is a build");
            };
            let inputs = matrix.inputs(&build).unwrap();
            (inputs.place, inputs.prefix.unwrap())
        };
        let (place, prefix) = places("300.5.5+3.5.5", "");
        for (version, more, is_same) in [
            ("300.5.5+3.5.5", "allocator = \"jemalloc\"", true),
            ("300.5.5+3.5.5", "compiler = \"clang\"", false),
            ("300.5.5+3.5.5", "flags = \"-O2\"", false),
            ("300.5.5+3.5.5", "target_cpu = \"native\"", false),
            ("300.4.2+3.4.1", "", false),
        ] {
            let found = places(version, more);
            assert_eq!(found.1 == prefix, is_same, "{version} {more}");
            assert_ne!(found.0, place, "{version} {more}");
        }
    }
}
