//! One of the two processes: takes turns on its connections as epoll reports them readable.

use std::{
    io::Write,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use rustix::{
    buffer::spare_capacity,
    event::{Timespec, epoll},
};

use super::{
    live::{Live, Mark, Terms},
    message::{Extent, Listening, Moment, Peer, Spent},
    server,
};
use crate::{
    library::{Setup, TlsLibrary},
    noop::NoopLibrary,
    scenario::{Scenario, Side, Variant},
    session::Expected,
    transport::Endpoint,
    workloads::threads::pin,
};

/// How long a process waits for its peer.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 300 } else { 10_000 });

/// Is one side of the connections, in this process, which should be fresh. The server's first line
/// of `output` has its port. `mark` is called where the connections that are measured begin and end.
pub fn be<L: TlsLibrary>(
    library: &L,
    peer: &Peer,
    output: &mut impl Write,
    mark: fn(),
) -> Result<Spent> {
    match peer.empty {
        true => side(&NoopLibrary, peer, output, None, mark),
        false => {
            let expected = Expected::new(&peer.scenario)?;
            side(library, peer, output, Some(&expected), mark)
        }
    }
}

fn side<L: TlsLibrary>(
    library: &L,
    peer: &Peer,
    output: &mut impl Write,
    expected: Option<&Expected>,
    mark: fn(),
) -> Result<Spent> {
    let terms = Terms {
        side: match peer.port {
            Some(_) => Side::Client,
            None => Side::Server,
        },
        expected,
        awaits_tickets: Expected::new(&peer.scenario)?.awaits_tickets(),
        request: peer.server_process.map(|_| server::REQUEST),
    };
    match peer.port {
        Some(_) => {
            pin(0)?;
            connect(library, peer, &terms, output, mark).context("client")
        }
        None => {
            pin(1)?;
            serve(library, peer, &terms, output, mark).context("server")
        }
    }
}

/// The sockets of a process, by number.
struct Sockets {
    epoll: std::os::fd::OwnedFd,
    events: Vec<epoll::Event>,
}

impl Sockets {
    fn new(most: usize) -> Result<Self> {
        Ok(Self {
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            events: Vec::with_capacity(most),
        })
    }

    fn add(&self, socket: impl std::os::fd::AsFd, number: usize) -> Result<()> {
        let data = epoll::EventData::new_u64(number as u64);
        Ok(epoll::add(
            &self.epoll,
            socket,
            data,
            epoll::EventFlags::IN,
        )?)
    }

    /// The numbers of the sockets that can be read, at least one.
    fn wait(&mut self) -> Result<Vec<usize>> {
        self.events.clear();
        let timeout = Timespec::try_from(PATIENCE)?;
        rustix::io::retry_on_intr(|| {
            epoll::wait(
                &self.epoll,
                spare_capacity(&mut self.events),
                Some(&timeout),
            )
        })?;
        ensure!(
            !self.events.is_empty(),
            "the peer did not answer within {PATIENCE:?}"
        );
        let numbers = self.events.iter().map(|it| it.data.u64() as usize);
        Ok(numbers.collect())
    }
}

/// Small writes wait for no acknowledgement, unless the scenario has Nagle's algorithm.
pub(super) fn set_nodelay(stream: &TcpStream, scenario: &Scenario) -> Result<()> {
    match scenario.variant {
        Some(Variant::Nagle) => Ok(()),
        _ => Ok(stream.set_nodelay(true)?),
    }
}

fn endpoints(number: usize) -> Vec<Endpoint> {
    (0..number).map(|_| Endpoint::socket()).collect()
}

fn serve<L: TlsLibrary>(
    library: &L,
    peer: &Peer,
    terms: &Terms<'_>,
    output: &mut impl Write,
    mark_extent: fn(),
) -> Result<Spent> {
    let config = library.server_config(&Setup::server(&peer.scenario)?)?;
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    writeln!(output, "{}", serde_json::to_string(&Listening { port })?)?;
    output.flush()?;

    // The client may open a connection before the server has seen that another one is closed.
    let places = 2 * peer.at_once;
    let endpoints = endpoints(places);
    let mut live: Vec<Option<Live<L::Server<'_>>>> = (0..places).map(|_| None).collect();
    let mut sockets = Sockets::new(places + 1)?;
    sockets.add(&listener, places)?;
    let (mut start, mut connections) = (None, 0);
    loop {
        for number in sockets.wait()? {
            if number == places {
                let (stream, _) = listener.accept()?;
                let free = live.iter().position(Option::is_none);
                let free = free.context("the client has too many connections open")?;
                stream.set_nonblocking(true)?;
                set_nodelay(&stream, &peer.scenario)?;
                sockets.add(&stream, free)?;
                endpoints[free].as_socket()?.open(stream);
                let connection = library.accept(&config, &endpoints[free])?;
                live[free] = Some(Live::new(connection, Mark::Plain, None));
                continue;
            }
            let Some(connection) = &mut live[number] else {
                continue;
            };
            let Some(mark) = connection.advance(terms, &endpoints[number], true)? else {
                continue;
            };
            live[number] = None;
            endpoints[number].as_socket()?.close();
            connections += 1;
            match (mark, start) {
                (Mark::Plain, _) => {}
                (Mark::Start, _) => {
                    start = Some(Moment::now()?);
                    connections = 0;
                    mark_extent();
                }
                (Mark::Stop, Some(start)) => {
                    mark_extent();
                    return start.until(Moment::now()?, connections);
                }
                (Mark::Stop, None) => bail!("the client stopped before it started"),
            }
        }
    }
}

/// What a client has for each of its connections at once.
struct Client<'a, L: TlsLibrary + 'a> {
    library: &'a L,
    peer: &'a Peer,
    terms: &'a Terms<'a>,
    address: SocketAddr,
    /// Each holds the session that its next connection resumes.
    configs: &'a [L::ClientConfig],
    endpoints: &'a [Endpoint],
    live: Vec<Option<Live<L::Client<'a>>>>,
    has_session: Vec<bool>,
    sockets: Sockets,
}

fn connect<L: TlsLibrary>(
    library: &L,
    peer: &Peer,
    terms: &Terms<'_>,
    output: &mut impl Write,
    mark_extent: fn(),
) -> Result<Spent> {
    let port = peer.port.context("the client has no port")?;
    let setup = Setup::client(&peer.scenario)?;
    let configs = (0..peer.at_once).map(|_| library.client_config(&setup));
    let configs = configs.collect::<Result<Vec<_>>>()?;
    let endpoints = endpoints(peer.at_once);
    let mut client = Client {
        library,
        peer,
        terms,
        address: (Ipv4Addr::LOCALHOST, port).into(),
        configs: &configs,
        endpoints: &endpoints,
        live: (0..peer.at_once).map(|_| None).collect(),
        has_session: vec![false; peer.at_once],
        sockets: Sockets::new(peer.at_once)?,
    };
    let once = Extent {
        seconds: 0.0,
        least: 1,
    };
    client.make(Mark::Plain, peer.warm_up)?;
    client.make(Mark::Start, once)?;
    let server = peer.server_process;
    let server_start = server.map(Moment::of_process).transpose()?;
    let start = Moment::now()?;
    mark_extent();
    let connections = client.make(Mark::Plain, peer.measured)? + client.make(Mark::Stop, once)?;
    mark_extent();
    let end = Moment::now()?;
    if let (Some(server), Some(start)) = (server, server_start) {
        let spent = start.until(Moment::of_process(server)?, connections)?;
        writeln!(output, "{}", serde_json::to_string(&spent)?)?;
    }
    start.until(end, connections)
}

impl<L: TlsLibrary> Client<'_, L> {
    /// Makes connections, several at once, and returns their number when all are closed.
    fn make(&mut self, mark: Mark, extent: Extent) -> Result<u64> {
        let mut goes_on = extent.begin()?;
        let (mut open, mut closed) = (0, 0);
        for number in 0..self.live.len() {
            if self.begin(number, mark, &mut goes_on, &mut closed)? {
                open += 1;
            }
        }
        while open > 0 {
            for number in self.sockets.wait()? {
                if !self.advance(number, true)? {
                    continue;
                }
                closed += 1;
                if !self.begin(number, mark, &mut goes_on, &mut closed)? {
                    open -= 1;
                }
            }
        }
        Ok(closed)
    }

    /// Opens the next connection. Whether one remains open: a connection whose server is faster may be
    /// closed at once.
    fn begin(
        &mut self,
        number: usize,
        mark: Mark,
        goes_on: &mut impl FnMut() -> bool,
        closed: &mut u64,
    ) -> Result<bool> {
        while goes_on() {
            if !self.open(number, mark)? {
                return Ok(true);
            }
            *closed += 1;
        }
        Ok(false)
    }

    /// Whether the connection is closed already.
    fn open(&mut self, number: usize, mark: Mark) -> Result<bool> {
        let stream = TcpStream::connect_timeout(&self.address, PATIENCE)
            .with_context(|| format!("{} cannot be reached", self.address))?;
        stream.set_nonblocking(true)?;
        set_nodelay(&stream, &self.peer.scenario)?;
        self.sockets.add(&stream, number)?;
        let (config, endpoint) = (&self.configs[number], &self.endpoints[number]);
        endpoint.as_socket()?.open(stream);
        let connection = self.library.connect(config, endpoint)?;
        let resumed = self.has_session[number];
        self.live[number] = Some(Live::new(connection, mark, Some(resumed)));
        self.advance(number, false)
    }

    /// Whether the connection is closed.
    fn advance(&mut self, number: usize, readable: bool) -> Result<bool> {
        let Some(connection) = &mut self.live[number] else {
            return Ok(false);
        };
        let endpoint = &self.endpoints[number];
        if connection
            .advance(self.terms, endpoint, readable)?
            .is_none()
        {
            return Ok(false);
        }
        self.live[number] = None;
        endpoint.as_socket()?.close();
        self.has_session[number] = self.terms.expected.is_some_and(Expected::resumes);
        Ok(true)
    }
}
