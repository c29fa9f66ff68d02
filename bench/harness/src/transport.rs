//! The transport between two connections: two buffers in memory that the driver owns, allocates
//! once and reuses, or a socket between two processes.
//!
//! A buffer keeps all bytes until the driver clears it, so the driver can inspect everything that
//! was sent.

mod socket;

use std::{
    cell::{OnceCell, RefCell},
    io::{self, IoSlice, Read, Write},
    mem,
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Result, bail};

pub use self::socket::Socket;
use crate::{record::Phase, scenario::Side};

/// One direction: bytes are appended and read in order.
struct Pipe {
    bytes: Box<[u8]>,
    written: usize,
    read: usize,
}

impl Pipe {
    fn new(capacity: usize) -> Self {
        let mut bytes = vec![0; capacity].into_boxed_slice();
        bytes.fill(0xff); // touches every page, so that no page fault is timed
        Self {
            bytes,
            written: 0,
            read: 0,
        }
    }
}

/// What a side did, in the order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// The driver called the library for a phase of the handshake.
    Turn(Phase),
    /// The library asked for so many bytes.
    Read(usize),
    /// The library sent these bytes.
    Write(Vec<u8>),
}

/// The actions of both sides since the last `take`.
#[derive(Default)]
pub struct Recording(Mutex<Vec<(Side, Action)>>);

impl Recording {
    pub fn add(&self, side: Side, action: Action) {
        let mut actions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        actions.push((side, action));
    }

    pub fn take(&self) -> Vec<(Side, Action)> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where the bytes of an endpoint come from and go to.
enum Channel {
    Memory {
        incoming: Rc<RefCell<Pipe>>,
        outgoing: Rc<RefCell<Pipe>>,
    },
    Socket(Socket),
}

/// The transport as one connection sees it. It is shared, since a C library keeps a pointer to it.
pub struct Endpoint {
    channel: Channel,
    /// Where calls are written down, with the side that makes them; empty while time is measured.
    recording: OnceCell<(Side, Arc<Recording>)>,
}

impl Endpoint {
    fn new(incoming: &Rc<RefCell<Pipe>>, outgoing: &Rc<RefCell<Pipe>>) -> Self {
        Self::of(Channel::Memory {
            incoming: Rc::clone(incoming),
            outgoing: Rc::clone(outgoing),
        })
    }

    /// An endpoint of a socket, which `open` provides.
    pub fn socket() -> Self {
        Self::of(Channel::Socket(Socket::default()))
    }

    fn of(channel: Channel) -> Self {
        Self {
            channel,
            recording: OnceCell::new(),
        }
    }

    /// Records all further calls. An endpoint has one recording.
    pub fn record(&self, side: Side, recording: &Arc<Recording>) {
        self.recording.get_or_init(|| (side, Arc::clone(recording)));
    }

    /// Its socket, if it has one.
    pub fn as_socket(&self) -> Result<&Socket> {
        match &self.channel {
            Channel::Socket(socket) => Ok(socket),
            Channel::Memory { .. } => bail!("a transport in memory has no socket"),
        }
    }

    fn note(&self, action: impl FnOnce() -> Action) {
        if let Some((side, recording)) = self.recording.get() {
            recording.add(*side, action());
        }
    }

    /// Copies received bytes into `buffer`, as many as fit; returns 0 if none are waiting.
    pub fn receive(&self, buffer: &mut [u8]) -> usize {
        self.note(|| Action::Read(buffer.len()));
        let mut pipe = match &self.channel {
            Channel::Memory { incoming, .. } => incoming.borrow_mut(),
            Channel::Socket(socket) => return socket.receive(buffer),
        };
        let length = buffer.len().min(pipe.written - pipe.read);
        let start = pipe.read;
        buffer[..length].copy_from_slice(&pipe.bytes[start..start + length]);
        pipe.read += length;
        length
    }

    /// Sends all of `data` to the peer; returns false if it does not fit.
    #[must_use]
    pub fn send(&self, data: &[u8]) -> bool {
        self.note(|| Action::Write(data.to_vec()));
        match &self.channel {
            Channel::Memory { outgoing, .. } => outgoing.borrow_mut().append(data),
            Channel::Socket(socket) => socket.send(&[IoSlice::new(data)]),
        }
    }

    /// Whether received bytes are waiting to be read. Of a socket: whether it was reported readable
    /// and not read to its end since.
    pub fn has_arrived(&self) -> bool {
        match &self.channel {
            Channel::Memory { incoming, .. } => incoming.borrow().has_arrived(),
            Channel::Socket(socket) => socket.has_arrived(),
        }
    }
}

impl Pipe {
    fn append(&mut self, data: &[u8]) -> bool {
        let start = self.written;
        let Some(space) = self.bytes.get_mut(start..start + data.len()) else {
            return false;
        };
        space.copy_from_slice(data);
        self.written += data.len();
        true
    }

    fn has_arrived(&self) -> bool {
        self.read < self.written
    }
}

impl Read for &Endpoint {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.receive(buffer) {
            0 if !buffer.is_empty() => Err(io::ErrorKind::WouldBlock.into()),
            length => Ok(length),
        }
    }
}

