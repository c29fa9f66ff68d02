//! OpenSSL with the settings that its own documentation and tools recommend: `docs/tuned.md` names
//! the source of each. Each setting is read back from the library when an `SSL_CTX` is created.

use std::{
    any::Any,
    cell::Cell,
    ffi::{c_int, c_long},
    ptr,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use anyhow::{Result, ensure};
use tls_harness::{
    implementation::{Implementation, TUNED},
    library::{Setup, TlsLibrary, primitives::Cryptography},
    scenario::Scenario,
    transport::Endpoint,
};

use crate::{OpenSsl, ffi};

pub struct Tuned;

thread_local! {
    /// Whether this thread makes tuned objects at the moment.
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

/// Calls `make`, with all its objects tuned.
fn tuned<R>(make: impl FnOnce() -> R) -> R {
    let before = IS_ON.replace(true);
    let made = make();
    IS_ON.set(before);
    made
}

/// Whether objects that this thread makes now are tuned.
pub fn is_on() -> bool {
    IS_ON.get()
}

/// Applies the settings to an `SSL_CTX`, and reads them back.
///
/// # Safety
///
/// `context` is valid.
pub unsafe fn set(context: *mut ffi::SSL_CTX) -> bool {
    // SAFETY: the caller guarantees it.
    unsafe {
        ffi::SSL_CTX_set_mode(context, ffi::SSL_MODE_RELEASE_BUFFERS);
        mode(context) & ffi::SSL_MODE_RELEASE_BUFFERS != 0
            && ffi::SSL_CTX_set_ex_data(context, mark(), ptr::dangling_mut()) == 1
    }
}

/// Where a tuned `SSL_CTX` has a value. The mode is no mark: connections of the variant
/// `released-buffers` have it too.
fn mark() -> c_int {
    static INDEX: OnceLock<c_int> = OnceLock::new();
    *INDEX.get_or_init(|| {
        let nothing = ptr::null_mut();
        // SAFETY: no function is passed.
        unsafe { ffi::SSL_CTX_get_ex_new_index(0, nothing, None, None, None) }
    })
}

/// # Safety
///
/// `context` is valid.
unsafe fn mode(context: *mut ffi::SSL_CTX) -> c_long {
    // SAFETY: the caller guarantees it; adding no mode returns the current modes.
    unsafe { ffi::SSL_CTX_set_mode(context, 0) }
}

/// Checks that a connection has the settings of its `SSL_CTX`: the peer's key share is in the
/// library context of this thread. A resumption of TLS 1.2 has no key share.
///
/// # Safety
///
/// `ssl` is valid.
#[cfg(openssl_3)]
pub unsafe fn check_connection(ssl: *mut ffi::SSL) -> Result<()> {
    let mut share = ptr::null_mut();
    // SAFETY: the caller guarantees it. The key is owned.
    unsafe {
        let tuned = ffi::SSL_CTX_get_ex_data(ffi::SSL_get_SSL_CTX(ssl), mark());
        if tuned.is_null() || ffi::SSL_get_peer_tmp_key(ssl, &raw mut share) != 1 {
            return Ok(());
        }
        let checked = own::check_key(share, "key share");
        ffi::EVP_PKEY_free(share);
        checked
    }
}

/// The settings that the library reports for a new `SSL_CTX`, as text.
fn settings() -> Result<String> {
    let context = ffi::new_context()?;
    // SAFETY: this function owns the new SSL_CTX.
    let mode = unsafe {
        let mode = mode(context);
        ffi::SSL_CTX_free(context);
        mode
    };
    let mut all = Vec::new();
    if mode & ffi::SSL_MODE_RELEASE_BUFFERS != 0 {
        all.push("SSL_MODE_RELEASE_BUFFERS".to_owned());
    }
    #[cfg(openssl_3)]
    if !own::context()?.is_null() {
        all.push("a library context for each thread".to_owned());
        let fetched = own::fetched()?;
        all.push(format!("{fetched} algorithms fetched in each"));
    }
    ensure!(!all.is_empty(), "nothing is tuned");
    Ok(all.join("; "))
}

#[cfg(openssl_3)]
pub mod own {
    use std::{
        cell::Cell,
        ffi::{CStr, c_char, c_void},
        ptr,
    };

    use anyhow::{Result, ensure};

    use crate::{ffi, ssl::check};

    /// A function of the library that fetches an algorithm by name; it returns NULL if there is
    /// none.
    type Fetch =
        unsafe extern "C" fn(*mut ffi::OSSL_LIB_CTX, *const c_char, *const c_char) -> *mut c_void;

    macro_rules! fetch {
        ($($name:ident)+) => {
            unsafe extern "C" {
                $(fn $name(
                    _: *mut ffi::OSSL_LIB_CTX,
                    _: *const c_char,
                    _: *const c_char,
                ) -> *mut c_void;)+
            }
        };
    }

    fetch!(EVP_MD_fetch EVP_CIPHER_fetch EVP_MAC_fetch EVP_KDF_fetch);
    fetch!(EVP_KEYEXCH_fetch EVP_KEYMGMT_fetch EVP_SIGNATURE_fetch);

    unsafe extern "C" {
        fn EVP_MD_get0_provider(hash: *const c_void) -> *const c_void;
        fn EVP_PKEY_get0_provider(key: *const ffi::EVP_PKEY) -> *const c_void;
    }

    /// The algorithms of the handshakes and records of all cipher suites here.
    const ALGORITHMS: [(Fetch, &[&CStr]); 7] = [
        (EVP_MD_fetch, &[c"SHA2-256", c"SHA2-384"]),
        (
            EVP_CIPHER_fetch,
            &[
                c"AES-128-GCM",
                c"AES-256-GCM",
                c"ChaCha20-Poly1305",
                c"AES-256-CBC",
            ],
        ),
        (EVP_MAC_fetch, &[c"HMAC"]),
        (EVP_KDF_fetch, &[c"HKDF", c"TLS13-KDF", c"TLS1-PRF"]),
        (EVP_KEYEXCH_fetch, &[c"X25519", c"ECDH"]),
        (EVP_KEYMGMT_fetch, &[c"X25519", c"EC", c"RSA"]),
        (EVP_SIGNATURE_fetch, &[c"RSA", c"ECDSA"]),
    ];

    struct Own {
        context: *mut ffi::OSSL_LIB_CTX,
        provider: *const c_void,
        /// Never freed, like the context: other objects may still use both.
        algorithms: Vec<*mut c_void>,
    }

    impl Own {
        fn new() -> Result<Self> {
            // SAFETY: the context is never freed.
            unsafe {
                let context = ffi::OSSL_LIB_CTX_new();
                check(!context.is_null(), "OSSL_LIB_CTX_new")?;
                let algorithms = fetch_all(context)?;
                let provider = provider(context)?;
                ensure!(
                    provider != self::provider(ptr::null_mut())?,
                    "the library context has the provider of the shared one"
                );
                Ok(Self {
                    context,
                    provider,
                    algorithms,
                })
            }
        }
    }

    /// Fetches all algorithms.
    ///
    /// # Safety
    ///
    /// The context is valid.
    unsafe fn fetch_all(context: *mut ffi::OSSL_LIB_CTX) -> Result<Vec<*mut c_void>> {
        let each = |(fetch, name): (Fetch, &CStr)| {
            // SAFETY: the name is a C string, and the fetched algorithm is never freed.
            let algorithm = unsafe { fetch(context, name.as_ptr(), ptr::null()) };
            let what = format!("{} was not fetched", name.to_string_lossy());
            check(!algorithm.is_null(), &what)?;
            Ok(algorithm)
        };
        let all = ALGORITHMS.iter();
        let all = all.flat_map(|(fetch, names)| names.iter().map(|name| (*fetch, *name)));
        all.map(each).collect()
    }

    /// The provider from which a library context fetches its hashes.
    ///
    /// # Safety
    ///
    /// The context is valid, or null for the default one.
    unsafe fn provider(context: *mut ffi::OSSL_LIB_CTX) -> Result<*const c_void> {
        // SAFETY: the name is a C string, and the fetched hash is never freed.
        unsafe {
            let hash = EVP_MD_fetch(context, c"SHA2-256".as_ptr(), ptr::null());
            check(!hash.is_null(), "EVP_MD_fetch")?;
            Ok(EVP_MD_get0_provider(hash))
        }
    }

    thread_local! {
        static OWN: Cell<Option<&'static Own>> = const { Cell::new(None) };
    }

    /// Creates the library context on first use in a thread.
    fn of_this_thread() -> Result<&'static Own> {
        if let Some(own) = OWN.get() {
            return Ok(own);
        }
        let own: &Own = Box::leak(Box::new(Own::new()?));
        OWN.set(Some(own));
        Ok(own)
    }

    /// Number of algorithms for which fetching returns the objects that this thread holds.
    pub fn fetched() -> Result<usize> {
        let own = of_this_thread()?;
        // SAFETY: the context is never freed.
        let now = unsafe { fetch_all(own.context)? };
        let same = own.algorithms.iter().zip(&now).filter(|(a, b)| a == b);
        Ok(same.count())
    }

    /// Checks that a key belongs to this thread's library context.
    ///
    /// # Safety
    ///
    /// The key is valid.
    pub unsafe fn check_key(key: *const ffi::EVP_PKEY, what: &str) -> Result<()> {
        // SAFETY: the caller guarantees it.
        let found = unsafe { EVP_PKEY_get0_provider(key) };
        ensure!(
            found == of_this_thread()?.provider,
            "the {what} is not in the library context of its thread"
        );
        Ok(())
    }

    /// Address of the provider in this thread's library context.
    #[cfg(test)]
    pub fn provider_of_this_thread() -> Result<usize> {
        Ok(of_this_thread()?.provider as usize)
    }

    /// This thread's library context; null, the default one, if the thread makes no tuned objects.
    pub fn context() -> Result<*mut ffi::OSSL_LIB_CTX> {
        match super::is_on() {
            true => Ok(of_this_thread()?.context),
            false => Ok(ptr::null_mut()),
        }
    }
}

/// A server's contexts: one per thread, created when the thread first accepts a connection.
pub struct ServerContexts {
    setup: Setup,
    contexts: Vec<OnceLock<<OpenSsl as TlsLibrary>::ServerConfig>>,
}

// SAFETY: several threads may use one SSL_CTX, as in `ServerContext`. Threads share contexts if
// there are more threads than contexts.
unsafe impl Sync for ServerContexts {}

/// More threads than any scenario has.
const MOST_THREADS: usize = 64;

/// Numbers the threads in the order of their first call.
fn number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static NUMBER: usize = NEXT.fetch_add(1, Relaxed);
    }
    NUMBER.with(|number| number % MOST_THREADS)
}

