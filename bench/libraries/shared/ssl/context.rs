//! The `SSL_CTX` of a role, which pins the parameters of a scenario.

use std::{
    cell::Cell,
    collections::HashMap,
    ffi::{CStr, CString, c_int, c_void},
    ptr,
};

use anyhow::Result;
use tls_harness::{
    certificates::Identity,
    library::Setup,
    scenario::{Authentication, KeyExchange, Protocol, Resumption},
    transport::Endpoint,
};

use super::{
    add_anchors, certificates, check, connection::SslConnection, private_key, signature_algorithm,
};
use crate::ffi;

/// The session that a client's next connection resumes.
#[derive(Default)]
pub(super) struct Slot {
    /// Owned by the slot; may be null.
    session: Cell<*mut ffi::SSL_SESSION>,
    /// Sessions received in TLS 1.3 tickets since the last connection was made.
    pub(super) tickets: Cell<u32>,
}

impl Slot {
    const fn new() -> Self {
        Self {
            session: Cell::new(ptr::null_mut()),
            tickets: Cell::new(0),
        }
    }

    /// Takes ownership of `session`, which may be null.
    pub(super) fn put(&self, session: *mut ffi::SSL_SESSION) {
        // SAFETY: the slot owns its old session, and freeing null does nothing.
        unsafe { ffi::SSL_SESSION_free(self.session.replace(session)) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.put(ptr::null_mut());
    }
}

pub struct Context {
    pub(super) context: *mut ffi::SSL_CTX,
    host_name: CString,
    pub(super) protocol: Protocol,
    pub(super) issues_tickets: bool,
    pub(super) resumes: bool,
    /// Groups whose key shares a client sends; empty: those that the library chooses.
    key_shares: Vec<KeyExchange>,
    /// Boxed, since the `SSL_CTX` keeps its address.
    pub(super) slot: Box<Slot>,
    /// The contexts of a server that selects by name; boxed for the same reason.
    named: Option<Box<Named>>,
}

/// Contexts by the name that a client sends.
type Named = HashMap<&'static [u8], ServerContext>;

/// The `SSL_CTX` of a server, which several threads share.
pub struct ServerContext(Context);

// SAFETY: both libraries allow connections of one SSL_CTX in several threads, and a server never
// uses its slot, the only part without a lock.
unsafe impl Sync for ServerContext {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `self` owns the SSL_CTX, and every connection holds its own reference.
        unsafe { ffi::SSL_CTX_free(self.context) }
    }
}

/// Selects the SSL_CTX for the name that a client sends (SNI). nginx and HAProxy also have one
/// SSL_CTX per name.
unsafe extern "C" fn choose(ssl: *mut ffi::SSL, _: *mut c_int, named: *mut c_void) -> c_int {
    // SAFETY: `Context::server` stored the address of contexts that outlive the SSL_CTX, and the
    // name is valid as long as the connection.
    unsafe {
        let name = ffi::SSL_get_servername(ssl, HOST_NAME);
        if !name.is_null() {
            let named = &*named.cast::<Named>();
            if let Some(context) = named.get(CStr::from_ptr(name).to_bytes()) {
                ffi::SSL_set_SSL_CTX(ssl, context.0.context);
            }
        }
    }
    ACCEPTED
}

const COMPRESSION: &str = "the compression of certificates";

/// `TLSEXT_NAMETYPE_host_name` and `SSL_TLSEXT_ERR_OK` of tls1.h.
const HOST_NAME: c_int = 0;
const ACCEPTED: c_int = 0;

/// Stores each new session; returning 1 takes ownership of it.
unsafe extern "C" fn keep_session(ssl: *mut ffi::SSL, session: *mut ffi::SSL_SESSION) -> c_int {
    // SAFETY: `Context::new` stored the address of a slot that outlives the SSL_CTX and belongs to
    // this thread.
    let slot = unsafe { &*ffi::SSL_CTX_get_ex_data(ffi::SSL_get_SSL_CTX(ssl), 0).cast::<Slot>() };
    slot.put(session);
    slot.tickets.set(slot.tickets.get() + 1);
    1
}

