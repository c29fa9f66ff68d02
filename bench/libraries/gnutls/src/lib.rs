//! Adapter for GnuTLS, the only library here whose cryptography is Nettle.

/// Bindings that the build script generates.
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
mod connection;
mod replay;
#[path = "../../shared/socket.rs"]
mod socket;
mod vocabulary;

use std::{
    any::Any,
    cell::{Cell, RefCell},
    ffi::{CStr, CString, c_char, c_int, c_uint},
    fs, ptr,
};

use anyhow::{Context as _, Result, bail, ensure};
use tls_harness::{
    binary,
    implementation::Implementation,
    library::{MOST_EARLY_DATA, Setup, TlsLibrary},
    scenario::{Authentication, Certificate, Operation, Protocol, Resumption, Scenario},
    transport::Endpoint,
};

use crate::{
    connection::{GnuTlsConnection, count_ticket},
    ffi::*,
    replay::AntiReplay,
    vocabulary::{has_group, has_signature, priorities},
};

#[derive(Default)]
pub struct GnuTls {
    /// Whether the program is linked with the host's own GnuTLS.
    pub is_host: bool,
}

/// The host's distribution, such as `debian`: the value of `ID` in os-release(5).
fn distribution() -> Result<String> {
    let path = "/etc/os-release";
    let text = fs::read_to_string(path).context(path)?;
    let id = text.lines().find_map(|line| line.strip_prefix("ID="));
    let id = id.with_context(|| format!("{path} has no ID"))?;
    Ok(id.trim_matches('"').to_owned())
}

/// Converts a static string of the library.
///
/// # Safety
/// `text` is null or a C string that lives as long as the program.
unsafe fn text(text: *const c_char) -> Result<&'static str> {
    ensure!(!text.is_null(), "GnuTLS gives no text");
    // SAFETY: the caller guarantees it.
    Ok(unsafe { CStr::from_ptr(text) }.to_str()?)
}

/// Turns a negative result into an error with GnuTLS' message.
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

/// Fails unless all certificates of a PEM text were added.
fn all_added(added: c_int, pem: &str) -> Result<()> {
    let expected = pem.matches("-----BEGIN CERTIFICATE-----").count();
    ensure!(
        usize::try_from(added) == Ok(expected),
        "{added} roots of the PEM text were added, expected {expected}"
    );
    Ok(())
}

/// A list of trust anchors alone.
struct TrustList(gnutls_x509_trust_list_t);

impl Drop for TrustList {
    fn drop(&mut self) {
        // SAFETY: `self` owns the list and its certificates.
        unsafe { gnutls_x509_trust_list_deinit(self.0, 1) };
    }
}

struct PrivateKey(gnutls_x509_privkey_t);

impl Drop for PrivateKey {
    fn drop(&mut self) {
        // SAFETY: `self` owns the key.
        unsafe { gnutls_x509_privkey_deinit(self.0) };
    }
}

/// The session that a client's next connection resumes.
#[derive(Default)]
struct Slot {
    session: RefCell<Option<Vec<u8>>>,
    /// TLS 1.3 tickets received since the last connection was made.
    tickets: Cell<u32>,
}

/// Credentials and priorities of one role.
pub struct Context {
    credentials: gnutls_certificate_credentials_t,
    priorities: gnutls_priority_t,
    /// Flags for `gnutls_init`.
    flags: c_uint,
    protocol: Protocol,
    host_name: CString,
    mutual: bool,
    resumes: bool,
    record_size: Option<usize>,
    /// The key that encrypts a server's tickets; empty on a client.
    ticket_key: gnutls_datum_t,
    /// Present on a server that accepts early data.
    anti_replay: Option<AntiReplay>,
    slot: Slot,
}

pub struct ServerContext(Context);

