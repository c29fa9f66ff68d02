//! Adapter for rustls with any of its cryptography providers.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc_rs;
mod compression;
mod connection;
#[cfg(feature = "graviola")]
mod graviola;
mod packet;
mod primitive;
#[cfg(feature = "ring")]
mod ring;
mod session;

use std::{
    any::Any,
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result, bail, ensure};
use pki_types::{
    CertificateDer, PrivateKeyDer, ServerName, SignatureVerificationAlgorithm, pem::PemObject,
};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, SignatureScheme,
    SupportedCipherSuite,
    client::{Resumption as ClientResumption, WebPkiServerVerifier},
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms},
    server::{
        NoServerSessionStorage, ProducesTickets, ResolvesServerCertUsingSni,
        ServerSessionMemoryCache, WebPkiClientVerifier,
    },
    sign::CertifiedKey,
};
use tls_harness::{
    binary,
    certificates::Identity,
    implementation::{self, Implementation, Linkage},
    library::{Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Resumption, Scenario,
    },
    transport::Endpoint,
    workloads::{
        primitives::{Cryptography, Primitive},
        quic_packet::{PacketKeys, PacketProtection},
    },
};

use crate::{
    connection::RustlsConnection,
    session::SessionSlot,
    vocabulary::{is_suite, named_group, signature_scheme, version},
};

#[cfg(feature = "unbuffered")]
pub mod unbuffered;
mod vocabulary;

pub struct Rustls {
    name: &'static str,
    provider: CryptoProvider,
    cryptography: &'static dyn Cryptography,
    ticketer: fn() -> Result<Arc<dyn ProducesTickets>, rustls::Error>,
    /// Whether it honours a mask of processor features.
    honors_mask: bool,
    /// The reason why its instructions cannot be counted, if so.
    uncountable: Option<&'static str>,
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
                .then_some("graviola requires ADX, which Valgrind does not emulate"),
        }
    }

    fn has_group(&self, group: KeyExchange) -> bool {
        let groups = &self.provider.kx_groups;
        groups
            .iter()
            .any(|found| found.name() == named_group(group))
    }

    /// Whether the provider can verify signatures of this type.
    fn verifies(&self, certificate: Certificate) -> bool {
        let algorithms = &self.provider.signature_verification_algorithms;
        let scheme = signature_scheme(certificate);
        algorithms.mapping.iter().any(|it| it.0 == scheme)
    }

    /// Whether the cipher suite fits the certificate: TLS 1.2 cipher suites name the signature.
    fn signs(&self, setup: &Setup) -> bool {
        let scheme = signature_scheme(setup.certificate);
        let mut suites = self.provider.cipher_suites.iter();
        let found = suites.find(|suite| is_suite(suite, setup.cipher_suite));
        match found {
            Some(SupportedCipherSuite::Tls12(suite)) => suite.sign.contains(&scheme),
            _ => true,
        }
    }

    /// The message that the provider, or this version of rustls with it, does not support
    /// something.
    fn lacks(&self, what: &str) -> String {
        let name = match cfg!(rustls_hybrid) {
            true => self.name,
            false => "this rustls",
        };
        format!("{name} has no {what}")
    }

    /// The provider, reduced to the algorithms of the configuration.
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
        let mapping = only(scheme, algorithms.mapping);
        ensure!(!mapping.is_empty(), "{} has no {scheme:?}", self.name);
        provider.signature_verification_algorithms = WebPkiSupportedAlgorithms {
            all: algorithms.all,
            mapping,
        };
        Ok(Arc::new(provider))
    }
}

/// The algorithms with which a provider verifies signatures.
type Mapping = &'static [(
    SignatureScheme,
    &'static [&'static dyn SignatureVerificationAlgorithm],
)];

/// The entries of one scheme in a provider's mapping. They are made once, since rustls requires
/// `'static`.
fn only(scheme: SignatureScheme, mapping: Mapping) -> Mapping {
    static MADE: Mutex<Vec<(Mapping, SignatureScheme, Mapping)>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = made
        .iter()
        .find(|it| ptr::eq(it.0, mapping) && it.1 == scheme);
    if let Some((_, _, found)) = known {
        return found;
    }
    let own = mapping.iter().filter(|it| it.0 == scheme);
    let own: Mapping = Vec::leak(own.copied().collect());
    made.push((mapping, scheme, own));
    own
}

fn roots(pem: &str) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate?)?;
    }
    Ok(roots)
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

