//! The transport as an OpenSSL BIO.

use std::{
    ffi::{c_char, c_int, c_long, c_void},
    sync::OnceLock,
};

use anyhow::Result;
use tls_harness::transport::Endpoint;

use super::check;
use crate::ffi;

/// The static method of all BIOs here: they pass bytes to and from an `Endpoint`.
pub fn bio_method() -> Result<*mut ffi::BIO_METHOD> {
    struct Method(*mut ffi::BIO_METHOD);
    // SAFETY: the method never changes after its creation.
    unsafe impl Send for Method {}
    // SAFETY: the method never changes after its creation.
    unsafe impl Sync for Method {}
    static METHOD: OnceLock<Method> = OnceLock::new();
    let method = METHOD.get_or_init(|| {
        // SAFETY: the functions have the required types and are static.
        unsafe {
            let method =
                ffi::BIO_meth_new(ffi::BIO_TYPE_SOURCE_SINK, c"tls-harness endpoint".as_ptr());
            if !method.is_null() {
                ffi::BIO_meth_set_write(method, Some(bio_write));
                ffi::BIO_meth_set_read(method, Some(bio_read));
                ffi::BIO_meth_set_ctrl(method, Some(bio_ctrl));
            }
            Method(method)
        }
    });
    check(!method.0.is_null(), "BIO_meth_new")?;
    Ok(method.0)
}

/// # Safety
///
/// `SslConnection::new` made this BIO.
unsafe fn bio_endpoint<'a>(bio: *mut ffi::BIO) -> &'a Endpoint {
    // SAFETY: its data is the address of an endpoint that outlives the connection.
    unsafe { &*ffi::BIO_get_data(bio).cast::<Endpoint>() }
}

unsafe extern "C" fn bio_write(bio: *mut ffi::BIO, data: *const c_char, length: c_int) -> c_int {
    // SAFETY: the library passes a BIO of this method and `length` readable bytes.
    let (endpoint, data) = unsafe {
        let data = std::slice::from_raw_parts(data.cast::<u8>(), length as usize);
        (bio_endpoint(bio), data)
    };
    if endpoint.send(data) { length } else { -1 }
}

unsafe extern "C" fn bio_read(bio: *mut ffi::BIO, buffer: *mut c_char, length: c_int) -> c_int {
    // SAFETY: the library passes a BIO of this method and `length` writable bytes.
    let (endpoint, buffer) = unsafe {
        let buffer = std::slice::from_raw_parts_mut(buffer.cast::<u8>(), length as usize);
        (bio_endpoint(bio), buffer)
    };
    let read = endpoint.receive(buffer);
    // SAFETY: the BIO is valid.
    unsafe {
        ffi::BIO_clear_flags(bio, ffi::BIO_FLAGS_READ | ffi::BIO_FLAGS_SHOULD_RETRY);
        if read == 0 {
            ffi::BIO_set_flags(bio, ffi::BIO_FLAGS_READ | ffi::BIO_FLAGS_SHOULD_RETRY);
            return -1;
        }
    }
    read as c_int
}

unsafe extern "C" fn bio_ctrl(
    _: *mut ffi::BIO,
    command: c_int,
    _: c_long,
    _: *mut c_void,
) -> c_long {
    c_long::from(command == ffi::BIO_CTRL_FLUSH)
}
