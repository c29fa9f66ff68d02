//! The driver notices each adapter that is wrong on purpose. Another adapter records when and on
//! which threads the driver calls it.

#![cfg(feature = "ring")]

#[path = "faulty_adapters/early_data.rs"]
mod early_data;
#[path = "faulty_adapters/packets.rs"]
mod packets;
#[path = "faulty_adapters/primitives.rs"]
mod primitives;

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

use anyhow::Result;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tls_harness::{
    block, certificates,
    implementation::Implementation,
    library::{
        Connection, Negotiated, Progress, Setup, TlsLibrary,
        packets::{PacketKeys, PacketProtection},
        primitives::Cryptography,
    },
    record::{Measurement, Record},
    request::Request,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario, Side, Variant,
    },
    session::{self, HandshakeBench},
    transport::{Endpoint, Transport},
    workloads,
    workloads::client_hello::ClientHelloBench,
    workloads::memory::{self, Holding},
    workloads::transfer::Batch,
};
use tls_rustls::Rustls;

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// Does full handshakes and reports them as resumed.
    Resumption,
    /// Uses another group and reports the wanted one.
    Group,
    /// Sends a second ticket.
    SecondTicket,
    /// Sends certificates as they are to a client that accepts compressed ones.
    Uncompressed,
    /// Offers compression that the scenario does not have.
    Compressed,
    /// Does not verify the server, but reports that it did.
    Verification,
    /// Accepts signatures in another scheme than the scenario's.
    AnyScheme,
    /// Reports that the peer signed in another scheme.
    Scheme,
    /// Sends all but the last byte of each write.
    ShortData,
    /// Sends zeros in place of the data.
    OtherData,
    /// Sends zeros in place of the data, but not from the beginning.
    OtherDataLater,
    /// Receives nothing and reports a full buffer.
    NothingReceived,
    /// The same, but only as a server.
    NothingReceivedByServer,
    /// Reports a complete handshake without having started it.
    NoHandshake,
    /// Does full handshakes on all threads but the first, and reports them as resumed.
    ResumptionElsewhere,
    /// Sleeps before each handshake, as if the process were stopped.
    Sleeps,
}

struct FaultyAdapter {
    library: Rustls,
    fault: Fault,
    cryptography: primitives::FaultyAdapter,
    packets: packets::Fault,
    /// Number of client configurations.
    configurations: AtomicUsize,
    /// Time and thread of each client connection.
    connects: Mutex<Vec<(Instant, ThreadId)>>,
    /// Time of each write.
    sent: Arc<Mutex<Vec<Instant>>>,
    /// Time that the first thread takes to prepare.
    delay: Duration,
}

/// Number of correct writes before the fault: as many as the shortest warm-up has.
const CORRECT_WRITES: usize = 4;

impl FaultyAdapter {
    fn new(fault: Fault) -> Self {
        Self {
            library: Rustls::ring(),
            fault,
            cryptography: primitives::FaultyAdapter::new(primitives::Fault::None),
            packets: packets::Fault::None,
            configurations: AtomicUsize::new(0),
            connects: Mutex::default(),
            sent: Arc::default(),
            delay: Duration::ZERO,
        }
    }

    fn distort(&self, setup: &Setup, fault: Fault) -> Setup {
        let mut setup = setup.clone();
        match fault {
            Fault::Resumption => setup.resumption = Resumption::None,
            Fault::Group => setup.groups = vec![KeyExchange::Secp256r1],
            Fault::Compressed => setup.compresses = true,
            Fault::AnyScheme
                if setup.trusted == certificates::authority(Certificate::EcdsaP256).root =>
            {
                setup.certificate = Certificate::EcdsaP256;
            }
            _ => {}
        }
        setup
    }
}

/// A client's configuration; belongs to one thread.
struct FaultyClient {
    client: tls_rustls::Client,
    fault: Fault,
    made: Cell<usize>,
}

struct LyingConnection<C> {
    connection: C,
    fault: Fault,
    /// The number of this connection in its configuration, counted from 1.
    ordinal: usize,
    writes: usize,
    sent: Arc<Mutex<Vec<Instant>>>,
}

