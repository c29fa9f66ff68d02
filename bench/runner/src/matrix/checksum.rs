//! Checksum of all inputs of a build.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::files::{hex, sorted};

/// Hashes parts with their names and lengths, so that different lists of parts have different
/// checksums.
#[derive(Clone, Default)]
pub struct Checksum(Sha256);

impl Checksum {
    pub fn add(&mut self, name: &str, content: impl AsRef<[u8]>) {
        let content = content.as_ref();
        self.0.update(format!("{name}\n{}\n", content.len()));
        self.0.update(content);
    }

    /// Adds a file, or all files below a folder with their names, except those of git and Cargo.
    pub fn add_files(&mut self, path: &Path) -> Result<()> {
        let name = path.file_name().and_then(|name| name.to_str());
        if matches!(name, Some(".git" | "target")) {
            return Ok(());
        }
        if path.is_dir() {
            return sorted(path)?.iter().try_for_each(|it| self.add_files(it));
        }
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        self.add(&path.display().to_string(), bytes);
        Ok(())
    }

    /// The checksum as the name of a folder.
    pub fn name(self) -> String {
        hex(&self.0.finalize())[..16].to_owned()
    }
}
