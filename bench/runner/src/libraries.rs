//! The libraries for which the checkout has adapters: `bench/libraries/<id>/library.toml`.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Deserialize;

use crate::lines::Lines;

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
}

impl Library {
    /// The folder of the workspace that builds its programs.
    pub fn workspace(&self, bench: &Path) -> PathBuf {
        match self.workspace {
            Workspace::Shared => bench.to_owned(),
            Workspace::Own => bench.join("libraries").join(&self.id),
        }
    }

    /// The command that builds its programs.
    pub fn make(&self) -> &'static str {
        match self.workspace {
            Workspace::Shared => "make libraries",
            Workspace::Own => "make more-libraries",
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

    pub fn of_program(&self, program: &str) -> Option<&Library> {
        let has = |library: &&Library| library.programs.iter().any(|it| it == program);
        self.0.iter().find(has)
    }

    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .flat_map(|it| it.programs.iter().map(String::as_str))
    }
}
