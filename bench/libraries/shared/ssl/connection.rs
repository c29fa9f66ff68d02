//! A connection with its endpoint of the transport.

use std::{
    ffi::{c_int, c_long},
    ptr,
};

use anyhow::{Result, bail, ensure};
use tls_harness::{
    library::{Connection, Negotiated, Progress},
    scenario::{CipherSuite, Protocol},
    transport::Endpoint,
};

use super::{bio::bio_method, check, context::Context};
use crate::ffi;

/// An `SSL` with its endpoint of the transport.
pub struct SslConnection<'a> {
    pub ssl: *mut ffi::SSL,
    context: &'a Context,
    is_client: bool,
    /// Whether the end of early data is still to be read.
    reads_early: bool,
}

impl Drop for SslConnection<'_> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the SSL. Without the flags OpenSSL treats the session as broken,
        // since no alert closed it, and never resumes it.
        unsafe {
            ffi::SSL_set_shutdown(
                self.ssl,
                ffi::SSL_SENT_SHUTDOWN | ffi::SSL_RECEIVED_SHUTDOWN,
            );
            ffi::SSL_free(self.ssl);
        }
    }
}

impl<'a> SslConnection<'a> {
    pub fn new(context: &'a Context, endpoint: &'a Endpoint, is_client: bool) -> Result<Self> {
        let method = bio_method()?;
        // SAFETY: the connection owns the BIO, whose endpoint outlives it.
        unsafe {
            let ssl = ffi::SSL_new(context.context);
            check(!ssl.is_null(), "SSL_new")?;
            let connection = Self {
                ssl,
                context,
                is_client,
                reads_early: false,
            };
            let bio = ffi::BIO_new(method);
            check(!bio.is_null(), "BIO_new")?;
            ffi::BIO_set_data(bio, ptr::from_ref(endpoint).cast_mut().cast());
            ffi::BIO_set_init(bio, 1);
            ffi::SSL_set_bio(ssl, bio, bio);
            Ok(connection)
        }
    }

    /// Returns an error, unless the library waits for its peer.
    fn waits(&self, result: c_int, what: &str) -> Result<()> {
        // SAFETY: the connection is valid, and `result` is the result of its last call.
        let error = unsafe { ffi::SSL_get_error(self.ssl, result) };
        check(error == ffi::SSL_ERROR_WANT_READ, what)
    }
}

/// # Safety
///
/// `ssl` is valid.
unsafe fn has_peer_certificate(ssl: *mut ffi::SSL) -> bool {
    // SAFETY: the caller guarantees it; both functions only read the connection.
    unsafe {
        let session = ffi::SSL_get_session(ssl);
        !session.is_null() && !ffi::SSL_SESSION_get0_peer(session).is_null()
    }
}

impl Connection for SslConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        if self.reads_early {
            // SAFETY: the connection is valid.
            let result = unsafe { ffi::end_early_data(self.ssl) };
            if result != 1 {
                self.waits(result, "the end of early data")?;
                return Ok(Progress::Waiting);
            }
            self.reads_early = false;
        }
        // SAFETY: the connection is valid.
        let result = unsafe { ffi::SSL_do_handshake(self.ssl) };
        if result != 1 {
            self.waits(result, "SSL_do_handshake")?;
            return Ok(Progress::Waiting);
        }
        // SAFETY: the connection is valid, and the slot gets its own reference to the session.
        unsafe {
            if !self.is_client && self.context.issues_tickets {
                ffi::flush_tickets(self.ssl)?;
            }
            if self.is_client && self.context.resumes && self.context.protocol == Protocol::Tls12 {
                let session = ffi::SSL_get_session(self.ssl);
                if !session.is_null() {
                    ffi::SSL_SESSION_up_ref(session);
                }
                self.context.slot.put(session);
            }
        }
        Ok(Progress::Done)
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        // SAFETY: the connection is valid.
        let written = unsafe { ffi::write_early_data(self.ssl, data)? };
        ensure!(
            written == data.len(),
            "{written} bytes of early data were written, expected {}",
            data.len()
        );
        Ok(())
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.reads_early = true;
        // SAFETY: the connection is valid.
        unsafe { ffi::read_early_data(self.ssl, buffer) }
    }

    fn early_data_accepted(&self) -> Result<bool> {
        // SAFETY: the connection is valid.
        Ok(unsafe { ffi::is_early_data_accepted(self.ssl) })
    }

    fn receive_tickets(&mut self) -> Result<()> {
        let mut nothing = [0_u8; 1];
        // SAFETY: the buffer has room for one byte. None is written, since only tickets arrived.
        let result = unsafe { ffi::SSL_read(self.ssl, nothing.as_mut_ptr().cast(), 1) };
        ensure!(result <= 0, "data arrived instead of tickets");
        self.waits(result, "SSL_read")
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        let length = data.len().try_into()?;
        // SAFETY: `length` bytes can be read.
        let result = unsafe { ffi::SSL_write(self.ssl, data.as_ptr().cast(), length) };
        check(result == length, "SSL_write")
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let length = buffer.len().try_into()?;
        // SAFETY: `length` bytes can be written.
        let result = unsafe { ffi::SSL_read(self.ssl, buffer.as_mut_ptr().cast(), length) };
        check(result > 0, "SSL_read")?;
        Ok(result as usize)
    }

    fn close(&mut self) -> Result<Progress> {
        // SAFETY: the connection is valid.
        unsafe {
            if ffi::SSL_get_shutdown(self.ssl) & ffi::SSL_SENT_SHUTDOWN == 0 {
                let result = ffi::SSL_shutdown(self.ssl);
                check(result >= 0, "SSL_shutdown")?;
                if result == 1 {
                    return Ok(Progress::Done);
                }
            }
            match ffi::SSL_shutdown(self.ssl) {
                1 => Ok(Progress::Done),
                result => {
                    self.waits(result, "SSL_shutdown")?;
                    Ok(Progress::Waiting)
                }
            }
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        // SAFETY: the connection is valid, and outlives the uses of the returned pointers.
        unsafe {
            let suite = ffi::SSL_get_current_cipher(self.ssl);
            ensure!(!suite.is_null(), "no cipher suite was negotiated");
            let version = ffi::SSL_version(self.ssl);
            let resumed = ffi::SSL_session_reused(self.ssl) == 1;
            let knows_peer = has_peer_certificate(self.ssl);
            Ok(Negotiated {
                protocol: match version {
                    ffi::TLS1_2_VERSION => Protocol::Tls12,
                    ffi::TLS1_3_VERSION => Protocol::Tls13,
                    other => bail!("protocol {other:#06x} is not in the vocabulary"),
                },
                cipher_suite: CipherSuite::from_number(ffi::SSL_CIPHER_get_protocol_id(suite))?,
                key_exchange: ffi::negotiated_group(self.ssl)?,
                resumed: Some(resumed),
                signature_scheme: match knows_peer && !resumed && version == ffi::TLS1_3_VERSION {
                    true => ffi::peer_signature(self.ssl)?,
                    false => None,
                },
                peer_verified: ffi::SSL_get_verify_mode(self.ssl) & ffi::SSL_VERIFY_PEER != 0
                    && knows_peer
                    && ffi::SSL_get_verify_result(self.ssl) == c_long::from(ffi::X509_V_OK),
                tickets: match self.is_client {
                    true => self.context.slot.tickets.get(),
                    false => 0,
                },
            })
        }
    }
}
