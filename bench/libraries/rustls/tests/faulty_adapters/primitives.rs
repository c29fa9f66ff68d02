//! Primitives that are wrong on purpose: the driver measures none of them.

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

use anyhow::Result;
use tls_harness::{
    block,
    library::{
        TlsLibrary,
        primitives::{
            Aead, Cipher, Cryptography, Group, KeyExchange, NONCE, PrivateKey, Signature,
        },
    },
    record::{Record, Schema},
    request::Request,
    scenario::{Certificate, Operation, Scenario},
};
use tls_rustls::Rustls;

use super::noticed;

#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    None,
    /// Seals with a shorter key than it received.
    OtherCipher,
    /// Leaves the data unencrypted.
    Plaintext,
    /// Opens any record, whether its tag matches or not.
    Unauthenticated,
    /// Signs another message.
    OtherMessage,
    /// Signs and verifies another message.
    OtherMessages,
    /// Accepts every signature.
    Unverified,
    /// Agrees on the same secret with every peer.
    SameSecret,
    /// Agrees on a secret that differs from the peer's.
    OtherSecret,
    /// Both roles agree on a secret that the named curve does not give.
    OtherCurve,
    /// Accepts every public key.
    UncheckedKey,
}

pub struct FaultyAdapter {
    library: Rustls,
    fault: Fault,
    /// Time of each sealed record.
    sealed: Arc<Mutex<Vec<Instant>>>,
}

impl FaultyAdapter {
    pub fn new(fault: Fault) -> Self {
        Self {
            library: Rustls::ring(),
            fault,
            sealed: Arc::default(),
        }
    }
}

/// Wraps an object of a library and adds a fault.
struct Faulty<T: ?Sized> {
    correct: Box<T>,
    fault: Fault,
    sealed: Arc<Mutex<Vec<Instant>>>,
}

impl FaultyAdapter {
    fn with_fault<T: ?Sized>(&self, correct: Box<T>) -> Faulty<T> {
        Faulty {
            correct,
            fault: self.fault,
            sealed: Arc::clone(&self.sealed),
        }
    }
}

impl Cryptography for FaultyAdapter {
    fn aead(&self, cipher: Cipher, key: &[u8]) -> Result<Box<dyn Aead>> {
        let library = self.library.cryptography()?;
        let correct = match self.fault {
            Fault::OtherCipher => library.aead(Cipher::Aes128Gcm, &key[..16])?,
            _ => library.aead(cipher, key)?,
        };
        Ok(Box::new(self.with_fault(correct)))
    }

    fn signature(&self, certificate: Certificate, key: &str) -> Result<Box<dyn Signature>> {
        let correct = self.library.cryptography()?.signature(certificate, key)?;
        Ok(Box::new(self.with_fault(correct)))
    }

    fn key_exchange(&self, group: Group) -> Result<Box<dyn KeyExchange>> {
        let correct = self.library.cryptography()?.key_exchange(group)?;
        Ok(Box::new(self.with_fault(correct)))
    }
}

impl Aead for Faulty<dyn Aead> {
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        self.sealed.lock().unwrap().push(Instant::now());
        match self.fault {
            Fault::Plaintext => Ok(()),
            _ => self.correct.seal(nonce, additional, record),
        }
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        match (self.fault, self.correct.open(nonce, additional, record)) {
            (Fault::Plaintext | Fault::Unauthenticated, _) => Ok(()),
            (_, result) => result,
        }
    }
}

impl Signature for Faulty<dyn Signature> {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        match self.fault {
            Fault::OtherMessage | Fault::OtherMessages => {
                self.correct.sign(&message[1..], signature)
            }
            _ => self.correct.sign(message, signature),
        }
    }

    fn verify(&mut self, message: &[u8], signature: &[u8]) -> Result<()> {
        match self.fault {
            Fault::OtherMessages => self.correct.verify(&message[1..], signature),
            Fault::Unverified => Ok(()),
            _ => self.correct.verify(message, signature),
        }
    }
}

impl KeyExchange for Faulty<dyn KeyExchange> {
    fn generate(&self, share: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        Ok(Box::new(Faulty {
            correct: self.correct.generate(share)?,
            fault: self.fault,
            sealed: Arc::clone(&self.sealed),
        }))
    }

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        self.correct.encapsulate(share, answer, secret)?;
        match self.fault {
            Fault::SameSecret => secret.fill(7),
            Fault::OtherCurve => secret[0] ^= 1,
            _ => {}
        }
        Ok(())
    }
}

