//! Instructions of one role, counted by callgrind: the measure without noise.
//!
//! Fresh processes under valgrind make a fixed number of handshakes, batches or ClientHellos with
//! the drivers that time them too, and have the instructions of one role's calls into the library
//! counted. Those are the calls that are timed otherwise, and the same checks follow each.

pub mod callgrind;

use std::thread::{self, ScopedJoinHandle};

use anyhow::{Result, anyhow, bail};
use serde::{Deserialize, Serialize};

use crate::{
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    process,
    record::{Metric, Observation, Phase, Statistic, Unit},
    request::Request,
    scenario::{Operation, Scenario, Side},
    transport::{Endpoint, Transport},
    workloads::client_hello::ClientHelloBench,
    workloads::handshake::{self, HandshakeBench},
    workloads::transfer::Batch,
};

/// Fresh processes that count handshakes or ClientHellos: what a process draws at random when it
/// begins, such as the seed of a hash map, holds for all that it counts.
const PROCESSES: u32 = 4;

/// Operations that each of them counts: a multiple of 32, since the libraries make new blinding
/// for RSA in every 32nd signature.
const OPERATIONS: u64 = 64;

/// Batches of a transfer, in one process: nothing in them is random.
const BATCHES: u64 = 16;

/// Made before, and not counted, so that what a library does once is not taken for the cost of an
/// operation.
const WARM_UP: u32 = 20;

/// What a fresh process is to count.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counting {
    scenario: Scenario,
    side: Side,
    operations: u64,
}

/// A library, of which the calls of one role are counted.
struct Counted<'l, L> {
    library: &'l L,
    side: Side,
}

/// A connection, whose calls are counted or not.
struct CountedConnection<C> {
    connection: C,
    counted: bool,
}

impl<L> Counted<'_, L> {
    fn connection<C>(
        &self,
        sides: [Side; 2],
        make: impl FnOnce() -> Result<C>,
    ) -> Result<CountedConnection<C>> {
        let counted = sides.contains(&self.side);
        Ok(CountedConnection {
            connection: collect_if(counted, make)?,
            counted,
        })
    }
}

#[inline(always)]
fn collect_if<R>(counted: bool, call: impl FnOnce() -> R) -> R {
    match counted {
        true => callgrind::collect(call),
        false => call(),
    }
}

impl<C: Connection> Connection for CountedConnection<C> {
    fn handshake(&mut self) -> Result<Progress> {
        collect_if(self.counted, || self.connection.handshake())
    }

    fn receive_tickets(&mut self) -> Result<()> {
        collect_if(self.counted, || self.connection.receive_tickets())
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        collect_if(self.counted, || self.connection.send(data))
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        collect_if(self.counted, || self.connection.receive(buffer))
    }

    fn negotiated(&self) -> Result<Negotiated> {
        self.connection.negotiated()
    }
}

