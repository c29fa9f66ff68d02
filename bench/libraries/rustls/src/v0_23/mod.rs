//! The API of rustls 0.22 and 0.23: a connection has buffers of its own.

mod connection;

use std::sync::Arc;

use anyhow::{Context, Result};
use pki_types::ServerName;
pub use rustls::{
    CipherSuite, NamedGroup, SignatureScheme,
    client::{Tls12ClientSessionValue as Tls12Session, Tls13ClientSessionValue as Tls13Session},
    quic::{DirectionalKeys, PacketKey},
};
use rustls::{
    ClientConfig, ClientConnection, ServerConfig, ServerConnection, Side, SupportedCipherSuite,
    SupportedProtocolVersion, Tls13CipherSuite,
    client::WebPkiServerVerifier,
    crypto::{
        CryptoProvider, WebPkiSupportedAlgorithms,
        cipher::{AeadKey, Iv},
    },
    quic::{Algorithm, Keys, Tag, Version},
    server::{ProducesTickets, ResolvesServerCertUsingSni, WebPkiClientVerifier},
    sign::CertifiedKey,
    version::{TLS12, TLS13},
};
use tls_harness::{
    library::{Setup, packets::PacketKeys},
    scenario::{Authentication, Protocol},
    transport::Endpoint,
};

use self::connection::RustlsConnection;
#[cfg(feature = "unbuffered")]
pub use self::connection::{Role, negotiated};
use crate::{Mapping, Rustls, chain_and_key, roots, vocabulary::is_suite};

pub type Client<'a> = RustlsConnection<'a, ClientConnection>;
pub type Server<'a> = RustlsConnection<'a, ServerConnection>;
pub type SessionKey<'a> = ServerName<'a>;
pub type PacketSuite = (&'static Tls13CipherSuite, &'static dyn Algorithm);
pub type Ticketer = Arc<dyn ProducesTickets>;

/// Bytes that encryption adds to a record's plaintext and the maximum fragment size includes.
pub fn added(_: &Setup) -> usize {
    0
}

impl Rustls {
    #[cfg(feature = "aws-lc-rs")]
    pub fn aws_lc_rs() -> Self {
        Self {
            name: "aws-lc-rs",
            // The default groups are fewer: a scenario names the group that it needs.
            provider: CryptoProvider {
                kx_groups: rustls::crypto::aws_lc_rs::ALL_KX_GROUPS.to_vec(),
                ..rustls::crypto::aws_lc_rs::default_provider()
            },
            cryptography: &crate::aws_lc_rs::AwsLcRs,
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
            cryptography: &crate::ring::Ring,
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
            cryptography: &crate::graviola::Graviola,
            ticketer: rustls_graviola::Ticketer::new,
            honors_mask: false,
            uncountable: cfg!(target_arch = "x86_64")
                .then_some("graviola requires ADX, which Valgrind does not emulate"),
        }
    }
}

/// Removes all other cipher suites; returns how many are left.
pub fn keep_suite(provider: &mut CryptoProvider, setup: &Setup) -> usize {
    let suites = &mut provider.cipher_suites;
    suites.retain(|suite| is_suite(suite.suite(), setup.cipher_suite));
    suites.len()
}

/// Whether the cipher suite fits the certificate: TLS 1.2 cipher suites name the signature.
pub fn signs(provider: &CryptoProvider, setup: &Setup, scheme: SignatureScheme) -> bool {
    let mut suites = provider.cipher_suites.iter();
    match suites.find(|suite| is_suite(suite.suite(), setup.cipher_suite)) {
        Some(SupportedCipherSuite::Tls12(suite)) => suite.sign.contains(&scheme),
        _ => true,
    }
}

pub fn mapping(algorithms: &WebPkiSupportedAlgorithms) -> Mapping {
    algorithms.mapping
}

/// The same algorithms with another mapping.
pub fn mapped(
    algorithms: WebPkiSupportedAlgorithms,
    mapping: Mapping,
) -> Result<WebPkiSupportedAlgorithms> {
    Ok(WebPkiSupportedAlgorithms {
        all: algorithms.all,
        mapping,
    })
}

