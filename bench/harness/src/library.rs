//! The interface between driver and TLS library: adapters implement `TlsLibrary` and `Connection`.

pub mod packets;
pub mod primitives;
pub mod watched;

use std::any::Any;

use anyhow::{Context, Result, bail};

use crate::{
    certificates::{self, Authority, HOST_NAME, Identity, Named, set_up},
    implementation::Implementation,
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario, Variant,
    },
    transport::Endpoint,
};

use self::{
    packets::{PacketKeys, PacketProtection},
    primitives::Cryptography,
};

/// Configuration of one role. It pins every setting that a library would otherwise choose.
#[derive(Clone, Debug)]
pub struct Setup {
    pub protocol: Protocol,
    pub cipher_suite: CipherSuite,
    /// In order of preference. A client sends a key share for the first `key_shares` of them.
    pub groups: Vec<KeyExchange>,
    pub key_shares: usize,
    /// Only the signature algorithm of this certificate is offered.
    pub certificate: Certificate,
    pub authentication: Authentication,
    /// With `None` the server issues no tickets and keeps no cache. Otherwise the client keeps
    /// every session and uses it once, but a ticket of TLS 1.2 until it is renewed.
    pub resumption: Resumption,
    /// Whether each resumption of TLS 1.2 issues a new ticket. Otherwise the library does what it
    /// does by default.
    pub renews_tickets: bool,
    /// Whether idle connections release their buffers, where the library has a setting for it.
    pub releases_buffers: bool,
    /// Maximum number of sessions that the server caches, where it resumes them by id.
    pub session_cache: u32,
    /// Whether clients send early data in resumed handshakes, and the server accepts it.
    pub early_data: bool,
    /// Largest record, in bytes of plaintext; absent: 16 KiB, the maximum of TLS.
    pub record_size: Option<u32>,
    /// Whether the scenario counts records, each of which then holds as much as `record_size` allows.
    pub fills_records: bool,
    /// Roots that verify the peer, as PEM; empty if the peer is not verified.
    pub trusted: &'static str,
    /// This role's own identity; absent for a client without a certificate.
    pub identity: Option<Identity>,
    /// Identities that a server presents, instead of `identity`, to a client that sends one of
    /// these names.
    pub named: &'static [Named],
    /// The server name that the client expects.
    pub host_name: &'static str,
    /// Whether the server compresses its certificates with zlib, and the client offers nothing else
    /// (RFC 8879). Otherwise neither side may offer or use compression.
    pub compresses: bool,
}

impl Setup {
    fn new(scenario: &Scenario, mut groups: Vec<KeyExchange>) -> Result<Self> {
        let missing = |field| format!("scenario \"{}\" has no {field}", scenario.name());
        let certificate = scenario
            .certificate
            .with_context(|| missing("certificate"))?;
        let protocol = scenario.protocol.with_context(|| missing("protocol"))?;
        // In TLS 1.2 the groups also limit the curves of certificates (RFC 8422, 5.1.1), so the
        // certificate's curve comes last in the list.
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
                Resumption::Resumed => bail!("resumption \"resumed\" is for data of other tools"),
                resumption => resumption,
            },
            renews_tickets: scenario.variant != Some(Variant::OwnTickets),
            releases_buffers: scenario.variant == Some(Variant::ReleasedBuffers),
            session_cache: SESSION_CACHE,
            early_data: scenario.variant == Some(Variant::EarlyData),
            record_size: scenario.record_size,
            fills_records: scenario.operation == Operation::Transfer,
            trusted: authority(scenario, certificate)?.root,
            identity: None,
            named: &[],
            host_name: HOST_NAME,
            compresses: scenario.variant == Some(Variant::Compressed),
        })
    }

    /// The client's configuration for a scenario.
    pub fn client(scenario: &Scenario) -> Result<Self> {
        let group = configured_group(scenario);
        let (groups, key_shares) = match &scenario.variant {
            Some(Variant::HelloRetry) => (vec![unwanted_group(group), group], 1),
            Some(Variant::KeyShares(groups)) => (groups.clone(), groups.len()),
            Some(other @ (Variant::Primitive(_) | Variant::Foreign(_))) => {
                bail!("variant \"{other}\" has no set-up")
            }
            _ => (vec![group], 1),
        };
        let mut setup = Self::new(scenario, groups)?;
        setup.key_shares = key_shares;
        if setup.authentication == Authentication::Mutual {
            setup.identity = Some(authority(scenario, setup.certificate)?.client);
        }
        if let Some(Variant::SetUp(set_up)) = scenario.variant {
            if let Some(anchors) = set_up.anchors() {
                setup.trusted = set_up::trusted(setup.certificate, anchors);
            }
            if let Some(number) = set_up.named() {
                setup.trusted = set_up::ROOT_OF_NAMES;
                setup.host_name = set_up::requested_name(set_up::named(number));
            }
        }
        Ok(setup)
    }

    /// The server's configuration for a scenario.
    pub fn server(scenario: &Scenario) -> Result<Self> {
        let mut setup = Self::new(scenario, vec![configured_group(scenario)])?;
        setup.identity = Some(authority(scenario, setup.certificate)?.server);
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

    /// The configuration of a server for each name.
    pub fn each_named(&self) -> impl Iterator<Item = (&'static str, Self)> {
        self.named.iter().map(|named| {
            let own = Self {
                identity: Some(named.identity),
                named: &[],
                ..self.clone()
            };
            (named.name, own)
        })
    }
}

