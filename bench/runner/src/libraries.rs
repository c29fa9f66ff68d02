//! The libraries for which the checkout has adapters: `bench/libraries/<id>/library.toml`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use tls_harness::implementation::Implementation;

use crate::lines::Lines;
use crate::listed::Compiler;
use crate::stop;
use crate::words::say;

/// The Cargo workspace that builds a library's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workspace {
    /// The workspace of `bench/`.
    Shared,
    /// A workspace of its own.
    Own,
}

/// The fields of `library.toml` that a run needs.
#[derive(Clone, Debug, Deserialize)]
pub struct Library {
    pub id: String,
    order: u32,
    workspace: Workspace,
    pub programs: Vec<String>,
    /// How the names of functions of cryptography begin.
    #[serde(default)]
    pub cryptography: Vec<String>,
    default: Option<Recommended>,
    #[serde(default)]
    deviations: Vec<Deviation>,
}

/// The build that upstream recommends.
#[derive(Clone, Debug, Deserialize)]
struct Recommended {
    compiler: Option<Compiler>,
}

/// What is measured otherwise than by the library's default.
#[derive(Clone, Debug, Deserialize)]
struct Deviation {
    what: String,
    reason: String,
    /// Whether it is about how the library is built, so that other builds do not have it.
    #[serde(default)]
    build: bool,
}

impl Library {
    /// The folder of the workspace that builds its programs.
    pub fn workspace(&self, bench: &Path) -> PathBuf {
        match self.workspace {
            Workspace::Shared => bench.to_owned(),
            Workspace::Own => bench.join("libraries").join(&self.id),
        }
    }
}

/// All libraries, in the order for readers.
pub struct Libraries(Vec<Library>);

impl Libraries {
    /// Reads the libraries of a checkout; empty if it has none.
    pub fn read(bench: &Path) -> Result<Self> {
        let Ok(folders) = std::fs::read_dir(bench.join("libraries")) else {
            return Ok(Self(Vec::new()));
        };
        let mut all = Vec::new();
        for folder in folders {
            let path = folder?.path().join("library.toml");
            if path.exists() {
                all.push(Lines::read(&path)?.parse::<Library>()?);
            }
        }
        all.sort_by(|a, b| (a.order, &a.id).cmp(&(b.order, &b.id)));
        Ok(Self(all))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Library> {
        self.0.iter()
    }

    /// How the names of functions of cryptography begin in builds of a library; nothing if it is
    /// not known.
    pub fn cryptography(&self, id: &str) -> &[String] {
        let library = self.0.iter().find(|it| it.id == id);
        library.map_or(&[], |it| &it.cryptography)
    }

    /// The compiler with which a library is built by default, if it is not the host's `cc`.
    pub fn compiler(&self, id: &str) -> Option<Compiler> {
        let library = self.0.iter().find(|it| it.id == id)?;
        library.default.as_ref()?.compiler
    }

    /// How a program differs from its library's default, and why, as a run records it. A build with a
    /// label is built otherwise.
    pub fn deviations(&self, of: &Implementation) -> Vec<String> {
        let own = self.0.iter().filter(|it| it.id == of.library);
        own.flat_map(|it| &it.deviations)
            .filter(|it| !it.build || of.build.is_none())
            .map(|it| format!("{}: {}", it.what, it.reason))
            .collect()
    }

    pub fn of_program(&self, program: &str) -> Option<&Library> {
        let has = |library: &&Library| library.programs.iter().any(|it| it == program);
        self.0.iter().find(has)
    }

    /// Builds programs into `target/release` of the workspace `bench`, with a variable of Cargo's
    /// environment.
    pub fn build(
        &self,
        bench: &Path,
        names: &[&str],
        variable: Option<(String, String)>,
    ) -> Result<()> {
        let mut workspaces: BTreeMap<PathBuf, Vec<&str>> = BTreeMap::new();
        for name in names {
            let library = self.of_program(name);
            let library = library.with_context(|| format!("no library has the program {name}"))?;
            let manifest = library.workspace(bench).join("Cargo.toml");
            workspaces.entry(manifest).or_default().push(name);
        }
        for (manifest, names) in workspaces {
            say(&format!("building {}", names.join(", ")));
            let mut command = Command::new("cargo");
            command
                .args(["build", "--quiet", "--release", "--locked", "--workspace"])
                .arg("--manifest-path")
                .arg(&manifest)
                .arg("--target-dir")
                .arg(bench.join("target"))
                .args(names.iter().flat_map(|name| ["--bin", name]))
                .envs(variable.clone());
            // Cargo then reads `.cargo/config.toml` of bench/ for each workspace.
            command.current_dir(bench);
            command.arg("--message-format=json-render-diagnostics");
            command.stdout(Stdio::piped());
            let mut compiled = Compiled::new(None);
            let status = stop::run(&mut command, |line| {
                if let Ok(message) = serde_json::from_str(&line) {
                    compiled.add(&message);
                }
            })?;
            ensure!(status.success(), "cargo failed, see above");
        }
        Ok(())
    }

    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .flat_map(|it| it.programs.iter().map(String::as_str))
    }
}

/// The part of Cargo's JSON messages that is used here.
#[derive(Deserialize)]
pub struct Message {
    pub executable: Option<PathBuf>,
    package_id: Option<String>,
}

/// Time between two lines about a build.
const PAUSE: Duration = Duration::from_secs(10);

/// How far a build is, by Cargo's messages.
pub struct Compiled {
    all: Option<usize>,
    done: BTreeSet<String>,
    said: Instant,
}

impl Compiled {
    /// Of `all` packages, if their number is known.
    pub fn new(all: Option<usize>) -> Self {
        Self {
            all,
            done: BTreeSet::new(),
            said: Instant::now(),
        }
    }

    pub fn add(&mut self, message: &Message) {
        let id = message.package_id.clone();
        let is_new = id.is_some_and(|it| self.done.insert(it));
        if is_new && self.said.elapsed() >= PAUSE {
            let of = self
                .all
                .map_or_else(String::new, |all| format!(" of {all}"));
            say(&format!("{}{of} packages compiled", self.done.len()));
            self.said = Instant::now();
        }
    }
}
