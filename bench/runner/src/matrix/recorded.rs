//! The packages that a build may use: those of `bench/Cargo.lock` and of the adapters outside its
//! workspace, and those that `bench/matrix.lock` records for the builds of all suites. Cargo
//! resolves a build from them, and a build that resolves to any other package is rejected.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::files::replace;
use crate::matrix::checksum::sorted;
use crate::matrix::lock::{LOCK, Lock, Package};
use crate::words::counted;

/// File name of the record, in the workspace of the harness.
const RECORD: &str = "matrix.lock";

const COMMENT: &str = "# Packages that the builds of all suites are made of. Written by \
                       `tlsbench lock`.\n";

/// The recorded packages of a checkout.
pub struct Recorded {
    path: PathBuf,
    /// Packages of `bench/Cargo.lock` and of the locks in `bench/libraries`.
    own: BTreeSet<Package>,
    /// Packages of `bench/matrix.lock`; some are in both.
    others: BTreeSet<Package>,
}

impl Recorded {
    /// Reads the recorded packages of the workspace in `bench`.
    pub fn read(bench: &Path) -> Result<Self> {
        let read = |path: &Path| packages(&Lock::read(path)?);
        let mut own = read(&bench.join(LOCK))?;
        let adapters = bench.join("libraries");
        if adapters.is_dir() {
            for adapter in sorted(&adapters)? {
                let lock = adapter.join(LOCK);
                if lock.exists() {
                    own.extend(read(&lock)?);
                }
            }
        }
        let path = bench.join(RECORD);
        let others = match path.exists() {
            true => read(&path)?,
            false => BTreeSet::new(),
        };
        Ok(Self { own, others, path })
    }

    /// A lock from which Cargo resolves: `lock`, and all recorded packages.
    pub fn added_to(&self, mut lock: Lock) -> Result<Lock> {
        let present = packages(&lock)?;
        let others = self.others.difference(&present).cloned();
        lock.packages.extend(others);
        Ok(lock)
    }

    /// Rejects a build that resolves to packages that are not recorded. The error names the first
    /// one, and the command that records them.
    pub fn check(&self, lock: &Path) -> Result<()> {
        let known = |it: &Package| self.own.contains(it) || self.others.contains(it);
        let mut unknown = packages(&Lock::read(lock)?)?;
        unknown.retain(|it| !known(it));
        let first = unknown.first();
        let first = first.map(|it| format!("{} {}", it.name, it.version));
        ensure!(
            first.is_none(),
            "{} is not in bench/{LOCK} or bench/{RECORD}, {} in all: run tlsbench lock --suite FILE, \
             with the same --source if there is one, and review what it adds",
            first.unwrap_or_default(),
            counted(unknown.len(), "package")
        );
        Ok(())
    }

    /// Records the packages of a build; returns the number of new ones.
    pub fn add(&mut self, lock: &Lock) -> Result<usize> {
        let before = self.others.len();
        // Includes those of `bench/Cargo.lock`, whose versions will change later.
        self.others.extend(packages(lock)?);
        let number = self.others.len() - before;
        if number > 0 {
            let record = Lock {
                version: 4,
                packages: self.others.iter().cloned().collect(),
            };
            let text = format!("{COMMENT}{}", record.to_text()?);
            replace(&self.path, text.as_bytes())?;
        }
        Ok(number)
    }
}

