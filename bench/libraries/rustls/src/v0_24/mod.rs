//! The API of rustls 0.24 and later: each provider is a package, and a connection reads from and
//! writes to the caller's buffers.

mod connection;

use std::sync::Arc;

use anyhow::{Context, Result};
use pki_types::{DnsName, PrivateKeyDer, ServerName};
use rustls::{
    ClientConfig, ClientSide, Connection, ServerConfig, ServerSide,
    client::WebPkiServerVerifier,
    crypto::{
        Credentials, CryptoProvider, Identity as Chain, TicketProducer, WebPkiSupportedAlgorithms,
        cipher::{AeadKey, Iv},
    },
    quic::{Side, Tag, Version},
    server::{ServerNameResolver, Tls13Tickets, WebPkiClientVerifier},
};
pub use rustls::{
    client::{ClientSessionKey as SessionKey, Tls12Session, Tls13Session},
    crypto::{CipherSuite, SignatureScheme, kx::NamedGroup},
    quic::{DirectionalKeys, PacketKey, Suite as PacketSuite},
};
use tls_harness::{
    certificates::Identity,
    library::{Setup, packets::PacketKeys},
    scenario::{self, Authentication, Protocol},
    transport::Endpoint,
};

use self::connection::RustlsConnection;
use crate::{Mapping, Rustls, chain_and_key, roots, vocabulary::is_suite};

pub type Client<'a> = RustlsConnection<'a, ClientSide>;
pub type Server<'a> = RustlsConnection<'a, ServerSide>;
pub type Ticketer = Option<Arc<dyn TicketProducer>>;

/// Bytes that encryption adds to a record's plaintext and the maximum fragment size includes.
pub fn added(setup: &Setup) -> usize {
    const TAG: usize = 16;
    const EXPLICIT_NONCE: usize = 8;
    const CONTENT_TYPE: usize = 1;
    match (setup.protocol, setup.cipher_suite) {
        (Protocol::Tls13, _) => TAG + CONTENT_TYPE,
        (
            Protocol::Tls12,
            scenario::CipherSuite::EcdheRsaChaCha20Poly1305
            | scenario::CipherSuite::EcdheEcdsaChaCha20Poly1305,
        ) => TAG,
        (Protocol::Tls12, _) => TAG + EXPLICIT_NONCE,
    }
}

impl Rustls {
    #[cfg(feature = "aws-lc-rs")]
    pub fn aws_lc_rs() -> Self {
        Self {
            name: "aws-lc-rs",
            // The default groups are fewer: a scenario names the group that it needs.
            provider: CryptoProvider {
                kx_groups: std::borrow::Cow::Borrowed(rustls_aws_lc_rs::ALL_KX_GROUPS),
                ..rustls_aws_lc_rs::DEFAULT_PROVIDER
            },
            cryptography: &crate::aws_lc_rs::AwsLcRs,
            ticketer: || {
                Ok(Some(
                    rustls_aws_lc_rs::DEFAULT_PROVIDER
                        .ticketer_factory
                        .ticketer()?,
                ))
            },
            honors_mask: true,
            uncountable: None,
        }
    }

    #[cfg(feature = "ring")]
    pub fn ring() -> Self {
        Self {
            name: "ring",
            provider: rustls_ring::DEFAULT_PROVIDER,
            cryptography: &crate::ring::Ring,
            ticketer: || {
                Ok(Some(
                    rustls_ring::DEFAULT_PROVIDER.ticketer_factory.ticketer()?,
                ))
            },
            honors_mask: false,
            uncountable: None,
        }
    }
}

/// Removes all other cipher suites; returns how many are left. rustls supports a version of TLS if
/// the provider has a cipher suite for it.
pub fn keep_suite(provider: &mut CryptoProvider, setup: &Setup) -> usize {
    let wanted = setup.cipher_suite;
    let (tls12, tls13) = (
        provider.tls12_cipher_suites.to_mut(),
        provider.tls13_cipher_suites.to_mut(),
    );
    tls12.retain(|it| setup.protocol == Protocol::Tls12 && is_suite(it.common.suite, wanted));
    tls13.retain(|it| setup.protocol == Protocol::Tls13 && is_suite(it.common.suite, wanted));
    tls12.len() + tls13.len()
}

/// Whether the cipher suite fits the certificate: TLS 1.2 cipher suites name the signature.
pub fn signs(provider: &CryptoProvider, setup: &Setup, scheme: SignatureScheme) -> bool {
    let mut suites = provider.tls12_cipher_suites.iter();
    let found = suites.find(|it| is_suite(it.common.suite, setup.cipher_suite));
    found.is_none_or(|suite| suite.sign.contains(&scheme))
}

pub fn mapping(algorithms: &WebPkiSupportedAlgorithms) -> Mapping {
    algorithms.mapping()
}

