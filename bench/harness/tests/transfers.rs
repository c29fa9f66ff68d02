//! Transfers by libraries that do not encrypt: copying, lending and checks of plaintext.

mod wrapped;

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use anyhow::Result;
use serde_json::json;
use tls_harness::{
    copy::CopyLibrary,
    library::{Connection, Setup, TlsLibrary},
    noop::NoopLibrary,
    record::Record,
    request::Request,
    scenario::Scenario,
    session,
    transport::Transport,
    workloads::{self, transfer::Batch},
};
use wrapped::{Around, Copied, Wrapped};

fn scenario(more: &serde_json::Value) -> Scenario {
    let mut scenario = json!({"operation": "transfer", "protocol": "1.3",
        "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
        "certificate": "rsa-2048", "authentication": "server", "resumption": "none"});
    for (key, value) in more.as_object().unwrap() {
        scenario[key] = value.clone();
    }
    serde_json::from_value(scenario).unwrap()
}

/// Transfers three batches, keeps the plaintext of the second, and checks all.
fn transfer<L: TlsLibrary>(library: &L, scenario: &Scenario) -> Result<()> {
    let mut batch = Batch::new(scenario)?;
    let transport = Transport::new(batch.capacity());
    let client = library.client_config(&Setup::client(scenario)?)?;
    let server = library.server_config(&Setup::server(scenario)?)?;
    let mut pair = session::run(library, &client, &server, &transport, false)?;
    transport.clear();
    batch.run(&mut pair)?;
    batch.check(&transport)?;
    batch.run_kept(&mut pair)?;
    batch.check(&transport)?;
    batch.run(&mut pair)?;
    batch.check(&transport)
}

#[test]
fn the_copying_library_moves_every_byte_in_records_of_tls() {
    for more in [
        json!({"size": 16, "in_flight": 16384}),
        json!({"size": 65536, "in_flight": 65536}),
        json!({"size": 65536, "in_flight": 262_144, "record_size": 4096}),
        json!({"size": 65536, "in_flight": 65536, "variant": "cold"}),
        json!({"size": 1 << 20}),
    ] {
        transfer(&CopyLibrary, &scenario(&more)).unwrap();
    }
}

#[test]
fn the_no_op_library_fails_the_checks() {
    let scenario = scenario(&json!({"size": 65536, "in_flight": 65536}));
    assert!(transfer(&NoopLibrary, &scenario).is_err());
}

#[test]
fn copies_are_recorded_separately_and_grow_with_the_bytes() {
    let copies = |size: u32, record_size: u32| {
        let request: Request = serde_json::from_value(json!({
            "schema": 1, "round": 1, "block": 0, "implementation": "empty-1.0",
            "scenario":
                scenario(&json!({"size": size, "in_flight": size, "record_size": record_size})),
            "measure_seconds": 0.0, "warmup_seconds": 0.0,
        }))
        .unwrap();
        let workload = workloads::of::<NoopLibrary>(request.scenario.operation);
        let records = workload.own_cost(&request).unwrap();
        records.into_iter().map(|record| match record {
            Record::Overhead(overhead) => overhead.copies_nanoseconds.unwrap(),
            other => panic!("{other:?} is not an overhead record"),
        })
    };
    for record in [1 << 14, 1 << 12] {
        for (small, large) in copies(1 << 14, record).zip(copies(1 << 20, record)) {
            assert!(small > 0.0 && large > 8.0 * small, "{small}, {large} ns");
        }
    }
}

#[test]
fn records_of_a_wrong_size_are_noticed() {
    for (record_size, records) in [(4096, 16), (8192, 8)] {
        let scenario = scenario(&json!({"size": 65536, "in_flight": 65536}));
        let mut batch = Batch::new(&scenario).unwrap();
        let transport = Transport::new(batch.capacity());
        let client = CopyLibrary
            .client_config(&Setup::client(&scenario).unwrap())
            .unwrap();
        let server = Setup {
            record_size: Some(record_size),
            ..Setup::server(&scenario).unwrap()
        };
        let server = CopyLibrary.server_config(&server).unwrap();
        let mut pair = session::run(&CopyLibrary, &client, &server, &transport, false).unwrap();
        transport.clear();
        batch.run(&mut pair).unwrap();
        let error = batch.check(&transport).unwrap_err().to_string();
        assert_eq!(error, format!("found {records} records, expected 4"));
    }
}

