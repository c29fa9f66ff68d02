//! Links programs several times from the same objects. The position of code changes a figure by
//! some per cent (`docs/bench-host.md`), so the sessions of a run may use several layouts.

use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use serde::Deserialize;
use tls_harness::implementation::Linkage;

use crate::implementations::{Places, Ready};
use crate::libraries::Libraries;
use crate::manifest::{LayoutKind, RunLayout};
use crate::matrix::Subject;
use crate::program::Program;
use crate::suite::Suite;

mod shared;

/// Unit of padding: compilers align functions to it.
const STEP: u64 = 16;

/// Largest padding: it covers all sets of the first-level cache, and several pages.
const MOST_PADDING: u64 = 64 << 10;

/// Compiler for `RUSTC_WORKSPACE_WRAPPER`: the script beside it links the programs.
const RUSTC: &str = r#"#!/bin/sh
case "$CARGO_BIN_NAME" in
"") exec "$@" ;;
*) exec "$@" -C linker="$(dirname "$0")/cc" ;;
esac
"#;

/// The layouts of one kind: a numbered folder for each, with its programs.
pub struct Layouts {
    folder: PathBuf,
    /// Kind and number of layouts.
    name: String,
    kind: LayoutKind,
    count: u32,
}

/// The output of cargo metadata.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Layouts {
    /// `folder`: the parent folder of all layouts.
    pub fn new(folder: &Path, kind: LayoutKind, count: u32) -> Self {
        let name = format!("{kind}-{count}");
        Self {
            folder: folder.join(&name),
            name,
            kind,
            count,
        }
    }

    fn program(&self, layout: u32, name: &str) -> PathBuf {
        self.folder.join(layout.to_string()).join(name)
    }

    fn missing(&self, names: &[&str]) -> Option<PathBuf> {
        (0..self.count)
            .flat_map(|layout| names.iter().map(move |name| self.program(layout, name)))
            .find(|path| !path.exists())
    }

    /// The folder of the programs in the linker's own order.
    ///
    /// # Errors
    ///
    /// A program is not linked in each layout.
    pub fn check(&self, suite: &Suite) -> Result<PathBuf> {
        if let Some(path) = self.missing(&names(suite)?) {
            bail!(
                "there is no {}; link it: tlsbench build --suite {}.toml --layouts {} \
                 --layout-kind {}",
                path.display(),
                suite.name,
                self.count,
                self.kind
            );
        }
        Ok(self.folder.join("0"))
    }

    /// The programs in layouts 1, 2, …
    ///
    /// # Errors
    ///
    /// A program does not exist, or uses no shared library in a shared layout.
    pub fn others(&self, subjects: &[Subject], own: &[Program]) -> Result<Vec<Vec<Program>>> {
        (1..self.count)
            .map(|layout| {
                let all = subjects.iter().zip(own);
                all.map(|(subject, own)| self.other(layout, &subject.to_string(), own))
                    .collect()
            })
            .collect()
    }

    fn other(&self, layout: u32, name: &str, own: &Program) -> Result<Program> {
        let path = self.program(layout, name);
        if self.kind == LayoutKind::Shared {
            let described = Program::describe_at(path.clone(), name, Vec::new())?;
            ensure!(
                described.implementation.linkage == Some(Linkage::Shared),
                "{}: found no shared library in the running program, expected one",
                path.display()
            );
        }
        own.linked_as(path)
    }

    /// The layouts as `run.toml` records them.
    pub fn recorded(&self, ready: &Ready) -> Vec<RunLayout> {
        let of = |number: u32| RunLayout {
            number,
            kind: match number {
                0 => LayoutKind::Own,
                _ => self.kind,
            },
            seed: (number > 0).then(|| number.into()),
            programs: ready
                .linked(number)
                .iter()
                .filter_map(|program| {
                    let it = &program.implementation;
                    Some((it.id.clone(), it.binary_sha256.clone()?))
                })
                .collect(),
        };
        (0..self.count).map(of).collect()
    }

    /// Links the programs of a suite in each layout, if anything changed.
    ///
    /// # Errors
    ///
    /// A program cannot be linked this way; names what is missing.
    pub fn link(&self, suite: &Suite, places: &Places) -> Result<()> {
        let names = names(suite)?;
        let bench = places.bench.canonicalize();
        let bench = bench.context("programs are linked in a checkout, at its top")?;
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        let folder = self.folder.canonicalize()?;
        let outputs = bench.join("target/layouts").join(&self.name);
        fs::create_dir_all(&outputs).with_context(|| outputs.display().to_string())?;
        if self.missing(&names).is_some() {
            forget(&outputs, &names)?;
        }
        // The wrapper's path becomes part of symbol names, so it is always the same.
        let wrapper = folder.join("rustc");
        self.pad()?;
        write_script(&wrapper, RUSTC)?;
        let libraries = Libraries::read(&places.bench)?;
        write_script(
            &folder.join("cc"),
            &self.linker(&outputs, &names, &libraries)?,
        )?;
        let mut linked = 0;
        for (manifest, bins) in workspaces(&bench)? {
            let bins: Vec<_> = names
                .iter()
                .filter(|name| bins.iter().any(|bin| bin == *name))
                .collect();
            if bins.is_empty() {
                continue;
            }
            linked += bins.len();
            let mut command = Command::new("cargo");
            command
                .args(["build", "--release", "--locked", "--workspace"])
                .arg("--manifest-path")
                .arg(&manifest)
                .arg("--target-dir")
                .arg(bench.join("target"))
                .args(bins.iter().flat_map(|bin| ["--bin", bin]))
                .env("RUSTC_WORKSPACE_WRAPPER", &wrapper);
            // Cargo then reads `.cargo/config.toml` of bench/ for each workspace.
            command.current_dir(&bench);
            ensure!(
                command.status().context("cargo")?.success(),
                "linking failed, see above; shuffled and shared layouts need LLVM's linker: Rust's own \
                 (rustup, x86-64 Linux, Rust 1.90 or newer), or install lld and add \
                 -C link-arg=-fuse-ld=lld to RUSTFLAGS"
            );
        }
        ensure!(
            linked == names.len(),
            "no workspace of {} has all of these programs: {}",
            bench.display(),
            names.join(", ")
        );
        match self.missing(&names) {
            Some(path) => bail!("{} was not linked", path.display()),
            None => Ok(()),
        }
    }

    /// A script that links as requested, records the output's path, and links again for each
    /// layout.
    fn linker(&self, outputs: &Path, names: &[&str], libraries: &Libraries) -> Result<String> {
        let mut text = format!(
            "#!/bin/sh\nset -e\ncc \"$@\"\nhere=$(dirname \"$0\")\nprevious=\nfor argument; do\n  \
             [ \"$previous\" = -o ] && output=$argument\n  previous=$argument\ndone\n\
             name=$CARGO_BIN_NAME\nmkdir -p \"$here/0\"\ncp \"$output\" \"$here/0/$name\"\n\
             printf %s \"$output\" > '{}'/\"$name\"\n",
            outputs.display()
        );
        if self.kind == LayoutKind::Shared {
            text += &shared::linker(self.count, names, libraries)?;
            return Ok(text);
        }
        for layout in 1..self.count {
            let how = match self.kind {
                LayoutKind::Shuffled => {
                    format!("\"$@\" '-Wl,--shuffle-sections=.text*={layout}'")
                }
                _ => format!("\"$here/{layout}/pad.o\" \"$@\""),
            };
            let _ = writeln!(
                text,
                "mkdir -p \"$here/{layout}\"\n\
                 [ -e \"$here/{layout}/pad.o\" ] || \
                 cc -c \"$here/{layout}/pad.s\" -o \"$here/{layout}/pad.o\"\n\
                 cc {how} -o \"$here/{layout}/$name\""
            );
        }
        Ok(text)
    }

    /// Writes the padding of each layout as assembly of an object that is linked first. The flag
    /// `R` makes the linker keep it although nothing refers to it.
    fn pad(&self) -> Result<()> {
        for layout in 1..self.count {
            let folder = self.folder.join(layout.to_string());
            fs::create_dir_all(&folder)?;
            let text = format!(
                ".section .text.padding,\"axR\",%progbits\n.balign {STEP}\n.zero {}\n\
                 .section .note.GNU-stack,\"\",%progbits\n",
                padding(layout.into())
            );
            fs::write(folder.join("pad.s"), text)?;
        }
        Ok(())
    }
}

