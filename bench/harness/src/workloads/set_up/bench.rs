//! One set-up of both roles, and its times.

use std::{any::Any, time::Duration};

use anyhow::{Context, Result, bail};

use crate::{
    clock::Laps,
    library::{Setup, TlsLibrary},
    record::Phase,
    scenario::{Scenario, SetUp, Variant},
    session::{self, Expected, Pair},
    transport::Transport,
};

pub fn what(scenario: &Scenario) -> Result<SetUp> {
    match scenario.variant {
        Some(Variant::SetUp(set_up)) => Ok(set_up),
        _ => bail!(
            "scenario \"{}\" has no variant of a set-up",
            scenario.name()
        ),
    }
}

/// The times of one set-up, by phase.
pub type Life = Vec<(Phase, Duration)>;

/// Times loading an object that no connection uses.
pub fn alone(load: impl FnOnce() -> Result<Box<dyn Any>>) -> Result<Life> {
    let mut laps = Laps::start();
    let loaded = load();
    let life = vec![(Phase::Construction, laps.lap())];
    Ok(ended(life, loaded?))
}

/// Frees the set-up and times it, as the last phase.
pub fn ended<T>(mut life: Life, made: T) -> Life {
    let mut laps = Laps::start();
    drop(made);
    life.push((Phase::Destruction, laps.lap()));
    life
}

/// Both roles of a scenario, without their contexts.
pub struct Bench<'a, L: TlsLibrary> {
    pub library: &'a L,
    checked: bool,
    pub client: Setup,
    pub server: Setup,
    pub transport: Transport,
    pub expected: Expected,
}

impl<'a, L: TlsLibrary> Bench<'a, L> {
    pub fn new(library: &'a L, scenario: &Scenario, checked: bool) -> Result<Self> {
        Ok(Self {
            library,
            checked,
            client: Setup::client(scenario)?,
            server: Setup::server(scenario)?,
            transport: Transport::new(Transport::HANDSHAKE_CAPACITY),
            expected: Expected::new(scenario)?,
        })
    }

    /// Runs and checks one handshake, frees its connections, and returns the time of each role.
    pub fn first_handshake(
        &self,
        client: &L::ClientConfig,
        server: &L::ServerConfig,
    ) -> Result<session::Times> {
        self.transport.clear();
        let pair: Pair<'_, L> = session::run(self.library, client, server, &self.transport, false)?;
        if self.checked {
            self.expected.check(&pair, &self.transport, false)?;
        }
        Ok(pair.times)
    }

    /// Times a client's context, with one connection.
    pub fn client(&self, server: &L::ServerConfig) -> Result<Life> {
        let mut laps = Laps::start();
        let client = self.library.client_config(&self.client);
        let construction = laps.lap();
        let client = client.context("client")?;
        let times = self.first_handshake(&client, server)?;
        let life = vec![
            (Phase::Construction, construction),
            (Phase::Handshake, times.client.total()),
        ];
        Ok(ended(life, client))
    }

    /// Makes a server's context and times it until its first connection is freed.
    pub fn server(&self, client: &L::ClientConfig) -> Result<(L::ServerConfig, Life)> {
        let mut laps = Laps::start();
        let server = self.library.server_config(&self.server);
        let construction = laps.lap();
        let server = server.context("server")?;
        let times = self.first_handshake(client, &server)?;
        let life = vec![
            (Phase::Construction, construction),
            (Phase::Handshake, times.server.total()),
        ];
        Ok((server, life))
    }
}