/// How the library passes plaintext on.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Writes plaintext into the caller's buffer in the first batch, and nowhere afterwards.
    Stops,
    Lends,
    Changes,
    Loses,
    LendsMore,
}

/// A library that can lend its own buffer of plaintext.
struct Lending {
    way: Way,
    writes: AtomicUsize,
    copies: AtomicUsize,
    loans: AtomicUsize,
}

impl Around for Lending {
    fn send(&self, connection: &mut Copied<'_>, data: &[u8]) -> Result<()> {
        self.writes.fetch_add(1, Relaxed);
        connection.send(data)
    }

    fn receive(&self, connection: &mut Copied<'_>, buffer: &mut [u8]) -> Result<usize> {
        self.copies.fetch_add(1, Relaxed);
        match self.way {
            Way::Stops if self.writes.load(Relaxed) > 1 => connection.receive(&mut buffer.to_vec()),
            _ => connection.receive(buffer),
        }
    }

    fn receive_with(
        &self,
        connection: &mut Copied<'_>,
        buffer: &mut [u8],
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        if self.way == Way::Stops {
            let length = self.receive(connection, buffer)?;
            take(&buffer[..length]);
            return Ok(());
        }
        self.loans.fetch_add(1, Relaxed);
        let mut decrypted = vec![0; buffer.len() + 1];
        let length = connection.receive(&mut decrypted[..buffer.len()])?;
        match self.way {
            Way::Lends | Way::Stops => take(&decrypted[..length]),
            Way::Changes => {
                decrypted[length / 2] ^= 1;
                take(&decrypted[..length]);
            }
            Way::Loses => take(&decrypted[..length - 1]),
            Way::LendsMore => take(&decrypted[..=length]),
        }
        Ok(())
    }
}

fn lending(way: Way, more: &serde_json::Value) -> (Result<()>, usize, usize) {
    let library = Wrapped::new(Lending {
        way,
        writes: AtomicUsize::new(0),
        copies: AtomicUsize::new(0),
        loans: AtomicUsize::new(0),
    });
    let result = transfer(&library, &scenario(more));
    let [copies, loans] = [&library.0.copies, &library.0.loans].map(|it| it.load(Relaxed));
    (result, copies, loans)
}

#[test]
fn a_library_that_lends_plaintext_need_not_copy_it() {
    let in_flight = json!({"size": 65536, "in_flight": 65536});
    let (result, copies, loans) = lending(Way::Lends, &in_flight);
    result.unwrap();
    assert_eq!((copies, loans), (0, 3 * 4), "four records a batch");
}

#[test]
fn plaintext_is_written_to_a_destination_in_memory() {
    let cold = json!({"size": 65536, "in_flight": 65536, "variant": "cold"});
    for more in [json!({"size": 65536}), cold] {
        let (result, copies, loans) = lending(Way::Lends, &more);
        result.unwrap();
        assert!(copies > 0 && loans == 0);
    }
}

#[test]
fn changed_lost_and_invented_bytes_are_noticed() {
    let in_flight = json!({"size": 65536, "in_flight": 65536});
    for (way, expected) in [
        (Way::Changes, "arrived as another"),
        (Way::Loses, "nothing has arrived"),
        (Way::LendsMore, "received 65537 bytes, expected 65536"),
    ] {
        let error = format!("{:#}", lending(way, &in_flight).0.unwrap_err());
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_receiver_that_stops_writing_plaintext_is_noticed() {
    for more in [
        json!({"size": 1 << 20}),
        json!({"size": 16384, "in_flight": 16384}),
    ] {
        let error = lending(Way::Stops, &more).0.unwrap_err().to_string();
        assert_eq!(error, "byte 0 arrived as another");
    }
}
