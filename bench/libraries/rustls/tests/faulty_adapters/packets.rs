//! Packet protection that is wrong on purpose: the driver measures none of it.

use anyhow::Result;
use tls_harness::{
    block,
    library::{
        TlsLibrary,
        packets::{LONGEST_NUMBER, PacketKeys, PacketProtection, SAMPLE, TAG},
    },
    record::Record,
    request::Request,
    scenario::CipherSuite,
};
use tls_rustls::Rustls;

use super::noticed;

#[derive(Clone, Copy, PartialEq)]
pub enum Fault {
    None,
    /// Changes a byte of the ciphertext.
    OtherByte,
    /// Changes a byte of the tag.
    OtherTag,
    /// Leaves the packet number unprotected.
    PlainNumber,
    /// Leaves the first byte unprotected.
    PlainFirst,
    /// Uses the IV with another packet number, in both directions.
    OtherNumber,
    /// Authenticates no header, in both directions.
    NoHeader,
    /// Opens any packet, whether its tag matches or not.
    Unauthenticated,
    /// Opens known packets only.
    OtherPayload,
}

struct Faulty {
    correct: Box<dyn PacketProtection>,
    fault: Fault,
}

/// The protection of rustls with ring, with a fault.
pub fn protection(
    fault: Fault,
    suite: CipherSuite,
    keys: &PacketKeys,
) -> Result<Box<dyn PacketProtection>> {
    let correct = Rustls::ring().packet_protection(suite, keys)?;
    Ok(Box::new(Faulty { correct, fault }))
}

impl Faulty {
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

impl PacketProtection for Faulty {
    fn seal(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        let (number, header) = (self.number(number), self.header(header));
        self.correct.seal(number, header, payload)?;
        let tag = payload.len() - TAG;
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

const MEASURED: usize = 1452;
const HEADER: usize = 13;

fn measured(fault: Fault, suite: &str) -> Result<Vec<Record>> {
    let faulty = super::FaultyAdapter {
        packets: fault,
        ..super::FaultyAdapter::new(super::Fault::None)
    };
    let request: Request = serde_json::from_value(serde_json::json!({
        "schema": 1, "round": 1, "block": 0, "implementation": "test-1.0",
        "scenario": {"operation": "quic-packet", "cipher_suite": suite, "size": MEASURED},
        "measure_seconds": 0.001, "warmup_seconds": 0.0,
    }))?;
    block::measure(&faulty, &request)
}

const SUITES: [&str; 3] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
];

#[test]
fn correct_packets_pass() {
    for suite in SUITES {
        // Two overheads, two measurements and the mark.
        assert_eq!(measured(Fault::None, suite).unwrap().len(), 5, "{suite}");
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
            noticed(measured(fault, suite).map(drop), expected);
        }
    }
}
