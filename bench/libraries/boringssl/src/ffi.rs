//! BoringSSL's side of what OpenSSL and BoringSSL do differently.

use std::ptr;

use anyhow::Result;
pub use boring_sys::*;
use tls_harness::scenario::{CipherSuite, KeyExchange};

pub use crate::bssl::*;
use crate::ssl;

// SAFETY of all that follows: the caller passes living objects of the library.

pub unsafe fn set_cipher_suite(context: *mut SSL_CTX, suite: CipherSuite) -> bool {
    unsafe {
        match ssl::cipher_list_name(suite) {
            Some(name) => SSL_CTX_set_strict_cipher_list(context, name.as_ptr()) == 1,
            None => {
                let number = suite.number();
                SSL_CTX_set1_tls13_ciphers(context, &number, ptr::null(), 1) == 1
            }
        }
    }
}

/// Sends key shares for these groups alone: BoringSSL would add a second one.
pub unsafe fn set_key_shares(ssl: *mut SSL, groups: &[KeyExchange]) -> bool {
    let numbers: Vec<u16> = groups.iter().map(|group| group.number()).collect();
    unsafe { SSL_set1_client_key_shares(ssl, numbers.as_ptr(), numbers.len()) == 1 }
}

/// The hash of all signatures that are measured.
pub fn sha256() -> Result<*const EVP_MD> {
    // SAFETY: it is static.
    Ok(unsafe { EVP_sha256() })
}