impl<C: Connection> Connection for LyingConnection<C> {
    fn handshake(&mut self) -> Result<Progress> {
        match self.fault {
            Fault::NoHandshake => Ok(Progress::Done),
            _ => self.connection.handshake(),
        }
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.connection.receive_tickets()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        self.writes += 1;
        self.sent.lock().unwrap().push(Instant::now());
        match self.fault {
            Fault::OtherDataLater if self.writes > CORRECT_WRITES => {
                self.connection.send(&vec![0; data.len()])
            }
            Fault::ShortData => self.connection.send(&data[..data.len() - 1]),
            Fault::OtherData => self.connection.send(&vec![0; data.len()]),
            _ => self.connection.send(data),
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self.fault {
            Fault::NothingReceived => Ok(buffer.len()),
            _ => self.connection.receive(buffer),
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        let correct = self.connection.negotiated()?;
        Ok(match self.fault {
            Fault::Resumption => Negotiated {
                resumed: Some(self.ordinal > 1), // the first handshake is a full one
                tickets: 1,
                ..correct
            },
            Fault::Group => Negotiated {
                key_exchange: Some(KeyExchange::X25519),
                ..correct
            },
            Fault::Scheme => Negotiated {
                signature_scheme: Some(Certificate::Ed25519.signature_scheme()),
                ..correct
            },
            _ => correct,
        })
    }
}

/// Accepts every server certificate.
#[derive(Debug)]
struct AcceptAnyServer;

impl ServerCertVerifier for AcceptAnyServer {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::RSA_PSS_SHA256]
    }
}

impl TlsLibrary for FaultyAdapter {
    type ClientConfig = FaultyClient;
    type ServerConfig = <Rustls as TlsLibrary>::ServerConfig;
    type Client<'a> = LyingConnection<<Rustls as TlsLibrary>::Client<'a>>;
    type Server<'a> = LyingConnection<<Rustls as TlsLibrary>::Server<'a>>;

    fn implementation(&self) -> Result<Implementation> {
        self.library.implementation()
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        Ok(&self.cryptography)
    }

