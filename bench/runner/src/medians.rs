//! The medians of a run, for the person who has waited for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anstyle::Style;
use anyhow::{Context, Result};
use tls_harness::record::{
    Measurement, Metric, Observation, Phase, Record, Statistic, Unit, median,
};
use tls_harness::scenario::Scenario;

use crate::manifest::{Run, stored_bytes};
use crate::words::{Text, counted};

/// A table that is wider has numbers for its columns, and a list of them.
const WIDEST: usize = 120;

/// A scenario in one unit.
pub struct Row {
    pub scenario: Scenario,
    pub unit: Unit,
    /// Values of the rounds that count, by implementation.
    pub values: BTreeMap<String, Vec<f64>>,
}

impl Row {
    pub fn median(&self, implementation: &str) -> Option<f64> {
        self.values.get(implementation).map(|it| median(it))
    }
}

/// The medians of the finished run in a folder, aligned. The output that they are printed to strips
/// the style where there should be none.
pub fn table(folder: &Path) -> Result<Text> {
    let (run, rows) = finished(folder)?;
    let ids = run.implementations.iter().map(|it| it.id.as_str());
    let ids: Vec<&str> = ids.collect();
    Ok(to_text(&rows, &ids, run.rounds.unwrap_or_default()))
}

/// The finished run in a folder, with its rows.
pub fn finished(folder: &Path) -> Result<(Run, Vec<Row>)> {
    let run = Run::read(&folder.join("run.toml"))?;
    let mut records = Vec::new();
    for file in run.files.iter().filter(|it| it.format == "tlsbench/1") {
        let path = folder.join(&file.path);
        let text = String::from_utf8(stored_bytes(folder, file)?)
            .with_context(|| path.display().to_string())?;
        for line in text.lines() {
            let record: Record =
                serde_json::from_str(line).with_context(|| path.display().to_string())?;
            records.push(record);
        }
    }
    let rows = rows(&records);
    Ok((run, rows))
}

/// The rows of a run, in the order of its first round.
pub fn rows(records: &[Record]) -> Vec<Row> {
    let counted: BTreeSet<u32> = records
        .iter()
        .filter_map(|record| match record {
            Record::RoundState(state) if !state.disturbed => Some(state.round),
            _ => None,
        })
        .collect();
    let mut rows: Vec<Row> = Vec::new();
    // The order within a round is that of the suite.
    for measurement in records.iter().filter_map(|record| match record {
        Record::Measurement(it) if it.valid && counted.contains(&it.round) => Some(it),
        _ => None,
    }) {
        let Some(figure) = figure_of(measurement) else {
            continue;
        };
        let (scenario, unit) = (&measurement.scenario, figure.unit);
        let is_same = |row: &Row| row.scenario == *scenario && row.unit == unit;
        let index = rows.iter().position(is_same).unwrap_or_else(|| {
            rows.push(Row {
                scenario: scenario.clone(),
                unit,
                values: BTreeMap::new(),
            });
            rows.len() - 1
        });
        let id = measurement.implementation.clone();
        rows[index].values.entry(id).or_default().push(figure.value);
    }
    rows
}

/// The one figure that stands for a measurement: its total, or the memory that is allocated after
/// data was exchanged.
fn figure_of(measurement: &Measurement) -> Option<&Observation> {
    let mut all = measurement.observations.iter();
    all.find(|it| {
        it.statistic == Statistic::Value
            && (it.phase == Phase::Total
                || (it.phase, it.metric) == (Phase::Data, Metric::ALLOCATED))
    })
}

fn to_text(rows: &[Row], ids: &[&str], rounds: u32) -> Text {
    let mut table = vec![vec!["scenario".to_owned(), "unit".to_owned()]];
    table[0].extend(ids.iter().map(|it| (*it).to_owned()));
    for row in rows {
        let mut line = vec![row.scenario.name(), row.unit.to_string()];
        line.extend(ids.iter().map(|id| cell(row.median(id))));
        table.push(line);
    }
    let (bold, dim) = (Style::new().bold(), Style::new().dimmed());
    let mut text = Text::default();
    text.push(bold, format!("medians of {}", counted(rounds, "round")));
    let _ = writeln!(text);
    let width = |table: &[Vec<String>]| widths(table).iter().map(|it| it + 2).sum::<usize>();
    if width(&table) > WIDEST {
        for (number, id) in (1..).zip(ids) {
            let _ = writeln!(text, "  [{number}] {id}");
            table[0][number + 1] = format!("[{number}]");
        }
    }
    aligned(&mut text, &table, 2, dim);
    text
}