impl PrivateKey for Faulty<dyn PrivateKey> {
    fn agree(&mut self, answer: &[u8], secret: &mut [u8]) -> Result<()> {
        match (self.fault, self.correct.agree(answer, secret)) {
            (Fault::UncheckedKey, _) => {}
            (_, result) => result?,
        }
        match self.fault {
            Fault::SameSecret => secret.fill(7),
            Fault::OtherSecret | Fault::OtherCurve => secret[0] ^= 1,
            _ => {}
        }
        Ok(())
    }
}

fn measured(fault: Fault, variant: &str) -> Result<Vec<Record>> {
    watched(fault, variant, 0.0).0
}

/// The result of a block, and the times at which it sealed records.
fn watched(fault: Fault, variant: &str, warmup: f64) -> (Result<Vec<Record>>, Vec<Instant>) {
    let faulty = super::FaultyAdapter {
        cryptography: FaultyAdapter::new(fault),
        ..super::FaultyAdapter::new(super::Fault::None)
    };
    let request = Request {
        schema: Schema,
        session: 1,
        round: 1,
        layout: 0,
        block: 0,
        implementation: "test-1.0".into(),
        scenario: Scenario {
            variant: Some(variant.parse().unwrap()),
            ..Scenario::new(Operation::Primitive)
        },
        measure_seconds: 0.001,
        warmup_seconds: warmup,
        latency: false,
        pinned: false,
        throughput: false,
        counter: None,
    };
    let records = block::measure(&faulty, &request);
    let sealed = faulty.cryptography.sealed.lock().unwrap().clone();
    (records, sealed)
}

#[test]
fn the_warm_up_of_primitives_is_discarded() {
    for warmup in [0.0, 0.1] {
        let (records, sealed) = watched(Fault::None, "aes-256-gcm-seal-16384", warmup);
        let operations = super::operations(&records.unwrap());
        // Four batches of four records, after the records of the proof.
        assert!(sealed.len() >= operations as usize + 4 * 4);
        let lasted = super::warm_up(&sealed, operations);
        assert!(lasted.as_secs_f64() >= warmup, "{lasted:?} of {warmup} s");
    }
}

#[test]
fn a_correct_primitive_passes() {
    for variant in [
        "aes-256-gcm-open-1350",
        "rsa-2048-verify",
        "ecdsa-p384-sign",
        "ed25519-verify",
        "x25519-agree",
        "secp384r1-agree",
    ] {
        assert_eq!(measured(Fault::None, variant).unwrap().len(), 3);
    }
}

#[test]
fn a_wrong_primitive_is_noticed() {
    for (fault, variant, expected) in [
        (
            Fault::OtherCipher,
            "aes-256-gcm-seal-1350",
            "a test vector of aes-256-gcm wrongly",
        ),
        (
            Fault::Plaintext,
            "aes-128-gcm-seal-1350",
            "sealed a test vector of aes-128-gcm wrongly",
        ),
        (
            Fault::Unauthenticated,
            "aes-256-gcm-open-1350",
            "opened a record with another tag",
        ),
        (
            Fault::Unauthenticated,
            "chacha20-poly1305-open-16384",
            "opened a record with another tag",
        ),
        (
            Fault::OtherMessage,
            "ecdsa-p256-sign",
            "ecdsa-p256: a signature does not verify",
        ),
        (
            Fault::OtherMessages,
            "rsa-2048-sign",
            "rsa-2048: a known signature does not verify",
        ),
        (
            Fault::Unverified,
            "rsa-2048-verify",
            "rsa-2048: a changed signature verifies",
        ),
        (
            Fault::SameSecret,
            "x25519-agree",
            "X25519: a key or a secret came twice",
        ),
        (
            Fault::OtherSecret,
            "x25519-generate",
            "the two roles did not agree on a secret",
        ),
        (
            Fault::OtherCurve,
            "x25519-agree",
            "x25519: a key agreed with the generator on another secret",
        ),
        (
            Fault::OtherCurve,
            "secp384r1-agree",
            "secp384r1: a key agreed with the generator on another secret",
        ),
        (
            Fault::UncheckedKey,
            "secp256r1-agree",
            "secp256r1: a key agreed with a point that is not on the curve",
        ),
        (
            Fault::OtherMessages,
            "ecdsa-p384-verify",
            "ecdsa-p384: a known signature does not verify",
        ),
        (
            Fault::Unverified,
            "ed25519-verify",
            "ed25519: a changed signature verifies",
        ),
    ] {
        noticed(measured(fault, variant).map(drop), expected);
    }
}
