//! Handshakes have the parameters of their scenario, and the driver notices differences.

use std::collections::BTreeSet;

use tls_harness::{
    library::{Connection as _, Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Protocol, Resumption, Scenario,
    },
    session::{self, HandshakeBench},
    transport::Transport,
    wire,
};

use super::{
    good,
    scenarios::{compressed, early_data, handshake_12, handshake_13, handshakes, own_tickets},
};

fn bench<'a, L: TlsLibrary>(
    library: &'a L,
    server: &'a L::ServerConfig,
    scenario: &Scenario,
) -> HandshakeBench<'a, L> {
    HandshakeBench::new(library, server, scenario, Transport::HANDSHAKE_CAPACITY).unwrap()
}

pub fn server<L: TlsLibrary>(library: &L, scenario: &Scenario) -> L::ServerConfig {
    let config = library.server_config(&Setup::server(scenario).unwrap());
    good(config, scenario)
}

/// Every supported handshake has the parameters of its scenario, each time.
pub fn every_handshake_negotiates_the_parameters_of_its_scenario<L: TlsLibrary>(library: &L) {
    for scenario in handshakes() {
        if library.unsupported(&scenario).is_some() {
            continue;
        }
        let server = server(library, &scenario);
        let bench = bench(library, &server, &scenario);
        let run = || {
            bench.prepare()?;
            (0..3).try_for_each(|_| bench.handshake(bench.resumes()).map(drop))
        };
        good(run(), &scenario);
    }
}

/// The client's library reports the scheme in which the server signed in every supported full
/// handshake of TLS 1.3, or in none. Returns the number of types of certificates with a report.
pub fn the_reported_scheme_is_that_of_the_certificate<L: TlsLibrary>(library: &L) -> usize {
    let (mut reported, mut others) = (BTreeSet::new(), BTreeSet::new());
    for scenario in handshakes() {
        let full = scenario.protocol == Some(Protocol::Tls13)
            && scenario.resumption == Some(Resumption::None);
        if !full || library.unsupported(&scenario).is_some() {
            continue;
        }
        let certificate = scenario.certificate.unwrap();
        let server = server(library, &scenario);
        let bench = bench(library, &server, &scenario);
        let pair = bench.handshake(false).unwrap();
        match pair.client.negotiated().unwrap().signature_scheme {
            Some(found) => {
                assert_eq!(found, certificate.signature_scheme(), "{}", scenario.name());
                reported.insert(certificate.as_str());
            }
            None => {
                others.insert(certificate.as_str());
            }
        }
    }
    assert!(
        reported.is_empty() || others.is_empty(),
        "no report: {others:?}"
    );
    reported.len()
}

fn refused<T>(result: anyhow::Result<T>, expected: &str) {
    match result {
        Ok(_) => panic!("the driver did not notice: {expected}"),
        Err(error) => {
            let message = format!("{error:#}");
            assert!(
                message.contains(expected),
                "found {message}, expected {expected}"
            );
        }
    }
}

/// The driver fails on a handshake whose result differs from the scenario, and on one that must not
/// succeed.
pub fn wrong_handshakes_are_noticed<L: TlsLibrary>(library: &L) {
    let has_tickets = with_tickets()
        .iter()
        .any(|it| library.unsupported(it).is_none());
    for scenario in [handshake_12(), handshake_13()] {
        for authentication in [Authentication::Server, Authentication::Mutual] {
            let scenario = Scenario {
                authentication: Some(authentication),
                ..scenario.clone()
            };
            good(session::prove_verification(library, &scenario), &scenario);
        }
        let server_config = server(library, &scenario);

        let with_client = |change: fn(&mut Setup)| {
            let mut setup = Setup::client(&scenario).unwrap();
            change(&mut setup);
            let mut bench = bench(library, &server_config, &scenario);
            bench.client_config = library.client_config(&setup).unwrap();
            bench.handshake(false).map(drop)
        };
        good(with_client(|_| ()), &scenario);
        refused(
            with_client(|setup| {
                let other = tls_harness::certificates::authority(Certificate::EcdsaP256);
                setup.trusted = other.root;
            }),
            "client",
        );
        refused(
            with_client(|setup| setup.host_name = "other.example"),
            "client",
        );

        // Both roles are configured for another scenario than the expected one.
        let with_other = |change: &dyn Fn(&mut Scenario)| {
            let mut other = scenario.clone();
            change(&mut other);
            let server_config = server(library, &other);
            let mut bench = bench(library, &server_config, &scenario);
            let setup = Setup::client(&other).unwrap();
            bench.client_config = library.client_config(&setup).unwrap();
            bench.handshake(false).map(drop)
        };
        let other_suite = match scenario.protocol {
            Some(Protocol::Tls13) => CipherSuite::Aes128Gcm,
            _ => CipherSuite::EcdheRsaAes128Gcm,
        };
        let with_other_suite = Scenario {
            cipher_suite: Some(other_suite),
            ..scenario.clone()
        };
        if library.unsupported(&with_other_suite).is_none() {
            refused(
                with_other(&|other| other.cipher_suite = Some(other_suite)),
                "cipher suite: found",
            );
        }
        refused(
            with_other(&|other| other.key_exchange = Some(KeyExchange::Secp256r1)),
            "key exchange: found",
        );
        if scenario.protocol == Some(Protocol::Tls13) {
            refused(
                with_other(&|other| other.certificate = Some(Certificate::EcdsaP256)),
                "signature schemes that the client offers: found",
            );
        }
        if has_tickets {
            refused(
                with_other(&|other| other.resumption = Some(Resumption::Ticket)),
                match scenario.protocol {
                    Some(Protocol::Tls13) => "bytes were sent but not read",
                    _ => "tickets: found 1, expected 0",
                },
            );
        }
        refused(
            with_other(&|other| {
                *other = match scenario.protocol {
                    Some(Protocol::Tls13) => handshake_12(),
                    _ => handshake_13(),
                }
            }),
            "protocol: found",
        );

        // There is no session, so no handshake can resume one.
        if !has_tickets {
            continue;
        }
        let resumed = Scenario {
            resumption: Some(Resumption::Ticket),
            ..scenario.clone()
        };
        let server_config = server(library, &resumed);
        refused(
            bench(library, &server_config, &resumed).handshake(true),
            "resumed: found false, expected true",
        );
    }
}