/// Writes the lines of a table, of which the first is its heading: so many columns to the left, the
/// others to the right.
pub fn aligned(text: &mut Text, table: &[Vec<String>], left: usize, heading: Style) {
    let widths = widths(table);
    for (number, line) in table.iter().enumerate() {
        let cells = line.iter().zip(&widths).enumerate();
        let cells = cells.map(|(index, (cell, width))| match index < left {
            true => format!("{cell:<width$}"),
            false => format!("{cell:>width$}"),
        });
        let line = cells.collect::<Vec<_>>().join("  ");
        let style = if number == 0 { heading } else { Style::new() };
        text.push(style, line.trim_end());
        let _ = writeln!(text);
    }
}

/// The widest cell of each column.
fn widths(table: &[Vec<String>]) -> Vec<usize> {
    let columns = table.first().map_or(0, Vec::len);
    let width = |column: usize| table.iter().map(|line| line[column].chars().count()).max();
    (0..columns)
        .map(|it| width(it).unwrap_or_default())
        .collect()
}

/// A figure as the cell of a table; a dash where nothing was measured.
pub fn cell(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), figure)
}

/// With three digits at least, and a comma between thousands.
pub fn figure(value: f64) -> String {
    let digits = match value.abs() {
        small if small < 10.0 => 2,
        small if small < 100.0 => 1,
        _ => 0,
    };
    let text = format!("{value:.digits$}");
    let (whole, rest) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match rest {
        "" => grouped,
        rest => format!("{grouped}.{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_median_is_the_middle_or_between_both() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(&[5.0, 1.0, 2.0, 4.0, 3.0]), 3.0);
    }

    #[test]
    fn a_figure_has_three_digits_and_commas() {
        for (value, text) in [
            (1.234, "1.23"),
            (12.34, "12.3"),
            (123.4, "123"),
            (1234.0, "1,234"),
            (1_234_567.8, "1,234,568"),
            (10.0, "10.0"),
            (100.0, "100"),
            (123_456.0, "123,456"),
        ] {
            assert_eq!(figure(value), text);
        }
    }

    fn row(scenario: &str, values: &[(&str, f64)]) -> Row {
        let values = values
            .iter()
            .map(|(id, value)| ((*id).to_owned(), vec![*value]));
        Row {
            scenario: serde_json::from_str(scenario).unwrap(),
            unit: Unit::new("MiB/s"),
            values: values.collect(),
        }
    }

    const MEMORY: &str = r#"{"operation":"memory"}"#;

    /// Operation and side; phase, metric, statistic, unit, and the value as a multiple. Lines of one
    /// scenario that follow each other are one record.
    const FIGURES: &str = "\
        handshake client,flight-1,duration,value,µs,7
        handshake client,total,duration,p50,µs,8
        handshake client,total,rate,value,handshakes/s,1
        handshake server,total,rate,value,handshakes/s,2
        handshake server invalid,total,rate,value,handshakes/s,9
        memory client,construction,allocated,value,bytes,5
        memory client,data,allocations,value,allocations,6
        memory client,data,allocated,value,bytes,0.5
        handshake client,total,instructions,value,instructions/handshake,0.25
        handshake server,flight-1,duration,value,µs,7";

    /// A round with these multiples of a value.
    fn measured(round: u32, value: f64, disturbed: bool) -> String {
        let time = "2026-11-21T08:00:00Z";
        let figures: Vec<Vec<&str>> = FIGURES
            .lines()
            .map(|line| line.trim().split(',').collect())
            .collect();
        let records = figures.chunk_by(|one, other| one[0] == other[0]);
        let records = records.map(|figures| {
            let observation = |it: &Vec<&str>| {
                let value = value * it[5].parse::<f64>().unwrap();
                json!({"phase": it[1], "metric": it[2], "statistic": it[3], "unit": it[4], "value": value})
            };
            let observations: Vec<_> = figures.iter().map(observation).collect();
            let scenario: Vec<&str> = figures[0][0].split(' ').collect();
            json!({
                "schema": 1, "kind": "measurement", "time": time, "round": round,
                "implementation": "example-1.0", "operations": 1, "elapsed_seconds": 0.5,
                "scenario": {"operation": scenario[0], "protocol": "1.3", "side": scenario[1]},
                "valid": scenario.len() == 2, "note": "why", "observations": observations,
            })
        });
        let state = json!({
            "schema": 1, "kind": "round", "time": time, "round": round, "elapsed_seconds": 4.0,
            "disturbed": disturbed,
        });
        records.chain([state]).map(|it| format!("{it}\n")).collect()
    }

    #[test]
    fn medians_exclude_invalid_figures_and_rounds_that_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let example = include_str!("../../../data/schema/run.example.toml");
        let other =
            "\n[[files]]\npath = \"raw/not-there.csv\"\nsha256 = \"\"\nbytes = 0\nformat = \"x\"\n";
        std::fs::create_dir(folder.path().join("raw")).unwrap();
        let rounds = [
            measured(1, 100.0, false),
            measured(2, 8000.0, true),
            measured(3, 140.0, false),
            measured(4, 120.0, false),
        ];
        let rounds = rounds.concat();
        std::fs::write(folder.path().join("raw/records.jsonl"), &rounds).unwrap();
        let bytes = format!("bytes = {}\n", rounds.len());
        let manifest = example.replacen("bytes = 0\n", &bytes, 1) + other;
        std::fs::write(folder.path().join("run.toml"), manifest).unwrap();
        let text = strip_str(&table(folder.path()).unwrap().to_string()).to_string();
        let expected = [
            "medians of 6 rounds",
            "scenario unit example-1.0",
            "TLS 1.3 handshake, client handshakes/s 120",
            "TLS 1.3 handshake, server handshakes/s 240",
            "TLS 1.3 memory, client bytes 60.0",
            "TLS 1.3 handshake, client instructions/handshake 30.0",
        ];
        let plain = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(text.lines().map(plain).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [
            row(MEMORY, &[("x", 1000.0)]),
            row(
                r#"{"operation":"primitive","variant":"a"}"#,
                &[("x", 5.0), ("yy", 7.0)],
            ),
        ];
        let expected = "medians of 3 rounds\n\
                        scenario      unit       x    yy\n\
                        memory        MiB/s  1,000     –\n\
                        primitive, a  MiB/s   5.00  7.00\n";
        let styled = to_text(&rows, &["x", "yy"], 3).to_string();
        assert_eq!(strip_str(&styled).to_string(), expected);
        // No style encloses the end of a line.
        assert!(!styled.contains("\n\u{1b}[0m"), "{styled:?}");
        let text = strip_str(&to_text(&rows, &["x", "yy"], 1).to_string()).to_string();
        assert!(text.starts_with("medians of 1 round\n"), "{text}");
    }

    #[test]
    fn a_table_that_would_be_too_wide_has_numbered_columns() {
        let (one, two) = ("o".repeat(70), "t".repeat(70));
        let text = to_text(&[row(MEMORY, &[(&one, 1.0)])], &[&one, &two], 3).to_string();
        let text = strip_str(&text).to_string();
        assert!(text.contains(&format!("  [2] {two}\n")), "{text}");
        assert!(text.contains("scenario  unit    [1]  [2]\n"), "{text}");
        // The other columns take 17 characters.
        for (length, is_numbered) in [(101, false), (102, true)] {
            let id = "x".repeat(length);
            let text = to_text(&[row(MEMORY, &[(&id, 1.0)])], &[&id], 3).to_string();
            assert_eq!(text.contains("[1]"), is_numbered, "{length}");
        }
    }
}