impl Write for &Endpoint {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_vectored(&[IoSlice::new(data)])
    }

    /// Writes all buffers at once, as a socket does.
    fn write_vectored(&mut self, buffers: &[IoSlice<'_>]) -> io::Result<usize> {
        self.note(|| Action::Write(buffers.iter().flat_map(|it| it.iter()).copied().collect()));
        let fits = match &self.channel {
            Channel::Memory { outgoing, .. } => {
                let mut pipe = outgoing.borrow_mut();
                buffers.iter().all(|data| pipe.append(data))
            }
            Channel::Socket(socket) => socket.send(buffers),
        };
        match fits {
            true => Ok(buffers.iter().map(|it| it.len()).sum()),
            false => Err(io::Error::new(
                io::ErrorKind::StorageFull,
                "the transport's buffer is full",
            )),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both directions, with an endpoint for each role.
pub struct Transport {
    pub client: Endpoint,
    pub server: Endpoint,
    to_server: Rc<RefCell<Pipe>>,
    to_client: Rc<RefCell<Pipe>>,
}

impl Transport {
    /// Enough bytes for any handshake.
    pub const HANDSHAKE_CAPACITY: usize = 64 * 1024;

    /// `capacity`: bytes that each direction holds between two calls of `clear`.
    pub fn new(capacity: usize) -> Self {
        let to_server = Rc::new(RefCell::new(Pipe::new(capacity)));
        let to_client = Rc::new(RefCell::new(Pipe::new(capacity)));
        Self {
            client: Endpoint::new(&to_client, &to_server),
            server: Endpoint::new(&to_server, &to_client),
            to_server,
            to_client,
        }
    }

    /// Discards the sent bytes. All of them must have been read: the peer would lose the rest.
    pub fn clear(&self) {
        for pipe in [&self.to_client, &self.to_server] {
            let mut pipe = pipe.borrow_mut();
            pipe.written = 0;
            pipe.read = 0;
        }
    }

    /// Passes all bytes that the client sent since `clear` to `look`.
    pub fn sent_by_client<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        let pipe = self.to_server.borrow();
        look(&pipe.bytes[..pipe.written])
    }

    /// Passes all bytes that the server sent since `clear` to `look`.
    pub fn sent_by_server<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        let pipe = self.to_client.borrow();
        look(&pipe.bytes[..pipe.written])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peer_receives_bytes_in_the_order_of_sending() {
        let transport = Transport::new(8);
        assert!(transport.client.send(b"abc"));
        assert!(transport.server.send(b"xyz"));
        let mut buffer = [0; 2];
        assert_eq!(transport.server.receive(&mut buffer), 2);
        assert_eq!(&buffer, b"ab");
        assert_eq!(transport.server.receive(&mut buffer), 1);
        assert_eq!(transport.server.receive(&mut buffer), 0);
        assert!(!transport.server.has_arrived() && transport.client.has_arrived());
        transport.sent_by_client(|bytes| assert_eq!(bytes, b"abc"));
        transport.sent_by_server(|bytes| assert_eq!(bytes, b"xyz"));
    }

    #[test]
    fn a_full_buffer_rejects_bytes_and_keeps_its_content() {
        let transport = Transport::new(4);
        assert!(transport.client.send(b"abc"));
        assert!(!transport.client.send(b"de"));
        transport.sent_by_client(|bytes| assert_eq!(bytes, b"abc"));
        transport.clear();
        assert!(transport.client.send(b"de"));
    }

    #[test]
    fn a_transport_is_one_buffer_that_is_neither_moved_nor_wiped() {
        let transport = Transport::new(8);
        let place = || transport.to_server.borrow().bytes.as_ptr();
        let before = place();
        for _ in 0..3 {
            assert!(transport.client.send(b"abcdefgh"));
            transport.clear();
            assert_eq!(place(), before);
            // The bytes are still there: wiping them would add work to the next handshake.
            assert_eq!(&*transport.to_server.borrow().bytes, b"abcdefgh");
            assert!(!transport.server.has_arrived());
        }
    }

    #[test]
    fn calls_are_recorded_with_their_sides_and_a_vectored_write_is_one_call() {
        let transport = Transport::new(16);
        assert!(transport.client.send(b"not recorded"));
        transport.clear();
        let recording = Arc::new(Recording::default());
        transport.client.record(Side::Client, &recording);
        transport.server.record(Side::Server, &recording);
        let parts = [IoSlice::new(b"ab"), IoSlice::new(b"c")];
        assert_eq!((&transport.client).write_vectored(&parts).unwrap(), 3);
        assert_eq!(transport.server.receive(&mut [0; 5]), 3);
        assert_eq!(transport.server.receive(&mut [0; 2]), 0);
        assert!(transport.server.send(b"d"));
        let expected = [
            (Side::Client, Action::Write(b"abc".to_vec())),
            (Side::Server, Action::Read(5)),
            (Side::Server, Action::Read(2)),
            (Side::Server, Action::Write(b"d".to_vec())),
        ];
        assert_eq!(recording.take(), expected);
        assert!(recording.take().is_empty());
    }

    #[test]
    fn an_empty_pipe_would_block() {
        let transport = Transport::new(4);
        let error = (&transport.client).read(&mut [0; 1]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
    }
}
