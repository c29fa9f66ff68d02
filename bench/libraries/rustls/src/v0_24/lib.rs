//! Adapter for rustls 0.24 and later with any of its cryptography providers. Each provider is a
//! package, and a connection reads from and writes to the caller's buffers.
//!
//! Builds of these versions use this file instead of `src/lib.rs` (`from` in Cargo.toml).

#[cfg(feature = "aws-lc-rs")]
#[path = "../aws_lc_rs.rs"]
mod aws_lc_rs;
mod connection;
mod packet;
#[path = "../primitive.rs"]
mod primitive;
#[cfg(feature = "ring")]
#[path = "../ring.rs"]
mod ring;
mod session;
mod vocabulary;

use std::{
    any::Any,
    borrow::Cow,
    ptr,
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context, Result, bail, ensure};
use pki_types::{
    CertificateDer, DnsName, PrivateKeyDer, ServerName, SignatureVerificationAlgorithm,
    pem::PemObject,
};
use rustls::{
    ClientConfig, ClientSide, Connection, RootCertStore, ServerConfig, ServerSide,
    client::{Resumption as ClientResumption, WebPkiServerVerifier},
    crypto::{
        Credentials, CryptoProvider, Identity as Chain, SignatureScheme, WebPkiSupportedAlgorithms,
    },
    server::{
        NoServerSessionStorage, ServerNameResolver, ServerSessionMemoryCache, Tls13Tickets,
        WebPkiClientVerifier,
    },
};
use tls_harness::{
    binary,
    certificates::Identity,
    implementation::{self, Implementation, Linkage},
    library::{Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario,
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
    vocabulary::{is_suite, named_group, signature_scheme},
};

pub struct Rustls {
    name: &'static str,
    provider: CryptoProvider,
    cryptography: &'static dyn Cryptography,
    /// Whether it honours a mask of processor features.
    honors_mask: bool,
}

impl Rustls {
    #[cfg(feature = "aws-lc-rs")]
    pub fn aws_lc_rs() -> Self {
        Self {
            name: "aws-lc-rs",
            // The default groups are fewer: a scenario names the group that it needs.
            provider: CryptoProvider {
                kx_groups: Cow::Borrowed(rustls_aws_lc_rs::ALL_KX_GROUPS),
                ..rustls_aws_lc_rs::DEFAULT_PROVIDER
            },
            cryptography: &aws_lc_rs::AwsLcRs,
            honors_mask: true,
        }
    }

    #[cfg(feature = "ring")]
    pub fn ring() -> Self {
        Self {
            name: "ring",
            provider: rustls_ring::DEFAULT_PROVIDER,
            cryptography: &ring::Ring,
            honors_mask: false,
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
        algorithms.mapping().iter().any(|it| it.0 == scheme)
    }

    /// Whether the cipher suite fits the certificate: TLS 1.2 cipher suites name the signature.
    fn signs(&self, setup: &Setup) -> bool {
        let scheme = signature_scheme(setup.certificate);
        let mut suites = self.provider.tls12_cipher_suites.iter();
        let found = suites.find(|suite| is_suite(&suite.common, setup.cipher_suite));
        found.is_none_or(|suite| suite.sign.contains(&scheme))
    }

    fn lacks(&self, what: &str) -> String {
        format!("{} has no {what}", self.name)
    }

    /// The provider, reduced to the algorithms of the configuration. rustls supports a version of
    /// TLS if the provider has a cipher suite for it.
    fn pinned(&self, setup: &Setup) -> Result<Arc<CryptoProvider>> {
        let mut provider = self.provider.clone();
        let wanted = setup.cipher_suite;
        let (tls12, tls13) = (
            provider.tls12_cipher_suites.to_mut(),
            provider.tls13_cipher_suites.to_mut(),
        );
        tls12.retain(|suite| setup.protocol == Protocol::Tls12 && is_suite(&suite.common, wanted));
        tls13.retain(|suite| setup.protocol == Protocol::Tls13 && is_suite(&suite.common, wanted));
        ensure!(
            tls12.len() + tls13.len() == 1,
            "{} has no {wanted}",
            self.name
        );
        let groups = setup.groups.iter().map(|group| {
            let mut all = self.provider.kx_groups.iter();
            let found = all.find(|found| found.name() == named_group(*group));
            let found = found.copied();
            found.with_context(|| format!("{} has no {group}", self.name))
        });
        provider.kx_groups = Cow::Owned(groups.collect::<Result<_>>()?);
        let scheme = signature_scheme(setup.certificate);
        provider.signature_verification_algorithms =
            only(scheme, provider.signature_verification_algorithms)?
                .with_context(|| format!("{} has no {scheme:?}", self.name))?;
        Ok(Arc::new(provider))
    }
}

/// The algorithms with which a provider verifies signatures, by scheme.
type Mapping = &'static [(
    SignatureScheme,
    &'static [&'static dyn SignatureVerificationAlgorithm],
)];

