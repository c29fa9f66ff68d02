//! Runs one handshake over the transport, measures each role by phase, and checks the result.
//!
//! Handshakes, transfers and memory measurements use it.

use std::{cell::RefCell, time::Duration};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    certificates::{authority, set_up},
    chain::SentChain,
    clock::Laps,
    early_data::EarlyData,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    record::Phase,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Protocol, Resumption, Scenario,
        Variant,
    },
    transport::Transport,
    wire::{self, WireHandshake},
};

/// The largest number of flights of a role: three in TLS 1.3 with a HelloRetryRequest.
const MAX_FLIGHTS: usize = 4;

/// The phases of a role's flights, in order.
pub const FLIGHTS: [Phase; MAX_FLIGHTS] = [
    Phase::Flight1,
    Phase::Flight2,
    Phase::Flight3,
    Phase::Flight4,
];

/// Times of one role, by phase.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phases {
    pub construction: Duration,
    /// One entry for each flight that took place.
    pub flights: Vec<Duration>,
    /// Present if the role waited for tickets.
    pub tickets: Option<Duration>,
}

impl Phases {
    fn new() -> Self {
        Self {
            flights: Vec::with_capacity(MAX_FLIGHTS),
            ..Self::default()
        }
    }

    pub fn total(&self) -> Duration {
        self.construction + self.flights.iter().sum::<Duration>() + self.tickets.unwrap_or_default()
    }

    /// The phases with their names, in order.
    pub fn named(&self) -> impl Iterator<Item = (Phase, Duration)> {
        [(Phase::Construction, self.construction)]
            .into_iter()
            .chain(FLIGHTS.into_iter().zip(self.flights.iter().copied()))
            .chain(self.tickets.map(|time| (Phase::Tickets, time)))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Times {
    pub client: Phases,
    pub server: Phases,
}

/// Two connections that have completed their handshake.
pub struct Pair<'a, L: TlsLibrary + ?Sized + 'a> {
    pub client: L::Client<'a>,
    pub server: L::Server<'a>,
    pub times: Times,
}

/// Runs one handshake over a cleared transport. Only the library's calls run between two clock
/// reads.
pub fn run<'a, L: TlsLibrary + ?Sized>(
    library: &L,
    client_config: &'a L::ClientConfig,
    server_config: &'a L::ServerConfig,
    transport: &'a Transport,
    awaits_tickets: bool,
) -> Result<Pair<'a, L>> {
    run_with(
        library,
        client_config,
        server_config,
        transport,
        awaits_tickets,
        None,
    )
}

/// Runs one handshake, in which the client sends early data if there is any. Sending it is part of
/// the client's first flight, and reading it of the server's.
fn run_with<'a, L: TlsLibrary + ?Sized>(
    library: &L,
    client_config: &'a L::ClientConfig,
    server_config: &'a L::ServerConfig,
    transport: &'a Transport,
    awaits_tickets: bool,
    mut early: Option<&mut EarlyData>,
) -> Result<Pair<'a, L>> {
    let mut times = Times {
        client: Phases::new(),
        server: Phases::new(),
    };
    let mut laps = Laps::start();
    let client = library.connect(client_config, &transport.client);
    times.client.construction = laps.lap();
    let server = library.accept(server_config, &transport.server);
    times.server.construction = laps.lap();
    let mut client = client.context("client")?;
    let mut server = server.context("server")?;
    let (mut client_is, mut server_is) = (Progress::Waiting, Progress::Waiting);
    laps = Laps::start();
    loop {
        ensure!(
            times.client.flights.len() < MAX_FLIGHTS,
            "the handshake is not complete after {MAX_FLIGHTS} flights"
        );
        if client_is == Progress::Waiting {
            match &early {
                Some(early) => client.send_early_data(early.to_send()).context("client")?,
                None => client_is = client.handshake().context("client")?,
            }
            times.client.flights.push(laps.lap());
        }
        if server_is == Progress::Waiting {
            match early.take() {
                Some(early) => early
                    .receive(|buffer| server.receive_early_data(buffer))
                    .context("server")?,
                None => server_is = server.handshake().context("server")?,
            }
            times.server.flights.push(laps.lap());
        }
        if (client_is, server_is) == (Progress::Done, Progress::Done) {
            break;
        }
    }
    if awaits_tickets {
        client.receive_tickets().context("client, tickets")?;
        times.client.tickets = Some(laps.lap());
    }
    Ok(Pair {
        client,
        server,
        times,
    })
}

