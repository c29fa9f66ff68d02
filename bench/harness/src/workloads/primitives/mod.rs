//! Primitives: the cryptography of a library, which limits its handshake and transfer rates. The
//! variant of a scenario names one: `aes-256-gcm-seal-16384`.
//!
//! An adapter implements `Cryptography`. Operations and checks are the same for every library.
//! One-time set-up of keys and freeing of memory are not timed.

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

/// Bytes of a nonce.
pub const NONCE: usize = 12;

/// Bytes of the tag, which follows the ciphertext.
pub const TAG: usize = 16;

/// Operations of one batch, except for AEAD ciphers.
const BATCH: usize = 16;

pub trait Cryptography: Sync {
    /// Sets up a key.
    ///
    /// # Errors
    ///
    /// The library rejects it.
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>>;

    /// Parses a PEM private key; its public half verifies.
    ///
    /// # Errors
    ///
    /// The library rejects it.
    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>>;

    /// # Errors
    ///
    /// The library does not support the group.
    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>>;
}

/// An AEAD cipher with its key.
pub trait Aead {
    /// Encrypts all but the last `TAG` bytes of `record` in place, and writes the tag there.
    ///
    /// # Errors
    ///
    /// The library reports an error.
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;

    /// Decrypts in place what `seal` encrypted.
    ///
    /// # Errors
    ///
    /// The tag does not match.
    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()>;
}

/// A key pair that signs and verifies in the scheme that TLS 1.3 has for its type: RSA-PSS (salt as
/// long as the hash) and ECDSA P-256 with SHA-256, ECDSA P-384 with SHA-384, Ed25519, or ML-DSA.
pub trait Signature {
    /// Hashes and signs; returns the length of the signature (for ECDSA: in DER).
    ///
    /// # Errors
    ///
    /// The library reports an error.
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize>;

    /// Hashes and verifies.
    ///
    /// # Errors
    ///
    /// The signature does not match the message.
    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()>;
}

/// A key exchange as TLS uses it: each key is used once, and the peer's messages are bytes.
pub trait KeyExchange {
    /// Makes a key pair and writes its public key to `share`.
    ///
    /// # Errors
    ///
    /// The library reports an error.
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>>;

    /// Answers a peer's public key: writes the answer and the secret, whose buffers are as long as
    /// the group defines. With a Diffie-Hellman group this makes a key pair and agrees with it.
    ///
    /// # Errors
    ///
    /// The library reports an error, or rejects the peer's key.
    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        self.generate(answer)?.agree(share, secret)
    }
}

pub trait PrivateKey {
    /// Writes the secret that the peer's answer yields (ML-KEM: decapsulates). Called once.
    ///
    /// # Errors
    ///
    /// The library reports an error, or rejects the answer.
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()>;
}

/// A batch of one primitive, ready to be measured; belongs to one thread.
trait Batch {
    /// Runs all operations of a batch and returns their time.
    ///
    /// # Errors
    ///
    /// The library reports an error.
    fn run(&mut self) -> Result<Duration>;

    /// Checks the result of the last batch.
    ///
    /// # Errors
    ///
    /// The result is wrong.
    fn check(&mut self) -> Result<()>;
}

fn batch(primitive: Primitive, library: &dyn Cryptography) -> Result<Box<dyn Batch>> {
    match primitive {
        Primitive::Seal(cipher, size) => aead::batch(library, cipher, size, true),
        Primitive::Open(cipher, size) => aead::batch(library, cipher, size, false),
        Primitive::Sign(certificate) => signature::signing(library, certificate),
        Primitive::Verify(certificate) => signature::verifying(library, certificate),
        Primitive::KeyExchange(group, step) => key_exchange::batch(library, group, step),
    }
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