/// The entries of one scheme in a provider's mapping. They are made once, since rustls requires
/// `'static`.
fn only(
    scheme: SignatureScheme,
    supported: WebPkiSupportedAlgorithms,
) -> Result<Option<WebPkiSupportedAlgorithms>> {
    static MADE: Mutex<Vec<(Mapping, SignatureScheme, WebPkiSupportedAlgorithms)>> =
        Mutex::new(Vec::new());
    let all = supported.mapping();
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = made.iter().find(|it| ptr::eq(it.0, all) && it.1 == scheme);
    if let Some((_, _, found)) = known {
        return Ok(Some(*found));
    }
    let own: Vec<_> = all.iter().filter(|it| it.0 == scheme).copied().collect();
    if own.is_empty() {
        return Ok(None);
    }
    let algorithms = all.iter().flat_map(|(_, algorithms)| *algorithms).copied();
    let own = WebPkiSupportedAlgorithms::new(Vec::leak(algorithms.collect()), Vec::leak(own))
        .map_err(rustls::Error::from)?;
    made.push((all, scheme, own));
    Ok(Some(own))
}

fn roots(pem: &str) -> Result<Arc<RootCertStore>> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate?)?;
    }
    Ok(Arc::new(roots))
}

/// Certificates by the names that clients send.
fn by_name(setup: &Setup, provider: &CryptoProvider) -> Result<ServerNameResolver> {
    let mut resolver = ServerNameResolver::new();
    for named in setup.named {
        let (chain, key) = chain_and_key(&named.identity)?;
        let credentials = Credentials::from_der(chain, key, provider)?;
        resolver.add(DnsName::try_from(named.name)?, credentials)?;
    }
    Ok(resolver)
}

fn chain_and_key(identity: &Identity) -> Result<(Arc<Chain<'static>>, PrivateKeyDer<'static>)> {
    let chain = CertificateDer::pem_slice_iter(identity.chain.as_bytes());
    let chain = Chain::from_cert_chain(chain.collect::<Result<_, _>>()?);
    Ok((
        Arc::new(chain.map_err(rustls::Error::from)?),
        PrivateKeyDer::from_pem_slice(identity.key.as_bytes())?,
    ))
}

/// Plaintext bytes in the largest record of TLS.
const MOST_IN_RECORD: usize = 1 << 14;

/// Bytes that encryption adds to a record's plaintext. These versions of rustls include them in the
/// maximum fragment size, which is at most 16 KiB.
fn added(protocol: Protocol, suite: CipherSuite) -> usize {
    const TAG: usize = 16;
    const EXPLICIT_NONCE: usize = 8;
    const CONTENT_TYPE: usize = 1;
    match (protocol, suite) {
        (Protocol::Tls13, _) => TAG + CONTENT_TYPE,
        (
            Protocol::Tls12,
            CipherSuite::EcdheRsaChaCha20Poly1305 | CipherSuite::EcdheEcdsaChaCha20Poly1305,
        ) => TAG,
        (Protocol::Tls12, _) => TAG + EXPLICIT_NONCE,
    }
}