/// The driver fails if a peer leaves out its intermediate, or sends the root too. Both peers trust
/// the intermediate, so the library verifies such chains.
pub fn a_missing_or_another_certificate_is_noticed<L: TlsLibrary>(library: &L) {
    const END: &str = "-----END CERTIFICATE-----\n";
    for base in [handshake_12(), handshake_13()] {
        let scenario = Scenario {
            authentication: Some(Authentication::Mutual),
            ..base
        };
        let client = Setup::client(&scenario).unwrap();
        let server = Setup::server(&scenario).unwrap();
        let chain = |of: &Setup| of.identity.unwrap().chain;
        let leaf = |of: &Setup| chain(of).split_inclusive(END).next().unwrap();
        let intermediate = chain(&server).split_inclusive(END).nth(1).unwrap();
        let trusted: &str = String::leak([server.trusted, intermediate].concat());
        let with = |of: &Setup, chain: &'static str| {
            let mut setup = of.clone();
            setup.trusted = trusted;
            setup.identity.as_mut().unwrap().chain = chain;
            setup
        };
        let handshake = |of_client, of_server| {
            let config = library.server_config(&with(&server, of_server)).unwrap();
            let mut bench = bench(library, &config, &scenario);
            bench.client_config = library.client_config(&with(&client, of_client)).unwrap();
            bench.handshake(false).map(drop)
        };
        good(handshake(chain(&client), chain(&server)), &scenario);
        let with_root: &str = String::leak([chain(&server), server.trusted].concat());
        for (of_client, of_server, side) in [
            (chain(&client), leaf(&server), "server"),
            (leaf(&client), chain(&server), "client"),
            (chain(&client), with_root, "server"),
        ] {
            let expected = format!("on the wire: {side}: certificates: found");
            refused(handshake(of_client, of_server), &expected);
        }
    }
}

/// The driver fails if a side does not compress certificates as its scenario states. A library
/// without compression reports that in `unsupported`, and its list names these scenarios.
pub fn missing_or_unwanted_compression_is_noticed<L: TlsLibrary>(library: &L) {
    const OFFER: &str = "algorithms with which the client accepts compressed certificates: found";
    let found = |scenario: &Scenario| library.unsupported(scenario).is_none();
    for scenario in compressed().into_iter().filter(found) {
        let with = |expected: &Scenario, client: bool, server: bool| {
            let mut setup = Setup::server(expected).unwrap();
            setup.compresses = server;
            let config = library.server_config(&setup).unwrap();
            let mut setup = Setup::client(expected).unwrap();
            setup.compresses = client;
            let mut bench = bench(library, &config, expected);
            bench.client_config = library.client_config(&setup).unwrap();
            bench.handshake(false).map(drop)
        };
        good(with(&scenario, true, true), &scenario);
        let without = "on the wire: server: certificates: found";
        refused(with(&scenario, true, false), without);
        refused(
            with(&scenario, false, true),
            &format!("{OFFER} [], expected [1]"),
        );
        let plain = Scenario {
            variant: None,
            ..scenario
        };
        good(with(&plain, false, true), &plain);
        refused(
            with(&plain, true, false),
            &format!("{OFFER} [1], expected []"),
        );
    }
}

/// The driver fails if a server does not permit early data, so that a client cannot send any.
pub fn early_data_that_is_not_permitted_is_noticed<L: TlsLibrary>(library: &L) {
    for scenario in early_data() {
        if library.unsupported(&scenario).is_some() {
            continue;
        }
        let mut setup = Setup::server(&scenario).unwrap();
        setup.early_data = false;
        let config = library.server_config(&setup).unwrap();
        let bench = bench(library, &config, &scenario);
        good(bench.prepare(), &scenario);
        let Err(error) = bench.handshake(true) else {
            panic!("the driver did not notice that early data was rejected");
        };
        // The client sends none or has it rejected; GnuTLS's server has none to report.
        let message = format!("{error:#}");
        assert!(
            message.starts_with("client") || message.contains("recv_early_data"),
            "found {message}, expected an error of the client or of recv_early_data"
        );
    }
}

