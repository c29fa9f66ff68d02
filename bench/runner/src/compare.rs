//! A against B: two builds of a library, by what their operations count: instructions and allocations.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::thread;

use anstyle::Style;
use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use tls_harness::implementation::Implementation;
use tls_harness::scenario::Scenario;
use tls_harness::workloads::threads::joined;

use crate::functions::{self, Costs, Function, Profile};
use crate::implementations;
use crate::libraries::Libraries;
use crate::manifest::RunCounter;
use crate::medians::{aligned, cell, figure, finished};
use crate::options;
use crate::plan::Order;
use crate::program::Program;
use crate::stop;
use crate::warnings;
use crate::words::{Text, counted, say};

/// The smallest bound: identical code in two folders differs by less (docs/compare.md).
const SMALLEST_BOUND: f64 = 0.002;

/// Functions are named for so many rows, those with the largest differences.
const EXPLAINED: usize = 3;

/// Fresh processes that count each row of each build. That the means of two builds of one code differ
/// by more than any two processes of either has a chance of 0.05%.
const PROCESSES: usize = 6;

/// The figures of a row, in the order of the table. The last is in bytes.
const FIGURES: [&str; 4] = [
    "instructions",
    "without cryptography",
    "allocations",
    "peak heap",
];

/// What each process of A and of B counted; nothing if it cannot be counted.
#[derive(Clone, Debug, Default)]
pub struct Figure(pub [Vec<f64>; 2]);

/// A row of the comparison: one side of a scenario.
#[derive(Clone, Debug)]
pub struct Row {
    pub scenario: Scenario,
    /// What the figures are of: `handshake`, `MiB` or `operation`. The peak is that of a handshake, or
    /// of the data in flight.
    pub per: String,
    /// All without a count: a build does not support the scenario.
    pub figures: [Figure; FIGURES.len()],
    /// Those that differ most, if the row is explained.
    pub functions: Vec<Function>,
}

/// What a difference is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    More,
    Less,
    NoDifference,
    Absent,
}

impl Verdict {
    fn text(self) -> &'static str {
        match self {
            Self::More => "more",
            Self::Less => "less",
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
    /// Scenarios that failed in a build, which supports them: the warnings of the run.
    pub failed: usize,
}

impl Figure {
    /// The mean of each build that has counts.
    fn found(&self) -> [Option<f64>; 2] {
        self.0.each_ref().map(|of| {
            let mean = of.iter().sum::<f64>() / of.len() as f64;
            (!of.is_empty()).then_some(mean)
        })
    }

    /// The means of A and of B, if both have counts.
    pub fn means(&self) -> Option<[f64; 2]> {
        let [a, b] = self.found();
        Some([a?, b?])
    }

    /// B over A, less 1; infinite if A has none.
    fn change(&self) -> Option<f64> {
        match self.means()? {
            [0.0, 0.0] => Some(0.0),
            [a, b] => Some(b / a - 1.0),
        }
    }

    /// The largest difference of any two processes of one build.
    fn noise(&self) -> f64 {
        let ranges = self.0.iter().map(|all| {
            let most = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let least = all.iter().copied().fold(f64::INFINITY, f64::min);
            most - least
        });
        ranges.fold(0.0, f64::max)
    }

    /// A difference is shown from the bound on, and above the noise: the larger, as a share of A.
    pub fn threshold(&self, bound: f64) -> f64 {
        match self.means() {
            Some([a, _]) if a > 0.0 => bound.max(self.noise() / a),
            _ => bound,
        }
    }

    pub fn verdict(&self, bound: f64) -> Verdict {
        let Some([a, b]) = self.means() else {
            return Verdict::Absent;
        };
        // Of a figure that is 0 in A, no share says whether B differs by more than its noise.
        let is_large = self.change().is_some_and(|it| it.abs() >= bound);
        let is_shown = is_large && (b - a).abs() > self.noise();
        match is_shown {
            true if b > a => Verdict::More,
            true => Verdict::Less,
            false => Verdict::NoDifference,
        }
    }

