//! Primitives: the library's own cryptography, which is the ceiling of its handshakes and
//! transfers. The variant of a scenario names one: `aes-256-gcm-seal-16384`.
//!
//! An adapter implements `Cryptography`. The operations, and the proof that they are right, are the
//! same for every library. What a key needs only once is set up before the time that is measured,
//! and what is freed is freed after it.

mod aead;
mod key_exchange;
mod signature;
mod vectors;

use std::time::Duration;

use anyhow::Result;

use super::{
    MEBIBYTE, Quantity, Work,
    timed::{Step as TimedStep, Target, Timed},
};
use crate::{
    library::TlsLibrary,
    record::Phase,
    scenario::{Certificate, Scenario, Side, VariantKind},
};

pub use crate::scenario::primitive::{Cipher, Group, Primitive, Step};

/// Bytes of a nonce, and of the tag behind what was sealed.
pub const NONCE: usize = 12;
pub const TAG: usize = 16;

/// Operations of one batch, but for records.
const BATCH: usize = 16;

/// What a key exchange agrees on.
pub type Secret = [u8; 32];

/// A library's own cryptography.
pub trait Cryptography: Sync {
    /// Sets up a key.
    ///
    /// # Errors
    /// The library refuses.
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>>;

    /// Parses a key, PEM; the public half of it verifies.
    ///
    /// # Errors
    /// The library refuses.
    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>>;

    /// # Errors
    /// The library refuses.
    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>>;
}

/// A cipher with its key.
pub trait Aead {
    /// Encrypts in place all of `record` but its last `TAG` bytes, and writes the tag there.
    ///
    /// # Errors
    /// The library fails.
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;

    /// Decrypts in place what `seal` has made.
    ///
    /// # Errors
    /// It is not what was sealed.
    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;
}

/// A key that signs and verifies: RSA-PSS (salt as long as the hash) or ECDSA, with SHA-256.
pub trait Signature {
    /// Hashes and signs; returns the length of the signature (ECDSA: as DER).
    ///
    /// # Errors
    /// The library fails.
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize>;

    /// Hashes and verifies.
    ///
    /// # Errors
    /// The signature is not one of the message.
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()>;
}

/// A key exchange, as TLS uses it: keys are used once, and what the peer sent is bytes.
pub trait KeyExchange {
    /// Makes a key pair, and writes its public half.
    ///
    /// # Errors
    /// The library fails.
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>>;

    /// Answers a peer's public key; writes the answer and the secret. With a Diffie-Hellman group,
    /// that is a key pair and an agreement.
    ///
    /// # Errors
    /// The library fails, or refuses the peer's key.
    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut Secret) -> Result<()> {
        self.generate(answer)?.agree(share, secret)
    }
}

/// The private half of a key pair.
pub trait PrivateKey {
    /// Writes the secret that follows from the peer's answer: decapsulates. Called once.
    ///
    /// # Errors
    /// The library fails, or refuses the answer.
    fn agree(&mut self, answer: &[u8], secret: &mut Secret) -> Result<()>;
}

/// One family of primitives, ready to be measured: belongs to one thread.
trait Batch {
    /// Does all operations of a batch; returns their time.
    ///
    /// # Errors
    /// The library fails.
    fn run(&mut self) -> Result<Duration>;

    /// Checks the result of the last batch.
    ///
    /// # Errors
    /// It is wrong.
    fn check(&mut self) -> Result<()>;
}

/// Gets a primitive ready.
fn batch(primitive: Primitive, library: &dyn Cryptography) -> Result<Box<dyn Batch>> {
    match primitive {
        Primitive::Seal(cipher, size) => aead::batch(library, cipher, size, true),
        Primitive::Open(cipher, size) => aead::batch(library, cipher, size, false),
        Primitive::Sign(certificate) => signature::signing(library, certificate),
        Primitive::Verify(certificate) => signature::verifying(library, certificate),
        Primitive::KeyExchange(group, step) => key_exchange::batch(library, group, step),
    }
}

/// Operations of one batch.
fn operations(primitive: Primitive) -> usize {
    primitive.bytes().map_or(BATCH, aead::records)
}

/// Proves that the library does what the primitive's name says, and refuses what it must.
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

/// See the module.
pub struct Primitives;

impl Timed for Primitives {
    const SIDES: &'static [Option<Side>] = &[None];
    const VARIANTS: &'static [VariantKind] = &[VariantKind::Primitive];
    const COUNTABLE: bool = false;

    type Shared<L: TlsLibrary> = Primitive;

    fn work(scenario: &Scenario) -> Result<Work> {
        let primitive = Primitive::of(scenario)?;
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
        let primitive = Primitive::of(target.scenario)?;
        if target.checked {
            prove(primitive, target.library.cryptography()?)?;
        }
        Ok(primitive)
    }

    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        primitive: &Primitive,
        driver: impl FnOnce(&mut TimedStep<'_>) -> Result<R>,
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
