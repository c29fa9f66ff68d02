//! Signatures with the private key of a server's certificate.

use std::{collections::HashSet, time::Duration};

use anyhow::{Context, Result, ensure};

use super::batch::{BATCH, Batch};
use crate::{
    certificates::{self, SIGNED},
    clock::Laps,
    library::primitives::{Cryptography, Signature},
    scenario::Certificate,
};

/// Bytes of the longest signature, ML-DSA-87.
const MAX_SIGNATURE: usize = 4627;

/// A key with its signatures of one message.
struct Signatures {
    key: Box<dyn Signature>,
    signatures: Vec<Vec<u8>>,
}

impl Signatures {
    fn new(library: &dyn Cryptography, certificate: Certificate) -> Result<Self> {
        let identity = certificates::authority(certificate).server;
        Ok(Self {
            key: library.signature(certificate, identity.key)?,
            signatures: vec![vec![0; MAX_SIGNATURE]; BATCH],
        })
    }

    /// Signs a batch and returns its time.
    fn sign(&mut self) -> Result<Duration> {
        let mut lengths = [0; BATCH];
        for signature in &mut self.signatures {
            signature.resize(MAX_SIGNATURE, 0);
        }
        let mut laps = Laps::start();
        for (signature, length) in self.signatures.iter_mut().zip(&mut lengths) {
            *length = self.key.sign(SIGNED, signature)?;
        }
        let time = laps.lap();
        for (signature, length) in self.signatures.iter_mut().zip(lengths) {
            signature.truncate(length);
        }
        Ok(time)
    }
}

/// A batch whose signing is timed.
pub struct Signing(Signatures);

impl Signing {
    pub fn new(library: &dyn Cryptography, certificate: Certificate) -> Result<Self> {
        Ok(Self(Signatures::new(library, certificate)?))
    }
}

impl Batch for Signing {
    fn run(&mut self) -> Result<Duration> {
        self.0.sign()
    }

    /// Verifies one signature per batch: verifying all would take longer than signing them.
    fn check(&mut self) -> Result<()> {
        let Signatures { key, signatures } = &mut self.0;
        let last = signatures.last().map_or(&[][..], Vec::as_slice);
        key.verify(SIGNED, last)
            .context("a signature does not verify")
    }
}

/// A batch whose verification is timed.
pub struct Verifying(Signatures);

impl Verifying {
    pub fn new(library: &dyn Cryptography, certificate: Certificate) -> Result<Self> {
        let mut signatures = Signatures::new(library, certificate)?;
        signatures.sign()?;
        Ok(Self(signatures))
    }
}

impl Batch for Verifying {
    fn run(&mut self) -> Result<Duration> {
        let Signatures { key, signatures } = &mut self.0;
        let mut laps = Laps::start();
        for signature in signatures {
            key.verify(SIGNED, signature)?;
        }
        Ok(laps.lap())
    }

    /// Nothing to do: `run` fails if a signature does not verify.
    fn check(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Proves that the library verifies a signature of another library and its own, and rejects
/// modified ones. So both libraries sign the same message in the same scheme, each time anew.
pub fn prove(library: &dyn Cryptography, certificate: Certificate) -> Result<()> {
    let known = certificates::signature(certificate)
        .with_context(|| format!("there is no known signature of {certificate}"))?;
    let mut signatures = Signatures::new(library, certificate)?;
    signatures.sign()?;
    let Signatures { key, signatures } = &mut signatures;
    key.verify(SIGNED, known)
        .with_context(|| format!("{certificate}: a known signature does not verify"))?;
    for signature in [known]
        .into_iter()
        .chain(signatures.iter().map(Vec::as_slice))
    {
        key.verify(SIGNED, signature)
            .with_context(|| format!("{certificate}: a signature does not verify"))?;
        let mut changed = signature.to_vec();
        if let Some(last) = changed.last_mut() {
            *last ^= 1;
        }
        ensure!(
            key.verify(SIGNED, &changed).is_err(),
            "{certificate}: a changed signature verifies"
        );
        ensure!(
            key.verify(&SIGNED[1..], signature).is_err(),
            "{certificate}: a signature verifies another message"
        );
    }
    // All other schemes have a random part, which a key may not use twice.
    let distinct: HashSet<_> = signatures.iter().collect();
    ensure!(
        certificate == Certificate::Ed25519 || distinct.len() == BATCH,
        "{certificate}: a signature came twice"
    );
    Ok(())
}
