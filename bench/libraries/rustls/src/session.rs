//! The session that a client's next connection resumes.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use rustls::client::ClientSessionStore;

use crate::api::{NamedGroup, SessionKey, Tls12Session, Tls13Session};

#[cfg(not(rustls_counts_tickets))]
thread_local! {
    /// Tickets that this thread's store received since its last connection was made.
    pub static TICKETS: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// Stores one session and returns it once, like the adapters of the C libraries.
#[derive(Default)]
pub struct SessionSlot {
    tls12: Mutex<Option<Tls12Session>>,
    tls13: Mutex<Option<Tls13Session>>,
}

impl SessionSlot {
    fn put<T>(slot: &Mutex<Option<T>>, session: Option<T>) -> Option<T> {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut slot, session)
    }
}

impl fmt::Debug for SessionSlot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionSlot")
    }
}

impl ClientSessionStore for SessionSlot {
    fn set_kx_hint(&self, _: SessionKey<'static>, _: NamedGroup) {}

    /// Always `None`: a hint would avoid the HelloRetryRequest that a scenario requires.
    fn kx_hint(&self, _: &SessionKey<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: SessionKey<'static>, session: Tls12Session) {
        Self::put(&self.tls12, Some(session));
    }

    fn tls12_session(&self, _: &SessionKey<'_>) -> Option<Tls12Session> {
        Self::put(&self.tls12, None)
    }

    fn remove_tls12_session(&self, _: &SessionKey<'static>) {
        Self::put(&self.tls12, None);
    }

    fn insert_tls13_ticket(&self, _: SessionKey<'static>, session: Tls13Session) {
        #[cfg(not(rustls_counts_tickets))]
        TICKETS.set(TICKETS.get() + 1);
        Self::put(&self.tls13, Some(session));
    }

    fn take_tls13_ticket(&self, _: &SessionKey<'static>) -> Option<Tls13Session> {
        Self::put(&self.tls13, None)
    }
}
