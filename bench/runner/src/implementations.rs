//! Prepares the implementations of a suite: makes every build, and runs `describe` of every
//! program.

use std::path::{Path, PathBuf};

use crate::commit::commit;
use crate::id::{self, is_id, is_label};
use crate::layouts::Layouts;
use crate::libraries::Libraries;
use crate::lines::suggestion;
use crate::listed::{Build, Listed};
use crate::manifest::{LayoutKind, RunLayout, RunWarning};
use crate::matrix::{Built, Installed, Matrix, differences, has_id_of, in_layout};
use crate::program::Program;
use crate::stop;
use crate::suite::{Suite, SuiteFile};
use crate::warnings;
use crate::words::{counted, say, tell, warn};
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use tls_harness::implementation::Implementation;

/// What a suite must do about two implementations with one id.
const EXPECTED: &str = "expected builds with ids of their own: give one a name, such as name = \
                        \"head\", or measure it in another run";

/// Longest label of a build: the schema has 100 for it and what else distinguishes a program.
const LONGEST_LABEL: usize = 80;

/// Folders of programs and builds.
pub struct Places {
    /// The folder in which programs are looked for first: that of `tlsbench`.
    pub programs: PathBuf,
    /// The workspace of the harness, the source of all builds.
    pub bench: PathBuf,
    /// Folder of finished builds.
    pub cache: PathBuf,
    /// Folder of programs in several layouts.
    pub layouts: PathBuf,
}

impl Places {
    /// The path of a program of the workspaces, whether it is there or not.
    pub fn program(&self, name: &str) -> PathBuf {
        let beside = self.programs.join(name);
        match beside.exists() {
            true => beside,
            false => self.bench.join("target/release").join(name),
        }
    }

    /// The builds of suites, each linked in this number of layouts.
    fn matrix(&self, layouts: u32) -> Result<Matrix> {
        Matrix::new(&self.bench, &self.cache, layouts)
    }

    /// The programs of the workspaces in this number of layouts.
    pub fn linked(&self, layouts: u32) -> Layouts {
        Layouts::new(self.layouts.join(format!("shifted-{layouts}")), layouts)
    }
}

/// The implementations to measure, in the order of the suite.
#[derive(Default)]
pub struct Ready {
    pub programs: Vec<Program>,
    /// The programs in each layout, if there are several.
    linked: Vec<Vec<Program>>,
    /// Empty if there is only one.
    pub layouts: Vec<RunLayout>,
    pub locks: Vec<Lock>,
    /// A warning for each failed build, which is not measured.
    pub warnings: Vec<RunWarning>,
}

impl Ready {
    pub fn linked(&self, layout: u32) -> &[Program] {
        self.linked.get(layout as usize).unwrap_or(&self.programs)
    }
}

/// A Cargo.lock of a build.
pub struct Lock {
    pub implementation: String,
    /// File name in the run.
    pub name: String,
    pub path: PathBuf,
}

/// Checks before any build that every implementation of a suite can be built or exists.
pub fn check(file: &SuiteFile, places: &Places, libraries: &Libraries) -> Result<()> {
    let all = &file.suite.implementations;
    for (index, (listed, place)) in all.iter().zip(&file.places).enumerate() {
        let is_possible = match listed {
            Listed::Program(name) => is_known(name, places, libraries),
            Listed::Build(build) => {
                check_names(build).and_then(|()| places.matrix(1)?.check(build))
            }
        };
        is_possible.map_err(|error| anyhow!("{place}: {error:#}"))?;
        let name = listed.to_string();
        let is_same = |other: &&Listed| *other != listed && other.to_string() == name;
        let other = all[..index].iter().find(is_same);
        let other = other.or_else(|| match listed {
            Listed::Build(build) => program_with_id_of(build, all, places, libraries),
            Listed::Program(_) => None,
        });
        if let Some(other) = other {
            bail!("{place}: found {listed}, which has the id of {other}, {EXPECTED}");
        }
    }
    Ok(())
}

