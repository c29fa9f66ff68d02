//! rustls, with whichever provider does its cryptography.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc_rs;
#[cfg(feature = "graviola")]
mod graviola;
mod primitive;
#[cfg(feature = "ring")]
mod ring;

use std::{
    fmt,
    ops::DerefMut,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result, bail, ensure};
use pki_types::{CertificateDer, PrivateKeyDer, ServerName, pem::PemObject};
use rustls::{
    ClientConfig, ClientConnection, CommonState, ConnectionCommon, NamedGroup, ProtocolVersion,
    RootCertStore, ServerConfig, ServerConnection, SideData, SignatureScheme, SupportedCipherSuite,
    SupportedProtocolVersion,
    client::{
        ClientSessionStore, Resumption as ClientResumption, Tls12ClientSessionValue,
        Tls13ClientSessionValue, WebPkiServerVerifier,
    },
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms},
    server::{
        NoServerSessionStorage, ProducesTickets, ServerSessionMemoryCache, WebPkiClientVerifier,
    },
    version::{TLS12, TLS13},
};
use tls_harness::{
    binary,
    certificates::Identity,
    implementation::{self, Implementation, Linkage},
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Protocol, Resumption, Scenario,
    },
    transport::Endpoint,
    workloads::primitives::{Cryptography, Primitive},
};

#[cfg(feature = "unbuffered")]
pub mod unbuffered;

/// rustls with one provider.
pub struct Rustls {
    name: &'static str,
    provider: CryptoProvider,
    cryptography: &'static dyn Cryptography,
    ticketer: fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error>,
    /// Whether features of the processor can be hidden from it.
    honors_mask: bool,
    /// Why its instructions can't be counted, if so.
    uncountable: Option<&'static str>,
}

impl Rustls {
    #[cfg(feature = "aws-lc-rs")]
    pub fn aws_lc_rs() -> Self {
        Self {
            name: "aws-lc-rs",
            provider: rustls::crypto::aws_lc_rs::default_provider(),
            cryptography: &aws_lc_rs::AwsLcRs,
            ticketer: rustls::crypto::aws_lc_rs::Ticketer::new,
            honors_mask: true,
            uncountable: None,
        }
    }

    #[cfg(feature = "ring")]
    pub fn ring() -> Self {
        Self {
            name: "ring",
            provider: rustls::crypto::ring::default_provider(),
            cryptography: &ring::Ring,
            ticketer: rustls::crypto::ring::Ticketer::new,
            honors_mask: false,
            uncountable: None,
        }
    }

    #[cfg(feature = "graviola")]
    pub fn graviola() -> Self {
        Self {
            name: "graviola",
            provider: rustls_graviola::default_provider(),
            cryptography: &graviola::Graviola,
            ticketer: rustls_graviola::Ticketer::new,
            honors_mask: false,
            uncountable: cfg!(target_arch = "x86_64")
                .then_some("graviola asks for ADX, which valgrind's processor has not"),
        }
    }

    fn has_group(&self, group: KeyExchange) -> bool {
        let groups = &self.provider.kx_groups;
        groups
            .iter()
            .any(|found| found.name() == named_group(group))
    }

    /// Whether the cipher suite goes with the certificate: those of TLS1.2 name their signatures.
    fn signs(&self, setup: &Setup) -> bool {
        let scheme = signature_scheme(setup.certificate);
        let mut suites = self.provider.cipher_suites.iter();
        let found = suites.find(|suite| is_suite(suite, setup.cipher_suite));
        match found {
            Some(SupportedCipherSuite::Tls12(suite)) => suite.sign.contains(&scheme),
            _ => true,
        }
    }

    /// That the provider, or what this rustls takes of it, does not have something.
    fn lacks(&self, what: &str) -> String {
        let name = match cfg!(rustls_hybrid) {
            true => self.name,
            false => "this rustls",
        };
        format!("{name} has no {what}")
    }

