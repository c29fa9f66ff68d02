//! Detects the `malloc` that this process uses, and reads its counters.
//!
//! With the feature `jemalloc` the whole process uses jemalloc, callers in the C library included:
//! it is linked under the names `malloc`, `free` and so on, and Rust's global allocator calls it
//! too.

use std::ffi::{CStr, c_void};

use anyhow::{Result, ensure};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static JEMALLOC: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Path of the file that defines this process's `malloc`.
fn file_of_malloc() -> Result<String> {
    // SAFETY: Dl_info consists of pointers and numbers; all-zero bytes are a valid value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    let malloc = libc::malloc as *const c_void;
    // SAFETY: dladdr only writes into `found`.
    let found_symbol = unsafe { libc::dladdr(malloc, &raw mut found) };
    ensure!(
        found_symbol != 0 && !found.dli_fname.is_null(),
        "malloc is in no file"
    );
    // SAFETY: dladdr succeeded, so dli_fname is a C string, valid while the file is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy();
    let name = name.rsplit('/').next().unwrap_or_default();
    Ok(name.to_owned())
}

/// The allocator's name: `system`, `jemalloc` with its version, or the file name of another
/// allocator.
pub fn found() -> Result<String> {
    let file = file_of_malloc()?;
    if file.starts_with("libc.so") || file.starts_with("libc-") {
        return Ok("system".into());
    }
    let own = std::env::current_exe()?;
    let own = own.file_name().and_then(|name| name.to_str());
    match own == Some(file.as_str()) {
        true => linked(),
        false => Ok(file),
    }
}

/// Bytes that this process has allocated and not freed; with jemalloc, this thread only.
pub fn in_use() -> Result<u64> {
    match found()?.as_str() {
        "system" => {
            // SAFETY: mallinfo2 only reads the allocator's counters.
            let counted = unsafe { libc::mallinfo2() };
            Ok((counted.uordblks + counted.hblkhd) as u64)
        }
        _ => counted(),
    }
}

#[cfg(not(feature = "jemalloc"))]
fn linked() -> Result<String> {
    anyhow::bail!("the program links an allocator that the harness does not support")
}

#[cfg(not(feature = "jemalloc"))]
fn counted() -> Result<u64> {
    anyhow::bail!("the harness cannot read a byte count from the allocator in use")
}

#[cfg(feature = "jemalloc")]
fn linked() -> Result<String> {
    let before = counted()?;
    // SAFETY: the allocation is freed after counting and never used.
    let grown = unsafe {
        let memory = libc::malloc(1 << 20);
        // Without black_box the compiler would remove the allocation.
        std::hint::black_box(memory);
        let grown = counted()?.saturating_sub(before);
        libc::free(memory);
        grown
    };
    ensure!(
        grown >= 1 << 20,
        "jemalloc is linked, but malloc is not its own: it counts {grown} bytes of {}",
        1 << 20
    );
    let version: *const std::ffi::c_char = control(c"version")?;
    // SAFETY: jemalloc returns a static C string.
    let version = unsafe { CStr::from_ptr(version) }.to_str()?;
    let version = version.split('-').next().unwrap_or_default();
    Ok(format!("jemalloc {version}"))
}

#[cfg(feature = "jemalloc")]
fn counted() -> Result<u64> {
    let allocated: u64 = control(c"thread.allocated")?;
    let freed: u64 = control(c"thread.deallocated")?;
    // This thread may free what another thread allocated, so the difference can wrap.
    Ok(allocated.wrapping_sub(freed))
}

/// Reads a value of jemalloc by name, with mallctl (see jemalloc(3)).
#[cfg(feature = "jemalloc")]
fn control<T: Copy>(name: &CStr) -> Result<T> {
    let mut value = std::mem::MaybeUninit::<T>::uninit();
    let mut length = size_of::<T>();
    // SAFETY: `value` has room for `length` bytes, and the name is a C string.
    let error = unsafe {
        tikv_jemalloc_sys::mallctl(
            name.as_ptr(),
            value.as_mut_ptr().cast(),
            &raw mut length,
            std::ptr::null_mut(),
            0,
        )
    };
    ensure!(
        error == 0 && length == size_of::<T>(),
        "jemalloc reports no {name:?}: error {error}"
    );
    // SAFETY: mallctl succeeded and wrote all bytes of the value.
    Ok(unsafe { value.assume_init() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_allocator_is_the_one_that_was_built_in() {
        let found = found().unwrap();
        match cfg!(feature = "jemalloc") {
            true => assert!(found.starts_with("jemalloc 5."), "{found}"),
            false => assert_eq!(found, "system"),
        }
    }
}
