//! A library that a package of its own installs, before the adapter is built: into that go no
//! sources of ours but the script that installs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::matrix::cargo::{Cargo, LOCK, LOG};
use crate::matrix::checksum::Checksum;
use crate::matrix::place;
use crate::matrix::prefix::{self, Prefix};
use crate::matrix::recorded::Recorded;

/// Name of the folder of what is installed, in the cache.
const PREFIXES: &str = "prefixes";

/// Name of the folder that a library is installed in, in its place.
const PREFIX: &str = "prefix";

/// What installs a library, with all that goes into it.
pub struct Installation {
    prefix: Prefix,
    script: String,
    /// Cargo.lock to begin with.
    lock: String,
    pub place: PathBuf,
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

impl Installation {
    /// `checksum` is of what every part of the build is built with, `lock` the workspace's.
    ///
    /// # Errors
    /// The script can't be read, or the lock can't be understood.
    pub fn new(
        prefix: Prefix,
        adapter: &Path,
        lock: &str,
        mut checksum: Checksum,
        cache: &Path,
    ) -> Result<Self> {
        let script = adapter.join(&prefix.script);
        let script = fs::read_to_string(&script).with_context(|| script.display().to_string())?;
        let lock = prefix::lock_below(lock, &prefix.package)?;
        for text in [&prefix.manifest, &script, &lock] {
            checksum.add("prefix", text.as_bytes());
        }
        Ok(Self {
            prefix,
            script,
            lock,
            place: cache.join(PREFIXES).join(checksum.name()),
        })
    }

    /// The variable that names the prefix to the build of the adapter.
    pub fn variable(&self) -> (String, String) {
        let prefix = self.place.join(PREFIX).display().to_string();
        (self.prefix.variable.clone(), prefix)
    }

    /// Installs the library, if it is not there yet.
    ///
    /// # Errors
    /// The build failed: names the command and its log.
    pub fn install(
        &self,
        bench: &Path,
        foreign: &[String],
        environment: Vec<(String, String)>,
        say: &impl Fn(&str),
    ) -> Result<Installed> {
        let prefixes = self.place.parent().context("a prefix is in the cache")?;
        if !self.place.exists() {
            let _lock = place::lock(prefixes, say)?;
            self.fill(bench, foreign, environment, say)?;
        }
        let lock = self.place.join(LOCK);
        Recorded::read(bench)?.check(&lock)?;
        let text = fs::read_to_string(&lock).with_context(|| lock.display().to_string())?;
        Ok(Installed {
            package: self.prefix.package.clone(),
            version: prefix::locked_version(&text, &self.prefix.package)?,
            lock,
        })
    }

    /// The Cargo.lock that the installation resolves to.
    ///
    /// # Errors
    /// Cargo finds no packages for it.
    pub fn resolved(&self, bench: &Path, foreign: &[String]) -> Result<String> {
        let beside = self.begin(bench)?;
        let cargo = Cargo {
            bench,
            target: &beside.join("target"),
            foreign,
            environment: Vec::new(),
        };
        cargo.resolve(&beside)?;
        let lock = fs::read_to_string(beside.join(LOCK))?;
        fs::remove_dir_all(&beside)?;
        Ok(lock)
    }

    /// A folder with the package that installs the library.
    fn begin(&self, bench: &Path) -> Result<PathBuf> {
        let beside = place::begin(&self.place)?;
        fs::create_dir_all(beside.join("src"))?;
        fs::write(beside.join("src/lib.rs"), "")?;
        fs::write(beside.join("Cargo.toml"), &self.prefix.manifest)?;
        fs::write(beside.join("build.rs"), &self.script)?;
        let lock = Recorded::read(bench)?.added_to(&self.lock)?;
        fs::write(beside.join(LOCK), lock)?;
        Ok(beside)
    }

    /// Fills the prefix, unless another process did while this one waited for the lock.
    fn fill(
        &self,
        bench: &Path,
        foreign: &[String],
        mut environment: Vec<(String, String)>,
        say: &impl Fn(&str),
    ) -> Result<()> {
        if self.place.exists() {
            return Ok(());
        }
        let package = &self.prefix.package;
        let beside = self.begin(bench)?;
        say(&format!(
            "building {package}, log: {}",
            beside.join(LOG).display()
        ));
        let start = Instant::now();
        let target = beside.join("target");
        let here = beside.join(PREFIX).display().to_string();
        environment.push(("PREFIX".to_owned(), here));
        let cargo = Cargo {
            bench,
            target: &target,
            foreign,
            environment,
        };
        cargo.resolve(&beside)?;
        Recorded::read(bench)?.check(&beside.join(LOCK))?;
        cargo.run("build", &beside, &[], say)?;
        fs::remove_dir_all(&target)?;
        place::finish(&beside, &self.place)?;
        let seconds = start.elapsed().as_secs_f64();
        say(&format!("built {package} in {seconds:.0} s"));
        Ok(())
    }
}