/// The parameters that every handshake of a scenario must negotiate.
#[derive(Clone, Debug)]
pub struct Expected {
    protocol: Protocol,
    cipher_suite: CipherSuite,
    key_exchange: Option<KeyExchange>,
    /// The groups of the key shares in the client's first ClientHello. Of TLS 1.3 only.
    key_shares: Vec<KeyExchange>,
    certificate: Certificate,
    resumption: Resumption,
    renews_tickets: bool,
    /// The chain of the client; none if it sends no certificates.
    client_chain: Option<SentChain>,
    server_chain: SentChain,
    hello_retry: bool,
    /// The algorithms with which the client accepts compressed certificates.
    compressions: Vec<u16>,
    early_data: bool,
}

impl Expected {
    pub fn new(scenario: &Scenario) -> Result<Self> {
        let (setup, client) = (Setup::server(scenario)?, Setup::client(scenario)?);
        let shares = match setup.protocol {
            Protocol::Tls12 => 0,
            Protocol::Tls13 => client.key_shares,
        };
        let server = match setup.named {
            [] => setup.identity,
            named => Some(set_up::requested(named).identity),
        };
        let server = server.context("a server needs an identity")?;
        let chain = |it| SentChain::new(it, setup.certificate);
        Ok(Self {
            protocol: setup.protocol,
            cipher_suite: setup.cipher_suite,
            key_exchange: scenario.key_exchange,
            key_shares: client.groups[..shares].to_vec(),
            certificate: setup.certificate,
            resumption: setup.resumption,
            renews_tickets: setup.renews_tickets,
            client_chain: client.identity.as_ref().map(chain),
            server_chain: chain(&server).compressed(setup.compresses),
            hello_retry: scenario.variant == Some(Variant::HelloRetry),
            compressions: Vec::from_iter(setup.compresses.then_some(wire::ZLIB)),
            early_data: setup.early_data,
        })
    }

    /// Whether the client receives a ticket after each handshake. TLS 1.3 also resumes by session
    /// id with a ticket, which then contains only a key to the server's cache.
    pub fn awaits_tickets(&self) -> bool {
        self.protocol == Protocol::Tls13 && self.resumption != Resumption::None
    }

    /// Whether each handshake after the first resumes a session.
    pub fn resumes(&self) -> bool {
        self.resumption != Resumption::None
    }

    /// Checks a handshake twice: by the reports of the library on both roles, and by the bytes on
    /// the wire. `resumed`: whether it must be a resumption (the first handshake cannot be one).
    pub fn check<L: TlsLibrary + ?Sized>(
        &self,
        pair: &Pair<'_, L>,
        transport: &Transport,
        resumed: bool,
    ) -> Result<()> {
        let seen = transport.sent_by_server(wire::parse)?;
        self.check_wire(&seen, resumed).context("on the wire")?;
        let sent = transport.sent_by_client(wire::first_key_shares)?;
        same("key shares of the client", sent, self.key_shares.clone())?;
        if self.protocol == Protocol::Tls12 && !resumed {
            let scheme = Some(self.certificate.signature_scheme());
            let server = transport.sent_by_server(wire::signature_scheme)?;
            same("signature scheme on the wire", server, scheme).context("server")?;
            let client = transport.sent_by_client(wire::signature_scheme)?;
            let scheme = scheme.filter(|_| self.client_chain.is_some());
            same("signature scheme on the wire", client, scheme).context("client")?;
        }
        let offered = transport.sent_by_client(wire::certificate_compressions)?;
        let what = "algorithms with which the client accepts compressed certificates";
        same(what, offered, self.compressions.clone())?;
        if self.protocol == Protocol::Tls13 && !resumed {
            let mut offered = transport.sent_by_client(wire::signature_schemes)?;
            offered.retain(|it| !wire::NEVER_SIGNED.contains(it));
            let expected = vec![self.certificate.signature_scheme()];
            same(
                "signature schemes that the client offers",
                offered,
                expected,
            )?;
        }
        self.check_client(&pair.client, resumed).context("client")?;
        self.check_server(&pair.server, Some(resumed))
            .context("server")?;
        ensure!(
            !transport.client.has_arrived() && !transport.server.has_arrived(),
            "bytes were sent but not read"
        );
        let accepted = [
            ("client", pair.client.early_data_accepted()?),
            ("server", pair.server.early_data_accepted()?),
        ];
        for (side, accepted) in accepted {
            let expected = self.early_data && resumed;
            same("early data accepted", accepted, expected).context(side)?;
        }
        self.check_chains(transport, resumed).context("on the wire")
    }