impl Context {
    fn new(setup: &Setup) -> Result<Self> {
        let version = match setup.protocol {
            Protocol::Tls12 => ffi::TLS1_2_VERSION,
            Protocol::Tls13 => ffi::TLS1_3_VERSION,
        };
        let context = ffi::new_context()?; // the returned value owns it
        let this = Self {
            context,
            host_name: CString::new(setup.host_name)?,
            protocol: setup.protocol,
            issues_tickets: setup.protocol == Protocol::Tls13
                && setup.resumption != Resumption::None,
            resumes: setup.resumption != Resumption::None,
            key_shares: match setup.groups.len() {
                all if all > setup.key_shares && setup.protocol == Protocol::Tls13 => {
                    setup.groups[..setup.key_shares].to_vec()
                }
                _ => Vec::new(),
            },
            slot: Box::new(Slot::new()),
            named: None,
        };
        let groups = CString::new(ffi::group_list(&setup.groups, setup.key_shares))?;
        // SAFETY: the SSL_CTX is valid, and the library copies the strings.
        unsafe {
            let version = version as _; // an int in OpenSSL, 16 bits in BoringSSL
            check(
                ffi::SSL_CTX_set_min_proto_version(context, version) == 1
                    && ffi::SSL_CTX_set_max_proto_version(context, version) == 1,
                "the version of the protocol",
            )?;
            // Otherwise a chain of one certificate is completed from the trusted ones, with the root.
            ffi::SSL_CTX_set_mode(context, ffi::SSL_MODE_NO_AUTO_CHAIN as _);
            if setup.releases_buffers {
                // The mode is 0 in BoringSSL and AWS-LC, which always release them.
                ffi::SSL_CTX_set_mode(context, ffi::SSL_MODE_RELEASE_BUFFERS as _);
            }
            check(
                ffi::set_cipher_suite(context, setup.cipher_suite),
                "set_cipher_suite",
            )?;
            check(
                ffi::SSL_CTX_set1_groups_list(context, groups.as_ptr()) == 1,
                "SSL_CTX_set1_groups_list",
            )?;
            let algorithm = signature_algorithm(setup.certificate);
            check(
                ffi::SSL_CTX_set1_sigalgs_list(context, algorithm.as_ptr()) == 1,
                "SSL_CTX_set1_sigalgs_list",
            )?;
            if let Some(size) = setup.record_size {
                check(
                    ffi::set_max_send_fragment(context, size),
                    "SSL_CTX_set_max_send_fragment",
                )?;
            }
            if setup.early_data {
                check(
                    ffi::enable_early_data(context, setup.resumption),
                    "enable_early_data",
                )?;
            }
        }
        if !setup.trusted.is_empty() {
            // SAFETY: the SSL_CTX is valid and owns the store.
            unsafe { add_anchors(ffi::SSL_CTX_get_cert_store(context), setup.trusted)? };
        }
        if let Some(identity) = &setup.identity {
            this.use_identity(identity)?;
        }
        Ok(this)
    }

    fn use_identity(&self, identity: &Identity) -> Result<()> {
        let context = self.context;
        // SAFETY: the SSL_CTX takes its own references to leaf and key, and takes ownership of the
        // other certificates.
        unsafe {
            for (i, certificate) in certificates(identity.chain)?.into_iter().enumerate() {
                let used = if i == 0 {
                    let used = ffi::SSL_CTX_use_certificate(context, certificate) == 1;
                    ffi::X509_free(certificate);
                    used
                } else {
                    ffi::SSL_CTX_add_extra_chain_cert(context, certificate) == 1
                };
                check(used, "the chain of certificates")?;
            }
            let key = private_key(identity.key)?;
            let used = ffi::SSL_CTX_use_PrivateKey(context, key) == 1;
            ffi::EVP_PKEY_free(key);
            check(used, "SSL_CTX_use_PrivateKey")
        }
    }

    pub fn client(setup: &Setup) -> Result<Self> {
        let this = Self::new(setup)?;
        let context = this.context;
        // SAFETY: the boxed slot lives as long as the connections of the SSL_CTX.
        unsafe {
            ffi::SSL_CTX_set_verify(context, ffi::SSL_VERIFY_PEER, None);
            if setup.compresses {
                check(ffi::compress_certificates(context, true), COMPRESSION)?;
            }
            ffi::SSL_CTX_set_session_cache_mode(
                context,
                match this.resumes {
                    true => ffi::SSL_SESS_CACHE_CLIENT | ffi::SSL_SESS_CACHE_NO_INTERNAL,
                    false => ffi::SSL_SESS_CACHE_OFF,
                },
            );
            if setup.resumption != Resumption::Ticket && this.protocol == Protocol::Tls12 {
                ffi::SSL_CTX_set_options(context, ffi::SSL_OP_NO_TICKET as _);
            }
            if this.issues_tickets {
                let slot = ptr::from_ref(&*this.slot).cast_mut().cast();
                check(
                    ffi::SSL_CTX_set_ex_data(context, 0, slot) == 1,
                    "SSL_CTX_set_ex_data",
                )?;
                ffi::SSL_CTX_sess_set_new_cb(context, Some(keep_session));
            }
        }
        Ok(this)
    }