fn chain_and_key(
    identity: &Identity,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)> {
    let chain = CertificateDer::pem_slice_iter(identity.chain.as_bytes());
    Ok((
        chain.collect::<Result<_, _>>()?,
        PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?,
    ))
}

/// rustls includes the record header in the maximum fragment size.
fn max_fragment_size(setup: &Setup) -> Option<usize> {
    const HEADER: usize = 5;
    setup.record_size.map(|size| size as usize + HEADER)
}

/// A client's configuration, and the server name that it sends.
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
        // An invalid configuration is an error, which creating it reports.
        if let Ok(setup) = Setup::client(scenario) {
            if let Some(group) = setup.groups.iter().find(|group| !self.has_group(**group)) {
                return Some(self.lacks(&group.to_string()));
            }
            if setup.certificate.is_ml_dsa() && !self.verifies(setup.certificate) {
                return Some(self.lacks(&setup.certificate.to_string()));
            }
            #[cfg(not(feature = "certificate-compression"))]
            if setup.compresses {
                return Some(compression::NONE.into());
            }
            if !self.signs(&setup) {
                return Some(self.lacks(&format!("{} in TLS 1.2", setup.certificate)));
            }
        }
        if scenario.operation == Operation::QuicPacket {
            let found = packet::suite(&self.provider.cipher_suites, scenario.cipher_suite?);
            return found.is_none().then(|| self.lacks(packet::NONE));
        }
        let primitive = Primitive::of(scenario).ok()?;
        if primitive.is_ml_dsa() && !self.verifies(Certificate::MlDsa44) {
            return Some(self.lacks("ML-DSA"));
        }
        let ml_kem = primitive.is_ml_kem();
        (ml_kem && !self.has_group(KeyExchange::X25519MlKem768)).then(|| self.lacks("ML-KEM"))
    }

    fn uncountable(&self) -> Option<&'static str> {
        self.uncountable
    }

    /// The locks of Rust's standard library are instructions in the program.
    fn locks_by_calls(&self) -> bool {
        false
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        Ok(self.cryptography)
    }

    fn packet_protection(
        &self,
        suite: CipherSuite,
        keys: &PacketKeys,
    ) -> Result<Box<dyn PacketProtection>> {
        let found = packet::suite(&self.provider.cipher_suites, suite);
        let found = found.with_context(|| self.lacks(packet::NONE))?;
        Ok(Box::new(packet::Protection::new(found, keys)))
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        Ok(Box::new(roots(pem)?))
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())?;
        Ok(Box::new(self.provider.key_provider.load_private_key(key)?))
    }

    fn client_config(&self, setup: &Setup) -> Result<Client> {
        let provider = self.pinned(setup)?;
        let roots = Arc::new(roots(setup.trusted)?);
        let verifier =
            WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider)).build()?;
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
        compression::of_client(&mut config, setup);
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
                WebPkiClientVerifier::builder_with_provider(
                    Arc::new(roots(setup.trusted)?),
                    Arc::clone(&provider),
                )
                .build()?,
            ),
        };
        let identity = setup.identity.context("a server needs an identity")?;
        let mut config = match setup.named {
            [] => {
                let (chain, key) = chain_and_key(&identity)?;
                builder.with_single_cert(chain, key)?
            }
            _ => builder.with_cert_resolver(Arc::new(by_name(setup, &provider)?)),
        };
        config.max_fragment_size = max_fragment_size(setup);
        compression::of_server(&mut config, setup);
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 1;
        match setup.resumption {
            Resumption::None => config.send_tls13_tickets = 0,
            Resumption::Ticket => config.ticketer = (self.ticketer)()?,
            Resumption::SessionId => {
                config.session_storage =
                    ServerSessionMemoryCache::new(setup.session_cache as usize);
            }
            Resumption::Resumed => bail!("\"resumed\" is not a way to resume"),
        }
        Ok(Arc::new(config))
    }

    fn connect<'a>(&self, client: &'a Client, endpoint: &'a Endpoint) -> Result<Self::Client<'a>> {
        let name = ServerName::try_from(client.host_name)?;
        #[cfg(not(rustls_counts_tickets))]
        session::TICKETS.set(0);
        Ok(RustlsConnection {
            connection: ClientConnection::new(Arc::clone(&client.config), name)?,
            endpoint,
            is_closing: false,
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
            is_closing: false,
        })
    }
}
