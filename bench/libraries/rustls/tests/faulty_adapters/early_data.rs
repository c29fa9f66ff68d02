//! The driver notices early data that was not sent, not accepted or not received.

use std::cell::Cell;

use anyhow::{Result, bail};
use tls_harness::{
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    scenario::{Protocol, Resumption, Scenario, Variant},
    session::{self, HandshakeBench},
    transport::{Endpoint, Transport},
};
use tls_rustls::Rustls;

use super::{block_of, noticed, scenario};

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The client only sends its ClientHello.
    NotSent,
    /// The client sends no early data, and the server finds the bytes elsewhere.
    NotSentButReceived,
    /// The server does not permit early data, so that clients cannot send any.
    NotPermitted,
    /// The server rejects early data, finds the bytes elsewhere, and both report that it accepted it.
    Rejected,
    /// The client sends zeros in place of the data.
    OtherData,
    /// The server reads nothing, and reports a full buffer.
    NothingRead,
    /// The client sends all but the last byte.
    ShortData,
    /// The client sends its data, but after a few handshakes none.
    NotSentLater,
    /// The library reports that early data was not accepted.
    NotReported,
}

struct FaultyAdapter {
    library: Rustls,
    fault: Fault,
}

thread_local! {
    /// The data that this thread's client did not send.
    static UNSENT: Cell<Option<Vec<u8>>> = const { Cell::new(None) };
    static SENT: Cell<usize> = const { Cell::new(0) };
}

/// Number of correct handshakes before the fault: as many as the shortest warm-up has.
const CORRECT: usize = 4;

struct FaultyConnection<C> {
    connection: C,
    fault: Fault,
    /// Whether this handshake has early data; the one before it, whose session it resumes, has none.
    is_early: bool,
}

impl<C: Connection> Connection for FaultyConnection<C> {
    fn handshake(&mut self) -> Result<Progress> {
        self.connection.handshake()
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        self.is_early = true;
        let before = SENT.replace(SENT.get() + 1);
        let sends = match self.fault {
            Fault::NotSent | Fault::NotSentButReceived => false,
            Fault::NotSentLater => before < CORRECT,
            _ => true,
        };
        if !sends || self.fault == Fault::Rejected {
            UNSENT.set(Some(data.to_vec()));
        }
        if !sends {
            return self.connection.handshake().map(drop);
        }
        match self.fault {
            Fault::OtherData => self.connection.send_early_data(&vec![0; data.len()]),
            Fault::ShortData => self.connection.send_early_data(&data[1..]),
            _ => self.connection.send_early_data(data),
        }
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.is_early = true;
        match (self.fault, UNSENT.take()) {
            (Fault::NotSentButReceived | Fault::NotSentLater | Fault::Rejected, Some(data)) => {
                buffer.copy_from_slice(&data);
                self.connection.handshake()?;
                Ok(data.len())
            }
            (Fault::NothingRead, _) => {
                let mut read = vec![0; buffer.len()];
                self.connection.receive_early_data(&mut read)
            }
            _ => self.connection.receive_early_data(buffer),
        }
    }

    fn early_data_accepted(&self) -> Result<bool> {
        match self.fault {
            Fault::NotReported => Ok(false),
            Fault::NotSentButReceived | Fault::NotSentLater | Fault::Rejected if self.is_early => {
                Ok(true)
            }
            _ => self.connection.early_data_accepted(),
        }
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.connection.receive_tickets()
    }

    fn send(&mut self, _: &[u8]) -> Result<()> {
        bail!("a handshake sends no data")
    }

    fn receive(&mut self, _: &mut [u8]) -> Result<usize> {
        bail!("a handshake receives no data")
    }

    fn negotiated(&self) -> Result<Negotiated> {
        self.connection.negotiated()
    }
}

impl TlsLibrary for FaultyAdapter {
    type ClientConfig = <Rustls as TlsLibrary>::ClientConfig;
    type ServerConfig = <Rustls as TlsLibrary>::ServerConfig;
    type Client<'a> = FaultyConnection<<Rustls as TlsLibrary>::Client<'a>>;
    type Server<'a> = FaultyConnection<<Rustls as TlsLibrary>::Server<'a>>;

    fn implementation(&self) -> Result<Implementation> {
        self.library.implementation()
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        self.library.client_config(setup)
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        let mut setup = setup.clone();
        setup.early_data &= self.fault != Fault::NotPermitted;
        self.library.server_config(&setup)
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        Ok(FaultyConnection {
            connection: self.library.connect(config, endpoint)?,
            fault: self.fault,
            is_early: false,
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        let mut connection = self.library.accept(config, endpoint)?;
        if self.fault == Fault::Rejected {
            connection.connection.reject_early_data();
        }
        Ok(FaultyConnection {
            connection,
            fault: self.fault,
            is_early: false,
        })
    }
}

fn with_early_data() -> Scenario {
    Scenario {
        threads: Some(1),
        size: None,
        variant: Some(Variant::EarlyData),
        ..scenario(Protocol::Tls13, Resumption::SessionId)
    }
}

/// The driver's result for a full handshake and two with early data.
fn handshakes(fault: Fault) -> Result<()> {
    let scenario = with_early_data();
    let faulty = FaultyAdapter {
        library: Rustls::ring(),
        fault,
    };
    session::prove_verification(&faulty, &scenario)?;
    let server = faulty.server_config(&Setup::server(&scenario)?)?;
    let bench = HandshakeBench::new(&faulty, &server, &scenario, Transport::HANDSHAKE_CAPACITY)?;
    bench.prepare()?;
    bench.handshake(true)?;
    bench.handshake(true).map(drop)
}

#[test]
fn a_correct_adapter_passes() {
    handshakes(Fault::None).unwrap();
}

#[test]
fn early_data_that_is_not_sent_is_noticed() {
    noticed(
        handshakes(Fault::NotSent),
        "server: no early data was accepted",
    );
    noticed(
        handshakes(Fault::NotPermitted),
        "client: 0 bytes of early data were written, expected 1024",
    );
    noticed(
        handshakes(Fault::ShortData),
        "early data: the server received 1023 bytes, expected 1024",
    );
}

#[test]
fn early_data_that_only_the_adapter_reports_is_noticed_on_the_wire() {
    let expected = "early data on the wire: ";
    noticed(handshakes(Fault::NotSentButReceived), expected);
    noticed(
        handshakes(Fault::NotReported),
        "early data accepted: found false",
    );
}

#[test]
fn rejected_early_data_is_noticed() {
    let expected = "early data on the wire: the client encrypted 1076 bytes, expected 1080";
    noticed(handshakes(Fault::Rejected), expected);
}

#[test]
fn other_early_data_is_noticed() {
    for fault in [Fault::OtherData, Fault::NothingRead] {
        let expected = "early data: the server received other bytes than were sent";
        noticed(handshakes(fault), expected);
    }
}

#[test]
fn a_block_fails_if_early_data_is_missing_in_a_later_handshake() {
    let block = |fault| {
        let faulty = FaultyAdapter {
            library: Rustls::ring(),
            fault,
        };
        block_of(&faulty, &with_early_data())
    };
    block(Fault::None).unwrap();
    noticed(block(Fault::NotSentLater), "early data on the wire: ");
}