    fn packet_protection(
        &self,
        suite: CipherSuite,
        keys: &PacketKeys,
    ) -> Result<Box<dyn PacketProtection>> {
        packets::protection(self.packets, suite, keys)
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        let before = self.configurations.fetch_add(1, Relaxed);
        if before == PROOFS {
            thread::sleep(self.delay);
        }
        let fault = match self.fault {
            Fault::ResumptionElsewhere if before > PROOFS => Fault::Resumption,
            Fault::ResumptionElsewhere => Fault::None,
            fault => fault,
        };
        let mut client = self.library.client_config(&self.distort(setup, fault))?;
        if fault == Fault::Verification {
            let mut config = ClientConfig::clone(&client.config);
            config
                .dangerous()
                .set_certificate_verifier(Arc::new(AcceptAnyServer));
            client.config = Arc::new(config);
        }
        Ok(FaultyClient {
            client,
            fault,
            made: Cell::new(0),
        })
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        let mut setup = self.distort(setup, self.fault);
        if self.fault == Fault::Uncompressed {
            setup.compresses = false;
        }
        let mut config = self.library.server_config(&setup)?;
        if self.fault == Fault::SecondTicket {
            Arc::get_mut(&mut config).unwrap().send_tls13_tickets = 2;
        }
        Ok(config)
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        if self.fault == Fault::Sleeps {
            thread::sleep(Duration::from_millis(40));
        }
        let now = (Instant::now(), thread::current().id());
        self.connects.lock().unwrap().push(now);
        config.made.set(config.made.get() + 1);
        Ok(LyingConnection {
            connection: self.library.connect(&config.client, endpoint)?,
            fault: config.fault,
            ordinal: config.made.get(),
            writes: 0,
            sent: Arc::clone(&self.sent),
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        Ok(LyingConnection {
            connection: self.library.accept(config, endpoint)?,
            fault: match self.fault {
                Fault::NothingReceivedByServer => Fault::NothingReceived,
                fault => fault,
            },
            ordinal: 0,
            writes: 0,
            sent: Arc::clone(&self.sent),
        })
    }
}

fn scenario(protocol: Protocol, resumption: Resumption) -> Scenario {
    let (suite, group) = match (protocol, resumption) {
        (Protocol::Tls13, _) => (CipherSuite::Aes256Gcm, Some(KeyExchange::X25519)),
        (Protocol::Tls12, Resumption::None) => {
            (CipherSuite::EcdheRsaAes256Gcm, Some(KeyExchange::X25519))
        }
        (Protocol::Tls12, _) => (CipherSuite::EcdheRsaAes256Gcm, None),
    };
    Scenario {
        protocol: Some(protocol),
        cipher_suite: Some(suite),
        key_exchange: group,
        certificate: Some(Certificate::Rsa2048),
        authentication: Some(Authentication::Server),
        resumption: Some(resumption),
        size: Some(1 << 20),
        ..Scenario::new(Operation::Handshake)
    }
}

/// The driver's result for two handshakes.
fn handshakes(fault: Fault, scenario: &Scenario) -> Result<()> {
    let faulty = FaultyAdapter::new(fault);
    session::prove_verification(&faulty, scenario)?;
    let server = faulty.server_config(&Setup::server(scenario)?)?;
    let stage = HandshakeBench::new(&faulty, &server, scenario, Transport::HANDSHAKE_CAPACITY)?;
    if fault != Fault::Resumption {
        stage.prepare()?; // without a ticket, this one would show it
    }
    stage.handshake(stage.resumes()).map(drop)
}

/// The driver's result for one batch.
fn transfers(fault: Fault) -> Result<()> {
    transfer(fault, &scenario(Protocol::Tls13, Resumption::None), false)
}

fn in_flight() -> Scenario {
    Scenario {
        operation: Operation::Transfer,
        size: Some(1 << 16),
        in_flight: Some(1 << 16),
        ..scenario(Protocol::Tls13, Resumption::None)
    }
}

fn transfer(fault: Fault, scenario: &Scenario, keeps: bool) -> Result<()> {
    let faulty = FaultyAdapter::new(fault);
    let server = faulty.server_config(&Setup::server(scenario)?)?;
    let mut batch = Batch::new(scenario)?;
    let stage = HandshakeBench::new(&faulty, &server, scenario, batch.capacity())?;
    let mut pair = stage.handshake(false)?;
    stage.transport.clear();
    match keeps {
        true => batch.run_kept(&mut pair)?,
        false => batch.run(&mut pair)?,
    };
    batch.check(&stage.transport)
}

fn request(scenario: &Scenario, seconds: [f64; 2], latency: bool) -> Request {
    let [warmup, measure] = seconds;
    serde_json::from_value(serde_json::json!({
        "schema": 1, "round": 1, "block": 0, "implementation": "faulty-1.0", "scenario": scenario,
        "warmup_seconds": warmup, "measure_seconds": measure, "latency": latency,
    }))
    .unwrap()
}

/// The driver's result for a block on several threads, with latencies.
fn block(fault: Fault, scenario: &Scenario) -> Result<()> {
    block_of(&FaultyAdapter::new(fault), scenario)
}

fn block_of<L: TlsLibrary>(faulty: &L, scenario: &Scenario) -> Result<()> {
    let scenario = Scenario {
        threads: Some(2),
        ..scenario.clone()
    };
    block::measure(faulty, &request(&scenario, [0.001, 0.01], true)).map(drop)
}

/// The result of the memory measurement at one state of a connection.
fn held(fault: Fault, moment: &str) -> Result<()> {
    let holding: Holding = serde_json::from_value(serde_json::json!({
        "scenario": scenario(Protocol::Tls13, Resumption::None),
        "side": "client", "moment": moment, "sessions": 3,
    }))?;
    memory::hold(&FaultyAdapter::new(fault), &holding).map(drop)
}

fn client_hello(fault: Fault) -> Result<()> {
    let scenario = Scenario {
        operation: Operation::ClientHello,
        key_exchange: None,
        variant: Some(Variant::KeyShares(vec![KeyExchange::X25519])),
        ..scenario(Protocol::Tls13, Resumption::None)
    };
    ClientHelloBench::new(&FaultyAdapter::new(fault), &scenario)?
        .run()
        .map(drop)
}

fn noticed(result: Result<()>, expected: &str) {
    let message = format!("{:#}", result.expect_err("the driver did not notice"));
    assert!(
        message.contains(expected),
        "found {message}, expected {expected}"
    );
}

#[test]
fn a_correct_adapter_passes() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        handshakes(Fault::None, &scenario(protocol, Resumption::None)).unwrap();
        handshakes(Fault::None, &scenario(protocol, Resumption::Ticket)).unwrap();
    }
    transfers(Fault::None).unwrap();
    block(Fault::None, &scenario(Protocol::Tls13, Resumption::Ticket)).unwrap();
    for moment in ["construction", "handshake", "data"] {
        held(Fault::None, moment).unwrap();
    }
    client_hello(Fault::None).unwrap();
}

