//! The records of one block: whether they answer its request, and whether the tools accept them. It
//! is asked when a program has measured, and of a journal when its run resumes.

use tls_harness::noop::NoopLibrary;
use tls_harness::record::{Measurement, Record, Status};
use tls_harness::request::{Counter, Request};
use tls_harness::scenario::Operation;
use tls_harness::workloads;

/// The records in the output of a program, which answer a request.
pub fn parsed(output: &[u8], request: &Request) -> Result<Vec<Record>, String> {
    let text = std::str::from_utf8(output).map_err(|error| format!("output: {error}"))?;
    if !text.ends_with('\n') {
        return Err("output: expected complete lines".to_owned());
    }
    let at = |line: usize, what: &str| format!("output, line {line}: {what}");
    let mut records = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let record = serde_json::from_str(line).map_err(|it| at(index + 1, &it.to_string()))?;
        records.push(record);
    }
    match check(&records, request) {
        Err((index, what)) => Err(at(index + 1, &what)),
        Ok(()) => match records.last() {
            Some(Record::Block(block)) if block.status == Status::Failed => {
                Err(block.reason.clone().unwrap_or_default())
            }
            _ => Ok(records),
        },
    }
}

/// Checks that the records answer a request, and that the last one is their mark. An error has the
/// index of a record.
pub fn check(records: &[Record], request: &Request) -> Result<(), (usize, String)> {
    let mut measured = Vec::new();
    for (index, record) in records.iter().enumerate() {
        let is_last = index + 1 == records.len();
        check_place(record, request)
            .and_then(|()| match record {
                Record::Measurement(it) if measured.contains(&&it.scenario) => {
                    Err(format!("{} again, expected it once", it.scenario.name()))
                }
                Record::Measurement(it) => {
                    measured.push(&it.scenario);
                    check_measurement(it, request)
                }
                Record::Block(it) => match (it.status, measured.is_empty()) {
                    _ if !is_last => Err("a block mark, expected it as the last line".to_owned()),
                    (Status::Measured, true) => Err("measured, but no measurement".to_owned()),
                    (Status::Absent, false) => Err("absent, but with a measurement".to_owned()),
                    _ => Ok(()),
                },
                Record::Overhead(_) | Record::RoundState(_) => Ok(()),
            })
            .and_then(|()| record.check())
            .map_err(|what| (index, what))?;
    }
    match records.last() {
        Some(Record::Block(_)) => Ok(()),
        _ => Err((records.len(), "nothing, expected a block mark".to_owned())),
    }
}

/// Checks which block a record is of.
fn check_place(record: &Record, request: &Request) -> Result<(), String> {
    let (session, round, implementation) = match record {
        Record::Measurement(it) => (it.session, it.round, &it.implementation),
        Record::Overhead(it) => (it.session, it.round, &it.implementation),
        Record::Block(it) => (it.session, it.round, &it.implementation),
        Record::RoundState(_) => return Err("a round record, expected none".to_owned()),
    };
    let expected = (request.session, request.round, &request.implementation);
    if (session, round, implementation) != expected {
        return Err(format!(
            "session {session}, round {round} of {implementation}, expected session {}, round {} \
             of {}",
            expected.0, expected.1, expected.2
        ));
    }
    match record {
        Record::Block(it) if it.block != request.block => {
            Err(format!("block {}, expected {}", it.block, request.block))
        }
        Record::Overhead(it) if it.scenario != request.scenario.on(it.scenario.side) => {
            let (found, expected) = (it.scenario.name(), request.scenario.name());
            Err(format!("overhead of {found}, expected {expected}"))
        }
        _ => Ok(()),
    }
}

/// Checks what a measurement is of.
fn check_measurement(found: &Measurement, request: &Request) -> Result<(), String> {
    let operation = request.scenario.operation;
    let sideless =
        request.throughput || operation == Operation::Connection || !operation.has_sides();
    let sides = workloads::of::<NoopLibrary>(operation).sides();
    let has_side = match found.scenario.side {
        Some(_) => sides.contains(&found.scenario.side),
        None => sideless,
    };
    if !has_side || found.scenario != request.scenario.on(found.scenario.side) {
        return Err(format!(
            "measured {}, expected {}",
            found.scenario.name(),
            request.scenario.name()
        ));
    }
    let counts = |metric| match request.counter {
        Some(counter) => counter.counts(metric),
        None => !Counter::Callgrind.counts(metric),
    };
    if !found.observations.iter().all(|it| counts(it.metric)) {
        return Err("time and counts in one run".to_owned());
    }
    if found.layout != request.layout {
        let (found, expected) = (found.layout, request.layout);
        return Err(format!("layout {found}, expected {expected}"));
    }
    Ok(())
}
