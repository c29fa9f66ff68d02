//! Functions in which BoringSSL and AWS-LC, a fork of it, differ from OpenSSL: a part of
//! `crate::ffi` in both adapters.

use std::{ffi::c_int, ptr, slice, sync::OnceLock};

use anyhow::Result;
use tls_harness::{
    scenario::{KeyExchange, Protocol, Resumption, Scenario},
    wire::ZLIB,
};
use zlib_rs::{
    DeflateConfig, Inflate, InflateFlush, ReturnCode, Status, compress_bound, compress_slice,
};

use crate::{ffi::*, ssl};

// SAFETY of all functions below: the caller passes valid objects of the library.

pub fn new_context() -> Result<*mut SSL_CTX> {
    // SAFETY: the method is static.
    let context = unsafe { SSL_CTX_new(TLS_method()) };
    ssl::check(!context.is_null(), "SSL_CTX_new")?;
    Ok(context)
}

/// Reads the next certificate of a PEM text; null at its end. In OpenSSL's version it can also
/// fail.
pub unsafe fn read_certificate(bio: *mut BIO) -> Result<*mut X509> {
    Ok(unsafe { PEM_read_bio_X509(bio, ptr::null_mut(), None, ptr::null_mut()) })
}

/// Reads the private key of a PEM text; null if it contains none. In OpenSSL's version it can also
/// fail.
pub unsafe fn read_private_key(bio: *mut BIO) -> Result<*mut EVP_PKEY> {
    Ok(unsafe { PEM_read_bio_PrivateKey(bio, ptr::null_mut(), None, ptr::null_mut()) })
}

/// The reason why neither library resumes a TLS 1.3 session by its id.
pub fn unsupported_session_id(scenario: &Scenario, name: &str) -> Option<String> {
    let by_id = (scenario.protocol, scenario.resumption)
        == (Some(Protocol::Tls13), Some(Resumption::SessionId));
    by_id.then(|| format!("{name} resumes TLS 1.3 sessions by self-contained tickets only"))
}

/// A list of groups. A client sends a key share for the first group, and a second one so that one
/// is post-quantum and one is not.
pub fn group_list(groups: &[KeyExchange], _: usize) -> String {
    let names: Vec<_> = groups.iter().copied().map(ssl::group_name).collect();
    names.join(":")
}

pub unsafe fn set_max_send_fragment(context: *mut SSL_CTX, size: u32) -> bool {
    unsafe { SSL_CTX_set_max_send_fragment(context, size as usize) == 1 }
}

/// The key that encrypts tickets: AES-256-CBC and HMAC-SHA256, as in OpenSSL and rustls.
struct TicketKey {
    name: [u8; 16],
    cipher: [u8; 32],
    mac: [u8; 32],
}

fn ticket_key() -> &'static TicketKey {
    static KEY: OnceLock<TicketKey> = OnceLock::new();
    KEY.get_or_init(|| {
        let mut key = TicketKey {
            name: [0; 16],
            cipher: [0; 32],
            mac: [0; 32],
        };
        for part in [&mut key.name[..], &mut key.cipher, &mut key.mac] {
            // SAFETY: the buffer has this length. RAND_bytes aborts on failure.
            unsafe { RAND_bytes(part.as_mut_ptr(), part.len()) };
        }
        key
    })
}

/// Seals a ticket (returns 1) or opens it (2: opened, issue a new one; 0: another key sealed it).
unsafe extern "C" fn ticket(
    _: *mut SSL,
    key_name: *mut u8,
    iv: *mut u8,
    cipher: *mut EVP_CIPHER_CTX,
    mac: *mut HMAC_CTX,
    seal: c_int,
) -> c_int {
    const IV: usize = 16;
    let key = ticket_key();
    let no_engine = ptr::null_mut();
    // SAFETY: the library passes room for a name of 16 bytes and an IV, and contexts to initialize.
    unsafe {
        let aes = EVP_aes_256_cbc();
        let ready = if seal == 1 {
            ptr::copy_nonoverlapping(key.name.as_ptr(), key_name, key.name.len());
            RAND_bytes(iv, IV) == 1
                && EVP_EncryptInit_ex(cipher, aes, no_engine, key.cipher.as_ptr(), iv) == 1
        } else {
            if std::slice::from_raw_parts(key_name, key.name.len()) != key.name {
                return 0;
            }
            EVP_DecryptInit_ex(cipher, aes, no_engine, key.cipher.as_ptr(), iv) == 1
        };
        let mac_key = key.mac.as_ptr().cast();
        if !ready || HMAC_Init_ex(mac, mac_key, key.mac.len(), EVP_sha256(), no_engine) != 1 {
            return -1;
        }
    }
    if seal == 1 { 1 } else { 2 }
}

/// Makes each resumption by ticket issue one new ticket, as rustls does; by default these libraries
/// issue none in TLS 1.2.
pub unsafe fn renew_tickets(context: *mut SSL_CTX) -> bool {
    unsafe { SSL_CTX_set_tlsext_ticket_key_cb(context, Some(ticket)) == 1 }
}

