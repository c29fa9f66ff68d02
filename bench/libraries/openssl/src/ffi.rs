//! OpenSSL's version of the functions in which OpenSSL and BoringSSL differ, and bindings that
//! openssl-sys lacks.

use std::{
    ffi::{CStr, c_char, c_int, c_long, c_uchar, c_void},
    ptr,
};

use anyhow::{Context, Result, bail, ensure};
pub use openssl_sys::{
    BIO_meth_set_ctrl__fixed_rust as BIO_meth_set_ctrl,
    BIO_meth_set_read__fixed_rust as BIO_meth_set_read,
    BIO_meth_set_write__fixed_rust as BIO_meth_set_write,
    SSL_CTX_set_tlsext_servername_callback__fixed_rust as SSL_CTX_set_tlsext_servername_callback,
    *,
};
#[cfg(openssl_3)]
use tls_harness::scenario::Certificate;
#[cfg(openssl_hybrid)]
use tls_harness::scenario::signature_scheme;
use tls_harness::{
    library::MOST_EARLY_DATA,
    scenario::{CipherSuite, KeyExchange, Resumption},
};

use crate::{ssl, tuned};

/// `BIO_TYPE_SOURCE_SINK` of bio.h.
pub const BIO_TYPE_SOURCE_SINK: c_int = 0x0400;

/// `SSL_CTRL_SET_MAX_SEND_FRAGMENT` of ssl.h.
const SSL_CTRL_SET_MAX_SEND_FRAGMENT: c_int = 52;

/// `SSL_TICKET_SUCCESS`, `SSL_TICKET_SUCCESS_RENEW` and `SSL_TICKET_RETURN_…` of ssl.h.
const SSL_TICKET_SUCCESS: c_int = 5;
const SSL_TICKET_SUCCESS_RENEW: c_int = 6;
const SSL_TICKET_RETURN_IGNORE_RENEW: c_int = 2;
const SSL_TICKET_RETURN_USE_RENEW: c_int = 4;

/// `SSL_OP_NO_ANTI_REPLAY` and `SSL_EARLY_DATA_ACCEPTED` of ssl.h.
const SSL_OP_NO_ANTI_REPLAY: u32 = 1 << 24;
const SSL_EARLY_DATA_ACCEPTED: c_int = 2;

#[cfg(openssl_3)]
unsafe extern "C" {
    fn SSL_CTX_new_ex(
        library: *mut OSSL_LIB_CTX,
        properties: *const c_char,
        method: *const SSL_METHOD,
    ) -> *mut SSL_CTX;
    pub fn X509_get0_pubkey(certificate: *const X509) -> *mut EVP_PKEY;
    pub fn EVP_PKEY_CTX_set_group_name(context: *mut EVP_PKEY_CTX, name: *const c_char) -> c_int;
    pub fn EVP_PKEY_get1_encoded_public_key(key: *mut EVP_PKEY, share: *mut *mut c_uchar) -> usize;
    pub fn EVP_PKEY_set1_encoded_public_key(
        key: *mut EVP_PKEY,
        share: *const c_uchar,
        length: usize,
    ) -> c_int;
    fn X509_new_ex(library: *mut OSSL_LIB_CTX, properties: *const c_char) -> *mut X509;
    fn PEM_read_bio_PrivateKey_ex(
        bio: *mut BIO,
        key: *mut *mut EVP_PKEY,
        password: pem_password_cb,
        argument: *mut c_void,
        library: *mut OSSL_LIB_CTX,
        properties: *const c_char,
    ) -> *mut EVP_PKEY;
}

type GenerateTicket = unsafe extern "C" fn(*mut SSL, *mut c_void) -> c_int;
type DecryptTicket = unsafe extern "C" fn(
    *mut SSL,
    *mut SSL_SESSION,
    *const c_uchar,
    usize,
    c_int,
    *mut c_void,
) -> c_int;

