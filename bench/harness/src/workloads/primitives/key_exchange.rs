//! Key exchanges and key encapsulations.

use std::time::Duration;

use anyhow::{Result, ensure};

use super::{
    batch::{BATCH, Batch},
    vectors::generator,
};
use crate::{
    clock::Laps,
    hex,
    library::primitives::{Cryptography, Group, KeyExchange, PrivateKey},
    scenario::primitive::Step,
};

/// Bytes of the first role's message.
fn share(group: Group) -> usize {
    match group {
        Group::X25519 => 32,
        Group::Secp256r1 => 65,
        Group::Secp384r1 => 97,
        Group::MlKem768 => 1184,
    }
}

/// Bytes of the second role's answer.
fn answer(group: Group) -> usize {
    match group {
        Group::MlKem768 => 1088,
        curve => share(curve),
    }
}

/// Bytes of the secret.
fn secret(group: Group) -> usize {
    match group {
        Group::X25519 | Group::Secp256r1 | Group::MlKem768 => 32,
        Group::Secp384r1 => 48,
    }
}

/// Key exchanges between two roles in three steps, of which one is timed.
pub struct Exchanges {
    key_exchange: Box<dyn KeyExchange>,
    step: Step,
    keys: Vec<Box<dyn PrivateKey>>,
    messages: Vec<Messages>,
}

/// The messages, and each role's secret.
#[derive(Clone)]
struct Messages {
    share: Vec<u8>,
    answer: Vec<u8>,
    secrets: [Vec<u8>; 2],
}

impl Exchanges {
    pub fn new(library: &dyn Cryptography, group: Group, step: Step) -> Result<Self> {
        let messages = Messages {
            share: vec![0; share(group)],
            answer: vec![0; answer(group)],
            secrets: [vec![0; secret(group)], vec![0; secret(group)]],
        };
        Ok(Self {
            key_exchange: library.key_exchange(group)?,
            step,
            keys: Vec::with_capacity(BATCH),
            messages: vec![messages; BATCH],
        })
    }
}

impl Batch for Exchanges {
    fn run(&mut self) -> Result<Duration> {
        self.keys.clear();
        let mut laps = Laps::start();
        for messages in &mut self.messages {
            self.keys
                .push(self.key_exchange.generate(&mut messages.share)?);
        }
        let generating = laps.lap();
        for Messages {
            share,
            answer,
            secrets: [secret, _],
        } in &mut self.messages
        {
            self.key_exchange.encapsulate(share, answer, secret)?;
        }
        let encapsulating = laps.lap();
        for (key, messages) in self.keys.iter_mut().zip(&mut self.messages) {
            key.agree(&messages.answer, &mut messages.secrets[1])?;
        }
        let agreeing = laps.lap();
        Ok(match self.step {
            Step::Generate => generating,
            Step::Encapsulate => encapsulating,
            Step::Agree => agreeing,
        })
    }

    fn check(&mut self) -> Result<()> {
        for Messages {
            secrets: [one, other],
            ..
        } in &mut self.messages
        {
            ensure!(one == other, "the two roles did not agree on a secret");
            // The next batch must overwrite these different values.
            one.fill(0);
            other.fill(1);
        }
        Ok(())
    }
}

/// Proves that the group is the named one, that both roles agree on a new secret each time, and that
/// a key does not agree with the answer to another key.
pub fn prove(library: &dyn Cryptography, group: Group) -> Result<()> {
    let mut exchanges = Exchanges::new(library, group, Step::Agree)?;
    exchanges.run()?;
    let zero = vec![0; secret(group)];
    let mut seen: Vec<&[u8]> = vec![&zero];
    for messages in &exchanges.messages {
        let [secret, _] = &messages.secrets;
        for new in [&messages.share[..], &messages.answer, secret] {
            ensure!(
                !seen.contains(&new),
                "{group:?}: a key or a secret came twice, or is zero"
            );
            seen.push(new);
        }
    }
    exchanges.check()?;
    let mut other = Exchanges::new(library, group, Step::Agree)?;
    other.run()?;
    let mut secret = zero.clone();
    let mut share = vec![0; share(group)];
    let mut key = exchanges.key_exchange.generate(&mut share)?;
    // Every curve accepts the key of another exchange, and ML-KEM decapsulates every ciphertext (FIPS 203, 6.3).
    key.agree(&other.messages[0].answer, &mut secret)?;
    ensure!(
        secret != other.messages[0].secrets[0],
        "{group:?}: a key agreed on a secret that is not its own"
    );
    prove_known_answer(library, group)
}

/// Proves with the published generator of a curve that the curve is the named one: the secret that a
/// key agrees on with the generator is the coordinate in that key's own share. A point that is not on
/// the curve is rejected.
fn prove_known_answer(library: &dyn Cryptography, group: Group) -> Result<()> {
    let Some(generator) = generator(group) else {
        return Ok(());
    };
    let mut point = hex::bytes(generator.point)?;
    let key_exchange = library.key_exchange(group)?;
    let (mut share, mut agreed) = (vec![0; share(group)], vec![0; secret(group)]);
    let mut key = key_exchange.generate(&mut share)?;
    key.agree(&point, &mut agreed)?;
    ensure!(
        agreed == share[generator.coordinate..][..agreed.len()],
        "{group}: a key agreed with the generator on another secret than its own coordinate"
    );
    if generator.is_checked
        && let Some(last) = point.last_mut()
    {
        *last ^= 1;
        let agreed = key_exchange
            .generate(&mut share)?
            .agree(&point, &mut agreed);
        ensure!(
            agreed.is_err(),
            "{group}: a key agreed with a point that is not on the curve"
        );
    }
    Ok(())
}
