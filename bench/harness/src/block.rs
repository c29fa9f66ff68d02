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
