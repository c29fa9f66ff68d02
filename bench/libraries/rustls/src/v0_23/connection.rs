//! A connection, and its report after the handshake.

use std::{io::ErrorKind, ops::DerefMut};

use anyhow::{Context, Result, bail, ensure};
use rustls::{
    ClientConnection, CommonState, ConnectionCommon, ProtocolVersion, ServerConnection, SideData,
};
use tls_harness::{
    library::{Connection, Negotiated, Progress},
    scenario::{KeyExchange, Protocol},
    transport::Endpoint,
};

use crate::vocabulary;

/// A connection of either role with its endpoint of the transport.
pub struct RustlsConnection<'a, C> {
    pub connection: C,
    endpoint: &'a Endpoint,
    /// Whether early data was read, which the library reports of a client only.
    has_read_early: bool,
    is_closing: bool,
}

impl<'a, C> RustlsConnection<'a, C> {
    pub fn new(connection: C, endpoint: &'a Endpoint) -> Self {
        Self {
            connection,
            endpoint,
            has_read_early: false,
            is_closing: false,
        }
    }
}

impl<C, D> RustlsConnection<'_, C>
where
    C: DerefMut<Target = ConnectionCommon<D>>,
    D: SideData,
{
    /// Reads one piece of the received bytes; returns false if there are none.
    fn read(&mut self) -> Result<bool> {
        if !self.endpoint.has_arrived() {
            return Ok(false);
        }
        match self.connection.read_tls(&mut self.endpoint) {
            Ok(_) => {}
            // A socket that was readable may be empty.
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error.into()),
        }
        self.connection.process_new_packets()?;
        Ok(true)
    }

    fn flush(&mut self) -> Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.endpoint)?;
        }
        Ok(())
    }
}

/// The group of the key exchange; `None` if there was none, or if this version does not report it.
#[cfg(rustls_key_exchange_group)]
fn negotiated_group(connection: &CommonState) -> Result<Option<KeyExchange>> {
    let group = connection.negotiated_key_exchange_group();
    let found = group.map(|group| {
        let same = |it: &&KeyExchange| vocabulary::named_group(**it) == group.name();
        let group_of = KeyExchange::ALL.iter().find(same).copied();
        group_of.with_context(|| format!("{:?} is not in the vocabulary", group.name()))
    });
    found.transpose()
}

#[cfg(not(rustls_key_exchange_group))]
fn negotiated_group(_: &CommonState) -> Result<Option<KeyExchange>> {
    Ok(None)
}

/// Whether a session was resumed, if this version reports it.
#[cfg(rustls_handshake_kind)]
fn is_resumed(connection: &CommonState) -> Option<bool> {
    Some(connection.handshake_kind() == Some(rustls::HandshakeKind::Resumed))
}

#[cfg(not(rustls_handshake_kind))]
fn is_resumed(_: &CommonState) -> Option<bool> {
    None
}

/// The part of the report that differs between the roles.
pub trait Role {
    fn tickets(&self) -> u32;

    /// Queues early data; returns the number of bytes, or 0 if the session does not permit any.
    fn write_early(&mut self, _: &[u8]) -> Result<usize> {
        bail!("a server sends no early data")
    }

    /// Reads early data; returns the number of bytes, or 0 if none was accepted.
    fn read_early(&mut self, _: &mut [u8]) -> Result<usize> {
        bail!("a client receives no early data")
    }

    /// Whether early data was accepted, if the library reports it.
    fn is_early_accepted(&self) -> Option<bool> {
        None
    }
}

impl Role for ClientConnection {
    #[cfg(rustls_counts_tickets)]
    fn tickets(&self) -> u32 {
        self.tls13_tickets_received()
    }

    #[cfg(not(rustls_counts_tickets))]
    fn tickets(&self) -> u32 {
        crate::session::TICKETS.get()
    }

