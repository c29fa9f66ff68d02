//! Calls of the allocator and of locks, counted by functions that replace those of glibc
//! (`interposer/lib.rs`).

use std::{
    env,
    ffi::CStr,
    fs,
    mem::transmute,
    path::PathBuf,
    process::{self, Command},
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// `libtls_calls.so`; empty where it is not for this system.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/libtls_calls.so"));

/// What was counted between the marks.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    pub allocations: u64,
    /// That were allocated, in all.
    pub bytes: u64,
    pub frees: u64,
    pub mutex_locks: u64,
    pub read_locks: u64,
    pub write_locks: u64,
    /// The most bytes of one step that were allocated at once, summed over the steps.
    pub peaks: u64,
    lost: u64,
}

/// The functions of the library.
struct Functions {
    toggle: extern "C" fn(),
    step: extern "C" fn(),
    counts: extern "C" fn() -> *const Counts,
}

static FUNCTIONS: OnceLock<Functions> = OnceLock::new();

fn functions() -> Result<Functions> {
    let find = |name: &CStr| {
        // SAFETY: the name is a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        ensure!(
            !found.is_null(),
            "{name:?} is not there: calls are counted in a process of `count` alone"
        );
        Ok(found)
    };
    // SAFETY: the library has functions of these types under these names.
    unsafe {
        Ok(Functions {
            toggle: transmute::<*mut libc::c_void, extern "C" fn()>(find(c"tls_calls_toggle")?),
            step: transmute::<*mut libc::c_void, extern "C" fn()>(find(c"tls_calls_step")?),
            counts: transmute::<*mut libc::c_void, extern "C" fn() -> *const Counts>(find(
                c"tls_calls_counts",
            )?),
        })
    }
}

/// Finds the library in this process.
pub fn start() -> Result<()> {
    let found = functions()?;
    FUNCTIONS.get_or_init(|| found);
    Ok(())
}

/// Turns the count on or off, once it was started.
pub fn toggle() {
    if let Some(it) = FUNCTIONS.get() {
        (it.toggle)();
    }
}

/// Begins a step: the most that is allocated at once is that of a step.
pub fn step() {
    if let Some(it) = FUNCTIONS.get() {
        (it.step)();
    }
}

/// What was counted; call it after the last step.
pub fn counts() -> Result<Counts> {
    let it = FUNCTIONS.get().context("calls are not counted")?;
    (it.step)(); // The last one ends.
    // SAFETY: the library's own counts, which no other thread changes.
    let counts = unsafe { *(it.counts)() };
    ensure!(
        counts.lost == 0,
        "{} blocks in use at once were too many to be followed",
        counts.lost
    );
    Ok(counts)
}

/// The library in a file of its own, which is removed when nobody needs it.
pub struct Library(PathBuf);

impl Library {
    pub fn write() -> Result<Self> {
        ensure!(
            !LIBRARY.is_empty(),
            "calls are counted with glibc on Linux alone"
        );
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("tls-calls-{}-{number}.so", process::id());
        let file = env::temp_dir().join(name);
        fs::write(&file, LIBRARY).with_context(|| file.display().to_string())?;
        Ok(Self(file))
    }

    /// Has the calls of a program counted.
    pub fn preload(&self, command: &mut Command) {
        command.env("LD_PRELOAD", &self.0);
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = fs::remove_file(&self.0);
    }
}
