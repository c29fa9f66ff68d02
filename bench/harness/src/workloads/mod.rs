//! Measures one block: warm-up, then a window of time on every thread, then records.

pub mod client_hello;
pub mod handshake;
pub mod memory;
pub mod primitives;
pub mod transfer;

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, anyhow, ensure};
use jiff::Timestamp;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::{
    clock, counters,
    latency::Latencies,
    library::{Setup, TlsLibrary},
    noop::NoopLibrary,
    record::{
        Block, Measurement, Metric, Observation, Overhead, Phase, Record, Schema, Statistic,
        Status, Unit,
    },
    request::Request,
    scenario::{Operation, Side},
    transport::Transport,
};

use self::{
    client_hello::ClientHelloBench,
    handshake::{HandshakeBench, Phases},
    primitives::Primitive,
    transfer::{Batch, MEBIBYTE},
};

/// A warm-up has at least so many handshakes or batches, however short its time.
const LEAST_WARM_UP: u32 = 4;

/// How long, and how often, the empty library is driven.
const OVERHEAD_WINDOW: Duration = Duration::from_millis(1);
const OVERHEAD_WINDOWS: u32 = 5;

/// Measures what `request` asks for; the block mark comes last.
///
/// # Errors
/// The scenario can't be understood, or a handshake or a transfer came to something else than the
/// scenario says.
pub fn block<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    let start = Instant::now();
    let counted = request.counter.is_some();
    let reason = library.unsupported(&request.scenario).or_else(|| {
        counted
            .then(|| counters::unsupported(library, request))
            .flatten()
    });
    let mut records = Vec::new();
    if reason.is_none() && counted {
        records = instructions(request)?;
    } else if reason.is_none() {
        records = own_cost(request)?;
        records.extend(match request.scenario.operation {
            Operation::Handshake => handshakes(library, request),
            Operation::Transfer => transfers(library, request),
            Operation::ClientHello => client_hellos(library, request),
            Operation::Memory => memory_of(library, request),
            Operation::Primitive => primitives(library, request),
        }?);
    }
    records.push(Record::Block(Block {
        schema: Schema,
        time: Timestamp::now(),
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

/// What the harness itself costs in this scenario, for each side that it has: the driver run with a
/// library that does nothing, on as many threads.
///
/// # Errors
/// The scenario can't be understood.
pub fn own_cost(request: &Request) -> Result<Vec<Record>> {
    match request.scenario.operation {
        Operation::Handshake => empty_handshakes(request),
        Operation::Transfer => empty_transfers(request),
        Operation::ClientHello => empty_client_hellos(request),
        Operation::Primitive => empty_primitives(request),
        Operation::Memory => empty_memory(request),
    }
}

/// How long to warm up, and how long to measure.
fn windows(request: &Request) -> Result<[Duration; 2]> {
    let window = |seconds| {
        Duration::try_from_secs_f64(seconds)
            .with_context(|| format!("{seconds} s is no span of time"))
    };
    Ok([
        window(request.warmup_seconds)?,
        window(request.measure_seconds)?,
    ])
}

fn measurement(
    request: &Request,
    side: impl Into<Option<Side>>,
    operations: u64,
    elapsed: impl Into<Option<Duration>>,
    observations: Vec<Observation>,
) -> Measurement {
    Measurement {
        schema: Schema,
        time: Timestamp::now(),
        round: request.round,
        implementation: request.implementation.clone(),
        scenario: request.scenario.on(side),
        observations,
        operations,
        elapsed_seconds: elapsed.into().map(|it| it.as_secs_f64()),
        per_thread: None,
        histogram: None,
        valid: true,
        note: None,
    }
}

fn duration(phase: Phase, time: Duration, operations: u64) -> Observation {
    Observation {
        phase,
        metric: Metric::Duration,
        statistic: Statistic::Value,
        value: mean(time, operations) / 1e3,
        unit: Unit::Microseconds,
    }
}

fn rate(value: f64, unit: Unit) -> Observation {
    Observation {
        phase: Phase::Total,
        metric: Metric::Rate,
        statistic: Statistic::Value,
        value,
        unit,
    }
}

/// What one thread has done in one role, or without one.
struct Work {
    operations: u64,
    /// In what the unit of the rate counts.
    amount: f64,
    time: Duration,
}

/// The record of one role: the threads' rates, and their sum as first observation.
fn role(
    request: &Request,
    side: impl Into<Option<Side>>,
    unit: Unit,
    threads: impl Iterator<Item = Work>,
) -> Measurement {
    let (mut operations, mut elapsed, mut rates) = (0, Duration::ZERO, Vec::new());
    for work in threads {
        operations += work.operations;
        elapsed += work.time;
        rates.push(work.amount / work.time.as_secs_f64());
    }
    let observations = vec![rate(rates.iter().sum(), unit)];
    Measurement {
        per_thread: (rates.len() > 1).then_some(rates),
        ..measurement(request, side, operations, elapsed, observations)
    }
}

/// Records of the harness' own cost, for each side. On every thread of the scenario, `drive` gets
/// the empty library ready, lets go of the gate and tells the nanoseconds of each side; the mean
/// of the threads counts.
fn overheads<const N: usize>(
    request: &Request,
    sides: [impl Into<Option<Side>>; N],
    drive: impl Fn(Gate<'_>) -> Result<[f64; N]> + Sync,
) -> Result<Vec<Record>> {
    let threads = on_threads(request, drive)?;
    let records = sides.into_iter().enumerate().map(|(index, side)| {
        let sum: f64 = threads.iter().map(|thread| thread[index]).sum();
        Record::Overhead(Overhead {
            nanoseconds: Some(sum / threads.len() as f64),
            ..overhead(request, side)
        })
    });
    Ok(records.collect())
}

fn overhead(request: &Request, side: impl Into<Option<Side>>) -> Overhead {
    Overhead {
        schema: Schema,
        time: Timestamp::now(),
        round: request.round,
        implementation: request.implementation.clone(),
        clock_nanoseconds: clock::cost(),
        scenario: request.scenario.on(side),
        nanoseconds: None,
        bytes: None,
    }
}

/// The least of several windows' means, since whatever else runs on the host can only add to it.
fn least<const N: usize>(mut window: impl FnMut() -> Result<[f64; N]>) -> Result<[f64; N]> {
    let mut least = [f64::INFINITY; N];
    for _ in 0..OVERHEAD_WINDOWS {
        for (least, mean) in least.iter_mut().zip(window()?) {
            *least = least.min(mean);
        }
    }
    Ok(least)
}

/// Nanoseconds per operation.
fn mean(time: Duration, operations: u64) -> f64 {
    time.as_nanos() as f64 / operations as f64
}

/// Held by a thread until it is ready. Letting go of it, by failing too, waits for all others.
struct Gate<'a>(&'a Barrier);

impl Drop for Gate<'_> {
    fn drop(&mut self) {
        self.0.wait();
    }
}

/// Runs `work` on as many threads as the scenario says: each prepares, drops its gate, and then
/// all measure at once. One thread is started like many.
///
/// # Errors
/// The first thread that failed.
fn on_threads<R: Send>(
    request: &Request,
    work: impl Fn(Gate<'_>) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let threads = request.scenario.threads.unwrap_or(1) as usize;
    ensure!(threads > 0, "threads is 0, expected at least 1");
    let (barrier, work) = (Barrier::new(threads), &work);
    thread::scope(|scope| {
        let spawned: Vec<_> = (0..threads)
            .map(|index| {
                let gate = Gate(&barrier);
                scope.spawn(move || {
                    if request.pinned {
                        pin(index)?;
                    }
                    work(gate)
                })
            })
            .collect();
        spawned
            .into_iter()
            .map(|thread| thread.join().map_err(|_| anyhow!("a thread panicked"))?)
            .collect()
    })
}

/// Binds this thread to one of the logical processors that the process may use, by turns.
fn pin(index: usize) -> Result<()> {
    let allowed = sched_getaffinity(None)?;
    let processors: Vec<usize> = (0..CpuSet::MAX_CPU)
        .filter(|processor| allowed.is_set(*processor))
        .collect();
    let mut one = CpuSet::new();
    one.set(processors[index % processors.len()]);
    Ok(sched_setaffinity(None, &one)?)
}

/// Calls `work` for a span of time, and at least `least` times.
fn repeat(span: Duration, least: u32, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    let mut count = 0;
    while count < least || start.elapsed() < span {
        work()?;
        count += 1;
    }
    Ok(())
}

/// What one thread has measured of handshakes.
#[derive(Default)]
struct Handshakes {
    operations: u64,
    times: handshake::Times,
    /// Client and server, if asked for.
    latencies: Option<[Latencies; 2]>,
    /// From the gate to the end of the last handshake.
    window: Option<(Instant, Instant)>,
}

impl Handshakes {
    fn new(latency: bool) -> Result<Self> {
        let latencies = || -> Result<_> { Ok([Latencies::new()?, Latencies::new()?]) };
        Ok(Self {
            latencies: latency.then(latencies).transpose()?,
            ..Self::default()
        })
    }

    fn add(&mut self, times: &handshake::Times) -> Result<()> {
        self.operations += 1;
        self.times += times;
        if let Some([client, server]) = &mut self.latencies {
            client.add(times.client.total())?;
            server.add(times.server.total())?;
        }
        Ok(())
    }
}

fn handshakes<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    let scenario = &request.scenario;
    let [warmup, measure] = windows(request)?;
    handshake::prove_verification(library, scenario)?;
    let server_config = library.server_config(&Setup::server(scenario)?)?;
    let threads = on_threads(request, |gate| {
        let stage = HandshakeBench::new(
            library,
            &server_config,
            scenario,
            Transport::HANDSHAKE_CAPACITY,
        )?;
        stage.prepare()?;
        repeat(warmup, LEAST_WARM_UP, || {
            stage.handshake(stage.resumes()).map(drop)
        })?;
        drop(gate);
        let mut sum = Handshakes::new(request.latency)?;
        let start = Instant::now();
        repeat(measure, 1, || {
            sum.add(&stage.handshake(stage.resumes())?.times)
        })?;
        sum.window = Some((start, Instant::now()));
        Ok(sum)
    })?;
    let mut records: Vec<_> = [Side::Client, Side::Server]
        .into_iter()
        .map(|side| handshake_side(request, side, &threads))
        .collect::<Result<_>>()?;
    if request.throughput {
        records.push(throughput(request, &threads)?);
    }
    Ok(records)
}

/// What all threads together did by the wall clock: handshakes from the barrier to the end of the
/// last thread, with both roles and the harness' checks in them.
fn throughput(request: &Request, threads: &[Handshakes]) -> Result<Record> {
    let windows: Vec<_> = threads.iter().filter_map(|thread| thread.window).collect();
    let start = windows.iter().map(|(start, _)| *start).min();
    let end = windows.iter().map(|(_, end)| *end).max();
    let wall = start.zip(end).map(|(start, end)| end - start);
    let wall = wall.context("no thread measured")?;
    let operations: u64 = threads.iter().map(|thread| thread.operations).sum();
    let rates = threads.iter().zip(&windows);
    let rates = rates
        .map(|(thread, (start, end))| thread.operations as f64 / (*end - *start).as_secs_f64());
    let value = operations as f64 / wall.as_secs_f64();
    Ok(Record::Measurement(Measurement {
        per_thread: (threads.len() > 1).then(|| rates.collect()),
        ..measurement(
            request,
            None,
            operations,
            wall,
            vec![rate(value, Unit::HandshakesPerSecond)],
        )
    }))
}

fn handshake_side(request: &Request, side: Side, threads: &[Handshakes]) -> Result<Record> {
    let phases = |thread: &Handshakes| match side {
        Side::Client => thread.times.client.clone(),
        _ => thread.times.server.clone(),
    };
    let work = threads.iter().map(|thread| Work {
        operations: thread.operations,
        amount: thread.operations as f64,
        time: phases(thread).total(),
    });
    let mut record = role(request, side, Unit::HandshakesPerSecond, work);
    let mut sum = Phases::default();
    for thread in threads {
        sum += &phases(thread);
    }
    let named = sum.named().into_iter();
    let durations = named.map(|(phase, time)| duration(phase, time, record.operations));
    record.observations.extend(durations);
    let latencies = threads.iter().filter_map(|thread| {
        let [client, server] = thread.latencies.as_ref()?;
        Some(match side {
            Side::Client => client,
            _ => server,
        })
    });
    if let Some(latencies) = Latencies::merged(latencies)? {
        record.observations.extend(latencies.observations());
        record.histogram = Some(latencies.encode()?);
    }
    Ok(Record::Measurement(record))
}

/// What the harness itself costs in a handshake of this scenario, for client and server.
fn empty_handshakes(request: &Request) -> Result<Vec<Record>> {
    let scenario = &request.scenario;
    overheads(request, [Side::Client, Side::Server], |gate| {
        let server = NoopLibrary.server_config(&Setup::server(scenario)?)?;
        let stage = HandshakeBench::new(
            &NoopLibrary,
            &server,
            scenario,
            Transport::HANDSHAKE_CAPACITY,
        )?;
        let mut sum = Handshakes::new(request.latency)?;
        drop(gate);
        least(|| {
            (sum.operations, sum.times) = Default::default();
            repeat(OVERHEAD_WINDOW, 1, || sum.add(&stage.unchecked()?.times))?;
            Ok([&sum.times.client, &sum.times.server]
                .map(|role| mean(role.total(), sum.operations)))
        })
    })
}

/// What one thread has measured of transfers.
#[derive(Default)]
struct Transfers {
    writes: u64,
    bytes: u64,
    times: transfer::Times,
}

impl Transfers {
    fn add(&mut self, batch: &Batch, times: transfer::Times) {
        self.writes += batch.writes() as u64;
        self.bytes += batch.bytes() as u64;
        self.times.sender += times.sender;
        self.times.receiver += times.receiver;
    }
}

fn transfers<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    let scenario = &request.scenario;
    let [warmup, measure] = windows(request)?;
    handshake::prove_verification(library, scenario)?;
    let server_config = library.server_config(&Setup::server(scenario)?)?;
    let threads = on_threads(request, |gate| {
        let mut batch = Batch::new(scenario)?;
        let stage = HandshakeBench::new(library, &server_config, scenario, batch.capacity())?;
        ensure!(
            !stage.resumes(),
            "a transfer that resumes can't be measured"
        );
        let mut pair = stage.handshake(false)?;
        stage.transport.clear();
        let mut run = |batch: &mut Batch| -> Result<transfer::Times> {
            let times = batch.run(&mut pair)?;
            batch.check(&stage.transport)?;
            Ok(times)
        };
        repeat(warmup, LEAST_WARM_UP, || run(&mut batch).map(drop))?;
        drop(gate);
        let mut sum = Transfers::default();
        repeat(measure, 1, || {
            let times = run(&mut batch)?;
            sum.add(&batch, times);
            Ok(())
        })?;
        Ok(sum)
    })?;
    Ok([Side::Sender, Side::Receiver]
        .map(|side| {
            let work = threads.iter().map(|thread| Work {
                operations: thread.writes,
                amount: thread.bytes as f64 / MEBIBYTE,
                time: match side {
                    Side::Sender => thread.times.sender,
                    _ => thread.times.receiver,
                },
            });
            Record::Measurement(role(request, side, Unit::MebibytesPerSecond, work))
        })
        .into())
}

/// What the harness itself costs in a write of this scenario, for sender and receiver.
fn empty_transfers(request: &Request) -> Result<Vec<Record>> {
    let scenario = &request.scenario;
    overheads(request, [Side::Sender, Side::Receiver], |gate| {
        let mut batch = Batch::new(scenario)?;
        let server = NoopLibrary.server_config(&Setup::server(scenario)?)?;
        let stage = HandshakeBench::new(&NoopLibrary, &server, scenario, batch.capacity())?;
        let mut pair = stage.unchecked()?;
        drop(gate);
        least(|| {
            let mut sum = Transfers::default();
            repeat(OVERHEAD_WINDOW, 1, || {
                stage.transport.clear();
                let times = batch.run(&mut pair)?;
                sum.add(&batch, times);
                Ok(())
            })?;
            Ok([sum.times.sender, sum.times.receiver].map(|role| mean(role, sum.writes)))
        })
    })
}

/// What one thread has measured of ClientHellos.
#[derive(Default)]
struct ClientHellos {
    operations: u64,
    times: client_hello::Times,
}

impl ClientHellos {
    fn add(&mut self, times: client_hello::Times) {
        self.operations += 1;
        self.times.construction += times.construction;
        self.times.flight += times.flight;
    }

    fn total(&self) -> Duration {
        self.times.construction + self.times.flight
    }
}

fn client_hellos<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    let scenario = &request.scenario;
    let [warmup, measure] = windows(request)?;
    let threads = on_threads(request, |gate| {
        let speaker = ClientHelloBench::new(library, scenario)?;
        repeat(warmup, LEAST_WARM_UP, || speaker.speak().map(drop))?;
        drop(gate);
        let mut sum = ClientHellos::default();
        repeat(measure, 1, || {
            sum.add(speaker.speak()?);
            Ok(())
        })?;
        Ok(sum)
    })?;
    let work = threads.iter().map(|thread| Work {
        operations: thread.operations,
        amount: thread.operations as f64,
        time: thread.times.construction + thread.times.flight,
    });
    let mut record = role(request, Side::Client, Unit::OperationsPerSecond, work);
    let sum = |pick: fn(&client_hello::Times) -> Duration| {
        threads.iter().map(|thread| pick(&thread.times)).sum()
    };
    let operations = record.operations;
    record.observations.extend([
        duration(Phase::Construction, sum(|it| it.construction), operations),
        duration(Phase::Flight1, sum(|it| it.flight), operations),
    ]);
    Ok(vec![Record::Measurement(record)])
}