/// Removes the outputs that the linker script recorded, so that Cargo links again although nothing
/// changed.
fn forget(outputs: &Path, names: &[&str]) -> Result<()> {
    for name in names {
        if let Ok(output) = fs::read_to_string(outputs.join(name)) {
            match fs::remove_file(&output) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).context(output);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Bytes of padding, determined by a seed.
fn padding(seed: u64) -> u64 {
    let steps = ChaCha8Rng::seed_from_u64(seed).random_range(1..=MOST_PADDING / STEP);
    steps * STEP
}

/// The distinct programs of a suite.
fn names(suite: &Suite) -> Result<Vec<&str>> {
    let mut names = Vec::new();
    for subject in &suite.implementations {
        match subject {
            Subject::Program(name) => names.push(name.as_str()),
            Subject::Build(_) => bail!("{subject} is a build: only programs have several layouts"),
        }
    }
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// The manifest of each workspace with its programs: the workspace of the harness, and those of
/// libraries that have their own.
fn workspaces(bench: &Path) -> Result<Vec<(PathBuf, Vec<String>)>> {
    let mut folders = vec![bench.to_owned()];
    for library in fs::read_dir(bench.join("libraries"))? {
        let folder = library?.path();
        if folder.join("Cargo.lock").exists() {
            folders.push(folder);
        }
    }
    let workspaces = folders.into_iter().map(|folder| {
        let manifest = folder.join("Cargo.toml");
        let output = Command::new("cargo")
            .args([
                "metadata",
                "--no-deps",
                "--format-version=1",
                "--manifest-path",
            ])
            .arg(&manifest)
            .current_dir(bench)
            .output()
            .context("cargo")?;
        let metadata: Metadata = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("cargo metadata of {}", manifest.display()))?;
        let targets = metadata.packages.into_iter().flat_map(|it| it.targets);
        let programs = targets.filter(|target| target.kind.iter().any(|kind| kind == "bin"));
        Ok((manifest, programs.map(|it| it.name).collect()))
    });
    workspaces.collect()
}

/// Writes a script if its content differs: Cargo compares the modification times of wrappers.
fn write_script(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    fs::write(path, text).with_context(|| path.display().to_string())?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_seed_determines_padding_that_keeps_functions_aligned() {
        let all: Vec<_> = (1..=8).map(padding).collect();
        assert_eq!(all, (1..=8).map(padding).collect::<Vec<_>>());
        assert!(
            all.iter()
                .all(|it| it % STEP == 0 && (STEP..=MOST_PADDING).contains(it))
        );
        let mut different = all.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), all.len(), "{all:?}");
    }
}
