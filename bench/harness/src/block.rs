//! Measures one block and returns the records of its scenario, followed by the block mark.

use std::time::Instant;

use anyhow::Result;

use crate::{
    clock, counters,
    library::TlsLibrary,
    record::{Block, Record, Schema, Status},
    request::Request,
    workloads,
};

/// Measures the scenario of `request`. The last record is the block mark.
pub fn measure<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    let start = Instant::now();
    let scenario = &request.scenario;
    let workload = workloads::of::<L>(scenario.operation);
    if let Some(variant) = &scenario.variant {
        variant.check(scenario.operation, workload.variants())?;
    }
    let mut reason = library.unsupported(scenario);
    if reason.is_none() && request.counter.is_some() {
        reason = counters::unsupported(library, request);
    }
    if reason.is_none() {
        reason = workload.unsupported(library, scenario)?;
    }
    let mut records = match (&reason, request.counter) {
        (Some(_), _) => Vec::new(),
        (None, Some(counter)) => counters::measure(library, request, counter)?,
        (None, None) => {
            let mut records = workload.own_cost(request)?;
            records.extend(workload.measure(library, request)?);
            records
        }
    };
    records.push(Record::Block(Block {
        schema: Schema,
        time: clock::date(),
        session: request.session,
        round: request.round,
        block: request.block,
        implementation: request.implementation.clone(),
        status: match reason {
            None => Status::Measured,
            Some(_) => Status::Absent,
        },
        reason,
        elapsed_seconds: start.elapsed().as_secs_f64(),
    }));
    Ok(records)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noop::NoopLibrary;

    #[test]
    fn a_mark_has_the_names_and_numbers_of_its_request() {
        // It cannot be counted.
        let text = r#"{"schema":1,"session":5,"round":3,"block":7,"implementation":"a-1",
            "scenario":{"operation":"handshake","threads":2},"counter":"callgrind",
            "measure_seconds":0.5,"warmup_seconds":0.1}"#;
        let records = measure(&NoopLibrary, &serde_json::from_str(text).unwrap()).unwrap();
        let [Record::Block(mark)] = &records[..] else {
            panic!("{records:?} is not one mark");
        };
        assert_eq!((mark.session, mark.round, mark.block), (5, 3, 7));
        assert_eq!(
            (mark.implementation.as_str(), mark.status),
            ("a-1", Status::Absent)
        );
        assert!(mark.reason.is_some());
    }
}
