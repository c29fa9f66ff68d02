//! The copying library, with the calls of its connections recorded or modified.

use anyhow::{Result, bail};
use tls_harness::{
    copy::CopyLibrary,
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    scenario::Scenario,
    transport::Endpoint,
};

pub type Copied<'a> = <CopyLibrary as TlsLibrary>::Client<'a>;

/// What surrounds the calls of a connection.
pub trait Around {
    fn send(&self, connection: &mut Copied<'_>, data: &[u8]) -> Result<()>;

    fn receive(&self, connection: &mut Copied<'_>, buffer: &mut [u8]) -> Result<usize>;

    fn receive_with(
        &self,
        connection: &mut Copied<'_>,
        buffer: &mut [u8],
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let length = self.receive(connection, buffer)?;
        take(&buffer[..length]);
        Ok(())
    }
}

pub struct Wrapped<A: 'static>(pub &'static A);

impl<A> Wrapped<A> {
    /// Creates a library that lives until the process ends.
    pub fn new(around: A) -> Self {
        Self(Box::leak(Box::new(around)))
    }
}

pub struct WrappedConnection<'a, A> {
    connection: Copied<'a>,
    around: &'a A,
}

impl<A: Around> Connection for WrappedConnection<'_, A> {
    fn handshake(&mut self) -> Result<Progress> {
        self.connection.handshake()
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.connection.receive_tickets()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        self.around.send(&mut self.connection, data)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.around.receive(&mut self.connection, buffer)
    }

    fn receive_with(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.around.receive_with(&mut self.connection, buffer, take)
    }

    fn negotiated(&self) -> Result<Negotiated> {
        self.connection.negotiated()
    }
}

impl<A: Around + Sync> TlsLibrary for Wrapped<A> {
    type ClientConfig = <CopyLibrary as TlsLibrary>::ClientConfig;
    type ServerConfig = <CopyLibrary as TlsLibrary>::ServerConfig;
    type Client<'a> = WrappedConnection<'a, A>;
    type Server<'a> = WrappedConnection<'a, A>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("a wrapped library is not an implementation")
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        CopyLibrary.client_config(setup)
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        CopyLibrary.server_config(setup)
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        Ok(WrappedConnection {
            connection: CopyLibrary.connect(config, endpoint)?,
            around: self.0,
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        self.connect(config, endpoint)
    }
}
