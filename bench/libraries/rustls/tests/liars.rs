//! Adapters that are wrong on purpose: the driver notices each of them. And one that is watched:
//! when it is driven, and on which threads.

#![cfg(feature = "ring")]

#[path = "liars/primitives.rs"]
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
    client_hello::Speaker,
    handshake::{self, Stage},
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    measure,
    memory::{self, Holding},
    primitive::Cryptography,
    record::{Measurement, Record},
    request::Request,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario, Side,
    },
    transfer::Batch,
    transport::{Endpoint, Transport},
};
use tls_rustls::Rustls;

/// What an adapter does wrong.
#[derive(Clone, Copy, PartialEq)]
enum Lie {
    None,
    /// Does full handshakes and calls them resumed.
    Resumption,
    /// Uses another group and tells the wanted one.
    Group,
    /// Sends a second ticket.
    SecondTicket,
    /// Does not verify the server, and says it did.
    Verification,
    /// Sends all but the last byte of each write.
    ShortData,
    /// Sends zeros in place of the data.
    OtherData,
    /// Sends zeros in place of the data, but not from the beginning.
    OtherDataLater,
    /// Receives nothing and says the buffer is full.
    NothingReceived,
    /// Says that a handshake is complete without having begun it.
    NoHandshake,
    /// Does full handshakes on all threads but the first, and calls them resumed.
    ResumptionElsewhere,
}

struct Liar {
    library: Rustls,
    lie: Lie,
    cryptography: primitives::Liar,
    /// Clients' configurations that were made.
    configurations: AtomicUsize,
    /// When a client was made, and on which thread.
    connects: Mutex<Vec<(Instant, ThreadId)>>,
    /// Time that the first thread takes to prepare.
    delay: Duration,
}

/// Writes that are honest: as many as the shortest warm-up has.
const HONEST: usize = 4;

impl Liar {
    fn new(lie: Lie) -> Self {
        Self {
            library: Rustls::ring(),
            lie,
            cryptography: primitives::Liar::new(primitives::Lie::None),
            configurations: AtomicUsize::new(0),
            connects: Mutex::default(),
            delay: Duration::ZERO,
        }
    }

    fn distort(&self, setup: &Setup, lie: Lie) -> Setup {
        let mut setup = setup.clone();
        match lie {
            Lie::Resumption => setup.resumption = Resumption::None,
            Lie::Group => setup.groups = vec![KeyExchange::Secp256r1],
            _ => {}
        }
        setup
    }
}

/// A client's configuration: belongs to one thread.
struct LyingClient {
    client: tls_rustls::Client,
    lie: Lie,
    /// Connections that were made.
    made: Cell<usize>,
}

struct LyingConnection<C> {
    connection: C,
    lie: Lie,
    /// The how-manieth connection of its configuration a client is, from 1.
    ordinal: usize,
    writes: usize,
}

