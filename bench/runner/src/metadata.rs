//! What Cargo reports of the packages of a manifest.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde::de::DeserializeOwned;

/// The output of `cargo metadata` for a manifest.
///
/// # Errors
///
/// Cargo cannot be started, fails, or prints something else.
pub fn metadata<T: DeserializeOwned>(manifest: &Path, arguments: &[&str]) -> Result<T> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version=1"])
        .args(arguments)
        .arg("--manifest-path")
        .arg(manifest)
        .output()
        .context("cargo")?;
    ensure!(
        output.status.success(),
        "`cargo metadata` of {} failed: {}",
        manifest.display(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    serde_json::from_slice(&output.stdout)
        .with_context(|| format!("cargo metadata of {}", manifest.display()))
}
