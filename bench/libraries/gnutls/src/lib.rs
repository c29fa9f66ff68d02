//! The GnuTLS that the host has installed: what curl, wget and others of a distribution use, and
//! the only one here with cryptography of its own kind, Nettle. Everything that a scenario pins is
//! a priority string.

/// The API, made by the build script.
#[allow(
    non_camel_case_types,
    non_upper_case_globals,
    dead_code,
    unused_imports
)]
#[allow(clippy::all)]
mod ffi {
    include!(concat!(env!("OUT_DIR"), "/gnutls.rs"));
}
#[path = "../../shared/socket.rs"]
mod socket;

use std::{
    cell::{Cell, RefCell},
    ffi::{CStr, CString, c_char, c_int, c_uint, c_void},
    ptr,
};

use anyhow::{Context as _, Result, bail, ensure};
use ffi::*;
use tls_harness::{
    binary,
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        Scenario,
    },
    transport::Endpoint,
};

/// The GnuTLS that this program is linked with.
pub struct GnuTls;

/// A static string of the library.
///
/// # Safety
/// `text` is null or a C string that lives as long as the program.
unsafe fn text(text: *const c_char) -> Result<&'static str> {
    ensure!(!text.is_null(), "GnuTLS gives no text");
    // SAFETY: by the caller's promise.
    Ok(unsafe { CStr::from_ptr(text) }.to_str()?)
}

/// Turns a negative result into an error with its reason.
fn check(result: c_int, what: &str) -> Result<()> {
    if result < 0 {
        // SAFETY: GnuTLS returns a static string for any number.
        bail!("{what}: {}", unsafe { text(gnutls_strerror(result)) }?);
    }
    Ok(())
}

fn datum(bytes: &[u8]) -> Result<gnutls_datum_t> {
    Ok(gnutls_datum_t {
        data: bytes.as_ptr().cast_mut(),
        size: bytes.len().try_into()?,
    })
}

/// The name of a group in priority strings, which may be of one that this GnuTLS does not have.
fn group_name(group: KeyExchange) -> &'static CStr {
    match group {
        KeyExchange::X25519 => c"X25519",
        KeyExchange::Secp256r1 => c"SECP256R1",
        KeyExchange::Secp384r1 => c"SECP384R1",
        KeyExchange::X25519MlKem768 => c"X25519-MLKEM768",
    }
}

fn has_group(group: KeyExchange) -> bool {
    // SAFETY: the name is a C string.
    let id = unsafe { gnutls_group_get_id(group_name(group).as_ptr()) };
    id != GNUTLS_GROUP_INVALID
}