    /// A, and B over A with the threshold.
    fn cells(&self, bound: f64) -> [String; 2] {
        let verdict = self.verdict(bound);
        let word = match verdict {
            Verdict::More | Verdict::Less => format!("{} ", verdict.text()),
            Verdict::NoDifference | Verdict::Absent => String::new(),
        };
        let threshold = self.threshold(bound) * 100.0;
        let change = self
            .change()
            .map(|change| format!("{word}{} ({threshold:.2}%)", signed_percent(change)));
        let [a, _] = self.found();
        [cell(a), change.unwrap_or("–".to_owned())]
    }
}

impl Row {
    fn name(&self) -> String {
        format!("{} ({})", self.scenario.name(), self.per)
    }

    /// Whether its instructions differ, with or without cryptography.
    fn differs(&self, bound: f64) -> bool {
        let mut figures = self.figures[..2].iter();
        figures.any(|it| matches!(it.verdict(bound), Verdict::More | Verdict::Less))
    }
}

impl Comparison {
    fn has(&self, verdict: Verdict) -> bool {
        let mut figures = self.rows.iter().flat_map(|row| &row.figures);
        figures.any(|it| it.verdict(self.bound) == verdict)
    }

    /// Whether B takes more of anything in any row.
    #[must_use]
    pub fn is_more(&self) -> bool {
        self.has(Verdict::More)
    }

    /// Whether any row could be compared.
    #[must_use]
    pub fn compares(&self) -> bool {
        [Verdict::More, Verdict::Less, Verdict::NoDifference]
            .iter()
            .any(|it| self.has(*it))
    }

    /// In how many rows B takes more, and less, of what.
    fn sentence(&self) -> String {
        let rows = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let listed = |is_found: &dyn Fn(&Figure) -> bool| {
            let found = |number: usize| {
                let rows = self.rows.iter();
                rows.filter(|row| is_found(&row.figures[number])).count()
            };
            let all = (0..).zip(FIGURES).filter(|(number, _)| found(*number) > 0);
            let all = all.map(|(number, name)| format!("{name} in {}", found(number)));
            let all = all.collect::<Vec<_>>().join(", ");
            (!all.is_empty()).then_some(all)
        };
        let part = |verdict: Verdict| {
            let found = listed(&|it| it.verdict(self.bound) == verdict);
            format!(
                "{}: {}",
                verdict.text(),
                found.as_deref().unwrap_or("nothing")
            )
        };
        let alone = listed(&|it| it.found().iter().flatten().count() == 1);
        let absent = self.rows.iter();
        let absent = absent
            .filter(|row| row.figures[0].means().is_none())
            .count();
        format!(
            "Of {}, B takes {}; {}{}{}",
            counted(rows, "row"),
            part(Verdict::More),
            part(Verdict::Less),
            alone.map_or(String::new(), |it| format!(
                "; counted in one build alone: {it}"
            )),
            match absent {
                0 => String::new(),
                absent => format!("; not compared: {absent}"),
            }
        )
    }

    /// The table, with its heading first.
    fn table(&self) -> Vec<Vec<String>> {
        let figures = FIGURES.iter().flat_map(|name| [*name, "B over A"]);
        let heading = ["scenario"].into_iter().chain(figures);
        let mut table = vec![heading.map(str::to_owned).collect::<Vec<_>>()];
        table.extend(self.rows.iter().map(|row| {
            let cells = row.figures.iter().flat_map(|it| it.cells(self.bound));
            [row.name()].into_iter().chain(cells).collect()
        }));
        table
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

    /// The rows whose functions are named.
    fn explained(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.functions.is_empty())
    }

    /// For a terminal.
    #[must_use]
    pub fn to_text(&self) -> Text {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let mut text = Text::default();
        text.push(bold, self.counted_by());
        let _ = writeln!(text);
        for ((side, id), compilers) in ["A", "B"].iter().zip(&self.ids).zip(&self.compilers) {
            let _ = write!(text, "  {side}  {id}\n     ");
            text.push(dim, compilers);
            let _ = writeln!(text);
        }
        aligned(&mut text, &self.table(), 1, dim);
        for row in self.explained() {
            let name = row.scenario.name();
            let _ = writeln!(text);
            text.push(bold, format!("{name}: functions that differ most"));
            let _ = writeln!(text);
            let mut table = vec![["", "A", "B", "B less A"].map(str::to_owned).to_vec()];
            table.extend(row.functions.iter().map(|it| function(it).to_vec()));
            aligned(&mut text, &table, 1, dim);
        }
        let _ = writeln!(text, "\n{}", self.sentence());
        text
    }

