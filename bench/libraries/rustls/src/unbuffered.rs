//! Adapter for the unbuffered API of rustls: the connection has no buffers of its own, and the
//! caller provides those for encoding and decoding.

use std::{any::Any, ops::DerefMut, sync::Arc};

use anyhow::{Context, Result, bail, ensure};
use pki_types::ServerName;
use rustls::{
    ServerConfig,
    client::{ClientConnectionData, UnbufferedClientConnection},
    server::{ServerConnectionData, UnbufferedServerConnection},
    unbuffered::{
        ConnectionState, EncodeError, EncryptError, InsufficientSizeError,
        UnbufferedConnectionCommon, UnbufferedStatus,
    },
};
use tls_harness::{
    implementation::Implementation,
    library::{
        Connection, Negotiated, Progress, Setup, TlsLibrary,
        packets::{PacketKeys, PacketProtection},
        primitives::Cryptography,
    },
    scenario::{CipherSuite, Scenario, Variant},
    transport::Endpoint,
};

use crate::{
    Client, Rustls,
    v0_23::{Role, negotiated},
};

const LEAST_BUFFER: usize = 4096;

/// Largest record on the wire: header, 16 KiB, and the largest expansion that TLS 1.2 allows (RFC
/// 5246, 6.2.3).
const LARGEST_RECORD: usize = 5 + (1 << 14) + 2048;

/// Plaintext bytes per encryption: the size of the buffers in the buffered API.
const MOST_PLAINTEXT: usize = 64 * 1024;

/// rustls with one provider, through the unbuffered API.
pub struct Unbuffered(pub Rustls);

impl TlsLibrary for Unbuffered {
    type ClientConfig = Client;
    type ServerConfig = Arc<ServerConfig>;
    type Client<'a> = UnbufferedConnection<'a, UnbufferedClientConnection>;
    type Server<'a> = UnbufferedConnection<'a, UnbufferedServerConnection>;

    fn implementation(&self) -> Result<Implementation> {
        Ok(Implementation {
            note: Some("Driven by the unbuffered API.".into()),
            ..self.0.implementation()?.with_build("unbuffered")
        })
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        let early = scenario.variant == Some(Variant::EarlyData);
        let reason = || "this adapter sends no early data by the unbuffered API".into();
        let own = self.0.unsupported(scenario);
        own.or_else(|| early.then(reason))
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        self.0.cryptography()
    }

    fn packet_protection(
        &self,
        suite: CipherSuite,
        keys: &PacketKeys,
    ) -> Result<Box<dyn PacketProtection>> {
        self.0.packet_protection(suite, keys)
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        self.0.anchors(pem)
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        self.0.private_key(pem)
    }

    fn client_config(&self, setup: &Setup) -> Result<Client> {
        self.0.client_config(setup)
    }

    fn server_config(&self, setup: &Setup) -> Result<Arc<ServerConfig>> {
        self.0.server_config(setup)
    }

    fn connect<'a>(&self, client: &'a Client, endpoint: &'a Endpoint) -> Result<Self::Client<'a>> {
        let name = ServerName::try_from(client.host_name)?;
        let connection = UnbufferedClientConnection::new(Arc::clone(&client.config), name)?;
        Ok(UnbufferedConnection::new(connection, endpoint))
    }

    fn accept<'a>(
        &self,
        config: &'a Arc<ServerConfig>,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        let connection = UnbufferedServerConnection::new(Arc::clone(config))?;
        Ok(UnbufferedConnection::new(connection, endpoint))
    }
}

/// A function that the connections of both roles have, but that no trait of rustls declares.
pub trait Process {
    type Data;

    fn process<'c, 'i>(
        connection: &'c mut UnbufferedConnectionCommon<Self::Data>,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data>;
}

impl Process for UnbufferedClientConnection {
    type Data = ClientConnectionData;

    fn process<'c, 'i>(
        connection: &'c mut UnbufferedConnectionCommon<Self::Data>,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data> {
        connection.process_tls_records(incoming)
    }
}

impl Process for UnbufferedServerConnection {
    type Data = ServerConnectionData;