/// Version, suite, groups and signature algorithm, and no others.
fn priorities(setup: &Setup) -> Result<CString> {
    let version = match setup.protocol {
        Protocol::Tls12 => "VERS-TLS1.2",
        Protocol::Tls13 => "VERS-TLS1.3",
    };
    let (key_exchange, cipher) = match setup.cipher_suite {
        CipherSuite::Aes128Gcm => (None, "AES-128-GCM"),
        CipherSuite::Aes256Gcm => (None, "AES-256-GCM"),
        CipherSuite::ChaCha20Poly1305 => (None, "CHACHA20-POLY1305"),
        CipherSuite::EcdheRsaAes128Gcm => (Some("ECDHE-RSA"), "AES-128-GCM"),
        CipherSuite::EcdheRsaAes256Gcm => (Some("ECDHE-RSA"), "AES-256-GCM"),
        CipherSuite::EcdheRsaChaCha20Poly1305 => (Some("ECDHE-RSA"), "CHACHA20-POLY1305"),
        CipherSuite::EcdheEcdsaAes128Gcm => (Some("ECDHE-ECDSA"), "AES-128-GCM"),
        CipherSuite::EcdheEcdsaAes256Gcm => (Some("ECDHE-ECDSA"), "AES-256-GCM"),
        CipherSuite::EcdheEcdsaChaCha20Poly1305 => (Some("ECDHE-ECDSA"), "CHACHA20-POLY1305"),
    };
    // The same numbers go by other names in TLS1.2, where the curve is not part of them.
    let signature = match (setup.certificate, setup.protocol) {
        (Certificate::Rsa2048 | Certificate::Rsa4096, _) => "SIGN-RSA-PSS-RSAE-SHA256",
        (Certificate::EcdsaP256, Protocol::Tls12) => "SIGN-ECDSA-SHA256",
        (Certificate::EcdsaP256, Protocol::Tls13) => "SIGN-ECDSA-SECP256R1-SHA256",
        (Certificate::EcdsaP384, Protocol::Tls12) => "SIGN-ECDSA-SHA384",
        (Certificate::EcdsaP384, Protocol::Tls13) => "SIGN-ECDSA-SECP384R1-SHA384",
        (Certificate::Ed25519, _) => "SIGN-EDDSA-ED25519",
    };
    let mut parts = vec!["NONE".to_owned(), "+CTYPE-X509".into(), "+AEAD".into()];
    let pinned = [Some(version), Some(cipher), Some(signature), key_exchange];
    parts.extend(pinned.into_iter().flatten().map(|it| format!("+{it}")));
    let by_rsa_in_13 = matches!(
        (setup.protocol, setup.certificate),
        (Protocol::Tls13, Certificate::Rsa2048 | Certificate::Rsa4096)
    );
    if by_rsa_in_13 && setup.authentication == Authentication::Mutual {
        // GnuTLS takes RSA-PSS for a kind of key of its own: a client asked for that signature alone
        // presents no RSA certificate. TLS1.3 allows this one in certificates, not in handshakes.
        parts.push("+SIGN-RSA-SHA256".into());
    }
    for group in &setup.groups {
        ensure!(has_group(*group), "GnuTLS has no {group}");
        parts.push(format!("+GROUP-{}", group_name(*group).to_str()?));
    }
    Ok(CString::new(parts.join(":"))?)
}

/// The session that a client's next connection resumes.
#[derive(Default)]
struct Slot {
    session: RefCell<Option<Vec<u8>>>,
    /// TLS1.3 tickets that arrived since the last connection was made.
    tickets: Cell<u32>,
}

/// Credentials and priorities.
pub struct Context {
    credentials: gnutls_certificate_credentials_t,
    priorities: gnutls_priority_t,
    /// Of `gnutls_init`.
    flags: c_uint,
    protocol: Protocol,
    host_name: CString,
    mutual: bool,
    resumes: bool,
    record_size: Option<usize>,
    /// What a server protects its tickets with; empty on a client.
    ticket_key: gnutls_datum_t,
    slot: Slot,
}

/// What several threads may share.
pub struct ServerContext(Context);

// SAFETY: sessions of several threads may share credentials, priorities and ticket key, none of
// which changes any more; a server never touches its slot.
unsafe impl Sync for ServerContext {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: owned, and every session borrows from this; the key was allocated by GnuTLS.
        unsafe {
            gnutls_certificate_free_credentials(self.credentials);
            gnutls_priority_deinit(self.priorities);
            if let Some(free) = gnutls_free {
                free(self.ticket_key.data.cast());
            }
        }
    }
}

