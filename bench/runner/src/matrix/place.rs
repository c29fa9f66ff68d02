//! A place in the cache: made beside itself, then renamed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// An empty folder beside a place.
///
/// # Errors
/// It can't be made.
pub fn begin(place: &Path) -> Result<PathBuf> {
    let beside = place.with_extension("building");
    if beside.exists() {
        fs::remove_dir_all(&beside)?;
    }
    fs::create_dir_all(&beside).with_context(|| beside.display().to_string())?;
    Ok(beside)
}

/// Makes what is beside a place the place.
///
/// # Errors
/// It can't be renamed.
pub fn finish(beside: &Path, place: &Path) -> Result<()> {
    fs::rename(beside, place).with_context(|| place.display().to_string())
}

/// One build at a time in one folder: a target directory holds only the last program.
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
