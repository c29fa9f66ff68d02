//! What each difference to the transfers of rustls' own bench costs, one by one:
//! `cargo run --release -p tls-rustls --example upstream`.
//!
//! The first two steps are the harness. Each further step changes one thing, and the last one does
//! what rustls' bench does. `tools/benchmarks/upstream.md` has the results.

use std::{
    io::{BufRead, ErrorKind, Read, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use pki_types::ServerName;
use rustls::{ClientConnection, ServerConnection};
use tls_harness::{
    library::{Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario,
    },
    session::HandshakeBench,
    workloads::transfer::Batch,
};
use tls_rustls::Rustls;

const OURS: usize = 64 << 10;
const THEIRS: usize = 1 << 20;

/// Rounds of all steps, and the time of a step in each.
const ROUNDS: usize = 31;
const WINDOW: Duration = Duration::from_millis(15);

/// How a transfer is made by hand.
#[derive(Clone, Copy)]
struct Shape {
    /// The sender's copies to the wire are timed.
    wire_is_timed: bool,
    /// Bytes of ciphertext that are moved at once.
    wire: usize,
    /// Plaintext is copied into a zeroed buffer of 16 KiB; otherwise it is looked at in place.
    copied: bool,
    /// The clock is read around each piece that is received.
    clock: bool,
}

enum Step {
    Harness(usize),
    ByHand(Shape),
}

const BUFFERED: Shape = Shape {
    wire_is_timed: true,
    wire: 2 << 20,
    copied: false,
    clock: false,
};

const STEPS: [(&str, Step); 7] = [
    ("the harness: 64 KiB in flight", Step::Harness(OURS)),
    ("working set: 1 MiB in flight", Step::Harness(THEIRS)),
    (
        "all records are buffered before the first is sent",
        Step::ByHand(BUFFERED),
    ),
    (
        "copy to the wire: not timed",
        Step::ByHand(Shape {
            wire_is_timed: false,
            ..BUFFERED
        }),
    ),
    (
        "destination: a zeroed buffer of 16 KiB for each read",
        Step::ByHand(Shape {
            wire_is_timed: false,
            copied: true,
            ..BUFFERED
        }),
    ),
    (
        "wire: a buffer of 256 KiB, used again",
        Step::ByHand(Shape {
            wire_is_timed: false,
            copied: true,
            wire: 256 << 10,
            ..BUFFERED
        }),
    ),
    (
        "clock: read twice for each piece received",
        Step::ByHand(Shape {
            wire_is_timed: false,
            copied: true,
            wire: 256 << 10,
            clock: true,
        }),
    ),
];

fn scenario(protocol: Protocol, cipher_suite: CipherSuite, in_flight: usize) -> Result<Scenario> {
    let size = Some(u32::try_from(in_flight)?);
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

/// A connection of each role, without the harness.
struct ByHand {
    client: ClientConnection,
    server: ServerConnection,
    data: Vec<u8>,
    wire: Vec<u8>,
}

impl ByHand {
    fn new(library: &Rustls, scenario: &Scenario) -> Result<Self> {
        let client = library.client_config(&Setup::client(scenario)?)?;
        let name = ServerName::try_from(client.host_name)?;
        let mut client = ClientConnection::new(Arc::clone(&client.config), name)?;
        let server = library.server_config(&Setup::server(scenario)?)?;
        let mut server = ServerConnection::new(server)?;
        client.set_buffer_limit(None);
        server.set_buffer_limit(None);
        while client.is_handshaking() || server.is_handshaking() {
            let mut bytes = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut bytes)?;
            }
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                server.read_tls(&mut rest)?;
                server.process_new_packets()?;
            }
            bytes.clear();
            while server.wants_write() {
                server.write_tls(&mut bytes)?;
            }
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                client.read_tls(&mut rest)?;
                client.process_new_packets()?;
            }
        }
        Ok(Self {
            client,
            server,
            data: vec![0x5a; THEIRS],
            wire: vec![0xff; BUFFERED.wire],
        })
    }

    /// Time of the sender and of the receiver for one write.
    fn transfer(&mut self, shape: Shape) -> Result<[Duration; 2]> {
        let start = Instant::now();
        self.server.writer().write_all(&self.data)?;
        let mut sender = start.elapsed();
        let (mut receiver, mut received) = (Duration::ZERO, 0);
        loop {
            let start = Instant::now();
            let mut length = 0;
            while self.server.wants_write() {
                let written = self
                    .server
                    .write_tls(&mut &mut self.wire[length..shape.wire])?;
                if written == 0 {
                    break;
                }
                length += written;
            }
            if shape.wire_is_timed {
                sender += start.elapsed();
            }
            if length == 0 {
                break;
            }
            let mut rest = &self.wire[..length];
            let mut start = Instant::now();
            while !rest.is_empty() {
                self.client.read_tls(&mut rest)?;
                self.client.process_new_packets()?;
                received += take(&mut self.client, shape.copied)?;
                if shape.clock {
                    receiver += start.elapsed();
                    start = Instant::now();
                }
            }
            receiver += start.elapsed();
        }
        ensure!(
            received == self.data.len(),
            "received {received} bytes, expected {}",
            self.data.len()
        );
        Ok([sender, receiver])
    }
}

