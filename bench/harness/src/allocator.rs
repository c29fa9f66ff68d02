//! The `malloc` that this process uses, found at run time, and its counters.
//!
//! With the feature `jemalloc` all of the process is jemalloc's, the C library's callers too: it
//! is linked under the names `malloc`, `free` and so on, and Rust's allocator is the same.

use std::ffi::{CStr, c_void};

use anyhow::{Result, ensure};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static JEMALLOC: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The file that the `malloc` of this process is in.
fn file_of_malloc() -> Result<String> {
    // SAFETY: a struct of pointers and numbers, for which zero is a value.
    let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
    let malloc = libc::malloc as *const c_void;
    // SAFETY: it writes into `found`, and keeps nothing.
    let found_symbol = unsafe { libc::dladdr(malloc, &raw mut found) };
    ensure!(
        found_symbol != 0 && !found.dli_fname.is_null(),
        "malloc is in no file"
    );
    // SAFETY: dladdr succeeded, so it is a C string that lives as long as the file is loaded.
    let name = unsafe { CStr::from_ptr(found.dli_fname) }.to_string_lossy();
    let name = name.rsplit('/').next().unwrap_or_default();
    Ok(name.to_owned())
}

/// `system`, `jemalloc` with its version, or the name of the file that took malloc's place.
///
/// # Errors
/// The process does not show it.
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

/// Bytes in use by this process; with jemalloc, by this thread.
///
/// # Errors
/// The allocator keeps no count.
pub fn in_use() -> Result<u64> {
    match found()?.as_str() {
        "system" => {
            // SAFETY: it only reads the allocator's counters.
            let counted = unsafe { libc::mallinfo2() };
            Ok((counted.uordblks + counted.hblkhd) as u64)
        }
        _ => counted(),
    }
}

#[cfg(not(feature = "jemalloc"))]
fn linked() -> Result<String> {
    anyhow::bail!("an allocator that the harness does not know is linked into the program")
}

#[cfg(not(feature = "jemalloc"))]
fn counted() -> Result<u64> {
    anyhow::bail!("the allocator in use keeps no count that the harness knows")
}

#[cfg(feature = "jemalloc")]
fn linked() -> Result<String> {
    let before = counted()?;
    // SAFETY: what is allocated is freed after it was counted, and not used.
    let grown = unsafe {
        let memory = libc::malloc(1 << 20);
        // Otherwise the compiler would remove the allocation.
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
    // SAFETY: a static string of jemalloc's.
    let version = unsafe { CStr::from_ptr(version) }.to_str()?;
    let version = version.split('-').next().unwrap_or_default();
    Ok(format!("jemalloc {version}"))
}

#[cfg(feature = "jemalloc")]
fn counted() -> Result<u64> {
    let allocated: u64 = control(c"thread.allocated")?;
    let freed: u64 = control(c"thread.deallocated")?;
    // What another thread allocated may be freed by this one.
    Ok(allocated.wrapping_sub(freed))
}

/// Reads one of jemalloc's values (`mallctl` in its manual page).
#[cfg(feature = "jemalloc")]
fn control<T: Copy>(name: &CStr) -> Result<T> {
    let mut value = std::mem::MaybeUninit::<T>::uninit();
    let mut length = size_of::<T>();
    // SAFETY: `length` bytes may be written to `value`, and the name is a C string.
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
    // SAFETY: it was written in full.
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
