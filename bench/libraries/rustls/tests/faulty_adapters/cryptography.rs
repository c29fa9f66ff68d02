//! Primitives and packet protection that are wrong on purpose: the driver measures none of them.

use std::cell::Cell;

use anyhow::Result;
use tls_harness::{
    library::{
        TlsLibrary,
        packets::{self, LONGEST_NUMBER, PacketProtection, SAMPLE},
        primitives::{
            Aead, Cipher, Cryptography, Group, KeyExchange, NONCE, PrivateKey, Signature,
        },
    },
    scenario::{Certificate, Operation, Scenario},
};

use super::{Fault, FaultyAdapter, measured, noticed};

/// Wraps an object of a library and adds a fault.
pub struct Faulty<T: ?Sized> {
    correct: Box<T>,
    fault: Fault,
    uses: Cell<usize>,
}

impl<T: ?Sized> Faulty<T> {
    /// Whether there were more uses before this than a proof or a first batch has.
    fn is_late(&self) -> bool {
        self.uses.replace(self.uses.get() + 1) >= 2 * BATCH
    }
}

/// Operations of a batch.
const BATCH: usize = 16;

impl FaultyAdapter {
    pub fn with_fault<T: ?Sized>(&self, correct: Box<T>) -> Faulty<T> {
        Faulty {
            correct,
            fault: self.fault,
            uses: Cell::default(),
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
        match self.fault {
            Fault::Plaintext => Ok(()),
            _ => self.correct.seal(nonce, additional, record),
        }
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        match (self.fault, self.correct.open(nonce, additional, record)) {
            (Fault::Plaintext | Fault::Unauthenticated, _) => Ok(()),
            // No test vector has this length.
            (Fault::OtherPlaintext, result) if record.len() > RECORD => {
                record[0] ^= 1;
                result
            }
            (_, result) => result,
        }
    }
}

impl Signature for Faulty<dyn Signature> {
    fn sign(&mut self, message: &[u8], signature: &mut [u8]) -> Result<usize> {
        let is_late = self.is_late();
        match self.fault {
            Fault::OtherMessageLater if !is_late => self.correct.sign(message, signature),
            Fault::OtherMessage | Fault::OtherMessages | Fault::OtherMessageLater => {
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
            fault: match self.fault {
                Fault::SameSecretLater if !self.is_late() => Fault::None,
                fault => fault,
            },
            uses: Cell::default(),
        }))
    }

    fn encapsulate(&self, share: &[u8], answer: &mut [u8], secret: &mut [u8]) -> Result<()> {
        if self.fault == Fault::SameSecretLater && self.uses.get() > 2 * BATCH {
            return self
                .correct
                .encapsulate(share, answer, &mut secret.to_vec());
        }
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
        if self.fault == Fault::SameSecretLater {
            return self.correct.agree(answer, &mut secret.to_vec());
        }
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

impl Faulty<dyn PacketProtection> {
    fn number(&self, number: u64) -> u64 {
        number ^ u64::from(self.fault == Fault::OtherNumber)
    }

    fn header<'a>(&self, header: &'a [u8]) -> &'a [u8] {
        match self.fault {
            Fault::NoHeader => &[],
            _ => header,
        }
    }
}

impl PacketProtection for Faulty<dyn PacketProtection> {
    fn seal(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        let (number, header) = (self.number(number), self.header(header));
        self.correct.seal(number, header, payload)?;
        let tag = payload.len() - packets::TAG;
        match self.fault {
            Fault::OtherByte => payload[tag - 1] ^= 1,
            Fault::OtherTag => payload[tag] ^= 1,
            _ => {}
        }
        Ok(())
    }

    fn open(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        let (number, header) = (self.number(number), self.header(header));
        let opened = self.correct.open(number, header, payload);
        match self.fault {
            Fault::Unauthenticated => Ok(()),
            // No known packet has this length.
            Fault::OtherPayload if payload.len() == MEASURED - HEADER => {
                payload[0] ^= 1;
                opened
            }
            _ => opened,
        }
    }

    fn protect(
        &mut self,
        sample: &[u8; SAMPLE],
        first: &mut u8,
        number: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()> {
        let before = (*first, *number);
        self.correct.protect(sample, first, number)?;
        match self.fault {
            Fault::PlainFirst => *first = before.0,
            Fault::PlainNumber => *number = before.1,
            _ => {}
        }
        Ok(())
    }

    fn unprotect(
        &mut self,
        sample: &[u8; SAMPLE],
        first: &mut u8,
        number: &mut [u8; LONGEST_NUMBER],
    ) -> Result<()> {
        self.correct.unprotect(sample, first, number)
    }
}

const RECORD: usize = 1350;
const MEASURED: usize = 1452;
const HEADER: usize = 13;

fn primitive(variant: &str) -> Scenario {
    Scenario {
        variant: Some(variant.parse().unwrap()),
        ..Scenario::new(Operation::Primitive)
    }
}

fn packet(suite: &str) -> Scenario {
    serde_json::from_value(serde_json::json!({
        "operation": "quic-packet", "cipher_suite": suite, "size": MEASURED,
    }))
    .unwrap()
}

const SUITES: [&str; 3] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
];

#[test]
fn a_correct_primitive_and_a_correct_packet_pass() {
    for variant in [
        "aes-256-gcm-open-1350",
        "rsa-2048-verify",
        "ecdsa-p384-sign",
        "ed25519-verify",
        "x25519-agree",
        "secp384r1-agree",
    ] {
        let records = measured(Fault::None, &primitive(variant)).unwrap();
        assert_eq!(records.len(), 3, "{variant}");
    }
    for suite in SUITES {
        // Two overheads, two measurements and the mark.
        let records = measured(Fault::None, &packet(suite)).unwrap();
        assert_eq!(records.len(), 5, "{suite}");
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
            Fault::OtherPlaintext,
            "aes-256-gcm-seal-1350",
            "what was opened is not what was sealed",
        ),
        (
            Fault::OtherMessageLater,
            "ecdsa-p256-sign",
            "a signature does not verify",
        ),
        (
            Fault::SameSecretLater,
            "x25519-agree",
            "the two roles did not agree on a secret",
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
        noticed(measured(fault, &primitive(variant)), fault, expected);
    }
}

#[test]
fn a_wrong_packet_is_noticed() {
    for suite in SUITES {
        let sealed = format!("protected the known packet of {suite} wrongly");
        for (fault, expected) in [
            (Fault::OtherByte, sealed.as_str()),
            (Fault::OtherTag, &sealed),
            (Fault::PlainNumber, &sealed),
            (Fault::PlainFirst, &sealed),
            (Fault::OtherNumber, &sealed),
            (Fault::NoHeader, &sealed),
            (
                Fault::Unauthenticated,
                "opened a packet with another first byte",
            ),
            (
                Fault::OtherPayload,
                "what was opened is not what was sealed",
            ),
        ] {
            noticed(measured(fault, &packet(suite)), fault, expected);
        }
    }
}
