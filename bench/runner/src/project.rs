//! Finds the project of a command from any folder in it, and the sources that measure.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use jiff::Timestamp;

use crate::folder::{self, RUNS};
use crate::id::is_id;
use crate::implementations::Places;
use crate::lines::suggestion;
use crate::listed::{Build, Listed, slug};
use crate::selection::Selection;

/// The workspace of the sources that measure, in a project or a checkout.
const BENCH: &str = "bench";

/// The workspace of the checkout in which `tlsbench` was compiled.
const COMPILED_IN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

const SUITES: &str = "bench/suites";

/// The folder of comparisons by instructions; reports do not use it.
const COMPARISONS: &str = "build/compare";

/// The top of a project, and the folder in which the user called the command.
pub struct Project {
    root: PathBuf,
    here: PathBuf,
}

impl Project {
    /// Finds the project that contains a folder: as for `tlsperf`, a folder with config.toml and
    /// data/.
    pub fn find(here: &Path) -> Result<Self> {
        let is_project = |it: &&Path| it.join("config.toml").is_file() && it.join("data").is_dir();
        let root = here.ancestors().find(is_project).with_context(|| {
            format!(
                "found no project: {} is in no folder with config.toml and data/; change to one, \
                 or make one: tlsperf init",
                here.display()
            )
        })?;
        Ok(Self {
            root: root.to_owned(),
            here: here.to_owned(),
        })
    }

    /// Changes to the top of the project, so that relative paths refer to it.
    pub fn enter(&self) -> Result<()> {
        std::env::set_current_dir(&self.root).with_context(|| self.root.display().to_string())
    }

    /// The workspace of the sources that measure.
    fn sources(&self) -> Result<PathBuf> {
        sources(&self.root, &own_folder()?, Path::new(COMPILED_IN))
    }

    /// The folders of programs, which are beside `tlsbench`, and of builds.
    pub fn places(&self) -> Result<Places> {
        Ok(Places {
            programs: own_folder()?,
            bench: self.sources()?,
            cache: "build/matrix".into(),
            layouts: "build/layouts".into(),
        })
    }

    /// A path that the user gave, relative to the user's folder.
    pub fn given(&self, path: &Path) -> PathBuf {
        match self.here == self.root {
            true => path.to_owned(),
            false => self.here.join(path),
        }
    }

    /// Converts the local trees of a selection to paths relative to the top.
    pub fn locate(&self, selection: &mut Selection) {
        for source in &mut selection.source {
            source.folder = self.relative_to_top(&source.folder);
        }
    }

    /// The same for one implementation.
    pub fn located(&self, listed: Listed) -> Listed {
        match listed {
            Listed::Build(build) => Listed::Build(Build {
                source: build
                    .source
                    .as_ref()
                    .map(|it| self.relative_to_top(Path::new(it)).display().to_string()),
                ..build
            }),
            program @ Listed::Program(_) => program,
        }
    }

    /// A path that the user gave, relative to the top if it is below it.
    fn relative_to_top(&self, path: &Path) -> PathBuf {
        let path = self.given(path);
        let inside = path.strip_prefix(&self.root).map(Path::to_owned);
        inside.unwrap_or(path)
    }

    /// A path below the top, in a form that is valid in the user's folder.
    fn below(&self, path: PathBuf) -> PathBuf {
        match self.here == self.root {
            true => path,
            false => self.root.join(path),
        }
    }

    /// The file of a suite: given as a path, also relative to the top of the project, or as a name
    /// in `bench/suites` of the project or of the sources.
    pub fn suite(&self, given: &Path) -> Result<PathBuf> {
        let path = self.given(given);
        if self.here.join(given).is_file() {
            return Ok(path);
        }
        let named = Path::new(SUITES).join(given).with_extension("toml");
        let suites_of_sources = self.sources()?.join("suites");
        let of_sources = suites_of_sources.join(given).with_extension("toml");
        for path in [given.to_owned(), named, of_sources] {
            if self.root.join(&path).is_file() {
                return Ok(self.below(path));
            }
        }
        let mut names = suites(&self.root.join(SUITES));
        names.extend(suites(&self.root.join(suites_of_sources)));
        names.sort();
        names.dedup();
        bail!(
            "--suite {}: found no such file{}\nexpected a file, or one of {}",
            given.display(),
            meant(given, &names),
            names.join(", ")
        );
    }

    /// The folder of a run: given as a path, also relative to the top of the project, or as an id
    /// in `data/runs`.
    pub fn run(&self, given: &Path) -> Result<PathBuf> {
        let folder = match given.ends_with("run.toml") {
            true => given.parent().unwrap_or(given),
            false => given,
        };
        let places = [
            self.here.join(folder),
            self.root.join(folder),
            self.root.join(RUNS).join(folder),
        ];
        let found = places.into_iter().find(|it| it.is_dir());
        let near = |it: PathBuf| match it.strip_prefix(&self.here) {
            Ok(inside) => inside.to_owned(),
            Err(_) => it,
        };
        found.map(near).with_context(|| {
            let names = runs(&self.root.join(RUNS));
            format!(
                "{}: found no such run, expected the folder of a complete run, or the name of one \
                 in {RUNS}{}",
                given.display(),
                meant(given, &names)
            )
        })
    }

