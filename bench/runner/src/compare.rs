//! A against B: two builds of a library, by the instructions that their operations take.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anstyle::Style;
use anyhow::{Context as _, Result, anyhow, bail, ensure};
use tls_harness::implementation::Implementation;
use tls_harness::record::{Measurement, Metric, Observation, Record};
use tls_harness::scenario::Scenario;

use crate::functions::{self, Function};
use crate::implementations;
use crate::libraries::Libraries;
use crate::manifest::{LayoutKind, RunCounter};
use crate::matrix::{Build, Subject, slug};
use crate::medians;
use crate::plan::Order;
use crate::program::Program;
use crate::words::counted;

/// The smallest bound: counts of one build repeat within 0.07% (docs/compare.md).
const SMALLEST_BOUND: f64 = 0.002;

/// Functions are named for so many rows, those with the largest differences.
const EXPLAINED: usize = 3;

/// Digits of a commit in an id.
const COMMIT: usize = 10;

/// Reads one side: a local tree `rustls=../rustls`, a version `rustls@0.23.40`, a table as a suite
/// has it, or the name of a program.
///
/// # Errors
/// It is none of these.
pub fn subject(text: &str) -> Result<Subject, String> {
    let build = |library: &str, version: Option<&str>, source: Option<&str>| {
        Subject::Build(Build {
            library: library.to_owned(),
            version: version.map(str::to_owned),
            source: source.map(str::to_owned),
            ..Build::default()
        })
    };
    if text.starts_with('{') {
        let mut table: toml::Table =
            toml::from_str(&format!("side = {text}")).map_err(|error| error.to_string())?;
        let value = table.remove("side").unwrap_or_else(|| text.into());
        return Subject::read(value).map_err(|error| error.to_string());
    }
    let split = |sign| {
        let parts: Option<(&str, &str)> = text.split_once(sign);
        parts.filter(|(library, rest)| !library.is_empty() && !rest.is_empty())
    };
    if let Some((library, folder)) = split('=') {
        return Ok(build(library, None, Some(folder)));
    }
    if let Some((library, version)) = split('@') {
        return Ok(build(library, Some(version), None));
    }
    if text.starts_with("tls-") {
        return Ok(Subject::Program(text.to_owned()));
    }
    Err(
        "expected a local tree such as rustls=../rustls, a version such as rustls@0.23.40, or a \
         program such as tls-openssl"
            .to_owned(),
    )
}

/// Gives both sides what they need to be built beside each other: a provider where the library has
/// several, and local trees a name.
pub fn completed(
    sides: [Subject; 2],
    provider: Option<&str>,
    libraries: &Libraries,
) -> [Subject; 2] {
    let trees = sides.each_ref().map(|side| match side {
        Subject::Build(Build {
            source: Some(source),
            name: None,
            ..
        }) => Some(PathBuf::from(source)),
        _ => None,
    });
    let names = match &trees {
        [Some(a), Some(b)] => names([a, b]).map(Some),
        [a, b] => [a, b].map(|tree| tree.as_deref().map(|it| commit(it).unwrap_or(folder(it)))),
    };
    let mut names = names.into_iter();
    sides.map(|side| {
        let name = names.next().flatten();
        match side {
            Subject::Build(build) => Subject::Build(Build {
                provider: build
                    .provider
                    .clone()
                    .or_else(|| provider.map(str::to_owned))
                    .or_else(|| first_provider(&build.library, libraries)),
                name: build.name.clone().or(name),
                ..build
            }),
            program @ Subject::Program(_) => program,
        }
    })
}

/// The provider of the first program of a library, where its programs have one.
fn first_provider(library: &str, libraries: &Libraries) -> Option<String> {
    let library = libraries.iter().find(|it| it.id == library)?;
    let prefix = format!("tls-{}-", library.id);
    let first = library.programs.first()?;
    first.strip_prefix(&prefix).map(str::to_owned)
}

/// Two names that differ: the commits, else the folders, else `a` and `b`.
fn names([a, b]: [&Path; 2]) -> [String; 2] {
    let differ = |names: &[String; 2]| names[0] != names[1];
    let commits = commit(a).zip(commit(b)).map(|(a, b)| [a, b]);
    let folders = [folder(a), folder(b)];
    commits
        .filter(differ)
        .or_else(|| Some(folders).filter(differ))
        .unwrap_or_else(|| ["a", "b"].map(str::to_owned))
}

/// The commit that is checked out in a tree, if nothing else is in it.
fn commit(tree: &Path) -> Option<String> {
    let is_top = tree.join(".git").exists();
    let commit = is_top.then(|| implementations::commit(tree)).flatten()?;
    (!commit.ends_with("-dirty")).then(|| commit.chars().take(COMMIT).collect())
}

/// The name of a folder, as a part of an id.
fn folder(tree: &Path) -> String {
    let name = tree.canonicalize().unwrap_or_else(|_| tree.to_owned());
    let name = name.file_name().unwrap_or_default().to_string_lossy();
    format!("tree-{}", slug(&name))
}

