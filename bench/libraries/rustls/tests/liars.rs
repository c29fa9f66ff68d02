//! Adapters that are wrong on purpose: the driver notices each of them.

#![cfg(feature = "ring")]

#[path = "liars/primitives.rs"]
mod primitives;

use std::sync::Arc;

use anyhow::Result;
use rustls::{
    ClientConfig, DigitallySignedStruct, Error, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tls_harness::{
    handshake::{self, Stage},
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    primitive::Cryptography,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario,
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
    /// Does not verify the server, and says it did.
    Verification,
    /// Sends all but the last byte of each write.
    ShortData,
    /// Sends zeros in place of the data.
    OtherData,
    /// Receives nothing and says the buffer is full.
    NothingReceived,
}

struct Liar {
    library: Rustls,
    lie: Lie,
    cryptography: primitives::Liar,
}

impl Liar {
    fn new(lie: Lie) -> Self {
        Self {
            library: Rustls::ring(),
            lie,
            cryptography: primitives::Liar::new(primitives::Lie::None),
        }
    }

    fn distort(&self, setup: &Setup) -> Setup {
        let mut setup = setup.clone();
        match self.lie {
            Lie::Resumption => setup.resumption = Resumption::None,
            Lie::Group => setup.groups = vec![KeyExchange::Secp256r1],
            _ => {}
        }
        setup
    }
}

struct LyingConnection<C> {
    connection: C,
    lie: Lie,
}

impl<C: Connection> Connection for LyingConnection<C> {
    fn handshake(&mut self) -> Result<Progress> {
        self.connection.handshake()
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.connection.receive_tickets()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        match self.lie {
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
                resumed: true,
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
    type ClientConfig = tls_rustls::Client;
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
        let mut client = self.library.client_config(&self.distort(setup))?;
        if self.lie == Lie::Verification {
            let mut config = ClientConfig::clone(&client.config);
            config
                .dangerous()
                .set_certificate_verifier(Arc::new(Gullible));
            client.config = Arc::new(config);
        }
        Ok(client)
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        self.library.server_config(&self.distort(setup))
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        Ok(LyingConnection {
            connection: self.library.connect(config, endpoint)?,
            lie: self.lie,
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
        stage.prepare()?; // where it lies about all of them, the first would show it
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
