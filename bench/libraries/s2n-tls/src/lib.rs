//! Adapter for s2n-tls with the cryptography of AWS-LC, from the package s2n-tls-sys.
//!
//! An application of s2n-tls chooses a security policy by name. `policy.c` makes policies that pin
//! the parameters of a scenario; all other calls are public API. Its documentation recommends
//! reusing connection objects. Here each handshake makes a new one, as with every library.

mod connection;
#[path = "../../shared/socket.rs"]
mod socket;

use std::{
    cell::{Cell, RefCell},
    env,
    ffi::{CStr, CString, c_char, c_int, c_void},
    ptr,
    sync::OnceLock,
};

use anyhow::{Context as _, Result, ensure};
use s2n_tls_sys::*;
use tls_harness::{
    binary,
    implementation::{self, Implementation},
    library::{self, MOST_EARLY_DATA, Setup, TlsLibrary},
    scenario::{
        Authentication, Certificate, Chain, KeyExchange, Operation, Protocol, Resumption, Scenario,
        SetUp, Slope, Variant,
    },
    transport::Endpoint,
};

use crate::connection::S2nConnection;

unsafe extern "C" {
    /// Defined in policy.c.
    fn tls_harness_pin(
        config: *mut s2n_config,
        version: u8,
        suite: u16,
        signature: u16,
        groups: *const u16,
        group_count: usize,
    ) -> *mut c_void;
    fn tls_harness_unpin(policy: *mut c_void);
}

pub struct S2nTls;

/// Turns a failure of s2n-tls into an error with its message.
fn check(ok: bool, what: &str) -> Result<()> {
    ensure!(ok, "{what}: {}", reason()?);
    Ok(())
}

/// The message of this thread's last failure.
fn reason() -> Result<String> {
    // SAFETY: s2n-tls keeps its error per thread, and returns a static string for it.
    let text = unsafe {
        let text = s2n_strerror_debug(*s2n_errno_location(), c"EN".as_ptr());
        ensure!(!text.is_null(), "s2n-tls gives no reason");
        CStr::from_ptr(text)
    };
    // For example "Error encountered in lib/tls/s2n_x.c:123", a line of s2n-tls' sources.
    Ok(text.to_string_lossy().into_owned())
}

/// Initializes s2n-tls once per process. By default it locks each allocation in pages of its own:
/// no process of Linux' default limits could then hold the connections of a memory scenario.
fn initialize() -> Result<()> {
    static READY: OnceLock<bool> = OnceLock::new();
    let ready = READY.get_or_init(|| {
        // SAFETY: this runs before any other call of s2n-tls, the one that reads the variable; Rust
        // itself reads the environment under a lock.
        unsafe {
            env::set_var("S2N_DONT_MLOCK", "1");
            s2n_init() == s2n_status_code::SUCCESS
        }
    });
    ensure!(*ready, "s2n_init failed");
    Ok(())
}

/// The IANA number of the signature algorithm; `None` if s2n-tls does not support it.
fn signature_algorithm(certificate: Certificate) -> Option<u16> {
    (certificate != Certificate::Ed25519).then(|| certificate.signature_scheme())
}

/// The code of a maximum fragment length (RFC 6066, 4), which only these sizes have.
fn fragment_code(size: u32) -> Option<s2n_max_frag_len::Type> {
    match size {
        512 => Some(s2n_max_frag_len::LEN_512),
        1024 => Some(s2n_max_frag_len::LEN_1024),
        2048 => Some(s2n_max_frag_len::LEN_2048),
        4096 => Some(s2n_max_frag_len::LEN_4096),
        _ => None,
    }
}

/// The session that a client's next connection resumes.
#[derive(Default)]
struct Slot {
    session: RefCell<Option<Vec<u8>>>,
    /// Tickets received since the last connection was made.
    tickets: Cell<u32>,
}

/// Stores the session of each received ticket.
unsafe extern "C" fn keep_session(
    _: *mut s2n_connection,
    slot: *mut c_void,
    ticket: *mut s2n_session_ticket,
) -> c_int {
    // SAFETY: `client` stored the address of a slot that outlives the connections and belongs to
    // this thread; the ticket reports how many bytes it needs.
    unsafe {
        let slot = &*slot.cast::<Slot>();
        let mut length = 0;
        if s2n_session_ticket_get_data_len(ticket, &raw mut length) != s2n_status_code::SUCCESS {
            return s2n_status_code::FAILURE;
        }
        let mut session = vec![0; length];
        slot.tickets.set(slot.tickets.get() + 1);
        let copied = s2n_session_ticket_get_data(ticket, length, session.as_mut_ptr());
        slot.session.replace(Some(session));
        copied
    }
}