    /// The provider with nothing in it but what the set-up names.
    fn pinned(&self, setup: &Setup) -> Result<Arc<CryptoProvider>> {
        let mut provider = self.provider.clone();
        provider
            .cipher_suites
            .retain(|suite| is_suite(suite, setup.cipher_suite));
        ensure!(
            provider.cipher_suites.len() == 1,
            "{} has no {}",
            self.name,
            setup.cipher_suite
        );
        let groups = &self.provider.kx_groups;
        provider.kx_groups = setup
            .groups
            .iter()
            .map(|group| {
                let has_name = |found: &&&'static dyn rustls::crypto::SupportedKxGroup| {
                    found.name() == named_group(*group)
                };
                let found = groups.iter().find(has_name).copied();
                found.with_context(|| format!("{} has no {group}", self.name))
            })
            .collect::<Result<_>>()?;
        let scheme = signature_scheme(setup.certificate);
        let algorithms = provider.signature_verification_algorithms;
        let mapping: Vec<_> = algorithms
            .mapping
            .iter()
            .filter(|(found, _)| *found == scheme)
            .copied()
            .collect();
        ensure!(!mapping.is_empty(), "{} has no {scheme:?}", self.name);
        provider.signature_verification_algorithms = WebPkiSupportedAlgorithms {
            all: algorithms.all,
            // rustls wants it to live for ever; a process makes only a few.
            mapping: Vec::leak(mapping),
        };
        Ok(Arc::new(provider))
    }
}

/// A suite of rustls in the harness's vocabulary. Old versions do not give away its number.
fn cipher_suite(found: rustls::CipherSuite) -> Result<CipherSuite> {
    let same = |it: &&CipherSuite| rustls::CipherSuite::from(it.number()) == found;
    let suite = CipherSuite::ALL.iter().find(same).copied();
    suite.with_context(|| format!("{found:?} is not in the vocabulary"))
}

fn is_suite(found: &SupportedCipherSuite, wanted: CipherSuite) -> bool {
    cipher_suite(found.suite()).is_ok_and(|it| it == wanted)
}

/// By its number: old versions have no name for every group.
fn named_group(group: KeyExchange) -> NamedGroup {
    NamedGroup::from(group.number())
}

fn signature_scheme(certificate: Certificate) -> SignatureScheme {
    match certificate {
        Certificate::Rsa2048 | Certificate::Rsa4096 => SignatureScheme::RSA_PSS_SHA256,
        Certificate::EcdsaP256 => SignatureScheme::ECDSA_NISTP256_SHA256,
        Certificate::EcdsaP384 => SignatureScheme::ECDSA_NISTP384_SHA384,
        Certificate::Ed25519 => SignatureScheme::ED25519,
    }
}

fn version(protocol: Protocol) -> &'static SupportedProtocolVersion {
    match protocol {
        Protocol::Tls12 => &TLS12,
        Protocol::Tls13 => &TLS13,
    }
}

fn roots(setup: &Setup) -> Result<Arc<RootCertStore>> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(setup.trusted.as_bytes())?)?;
    Ok(Arc::new(roots))
}

fn chain_and_key(
    identity: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
    let chain = CertificateDer::pem_slice_iter(identity.chain.as_bytes());
    Ok((
        chain.collect::<Result<_, _>>()?,
        PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?,
    ))
}

/// What rustls counts as the largest fragment includes a record's header.
fn max_fragment_size(setup: &Setup) -> Option<usize> {
    const HEADER: usize = 5;
    setup.record_size.map(|size| size as usize + HEADER)
}

/// Keeps one session, and gives it away once: the same as the adapters of the C libraries do.
#[derive(Default)]
struct SessionSlot {
    tls12: Mutex<Option<Tls12ClientSessionValue>>,
    tls13: Mutex<Option<Tls13ClientSessionValue>>,
}

impl SessionSlot {
    fn put<T>(slot: &Mutex<Option<T>>, session: Option<T>) -> Option<T> {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut slot, session)
    }
}

impl fmt::Debug for SessionSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionSlot")
    }
}

impl ClientSessionStore for SessionSlot {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    /// None: a hint would avoid the HelloRetryRequest that a scenario asks for.
    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: ServerName<'static>, session: Tls12ClientSessionValue) {
        Self::put(&self.tls12, Some(session));
    }

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        Self::put(&self.tls12, None)
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {
        Self::put(&self.tls12, None);
    }

    fn insert_tls13_ticket(&self, _: ServerName<'static>, session: Tls13ClientSessionValue) {
        #[cfg(not(rustls_counts_tickets))]
        TICKETS.set(TICKETS.get() + 1);
        Self::put(&self.tls13, Some(session));
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        Self::put(&self.tls13, None)
    }
}

/// A client's configuration and the name it asks for.
pub struct Client {
    pub config: Arc<ClientConfig>,
    pub host_name: &'static str,
}

