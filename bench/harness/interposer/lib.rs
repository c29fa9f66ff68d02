//! Counts calls of the allocator and of locks: functions that a process finds before those of glibc,
//! once `LD_PRELOAD` names this library. Each counts its call, if counting is on, and makes it.
//!
//! `build.rs` compiles it, and `src/interposed.rs` uses it. glibc calls what replaces its
//! allocator too
//! (<https://sourceware.org/glibc/manual/latest/html_node/Replacing-malloc.html>); its own locks are
//! no calls of functions, and are not counted. One thread of the process may count.
#![no_std]

use core::{
    cell::UnsafeCell,
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, Ordering::Relaxed},
};

type Pointer = *mut c_void;

unsafe extern "C" {
    // glibc's own allocator, whoever replaces malloc.
    fn __libc_malloc(size: usize) -> Pointer;
    fn __libc_calloc(number: usize, size: usize) -> Pointer;
    fn __libc_realloc(old: Pointer, size: usize) -> Pointer;
    fn __libc_memalign(alignment: usize, size: usize) -> Pointer;
    fn __libc_free(memory: Pointer);
    fn dlsym(handle: Pointer, name: *const c_char) -> Pointer;
    fn abort() -> !;
}

/// `RTLD_NEXT` of `dlfcn.h`.
const NEXT: Pointer = -1_isize as Pointer;
/// `ENOMEM` of `errno.h`.
const NO_MEMORY: c_int = 12;

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: it may be called at any time.
    unsafe { abort() }
}

/// As `Counts` of `src/interposed.rs` has them.
#[repr(C)]
struct Counts {
    allocations: u64,
    bytes: u64,
    frees: u64,
    mutex_locks: u64,
    read_locks: u64,
    write_locks: u64,
    /// The most bytes of one step that were allocated at once, summed over the steps.
    peaks: u64,
    /// Blocks that found no place in the table.
    lost: u64,
}

const SLOTS: usize = 1 << 19;

/// A block that was allocated in this step while counting was on.
#[derive(Clone, Copy)]
struct Block {
    address: usize,
    size: usize,
}

/// Address of a slot whose block was freed: a search goes past it.
const FREED: usize = 1;
const EMPTY: Block = Block {
    address: 0,
    size: 0,
};

struct State {
    counts: Counts,
    blocks: [Block; SLOTS],
    live: u64,
    peak: u64,
}

struct Shared(UnsafeCell<State>);

// SAFETY: one thread uses it, and only once steps have begun.
unsafe impl Sync for Shared {}

static STATE: Shared = Shared(UnsafeCell::new(State {
    counts: Counts {
        allocations: 0,
        bytes: 0,
        frees: 0,
        mutex_locks: 0,
        read_locks: 0,
        write_locks: 0,
        peaks: 0,
        lost: 0,
    },
    blocks: [EMPTY; SLOTS],
    live: 0,
    peak: 0,
}));

/// Whether calls are counted at the moment.
static ON: AtomicBool = AtomicBool::new(false);
/// Whether steps have begun: blocks that were allocated while counting was on may be freed while it
/// is off.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Turns counting on or off.
#[unsafe(no_mangle)]
extern "C" fn tls_calls_toggle() {
    ON.fetch_xor(true, Relaxed);
}

/// Begins a step: what the one before allocated is no longer followed.
#[unsafe(no_mangle)]
extern "C" fn tls_calls_step() {
    BEGUN.store(true, Relaxed);
    // SAFETY: the thread that counts calls it, outside of every other function here.
    let state = unsafe { &mut *STATE.0.get() };
    state.counts.peaks += state.peak;
    (state.live, state.peak) = (0, 0);
    state.blocks.fill(EMPTY);
}

#[unsafe(no_mangle)]
extern "C" fn tls_calls_counts() -> *const Counts {
    // SAFETY: the address alone is taken.
    unsafe { &raw const (*STATE.0.get()).counts }
}

/// Follows a block that is freed, once steps have begun.
fn freed(memory: Pointer) {
    if BEGUN.load(Relaxed) {
        // SAFETY: the thread that counts is here, and `free` of the state calls nothing here.
        unsafe { (*STATE.0.get()).free(memory) }
    }
}

/// Changes the state, if counting is on.
fn counted(change: impl FnOnce(&mut State)) {
    if ON.load(Relaxed) {
        // SAFETY: the thread that counts is here, and `change` calls no function that counts.
        change(unsafe { &mut *STATE.0.get() });
    }
}

impl State {
    /// The slot of an address, or the first one that is free for it.
    fn slot(&mut self, address: usize, is_new: bool) -> Option<&mut Block> {
        // Blocks lie at multiples of 16.
        let first = (address >> 4).wrapping_mul(0x9e37_79b9) % SLOTS;
        for step in 0..SLOTS {
            let index = (first + step) % SLOTS;
            let found = self.blocks[index].address;
            let wanted = match is_new {
                true => found <= FREED,
                false => found == address,
            };
            if wanted {
                return Some(&mut self.blocks[index]);
            }
            if found == EMPTY.address {
                break;
            }
        }
        None
    }

