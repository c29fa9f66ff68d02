//! A toy whose operations are known: how many a batch has, which of them are timed, and what is noticed.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
    thread::sleep,
};

use super::*;
use crate::scenario::Operation;

/// What one packet takes, if it is slow.
const PAUSE: Duration = Duration::from_millis(1);

/// One operation is slow, and one part of a packet is not authenticated.
#[derive(Clone, Default)]
struct Toy {
    slow: &'static str,
    unchecked: &'static str,
    /// The numbers of the packets that were sealed.
    sealed: Arc<Mutex<Vec<u64>>>,
    /// How many headers were protected, and how many are no longer.
    headers: Arc<Mutex<[usize; 2]>>,
}

impl Toy {
    fn does(&self, operation: &str) {
        if operation == self.slow {
            sleep(PAUSE);
        }
    }

    /// A tag with a sum of each part.
    fn tag(&self, number: u64, header: &[u8], data: &[u8]) -> [u8; TAG] {
        let mut tag = [7; TAG];
        let number = number.to_be_bytes();
        let parts = [
            ("first byte", &header[..1]),
            ("connection id", &header[1..NUMBER]),
            ("packet number", &number),
            ("payload", data),
        ];
        for (place, (part, bytes)) in parts.into_iter().enumerate() {
            let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            tag[place] = if part == self.unchecked { 0 } else { sum };
        }
        tag
    }
}

impl PacketProtection for Toy {
    fn seal(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        self.does("seal");
        self.sealed.lock().unwrap().push(number);
        let (data, tag) = payload.split_at_mut(payload.len() - TAG);
        tag.copy_from_slice(&self.tag(number, header, data));
        Ok(())
    }

    fn open(&mut self, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
        self.does("open");
        let (data, tag) = payload.split_at(payload.len() - TAG);
        let compared = TAG - usize::from(self.unchecked == "tag");
        let expected = self.tag(number, header, data);
        ensure!(tag[..compared] == expected[..compared], "changed");
        Ok(())
    }

    fn protect(&mut self, _: &[u8; SAMPLE], _: &mut u8, _: &mut [u8; 4]) -> Result<()> {
        self.does("protect");
        self.headers.lock().unwrap()[0] += 1;
        Ok(())
    }

    fn unprotect(&mut self, _: &[u8; SAMPLE], _: &mut u8, _: &mut [u8; 4]) -> Result<()> {
        self.does("unprotect");
        self.headers.lock().unwrap()[1] += 1;
        Ok(())
    }
}

#[test]
fn each_packet_of_a_batch_has_a_number_of_its_own_and_is_timed_where_it_is_sealed_and_opened() {
    let scenario: Scenario = serde_json::from_value(serde_json::json!({
        "operation": "quic-packet", "cipher_suite": "TLS_AES_128_GCM_SHA256", "size": 8192,
    }))
    .unwrap();
    assert_eq!(scenario.operation, Operation::QuicPacket);
    assert_eq!(QuicPackets::work(&scenario).unwrap().operations, 8);
    for (slow, index) in [("seal", 0), ("protect", 0), ("open", 1), ("unprotect", 1)] {
        let toy = Toy {
            slow,
            ..Toy::default()
        };
        let mut packets = Packets::new(Box::new(toy.clone()), 8192);
        let times = [(); 3].map(|()| packets.run().unwrap());
        let sealed = toy.sealed.lock().unwrap();
        assert_eq!(sealed.len(), 3 * 8);
        assert_eq!(
            sealed.iter().collect::<HashSet<_>>().len(),
            3 * 8,
            "{sealed:?}"
        );
        assert_eq!(*toy.headers.lock().unwrap(), [3 * 8; 2]);
        // On a busy host a batch may take longer, but not each of them.
        let least = |of: usize| times.iter().map(|it| it[of]).min().unwrap();
        let found = (least(index) >= 8 * PAUSE, least(1 - index) >= 8 * PAUSE);
        assert_eq!(found, (true, false), "{slow}: {times:?}");
    }
}

#[test]
fn a_part_of_a_packet_that_is_not_authenticated_is_noticed() {
    let proof = |unchecked| {
        let toy = Toy {
            unchecked,
            ..Toy::default()
        };
        prove_rejection(|| Ok(Box::new(toy.clone())), CipherSuite::Aes128Gcm, 1200)
    };
    proof("nothing").unwrap();
    for part in ["connection id", "packet number", "payload", "tag"] {
        let error = proof(part).unwrap_err().to_string();
        assert!(error.ends_with(part), "{part}: {error}");
    }
}
