//! Transfers by rustls' unbuffered connections without the harness. Plaintext is read where it was
//! decrypted. The clock is read around the whole write and around all that is received, as in the
//! harness and in rustls' bench.

use std::{mem, sync::Arc, time::Instant};

use anyhow::{Context, Result, bail, ensure};
use pki_types::ServerName;
use rustls::{
    client::UnbufferedClientConnection,
    server::UnbufferedServerConnection,
    unbuffered::{ConnectionState, UnbufferedStatus},
};
use tls_harness::{
    library::{Setup, TlsLibrary},
    scenario::Scenario,
};
use tls_rustls::{Rustls, unbuffered::Process};

use crate::{THEIRS, Times, data};

/// More bytes than the ciphertext of a write.
const CIPHERTEXT: usize = THEIRS + (16 << 10);

/// Bytes of a record's header; the last two contain the length of the record.
const HEADER: usize = 5;

/// The differences between two kinds of transfer.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Whether the sender copies ciphertext to the wire.
    sent_by_copy: bool,
    /// Whether the receiver copies each record from the wire or decrypts it there.
    received_by_copy: bool,
    /// Whether the sent memory was written before.
    source_is_written: bool,
    /// Whether the sender alternates between two buffers of ciphertext.
    two_buffers: bool,
}

const FIRST: Shape = Shape {
    sent_by_copy: true,
    received_by_copy: true,
    source_is_written: true,
    two_buffers: false,
};

const UNSENT: Shape = Shape {
    sent_by_copy: false,
    ..FIRST
};

const IN_PLACE: Shape = Shape {
    received_by_copy: false,
    ..UNSENT
};

const ZEROES: Shape = Shape {
    source_is_written: false,
    ..IN_PLACE
};

pub const SHAPES: [(&str, Shape); 5] = [
    ("all records are encrypted before the first is sent", FIRST),
    ("copy to the wire: not made", UNSENT),
    (
        "copy from the wire: not made, decrypted where it was encrypted",
        IN_PLACE,
    ),
    ("source: zeroes that were never written, one page", ZEROES),
    (
        "ciphertext: two buffers in turn",
        Shape {
            two_buffers: true,
            ..ZEROES
        },
    ),
];

/// A connection of each role.
pub struct ByHand {
    client: UnbufferedClientConnection,
    server: UnbufferedServerConnection,
    data: &'static [u8],
    ciphertext: Vec<u8>,
    other: Vec<u8>,
    wire: Vec<u8>,
    record: Vec<u8>,
    shape: Shape,
}

impl ByHand {
    pub fn new(library: &Rustls, scenario: &Scenario, shape: Shape) -> Result<Self> {
        let client = library.client_config(&Setup::client(scenario)?)?;
        let name = ServerName::try_from(client.host_name)?;
        let mut client = UnbufferedClientConnection::new(Arc::clone(&client.config), name)?;
        let server = library.server_config(&Setup::server(scenario)?)?;
        let mut server = UnbufferedServerConnection::new(server)?;
        let (mut to_client, mut to_server) = (Vec::new(), Vec::new());
        loop {
            advance(&mut client, &mut to_client, &mut to_server)?;
            advance(&mut server, &mut to_server, &mut to_client)?;
            if to_client.is_empty() && to_server.is_empty() {
                break;
            }
        }
        Ok(Self {
            client,
            server,
            data: data(shape.source_is_written),
            ciphertext: vec![0xff; CIPHERTEXT],
            other: vec![0xff; CIPHERTEXT],
            wire: vec![0xff; CIPHERTEXT],
            record: vec![0xff; CIPHERTEXT],
            shape,
        })
    }

    /// Transfers one write, and returns the times of both roles.
    pub fn transfer(&mut self) -> Result<Times> {
        let start = Instant::now();
        let status = self.server.process_tls_records(&mut []);
        let ConnectionState::WriteTraffic(mut traffic) = status.state? else {
            bail!("the server is not ready to send");
        };
        let length = traffic.encrypt(self.data, &mut self.ciphertext)?;
        if self.shape.sent_by_copy {
            self.wire[..length].copy_from_slice(&self.ciphertext[..length]);
        }
        let sender = start.elapsed();
        let start = Instant::now();
        let sent = match self.shape.sent_by_copy {
            true => &mut self.wire[..length],
            false => &mut self.ciphertext[..length],
        };
        let mut received = 0;
        if self.shape.received_by_copy {
            let mut rest = &*sent;
            while let Some(&[high, low]) = rest.get(HEADER - 2..HEADER) {
                let length = HEADER + usize::from(u16::from_be_bytes([high, low]));
                let (record, after) = rest.split_at_checked(length).context("a cut record")?;
                self.record[..length].copy_from_slice(record);
                received += receive(&mut self.client, &mut self.record[..length])?;
                rest = after;
            }
        } else {
            received = receive(&mut self.client, sent)?;
        }
        let receiver = start.elapsed();
        if self.shape.two_buffers {
            mem::swap(&mut self.ciphertext, &mut self.other);
        }
        ensure!(
            received == self.data.len(),
            "received {received} bytes, expected {}",
            self.data.len()
        );
        Ok([sender, receiver])
    }
}

/// Decrypts whole records in place, and returns the length of their plaintext.
fn receive(client: &mut UnbufferedClientConnection, incoming: &mut [u8]) -> Result<usize> {
    let (mut used, mut received) = (0, 0);
    while used < incoming.len() {
        let UnbufferedStatus { discard, state } = client.process_tls_records(&mut incoming[used..]);
        used += discard;
        let ConnectionState::ReadTraffic(mut traffic) = state? else {
            bail!("no record of data");
        };
        let record = traffic.next_record().context("no record of data")??;
        used += record.discard;
        received += record.payload.len();
    }
    Ok(received)
}

/// Processes the received bytes, and appends the response to `outgoing`.
fn advance<C>(connection: &mut C, incoming: &mut Vec<u8>, outgoing: &mut Vec<u8>) -> Result<()>
where
    C: Process + std::ops::DerefMut<Target = Common<C>>,
{
    loop {
        let UnbufferedStatus { discard, state } = C::process(connection, incoming);
        let waits = match state? {
            ConnectionState::EncodeTlsData(mut data) => {
                let mut bytes = vec![0; CIPHERTEXT];
                let length = data.encode(&mut bytes)?;
                outgoing.extend_from_slice(&bytes[..length]);
                false
            }
            ConnectionState::TransmitTlsData(data) => {
                data.done();
                false
            }
            ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_) => true,
            other => bail!("{other:?} is not a state of a handshake"),
        };
        incoming.drain(..discard);
        if waits && (discard == 0 || incoming.is_empty()) {
            return Ok(());
        }
    }
}

/// The state that connections of both roles have in common.
type Common<C> = rustls::unbuffered::UnbufferedConnectionCommon<<C as Process>::Data>;
