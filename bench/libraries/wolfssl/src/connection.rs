//! A wolfSSL connection with its endpoint of the transport.

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr, slice,
};

use anyhow::{Result, bail, ensure};
use tls_harness::{
    library::{Connection, Negotiated, Progress},
    scenario::{CipherSuite, KeyExchange, Protocol},
    transport::Endpoint,
};
use wolfssl_sys as ffi;

use crate::{check, context::Context, is_there, reason};

/// `WOLFSSL_CBIO_ERR_GENERAL` and `WOLFSSL_CBIO_ERR_WANT_READ` of wolfio.h.
const FAILED: c_int = -1;
const WANT_READ: c_int = -2;

/// The result of `wolfSSL_shutdown` that has sent the alert, and not received the peer's.
const SHUTDOWN_NOT_DONE: c_int = 2;

/// TLS versions as numbered on the wire.
const TLS_1_2: c_int = 0x0303;
const TLS_1_3: c_int = 0x0304;

/// Receives from the transport; `endpoint` is the argument of `WolfSslConnection::new`.
pub unsafe extern "C" fn receive(
    _: *mut ffi::WOLFSSL,
    buffer: *mut c_char,
    length: c_int,
    endpoint: *mut c_void,
) -> c_int {
    // SAFETY: the endpoint outlives the connection, and `length` bytes can be written.
    let (endpoint, buffer) = unsafe {
        let buffer = slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize);
        (&*endpoint.cast::<Endpoint>(), buffer)
    };
    match endpoint.receive(buffer) {
        0 => WANT_READ,
        read => read as c_int,
    }
}

pub unsafe extern "C" fn send(
    _: *mut ffi::WOLFSSL,
    data: *mut c_char,
    length: c_int,
    endpoint: *mut c_void,
) -> c_int {
    // SAFETY: the endpoint outlives the connection, and `length` bytes can be read.
    let (endpoint, data) = unsafe {
        let data = slice::from_raw_parts(data.cast::<u8>(), length as usize);
        (&*endpoint.cast::<Endpoint>(), data)
    };
    match endpoint.send(data) {
        true => length,
        false => FAILED,
    }
}

/// A `WOLFSSL` with its endpoint of the transport.
pub struct WolfSslConnection<'a> {
    pub ssl: *mut ffi::WOLFSSL,
    is_client: bool,
    /// The context and the endpoint outlive the connection.
    _borrowed: (&'a Context, &'a Endpoint),
}

impl Drop for WolfSslConnection<'_> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the connection.
        unsafe { ffi::wolfSSL_free(self.ssl) };
    }
}

impl<'a> WolfSslConnection<'a> {
    pub fn new(context: &'a Context, endpoint: &'a Endpoint, is_client: bool) -> Result<Self> {
        // SAFETY: the context is valid, and the returned value owns the connection.
        let ssl = is_there(unsafe { ffi::wolfSSL_new(context.context) }, "wolfSSL_new")?;
        let address = ptr::from_ref(endpoint).cast_mut().cast();
        // SAFETY: the connection is valid, and its endpoint outlives it.
        unsafe {
            ffi::wolfSSL_SetIOReadCtx(ssl, address);
            ffi::wolfSSL_SetIOWriteCtx(ssl, address);
        }
        Ok(Self {
            ssl,
            is_client,
            _borrowed: (context, endpoint),
        })
    }

    /// The error code of the last call, which returned `result`.
    fn error(&self, result: c_int) -> c_int {
        // SAFETY: the connection is valid.
        unsafe { ffi::wolfSSL_get_error(self.ssl, result) }
    }