#[test]
fn a_full_handshake_called_resumed_is_noticed() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        let result = handshakes(Fault::Resumption, &scenario(protocol, Resumption::Ticket));
        noticed(result, "on the wire: resumed: found false, expected true");
    }
}

#[test]
fn another_group_is_noticed() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        let result = handshakes(Fault::Group, &scenario(protocol, Resumption::None));
        noticed(result, "on the wire: key exchange: found");
    }
}

#[test]
fn a_signature_in_another_scheme_is_noticed() {
    let full = scenario(Protocol::Tls13, Resumption::None);
    let expected = "a server whose signature has another scheme was accepted";
    noticed(handshakes(Fault::AnyScheme, &full), expected);
    let expected = "signature scheme: found 2055, expected 2052";
    noticed(handshakes(Fault::Scheme, &full), expected);
    handshakes(Fault::None, &full).unwrap();
}

#[cfg(feature = "certificate-compression")]
#[test]
fn missing_and_unwanted_compression_of_certificates_is_noticed() {
    let plain = scenario(Protocol::Tls13, Resumption::None);
    let compressed = Scenario {
        variant: Some(Variant::Compressed),
        ..plain.clone()
    };
    handshakes(Fault::None, &compressed).unwrap();
    noticed(
        handshakes(Fault::Uncompressed, &compressed),
        "on the wire: server: certificates: found",
    );
    noticed(
        handshakes(Fault::Compressed, &plain),
        "algorithms with which the client accepts compressed certificates: found [1], expected []",
    );
}

#[test]
fn skipped_verification_is_noticed() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        let result = handshakes(Fault::Verification, &scenario(protocol, Resumption::None));
        noticed(result, "verification is off");
    }
}

#[test]
fn skipped_verification_is_noticed_before_any_kind_is_measured() {
    let handshake = scenario(Protocol::Tls13, Resumption::None);
    let of = |operation| Scenario {
        operation,
        ..handshake.clone()
    };
    for scenario in [
        of(Operation::Handshake),
        of(Operation::Transfer),
        in_flight(),
    ] {
        noticed(block(Fault::Verification, &scenario), "verification is off");
    }
    // Its overhead measurement needs a library's program, which this test is not.
    let memory = workloads::of(Operation::Memory);
    let request = request(&of(Operation::Memory), [0.0, 0.0], false);
    let result = memory.measure(&FaultyAdapter::new(Fault::Verification), &request);
    noticed(result.map(drop), "verification is off");
}

#[test]
fn missing_or_wrong_data_is_noticed() {
    noticed(transfers(Fault::ShortData), "nothing has arrived");
    noticed(transfers(Fault::OtherData), "arrived as another");
    noticed(transfers(Fault::NothingReceived), "arrived as another");
}

