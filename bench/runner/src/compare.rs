//! A against B: two builds of a library, by the instructions that their operations take.

use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use tls_harness::implementation::Implementation;
use tls_harness::record::Unit;
use tls_harness::scenario::Scenario;

use crate::functions::{self, Function};
use crate::implementations;
use crate::manifest::RunCounter;
use crate::medians::{aligned, cell, figure, finished};
use crate::options;
use crate::plan::Order;
use crate::program::Program;
use crate::stop;
use crate::words::{Text, counted, say};

/// The smallest bound: counts of one build repeat within 0.07% (docs/compare.md).
const SMALLEST_BOUND: f64 = 0.002;

/// Functions are named for so many rows, those with the largest differences.
const EXPLAINED: usize = 3;

/// A row of the comparison: one scenario, in instructions per unit of work.
#[derive(Clone, Debug)]
pub struct Row {
    pub scenario: Scenario,
    pub unit: Unit,
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

    /// Whether any row could be compared.
    #[must_use]
    pub fn compares(&self) -> bool {
        let mut rows = self.rows.iter();
        rows.any(|row| row.verdict(self.bound) != Verdict::Absent)
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
        [
            format!("{} ({})", row.scenario.name(), row.unit),
            cell(row.counts[0]),
            cell(row.counts[1]),
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
    pub fn to_text(&self) -> Text {
        let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
        let mut text = Text::default();
        text.push(bold, format!("instructions, {}", self.counted_by()));
        let _ = writeln!(text);
        for ((side, id), compilers) in ["A", "B"].iter().zip(&self.ids).zip(&self.compilers) {
            let _ = write!(text, "  {side}  {id}\n     ");
            text.push(dim, compilers);
            let _ = writeln!(text);
        }
        let heading = ["scenario (unit)", "A", "B", "B over A", "B takes"];
        let mut table = vec![heading.map(str::to_owned).to_vec()];
        table.extend(self.rows.iter().map(|row| self.cells(row).to_vec()));
        aligned(&mut text, &table, 1, dim);
        for (row, functions) in &self.functions {
            let name = row.scenario.name();
            let _ = writeln!(text);
            text.push(bold, format!("{name}: functions that differ most"));
            let _ = writeln!(text);
            let mut table = vec![["", "A", "B", "B less A"].map(str::to_owned).to_vec()];
            table.extend(functions.iter().map(|it| function(it).to_vec()));
            aligned(&mut text, &table, 1, dim);
        }
        let _ = writeln!(text, "\n{}", self.sentence());
        text
    }

    /// For a program: both builds, and each row with the counts of A and B (null if a build lacks the
    /// scenario), `change` (B over A, less 1), the verdict in the words of the table and, for rows
    /// that are explained, the functions that differ most.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let builds = self.ids.iter().zip(&self.compilers);
        let builds: Vec<_> = builds
            .map(|(id, compilers)| json!({"id": id, "compilers": compilers}))
            .collect();
        let rows = self.rows.iter().map(|row| {
            let is_same =
                |it: &&(Row, Vec<Function>)| it.0.scenario == row.scenario && it.0.unit == row.unit;
            let explained = self.functions.iter().find(is_same);
            let functions = explained.map_or(&[][..], |(_, functions)| functions);
            let functions: Vec<_> = functions
                .iter()
                .map(|it| json!({"name": it.name, "a": it.a, "b": it.b}))
                .collect();
            json!({
                "scenario": row.scenario.name(),
                "unit": row.unit,
                "a": row.counts[0],
                "b": row.counts[1],
                "change": row.change(),
                "verdict": row.verdict(self.bound).text(),
                "functions": functions,
            })
        });
        json!({
            "schema": 1,
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
    let change = format!("{sign}{}", figure(it.change().abs()));
    [it.name.clone(), figure(it.a), figure(it.b), change]
}

fn percent(share: f64) -> String {
    let digits = format!("{:.2}", share * 100.0);
    format!("{}%", digits.trim_end_matches('0').trim_end_matches('.'))
}

fn signed_percent(share: f64) -> String {
    let sign = if share < 0.0 { "−" } else { "+" };
    format!("{sign}{:.2}%", share.abs() * 100.0)
}

/// A bound such as `1%`.
pub fn bound(text: &str) -> Result<f64, String> {
    match options::percent(text)? {
        bound if bound >= SMALLEST_BOUND => Ok(bound),
        _ => Err(format!(
            "expected at least {}: counts of one build differ by up to 0.07%",
            percent(SMALLEST_BOUND)
        )),
    }
}

/// Compares the two implementations of the finished run that an order made, on a host with so many
/// cores. Profiles are written into its folder.
pub fn compare(order: &Order, bound: f64, cores: Option<u32>) -> Result<Comparison> {
    let (run, rows) = finished(&order.out)?;
    let counter = run.counter.context("the run has no counts")?;
    let Ok([a, b]) = <[_; 2]>::try_from(run.implementations) else {
        bail!("one of the two builds failed; the log is named above");
    };
    let compilers = [&a, &b].map(compilers);
    let ids = [a.id, b.id];
    let rows = rows.into_iter().map(|row| Row {
        counts: ids.each_ref().map(|id| row.median(id)),
        scenario: row.scenario,
        unit: row.unit,
    });
    let rows: Vec<Row> = rows.collect();
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
    let ready = implementations::prepare(&mut suite, &order.places)?;
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
    stop::check()?;
    let side = row.scenario.side;
    let scenario = Scenario {
        side: None,
        ..row.scenario.clone()
    };
    say(&format!("{}: profiles of both builds", row.scenario.name()));
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

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use tls_harness::request::Counter;

    use super::*;

    fn row(a: Option<f64>, b: Option<f64>) -> Row {
        let scenario = r#"{"operation":"handshake","protocol":"1.3","certificate":"rsa-2048",
                "key_exchange":"X25519","resumption":"none","side":"server"}"#;
        Row {
            scenario: serde_json::from_str(scenario).unwrap(),
            unit: Unit::new("instructions/handshake"),
            counts: [a, b],
        }
    }

    #[test]
    fn a_difference_is_shown_from_the_bound_on() {
        // These quotients are exact.
        for (b, verdict) in [
            (1250.0, Verdict::More),
            (1249.0, Verdict::NoDifference),
            (751.0, Verdict::NoDifference),
            (750.0, Verdict::Fewer),
        ] {
            assert_eq!(row(Some(1000.0), Some(b)).verdict(0.25), verdict, "{b}");
        }
        for [a, b] in [[Some(1.0), None], [None, Some(1.0)], [Some(0.0), Some(1.0)]] {
            assert_eq!(row(a, b).verdict(0.01), Verdict::Absent);
        }
        assert_eq!(bound("0.2%"), Ok(0.002));
        let error = bound("0.1%").unwrap_err();
        assert!(error.starts_with("expected at least 0.2%"), "{error}");
    }

    fn comparison(rows: Vec<Row>) -> Comparison {
        let function = Function {
            name: "a|b`c".to_owned(),
            a: 1000.0,
            b: 31_000.0,
        };
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
            functions: vec![(rows[0].clone(), vec![function])],
            rows,
        }
    }

    #[test]
    fn a_comparison_prints_each_row_with_its_verdict() {
        let rows = vec![row(Some(1e6), Some(1.03e6)), row(Some(2e6), None)];
        let all = comparison(rows);
        let text = strip_str(&all.to_text().to_string()).to_string();
        let expected = "\
instructions, counted by callgrind 3.19.0 on amd64-avx2
  A  rustls-base
     rustc 1.95.0, gcc 12.2.0
  B  rustls-head
     rustc 1.95.0, clang 14.0.6
scenario (unit)                                                                A          B  B over A       B takes
TLS 1.3 full handshake, RSA-2048, X25519, server (instructions/handshake)  1,000,000  1,030,000    +3.00%          more
TLS 1.3 full handshake, RSA-2048, X25519, server (instructions/handshake)  2,000,000          –         –  not compared

TLS 1.3 full handshake, RSA-2048, X25519, server: functions that differ most
           A       B  B less A
a|b`c  1,000  31,000   +30,000

2 rows: more instructions in 1, fewer in 0, no difference of 1% or more in 0, not compared 1
";
        let plain = |text: &str| -> Vec<String> {
            let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
            text.lines().map(words).collect()
        };
        assert_eq!(plain(&text), plain(expected));
        assert!(all.is_more());
        assert!(!comparison(vec![row(Some(1e6), Some(0.5e6))]).is_more());
        assert!(all.compares() && !comparison(vec![row(Some(2e6), None)]).compares());
    }

    #[test]
    fn markdown_has_the_answer_first_and_no_broken_table() {
        let text = comparison(vec![row(Some(1e6), Some(1.03e6))]).to_markdown();
        assert!(
            text.starts_with("**1 row: more instructions in 1, "),
            "{text}"
        );
        assert!(
            text.contains("- B: `rustls-head` (rustc 1.95.0, clang 14.0.6)\n"),
            "{text}"
        );
        assert!(
            text.contains("| 1,000,000 | 1,030,000 | +3.00% | more |\n"),
            "{text}"
        );
        assert!(
            text.contains("| `a\\|b'c` | 1,000 | 31,000 | +30,000 |\n"),
            "{text}"
        );
    }

    #[test]
    fn json_has_both_builds_and_each_row_with_its_functions() {
        let found = comparison(vec![row(Some(1e6), Some(1.25e6)), row(None, Some(1.0))]).to_json();
        assert_eq!(found["builds"][1]["id"], "rustls-head");
        assert_eq!(found["counter"]["processor"], "amd64-avx2");
        let [first, second] = [0, 1].map(|number| &found["rows"][number]);
        let expected = json!({
            "scenario": "TLS 1.3 full handshake, RSA-2048, X25519, server",
            "unit": "instructions/handshake",
            "a": 1e6,
            "b": 1.25e6,
            "change": 0.25,
            "verdict": "more",
            "functions": [{"name": "a|b`c", "a": 1000.0, "b": 31_000.0}],
        });
        assert_eq!(*first, expected);
        assert_eq!(
            (&second["a"], &second["change"]),
            (&Value::Null, &Value::Null)
        );
    }

    #[test]
    fn fewer_instructions_have_a_minus_and_equal_ones_a_plus() {
        assert_eq!(signed_percent(-0.0314), "−3.14%");
        assert_eq!(signed_percent(0.0), "+0.00%");
        assert_eq!(signed_percent(0.5), "+50.00%");
        assert_eq!([0.0125, 0.1, 1.0].map(percent), ["1.25%", "10%", "100%"]);
        let of = |a, b| {
            let name = String::new();
            function(&Function { name, a, b })
        };
        let [_, a, b, change] = of(31_000.0, 1000.0);
        assert_eq!([a, b, change], ["31,000", "1,000", "−30,000"]);
        assert_eq!(of(0.0, 500.0)[3], "+500");
        let all = comparison(vec![row(Some(2e6), Some(1e6)), row(Some(1e6), Some(1e6))]);
        let sentence = all.sentence();
        assert_eq!(
            sentence,
            "2 rows: more instructions in 0, fewer in 1, no difference of 1% or more in 1"
        );
        assert!(all.to_text().to_string().contains("−50.00%"));
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
