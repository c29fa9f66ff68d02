//! Each call is charged to the role that makes it, and the time between calls to neither: a slow
//! library records the time that it spends.

use std::{
    sync::{Mutex, MutexGuard},
    time::{Duration, Instant},
};

use anyhow::{Result, bail};
use tls_harness::{
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary, primitives::Cryptography},
    scenario::{Operation, Scenario},
    session::{self, Phases},
    transport::{Endpoint, Transport},
    workloads::transfer::Batch,
};

/// Upper limit for the driver's share of a figure in the best of many tries: calls, clock and
/// account.
const DRIVER: Duration = Duration::from_micros(50);

/// Number of tries for each figure; the minimum excludes other work on the host.
const TIMES: usize = 50;

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Client,
    Server,
}

/// Time that each role has spent.
#[derive(Default)]
struct Account {
    client: Phases,
    server: Phases,
    sender: Duration,
    receiver: Duration,
}

#[derive(Default)]
struct Slow(Mutex<Account>);

impl Slow {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap()
    }

    /// Spends some microseconds and charges them with `to`.
    fn spend(&self, microseconds: u64, to: impl FnOnce(&mut Account, Duration)) {
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(microseconds) {}
        let spent = start.elapsed();
        to(&mut self.account(), spent);
    }
}

struct SlowConnection<'a> {
    library: &'a Slow,
    role: Role,
    flights: usize,
}

impl Connection for SlowConnection<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        match self.role {
            Role::Client => self
                .library
                .spend(300, |account, time| account.client.flights.push(time)),
            Role::Server => self
                .library
                .spend(400, |account, time| account.server.flights.push(time)),
        }
        self.flights += 1;
        Ok(match self.flights {
            2 => Progress::Done,
            _ => Progress::Waiting,
        })
    }

    fn receive_tickets(&mut self) -> Result<()> {
        assert!(self.role == Role::Client, "a server receives no tickets");
        self.library
            .spend(500, |account, time| account.client.tickets = Some(time));
        Ok(())
    }

    fn send(&mut self, _: &[u8]) -> Result<()> {
        self.library
            .spend(100, |account, time| account.sender += time);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.library
            .spend(20, |account, time| account.receiver += time);
        Ok(buffer.len())
    }

    fn negotiated(&self) -> Result<Negotiated> {
        bail!("nothing was negotiated")
    }
}

/// The slow library: a reference, since a configuration must hold what a connection borrows.
impl TlsLibrary for &'static Slow {
    type ClientConfig = ();
    type ServerConfig = ();
    type Client<'a> = SlowConnection<'a>;
    type Server<'a> = SlowConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("the slow library is not an implementation")
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn cryptography(&self) -> Result<&dyn Cryptography> {
        bail!("the slow library has no primitives")
    }

    fn client_config(&self, _: &Setup) -> Result<()> {
        Ok(())
    }

    fn server_config(&self, _: &Setup) -> Result<()> {
        Ok(())
    }

    fn connect<'a>(&self, (): &'a (), _: &'a Endpoint) -> Result<SlowConnection<'a>> {
        self.spend(100, |account, time| account.client.construction = time);
        Ok(SlowConnection {
            library: self,
            role: Role::Client,
            flights: 0,
        })
    }

    fn accept<'a>(&self, (): &'a (), _: &'a Endpoint) -> Result<SlowConnection<'a>> {
        self.spend(200, |account, time| account.server.construction = time);
        Ok(SlowConnection {
            library: self,
            role: Role::Server,
            flights: 0,
        })
    }
}

fn slow() -> &'static Slow {
    Box::leak(Box::default())
}

/// Figures of the driver, each with the time that the library recorded.
type Figures = Vec<(String, Duration, Duration)>;

/// Checks that every figure is at least the recorded time, and at most slightly more.
fn agree(mut figures: impl FnMut() -> Figures) {
    let mut least: Vec<(String, Duration)> = Vec::new();
    for _ in 0..TIMES {
        for (index, (name, taken, spent)) in figures().into_iter().enumerate() {
            assert!(taken >= spent, "{name}: {taken:?} of {spent:?}");
            match least.get_mut(index) {
                Some((_, surplus)) => *surplus = (taken - spent).min(*surplus),
                None => least.push((name, taken - spent)),
            }
        }
    }
    for (name, surplus) in least {
        assert!(surplus < DRIVER, "{name}: {surplus:?} too much");
    }
}

#[test]
fn each_phase_of_a_handshake_is_charged_to_the_role_that_works() {
    let slow = slow();
    let transport = Transport::new(16);
    agree(|| {
        *slow.account() = Account::default();
        let times = session::run(&slow, &(), &(), &transport, true)
            .unwrap()
            .times;
        let account = slow.account();
        let mut figures = Vec::new();
        for (role, taken, spent) in [
            ("client", &times.client, &account.client),
            ("server", &times.server, &account.server),
        ] {
            let pairs = taken.named().zip(spent.named());
            for ((phase, taken), (expected, spent)) in pairs {
                assert_eq!(phase, expected);
                figures.push((format!("{role}, {phase:?}"), taken, spent));
            }
            figures.push((format!("{role}, total"), taken.total(), spent.total()));
        }
        assert_eq!(figures.len(), 4 + 3 + 2, "construction, flights, tickets");
        figures
    });
}

#[test]
fn sending_is_charged_to_the_sender_and_receiving_to_the_receiver() {
    let slow = slow();
    let transport = Transport::new(16);
    let mut pair = session::run(&slow, &(), &(), &transport, false).unwrap();
    let mut batch = Batch::new(&Scenario {
        size: Some(1 << 18),
        ..Scenario::new(Operation::Transfer)
    })
    .unwrap();
    agree(|| {
        *slow.account() = Account::default();
        let times = batch.run(&mut pair).unwrap();
        let account = slow.account();
        vec![
            ("sender".into(), times.sender, account.sender),
            ("receiver".into(), times.receiver, account.receiver),
        ]
    });
}