    /// For a program: both builds, and each row with the means of A and B of each figure, `change` (B
    /// over A, less 1; null also if A is 0), the threshold and the verdict in the words of the table; null
    /// where a build has no counts. Rows that are explained have the functions that differ most.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let builds = self.ids.iter().zip(&self.compilers);
        let builds: Vec<_> = builds
            .map(|(id, compilers)| json!({"id": id, "compilers": compilers}))
            .collect();
        let rows = self.rows.iter().map(|row| {
            let functions = row.functions.iter();
            let functions: Vec<_> = functions
                .map(|it| json!({"name": it.name, "a": it.a, "b": it.b}))
                .collect();
            let figures = FIGURES.iter().zip(&row.figures).map(|(name, it)| {
                let [a, b] = it.found();
                let figure = json!({
                    "a": a,
                    "b": b,
                    "change": it.change(),
                    "threshold": it.means().map(|_| it.threshold(self.bound)),
                    "verdict": it.verdict(self.bound).text(),
                });
                ((*name).to_owned(), figure)
            });
            json!({
                "scenario": row.scenario.name(),
                "per": row.per,
                "figures": figures.collect::<serde_json::Map<_, _>>(),
                "functions": functions,
            })
        });
        json!({
            "schema": 2,
            "counter": self.counter,
            "bound": self.bound,
            "builds": builds,
            "rows": rows.collect::<Vec<_>>(),
        })
    }

