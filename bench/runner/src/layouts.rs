//! Links programs several times from the same objects. The position of code changes a figure by
//! some per cent (`docs/bench-host.md`), so the sessions of a run may use several layouts.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use tls_harness::implementation::Linkage;

use crate::implementations::{Places, Ready};
use crate::libraries::Libraries;
use crate::linker::{Linker, WRAPPER, forget};
use crate::manifest::{LayoutKind, RunLayout};
use crate::matrix::{self, Subject};
use crate::metadata::metadata;
use crate::program::Program;
use crate::suite::Suite;

mod shared;

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

    fn linker(&self) -> Linker {
        Linker::new(self.folder.clone(), self.count)
    }

    /// The folder of the programs in the linker's own order.
    ///
    /// # Errors
    ///
    /// A program is not linked in each layout, or a build cannot be linked in layouts of the kind.
    pub fn check(&self, suite: &Suite) -> Result<PathBuf> {
        self.suits_builds(suite)?;
        if let Some(path) = self.linker().missing(&names(suite)) {
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

    /// Builds of the matrix have shifted layouts only.
    fn suits_builds(&self, suite: &Suite) -> Result<()> {
        let Some(build) = suite.builds().next() else {
            return Ok(());
        };
        ensure!(
            self.kind == LayoutKind::Shifted,
            "{}: found the layout {}, expected shifted: builds of the matrix have no others",
            build.name(),
            self.kind
        );
        Ok(())
    }

    /// The programs in layouts 1, 2, …
    ///
    /// # Errors
    ///
    /// A program does not exist, or uses no shared library in a shared layout.
    pub fn of(&self, subjects: &[Subject], own: &[Program]) -> Result<Vec<Vec<Program>>> {
        (1..self.count)
            .map(|layout| {
                let all = subjects.iter().zip(own);
                all.map(|(subject, own)| match subject {
                    Subject::Program(name) => self.other(layout, name, own),
                    Subject::Build(_) => own.linked_as(matrix::in_layout(own.path(), layout)),
                })
                .collect()
            })
            .collect()
    }

    fn other(&self, layout: u32, name: &str, own: &Program) -> Result<Program> {
        let path = self.linker().program(layout, name);
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
    /// A program or a build cannot be linked this way; names what is missing.
    pub fn link(&self, suite: &Suite, places: &Places) -> Result<()> {
        self.suits_builds(suite)?;
        let names = names(suite);
        if names.is_empty() {
            return Ok(());
        }
        let bench = places.bench.canonicalize();
        let bench = bench.context("programs are linked in a checkout, at its top")?;
        fs::create_dir_all(&self.folder).with_context(|| self.folder.display().to_string())?;
        let folder = self.folder.canonicalize()?;
        let outputs = bench.join("target/layouts").join(&self.name);
        let linker = Linker::new(folder, self.count);
        if linker.missing(&names).is_some() {
            forget(&outputs, &names)?;
        }
        let libraries = Libraries::read(&places.bench)?;
        linker.write(&outputs, &self.others(&linker, &names, &libraries)?)?;
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
                .env(WRAPPER, linker.rustc());
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
        match linker.missing(&names) {
            Some(path) => bail!("{} was not linked", path.display()),
            None => Ok(()),
        }
    }

    /// The lines that link the layouts after the first.
    fn others(&self, linker: &Linker, names: &[&str], libraries: &Libraries) -> Result<String> {
        Ok(match self.kind {
            LayoutKind::Shared => shared::linker(self.count, names, libraries)?,
            LayoutKind::Shuffled => {
                linker.each(|layout| format!("\"$@\" '-Wl,--shuffle-sections=.text*={layout}'"))
            }
            _ => linker.shifted(),
        })
    }
}

/// The distinct programs of a suite.
fn names(suite: &Suite) -> Vec<&str> {
    let mut names: Vec<_> = suite
        .implementations
        .iter()
        .filter_map(|subject| match subject {
            Subject::Program(name) => Some(name.as_str()),
            Subject::Build(_) => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
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
        let metadata: Metadata = metadata(&manifest, &["--no-deps"])?;
        let targets = metadata.packages.into_iter().flat_map(|it| it.targets);
        let programs = targets.filter(|target| target.kind.iter().any(|kind| kind == "bin"));
        Ok((manifest, programs.map(|it| it.name).collect()))
    });
    workspaces.collect()
}
