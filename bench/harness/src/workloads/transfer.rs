//! Transfers: the server sends, the client receives. One batch of writes at a time: all are sent,
//! then all are read, with one read of the clock between and one after.
//!
//! Checked after every batch: the number of bytes received, the number of records on the wire, and
//! that nothing is left to read. Every byte is compared where the plaintext stays in memory. Where
//! it is dropped, every 16th batch keeps it to be compared, and its time does not count.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::{
    timed::{Step, Target, Timed},
    workload::{MEBIBYTE, Quantity, Work},
};
use crate::{
    clock::Laps,
    library::{Connection, TlsLibrary},
    record::Phase,
    scenario::{Scenario, Side, Variant, VariantKind},
    session::{HandshakeBench, Pair},
    transport::Transport,
    wire,
};

/// Bytes in flight where the scenario names none and a write is not larger.
const USUAL_IN_FLIGHT: usize = 1 << 20;

/// Size of the source and of the destination of a cold transfer: more than caches hold.
const COLD_BYTES: usize = 64 << 20;

/// Every so many batches, the bytes of one that drops its plaintext are kept and compared.
const KEPT_EVERY: u64 = 16;

/// Largest record of the protocol, in bytes of plaintext.
const MAX_RECORD: usize = 1 << 14;

/// So many bytes of the source are not found by chance in what a cipher makes of it.
const RECOGNIZABLE: usize = 16;

/// More than header, nonce, content type and tag of a record together.
const RECORD_OVERHEAD: usize = 64;

/// See the module.
pub struct Transfer;

impl Timed for Transfer {
    const SIDES: &'static [Option<Side>] = &[Some(Side::Sender), Some(Side::Receiver)];
    const VARIANTS: &'static [VariantKind] = &[VariantKind::Cold];
    const RANDOM: bool = false;
    const COPIES: bool = true;

    type Shared<L: TlsLibrary> = L::ServerConfig;

    fn work(scenario: &Scenario) -> Result<Work> {
        let shape = Shape::new(scenario)?;
        Ok(Work {
            operations: shape.writes() as u64,
            amount: shape.size as f64 / MEBIBYTE,
            quantity: Quantity::Mebibytes,
        })
    }

    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<L::ServerConfig> {
        target.server_config()
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
        let mut batches = 0_u64;
        driver(&mut |tally| {
            let keeps = target.checked && batch.drops && batches.is_multiple_of(KEPT_EVERY);
            batches += 1;
            let times = match keeps {
                true => batch.run_kept(&mut pair)?,
                false => batch.run(&mut pair)?,
            };
            match target.checked {
                true => {
                    batch.check_encryption(&bench.transport)?;
                    batch.check(&bench.transport)?;
                }
                false => batch.clear(&bench.transport),
            }
            match keeps {
                true => Ok(()),
                false => tally.add([times.sender, times.receiver].map(|it| [(Phase::Total, it)])),
            }
        })
    }
}

/// What the writes of one batch are.
#[derive(Clone, Copy, Debug)]
struct Shape {
    size: usize,
    in_flight: usize,
    record: usize,
}

/// The writes of one batch, and where they arrive.
pub struct Batch {
    shape: Shape,
    /// Whole batches, sent in turn.
    source: Vec<u8>,
    /// As long as the source. Where plaintext is dropped, only a batch that keeps it writes here.
    destination: Vec<u8>,
    /// Where the batch begins in source and destination.
    start: usize,
    /// Whether plaintext is dropped as soon as it was received.
    drops: bool,
    /// Where libraries decrypt to that do not lend their plaintext.
    buffer: Box<[u8]>,
    kept: bool,
    received: usize,
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
    let mut bytes = vec![0; length.next_multiple_of(8)];
    for word in bytes.as_chunks_mut().0 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        *word = state.to_le_bytes();
    }
    bytes.truncate(length);
    bytes
}

impl Shape {
    fn new(scenario: &Scenario) -> Result<Self> {
        let size = scenario
            .size
            .filter(|size| *size > 0)
            .with_context(|| format!("scenario \"{}\" has no size", scenario.name()))?
            as usize;
        let in_flight = match scenario.in_flight {
            Some(bytes) => bytes as usize,
            None => size * (USUAL_IN_FLIGHT / size).max(1),
        };
        ensure!(
            in_flight > 0 && in_flight.is_multiple_of(size) && in_flight <= COLD_BYTES,
            "in_flight = {in_flight}, expected a multiple of size = {size} up to {COLD_BYTES}"
        );
        Ok(Self {
            size,
            in_flight,
            record: scenario
                .record_size
                .map_or(MAX_RECORD, |record| MAX_RECORD.min(record as usize)),
        })
    }

    fn writes(self) -> usize {
        self.in_flight / self.size
    }

    fn records(self) -> usize {
        self.writes() * self.size.div_ceil(self.record)
    }
}