/// A server accepts the early data of a first flight once, though the same bytes arrive again. The
/// documentation lists the libraries without such protection. Returns the number of scenarios with this
/// way to resume.
#[allow(dead_code, reason = "not every library protects its servers")]
pub fn early_data_is_accepted_once<L: TlsLibrary>(library: &L, resumption: Resumption) -> usize {
    let mut tried = 0;
    for scenario in early_data() {
        if scenario.resumption != Some(resumption) || library.unsupported(&scenario).is_some() {
            continue;
        }
        let server = server(library, &scenario);
        let bench = bench(library, &server, &scenario);
        good(bench.prepare(), &scenario);
        bench.transport.clear();
        let client = library.connect(&bench.client_config, &bench.transport.client);
        good(client.unwrap().send_early_data(&[7; 100]), &scenario);
        let flight = bench.transport.sent_by_client(<[u8]>::to_vec);
        let received = || {
            let transport = Transport::new(Transport::HANDSHAKE_CAPACITY);
            assert!(transport.client.send(&flight), "the transport is full");
            let mut server = library.accept(&server, &transport.server)?;
            server.receive_early_data(&mut [0; 100])
        };
        assert_eq!(good(received(), &scenario), 100);
        let again = received();
        assert!(again.is_err(), "{}: accepted again", scenario.name());
        tried += 1;
    }
    tried
}

/// By default a server of the library sends this number of new tickets when it resumes TLS 1.2.
pub fn by_default_renews<L: TlsLibrary>(library: &L, expected: u32) {
    let scenario = &own_tickets()[0];
    let server = server(library, scenario);
    let bench = bench(library, &server, scenario);
    for resumed in [false, true, true] {
        good(bench.handshake(resumed), scenario);
        let seen = bench.transport.sent_by_server(wire::parse).unwrap();
        let expected = if resumed { expected } else { 1 };
        assert_eq!(seen.tickets, expected, "tickets, resumed: {resumed}");
    }
}

fn with_tickets() -> [Scenario; 2] {
    [handshake_12(), handshake_13()].map(|base| Scenario {
        resumption: Some(Resumption::Ticket),
        ..base
    })
}

/// A session is resumed once: of two connections from one ticket, the second does a full handshake.
/// A library without tickets reports that in `unsupported`, and its list names these scenarios.
pub fn a_ticket_is_used_once<L: TlsLibrary>(library: &L) {
    let found = |scenario: &Scenario| library.unsupported(scenario).is_none();
    for scenario in with_tickets().into_iter().filter(found) {
        let server = server(library, &scenario);
        let bench = bench(library, &server, &scenario);
        let run = || {
            bench.prepare()?;
            // This connection uses up the ticket and never completes.
            drop(library.connect(&bench.client_config, &bench.transport.client)?);
            bench.handshake(false)?;
            bench.handshake(true).map(drop)
        };
        good(run(), &scenario);
    }
}

/// A server in whose cache a client's early data names a session accepts it once, though the same
/// bytes arrive again. The documentation lists the libraries that have no such cache.
pub fn replayed_early_data_is_rejected<L: TlsLibrary>(library: &L) {
    early_data_is_accepted_once(library, Resumption::SessionId);
}

/// A server that resumes by id drops the oldest session when its cache is full; rustls calls its
/// capacity "rough". A library that leaves the cache to the application has none. Tickets that
/// contain their session need no cache.
pub fn the_session_cache_holds_the_stated_number_of_sessions<L: TlsLibrary>(library: &L) {
    let by_id = with_tickets().map(|it| Scenario {
        resumption: Some(Resumption::SessionId),
        ..it
    });
    let [old, new] = by_id;
    resumes_after(library, &old, [library.unsupported(&old).is_none(), false]);
    let [old_ticket, new_ticket] = with_tickets();
    for (scenario, is_kept) in [
        (new, [true, false]),
        (old_ticket, [true; 2]),
        (new_ticket, [true; 2]),
    ] {
        if library.unsupported(&scenario).is_none() {
            resumes_after(library, &scenario, is_kept);
        }
    }
}

/// Whether a session is resumed after 4 and after 16 others, with a cache of 8.
fn resumes_after<L: TlsLibrary>(library: &L, scenario: &Scenario, is_kept: [bool; 2]) {
    for (others, is_kept) in [4, 16].into_iter().zip(is_kept) {
        let mut setup = Setup::server(scenario).unwrap();
        setup.session_cache = 8;
        let server = good(library.server_config(&setup), scenario);
        let first = bench(library, &server, scenario);
        let full = |bench: &HandshakeBench<'_, L>| drop(good(bench.handshake(false), scenario));
        full(&first);
        for _ in 0..others {
            full(&bench(library, &server, scenario));
        }
        if let Err(error) = first.handshake(is_kept) {
            let name = scenario.name();
            panic!("{name}: after {others} other sessions in a cache of 8: {error:#}");
        }
    }
}
