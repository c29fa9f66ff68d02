//! An s2n-tls connection with its endpoint of the transport.

use std::{
    ffi::{CStr, c_int, c_void},
    ptr,
};

use anyhow::{Context as _, Result, bail, ensure};
use s2n_tls_sys::*;
use tls_harness::{
    library::{Connection, Negotiated, Progress},
    scenario::{CipherSuite, KeyExchange, Protocol, signature_scheme},
    transport::Endpoint,
};

use crate::{Context, check, reason, socket};

/// Whether the last call failed because no received bytes were waiting.
fn is_blocked() -> bool {
    // SAFETY: s2n-tls keeps its error per thread.
    let kind = unsafe { s2n_error_get_type(*s2n_errno_location()) };
    kind == s2n_error_type::BLOCKED as c_int
}

unsafe extern "C" fn receive(endpoint: *mut c_void, buffer: *mut u8, length: u32) -> c_int {
    // SAFETY: `S2nConnection::new` passed an endpoint that outlives the connection, and `length`
    // bytes can be written.
    unsafe { socket::receive(endpoint, buffer.cast(), length as usize) as c_int }
}

unsafe extern "C" fn send(endpoint: *mut c_void, data: *const u8, length: u32) -> c_int {
    // SAFETY: the endpoint outlives the connection, and `length` bytes can be read.
    unsafe { socket::send(endpoint, data.cast(), length as usize) as c_int }
}

/// An `s2n_connection` with its endpoint of the transport.
pub struct S2nConnection<'a> {
    pub connection: *mut s2n_connection,
    context: &'a Context,
    is_client: bool,
}

impl Drop for S2nConnection<'_> {
    fn drop(&mut self) {
        // SAFETY: `self` owns the connection.
        unsafe { s2n_connection_free(self.connection) };
    }
}

impl<'a> S2nConnection<'a> {
    pub fn new(context: &'a Context, endpoint: &'a Endpoint, mode: s2n_mode::Type) -> Result<Self> {
        let endpoint = ptr::from_ref(endpoint).cast_mut().cast();
        // SAFETY: config and endpoint outlive the connection, which `self` owns.
        unsafe {
            let connection = s2n_connection_new(mode);
            check(!connection.is_null(), "s2n_connection_new")?;
            let this = Self {
                connection,
                context,
                is_client: mode == s2n_mode::CLIENT,
            };
            let ready = s2n_connection_set_config(connection, context.config)
                | s2n_connection_set_recv_cb(connection, Some(receive))
                | s2n_connection_set_send_cb(connection, Some(send))
                | s2n_connection_set_recv_ctx(connection, endpoint)
                | s2n_connection_set_send_ctx(connection, endpoint)
                // Without this, a failed handshake sleeps for up to half a minute.
                | s2n_connection_set_blinding(connection, s2n_blinding::SELF_SERVICE_BLINDING);
            check(
                ready == s2n_status_code::SUCCESS,
                "the set-up of a connection",
            )?;
            if context.fills_records {
                check(
                    s2n_connection_prefer_throughput(connection) == s2n_status_code::SUCCESS,
                    "s2n_connection_prefer_throughput",
                )?;
            }
            Ok(this)
        }
    }
}