impl Batch {
    pub fn new(scenario: &Scenario) -> Result<Self> {
        let shape = Shape::new(scenario)?;
        let cold = scenario.variant == Some(Variant::Cold);
        let length = match cold {
            true => COLD_BYTES - COLD_BYTES % shape.in_flight,
            false => shape.in_flight,
        };
        Ok(Self {
            shape,
            source: noise(length),
            // Written, so that no page is faulted in while the clock runs.
            destination: vec![0xff; length],
            start: 0,
            drops: scenario.in_flight.is_some() && !cold,
            buffer: vec![0xff; MAX_RECORD].into(),
            kept: false,
            received: 0,
        })
    }

    /// Bytes that the transport must hold.
    pub fn capacity(&self) -> usize {
        let Shape { in_flight, .. } = self.shape;
        Transport::HANDSHAKE_CAPACITY + in_flight + self.shape.records() * RECORD_OVERHEAD
    }

    /// Moves one batch over a transport that is clear. Every library reads the same chunks: one
    /// record, or one write if that is smaller.
    pub fn run<L: TlsLibrary + ?Sized>(&mut self, pair: &mut Pair<'_, L>) -> Result<Times> {
        self.kept = !self.drops;
        self.transfer(pair)
    }

    /// The same, by the same calls, with the plaintext kept for `check`.
    pub fn run_kept<L: TlsLibrary + ?Sized>(&mut self, pair: &mut Pair<'_, L>) -> Result<Times> {
        self.kept = true;
        // A library that writes nothing must not find what an earlier batch left there.
        self.buffer.fill(0);
        self.transfer(pair)
    }

    fn transfer<L: TlsLibrary + ?Sized>(&mut self, pair: &mut Pair<'_, L>) -> Result<Times> {
        self.received = 0;
        let writes = &self.source[self.start..][..self.shape.in_flight];
        let mut laps = Laps::start();
        for write in writes.chunks_exact(self.shape.size) {
            pair.server.send(write).context("sender")?;
        }
        let sender = laps.lap();
        let client = &mut pair.client;
        match (self.drops, self.kept) {
            (false, _) => self.receive_copied(client),
            (true, true) => self.receive_and_keep(client),
            (true, false) => self.receive_and_drop(client),
        }
        .context("receiver")?;
        Ok(Times {
            sender,
            receiver: laps.lap(),
        })
    }

    /// Bytes that the next call may receive, at the most; none at the end of the batch.
    fn next_chunk(&self) -> Option<usize> {
        let Shape { size, record, .. } = self.shape;
        let rest = self.shape.in_flight.checked_sub(self.received)?;
        (rest > 0).then(|| rest.min(size).min(record))
    }

    fn receive_copied(&mut self, client: &mut impl Connection) -> Result<()> {
        while let Some(chunk) = self.next_chunk() {
            let start = self.start + self.received;
            self.received += client.receive(&mut self.destination[start..][..chunk])?;
        }
        Ok(())
    }

    fn receive_and_drop(&mut self, client: &mut impl Connection) -> Result<()> {
        while let Some(chunk) = self.next_chunk() {
            let (buffer, received) = (&mut self.buffer[..chunk], &mut self.received);
            client.receive_with(buffer, &mut |bytes| *received += bytes.len())?;
        }
        Ok(())
    }

    fn receive_and_keep(&mut self, client: &mut impl Connection) -> Result<()> {
        while let Some(chunk) = self.next_chunk() {
            let (buffer, received) = (&mut self.buffer[..chunk], &mut self.received);
            let destination = &mut self.destination[self.start..];
            client.receive_with(buffer, &mut |bytes| {
                let end = *received + bytes.len();
                // More than was asked for has no place; the count shows it.
                if let Some(space) = destination.get_mut(*received..end) {
                    space.copy_from_slice(bytes);
                }
                *received = end;
            })?;
        }
        Ok(())
    }

    /// Checks that a batch whose plaintext was kept was encrypted.
    fn check_encryption(&self, transport: &Transport) -> Result<()> {
        if self.kept && self.shape.size >= RECOGNIZABLE {
            let plaintext = &self.source[self.start..][..RECOGNIZABLE];
            let is_there = |sent: &[u8]| wire::first_data_contains(sent, plaintext);
            ensure!(
                !transport.sent_by_server(is_there)?,
                "the data is not encrypted"
            );
        }
        Ok(())
    }

    /// Checks that what arrived is what was sent, in records of the wanted size, and clears.
    pub fn check(&mut self, transport: &Transport) -> Result<()> {
        let range = self.start..self.start + self.shape.in_flight;
        let (sent, received) = (&self.source[range.clone()], &mut self.destination[range]);
        if self.kept && sent != received {
            let position = sent.iter().zip(received).position(|(a, b)| a != b);
            bail!("byte {} arrived as another", position.unwrap_or_default());
        }
        ensure!(
            self.received == self.shape.in_flight,
            "received {} bytes, expected {}",
            self.received,
            self.shape.in_flight
        );
        ensure!(
            !transport.client.has_arrived(),
            "more was sent than was asked for"
        );
        let records = transport.sent_by_server(wire::application_records)?;
        ensure!(
            records == self.shape.records(),
            "found {records} records, expected {}",
            self.shape.records()
        );
        if self.kept {
            received.fill(0);
        }
        self.clear(transport);
        Ok(())
    }