    /// Checks that each peer sent its whole chain. TLS 1.3 encrypts tickets too, so the size of a
    /// handshake with tickets shows no chain.
    fn check_chains(&self, transport: &Transport, resumed: bool) -> Result<()> {
        if resumed || self.awaits_tickets() {
            return Ok(());
        }
        let server = |sent: &[u8]| self.server_chain.check(self.protocol, sent);
        transport.sent_by_server(server).context("server")?;
        if let Some(chain) = &self.client_chain {
            let client = |sent: &[u8]| chain.check(self.protocol, sent);
            transport.sent_by_client(client).context("client")?;
        }
        Ok(())
    }

    /// Checks the report of a client's library.
    pub fn check_client(&self, client: &impl Connection, resumed: bool) -> Result<()> {
        let client = client.negotiated()?;
        self.check_negotiated(&client, Some(resumed))?;
        same("peer verified", client.peer_verified, true)?;
        self.check_signature(&client, resumed)?;
        same("tickets", client.tickets, u32::from(self.awaits_tickets()))
    }

    /// Checks the report of a server's library; a server that does not choose whether sessions are
    /// resumed has no `resumed`.
    pub fn check_server(&self, server: &impl Connection, resumed: Option<bool>) -> Result<()> {
        let server = server.negotiated()?;
        self.check_negotiated(&server, resumed)?;
        let mutual = self.client_chain.is_some();
        same("peer verified", server.peer_verified, mutual)?;
        self.check_signature(&server, resumed == Some(true))
    }

    /// Checks the scheme in which the peer signed, where a library reports it. In TLS 1.2 the wire
    /// shows it.
    fn check_signature(&self, negotiated: &Negotiated, resumed: bool) -> Result<()> {
        match negotiated.signature_scheme {
            Some(found) if self.protocol == Protocol::Tls13 && !resumed => {
                let expected = self.certificate.signature_scheme();
                same("signature scheme", found, expected)
            }
            _ => Ok(()),
        }
    }

    fn check_negotiated(&self, negotiated: &Negotiated, resumed: Option<bool>) -> Result<()> {
        same("protocol", negotiated.protocol, self.protocol)?;
        same("cipher suite", negotiated.cipher_suite, self.cipher_suite)?;
        if let (Some(found), Some(expected)) = (negotiated.resumed, resumed) {
            same("resumed", found, expected)?;
        }
        if let (Some(found), Some(expected)) = (negotiated.key_exchange, self.key_exchange) {
            same("key exchange", found, expected)?;
        }
        Ok(())
    }