impl ServerContexts {
    fn of_this_thread(&self) -> Result<&<OpenSsl as TlsLibrary>::ServerConfig> {
        let context = &self.contexts[number()];
        if let Some(context) = context.get() {
            return Ok(context);
        }
        let made = tuned(|| OpenSsl.server_config(&self.setup))?;
        Ok(context.get_or_init(|| made))
    }
}

impl TlsLibrary for Tuned {
    type ClientConfig = <OpenSsl as TlsLibrary>::ClientConfig;
    type ServerConfig = ServerContexts;
    type Client<'a> = <OpenSsl as TlsLibrary>::Client<'a>;
    type Server<'a> = <OpenSsl as TlsLibrary>::Server<'a>;

    fn implementation(&self) -> Result<Implementation> {
        Ok(Implementation {
            note: Some(format!("Tuned: {}.", tuned(settings)?)),
            ..OpenSsl.implementation()?.with_build(TUNED)
        })
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        OpenSsl.unsupported(scenario)
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        OpenSsl.cryptography()
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        tuned(|| OpenSsl.anchors(pem))
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        tuned(|| OpenSsl.private_key(pem))
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        tuned(|| OpenSsl.client_config(setup))
    }

    fn server_config(&self, setup: &Setup) -> Result<ServerContexts> {
        let contexts = ServerContexts {
            setup: setup.clone(),
            contexts: (0..MOST_THREADS).map(|_| OnceLock::new()).collect(),
        };
        contexts.of_this_thread()?; // report an invalid configuration now
        Ok(contexts)
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        OpenSsl.connect(config, endpoint)
    }