#[test]
fn missing_or_wrong_data_that_is_dropped_is_noticed() {
    for (fault, keeps, expected) in [
        (Fault::ShortData, false, "nothing has arrived"),
        (Fault::ShortData, true, "nothing has arrived"),
        (Fault::NothingReceived, false, "more was sent than"),
        (Fault::NothingReceived, true, "arrived as another"),
        (Fault::OtherData, true, "arrived as another"),
    ] {
        noticed(transfer(fault, &in_flight(), keeps), expected);
    }
    for fault in [Fault::OtherData, Fault::OtherDataLater] {
        noticed(block(fault, &in_flight()), "arrived as another");
    }
    block(Fault::None, &in_flight()).unwrap();
}

#[test]
fn a_second_ticket_is_noticed() {
    let result = handshakes(
        Fault::SecondTicket,
        &scenario(Protocol::Tls13, Resumption::Ticket),
    );
    noticed(result, "tickets: found 2, expected 1");
}

#[test]
fn a_later_false_report_or_one_on_another_thread_is_noticed() {
    let resumed = scenario(Protocol::Tls13, Resumption::Ticket);
    for fault in [Fault::Resumption, Fault::ResumptionElsewhere] {
        let expected = "on the wire: resumed: found false, expected true";
        noticed(block(fault, &resumed), expected);
    }
    let writes = Scenario {
        operation: Operation::Transfer,
        ..scenario(Protocol::Tls13, Resumption::None)
    };
    noticed(block(Fault::OtherDataLater, &writes), "arrived as another");
}

#[test]
fn held_connections_that_did_nothing_are_noticed() {
    noticed(
        held(Fault::NoHandshake, "handshake"),
        "the server sent no message",
    );
    noticed(held(Fault::OtherData, "data"), "other data than was sent");
    noticed(
        held(Fault::NothingReceived, "data"),
        "the client received other data than was sent",
    );
    noticed(
        held(Fault::NothingReceivedByServer, "data"),
        "the server received other data than was sent",
    );
}

#[test]
fn another_key_share_in_a_client_hello_is_noticed() {
    noticed(client_hello(Fault::Group), "key shares: found");
}

#[test]
fn a_window_in_which_the_process_was_stopped_does_not_count() {
    for (fault, valid) in [(Fault::None, true), (Fault::Sleeps, false)] {
        let scenario = scenario(Protocol::Tls13, Resumption::None);
        let request = request(&scenario, [0.0, 0.2], false);
        let mut measured = 0;
        for record in block::measure(&FaultyAdapter::new(fault), &request).unwrap() {
            if let Record::Measurement(it) = record {
                assert_eq!(it.valid, valid, "{:?}", it.note);
                let note = it.note.unwrap_or_default();
                let said = note.starts_with("the process was stopped for ")
                    && note.ends_with("% of the measured time");
                assert_eq!(said, !valid, "{note}");
                measured += 1;
            }
        }
        assert_eq!(measured, 2);
    }
}

/// Clients that `session::prove_verification` makes, each with its own configuration.
const PROOFS: usize = 3;

/// Runs a block with a correct adapter. Returns the measurements of clients and of all threads by
/// the wall clock, and the times of the client connections per thread, without those of the proofs.
fn watched(
    threads: u32,
    seconds: [f64; 2],
    delay: Duration,
) -> ([Measurement; 2], HashMap<ThreadId, Vec<Instant>>) {
    let scenario = Scenario {
        threads: Some(threads),
        ..scenario(Protocol::Tls13, Resumption::None)
    };
    let mut faulty = FaultyAdapter::new(Fault::None);
    faulty.delay = delay;
    let mut request = request(&scenario, seconds, false);
    request.throughput = true;
    let records = block::measure(&faulty, &request).unwrap();
    let measured = |side| {
        records.iter().find_map(|record| match record {
            Record::Measurement(it) if it.scenario.side == side => Some(it.clone()),
            _ => None,
        })
    };
    let measured = [Some(Side::Client), None].map(|side| measured(side).unwrap());
    let mut connects: HashMap<_, Vec<_>> = HashMap::new();
    for (time, thread) in faulty
        .connects
        .into_inner()
        .unwrap()
        .into_iter()
        .skip(PROOFS)
    {
        connects.entry(thread).or_default().push(time);
    }
    (measured, connects)
}

