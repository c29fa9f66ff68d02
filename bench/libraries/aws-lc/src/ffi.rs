//! AWS-LC's version of the functions in which OpenSSL, BoringSSL and AWS-LC differ.

use std::ffi::CString;

pub use aws_lc_sys::*;
use tls_harness::scenario::{CipherSuite, KeyExchange};

use crate::ssl;
pub use crate::{bssl::*, bssl_primitives::hash};

// SAFETY of all functions below: the caller passes valid objects of the library.

pub unsafe fn set_cipher_suite(context: *mut SSL_CTX, suite: CipherSuite) -> bool {
    unsafe {
        match ssl::cipher_list_name(suite) {
            Some(name) => SSL_CTX_set_strict_cipher_list(context, name.as_ptr()) == 1,
            None => CString::new(suite.as_str())
                .is_ok_and(|name| SSL_CTX_set_ciphersuites(context, name.as_ptr()) == 1),
        }
    }
}

/// AWS-LC chooses the key shares itself; `crate::unsupported` excludes other scenarios.
pub unsafe fn set_key_shares(_: *mut SSL, _: &[KeyExchange]) -> bool {
    true
}