unsafe extern "C" {
    pub fn SSL_set1_host(ssl: *mut SSL, name: *const c_char) -> c_int;
    pub fn SSL_SESSION_get0_peer(session: *mut SSL_SESSION) -> *mut X509;
    fn SSL_get_early_data_status(ssl: *const SSL) -> c_int;
    fn SSL_CTX_set_session_ticket_cb(
        context: *mut SSL_CTX,
        generate: Option<GenerateTicket>,
        decrypt: Option<DecryptTicket>,
        argument: *mut c_void,
    ) -> c_int;
}

/// `crate::unsupported` excludes scenarios with compressed certificates.
pub unsafe fn compress_certificates(_: *mut SSL_CTX, _: bool) -> bool {
    false
}

/// Creates an `SSL_CTX`; it is tuned if this thread makes tuned objects.
pub fn new_context() -> Result<*mut SSL_CTX> {
    // SAFETY: the method is static, and the library context lives as long as the process.
    unsafe {
        #[cfg(openssl_3)]
        let context = SSL_CTX_new_ex(tuned::own::context()?, ptr::null(), TLS_method());
        #[cfg(not(openssl_3))]
        let context = SSL_CTX_new(TLS_method());
        ssl::check(!context.is_null(), "SSL_CTX_new")?;
        ssl::check(!tuned::is_on() || tuned::set(context), "SSL_CTX_set_mode")?;
        Ok(context)
    }
}

/// Reads the next certificate of a PEM text; null at the end of the text.
pub unsafe fn read_certificate(bio: *mut BIO) -> Result<*mut X509> {
    // SAFETY: the caller passes a valid BIO. A certificate that cannot be parsed is freed.
    unsafe {
        #[cfg(openssl_3)]
        if tuned::is_on() {
            let mut certificate = X509_new_ex(tuned::own::context()?, ptr::null());
            ssl::check(!certificate.is_null(), "X509_new_ex")?;
            let read = PEM_read_bio_X509(bio, &raw mut certificate, None, ptr::null_mut());
            if read.is_null() {
                X509_free(certificate);
                return Ok(read);
            }
            tuned::own::check_key(X509_get0_pubkey(read), "certificate")?;
            return Ok(read);
        }
        Ok(PEM_read_bio_X509(
            bio,
            ptr::null_mut(),
            None,
            ptr::null_mut(),
        ))
    }
}

/// Reads the private key of a PEM text; null if it contains none.
pub unsafe fn read_private_key(bio: *mut BIO) -> Result<*mut EVP_PKEY> {
    let (none, nothing) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the caller passes a valid BIO.
    unsafe {
        #[cfg(openssl_3)]
        let (context, properties) = (tuned::own::context()?, ptr::null());
        #[cfg(openssl_3)]
        let key = PEM_read_bio_PrivateKey_ex(bio, none, None, nothing, context, properties);
        #[cfg(openssl_3)]
        if tuned::is_on() && !key.is_null() {
            tuned::own::check_key(key, "private key")?;
        }
        #[cfg(not(openssl_3))]
        let key = PEM_read_bio_PrivateKey(bio, none, None, nothing);
        Ok(key)
    }
}

// SAFETY of all functions below: the caller passes valid objects of the library.

pub unsafe fn set_cipher_suite(context: *mut SSL_CTX, suite: CipherSuite) -> bool {
    unsafe {
        match ssl::cipher_list_name(suite) {
            Some(name) => SSL_CTX_set_cipher_list(context, name.as_ptr()) == 1,
            None => {
                let name = std::ffi::CString::new(suite.as_str());
                name.is_ok_and(|name| SSL_CTX_set_ciphersuites(context, name.as_ptr()) == 1)
            }
        }
    }
}

/// A list of groups. Since OpenSSL 3.5 a star before a group requests its key share; without a
/// star, the first group gets one.
pub fn group_list(groups: &[KeyExchange], key_shares: usize) -> String {
    let star = |i| {
        if key_shares > 1 && i < key_shares {
            "*"
        } else {
            ""
        }
    };
    let names = groups.iter().enumerate();
    let names = names.map(|(i, group)| format!("{}{}", star(i), ssl::group_name(*group)));
    names.collect::<Vec<_>>().join(":")
}

/// Nothing to do: the list of groups requests the key shares.
pub unsafe fn set_key_shares(_: *mut SSL, _: &[KeyExchange]) -> bool {
    true
}

