//! A non-blocking socket as a library's transport: each call of the library is one system call.

use std::{
    cell::{Cell, RefCell},
    io::{self, ErrorKind, IoSlice, Read, Write},
    net::TcpStream,
};

use anyhow::{Context, Result, bail};

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

    /// Provides the stream, which must not block.
    pub fn open(&self, stream: TcpStream) {
        self.stream.replace(Some(stream));
        self.readable.set(false);
        self.failure.replace(None);
    }

    pub fn close(&self) {
        self.stream.replace(None);
    }

    /// Call it before a library's call: the socket is readable, if so.
    pub fn prepare(&self, readable: bool) {
        if readable {
            self.readable.set(true);
        }
        self.found.set(Found::Bytes);
    }

    /// Whether the library's last call ended because it found nothing to read.
    pub fn is_starved(&self) -> Result<bool> {
        if let Some(error) = self.failure.take() {
            return Err(error).context("the socket failed");
        }
        match self.found.get() {
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

    /// A socket, and its peer.
    fn opened() -> (Socket, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let socket = Socket::default();
        socket.open(stream);
        (socket, peer)
    }

    #[test]
    fn an_empty_socket_is_starved_until_it_is_reported_as_readable() {
        let (socket, mut peer) = opened();
        socket.prepare(true);
        assert!(socket.has_arrived() && !socket.is_starved().unwrap());
        assert_eq!(socket.receive(&mut [0; 4]), 0);
        assert!(socket.is_starved().unwrap() && !socket.has_arrived());

        peer.write_all(b"abcdef").unwrap();
        socket.prepare(true);
        let mut buffer = [0; 4];
        assert_eq!(socket.receive(&mut buffer), 4);
        assert_eq!(&buffer, b"abcd");
        assert!(socket.has_arrived(), "there may be more");
        assert_eq!(socket.receive(&mut buffer), 2);
        assert!(!socket.is_starved().unwrap(), "it found bytes");
        assert!(!socket.has_arrived(), "fewer bytes than there was room for");
        assert!(socket.is_starved().unwrap(), "it asked for more");
    }

    #[test]
    fn all_buffers_of_a_write_are_sent_at_once() {
        let (socket, mut peer) = opened();
        assert!(socket.send(&[IoSlice::new(b"ab")]));
        let parts = [IoSlice::new(b"cd"), IoSlice::new(b"e")];
        assert!(socket.send(&parts));
        let mut buffer = [0; 5];
        peer.read_exact(&mut buffer).unwrap();
        assert_eq!(&buffer, b"abcde");
    }

    #[test]
    fn a_socket_that_does_not_take_everything_is_full() {
        let (socket, _peer) = opened();
        assert!(!socket.send(&[IoSlice::new(&vec![0; 64 << 20])]));
    }

    #[test]
    fn the_end_and_a_failure_are_errors() {
        let (socket, peer) = opened();
        drop(peer);
        socket.prepare(true);
        assert_eq!(socket.receive(&mut [0; 4]), 0);
        let error = socket.is_starved().unwrap_err().to_string();
        assert_eq!(error, "the peer closed its socket");
        socket.close();
        assert!(!socket.send(&[IoSlice::new(b"a")]));
        let error = socket.is_starved().unwrap_err().to_string();
        assert_eq!(error, "the socket failed");
    }
}
