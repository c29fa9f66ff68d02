//! The driver notices each adapter that is wrong on purpose.

#![cfg(feature = "ring")]

#[path = "faulty_adapters/cryptography.rs"]
mod cryptography;

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use anyhow::Result;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use serde_json::{Value, json};
use tls_harness::{
    block, certificates, counters,
    implementation::Implementation,
    library::{
        Connection, Negotiated, Progress, Setup, TlsLibrary,
        packets::{PacketKeys, PacketProtection},
        primitives::Cryptography,
    },
    record::Record,
    request::{Counter, Request},
    scenario::{Certificate, CipherSuite, KeyExchange, Protocol, Resumption, Scenario},
    session::HandshakeBench,
    transport::Endpoint,
    workloads::{
        self,
        memory::{self, Holding},
        transfer::Batch,
    },
};
use tls_rustls::Rustls;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    /// Does full handshakes and reports them as resumed.
    Resumption,
    /// Does full handshakes on all threads but the first, and reports them as resumed.
    ResumptionElsewhere,
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
    /// A server reports another cipher suite.
    SuiteOfServer,
    /// A server trusts the usual root, whichever it is configured with.
    AnyClient,
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

    // Of early data:
    /// The client only sends its ClientHello.
    EarlyNotSent,
    /// The client sends no early data, and the server finds the bytes elsewhere.
    EarlyNotSentButReceived,
    /// The same, after a few correct handshakes.
    EarlyNotSentLater,
    /// The server does not permit early data, so that clients cannot send any.
    EarlyNotPermitted,
    /// The server rejects early data, finds the bytes elsewhere, and both report that it accepted it.
    EarlyRejected,
    /// The client sends zeros in place of the data.
    EarlyOtherData,
    /// The server reads nothing, and reports a full buffer.
    EarlyNothingRead,
    /// The same, after a few correct handshakes.
    EarlyNothingReadLater,
    /// The client sends all but one byte.
    EarlyShortData,
    /// The library reports that early data was not accepted.
    EarlyNotReported,

    // Of primitives, and of QUIC's packets:
    /// Seals with a shorter key than it received.
    OtherCipher,
    /// Leaves the data unencrypted.
    Plaintext,
    /// Opens any record or packet, whether its tag matches or not.
    Unauthenticated,
    /// Leaves other data than were sealed.
    OtherPlaintext,
    /// Signs another message.
    OtherMessage,
    /// The same, after a few correct signatures.
    OtherMessageLater,
    /// Both roles keep the secrets of a few exchanges.
    SameSecretLater,
    /// Signs and verifies another message.
    OtherMessages,
    /// Accepts every signature.
    Unverified,
    /// Agrees on the same secret with every peer.
    SameSecret,
    /// Agrees on a secret that differs from the peer's.
    OtherSecret,
    /// Both roles agree on a secret that the named curve does not give.
    OtherCurve,
    /// Accepts every public key.
    UncheckedKey,
    /// Changes a byte of the ciphertext.
    OtherByte,
    /// Changes a byte of the tag.
    OtherTag,
    /// Leaves the packet number unprotected.
    PlainNumber,
    /// Leaves the first byte unprotected.
    PlainFirst,
    /// Uses the IV with another packet number, in both directions.
    OtherNumber,
    /// Authenticates no header, in both directions.
    NoHeader,
    /// Opens known packets only.
    OtherPayload,
}

struct FaultyAdapter {
    library: Rustls,
    fault: Fault,
    /// Number of client configurations.
    configurations: AtomicUsize,
    /// Number of the clients that were made, and of those whose report was read.
    clients: [Arc<AtomicUsize>; 2],
}

/// Number of correct writes, or of handshakes with early data, before a fault that comes later: as
/// many as the shortest warm-up has.
const CORRECT: usize = 4;

/// Clients that `session::prove_verification` makes, each with its own configuration.
const PROOFS: usize = 3;