impl TlsLibrary for Rustls {
    type ClientConfig = Client;
    type ServerConfig = Arc<ServerConfig>;
    type Client<'a> = RustlsConnection<'a, ClientConnection>;
    type Server<'a> = RustlsConnection<'a, ServerConnection>;

    fn implementation(&self) -> Result<Implementation> {
        let package = |name| {
            binary::package_version(env!("PACKAGES"), name)
                .with_context(|| format!("Cargo.lock has no {name}"))
        };
        let version = package("rustls")?;
        let implementation = Implementation::new(env!("LIBRARY"), &version)?
            .with_provider(self.name, package(self.name)?);
        Ok(Implementation {
            flags: Some(env!("FLAGS").into()),
            cpu_mask: implementation::cpu_mask().filter(|_| self.honors_mask),
            linkage: Some(Linkage::Static),
            source: Some(format!("cargo package rustls {version}")),
            ..implementation
        })
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        // A scenario that can't be set up is an error, which the set-up will tell.
        if let Ok(setup) = Setup::client(scenario) {
            if let Some(group) = setup.groups.iter().find(|group| !self.has_group(**group)) {
                return Some(self.lacks(&group.to_string()));
            }
            if !self.signs(&setup) {
                return Some(self.lacks(&format!("{} in TLS1.2", setup.certificate)));
            }
        }
        let ml_kem = Primitive::of(scenario).is_ok_and(Primitive::is_ml_kem);
        (ml_kem && !self.has_group(KeyExchange::X25519MlKem768)).then(|| self.lacks("ML-KEM"))
    }

    fn uncountable(&self) -> Option<&'static str> {
        self.uncountable
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        Ok(self.cryptography)
    }

    fn client_config(&self, setup: &Setup) -> Result<Client> {
        let provider = self.pinned(setup)?;
        let verifier =
            WebPkiServerVerifier::builder_with_provider(roots(setup)?, Arc::clone(&provider))
                .build()?;
        let builder = ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[version(setup.protocol)])?
            .with_webpki_verifier(verifier);
        let mut config = match &setup.identity {
            None => builder.with_no_client_auth(),
            Some(identity) => {
                let (chain, key) = chain_and_key(identity)?;
                builder.with_client_auth_cert(chain, key)?
            }
        };
        config.max_fragment_size = max_fragment_size(setup);
        config.resumption = match setup.resumption {
            Resumption::None => ClientResumption::disabled(),
            _ => ClientResumption::store(Arc::new(SessionSlot::default())),
        };
        Ok(Client {
            config: Arc::new(config),
            host_name: setup.host_name,
        })
    }

    fn server_config(&self, setup: &Setup) -> Result<Arc<ServerConfig>> {
        let provider = self.pinned(setup)?;
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[version(setup.protocol)])?;
        let builder = match setup.authentication {
            Authentication::Server => builder.with_no_client_auth(),
            Authentication::Mutual => builder.with_client_cert_verifier(
                WebPkiClientVerifier::builder_with_provider(roots(setup)?, provider).build()?,
            ),
        };
        let identity = setup.identity.context("a server needs an identity")?;
        let (chain, key) = chain_and_key(&identity)?;
        let mut config = builder.with_single_cert(chain, key)?;
        config.max_fragment_size = max_fragment_size(setup);
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 1;
        match setup.resumption {
            Resumption::None => config.send_tls13_tickets = 0,
            Resumption::Ticket => config.ticketer = (self.ticketer)()?,
            Resumption::SessionId => {
                config.session_storage =
                    ServerSessionMemoryCache::new(setup.session_cache as usize);
            }
            Resumption::Resumed => bail!("\"resumed\" is no way to resume"),
        }
        Ok(Arc::new(config))
    }

    fn connect<'a>(&self, client: &'a Client, endpoint: &'a Endpoint) -> Result<Self::Client<'a>> {
        let name = ServerName::try_from(client.host_name)?;
        #[cfg(not(rustls_counts_tickets))]
        TICKETS.set(0);
        Ok(RustlsConnection {
            connection: ClientConnection::new(Arc::clone(&client.config), name)?,
            endpoint,
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Arc<ServerConfig>,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        Ok(RustlsConnection {
            connection: ServerConnection::new(Arc::clone(config))?,
            endpoint,
        })
    }
}

/// A connection of either role with its end of the transport.
pub struct RustlsConnection<'a, C> {
    connection: C,
    endpoint: &'a Endpoint,
}