    /// For a pull request.
    #[must_use]
    pub fn to_markdown(&self) -> String {
        let ([a, b], [of_a, of_b]) = (&self.ids, &self.compilers);
        let mut text = format!(
            "**{}**\n\n- A: `{a}` ({of_a})\n- B: `{b}` ({of_b})\n\n",
            self.sentence(),
        );
        for (number, line) in (0..).zip(self.table()) {
            let _ = writeln!(text, "| {} |", line.join(" | "));
            if number == 0 {
                let _ = writeln!(text, "|---|{}", "---:|".repeat(line.len() - 1));
            }
        }
        let _ = writeln!(
            text,
            "\nIn brackets: from where on a difference is shown. Peak heap in bytes. Instructions {}.",
            self.counted_by()
        );
        for row in self.explained() {
            let _ = write!(
                text,
                "\n<details><summary>{}: functions that differ most</summary>\n\n\
                 | function | A | B | B less A |\n|---|---:|---:|---:|\n",
                row.scenario.name()
            );
            for it in &row.functions {
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
    let change = format!("{sign}{}", figure(it.change().abs()));
    [it.name.clone(), figure(it.a), figure(it.b), change]
}

fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    match share.is_infinite() {
        true => "from 0".to_owned(),
        false => format!("{sign}{:.2}%", share.abs() * 100.0),
    }
}

/// A bound such as `1%`.
pub fn bound(text: &str) -> Result<f64, String> {
    match options::percent(text)? {
        bound if bound >= SMALLEST_BOUND => Ok(bound),
        _ => Err("expected at least 0.2%: identical code in two folders may differ by less".into()),
    }
}

/// Compares the two implementations of the finished run that an order made, on a host with so many
/// cores. Profiles are written into its folder.
pub fn compare(order: &Order, bound: f64, cores: Option<u32>) -> Result<Comparison> {
    let (run, rows) = finished(&order.out)?;
    let counter = run.counter.context("the run has no counts")?;
    let failed = run.warnings.iter();
    let failed = failed
        .filter(|it| it.code == warnings::FAILED_BLOCKS)
        .count();
    let Ok([a, b]) = <[_; 2]>::try_from(run.implementations) else {
        bail!("one of the two builds failed; the log is named above");
    };
    let compilers = [&a, &b].map(compilers);
    let ids = [a.id, b.id];
    let programs = programs(order, cores)?;
    let libraries = Libraries::read(&order.places.bench)?;
    let place = order.out.join("profiles");
    std::fs::create_dir_all(&place).with_context(|| place.display().to_string())?;
    let place = place.canonicalize()?;
    let mut all = Vec::new();
    for (number, row) in (1..).zip(&rows) {
        let mut one = Row {
            scenario: row.scenario.clone(),
            per: row.unit.to_string().replace("instructions/", ""),
            figures: Default::default(),
            functions: Vec::new(),
        };
        let mut costs = [Costs::new(), Costs::new()];
        if ids.iter().all(|id| row.median(id).is_some()) {
            say(&format!("{}: profiles of both builds", row.scenario.name()));
            for (side, program) in programs.iter().enumerate() {
                let prefixes = libraries.cryptography(&program.implementation.library);
                let file = place.join(format!("{number}-{}", program.implementation.id));
                let (samples, functions) = count(program, &one.scenario, &file, prefixes)?;
                for (figure, samples) in one.figures.iter_mut().zip(samples) {
                    figure.0[side] = samples;
                }
                costs[side] = functions;
            }
        }
        all.push((one, costs));
    }
    let size = |row: &Row| row.figures[0].change().unwrap_or_default().abs();
    let differing = all.iter_mut().filter(|(row, _)| row.differs(bound));
    let mut differing: Vec<_> = differing.collect();
    differing.sort_by(|(one, _), (other, _)| size(other).total_cmp(&size(one)));
    for (row, [a, b]) in differing.into_iter().take(EXPLAINED) {
        row.functions = functions::differences(a, b);
    }
    Ok(Comparison {
        ids,
        bound,
        counter,
        compilers,
        rows: all.into_iter().map(|(row, _)| row).collect(),
        failed,
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
    let ready = implementations::prepare(&mut suite, &order.places)?;
    let programs = ready.programs.try_into();
    programs.map_err(|_| anyhow!("expected the programs of two builds"))
}

/// What the processes of one build count of a row, for each figure, and the mean of each function. The
/// profile of the first is kept in a file.
fn count(
    program: &Program,
    row: &Scenario,
    file: &Path,
    prefixes: &[String],
) -> Result<([Vec<f64>; FIGURES.len()], Costs)> {
    stop::check()?;
    let scenario = Scenario {
        side: None,
        ..row.clone()
    };
    let one = |number: usize| {
        let file = PathBuf::from(format!("{}.{number}", file.display()));
        let work = program.profile(&scenario, row.side, &file)?;
        let profile = Profile::read(&file, prefixes)?;
        if number > 1 {
            std::fs::remove_file(&file).with_context(|| file.display().to_string())?;
        }
        let allocated = program.allocations(&scenario, row.side)?;
        Ok((profile, work, allocated))
    };
    // All at once: the counts do not depend on what else runs.
    let all: Result<Vec<_>> = thread::scope(|scope| {
        let spawned: Vec<_> = (1..=PROCESSES)
            .map(|number| scope.spawn(move || one(number)))
            .collect();
        spawned.into_iter().map(joined).collect()
    });
    let (mut figures, mut costs) = (<[Vec<f64>; FIGURES.len()]>::default(), Costs::new());
    for (profile, work, allocated) in all? {
        let [instructions, protocol, allocations, peak] = &mut figures;
        instructions.push(profile.total / work);
        if 0.0 < profile.cryptography && profile.cryptography < profile.total {
            protocol.push((profile.total - profile.cryptography) / work);
        }
        if let Some([count, most]) = allocated {
            allocations.push(count);
            peak.push(most);
        }
        for (name, cost) in profile.costs {
            *costs.entry(name).or_default() += cost / work / PROCESSES as f64;
        }
    }
    Ok((figures, costs))
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use tls_harness::request::Counter;

    use super::*;

    /// A row whose figures are those of one process each.
    fn row(a: [f64; 4], b: [f64; 4]) -> Row {
        let scenario = r#"{"operation":"handshake","protocol":"1.3","certificate":"rsa-2048",
                "key_exchange":"X25519","resumption":"none","side":"server"}"#;
        Row {
            scenario: serde_json::from_str(scenario).unwrap(),
            per: "handshake".to_owned(),
            figures: [0, 1, 2, 3].map(|it| Figure([vec![a[it]], vec![b[it]]])),
            functions: Vec::new(),
        }
    }

    /// As `BASE`, and with a third more instructions outside of cryptography, an allocation more and a
    /// lower peak.
    const BASE: [f64; 4] = [1e6, 3e4, 100.0, 2048.0];
    const HEAD: [f64; 4] = [1.01e6, 4e4, 101.0, 1024.0];

    fn absent() -> Row {
        Row {
            figures: Default::default(),
            ..row(BASE, BASE)
        }
    }

    fn one(a: &[f64], b: &[f64]) -> Figure {
        Figure([a.to_vec(), b.to_vec()])
    }

    #[test]
    fn a_difference_is_shown_from_the_bound_on() {
        // These quotients are exact.
        for (b, verdict) in [
            (1250.0, Verdict::More),
            (1249.0, Verdict::NoDifference),
            (751.0, Verdict::NoDifference),
            (750.0, Verdict::Less),
        ] {
            assert_eq!(one(&[1000.0], &[b]).verdict(0.25), verdict, "{b}");
        }
        for (a, b) in [(&[1.0][..], &[][..]), (&[], &[1.0])] {
            assert_eq!(one(a, b).verdict(0.01), Verdict::Absent);
        }
        assert_eq!(bound("0.2%"), Ok(0.002));
        let error = bound("0.1%").unwrap_err();
        assert!(error.starts_with("expected at least 0.2%"), "{error}");
    }

    #[test]
    fn a_difference_no_larger_than_that_of_two_processes_of_one_build_is_not_shown() {
        // The processes of one build differ by 25% of A.
        let noisy = [875.0, 1000.0, 1125.0];
        for (a, b, verdict) in [
            (&noisy[..], &[1249.0][..], Verdict::NoDifference),
            (&noisy, &[1251.0], Verdict::More),
            (&noisy, &[749.0], Verdict::Less),
            (&[1000.0], &[1000.0, 1100.0, 1300.0], Verdict::NoDifference),
            (&[1000.0], &[1300.0, 1310.0], Verdict::More),
        ] {
            assert_eq!(one(a, b).verdict(0.01), verdict, "{a:?} {b:?}");
        }
        let [_, change] = one(&noisy, &[1100.0]).cells(0.01);
        assert_eq!(change, "+10.00% (25.00%)");
    }

    #[test]
    fn what_a_does_not_need_at_all_is_more_in_b() {
        let found = one(&[0.0, 0.0], &[1.0, 1.0]);
        assert_eq!(found.verdict(0.01), Verdict::More);
        assert_eq!(found.cells(0.01)[1], "more from 0 (1.00%)");
        assert_eq!(one(&[0.0], &[0.0]).verdict(0.01), Verdict::NoDifference);
        assert_eq!(one(&[2.0], &[0.0]).verdict(0.01), Verdict::Less);
    }

    #[test]
    fn what_one_process_does_by_chance_is_no_difference_even_from_0() {
        let (none, rare) = ([0.0, 0.0], [0.0, 1.0]);
        for (a, b) in [(&none, &rare), (&rare, &none), (&rare, &rare)] {
            assert_eq!(
                one(a, b).verdict(0.01),
                Verdict::NoDifference,
                "{a:?} {b:?}"
            );
        }
        assert_eq!(one(&none, &rare).cells(0.01)[1], "from 0 (1.00%)");
        // As much as the noise is not more than it: with few values, chance alone does that.
        let (low, high) = ([0.0, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 2.0]);
        assert_eq!(one(&low, &high).verdict(0.01), Verdict::NoDifference);
    }

    fn comparison(mut rows: Vec<Row>) -> Comparison {
        rows[0].functions.push(Function {
            name: "a|b`c".to_owned(),
            a: 1000.0,
            b: 31_000.0,
        });
        Comparison {
            ids: ["rustls-base", "rustls-head"].map(str::to_owned),
            bound: 0.01,
            counter: RunCounter {
                name: Counter::Callgrind,
                version: "3.19.0".to_owned(),
                processor: Some("amd64-avx2".to_owned()),
            },
            compilers: ["rustc 1.95.0, gcc 12.2.0", "rustc 1.95.0, clang 14.0.6"]
                .map(str::to_owned),
            rows,
            failed: 0,
        }
    }

    #[test]
    fn a_comparison_prints_the_change_of_each_figure_with_its_verdict() {
        let all = comparison(vec![row(BASE, HEAD), absent()]);
        let text = strip_str(&all.to_text().to_string()).to_string();
        let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let lines: Vec<_> = text.lines().map(plain).collect();
        let name = "TLS 1.3 full handshake, RSA-2048, X25519, server (handshake)";
        for line in [
            "counted by callgrind 3.19.0 on amd64-avx2",
            "B rustls-head",
            &format!(
                "{name} 1,000,000 more +1.00% (1.00%) 30,000 more +33.33% (1.00%) 100 more +1.00% \
                 (1.00%) 2,048 less −50.00% (1.00%)"
            ),
            &format!("{name} – – – – – – – –"),
            "a|b`c 1,000 31,000 +30,000",
            "Of 2 rows, B takes more: instructions in 1, without cryptography in 1, allocations in 1; \
             less: peak heap in 1; not compared: 1",
        ] {
            assert!(lines.iter().any(|it| it == line), "{line}\n{text}");
        }
    }

    #[test]
    fn more_of_any_figure_fails() {
        assert!(comparison(vec![row(BASE, HEAD)]).is_more());
        for figure in 0..4 {
            let mut head = BASE;
            head[figure] *= 1.25;
            assert!(comparison(vec![row(BASE, head)]).is_more(), "{figure}");
            assert!(!comparison(vec![row(head, BASE)]).is_more(), "{figure}");
        }
        assert!(comparison(vec![absent(), row(BASE, BASE)]).compares());
        assert!(!comparison(vec![absent()]).compares());
        let mut alone = row(BASE, BASE);
        alone.figures[2].0[1].clear();
        let alone = comparison(vec![alone]);
        assert!(
            alone
                .sentence()
                .ends_with("less: nothing; counted in one build alone: allocations in 1")
        );
        assert!(alone.to_markdown().contains(" | 100 | – | "));
        assert_eq!(
            alone.to_json()["rows"][0]["figures"]["allocations"]["a"],
            100.0
        );
        let same = comparison(vec![row(BASE, BASE)]).sentence();
        assert_eq!(same, "Of 1 row, B takes more: nothing; less: nothing");
    }

    #[test]
    fn markdown_has_the_answer_first_and_no_broken_table() {
        let text = comparison(vec![row(BASE, HEAD)]).to_markdown();
        for part in [
            "- B: `rustls-head` (rustc 1.95.0, clang 14.0.6)\n",
            "server (handshake) | 1,000,000 | more +1.00% (1.00%) | 30,000 | ",
            "| `a\\|b'c` | 1,000 | 31,000 | +30,000 |\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(text.starts_with("**Of 1 row, B takes more: "), "{text}");
        let table = text
            .lines()
            .filter(|it| it.starts_with("| scenario") || it.contains("server ("));
        let columns: Vec<_> = table.map(|it| it.matches(" | ").count()).collect();
        assert_eq!(columns, [8, 8]);
    }

    #[test]
    fn json_has_both_builds_and_each_row_with_its_functions() {
        let found = comparison(vec![row([1e6; 4], [1.25e6; 4]), absent()]).to_json();
        assert_eq!(found["builds"][1]["id"], "rustls-head");
        assert_eq!(found["counter"]["processor"], "amd64-avx2");
        let [first, second] = [0, 1].map(|number| &found["rows"][number]);
        let expected = json!({
            "a": 1e6, "b": 1.25e6, "change": 0.25, "threshold": 0.01, "verdict": "more",
        });
        assert_eq!(first["figures"]["allocations"], expected);
        let expected = json!([{"name": "a|b`c", "a": 1000.0, "b": 31_000.0}]);
        assert_eq!(first["functions"], expected);
        let absent = &second["figures"]["peak heap"];
        assert_eq!(
            (&absent["a"], &absent["threshold"]),
            (&Value::Null, &Value::Null)
        );
        assert_eq!(absent["verdict"], "not compared");
    }

    #[test]
    fn a_decrease_has_a_minus_and_equality_a_plus() {
        assert_eq!(signed_percent(-0.0314), "−3.14%");
        assert_eq!(signed_percent(0.0), "+0.00%");
        let of = |a, b| {
            let name = String::new();
            function(&Function { name, a, b })
        };
        let [_, a, b, change] = of(31_000.0, 1000.0);
        assert_eq!([a, b, change], ["31,000", "1,000", "−30,000"]);
        assert_eq!(of(0.0, 500.0)[3], "+500");
    }

    #[test]
    fn a_program_is_named_with_the_compilers_that_it_states() {
        let of = |rust: Option<&str>, c: Option<&str>| {
            compilers(&Implementation {
                rust_compiler: rust.map(str::to_owned),
                c_compiler: c.map(str::to_owned),
                ..Implementation::new("rustls", "1.0").unwrap()
            })
        };
        assert_eq!(of(Some("rustc 1"), Some("gcc 2")), "rustc 1, gcc 2");
        assert_eq!(of(None, Some("gcc 2")), "gcc 2");
    }
}
