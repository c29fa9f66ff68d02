//! OpenSSL and BoringSSL share an API: this file is a module of both adapters. Where the two
//! differ, it calls `crate::ffi`, which is each adapter's own; what the build is, what it can't do and
//! its cryptography, the adapter says itself: `crate::implementation`, `crate::unsupported` and
//! `crate::cryptography`.

use std::{
    cell::Cell,
    ffi::{CStr, CString, c_char, c_int, c_long, c_void},
    ptr,
    sync::OnceLock,
};

use anyhow::{Result, bail, ensure};
use tls_harness::{
    certificates::Identity,
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Protocol, Resumption, Scenario,
    },
    transport::Endpoint,
    workloads::primitives::Cryptography,
};

use crate::ffi;

/// The library that the program is linked with.
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

/// Turns a C library's failure into an error with the reasons that it queued.
pub fn check(ok: bool, what: &str) -> Result<()> {
    if ok {
        return Ok(());
    }
    let mut reasons = Vec::new();
    loop {
        // SAFETY: both only touch the error queue of this thread; a reason is a static string.
        let reason = unsafe {
            match ffi::ERR_get_error() {
                0 => break,
                code => ffi::ERR_reason_error_string(code),
            }
        };
        if !reason.is_null() {
            // SAFETY: not null, so a static C string.
            reasons.push(unsafe { CStr::from_ptr(reason) }.to_string_lossy());
        }
    }
    match reasons.is_empty() {
        true => bail!("{what}"),
        false => bail!("{what}: {}", reasons.join(", ")),
    }
}

/// The name of a TLS1.2 suite in cipher lists; none for those of TLS1.3.
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
    }
}

fn signature_algorithm(certificate: Certificate) -> &'static CStr {
    match certificate {
        Certificate::Rsa2048 | Certificate::Rsa4096 => c"rsa_pss_rsae_sha256",
        Certificate::EcdsaP256 => c"ecdsa_secp256r1_sha256",
        Certificate::EcdsaP384 => c"ecdsa_secp384r1_sha384",
        Certificate::Ed25519 => c"ed25519",
    }
}

/// The session that a client's next connection resumes.
#[derive(Default)]
struct Slot {
    /// Owned, or null.
    session: Cell<*mut ffi::SSL_SESSION>,
    /// Sessions that arrived in TLS1.3 tickets since the last connection was made.
    tickets: Cell<u32>,
}

impl Slot {
    const fn new() -> Self {
        Self {
            session: Cell::new(ptr::null_mut()),
            tickets: Cell::new(0),
        }
    }

    /// Takes ownership of `session`, which may be null.
    fn put(&self, session: *mut ffi::SSL_SESSION) {
        // SAFETY: the slot owns what it held; freeing null does nothing.
        unsafe { ffi::SSL_SESSION_free(self.session.replace(session)) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.put(ptr::null_mut());
    }
}

/// An `SSL_CTX`.
pub struct Context {
    context: *mut ffi::SSL_CTX,
    host_name: CString,
    protocol: Protocol,
    issues_tickets: bool,
    resumes: bool,
    /// Groups that a client sends key shares for, where that is not all of them.
    key_shares: Vec<KeyExchange>,
    /// In a box: the `SSL_CTX` keeps its address.
    slot: Box<Slot>,
}

/// What several threads may share: the `SSL_CTX` of a server.
pub struct ServerContext(Context);

// SAFETY: both libraries allow connections of one SSL_CTX in several threads, and a server never
// touches its slot, the only part without a lock.
unsafe impl Sync for ServerContext {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: owned, and every connection holds a reference of its own.
        unsafe { ffi::SSL_CTX_free(self.context) }
    }
}

/// Called by the library with each new session; takes ownership by returning 1.
unsafe extern "C" fn keep_session(ssl: *mut ffi::SSL, session: *mut ffi::SSL_SESSION) -> c_int {
    // SAFETY: `Context::new` stored the address of a slot that outlives the SSL_CTX, and the slot
    // belongs to this thread.
    let slot = unsafe { &*ffi::SSL_CTX_get_ex_data(ffi::SSL_get_SSL_CTX(ssl), 0).cast::<Slot>() };
    slot.put(session);
    slot.tickets.set(slot.tickets.get() + 1);
    1
}