impl<C, D> RustlsConnection<'_, C>
where
    C: DerefMut<Target = ConnectionCommon<D>>,
    D: SideData,
{
    /// Takes in one piece of what has arrived; false if nothing has.
    fn read(&mut self) -> Result<bool> {
        if !self.endpoint.has_arrived() {
            return Ok(false);
        }
        self.connection.read_tls(&mut self.endpoint)?;
        self.connection.process_new_packets()?;
        Ok(true)
    }

    fn flush(&mut self) -> Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(&mut self.endpoint)?;
        }
        Ok(())
    }
}

/// The group of the key exchange; none where there was none, or where this rustls does not tell.
#[cfg(rustls_key_exchange_group)]
fn negotiated_group(connection: &CommonState) -> Result<Option<KeyExchange>> {
    let group = connection.negotiated_key_exchange_group();
    let found = group.map(|group| {
        let same = |it: &&KeyExchange| named_group(**it) == group.name();
        let group_of = KeyExchange::ALL.iter().find(same).copied();
        group_of.with_context(|| format!("{:?} is not in the vocabulary", group.name()))
    });
    found.transpose()
}

#[cfg(not(rustls_key_exchange_group))]
fn negotiated_group(_: &CommonState) -> Result<Option<KeyExchange>> {
    Ok(None)
}

/// Whether a session was resumed, where this rustls tells.
#[cfg(rustls_handshake_kind)]
fn is_resumed(connection: &CommonState) -> Option<bool> {
    Some(connection.handshake_kind() == Some(rustls::HandshakeKind::Resumed))
}

#[cfg(not(rustls_handshake_kind))]
fn is_resumed(_: &CommonState) -> Option<bool> {
    None
}

#[cfg(not(rustls_counts_tickets))]
thread_local! {
    /// Tickets that were put into this thread's store since its last connection was made.
    static TICKETS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// What only a client can tell.
pub trait Role {
    fn tickets(&self) -> u32;
}

impl Role for ClientConnection {
    #[cfg(rustls_counts_tickets)]
    fn tickets(&self) -> u32 {
        self.tls13_tickets_received()
    }

    #[cfg(not(rustls_counts_tickets))]
    fn tickets(&self) -> u32 {
        TICKETS.get()
    }
}

impl Role for ServerConnection {
    fn tickets(&self) -> u32 {
        0
    }
}

impl<C, D> Connection for RustlsConnection<'_, C>
where
    C: DerefMut<Target = ConnectionCommon<D>> + Role,
    D: SideData,
{
    fn handshake(&mut self) -> Result<Progress> {
        while self.read()? {}
        self.flush()?;
        Ok(match self.connection.is_handshaking() {
            true => Progress::Waiting,
            false => Progress::Done,
        })
    }

    fn receive_tickets(&mut self) -> Result<()> {
        while self.read()? {}
        Ok(())
    }

    fn send(&mut self, mut data: &[u8]) -> Result<()> {
        use std::io::Write;
        while !data.is_empty() {
            let written = self.connection.writer().write(data)?;
            self.flush()?;
            data = &data[written..];
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        use std::io::{ErrorKind, Read};
        loop {
            match self.connection.reader().read(buffer) {
                Ok(0) => bail!("the peer closed the connection"),
                Ok(length) => return Ok(length),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    ensure!(self.read()?, "nothing has arrived");
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        negotiated(&self.connection, self.connection.tickets())
    }
}

/// What a connection of either role and either API tells.
fn negotiated(connection: &CommonState, tickets: u32) -> Result<Negotiated> {
    let suite = connection.negotiated_cipher_suite();
    let suite = suite.context("no cipher suite was negotiated")?;
    Ok(Negotiated {
        protocol: match connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_2) => Protocol::Tls12,
            Some(ProtocolVersion::TLSv1_3) => Protocol::Tls13,
            other => bail!("protocol {other:?} is not in the vocabulary"),
        },
        cipher_suite: cipher_suite(suite.suite())?,
        key_exchange: negotiated_group(connection)?,
        resumed: is_resumed(connection),
        // A verifier is always in place, and refuses what it can't verify.
        peer_verified: connection.peer_certificates().is_some(),
        tickets,
    })
}
