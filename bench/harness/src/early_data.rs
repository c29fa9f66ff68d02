//! Early data (0-RTT) of a resumed handshake: what the client sends, what the server received, and
//! the proof that the server accepted it.

use anyhow::{Result, ensure};

use crate::{scenario::CipherSuite, transport::Transport, wire};

/// Bytes of early data in each handshake. They fit into one record and into one segment of TCP.
pub const BYTES: usize = 1024;

/// Bytes of a handshake message before its body.
const HEADER: usize = 4;

/// The early data of one handshake after the other; belongs to one thread.
pub struct EarlyData {
    sent: [u8; BYTES],
    received: [u8; BYTES],
    /// How many bytes the server reported.
    length: usize,
    number: u64,
}

impl Default for EarlyData {
    fn default() -> Self {
        Self {
            sent: std::array::from_fn(|i| (i % 251) as u8 + 1),
            received: [0; BYTES],
            length: 0,
            number: 0,
        }
    }
}

impl EarlyData {
    /// Prepares the next handshake. Its data differs from that of all others at both ends, so that
    /// old bytes in a buffer are not taken for it.
    pub fn renew(&mut self) {
        self.number += 1;
        let number = self.number.to_be_bytes();
        self.sent[..number.len()].copy_from_slice(&number);
        self.sent[BYTES - number.len()..].copy_from_slice(&number);
        self.received.fill(0);
        self.length = 0;
    }

    pub fn to_send(&self) -> &[u8] {
        &self.sent
    }

    pub fn receive(&mut self, read: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<()> {
        self.length = read(&mut self.received)?;
        Ok(())
    }

    /// Checks that the server received exactly what was sent, and that it accepted it.
    pub fn check(&self, transport: &Transport, suite: CipherSuite) -> Result<()> {
        ensure!(
            self.length == BYTES,
            "early data: the server received {} bytes, expected {BYTES}",
            self.length
        );
        ensure!(
            self.received == self.sent,
            "early data: the server received other bytes than were sent"
        );
        transport.sent_by_client(|sent| check_wire(sent, suite))
    }
}

/// Checks that a client offered early data, and sent it and then EndOfEarlyData. A client sends this
/// message only if the server accepted its early data (RFC 8446, 4.5).
fn check_wire(client: &[u8], suite: CipherSuite) -> Result<()> {
    ensure!(
        wire::offers_early_data(client)?,
        "early data on the wire: found no extension early_data in the ClientHello, expected one"
    );
    let finished = HEADER + suite.hash_bytes();
    let expected = BYTES + HEADER + finished;
    let found = wire::encrypted_bytes(client)?;
    ensure!(
        found == expected,
        "early data on the wire: the client encrypted {found} bytes, expected {expected}: {BYTES} of \
         early data, EndOfEarlyData and Finished"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(content: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u16::try_from(bytes.len()).unwrap().to_be_bytes();
        [&[content, 3, 3][..], &length, bytes].concat()
    }

    /// What a client sends with these extensions, and with encrypted records of these sizes.
    fn client(extensions: &[u8], encrypted: &[usize]) -> Vec<u8> {
        let body = [
            &[3, 3][..],
            &[7; 32],
            &[0, 0, 2, 0x13, 0x02, 1, 0],
            &u16::try_from(extensions.len()).unwrap().to_be_bytes(),
            extensions,
        ]
        .concat();
        let length = u16::try_from(body.len()).unwrap().to_be_bytes();
        let mut sent = record(22, &[&[1, 0][..], &length, &body].concat());
        sent.extend(record(20, &[1]));
        for size in encrypted {
            sent.extend(record(23, &vec![0xaa; size + 17]));
        }
        sent
    }

    const OFFERED: [u8; 4] = [0, 42, 0, 0];

    fn found(sent: &[u8], suite: CipherSuite) -> String {
        check_wire(sent, suite).unwrap_err().to_string()
    }

    #[test]
    fn accepted_early_data_is_followed_by_its_end() {
        for (suite, finished) in [
            (CipherSuite::Aes256Gcm, 52),
            (CipherSuite::Aes128Gcm, 36),
            (CipherSuite::ChaCha20Poly1305, 36),
        ] {
            check_wire(&client(&OFFERED, &[BYTES, 4, finished]), suite).unwrap();
            check_wire(&client(&OFFERED, &[BYTES, 4 + finished]), suite).unwrap();
            // Rejected early data: no EndOfEarlyData.
            let rejected = client(&OFFERED, &[BYTES, finished]);
            let expected = BYTES + 4 + finished;
            assert_eq!(
                found(&rejected, suite),
                format!(
                    "early data on the wire: the client encrypted {} bytes, expected {expected}: \
                     1024 of early data, EndOfEarlyData and Finished",
                    expected - 4
                )
            );
        }
    }

    #[test]
    fn early_data_that_was_not_sent_is_noticed() {
        let suite = CipherSuite::Aes256Gcm;
        let not_offered = client(&[0, 43, 0, 0], &[BYTES, 4, 52]);
        assert!(found(&not_offered, suite).contains("found no extension early_data"));
        let offered_only = client(&OFFERED, &[4, 52]);
        assert!(found(&offered_only, suite).contains("encrypted 56 bytes, expected 1080"));
    }

    #[test]
    fn the_server_must_receive_exactly_the_bytes_of_this_handshake() {
        let suite = CipherSuite::Aes256Gcm;
        let transport = Transport::new(4096);
        assert!(transport.client.send(&client(&OFFERED, &[BYTES, 4, 52])));
        let mut early = EarlyData::default();
        early.renew();
        let sent = early.to_send().to_vec();
        let received = |early: &mut EarlyData, bytes: &[u8]| {
            early
                .receive(|buffer| {
                    buffer[..bytes.len()].copy_from_slice(bytes);
                    Ok(bytes.len())
                })
                .unwrap();
            early.check(&transport, suite)
        };
        received(&mut early, &sent).unwrap();
        let error = |result: Result<()>| result.unwrap_err().to_string();
        assert_eq!(
            error(received(&mut early, &sent[..1023])),
            "early data: the server received 1023 bytes, expected 1024"
        );
        let other = "early data: the server received other bytes than were sent";
        let mut changed = sent.clone();
        changed[500] ^= 1;
        assert_eq!(error(received(&mut early, &changed)), other);
        early.renew();
        assert_eq!(error(received(&mut early, &sent)), other);
        early.renew();
        early.receive(|_| Ok(BYTES)).unwrap();
        assert_eq!(error(early.check(&transport, suite)), other);
        early.renew();
        assert!(error(early.check(&transport, suite)).contains("received 0 bytes"));
    }
}