    /// The folder of a run without `--out`: date and suite, with the next number for which there is
    /// no complete run.
    pub fn run_of_today(&self, suite: &Path) -> PathBuf {
        let name = suite.file_stem().unwrap_or_default().display().to_string();
        let name = if is_id(&name) { name } else { slug(&name) };
        self.next_of_today(RUNS, &name, "run.toml")
    }

    /// Checks the folder of a run before anything is built or measured.
    pub fn check_out(&self, out: &Path) -> Result<()> {
        folder::check(out, &self.root)
    }

    /// The folders of a comparison: that of its counts, and that of its times. Both are new: trees
    /// may have changed since a comparison was stopped.
    pub fn comparison_of_today(&self) -> [PathBuf; 2] {
        [COMPARISONS, RUNS].map(|folder| self.next_of_today(folder, "compare", ""))
    }

    /// The first folder in which an entry does not exist; with an empty one, the first that does
    /// not exist itself.
    fn next_of_today(&self, folder: &str, name: &str, entry: &str) -> PathBuf {
        let today = Timestamp::now().strftime("%Y-%m-%d");
        let name = |number: u32| match number {
            1 => format!("{folder}/{today}-{name}"),
            _ => format!("{folder}/{today}-{name}-{number}"),
        };
        let mut number = 1;
        while self.root.join(name(number)).join(entry).exists() {
            number += 1;
        }
        self.below(name(number).into())
    }

    /// The program `tlsperf`: that of the project, or else the installed one.
    pub fn tlsperf(&self) -> PathBuf {
        let path = self.root.join(".venv/bin/tlsperf");
        match path.exists() {
            true => path,
            false => "tlsperf".into(),
        }
    }

    /// The id of a run, if its folder is in the project's folder of runs.
    pub fn run_id<'a>(&self, folder: &'a Path) -> Option<&'a str> {
        let whole = self.root.join(folder);
        let is_ours = whole.parent() == Some(&self.root.join(RUNS));
        folder.file_name()?.to_str().filter(|_| is_ours)
    }
}

/// The folder of this program.
fn own_folder() -> Result<PathBuf> {
    let own = std::env::current_exe().context("the path of tlsbench is unknown")?;
    Ok(own.parent().unwrap_or(Path::new("/")).to_owned())
}

/// The workspace of the sources that measure: the project's own, else that of the checkout or
/// archive in which this program is, else that in which it was compiled.
fn sources(root: &Path, own: &Path, compiled_in: &Path) -> Result<PathBuf> {
    let is_bench = |it: &PathBuf| it.join("libraries").is_dir();
    if is_bench(&root.join(BENCH)) {
        return Ok(BENCH.into());
    }
    let around = own.ancestors().map(|it| it.join(BENCH));
    let mut places = around.chain([compiled_in.to_owned()]);
    let found = places.find(is_bench).ok_or_else(|| {
        anyhow!(
            "found no sources to measure with: no bench/libraries in {}, {} or above, or {}; \
             install tlsbench from a checkout again: cargo install --locked --path bench/runner",
            root.display(),
            own.display(),
            compiled_in.display()
        )
    })?;
    Ok(found.canonicalize()?)
}

fn suites(folder: &Path) -> Vec<String> {
    names(folder, |path| {
        let is_suite = path.extension()? == "toml";
        let name = path.file_stem()?.to_str()?.to_owned();
        (is_suite && !name.starts_with('_')).then_some(name)
    })
}

/// Sorted names of the complete runs in a folder.
fn runs(folder: &Path) -> Vec<String> {
    names(folder, |path| {
        let name = path.file_name()?.to_str()?.to_owned();
        path.join("run.toml").is_file().then_some(name)
    })
}

fn names(folder: &Path, name: impl Fn(&Path) -> Option<String>) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| name(&entry.path())).collect();
    names.sort();
    names
}

/// A suggestion for the end of a message: the name that was probably meant.
fn meant(given: &Path, names: &[String]) -> String {
    let name = given.file_stem().unwrap_or_default().to_string_lossy();
    suggestion(&name, names.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comparison_takes_folders_that_are_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_owned();
        let project = Project {
            here: root.clone(),
            root,
        };
        let [_, first] = project.comparison_of_today();
        std::fs::create_dir_all(folder.path().join(&first)).unwrap();
        let [_, second] = project.comparison_of_today();
        assert_eq!(second, PathBuf::from(format!("{}-2", first.display())));
    }

    /// Which of three folders have sources, and whose are used.
    const SOURCES: [(&[&str], &str); 4] = [
        (&["site", "archive", "checkout"], "site"),
        (&["archive", "checkout"], "archive"),
        (&["checkout"], "checkout"),
        (&[], "cargo install --locked --path bench/runner"),
    ];

    #[test]
    fn sources_are_the_sites_own_else_those_that_tlsbench_came_from() {
        for (with_sources, expected) in SOURCES {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path().canonicalize().unwrap();
            for name in with_sources {
                std::fs::create_dir_all(top.join(name).join("bench/libraries")).unwrap();
            }
            let [site, archive] = ["site", "archive/bin"].map(|it| top.join(it));
            let found = sources(&site, &archive, &top.join("checkout/bench"));
            let found = found.map(|it| site.join(it).display().to_string());
            let said = found.unwrap_or_else(|error| error.to_string());
            let expected = match with_sources {
                [] => expected.to_owned(),
                _ => top.join(expected).join("bench").display().to_string(),
            };
            assert!(said.ends_with(&expected), "{said}");
        }
    }
}
