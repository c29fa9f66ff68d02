//! The store of the session that a client's next connection resumes.

use std::{
    fmt,
    sync::{Mutex, PoisonError},
};

use rustls::{
    client::{ClientSessionKey, ClientSessionStore, Tls12Session, Tls13Session},
    crypto::kx::NamedGroup,
};

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
    fn set_kx_hint(&self, _: ClientSessionKey<'static>, _: NamedGroup) {}

    /// Always `None`: a hint would avoid the HelloRetryRequest that a scenario requires.
    fn kx_hint(&self, _: &ClientSessionKey<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: ClientSessionKey<'static>, session: Tls12Session) {
        Self::put(&self.tls12, Some(session));
    }

    fn tls12_session(&self, _: &ClientSessionKey<'_>) -> Option<Tls12Session> {
        Self::put(&self.tls12, None)
    }

    fn remove_tls12_session(&self, _: &ClientSessionKey<'static>) {
        Self::put(&self.tls12, None);
    }

    fn insert_tls13_ticket(&self, _: ClientSessionKey<'static>, session: Tls13Session) {
        Self::put(&self.tls13, Some(session));
    }

    fn take_tls13_ticket(&self, _: &ClientSessionKey<'static>) -> Option<Tls13Session> {
        Self::put(&self.tls13, None)
    }
}