    pub fn server(setup: &Setup) -> Result<ServerContext> {
        let mut this = Self::new(setup)?;
        let context = this.context;
        let verify = match setup.authentication {
            Authentication::Server => 0,
            Authentication::Mutual => ffi::SSL_VERIFY_PEER | ffi::SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
        };
        // SAFETY: the SSL_CTX is valid, and the name is copied.
        unsafe {
            ffi::SSL_CTX_set_verify(context, verify, None);
            if setup.compresses {
                check(ffi::compress_certificates(context, false), COMPRESSION)?;
            }
            let name = c"tls-harness";
            check(
                ffi::SSL_CTX_set_session_id_context(
                    context,
                    name.as_ptr().cast(),
                    name.to_bytes().len() as _, // unsigned in OpenSSL, size_t in BoringSSL
                ) == 1,
                "SSL_CTX_set_session_id_context",
            )?;
            // Without SSL_OP_NO_TICKET a TLS 1.3 ticket contains the session; with it, a key to the
            // server's cache.
            if setup.resumption != Resumption::Ticket {
                ffi::SSL_CTX_set_options(context, ffi::SSL_OP_NO_TICKET as _);
            }
            ffi::SSL_CTX_set_session_cache_mode(
                context,
                match setup.resumption {
                    Resumption::SessionId => ffi::SSL_SESS_CACHE_SERVER,
                    _ => ffi::SSL_SESS_CACHE_OFF,
                },
            );
            ffi::SSL_CTX_sess_set_cache_size(context, setup.session_cache as _);
            check(
                ffi::SSL_CTX_set_num_tickets(context, usize::from(this.issues_tickets)) == 1,
                "SSL_CTX_set_num_tickets",
            )?;
            if setup.resumption == Resumption::Ticket && setup.renews_tickets {
                check(ffi::renew_tickets(context), "renew_tickets")?;
            }
        }
        if !setup.named.is_empty() {
            let mut named = Named::with_capacity(setup.named.len());
            for (name, own) in setup.each_named() {
                named.insert(name.as_bytes(), Self::server(&own)?);
            }
            let named = this.named.insert(Box::new(named));
            // SAFETY: the SSL_CTX is valid, and the contexts live as long as it.
            unsafe {
                ffi::SSL_CTX_set_tlsext_servername_callback(context, Some(choose));
                let named = ptr::from_ref(&**named).cast_mut().cast();
                ffi::SSL_CTX_set_tlsext_servername_arg(context, named);
            }
        }
        Ok(ServerContext(this))
    }

    /// Makes a client connection that resumes the stored session, if there is one.
    pub fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Result<SslConnection<'a>> {
        let connection = SslConnection::new(self, endpoint, true)?;
        let ssl = connection.ssl;
        self.slot.tickets.set(0);
        // SAFETY: the connection is valid, and copies or references name and session.
        unsafe {
            ffi::SSL_set_connect_state(ssl);
            let name = self.host_name.as_ptr().cast_mut();
            check(
                ffi::SSL_set_tlsext_host_name(ssl, name) == 1 && ffi::SSL_set1_host(ssl, name) == 1,
                "the name of the server",
            )?;
            if !self.key_shares.is_empty() {
                check(ffi::set_key_shares(ssl, &self.key_shares), "the key shares")?;
            }
            let session = self.slot.session.replace(ptr::null_mut());
            if !session.is_null() {
                let set = ffi::SSL_set_session(ssl, session);
                ffi::SSL_SESSION_free(session);
                check(set == 1, "SSL_set_session")?;
            }
        }
        Ok(connection)
    }
}

impl ServerContext {
    /// Makes a server connection.
    pub fn accept<'a>(&'a self, endpoint: &'a Endpoint) -> Result<SslConnection<'a>> {
        let connection = SslConnection::new(&self.0, endpoint, false)?;
        // SAFETY: the connection is valid.
        unsafe { ffi::SSL_set_accept_state(connection.ssl) };
        Ok(connection)
    }
}