/// The packages of a lock that are not local; the sources of local ones are an input of the build.
/// Dependencies are left out: their names may mean other packages in another lock.
fn packages(lock: &Lock) -> Result<BTreeSet<Package>> {
    let packages = lock.packages.iter().filter(|it| it.source.is_some());
    packages
        .map(|it| {
            let checksum = it.checksum.clone();
            let checksum = checksum.with_context(|| format!("{} has no checksum", it.name))?;
            Ok(Package {
                checksum: Some(checksum),
                dependencies: Vec::new(),
                ..it.clone()
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn package(name: &str, version: &str) -> String {
        format!(
            "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"registry\"\n\
             checksum = \"{version}\"\ndependencies = [\"x\"]\n\n"
        )
    }

    fn lock(packages: &[(&str, &str)]) -> String {
        let all = packages
            .iter()
            .map(|(name, version)| package(name, version));
        let local = "[[package]]\nname = \"tls-harness\"\nversion = \"0.1.0\"\n\n";
        format!("version = 4\n\n{local}{}", all.collect::<String>())
    }

    fn parsed(lock: &str) -> Lock {
        toml::from_str(lock).unwrap()
    }

    fn bench(own: &[(&str, &str)]) -> tempfile::TempDir {
        let bench = tempfile::tempdir().unwrap();
        fs::write(bench.path().join(LOCK), lock(own)).unwrap();
        bench
    }

    #[test]
    fn a_build_with_packages_that_are_not_recorded_is_rejected() {
        let bench = bench(&[("a", "1.0.0")]);
        let resolved = bench.path().join("resolved");
        let check = |recorded: &Recorded, packages: &[(&str, &str)]| {
            fs::write(&resolved, lock(packages)).unwrap();
            let error = recorded.check(&resolved).err();
            error.map(|it| it.to_string()).unwrap_or_default()
        };
        let mut recorded = Recorded::read(bench.path()).unwrap();
        assert_eq!(check(&recorded, &[("a", "1.0.0")]), "");
        let old = [("a", "0.9.0"), ("b", "2.0.0")];
        let error = check(&recorded, &old);
        assert!(
            error.starts_with("a 0.9.0 is not in bench/Cargo.lock or"),
            "{error}"
        );
        assert!(
            error.contains("2 packages in all: run tlsbench lock"),
            "{error}"
        );
        assert_eq!(recorded.add(&parsed(&lock(&old))).unwrap(), 2);
        assert_eq!(recorded.add(&parsed(&lock(&old))).unwrap(), 0);
        assert_eq!(recorded.add(&parsed(&lock(&[("a", "1.0.0")]))).unwrap(), 1);
        // Updating the workspace does not affect the builds of suites.
        fs::write(bench.path().join(LOCK), lock(&[("a", "1.1.0")])).unwrap();
        let adapter = bench.path().join("libraries/x");
        fs::create_dir_all(&adapter).unwrap();
        fs::write(adapter.join(LOCK), lock(&[("c", "3.0.0")])).unwrap();
        let again = Recorded::read(bench.path()).unwrap();
        assert_eq!(check(&again, &[("c", "3.0.0")]), "");
        assert_eq!(check(&again, &old), "");
        assert_eq!(check(&again, &[("a", "1.0.0")]), "");
        // The same version with other contents.
        let other = lock(&old).replace("checksum = \"0.9.0\"", "checksum = \"0\"");
        fs::write(&resolved, other).unwrap();
        assert!(again.check(&resolved).is_err());
    }

    #[test]
    fn the_initial_lock_contains_each_recorded_package_once() {
        let bench = bench(&[("a", "1.0.0")]);
        let mut recorded = Recorded::read(bench.path()).unwrap();
        let old = lock(&[("a", "0.9.0"), ("b", "2.0.0")]);
        recorded.add(&parsed(&old)).unwrap();
        for begun in [
            lock(&[("a", "1.0.0"), ("b", "2.0.0")]),
            "version = 4\n".to_owned(),
        ] {
            let found = recorded.added_to(parsed(&begun)).unwrap();
            let found = found.to_text().unwrap();
            for name in ["name = \"b\"", "version = \"0.9.0\""] {
                assert_eq!(found.matches(name).count(), 1, "{found}");
            }
        }
    }

    #[test]
    fn the_record_is_written_as_it_was_read() {
        let record = include_str!("../../../matrix.lock");
        let (first, _) = record.rsplit_once("[[package]]").unwrap();
        let bench = bench(&[]);
        fs::write(bench.path().join(RECORD), first).unwrap();
        let mut recorded = Recorded::read(bench.path()).unwrap();
        assert_eq!(recorded.add(&parsed(record)).unwrap(), 1);
        let written = fs::read_to_string(bench.path().join(RECORD)).unwrap();
        assert_eq!(written, record);
    }
}