    fn check_wire(&self, seen: &WireHandshake, resumed: bool) -> Result<()> {
        same("protocol", seen.protocol, self.protocol)?;
        same("cipher suite", seen.cipher_suite, self.cipher_suite)?;
        same("resumed", seen.resumed, resumed)?;
        same("hello retry", seen.hello_retry, self.hello_retry)?;
        if self.protocol == Protocol::Tls13 || !resumed {
            let expected = self.key_exchange.unwrap_or(KeyExchange::X25519);
            same("key exchange", seen.key_exchange, Some(expected))?;
        }
        // A library by default may renew a ticket or not.
        if self.protocol == Protocol::Tls12 && (self.renews_tickets || !resumed) {
            let tickets = u32::from(self.resumption == Resumption::Ticket);
            same("tickets", seen.tickets, tickets)?;
        }
        Ok(())
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Result<()> {
    ensure!(
        found == expected,
        "{what}: found {found:?}, expected {expected:?}"
    );
    Ok(())
}

/// Proves that the library verifies its peers: a handshake must fail if the trusted root did not
/// sign the chain, if the peer signs in another scheme, if the name differs, or if a client that must
/// authenticate itself does not.
pub fn prove_verification<L: TlsLibrary + ?Sized>(library: &L, scenario: &Scenario) -> Result<()> {
    let transport = Transport::new(Transport::HANDSHAKE_CAPACITY);
    let (client, server) = (Setup::client(scenario)?, Setup::server(scenario)?);
    let must_fail = |what: &str, client: &Setup, server: &Setup| -> Result<()> {
        transport.clear();
        let client = library.client_config(client)?;
        let server = library.server_config(server)?;
        if run(library, &client, &server, &transport, false).is_ok() {
            bail!("verification is off: {what} was accepted");
        }
        Ok(())
    };
    let mut wrong = client.clone();
    wrong.trusted = other_root(client.certificate);
    must_fail("a server signed by an unknown root", &wrong, &server)?;
    if server.protocol == Protocol::Tls13 {
        let other = client.certificate.with_another_scheme();
        let mut wrong = client.clone();
        wrong.trusted = authority(other).root;
        let mut scenario = scenario.clone();
        (scenario.certificate, scenario.variant) = (Some(other), None);
        let what = "a server whose signature has another scheme";
        must_fail(what, &wrong, &Setup::server(&scenario)?)?;
    }
    let mut wrong = client.clone();
    wrong.host_name = "other.example";
    must_fail("a server of another name", &wrong, &server)?;
    if server.authentication == Authentication::Mutual {
        let mut wrong = server.clone();
        wrong.trusted = other_root(server.certificate);
        must_fail("a client signed by an unknown root", &client, &wrong)?;
        let mut wrong = client.clone();
        wrong.identity = None;
        must_fail("a client without a certificate", &wrong, &server)?;
    }
    Ok(())
}

/// A root with the same name that did not sign the chain of `certificate`.
fn other_root(certificate: Certificate) -> &'static str {
    authority(certificate.with_another_scheme()).root
}

/// A configured scenario with the transport of its handshakes; belongs to one thread.
pub struct HandshakeBench<'a, L: TlsLibrary + ?Sized> {
    pub library: &'a L,
    pub client_config: L::ClientConfig,
    pub server_config: &'a L::ServerConfig,
    pub transport: Transport,
    pub expected: Expected,
    /// Present if each handshake that resumes a session has early data.
    early: Option<RefCell<EarlyData>>,
}

impl<'a, L: TlsLibrary + ?Sized> HandshakeBench<'a, L> {
    pub fn new(
        library: &'a L,
        server_config: &'a L::ServerConfig,
        scenario: &Scenario,
        capacity: usize,
    ) -> Result<Self> {
        let expected = Expected::new(scenario)?;
        Ok(Self {
            library,
            client_config: library.client_config(&Setup::client(scenario)?)?,
            server_config,
            transport: Transport::new(capacity),
            early: expected
                .early_data
                .then(|| RefCell::new(EarlyData::default())),
            expected,
        })
    }

