//! A library that does nothing: it measures the overhead of the harness.
//!
//! Each flight and each record is one byte, so that the figures include the clock, the calls and
//! the bookkeeping of the transport. They do not include copies, which are a library's own reads
//! and writes.

use std::{any::Any, hint::black_box};

use anyhow::{Result, bail, ensure};

use crate::{
    implementation::Implementation,
    library::{
        Connection, Negotiated, Progress, Setup, TlsLibrary,
        packets::{LONGEST_NUMBER, PacketKeys, PacketProtection, SAMPLE},
        primitives::{
            Aead, Cipher, Cryptography, Group, KeyExchange, NONCE, PrivateKey, Signature,
        },
    },
    scenario::{Certificate, CipherSuite, Protocol, Resumption, Scenario},
    transport::Endpoint,
};

pub struct NoopLibrary;

/// Largest record of the protocol, in bytes of plaintext.
const LARGEST_RECORD: u16 = 1 << 14;

/// The flights and records of a role.
#[derive(Clone, Copy)]
pub struct Config {
    /// Bytes of plaintext in a record.
    pub record: u16,
    flights: u32,
    /// Whether the last flight only receives, since the peer waits for nothing more.
    ends_silently: bool,
}

/// A connection that counts its flights.
pub struct NoopConnection<'a> {
    endpoint: &'a Endpoint,
    config: Config,
    is_closing: bool,
}

impl Connection for NoopConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        self.endpoint.receive(&mut [0; 1]);
        let flights = &mut self.config.flights;
        *flights = flights.saturating_sub(1);
        if *flights > 0 || !self.config.ends_silently {
            ensure!(self.endpoint.send(&[0]), "the transport is full");
        }
        Ok(match *flights {
            0 => Progress::Done,
            _ => Progress::Waiting,
        })
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        self.handshake()?;
        self.send(data)
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.handshake()?;
        self.receive(buffer)
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.endpoint.receive(&mut [0; 1]);
        Ok(())
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        for record in data.chunks(self.config.record.into()) {
            ensure!(self.endpoint.send(&record[..1]), "the transport is full");
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let read = self.endpoint.receive(&mut buffer[..1]);
        ensure!(read == 1, "nothing has arrived");
        Ok(buffer.len())
    }

    fn close(&mut self) -> Result<Progress> {
        if !self.is_closing {
            self.is_closing = true;
            ensure!(self.endpoint.send(&[0]), "the transport is full");
        }
        Ok(match self.endpoint.receive(&mut [0; 1]) {
            0 => Progress::Waiting,
            _ => Progress::Done,
        })
    }

    fn negotiated(&self) -> Result<Negotiated> {
        bail!("the no-op library negotiates nothing")
    }
}

fn record(setup: &Setup) -> u16 {
    let record = setup.record_size.and_then(|it| it.try_into().ok());
    record.map_or(LARGEST_RECORD, |it| LARGEST_RECORD.min(it))
}

/// Whether the client receives the last flight.
fn is_full_tls12(setup: &Setup) -> bool {
    setup.protocol == Protocol::Tls12 && setup.resumption == Resumption::None
}

impl TlsLibrary for NoopLibrary {
    type ClientConfig = Config;
    type ServerConfig = Config;
    type Client<'a> = NoopConnection<'a>;
    type Server<'a> = NoopConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("the no-op library is not an implementation")
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        Ok(self)
    }

    fn packet_protection(
        &self,
        _: CipherSuite,
        _: &PacketKeys,
    ) -> Result<Box<dyn PacketProtection>> {
        Ok(black_box::<Box<dyn PacketProtection>>(Box::new(Self)))
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        black_box(pem);
        Ok(black_box::<Box<dyn Any>>(Box::new(Self)))
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        self.anchors(pem)
    }

    fn client_config(&self, setup: &Setup) -> Result<Config> {
        let full_tls12 = is_full_tls12(setup);
        Ok(Config {
            record: record(setup),
            flights: 2 + u32::from(full_tls12),
            ends_silently: full_tls12,
        })
    }

    fn server_config(&self, setup: &Setup) -> Result<Config> {
        let sends_ticket =
            setup.protocol == Protocol::Tls13 && setup.resumption != Resumption::None;
        Ok(Config {
            record: record(setup),
            flights: 2,
            ends_silently: !is_full_tls12(setup) && !sends_ticket,
        })
    }

    fn connect<'a>(
        &self,
        config: &'a Config,
        endpoint: &'a Endpoint,
    ) -> Result<NoopConnection<'a>> {
        Ok(NoopConnection {
            endpoint,
            config: *config,
            is_closing: false,
        })
    }

    fn accept<'a>(&self, config: &'a Config, endpoint: &'a Endpoint) -> Result<NoopConnection<'a>> {
        self.connect(config, endpoint)
    }
}

// black_box keeps the compiler from removing the calls.

impl Cryptography for NoopLibrary {
    fn aead(&self, _: Cipher, _: &[u8]) -> Result<Box<dyn Aead>> {
        Ok(black_box::<Box<dyn Aead>>(Box::new(Self)))
    }

    fn signature(&self, _: Certificate, _: &str) -> Result<Box<dyn Signature>> {
        Ok(black_box::<Box<dyn Signature>>(Box::new(Self)))
    }

    fn key_exchange(&self, _: Group) -> Result<Box<dyn KeyExchange>> {
        Ok(black_box::<Box<dyn KeyExchange>>(Box::new(Self)))
    }
}

impl Aead for NoopLibrary {
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        black_box((nonce, additional, record));
        Ok(())
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        black_box((nonce, additional, record));
        Ok(())
    }
}

impl Signature for NoopLibrary {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        black_box((message, signature));
        Ok(1)
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        black_box((message, signature));
        Ok(())
    }
}

impl KeyExchange for NoopLibrary {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        black_box(share);
        Ok(black_box::<Box<dyn PrivateKey>>(Box::new(Self)))
    }
}

impl PrivateKey for NoopLibrary {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        black_box((answer, secret));
        Ok(())
    }
}

impl PacketProtection for NoopLibrary {
    fn seal(&mut self, number: u64, _: &[u8], _: &mut [u8]) -> Result<()> {
        black_box(number);
        Ok(())
    }

    fn open(&mut self, number: u64, _: &[u8], _: &mut [u8]) -> Result<()> {
        black_box(number);
        Ok(())
    }

    fn protect(
        &mut self,
        sample: &[u8; SAMPLE],
        _: &mut u8,
        _: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()> {
        black_box(sample);
        Ok(())
    }

    fn unprotect(
        &mut self,
        sample: &[u8; SAMPLE],
        _: &mut u8,
        _: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()> {
        black_box(sample);
        Ok(())
    }
}