/// More sessions than ever wait to be resumed; the default of OpenSSL and BoringSSL.
const SESSION_CACHE: u32 = 20_480;

/// The certificates of a scenario.
fn authority(scenario: &Scenario, certificate: Certificate) -> Result<Authority> {
    match scenario.chain() {
        None => Ok(certificates::authority(certificate)),
        Some(chain) => certificates::in_chain(chain, certificate)
            .with_context(|| format!("scenario \"{}\"", scenario.name())),
    }
}

/// The group that both roles configure. It is X25519 where the scenario names no key exchange,
/// because the session to be resumed needs a full handshake first.
fn configured_group(scenario: &Scenario) -> KeyExchange {
    scenario.key_exchange.unwrap_or(KeyExchange::X25519)
}

/// The group of a key share that the server rejects before `wanted`.
fn unwanted_group(wanted: KeyExchange) -> KeyExchange {
    match wanted {
        KeyExchange::X25519 => KeyExchange::Secp256r1,
        _ => KeyExchange::X25519,
    }
}

/// Bytes of early data that a server accepts of a session, where the library sets a limit: a record.
pub const MOST_EARLY_DATA: u32 = 1 << 14;

/// Reason for a library that cannot load trust anchors alone.
pub const NO_ANCHORS: &str = "the library loads trust anchors into a context only";

/// Reason for a library that cannot load a private key alone.
pub const NO_PRIVATE_KEY: &str = "the library loads a private key into a context only";

/// A TLS library in one build.
///
/// Configurations are created outside the measured time, except in set-ups. All other calls are
/// timed.
pub trait TlsLibrary: Sync {
    /// Belongs to one thread, and holds the session that the next connection resumes.
    type ClientConfig;
    /// Shared by all threads, as in a real server.
    type ServerConfig: Sync;
    type Client<'a>: Connection;
    type Server<'a>: Connection;

    /// Describes this build; `describe` adds the allocator and the CPU mask.
    fn implementation(&self) -> Result<Implementation>;

    /// The reason why this library does not support the scenario, if it does not.
    fn unsupported(&self, scenario: &Scenario) -> Option<String>;

