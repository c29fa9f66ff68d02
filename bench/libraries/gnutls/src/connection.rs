//! A GnuTLS session with its endpoint of the transport.

use std::{
    ffi::{c_int, c_uint, c_void},
    ptr,
};

use anyhow::{Result, bail, ensure};
use tls_harness::{
    library::{Connection, Negotiated, Progress},
    scenario::Protocol,
    transport::Endpoint,
};

use crate::{
    Context, Slot, check, datum,
    ffi::*,
    socket, text,
    vocabulary::{named_group, named_signature, named_suite},
};

/// Receives from the transport; `endpoint` is the argument of `GnuTlsConnection::new`.
unsafe extern "C" fn pull(endpoint: *mut c_void, buffer: *mut c_void, length: usize) -> isize {
    // SAFETY: the endpoint outlives the session, and `buffer` has room for `length` bytes.
    unsafe { socket::receive(endpoint, buffer, length) }
}

unsafe extern "C" fn push(endpoint: *mut c_void, data: *const c_void, length: usize) -> isize {
    // SAFETY: the endpoint outlives the session, and `length` bytes can be read.
    unsafe { socket::send(endpoint, data, length) }
}

/// Reports without waiting whether received bytes can be read.
unsafe extern "C" fn has_arrived(endpoint: *mut c_void, _: c_uint) -> c_int {
    // SAFETY: the endpoint outlives the session.
    c_int::from(unsafe { &*endpoint.cast::<Endpoint>() }.has_arrived())
}

/// Counts the TLS 1.3 tickets of a session; GnuTLS calls it for each one.
pub unsafe extern "C" fn count_ticket(
    session: gnutls_session_t,
    _: c_uint,
    _: c_uint,
    _: c_uint,
    _: *const gnutls_datum_t,
) -> c_int {
    // SAFETY: `connect` stored the address of a slot that outlives the session.
    let slot = unsafe { &*gnutls_session_get_ptr(session).cast::<Slot>() };
    slot.tickets.set(slot.tickets.get() + 1);
    0
}

/// A `gnutls_session_t` with its endpoint of the transport.
pub struct GnuTlsConnection<'a> {
    pub session: gnutls_session_t,
    context: &'a Context,
    is_client: bool,
}

impl Drop for GnuTlsConnection<'_> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the session.
        unsafe { gnutls_deinit(self.session) };
    }
}

impl<'a> GnuTlsConnection<'a> {
    pub fn new(context: &'a Context, endpoint: &'a Endpoint, is_client: bool) -> Result<Self> {
        let mut session = ptr::null_mut();
        let expected = match is_client {
            true => context.host_name.as_ptr(),
            false => ptr::null(), // a server does not check the names of clients
        };
        // SAFETY: context and endpoint outlive the session, which `this` owns.
        unsafe {
            check(gnutls_init(&raw mut session, context.flags), "gnutls_init")?;
            let this = Self {
                session,
                context,
                is_client,
            };
            check(
                gnutls_priority_set(session, context.priorities),
                "gnutls_priority_set",
            )?;
            check(
                gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, context.credentials.cast()),
                "gnutls_credentials_set",
            )?;
            if is_client || context.mutual {
                gnutls_session_set_verify_cert(session, expected, 0);
            }
            if let Some(size) = context.record_size {
                check(
                    c_int::try_from(gnutls_record_set_max_size(session, size))?,
                    "gnutls_record_set_max_size",
                )?;
            }
            gnutls_transport_set_ptr(session, ptr::from_ref(endpoint).cast_mut().cast());
            gnutls_transport_set_push_function(session, Some(push));
            gnutls_transport_set_pull_function(session, Some(pull));
            gnutls_transport_set_pull_timeout_function(session, Some(has_arrived));
            Ok(this)
        }
    }

    /// Saves the session for the next connection.
    fn keep_session(&self) -> Result<()> {
        let mut data = datum(&[])?;
        // SAFETY: GnuTLS allocates the data, which is copied and freed here.
        unsafe {
            check(
                gnutls_session_get_data2(self.session, &raw mut data),
                "gnutls_session_get_data2",
            )?;
            let bytes = std::slice::from_raw_parts(data.data, data.size as usize);
            self.context.slot.session.replace(Some(bytes.to_vec()));
            if let Some(free) = gnutls_free {
                free(data.data.cast());
            }
        }
        Ok(())
    }
}

