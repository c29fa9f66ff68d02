//! Installs a library from a separate package before the adapter is built, for adapters that link to
//! an installed library. Our only input to that is the script that installs it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use toml::Table;

use crate::matrix::lock::Lock;
use crate::matrix::metadata::{Metadata, PrefixMetadata};

/// A package whose build script installs a library.
#[derive(Debug)]
pub struct Prefix {
    /// The package that contains the library.
    pub package: String,
    pub manifest: String,
    /// Its build script, in the adapter's folder.
    pub script: String,
    /// Environment variable that passes the prefix to the adapter's build.
    pub variable: String,
    /// The packages below the library's.
    pub lock: Lock,
}

#[derive(Debug)]
pub struct Installed {
    /// The package that contains the library.
    pub package: String,
    pub version: String,
    /// The Cargo.lock of the installation.
    pub lock: PathBuf,
}

impl Prefix {
    /// The package for one version, with the profile of the workspace and its packages.
    pub fn new(
        version: &str,
        metadata: &Metadata,
        found: &PrefixMetadata,
        workspace: &Table,
        lock: &Lock,
    ) -> Result<Self> {
        let package = &metadata.package;
        let mut manifest: Table = toml::from_str(&format!(
            "workspace = {{}}\npackage = {{ name = \"prefix\", edition = \"2024\" }}\n\
             [build-dependencies]\n{package} = \"={version}\""
        ))?;
        let profile = workspace.get("profile").cloned();
        manifest.extend(profile.map(|it| ("profile".to_owned(), it)));
        Ok(Self {
            package: package.clone(),
            manifest: toml::to_string(&manifest)?,
            script: found.script.clone(),
            variable: found.variable.clone(),
            lock: lock.clone().below(package),
        })
    }

    pub fn write(&self, folder: &Path, adapter: &Path) -> Result<()> {
        fs::create_dir_all(folder.join("src"))?;
        fs::write(folder.join("src/lib.rs"), "")?;
        fs::write(folder.join("Cargo.toml"), &self.manifest)?;
        fs::copy(adapter.join(&self.script), folder.join("build.rs"))?;
        Ok(())
    }
}
