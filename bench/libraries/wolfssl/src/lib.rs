//! Adapter for wolfSSL as it configures itself, with the assembly that it recommends and what the
//! harness cannot do without (library.toml). That leaves out Ed25519, early data and a limit for the
//! size of records, among others.

mod connection;
mod context;
/// Bindings that the build script generates, and the functions of internal.c.
#[allow(
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unused_imports
)]
#[allow(clippy::all)]
mod ffi {
    include!(concat!(env!("OUT_DIR"), "/wolfssl.rs"));

    unsafe extern "C" {
        pub fn tls_wolfssl_pin_scheme(context: *mut WOLFSSL_CTX, first: u8, second: u8);
        pub fn tls_wolfssl_ticket(connection: *const WOLFSSL) -> u32;
        pub fn tls_wolfssl_restart_nonces(connection: *mut WOLFSSL);
        pub fn tls_wolfssl_peer_signature(connection: *const WOLFSSL) -> u8;
        pub fn tls_wolfssl_peer_hash(connection: *const WOLFSSL) -> u8;
        pub fn tls_wolfssl_peer_verified(connection: *const WOLFSSL) -> std::ffi::c_int;
        pub fn tls_wolfssl_size() -> std::ffi::c_int;
    }
}

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
        Slope, Variant,
    },
    transport::Endpoint,
};

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
            configure: Some(env!("WOLFSSL_CONFIGURE").into()),
            flags: Some(env!("WOLFSSL_FLAGS").into()),
            linkage: Some(binary::linkage("libwolfssl")?),
            source: Some(format!("cargo package wolfssl-sys {package}")),
            note: Some(
                "as wolfSSL configures itself, without the package's options and patches".into(),
            ),
            ..Implementation::new(env!("LIBRARY"), version.to_str()?)?
        })
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        let reason = |text: &str| Some(text.to_owned());
        if scenario.operation == Operation::QuicPacket {
            return reason("by default, wolfSSL has no QUIC (--enable-quic)");
        }
        if scenario.operation == Operation::Primitive {
            return reason("this adapter does not reach the cryptography of wolfSSL");
        }
        if scenario.certificate == Some(Certificate::Ed25519) {
            return reason("by default, wolfSSL has no Ed25519 (--enable-ed25519)");
        }
        if scenario.certificate.is_some_and(Certificate::is_ml_dsa) {
            return reason("by default, wolfSSL has no ML-DSA (--enable-mldsa)");
        }
        if scenario.key_exchange == Some(KeyExchange::MlKem768) {
            return reason(
                "by default, wolfSSL has no MLKEM768 as a group of its own \
                 (--enable-tls-mlkem-standalone)",
            );
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
            return reason("by default, wolfSSL has no limit for records (--enable-maxfragment)");
        }
        match &scenario.variant {
            Some(Variant::Compressed) => {
                return reason("wolfSSL has no compression of certificates");
            }
            Some(Variant::EarlyData) => {
                return reason("by default, wolfSSL has no early data (--enable-earlydata)");
            }
            Some(Variant::SetUp(SetUp::PrivateKey)) => return reason(library::NO_PRIVATE_KEY),
            Some(Variant::SetUp(
                SetUp::Names(_) | SetUp::Reload(_) | SetUp::Slope(Slope::Names),
            )) => {
                return reason(
                    "by default, wolfSSL selects no certificate by name: wolfSSL_set_SSL_CTX is part \
                     of its OpenSSL API (--enable-opensslextra)",
                );
            }
            _ => (),
        }
        match (scenario.protocol, scenario.resumption) {
            (Some(Protocol::Tls13), Some(Resumption::SessionId)) => {
                reason("wolfSSL resumes TLS 1.3 sessions by self-contained tickets only")
            }
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
        let mut connection = WolfSslConnection::new(context, endpoint, true)?;
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
        connection.resume()?;
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

#[cfg(test)]
mod tests {
    use super::ffi;

    #[test]
    fn internal_c_sees_connections_as_the_library_does() {
        // SAFETY: both return a constant.
        let (seen, own) = unsafe { (ffi::tls_wolfssl_size(), ffi::wolfSSL_GetObjectSize()) };
        assert_eq!(seen, own);
    }
}