/// Accepts any name in a client certificate; its chain is still verified.
unsafe extern "C" fn any_name(_: *const c_char, _: usize, _: *mut c_void) -> u8 {
    1
}

/// Chains and keys that an `s2n_config` selects by name but does not own.
#[derive(Default)]
struct Named(Vec<*mut s2n_cert_chain_and_key>);

impl Drop for Named {
    fn drop(&mut self) {
        for it in &self.0 {
            // SAFETY: `self` owns the chain and key.
            unsafe { s2n_cert_chain_and_key_free(*it) };
        }
    }
}

pub struct Context {
    config: *mut s2n_config,
    /// The result of `tls_harness_pin`, or null.
    policy: *mut c_void,
    named: Named,
    host_name: CString,
    mutual: bool,
    fills_records: bool,
    protocol: Protocol,
    /// Boxed, since the `s2n_config` keeps its address.
    slot: Box<Slot>,
}

/// The `s2n_config` of a server, which several threads share.
pub struct ServerContext(Context);

// SAFETY: connections of several threads may share an `s2n_config` that no longer changes, and a
// server never uses its slot.
unsafe impl Sync for ServerContext {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `self` owns them, and every connection borrows from it. The config is freed
        // first, since it refers to the policy.
        unsafe {
            s2n_config_free(self.config);
            tls_harness_unpin(self.policy);
        }
    }
}

impl Context {
    fn new(setup: &Setup) -> Result<Self> {
        initialize()?;
        let version = match setup.protocol {
            Protocol::Tls12 => s2n_tls_version::TLS12,
            Protocol::Tls13 => s2n_tls_version::TLS13,
        };
        // SAFETY: the returned value owns the new config, which lacks the system's certificates.
        let config = unsafe { s2n_config_new_minimal() };
        check(!config.is_null(), "s2n_config_new_minimal")?;
        let mut this = Self {
            config,
            policy: ptr::null_mut(),
            named: Named::default(),
            host_name: CString::new(setup.host_name)?,
            mutual: setup.authentication == Authentication::Mutual,
            fills_records: setup.fills_records,
            protocol: setup.protocol,
            slot: Box::default(),
        };
        let signature = signature_algorithm(setup.certificate);
        let signature =
            signature.with_context(|| format!("s2n-tls has no {}", setup.certificate))?;
        let groups: Vec<u16> = setup.groups.iter().map(|group| group.number()).collect();
        let trusted = CString::new(setup.trusted)?;
        // SAFETY: the config is valid, and the arguments are copied.
        unsafe {
            this.policy = tls_harness_pin(
                config,
                version.try_into()?,
                setup.cipher_suite.number(),
                signature,
                groups.as_ptr(),
                groups.len(),
            );
            check(!this.policy.is_null(), "the security policy")?;
            if !trusted.is_empty() {
                check(
                    s2n_config_add_pem_to_trust_store(config, trusted.as_ptr())
                        == s2n_status_code::SUCCESS,
                    "s2n_config_add_pem_to_trust_store",
                )?;
            }
            for it in setup.named {
                let identity = &it.identity;
                let (chain, key) = (CString::new(identity.chain)?, CString::new(identity.key)?);
                let loaded = s2n_cert_chain_and_key_new();
                check(!loaded.is_null(), "s2n_cert_chain_and_key_new")?;
                this.named.0.push(loaded);
                check(
                    s2n_cert_chain_and_key_load_pem(loaded, chain.as_ptr(), key.as_ptr())
                        == s2n_status_code::SUCCESS,
                    "s2n_cert_chain_and_key_load_pem",
                )?;
                check(
                    s2n_config_add_cert_chain_and_key_to_store(config, loaded)
                        == s2n_status_code::SUCCESS,
                    "s2n_config_add_cert_chain_and_key_to_store",
                )?;
            }
            // s2n-tls accepts either separate chains and keys, or one that belongs to the config.
            let identity = setup.identity.filter(|_| setup.named.is_empty());
            if let Some(identity) = &identity {
                let (chain, key) = (CString::new(identity.chain)?, CString::new(identity.key)?);
                check(
                    s2n_config_add_cert_chain_and_key(config, chain.as_ptr(), key.as_ptr())
                        == s2n_status_code::SUCCESS,
                    "s2n_config_add_cert_chain_and_key",
                )?;
            }
            if this.mutual {
                check(
                    s2n_config_set_client_auth_type(config, s2n_cert_auth_type::REQUIRED)
                        == s2n_status_code::SUCCESS,
                    "s2n_config_set_client_auth_type",
                )?;
            }
            if setup.resumption == Resumption::Ticket {
                check(
                    s2n_config_set_session_tickets_onoff(config, 1) == s2n_status_code::SUCCESS,
                    "s2n_config_set_session_tickets_onoff",
                )?;
            }
        }
        Ok(this)
    }