    fn accept<'a>(
        &self,
        config: &'a ServerContexts,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        OpenSsl.accept(config.of_this_thread()?, endpoint)
    }
}

#[cfg(all(test, openssl_3))]
mod tests {
    use std::ptr;

    use tls_harness::{
        certificates::authority,
        scenario::{
            Authentication, Certificate, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
        },
        session::HandshakeBench,
        transport::Transport,
    };

    use super::*;
    use crate::ssl::{PrivateKey, SslConnection, Store};

    #[test]
    fn both_sides_of_a_connection_are_tuned() {
        let scenario = Scenario {
            protocol: Some(Protocol::Tls13),
            cipher_suite: Some(CipherSuite::Aes256Gcm),
            key_exchange: Some(KeyExchange::X25519),
            certificate: Some(Certificate::EcdsaP256),
            authentication: Some(Authentication::Server),
            resumption: Some(Resumption::None),
            ..Scenario::new(Operation::Handshake)
        };
        fn modes<L>(library: &L, scenario: &Scenario) -> [bool; 2]
        where
            L: for<'a> TlsLibrary<Client<'a> = SslConnection<'a>, Server<'a> = SslConnection<'a>>,
        {
            let server = library.server_config(&Setup::server(scenario).unwrap());
            let server = server.unwrap();
            let capacity = Transport::HANDSHAKE_CAPACITY;
            let bench = HandshakeBench::new(library, &server, scenario, capacity).unwrap();
            // For a tuned connection this also checks the library context.
            let pair = bench.handshake(false).unwrap();
            [&pair.client, &pair.server].map(|it| {
                // SAFETY: the connection is valid; setting no mode returns the current modes.
                let mode = unsafe { ffi::SSL_ctrl(it.ssl, ffi::SSL_CTRL_MODE, 0, ptr::null_mut()) };
                mode & ffi::SSL_MODE_RELEASE_BUFFERS != 0
            })
        }
        assert_eq!(modes(&Tuned, &scenario), [true; 2]);
        assert_eq!(modes(&OpenSsl, &scenario), [false; 2]);
    }

