//! Both sides in threads of this process, with a library that does nothing; the conformance tests
//! use processes and real libraries.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    thread,
    time::Instant,
};

use serde_json::json;

use super::{
    message::{Extent, MOST, Moment},
    *,
};
use crate::noop::NoopLibrary;

fn peer(scenario: serde_json::Value, port: Option<u16>) -> Peer {
    let mut whole = json!({
        "operation": "connection", "protocol": "1.3", "cipher_suite": "TLS_AES_256_GCM_SHA384",
        "key_exchange": "X25519", "certificate": "rsa-2048", "authentication": "server",
        "resumption": "none", "threads": 1,
    });
    for (key, value) in scenario.as_object().unwrap() {
        whole[key] = value.clone();
    }
    let scenario = serde_json::from_value(whole).unwrap();
    Peer {
        empty: true,
        at_once: 3,
        port,
        ..Peer::of(&scenario, (0.0, 5), (0.0, 20))
    }
}

fn client(scenario: serde_json::Value, port: u16) -> Result<Spent> {
    let peer = peer(scenario, Some(port));
    be(&NoopLibrary, &peer, &mut io::sink(), || ())
}

/// What the server says of itself, while `client` connects to its port.
fn with_server<R>(
    scenario: &serde_json::Value,
    client: impl FnOnce(u16) -> R,
) -> (Result<Spent>, R) {
    let (output, mut written) = io::pipe().unwrap();
    let server = peer(scenario.clone(), None);
    let server = thread::spawn(move || be(&NoopLibrary, &server, &mut written, || ()));
    let mut line = String::new();
    BufReader::new(output).read_line(&mut line).unwrap();
    let listening: Listening = serde_json::from_str(&line).unwrap();
    let found = client(listening.port);
    (server.join().unwrap(), found)
}

fn message<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => panic!("expected an error"),
        Err(error) => format!("{error:#}"),
    }
}

#[test]
fn both_sides_count_the_connections_that_are_measured() {
    for scenario in [
        json!({}),
        json!({"resumption": "ticket"}),
        json!({"variant": "nagle"}),
        json!({"protocol": "1.2", "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"}),
        json!({"protocol": "1.2", "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            "key_exchange": null, "resumption": "session-id"}),
    ] {
        let (server, client) =
            with_server(&scenario, |port| client(scenario.clone(), port).unwrap());
        let server = server.unwrap();
        // The last connection stops the count and is one of it.
        assert_eq!(
            (client.connections, server.connections),
            (21, 21),
            "{scenario}"
        );
        assert!(client.wall_nanoseconds > 0 && server.wall_nanoseconds > 0);
    }
}

#[test]
fn a_client_whose_server_closes_too_early_fails() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        for stream in listener.incoming().take(3) {
            // Bytes that are not read would reset the connection.
            stream.unwrap().read_exact(&mut [0]).unwrap();
        }
    });
    let found = client(json!({}), port);
    assert_eq!(message(found), "client: the peer closed its socket");
    server.join().unwrap();
}

#[test]
fn a_client_whose_server_does_not_answer_fails_in_time() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let start = Instant::now();
    let found = client(json!({}), port);
    assert_eq!(
        message(found),
        "client: the peer did not answer within 300ms"
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_client_without_a_server_fails_with_its_address() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let found = client(json!({}), port);
    let found = message(found);
    let expected = format!("client: 127.0.0.1:{port} cannot be reached: ");
    assert!(found.starts_with(&expected), "{found}");
}

#[test]
fn a_server_whose_client_leaves_or_stays_away_fails() {
    let (server, ()) = with_server(&json!({}), |port| {
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        client.write_all(&[0]).unwrap();
        client.read_exact(&mut [0]).unwrap();
    });
    assert_eq!(message(server), "server: the peer closed its socket");
    let (server, ()) = with_server(&json!({}), |_| ());
    assert_eq!(
        message(server),
        "server: the peer did not answer within 300ms"
    );
}

#[test]
fn a_byte_that_no_client_sends_is_an_error_of_the_server() {
    let (server, ()) = with_server(&json!({}), |port| {
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        for byte in [0, 0, 9] {
            client.write_all(&[byte]).unwrap();
        }
        // The server answers the first flight, and closes when it fails.
        let _ = client.read_to_end(&mut Vec::new());
    });
    let expected = "server: the peer sent the byte 9, expected the client's";
    assert_eq!(message(server), expected);
}

#[test]
fn nagles_algorithm_is_off_unless_the_scenario_has_it() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    for (variant, is_off) in [("nagle", false), ("hello-retry", true)] {
        let scenario = peer(json!({"variant": variant}), None).scenario;
        peer::set_nodelay(&stream, &scenario).unwrap();
        assert_eq!(stream.nodelay().unwrap(), is_off, "{variant}");
    }
}

#[test]
fn an_extent_has_a_minimum_and_a_maximum_number() {
    let number = |seconds, least| {
        let mut goes_on = Extent { seconds, least }.begin().unwrap();
        (0..).take_while(|_| goes_on()).count()
    };
    assert_eq!(number(0.0, 3), 3);
    assert_eq!(number(0.0, 0), 0);
    assert_eq!(number(3600.0, 3), usize::try_from(MOST).unwrap());
    let negative = Extent {
        seconds: -1.0,
        least: 1,
    };
    let found = negative.begin().err().unwrap().to_string();
    assert_eq!(found, "-1 s is no span of time");
}

#[test]
fn processor_time_is_divided_by_the_number_of_connections() {
    let spent = Spent {
        connections: 4,
        wall_nanoseconds: 0,
        user_nanoseconds: 8_000,
        system_nanoseconds: 0,
    };
    assert_eq!(spent.microseconds(spent.user_nanoseconds), 2.0);
}

#[test]
fn processor_time_passes_while_a_thread_works() {
    let since = Instant::now();
    let start = Moment::now().unwrap();
    loop {
        let spent = start.until(Moment::now().unwrap(), 1).unwrap();
        let processor = spent.user_nanoseconds + spent.system_nanoseconds;
        if processor >= 10_000_000 {
            let passed = u128::from(spent.wall_nanoseconds);
            assert!(passed > 0 && passed <= since.elapsed().as_nanos());
            break;
        }
        // On a busy host it may have a processor for a small part of the time.
        assert!(since.elapsed() < Duration::from_secs(5), "{spent:?}");
    }
}
