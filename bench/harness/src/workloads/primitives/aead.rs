//! AEAD ciphers: records are sealed and then opened.

use std::time::Duration;

use anyhow::{Result, anyhow, ensure};

use super::{batch::Batch, vectors};
use crate::{
    clock::Laps,
    hex,
    library::primitives::{Aead, Cipher, Cryptography, NONCE, TAG},
};

/// Bytes of additional data, as in TLS 1.2 (RFC 5246, 6.2.3.3).
const ADDITIONAL: usize = 13;

/// Plaintext bytes of a batch: few enough for the second-level cache, enough to make the clock's
/// cost negligible.
const BATCH_BYTES: usize = 1 << 16;

pub fn records(size: u32) -> usize {
    (BATCH_BYTES / size as usize).max(1)
}

/// Proves that the cipher is the named one, and that it rejects modified records.
pub fn prove(library: &dyn Cryptography, cipher: Cipher, size: u32) -> Result<()> {
    prove_known_answer(library, cipher)?;
    prove_authentication(library, cipher, size as usize)
}

/// The key of the measurements.
fn key(cipher: Cipher) -> &'static [u8] {
    match cipher {
        Cipher::Aes128Gcm => &[0x5a; 16],
        Cipher::Aes256Gcm | Cipher::ChaCha20Poly1305 => &[0x5a; 32],
    }
}

/// Records that are sealed and then opened, each in place and with a nonce of its own.
pub struct Records {
    aead: Box<dyn Aead>,
    seals: bool,
    plaintext: Vec<u8>,
    /// Each record has room for a tag.
    records: Vec<Vec<u8>>,
    count: u64,
}

impl Records {
    /// `seals`: whether sealing is timed, or opening.
    pub fn new(library: &dyn Cryptography, cipher: Cipher, size: u32, seals: bool) -> Result<Self> {
        let plaintext: Vec<u8> = (0..size).map(|i| (i * 31 % 251) as u8).collect();
        let mut record = plaintext.clone();
        record.extend([0; TAG]);
        Ok(Self {
            aead: library.aead(cipher, key(cipher))?,
            seals,
            plaintext,
            records: vec![record; records(size)],
            count: 0,
        })
    }
}

/// The nonce of a record is its number.
fn nonce(number: u64) -> [u8; NONCE] {
    let mut nonce = [0; NONCE];
    nonce[NONCE - 8..].copy_from_slice(&number.to_be_bytes());
    nonce
}

impl Batch for Records {
    fn run(&mut self) -> Result<Duration> {
        let first = self.count;
        let mut laps = Laps::start();
        for (record, number) in self.records.iter_mut().zip(first..) {
            self.aead.seal(&nonce(number), &[0; ADDITIONAL], record)?;
        }
        let sealing = laps.lap();
        for (record, number) in self.records.iter_mut().zip(first..) {
            self.aead.open(&nonce(number), &[0; ADDITIONAL], record)?;
        }
        let opening = laps.lap();
        self.count += self.records.len() as u64;
        Ok(if self.seals { sealing } else { opening })
    }

    fn check(&mut self) -> Result<()> {
        let opened = |record: &Vec<u8>| record[..self.plaintext.len()] == self.plaintext;
        ensure!(
            self.records.iter().all(opened),
            "what was opened is not what was sealed"
        );
        Ok(())
    }
}

/// Proves with a published test vector that the cipher is the named one.
fn prove_known_answer(library: &dyn Cryptography, cipher: Cipher) -> Result<()> {
    let vector = vectors::vector(cipher);
    let (plaintext, sealed) = (hex::bytes(vector.plaintext)?, hex::bytes(vector.sealed)?);
    let additional = hex::bytes(vector.additional)?;
    let nonce: [u8; NONCE] = hex::bytes(vector.nonce)?
        .try_into()
        .map_err(|_| anyhow!("a test vector's nonce is not {NONCE} bytes"))?;
    let mut aead = library.aead(cipher, &hex::bytes(vector.key)?)?;
    let mut record = plaintext.clone();
    record.extend([0; TAG]);
    aead.seal(&nonce, &additional, &mut record)?;
    ensure!(
        record == sealed,
        "sealed a test vector of {} wrongly",
        cipher
    );
    aead.open(&nonce, &additional, &mut record)?;
    ensure!(
        record[..plaintext.len()] == plaintext,
        "opened a test vector of {} wrongly",
        cipher
    );
    Ok(())
}

/// Proves that the cipher rejects modified records.
pub fn prove_authentication(library: &dyn Cryptography, cipher: Cipher, size: usize) -> Result<()> {
    let mut aead = library.aead(cipher, key(cipher))?;
    let mut sealed = vec![0x11; size + TAG];
    aead.seal(&nonce(1), &[0; ADDITIONAL], &mut sealed)?;
    let mut open = |what, number, additional: u8, changed: Option<usize>| {
        let mut record = sealed.clone();
        if let Some(position) = changed {
            record[position] ^= 1;
        }
        let result = aead.open(&nonce(number), &[additional; ADDITIONAL], &mut record);
        ensure!(result.is_err(), "{} opened a record with {what}", cipher);
        Ok(())
    };
    open("another tag", 1, 0, Some(size))?;
    open("other data", 1, 0, Some(size - 1))?;
    open("other additional data", 1, 1, None)?;
    open("another nonce", 2, 0, None)
}
