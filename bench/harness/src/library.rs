//! What the driver asks of a TLS library. An adapter implements `TlsLibrary` and `Connection`.

use std::any::Any;

use anyhow::{Context, Result, bail};

use crate::{
    certificates::{self, HOST_NAME, Identity, Named, set_up},
    implementation::Implementation,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Protocol, Resumption, Scenario,
        Variant,
    },
    transport::Endpoint,
    workloads::primitives::Cryptography,
};

/// How one role is to be configured. Everything a library would otherwise choose is pinned.
#[derive(Clone, Debug)]
pub struct Setup {
    pub protocol: Protocol,
    pub cipher_suite: CipherSuite,
    /// By preference. A client sends a key share for the first `key_shares` of them.
    pub groups: Vec<KeyExchange>,
    pub key_shares: usize,
    /// Only this signature algorithm is offered: the one of the certificate.
    pub certificate: Certificate,
    pub authentication: Authentication,
    /// `None`: the server issues no tickets and has no cache. Otherwise every session that a
    /// handshake yields is kept by the client and used once.
    pub resumption: Resumption,
    /// Sessions that a server keeps at the most, where it resumes them by id.
    pub session_cache: u32,
    /// Largest record, in bytes of plaintext; absent: the protocol's 16 KiB.
    pub record_size: Option<u32>,
    /// The roots that the peer is verified with, as PEM; empty where it is not.
    pub trusted: &'static str,
    /// Whom this role presents itself as: absent for a client that has no certificate.
    pub identity: Option<Identity>,
    /// Whom a server presents itself as to a client that asks for one of these names, instead of
    /// `identity`.
    pub named: &'static [Named],
    /// The name that the client expects of the server.
    pub host_name: &'static str,
}

impl Setup {
    fn new(scenario: &Scenario, mut groups: Vec<KeyExchange>) -> Result<Self> {
        let missing = |field| format!("scenario \"{}\" has no {field}", scenario.name());
        let certificate = scenario
            .certificate
            .with_context(|| missing("certificate"))?;
        let protocol = scenario.protocol.with_context(|| missing("protocol"))?;
        // In TLS 1.2 the list of groups also says which curves a certificate may have (RFC 8422,
        // 5.1.1), so the certificate's own is on it, last.
        let curve = match certificate {
            Certificate::EcdsaP256 => Some(KeyExchange::Secp256r1),
            Certificate::EcdsaP384 => Some(KeyExchange::Secp384r1),
            _ => None,
        };
        groups.extend(curve.filter(|it| protocol == Protocol::Tls12 && !groups.contains(it)));
        Ok(Self {
            protocol,
            cipher_suite: scenario
                .cipher_suite
                .with_context(|| missing("cipher_suite"))?,
            key_shares: 1,
            groups,
            certificate,
            authentication: scenario
                .authentication
                .with_context(|| missing("authentication"))?,
            resumption: match scenario.resumption.with_context(|| missing("resumption"))? {
                Resumption::Resumed => bail!("resumption \"resumed\" is for foreign sources"),
                resumption => resumption,
            },
            session_cache: SESSION_CACHE,
            record_size: scenario.record_size,
            trusted: certificates::authority(certificate).root,
            identity: None,
            named: &[],
            host_name: HOST_NAME,
        })
    }

    /// The client of a scenario.
    ///
    /// # Errors
    /// The scenario leaves open what must be pinned.
    pub fn client(scenario: &Scenario) -> Result<Self> {
        let group = configured_group(scenario);
        let (groups, key_shares) = match &scenario.variant {
            None | Some(Variant::Sessions(_) | Variant::Cold) => (vec![group], 1),
            Some(Variant::HelloRetry) => (vec![unwanted_group(group), group], 1),
            Some(Variant::KeyShares(groups)) => (groups.clone(), groups.len()),
            Some(Variant::SetUp(_)) => (vec![group], 1),
            Some(other) => bail!("variant \"{other}\" has no set-up"),
        };
        let mut setup = Self::new(scenario, groups)?;
        setup.key_shares = key_shares;
        if setup.authentication == Authentication::Mutual {
            setup.identity = Some(certificates::authority(setup.certificate).client);
        }
        if let Some(Variant::SetUp(set_up)) = scenario.variant {
            if let Some(anchors) = set_up.anchors() {
                setup.trusted = set_up::trusted(setup.certificate, anchors);
            }
            if let Some(number) = set_up.named() {
                setup.trusted = set_up::ROOT_OF_NAMES;
                setup.host_name = set_up::asked_for(set_up::named(number));
            }
        }
        Ok(setup)
    }

    /// The server of a scenario.
    ///
    /// # Errors
    /// The scenario leaves open what must be pinned.
    pub fn server(scenario: &Scenario) -> Result<Self> {
        let mut setup = Self::new(scenario, vec![configured_group(scenario)])?;
        setup.identity = Some(certificates::authority(setup.certificate).server);
        if setup.authentication == Authentication::Server {
            setup.trusted = "";
        }
        if let Some(Variant::SetUp(set_up)) = scenario.variant {
            setup.named = match set_up.named() {
                Some(number) => set_up::named(number),
                None => &[],
            };
        }
        Ok(setup)
    }
}