pub unsafe fn set_max_send_fragment(context: *mut SSL_CTX, size: u32) -> bool {
    let size = c_long::from(size);
    unsafe {
        SSL_CTX_ctrl(
            context,
            SSL_CTRL_SET_MAX_SEND_FRAGMENT,
            size,
            ptr::null_mut(),
        ) == 1
    }
}

/// Accepts every ticket that could be decrypted, and issues a new one.
unsafe extern "C" fn renew(
    _: *mut SSL,
    _: *mut SSL_SESSION,
    _: *const c_uchar,
    _: usize,
    status: c_int,
    _: *mut c_void,
) -> c_int {
    match status {
        SSL_TICKET_SUCCESS | SSL_TICKET_SUCCESS_RENEW => SSL_TICKET_RETURN_USE_RENEW,
        _ => SSL_TICKET_RETURN_IGNORE_RENEW,
    }
}

/// Makes each resumption by ticket issue one new ticket, as rustls does; by default OpenSSL issues
/// a new one only in TLS 1.3.
pub unsafe fn renew_tickets(context: *mut SSL_CTX) -> bool {
    unsafe { SSL_CTX_set_session_ticket_cb(context, None, Some(renew), ptr::null_mut()) == 1 }
}

/// Nothing to do: the tickets were sent with the last flight.
pub unsafe fn flush_tickets(_: *mut SSL) -> Result<()> {
    Ok(())
}

/// A server accepts early data. With its protection against replays, which is on by default, OpenSSL
/// issues no self-contained tickets for early data: its cache returns each session once. Where a
/// scenario requires such tickets, the protection is off.
pub unsafe fn enable_early_data(context: *mut SSL_CTX, resumption: Resumption) -> bool {
    unsafe {
        if resumption == Resumption::Ticket {
            SSL_CTX_set_options(context, SSL_OP_NO_ANTI_REPLAY as _);
        }
        SSL_CTX_set_max_early_data(context, MOST_EARLY_DATA) == 1
    }
}

/// Sends a ClientHello and then `data`; returns the number of bytes of early data.
pub unsafe fn write_early_data(ssl: *mut SSL, data: &[u8]) -> Result<usize> {
    let mut written = 0;
    let (start, length) = (data.as_ptr().cast(), data.len());
    let result = unsafe { SSL_write_early_data(ssl, start, length, &raw mut written) };
    ssl::check(result == 1, "SSL_write_early_data")?;
    Ok(written)
}

/// Answers a ClientHello and reads early data; returns the number of bytes.
pub unsafe fn read_early_data(ssl: *mut SSL, buffer: &mut [u8]) -> Result<usize> {
    let mut read = 0;
    let (start, length) = (buffer.as_mut_ptr().cast(), buffer.len());
    let result = unsafe { SSL_read_early_data(ssl, start, length, &raw mut read) };
    ensure!(
        result != SSL_READ_EARLY_DATA_FINISH,
        "no early data was accepted"
    );
    ssl::check(result == SSL_READ_EARLY_DATA_SUCCESS, "SSL_read_early_data")?;
    Ok(read)
}

/// Reads the end of early data; returns 1, or another result if it has not arrived.
pub unsafe fn end_early_data(ssl: *mut SSL) -> c_int {
    let (mut more, mut read) = ([0_u8; 1], 0);
    let buffer = more.as_mut_ptr().cast();
    match unsafe { SSL_read_early_data(ssl, buffer, more.len(), &raw mut read) } {
        SSL_READ_EARLY_DATA_FINISH => 1,
        _ => 0,
    }
}

pub unsafe fn is_early_data_accepted(ssl: *mut SSL) -> bool {
    unsafe { SSL_get_early_data_status(ssl) == SSL_EARLY_DATA_ACCEPTED }
}