impl<L: TlsLibrary> TlsLibrary for Counted<'_, L> {
    type ClientConfig = L::ClientConfig;
    type ServerConfig = L::ServerConfig;
    type Client<'a> = CountedConnection<L::Client<'a>>;
    type Server<'a> = CountedConnection<L::Server<'a>>;

    fn implementation(&self) -> Result<Implementation> {
        self.library.implementation()
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        self.library.unsupported(scenario)
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        self.library.client_config(setup)
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        self.library.server_config(setup)
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        self.connection([Side::Client, Side::Receiver], || {
            self.library.connect(config, endpoint)
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        self.connection([Side::Server, Side::Sender], || {
            self.library.accept(config, endpoint)
        })
    }
}

/// Calls `work` for the warm-up, and then for what is counted.
fn repeat(operations: u64, mut work: impl FnMut() -> Result<()>) -> Result<()> {
    for _ in 0..WARM_UP {
        work()?;
    }
    callgrind::start()?;
    for _ in 0..operations {
        work()?;
    }
    Ok(())
}

/// Makes what is counted, in this process, which should be fresh and run under valgrind.
///
/// # Errors
/// There is no valgrind, or an operation failed or came to something else than the scenario says.
pub fn count<L: TlsLibrary>(library: &L, counting: &Counting) -> Result<()> {
    let Counting {
        scenario,
        side,
        operations,
    } = counting;
    let counted = Counted {
        library,
        side: *side,
    };
    if scenario.operation == Operation::ClientHello {
        let speaker = ClientHelloBench::new(&counted, scenario)?;
        return repeat(*operations, || speaker.speak().map(drop));
    }
    handshake::prove_verification(library, scenario)?;
    let server_config = library.server_config(&Setup::server(scenario)?)?;
    let stage = |capacity| HandshakeBench::new(&counted, &server_config, scenario, capacity);
    match scenario.operation {
        Operation::Handshake => {
            let stage = stage(Transport::HANDSHAKE_CAPACITY)?;
            stage.prepare()?;
            repeat(*operations, || stage.handshake(stage.resumes()).map(drop))
        }
        Operation::Transfer => {
            let mut batch = Batch::new(scenario)?;
            let stage = stage(batch.capacity())?;
            let mut pair = stage.handshake(false)?;
            stage.transport.clear();
            repeat(*operations, || {
                batch.run(&mut pair)?;
                batch.check(&stage.transport)
            })
        }
        other => bail!("the instructions of a {other} can't be counted"),
    }
}

/// Why nothing is counted for a request, if so.
pub fn unsupported<L: TlsLibrary>(library: &L, request: &Request) -> Option<String> {
    let scenario = &request.scenario;
    if let Some(reason) = library.uncountable() {
        return Some(reason.into());
    }
    let reason = match scenario.operation {
        Operation::Memory | Operation::Primitive => {
            "instructions are counted of handshakes, transfers and ClientHellos"
        }
        _ if scenario.threads.unwrap_or(1) != 1 => "instructions are counted on one thread",
        _ if request.latency => "instructions have no latency",
        _ => return None,
    };
    Some(reason.into())
}

/// The sides of a scenario that are counted.
pub fn sides(scenario: &Scenario) -> &'static [Side] {
    match scenario.operation {
        Operation::Transfer => &[Side::Sender, Side::Receiver],
        Operation::ClientHello => &[Side::Client],
        _ => &[Side::Client, Side::Server],
    }
}

/// What was found about one role.
pub struct Counts {
    pub observations: Vec<Observation>,
    /// Handshakes, writes or ClientHellos.
    pub operations: u64,
}

/// Instructions of one role: per handshake, per MiB of plaintext or per ClientHello.
///
/// # Errors
/// The process that counts failed, or callgrind's profile can't be understood.
pub fn measure(scenario: &Scenario, side: Side) -> Result<Counts> {
    let (processes, each) = match scenario.operation {
        Operation::Transfer => (1, BATCHES),
        _ => (PROCESSES, OPERATIONS),
    };
    let counting = Counting {
        scenario: scenario.clone(),
        side,
        operations: each,
    };
    let one = || -> Result<u64> {
        let profile = process::answer(callgrind::this_program("count")?, &counting)?;
        callgrind::instructions(&profile)
    };
    // All at once: what is counted does not depend on what else runs.
    let totals: Vec<Result<u64>> = thread::scope(|scope| {
        let spawned: Vec<_> = (0..processes).map(|_| scope.spawn(one)).collect();
        let join = |thread: ScopedJoinHandle<'_, _>| {
            let panicked = |_| Err(anyhow!("a thread panicked"));
            thread.join().unwrap_or_else(panicked)
        };
        spawned.into_iter().map(join).collect()
    });
    let total: u64 = totals.into_iter().sum::<Result<u64>>()?;
    let done = u64::from(processes) * each;
    let (operations, per, unit) = match scenario.operation {
        Operation::Transfer => {
            let batch = Batch::new(scenario)?;
            let mebibytes = done as f64 * batch.mebibytes();
            let writes = done * batch.writes() as u64;
            (writes, mebibytes, Unit::InstructionsPerMebibyte)
        }
        Operation::ClientHello => (done, done as f64, Unit::InstructionsPerOperation),
        _ => (done, done as f64, Unit::InstructionsPerHandshake),
    };
    Ok(Counts {
        observations: vec![Observation {
            phase: Phase::Total,
            metric: Metric::Instructions,
            statistic: Statistic::Value,
            value: total as f64 / per,
            unit,
        }],
        operations,
    })
}
