//! The transport for libraries that expect the calls of a socket: a module of their adapters.

use std::{
    ffi::{c_int, c_void},
    slice,
};

use tls_harness::transport::Endpoint;

/// Fails like a system call: sets errno and returns -1.
fn fail(reason: c_int) -> isize {
    // SAFETY: errno belongs to this thread.
    unsafe { *libc::__errno_location() = reason };
    -1
}

/// Behaves like recv(2) on a non-blocking socket.
///
/// # Safety
///
/// `endpoint` points to a valid `Endpoint`, and `length` bytes can be written.
pub unsafe fn receive(endpoint: *mut c_void, buffer: *mut c_void, length: usize) -> isize {
    // SAFETY: the caller guarantees it.
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

/// Behaves like send(2).
///
/// # Safety
///
/// `endpoint` points to a valid `Endpoint`, and `length` bytes can be read.
pub unsafe fn send(endpoint: *mut c_void, data: *const c_void, length: usize) -> isize {
    // SAFETY: the caller guarantees it.
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
