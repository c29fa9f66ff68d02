//! A library that copies instead of encrypting: it measures the cost of the transport.
//!
//! Each record is a header, the plaintext, and as many bytes as a content type and a tag take. So
//! the transport carries the same lengths and record sizes as with TLS. Its handshakes are those of
//! the no-op library.

use anyhow::{Result, bail, ensure};

use crate::{
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    noop::{Config, NoopConnection, NoopLibrary},
    scenario::Scenario,
    transport::Endpoint,
};

const HEADER: usize = 5;

/// Stands for the content type and the tag.
const TRAILER: [u8; 1 + 16] = [0; 1 + 16];

pub struct CopyLibrary;

/// A connection that frames and copies its data.
pub struct CopyConnection<'a> {
    noop: NoopConnection<'a>,
    endpoint: &'a Endpoint,
    record: usize,
    /// Unread plaintext bytes of the current record.
    rest: usize,
}

impl Connection for CopyConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        self.noop.handshake()
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.noop.receive_tickets()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        for record in data.chunks(self.record) {
            let [high, low] = u16::try_from(record.len() + TRAILER.len())?.to_be_bytes();
            let header: [u8; HEADER] = [23, 3, 3, high, low];
            let sent = [&header, record, &TRAILER].map(|part| self.endpoint.send(part));
            ensure!(sent == [true; 3], "the transport is full");
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        if self.rest == 0 {
            let mut header = [0; HEADER];
            let read = self.endpoint.receive(&mut header);
            ensure!(read == HEADER, "nothing has arrived");
            let [.., high, low] = header;
            let length = usize::from(u16::from_be_bytes([high, low]));
            ensure!(length > TRAILER.len(), "the record is empty");
            self.rest = length - TRAILER.len();
        }
        let length = self.rest.min(buffer.len());
        let read = self.endpoint.receive(&mut buffer[..length]);
        self.rest -= length;
        let complete = self.rest > 0 || self.endpoint.receive(&mut { TRAILER }) == TRAILER.len();
        ensure!(read == length && complete, "the record is cut off");
        Ok(length)
    }

    fn negotiated(&self) -> Result<Negotiated> {
        self.noop.negotiated()
    }
}

impl TlsLibrary for CopyLibrary {
    type ClientConfig = Config;
    type ServerConfig = Config;
    type Client<'a> = CopyConnection<'a>;
    type Server<'a> = CopyConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("the copying library is not an implementation")
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Config> {
        NoopLibrary.client_config(setup)
    }

    fn server_config(&self, setup: &Setup) -> Result<Config> {
        NoopLibrary.server_config(setup)
    }

    fn connect<'a>(
        &self,
        config: &'a Config,
        endpoint: &'a Endpoint,
    ) -> Result<CopyConnection<'a>> {
        Ok(CopyConnection {
            noop: NoopLibrary.connect(config, endpoint)?,
            endpoint,
            record: config.record.into(),
            rest: 0,
        })
    }

    fn accept<'a>(&self, config: &'a Config, endpoint: &'a Endpoint) -> Result<CopyConnection<'a>> {
        self.connect(config, endpoint)
    }
}
