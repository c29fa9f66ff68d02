//! Full and resumed handshakes: the times of both roles, by phase.

use anyhow::Result;

use super::{
    timed::{Step, Target, Timed},
    workload::{Quantity, Work},
};
use crate::{
    library::TlsLibrary,
    scenario::{Scenario, Side, VariantKind},
    session::HandshakeBench,
    transport::Transport,
};

pub struct Handshake;

impl Timed for Handshake {
    const SIDES: &'static [Option<Side>] = &[Some(Side::Client), Some(Side::Server)];
    const VARIANTS: &'static [VariantKind] = &[
        VariantKind::HelloRetry,
        VariantKind::Chain,
        VariantKind::Compressed,
        VariantKind::EarlyData,
        VariantKind::OwnTickets,
    ];
    const LATENCY: bool = true;

    type Shared<L: TlsLibrary> = L::ServerConfig;

    fn work(_: &Scenario) -> Result<Work> {
        Ok(Work::one(Quantity::Handshakes))
    }

    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<L::ServerConfig> {
        target.server_config()
    }

    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        server: &L::ServerConfig,
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        let bench = HandshakeBench::new(
            target.library,
            server,
            target.scenario,
            Transport::HANDSHAKE_CAPACITY,
        )?;
        if target.checked {
            bench.prepare()?;
        }
        driver(&mut |tally| {
            let times = match target.checked {
                true => bench.handshake(bench.resumes())?.times,
                false => bench.unchecked()?.times,
            };
            tally.add([times.client.named(), times.server.named()])
        })
    }
}
