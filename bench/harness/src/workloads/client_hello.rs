//! ClientHellos: a client is constructed and sends its first flight, with the key shares that the
//! variant names.

use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::{
    timed::{Step, Target, Timed},
    workload::{Quantity, Work},
};
use crate::{
    clock::Laps,
    library::{Connection, Setup, TlsLibrary},
    record::Phase,
    scenario::{KeyExchange, Scenario, Side, VariantKind},
    transport::Transport,
    wire,
};

pub struct ClientHello;

impl Timed for ClientHello {
    const SIDES: &'static [Option<Side>] = &[Some(Side::Client)];
    const VARIANTS: &'static [VariantKind] = &[VariantKind::KeyShares];

    type Shared<L: TlsLibrary> = ();

    fn work(_: &Scenario) -> Result<Work> {
        Ok(Work::one(Quantity::Operations))
    }

    fn prepare<L: TlsLibrary>(_: &Target<'_, L>) -> Result<()> {
        Ok(())
    }

    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        (): &(),
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        let bench = ClientHelloBench::new(target.library, target.scenario)?;
        driver(&mut |tally| {
            let times = match target.checked {
                true => bench.run()?,
                false => bench.unchecked()?,
            };
            tally.add([[
                (Phase::Construction, times.construction),
                (Phase::Flight1, times.flight),
            ]])
        })
    }
}

/// A configured client without a peer; belongs to one thread.
pub struct ClientHelloBench<'a, L: TlsLibrary> {
    library: &'a L,
    config: L::ClientConfig,
    transport: Transport,
    key_shares: Vec<KeyExchange>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub construction: Duration,
    pub flight: Duration,
}

impl<'a, L: TlsLibrary> ClientHelloBench<'a, L> {
    pub fn new(library: &'a L, scenario: &Scenario) -> Result<Self> {
        let setup = Setup::client(scenario)?;
        Ok(Self {
            library,
            config: library.client_config(&setup)?,
            transport: Transport::new(Transport::HANDSHAKE_CAPACITY),
            key_shares: setup.groups[..setup.key_shares].to_vec(),
        })
    }

    /// Makes one ClientHello and checks its key shares.
    pub fn run(&self) -> Result<Times> {
        let times = self.unchecked()?;
        let sent = self.transport.sent_by_client(wire::key_shares)?;
        ensure!(
            sent == self.key_shares,
            "key shares: found {sent:?}, expected {:?}",
            self.key_shares
        );
        Ok(times)
    }

    fn unchecked(&self) -> Result<Times> {
        self.transport.clear();
        let mut laps = Laps::start();
        let client = self.library.connect(&self.config, &self.transport.client);
        let construction = laps.lap();
        let mut client = client.context("client")?;
        laps = Laps::start();
        client.handshake().context("client")?;
        Ok(Times {
            construction,
            flight: laps.lap(),
        })
    }
}