/// What the harness itself costs in a ClientHello.
fn empty_client_hellos(request: &Request) -> Result<Vec<Record>> {
    overheads(request, [Side::Client], |gate| {
        let empty = NoopLibrary.client_config(&Setup::client(&request.scenario)?)?;
        let transport = Transport::new(Transport::HANDSHAKE_CAPACITY);
        drop(gate);
        least(|| {
            let mut sum = ClientHellos::default();
            repeat(OVERHEAD_WINDOW, 1, || {
                transport.clear();
                sum.add(client_hello::run(&NoopLibrary, &empty, &transport)?);
                Ok(())
            })?;
            Ok([mean(sum.total(), sum.operations)])
        })
    })
}

fn memory_of<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    handshake::prove_verification(library, &request.scenario)?;
    let one = |side| -> Result<Record> {
        let found = memory::measure(&request.scenario, side)?;
        Ok(Record::Measurement(measurement(
            request,
            side,
            found.connections,
            found.elapsed,
            found.observations,
        )))
    };
    // No time is taken, so both may have the host at once.
    thread::scope(|scope| {
        let server = scope.spawn(|| one(Side::Server));
        let client = one(Side::Client);
        let server = server.join().map_err(|_| anyhow!("a thread panicked"))?;
        Ok(vec![client?, server?])
    })
}