/// Compresses the certificates of a server, or accepts those that a server compressed. These
/// libraries bring no zlib, and keep nothing that they compressed: zlib-rs, which rustls uses too,
/// compresses in each handshake, at zlib's default level.
pub unsafe fn compress_certificates(context: *mut SSL_CTX, is_client: bool) -> bool {
    unsafe {
        match is_client {
            true => SSL_CTX_add_cert_compression_alg(context, ZLIB, None, Some(decompress)) == 1,
            false => SSL_CTX_add_cert_compression_alg(context, ZLIB, Some(compress), None) == 1,
        }
    }
}

unsafe extern "C" fn compress(
    _: *mut SSL,
    out: *mut CBB,
    input: *const u8,
    length: usize,
) -> c_int {
    let mut room = vec![0; compress_bound(length)];
    // SAFETY: the library passes a CBB, which copies the bytes, and `length` bytes to read.
    unsafe {
        let input = slice::from_raw_parts(input, length);
        let (made, code) = compress_slice(&mut room, input, DeflateConfig::default());
        let added = code == ReturnCode::Ok && CBB_add_bytes(out, made.as_ptr(), made.len()) == 1;
        c_int::from(added)
    }
}

/// The largest window of zlib, as a power of two.
const WINDOW: u8 = 15;

unsafe extern "C" fn decompress(
    _: *mut SSL,
    out: *mut *mut CRYPTO_BUFFER,
    length: usize,
    input: *const u8,
    input_length: usize,
) -> c_int {
    let mut data = ptr::null_mut();
    // SAFETY: the library passes `input_length` bytes to read, and takes ownership of a new buffer,
    // whose `length` bytes are initialized before they are borrowed.
    unsafe {
        let buffer = CRYPTO_BUFFER_alloc(&raw mut data, length);
        if buffer.is_null() {
            return 0;
        }
        ptr::write_bytes(data, 0, length);
        let room = slice::from_raw_parts_mut(data, length);
        let input = slice::from_raw_parts(input, input_length);
        let mut state = Inflate::new(true, WINDOW);
        let ended = state.decompress(input, room, InflateFlush::Finish) == Ok(Status::StreamEnd);
        let whole = (state.total_in(), state.total_out()) == (input_length as u64, length as u64);
        if !(ended && whole) {
            CRYPTO_BUFFER_free(buffer);
            return 0;
        }
        *out = buffer;
        1
    }
}

/// The library sends tickets with the next write, even if that is empty.
pub unsafe fn flush_tickets(ssl: *mut SSL) -> Result<()> {
    let result = unsafe { SSL_write(ssl, ptr::null(), 0) };
    ssl::check(result == 0, "SSL_write of nothing")
}

/// Each role enables early data. The libraries leave the protection against replays to the
/// application, and this adapter has none.
pub unsafe fn enable_early_data(context: *mut SSL_CTX, _: Resumption) -> bool {
    unsafe { SSL_CTX_set_early_data_enabled(context, 1) };
    true
}

/// Runs the handshake up to the early data, which the library reports as a complete handshake.
unsafe fn until_early_data(ssl: *mut SSL) -> Result<()> {
    unsafe {
        ssl::check(SSL_do_handshake(ssl) == 1, "SSL_do_handshake")?;
        ssl::check(SSL_in_early_data(ssl) == 1, "there is no early data")
    }
}

/// Sends a ClientHello and then `data`; returns the number of bytes of early data.
pub unsafe fn write_early_data(ssl: *mut SSL, data: &[u8]) -> Result<usize> {
    unsafe {
        until_early_data(ssl)?;
        let result = SSL_write(ssl, data.as_ptr().cast(), data.len().try_into()?);
        ssl::check(result > 0, "SSL_write")?;
        Ok(result as usize)
    }
}

/// Answers a ClientHello and reads early data; returns the number of bytes.
pub unsafe fn read_early_data(ssl: *mut SSL, buffer: &mut [u8]) -> Result<usize> {
    unsafe {
        until_early_data(ssl)?;
        let result = SSL_read(ssl, buffer.as_mut_ptr().cast(), buffer.len().try_into()?);
        ssl::check(result > 0, "SSL_read")?;
        Ok(result as usize)
    }
}

/// Reads the end of early data and then the rest of the handshake; returns 1, or another result if
/// they have not arrived. Until then `SSL_do_handshake` only reports that early data can be read.
pub unsafe fn end_early_data(ssl: *mut SSL) -> c_int {
    let mut more = [0_u8; 1];
    unsafe {
        let result = SSL_read(ssl, more.as_mut_ptr().cast(), 1);
        let waits = SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ;
        match waits && SSL_in_init(ssl) == 0 {
            true => 1,
            false => result.min(0),
        }
    }
}

pub unsafe fn is_early_data_accepted(ssl: *mut SSL) -> bool {
    unsafe { SSL_early_data_accepted(ssl) == 1 }
}

/// The group of the key exchange; `None` if a TLS 1.2 session was resumed.
pub unsafe fn negotiated_group(ssl: *mut SSL) -> Result<Option<KeyExchange>> {
    match unsafe { SSL_get_group_id(ssl) } {
        0 => Ok(None),
        number => KeyExchange::from_number(number).map(Some),
    }
}

/// The number of the scheme in which the peer signed; 0 if it did not sign.
pub unsafe fn peer_signature(ssl: *mut SSL) -> Result<Option<u16>> {
    Ok(Some(unsafe { SSL_get_peer_signature_algorithm(ssl) }))
}