    fn client(setup: &Setup) -> Result<Self> {
        let this = Self::new(setup)?;
        let slot = ptr::from_ref(&*this.slot).cast_mut().cast();
        // SAFETY: the boxed slot lives as long as the connections of the config.
        unsafe {
            check(
                s2n_config_set_session_ticket_cb(this.config, Some(keep_session), slot)
                    == s2n_status_code::SUCCESS,
                "s2n_config_set_session_ticket_cb",
            )?;
            if let Some(code) = setup.record_size.and_then(fragment_code) {
                check(
                    s2n_config_send_max_fragment_length(this.config, code)
                        == s2n_status_code::SUCCESS,
                    "s2n_config_send_max_fragment_length",
                )?;
            }
        }
        Ok(this)
    }

    fn server(setup: &Setup) -> Result<ServerContext> {
        let this = Self::new(setup)?;
        let config = this.config;
        // SAFETY: the config is valid, and name and key of the ticket key are copied.
        unsafe {
            check(
                s2n_config_set_verify_host_callback(config, Some(any_name), ptr::null_mut())
                    == s2n_status_code::SUCCESS,
                "s2n_config_set_verify_host_callback",
            )?;
            check(
                s2n_config_accept_max_fragment_length(config) == s2n_status_code::SUCCESS,
                "s2n_config_accept_max_fragment_length",
            )?;
            if setup.resumption == Resumption::Ticket {
                let (name, mut key) = (b"tls-harness", [0x5a_u8; 32]);
                check(
                    s2n_config_add_ticket_crypto_key(
                        config,
                        name.as_ptr(),
                        name.len().try_into()?,
                        key.as_mut_ptr(),
                        key.len().try_into()?,
                        0, // valid immediately
                    ) == s2n_status_code::SUCCESS,
                    "s2n_config_add_ticket_crypto_key",
                )?;
                check(
                    s2n_config_set_initial_ticket_count(config, 1) == s2n_status_code::SUCCESS,
                    "s2n_config_set_initial_ticket_count",
                )?;
            }
            // s2n-tls leaves the protection against replays to the application: here is none.
            if setup.early_data {
                check(
                    s2n_config_set_server_max_early_data_size(config, MOST_EARLY_DATA)
                        == s2n_status_code::SUCCESS,
                    "s2n_config_set_server_max_early_data_size",
                )?;
            }
        }
        Ok(ServerContext(this))
    }
}

/// The groups whose key shares a client sends: its first hybrid one and its first other one.
fn chosen_key_shares(groups: &[KeyExchange]) -> Vec<KeyExchange> {
    let is_hybrid = |group: &&KeyExchange| group.has_ml_kem();
    let hybrid = groups.iter().find(is_hybrid);
    let other = groups.iter().find(|group| !is_hybrid(group));
    hybrid.into_iter().chain(other).copied().collect()
}