    #[test]
    fn what_is_loaded_alone_is_in_the_library_context_of_its_thread() {
        let of = authority(Certificate::EcdsaP256);
        let key = Tuned.private_key(of.server.key).unwrap();
        let anchors = Tuned.anchors(of.root).unwrap();
        // SAFETY: the objects outlive the keys that are borrowed from them.
        let keys = unsafe {
            let store = anchors.downcast_ref::<Store>().unwrap().0;
            let object = ffi::OPENSSL_sk_value(ffi::X509_STORE_get0_objects(store).cast(), 0);
            let root = ffi::X509_get0_pubkey(ffi::X509_OBJECT_get0_X509(object.cast()));
            [
                (key.downcast_ref::<PrivateKey>().unwrap().0, "key"),
                (root, "anchor"),
            ]
        };
        for (key, what) in keys {
            // SAFETY: the key is valid.
            unsafe { own::check_key(key, what) }.unwrap();
        }
    }

    #[test]
    fn each_thread_has_a_library_context_with_a_provider_of_its_own() {
        let found = || own::provider_of_this_thread().unwrap();
        let of_another = || std::thread::spawn(found).join().unwrap();
        let here = found();
        assert_eq!(found(), here);
        let (one, other) = (of_another(), of_another());
        assert!(here != one && here != other && one != other);
    }

    #[test]
    fn only_tuned_objects_have_the_settings() {
        assert!(settings().is_err(), "by default nothing is tuned");
        assert!(own::context().unwrap().is_null());
        let found = tuned(settings).unwrap();
        let expected = "SSL_MODE_RELEASE_BUFFERS; a library context for each thread; 17 algorithms";
        assert!(found.starts_with(expected), "{found}");
        assert!(!is_on());
    }
}
