//! The warnings of a finished run, and the precision that it reached.

use tls_harness::scenario::Scenario;

use crate::manifest::RunWarning;
use crate::medians::Row;
use crate::precision::{half_width, is_precise};
use crate::session::Session;
use crate::warnings;

/// `rows` are the medians, if their precision was requested.
pub fn warnings(session: &Session, rows: &[Row]) -> Vec<RunWarning> {
    let history = &session.history;
    let mut warnings = Vec::new();
    for (block, implementation, blocks, reason) in history.failures() {
        let scenario = session.suite.scenarios.get(block as usize);
        let scenario = scenario.map(Scenario::name).unwrap_or_default();
        let warning = warnings::failed_blocks(implementation, &scenario, blocks, reason);
        warnings.push(warning);
    }
    let rounds = history.rounds.iter();
    let disturbed = rounds.filter(|state| !state.disturbed && !state.reasons.is_empty());
    match disturbed.count() {
        0 => {}
        disturbed => warnings.push(warnings::disturbed_rounds_counted(
            disturbed,
            history.counted(),
            history.repeats(),
            session.suite.most_repeats(),
        )),
    }
    let sensors = session.root.unreadable();
    warnings.extend(sensors.iter().map(|it| warnings::unreadable_sensor(it)));
    match history.interruptions() {
        0 => {}
        times => warnings.push(warnings::interrupted(times)),
    }
    warnings.extend(session.disk_was_full.then(warnings::disk_full));
    let stepped = session.stepped.map(|by| by.as_secs_f64());
    warnings.extend(stepped.map(warnings::stepped_clock));
    if let Some(target) = session.until_precise {
        let medians = rows.iter().flat_map(|row| row.values.values());
        match medians.filter(|values| !is_precise(values, target)).count() {
            0 => {}
            medians => warnings.push(warnings::imprecise(medians, target, history.counted())),
        }
    }
    warnings
}

/// Text that states after how many rounds each median reached the requested precision.
pub fn precision(rows: &[Row], target: f64) -> Vec<String> {
    let percent = |share: f64| format!("±{:.2}%", share * 100.0);
    let mut lines = Vec::new();
    for row in rows {
        for (id, values) in &row.values {
            let precise = |count: &usize| is_precise(&values[..*count], target);
            let first = (1..=values.len()).find(precise);
            let first = first.map_or("never".to_owned(), |count| format!("{count} rounds"));
            let end = half_width(values).map_or("too few rounds".to_owned(), |width| {
                format!("{} after {}", percent(width), values.len())
            });
            let (scenario, target) = (row.scenario.name(), percent(target));
            lines.push(format!("{scenario}, {id}: {first} to {target}; {end}"));
        }
    }
    lines
}
