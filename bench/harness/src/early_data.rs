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
    use crate::wire::tests::{client_hello, message, record};

    /// What a client sends with early data, its end and Finished of AES-256-GCM, and this extension.
    fn client(extension: u8) -> Vec<u8> {
        let hello = record(22, &message(1, &client_hello(&[0, extension, 0, 0])));
        let encrypted = [BYTES, 4, 52].map(|size| record(23, &vec![0xaa; size + 17]));
        [hello, encrypted.concat()].concat()
    }

    #[test]
    fn early_data_that_was_not_offered_is_noticed() {
        check_wire(&client(42), CipherSuite::Aes256Gcm).unwrap();
        let error = check_wire(&client(43), CipherSuite::Aes256Gcm).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("found no extension early_data"), "{error}");
    }

    #[test]
    fn the_server_must_receive_exactly_the_bytes_of_this_handshake() {
        let transport = Transport::new(4096);
        assert!(transport.client.send(&client(42)));
        let mut early = EarlyData::default();
        early.renew();
        let sent = early.to_send().to_vec();
        let received = |early: &mut EarlyData| {
            let read = |buffer: &mut [u8]| {
                buffer.copy_from_slice(&sent);
                Ok(buffer.len())
            };
            early.receive(read).unwrap();
            early.check(&transport, CipherSuite::Aes256Gcm)
        };
        received(&mut early).unwrap();
        // What came before is still in the buffers.
        early.renew();
        let error = received(&mut early).unwrap_err().to_string();
        let other = "early data: the server received other bytes than were sent";
        assert_eq!(error, other);
        early.renew();
        let unread = early.check(&transport, CipherSuite::Aes256Gcm);
        assert!(unread.unwrap_err().to_string().contains("received 0 bytes"));
    }
}
