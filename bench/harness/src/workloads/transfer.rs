//! Transfers: the server sends, the client receives. One batch of writes at a time: all are sent,
//! then all are read, with one read of the clock between and one after.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::{
    MEBIBYTE, Quantity, Work,
    timed::{Step, Target, Timed},
};
use crate::{
    clock::Laps,
    library::{Connection, Setup, TlsLibrary},
    record::Phase,
    scenario::{Scenario, Side},
    session::{self, HandshakeBench, Pair},
    transport::Transport,
    wire,
};

/// Plaintext that every batch moves, unless one write is larger: the same amount of work for
/// every size of write.
const BATCH_BYTES: usize = 1 << 20;

/// Largest record of the protocol, in bytes of plaintext.
const MAX_RECORD: usize = 1 << 14;

/// More than header, nonce, content type and tag of a record together.
const RECORD_OVERHEAD: usize = 64;

/// See the module.
pub struct Transfer;

impl Timed for Transfer {
    const SIDES: &'static [Option<Side>] = &[Some(Side::Sender), Some(Side::Receiver)];
    const RANDOM: bool = false;

    type Shared<L: TlsLibrary> = L::ServerConfig;

    fn work(scenario: &Scenario) -> Result<Work> {
        let batch = Batch::new(scenario)?;
        Ok(Work {
            operations: batch.writes() as u64,
            amount: batch.size as f64 / MEBIBYTE,
            quantity: Quantity::Mebibytes,
        })
    }

    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<L::ServerConfig> {
        if target.checked {
            session::prove_verification(target.library, target.scenario)?;
        }
        target
            .library
            .server_config(&Setup::server(target.scenario)?)
    }

    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        server: &L::ServerConfig,
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut batch = Batch::new(target.scenario)?;
        let bench = HandshakeBench::new(target.library, server, target.scenario, batch.capacity())?;
        ensure!(
            !bench.resumes(),
            "a transfer that resumes can't be measured"
        );
        let mut pair = match target.checked {
            true => bench.handshake(false)?,
            false => bench.unchecked()?,
        };
        bench.transport.clear();
        driver(&mut |tally| {
            let times = batch.run(&mut pair)?;
            match target.checked {
                true => batch.check(&bench.transport)?,
                false => bench.transport.clear(),
            }
            tally.add([times.sender, times.receiver].map(|time| [(Phase::Total, time)]))
        })
    }
}

/// The writes of one batch, and where they arrive.
pub struct Batch {
    size: usize,
    record: usize,
    sent: Vec<u8>,
    received: Vec<u8>,
}

/// Time of one batch, by role.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    pub sender: Duration,
    pub receiver: Duration,
}

/// Bytes that look random (xorshift64, Marsaglia 2003), so that a byte lost or moved is noticed.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..length)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

impl Batch {
    /// # Errors
    /// The scenario names no size of write.
    pub fn new(scenario: &Scenario) -> Result<Self> {
        let size = scenario
            .size
            .filter(|size| *size > 0)
            .with_context(|| format!("scenario \"{}\" has no size", scenario.name()))?
            as usize;
        let record = scenario
            .record_size
            .map_or(MAX_RECORD, |record| MAX_RECORD.min(record as usize));
        let length = size * (BATCH_BYTES / size).max(1);
        Ok(Self {
            size,
            record,
            sent: noise(length),
            received: vec![0; length],
        })
    }

    /// Number of writes.
    pub fn writes(&self) -> usize {
        self.sent.len() / self.size
    }

    /// Bytes of plaintext.
    pub fn bytes(&self) -> usize {
        self.sent.len()
    }

    fn records(&self) -> usize {
        self.writes() * self.size.div_ceil(self.record)
    }

    /// Bytes that the transport must hold.
    pub fn capacity(&self) -> usize {
        Transport::HANDSHAKE_CAPACITY + self.bytes() + self.records() * RECORD_OVERHEAD
    }

    /// Moves one batch over a transport that is clear. Every library reads the same chunks: one
    /// record, or one write if that is smaller.
    ///
    /// # Errors
    /// A role fails.
    pub fn run<L: TlsLibrary + ?Sized>(&mut self, pair: &mut Pair<'_, L>) -> Result<Times> {
        let chunk = self.size.min(self.record);
        let mut laps = Laps::start();
        for write in self.sent.chunks_exact(self.size) {
            pair.server.send(write).context("sender")?;
        }
        let sender = laps.lap();
        let mut rest = self.received.as_mut_slice();
        while !rest.is_empty() {
            let length = chunk.min(rest.len());
            let read = pair
                .client
                .receive(&mut rest[..length])
                .context("receiver")?;
            rest = &mut rest[read..];
        }
        Ok(Times {
            sender,
            receiver: laps.lap(),
        })
    }

    /// Checks that what arrived is what was sent, in records of the wanted size, and clears.
    ///
    /// # Errors
    /// The first difference.
    pub fn check(&mut self, transport: &Transport) -> Result<()> {
        if self.sent != self.received {
            let position = (0..self.bytes()).find(|i| self.sent[*i] != self.received[*i]);
            bail!("byte {} arrived as another", position.unwrap_or_default());
        }
        ensure!(
            !transport.client.has_arrived(),
            "more was sent than was asked for"
        );
        let records = transport.sent_by_server(wire::application_records)?;
        ensure!(
            records == self.records(),
            "found {records} records, expected {}",
            self.records()
        );
        self.received.fill(0);
        transport.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Operation;

    fn batch(size: u32, record_size: Option<u32>) -> Batch {
        Batch::new(&Scenario {
            size: Some(size),
            record_size,
            ..Scenario::new(Operation::Transfer)
        })
        .unwrap()
    }

    #[test]
    fn every_size_of_write_moves_a_mebibyte() {
        for size in [16, 1024, 8192, 1 << 20] {
            let batch = batch(size, None);
            assert_eq!(batch.bytes(), 1 << 20);
            assert_eq!(batch.writes(), (1 << 20) / size as usize);
        }
        assert_eq!(batch(1 << 21, None).writes(), 1);
    }

    #[test]
    fn records_follow_from_write_and_record_size() {
        assert_eq!(batch(1 << 20, None).records(), 64);
        assert_eq!(batch(8192, None).records(), 128);
        assert_eq!(batch(8192, Some(1024)).records(), 1024);
        assert_eq!(batch(1500, Some(1024)).records(), 2 * 699);
    }

    #[test]
    fn a_changed_byte_is_found() {
        let transport = Transport::new(16);
        let mut batch = batch(16, None);
        batch.received.copy_from_slice(&batch.sent);
        batch.received[77] ^= 1;
        let error = batch.check(&transport).unwrap_err();
        assert_eq!(error.to_string(), "byte 77 arrived as another");
    }
}