/// The same algorithms with another mapping.
pub fn mapped(
    algorithms: WebPkiSupportedAlgorithms,
    mapping: Mapping,
) -> Result<WebPkiSupportedAlgorithms> {
    let all = algorithms.mapping().iter();
    let all = all.flat_map(|(_, algorithms)| *algorithms).copied();
    let made = WebPkiSupportedAlgorithms::new(Vec::leak(all.collect()), mapping);
    Ok(made.map_err(rustls::Error::from)?)
}

/// The cipher suite, if the provider has packet protection with it.
pub fn packet_suite(
    provider: &CryptoProvider,
    wanted: scenario::CipherSuite,
) -> Option<PacketSuite> {
    let mut suites = provider.tls13_cipher_suites.iter();
    let suite = suites.find(|suite| is_suite(suite.common.suite, wanted))?;
    PacketSuite::try_from(*suite).ok()
}

pub fn packet_keys(suite: PacketSuite, keys: &PacketKeys) -> DirectionalKeys {
    match keys {
        PacketKeys::Initial(id) => suite.keys(id, Side::Client, Version::V1).local,
        PacketKeys::Given { key, iv, header } => DirectionalKeys {
            header: suite.quic.header_protection_key(AeadKey::from(*header)),
            packet: suite.quic.packet_key(AeadKey::from(*key), Iv::from(*iv)),
        },
    }
}

pub fn seal(key: &dyn PacketKey, number: u64, header: &[u8], payload: &mut [u8]) -> Result<Tag> {
    Ok(key.encrypt_in_place(number, header, payload, None)?)
}

pub fn open(key: &dyn PacketKey, number: u64, header: &[u8], payload: &mut [u8]) -> Result<()> {
    key.decrypt_in_place(number, header, payload, None)?;
    Ok(())
}

/// A number of tickets, as a server's configuration has it.
pub fn tickets(number: usize) -> Tls13Tickets {
    Tls13Tickets {
        default: number,
        max: number,
    }
}

/// What verifies and what authenticates; everything else is as rustls has it by default.
pub fn client_config(provider: Arc<CryptoProvider>, setup: &Setup) -> Result<ClientConfig> {
    let roots = Arc::new(roots(setup.trusted)?);
    let verifier = WebPkiServerVerifier::builder(roots, &provider).build()?;
    let builder = ClientConfig::builder(provider).with_webpki_verifier(Arc::new(verifier));
    Ok(match &setup.identity {
        None => builder.with_no_client_auth()?,
        Some(identity) => {
            let (chain, key) = identity_and_key(identity)?;
            builder.with_client_auth_cert(chain, key)?
        }
    })
}

/// The same for a server.
pub fn server_config(provider: Arc<CryptoProvider>, setup: &Setup) -> Result<ServerConfig> {
    let builder = ServerConfig::builder(Arc::clone(&provider));
    let builder = match setup.authentication {
        Authentication::Server => builder.with_no_client_auth(),
        Authentication::Mutual => {
            let roots = Arc::new(roots(setup.trusted)?);
            let verifier = WebPkiClientVerifier::builder(roots, &provider).build()?;
            builder.with_client_cert_verifier(Arc::new(verifier))
        }
    };
    if !setup.named.is_empty() {
        let resolver = Arc::new(by_name(setup, &provider)?);
        return Ok(builder.with_server_credential_resolver(resolver)?);
    }
    let identity = setup.identity.context("a server needs an identity")?;
    let (chain, key) = identity_and_key(&identity)?;
    Ok(builder.with_single_cert(chain, key)?)
}

/// Certificates by the names that clients send.
fn by_name(setup: &Setup, provider: &CryptoProvider) -> Result<ServerNameResolver> {
    let mut resolver = ServerNameResolver::new();
    for named in setup.named {
        let (chain, key) = identity_and_key(&named.identity)?;
        let credentials = Credentials::from_der(chain, key, provider)?;
        resolver.add(DnsName::try_from(named.name)?, credentials)?;
    }
    Ok(resolver)
}

fn identity_and_key(identity: &Identity) -> Result<(Arc<Chain<'static>>, PrivateKeyDer<'static>)> {
    let (chain, key) = chain_and_key(identity)?;
    let chain = Chain::from_cert_chain(chain).map_err(rustls::Error::from)?;
    Ok((Arc::new(chain), key))
}

pub fn connect<'a>(
    config: &Arc<ClientConfig>,
    name: ServerName<'static>,
    endpoint: &'a Endpoint,
) -> Result<Client<'a>> {
    RustlsConnection::new(endpoint, |outgoing| config.connect(name).build(outgoing))
}

pub fn accept<'a>(config: &Arc<ServerConfig>, endpoint: &'a Endpoint) -> Result<Server<'a>> {
    RustlsConnection::new(endpoint, |_| {
        Connection::<ServerSide, _>::new(Arc::clone(config))
    })
}