/// rustls also includes the record header in the maximum fragment size.
fn max_fragment_size(setup: &Setup) -> Option<usize> {
    const HEADER: usize = 5;
    let added = added(setup.protocol, setup.cipher_suite);
    setup
        .record_size
        .map(|size| (size as usize + added).min(MOST_IN_RECORD) + HEADER)
}

/// A client's configuration, and the server name that it expects.
pub struct Client {
    config: Arc<ClientConfig>,
    host_name: &'static str,
}

impl TlsLibrary for Rustls {
    type ClientConfig = Client;
    type ServerConfig = Arc<ServerConfig>;
    type Client<'a> = RustlsConnection<'a, ClientSide>;
    type Server<'a> = RustlsConnection<'a, ServerSide>;

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
            if setup.compresses {
                return Some("rustls is built without compression of certificates here".into());
            }
            if !self.signs(&setup) {
                return Some(self.lacks(&format!("{} in TLS 1.2", setup.certificate)));
            }
            let most = MOST_IN_RECORD - added(setup.protocol, setup.cipher_suite);
            let record = setup.record_size.map_or(MOST_IN_RECORD, |it| it as usize);
            let record = scenario.size.map_or(record, |it| record.min(it as usize));
            if scenario.operation == Operation::Transfer && record > most {
                return Some(format!(
                    "this rustls puts {most} bytes in a record at the most, expected {record}: \
                     measured with a smaller record_size"
                ));
            }
        }
        if scenario.operation == Operation::QuicPacket {
            let found = packet::suite(&self.provider, scenario.cipher_suite?);
            return found.is_none().then(|| self.lacks(packet::NONE));
        }
        let primitive = Primitive::of(scenario).ok()?;
        if primitive.is_ml_dsa() && !self.verifies(Certificate::MlDsa44) {
            return Some(self.lacks("ML-DSA"));
        }
        let ml_kem = primitive.is_ml_kem();
        (ml_kem && !self.has_group(KeyExchange::X25519MlKem768)).then(|| self.lacks("ML-KEM"))
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
        let found = packet::suite(&self.provider, suite);
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
        let verifier = WebPkiServerVerifier::builder(roots(setup.trusted)?, &provider).build()?;
        let builder = ClientConfig::builder(provider).with_webpki_verifier(Arc::new(verifier));
        let mut config = match &setup.identity {
            None => builder.with_no_client_auth()?,
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
        let builder = ServerConfig::builder(Arc::clone(&provider));
        let builder = match setup.authentication {
            Authentication::Server => builder.with_no_client_auth(),
            Authentication::Mutual => {
                let verifier =
                    WebPkiClientVerifier::builder(roots(setup.trusted)?, &provider).build()?;
                builder.with_client_cert_verifier(Arc::new(verifier))
            }
        };
        let identity = setup.identity.context("a server needs an identity")?;
        let mut config = match setup.named {
            [] => {
                let (chain, key) = chain_and_key(&identity)?;
                builder.with_single_cert(chain, key)?
            }
            _ => builder.with_server_credential_resolver(Arc::new(by_name(setup, &provider)?))?,
        };
        config.max_fragment_size = max_fragment_size(setup);
        config.session_storage = Arc::new(NoServerSessionStorage {});
        let tickets = usize::from(setup.resumption != Resumption::None);
        config.send_tls13_tickets = Tls13Tickets {
            default: tickets,
            max: tickets,
        };
        match setup.resumption {
            Resumption::None => {}
            Resumption::Ticket => {
                config.ticketer = Some(provider.ticketer_factory.ticketer()?);
            }
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
        RustlsConnection::new(endpoint, |outgoing| {
            client.config.connect(name).build(outgoing)
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Arc<ServerConfig>,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        RustlsConnection::new(endpoint, |_| {
            Connection::<ServerSide, _>::new(Arc::clone(config))
        })
    }
}