/// Checks that the tools accept the id of a build and its label, which is a part of it.
fn check_names(build: &Build) -> Result<()> {
    let name = build.name();
    ensure!(
        is_id(&name),
        "found a build with the id {name}, {}",
        id::EXPECTED
    );
    let label = build.label().unwrap_or_default();
    ensure!(
        label.len() <= LONGEST_LABEL,
        "found a build with the label {label}, expected at most {LONGEST_LABEL} letters: use \
         fewer flags"
    );
    Ok(())
}

/// The program of a suite that already has the id which a build of it will have.
fn program_with_id_of<'a>(
    build: &Build,
    all: &'a [Listed],
    places: &Places,
    libraries: &Libraries,
) -> Option<&'a Listed> {
    all.iter().find(|listed| match listed {
        Listed::Program(name) => {
            let library = libraries.of_program(name);
            library.is_some_and(|it| it.id == build.library)
                && described(name, places, libraries).is_ok_and(|it| has_id_of(build, &it))
        }
        Listed::Build(_) => false,
    })
}

/// The description that a program gives of itself.
pub fn described(name: &str, places: &Places, libraries: &Libraries) -> Result<Implementation> {
    ensure!(
        libraries.of_program(name).is_none() || places.program(name).exists(),
        "{name} is not built yet: `tlsbench build` builds the programs of a suite"
    );
    Ok(Program::describe(places.program(name), name, Vec::new())?.implementation)
}

/// Checks that a program exists, or could be built.
fn is_known(name: &str, places: &Places, libraries: &Libraries) -> Result<()> {
    if !places.program(name).exists() && libraries.of_program(name).is_none() {
        let programs: Vec<_> = libraries.programs().collect();
        bail!(
            "found the program \"{name}\", expected one of {}{}",
            programs.join(", "),
            suggestion(name, programs.iter().copied())
        );
    }
    Ok(())
}

/// Prepares all implementations of a suite. A failed build is removed from the suite, with a
/// warning. A program that is listed again becomes another implementation, with the build
/// `repeat-2`, `repeat-3`, …
pub fn prepare(suite: &mut Suite, places: &Places) -> Result<Ready> {
    let several = (suite.layouts > 1).then(|| places.linked(suite.layouts));
    let linked = several.as_ref().map(|it| it.check(suite)).transpose()?;
    let mut ready = Ready::default();
    let mut measured: Vec<Listed> = Vec::new();
    // A program that does not run is reported before a version is built.
    let described = suite.implementations.iter().map(|listed| match listed {
        Listed::Program(name) => {
            let path = linked.as_ref().map(|folder| folder.join(name));
            let path = path.unwrap_or_else(|| places.program(name));
            Program::describe(path, name, Vec::new()).map(Some)
        }
        Listed::Build(_) => Ok(None),
    });
    let described = described.collect::<Result<Vec<_>>>()?;
    let builds = build_all(suite, places)?;
    let libraries = Libraries::read(&places.bench)?;
    for ((listed, described), built) in suite.implementations.iter().zip(described).zip(builds) {
        let (mut program, built) = match (listed, described, built) {
            (_, Some(program), _) => (program, None),
            (_, None, Some(Err(reason))) => {
                let warning = warnings::failed_build(&listed.to_string(), &reason);
                ready.warnings.push(warning);
                continue;
            }
            (Listed::Build(build), None, Some(Ok(built))) => {
                let path = built.program.clone();
                let program = Program::describe(path, &listed.to_string(), build.variables())?;
                let found = &program.implementation;
                let differences = differences(build, &built.compilers, found);
                ensure!(
                    differences.is_empty(),
                    "{listed} differs from its entry in the suite: {}",
                    differences.join("; ")
                );
                (labelled(program, build, &built), Some(built))
            }
            (_, None, _) => bail!("{listed} was not built"),
        };
        let own = &mut program.implementation;
        own.deviations = libraries.deviations(own);
        let times = measured.iter().filter(|other| *other == listed).count() + 1;
        if times > 1 {
            add_label(&mut program, &format!("repeat-{times}"));
        }
        let id = &program.implementation.id;
        ensure!(is_id(id), "{listed} reports the id {id}, {}", id::EXPECTED);
        let of = &program.implementation;
        let labels = [Some(&of.version), of.provider.as_ref(), of.build.as_ref()];
        for label in labels.into_iter().flatten() {
            let expected = id::EXPECTED_LABEL;
            ensure!(is_label(label), "{listed} reports {label:?}, {expected}");
        }
        if let Some(other) = ready
            .programs
            .iter()
            .position(|other| other.implementation.id == *id)
        {
            let other = &measured[other];
            bail!("{other} and {listed} both report the id {id}, {EXPECTED}");
        }
        ready
            .locks
            .extend(built.into_iter().flat_map(|it| locks(id, it)));
        ready.programs.push(program);
        measured.push(listed.clone());
    }
    ensure!(
        !measured.is_empty(),
        "nothing to measure: every build failed"
    );
    suite.implementations = measured;
    if let Some(layouts) = several {
        for layout in 0..suite.layouts {
            let all = suite.implementations.iter().zip(&ready.programs);
            let linked = all.map(|(listed, own)| {
                own.linked_as(match (listed, layout) {
                    (Listed::Program(name), _) => layouts.program(layout, name),
                    (Listed::Build(_), 0) => own.path().to_owned(),
                    (Listed::Build(_), _) => in_layout(own.path(), layout),
                })
            });
            let linked = linked.collect::<Result<Vec<_>>>()?;
            ready.layouts.push(recorded(layout, &linked));
            ready.linked.push(linked);
        }
    }
    Ok(ready)
}

