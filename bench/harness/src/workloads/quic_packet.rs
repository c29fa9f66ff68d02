//! QUIC's packet protection (RFC 9001, 5.3 and 5.4): packets of a given size are sealed and then
//! opened in place, with the protection of their headers.
//!
//! Where a header ends and what is sampled is decided here, for every library in the same way.

mod vectors;

use std::{ops::RangeInclusive, time::Duration};

use anyhow::{Context, Result, bail, ensure};

use super::{
    timed::{Step, Target, Timed},
    workload::{Quantity, Work},
};
use crate::{
    clock::Laps,
    library::{
        TlsLibrary,
        packets::{LONGEST_NUMBER, PacketProtection, SAMPLE, TAG},
    },
    record::Phase,
    scenario::{CipherSuite, Scenario, Side},
};

/// The header of a measured packet: a short one, with a connection id of eight bytes and a packet
/// number of four.
const HEADER: [u8; 13] = [0x43, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0];

/// Where the packet number of a measured packet begins.
const NUMBER: usize = HEADER.len() - LONGEST_NUMBER;

/// Bytes of a packet: from a header with a tag to the largest payload of UDP (RFC 9000, 18.2).
pub const SIZES: RangeInclusive<u32> = (HEADER.len() + TAG) as u32..=65_527;

/// Bytes of a batch: few enough for the second-level cache, enough to make the clock's cost
/// negligible.
const BATCH_BYTES: u32 = 1 << 16;

/// The cipher suite and the size of the packets.
fn stated(scenario: &Scenario) -> Result<(CipherSuite, u32)> {
    let suite = scenario.cipher_suite.context("no cipher suite")?;
    let size = scenario.size.context("no size")?;
    ensure!(
        SIZES.contains(&size),
        "packets of {size} bytes, expected {} to {}",
        SIZES.start(),
        SIZES.end()
    );
    Ok((suite, size))
}

/// The fields of a packet that protection changes or reads.
struct Parts<'a> {
    first: &'a mut u8,
    number: &'a mut [u8; LONGEST_NUMBER],
    sample: &'a [u8; SAMPLE],
}

/// Splits a packet whose number begins at `offset`. The sample begins four bytes later, however
/// long the number is (RFC 9001, 5.4.2).
#[inline]
fn parts(packet: &mut [u8], offset: usize) -> Result<Parts<'_>> {
    const SHORT: &str = "the packet is too short for a sample";
    let (first, rest) = packet.split_first_mut().context(SHORT)?;
    let rest = rest.get_mut(offset - 1..).context(SHORT)?;
    let (number, rest) = rest.split_first_chunk_mut().context(SHORT)?;
    let sample = rest.first_chunk().context(SHORT)?;
    Ok(Parts {
        first,
        number,
        sample,
    })
}

/// Bytes of the packet number, as an unprotected first byte states them.
fn number_length(first: u8) -> usize {
    1 + usize::from(first & 0x03)
}

/// Seals a packet whose number begins at `offset`, and protects its header.
#[inline]
fn seal(
    keys: &mut dyn PacketProtection,
    number: u64,
    offset: usize,
    packet: &mut [u8],
) -> Result<()> {
    let header = offset + number_length(packet[0]);
    let (header, payload) = packet.split_at_mut(header);
    keys.seal(number, header, payload)?;
    let Parts {
        first,
        number,
        sample,
    } = parts(packet, offset)?;
    keys.protect(sample, first, number)
}

/// Opens a packet in place. `expected` is its number, unless its header has another one. Returns
/// the length of its header.
#[inline]
fn open(
    keys: &mut dyn PacketProtection,
    expected: u64,
    offset: usize,
    packet: &mut [u8],
) -> Result<usize> {
    let Parts {
        first,
        number,
        sample,
    } = parts(packet, offset)?;
    keys.unprotect(sample, first, number)?;
    let length = number_length(*first);
    let found = number[..length]
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte));
    let number = expected >> (8 * length) << (8 * length) | found;
    let (header, payload) = packet.split_at_mut(offset + length);
    keys.open(number, header, payload)?;
    Ok(header.len())
}

/// Packets that are sealed and then opened, each in place and with a number of its own.
struct Packets {
    keys: Box<dyn PacketProtection>,
    /// What each packet is before it is sealed; the number in its header is zero.
    plain: Vec<u8>,
    /// One after another.
    packets: Vec<u8>,
    count: u64,
}

impl Packets {
    fn new(keys: Box<dyn PacketProtection>, size: u32) -> Self {
        let mut plain = HEADER.to_vec();
        plain.extend((HEADER.len() as u32..size).map(|i| (i * 31 % 251) as u8));
        Self {
            keys,
            packets: plain.repeat(packets(size)),
            plain,
            count: 0,
        }
    }

