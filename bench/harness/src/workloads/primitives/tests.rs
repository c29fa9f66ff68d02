//! A toy whose operations are known: how many a batch has, which of them are timed, and what is noticed.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    thread::sleep,
    time::Duration,
};

use anyhow::ensure;

use super::*;
use crate::{
    library::primitives::{Aead, Cipher, Group, KeyExchange, NONCE, PrivateKey, Signature, TAG},
    scenario::{Certificate, Operation},
};

/// What one operation takes, if it is slow.
const PAUSE: Duration = Duration::from_millis(1);

/// The operations of a toy, in the order of time, with the nonces of records.
static DONE: Mutex<Vec<(&str, [u8; NONCE])>> = Mutex::new(Vec::new());

/// One operation is slow, and one part of a record is not authenticated.
#[derive(Clone, Copy, Default)]
struct Toy {
    slow: &'static str,
    unchecked: &'static str,
}

impl Toy {
    fn does(self, operation: &'static str, nonce: [u8; NONCE]) {
        let mut done = DONE.lock().unwrap_or_else(PoisonError::into_inner);
        done.push((operation, nonce));
        if operation == self.slow {
            sleep(PAUSE);
        }
    }

    /// A tag with a sum of each part.
    fn tag(self, nonce: &[u8], additional: &[u8], data: &[u8]) -> [u8; TAG] {
        let mut tag = [7; TAG];
        let parts = [("nonce", nonce), ("additional", additional), ("data", data)];
        for (place, (part, bytes)) in parts.into_iter().enumerate() {
            let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            tag[place] = if part == self.unchecked { 0 } else { sum };
        }
        tag
    }
}

impl Cryptography for Toy {
    fn aead(&self, _: Cipher, _: &[u8]) -> Result<Box<dyn Aead>> {
        Ok(Box::new(*self))
    }

    fn signature(&self, _: Certificate, _: &str) -> Result<Box<dyn Signature>> {
        Ok(Box::new(*self))
    }

    fn key_exchange(&self, _: Group) -> Result<Box<dyn KeyExchange>> {
        Ok(Box::new(*self))
    }
}

impl Aead for Toy {
    fn seal(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        self.does("seal", *nonce);
        let (data, tag) = record.split_at_mut(record.len() - TAG);
        tag.copy_from_slice(&self.tag(nonce, additional, data));
        Ok(())
    }

    fn open(&mut self, nonce: &[u8; NONCE], additional: &[u8], record: &mut [u8]) -> Result<()> {
        self.does("open", *nonce);
        let (data, tag) = record.split_at(record.len() - TAG);
        let expected = self.tag(nonce, additional, data);
        ensure!(self.unchecked == "tag" || tag == expected, "changed");
        Ok(())
    }
}

impl Signature for Toy {
    fn sign(&mut self, _: &[u8], _: &mut [u8]) -> Result<usize> {
        self.does("sign", [0; NONCE]);
        Ok(1)
    }

    fn verify(&mut self, _: &[u8], _: &[u8]) -> Result<()> {
        self.does("verify", [0; NONCE]);
        Ok(())
    }
}

impl KeyExchange for Toy {
    fn generate(&self, _: &mut [u8]) -> Result<Box<dyn PrivateKey>> {
        self.does("generate", [0; NONCE]);
        Ok(Box::new(*self))
    }

    fn encapsulate(&self, _: &[u8], _: &mut [u8], _: &mut [u8]) -> Result<()> {
        self.does("encapsulate", [0; NONCE]);
        Ok(())
    }
}

impl PrivateKey for Toy {
    fn agree(&mut self, _: &[u8], _: &mut [u8]) -> Result<()> {
        self.does("agree", [0; NONCE]);
        Ok(())
    }
}

/// A scenario, the operation that it measures, and the number of those in a batch.
const SCENARIOS: [(&str, &str, usize); 7] = [
    ("aes-256-gcm-seal-16384", "seal", 4),
    ("aes-256-gcm-open-16384", "open", 4),
    ("rsa-2048-sign", "sign", 16),
    ("rsa-2048-verify", "verify", 16),
    ("x25519-generate", "generate", 16),
    ("x25519-agree", "agree", 16),
    ("ml-kem-768-encapsulate", "encapsulate", 16),
];

fn scenario(variant: &str) -> Scenario {
    Scenario {
        variant: Some(variant.parse().unwrap()),
        ..Scenario::new(Operation::Primitive)
    }
}

/// One test, since all toys write down what they do in one place.
#[test]
fn the_operations_of_a_batch_are_those_that_are_timed() {
    for (variant, measured, number) in SCENARIOS {
        let scenario = scenario(variant);
        let work = Primitives::work(&scenario).unwrap();
        assert_eq!(work.operations, number as u64, "{variant}");
        for (_, slow, _) in SCENARIOS {
            let toy = Toy {
                slow,
                ..Toy::default()
            };
            let mut batch = batch(scenario.primitive().unwrap(), &toy).unwrap();
            DONE.lock().unwrap().clear();
            let times: Vec<_> = (0..3).map(|_| batch.run().unwrap()).collect();
            let done = std::mem::take(&mut *DONE.lock().unwrap());
            let found = done.iter().filter(|it| it.0 == measured).count();
            assert_eq!(found, 3 * number, "{variant}: {measured} in three batches");
            let seals: Vec<_> = done.iter().filter(|it| it.0 == "seal").collect();
            let nonces: HashSet<_> = seals.iter().map(|it| it.1).collect();
            assert_eq!(nonces.len(), seals.len(), "{variant}: a nonce came twice");
            // On a busy host a batch may take longer, but not each of them.
            let least = times.into_iter().min().unwrap();
            let pauses = PAUSE * u32::try_from(number).unwrap();
            assert_eq!(
                least >= pauses,
                slow == measured,
                "{variant}, slow {slow}: {least:?}"
            );
        }
    }

    for (unchecked, expected) in [
        ("tag", "another tag"),
        ("data", "other data"),
        ("additional", "other additional data"),
        ("nonce", "another nonce"),
    ] {
        let toy = Toy {
            unchecked,
            ..Toy::default()
        };
        let error = aead::prove_authentication(&toy, Cipher::Aes256Gcm, 1350).unwrap_err();
        assert!(
            error.to_string().ends_with(expected),
            "{unchecked}: {error}"
        );
    }
    aead::prove_authentication(&Toy::default(), Cipher::Aes256Gcm, 1350).unwrap();
}
