//! Adapter for wolfSSL as the package wolfssl-sys configures and builds it: without session
//! tickets, without Ed25519, and without a limit for the size of records.

mod connection;
mod context;

use std::{
    any::Any,
    ffi::{CStr, c_char, c_int},
};

use anyhow::{Context as _, Result, bail};
use tls_harness::{
    binary,
    implementation::Implementation,
    library::{self, Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, KeyExchange, Operation, Protocol, Resumption, Scenario, SetUp,
        Variant,
    },
    transport::Endpoint,
};
use wolfssl_sys as ffi;

use crate::{
    connection::WolfSslConnection,
    context::{Context, ServerContext},
};

pub struct WolfSsl;

/// Turns any result but success into an error with wolfSSL's message.
fn check(result: c_int, what: &str) -> Result<()> {
    if result == ffi::WOLFSSL_SUCCESS as c_int {
        return Ok(());
    }
    bail!("{what}: {}", reason(result));
}

/// The message of an error code of wolfSSL.
fn reason(error: c_int) -> String {
    // `WOLFSSL_MAX_ERROR_SZ` of ssl.h.
    let mut text: [c_char; 80] = [0; 80];
    // SAFETY: the buffer has `WOLFSSL_MAX_ERROR_SZ` bytes, and the text ends with a zero byte.
    unsafe {
        ffi::wolfSSL_ERR_error_string(i64::from(error).cast_unsigned(), text.as_mut_ptr());
        CStr::from_ptr(text.as_ptr()).to_string_lossy().into_owned()
    }
}

impl TlsLibrary for WolfSsl {
    type ClientConfig = Context;
    type ServerConfig = ServerContext;
    type Client<'a> = WolfSslConnection<'a>;
    type Server<'a> = WolfSslConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        let package = binary::package_version(env!("PACKAGES"), "wolfssl-sys");
        let package = package.context("Cargo.lock has no wolfssl-sys")?;
        // SAFETY: the library returns a static string.
        let version = unsafe { CStr::from_ptr(ffi::wolfSSL_lib_version()) };
        Ok(Implementation {
            flags: Some(env!("WOLFSSL_FLAGS").into()),
            linkage: Some(binary::linkage("libwolfssl")?),
            source: Some(format!("cargo package wolfssl-sys {package}")),
            note: Some("as the package configures it, with its own patches".into()),
            ..Implementation::new(env!("LIBRARY"), version.to_str()?)?
        })
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        let reason = |text: &str| Some(text.to_owned());
        if scenario.operation == Operation::QuicPacket {
            return reason("wolfssl-sys builds wolfSSL without QUIC");
        }
        if scenario.operation == Operation::Primitive {
            return reason("this adapter does not reach the cryptography of wolfSSL");
        }
        if scenario.certificate == Some(Certificate::Ed25519) {
            return reason("wolfssl-sys builds wolfSSL without Ed25519");
        }
        if scenario.certificate.is_some_and(Certificate::is_ml_dsa) {
            return reason("wolfssl-sys builds wolfSSL without ML-DSA");
        }
        if scenario.key_exchange == Some(KeyExchange::MlKem768) {
            return reason("wolfssl-sys builds wolfSSL without MLKEM768 as a group of its own");
        }
        if scenario.variant == Some(Variant::Compressed) {
            return reason("wolfSSL has no compression of certificates");
        }
        let signs_otherwise = scenario.protocol == Some(Protocol::Tls12)
            && scenario.authentication == Some(Authentication::Mutual)
            && scenario.certificate == Some(Certificate::EcdsaP384);
        if signs_otherwise {
            return reason(
                "wolfSSL's server adds hashes to those that are configured, and the client of an \
                 ECDSA P-384 certificate signs with SHA-256 in TLS 1.2",
            );
        }
        if scenario.record_size.is_some() {
            return reason(
                "wolfssl-sys builds wolfSSL without HAVE_MAX_FRAGMENT: records have 16 KiB",
            );
        }
        if let Some(Variant::SetUp(SetUp::PrivateKey)) = scenario.variant {
            return reason(library::NO_PRIVATE_KEY);
        }
        match (scenario.protocol, scenario.resumption) {
            (_, Some(Resumption::Ticket)) => {
                reason("wolfssl-sys builds wolfSSL without session tickets")
            }
            (Some(Protocol::Tls13), Some(Resumption::SessionId)) => reason(
                "wolfSSL resumes TLS 1.3 sessions by tickets, without which wolfssl-sys builds it",
            ),
            (_, Some(Resumption::SessionId)) => {
                reason("wolfSSL's cache of sessions has a size that is fixed when it is compiled")
            }
            _ => None,
        }
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        // SAFETY: the returned value owns the manager, and the text is read before the call
        // returns.
        unsafe {
            let manager = ffi::wolfSSL_CertManagerNew();
            let manager = Anchors(is_there(manager, "wolfSSL_CertManagerNew")?);
            let format = ffi::WOLFSSL_FILETYPE_PEM.cast_signed();
            let length = pem.len().try_into()?;
            let loaded =
                ffi::wolfSSL_CertManagerLoadCABuffer(manager.0, pem.as_ptr(), length, format);
            check(loaded, "wolfSSL_CertManagerLoadCABuffer")?;
            Ok(Box::new(manager))
        }
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
    ) -> Result<WolfSslConnection<'a>> {
        let connection = WolfSslConnection::new(context, endpoint, true)?;
        let ssl = connection.ssl;
        let name = &context.host_name;
        // SAFETY: the connection is valid, and the name is copied.
        unsafe {
            let length = name.as_bytes().len().try_into()?;
            let kind = ffi::WOLFSSL_SNI_HOST_NAME.try_into()?;
            let set = ffi::wolfSSL_UseSNI(ssl, kind, name.as_ptr().cast(), length);
            check(set, "wolfSSL_UseSNI")?;
            let set = ffi::wolfSSL_check_domain_name(ssl, name.as_ptr());
            check(set, "wolfSSL_check_domain_name")?;
            for group in &context.key_shares {
                check(ffi::wolfSSL_UseKeyShare(ssl, *group), "wolfSSL_UseKeyShare")?;
            }
        }
        Ok(connection)
    }

    fn accept<'a>(
        &self,
        context: &'a ServerContext,
        endpoint: &'a Endpoint,
    ) -> Result<WolfSslConnection<'a>> {
        WolfSslConnection::new(&context.0, endpoint, false)
    }
}

/// A store of trust anchors alone.
struct Anchors(*mut ffi::WOLFSSL_CERT_MANAGER);

impl Drop for Anchors {
    fn drop(&mut self) {
        // SAFETY: `self` owns the manager.
        unsafe { ffi::wolfSSL_CertManagerFree(self.0) };
    }
}

const NONE: ffi::VerifyCallback = None;

/// Returns the new object, or an error if it is null.
fn is_there<T>(object: *mut T, what: &str) -> Result<*mut T> {
    match object.is_null() {
        true => bail!("{what}: out of memory"),
        false => Ok(object),
    }
}