    fn process<'c, 'i>(
        connection: &'c mut UnbufferedConnectionCommon<Self::Data>,
        incoming: &'i mut [u8],
    ) -> UnbufferedStatus<'c, 'i, Self::Data> {
        connection.process_tls_records(incoming)
    }
}

impl Role for UnbufferedClientConnection {
    fn tickets(&self) -> u32 {
        self.tls13_tickets_received()
    }
}

impl Role for UnbufferedServerConnection {
    fn tickets(&self) -> u32 {
        0
    }
}

/// Received bytes that are not yet processed.
#[derive(Default)]
struct Incoming {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
}

impl Incoming {
    fn arrived(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.end]
    }

    /// Reads waiting bytes from the transport, as many as fit; returns false if there are none.
    fn fill(&mut self, endpoint: &Endpoint) -> Result<bool> {
        if !endpoint.has_arrived() {
            return Ok(false);
        }
        self.bytes.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.bytes.len() {
            let size = (2 * self.end).clamp(LEAST_BUFFER, 4 * LARGEST_RECORD);
            ensure!(
                size > self.end,
                "{size} bytes do not contain a whole message"
            );
            self.bytes.resize(size, 0);
        }
        // Reading one record at a time keeps it in the first-level cache until it is decrypted.
        let most = self.bytes.len().min(self.end + LARGEST_RECORD);
        let received = endpoint.receive(&mut self.bytes[self.end..most]);
        self.end += received;
        // A socket that was readable may be empty.
        Ok(received > 0)
    }
}

#[derive(Default)]
struct Outgoing {
    bytes: Vec<u8>,
    end: usize,
}

impl Outgoing {
    /// Calls `write` to append bytes, and again with a larger buffer if it needs one.
    fn append<E>(
        &mut self,
        mut write: impl FnMut(&mut [u8]) -> Result<usize, E>,
        more: impl Fn(&E) -> Option<usize>,
    ) -> Result<()>
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        loop {
            match write(&mut self.bytes[self.end..]) {
                Ok(written) => {
                    self.end += written;
                    return Ok(());
                }
                Err(error) => {
                    let room = more(&error).ok_or(error)?;
                    self.bytes.resize((self.end + room).max(LEAST_BUFFER), 0);
                }
            }
        }
    }

    fn flush(&mut self, endpoint: &Endpoint) -> Result<()> {
        ensure!(
            endpoint.send(&self.bytes[..self.end]),
            "the transport's buffer is full"
        );
        self.end = 0;
        Ok(())
    }
}

fn room_to_encode(error: &EncodeError) -> Option<usize> {
    match error {
        EncodeError::InsufficientSize(InsufficientSizeError { required_size }) => {
            Some(*required_size)
        }
        EncodeError::AlreadyEncoded => None,
    }
}

fn room_to_encrypt(error: &EncryptError) -> Option<usize> {
    match error {
        EncryptError::InsufficientSize(InsufficientSizeError { required_size }) => {
            Some(*required_size)
        }
        EncryptError::EncryptExhausted => None,
    }
}

/// A connection of either role with its buffers and its endpoint of the transport.
pub struct UnbufferedConnection<'a, C> {
    connection: C,
    endpoint: &'a Endpoint,
    incoming: Incoming,
    outgoing: Outgoing,
    /// Data that arrived with the end of the handshake.
    early: Vec<u8>,
    is_closing: bool,
}

