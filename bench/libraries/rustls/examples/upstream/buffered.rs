//! Transfers by rustls' connections without the harness.

use std::{
    io::{BufRead, ErrorKind, Read, Write},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Result, bail, ensure};
use pki_types::ServerName;
use rustls::{ClientConnection, ServerConnection};
use tls_harness::{
    library::{Setup, TlsLibrary},
    scenario::Scenario,
};
use tls_rustls::Rustls;

use crate::{Times, data};

/// The differences between two kinds of transfer.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Whether the sender's copies to the wire are timed.
    wire_is_timed: bool,
    /// Bytes of ciphertext per copy.
    wire: usize,
    /// Whether plaintext is copied into a zeroed buffer of 16 KiB or read in place.
    copied: bool,
    /// Whether the sent memory was written before.
    source_is_written: bool,
    /// Whether the clock is read around each received piece.
    clock: bool,
}

const FIRST: Shape = Shape {
    wire_is_timed: true,
    wire: 2 << 20,
    copied: false,
    source_is_written: true,
    clock: false,
};

const UNTIMED: Shape = Shape {
    wire_is_timed: false,
    ..FIRST
};

const COPIED: Shape = Shape {
    copied: true,
    ..UNTIMED
};

const SMALL: Shape = Shape {
    wire: 256 << 10,
    ..COPIED
};

const ZEROES: Shape = Shape {
    source_is_written: false,
    ..SMALL
};

pub const SHAPES: [(&str, Shape); 6] = [
    ("all records are buffered before the first is sent", FIRST),
    ("copy to the wire: not timed", UNTIMED),
    (
        "destination: a zeroed buffer of 16 KiB for each read",
        COPIED,
    ),
    ("wire: a buffer of 256 KiB, used again", SMALL),
    ("source: zeroes that were never written, one page", ZEROES),
    (
        "clock: read twice for each piece received",
        Shape {
            clock: true,
            ..ZEROES
        },
    ),
];

/// A connection of each role.
pub struct ByHand {
    client: ClientConnection,
    server: ServerConnection,
    data: &'static [u8],
    wire: Vec<u8>,
    shape: Shape,
}

impl ByHand {
    pub fn new(library: &Rustls, scenario: &Scenario, shape: Shape) -> Result<Self> {
        let client = library.client_config(&Setup::client(scenario)?)?;
        let name = ServerName::try_from(client.host_name)?;
        let mut client = ClientConnection::new(Arc::clone(&client.config), name)?;
        let server = library.server_config(&Setup::server(scenario)?)?;
        let mut server = ServerConnection::new(server)?;
        client.set_buffer_limit(None);
        server.set_buffer_limit(None);
        while client.is_handshaking() || server.is_handshaking() {
            let mut bytes = Vec::new();
            while client.wants_write() {
                client.write_tls(&mut bytes)?;
            }
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                server.read_tls(&mut rest)?;
                server.process_new_packets()?;
            }
            bytes.clear();
            while server.wants_write() {
                server.write_tls(&mut bytes)?;
            }
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                client.read_tls(&mut rest)?;
                client.process_new_packets()?;
            }
        }
        Ok(Self {
            client,
            server,
            data: data(shape.source_is_written),
            wire: vec![0xff; shape.wire],
            shape,
        })
    }

    /// Transfers one write, and returns the times of both roles.
    pub fn transfer(&mut self) -> Result<Times> {
        let start = Instant::now();
        self.server.writer().write_all(self.data)?;
        let mut sender = start.elapsed();
        let (mut receiver, mut received) = (Duration::ZERO, 0);
        loop {
            let start = Instant::now();
            let mut length = 0;
            while self.server.wants_write() {
                let written = self.server.write_tls(&mut &mut self.wire[length..])?;
                if written == 0 {
                    break;
                }
                length += written;
            }
            if self.shape.wire_is_timed {
                sender += start.elapsed();
            }
            if length == 0 {
                break;
            }
            let mut rest = &self.wire[..length];
            let mut start = Instant::now();
            while !rest.is_empty() {
                self.client.read_tls(&mut rest)?;
                self.client.process_new_packets()?;
                received += take(&mut self.client, self.shape.copied)?;
                if self.shape.clock {
                    receiver += start.elapsed();
                    start = Instant::now();
                }
            }
            receiver += start.elapsed();
        }
        ensure!(
            received == self.data.len(),
            "received {received} bytes, expected {}",
            self.data.len()
        );
        Ok([sender, receiver])
    }
}

/// Reads all available plaintext, and returns its length.
fn take(client: &mut ClientConnection, copied: bool) -> Result<usize> {
    let mut received = 0;
    loop {
        let mut reader = client.reader();
        let read = match copied {
            true => reader.read(&mut [0; 16 << 10]),
            false => reader.fill_buf().map(<[u8]>::len),
        };
        match read {
            Ok(0) => bail!("the peer closed the connection"),
            Ok(length) => {
                if !copied {
                    reader.consume(length);
                }
                received += length;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(received),
            Err(error) => return Err(error.into()),
        }
    }
}