/// The number of the scheme in which the peer signed.
#[cfg(openssl_hybrid)]
pub unsafe fn peer_signature(ssl: *mut SSL) -> Result<Option<u16>> {
    /// `SSL_CTRL_GET_PEER_SIGNATURE_NAME` of ssl.h.
    const SSL_CTRL_GET_PEER_SIGNATURE_NAME: c_int = 141;
    let mut name: *const c_char = ptr::null();
    let out = (&raw mut name).cast();
    unsafe {
        let result = SSL_ctrl(ssl, SSL_CTRL_GET_PEER_SIGNATURE_NAME, 0, out);
        ssl::check(result == 1, "SSL_get0_peer_signature_name")?;
        signature_scheme(text(name)?).map(Some)
    }
}

/// Before OpenSSL 3.5 no function names the scheme.
#[cfg(not(openssl_hybrid))]
pub unsafe fn peer_signature(_: *mut SSL) -> Result<Option<u16>> {
    Ok(None)
}

/// The group of the key exchange; `None` if a TLS 1.2 session was resumed. For a tuned connection
/// this also checks its settings.
pub unsafe fn negotiated_group(ssl: *mut SSL) -> Result<Option<KeyExchange>> {
    unsafe {
        #[cfg(openssl_3)]
        tuned::check_connection(ssl)?;
        group(ssl)
    }
}

#[cfg(openssl_group_name)]
unsafe fn group(ssl: *mut SSL) -> Result<Option<KeyExchange>> {
    let name = unsafe {
        match SSL_get0_group_name(ssl) {
            name if name.is_null() => return Ok(None),
            name => text(name)?,
        }
    };
    Ok(Some(match name {
        "x25519" => KeyExchange::X25519,
        "secp256r1" | "prime256v1" => KeyExchange::Secp256r1,
        "secp384r1" => KeyExchange::Secp384r1,
        "X25519MLKEM768" => KeyExchange::X25519MlKem768,
        "SecP256r1MLKEM768" => KeyExchange::Secp256r1MlKem768,
        "MLKEM768" => KeyExchange::MlKem768,
        other => bail!("group \"{other}\" is not in the vocabulary"),
    }))
}

/// Before OpenSSL 3.2 no function names the group, so it is derived from the peer's key share.
#[cfg(not(openssl_group_name))]
unsafe fn group(ssl: *mut SSL) -> Result<Option<KeyExchange>> {
    /// `SSL_CTRL_GET_PEER_TMP_KEY` of ssl.h.
    const SSL_CTRL_GET_PEER_TMP_KEY: c_int = 109;
    let mut key: *mut EVP_PKEY = ptr::null_mut();
    let out = (&raw mut key).cast();
    let (kind, bits) = unsafe {
        if SSL_ctrl(ssl, SSL_CTRL_GET_PEER_TMP_KEY, 0, out) != 1 || key.is_null() {
            return Ok(None);
        }
        let found = (EVP_PKEY_id(key), EVP_PKEY_bits(key));
        EVP_PKEY_free(key);
        found
    };
    Ok(Some(match (kind, bits) {
        (NID_X25519, _) => KeyExchange::X25519,
        (EVP_PKEY_EC, 256) => KeyExchange::Secp256r1,
        (EVP_PKEY_EC, 384) => KeyExchange::Secp384r1,
        other => bail!(
            "key share of type {}, {} bits, is not in the vocabulary",
            other.0,
            other.1
        ),
    }))
}

/// A static C string of the library.
///
/// # Safety
/// `text` is null or a C string that lives as long as the program.
pub unsafe fn text(text: *const c_char) -> Result<&'static str> {
    ensure!(!text.is_null(), "the library gives no text");
    // SAFETY: the caller guarantees it.
    unsafe { CStr::from_ptr(text) }
        .to_str()
        .context("the library's text is not UTF-8")
}

/// The hash of measured signatures. It is fetched once and never freed, because each use of
/// `EVP_sha256` would fetch it implicitly. A process makes only a few.
#[cfg(openssl_3)]
pub fn hash(certificate: Certificate) -> Result<*const EVP_MD> {
    let name = match certificate {
        Certificate::EcdsaP384 => c"SHA384",
        _ => c"SHA256",
    };
    // SAFETY: the name is a C string.
    let hash = unsafe { EVP_MD_fetch(ptr::null_mut(), name.as_ptr(), ptr::null()) };
    ssl::check(!hash.is_null(), "EVP_MD_fetch")?;
    Ok(hash)
}