    /// The group of the key exchange, from its name in wolfSSL.
    fn group(&self) -> Result<Option<KeyExchange>> {
        // SAFETY: the connection is valid, and the name is static.
        let name = unsafe {
            match ffi::wolfSSL_get_curve_name(self.ssl) {
                name if name.is_null() => return Ok(None),
                name => CStr::from_ptr(name).to_str()?,
            }
        };
        let mut all = KeyExchange::ALL.iter();
        match all.find(|group| group.as_str().eq_ignore_ascii_case(name)) {
            Some(group) => Ok(Some(*group)),
            None => bail!("group \"{name}\" is not in the vocabulary"),
        }
    }

    /// Whether the peer presented a certificate.
    fn knows_peer(&self) -> bool {
        // SAFETY: the connection is valid, and the copy of the certificate is freed.
        unsafe {
            let certificate = ffi::wolfSSL_get_peer_certificate(self.ssl);
            let is_known = !certificate.is_null();
            ffi::wolfSSL_X509_free(certificate);
            is_known
        }
    }
}

impl Connection for WolfSslConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        // SAFETY: the connection is valid.
        let (result, what) = unsafe {
            match self.is_client {
                true => (ffi::wolfSSL_connect(self.ssl), "wolfSSL_connect"),
                false => (ffi::wolfSSL_accept(self.ssl), "wolfSSL_accept"),
            }
        };
        if result == ffi::WOLFSSL_SUCCESS.cast_signed() {
            return Ok(Progress::Done);
        }
        match self.error(result) {
            error if error == ffi::WOLFSSL_ERROR_WANT_READ.cast_signed() => Ok(Progress::Waiting),
            error => bail!("{what}: {}", reason(error)),
        }
    }

    fn receive_tickets(&mut self) -> Result<()> {
        bail!("wolfSSL was built without tickets")
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        let length = data.len().try_into()?;
        // SAFETY: `length` bytes can be read.
        let result = unsafe { ffi::wolfSSL_write(self.ssl, data.as_ptr().cast(), length) };
        if result != length {
            check(self.error(result), "wolfSSL_write")?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let length = buffer.len().try_into()?;
        // SAFETY: `length` bytes can be written.
        let result = unsafe { ffi::wolfSSL_read(self.ssl, buffer.as_mut_ptr().cast(), length) };
        ensure!(result > 0, "wolfSSL_read: {}", reason(self.error(result)));
        Ok(result as usize)
    }

    fn close(&mut self) -> Result<Progress> {
        // SAFETY: the connection is valid. It remembers that the alert was sent.
        let shut_down = || unsafe { ffi::wolfSSL_shutdown(self.ssl) };
        let result = match shut_down() {
            // The second call receives.
            SHUTDOWN_NOT_DONE => shut_down(),
            result => result,
        };
        if result == ffi::WOLFSSL_SUCCESS.cast_signed() {
            return Ok(Progress::Done);
        }
        match self.error(result) {
            error if error == ffi::WOLFSSL_ERROR_WANT_READ.cast_signed() => Ok(Progress::Waiting),
            error => bail!("wolfSSL_shutdown: {}", reason(error)),
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        // SAFETY: the connection is valid.
        unsafe {
            let suite = ffi::wolfSSL_get_current_cipher_suite(self.ssl);
            let verifies =
                ffi::wolfSSL_get_verify_mode(self.ssl) & ffi::WOLFSSL_VERIFY_PEER.cast_signed();
            let is_verified =
                ffi::wolfSSL_get_verify_result(self.ssl) == i64::from(ffi::WOLFSSL_X509_V_OK);
            Ok(Negotiated {
                protocol: match ffi::wolfSSL_version(self.ssl) {
                    TLS_1_2 => Protocol::Tls12,
                    TLS_1_3 => Protocol::Tls13,
                    other => bail!("protocol {other:#06x} is not in the vocabulary"),
                },
                cipher_suite: CipherSuite::from_number(suite.try_into()?)?,
                key_exchange: self.group()?,
                resumed: Some(ffi::wolfSSL_session_reused(self.ssl) == 1),
                signature_scheme: None,
                peer_verified: verifies != 0 && is_verified && self.knows_peer(),
                tickets: 0,
            })
        }
    }
}
