//! Primitives: the cryptography of a library, which limits its handshake and transfer rates. The
//! variant of a scenario names one: `aes-256-gcm-seal-16384`.
//!
//! Operations and checks are the same for every library.
//! One-time set-up of keys and freeing of memory are not timed.

mod aead;
mod batch;
mod key_exchange;
mod signature;
mod vectors;

use anyhow::Result;

use self::{
    aead::Records,
    batch::{BATCH, Batch},
    key_exchange::Exchanges,
    signature::{Signing, Verifying},
};
use super::{
    timed::{Step, Target, Timed},
    workload::{MEBIBYTE, Quantity, Work},
};
use crate::{
    library::{TlsLibrary, primitives::Cryptography},
    record::Phase,
    scenario::{Primitive, Scenario, Side, VariantKind},
};

fn batch(primitive: Primitive, library: &dyn Cryptography) -> Result<Box<dyn Batch>> {
    Ok(match primitive {
        Primitive::Seal(cipher, size) => Box::new(Records::new(library, cipher, size, true)?),
        Primitive::Open(cipher, size) => Box::new(Records::new(library, cipher, size, false)?),
        Primitive::Sign(certificate) => Box::new(Signing::new(library, certificate)?),
        Primitive::Verify(certificate) => Box::new(Verifying::new(library, certificate)?),
        Primitive::KeyExchange(group, step) => Box::new(Exchanges::new(library, group, step)?),
    })
}

fn operations(primitive: Primitive) -> usize {
    primitive.bytes().map_or(BATCH, aead::records)
}

/// Proves that the library computes the named primitive, and rejects invalid input.
fn prove(primitive: Primitive, library: &dyn Cryptography) -> Result<()> {
    match primitive {
        Primitive::Seal(cipher, size) | Primitive::Open(cipher, size) => {
            aead::prove(library, cipher, size)
        }
        Primitive::Sign(certificate) | Primitive::Verify(certificate) => {
            signature::prove(library, certificate)
        }
        Primitive::KeyExchange(group, _) => key_exchange::prove(library, group),
    }
}

pub struct Primitives;

impl Timed for Primitives {
    const SIDES: &'static [Option<Side>] = &[None];
    const VARIANTS: &'static [VariantKind] = &[VariantKind::Primitive];
    const COUNTABLE: bool = false;

    type Shared<L: TlsLibrary> = Primitive;

    fn work(scenario: &Scenario) -> Result<Work> {
        let primitive = scenario.primitive()?;
        let (amount, quantity) = match primitive.bytes() {
            Some(bytes) => (f64::from(bytes) / MEBIBYTE, Quantity::Mebibytes),
            None => (1.0, Quantity::Operations),
        };
        Ok(Work {
            operations: operations(primitive) as u64,
            amount,
            quantity,
        })
    }

    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<Primitive> {
        let primitive = target.scenario.primitive()?;
        if target.checked {
            prove(primitive, target.library.cryptography()?)?;
        }
        Ok(primitive)
    }

    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        primitive: &Primitive,
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut batch = batch(*primitive, target.library.cryptography()?)?;
        driver(&mut |tally| {
            let time = batch.run()?;
            if target.checked {
                batch.check()?;
            }
            tally.add([[(Phase::Total, time)]])
        })
    }
}

#[cfg(test)]
mod tests;