/// Takes all plaintext that is there; returns its length.
fn take(client: &mut ClientConnection, copied: bool) -> Result<usize> {
    let mut received = 0;
    loop {
        let mut reader = client.reader();
        let read = match copied {
            true => reader.read(&mut [0; 16 << 10]),
            false => reader.fill_buf().map(<[u8]>::len),
        };
        match read {
            Ok(0) => bail!("the peer closed the connection"),
            Ok(length) => {
                if !copied {
                    reader.consume(length);
                }
                received += length;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(received),
            Err(error) => return Err(error.into()),
        }
    }
}

/// MiB/s of the sender and of the receiver over one window.
fn window(
    bytes: usize,
    mut batch: impl FnMut() -> Result<[Duration; 2]>,
    times: usize,
) -> Result<[f64; 2]> {
    let mut sums = [Duration::ZERO; 2];
    for _ in 0..times {
        let found = batch()?;
        sums = [sums[0] + found[0], sums[1] + found[1]];
    }
    let moved = (times * bytes) as f64 / f64::from(1 << 20);
    Ok(sums.map(|sum| moved / sum.as_secs_f64()))
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print(title: &str, library: &Rustls, protocol: Protocol, suite: CipherSuite) -> Result<()> {
    let mut rates = vec![[Vec::new(), Vec::new()]; STEPS.len()];
    for round in 0..=ROUNDS {
        for (index, (name, step)) in STEPS.iter().enumerate() {
            let found = match step {
                Step::Harness(in_flight) => {
                    let scenario = scenario(protocol, suite, *in_flight)?;
                    let server = library.server_config(&Setup::server(&scenario)?)?;
                    let mut batch = Batch::new(&scenario)?;
                    let bench = HandshakeBench::new(library, &server, &scenario, batch.capacity())?;
                    let mut pair = bench.handshake(false)?;
                    bench.transport.clear();
                    measured(*in_flight, || {
                        let times = batch.run(&mut pair)?;
                        batch.check(&bench.transport)?;
                        Ok([times.sender, times.receiver])
                    })
                }
                Step::ByHand(shape) => {
                    let mut by_hand = ByHand::new(library, &scenario(protocol, suite, THEIRS)?)?;
                    measured(THEIRS, || by_hand.transfer(*shape))
                }
            };
            let found = found.with_context(|| (*name).to_owned())?;
            // The first round warms up.
            if round > 0 {
                for (all, one) in rates[index].iter_mut().zip(found) {
                    all.push(one);
                }
            }
        }
    }
    println!("\n{title}, MiB/s, median of {ROUNDS} rounds\n");
    println!("| step | sending | factor | receiving | factor |\n|---|---:|---:|---:|---:|");
    let mut before = None;
    for ((name, _), sides) in STEPS.iter().zip(&mut rates) {
        let [sending, receiving] = sides.each_mut().map(|all| median(all));
        let [a, b] = before.unwrap_or([sending, receiving]);
        println!(
            "| {name} | {sending:.0} | {:.2} | {receiving:.0} | {:.2} |",
            sending / a,
            receiving / b
        );
        before = Some([sending, receiving]);
    }
    Ok(())
}

/// The rates of a window, after a shorter one that is not counted.
fn measured(bytes: usize, mut batch: impl FnMut() -> Result<[Duration; 2]>) -> Result<[f64; 2]> {
    let start = Instant::now();
    let mut times = 0;
    while start.elapsed() < WINDOW / 3 {
        batch()?;
        times += 3;
    }
    window(bytes, batch, times)
}

fn main() -> Result<()> {
    let library = Rustls::aws_lc_rs();
    print(
        "TLS 1.2, AES-128-GCM",
        &library,
        Protocol::Tls12,
        CipherSuite::EcdheRsaAes128Gcm,
    )?;
    print(
        "TLS 1.3, AES-256-GCM",
        &library,
        Protocol::Tls13,
        CipherSuite::Aes256Gcm,
    )
}
