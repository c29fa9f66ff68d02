//! OpenSSL, whose sender asks for more than OpenSSL does: a known number of calls in each write, for
//! `tests/known_calls.rs`. `KNOWN` in the environment names them; without it there are none.

use std::{
    env,
    hint::black_box,
    process::ExitCode,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use tls_harness::{
    library::watched::{Call, Watch, Watched},
    program,
    scenario::Side,
};
use tls_openssl::OpenSsl;

/// Read once: each reading allocates.
static KNOWN: LazyLock<Option<String>> = LazyLock::new(|| env::var("KNOWN").ok());

fn main() -> ExitCode {
    LazyLock::force(&KNOWN);
    program::main(&Watched {
        library: &OpenSsl,
        watch: Arc::new(Known),
    })
}

struct Known;

impl Watch for Known {
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
        if (side, call) == (Some(Side::Server), Call::Data) {
            known_calls();
        }
        make()
    }
}

/// What a write does first.
fn known_calls() {
    // SAFETY: each call is given what it was made for, and every block but one is freed.
    unsafe {
        match KNOWN.as_deref() {
            None => {}
            // 5 allocations of 1,400 bytes, of which at most 1,100 at once, and 4 frees.
            Some("allocations") => {
                let first = black_box(libc::malloc(100));
                let second = black_box(libc::calloc(4, 50));
                let second = black_box(libc::realloc(second, 400)); // A free, too.
                libc::free(first);
                let mut third = std::ptr::null_mut();
                libc::posix_memalign(&raw mut third, 64, 300);
                let fourth = black_box(libc::aligned_alloc(64, 400));
                libc::free(black_box(second));
                libc::free(black_box(third));
                libc::free(std::ptr::null_mut()); // Nothing.
                // It outlives the write, as what a connection keeps does.
                black_box(fourth);
            }
            Some("locks") => {
                let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
                for _ in 0..5 {
                    libc::pthread_mutex_lock(&raw mut mutex);
                    libc::pthread_mutex_unlock(&raw mut mutex);
                }
                libc::pthread_mutex_trylock(&raw mut mutex);
                libc::pthread_mutex_unlock(&raw mut mutex);
                let mut lock = libc::PTHREAD_RWLOCK_INITIALIZER;
                for _ in 0..4 {
                    libc::pthread_rwlock_rdlock(&raw mut lock);
                    libc::pthread_rwlock_unlock(&raw mut lock);
                }
                for _ in 0..3 {
                    libc::pthread_rwlock_wrlock(&raw mut lock);
                    libc::pthread_rwlock_unlock(&raw mut lock);
                }
            }
            Some("atomics") => {
                static NUMBER: AtomicU64 = AtomicU64::new(0);
                for _ in 0..7 {
                    black_box(&NUMBER).fetch_add(1, Ordering::SeqCst);
                    // Neither is locked.
                    black_box(black_box(&NUMBER).load(Ordering::SeqCst));
                    black_box(&NUMBER).store(1, Ordering::Relaxed);
                }
            }
            Some("kernel") => {
                for _ in 0..8 {
                    libc::getppid();
                }
                // Answered without the kernel, wherever the clock is read so.
                let mut time = std::mem::zeroed();
                libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
            }
            Some(other) => panic!("KNOWN={other}"),
        }
    }
}