impl Connection for GnuTlsConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        // SAFETY: the session is valid.
        let result = unsafe { gnutls_handshake(self.session) };
        if result == GNUTLS_E_AGAIN {
            return Ok(Progress::Waiting);
        }
        check(result, "gnutls_handshake")?;
        if self.context.protocol == Protocol::Tls13 && self.context.issues_tickets() {
            // SAFETY: the session is valid.
            let sent = unsafe { gnutls_session_ticket_send(self.session, 1, 0) };
            check(sent, "gnutls_session_ticket_send")?;
        }
        let slot = &self.context.slot;
        if self.is_client
            && self.context.resumes
            && self.context.protocol == Protocol::Tls12
            && slot.session.borrow().is_none()
        {
            self.keep_session()?;
        }
        Ok(Progress::Done)
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        // SAFETY: `data` has this many bytes, which GnuTLS copies.
        let sent = unsafe {
            gnutls_record_send_early_data(self.session, data.as_ptr().cast(), data.len())
        };
        check(c_int::try_from(sent)?, "gnutls_record_send_early_data")?;
        let progress = self.handshake()?;
        ensure!(
            progress == Progress::Waiting,
            "the handshake is complete after the first flight"
        );
        Ok(())
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let progress = self.handshake()?;
        ensure!(
            progress == Progress::Waiting,
            "the handshake is complete before the end of early data"
        );
        // SAFETY: `buffer` has room for this many bytes.
        let read = unsafe {
            gnutls_record_recv_early_data(self.session, buffer.as_mut_ptr().cast(), buffer.len())
        };
        check(c_int::try_from(read)?, "gnutls_record_recv_early_data")?;
        Ok(read as usize)
    }

    fn early_data_accepted(&self) -> Result<bool> {
        // SAFETY: the session is valid.
        let flags = unsafe { gnutls_session_get_flags(self.session) };
        Ok(flags & GNUTLS_SFLAGS_EARLY_DATA != 0)
    }

    fn receive_tickets(&mut self) -> Result<()> {
        let mut nothing = [0_u8; 1];
        // SAFETY: the buffer has room for one byte. None is written, since only tickets arrived.
        let result = unsafe { gnutls_record_recv(self.session, nothing.as_mut_ptr().cast(), 1) };
        ensure!(result < 0, "data arrived instead of tickets");
        if result != GNUTLS_E_AGAIN as isize {
            check(c_int::try_from(result)?, "gnutls_record_recv")?;
        }
        self.keep_session()
    }

    /// GnuTLS writes at most one record per call.
    fn send(&mut self, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            // SAFETY: `data` has this many bytes.
            let sent =
                unsafe { gnutls_record_send(self.session, data.as_ptr().cast(), data.len()) };
            check(c_int::try_from(sent)?, "gnutls_record_send")?;
            data = &data[sent as usize..];
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        // SAFETY: `buffer` has room for this many bytes.
        let read =
            unsafe { gnutls_record_recv(self.session, buffer.as_mut_ptr().cast(), buffer.len()) };
        check(c_int::try_from(read)?, "gnutls_record_recv")?;
        ensure!(read > 0, "the peer closed the connection");
        Ok(read as usize)
    }

    fn close(&mut self) -> Result<Progress> {
        // SAFETY: the session is valid. It remembers that the alert was sent.
        let result = unsafe { gnutls_bye(self.session, GNUTLS_SHUT_RDWR) };
        if result == GNUTLS_E_AGAIN {
            return Ok(Progress::Waiting);
        }
        check(result, "gnutls_bye")?;
        Ok(Progress::Done)
    }

    fn negotiated(&self) -> Result<Negotiated> {
        // SAFETY: the session is valid, and the names are static strings.
        unsafe {
            let resumed = gnutls_session_is_resumed(self.session) != 0;
            let mut peers = 0;
            let known = !gnutls_certificate_get_peers(self.session, &raw mut peers).is_null();
            // A resumed session was verified in its full handshake, which fails otherwise.
            let verified = gnutls_session_get_verify_cert_status(self.session) == 0;
            let group = gnutls_group_get(self.session);
            let version = gnutls_protocol_get_version(self.session);
            let signature = match self.is_client {
                true => gnutls_sign_algorithm_get(self.session),
                false => gnutls_sign_algorithm_get_client(self.session),
            };
            Ok(Negotiated {
                protocol: match version {
                    GNUTLS_TLS1_2 => Protocol::Tls12,
                    GNUTLS_TLS1_3 => Protocol::Tls13,
                    other => bail!("protocol {other} is not in the vocabulary"),
                },
                cipher_suite: named_suite(text(gnutls_ciphersuite_get(self.session))?)?,
                key_exchange: match group {
                    GNUTLS_GROUP_INVALID => None,
                    group => Some(named_group(text(gnutls_group_get_name(group))?)?),
                },
                resumed: Some(resumed),
                signature_scheme: match known && !resumed && version == GNUTLS_TLS1_3 {
                    true => {
                        let name = gnutls_sign_get_name(signature.try_into()?);
                        Some(named_signature(text(name)?)?)
                    }
                    false => None,
                },
                peer_verified: known && (verified || resumed),
                tickets: match self.is_client {
                    true => self.context.slot.tickets.get(),
                    false => 0,
                },
            })
        }
    }
}
