//! The transport as libraries take it that want the calls of a socket: a module of their adapters.

use std::{
    ffi::{c_int, c_void},
    slice,
};

use tls_harness::transport::Endpoint;

/// Fails as a call of the operating system does.
fn fail(reason: c_int) -> isize {
    // SAFETY: errno belongs to this thread.
    unsafe { *libc::__errno_location() = reason };
    -1
}

/// As recv(2) of a socket that does not block.
///
/// # Safety
/// `endpoint` is an `Endpoint` that lives, and `length` bytes can be written.
pub unsafe fn receive(endpoint: *mut c_void, buffer: *mut c_void, length: usize) -> isize {
    // SAFETY: by the caller's promise.
    let (endpoint, buffer) = unsafe {
        (
            &*endpoint.cast::<Endpoint>(),
            slice::from_raw_parts_mut(buffer.cast(), length),
        )
    };
    match endpoint.receive(buffer) {
        0 => fail(libc::EAGAIN),
        read => read as isize,
    }
}

/// As send(2).
///
/// # Safety
/// `endpoint` is an `Endpoint` that lives, and `length` bytes can be read.
pub unsafe fn send(endpoint: *mut c_void, data: *const c_void, length: usize) -> isize {
    // SAFETY: by the caller's promise.
    let (endpoint, data) = unsafe {
        (
            &*endpoint.cast::<Endpoint>(),
            slice::from_raw_parts(data.cast(), length),
        )
    };
    match endpoint.send(data) {
        true => length as isize,
        false => fail(libc::ENOSPC),
    }
}
