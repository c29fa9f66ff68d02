//! The adapter for libraries with OpenSSL's API: a module of each of them. Where the libraries
//! differ, it calls `crate::ffi` of the adapter. `crate::implementation`, `crate::unsupported` and
//! `crate::cryptography` describe the build, what it does not support, and its cryptography.

mod bio;
mod connection;
mod context;

use std::{any::Any, ffi::CStr};

use anyhow::{Result, bail};
use tls_harness::{
    implementation::Implementation,
    library::{Setup, TlsLibrary, primitives::Cryptography},
    scenario::{Certificate, CipherSuite, KeyExchange, Scenario},
    transport::Endpoint,
};

use crate::ffi;
pub use connection::SslConnection;
use context::{Context, ServerContext};

pub struct Ssl;

impl TlsLibrary for Ssl {
    type ClientConfig = Context;
    type ServerConfig = ServerContext;
    type Client<'a> = SslConnection<'a>;
    type Server<'a> = SslConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        crate::implementation()
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        crate::unsupported(scenario)
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        crate::cryptography()
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        // SAFETY: the returned value owns the store.
        unsafe {
            let store = Store(ffi::X509_STORE_new());
            check(!store.0.is_null(), "X509_STORE_new")?;
            add_anchors(store.0, pem)?;
            Ok(Box::new(store))
        }
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        Ok(Box::new(PrivateKey(private_key(pem)?)))
    }

    fn client_config(&self, setup: &Setup) -> Result<Context> {
        Context::client(setup)
    }

    fn server_config(&self, setup: &Setup) -> Result<ServerContext> {
        Context::server(setup)
    }

    fn connect<'a>(
        &self,
        context: &'a Context,
        endpoint: &'a Endpoint,
    ) -> Result<SslConnection<'a>> {
        context.connect(endpoint)
    }

    fn accept<'a>(
        &self,
        context: &'a ServerContext,
        endpoint: &'a Endpoint,
    ) -> Result<SslConnection<'a>> {
        context.accept(endpoint)
    }
}

/// Turns a failure of a C library into an error with the messages in its error queue.
pub fn check(ok: bool, what: &str) -> Result<()> {
    if ok {
        return Ok(());
    }
    let mut reasons = Vec::new();
    loop {
        // SAFETY: both functions only use this thread's error queue, and messages are static
        // strings.
        let reason = unsafe {
            match ffi::ERR_get_error() {
                0 => break,
                code => ffi::ERR_reason_error_string(code),
            }
        };
        if !reason.is_null() {
            // SAFETY: a message that is not null is a static C string.
            reasons.push(unsafe { CStr::from_ptr(reason) }.to_string_lossy());
        }
    }
    match reasons.is_empty() {
        true => bail!("{what}"),
        false => bail!("{what}: {}", reasons.join(", ")),
    }
}

/// The name of a TLS 1.2 cipher suite in cipher lists; `None` for those of TLS 1.3.
pub fn cipher_list_name(suite: CipherSuite) -> Option<&'static CStr> {
    Some(match suite {
        CipherSuite::EcdheRsaAes128Gcm => c"ECDHE-RSA-AES128-GCM-SHA256",
        CipherSuite::EcdheRsaAes256Gcm => c"ECDHE-RSA-AES256-GCM-SHA384",
        CipherSuite::EcdheRsaChaCha20Poly1305 => c"ECDHE-RSA-CHACHA20-POLY1305",
        CipherSuite::EcdheEcdsaAes128Gcm => c"ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::EcdheEcdsaAes256Gcm => c"ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::EcdheEcdsaChaCha20Poly1305 => c"ECDHE-ECDSA-CHACHA20-POLY1305",
        CipherSuite::Aes128Gcm | CipherSuite::Aes256Gcm | CipherSuite::ChaCha20Poly1305 => {
            return None;
        }
    })
}