impl Context {
    fn new(setup: &Setup, role: c_uint) -> Result<Self> {
        let shares = match setup.key_shares {
            1 => GNUTLS_KEY_SHARE_TOP,
            2 => GNUTLS_KEY_SHARE_TOP2,
            3 => GNUTLS_KEY_SHARE_TOP3,
            other => bail!("GnuTLS sends at most 3 key shares, not {other}"),
        };
        let tickets = match setup.resumption {
            Resumption::Ticket => 0,
            _ => GNUTLS_NO_TICKETS,
        };
        let mut this = Self {
            credentials: ptr::null_mut(),
            priorities: ptr::null_mut(),
            // One ticket is sent by hand: by itself GnuTLS sends more.
            flags: (role | GNUTLS_NONBLOCK | GNUTLS_NO_AUTO_SEND_TICKET | shares | tickets),
            protocol: setup.protocol,
            host_name: CString::new(setup.host_name)?,
            mutual: setup.authentication == Authentication::Mutual,
            resumes: setup.resumption != Resumption::None,
            record_size: setup.record_size.map(|size| size as usize),
            ticket_key: datum(&[])?,
            slot: Slot::default(),
        };
        this.ticket_key.data = ptr::null_mut();
        let text = priorities(setup)?;
        let trusted = datum(setup.trusted.as_bytes())?;
        // SAFETY: what is made is owned by `this`; what is passed is read before each call returns.
        unsafe {
            check(
                gnutls_certificate_allocate_credentials(&raw mut this.credentials),
                "gnutls_certificate_allocate_credentials",
            )?;
            check(
                gnutls_priority_init(&raw mut this.priorities, text.as_ptr(), ptr::null_mut()),
                &format!("priorities {}", text.to_string_lossy()),
            )?;
            let added = gnutls_certificate_set_x509_trust_mem(
                this.credentials,
                &raw const trusted,
                GNUTLS_X509_FMT_PEM,
            );
            check(added, "gnutls_certificate_set_x509_trust_mem")?;
            ensure!(added == 1, "{added} roots in the PEM text, expected 1");
            if let Some(identity) = &setup.identity {
                let chain = datum(identity.chain.as_bytes())?;
                let key = datum(identity.key.as_bytes())?;
                check(
                    gnutls_certificate_set_x509_key_mem(
                        this.credentials,
                        &raw const chain,
                        &raw const key,
                        GNUTLS_X509_FMT_PEM,
                    ),
                    "gnutls_certificate_set_x509_key_mem",
                )?;
            }
            if role == GNUTLS_SERVER && setup.resumption == Resumption::Ticket {
                check(
                    gnutls_session_ticket_key_generate(&raw mut this.ticket_key),
                    "gnutls_session_ticket_key_generate",
                )?;
            }
        }
        Ok(this)
    }

    fn issues_tickets(&self) -> bool {
        !self.ticket_key.data.is_null()
    }
}

/// The transport as GnuTLS calls it: `endpoint` is that of `GnuTlsConnection::new`.
unsafe extern "C" fn pull(endpoint: *mut c_void, buffer: *mut c_void, length: usize) -> isize {
    // SAFETY: the endpoint outlives the session; `length` bytes can be written.
    unsafe { socket::receive(endpoint, buffer, length) }
}

unsafe extern "C" fn push(endpoint: *mut c_void, data: *const c_void, length: usize) -> isize {
    // SAFETY: as above; `length` bytes can be read.
    unsafe { socket::send(endpoint, data, length) }
}

/// Asked whether there is something to read, without waiting.
unsafe extern "C" fn has_arrived(endpoint: *mut c_void, _: c_uint) -> c_int {
    // SAFETY: as above.
    c_int::from(unsafe { &*endpoint.cast::<Endpoint>() }.has_arrived())
}

/// Called with each TLS1.3 ticket that arrived: counts it.
unsafe extern "C" fn count_ticket(
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

/// A `gnutls_session_t` with its end of the transport.
pub struct GnuTlsConnection<'a> {
    session: gnutls_session_t,
    context: &'a Context,
    is_client: bool,
}

impl Drop for GnuTlsConnection<'_> {
    fn drop(&mut self) {
        // SAFETY: owned.
        unsafe { gnutls_deinit(self.session) };
    }
}

