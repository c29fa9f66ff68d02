//! A library that does nothing: driving it shows what the harness itself costs.
//!
//! Each flight and each record is one byte, so that the clock, the calls and the transport's
//! bookkeeping are counted, and the copies are not: those are the library's own reads and writes,
//! and timed by definition.

use anyhow::{Result, bail, ensure};

use crate::{
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    scenario::{Protocol, Resumption, Scenario},
    transport::Endpoint,
};

/// See the module.
pub struct Empty;

/// Flights of each role.
#[derive(Clone, Copy)]
pub struct Config {
    flights: u32,
}

/// A connection that counts its flights.
pub struct EmptyConnection<'a> {
    endpoint: &'a Endpoint,
    flights: u32,
}

impl Connection for EmptyConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        self.endpoint.receive(&mut [0; 1]);
        ensure!(self.endpoint.send(&[0]), "the transport is full");
        self.flights = self.flights.saturating_sub(1);
        Ok(match self.flights {
            0 => Progress::Done,
            _ => Progress::Waiting,
        })
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.endpoint.receive(&mut [0; 1]);
        Ok(())
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        for record in data.chunks(1 << 14) {
            ensure!(self.endpoint.send(&record[..1]), "the transport is full");
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.endpoint.receive(&mut buffer[..1]);
        Ok(buffer.len())
    }

    fn negotiated(&self) -> Result<Negotiated> {
        bail!("the empty library negotiates nothing")
    }
}

impl TlsLibrary for Empty {
    type ClientConfig = Config;
    type ServerConfig = Config;
    type Client<'a> = EmptyConnection<'a>;
    type Server<'a> = EmptyConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("the empty library is no implementation")
    }

    fn missing(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Config> {
        let full_tls12 = setup.protocol == Protocol::Tls12 && setup.resumption == Resumption::None;
        Ok(Config {
            flights: 2 + u32::from(full_tls12),
        })
    }

    fn server_config(&self, _: &Setup) -> Result<Config> {
        Ok(Config { flights: 2 })
    }

    fn connect<'a>(
        &self,
        config: &'a Config,
        endpoint: &'a Endpoint,
    ) -> Result<EmptyConnection<'a>> {
        Ok(EmptyConnection {
            endpoint,
            flights: config.flights,
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Config,
        endpoint: &'a Endpoint,
    ) -> Result<EmptyConnection<'a>> {
        self.connect(config, endpoint)
    }
}
