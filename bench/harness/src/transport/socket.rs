//! A non-blocking socket as a library's transport: each call of the library is one system call.

use std::{
    cell::{Cell, RefCell},
    io::{self, ErrorKind, IoSlice, Read, Write},
    net::TcpStream,
};

use anyhow::{Context, Result, bail};

use super::{Channel, Endpoint};

/// What the last read of a library found.
#[derive(Clone, Copy, Default, PartialEq)]
enum Found {
    #[default]
    Bytes,
    Nothing,
    /// The peer closed its socket.
    End,
}

#[derive(Default)]
pub struct Socket {
    stream: RefCell<Option<TcpStream>>,
    /// Reported readable, and not read to its end since.
    readable: Cell<bool>,
    found: Cell<Found>,
    failure: RefCell<Option<io::Error>>,
}

impl Socket {
    pub fn receive(&self, buffer: &mut [u8]) -> usize {
        let read = match self.stream.borrow_mut().as_mut() {
            Some(stream) => stream.read(buffer),
            None => Err(ErrorKind::NotConnected.into()),
        };
        let length = match read {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable.set(false);
                self.found.set(Found::Nothing);
                return 0;
            }
            Err(error) => {
                self.failure.replace(Some(error));
                0
            }
        };
        self.found.set(match length {
            0 => Found::End,
            _ => Found::Bytes,
        });
        // A socket that gives fewer bytes than there is room for is empty.
        if length < buffer.len() {
            self.readable.set(false);
        }
        length
    }

    pub fn has_arrived(&self) -> bool {
        if !self.readable.get() {
            self.found.set(Found::Nothing);
        }
        self.readable.get()
    }

    /// Sends all bytes with one call; false if it does not take all of them.
    pub fn send(&self, buffers: &[IoSlice<'_>]) -> bool {
        let written = match (self.stream.borrow_mut().as_mut(), buffers) {
            (Some(stream), [data]) => stream.write(data),
            (Some(stream), _) => stream.write_vectored(buffers),
            (None, _) => Err(ErrorKind::NotConnected.into()),
        };
        let length: usize = buffers.iter().map(|it| it.len()).sum();
        match written {
            Ok(written) => written == length,
            Err(error) => {
                self.failure.replace(Some(error));
                false
            }
        }
    }
}

impl Endpoint {
    fn of_socket(&self) -> Result<&Socket> {
        match &self.channel {
            Channel::Socket(socket) => Ok(socket),
            Channel::Memory { .. } => bail!("a transport in memory has no socket"),
        }
    }

    /// Provides the socket, which must not block.
    ///
    /// # Errors
    ///
    /// The endpoint is one of a transport in memory.
    pub fn open(&self, stream: TcpStream) -> Result<()> {
        let socket = self.of_socket()?;
        socket.stream.replace(Some(stream));
        socket.readable.set(false);
        socket.failure.replace(None);
        Ok(())
    }

    /// Closes the socket.
    ///
    /// # Errors
    ///
    /// The endpoint is one of a transport in memory.
    pub fn close(&self) -> Result<()> {
        self.of_socket()?.stream.replace(None);
        Ok(())
    }

    /// Call it before a library's call: the socket is readable, if so.
    ///
    /// # Errors
    ///
    /// The endpoint is one of a transport in memory.
    pub fn prepare(&self, readable: bool) -> Result<()> {
        let socket = self.of_socket()?;
        if readable {
            socket.readable.set(true);
        }
        socket.found.set(Found::Bytes);
        Ok(())
    }

    /// Whether the library's last call ended because it found nothing to read.
    ///
    /// # Errors
    ///
    /// The socket failed, or the peer closed it.
    pub fn is_starved(&self) -> Result<bool> {
        let socket = self.of_socket()?;
        if let Some(error) = socket.failure.take() {
            return Err(error).context("the socket failed");
        }
        match socket.found.get() {
            Found::Bytes => Ok(false),
            Found::Nothing => Ok(true),
            Found::End => bail!("the peer closed its socket"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use super::*;
    use crate::transport::Transport;

    /// An endpoint of a socket, and its peer.
    fn opened() -> (Endpoint, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let endpoint = Endpoint::socket();
        endpoint.open(stream).unwrap();
        (endpoint, peer)
    }

    #[test]
    fn an_empty_socket_is_starved_until_it_is_reported_as_readable() {
        let (endpoint, mut peer) = opened();
        endpoint.prepare(true).unwrap();
        assert!(endpoint.has_arrived() && !endpoint.is_starved().unwrap());
        assert_eq!(endpoint.receive(&mut [0; 4]), 0);
        assert!(endpoint.is_starved().unwrap() && !endpoint.has_arrived());

        peer.write_all(b"abcdef").unwrap();
        endpoint.prepare(true).unwrap();
        let mut buffer = [0; 4];
        assert_eq!(endpoint.receive(&mut buffer), 4);
        assert_eq!(&buffer, b"abcd");
        assert!(endpoint.has_arrived(), "there may be more");
        assert_eq!(endpoint.receive(&mut buffer), 2);
        assert!(!endpoint.is_starved().unwrap(), "it found bytes");
        assert!(
            !endpoint.has_arrived(),
            "fewer bytes than there was room for"
        );
        assert!(endpoint.is_starved().unwrap(), "it asked for more");
    }

    #[test]
    fn all_buffers_of_a_write_are_sent_at_once() {
        let (endpoint, mut peer) = opened();
        assert!(endpoint.send(b"ab"));
        let parts = [IoSlice::new(b"cd"), IoSlice::new(b"e")];
        assert_eq!((&endpoint).write_vectored(&parts).unwrap(), 3);
        let mut buffer = [0; 5];
        peer.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"abcde");
    }

    #[test]
    fn a_socket_that_does_not_take_everything_is_full() {
        let (endpoint, _peer) = opened();
        assert!(!endpoint.send(&vec![0; 64 << 20]));
    }

    #[test]
    fn the_end_and_a_failure_are_errors() {
        let (endpoint, peer) = opened();
        drop(peer);
        endpoint.prepare(true).unwrap();
        assert_eq!(endpoint.receive(&mut [0; 4]), 0);
        let error = endpoint.is_starved().unwrap_err().to_string();
        assert_eq!(error, "the peer closed its socket");
        endpoint.close().unwrap();
        assert!(!endpoint.send(b"a"));
        let error = endpoint.is_starved().unwrap_err().to_string();
        assert_eq!(error, "the socket failed");
    }

    #[test]
    fn a_transport_in_memory_has_no_socket() {
        let memory = Transport::new(1);
        assert!(memory.client.is_starved().is_err() && memory.client.close().is_err());
    }
}