impl TlsLibrary for S2nTls {
    type ClientConfig = Context;
    type ServerConfig = ServerContext;
    type Client<'a> = S2nConnection<'a>;
    type Server<'a> = S2nConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        let package = |name| {
            binary::package_version(env!("PACKAGES"), name)
                .with_context(|| format!("Cargo.lock has no {name}"))
        };
        let version = package("s2n-tls-sys")?;
        let implementation = Implementation::new(env!("LIBRARY"), &version)?
            .with_provider("aws-lc", package("aws-lc-sys")?);
        Ok(Implementation {
            // The definitions of s2n-tls-sys' build script in a release build, and `initialize`.
            configure: Some("-DS2N_BUILD_RELEASE -DNDEBUG S2N_DONT_MLOCK=1".into()),
            flags: Some(env!("S2N_FLAGS").into()),
            cpu_mask: implementation::cpu_mask(),
            source: Some(format!("cargo package s2n-tls-sys {version}")),
            linkage: Some(binary::linkage("libs2n")?),
            note: Some(
                "version of its Rust package; security policies made for each scenario, since \
                 none that s2n-tls names pins one"
                    .into(),
            ),
            ..implementation
        })
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        let reason = |text: &str| Some(text.to_owned());
        if scenario.operation == Operation::QuicPacket {
            return reason("s2n-tls has no API that protects packets: it gives secrets to QUIC");
        }
        if scenario.operation == Operation::Primitive {
            return reason(
                "s2n-tls has no cryptography of its own: AWS-LC's is measured with rustls, as aws-lc-rs",
            );
        }
        // An invalid configuration is an error, which creating it reports.
        let setup = Setup::client(scenario).ok()?;
        if signature_algorithm(setup.certificate).is_none() {
            return reason("s2n-tls has no Ed25519 certificates");
        }
        if setup.groups.contains(&KeyExchange::MlKem768) {
            return reason("s2n-tls has no MLKEM768 alone");
        }
        if setup.compresses {
            return reason("s2n-tls has no compression of certificates");
        }
        // s2n_certs_exist_for_sig_scheme compares the certificate's signature, not its key.
        if scenario.chain() == Some(Chain::EcdsaIssuers) {
            return reason(
                "s2n-tls signs with ML-DSA only if the issuer of the certificate signed with it too",
            );
        }
        let sized = |size| size == 1 << 14 || fragment_code(size).is_some();
        if !setup.record_size.is_none_or(sized) {
            return reason("s2n-tls limits records to 512, 1024, 2048 or 4096 bytes alone");
        }
        let resumes = setup.resumption != Resumption::None;
        if resumes && setup.authentication == Authentication::Mutual {
            return reason("s2n-tls keeps no client certificate in a session");
        }
        if let Some(Variant::SetUp(set_up)) = scenario.variant {
            match set_up {
                SetUp::Anchors(_) | SetUp::Slope(Slope::Anchors) => {
                    return reason(library::NO_ANCHORS);
                }
                SetUp::PrivateKey => return reason(library::NO_PRIVATE_KEY),
                _ => {}
            }
        }
        match (setup.protocol, setup.resumption) {
            (Protocol::Tls12, Resumption::Ticket) if setup.renews_tickets => {
                return reason("s2n-tls issues no new ticket when it resumes a TLS 1.2 session");
            }
            (Protocol::Tls12, Resumption::SessionId) => {
                return reason("s2n-tls leaves the cache of TLS 1.2 sessions to the application");
            }
            (Protocol::Tls13, Resumption::SessionId) => {
                return reason("s2n-tls resumes TLS 1.3 sessions by self-contained tickets only");
            }
            _ => {}
        }
        let pinned = setup.protocol == Protocol::Tls12
            || chosen_key_shares(&setup.groups) == setup.groups[..setup.key_shares];
        (!pinned).then(|| {
            "s2n-tls sends key shares for its first hybrid group and its first other one: no \
             others can be chosen"
                .into()
        })
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
    ) -> Result<S2nConnection<'a>> {
        let connection = S2nConnection::new(context, endpoint, s2n_mode::CLIENT)?;
        context.slot.tickets.set(0);
        // SAFETY: the connection is valid, and name and session are copied.
        unsafe {
            check(
                s2n_set_server_name(connection.connection, context.host_name.as_ptr())
                    == s2n_status_code::SUCCESS,
                "s2n_set_server_name",
            )?;
            let mut kept = context.slot.session.borrow_mut();
            if let Some(session) = &*kept {
                check(
                    s2n_connection_set_session(
                        connection.connection,
                        session.as_ptr(),
                        session.len(),
                    ) == s2n_status_code::SUCCESS,
                    "s2n_connection_set_session",
                )?;
            }
            // A ticket of TLS 1.2 is used until the server renews it.
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
    ) -> Result<S2nConnection<'a>> {
        S2nConnection::new(&context.0, endpoint, s2n_mode::SERVER)
    }
}
