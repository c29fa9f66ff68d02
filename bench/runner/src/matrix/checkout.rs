//! A checkout of a library that its package contains a copy of: the build has the checkout instead.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use toml::Table;

use crate::files::sorted;
use crate::matrix::compilers::Variable;
use crate::matrix::metadata::CheckoutMetadata;

/// Where a build has the checkout, or the package with the checkout in it: in its own folder.
const PLACE: &str = "library";

/// A checkout in a build.
#[derive(Debug)]
pub struct Checkout {
    tree: PathBuf,
    /// The package that builds it.
    package: String,
    metadata: CheckoutMetadata,
}

impl Checkout {
    pub fn new(tree: &str, package: &str, metadata: &CheckoutMetadata) -> Result<Self> {
        ensure!(
            metadata.variable.is_some() != metadata.within.is_some(),
            "checkout: expected either variable or within"
        );
        Ok(Self {
            tree: tree.into(),
            package: package.to_owned(),
            metadata: metadata.clone(),
        })
    }

    /// Replaces the package in the manifest of a workspace, for all packages that need it: Cargo
    /// rejects two packages that link the same library.
    pub fn patch(&self, workspace: &mut Table) -> Result<()> {
        if self.metadata.within.is_some() {
            ensure!(
                !workspace.contains_key("patch"),
                "found [patch], expected none"
            );
            let package = &self.package;
            let patch: Table = toml::from_str(&format!("crates-io.{package}.path = \"{PLACE}\""))?;
            workspace.insert("patch".to_owned(), patch.into());
        }
        Ok(())
    }

    /// The variable of the build in a folder, if the checkout is passed by one.
    ///
    /// It names a folder of this build alone, so that Cargo runs the build script of the package
    /// again when the checkout has changed.
    pub fn variable(&self, build: &Path) -> Option<Variable> {
        let name = self.metadata.variable.clone()?;
        Some((name, build.join(PLACE).display().to_string()))
    }

    /// Puts the checkout into the folder of a build. `adapter` is the adapter's folder in the
    /// checkout of this project, whose Cargo.lock selects the package.
    pub fn place(&self, build: &Path, adapter: &Path) -> Result<()> {
        let place = build.join(PLACE);
        match &self.metadata.within {
            None => Ok(symlink(&self.tree, place)?),
            Some(within) => {
                let package = package_folder(adapter, &self.package)?;
                replaced(&package, Path::new(within), &self.tree, &place)
            }
        }
    }
}

/// Fills `place` with links to a package whose folder `within` is a link to the tree.
fn replaced(package: &Path, within: &Path, tree: &Path, place: &Path) -> Result<()> {
    let replaced = package.join(within);
    ensure!(
        replaced.is_dir(),
        "{}: found no such folder, expected the library's source",
        replaced.display()
    );
    let (mut from, mut to) = (package.to_owned(), place.to_owned());
    for part in within {
        fs::create_dir(&to).with_context(|| to.display().to_string())?;
        link_all(&from, &to, &[part.to_str().unwrap_or_default()])?;
        from.push(part);
        to.push(part);
    }
    Ok(symlink(tree, to)?)
}

/// Creates links to all entries of a folder, except for some names.
pub fn link_all(from: &Path, to: &Path, without: &[&str]) -> Result<()> {
    for path in sorted(from)? {
        let name = path.file_name().context("a file in a folder has a name")?;
        if !without.iter().any(|it| name == *it) {
            symlink(&path, to.join(name)).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}

/// The folder of a package on which an adapter depends, in the version that its Cargo.lock has.
fn package_folder(adapter: &Path, package: &str) -> Result<PathBuf> {
    let manifest = adapter.join("Cargo.toml");
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1", "--locked"])
        .arg("--manifest-path")
        .arg(&manifest)
        .output()
        .context("cargo")?;
    ensure!(
        output.status.success(),
        "`cargo metadata` of {} failed: {}",
        manifest.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let resolved: Value = serde_json::from_slice(&output.stdout)?;
    let mut all = resolved["packages"].as_array().into_iter().flatten();
    let found = all.find(|it| it["name"] == package);
    let own = found.and_then(|it| Path::new(it["manifest_path"].as_str()?).parent());
    let own = own.with_context(|| format!("{}: found no {package}", manifest.display()))?;
    Ok(own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkout_replaces_one_folder_of_a_package() {
        let folder = tempfile::tempdir().unwrap();
        let [package, tree, place] = ["package", "tree", "place"].map(|it| folder.path().join(it));
        for (file, text) in [
            ("package/Cargo.toml", "manifest"),
            ("package/deps/other/a.c", "other"),
            ("package/deps/library/ssl.c", "old"),
            ("tree/ssl.c", "new"),
        ] {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        replaced(&package, Path::new("deps/library"), &tree, &place).unwrap();
        let read = |name: &str| fs::read_to_string(place.join(name)).unwrap();
        assert_eq!(read("Cargo.toml"), "manifest");
        assert_eq!(read("deps/other/a.c"), "other");
        assert_eq!(read("deps/library/ssl.c"), "new");
        let error = replaced(&package, Path::new("lib"), &tree, &place).unwrap_err();
        assert!(
            error.to_string().contains("lib: found no such folder"),
            "{error}"
        );
    }

    #[test]
    fn the_package_is_the_one_that_the_adapter_locks() {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let adapter = bench.join("libraries/boringssl");
        let found = package_folder(&adapter, "boring-sys").unwrap();
        assert!(found.join("deps/boringssl/CMakeLists.txt").exists());
        let error = package_folder(&adapter, "no-such").unwrap_err().to_string();
        assert!(error.ends_with("found no no-such"), "{error}");
        let error = package_folder(&bench.join("no-such"), "boring-sys").unwrap_err();
        assert!(
            error.to_string().contains("`cargo metadata` of "),
            "{error}"
        );
    }
}
