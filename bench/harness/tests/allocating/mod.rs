//! A library whose connections allocate known numbers of bytes, and pass every check of a full handshake of
//! TLS 1.3 with an RSA certificate.

use anyhow::{Context, Result, bail, ensure};
use tls_harness::{
    certificates::{self, HOST_NAME},
    chain::SentChain,
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    scenario::{Protocol, Scenario},
    transport::Endpoint,
};

/// Bytes that a connection allocates in its construction, its handshake, and with its first data.
pub type Bytes = [usize; 3];

pub const OF_CLIENT: Bytes = [512, 1024, 256];
pub const OF_SERVER: Bytes = [2048, 512, 1024];

const FULL: &str = "the transport is full";

pub struct Allocating;

pub struct Config {
    of: Bytes,
    negotiated: Negotiated,
    /// What a role sends in its first flight.
    flight: Vec<u8>,
    /// Whether the client trusts the server's root and expects its name.
    pub accepts: bool,
}

pub struct Allocated<'a> {
    config: &'a Config,
    endpoint: &'a Endpoint,
    held: [Vec<u8>; 3],
    is_closing: bool,
}

impl Allocated<'_> {
    fn hold(&mut self, part: usize) {
        if self.held[part].is_empty() {
            self.held[part] = vec![1; self.config.of[part]];
        }
    }
}

/// The record of a ServerHello of TLS 1.3 with AES-256-GCM and a key share for X25519.
fn server_hello() -> Vec<u8> {
    let extensions = [0, 43, 0, 2, 3, 4, 0, 51, 0, 5, 0, 0x1d, 0, 1, 9];
    let body = [
        &[3, 3][..],
        &[1; 32],
        &[0, 0x13, 0x02, 0, 0, 15],
        &extensions,
    ]
    .concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[22, 3, 3, 0, 4 + length, 2, 0, 0, length][..], &body].concat()
}

/// The record of a ClientHello of TLS 1.3 with AES-256-GCM, RSA-PSS and a key share for X25519.
fn client_hello() -> Vec<u8> {
    let schemes = [0, 13, 0, 4, 0, 2, 8, 4];
    let shares = [0, 51, 0, 7, 0, 5, 0, 0x1d, 0, 1, 9];
    let extensions = [&schemes[..], &shares].concat();
    let body = [
        &[3, 3][..],
        &[1; 32],
        &[0, 0, 2, 0x13, 0x02, 1, 0, 0, 19],
        &extensions,
    ]
    .concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[22, 3, 3, 0, 4 + length, 1, 0, 0, length][..], &body].concat()
}

/// A record of so many zeros in place of the messages that TLS 1.3 encrypts.
fn encrypted(bytes: usize) -> Result<Vec<u8>> {
    let length = u16::try_from(bytes + 17)?.to_be_bytes();
    Ok([&[23, 3, 3][..], &length, &vec![0; bytes + 17]].concat())
}

impl Connection for Allocated<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        self.hold(1);
        let mut arrived = [0; 4096];
        let arrived = self.endpoint.receive(&mut arrived);
        if self.config.of == OF_SERVER {
            ensure!(self.endpoint.send(&self.config.flight), FULL);
        } else if arrived == 0 {
            ensure!(self.endpoint.send(&self.config.flight), FULL);
            return Ok(Progress::Waiting);
        }
        ensure!(self.config.accepts, "the server is not the expected one");
        Ok(Progress::Done)
    }

    fn receive_tickets(&mut self) -> Result<()> {
        bail!("the server sends no tickets")
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        ensure!(self.endpoint.send(data), FULL);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.hold(2);
        let length = self.endpoint.receive(buffer);
        ensure!(length > 0, "nothing has arrived");
        Ok(length)
    }

    fn close(&mut self) -> Result<Progress> {
        if !self.is_closing {
            self.is_closing = true;
            ensure!(self.endpoint.send(&[0]), FULL);
        }
        Ok(match self.endpoint.receive(&mut [0; 1]) {
            0 => Progress::Waiting,
            _ => Progress::Done,
        })
    }

    fn negotiated(&self) -> Result<Negotiated> {
        Ok(self.config.negotiated)
    }
}

impl TlsLibrary for Allocating {
    type ClientConfig = Config;
    type ServerConfig = Config;
    type Client<'a> = Allocated<'a>;
    type Server<'a> = Allocated<'a>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("this library is not an implementation")
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Config> {
        let root = certificates::authority(setup.certificate).root;
        Ok(Config {
            of: OF_CLIENT,
            flight: client_hello(),
            accepts: setup.trusted == root && setup.host_name == HOST_NAME,
            negotiated: Negotiated {
                protocol: Protocol::Tls13,
                cipher_suite: setup.cipher_suite,
                key_exchange: None,
                resumed: None,
                signature_scheme: None,
                peer_verified: true,
                tickets: 0,
            },
        })
    }

    fn server_config(&self, setup: &Setup) -> Result<Config> {
        let mut config = self.client_config(setup)?;
        config.of = OF_SERVER;
        let identity = setup.identity.context("a server needs an identity")?;
        let chain = SentChain::new(&identity, setup.certificate);
        config.flight = [server_hello(), encrypted(*chain.encrypted().start())?].concat();
        config.accepts = true;
        config.negotiated.peer_verified = false;
        Ok(config)
    }

    fn connect<'a>(&self, config: &'a Config, endpoint: &'a Endpoint) -> Result<Allocated<'a>> {
        let mut connection = Allocated {
            config,
            endpoint,
            held: Default::default(),
            is_closing: false,
        };
        connection.hold(0);
        Ok(connection)
    }

    fn accept<'a>(&self, config: &'a Config, endpoint: &'a Endpoint) -> Result<Allocated<'a>> {
        self.connect(config, endpoint)
    }
}