/// The cipher suite, if the provider has packet protection with it.
pub fn packet_suite(
    provider: &CryptoProvider,
    wanted: tls_harness::scenario::CipherSuite,
) -> Option<PacketSuite> {
    let mut suites = provider.cipher_suites.iter();
    match suites.find(|suite| is_suite(suite.suite(), wanted))? {
        SupportedCipherSuite::Tls13(suite) => Some((*suite, suite.quic?)),
        SupportedCipherSuite::Tls12(_) => None,
    }
}

pub fn packet_keys((suite, quic): PacketSuite, keys: &PacketKeys) -> DirectionalKeys {
    match keys {
        PacketKeys::Initial(id) => Keys::initial(Version::V1, suite, quic, id, Side::Client).local,
        PacketKeys::Given { key, iv, header } => DirectionalKeys {
            header: quic.header_protection_key(AeadKey::from(*header)),
            packet: quic.packet_key(AeadKey::from(*key), Iv::from(*iv)),
        },
    }
}

pub fn seal(key: &dyn PacketKey, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag> {
    Ok(key.encrypt_in_place(number, header, payload)?)
}

pub fn open(key: &dyn PacketKey, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
    key.decrypt_in_place(number, header, payload)?;
    Ok(())
}

/// A number of tickets, as a server's configuration has it.
pub fn tickets(number: usize) -> usize {
    number
}

/// What verifies and what authenticates; everything else is as rustls has it by default.
pub fn client_config(provider: Arc<CryptoProvider>, setup: &Setup) -> Result<ClientConfig> {
    let roots = Arc::new(roots(setup.trusted)?);
    let verifier =
        WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build()?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[version(setup.protocol)])?
        .with_webpki_verifier(verifier);
    Ok(match &setup.identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let (chain, key) = chain_and_key(identity)?;
            builder.with_client_auth_cert(chain, key)?
        }
    })
}

/// The same for a server.
pub fn server_config(provider: Arc<CryptoProvider>, setup: &Setup) -> Result<ServerConfig> {
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[version(setup.protocol)])?;
    let builder = match setup.authentication {
        Authentication::Server => builder.with_no_client_auth(),
        Authentication::Mutual => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(
                Arc::new(roots(setup.trusted)?),
                Arc::clone(&provider),
            )
            .build()?,
        ),
    };
    if !setup.named.is_empty() {
        return Ok(builder.with_cert_resolver(Arc::new(by_name(setup, &provider)?)));
    }
    let identity = setup.identity.context("a server needs an identity")?;
    let (chain, key) = chain_and_key(&identity)?;
    Ok(builder.with_single_cert(chain, key)?)
}

/// Certificates by the names that clients send.
fn by_name(setup: &Setup, provider: &CryptoProvider) -> Result<ResolvesServerCertUsingSni> {
    let mut resolver = ResolvesServerCertUsingSni::new();
    for named in setup.named {
        let (chain, key) = chain_and_key(&named.identity)?;
        let key = provider.key_provider.load_private_key(key)?;
        resolver.add(named.name, CertifiedKey::new(chain, key))?;
    }
    Ok(resolver)
}

fn version(protocol: Protocol) -> &'static SupportedProtocolVersion {
    match protocol {
        Protocol::Tls12 => &TLS12,
        Protocol::Tls13 => &TLS13,
    }
}

pub fn connect<'a>(
    config: &Arc<ClientConfig>,
    name: ServerName<'static>,
    endpoint: &'a Endpoint,
) -> Result<Client<'a>> {
    let connection = ClientConnection::new(Arc::clone(config), name)?;
    Ok(RustlsConnection::new(connection, endpoint))
}

pub fn accept<'a>(config: &Arc<ServerConfig>, endpoint: &'a Endpoint) -> Result<Server<'a>> {
    let connection = ServerConnection::new(Arc::clone(config))?;
    Ok(RustlsConnection::new(connection, endpoint))
}