    /// The reason why its instructions cannot be counted: Valgrind does not emulate every
    /// instruction.
    fn uncountable(&self) -> Option<&'static str> {
        None
    }

    /// Whether all its locks are calls of pthread functions, which can be counted.
    fn locks_by_calls(&self) -> bool {
        true
    }

    /// The library's cryptography, which the primitives measure.
    fn cryptography(&self) -> Result<&dyn Cryptography> {
        bail!("the library has no cryptography of its own")
    }

    /// The library's packet protection for QUIC, with the keys of one direction.
    fn packet_protection(
        &self,
        _: CipherSuite,
        _: &PacketKeys,
    ) -> Result<Box<dyn PacketProtection>> {
        bail!("the library has no packet protection for QUIC")
    }

    /// Loads the trust anchors of a PEM text, and holds them until the result is dropped.
    fn anchors(&self, _: &str) -> Result<Box<dyn Any>> {
        bail!("{NO_ANCHORS}")
    }

    /// Loads the private key of a PEM text, and holds it until the result is dropped.
    fn private_key(&self, _: &str) -> Result<Box<dyn Any>> {
        bail!("{NO_PRIVATE_KEY}")
    }

    /// Creates the client's context.
    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig>;

    /// Creates the server's context.
    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig>;

    /// Creates a client connection that resumes the session in `config`, if there is one.
    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>>;

    /// Creates a server connection.
    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>>;
}

/// The state of a handshake for one role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Waits for a flight of the peer.
    Waiting,
    /// Complete for this role.
    Done,
}

/// A handshake as the library reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Negotiated {
    pub protocol: Protocol,
    pub cipher_suite: CipherSuite,
    /// Absent if no keys were exchanged, or if the library does not report the group.
    pub key_exchange: Option<KeyExchange>,
    /// Absent if the library does not report it.
    pub resumed: Option<bool>,
    /// The number of the scheme in which the peer signed. Absent if it did not sign in this
    /// handshake, or if the library does not report the scheme.
    pub signature_scheme: Option<u16>,
    /// The configured root verified the peer's chain (of a resumed session: in the full handshake),
    /// and a client also checked the peer's name.
    pub peer_verified: bool,
    /// Number of TLS 1.3 tickets that the client received.
    pub tickets: u32,
}

/// A connection of either role. Errors are the library's own: alerts, rejected input, invalid
/// records.
pub trait Connection {
    /// One flight: processes all received bytes and sends the response.
    fn handshake(&mut self) -> Result<Progress>;

    /// A client's first flight with early data: sends the ClientHello and then all of `data`, as one
    /// write. `handshake` follows.
    fn send_early_data(&mut self, _: &[u8]) -> Result<()> {
        bail!("the adapter sends no early data")
    }

    /// A server's first flight with early data: answers the ClientHello and reads early data into
    /// `buffer`; returns the number of bytes. `handshake` follows.
    fn receive_early_data(&mut self, _: &mut [u8]) -> Result<usize> {
        bail!("the adapter receives no early data")
    }

    /// Whether the library reports that early data was accepted. This call is not timed.
    fn early_data_accepted(&self) -> Result<bool> {
        Ok(false)
    }

    /// Processes the tickets received after the handshake.
    fn receive_tickets(&mut self) -> Result<()>;

    /// Encrypts and sends all of `data`, as one write.
    fn send(&mut self, data: &[u8]) -> Result<()>;

    /// Releases the buffers of an idle connection, where a call of the library does it.
    fn release_buffers(&mut self) -> Result<()> {
        Ok(())
    }

    /// Decrypts into `buffer` and returns the number of bytes, at least 1.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize>;

    /// Passes decrypted bytes to `take`: at least 1 in all, at most the length of `buffer`. A
    /// library that can lend its own buffer of plaintext does so, and leaves `buffer` unused.
    fn receive_with(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let length = self.receive(buffer)?;
        take(&buffer[..length]);
        Ok(())
    }

    /// Sends the alert `close_notify`, if this is the first call. `Done`: the peer's has arrived.
    fn close(&mut self) -> Result<Progress> {
        bail!("the adapter closes no connections")
    }

