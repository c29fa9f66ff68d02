//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

/// Writes a file beside its place, flushes it to the disk, and moves it to its place.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let beside = path.with_extension("writing");
    let write = || -> std::io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        // The name is on the disk only when its folder is.
        match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
            _ => File::open(".")?.sync_all(),
        }
    };
    write().with_context(|| path.display().to_string())
}
