//! What the processes of connections say to each other and to the one that started them.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::{clock::ProcessorTime, scenario::Scenario};

/// Connections that the client has open at once, so that the server need not wait for each.
const AT_ONCE: usize = 8;

/// Connections of one measurement, at most: each takes a port of the host for a while.
pub const MOST: u64 = 200_000;

/// How many connections a client makes: until the time is over, and at least so many.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    pub seconds: f64,
    pub least: u64,
}

impl Extent {
    /// A condition that holds while connections are to be made.
    pub fn begin(self) -> Result<impl FnMut() -> bool> {
        let span = Duration::try_from_secs_f64(self.seconds)
            .with_context(|| format!("{} s is no span of time", self.seconds))?;
        let (start, mut made) = (Instant::now(), 0);
        Ok(move || {
            made += 1;
            made <= self.least || (made <= MOST && start.elapsed() < span)
        })
    }
}

/// What a fresh process is to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Peer {
    pub scenario: Scenario,
    /// Whether to use the no-op library.
    pub empty: bool,
    pub at_once: usize,
    /// That of the server; absent for the server itself, which reports it in its first line.
    pub port: Option<u16>,
    /// The process of a server that is a program of the system.
    pub server_process: Option<u32>,
    pub warm_up: Extent,
    pub measured: Extent,
}

impl Peer {
    /// The server of a scenario; each extent is in seconds and connections.
    pub fn of(scenario: &Scenario, warm_up: (f64, u64), measured: (f64, u64)) -> Self {
        let extent = |(seconds, least)| Extent { seconds, least };
        Self {
            scenario: scenario.clone(),
            empty: false,
            at_once: AT_ONCE,
            port: None,
            server_process: None,
            warm_up: extent(warm_up),
            measured: extent(measured),
        }
    }
}

/// The first line of a server.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listening {
    pub port: u16,
}

/// What a process spent on its connections.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spent {
    pub connections: u64,
    pub wall_nanoseconds: u64,
    pub user_nanoseconds: u64,
    pub system_nanoseconds: u64,
}

/// A moment of a process, at which nothing is left to do for its connections.
#[derive(Clone, Copy)]
pub struct Moment {
    wall: Instant,
    processor: ProcessorTime,
}

impl Moment {
    pub fn now() -> Result<Self> {
        Ok(Self {
            wall: Instant::now(),
            processor: ProcessorTime::of_this_process()?,
        })
    }

    pub fn of_process(id: u32) -> Result<Self> {
        Ok(Self {
            wall: Instant::now(),
            processor: ProcessorTime::of_process(id)?,
        })
    }

    pub fn until(self, end: Self, connections: u64) -> Result<Spent> {
        let processor = end.processor.since(self.processor);
        let nanoseconds = |time: Duration| u64::try_from(time.as_nanos());
        Ok(Spent {
            connections,
            wall_nanoseconds: nanoseconds(end.wall - self.wall)?,
            user_nanoseconds: nanoseconds(processor.user)?,
            system_nanoseconds: nanoseconds(processor.system)?,
        })
    }
}

impl Spent {
    /// Per connection.
    pub fn microseconds(&self, nanoseconds: u64) -> f64 {
        nanoseconds as f64 / 1e3 / self.connections as f64
    }
}