    fn allocate(&mut self, memory: Pointer, size: usize) {
        if memory.is_null() {
            return;
        }
        self.counts.allocations += 1;
        self.counts.bytes += size as u64;
        let address = memory as usize;
        match self.slot(address, true) {
            Some(slot) => *slot = Block { address, size },
            None => self.counts.lost += 1,
        }
        self.live += size as u64;
        self.peak = self.peak.max(self.live);
    }

    fn free(&mut self, memory: Pointer) {
        if memory.is_null() {
            return;
        }
        self.counts.frees += u64::from(ON.load(Relaxed));
        // What was there before the step is not counted in its peak.
        if let Some(slot) = self.slot(memory as usize, false) {
            let size = slot.size;
            *slot = Block {
                address: FREED,
                size: 0,
            };
            self.live -= size as u64;
        }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn malloc(size: usize) -> Pointer {
    // SAFETY: as the caller's call.
    let memory = unsafe { __libc_malloc(size) };
    counted(|it| it.allocate(memory, size));
    memory
}

#[unsafe(no_mangle)]
unsafe extern "C" fn calloc(number: usize, size: usize) -> Pointer {
    // SAFETY: as the caller's call.
    let memory = unsafe { __libc_calloc(number, size) };
    // Where it overflows, calloc has failed.
    counted(|it| it.allocate(memory, number.wrapping_mul(size)));
    memory
}

/// An allocation, and the end of the old block.
#[unsafe(no_mangle)]
unsafe extern "C" fn realloc(old: Pointer, size: usize) -> Pointer {
    // SAFETY: as the caller's call.
    let memory = unsafe { __libc_realloc(old, size) };
    // A call that fails leaves the old block; one of size 0 frees it.
    if !memory.is_null() || size == 0 {
        freed(old);
        counted(|it| it.allocate(memory, size));
    }
    memory
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memalign(alignment: usize, size: usize) -> Pointer {
    // SAFETY: as the caller's call.
    let memory = unsafe { __libc_memalign(alignment, size) };
    counted(|it| it.allocate(memory, size));
    memory
}

#[unsafe(no_mangle)]
unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> Pointer {
    // SAFETY: as the caller's call.
    unsafe { memalign(alignment, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn posix_memalign(to: *mut Pointer, alignment: usize, size: usize) -> c_int {
    // SAFETY: as the caller's call.
    let memory = unsafe { memalign(alignment, size) };
    if memory.is_null() {
        return NO_MEMORY;
    }
    // SAFETY: the caller gives the address of a pointer.
    unsafe { *to = memory };
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn free(memory: Pointer) {
    freed(memory);
    // SAFETY: as the caller's call.
    unsafe { __libc_free(memory) };
}

/// The function of this name in what was loaded behind this library.
fn next(kept: &AtomicPtr<c_void>, name: &CStr) -> Pointer {
    let known = kept.load(Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: the name is a C string.
    let found = unsafe { dlsym(NEXT, name.as_ptr()) };
    if found.is_null() {
        // SAFETY: it may be called at any time.
        unsafe { abort() }
    }
    kept.store(found, Relaxed);
    found
}

/// Functions that lock: each counts its call in a field.
macro_rules! locks {
    ($($name:ident($($argument:ident: $type:ty),+) => $field:ident,)+) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),+) -> c_int {
            static NEXT_OF_THE_NAME: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
            const NAME: &CStr =
                match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                    Ok(name) => name,
                    Err(_) => c"",
                };
            let function = next(&NEXT_OF_THE_NAME, NAME);
            counted(|it| it.counts.$field += 1);
            // SAFETY: the function of this name has this type, and the call is the caller's.
            unsafe {
                let function: unsafe extern "C" fn($($type),+) -> c_int =
                    core::mem::transmute(function);
                function($($argument),+)
            }
        })+
    };
}

locks! {
    pthread_mutex_lock(lock: Pointer) => mutex_locks,
    pthread_mutex_trylock(lock: Pointer) => mutex_locks,
    pthread_mutex_timedlock(lock: Pointer, until: *const c_void) => mutex_locks,
    pthread_mutex_clocklock(lock: Pointer, clock: c_int, until: *const c_void) => mutex_locks,
    pthread_rwlock_rdlock(lock: Pointer) => read_locks,
    pthread_rwlock_tryrdlock(lock: Pointer) => read_locks,
    pthread_rwlock_timedrdlock(lock: Pointer, until: *const c_void) => read_locks,
    pthread_rwlock_clockrdlock(lock: Pointer, clock: c_int, until: *const c_void) => read_locks,
    pthread_rwlock_wrlock(lock: Pointer) => write_locks,
    pthread_rwlock_trywrlock(lock: Pointer) => write_locks,
    pthread_rwlock_timedwrlock(lock: Pointer, until: *const c_void) => write_locks,
    pthread_rwlock_clockwrlock(lock: Pointer, clock: c_int, until: *const c_void) => write_locks,
}