    /// Clears the transport and goes on to the next batch.
    fn clear(&mut self, transport: &Transport) {
        transport.clear();
        self.start = (self.start + self.shape.in_flight) % self.source.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        copy::CopyLibrary,
        library::Setup,
        scenario::{
            Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        },
    };

    fn scenario(size: u32, in_flight: Option<u32>, record_size: Option<u32>) -> Scenario {
        Scenario {
            size: Some(size),
            in_flight,
            record_size,
            ..Scenario::new(Operation::Transfer)
        }
    }

    #[test]
    fn a_batch_moves_the_bytes_in_flight_in_whole_writes_and_records() {
        for (scenario, expected) in [
            // Without `in_flight`, every size of write moves a MiB or one write.
            (scenario(16, None, None), [1 << 20, 1 << 16, 1 << 16]),
            (scenario(8192, None, None), [1 << 20, 128, 128]),
            (scenario(8192, None, Some(1024)), [1 << 20, 128, 1024]),
            (scenario(1500, None, Some(1024)), [699 * 1500, 699, 2 * 699]),
            (scenario(1 << 20, None, None), [1 << 20, 1, 64]),
            (scenario(1 << 21, None, None), [1 << 21, 1, 128]),
            (scenario(16, Some(1 << 14), None), [1 << 14, 1024, 1024]),
            (scenario(1 << 16, Some(1 << 16), None), [1 << 16, 1, 4]),
            (
                scenario(1 << 20, Some(16 << 20), None),
                [16 << 20, 16, 1024],
            ),
        ] {
            let shape = Shape::new(&scenario).unwrap();
            assert_eq!([shape.in_flight, shape.writes(), shape.records()], expected);
            let Work {
                operations, amount, ..
            } = Transfer::work(&scenario).unwrap();
            let bytes = operations as f64 * amount * 1024.0 * 1024.0;
            assert_eq!(
                (operations, bytes.round()),
                (expected[1] as u64, expected[0] as f64)
            );
        }
        for (size, in_flight) in [(1000, 1 << 16), (1 << 17, 1 << 16), (1, 0), (1, 65 << 20)] {
            let error = Shape::new(&scenario(size, Some(in_flight), None)).unwrap_err();
            let error = error.to_string();
            assert!(error.contains("expected a multiple of size"), "{error}");
        }
    }

    #[test]
    fn a_transfer_sends_the_output_of_xorshift64() {
        let words = [0xdc1b_77ae_0bf3_4dad_u64, 0x64f0_eeb9_026e_6076];
        let bytes = noise(20);
        assert_eq!(bytes[..8], words[0].to_le_bytes());
        assert_eq!(bytes[8..16], words[1].to_le_bytes());
        assert_eq!(bytes.len(), 20);
        assert_ne!(bytes[16..], [0; 4]);
    }

    #[test]
    fn data_that_is_not_encrypted_is_noticed() {
        let scenario = Scenario {
            protocol: Some(Protocol::Tls13),
            cipher_suite: Some(CipherSuite::Aes256Gcm),
            key_exchange: Some(KeyExchange::X25519),
            certificate: Some(Certificate::EcdsaP256),
            authentication: Some(Authentication::Server),
            resumption: Some(Resumption::None),
            ..scenario(1 << 16, None, None)
        };
        let mut batch = Batch::new(&scenario).unwrap();
        let server = Setup::server(&scenario).unwrap();
        let server = CopyLibrary.server_config(&server).unwrap();
        let capacity = batch.capacity();
        let bench = HandshakeBench::new(&CopyLibrary, &server, &scenario, capacity).unwrap();
        let mut pair = bench.unchecked().unwrap();
        bench.transport.clear();
        batch.run(&mut pair).unwrap();
        let error = batch.check_encryption(&bench.transport);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("not encrypted"), "{error}");
    }

    #[test]
    fn a_cold_transfer_uses_buffers_larger_than_the_caches() {
        let transport = Transport::new(16);
        let mut batch = Batch::new(&Scenario {
            variant: Some(Variant::Cold),
            ..scenario(1 << 16, Some(1 << 16), None)
        })
        .unwrap();
        assert_eq!(batch.source.len(), 64 << 20);
        assert_eq!(batch.destination.len(), 64 << 20);
        let mut starts = Vec::new();
        for _ in 0..1024 {
            starts.push(batch.start);
            batch.clear(&transport);
        }
        assert!(starts.iter().zip(0..).all(|(start, i)| *start == i << 16));
        assert_eq!(batch.start, 0, "the walk begins again");
    }
}