    /// Runs one handshake without checking its result.
    pub fn unchecked(&self) -> Result<Pair<'_, L>> {
        self.next(self.resumes())
    }

    fn next(&self, resumes: bool) -> Result<Pair<'_, L>> {
        self.transport.clear();
        let early = self.early.as_ref().filter(|_| resumes);
        let mut early = early.map(RefCell::borrow_mut);
        if let Some(early) = &mut early {
            early.renew();
        }
        run_with(
            self.library,
            &self.client_config,
            self.server_config,
            &self.transport,
            self.expected.awaits_tickets(),
            early.as_deref_mut(),
        )
    }

    /// Runs one handshake and checks it. `resumed`: whether it must be a resumption.
    pub fn handshake(&self, resumed: bool) -> Result<Pair<'_, L>> {
        let pair = self.next(resumed)?;
        self.expected.check(&pair, &self.transport, resumed)?;
        if let Some(early) = self.early.as_ref().filter(|_| resumed) {
            let suite = self.expected.cipher_suite;
            early.borrow().check(&self.transport, suite)?;
        }
        Ok(pair)
    }

    /// Makes the session that the first measured handshake resumes, if the scenario resumes
    /// sessions.
    pub fn prepare(&self) -> Result<()> {
        if self.resumes() {
            self.handshake(false).context("the session to be resumed")?;
        }
        Ok(())
    }

    /// Whether each handshake after the first resumes a session.
    pub fn resumes(&self) -> bool {
        self.expected.resumes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A mutual handshake of TLS 1.3 with a ticket, or one of TLS 1.2 by session id.
    fn expected(protocol: &str) -> Expected {
        let is_new = protocol == "1.3";
        let scenario = json!({"operation": "handshake", "protocol": protocol,
            "cipher_suite": match is_new {
                true => "TLS_AES_256_GCM_SHA384",
                false => "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            },
            "key_exchange": "X25519", "certificate": "rsa-2048", "authentication": "mutual",
            "resumption": if is_new { "ticket" } else { "session-id" }, "threads": 1});
        Expected::new(&serde_json::from_value(scenario).unwrap()).unwrap()
    }

    struct Reported(Negotiated);

    impl Connection for Reported {
        fn handshake(&mut self) -> Result<Progress> {
            bail!("it is only asked for its report")
        }

        fn receive_tickets(&mut self) -> Result<()> {
            bail!("it is only asked for its report")
        }

        fn send(&mut self, _: &[u8]) -> Result<()> {
            bail!("it is only asked for its report")
        }

        fn receive(&mut self, _: &mut [u8]) -> Result<usize> {
            bail!("it is only asked for its report")
        }

        fn negotiated(&self) -> Result<Negotiated> {
            Ok(self.0)
        }
    }

    fn refused(checked: Result<()>, what: &str) {
        let error = checked.unwrap_err().to_string();
        assert!(error.starts_with(&format!("{what}: found")), "{error}");
    }

    #[test]
    fn each_field_of_a_report_is_checked_on_both_sides() {
        let expected = expected("1.3");
        let right = Negotiated {
            protocol: Protocol::Tls13,
            cipher_suite: CipherSuite::Aes256Gcm,
            key_exchange: Some(KeyExchange::X25519),
            resumed: Some(false),
            signature_scheme: Some(Certificate::Rsa2048.signature_scheme()),
            peer_verified: true,
            tickets: 1,
        };
        let client = |it| expected.check_client(&Reported(it), false);
        let server = |it| expected.check_server(&Reported(it), Some(false));
        client(right).unwrap();
        server(right).unwrap();
        type Change = fn(&mut Negotiated);
        let changes: [(&str, Change); 6] = [
            ("protocol", |it| it.protocol = Protocol::Tls12),
            ("cipher suite", |it| {
                it.cipher_suite = CipherSuite::Aes128Gcm
            }),
            ("key exchange", |it| {
                it.key_exchange = Some(KeyExchange::Secp256r1)
            }),
            ("resumed", |it| it.resumed = Some(true)),
            ("signature scheme", |it| it.signature_scheme = Some(0x0401)),
            ("peer verified", |it| it.peer_verified = false),
        ];
        for (what, change) in changes {
            let mut wrong = right;
            change(&mut wrong);
            refused(client(wrong), what);
            refused(server(wrong), what);
        }
        for tickets in [0, 2] {
            refused(client(Negotiated { tickets, ..right }), "tickets");
        }
        // What a library does not report cannot be wrong.
        client(Negotiated {
            key_exchange: None,
            resumed: None,
            signature_scheme: None,
            ..right
        })
        .unwrap();
    }

    #[test]
    fn each_field_of_the_wire_is_checked() {
        for (protocol, cipher_suite, other) in [
            (
                Protocol::Tls13,
                CipherSuite::Aes256Gcm,
                CipherSuite::Aes128Gcm,
            ),
            (
                Protocol::Tls12,
                CipherSuite::EcdheRsaAes256Gcm,
                CipherSuite::EcdheRsaAes128Gcm,
            ),
        ] {
            let expected = expected(protocol.as_str());
            let right = WireHandshake {
                protocol,
                cipher_suite,
                key_exchange: Some(KeyExchange::X25519),
                resumed: false,
                hello_retry: false,
                tickets: 0,
            };
            let check = |it| expected.check_wire(&it, false);
            check(right).unwrap();
            let is_new = protocol == Protocol::Tls13;
            let another = match is_new {
                true => Protocol::Tls12,
                false => Protocol::Tls13,
            };
            for (what, wrong) in [
                (
                    "protocol",
                    WireHandshake {
                        protocol: another,
                        ..right
                    },
                ),
                (
                    "cipher suite",
                    WireHandshake {
                        cipher_suite: other,
                        ..right
                    },
                ),
                (
                    "key exchange",
                    WireHandshake {
                        key_exchange: None,
                        ..right
                    },
                ),
                (
                    "resumed",
                    WireHandshake {
                        resumed: true,
                        ..right
                    },
                ),
                (
                    "hello retry",
                    WireHandshake {
                        hello_retry: true,
                        ..right
                    },
                ),
            ] {
                refused(check(wrong), what);
            }
            if !is_new {
                refused(
                    check(WireHandshake {
                        tickets: 1,
                        ..right
                    }),
                    "tickets",
                );
            }
        }
    }
}
