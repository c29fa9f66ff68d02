//! The `WOLFSSL_CTX` of a role, which pins the parameters of a scenario.

use std::{
    cell::Cell,
    ffi::{CStr, CString, c_int},
};

use anyhow::Result;
use tls_harness::{
    library::Setup,
    scenario::{Authentication, CipherSuite, Protocol, Resumption},
};

use crate::{
    NONE, check,
    connection::{receive, send},
    ffi, is_there,
};

pub struct Context {
    pub context: *mut ffi::WOLFSSL_CTX,
    pub host_name: CString,
    /// Numbers of the groups whose key shares a client sends.
    pub key_shares: Vec<u16>,
    pub protocol: Protocol,
    pub uses_tickets: bool,
    /// The session that a client's next connection resumes.
    pub session: Cell<Option<Session>>,
}

/// A reference to a session.
pub struct Session(pub *mut ffi::WOLFSSL_SESSION);

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: `self` owns the reference.
        unsafe { ffi::wolfSSL_SESSION_free(self.0) };
    }
}

/// The `WOLFSSL_CTX` of a server, which several threads share.
pub struct ServerContext(pub Context);

// SAFETY: wolfSSL allows connections of one WOLFSSL_CTX in several threads, once it is configured. A
// server keeps no session.
unsafe impl Sync for ServerContext {}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: `self` owns the WOLFSSL_CTX, and every connection holds its own reference.
        unsafe { ffi::wolfSSL_CTX_free(self.context) }
    }
}

fn cipher_name(suite: CipherSuite) -> &'static CStr {
    match suite {
        CipherSuite::Aes128Gcm => c"TLS13-AES128-GCM-SHA256",
        CipherSuite::Aes256Gcm => c"TLS13-AES256-GCM-SHA384",
        CipherSuite::ChaCha20Poly1305 => c"TLS13-CHACHA20-POLY1305-SHA256",
        CipherSuite::EcdheRsaAes128Gcm => c"ECDHE-RSA-AES128-GCM-SHA256",
        CipherSuite::EcdheRsaAes256Gcm => c"ECDHE-RSA-AES256-GCM-SHA384",
        CipherSuite::EcdheRsaChaCha20Poly1305 => c"ECDHE-RSA-CHACHA20-POLY1305",
        CipherSuite::EcdheEcdsaAes128Gcm => c"ECDHE-ECDSA-AES128-GCM-SHA256",
        CipherSuite::EcdheEcdsaAes256Gcm => c"ECDHE-ECDSA-AES256-GCM-SHA384",
        CipherSuite::EcdheEcdsaChaCha20Poly1305 => c"ECDHE-ECDSA-CHACHA20-POLY1305",
    }
}

impl Context {
    fn new(setup: &Setup, method: *mut ffi::WOLFSSL_METHOD) -> Result<Self> {
        // SAFETY: the new WOLFSSL_CTX takes ownership of the method, and the returned value owns
        // it.
        let context = unsafe { ffi::wolfSSL_CTX_new(method) };
        let this = Self {
            context: is_there(context, "wolfSSL_CTX_new")?,
            host_name: CString::new(setup.host_name)?,
            key_shares: Vec::new(),
            protocol: setup.protocol,
            uses_tickets: setup.resumption == Resumption::Ticket,
            session: Cell::new(None),
        };
        let mut groups: Vec<c_int> = setup.groups.iter().map(|it| it.number().into()).collect();
        let count = groups.len().try_into()?;
        let pem = ffi::WOLFSSL_FILETYPE_PEM.cast_signed();
        // SAFETY: the WOLFSSL_CTX is valid, and arguments are copied before each call returns.
        unsafe {
            let name = cipher_name(setup.cipher_suite);
            let set = ffi::wolfSSL_CTX_set_cipher_list(context, name.as_ptr());
            check(set, "wolfSSL_CTX_set_cipher_list")?;
            let set = ffi::wolfSSL_CTX_set_groups(context, groups.as_mut_ptr(), count);
            check(set, "wolfSSL_CTX_set_groups")?;
            let trusted = setup.trusted;
            let length = trusted.len().try_into()?;
            if !trusted.is_empty() {
                let loaded =
                    ffi::wolfSSL_CTX_load_verify_buffer(context, trusted.as_ptr(), length, pem);
                check(loaded, "wolfSSL_CTX_load_verify_buffer")?;
            }
            if let Some(identity) = &setup.identity {
                let (chain, key) = (identity.chain, identity.key);
                let length = chain.len().try_into()?;
                let used =
                    ffi::wolfSSL_CTX_use_certificate_chain_buffer(context, chain.as_ptr(), length);
                check(used, "wolfSSL_CTX_use_certificate_chain_buffer")?;
                let length = key.len().try_into()?;
                let used =
                    ffi::wolfSSL_CTX_use_PrivateKey_buffer(context, key.as_ptr(), length, pem);
                check(used, "wolfSSL_CTX_use_PrivateKey_buffer")?;
            }
            // Must follow the cipher suite, which sets signature algorithms too.
            let [first, second] = setup.certificate.signature_scheme().to_be_bytes();
            ffi::tls_wolfssl_pin_scheme(context, first, second);
            if !this.uses_tickets {
                ffi::wolfSSL_CTX_NoTicketTLSv12(context);
                ffi::wolfSSL_CTX_no_ticket_TLSv13(context);
            }
            let off = ffi::WOLFSSL_SESS_CACHE_OFF.into();
            ffi::wolfSSL_CTX_set_session_cache_mode(context, off);
            ffi::wolfSSL_CTX_SetIORecv(context, Some(receive));
            ffi::wolfSSL_CTX_SetIOSend(context, Some(send));
        }
        Ok(this)
    }

    pub fn client(setup: &Setup) -> Result<Self> {
        // SAFETY: each call makes a method, and the context takes ownership of it.
        let method = unsafe {
            match setup.protocol {
                Protocol::Tls12 => ffi::wolfTLSv1_2_client_method(),
                Protocol::Tls13 => ffi::wolfTLSv1_3_client_method(),
            }
        };
        let mut this = Self::new(setup, method)?;
        // SAFETY: the WOLFSSL_CTX is valid.
        unsafe {
            let verify = ffi::WOLFSSL_VERIFY_PEER.cast_signed();
            ffi::wolfSSL_CTX_set_verify(this.context, verify, NONE);
        }
        if setup.protocol == Protocol::Tls13 {
            let shares = setup.groups[..setup.key_shares].iter();
            this.key_shares = shares.map(|group| group.number()).collect();
        }
        Ok(this)
    }

    pub fn server(setup: &Setup) -> Result<ServerContext> {
        // SAFETY: each call makes a method, and the context takes ownership of it.
        let method = unsafe {
            match setup.protocol {
                Protocol::Tls12 => ffi::wolfTLSv1_2_server_method(),
                Protocol::Tls13 => ffi::wolfTLSv1_3_server_method(),
            }
        };
        let this = Self::new(setup, method)?;
        let verify = match setup.authentication {
            Authentication::Server => ffi::WOLFSSL_VERIFY_NONE,
            Authentication::Mutual => {
                ffi::WOLFSSL_VERIFY_PEER | ffi::WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT
            }
        };
        // SAFETY: the WOLFSSL_CTX is valid.
        unsafe { ffi::wolfSSL_CTX_set_verify(this.context, verify.cast_signed(), NONE) };
        Ok(ServerContext(this))
    }
}
