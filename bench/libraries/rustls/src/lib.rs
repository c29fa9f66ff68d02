//! Adapter for rustls with any of its cryptography providers.

#[cfg(feature = "aws-lc-rs")]
mod aws_lc_rs;
mod compression;
#[cfg(feature = "graviola")]
mod graviola;
mod packet;
mod primitive;
#[cfg(feature = "ring")]
mod ring;
mod session;
#[cfg(feature = "unbuffered")]
pub mod unbuffered;
#[cfg(not(rustls_0_24))]
mod v0_23;
#[cfg(rustls_0_24)]
mod v0_24;
mod vocabulary;

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
    ClientConfig, RootCertStore, ServerConfig,
    client::Resumption as ClientResumption,
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms},
    server::{NoServerSessionStorage, ServerSessionMemoryCache},
};
use tls_harness::{
    binary,
    certificates::Identity,
    implementation::{self, Implementation, Linkage},
    library::{
        MOST_EARLY_DATA, Setup, TlsLibrary,
        packets::{PacketKeys, PacketProtection},
        primitives::Cryptography,
    },
    scenario::{Certificate, CipherSuite, KeyExchange, Operation, Resumption, Scenario},
    transport::Endpoint,
};

#[cfg(not(rustls_0_24))]
use crate::v0_23 as api;
#[cfg(rustls_0_24)]
use crate::v0_24 as api;
use crate::{
    session::SessionSlot,
    vocabulary::{named_group, signature_scheme},
};

pub struct Rustls {
    name: &'static str,
    provider: CryptoProvider,
    cryptography: &'static dyn Cryptography,
    ticketer: fn() -> Result<api::Ticketer, rustls::Error>,
    /// Whether it honours a mask of processor features.
    honors_mask: bool,
    /// The reason why its instructions cannot be counted, if so.
    uncountable: Option<&'static str>,
}

impl Rustls {
    fn has_group(&self, group: KeyExchange) -> bool {
        let groups = &self.provider.kx_groups;
        groups
            .iter()
            .any(|found| found.name() == named_group(group))
    }

    /// Whether the provider can verify signatures of this type.
    fn verifies(&self, certificate: Certificate) -> bool {
        let mapping = api::mapping(&self.provider.signature_verification_algorithms);
        let scheme = signature_scheme(certificate);
        mapping.iter().any(|it| it.0 == scheme)
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
        ensure!(
            api::keep_suite(&mut provider, setup) == 1,
            "{} has no {}",
            self.name,
            setup.cipher_suite
        );
        let groups = setup.groups.iter().map(|group| {
            let mut all = self.provider.kx_groups.iter();
            let found = all.find(|found| found.name() == named_group(*group));
            let found = found.copied();
            found.with_context(|| format!("{} has no {group}", self.name))
        });
        provider.kx_groups = groups.collect::<Result<_>>()?;
        let scheme = signature_scheme(setup.certificate);
        provider.signature_verification_algorithms =
            only(scheme, provider.signature_verification_algorithms)?
                .with_context(|| format!("{} has no {scheme:?}", self.name))?;
        Ok(Arc::new(provider))
    }
}

/// The algorithms with which a provider verifies signatures, by scheme.
type Mapping = &'static [(
    api::SignatureScheme,
    &'static [&'static dyn SignatureVerificationAlgorithm],
)];

/// The entries of one scheme in a provider's mapping, if there are any. They are made once, since
/// rustls requires `'static`.
fn only(
    scheme: api::SignatureScheme,
    supported: WebPkiSupportedAlgorithms,
) -> Result<Option<WebPkiSupportedAlgorithms>> {
    static MADE: Mutex<Vec<(Mapping, api::SignatureScheme, WebPkiSupportedAlgorithms)>> =
        Mutex::new(Vec::new());
    let all = api::mapping(&supported);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let known = made.iter().find(|it| ptr::eq(it.0, all) && it.1 == scheme);
    if let Some((_, _, found)) = known {
        return Ok(Some(*found));
    }
    let own: Vec<_> = all.iter().filter(|it| it.0 == scheme).copied().collect();
    if own.is_empty() {
        return Ok(None);
    }
    let own = api::mapped(supported, Vec::leak(own))?;
    made.push((all, scheme, own));
    Ok(Some(own))
}

fn roots(pem: &str) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate?)?;
    }
    Ok(roots)
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

/// Plaintext bytes in the largest record of TLS.
const MOST_IN_RECORD: usize = 1 << 14;

