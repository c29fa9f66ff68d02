//! Writes files atomically, reads those in TOML, removes them, and computes checksums.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::lines;

/// Writes and flushes a temporary file, then renames it to `path`.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("writing");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        // The new name is on the disk only after its folder is flushed.
        match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
            _ => File::open(".")?.sync_all(),
        }
    };
    write().with_context(|| path.display().to_string())
}

/// What a file in TOML states. An error has file and line.
pub fn parsed<T: DeserializeOwned>(path: &Path) -> Result<T> {
    let name = path.display().to_string();
    let text = fs::read_to_string(path).with_context(|| name.clone())?;
    lines::parse(&name, &text)
}

/// Removes a file if it exists.
pub fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(error).with_context(|| path.display().to_string())
        }
        _ => Ok(()),
    }
}

pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The entries of a folder, sorted by name.
pub fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let paths: Result<Vec<_>, _> = entries.map(|entry| entry.map(|it| it.path())).collect();
    let mut paths = paths?;
    paths.sort();
    Ok(paths)
}
