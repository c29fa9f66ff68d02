//! Where the folder of a run may be.

use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use rustix::fs::{Access, access};

/// Where runs are in a project.
pub const RUNS: &str = "data/runs";

/// Where else in a project: nights, which scripts measure, and runs that no report uses.
const OTHERS: [&str; 2] = ["data/nightly", "build"];

/// Checks the folder of a run of the project before anything is built: that it is not another
/// folder of the project, and can be written.
pub fn check(out: &Path, project: &Path) -> Result<()> {
    checked(out, project).with_context(|| format!("--out {}", out.display()))
}

fn checked(out: &Path, project: &Path) -> Result<()> {
    let (there, whole) = located(out)?;
    if let Ok(inside) = whole.strip_prefix(project.canonicalize()?) {
        let parent = inside.parent().unwrap_or(inside);
        let is_new = parent == Path::new("") && !["data", "build"].map(Path::new).contains(&inside);
        ensure!(
            is_new || parent == Path::new(RUNS) || OTHERS.iter().any(|it| parent.starts_with(it)),
            "found a folder of the project, expected one in {RUNS} or build, such as {RUNS}/NAME"
        );
    }
    if let Some(other) = whole.ancestors().skip(1).find(|it| is_run(it)) {
        bail!(
            "found the run {} around it, expected a folder of its own",
            other.display()
        );
    }
    ensure!(
        there.is_dir(),
        "found the file {}, expected a folder",
        there.display()
    );
    if there == whole && !is_run(&whole) {
        for entry in std::fs::read_dir(&whole)? {
            let name = entry?.file_name();
            // A run that was killed at once has only this folder.
            ensure!(
                name == "raw",
                "found {} in it, expected a new folder or that of a run",
                name.display()
            );
        }
    }
    access(&there, Access::WRITE_OK | Access::EXEC_OK)
        .with_context(|| format!("{} cannot be written", there.display()))
}

fn is_run(folder: &Path) -> bool {
    ["run.toml", "run.partial.toml"]
        .iter()
        .any(|it| folder.join(it).exists())
}

/// The part of a path that exists, and the whole path, both without links.
fn located(out: &Path) -> Result<(PathBuf, PathBuf)> {
    let absolute = std::path::absolute(out)?;
    let found = absolute.ancestors().find(|it| it.exists());
    let found = found.context("found no folder above it")?;
    let rest = absolute.strip_prefix(found)?;
    ensure!(
        rest.components().all(|part| part != Component::ParentDir),
        "found `..` after a folder that does not exist"
    );
    let there = found.canonicalize()?;
    Ok((there.clone(), there.join(rest)))
}