/// rustls includes the record header in the maximum fragment size, and newer versions what
/// encryption adds.
fn max_fragment_size(setup: &Setup) -> Option<usize> {
    const HEADER: usize = 5;
    let size = |plaintext| (plaintext as usize + api::added(setup)).min(MOST_IN_RECORD) + HEADER;
    setup.record_size.map(size)
}

/// Reason why self-contained tickets permit no early data.
const STATELESS_EARLY_DATA: &str = "rustls accepts early data only of sessions in its server's cache, which returns each once: \
     measured with resumption \"session-id\"";

/// A client's configuration, and the server name that it sends.
pub struct Client {
    pub config: Arc<ClientConfig>,
    pub host_name: &'static str,
}

impl TlsLibrary for Rustls {
    type ClientConfig = Client;
    type ServerConfig = Arc<ServerConfig>;
    type Client<'a> = api::Client<'a>;
    type Server<'a> = api::Server<'a>;

    fn implementation(&self) -> Result<Implementation> {
        let package = |name| {
            binary::package_version(env!("PACKAGES"), name).with_context(|| {
                format!(
                    "found no package {name} in Cargo.lock among `packages` of library.toml; a \
                     provider has the name of its package, such as rustls-rustcrypto"
                )
            })
        };
        let version = package("rustls")?;
        let own = |it: &&str| match it.split_once('/') {
            Some((of, _)) => of == "rustls" || of == self.name,
            None => true,
        };
        let told: Vec<_> = env!("CONFIGURE").split(' ').filter(own).collect();
        let flags = match self.name {
            "aws-lc-rs" | "ring" => [env!("FLAGS"), env!("C_FLAGS")].join(" "),
            _ => env!("FLAGS").into(),
        };
        let implementation = Implementation::new(env!("LIBRARY"), &version)?
            .with_provider(self.name, package(self.name)?);
        Ok(Implementation {
            configure: Some(told.join(" ")),
            flags: Some(flags),
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
            let scheme = signature_scheme(setup.certificate);
            if !api::signs(&self.provider, &setup, scheme) {
                return Some(self.lacks(&format!("{} in TLS 1.2", setup.certificate)));
            }
            if setup.early_data && cfg!(rustls_0_24) {
                return Some("this adapter sends no early data with rustls 0.24 and later".into());
            }
            if setup.early_data && setup.resumption == Resumption::Ticket {
                return Some(STATELESS_EARLY_DATA.into());
            }
            let most = MOST_IN_RECORD - api::added(&setup);
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
            let found = api::packet_suite(&self.provider, scenario.cipher_suite?);
            return found.is_none().then(|| self.lacks(packet::NONE));
        }
        let primitive = scenario.primitive().ok()?;
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
        let found = api::packet_suite(&self.provider, suite);
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
        let mut config = api::client_config(self.pinned(setup)?, setup)?;
        config.max_fragment_size = max_fragment_size(setup);
        compression::of_client(&mut config, setup);
        config.resumption = match setup.resumption {
            Resumption::None => ClientResumption::disabled(),
            _ => ClientResumption::store(Arc::new(SessionSlot::default())),
        };
        config.enable_early_data = setup.early_data;
        Ok(Client {
            config: Arc::new(config),
            host_name: setup.host_name,
        })
    }

    fn server_config(&self, setup: &Setup) -> Result<Arc<ServerConfig>> {
        let mut config = api::server_config(self.pinned(setup)?, setup)?;
        config.max_fragment_size = max_fragment_size(setup);
        compression::of_server(&mut config, setup);
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = api::tickets(1);
        match setup.resumption {
            Resumption::None => config.send_tls13_tickets = api::tickets(0),
            Resumption::Ticket => config.ticketer = (self.ticketer)()?,
            Resumption::SessionId => {
                config.session_storage =
                    ServerSessionMemoryCache::new(setup.session_cache as usize);
            }
            Resumption::Resumed => bail!("\"resumed\" is not a way to resume"),
        }
        if setup.early_data {
            config.max_early_data_size = MOST_EARLY_DATA;
        }
        Ok(Arc::new(config))
    }

    fn connect<'a>(&self, client: &'a Client, endpoint: &'a Endpoint) -> Result<Self::Client<'a>> {
        let name = ServerName::try_from(client.host_name)?;
        #[cfg(not(rustls_counts_tickets))]
        session::TICKETS.set(0);
        api::connect(&client.config, name, endpoint)
    }

    fn accept<'a>(
        &self,
        config: &'a Arc<ServerConfig>,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        api::accept(config, endpoint)
    }
}
