//! Measures what each difference from the transfers of rustls' own bench costs.
//!
//! The first two steps of each API use the harness. Each further step changes one thing, and the
//! last one does what rustls' bench does. The output has a line for each step and round; with
//! `--features tls-harness/jemalloc` the steps run on the allocator of rustls' bench.
//! `tools/benchmarks/upstream.py` runs both builds and rustls' bench, and
//! `tools/benchmarks/upstream.md` has the results.

mod buffered;
mod unbuffered;

use std::{
    sync::OnceLock,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use tls_harness::{
    allocator,
    library::{Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario,
    },
    session::HandshakeBench,
    workloads::transfer::Batch,
};
use tls_rustls::{Rustls, unbuffered::Unbuffered};

/// Bytes in flight in our main report.
const OURS: usize = 64 << 10;

/// Bytes in flight in rustls' bench.
const THEIRS: usize = 1 << 20;

/// Number of measured rounds.
const ROUNDS: usize = 4;

/// Time of each step in a round.
const WINDOW: Duration = Duration::from_millis(15);

/// Times of sender and receiver.
type Times = [Duration; 2];

/// A repeated write: its bytes, and a function that returns its times.
struct Write<'a> {
    bytes: usize,
    make: &'a mut dyn FnMut() -> Result<Times>,
}

impl Write<'_> {
    /// MiB/s of both roles over one window, after a shorter window that does not count.
    fn rates(self) -> Result<[f64; 2]> {
        let start = Instant::now();
        let mut times = 0;
        while start.elapsed() < WINDOW / 3 {
            (self.make)()?;
            times += 3;
        }
        let mut sums = [Duration::ZERO; 2];
        for _ in 0..times {
            let found = (self.make)()?;
            sums = [sums[0] + found[0], sums[1] + found[1]];
        }
        let moved = (times * self.bytes) as f64 / f64::from(1 << 20);
        Ok(sums.map(|sum| moved / sum.as_secs_f64()))
    }
}

/// Every allocator maps an allocation of this size separately.
const MAPPED: usize = 64 << 20;

/// The data to send. Zeroes that were never written are a single page of memory.
fn data(is_written: bool) -> &'static [u8] {
    static WRITTEN: OnceLock<Vec<u8>> = OnceLock::new();
    static ZEROES: OnceLock<Vec<u8>> = OnceLock::new();
    match is_written {
        true => WRITTEN.get_or_init(|| vec![0x5a; THEIRS]),
        false => &ZEROES.get_or_init(|| vec![0; MAPPED])[..THEIRS],
    }
}

fn scenario(protocol: Protocol, in_flight: usize) -> Result<Scenario> {
    let size = Some(u32::try_from(in_flight)?);
    let cipher_suite = match protocol {
        Protocol::Tls12 => CipherSuite::EcdheRsaAes128Gcm,
        Protocol::Tls13 => CipherSuite::Aes256Gcm,
    };
    Ok(Scenario {
        protocol: Some(protocol),
        cipher_suite: Some(cipher_suite),
        key_exchange: Some(KeyExchange::X25519),
        certificate: Some(Certificate::Rsa2048),
        authentication: Some(Authentication::Server),
        resumption: Some(Resumption::None),
        threads: Some(1),
        size,
        in_flight: size,
        ..Scenario::new(Operation::Transfer)
    })
}

fn harness<L: TlsLibrary>(library: &L, protocol: Protocol, in_flight: usize) -> Result<[f64; 2]> {
    let scenario = scenario(protocol, in_flight)?;
    let server = library.server_config(&Setup::server(&scenario)?)?;
    let mut batch = Batch::new(&scenario)?;
    let bench = HandshakeBench::new(library, &server, &scenario, batch.capacity())?;
    let mut pair = bench.handshake(false)?;
    bench.transport.clear();
    Write {
        bytes: in_flight,
        make: &mut || {
            let times = batch.run(&mut pair)?;
            batch.check(&bench.transport)?;
            Ok([times.sender, times.receiver])
        },
    }
    .rates()
}

/// Rates of all steps of one API, in order.
type Steps = Vec<(&'static str, [f64; 2])>;

/// Measures the steps of the harness, then one step for each shape.
fn steps<L: TlsLibrary, S: Copy>(
    library: &L,
    protocol: Protocol,
    shapes: &[(&'static str, S)],
    by_hand: impl Fn(&Scenario, S) -> Result<[f64; 2]>,
) -> Result<Steps> {
    let mut steps = vec![
        (
            "the harness: 64 KiB in flight",
            harness(library, protocol, OURS)?,
        ),
        (
            "working set: 1 MiB in flight",
            harness(library, protocol, THEIRS)?,
        ),
    ];
    let scenario = scenario(protocol, THEIRS)?;
    for &(name, shape) in shapes {
        steps.push((name, by_hand(&scenario, shape).context(name)?));
    }
    Ok(steps)
}

/// Rates of a write with the size that rustls' bench uses.
fn rates(make: &mut dyn FnMut() -> Result<Times>) -> Result<[f64; 2]> {
    let bytes = THEIRS;
    Write { bytes, make }.rates()
}

fn buffered(library: &Rustls, protocol: Protocol) -> Result<Steps> {
    steps(library, protocol, &buffered::SHAPES, |scenario, shape| {
        let mut by_hand = buffered::ByHand::new(library, scenario, shape)?;
        rates(&mut || by_hand.transfer())
    })
}

fn unbuffered(library: &Unbuffered, protocol: Protocol) -> Result<Steps> {
    steps(library, protocol, &unbuffered::SHAPES, |scenario, shape| {
        let mut by_hand = unbuffered::ByHand::new(&library.0, scenario, shape)?;
        rates(&mut || by_hand.transfer())
    })
}

fn main() -> Result<()> {
    let (library, other) = (Rustls::aws_lc_rs(), Unbuffered(Rustls::aws_lc_rs()));
    let allocator = allocator::found()?;
    // The first round is a warm-up.
    for round in 0..=ROUNDS {
        for protocol in [Protocol::Tls12, Protocol::Tls13] {
            let apis = [
                ("buffered", buffered(&library, protocol)?),
                ("unbuffered", unbuffered(&other, protocol)?),
            ];
            if round == 0 {
                continue;
            }
            for (api, steps) in apis {
                for (step, [sending, receiving]) in steps {
                    println!(
                        "{allocator}\t{api}\t{protocol}\t{step}\t{sending:.0}\t{receiving:.0}"
                    );
                }
            }
        }
    }
    Ok(())
}