/// A layout as `run.toml` records it.
fn recorded(number: u32, programs: &[Program]) -> RunLayout {
    let checksum = |program: &Program| {
        let it = &program.implementation;
        Some((it.id.clone(), it.binary_sha256.clone()?))
    };
    RunLayout {
        number,
        kind: match number {
            0 => LayoutKind::Own,
            _ => LayoutKind::Shifted,
        },
        seed: (number > 0).then(|| number.into()),
        programs: programs.iter().filter_map(checksum).collect(),
    }
}

/// A finished build, or the reason for its failure.
type Outcome = std::result::Result<Built, String>;

/// Makes all builds of a suite; returns the outcome for each implementation that is a build.
pub fn build_all(suite: &Suite, places: &Places) -> Result<Vec<Option<Outcome>>> {
    let builds: Vec<&Build> = suite.builds().collect();
    if builds.is_empty() {
        return Ok(suite.implementations.iter().map(|_| None).collect());
    }
    let matrix = places.matrix(suite.layouts)?;
    // Reports errors of the suite and missing compilers before any build starts.
    for build in &builds {
        matrix.is_built(build)?;
    }
    let mut number = 0;
    suite
        .implementations
        .iter()
        .map(|listed| {
            let Listed::Build(build) = listed else {
                return Ok(None);
            };
            number += 1;
            let place = format!("{listed} ({number} of {})", builds.len());
            let built = matrix.build(build, |text| say(&format!("{place}: {text}")));
            stop::check()?;
            Ok(Some(built.map_err(|error| {
                warn(&format!("{place}: {error:#}"));
                without_places(&format!("{:#}", error.root_cause()), places)
            })))
        })
        .collect()
}

/// Builds the programs of a suite that are not there: in each of its layouts, if it has several.
pub fn build_programs(suite: &Suite, places: &Places) -> Result<()> {
    if suite.layouts > 1 {
        return places.linked(suite.layouts).link(suite, &places.bench);
    }
    let mut missing = suite.programs();
    missing.retain(|name| !places.program(name).exists());
    if missing.is_empty() {
        return Ok(());
    }
    let bench = places.bench.canonicalize()?;
    Libraries::read(&bench)?.build(&bench, &missing, None)
}

