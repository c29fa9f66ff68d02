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

use crate::{
    check,
    context::{Context, Session},
    ffi, is_there, reason,
};

/// `WOLFSSL_CBIO_ERR_GENERAL` and `WOLFSSL_CBIO_ERR_WANT_READ` of wolfio.h.
const FAILED: c_int = -1;
const WANT_READ: c_int = -2;

/// The result of `wolfSSL_shutdown` that has sent the alert, and not received the peer's.
const SHUTDOWN_NOT_DONE: c_int = 2;

/// `rsa_pss_sa_algo` of wolfSSL, the first byte of its schemes.
const RSA_PSS: u8 = 8;

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
    context: &'a Context,
    /// The mark of the TLS 1.3 ticket with which it began.
    first_ticket: u32,
    /// The endpoint outlives the connection.
    _endpoint: &'a Endpoint,
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
            context,
            first_ticket: 0,
            _endpoint: endpoint,
        })
    }

    /// Resumes the session that an earlier connection left, if there is one.
    pub fn resume(&mut self) -> Result<()> {
        // SAFETY: the connection and the session are valid, and the connection holds a reference of
        // its own.
        unsafe {
            if self.context.uses_tickets && self.context.protocol == Protocol::Tls12 {
                let used = ffi::wolfSSL_UseSessionTicket(self.ssl);
                check(used, "wolfSSL_UseSessionTicket")?;
            }
            if let Some(session) = self.context.session.take() {
                check(
                    ffi::wolfSSL_set_session(self.ssl, session.0),
                    "wolfSSL_set_session",
                )?;
                self.first_ticket = ffi::tls_wolfssl_ticket(self.ssl);
            }
        }
        Ok(())
    }

    /// Keeps the session for the next connection.
    fn keep_session(&self) -> Result<()> {
        // SAFETY: the connection is valid, and the returned value owns a reference.
        let session = unsafe { ffi::wolfSSL_get1_session(self.ssl) };
        let session = Session(is_there(session, "wolfSSL_get1_session")?);
        self.context.session.set(Some(session));
        Ok(())
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

    /// The scheme in which the peer signed, from its algorithms as numbered in TLS 1.2.
    fn scheme(&self) -> Option<u16> {
        // SAFETY: the connection is valid.
        let (signature, hash) = unsafe {
            let signature = ffi::tls_wolfssl_peer_signature(self.ssl);
            (signature, ffi::tls_wolfssl_peer_hash(self.ssl))
        };
        match (signature, hash) {
            (0, _) => None,
            (RSA_PSS, hash) => Some(u16::from_be_bytes([RSA_PSS, hash])),
            (signature, hash) => Some(u16::from_be_bytes([hash, signature])),
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
            // In TLS 1.2 the ticket arrives before the end of the handshake.
            let keeps = self.context.uses_tickets && self.context.protocol == Protocol::Tls12;
            if self.is_client && keeps {
                self.keep_session()?;
            }
            return Ok(Progress::Done);
        }
        let error = self.error(result);
        let waits = error == ffi::WOLFSSL_ERROR_WANT_READ.cast_signed();
        ensure!(waits, "{what}: {}", reason(error));
        if !self.is_client && self.context.uses_tickets {
            // SAFETY: the connection is valid; it has read the ticket, and not yet sent its own.
            unsafe { ffi::tls_wolfssl_restart_nonces(self.ssl) };
        }
        Ok(Progress::Waiting)
    }

    fn receive_tickets(&mut self) -> Result<()> {
        let mut nothing = [0_u8; 1];
        // SAFETY: the buffer has room for one byte. None is written, since only tickets arrived.
        let result = unsafe { ffi::wolfSSL_read(self.ssl, nothing.as_mut_ptr().cast(), 1) };
        ensure!(result <= 0, "data arrived instead of tickets");
        let error = self.error(result);
        let waits = error == ffi::WOLFSSL_ERROR_WANT_READ.cast_signed();
        ensure!(waits, "wolfSSL_read: {}", reason(error));
        self.keep_session()
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
            Ok(Negotiated {
                protocol: match ffi::wolfSSL_version(self.ssl) {
                    TLS_1_2 => Protocol::Tls12,
                    TLS_1_3 => Protocol::Tls13,
                    other => bail!("protocol {other:#06x} is not in the vocabulary"),
                },
                cipher_suite: CipherSuite::from_number(suite.try_into()?)?,
                key_exchange: self.group()?,
                resumed: Some(ffi::wolfSSL_session_reused(self.ssl) == 1),
                signature_scheme: self.scheme(),
                peer_verified: ffi::tls_wolfssl_peer_verified(self.ssl) != 0,
                tickets: u32::from(ffi::tls_wolfssl_ticket(self.ssl) != self.first_ticket),
            })
        }
    }
}