impl<'a, C> UnbufferedConnection<'a, C>
where
    C: Process + DerefMut<Target = UnbufferedConnectionCommon<<C as Process>::Data>>,
{
    fn new(connection: C, endpoint: &'a Endpoint) -> Self {
        Self {
            connection,
            endpoint,
            incoming: Incoming::default(),
            outgoing: Outgoing::default(),
            early: Vec::new(),
            is_closing: false,
        }
    }

    /// Processes handshake messages and sends the responses, until no received bytes are left.
    fn advance(&mut self) -> Result<()> {
        loop {
            let UnbufferedStatus { mut discard, state } =
                C::process(&mut self.connection, self.incoming.arrived());
            let mut waits = false;
            match state? {
                ConnectionState::EncodeTlsData(mut data) => self
                    .outgoing
                    .append(|room| data.encode(room), room_to_encode)?,
                ConnectionState::TransmitTlsData(data) => {
                    self.outgoing.flush(self.endpoint)?;
                    data.done();
                }
                ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_) => {
                    waits = true;
                }
                // Over a socket, data may arrive together with the last flight.
                ConnectionState::ReadTraffic(mut traffic) => {
                    let record = traffic.next_record().context("no record of data")??;
                    self.early.extend_from_slice(record.payload);
                    discard += record.discard;
                }
                other => bail!("{other:?} is not a state of a handshake"),
            }
            self.incoming.start += discard;
            if waits && !self.incoming.fill(self.endpoint)? {
                return Ok(());
            }
        }
    }

    /// Sends `close_notify`.
    fn send_close(&mut self) -> Result<()> {
        loop {
            let UnbufferedStatus { discard, state } =
                C::process(&mut self.connection, self.incoming.arrived());
            let is_queued = match state? {
                ConnectionState::WriteTraffic(mut traffic) => {
                    self.outgoing
                        .append(|room| traffic.queue_close_notify(room), room_to_encrypt)?;
                    true
                }
                // Reported once, before the traffic.
                ConnectionState::PeerClosed => false,
                other => bail!("{other:?} is not a state in which to close"),
            };
            self.incoming.start += discard;
            if is_queued {
                return self.outgoing.flush(self.endpoint);
            }
        }
    }

    /// Passes on the plaintext of one record, of at most `room` bytes, in the buffer where it was
    /// decrypted.
    fn lend(&mut self, room: usize, mut take: impl FnMut(&[u8])) -> Result<()> {
        if !self.early.is_empty() {
            let length = self.early.len();
            ensure!(length <= room, "{length} bytes, expected at most {room}");
            take(&self.early);
            self.early.clear();
            return Ok(());
        }
        loop {
            let UnbufferedStatus { discard, state } =
                C::process(&mut self.connection, self.incoming.arrived());
            let (mut received, mut discarded) = (None, discard);
            match state? {
                ConnectionState::ReadTraffic(mut traffic) => {
                    let record = traffic.next_record().context("no record of data")??;
                    let length = record.payload.len();
                    ensure!(
                        length <= room,
                        "a record of {length} bytes, expected at most {room}"
                    );
                    if length > 0 {
                        take(record.payload);
                    }
                    received = Some(length);
                    discarded += record.discard;
                }
                ConnectionState::WriteTraffic(_) => {}
                other => bail!("{other:?} is not a state of a transfer"),
            }
            self.incoming.start += discarded;
            match received {
                Some(length) if length > 0 => return Ok(()),
                Some(_) => {}
                None => ensure!(self.incoming.fill(self.endpoint)?, "nothing has arrived"),
            }
        }
    }
}

impl<C> Connection for UnbufferedConnection<'_, C>
where
    C: Process + DerefMut<Target = UnbufferedConnectionCommon<<C as Process>::Data>> + Role,
{
    fn handshake(&mut self) -> Result<Progress> {
        self.advance()?;
        Ok(match self.connection.is_handshaking() {
            true => Progress::Waiting,
            false => Progress::Done,
        })
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.advance()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        for part in data.chunks(MOST_PLAINTEXT) {
            let status = C::process(&mut self.connection, self.incoming.arrived());
            ensure!(status.discard == 0, "the peer sent something meanwhile");
            let ConnectionState::WriteTraffic(mut traffic) = status.state? else {
                bail!("the connection is not ready to send");
            };
            self.outgoing
                .append(|room| traffic.encrypt(part, room), room_to_encrypt)?;
            self.outgoing.flush(self.endpoint)?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut received = 0;
        self.lend(buffer.len(), |payload| {
            received = payload.len();
            buffer[..received].copy_from_slice(payload);
        })?;
        Ok(received)
    }

    fn receive_with(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        self.lend(buffer.len(), take)
    }

    fn close(&mut self) -> Result<Progress> {
        if !self.is_closing {
            self.is_closing = true;
            self.send_close()?;
        }
        loop {
            let UnbufferedStatus { discard, state } =
                C::process(&mut self.connection, self.incoming.arrived());
            let is_closed = match state? {
                ConnectionState::PeerClosed | ConnectionState::Closed => true,
                ConnectionState::WriteTraffic(_) => false,
                other => bail!("{other:?} is not a state of a connection that closes"),
            };
            self.incoming.start += discard;
            if is_closed {
                return Ok(Progress::Done);
            }
            if !self.incoming.fill(self.endpoint)? {
                return Ok(Progress::Waiting);
            }
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        negotiated(&self.connection, self.connection.tickets())
    }
}