/// The certificates of a PEM text, in order; to be freed by the caller.
fn certificates(pem: &str) -> Result<Vec<*mut ffi::X509>> {
    let mut certificates = Vec::new();
    // SAFETY: the BIO reads `pem`, which outlives it.
    unsafe {
        let bio = ffi::BIO_new_mem_buf(pem.as_ptr().cast(), pem.len().try_into()?);
        check(!bio.is_null(), "BIO_new_mem_buf")?;
        loop {
            let certificate = ffi::PEM_read_bio_X509(bio, ptr::null_mut(), None, ptr::null_mut());
            if certificate.is_null() {
                break;
            }
            certificates.push(certificate);
        }
        ffi::BIO_free_all(bio);
        ffi::ERR_clear_error(); // the end of the text is an error for the reader
    }
    ensure!(!certificates.is_empty(), "no certificate in the PEM text");
    Ok(certificates)
}

/// The key of a PEM text; the caller frees it.
pub fn private_key(pem: &str) -> Result<*mut ffi::EVP_PKEY> {
    // SAFETY: the BIO reads `pem`, which outlives it.
    unsafe {
        let bio = ffi::BIO_new_mem_buf(pem.as_ptr().cast(), pem.len().try_into()?);
        check(!bio.is_null(), "BIO_new_mem_buf")?;
        let key = ffi::PEM_read_bio_PrivateKey(bio, ptr::null_mut(), None, ptr::null_mut());
        ffi::BIO_free_all(bio);
        check(!key.is_null(), "PEM_read_bio_PrivateKey")?;
        Ok(key)
    }
}

