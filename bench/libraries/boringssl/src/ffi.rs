//! BoringSSL's version of the functions in which OpenSSL and BoringSSL differ.

use std::ptr;

#[cfg(not(boringssl_groups))]
pub use boring_sys::SSL_get_curve_id as SSL_get_group_id;
pub use boring_sys::*;
use tls_harness::scenario::{CipherSuite, KeyExchange};

pub use crate::bssl::*;
#[cfg(boringssl_groups)]
pub use crate::bssl_primitives::hash;
use crate::ssl;

// SAFETY of all functions below: the caller passes valid objects of the library.

pub unsafe fn set_cipher_suite(context: *mut SSL_CTX, suite: CipherSuite) -> bool {
    unsafe {
        match ssl::cipher_list_name(suite) {
            Some(name) => SSL_CTX_set_strict_cipher_list(context, name.as_ptr()) == 1,
            None => set_tls13_cipher_suite(context, suite),
        }
    }
}

#[cfg(boringssl_tls13_ciphers)]
unsafe fn set_tls13_cipher_suite(context: *mut SSL_CTX, suite: CipherSuite) -> bool {
    let number = suite.number();
    unsafe { SSL_CTX_set1_tls13_ciphers(context, &number, ptr::null(), 1) == 1 }
}

/// Old versions pin a TLS 1.3 cipher suite only through a compliance policy. It also sets groups
/// and signature algorithms, so the caller sets these afterwards.
#[cfg(not(boringssl_tls13_ciphers))]
unsafe fn set_tls13_cipher_suite(context: *mut SSL_CTX, suite: CipherSuite) -> bool {
    let policy = ssl_compliance_policy_t::ssl_compliance_policy_wpa3_192_202304;
    suite == CipherSuite::Aes256Gcm
        && unsafe { SSL_CTX_set_compliance_policy(context, policy) == 1 }
}

/// This version sends one key share only.
#[cfg(not(boringssl_groups))]
pub unsafe fn set_key_shares(_: *mut SSL, _: &[KeyExchange]) -> bool {
    true
}

/// Sends key shares for these groups only: by default BoringSSL adds a second one.
#[cfg(boringssl_groups)]
pub unsafe fn set_key_shares(ssl: *mut SSL, groups: &[KeyExchange]) -> bool {
    let numbers: Vec<u16> = groups.iter().map(|group| group.number()).collect();
    unsafe { SSL_set1_client_key_shares(ssl, numbers.as_ptr(), numbers.len()) == 1 }
}
