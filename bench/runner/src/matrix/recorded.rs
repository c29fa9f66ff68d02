//! The packages that a build may use: those of `bench/Cargo.lock` and of the adapters outside its
//! workspace, and those that `bench/matrix.lock` records for the builds of all suites. Cargo
//! resolves a build from them, and a build that resolves to any other package is rejected.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, ensure};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use crate::files::replace;
use crate::matrix::cargo::LOCK;
use crate::matrix::checksum::sorted;
use crate::words::counted;

/// File name of the record, in the workspace of the harness.
const RECORD: &str = "matrix.lock";

const COMMENT: &str = "# Packages that the builds of all suites are made of. Written by \
                       `tlsbench lock`.\n";

/// A package of a registry, with the fields of Cargo.lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Package {
    name: String,
    version: String,
    source: String,
    checksum: String,
}

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
    ///
    /// # Errors
    ///
    /// A lock cannot be read.
    pub fn read(bench: &Path) -> Result<Self> {
        let path = bench.join(RECORD);
        let read = |path: &Path| {
            let text = fs::read_to_string(path).map_err(Error::from);
            let found = text.and_then(|it| packages(&it));
            found.with_context(|| path.display().to_string())
        };
        let mut own = read(&bench.join(LOCK))?;
        let adapters = bench.join("libraries");
        let adapters = if adapters.is_dir() {
            sorted(&adapters)?
        } else {
            Vec::new()
        };
        for lock in adapters
            .iter()
            .map(|it| it.join(LOCK))
            .filter(|it| it.exists())
        {
            own.extend(read(&lock)?);
        }
        let others = match path.exists() {
            true => read(&path)?,
            false => BTreeSet::new(),
        };
        Ok(Self { own, others, path })
    }

    /// A Cargo.lock from which Cargo resolves: `lock`, and all recorded packages.
    ///
    /// # Errors
    ///
    /// `lock` is not a Cargo.lock.
    pub fn added_to(&self, lock: &str) -> Result<String> {
        let present = packages(lock)?;
        let mut lock: DocumentMut = lock.parse()?;
        let all = lock.entry("package");
        let all = all.or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        let all = all.as_array_of_tables_mut();
        let all = all.context("package: expected an array")?;
        for package in self.others.difference(&present) {
            all.push(package.to_table());
        }
        Ok(lock.to_string())
    }

    /// Rejects a build that resolves to packages that are not recorded.
    ///
    /// # Errors
    ///
    /// A package is not recorded; names the first one, and the command that records them.
    pub fn check(&self, lock: &Path) -> Result<()> {
        let text = fs::read_to_string(lock).with_context(|| lock.display().to_string())?;
        let unknown = self.unknown(&text)?;
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
    ///
    /// # Errors
    ///
    /// `lock` is not a Cargo.lock, or the record cannot be written.
    pub fn add(&mut self, lock: &str) -> Result<usize> {
        let before = self.others.len();
        // Includes those of `bench/Cargo.lock`, whose versions will change later.
        self.others.extend(packages(lock)?);
        let number = self.others.len() - before;
        if number > 0 {
            replace(&self.path, self.to_text().as_bytes())?;
        }
        Ok(number)
    }

    fn unknown(&self, lock: &str) -> Result<BTreeSet<Package>> {
        let known = |it: &Package| self.own.contains(it) || self.others.contains(it);
        let found = packages(lock)?.into_iter();
        Ok(found.filter(|it| !known(it)).collect())
    }

    fn to_text(&self) -> String {
        let mut record = DocumentMut::new();
        let tables = self.others.iter().map(Package::to_table);
        record["version"] = value(4);
        record["package"] = Item::ArrayOfTables(tables.collect());
        format!("{COMMENT}{record}")
    }
}

impl Package {
    /// Dependencies are left out: their names may mean other packages in another lock.
    fn to_table(&self) -> Table {
        let mut table = Table::new();
        for (key, text) in [
            ("name", &self.name),
            ("version", &self.version),
            ("source", &self.source),
            ("checksum", &self.checksum),
        ] {
            table[key] = value(text);
        }
        table
    }
}

/// The packages of a Cargo.lock that are not local; the sources of local ones are an input of the
/// build.
fn packages(lock: &str) -> Result<BTreeSet<Package>> {
    let lock: DocumentMut = lock.parse()?;
    let all = lock.get("package").and_then(Item::as_array_of_tables);
    let mut packages = BTreeSet::new();
    for table in all.into_iter().flatten() {
        let text = |key: &str| table.get(key).and_then(Item::as_str).map(str::to_owned);
        let Some(source) = text("source") else {
            continue;
        };
        packages.insert(Package {
            name: text("name").context("a package has no name")?,
            version: text("version").context("a package has no version")?,
            source,
            checksum: text("checksum").context("a package has no checksum")?,
        });
    }
    Ok(packages)
}

#[cfg(test)]
mod tests {
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
        assert_eq!(recorded.add(&lock(&old)).unwrap(), 2);
        assert_eq!(recorded.add(&lock(&old)).unwrap(), 0);
        assert_eq!(recorded.add(&lock(&[("a", "1.0.0")])).unwrap(), 1);
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
        recorded
            .add(&lock(&[("a", "0.9.0"), ("b", "2.0.0")]))
            .unwrap();
        for begun in [
            lock(&[("a", "1.0.0"), ("b", "2.0.0")]),
            "version = 4\n".to_owned(),
        ] {
            let found = recorded.added_to(&begun).unwrap();
            for name in ["name = \"b\"", "version = \"0.9.0\""] {
                assert_eq!(found.matches(name).count(), 1, "{found}");
            }
        }
    }
}