/// The name of a group in lists of groups.
pub fn group_name(group: KeyExchange) -> &'static str {
    match group {
        KeyExchange::X25519 => "X25519",
        KeyExchange::Secp256r1 => "P-256",
        KeyExchange::Secp384r1 => "P-384",
        KeyExchange::X25519MlKem768 => "X25519MLKEM768",
        KeyExchange::Secp256r1MlKem768 => "SecP256r1MLKEM768",
        KeyExchange::MlKem768 => "MLKEM768",
    }
}

fn signature_algorithm(certificate: Certificate) -> &'static CStr {
    match certificate {
        Certificate::Rsa2048 | Certificate::Rsa4096 => c"rsa_pss_rsae_sha256",
        Certificate::EcdsaP256 => c"ecdsa_secp256r1_sha256",
        Certificate::EcdsaP384 => c"ecdsa_secp384r1_sha384",
        Certificate::Ed25519 => c"ed25519",
        Certificate::MlDsa44 => c"mldsa44",
        Certificate::MlDsa65 => c"mldsa65",
        Certificate::MlDsa87 => c"mldsa87",
    }
}

/// The certificates of a PEM text, in order; the caller frees them.
fn certificates(pem: &str) -> Result<Vec<*mut ffi::X509>> {
    let mut certificates = Vec::new();
    // SAFETY: the BIO reads `pem`, which outlives it.
    unsafe {
        let bio = ffi::BIO_new_mem_buf(pem.as_ptr().cast(), pem.len().try_into()?);
        check(!bio.is_null(), "BIO_new_mem_buf")?;
        loop {
            let certificate = ffi::read_certificate(bio)?;
            if certificate.is_null() {
                break;
            }
            certificates.push(certificate);
        }
        ffi::BIO_free_all(bio);
        // Reading past the last certificate is an error of the library.
        let reason = ffi::ERR_reason_error_string(ffi::ERR_peek_last_error());
        let is_end = !reason.is_null()
            && [c"no start line", c"NO_START_LINE"].contains(&CStr::from_ptr(reason));
        if !is_end || certificates.is_empty() {
            for certificate in &certificates {
                ffi::X509_free(*certificate);
            }
            check(false, "PEM_read_bio_X509")?;
        }
        ffi::ERR_clear_error();
    }
    Ok(certificates)
}

/// Adds the certificates of a PEM text to a store.
///
/// # Safety
///
/// The store is valid.
unsafe fn add_anchors(store: *mut ffi::X509_STORE, pem: &str) -> Result<()> {
    for certificate in certificates(pem)? {
        // SAFETY: the store takes its own reference.
        unsafe {
            let added = ffi::X509_STORE_add_cert(store, certificate);
            ffi::X509_free(certificate);
            check(added == 1, "X509_STORE_add_cert")?;
        }
    }
    Ok(())
}

/// A store of trust anchors alone.
pub struct Store(pub *mut ffi::X509_STORE);

impl Drop for Store {
    fn drop(&mut self) {
        // SAFETY: `self` owns the store.
        unsafe { ffi::X509_STORE_free(self.0) }
    }
}

pub struct PrivateKey(pub *mut ffi::EVP_PKEY);

impl Drop for PrivateKey {
    fn drop(&mut self) {
        // SAFETY: `self` owns the key.
        unsafe { ffi::EVP_PKEY_free(self.0) }
    }
}

/// The private key of a PEM text; the caller frees it.
pub fn private_key(pem: &str) -> Result<*mut ffi::EVP_PKEY> {
    // SAFETY: the BIO reads `pem`, which outlives it.
    unsafe {
        let bio = ffi::BIO_new_mem_buf(pem.as_ptr().cast(), pem.len().try_into()?);
        check(!bio.is_null(), "BIO_new_mem_buf")?;
        let key = ffi::read_private_key(bio)?;
        ffi::BIO_free_all(bio);
        check(!key.is_null(), "PEM_read_bio_PrivateKey")?;
        Ok(key)
    }
}