    /// Seals and opens every packet; returns the time of both.
    fn run(&mut self) -> Result<[Duration; 2]> {
        let first = self.count;
        let size = self.plain.len();
        let mut laps = Laps::start();
        for (packet, number) in self.packets.chunks_exact_mut(size).zip(first..) {
            let shown = &number.to_be_bytes()[8 - LONGEST_NUMBER..];
            packet[NUMBER..HEADER.len()].copy_from_slice(shown);
            seal(&mut *self.keys, number, NUMBER, packet)?;
        }
        let sealing = laps.lap();
        for (packet, number) in self.packets.chunks_exact_mut(size).zip(first..) {
            open(&mut *self.keys, number, NUMBER, packet)?;
        }
        let opening = laps.lap();
        self.count += (self.packets.len() / size) as u64;
        Ok([sealing, opening])
    }

    fn check(&self) -> Result<()> {
        let payload = HEADER.len()..self.plain.len() - TAG;
        for packet in self.packets.chunks_exact(self.plain.len()) {
            ensure!(
                packet[..NUMBER] == self.plain[..NUMBER]
                    && packet[payload.clone()] == self.plain[payload.clone()],
                "what was opened is not what was sealed"
            );
        }
        Ok(())
    }
}

/// Packets of a batch.
fn packets(size: u32) -> usize {
    (BATCH_BYTES / size).max(1) as usize
}

/// Proves that packets are protected as a published packet is, and that a changed packet is
/// rejected.
fn prove(keys: impl Fn() -> Result<Box<dyn PacketProtection>>, scenario: &Scenario) -> Result<()> {
    let (suite, size) = stated(scenario)?;
    let vector = vectors::vector(suite)?;
    let plain = [&vector.header[..], &vector.payload, &[0; TAG]].concat();
    let mut packet = plain.clone();
    seal(&mut *keys()?, vector.number, vector.offset, &mut packet)?;
    ensure!(
        packet == vector.packet,
        "protected the known packet of {suite} wrongly"
    );
    let header = open(&mut *keys()?, vector.number, vector.offset, &mut packet)?;
    ensure!(
        header == vector.header.len() && packet[..packet.len() - TAG] == plain[..plain.len() - TAG],
        "opened the known packet of {suite} wrongly"
    );
    prove_rejection(keys, suite, size)
}

/// Proves that a packet is rejected of which any part was changed.
fn prove_rejection(
    keys: impl Fn() -> Result<Box<dyn PacketProtection>>,
    suite: CipherSuite,
    size: u32,
) -> Result<()> {
    let mut sealed = vec![0x11; size as usize];
    sealed[..HEADER.len()].copy_from_slice(&HEADER);
    seal(&mut *keys()?, 0, NUMBER, &mut sealed)?;
    let last = sealed.len() - 1;
    for (position, what) in [
        (0, "first byte"),
        (1, "connection id"),
        (NUMBER, "packet number"),
        (HEADER.len(), "payload"),
        (last, "tag"),
    ] {
        let mut packet = sealed.clone();
        packet[position] ^= 1;
        if open(&mut *keys()?, 0, NUMBER, &mut packet).is_ok() {
            bail!("{suite}: opened a packet with another {what}");
        }
    }
    Ok(())
}

pub struct QuicPackets;

impl Timed for QuicPackets {
    const SIDES: &'static [Option<Side>] = &[Some(Side::Sender), Some(Side::Receiver)];
    const COUNTABLE: bool = false;

    type Shared<L: TlsLibrary> = ();

    fn work(scenario: &Scenario) -> Result<Work> {
        let (_, size) = stated(scenario)?;
        Ok(Work {
            operations: packets(size) as u64,
            amount: 1.0,
            quantity: Quantity::Packets,
        })
    }

    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<()> {
        match target.checked {
            true => prove(|| keys(target), target.scenario),
            false => Ok(()),
        }
    }

    fn run<L: TlsLibrary, R>(
        target: &Target<'_, L>,
        (): &(),
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        let (_, size) = stated(target.scenario)?;
        let mut packets = Packets::new(keys(target)?, size);
        driver(&mut |tally| {
            let times = packets.run()?;
            if target.checked {
                packets.check()?;
            }
            tally.add(times.map(|time| [(Phase::Total, time)]))
        })
    }
}

/// The library's protection with the keys of the known packet.
fn keys<L: TlsLibrary>(target: &Target<'_, L>) -> Result<Box<dyn PacketProtection>> {
    let (suite, _) = stated(target.scenario)?;
    let keys = vectors::vector(suite)?.keys;
    target.library.packet_protection(suite, &keys)
}

#[cfg(test)]
mod tests;
