//! Installs a library from a separate package before the adapter is built, for adapters that link to
//! an installed library. Our only input to that is the script that installs it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use toml::Table;

use crate::matrix::cargo::{Cargo, LOG};
use crate::matrix::checksum::Checksum;
use crate::matrix::lock::{LOCK, Lock};
use crate::matrix::manifest::features_of;
use crate::matrix::metadata::{Metadata, PrefixMetadata};
use crate::matrix::place;
use crate::matrix::recorded::Recorded;

/// Folder of all installations in the cache.
const PREFIXES: &str = "prefixes";

/// Folder of the installed library, in the folder of the installation.
const PREFIX: &str = "prefix";

/// A package whose build script installs a library.
#[derive(Debug, PartialEq)]
pub struct Prefix {
    /// The package that contains the library.
    pub package: String,
    pub manifest: String,
    /// Its build script, in the adapter's folder.
    script: String,
    /// Environment variable that passes the prefix to the adapter's build.
    pub variable: String,
}

impl Prefix {
    /// The package for one version, with the profile of the workspace.
    pub fn new(
        version: &str,
        metadata: &Metadata,
        found: &PrefixMetadata,
        workspace: &Table,
    ) -> Result<Self> {
        let features = found.features.iter().map(String::as_str);
        let library = Table::from_iter([
            ("version".to_owned(), format!("={version}").into()),
            (
                "features".to_owned(),
                features_of(version, metadata, features)?,
            ),
        ]);
        let library = Table::from_iter([(metadata.package.clone(), library.into())]);
        let package = "workspace = {}\npackage = { name = \"prefix\", edition = \"2024\" }\n";
        let mut manifest: Table = toml::from_str(package)?;
        manifest.insert("build-dependencies".to_owned(), library.into());
        let profile = workspace.get("profile").cloned();
        manifest.extend(profile.map(|it| ("profile".to_owned(), it)));
        Ok(Self {
            package: metadata.package.clone(),
            manifest: toml::to_string(&manifest)?,
            script: found.script.clone(),
            variable: found.variable.clone(),
        })
    }
}

/// The package that installs a library, with all its inputs.
pub struct Installation {
    prefix: Prefix,
    script: String,
    /// The lock from which Cargo resolves.
    lock: Lock,
    foreign: Vec<String>,
    environment: Vec<(String, String)>,
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
    pub fn new(
        prefix: Prefix,
        adapter: &Path,
        lock: Lock,
        mut checksum: Checksum,
        cache: &Path,
        foreign: &[String],
        environment: Vec<(String, String)>,
    ) -> Result<Self> {
        let script = adapter.join(&prefix.script);
        let script = fs::read_to_string(&script).with_context(|| script.display().to_string())?;
        let lock = lock.below(&prefix.package);
        for text in [&prefix.manifest, &script, &lock.to_text()?] {
            checksum.add("prefix", text.as_bytes());
        }
        Ok(Self {
            prefix,
            script,
            lock,
            foreign: foreign.to_vec(),
            environment,
            place: cache.join(PREFIXES).join(checksum.name()),
        })
    }

    /// The variable that passes the prefix to the adapter's build.
    pub fn variable(&self) -> (String, String) {
        let prefix = self.place.join(PREFIX).display().to_string();
        (self.prefix.variable.clone(), prefix)
    }

    /// Installs the library, unless it is installed.
    pub fn install(&self, bench: &Path, say: &impl Fn(&str)) -> Result<Installed> {
        let prefixes = self.place.parent().context("a prefix is in the cache")?;
        if !self.place.exists() {
            let _lock = place::lock(prefixes, say)?;
            self.fill(bench, say)?;
        }
        let lock = self.place.join(LOCK);
        Recorded::read(bench)?.check(&lock)?;
        let version = Lock::read(&lock)?
            .version_of(&self.prefix.package)?
            .to_owned();
        Ok(Installed {
            package: self.prefix.package.clone(),
            version,
            lock,
        })
    }

    /// The lock to which the installation resolves.
    pub fn resolved(&self, bench: &Path) -> Result<Lock> {
        let beside = self.begin(bench)?;
        let target = beside.join("target");
        let lock = self.cargo(bench, &target, &beside).resolve(&beside)?;
        fs::remove_dir_all(&beside)?;
        Ok(lock)
    }

    /// Creates a folder with the package that installs the library.
    fn begin(&self, bench: &Path) -> Result<PathBuf> {
        let beside = place::begin(&self.place)?;
        let lock = Recorded::read(bench)?.added_to(self.lock.clone())?;
        fs::create_dir_all(beside.join("src"))?;
        fs::write(beside.join("src/lib.rs"), "")?;
        fs::write(beside.join("Cargo.toml"), &self.prefix.manifest)?;
        fs::write(beside.join("build.rs"), &self.script)?;
        fs::write(beside.join(LOCK), lock.to_text()?)?;
        Ok(beside)
    }

    fn cargo<'a>(&'a self, bench: &'a Path, target: &'a Path, beside: &Path) -> Cargo<'a> {
        let mut environment = self.environment.clone();
        let here = beside.join(PREFIX).display().to_string();
        environment.push(("PREFIX".to_owned(), here));
        Cargo {
            bench,
            target,
            foreign: &self.foreign,
            environment,
        }
    }

    /// Installs into the prefix, unless another process did while this one waited for the lock.
    fn fill(&self, bench: &Path, say: &impl Fn(&str)) -> Result<()> {
        if self.place.exists() {
            return Ok(());
        }
        let package = &self.prefix.package;
        let beside = self.begin(bench)?;
        let log = beside.join(LOG);
        say(&format!("building {package}, log: {}", log.display()));
        let start = Instant::now();
        let target = beside.join("target");
        let cargo = self.cargo(bench, &target, &beside);
        cargo.run("build", &beside, &[], say)?;
        fs::remove_dir_all(&target)?;
        place::finish(&beside, &self.place)?;
        let seconds = start.elapsed().as_secs_f64();
        say(&format!("built {package} in {seconds:.0} s"));
        Ok(())
    }
}