impl<C: Connection> Connection for LyingConnection<C> {
    fn handshake(&mut self) -> Result<Progress> {
        match self.lie {
            Lie::NoHandshake => Ok(Progress::Done),
            _ => self.connection.handshake(),
        }
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.connection.receive_tickets()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        self.writes += 1;
        match self.lie {
            Lie::OtherDataLater if self.writes > HONEST => {
                self.connection.send(&vec![0; data.len()])
            }
            Lie::ShortData => self.connection.send(&data[..data.len() - 1]),
            Lie::OtherData => self.connection.send(&vec![0; data.len()]),
            _ => self.connection.send(data),
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self.lie {
            Lie::NothingReceived => Ok(buffer.len()),
            _ => self.connection.receive(buffer),
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        let truth = self.connection.negotiated()?;
        Ok(match self.lie {
            Lie::Resumption => Negotiated {
                resumed: Some(self.ordinal > 1), // the first is not meant to be
                tickets: 1,
                ..truth
            },
            Lie::Group => Negotiated {
                key_exchange: Some(KeyExchange::X25519),
                ..truth
            },
            _ => truth,
        })
    }
}

/// Takes every server for the right one.
#[derive(Debug)]
struct Gullible;

impl ServerCertVerifier for Gullible {
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

impl TlsLibrary for Liar {
    type ClientConfig = LyingClient;
    type ServerConfig = <Rustls as TlsLibrary>::ServerConfig;
    type Client<'a> = LyingConnection<<Rustls as TlsLibrary>::Client<'a>>;
    type Server<'a> = LyingConnection<<Rustls as TlsLibrary>::Server<'a>>;

    fn implementation(&self) -> Result<Implementation> {
        self.library.implementation()
    }

    fn missing(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        Ok(&self.cryptography)
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        let before = self.configurations.fetch_add(1, Relaxed);
        if before == PROOFS {
            thread::sleep(self.delay);
        }
        let lie = match self.lie {
            Lie::ResumptionElsewhere if before > PROOFS => Lie::Resumption,
            Lie::ResumptionElsewhere => Lie::None,
            lie => lie,
        };
        let mut client = self.library.client_config(&self.distort(setup, lie))?;
        if lie == Lie::Verification {
            let mut config = ClientConfig::clone(&client.config);
            config
                .dangerous()
                .set_certificate_verifier(Arc::new(Gullible));
            client.config = Arc::new(config);
        }
        Ok(LyingClient {
            client,
            lie,
            made: Cell::new(0),
        })
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        let mut config = self.library.server_config(&self.distort(setup, self.lie))?;
        if self.lie == Lie::SecondTicket {
            Arc::get_mut(&mut config).unwrap().send_tls13_tickets = 2;
        }
        Ok(config)
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        let now = (Instant::now(), thread::current().id());
        self.connects.lock().unwrap().push(now);
        config.made.set(config.made.get() + 1);
        Ok(LyingConnection {
            connection: self.library.connect(&config.client, endpoint)?,
            lie: config.lie,
            ordinal: config.made.get(),
            writes: 0,
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        Ok(LyingConnection {
            connection: self.library.accept(config, endpoint)?,
            lie: self.lie,
            ordinal: 0,
            writes: 0,
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

/// What the driver says of two handshakes.
fn handshakes(lie: Lie, scenario: &Scenario) -> Result<()> {
    let liar = Liar::new(lie);
    handshake::prove_verification(&liar, scenario)?;
    let server = liar.server_config(&Setup::server(scenario)?)?;
    let stage = Stage::new(&liar, &server, scenario, Transport::HANDSHAKE_CAPACITY)?;
    if lie != Lie::Resumption {
        stage.prepare()?; // without a ticket, this one would show it
    }
    stage.handshake(stage.resumes()).map(drop)
}

fn transfers(lie: Lie) -> Result<()> {
    let scenario = scenario(Protocol::Tls13, Resumption::None);
    let liar = Liar::new(lie);
    let server = liar.server_config(&Setup::server(&scenario)?)?;
    let mut batch = Batch::new(&scenario)?;
    let stage = Stage::new(&liar, &server, &scenario, batch.capacity())?;
    let mut pair = stage.handshake(false)?;
    stage.transport.clear();
    batch.run(&mut pair)?;
    batch.check(&stage.transport)
}

fn request(scenario: &Scenario, seconds: [f64; 2], latency: bool) -> Request {
    let [warmup, measure] = seconds;
    serde_json::from_value(serde_json::json!({
        "schema": 1, "round": 1, "block": 0, "implementation": "liar-1.0", "scenario": scenario,
        "warmup_seconds": warmup, "measure_seconds": measure, "latency": latency,
    }))
    .unwrap()
}

/// What a block says of an adapter, over several threads and with single handshakes kept.
fn block(lie: Lie, scenario: &Scenario) -> Result<()> {
    let scenario = Scenario {
        threads: Some(2),
        ..scenario.clone()
    };
    measure::block(&Liar::new(lie), &request(&scenario, [0.001, 0.01], true)).map(drop)
}

/// What the measurement of memory says of an adapter at one moment of a connection's life.
fn held(lie: Lie, moment: &str) -> Result<()> {
    let holding: Holding = serde_json::from_value(serde_json::json!({
        "scenario": scenario(Protocol::Tls13, Resumption::None),
        "side": "client", "moment": moment, "sessions": 3,
    }))?;
    memory::hold(&Liar::new(lie), &holding).map(drop)
}

fn client_hello(lie: Lie) -> Result<()> {
    let scenario = Scenario {
        operation: Operation::ClientHello,
        key_exchange: None,
        variant: Some("X25519".into()),
        ..scenario(Protocol::Tls13, Resumption::None)
    };
    Speaker::new(&Liar::new(lie), &scenario)?.speak().map(drop)
}

fn noticed(result: Result<()>, expected: &str) {
    let message = format!("{:#}", result.expect_err("the driver did not notice"));
    assert!(
        message.contains(expected),
        "{message} does not say {expected}"
    );
}

#[test]
fn an_honest_adapter_passes() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        handshakes(Lie::None, &scenario(protocol, Resumption::None)).unwrap();
        handshakes(Lie::None, &scenario(protocol, Resumption::Ticket)).unwrap();
    }
    transfers(Lie::None).unwrap();
    block(Lie::None, &scenario(Protocol::Tls13, Resumption::Ticket)).unwrap();
    for moment in ["construction", "handshake", "data"] {
        held(Lie::None, moment).unwrap();
    }
    client_hello(Lie::None).unwrap();
}

#[test]
fn a_full_handshake_called_resumed_is_noticed() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        let result = handshakes(Lie::Resumption, &scenario(protocol, Resumption::Ticket));
        noticed(result, "on the wire: resumed: found false, expected true");
    }
}

#[test]
fn another_group_is_noticed() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        let result = handshakes(Lie::Group, &scenario(protocol, Resumption::None));
        noticed(result, "on the wire: key exchange: found");
    }
}

#[test]
fn skipped_verification_is_noticed() {
    for protocol in [Protocol::Tls12, Protocol::Tls13] {
        let result = handshakes(Lie::Verification, &scenario(protocol, Resumption::None));
        noticed(result, "verification is off");
    }
}

#[test]
fn data_that_is_short_or_wrong_is_noticed() {
    noticed(transfers(Lie::ShortData), "nothing has arrived");
    noticed(transfers(Lie::OtherData), "arrived as another");
    noticed(transfers(Lie::NothingReceived), "arrived as another");
}

#[test]
fn a_second_ticket_is_noticed() {
    let result = handshakes(
        Lie::SecondTicket,
        &scenario(Protocol::Tls13, Resumption::Ticket),
    );
    noticed(result, "tickets: found 2, expected 1");
}

#[test]
fn a_lie_that_is_told_later_or_on_another_thread_only_is_noticed() {
    let resumed = scenario(Protocol::Tls13, Resumption::Ticket);
    for lie in [Lie::Resumption, Lie::ResumptionElsewhere] {
        let expected = "on the wire: resumed: found false, expected true";
        noticed(block(lie, &resumed), expected);
    }
    let writes = Scenario {
        operation: Operation::Transfer,
        ..scenario(Protocol::Tls13, Resumption::None)
    };
    noticed(block(Lie::OtherDataLater, &writes), "arrived as another");
}

#[test]
fn connections_held_that_did_nothing_are_noticed() {
    noticed(
        held(Lie::NoHandshake, "handshake"),
        "the server sent no message",
    );
    noticed(held(Lie::OtherData, "data"), "other data than was sent");
    noticed(
        held(Lie::NothingReceived, "data"),
        "other data than was sent",
    );
}

#[test]
fn another_key_share_in_a_client_hello_is_noticed() {
    noticed(client_hello(Lie::Group), "key shares: found");
}

/// Clients made by `handshake::prove_verification`, each with a configuration of its own.
const PROOFS: usize = 2;

/// Runs a block with an honest adapter; returns what was measured of clients and of all threads by
/// the wall clock, and when clients were made, thread by thread, without those of the proofs.
fn watched(
    threads: u32,
    seconds: [f64; 2],
    delay: Duration,
) -> ([Measurement; 2], HashMap<ThreadId, Vec<Instant>>) {
    let scenario = Scenario {
        threads: Some(threads),
        ..scenario(Protocol::Tls13, Resumption::None)
    };
    let mut liar = Liar::new(Lie::None);
    liar.delay = delay;
    let mut request = request(&scenario, seconds, false);
    request.throughput = true;
    let records = measure::block(&liar, &request).unwrap();
    let measured = |side| {
        records.iter().find_map(|record| match record {
            Record::Measurement(it) if it.scenario.side == side => Some(it.clone()),
            _ => None,
        })
    };
    let measured = [Some(Side::Client), None].map(|side| measured(side).unwrap());
    let mut connects: HashMap<_, Vec<_>> = HashMap::new();
    for (time, thread) in liar.connects.into_inner().unwrap().into_iter().skip(PROOFS) {
        connects.entry(thread).or_default().push(time);
    }
    (measured, connects)
}

#[test]
fn warm_up_lasts_for_a_time_and_is_thrown_away() {
    for warmup in [0.0, 0.05, 0.1] {
        let ([measurement, _], connects) = watched(1, [warmup, 0.02], Duration::ZERO);
        let connects = connects.into_values().next().unwrap();
        let thrown = connects.len() - measurement.operations as usize;
        assert!(thrown >= 4, "{thrown} handshakes of warm-up");
        let lasted = connects[thrown] - connects[0];
        assert!(lasted.as_secs_f64() >= warmup, "{lasted:?} of {warmup} s");
    }
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
    // One thread is ready long after the others' warm-up of four handshakes.
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
    // Work over the time that passed, not over what the roles' calls took.
    assert_eq!(all.operations, clients.operations);
    let wall = all.operations as f64 / all.observations[0].value;
    assert!(
        wall >= WINDOW.as_secs_f64(),
        "{wall} s for a window of {WINDOW:?}"
    );
}
