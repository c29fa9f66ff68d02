//! Measures one block: the records of its scenario, then the block mark.

use std::time::Instant;

use anyhow::Result;

use crate::{
    clock, counters,
    library::TlsLibrary,
    record::{Block, Record, Schema, Status},
    request::Request,
    workloads,
};

/// Measures what `request` asks for; the block mark comes last.
///
/// # Errors
/// The scenario is not valid, or an operation failed or had another result than the scenario says.
pub fn measure<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    let start = Instant::now();
    let scenario = &request.scenario;
    let workload = workloads::of::<L>(scenario.operation);
    if let Some(variant) = &scenario.variant {
        variant.check(scenario.operation, workload.variants())?;
    }
    let counted = request.counter.is_some();
    let reason = library.unsupported(scenario).or_else(|| {
        counted
            .then(|| counters::unsupported(library, request))
            .flatten()
    });
    let mut records = match (&reason, counted) {
        (Some(_), _) => Vec::new(),
        (None, true) => counters::measure(request)?,
        (None, false) => {
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