impl Connection for S2nConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        let mut blocked = 0;
        // SAFETY: the connection is valid.
        match unsafe { s2n_negotiate(self.connection, &raw mut blocked) } {
            s2n_status_code::SUCCESS => Ok(Progress::Done),
            _ if is_blocked() => Ok(Progress::Waiting),
            _ => bail!("s2n_negotiate: {}", reason()?),
        }
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        let (length, mut sent, mut blocked) = (data.len().try_into()?, 0, 0);
        let (start, sent_at) = (data.as_ptr(), &raw mut sent);
        // SAFETY: `length` bytes can be read.
        let result = unsafe {
            s2n_send_early_data(self.connection, start, length, sent_at, &raw mut blocked)
        };
        // After the data, the handshake waits for the server.
        let waits = result == s2n_status_code::SUCCESS || is_blocked();
        check(waits, "s2n_send_early_data")?;
        ensure!(
            sent == length,
            "{sent} bytes of early data were written, expected {length}"
        );
        Ok(())
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let (length, mut received, mut blocked) = (buffer.len().try_into()?, 0, 0);
        let (start, received_at) = (buffer.as_mut_ptr(), &raw mut received);
        // SAFETY: `length` bytes can be written.
        let result = unsafe {
            s2n_recv_early_data(
                self.connection,
                start,
                length,
                received_at,
                &raw mut blocked,
            )
        };
        // After the data, the handshake waits for its end.
        let waits = result == s2n_status_code::SUCCESS || is_blocked();
        check(waits, "s2n_recv_early_data")?;
        ensure!(received > 0, "no early data was accepted");
        Ok(received.try_into()?)
    }

    fn early_data_accepted(&self) -> Result<bool> {
        let mut status = s2n_early_data_status_t::NOT_REQUESTED;
        // SAFETY: the connection is valid.
        let result =
            unsafe { s2n_connection_get_early_data_status(self.connection, &raw mut status) };
        check(
            result == s2n_status_code::SUCCESS,
            "s2n_connection_get_early_data_status",
        )?;
        Ok(status == s2n_early_data_status_t::END)
    }

    fn receive_tickets(&mut self) -> Result<()> {
        let (mut nothing, mut blocked) = ([0_u8; 1], 0);
        let buffer = nothing.as_mut_ptr().cast();
        // SAFETY: the buffer has room for one byte. None is written, since only tickets arrived.
        let result = unsafe { s2n_recv(self.connection, buffer, 1, &raw mut blocked) };
        ensure!(result < 0, "data arrived instead of tickets");
        check(is_blocked(), "s2n_recv")
    }

    /// As the usage guide says of memory, for connections that are idle.
    fn release_buffers(&mut self) -> Result<()> {
        // SAFETY: the connection is valid.
        let released = unsafe {
            s2n_connection_free_handshake(self.connection)
                | s2n_connection_release_buffers(self.connection)
        };
        check(
            released == s2n_status_code::SUCCESS,
            "s2n_connection_release_buffers",
        )
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        let (length, mut blocked) = (data.len().try_into()?, 0);
        let data = data.as_ptr().cast();
        // SAFETY: `length` bytes can be read.
        let result = unsafe { s2n_send(self.connection, data, length, &raw mut blocked) };
        check(result == length, "s2n_send")
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        let (length, mut blocked) = (buffer.len().try_into()?, 0);
        let buffer = buffer.as_mut_ptr().cast();
        // SAFETY: `length` bytes can be written.
        let result = unsafe { s2n_recv(self.connection, buffer, length, &raw mut blocked) };
        check(result > 0, "s2n_recv")?;
        Ok(result as usize)
    }

    fn close(&mut self) -> Result<Progress> {
        let mut blocked = 0;
        // SAFETY: the connection is valid. It remembers that the alert was sent.
        match unsafe { s2n_shutdown(self.connection, &raw mut blocked) } {
            s2n_status_code::SUCCESS => Ok(Progress::Done),
            _ if is_blocked() => Ok(Progress::Waiting),
            _ => bail!("s2n_shutdown: {}", reason()?),
        }
    }

    fn negotiated(&self) -> Result<Negotiated> {
        let (mut first, mut second, mut group) = (0, 0, ptr::null());
        // SAFETY: the connection is valid, and the name of a group is a static string.
        unsafe {
            check(
                s2n_connection_get_cipher_iana_value(
                    self.connection,
                    &raw mut first,
                    &raw mut second,
                ) == s2n_status_code::SUCCESS,
                "s2n_connection_get_cipher_iana_value",
            )?;
            let version = s2n_connection_get_actual_protocol_version(self.connection);
            let resumed = s2n_connection_is_session_resumed(self.connection) == 1;
            // A resumption of TLS 1.2 exchanges no keys.
            let exchanges = version == s2n_tls_version::TLS13 || !resumed;
            check(
                !exchanges
                    || s2n_connection_get_key_exchange_group(self.connection, &raw mut group)
                        == s2n_status_code::SUCCESS,
                "s2n_connection_get_key_exchange_group",
            )?;
            // The reported scheme is the server's. In TLS 1.2 it may have another name.
            let signed = self.is_client && !resumed && version == s2n_tls_version::TLS13;
            let mut signature = ptr::null();
            check(
                s2n_connection_get_signature_scheme(self.connection, &raw mut signature)
                    == s2n_status_code::SUCCESS,
                "s2n_connection_get_signature_scheme",
            )?;
            Ok(Negotiated {
                protocol: match version {
                    s2n_tls_version::TLS12 => Protocol::Tls12,
                    s2n_tls_version::TLS13 => Protocol::Tls13,
                    other => bail!("protocol {other} is not in the vocabulary"),
                },
                cipher_suite: CipherSuite::from_number(u16::from_be_bytes([first, second]))?,
                key_exchange: match exchanges {
                    true => Some(named_group(CStr::from_ptr(group).to_str()?)?),
                    false => None,
                },
                resumed: Some(resumed),
                signature_scheme: match signed {
                    true => Some(signature_scheme(CStr::from_ptr(signature).to_str()?)?),
                    false => None,
                },
                // A client always verifies. A server verifies if it requests a certificate, and
                // reports whether the client sent one.
                peer_verified: self.is_client
                    || s2n_connection_client_cert_used(self.connection) == 1,
                tickets: match self.is_client && version == s2n_tls_version::TLS13 {
                    true => self.context.slot.tickets.get(),
                    false => 0,
                },
            })
        }
    }
}

fn named_group(name: &str) -> Result<KeyExchange> {
    let found = KeyExchange::ALL
        .iter()
        .find(|group| group.as_str().eq_ignore_ascii_case(name));
    found
        .copied()
        .with_context(|| format!("group \"{name}\" is not in the vocabulary"))
}
