//! Installs a library from a separate package before the adapter is built. Our only input to that
//! is the script that installs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::matrix::cargo::{Cargo, LOCK, LOG};
use crate::matrix::checksum::Checksum;
use crate::matrix::place;
use crate::matrix::prefix::{self, Prefix};
use crate::matrix::recorded::Recorded;

/// Folder of all installations in the cache.
const PREFIXES: &str = "prefixes";

/// Folder of the installed library, in the folder of the installation.
const PREFIX: &str = "prefix";

/// The package that installs a library, with all its inputs.
pub struct Installation {
    prefix: Prefix,
    script: String,
    /// The Cargo.lock from which Cargo resolves.
    lock: String,
    pub place: PathBuf,
}

#[derive(Debug)]
pub struct Installed {
    /// The package that contains the library.
    pub package: String,
    pub version: String,
    /// The Cargo.lock of the installation.
    pub lock: PathBuf,
}

impl Installation {
    /// `checksum` covers the inputs that all parts of the build share; `lock` is the workspace's.
    ///
    /// # Errors
    ///
    /// The script cannot be read, or the lock is invalid.
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

    /// The variable that passes the prefix to the adapter's build.
    pub fn variable(&self) -> (String, String) {
        let prefix = self.place.join(PREFIX).display().to_string();
        (self.prefix.variable.clone(), prefix)
    }

    /// Installs the library, unless it is installed.
    ///
    /// # Errors
    ///
    /// The build failed; names the command and its log.
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

    /// The Cargo.lock to which the installation resolves.
    ///
    /// # Errors
    ///
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

    /// Creates a folder with the package that installs the library.
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

    /// Installs into the prefix, unless another process did while this one waited for the lock.
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