impl FaultyAdapter {
    fn new(fault: Fault) -> Self {
        Self {
            library: Rustls::ring(),
            fault,
            configurations: AtomicUsize::new(0),
            clients: Default::default(),
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

thread_local! {
    /// The early data that this thread's client did not send.
    static UNSENT: Cell<Option<Vec<u8>>> = const { Cell::new(None) };
    /// Handshakes of this thread with early data.
    static EARLY: Cell<usize> = const { Cell::new(0) };
}

struct FaultyConnection<C> {
    connection: C,
    fault: Fault,
    /// The number of this connection in its configuration, counted from 1.
    ordinal: usize,
    writes: usize,
    /// Counts the reports that are read; none of a server.
    reports: Option<Arc<AtomicUsize>>,
    /// Whether this handshake has early data; the one before it, whose session it resumes, has none.
    is_early: bool,
}

impl<C> FaultyConnection<C> {
    fn new(connection: C, fault: Fault, ordinal: usize) -> Self {
        Self {
            connection,
            fault,
            ordinal,
            writes: 0,
            reports: None,
            is_early: false,
        }
    }
}

impl<C: Connection> Connection for FaultyConnection<C> {
    fn handshake(&mut self) -> Result<Progress> {
        match self.fault {
            Fault::NoHandshake => Ok(Progress::Done),
            _ => self.connection.handshake(),
        }
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        self.is_early = true;
        let before = EARLY.replace(EARLY.get() + 1);
        let sends = match self.fault {
            Fault::EarlyNotSent | Fault::EarlyNotSentButReceived => false,
            Fault::EarlyNotSentLater => before < CORRECT,
            _ => true,
        };
        if !sends || self.fault == Fault::EarlyRejected {
            UNSENT.set(Some(data.to_vec()));
        }
        if !sends {
            return self.connection.handshake().map(drop);
        }
        match self.fault {
            Fault::EarlyOtherData => self.connection.send_early_data(&vec![0; data.len()]),
            Fault::EarlyShortData => self.connection.send_early_data(&data[1..]),
            _ => self.connection.send_early_data(data),
        }
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.is_early = true;
        match (self.fault, UNSENT.take()) {
            (
                Fault::EarlyNotSentButReceived | Fault::EarlyNotSentLater | Fault::EarlyRejected,
                Some(data),
            ) => {
                buffer.copy_from_slice(&data);
                self.connection.handshake()?;
                Ok(data.len())
            }
            (Fault::EarlyNothingReadLater, _) if EARLY.get() <= CORRECT => {
                self.connection.receive_early_data(buffer)
            }
            (Fault::EarlyNothingRead | Fault::EarlyNothingReadLater, _) => {
                let mut read = vec![0; buffer.len()];
                self.connection.receive_early_data(&mut read)
            }
            _ => self.connection.receive_early_data(buffer),
        }
    }

    fn early_data_accepted(&self) -> Result<bool> {
        match self.fault {
            Fault::EarlyNotReported => Ok(false),
            Fault::EarlyNotSentButReceived | Fault::EarlyNotSentLater | Fault::EarlyRejected
                if self.is_early =>
            {
                Ok(true)
            }
            _ => self.connection.early_data_accepted(),
        }
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.connection.receive_tickets()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        self.writes += 1;
        match self.fault {
            Fault::OtherDataLater if self.writes > CORRECT => {
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
        if let Some(reports) = &self.reports {
            reports.fetch_add(1, Relaxed);
        }
        Ok(match self.fault {
            Fault::Resumption => Negotiated {
                resumed: Some(self.ordinal > 1), // the first handshake is a full one
                tickets: u32::from(correct.protocol == Protocol::Tls13),
                ..correct
            },
            Fault::Group => Negotiated {
                key_exchange: Some(KeyExchange::X25519),
                ..correct
            },
            Fault::SuiteOfServer if self.reports.is_none() => Negotiated {
                cipher_suite: CipherSuite::Aes128Gcm,
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
    type Client<'a> = FaultyConnection<<Rustls as TlsLibrary>::Client<'a>>;
    type Server<'a> = FaultyConnection<<Rustls as TlsLibrary>::Server<'a>>;

    fn implementation(&self) -> Result<Implementation> {
        self.library.implementation()
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        Ok(self)
    }

    fn packet_protection(
        &self,
        suite: CipherSuite,
        keys: &PacketKeys,
    ) -> Result<Box<dyn PacketProtection>> {
        let correct = self.library.packet_protection(suite, keys)?;
        Ok(Box::new(self.with_fault(correct)))
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        let before = self.configurations.fetch_add(1, Relaxed);
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
        setup.compresses &= self.fault != Fault::Uncompressed;
        setup.early_data &= self.fault != Fault::EarlyNotPermitted;
        if self.fault == Fault::AnyClient && !setup.trusted.is_empty() {
            setup.trusted = certificates::authority(setup.certificate).root;
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
        config.made.set(config.made.get() + 1);
        let connection = self.library.connect(&config.client, endpoint)?;
        self.clients[0].fetch_add(1, Relaxed);
        Ok(FaultyConnection {
            reports: Some(Arc::clone(&self.clients[1])),
            ..FaultyConnection::new(connection, config.fault, config.made.get())
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        let mut connection = self.library.accept(config, endpoint)?;
        if self.fault == Fault::EarlyRejected {
            connection.connection.reject_early_data();
        }
        let fault = match self.fault {
            Fault::NothingReceivedByServer => Fault::NothingReceived,
            fault => fault,
        };
        Ok(FaultyConnection::new(connection, fault, 0))
    }
}

const TLS12: &str =
    r#"{"protocol": "1.2", "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}"#;
const TLS12_RESUMED: &str = r#"{"protocol": "1.2", "key_exchange": null, "resumption": "session-id",
    "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}"#;
const TLS13: &str = "{}";
const TLS13_TICKET: &str = r#"{"resumption": "ticket"}"#;
const COMPRESSED: &str = r#"{"variant": "compressed-zlib"}"#;
const EARLY_DATA: &str = r#"{"resumption": "session-id", "variant": "early-data"}"#;
const TRANSFER: &str = r#"{"operation": "transfer", "size": 1048576}"#;
const IN_FLIGHT: &str = r#"{"operation": "transfer", "size": 65536, "in_flight": 65536}"#;
const CLIENT_HELLO: &str =
    r#"{"operation": "client-hello", "key_exchange": null, "variant": "X25519"}"#;
const MUTUAL: &str = r#"{"authentication": "mutual"}"#;

/// A handshake of TLS 1.3 on two threads, with some fields replaced.
fn scenario(changes: impl ToString) -> Scenario {
    let mut whole = json!({"operation": "handshake", "protocol": "1.3", "threads": 2,
        "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
        "certificate": "rsa-2048", "authentication": "server", "resumption": "none"});
    let changes: Value = serde_json::from_str(&changes.to_string()).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        whole[key] = value.clone();
    }
    serde_json::from_value(whole).unwrap()
}

fn request(scenario: &Scenario) -> Request {
    serde_json::from_value(json!({
        "schema": 1, "round": 1, "block": 0, "implementation": "faulty-1.0", "scenario": scenario,
        "warmup_seconds": 0.001, "measure_seconds": 0.01, "latency": true,
    }))
    .unwrap()
}

/// The driver's result for a block.
fn measured(fault: Fault, scenario: &Scenario) -> Result<Vec<Record>> {
    block::measure(&FaultyAdapter::new(fault), &request(scenario))
}

/// The driver's result for one batch of a transfer, whose plaintext it keeps or not.
fn transferred(fault: Fault, scenario: &Scenario, keeps: bool) -> Result<()> {
    let faulty = FaultyAdapter::new(fault);
    let server = faulty.server_config(&Setup::server(scenario)?)?;
    let mut batch = Batch::new(scenario)?;
    let bench = HandshakeBench::new(&faulty, &server, scenario, batch.capacity())?;
    let mut pair = bench.handshake(false)?;
    bench.transport.clear();
    match keeps {
        true => batch.run_kept(&mut pair)?,
        false => batch.run(&mut pair)?,
    };
    batch.check(&bench.transport)
}

/// The result of the memory measurement at one state of a connection.
fn held(fault: Fault, moment: &str) -> Result<()> {
    let holding: Holding = serde_json::from_value(json!({
        "scenario": scenario(TLS13), "side": "client", "moment": moment, "sessions": 3,
    }))?;
    memory::hold(&FaultyAdapter::new(fault), &holding).map(drop)
}

fn noticed<T>(result: Result<T>, fault: Fault, expected: &str) {
    let Err(error) = result else {
        panic!("the driver did not notice {fault:?}, expected {expected}");
    };
    let message = format!("{error:#}");
    assert!(
        message.contains(expected),
        "{fault:?}: found {message}, expected {expected}"
    );
}

/// Connections that are held pass in a process of their own (`conformance::programs`): memory is counted
/// of a whole process, and other tests run in this one.
#[test]
fn a_correct_adapter_passes() {
    for text in [
        TLS12,
        TLS12_RESUMED,
        TLS13,
        TLS13_TICKET,
        EARLY_DATA,
        TRANSFER,
        IN_FLIGHT,
        CLIENT_HELLO,
    ] {
        measured(Fault::None, &scenario(text)).unwrap();
    }
    for keeps in [false, true] {
        transferred(Fault::None, &scenario(IN_FLIGHT), keeps).unwrap();
    }
}

#[test]
fn a_fault_is_noticed_in_each_kind_of_scenario() {
    let rows: [(Fault, &[&str], &str); 24] = [
        (
            Fault::SuiteOfServer,
            &[TLS13, TRANSFER],
            "server: cipher suite: found",
        ),
        (
            Fault::AnyClient,
            &[MUTUAL],
            "a client signed by an unknown root was accepted",
        ),
        (
            Fault::EarlyNothingReadLater,
            &[EARLY_DATA],
            "early data: the server received other bytes than were sent",
        ),
        (
            Fault::Resumption,
            &[TLS12_RESUMED, TLS13_TICKET],
            "on the wire: resumed: found false, expected true",
        ),
        (
            Fault::ResumptionElsewhere,
            &[TLS13_TICKET],
            "on the wire: resumed: found false, expected true",
        ),
        (
            Fault::Group,
            &[TLS12, TLS13],
            "on the wire: key exchange: found",
        ),
        (Fault::Group, &[CLIENT_HELLO], "key shares: found"),
        (
            Fault::AnyScheme,
            &[TLS13],
            "a server whose signature has another scheme was accepted",
        ),
        (
            Fault::Scheme,
            &[TLS13],
            "signature scheme: found 2055, expected 2052",
        ),
        (
            Fault::SecondTicket,
            &[TLS13_TICKET],
            "tickets: found 2, expected 1",
        ),
        (
            Fault::Verification,
            &[TLS12, TLS13, TRANSFER, IN_FLIGHT],
            "verification is off",
        ),
        (
            Fault::ShortData,
            &[TRANSFER, IN_FLIGHT],
            "nothing has arrived",
        ),
        (
            Fault::OtherData,
            &[TRANSFER, IN_FLIGHT],
            "arrived as another",
        ),
        (
            Fault::OtherDataLater,
            &[TRANSFER, IN_FLIGHT],
            "arrived as another",
        ),
        (
            Fault::NothingReceived,
            &[TRANSFER, IN_FLIGHT],
            "arrived as another",
        ),
        (
            Fault::EarlyNotSent,
            &[EARLY_DATA],
            "server: no early data was accepted",
        ),
        (
            Fault::EarlyNotPermitted,
            &[EARLY_DATA],
            "client: 0 bytes of early data were written, expected 1024",
        ),
        (
            Fault::EarlyShortData,
            &[EARLY_DATA],
            "early data: the server received 1023 bytes, expected 1024",
        ),
        (
            Fault::EarlyNotSentButReceived,
            &[EARLY_DATA],
            "early data on the wire: the client encrypted 56 bytes, expected 1080",
        ),
        (
            Fault::EarlyNotSentLater,
            &[EARLY_DATA],
            "early data on the wire: the client encrypted 56 bytes, expected 1080",
        ),
        (
            Fault::EarlyRejected,
            &[EARLY_DATA],
            "early data on the wire: the client encrypted 1076 bytes, expected 1080",
        ),
        (
            Fault::EarlyOtherData,
            &[EARLY_DATA],
            "early data: the server received other bytes than were sent",
        ),
        (
            Fault::EarlyNothingRead,
            &[EARLY_DATA],
            "early data: the server received other bytes than were sent",
        ),
        (
            Fault::EarlyNotReported,
            &[EARLY_DATA],
            "early data accepted: found false",
        ),
    ];
    for (fault, scenarios, expected) in rows {
        for text in scenarios {
            noticed(measured(fault, &scenario(text)), fault, expected);
        }
    }
}

/// Their overhead, and what they do then, needs a library's program, which this test is not.
#[test]
fn a_library_that_does_not_verify_is_noticed_in_each_kind_of_measurement() {
    let faulty = FaultyAdapter::new(Fault::Verification);
    for (operation, counter) in [
        ("memory", None),
        ("set-up", None),
        ("connection", None),
        ("connection", Some(Counter::Calls)),
        ("handshake", Some(Counter::Wire)),
        ("transfer", Some(Counter::Wire)),
    ] {
        let variant = (operation == "set-up").then_some("server");
        let scenario = scenario(json!({
            "operation": operation, "variant": variant, "threads": 1, "size": 65536,
        }));
        let request = request(&scenario);
        let records = match counter {
            Some(counter) => counters::measure(&faulty, &request, counter),
            None => workloads::of(scenario.operation).measure(&faulty, &request),
        };
        noticed(records, Fault::Verification, "verification is off");
    }
}

/// All clients but those of the proof that the library verifies.
#[test]
fn the_report_of_each_handshake_is_read() {
    for text in [TLS12, TLS13, TLS13_TICKET, EARLY_DATA, TRANSFER, IN_FLIGHT] {
        let faulty = FaultyAdapter::new(Fault::None);
        block::measure(&faulty, &request(&scenario(text))).unwrap();
        let [made, read] = [0, 1].map(|it| faulty.clients[it].load(Relaxed));
        let proofs = PROOFS - usize::from(text == TLS12);
        assert_eq!(read, made - proofs, "{text}");
    }
}

#[cfg(feature = "certificate-compression")]
#[test]
fn missing_and_unwanted_compression_of_certificates_is_noticed() {
    measured(Fault::None, &scenario(COMPRESSED)).unwrap();
    let missing = "on the wire: server: certificates: found";
    let unwanted = "algorithms with which the client accepts compressed certificates: found [1], \
                    expected []";
    for (fault, text, expected) in [
        (Fault::Uncompressed, COMPRESSED, missing),
        (Fault::Compressed, TLS13, unwanted),
    ] {
        noticed(measured(fault, &scenario(text)), fault, expected);
    }
}

#[test]
fn missing_or_wrong_data_of_one_batch_is_noticed() {
    for (fault, keeps, expected) in [
        (Fault::ShortData, false, "nothing has arrived"),
        (Fault::ShortData, true, "nothing has arrived"),
        (Fault::NothingReceived, false, "more was sent than"),
        (Fault::NothingReceived, true, "arrived as another"),
        (Fault::OtherData, true, "arrived as another"),
    ] {
        let result = transferred(fault, &scenario(IN_FLIGHT), keeps);
        noticed(result, fault, expected);
    }
}

#[test]
fn held_connections_that_did_nothing_are_noticed() {
    for (fault, moment, expected) in [
        (
            Fault::NoHandshake,
            "handshake",
            "the server sent no message",
        ),
        (Fault::OtherData, "data", "other data than was sent"),
        (
            Fault::NothingReceived,
            "data",
            "the client received other data than was sent",
        ),
        (
            Fault::NothingReceivedByServer,
            "data",
            "the server received other data than was sent",
        ),
    ] {
        noticed(held(fault, moment), fault, expected);
    }
}