/// More sessions than are ever waiting to be resumed: what OpenSSL and BoringSSL keep by default.
const SESSION_CACHE: u32 = 20_480;

/// The group that both roles are configured with; X25519 where the scenario has no key exchange,
/// since a session must first be made to be resumed.
fn configured_group(scenario: &Scenario) -> KeyExchange {
    scenario.key_exchange.unwrap_or(KeyExchange::X25519)
}

/// The group whose key share a client sends in vain before `wanted`.
fn unwanted_group(wanted: KeyExchange) -> KeyExchange {
    match wanted {
        KeyExchange::X25519 => KeyExchange::Secp256r1,
        _ => KeyExchange::X25519,
    }
}

/// Why a library loads no trust anchors alone.
pub const NO_ANCHORS: &str = "the library loads trust anchors into a context only";

/// Why a library loads no private key alone.
pub const NO_PRIVATE_KEY: &str = "the library loads a private key into a context only";

/// A TLS library in one build.
///
/// Configurations are made outside the time that is measured, but for set-ups; the other calls are
/// timed.
pub trait TlsLibrary: Sync {
    /// Belongs to one thread, and keeps the session that the next connection resumes.
    type ClientConfig;
    /// Shared by all threads, as in a real server.
    type ServerConfig: Sync;
    type Client<'a>: Connection;
    type Server<'a>: Connection;

    /// What this build is; `describe` adds the allocator and the CPU mask.
    ///
    /// # Errors
    /// The program's own file can't be read.
    fn implementation(&self) -> Result<Implementation>;

    /// Why this library can't do the scenario, if it can't.
    fn unsupported(&self, scenario: &Scenario) -> Option<String>;

    /// Why its instructions can't be counted, if so: Valgrind does not emulate every instruction.
    fn uncountable(&self) -> Option<&'static str> {
        None
    }

    /// The cryptography below, which is measured as primitives.
    ///
    /// # Errors
    /// The library has none of its own, or the adapter does not reach it.
    fn cryptography(&self) -> Result<&dyn Cryptography> {
        bail!("the library has no cryptography of its own")
    }

    /// Loads the trust anchors of a PEM text, and keeps them until what is returned is dropped.
    ///
    /// # Errors
    /// The library refuses them, or has no object for them alone.
    fn anchors(&self, _: &str) -> Result<Box<dyn Any>> {
        bail!("{NO_ANCHORS}")
    }

    /// Loads the private key of a PEM text, and keeps it until what is returned is dropped.
    ///
    /// # Errors
    /// The library refuses it, or has no object for it alone.
    fn private_key(&self, _: &str) -> Result<Box<dyn Any>> {
        bail!("{NO_PRIVATE_KEY}")
    }

    /// # Errors
    /// The library refuses the set-up.
    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig>;

    /// # Errors
    /// The library refuses the set-up.
    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig>;

    /// Makes a client connection, ready to resume the session that `config` holds.
    ///
    /// # Errors
    /// The library fails.
    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>>;

    /// Makes a server connection.
    ///
    /// # Errors
    /// The library fails.
    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>>;
}

/// How far a handshake is, seen from one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The peer must speak first.
    Waiting,
    /// Complete for this role.
    Done,
}

/// A handshake as the library reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    pub protocol: Protocol,
    pub cipher_suite: CipherSuite,
    /// Absent where none took place, or where the library does not report it.
    pub key_exchange: Option<KeyExchange>,
    /// Absent where the library does not report it.
    pub resumed: Option<bool>,
    /// The peer's chain was verified with the configured root (for a resumed session: when it
    /// was made), and for a client the peer's name too.
    pub peer_verified: bool,
    /// TLS 1.3 tickets that arrived.
    pub tickets: u32,
}

/// A connection of either role. Errors are those of the library: alerts, refusals, bad records.
pub trait Connection {
    /// One flight: processes all that has arrived and sends all that follows from it.
    ///
    /// # Errors
    /// The handshake failed.
    fn handshake(&mut self) -> Result<Progress>;

    /// Processes the tickets that have arrived after the handshake.
    ///
    /// # Errors
    /// What arrived was no ticket.
    fn receive_tickets(&mut self) -> Result<()>;

    /// Encrypts and sends all of `data`, as one write.
    ///
    /// # Errors
    /// The library fails, or the transport is full.
    fn send(&mut self, data: &[u8]) -> Result<()>;

    /// Decrypts into `buffer`; returns how many bytes, at least 1.
    ///
    /// # Errors
    /// Nothing has arrived, or it is not what the peer sent.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize>;

    /// Passes decrypted bytes to `take`: at least 1 in all, at most as many as `buffer` holds. A
    /// library that can lend them where it decrypted them does, and leaves `buffer` alone.
    ///
    /// # Errors
    /// Nothing has arrived, or it is not what the peer sent.
    fn receive_with(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let length = self.receive(buffer)?;
        take(&buffer[..length]);
        Ok(())
    }

    /// What the handshake agreed on. Not timed.
    ///
    /// # Errors
    /// Something that is not in the vocabulary.
    fn negotiated(&self) -> Result<Negotiated>;
}