#[test]
fn the_warm_up_lasts_for_its_time_and_is_discarded() {
    for warmup in [0.0, 0.05, 0.1] {
        let ([measurement, _], connects) = watched(1, [warmup, 0.02], Duration::ZERO);
        let connects = connects.into_values().next().unwrap();
        let thrown = connects.len() - measurement.operations as usize;
        assert!(thrown >= 4, "{thrown} handshakes of warm-up");
        let lasted = connects[thrown] - connects[0];
        assert!(lasted.as_secs_f64() >= warmup, "{lasted:?} of {warmup} s");
    }
}

/// Duration of a block's warm-up: from the first operation to the first one that counts. The last
/// `operations` count.
fn warm_up(times: &[Instant], operations: u64) -> Duration {
    times[times.len() - operations as usize] - times[0]
}

#[test]
fn the_warm_up_of_transfers_is_discarded() {
    let transfers = Scenario {
        operation: Operation::Transfer,
        ..scenario(Protocol::Tls13, Resumption::None)
    };
    for warmup in [0.0, 0.1] {
        let watched = FaultyAdapter::new(Fault::None);
        let records =
            block::measure(&watched, &request(&transfers, [warmup, 0.02], false)).unwrap();
        let operations = operations(&records);
        let sent = watched.sent.lock().unwrap();
        let thrown = sent.len() - operations as usize;
        assert!(thrown >= 4, "{thrown} writes of warm-up");
        let lasted = warm_up(&sent, operations);
        assert!(lasted.as_secs_f64() >= warmup, "{lasted:?} of {warmup} s");
    }
}

/// Operations of the first side.
fn operations(records: &[Record]) -> u64 {
    let measured = records.iter().find_map(|record| match record {
        Record::Measurement(it) => Some(it.operations),
        _ => None,
    });
    measured.unwrap()
}

#[test]
fn a_round_lasts_for_a_time() {
    for seconds in [0.02, 0.1] {
        let start = Instant::now();
        let ([measurement, _], connects) = watched(1, [0.0, seconds], Duration::ZERO);
        let end = start.elapsed();
        let connects = connects.into_values().next().unwrap();
        let first = connects[connects.len() - measurement.operations as usize];
        let lasted = end - (first - start);
        assert!(lasted.as_secs_f64() >= seconds, "{lasted:?} of {seconds} s");
        // The last handshake began within the window.
        let last = *connects.last().unwrap() - first;
        assert!(last.as_secs_f64() < seconds, "{last:?} of {seconds} s");
    }
}

#[test]
fn one_thread_is_started_like_many() {
    for threads in [1, 3] {
        let (_, connects) = watched(threads, [0.0, 0.01], Duration::ZERO);
        assert_eq!(connects.len(), threads as usize);
        assert!(!connects.contains_key(&thread::current().id()));
    }
}

#[test]
fn threads_start_on_a_barrier_and_run_for_one_window() {
    const WINDOW: Duration = Duration::from_millis(50);
    // One thread is ready long after the others have done their four warm-up handshakes.
    let delay = Duration::from_millis(300);
    let ([clients, all], connects) = watched(3, [0.0, WINDOW.as_secs_f64()], delay);
    assert_eq!(connects.len(), 3);
    let late = connects.values().map(|times| times[0]).max().unwrap();
    for times in connects.values() {
        let before = times.iter().filter(|time| **time < late).count();
        assert!(before <= 4, "{before} handshakes before all were ready");
        let lasted = *times.last().unwrap() - late;
        assert!(
            times.len() > before + 4 && lasted < WINDOW + delay,
            "{lasted:?}"
        );
    }
    // The rate refers to the time that passed, not to the time in the roles' calls.
    assert_eq!(all.operations, clients.operations);
    let wall = all.operations as f64 / all.observations[0].value;
    assert!(
        wall >= WINDOW.as_secs_f64(),
        "{wall} s for a window of {WINDOW:?}"
    );
}