impl<'a> GnuTlsConnection<'a> {
    fn new(context: &'a Context, endpoint: &'a Endpoint, is_client: bool) -> Result<Self> {
        let mut session = ptr::null_mut();
        let expected = match is_client {
            true => context.host_name.as_ptr(),
            false => ptr::null(), // the names in clients' certificates mean nothing here
        };
        // SAFETY: context and endpoint outlive the session, which is owned.
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

    /// Keeps the session for the next connection.
    fn keep_session(&self) -> Result<()> {
        let mut data = datum(&[])?;
        // SAFETY: GnuTLS allocates what it returns, which is copied and freed.
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
        // SAFETY: the session lives.
        let result = unsafe { gnutls_handshake(self.session) };
        if result == GNUTLS_E_AGAIN {
            return Ok(Progress::Waiting);
        }
        check(result, "gnutls_handshake")?;
        if self.context.protocol == Protocol::Tls13 && self.context.issues_tickets() {
            // SAFETY: as above.
            let sent = unsafe { gnutls_session_ticket_send(self.session, 1, 0) };
            check(sent, "gnutls_session_ticket_send")?;
        }
        Ok(Progress::Done)
    }

    fn receive_tickets(&mut self) -> Result<()> {
        let mut nothing = [0_u8; 1];
        // SAFETY: one byte may be written. None will be: tickets are all that has arrived.
        let result = unsafe { gnutls_record_recv(self.session, nothing.as_mut_ptr().cast(), 1) };
        ensure!(result < 0, "data arrived instead of tickets");
        if result != GNUTLS_E_AGAIN as isize {
            check(c_int::try_from(result)?, "gnutls_record_recv")?;
        }
        self.keep_session()
    }

    /// GnuTLS takes one record at a time.
    fn send(&mut self, mut data: &[u8]) -> Result<()> {
        while !data.is_empty() {
            // SAFETY: as many bytes can be read.
            let sent =
                unsafe { gnutls_record_send(self.session, data.as_ptr().cast(), data.len()) };
            check(c_int::try_from(sent)?, "gnutls_record_send")?;
            data = &data[sent as usize..];
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        // SAFETY: as many bytes can be written.
        let read =
            unsafe { gnutls_record_recv(self.session, buffer.as_mut_ptr().cast(), buffer.len()) };
        check(c_int::try_from(read)?, "gnutls_record_recv")?;
        ensure!(read > 0, "the peer closed the connection");
        Ok(read as usize)
    }

    fn negotiated(&self) -> Result<Negotiated> {
        // SAFETY: the session lives; names are static strings.
        unsafe {
            let resumed = gnutls_session_is_resumed(self.session) != 0;
            let mut peers = 0;
            let known = !gnutls_certificate_get_peers(self.session, &raw mut peers).is_null();
            // A resumed session was verified when it was made: without that it ends there.
            let verified = gnutls_session_get_verify_cert_status(self.session) == 0;
            let group = gnutls_group_get(self.session);
            Ok(Negotiated {
                protocol: match gnutls_protocol_get_version(self.session) {
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
                peer_verified: known && (verified || resumed),
                tickets: match self.is_client {
                    true => self.context.slot.tickets.get(),
                    false => 0,
                },
            })
        }
    }
}

/// GnuTLS names the suites of TLS1.2 without "WITH".
fn named_suite(name: &str) -> Result<CipherSuite> {
    let found = CipherSuite::ALL
        .iter()
        .find(|suite| suite.as_str().replace("_WITH", "") == name.replace("_WITH", ""));
    found
        .copied()
        .with_context(|| format!("cipher suite \"{name}\" is not in the vocabulary"))
}

fn named_group(name: &str) -> Result<KeyExchange> {
    let found = KeyExchange::ALL
        .iter()
        .find(|group| group_name(**group).to_str() == Ok(name));
    found
        .copied()
        .with_context(|| format!("group \"{name}\" is not in the vocabulary"))
}

impl TlsLibrary for GnuTls {
    type ClientConfig = Context;
    type ServerConfig = ServerContext;
    type Client<'a> = GnuTlsConnection<'a>;
    type Server<'a> = GnuTlsConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        // SAFETY: without a requirement it returns a static string.
        let version = unsafe { text(gnutls_check_version(ptr::null())) }?;
        Ok(Implementation {
            // Of a shared library, this program does not contain the compiler's name.
            c_compiler: None,
            linkage: Some(binary::linkage("libgnutls")?),
            source: Some("the host's own package".into()),
            note: Some("as its distribution builds it".into()),
            ..Implementation::new(env!("LIBRARY"), version)?
        })
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        let reason = |text: &str| Some(text.to_owned());
        if scenario.operation == Operation::Primitive {
            return reason("this adapter does not reach the cryptography of GnuTLS, Nettle");
        }
        // A scenario that can't be set up is an error, which the set-up will tell.
        let setup = Setup::client(scenario).ok()?;
        if let Some(group) = setup.groups.iter().find(|group| !has_group(**group)) {
            return Some(format!("GnuTLS has no {group} in this version"));
        }
        let mutual = setup.authentication == Authentication::Mutual;
        if mutual && (setup.protocol, setup.certificate) == (Protocol::Tls12, Certificate::Ed25519)
        {
            return reason("GnuTLS' clients refuse to present Ed25519 in TLS1.2");
        }
        match (setup.protocol, setup.resumption) {
            (Protocol::Tls12, Resumption::Ticket) => {
                reason("GnuTLS issues no new ticket when it resumes a TLS1.2 session")
            }
            (Protocol::Tls12, Resumption::SessionId) => {
                reason("GnuTLS leaves the cache of TLS1.2 sessions to the application")
            }
            (Protocol::Tls13, Resumption::SessionId) => {
                reason("GnuTLS resumes TLS1.3 sessions by self-contained tickets only")
            }
            _ => None,
        }
    }

    fn client_config(&self, setup: &Setup) -> Result<Context> {
        Context::new(setup, GNUTLS_CLIENT)
    }

    fn server_config(&self, setup: &Setup) -> Result<ServerContext> {
        Context::new(setup, GNUTLS_SERVER).map(ServerContext)
    }

    fn connect<'a>(
        &self,
        context: &'a Context,
        endpoint: &'a Endpoint,
    ) -> Result<GnuTlsConnection<'a>> {
        let connection = GnuTlsConnection::new(context, endpoint, true)?;
        let session = connection.session;
        context.slot.tickets.set(0);
        let name = context.host_name.as_bytes();
        // SAFETY: the session lives; name and data are copied, and the slot outlives it.
        unsafe {
            check(
                gnutls_server_name_set(session, GNUTLS_NAME_DNS, name.as_ptr().cast(), name.len()),
                "gnutls_server_name_set",
            )?;
            if context.resumes && context.protocol == Protocol::Tls13 {
                let slot = ptr::from_ref(&context.slot).cast_mut().cast();
                gnutls_session_set_ptr(session, slot);
                gnutls_handshake_set_hook_function(
                    session,
                    GNUTLS_HANDSHAKE_NEW_SESSION_TICKET,
                    GNUTLS_HOOK_POST as c_int,
                    Some(count_ticket),
                );
            }
            if let Some(data) = context.slot.session.take() {
                check(
                    gnutls_session_set_data(session, data.as_ptr().cast(), data.len()),
                    "gnutls_session_set_data",
                )?;
            }
        }
        Ok(connection)
    }

    fn accept<'a>(
        &self,
        context: &'a ServerContext,
        endpoint: &'a Endpoint,
    ) -> Result<GnuTlsConnection<'a>> {
        let context = &context.0;
        let connection = GnuTlsConnection::new(context, endpoint, false)?;
        // SAFETY: the session lives, and the key is copied or outlives it.
        unsafe {
            if context.mutual {
                gnutls_certificate_server_set_request(connection.session, GNUTLS_CERT_REQUIRE);
            }
            if context.issues_tickets() {
                check(
                    gnutls_session_ticket_enable_server(
                        connection.session,
                        &raw const context.ticket_key,
                    ),
                    "gnutls_session_ticket_enable_server",
                )?;
            }
        }
        Ok(connection)
    }
}
