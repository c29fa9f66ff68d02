//! What a counter of the wire reports is what a socket carries.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
};

use tls_harness::{
    block,
    library::{Connection, Progress, Setup, TlsLibrary},
    record::{Measurement, Phase, Statistic},
    request::{Counter, Request},
    scenario::{
        Certificate, Chain, CipherSuite, KeyExchange, Protocol, Resumption, Scenario, Side, Variant,
    },
    session::FLIGHTS,
    transport::{Endpoint, Transport},
    wire,
};

use super::{
    good,
    measurements::{measurements, request},
    scenarios::{handshake_12, handshake_13},
};

/// An ECDSA signature of P-256 is a byte or two shorter where its numbers begin with zeros, and so
/// are the numbers in a ticket, which some libraries pad to blocks of 16 bytes. The handshakes that
/// were counted need not have had all lengths.
const SHORTER: usize = 16;

fn scenarios() -> Vec<Scenario> {
    let resumed = |base: Scenario, resumption| Scenario {
        resumption: Some(resumption),
        ..base
    };
    let resumed_12 = Scenario {
        key_exchange: None,
        ..handshake_12()
    };
    vec![
        handshake_12(),
        handshake_13(),
        Scenario {
            certificate: Some(Certificate::EcdsaP256),
            ..handshake_13()
        },
        Scenario {
            cipher_suite: Some(CipherSuite::EcdheEcdsaAes256Gcm),
            certificate: Some(Certificate::EcdsaP256),
            ..handshake_12()
        },
        hybrid(),
        of_ml_dsa(Some(Chain::Three)),
        compressed(Certificate::Rsa2048),
        resumed(handshake_13(), Resumption::Ticket),
        resumed(resumed_12.clone(), Resumption::Ticket),
        resumed(resumed_12, Resumption::SessionId),
    ]
}

/// A handshake with a certificate of ML-DSA-44.
fn of_ml_dsa(chain: Option<Chain>) -> Scenario {
    Scenario {
        certificate: Some(Certificate::MlDsa44),
        variant: chain.map(Variant::Chain),
        ..handshake_13()
    }
}

fn compressed(certificate: Certificate) -> Scenario {
    Scenario {
        certificate: Some(certificate),
        variant: Some(Variant::Compressed),
        ..handshake_13()
    }
}

fn hybrid() -> Scenario {
    Scenario {
        key_exchange: Some(KeyExchange::X25519MlKem768),
        ..handshake_13()
    }
}

/// What the counter reports of both sides.
fn counted<L: TlsLibrary>(library: &L, scenario: &Scenario) -> Vec<Measurement> {
    let request = Request {
        counter: Some(Counter::Wire),
        ..request(scenario.clone())
    };
    let records = good(block::measure(library, &request), scenario);
    measurements(&records).cloned().collect()
}

fn value(of: &Measurement, phase: Phase, metric: &str, statistic: Statistic) -> Option<usize> {
    let mut all = of.observations.iter();
    all.find(|it| (it.phase, it.statistic) == (phase, statistic) && it.metric.to_string() == metric)
        .map(|it| it.value as usize)
}

/// A count of a side's first flight.
fn first_flight(counted: &[Measurement], side: Side, metric: &str) -> usize {
    let of_side = counted.iter().find(|it| it.scenario.side == Some(side));
    value(of_side.unwrap(), Phase::Flight1, metric, Statistic::Value).unwrap()
}

/// A side of a connection over a real socket, with the bytes that it sent.
struct Node<C> {
    connection: C,
    socket: TcpStream,
    progress: Progress,
    /// Bytes that were written to the socket.
    sent: usize,
}

/// Writes what a library sent since the last call, and returns it as the peer's socket has it.
fn carried(bytes: &[u8], sent: &mut usize, from: &mut TcpStream, to: &mut TcpStream) -> Vec<u8> {
    let mut arrived = vec![0; bytes.len() - *sent];
    from.write_all(&bytes[*sent..]).unwrap();
    to.read_exact(&mut arrived).unwrap();
    *sent = bytes.len();
    arrived
}

fn hand_over(to: &Endpoint, bytes: &[u8]) {
    assert!(to.send(bytes), "the transport is full");
}

/// One handshake over the loopback device: the flights of both sides, as the sockets had them.
fn over_a_socket<L: TlsLibrary>(
    library: &L,
    client: &L::ClientConfig,
    server: &L::ServerConfig,
    tickets: bool,
) -> Vec<(Side, Vec<u8>)> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let accepted = listener.accept().unwrap().0;
    // Each library has a transport of its own: between them are the sockets alone.
    let near = Transport::new(Transport::HANDSHAKE_CAPACITY);
    let far = Transport::new(Transport::HANDSHAKE_CAPACITY);
    let mut client = Node {
        connection: library.connect(client, &near.client).unwrap(),
        socket,
        progress: Progress::Waiting,
        sent: 0,
    };
    let mut server = Node {
        connection: library.accept(server, &far.server).unwrap(),
        socket: accepted,
        progress: Progress::Waiting,
        sent: 0,
    };
    let mut flights = Vec::new();
    while (client.progress, server.progress) != (Progress::Done, Progress::Done) {
        if client.progress == Progress::Waiting {
            client.progress = client.connection.handshake().unwrap();
        }
        let arrived = near.sent_by_client(|bytes| {
            let (from, to) = (&mut client.socket, &mut server.socket);
            carried(bytes, &mut client.sent, from, to)
        });
        hand_over(&far.client, &arrived);
        flights.push((Side::Client, arrived));
        if server.progress == Progress::Waiting {
            server.progress = server.connection.handshake().unwrap();
        }
        let arrived = far.sent_by_server(|bytes| {
            let (from, to) = (&mut server.socket, &mut client.socket);
            carried(bytes, &mut server.sent, from, to)
        });
        hand_over(&near.server, &arrived);
        flights.push((Side::Server, arrived));
        assert!(flights.len() < 10, "the handshake does not complete");
    }
    if tickets {
        client.connection.receive_tickets().unwrap();
    }
    flights.retain(|(_, bytes)| !bytes.is_empty());
    flights
}

