//! The driver of the micro-benchmark of a ClientHello: construction of a client and its first
//! flight, with the key shares that the variant names.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::{
    clock::Laps,
    library::{Connection, Setup, TlsLibrary},
    scenario::{KeyExchange, Scenario},
    transport::Transport,
    wire,
};

/// A client, configured, that has nobody to talk to: belongs to one thread.
pub struct ClientHelloBench<'a, L: TlsLibrary> {
    library: &'a L,
    config: L::ClientConfig,
    transport: Transport,
    key_shares: Vec<KeyExchange>,
}

/// Time of one ClientHello.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub construction: Duration,
    pub flight: Duration,
}

impl<'a, L: TlsLibrary> ClientHelloBench<'a, L> {
    /// # Errors
    /// The library refuses the set-up.
    pub fn new(library: &'a L, scenario: &Scenario) -> Result<Self> {
        let setup = Setup::client(scenario)?;
        Ok(Self {
            library,
            config: library.client_config(&setup)?,
            transport: Transport::new(Transport::HANDSHAKE_CAPACITY),
            key_shares: setup.groups[..setup.key_shares].to_vec(),
        })
    }

    /// Makes one ClientHello and checks which key shares it sends.
    ///
    /// # Errors
    /// The library fails, or sends other key shares.
    pub fn speak(&self) -> Result<Times> {
        self.transport.clear();
        let times = run(self.library, &self.config, &self.transport)?;
        let sent = self.transport.sent_by_client(wire::key_shares)?;
        ensure!(
            sent == self.key_shares,
            "key shares: found {sent:?}, expected {:?}",
            self.key_shares
        );
        Ok(times)
    }
}

/// Makes one client and has it speak first, over a transport that is clear.
///
/// # Errors
/// The library fails.
pub fn run<L: TlsLibrary>(
    library: &L,
    config: &L::ClientConfig,
    transport: &Transport,
) -> Result<Times> {
    let mut laps = Laps::start();
    let client = library.connect(config, &transport.client);
    let construction = laps.lap();
    let mut client = client.context("client")?;
    laps = Laps::start();
    client.handshake().context("client")?;
    Ok(Times {
        construction,
        flight: laps.lap(),
    })
}