// SAFETY: sessions of several threads may share credentials, priorities and ticket key, which no
// longer change. A server never uses its slot.
unsafe impl Sync for ServerContext {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `self` owns them, every session borrows from `self`, and GnuTLS allocated the
        // key.
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
        let early = match setup.early_data {
            true => GNUTLS_ENABLE_EARLY_DATA,
            false => 0,
        };
        let mut this = Self {
            credentials: ptr::null_mut(),
            priorities: ptr::null_mut(),
            // The adapter sends one ticket itself: by default GnuTLS sends more.
            flags: (role | GNUTLS_NONBLOCK | GNUTLS_NO_AUTO_SEND_TICKET | shares | tickets | early),
            protocol: setup.protocol,
            host_name: CString::new(setup.host_name)?,
            mutual: setup.authentication == Authentication::Mutual,
            resumes: setup.resumption != Resumption::None,
            record_size: setup.record_size.map(|size| size as usize),
            ticket_key: datum(&[])?,
            anti_replay: None,
            slot: Slot::default(),
        };
        this.ticket_key.data = ptr::null_mut();
        if role == GNUTLS_SERVER && setup.early_data {
            this.anti_replay = Some(AntiReplay::new(setup.session_cache as usize)?);
        }
        let text = priorities(setup)?;
        let trusted = datum(setup.trusted.as_bytes())?;
        // SAFETY: `this` owns the new objects, and each call reads its arguments before it returns.
        unsafe {
            check(
                gnutls_certificate_allocate_credentials(&raw mut this.credentials),
                "gnutls_certificate_allocate_credentials",
            )?;
            check(
                gnutls_priority_init(&raw mut this.priorities, text.as_ptr(), ptr::null_mut()),
                &format!("priorities {}", text.to_string_lossy()),
            )?;
            if !setup.trusted.is_empty() {
                let added = gnutls_certificate_set_x509_trust_mem(
                    this.credentials,
                    &raw const trusted,
                    GNUTLS_X509_FMT_PEM,
                );
                check(added, "gnutls_certificate_set_x509_trust_mem")?;
                all_added(added, setup.trusted)?;
            }
            // GnuTLS selects by name; the first identity is the default for clients that send no
            // name.
            let named = setup.named.iter().map(|it| &it.identity);
            for identity in setup.identity.iter().chain(named) {
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

impl TlsLibrary for GnuTls {
    type ClientConfig = Context;
    type ServerConfig = ServerContext;
    type Client<'a> = GnuTlsConnection<'a>;
    type Server<'a> = GnuTlsConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        // SAFETY: with a null argument it returns a static string.
        let version = unsafe { text(gnutls_check_version(ptr::null())) }?;
        let of_build = |it: Option<&str>| it.filter(|_| !self.is_host).map(str::to_owned);
        let flags = of_build(option_env!("GNUTLS_FLAGS"));
        let this = Implementation::new(env!("LIBRARY"), version)?;
        let this = Implementation {
            // Of a library that was built elsewhere, neither compiler nor flags are known.
            c_compiler: this.c_compiler.clone().filter(|_| flags.is_some()),
            configure: of_build(option_env!("GNUTLS_CONFIGURE")),
            linkage: Some(binary::linkage("libgnutls")?),
            source: Some(match (self.is_host, &flags) {
                (true, _) => "the host's own package".into(),
                (false, Some(_)) => format!("upstream's gnutls-{version}.tar.xz"),
                (false, None) => "the library in PKG_CONFIG_PATH".into(),
            }),
            note: of_build(option_env!("GNUTLS_NOTE")),
            flags,
            ..this
        };
        match self.is_host {
            true => Ok(this.with_build(&distribution()?)),
            false => Ok(this),
        }
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        let reason = |text: &str| Some(text.to_owned());
        if scenario.operation == Operation::QuicPacket {
            return reason(
                "GnuTLS gives traffic secrets to QUIC, and has no API that protects packets",
            );
        }
        if scenario.operation == Operation::Primitive {
            return reason("this adapter does not reach the cryptography of GnuTLS, Nettle");
        }
        // An invalid configuration is an error, which creating it reports.
        let setup = Setup::client(scenario).ok()?;
        if let Some(group) = setup.groups.iter().find(|group| !has_group(**group)) {
            return Some(format!("GnuTLS has no {group} in this build"));
        }
        if !has_signature(setup.certificate) {
            return Some(format!("GnuTLS has no {} in this build", setup.certificate));
        }
        if setup.compresses {
            return reason("GnuTLS is built without zlib, brotli and zstd, as Debian builds it");
        }
        let mutual = setup.authentication == Authentication::Mutual;
        if mutual && (setup.protocol, setup.certificate) == (Protocol::Tls12, Certificate::Ed25519)
        {
            return reason("GnuTLS' clients refuse to present Ed25519 in TLS 1.2");
        }
        match (setup.protocol, setup.resumption) {
            (Protocol::Tls12, Resumption::Ticket) if setup.renews_tickets => {
                reason("GnuTLS issues no new ticket when it resumes a TLS 1.2 session")
            }
            (Protocol::Tls12, Resumption::SessionId) => {
                reason("GnuTLS leaves the cache of TLS 1.2 sessions to the application")
            }
            (Protocol::Tls13, Resumption::SessionId) => {
                reason("GnuTLS resumes TLS 1.3 sessions by self-contained tickets only")
            }
            _ => None,
        }
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        let mut list = TrustList(ptr::null_mut());
        let text = datum(pem.as_bytes())?;
        // SAFETY: the returned value owns the list, and the text is read before the call returns.
        unsafe {
            check(
                gnutls_x509_trust_list_init(&raw mut list.0, 0),
                "gnutls_x509_trust_list_init",
            )?;
            let (text, no_lists) = (&raw const text, ptr::null());
            let format = GNUTLS_X509_FMT_PEM;
            let added = gnutls_x509_trust_list_add_trust_mem(list.0, text, no_lists, format, 0, 0);
            check(added, "gnutls_x509_trust_list_add_trust_mem")?;
            all_added(added, pem)?;
        }
        Ok(Box::new(list))
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        let mut key = PrivateKey(ptr::null_mut());
        let text = datum(pem.as_bytes())?;
        // SAFETY: the returned value owns the key, and the text is read before the call returns.
        unsafe {
            check(
                gnutls_x509_privkey_init(&raw mut key.0),
                "gnutls_x509_privkey_init",
            )?;
            let (text, format) = (&raw const text, GNUTLS_X509_FMT_PEM);
            let imported = gnutls_x509_privkey_import2(key.0, text, format, ptr::null(), 0);
            check(imported, "gnutls_x509_privkey_import2")?;
        }
        Ok(Box::new(key))
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
        // SAFETY: the session is valid; name and data are copied, and the slot outlives the
        // session.
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
            let mut kept = context.slot.session.borrow_mut();
            if let Some(data) = &*kept {
                check(
                    gnutls_session_set_data(session, data.as_ptr().cast(), data.len()),
                    "gnutls_session_set_data",
                )?;
            }
            // A ticket of TLS 1.2 is used again: the server does not renew it.
            if context.protocol == Protocol::Tls13 {
                *kept = None;
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
        // SAFETY: the session is valid, and the key is copied or outlives it.
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
            if let Some(anti_replay) = &context.anti_replay {
                anti_replay.enable(connection.session);
                let most = MOST_EARLY_DATA as usize;
                check(
                    gnutls_record_set_max_early_data_size(connection.session, most),
                    "gnutls_record_set_max_early_data_size",
                )?;
            }
        }
        Ok(connection)
    }
}