/// Flights, records, messages and bytes that the counter reports are those of two sockets.
pub fn the_wire_of_a_socket_is_the_one_that_is_counted<L: TlsLibrary>(library: &L) {
    for scenario in scenarios() {
        if library.unsupported(&scenario).is_some() {
            continue;
        }
        let name = scenario.name();
        let protocol = scenario.protocol.unwrap();
        let client = library.client_config(&Setup::client(&scenario).unwrap());
        let server = library.server_config(&Setup::server(&scenario).unwrap());
        let (client, server) = (client.unwrap(), server.unwrap());
        let resumes = scenario.resumption != Some(Resumption::None);
        let tickets = resumes && protocol == Protocol::Tls13;
        if resumes {
            over_a_socket(library, &client, &server, tickets);
        }
        let flights = over_a_socket(library, &client, &server, tickets);
        for of in counted(library, &scenario) {
            let side = of.scenario.side.unwrap();
            let sent: Vec<_> = flights.iter().filter(|it| it.0 == side).collect();
            let sent: Vec<_> = sent.into_iter().map(|it| &it.1).collect();
            let captured = wire::flights(protocol, &sent).unwrap();
            let count = |phase, metric| value(&of, phase, metric, Statistic::Value);
            for (phase, flight) in FLIGHTS.into_iter().zip(&captured) {
                let found = (count(phase, "wire-records"), count(phase, "wire-messages"));
                let expected = (Some(flight.records), Some(flight.messages));
                assert_eq!(found, expected, "{name}, {side}, {phase:?}");
            }
            let next = count(FLIGHTS[captured.len()], "wire-records");
            assert_eq!(next, None, "{name}, {side}: a flight that no socket had");
            let bytes: usize = captured.iter().map(|it| it.bytes).sum();
            let end = |statistic| value(&of, Phase::Total, "wire-bytes", statistic).unwrap();
            let range = end(Statistic::Min)..=end(Statistic::Max);
            let varies = resumes || scenario.certificate == Some(Certificate::EcdsaP256);
            let wider = match varies {
                true => range.start() - SHORTER..=range.end() + SHORTER,
                false => range,
            };
            assert!(wider.contains(&bytes), "{name}, {side}: {bytes}, {wider:?}");
        }
    }
}

/// X25519MLKEM768: an encapsulation key of 1,184 bytes or a ciphertext of 1,088, and 32 of X25519.
pub fn hybrid_key_shares_have_the_bytes_of_their_definition<L: TlsLibrary>(library: &L) {
    if library.unsupported(&hybrid()).is_some() {
        return;
    }
    let shares: Vec<_> = counted(library, &hybrid())
        .iter()
        .map(|it| value(it, Phase::Total, "key-share", Statistic::Value))
        .collect();
    assert_eq!(
        shares,
        [Some(1216), Some(1120)],
        "bytes of the key shares of client and server"
    );
}

/// zlib saves about 200 bytes of a chain, in the first flight of a server. A client's ClientHello
/// has an extension of seven bytes more.
pub fn compression_makes_the_first_flight_of_a_server_smaller<L: TlsLibrary>(library: &L) {
    for &certificate in Certificate::ALL {
        let scenario = compressed(certificate);
        if library.unsupported(&scenario).is_some() {
            continue;
        }
        let plain = Scenario {
            variant: None,
            ..scenario.clone()
        };
        let bytes = |scenario: &Scenario| {
            let counted = counted(library, scenario);
            [Side::Client, Side::Server].map(|side| first_flight(&counted, side, "wire-bytes"))
        };
        let [[client, server], [plain_client, plain_server]] = [&scenario, &plain].map(bytes);
        assert_eq!(client, plain_client + 7, "{certificate}");
        let range = server + 130..=server + 240;
        assert!(
            range.contains(&plain_server),
            "{certificate}: {server} bytes of {plain_server}"
        );
    }
}

/// Segments of TCP that a server may send before the client acknowledges one (RFC 6928).
const INITIAL_WINDOW: usize = 10;

/// With two certificates of ML-DSA-44 a server's first flight fits the initial window; with three it
/// does not.
pub fn the_segments_of_a_flight_grow_with_its_certificates<L: TlsLibrary>(library: &L) {
    if library.unsupported(&of_ml_dsa(None)).is_some() {
        return;
    }
    let segments = |chain| {
        let counted = counted(library, &of_ml_dsa(chain));
        first_flight(&counted, Side::Server, "wire-segments")
    };
    let [one, two, three] = [Some(Chain::One), None, Some(Chain::Three)].map(segments);
    assert!(one < two && two <= INITIAL_WINDOW, "{one} and {two}");
    assert!(three > INITIAL_WINDOW, "{three}");
    let issued = Some(Chain::EcdsaIssuers);
    if library.unsupported(&of_ml_dsa(issued)).is_none() {
        let issued = segments(issued);
        assert!(issued < two, "{issued} and {two}");
    }
}
