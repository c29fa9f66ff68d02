//! Each call is charged to the role that makes it, and the time between calls to neither: a slow
//! library records the time that it spends.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use serde_json::json;
use tls_harness::{
    library::{
        Setup, TlsLibrary,
        watched::{Call, Watch, Watched},
    },
    noop::NoopLibrary,
    scenario::{Scenario, Side},
    session::{self, Phases},
    transport::Transport,
    workloads::transfer::Batch,
};

/// Upper limit for the driver's share of a figure in the best of many tries: calls, clock and
/// account.
const DRIVER: Duration = Duration::from_micros(50);

/// Number of tries for each figure; the minimum excludes other work on the host.
const TIMES: usize = 50;

/// Time that each role has spent.
#[derive(Default)]
struct Account {
    client: Phases,
    server: Phases,
    sender: Duration,
    receiver: Duration,
}

/// Makes each call slow, and charges it to the role that makes it.
#[derive(Default)]
struct Slow(Mutex<Account>);

impl Slow {
    fn account(&self) -> MutexGuard<'_, Account> {
        self.0.lock().unwrap()
    }
}

impl Watch for Slow {
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
        let microseconds = match (side, call) {
            (_, Call::Make | Call::Free) => return make(),
            (Some(Side::Client), Call::Open) => 100,
            (_, Call::Open) => 200,
            (Some(Side::Client), Call::Flight(_)) => 300,
            (_, Call::Flight(_)) => 400,
            (_, Call::Tickets) => 500,
            (Some(Side::Client), Call::Data) => 20,
            (_, Call::Data) => 100,
        };
        let start = Instant::now();
        while start.elapsed() < Duration::from_micros(microseconds) {}
        let made = make();
        let spent = start.elapsed();
        let account = &mut *self.account();
        let (role, data) = match side {
            Some(Side::Client) => (&mut account.client, &mut account.receiver),
            _ => (&mut account.server, &mut account.sender),
        };
        match call {
            Call::Flight(_) => role.flights.push(spent),
            Call::Tickets => role.tickets = Some(spent),
            Call::Data => *data += spent,
            _ => role.construction = spent,
        }
        made
    }
}

type SlowLibrary = Watched<'static, NoopLibrary, Slow>;

/// What both tests begin with: a slow library, and the contexts of a scenario.
fn slow(
    resumption: &str,
) -> (
    SlowLibrary,
    Scenario,
    <SlowLibrary as TlsLibrary>::ClientConfig,
    <SlowLibrary as TlsLibrary>::ServerConfig,
) {
    let scenario = json!({"operation": "transfer", "size": 1 << 18, "protocol": "1.3",
        "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
        "certificate": "rsa-2048", "authentication": "server", "resumption": resumption});
    let scenario = serde_json::from_value(scenario).unwrap();
    let slow = Watched {
        library: &NoopLibrary,
        watch: Arc::new(Slow::default()),
    };
    let client = slow.client_config(&Setup::client(&scenario).unwrap());
    let server = slow.server_config(&Setup::server(&scenario).unwrap());
    (slow, scenario, client.unwrap(), server.unwrap())
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
    let (slow, _, client, server) = slow("ticket");
    let transport = Transport::new(16);
    agree(|| {
        *slow.watch.account() = Account::default();
        transport.clear();
        let pair = session::run(&slow, &client, &server, &transport, true);
        let times = pair.unwrap().times;
        let account = slow.watch.account();
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
            let sum = spent.named().map(|(_, spent)| spent).sum();
            figures.push((format!("{role}, total"), taken.total(), sum));
        }
        assert_eq!(figures.len(), 4 + 3 + 2, "construction, flights, tickets");
        figures
    });
}

#[test]
fn sending_is_charged_to_the_sender_and_receiving_to_the_receiver() {
    let (slow, scenario, client, server) = slow("none");
    let mut batch = Batch::new(&scenario).unwrap();
    let transport = Transport::new(batch.capacity());
    let mut pair = session::run(&slow, &client, &server, &transport, false).unwrap();
    agree(|| {
        *slow.watch.account() = Account::default();
        transport.clear();
        let times = batch.run(&mut pair).unwrap();
        let account = slow.watch.account();
        vec![
            ("sender".into(), times.sender, account.sender),
            ("receiver".into(), times.receiver, account.receiver),
        ]
    });
}
