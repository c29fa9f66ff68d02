//! Creates folders of the cache atomically: filled under another name, then renamed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The folder that is filled for a final one.
pub fn beside(place: &Path) -> PathBuf {
    place.with_extension("building")
}

/// Creates an empty folder beside the final one.
pub fn begin(place: &Path) -> Result<PathBuf> {
    let beside = beside(place);
    if beside.exists() {
        fs::remove_dir_all(&beside)?;
    }
    fs::create_dir_all(&beside).with_context(|| beside.display().to_string())?;
    Ok(beside)
}

/// Renames the filled folder to its final name.
pub fn finish(beside: &Path, place: &Path) -> Result<()> {
    fs::rename(beside, place).with_context(|| place.display().to_string())
}

/// Locks a folder for one build at a time: a target directory contains only the last program.
pub fn lock(folder: &Path, say: &impl Fn(&str)) -> Result<File> {
    fs::create_dir_all(folder)?;
    let path = folder.join("lock");
    let file = File::create(&path).with_context(|| path.display().to_string())?;
    if file.try_lock().is_err() {
        say(&format!("waiting for another build: {}", path.display()));
        file.lock()?;
    }
    Ok(file)
}