impl Context {
    fn new(setup: &Setup) -> Result<Self> {
        let version = match setup.protocol {
            Protocol::Tls12 => ffi::TLS1_2_VERSION,
            Protocol::Tls13 => ffi::TLS1_3_VERSION,
        };
        // SAFETY: the method is static, and the new SSL_CTX is owned by what is returned.
        let context = unsafe { ffi::SSL_CTX_new(ffi::TLS_method()) };
        check(!context.is_null(), "SSL_CTX_new")?;
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
        };
        let groups = CString::new(ffi::group_list(&setup.groups, setup.key_shares))?;
        // SAFETY: the SSL_CTX lives, and the strings are copied by the library.
        unsafe {
            let version = version as _; // an int in one, 16 bits in the other
            check(
                ffi::SSL_CTX_set_min_proto_version(context, version) == 1
                    && ffi::SSL_CTX_set_max_proto_version(context, version) == 1,
                "the version of the protocol",
            )?;
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
        }
        for certificate in certificates(setup.trusted)? {
            // SAFETY: the store takes a reference of its own.
            unsafe {
                let store = ffi::SSL_CTX_get_cert_store(context);
                let added = ffi::X509_STORE_add_cert(store, certificate);
                ffi::X509_free(certificate);
                check(added == 1, "X509_STORE_add_cert")?;
            }
        }
        if let Some(identity) = &setup.identity {
            this.use_identity(identity)?;
        }
        Ok(this)
    }

    fn use_identity(&self, identity: &Identity) -> Result<()> {
        let context = self.context;
        // SAFETY: the SSL_CTX takes references of its own to leaf and key, and takes over the
        // certificates of the chain.
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

    /// # Errors
    /// The library refuses the set-up.
    pub fn client(setup: &Setup) -> Result<Self> {
        let this = Self::new(setup)?;
        let context = this.context;
        // SAFETY: the slot is in a box that lives as long as the SSL_CTX's connections do.
        unsafe {
            ffi::SSL_CTX_set_verify(context, ffi::SSL_VERIFY_PEER, None);
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

    /// # Errors
    /// The library refuses the set-up.
    pub fn server(setup: &Setup) -> Result<ServerContext> {
        let this = Self::new(setup)?;
        let context = this.context;
        let verify = match setup.authentication {
            Authentication::Server => 0,
            Authentication::Mutual => ffi::SSL_VERIFY_PEER | ffi::SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
        };
        // SAFETY: the SSL_CTX lives, and the name is copied.
        unsafe {
            ffi::SSL_CTX_set_verify(context, verify, None);
            let name = c"tls-harness";
            check(
                ffi::SSL_CTX_set_session_id_context(
                    context,
                    name.as_ptr().cast(),
                    name.to_bytes().len() as _, // unsigned in one, size_t in the other
                ) == 1,
                "SSL_CTX_set_session_id_context",
            )?;
            // Without SSL_OP_NO_TICKET a TLS1.3 ticket is the session; with it, it is a key to
            // the server's cache.
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
            if setup.resumption == Resumption::Ticket {
                check(ffi::renew_tickets(context), "renew_tickets")?;
            }
        }
        Ok(ServerContext(this))
    }

    /// Makes a client connection that resumes the session at hand.
    ///
    /// # Errors
    /// The library fails.
    pub fn connect<'a>(&'a self, endpoint: &'a Endpoint) -> Result<SslConnection<'a>> {
        let connection = SslConnection::new(self, endpoint, true)?;
        let ssl = connection.ssl;
        self.slot.tickets.set(0);
        // SAFETY: the connection lives; name and session are copied or referenced by it.
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
    ///
    /// # Errors
    /// The library fails.
    pub fn accept<'a>(&'a self, endpoint: &'a Endpoint) -> Result<SslConnection<'a>> {
        let connection = SslConnection::new(&self.0, endpoint, false)?;
        // SAFETY: the connection lives.
        unsafe { ffi::SSL_set_accept_state(connection.ssl) };
        Ok(connection)
    }
}

/// The static method of all our BIOs: they only pass bytes to and from an `Endpoint`.
fn bio_method() -> Result<*mut ffi::BIO_METHOD> {
    struct Method(*mut ffi::BIO_METHOD);
    // SAFETY: never changed after it was made.
    unsafe impl Send for Method {}
    // SAFETY: as above.
    unsafe impl Sync for Method {}
    static METHOD: OnceLock<Method> = OnceLock::new();
    let method = METHOD.get_or_init(|| {
        // SAFETY: the functions have the types and the lifetime that the library wants.
        unsafe {
            let method =
                ffi::BIO_meth_new(ffi::BIO_TYPE_SOURCE_SINK, c"tls-harness endpoint".as_ptr());
            if !method.is_null() {
                ffi::BIO_meth_set_write(method, Some(bio_write));
                ffi::BIO_meth_set_read(method, Some(bio_read));
                ffi::BIO_meth_set_ctrl(method, Some(bio_ctrl));
            }
            Method(method)
        }
    });
    check(!method.0.is_null(), "BIO_meth_new")?;
    Ok(method.0)
}

/// # Safety
/// `bio` is one that `SslConnection::new` made.
unsafe fn bio_endpoint<'a>(bio: *mut ffi::BIO) -> &'a Endpoint {
    // SAFETY: its data is the address of an endpoint that outlives the connection.
    unsafe { &*ffi::BIO_get_data(bio).cast::<Endpoint>() }
}

unsafe extern "C" fn bio_write(bio: *mut ffi::BIO, data: *const c_char, length: c_int) -> c_int {
    // SAFETY: the library passes one of our BIOs and `length` readable bytes.
    let (endpoint, data) = unsafe {
        let data = std::slice::from_raw_parts(data.cast::<u8>(), length as usize);
        (bio_endpoint(bio), data)
    };
    if endpoint.send(data) { length } else { -1 }
}

unsafe extern "C" fn bio_read(bio: *mut ffi::BIO, buffer: *mut c_char, length: c_int) -> c_int {
    // SAFETY: the library passes one of our BIOs and `length` writable bytes.
    let (endpoint, buffer) = unsafe {
        let buffer = std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize);
        (bio_endpoint(bio), buffer)
    };
    let read = endpoint.receive(buffer);
    // SAFETY: as above.
    unsafe {
        ffi::BIO_clear_flags(bio, ffi::BIO_FLAGS_READ | ffi::BIO_FLAGS_SHOULD_RETRY);
        if read == 0 {
            ffi::BIO_set_flags(bio, ffi::BIO_FLAGS_READ | ffi::BIO_FLAGS_SHOULD_RETRY);
            return -1;
        }
    }
    read as c_int
}

unsafe extern "C" fn bio_ctrl(
    _: *mut ffi::BIO,
    command: c_int,
    _: c_long,
    _: *mut c_void,
) -> c_long {
    c_long::from(command == ffi::BIO_CTRL_FLUSH)
}

/// An `SSL` with its end of the transport.
pub struct SslConnection<'a> {
    ssl: *mut ffi::SSL,
    context: &'a Context,
    is_client: bool,
}

impl Drop for SslConnection<'_> {
    fn drop(&mut self) {
        // SAFETY: owned. Without the flags OpenSSL takes the session for broken, since it was not
        // closed with an alert, and never resumes it.
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
    fn new(context: &'a Context, endpoint: &'a Endpoint, is_client: bool) -> Result<Self> {
        let method = bio_method()?;
        // SAFETY: the connection owns the BIO, whose endpoint outlives it.
        unsafe {
            let ssl = ffi::SSL_new(context.context);
            check(!ssl.is_null(), "SSL_new")?;
            let connection = Self {
                ssl,
                context,
                is_client,
            };
            let bio = ffi::BIO_new(method);
            check(!bio.is_null(), "BIO_new")?;
            ffi::BIO_set_data(bio, ptr::from_ref(endpoint).cast_mut().cast());
            ffi::BIO_set_init(bio, 1);
            ffi::SSL_set_bio(ssl, bio, bio);
            Ok(connection)
        }
    }

    /// An error, unless the library merely waits for its peer.
    fn waits(&self, result: c_int, what: &str) -> Result<()> {
        // SAFETY: the connection lives, and `result` is what its last call returned.
        let error = unsafe { ffi::SSL_get_error(self.ssl, result) };
        check(error == ffi::SSL_ERROR_WANT_READ, what)
    }
}

/// # Safety
/// `ssl` is a connection that lives.
unsafe fn has_peer_certificate(ssl: *mut ffi::SSL) -> bool {
    // SAFETY: by the caller's promise; both look only at what the connection holds.
    unsafe {
        let session = ffi::SSL_get_session(ssl);
        !session.is_null() && !ffi::SSL_SESSION_get0_peer(session).is_null()
    }
}

impl Connection for SslConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        // SAFETY: the connection lives.
        let result = unsafe { ffi::SSL_do_handshake(self.ssl) };
        if result != 1 {
            self.waits(result, "SSL_do_handshake")?;
            return Ok(Progress::Waiting);
        }
        // SAFETY: as above; the session gets a reference for the slot.
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

    fn receive_tickets(&mut self) -> Result<()> {
        let mut nothing = [0_u8; 1];
        // SAFETY: one byte may be written. None will be: tickets are all that has arrived.
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

    fn negotiated(&self) -> Result<Negotiated> {
        // SAFETY: the connection lives; what it returns is looked at while it does.
        unsafe {
            let suite = ffi::SSL_get_current_cipher(self.ssl);
            ensure!(!suite.is_null(), "no cipher suite was negotiated");
            Ok(Negotiated {
                protocol: match ffi::SSL_version(self.ssl) {
                    ffi::TLS1_2_VERSION => Protocol::Tls12,
                    ffi::TLS1_3_VERSION => Protocol::Tls13,
                    other => bail!("protocol {other:#06x} is not in the vocabulary"),
                },
                cipher_suite: CipherSuite::from_number(ffi::SSL_CIPHER_get_protocol_id(suite))?,
                key_exchange: ffi::negotiated_group(self.ssl)?,
                resumed: Some(ffi::SSL_session_reused(self.ssl) == 1),
                peer_verified: ffi::SSL_get_verify_mode(self.ssl) & ffi::SSL_VERIFY_PEER != 0
                    && has_peer_certificate(self.ssl)
                    && ffi::SSL_get_verify_result(self.ssl) == c_long::from(ffi::X509_V_OK),
                tickets: match self.is_client {
                    true => self.context.slot.tickets.get(),
                    false => 0,
                },
            })
        }
    }
}
