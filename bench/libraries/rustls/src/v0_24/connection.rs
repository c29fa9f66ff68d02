//! A connection with its buffers, and its report after the handshake.

use std::io::ErrorKind;

use anyhow::{Context, Result, bail, ensure};
use rustls::{
    ClientSide, Connection as Inner, Error, HandshakeKind, ServerSide, SideData, Tcp, VecInput,
    enums::ProtocolVersion,
};
use tls_harness::{
    library::{Connection, Negotiated, Progress},
    scenario::{KeyExchange, Protocol},
    transport::Endpoint,
};

use crate::vocabulary;

/// Plaintext bytes per encryption: the size of the buffers in older versions.
const MOST_PLAINTEXT: usize = 64 * 1024;

/// A connection of either role with its endpoint of the transport.
pub struct RustlsConnection<'a, S: SideData> {
    connection: Inner<S, Tcp>,
    /// Received bytes that are not yet processed, in the buffer type of rustls.
    incoming: VecInput,
    outgoing: Vec<u8>,
    endpoint: &'a Endpoint,
    /// Data that arrived with the end of the handshake.
    early: Vec<u8>,
    is_closing: bool,
}

impl<'a, S: SideData> RustlsConnection<'a, S> {
    /// Wraps the connection that `make` returns after writing its first messages.
    pub fn new(
        endpoint: &'a Endpoint,
        make: impl FnOnce(&mut Vec<u8>) -> Result<Inner<S, Tcp>, Error>,
    ) -> Result<Self> {
        let mut outgoing = Vec::new();
        Ok(Self {
            connection: make(&mut outgoing)?,
            incoming: VecInput::default(),
            outgoing,
            endpoint,
            early: Vec::new(),
            is_closing: false,
        })
    }

    /// Reads one piece of the received bytes; returns false if there are none.
    fn fill(&mut self) -> Result<bool> {
        if !self.endpoint.has_arrived() {
            return Ok(false);
        }
        match self.incoming.read(&mut self.endpoint) {
            Ok(_) => Ok(true),
            // A socket that was readable may be empty.
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Processes all received bytes. Over a socket, data may arrive together with the last flight.
    fn process(&mut self) -> Result<()> {
        while self.fill()? {
            let mut messages = self
                .connection
                .read_tls(&mut self.incoming, &mut self.outgoing);
            if let Some(payload) = messages.next_payload() {
                self.early.extend_from_slice(payload?.bytes());
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        // An empty write would be a call of the transport too.
        ensure!(
            self.outgoing.is_empty() || self.endpoint.send(&self.outgoing),
            "the transport's buffer is full"
        );
        self.outgoing.clear();
        Ok(())
    }
}

/// The part of the report that differs between the roles.
pub trait Role {
    fn tickets(&self) -> u32;
}

impl Role for Inner<ClientSide, Tcp> {
    fn tickets(&self) -> u32 {
        self.tls13_tickets_received()
    }
}

impl Role for Inner<ServerSide, Tcp> {
    fn tickets(&self) -> u32 {
        0
    }
}

impl<S: SideData> Connection for RustlsConnection<'_, S>
where
    Inner<S, Tcp>: Role,
{
    fn handshake(&mut self) -> Result<Progress> {
        self.process()?;
        self.flush()?;
        Ok(match self.connection.is_handshaking() {
            true => Progress::Waiting,
            false => Progress::Done,
        })
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.process()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        for part in data.chunks(MOST_PLAINTEXT) {
            self.connection.write(part.into(), &mut self.outgoing)?;
            self.flush()?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let mut received = 0;
        let room = buffer.len();
        self.lend(room, &mut |payload| {
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
            self.connection.send_close_notify(&mut self.outgoing)?;
            self.flush()?;
        }
        loop {
            let mut data = Vec::new();
            let messages = self
                .connection
                .read_tls(&mut self.incoming, &mut self.outgoing);
            let is_closed = messages.handle_all(&mut data)?.peer_has_closed();
            ensure!(data.is_empty(), "data arrived instead of close_notify");
            if is_closed {
                return Ok(Progress::Done);
            }
            if !self.fill()? {
                return Ok(Progress::Waiting);
            }
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        let connection = &self.connection;
        let suite = connection.negotiated_cipher_suite();
        let suite = suite.context("no cipher suite was negotiated")?;
        let group = connection.negotiated_key_exchange_group();
        let group = group.map(|group| KeyExchange::from_number(group.name().0));
        Ok(Negotiated {
            protocol: match connection.protocol_version() {
                Some(ProtocolVersion::TLSv1_2) => Protocol::Tls12,
                Some(ProtocolVersion::TLSv1_3) => Protocol::Tls13,
                other => bail!("protocol {other:?} is not in the vocabulary"),
            },
            cipher_suite: vocabulary::cipher_suite(suite.suite())?,
            key_exchange: group.transpose()?,
            resumed: Some(connection.handshake_kind() == Some(HandshakeKind::Resumed)),
            // No version reports it. The verifier knows the scenario's scheme alone (`pinned`).
            signature_scheme: None,
            // A verifier is always configured, and rejects any chain that it cannot verify.
            peer_verified: connection.peer_identity().is_some(),
            tickets: connection.tickets(),
        })
    }
}

impl<S: SideData> RustlsConnection<'_, S> {
    /// Passes on the plaintext of one record, of at most `room` bytes, in the buffer where it was
    /// decrypted.
    fn lend(&mut self, room: usize, take: &mut dyn FnMut(&[u8])) -> Result<()> {
        if !self.early.is_empty() {
            let length = self.early.len();
            ensure!(length <= room, "{length} bytes, expected at most {room}");
            take(&self.early);
            self.early.clear();
            return Ok(());
        }
        loop {
            let mut messages = self
                .connection
                .read_tls(&mut self.incoming, &mut self.outgoing);
            if let Some(payload) = messages.next_payload() {
                let payload = payload?;
                let payload = payload.bytes();
                ensure!(
                    payload.len() <= room,
                    "a record of {} bytes, expected at most {room}",
                    payload.len()
                );
                if !payload.is_empty() {
                    take(payload);
                    return Ok(());
                }
            }
            drop(messages);
            ensure!(self.fill()?, "nothing has arrived");
        }
    }
}