    fn write_early(&mut self, data: &[u8]) -> Result<usize> {
        use std::io::Write;
        match self.early_data() {
            Some(mut early) => Ok(early.write(data)?),
            None => Ok(0),
        }
    }

    fn is_early_accepted(&self) -> Option<bool> {
        Some(self.is_early_data_accepted())
    }
}

impl Role for ServerConnection {
    fn tickets(&self) -> u32 {
        0
    }

    fn read_early(&mut self, buffer: &mut [u8]) -> Result<usize> {
        use std::io::Read;
        match self.early_data() {
            Some(mut early) => Ok(early.read(buffer)?),
            None => Ok(0),
        }
    }
}

impl<C, D> Connection for RustlsConnection<'_, C>
where
    C: DerefMut<Target = ConnectionCommon<D>> + Role,
    D: SideData,
{
    fn handshake(&mut self) -> Result<Progress> {
        while self.read()? {}
        self.flush()?;
        Ok(match self.connection.is_handshaking() {
            true => Progress::Waiting,
            false => Progress::Done,
        })
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        let written = self.connection.write_early(data)?;
        ensure!(
            written == data.len(),
            "{written} bytes of early data were written, expected {}",
            data.len()
        );
        self.flush()
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        while self.read()? {}
        self.flush()?;
        let length = self.connection.read_early(buffer)?;
        ensure!(length > 0, "no early data was accepted");
        self.has_read_early = true;
        Ok(length)
    }

    fn early_data_accepted(&self) -> Result<bool> {
        let reported = self.connection.is_early_accepted();
        Ok(reported.unwrap_or(self.has_read_early))
    }

    fn receive_tickets(&mut self) -> Result<()> {
        while self.read()? {}
        Ok(())
    }

    fn send(&mut self, mut data: &[u8]) -> Result<()> {
        use std::io::Write;
        while !data.is_empty() {
            let written = self.connection.writer().write(data)?;
            self.flush()?;
            data = &data[written..];
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        use std::io::Read;
        loop {
            match self.connection.reader().read(buffer) {
                Ok(0) => bail!("the peer closed the connection"),
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ensure!(self.read()?, "nothing has arrived");
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    #[cfg(rustls_lends_plaintext)]
    fn receive_with(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        use std::io::BufRead;
        loop {
            let mut reader = self.connection.reader();
            match reader.fill_buf() {
                Ok([]) => bail!("the peer closed the connection"),
                Ok(plaintext) => {
                    let length = plaintext.len().min(buffer.len());
                    take(&plaintext[..length]);
                    reader.consume(length);
                    return Ok(());
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ensure!(self.read()?, "nothing has arrived");
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn close(&mut self) -> Result<Progress> {
        if !self.is_closing {
            self.is_closing = true;
            self.connection.send_close_notify();
            self.flush()?;
        }
        while self.read()? {}
        Ok(
            match self.connection.process_new_packets()?.peer_has_closed() {
                true => Progress::Done,
                false => Progress::Waiting,
            },
        )
    }

    fn negotiated(&self) -> Result<Negotiated> {
        negotiated(&self.connection, self.connection.tickets())
    }
}

/// The report of a connection of either role and either API.
pub fn negotiated(connection: &CommonState, tickets: u32) -> Result<Negotiated> {
    let suite = connection.negotiated_cipher_suite();
    let suite = suite.context("no cipher suite was negotiated")?;
    Ok(Negotiated {
        protocol: match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => Protocol::Tls12,
            Some(ProtocolVersion::TLSv1_3) => Protocol::Tls13,
            other => bail!("protocol {other:?} is not in the vocabulary"),
        },
        cipher_suite: vocabulary::cipher_suite(suite.suite())?,
        key_exchange: negotiated_group(connection)?,
        resumed: is_resumed(connection),
        // No version reports it. The verifier knows the scenario's scheme alone (`pinned`).
        signature_scheme: None,
        // A verifier is always configured, and rejects any chain that it cannot verify.
        peer_verified: connection.peer_certificates().is_some(),
        tickets,
    })
}
