//! The packages that a build may use: those of `bench/Cargo.lock` and of the adapters outside its
//! workspace, and those that `bench/matrix.lock` records for the builds of all suites. Cargo
//! resolves a build from them, and a build that resolves to any other package is rejected.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::files::{replace, sorted};
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
        let read = |path: &Path| match path.exists() {
            true => packages(&Lock::read(path)?),
            false => Ok(BTreeSet::new()),
        };
        let mut own = read(&bench.join(LOCK))?;
        for adapter in sorted(&bench.join("libraries"))? {
            own.extend(read(&adapter.join(LOCK))?);
        }
        let path = bench.join(RECORD);
        let others = read(&path)?;
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
    pub fn check(&self, lock: &Lock) -> Result<()> {
        let mut unknown = packages(lock)?;
        unknown.retain(|it| !self.own.contains(it) && !self.others.contains(it));
        match unknown.first() {
            None => Ok(()),
            Some(first) => bail!(
                "{} {} is not in bench/{LOCK} or bench/{RECORD}, {} in all: run tlsbench lock \
                 --suite FILE, with the same --source if there is one, and review what it adds",
                first.name,
                first.version,
                counted(unknown.len(), "package")
            ),
        }
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
            let text = format!("{COMMENT}{}", toml::to_string(&record)?);
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

    /// A lock of a local package and others, each with its version as its checksum.
    fn lock(packages: &[(&str, &str)]) -> Lock {
        let package = |name: &str, version: &str, is_local: bool| Package {
            name: name.to_owned(),
            version: version.to_owned(),
            source: (!is_local).then(|| "registry".to_owned()),
            checksum: (!is_local).then(|| version.to_owned()),
            dependencies: vec!["x".to_owned()],
        };
        let others = packages
            .iter()
            .map(|(name, version)| package(name, version, false));
        let local = package("tls-harness", "0.1.0", true);
        let packages = [local].into_iter().chain(others).collect();
        Lock {
            version: 4,
            packages,
        }
    }

    /// A workspace with a lock, and an adapter with one of its own.
    fn bench(own: &[(&str, &str)], adapter: &[(&str, &str)]) -> tempfile::TempDir {
        let bench = tempfile::tempdir().unwrap();
        fs::create_dir_all(bench.path().join("libraries/x")).unwrap();
        for (path, packages) in [("", own), ("libraries/x", adapter)] {
            let text = toml::to_string(&lock(packages)).unwrap();
            fs::write(bench.path().join(path).join(LOCK), text).unwrap();
        }
        bench
    }

    #[test]
    fn a_build_may_have_the_packages_of_the_locks_and_of_the_record() {
        let bench = bench(&[("a", "1.0.0")], &[("c", "3.0.0")]);
        let old = lock(&[("a", "0.9.0"), ("b", "2.0.0")]);
        let mut recorded = Recorded::read(bench.path()).unwrap();
        let error = recorded.check(&old).unwrap_err().to_string();
        let expected = "a 0.9.0 is not in bench/Cargo.lock or bench/matrix.lock, 2 packages in all: \
                        run tlsbench lock";
        assert!(error.starts_with(expected), "{error}");
        for (lock, new) in [(&old, 2), (&old, 0), (&lock(&[("a", "1.0.0")]), 1)] {
            assert_eq!(recorded.add(lock).unwrap(), new);
        }
        let mut changed = old.clone();
        changed.packages[1].checksum = Some("0".to_owned());
        // An update of the workspace does not affect the builds of suites.
        let updated = toml::to_string(&lock(&[("a", "1.1.0")])).unwrap();
        fs::write(bench.path().join(LOCK), updated).unwrap();
        let recorded = Recorded::read(bench.path()).unwrap();
        for (lock, is_recorded) in [
            (&old, true),
            (
                &lock(&[("a", "1.0.0"), ("a", "1.1.0"), ("c", "3.0.0")]),
                true,
            ),
            (&lock(&[("c", "3.0.1")]), false),
            (&changed, false),
        ] {
            assert_eq!(recorded.check(lock).is_ok(), is_recorded, "{lock:?}");
        }
    }

    #[test]
    fn the_initial_lock_contains_each_recorded_package_once() {
        let bench = bench(&[], &[]);
        let mut recorded = Recorded::read(bench.path()).unwrap();
        recorded
            .add(&lock(&[("a", "0.9.0"), ("b", "2.0.0")]))
            .unwrap();
        let begun = lock(&[("a", "1.0.0"), ("b", "2.0.0")]);
        let found = recorded.added_to(begun).unwrap().packages.into_iter();
        let found: Vec<_> = found.map(|it| (it.name, it.version)).collect();
        let expected = ["tls-harness 0.1.0", "a 1.0.0", "b 2.0.0", "a 0.9.0"];
        let expected = expected.map(|it| it.split_once(' ').unwrap());
        let expected = expected.map(|(name, version)| (name.to_owned(), version.to_owned()));
        assert_eq!(found, expected);
    }

    #[test]
    fn the_record_is_written_as_it_was_read() {
        let record = include_str!("../../../matrix.lock");
        let (first, _) = record.rsplit_once("[[package]]").unwrap();
        let bench = bench(&[], &[]);
        fs::write(bench.path().join(RECORD), first).unwrap();
        let mut recorded = Recorded::read(bench.path()).unwrap();
        assert_eq!(recorded.add(&toml::from_str(record).unwrap()).unwrap(), 1);
        let written = fs::read_to_string(bench.path().join(RECORD)).unwrap();
        assert_eq!(written, record);
    }
}