/// A row of the comparison: one scenario, in instructions per unit of work.
#[derive(Clone, Debug)]
pub struct Row {
    pub scenario: Scenario,
    pub unit: String,
    /// Absent: the build does not support the scenario.
    pub counts: [Option<f64>; 2],
}

/// What a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    More,
    Fewer,
    NoDifference,
    Absent,
}

impl Verdict {
    fn text(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Fewer => "fewer",
            Self::NoDifference => "no difference shown",
            Self::Absent => "not compared",
        }
    }
}

/// Two builds, row by row.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Ids of both builds.
    pub ids: [String; 2],
    /// Smallest difference that is shown, as a share of A.
    pub bound: f64,
    pub counter: RunCounter,
    /// Of both builds.
    pub compilers: [String; 2],
    pub rows: Vec<Row>,
    /// The rows whose difference is explained by functions.
    pub functions: Vec<(Row, Vec<Function>)>,
}

impl Row {
    /// B over A, less 1.
    fn change(&self) -> Option<f64> {
        match self.counts {
            [Some(a), Some(b)] if a > 0.0 => Some(b / a - 1.0),
            _ => None,
        }
    }

    pub fn verdict(&self, bound: f64) -> Verdict {
        match self.change() {
            None => Verdict::Absent,
            Some(change) if change >= bound => Verdict::More,
            Some(change) if change <= -bound => Verdict::Fewer,
            Some(_) => Verdict::NoDifference,
        }
    }
}

impl Comparison {
    /// Whether B takes more instructions in any row.
    #[must_use]
    pub fn is_more(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.verdict(self.bound) == Verdict::More)
    }

    fn sentence(&self) -> String {
        let of = |verdict| {
            let rows = self.rows.iter();
            rows.filter(|row| row.verdict(self.bound) == verdict)
                .count()
        };
        format!(
            "{}: more instructions in {}, fewer in {}, no difference of {} or more in {}{}",
            counted(u32::try_from(self.rows.len()).unwrap_or(u32::MAX), "row"),
            of(Verdict::More),
            of(Verdict::Fewer),
            percent(self.bound),
            of(Verdict::NoDifference),
            match of(Verdict::Absent) {
                0 => String::new(),
                absent => format!(", not compared {absent}"),
            }
        )
    }

    fn cells(&self, row: &Row) -> [String; 5] {
        let count = |it: Option<f64>| it.map_or("–".to_owned(), medians::figure);
        [
            format!("{} ({})", row.scenario.name(), row.unit),
            count(row.counts[0]),
            count(row.counts[1]),
            row.change().map_or("–".to_owned(), signed_percent),
            row.verdict(self.bound).text().to_owned(),
        ]
    }

    /// What counted, on which processor.
    fn counted_by(&self) -> String {
        let RunCounter {
            version, processor, ..
        } = &self.counter;
        let processor = processor.as_ref();
        let processor = processor.map_or(String::new(), |it| format!(" on {it}"));
        format!("counted by callgrind {version}{processor}")
    }

    /// For a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let mut text = format!("{bold}instructions, {}{bold:#}\n", self.counted_by());
        for ((side, id), compilers) in ["A", "B"].iter().zip(&self.ids).zip(&self.compilers) {
            let _ = writeln!(text, "  {side}  {id}\n     {dim}{compilers}{dim:#}");
        }
        let heading = ["scenario (unit)", "A", "B", "B over A", "B takes"];
        let mut table = vec![heading.map(str::to_owned).to_vec()];
        table.extend(self.rows.iter().map(|row| self.cells(row).to_vec()));
        medians::aligned(&mut text, &table, 1, dim);
        for (row, functions) in &self.functions {
            let name = row.scenario.name();
            let _ = writeln!(text, "\n{bold}{name}: functions that differ most{bold:#}");
            let mut table = vec![["", "A", "B", "B less A"].map(str::to_owned).to_vec()];
            table.extend(functions.iter().map(|it| function(it).to_vec()));
            medians::aligned(&mut text, &table, 1, dim);
        }
        let _ = writeln!(text, "\n{}", self.sentence());
        text
    }

    /// For a pull request.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let ([a, b], [of_a, of_b]) = (&self.ids, &self.compilers);
        let mut text = format!(
            "**{}**\n\nInstructions, {}.\n\n- A: `{a}` ({of_a})\n- B: `{b}` ({of_b})\n\n\
             | scenario (unit) | A | B | B over A | B takes |\n|---|---:|---:|---:|---|\n",
            self.sentence(),
            self.counted_by()
        );
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", self.cells(row).join(" | "));
        }
        for (row, functions) in &self.functions {
            let _ = write!(
                text,
                "\n<details><summary>{}: functions that differ most</summary>\n\n\
                 | function | A | B | B less A |\n|---|---:|---:|---:|\n",
                row.scenario.name()
            );
            for it in functions {
                let [name, rest @ ..] = function(it);
                // A name in backquotes may hold anything but these two.
                let name = name.replace('`', "'").replace('|', "\\|");
                let _ = writeln!(text, "| `{name}` | {} |", rest.join(" | "));
            }
            text.push_str("\n</details>\n");
        }
        text
    }
}

