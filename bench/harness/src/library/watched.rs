//! A library whose calls are watched: by a counter, and by tests.

use std::{any::Any, mem::ManuallyDrop, sync::Arc};

use anyhow::Result;

use super::{Connection, Negotiated, Progress, Setup, TlsLibrary};
use crate::{
    implementation::Implementation,
    scenario::{Scenario, Side},
    transport::Endpoint,
};

/// A call of a library.
#[derive(Clone, Copy, PartialEq)]
pub enum Call {
    /// What connections share is made.
    Make,
    /// It is freed.
    Free,
    Open,
    /// The number of a side's flight, from 0.
    Flight(usize),
    Tickets,
    Data,
}

/// What is done at the calls of a library.
pub trait Watch: Send + Sync + 'static {
    /// A connection of a side will be made with this endpoint.
    fn opens(self: &Arc<Self>, _: Side, _: &Endpoint) {}

    /// Makes a call, which belongs to a side or to none. Within a call for data, a call for data is
    /// what the driver does with them.
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R;
}

pub struct Watched<'l, L, W> {
    pub library: &'l L,
    pub watch: Arc<W>,
}

/// What connections share.
pub struct Held<T, W: Watch> {
    value: ManuallyDrop<T>,
    side: Option<Side>,
    watch: Arc<W>,
}

impl<T, W: Watch> Drop for Held<T, W> {
    fn drop(&mut self) {
        let value = &mut self.value;
        // SAFETY: it is dropped here alone, once.
        let free = || unsafe { ManuallyDrop::drop(value) };
        self.watch.call(self.side, Call::Free, free);
    }
}

pub struct WatchedConnection<C, W> {
    connection: C,
    side: Side,
    flights: usize,
    watch: Arc<W>,
}

impl<L, W: Watch> Watched<'_, L, W> {
    fn hold<T>(&self, side: Option<Side>, make: impl FnOnce() -> Result<T>) -> Result<Held<T, W>> {
        Ok(Held {
            value: ManuallyDrop::new(self.watch.call(side, Call::Make, make)?),
            side,
            watch: Arc::clone(&self.watch),
        })
    }

    fn open<C>(
        &self,
        side: Side,
        endpoint: &Endpoint,
        make: impl FnOnce() -> Result<C>,
    ) -> Result<WatchedConnection<C, W>> {
        self.watch.opens(side, endpoint);
        Ok(WatchedConnection {
            connection: self.watch.call(Some(side), Call::Open, make)?,
            side,
            flights: 0,
            watch: Arc::clone(&self.watch),
        })
    }
}

impl<C, W: Watch> WatchedConnection<C, W> {
    #[inline(always)]
    fn call<R>(&mut self, call: Call, make: impl FnOnce(&mut C) -> R) -> R {
        let connection = &mut self.connection;
        self.watch.call(Some(self.side), call, || make(connection))
    }

    #[inline(always)]
    fn flight<R>(&mut self, make: impl FnOnce(&mut C) -> R) -> R {
        self.flights += 1;
        self.call(Call::Flight(self.flights - 1), make)
    }
}

impl<C: Connection, W: Watch> Connection for WatchedConnection<C, W> {
    fn handshake(&mut self) -> Result<Progress> {
        self.flight(C::handshake)
    }

    fn send_early_data(&mut self, data: &[u8]) -> Result<()> {
        self.flight(|it| it.send_early_data(data))
    }

    fn receive_early_data(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.flight(|it| it.receive_early_data(buffer))
    }

    fn early_data_accepted(&self) -> Result<bool> {
        self.connection.early_data_accepted()
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.call(Call::Tickets, C::receive_tickets)
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        self.call(Call::Data, |it| it.send(data))
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.call(Call::Data, |it| it.receive(buffer))
    }

    fn receive_with(&mut self, buffer: &mut [u8], take: &mut dyn FnMut(&[u8])) -> Result<()> {
        let (side, watch) = (Some(self.side), &*self.watch);
        let mut take = |bytes: &[u8]| watch.call(side, Call::Data, || take(bytes));
        let connection = &mut self.connection;
        watch.call(side, Call::Data, || {
            connection.receive_with(buffer, &mut take)
        })
    }

    fn close(&mut self) -> Result<Progress> {
        self.connection.close()
    }

    fn negotiated(&self) -> Result<Negotiated> {
        self.connection.negotiated()
    }
}

impl<L: TlsLibrary, W: Watch> TlsLibrary for Watched<'_, L, W> {
    type ClientConfig = Held<L::ClientConfig, W>;
    type ServerConfig = Held<L::ServerConfig, W>;
    type Client<'a> = WatchedConnection<L::Client<'a>, W>;
    type Server<'a> = WatchedConnection<L::Server<'a>, W>;

    fn implementation(&self) -> Result<Implementation> {
        self.library.implementation()
    }

    fn unsupported(&self, scenario: &Scenario) -> Option<String> {
        self.library.unsupported(scenario)
    }

    fn anchors(&self, pem: &str) -> Result<Box<dyn Any>> {
        Ok(Box::new(self.hold(None, || self.library.anchors(pem))?))
    }

    fn private_key(&self, pem: &str) -> Result<Box<dyn Any>> {
        Ok(Box::new(self.hold(None, || self.library.private_key(pem))?))
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        self.hold(Some(Side::Client), || self.library.client_config(setup))
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        self.hold(Some(Side::Server), || self.library.server_config(setup))
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Client<'a>> {
        self.open(Side::Client, endpoint, || {
            self.library.connect(&config.value, endpoint)
        })
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a Endpoint,
    ) -> Result<Self::Server<'a>> {
        self.open(Side::Server, endpoint, || {
            self.library.accept(&config.value, endpoint)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::{copy::CopyLibrary, transport::Transport};

    /// Begins and ends of calls for data: how deep each of them is.
    #[derive(Default)]
    struct Depths(Mutex<(usize, Vec<usize>)>);

    impl Watch for Depths {
        fn call<R>(&self, _: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
            if call != Call::Data {
                return make();
            }
            let change = |by: isize| {
                let mut all = self.0.lock().unwrap();
                all.0 = all.0.saturating_add_signed(by);
                let depth = all.0;
                all.1.extend((by > 0).then_some(depth));
            };
            change(1);
            let made = make();
            change(-1);
            made
        }
    }

    #[test]
    fn what_a_driver_does_with_data_is_a_call_within_that_of_the_library() {
        let scenario = serde_json::from_value(json!({
            "operation": "transfer", "protocol": "1.3", "size": 16, "certificate": "rsa-2048",
            "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
            "authentication": "server", "resumption": "none",
        }))
        .unwrap();
        let watched = Watched {
            library: &CopyLibrary,
            watch: Arc::new(Depths::default()),
        };
        let client = watched
            .client_config(&Setup::client(&scenario).unwrap())
            .unwrap();
        let server = watched
            .server_config(&Setup::server(&scenario).unwrap())
            .unwrap();
        let transport = Transport::new(64);
        let mut client = watched.connect(&client, &transport.client).unwrap();
        watched
            .accept(&server, &transport.server)
            .unwrap()
            .send(&[7; 16])
            .unwrap();
        let mut taken = Vec::new();
        client
            .receive_with(&mut [0; 16], &mut |it| taken.extend_from_slice(it))
            .unwrap();
        assert_eq!(taken, [7; 16]);
        assert_eq!(watched.watch.0.lock().unwrap().1, [1, 1, 2]);
    }
}
