//! The libraries that the checkout has adapters for: `bench/libraries/<id>/library.toml`.

use std::path::Path;

use anyhow::Result;
use serde::Deserialize;

use crate::lines::Lines;

/// Which Cargo workspace builds a library's programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Workspace {
    /// That of `bench/`.
    Shared,
    /// One of its own.
    Own,
}

/// What of a library is linked as a shared one, in layouts of that kind.
#[derive(Clone, Debug, Deserialize)]
pub struct SharedLibrary {
    /// The Cargo packages whose archives have the library's objects, as Rust writes their names.
    pub packages: Vec<String>,
    /// `libssl`: by the file `libssl.so…` in memory a program finds that it is shared.
    pub name: String,
}

/// `library.toml`, as far as a run needs it.
#[derive(Clone, Debug, Deserialize)]
pub struct Library {
    pub id: String,
    order: u32,
    workspace: Workspace,
    pub programs: Vec<String>,
    /// Absent: its programs have no shared layout.
    pub shared_library: Option<SharedLibrary>,
}

impl Library {
    /// The command that builds its programs.
    pub fn make(&self) -> &'static str {
        match self.workspace {
            Workspace::Shared => "make libraries",
            Workspace::Own => "make more-libraries",
        }
    }
}

/// All of them, in the readers' order.
pub struct Libraries(Vec<Library>);

impl Libraries {
    /// Reads those of a checkout; none where there are none.
    ///
    /// # Errors
    /// A `library.toml` is not as expected.
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

    /// The library that a program is of.
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
