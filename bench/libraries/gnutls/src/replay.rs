//! The store of ClientHellos that GnuTLS requires of a server with early data: without one, it rejects
//! all early data. GnuTLS leaves the store to the application.

use std::{
    collections::HashSet,
    ffi::{c_int, c_void},
    ptr,
    sync::{Mutex, PoisonError},
};

use anyhow::Result;

use crate::{check, ffi::*};

/// The ClientHellos of recent connections, by a key that GnuTLS makes of each.
struct Seen {
    keys: Mutex<HashSet<Vec<u8>>>,
    most: usize,
}

/// Adds the key of a ClientHello, unless it is there.
unsafe extern "C" fn add(
    seen: *mut c_void,
    _: time_t,
    key: *const gnutls_datum_t,
    _: *const gnutls_datum_t,
) -> c_int {
    // SAFETY: `AntiReplay::new` stored the address of a store that outlives the sessions, and GnuTLS
    // passes a valid key.
    let (seen, key) = unsafe {
        let key = &*key;
        let bytes = std::slice::from_raw_parts(key.data, key.size as usize);
        (&*seen.cast::<Seen>(), bytes)
    };
    let mut keys = seen.keys.lock().unwrap_or_else(PoisonError::into_inner);
    // As many as the session caches of other libraries hold. A store of an application would drop
    // each key when GnuTLS' window of ten seconds is over.
    if keys.len() >= seen.most {
        keys.clear();
    }
    match keys.insert(key.to_vec()) {
        true => 0,
        false => GNUTLS_E_DB_ENTRY_EXISTS,
    }
}

/// The protection of a server against replays.
pub struct AntiReplay {
    inner: gnutls_anti_replay_t,
    /// Boxed, since GnuTLS keeps its address.
    _seen: Box<Seen>,
}

impl Drop for AntiReplay {
    fn drop(&mut self) {
        // SAFETY: `self` owns it, and outlives all sessions with it.
        unsafe { gnutls_anti_replay_deinit(self.inner) };
    }
}

impl AntiReplay {
    /// `most`: the largest number of ClientHellos in the store.
    pub fn new(most: usize) -> Result<Self> {
        let seen = Box::new(Seen {
            keys: Mutex::default(),
            most,
        });
        let mut inner = ptr::null_mut();
        // SAFETY: the returned value owns both objects.
        unsafe {
            check(
                gnutls_anti_replay_init(&raw mut inner),
                "gnutls_anti_replay_init",
            )?;
            gnutls_anti_replay_set_add_function(inner, Some(add));
            gnutls_anti_replay_set_ptr(inner, ptr::from_ref(&*seen).cast_mut().cast());
        }
        Ok(Self { inner, _seen: seen })
    }

    /// Enables early data on a server's session.
    ///
    /// # Safety
    ///
    /// The session is valid, and `self` outlives it.
    pub unsafe fn enable(&self, session: gnutls_session_t) {
        // SAFETY: the caller guarantees it.
        unsafe { gnutls_anti_replay_enable(session, self.inner) };
    }
}
