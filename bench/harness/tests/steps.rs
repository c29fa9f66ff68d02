//! The driver makes every library send writes of one size and receive in the same steps.

mod wrapped;

use std::sync::Mutex;

use anyhow::Result;
use serde_json::json;
use tls_harness::{
    library::{Connection, Setup, TlsLibrary},
    scenario::Scenario,
    session,
    transport::Transport,
    workloads::transfer::Batch,
};
use wrapped::{Around, Copied, Wrapped};

/// The driver's calls: bytes of each.
#[derive(Default)]
struct Watched {
    writes: Mutex<Vec<usize>>,
    reads: Mutex<Vec<usize>>,
}

impl Around for Watched {
    fn send(&self, connection: &mut Copied<'_>, data: &[u8]) -> Result<()> {
        self.writes.lock().unwrap().push(data.len());
        connection.send(data)
    }

    fn receive(&self, connection: &mut Copied<'_>, buffer: &mut [u8]) -> Result<usize> {
        self.reads.lock().unwrap().push(buffer.len());
        connection.receive(buffer)
    }
}

/// Bytes of each write and of each read of one batch.
fn steps(more: &serde_json::Value) -> (Vec<usize>, Vec<usize>) {
    let mut scenario = json!({"operation": "transfer", "protocol": "1.3",
        "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
        "certificate": "rsa-2048", "authentication": "server", "resumption": "none"});
    for (key, value) in more.as_object().unwrap() {
        scenario[key] = value.clone();
    }
    let scenario: Scenario = serde_json::from_value(scenario).unwrap();
    let watched = Wrapped::new(Watched::default());
    let mut batch = Batch::new(&scenario).unwrap();
    let transport = Transport::new(batch.capacity());
    let client = watched.client_config(&Setup::client(&scenario).unwrap());
    let server = watched.server_config(&Setup::server(&scenario).unwrap());
    let (client, server) = (client.unwrap(), server.unwrap());
    let mut pair = session::run(&watched, &client, &server, &transport, false).unwrap();
    transport.clear();
    batch.run(&mut pair).unwrap();
    batch.check(&transport).unwrap();
    let steps = |of: &Mutex<Vec<usize>>| of.lock().unwrap().clone();
    (steps(&watched.0.writes), steps(&watched.0.reads))
}

#[test]
fn every_write_has_the_size_of_the_scenario() {
    for (more, expected) in [
        (json!({"size": 65536, "in_flight": 262_144}), vec![65536; 4]),
        (json!({"size": 16, "in_flight": 16384}), vec![16; 1024]),
        (json!({"size": 1 << 20}), vec![1 << 20]),
    ] {
        assert_eq!(steps(&more).0, expected);
    }
}

#[test]
fn every_library_receives_in_steps_of_one_record_or_one_write() {
    let records = json!({"size": 65536, "in_flight": 65536, "record_size": 4096});
    for (more, expected) in [
        (json!({"size": 65536, "in_flight": 65536}), vec![16384; 4]),
        (json!({"size": 1024, "in_flight": 16384}), vec![1024; 16]),
        (records, vec![4096; 16]),
        (json!({"size": 1 << 20}), vec![16384; 64]),
    ] {
        assert_eq!(steps(&more).1, expected);
    }
}