    /// The negotiated parameters. This call is not timed.
    fn negotiated(&self) -> Result<Negotiated>;
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What both roles of a handshake are configured with, with some fields replaced.
    fn setups(changes: &Value) -> [Setup; 2] {
        let mut whole = json!({"operation": "handshake", "protocol": "1.3", "threads": 1,
            "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
            "certificate": "ml-dsa-44", "authentication": "server", "resumption": "none"});
        for (key, value) in changes.as_object().unwrap() {
            whole[key] = value.clone();
        }
        let scenario = serde_json::from_value(whole).unwrap();
        [
            Setup::client(&scenario).unwrap(),
            Setup::server(&scenario).unwrap(),
        ]
    }

    #[test]
    fn a_chain_a_set_of_anchors_or_of_names_is_that_of_the_scenario() {
        let count = |pem: &str| pem.matches("-----BEGIN CERTIFICATE-----").count();
        for (variant, number) in [(None, 2), (Some("chain-1"), 1), (Some("chain-3"), 3)] {
            let [client, server] = setups(&json!({"variant": variant}));
            assert_eq!(count(server.identity.unwrap().chain), number, "{variant:?}");
            assert_eq!(count(client.trusted), 1);
            assert!(client.identity.is_none() && server.trusted.is_empty());
            let mutual = json!({"variant": variant, "authentication": "mutual"});
            let [client, server] = setups(&mutual);
            assert_eq!(count(client.identity.unwrap().chain), number, "{variant:?}");
            assert_eq!(server.trusted, client.trusted);
        }
        for (variant, anchors, names) in [
            ("client-10", 10, 0),
            ("server", 1, 0),
            ("names-100", 1, 100),
        ] {
            let change = json!({"operation": "set-up", "variant": variant,
                "certificate": "ecdsa-p256"});
            let [client, server] = setups(&change);
            let found = (count(client.trusted), server.named.len());
            assert_eq!(found, (anchors, names), "{variant}");
        }
    }

    #[test]
    fn other_fields_are_those_of_the_scenario() {
        let of = |setup: &Setup| {
            (
                setup.protocol.as_str(),
                setup.cipher_suite.as_str(),
                setup.certificate.as_str(),
            )
        };
        for setup in setups(&json!({})) {
            assert_eq!(of(&setup), ("1.3", "TLS_AES_256_GCM_SHA384", "ml-dsa-44"));
            assert_eq!(
                (setup.groups, setup.key_shares),
                (vec![KeyExchange::X25519], 1)
            );
            assert_eq!(setup.resumption, Resumption::None);
            assert!(!setup.early_data && !setup.compresses && setup.record_size.is_none());
            assert!(!setup.releases_buffers);
        }
        let old = json!({"protocol": "1.2", "certificate": "rsa-2048", "resumption": "session-id",
            "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "record_size": 4096});
        for setup in setups(&old) {
            let suite = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256";
            assert_eq!(of(&setup), ("1.2", suite, "rsa-2048"));
            assert_eq!(setup.resumption, Resumption::SessionId);
            assert_eq!(setup.record_size, Some(4096));
        }
        let renewal = [(json!(null), true), (json!("own-tickets"), false)];
        for (variant, expected) in renewal {
            let ticket = json!({"protocol": "1.2", "certificate": "rsa-2048", "variant": variant,
                "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "resumption": "ticket"});
            assert!(
                setups(&ticket)
                    .iter()
                    .all(|it| it.renews_tickets == expected)
            );
        }
        let idle = json!({"operation": "memory", "variant": "released-buffers"});
        assert!(setups(&idle).iter().all(|it| it.releases_buffers));
        let early = json!({"resumption": "ticket", "variant": "early-data"});
        assert!(setups(&early).iter().all(|it| it.early_data));
        let compressed = json!({"variant": "compressed-zlib"});
        assert!(setups(&compressed).iter().all(|it| it.compresses));
        let [client, server] = setups(&json!({"variant": "hello-retry"}));
        assert_eq!(client.groups, [KeyExchange::Secp256r1, KeyExchange::X25519]);
        assert_eq!(server.groups, [KeyExchange::X25519]);
        let shares = json!({"operation": "client-hello", "key_exchange": null,
            "variant": "X25519MLKEM768+X25519"});
        assert_eq!(setups(&shares)[0].key_shares, 2);
    }
}