/// The cells of a function: its name, A, B, and B less A.
fn function(it: &Function) -> [String; 4] {
    let sign = if it.change() > 0.0 { "+" } else { "−" };
    let change = format!("{sign}{}", medians::figure(it.change().abs()));
    [
        it.name.clone(),
        medians::figure(it.a),
        medians::figure(it.b),
        change,
    ]
}

fn percent(share: f64) -> String {
    let digits = format!("{:.2}", share * 100.0);
    format!("{}%", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{:.2}%", share.abs() * 100.0)
}

/// Checks a bound before anything is built.
///
/// # Errors
/// It is smaller than what counts of one build differ by.
pub fn check_bound(bound: f64) -> Result<()> {
    ensure!(
        bound >= SMALLEST_BOUND,
        "--bound {}: expected at least {}: counts of one build differ by up to 0.07%",
        percent(bound),
        percent(SMALLEST_BOUND)
    );
    Ok(())
}

/// Compares the two implementations of the finished run that an order made, on a host with so many
/// cores. Profiles are written into its folder.
///
/// # Errors
/// The run is not of two implementations, or a profile cannot be made.
pub fn compare(order: &Order, bound: f64, cores: Option<u32>) -> Result<Comparison> {
    let (run, records) = medians::finished(&order.out)?;
    let counter = run.counter.context("the run has no counts")?;
    let Ok([a, b]) = <[_; 2]>::try_from(run.implementations) else {
        bail!("one of the two builds failed; the log is named above");
    };
    let compilers = [&a, &b].map(compilers);
    let ids = [a.id, b.id];
    let rows = rows(&records, &ids);
    let mut explained: Vec<&Row> = rows
        .iter()
        .filter(|row| matches!(row.verdict(bound), Verdict::More | Verdict::Fewer))
        .collect();
    let size = |row: &Row| row.change().unwrap_or_default().abs();
    explained.sort_by(|one, other| size(other).total_cmp(&size(one)));
    explained.truncate(EXPLAINED);
    let functions = match explained.is_empty() {
        true => Vec::new(),
        false => {
            let programs = programs(order, cores)?;
            let explained = (1..).zip(explained);
            let all = explained.map(|(number, row)| {
                let functions = explain(row, &programs, &order.out, number)?;
                Ok((row.clone(), functions))
            });
            all.collect::<Result<_>>()?
        }
    };
    Ok(Comparison {
        ids,
        bound,
        counter,
        compilers,
        rows,
        functions,
    })
}

/// The compilers that a program names.
fn compilers(of: &Implementation) -> String {
    let both = [&of.rust_compiler, &of.c_compiler].into_iter().flatten();
    both.map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// The programs of both builds, which are there.
fn programs(order: &Order, cores: Option<u32>) -> Result<[Program; 2]> {
    let mut suite = order.read(cores)?.suite;
    let ready = implementations::prepare(&mut suite, &order.places, LayoutKind::Shifted)?;
    let programs = ready.programs.try_into();
    programs.map_err(|_| anyhow!("expected the programs of two builds"))
}

/// The functions that a row's difference is of.
fn explain(
    row: &Row,
    programs: &[Program; 2],
    folder: &Path,
    number: usize,
) -> Result<Vec<Function>> {
    let side = row.scenario.side;
    let scenario = Scenario {
        side: None,
        ..row.scenario.clone()
    };
    eprintln!("{}: profiles of both builds", row.scenario.name());
    let place = folder.join("profiles");
    std::fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    let place = place.canonicalize()?;
    let costs = |program: &Program| {
        let file = place.join(format!("{number}-{}", program.implementation.id));
        let work = program.profile(&scenario, side, &file)?;
        functions::costs(&file, work)
    };
    let [a, b] = programs;
    Ok(functions::differences(&costs(a)?, &costs(b)?))
}

/// The rows of a run, in the order of its first round: the mean of the rounds.
fn rows(records: &[Record], ids: &[String; 2]) -> Vec<Row> {
    let mut rows: Vec<(Row, [Vec<f64>; 2])> = Vec::new();
    for record in records {
        let Record::Measurement(Measurement {
            scenario,
            implementation,
            observations,
            ..
        }) = record
        else {
            continue;
        };
        let counts = |it: &&Observation| it.metric == Metric::INSTRUCTIONS;
        let of = ids.iter().position(|id| id == implementation);
        let Some((of, found)) = of.zip(observations.iter().find(counts)) else {
            continue;
        };
        let known = rows.iter().position(|(row, _)| row.scenario == *scenario);
        let index = known.unwrap_or_else(|| {
            let row = Row {
                scenario: scenario.clone(),
                unit: found.unit.to_string(),
                counts: [None, None],
            };
            rows.push((row, [Vec::new(), Vec::new()]));
            rows.len() - 1
        });
        rows[index].1[of].push(found.value);
    }
    let mean =
        |all: &Vec<f64>| (!all.is_empty()).then(|| all.iter().sum::<f64>() / all.len() as f64);
    rows.into_iter()
        .map(|(row, counts)| Row {
            counts: counts.each_ref().map(mean),
            ..row
        })
        .collect()
}

#[cfg(test)]
mod tests;