fn primitives<L: TlsLibrary>(library: &L, request: &Request) -> Result<Vec<Record>> {
    let [warmup, measure] = windows(request)?;
    let primitive = Primitive::of(&request.scenario)?;
    let cryptography = library.cryptography()?;
    primitive.prove(cryptography)?;
    let (amount, unit) = match primitive.bytes() {
        Some(bytes) => (bytes as f64 / MEBIBYTE, Unit::MebibytesPerSecond),
        None => (1.0, Unit::OperationsPerSecond),
    };
    let threads = on_threads(request, |gate| {
        let mut batch = primitive.batch(cryptography)?;
        let mut run = || -> Result<Duration> {
            let time = batch.run()?;
            batch.check()?;
            Ok(time)
        };
        repeat(warmup, LEAST_WARM_UP, || run().map(drop))?;
        drop(gate);
        let (mut batches, mut time) = (0, Duration::ZERO);
        repeat(measure, 1, || {
            time += run()?;
            batches += 1;
            Ok(())
        })?;
        let operations = batches * batch.operations() as u64;
        Ok(Work {
            operations,
            amount: operations as f64 * amount,
            time,
        })
    })?;
    let record = role(request, None, unit, threads.into_iter());
    Ok(vec![Record::Measurement(record)])
}

/// What the harness itself costs in one operation of a primitive.
fn empty_primitives(request: &Request) -> Result<Vec<Record>> {
    let primitive = Primitive::of(&request.scenario)?;
    overheads(request, [None::<Side>], |gate| {
        let mut batch = primitive.batch(&NoopLibrary)?;
        drop(gate);
        least(|| {
            let (mut operations, mut time) = (0, Duration::ZERO);
            repeat(OVERHEAD_WINDOW, 1, || {
                time += batch.run()?;
                operations += batch.operations() as u64;
                Ok(())
            })?;
            Ok([mean(time, operations)])
        })
    })
}

/// Bytes of a connection that does nothing, or of all of them where the variant names a number.
fn empty_memory(request: &Request) -> Result<Vec<Record>> {
    [Side::Client, Side::Server]
        .into_iter()
        .map(|side| {
            Ok(Record::Overhead(Overhead {
                bytes: Some(memory::own_cost(&request.scenario, side)?),
                ..overhead(request, side)
            }))
        })
        .collect()
}

/// Instructions instead of time.
fn instructions(request: &Request) -> Result<Vec<Record>> {
    counters::sides(&request.scenario)
        .iter()
        .map(|&side| {
            let found = counters::measure(&request.scenario, side)?;
            Ok(Record::Measurement(measurement(
                request,
                side,
                found.operations,
                None,
                found.observations,
            )))
        })
        .collect()
}
