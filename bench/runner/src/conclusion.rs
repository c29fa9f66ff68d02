//! The warnings of a finished run, and the precision that it reached.

use tls_harness::scenario::Scenario;

use crate::manifest::RunWarning;
use crate::precision::{half_width, is_precise};
use crate::session::Session;
use crate::warnings;

pub fn warnings(session: &Session) -> Vec<RunWarning> {
    let mut warnings = failed_blocks(session);
    warnings.extend(disturbed_rounds(session));
    let sensors = session.root.unreadable();
    warnings.extend(sensors.iter().map(|it| warnings::unreadable_sensor(it)));
    match session.history.interruptions() {
        0 => {}
        times => warnings.push(warnings::interrupted(times)),
    }
    warnings.extend(session.disk_was_full.then(warnings::disk_full));
    let stepped = session.stepped.map(|by| by.as_secs_f64());
    warnings.extend(stepped.map(warnings::stepped_clock));
    warnings.extend(imprecise(session));
    warnings
}

/// Text that states after how many rounds each median reached the requested precision.
pub fn precision(session: &Session) -> Vec<String> {
    let Some(target) = session.until_precise else {
        return Vec::new();
    };
    let percent = |share: f64| format!("±{:.2}%", share * 100.0);
    let rates = session.history.rates().into_iter();
    rates
        .map(|((scenario, id), rates)| {
            let precise = |count: &usize| is_precise(&rates[..*count], target);
            let first = (1..=rates.len()).find(precise);
            let first = first.map_or("never".to_owned(), |count| format!("{count} rounds"));
            let end = half_width(&rates).map_or("too few rounds".to_owned(), |width| {
                format!("{} after {}", percent(width), rates.len())
            });
            format!("{scenario}, {id}: {first} to {}; {end}", percent(target))
        })
        .collect()
}

fn failed_blocks(session: &Session) -> Vec<RunWarning> {
    let failures = session.history.failures();
    failures
        .map(|(block, implementation, blocks, reason)| {
            let scenario = session.suite.scenarios.get(block as usize);
            let scenario = scenario.map(Scenario::name).unwrap_or_default();
            warnings::failed_blocks(implementation, &scenario, blocks, reason)
        })
        .collect()
}

fn disturbed_rounds(session: &Session) -> Option<RunWarning> {
    let history = &session.history;
    let rounds = history.rounds.iter();
    let disturbed = rounds
        .filter(|state| !state.disturbed && !state.reasons.is_empty())
        .count();
    let most = session.suite.most_repeats();
    (disturbed > 0).then(|| {
        let (counted, repeated) = (history.counted(), history.repeats());
        warnings::disturbed_rounds_counted(disturbed, counted, repeated, most)
    })
}

fn imprecise(session: &Session) -> Option<RunWarning> {
    let target = session.until_precise?;
    let rates = session.history.rates();
    let imprecise = rates.values().filter(|rates| !is_precise(rates, target));
    let medians = imprecise.count();
    (medians > 0).then(|| warnings::imprecise(medians, target, session.history.counted()))
}