/// Records the packages of a suite's builds in `bench/matrix.lock`.
pub fn record(suite: &Suite, places: &Places) -> Result<()> {
    let matrix = places.matrix(1)?;
    for build in suite.builds() {
        let name = build.name();
        let new = matrix.record(build).with_context(|| name.clone())?;
        let lock = places.bench.join("matrix.lock");
        say(&format!(
            "{name}: {} recorded in {}",
            counted(new, "package"),
            lock.display()
        ));
    }
    Ok(())
}

/// Whether an implementation is built; a build, in each of `layouts` layouts.
pub fn is_there(listed: &Listed, places: &Places, layouts: u32) -> Result<bool> {
    match listed {
        Listed::Program(name) => Ok(places.program(name).exists()),
        Listed::Build(build) => places.matrix(layouts)?.is_built(build),
    }
}

/// The state of an implementation as text.
pub fn state(listed: &Listed, places: &Places, layouts: u32) -> String {
    match is_there(listed, places, layouts) {
        Ok(true) => "built".to_owned(),
        Ok(false) => "not built yet: run builds it".to_owned(),
        Err(error) => format!("cannot be built: {error:#}"),
    }
}

/// Runs the conformance tests for the first and the last build of each library in a suite.
pub fn test(suite: &Suite, places: &Places) -> Result<()> {
    let matrix = places.matrix(1)?;
    let mut failed = Vec::new();
    for build in ends(&suite.builds().collect::<Vec<_>>()) {
        let name = build.name();
        tell(&format!("{name}: conformance tests"));
        let tested = matrix.test(build, |line| tell(&format!("{name}: {line}")));
        stop::check()?;
        if let Err(error) = tested {
            tell(&format!("{name}: {error:#}"));
            failed.push(name);
        }
    }
    ensure!(
        failed.is_empty(),
        "conformance tests failed: {}",
        failed.join(", ")
    );
    Ok(())
}

fn ends<'a>(builds: &[&'a Build]) -> Vec<&'a Build> {
    builds
        .iter()
        .enumerate()
        .filter(|(index, build)| {
            let same = |other: &&Build| other.library == build.library;
            !builds[..*index].iter().any(same) || !builds[index + 1..].iter().any(same)
        })
        .map(|(_, build)| *build)
        .collect()
}

/// Removes paths of this machine from a reason.
fn without_places(reason: &str, places: &Places) -> String {
    let (reason, _) = reason.split_once("; log: ").unwrap_or((reason, ""));
    let here = std::env::current_dir().unwrap_or_default();
    let here = format!("{}/", here.display());
    let bench = places.bench.canonicalize().unwrap_or_default();
    let sources = format!("{}/", bench.parent().unwrap_or(&bench).display());
    let cache = places.cache.canonicalize().unwrap_or_default();
    let cache = format!("{}/", cache.display());
    let reason = reason.replace(&cache, "").replace(&here, "");
    reason.replace(&sources, "")
}

/// Adds the label that distinguishes a build from others of its version.
fn labelled(mut program: Program, build: &Build, built: &Built) -> Program {
    if let Some(label) = build.label() {
        add_label(&mut program, &label);
    }
    let implementation = &mut program.implementation;
    if let Some(Installed {
        package, version, ..
    }) = &built.installed
    {
        implementation.source = Some(format!("cargo package {package} {version}"));
    }
    if let Some(source) = &build.source {
        implementation.source = Some("local tree".to_owned());
        implementation.commit = commit(Path::new(source));
    }
    program
}

/// The locks of a build: its own, and that of the library's installation.
fn locks(id: &str, built: Built) -> Vec<Lock> {
    let lock = |name: String, path| Lock {
        implementation: id.to_owned(),
        name,
        path,
    };
    let mut all = vec![lock(id.to_owned(), built.lock)];
    let installed = built.installed;
    all.extend(installed.map(|it| lock(format!("{id}-{}", it.package), it.lock)));
    all
}

fn add_label(program: &mut Program, label: &str) {
    let implementation = &mut program.implementation;
    implementation.id = format!("{}-{label}", implementation.id);
    implementation.build = Some(match implementation.build.take() {
        Some(build) => format!("{build}-{label}"),
        None => label.to_owned(),
    });
}
