//! Memory per connection of a library whose connections allocate known numbers of bytes.
//!
//! This program is its own library's program: the measurement starts it again with `hold`. So it has
//! a `main` of its own, and nothing else runs in the process whose memory is counted.

use std::{env, process::ExitCode};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use tls_harness::{
    certificates::{self, HOST_NAME},
    chain::SentChain,
    implementation::Implementation,
    library::{Connection, Negotiated, Progress, Setup, TlsLibrary},
    program,
    record::{Measurement, Metric, Phase, Record, Statistic, Unit},
    request::Request,
    scenario::{Operation, Protocol, Scenario, Side, VariantKind},
    transport::Endpoint,
    workloads::{
        self,
        memory::{self, Holding, keep},
        workload::Workload,
    },
};

/// Bytes that a connection allocates in its construction, its handshake, and with its first data.
type Bytes = [usize; 3];

const OF_CLIENT: Bytes = [512, 1024, 256];
const OF_SERVER: Bytes = [2048, 512, 1024];

/// Bytes that an allocator may add to the three allocations of a connection.
const ADDED: f64 = 64.0;

/// Bytes of a connection of the no-op library.
const NOOP: f64 = 24.0;

const FULL: &str = "the transport is full";

struct Allocating;

struct Config {
    of: Bytes,
    negotiated: Negotiated,
    /// What a role sends in its first flight.
    flight: Vec<u8>,
    /// Whether the client trusts the server's root and expects its name.
    accepts: bool,
}

struct Allocated<'a> {
    config: &'a Config,
    endpoint: &'a Endpoint,
    held: [Vec<u8>; 3],
}

impl Allocated<'_> {
    fn hold(&mut self, part: usize) {
        if self.held[part].is_empty() {
            self.held[part] = vec![1; self.config.of[part]];
        }
    }
}

/// The record of a ServerHello of TLS 1.3 with AES-256-GCM and a key share for X25519.
fn server_hello() -> Vec<u8> {
    let extensions = [0, 43, 0, 2, 3, 4, 0, 51, 0, 5, 0, 0x1d, 0, 1, 9];
    let body = [
        &[3, 3][..],
        &[1; 32],
        &[0, 0x13, 0x02, 0, 0, 15],
        &extensions,
    ]
    .concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[22, 3, 3, 0, 4 + length, 2, 0, 0, length][..], &body].concat()
}

/// The record of a ClientHello of TLS 1.3 with AES-256-GCM, without extensions.
fn client_hello() -> Vec<u8> {
    let body = [&[3, 3][..], &[1; 32], &[0, 0, 2, 0x13, 0x02, 1, 0]].concat();
    let length = u8::try_from(body.len()).unwrap();
    [&[22, 3, 3, 0, 4 + length, 1, 0, 0, length][..], &body].concat()
}

/// A record of so many zeros in place of the messages that TLS 1.3 encrypts.
fn encrypted(bytes: usize) -> Result<Vec<u8>> {
    let length = u16::try_from(bytes + 17)?.to_be_bytes();
    Ok([&[23, 3, 3][..], &length, &vec![0; bytes + 17]].concat())
}

impl Connection for Allocated<'_> {
    fn handshake(&mut self) -> Result<Progress> {
        self.hold(1);
        let mut arrived = [0; 4096];
        let arrived = self.endpoint.receive(&mut arrived);
        if self.config.of == OF_SERVER {
            ensure!(self.endpoint.send(&self.config.flight), FULL);
        } else if arrived == 0 {
            ensure!(self.endpoint.send(&self.config.flight), FULL);
            return Ok(Progress::Waiting);
        }
        ensure!(self.config.accepts, "the server is not the expected one");
        Ok(Progress::Done)
    }

    fn receive_tickets(&mut self) -> Result<()> {
        bail!("the server sends no tickets")
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        ensure!(self.endpoint.send(data), FULL);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.hold(2);
        Ok(self.endpoint.receive(buffer))
    }

    fn negotiated(&self) -> Result<Negotiated> {
        Ok(self.config.negotiated)
    }
}

impl TlsLibrary for Allocating {
    type ClientConfig = Config;
    type ServerConfig = Config;
    type Client<'a> = Allocated<'a>;
    type Server<'a> = Allocated<'a>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("this library is not an implementation")
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Config> {
        let root = certificates::authority(setup.certificate).root;
        Ok(Config {
            of: OF_CLIENT,
            flight: client_hello(),
            accepts: setup.trusted == root && setup.host_name == HOST_NAME,
            negotiated: Negotiated {
                protocol: Protocol::Tls13,
                cipher_suite: setup.cipher_suite,
                key_exchange: None,
                resumed: None,
                signature_scheme: None,
                peer_verified: true,
                tickets: 0,
            },
        })
    }

    fn server_config(&self, setup: &Setup) -> Result<Config> {
        let mut config = self.client_config(setup)?;
        config.of = OF_SERVER;
        let identity = setup.identity.context("a server needs an identity")?;
        let chain = SentChain::new(&identity, setup.certificate);
        config.flight = [server_hello(), encrypted(*chain.encrypted().start())?].concat();
        config.accepts = true;
        config.negotiated.peer_verified = false;
        Ok(config)
    }

    fn connect<'a>(&self, config: &'a Config, endpoint: &'a Endpoint) -> Result<Allocated<'a>> {
        let mut connection = Allocated {
            config,
            endpoint,
            held: Default::default(),
        };
        connection.hold(0);
        Ok(connection)
    }

    fn accept<'a>(&self, config: &'a Config, endpoint: &'a Endpoint) -> Result<Allocated<'a>> {
        self.connect(config, endpoint)
    }
}

fn scenario(variant: Option<&str>) -> serde_json::Value {
    json!({"operation": "memory", "protocol": "1.3", "cipher_suite": "TLS_AES_256_GCM_SHA384",
        "key_exchange": "X25519", "certificate": "rsa-2048", "authentication": "server",
        "resumption": "none", "threads": 1, "variant": variant})
}

fn request(variant: Option<&str>) -> Request {
    serde_json::from_value(json!({"schema": 1, "round": 1, "block": 0,
        "implementation": "allocating-1.0", "scenario": scenario(variant),
        "measure_seconds": 0.0, "warmup_seconds": 0.0}))
    .unwrap()
}

fn of_memory() -> &'static dyn Workload<Allocating> {
    workloads::of(Operation::Memory)
}

/// The measurement of the client, then that of the server.
fn measured(variant: Option<&str>) -> [Measurement; 2] {
    let records = of_memory().measure(&Allocating, &request(variant)).unwrap();
    let measurement = |record| match record {
        Record::Measurement(measurement) => measurement,
        other => panic!("{other:?} is not a measurement"),
    };
    let measurements: Vec<_> = records.into_iter().map(measurement).collect();
    measurements.try_into().unwrap()
}

/// Checks both counts of a measurement in each state: bytes of `connections` connections.
fn check(measurement: &Measurement, of: Bytes, connections: f64, unit: Unit) {
    let observations = &measurement.observations;
    assert_eq!(observations.len(), 6);
    for (state, phase) in [Phase::Construction, Phase::Handshake, Phase::Data]
        .into_iter()
        .enumerate()
    {
        let [allocated, resident] = [Metric::ALLOCATED, Metric::RESIDENT].map(|metric| {
            let mut found = observations
                .iter()
                .filter(|it| it.metric == metric && it.phase == phase && it.unit == unit);
            let found = found.next().unwrap();
            assert_eq!(found.statistic, Statistic::Value);
            found.value / connections
        });
        let bytes: usize = of[..=state].iter().sum();
        let expected = (bytes + size_of::<Allocated<'_>>()) as f64;
        assert!(
            allocated >= expected && allocated < expected + ADDED,
            "{phase:?}: found {allocated} bytes, expected {expected}"
        );
        assert!(
            resident >= 0.8 * expected && resident < 1.5 * expected,
            "{phase:?}: found {resident} resident bytes, expected {expected}"
        );
    }
}

fn each_state_of_each_side_has_its_bytes_per_connection() {
    let [client, server] = measured(None);
    check(&client, OF_CLIENT, 1.0, Unit::BYTES_PER_CONNECTION);
    check(&server, OF_SERVER, 1.0, Unit::BYTES_PER_CONNECTION);
    for (measurement, side) in [(client, Side::Client), (server, Side::Server)] {
        assert_eq!(measurement.scenario.side, Some(side));
        assert_eq!(measurement.operations, 3 * (100 + 1_000 + 10_000));
        assert!(measurement.elapsed_seconds.unwrap() > 0.0);
    }
}

fn a_number_of_sessions_has_the_bytes_of_all() {
    let [client, server] = measured(Some("sessions-2000"));
    check(&client, OF_CLIENT, 2_000.0, Unit::BYTES);
    check(&server, OF_SERVER, 2_000.0, Unit::BYTES);
    assert_eq!(client.operations, 3 * 2_000);
}

fn the_harness_own_bytes_are_those_of_the_no_op_library() {
    for (variant, connections) in [(None, 1.0), (Some("sessions-2000"), 2_000.0)] {
        let records = of_memory().own_cost(&request(variant)).unwrap();
        assert_eq!(records.len(), 2);
        for (record, side) in records.into_iter().zip([Side::Client, Side::Server]) {
            let Record::Overhead(overhead) = record else {
                panic!("{record:?} is not an overhead record");
            };
            assert_eq!(overhead.scenario.side, Some(side));
            let bytes = overhead.bytes.unwrap() / connections;
            assert!((NOOP..NOOP + 1.0).contains(&bytes), "{bytes} bytes");
        }
    }
}

fn only_clients_and_servers_hold_connections() {
    assert_eq!(
        of_memory().sides(),
        [Some(Side::Client), Some(Side::Server)]
    );
    assert_eq!(of_memory().variants(), [VariantKind::Sessions]);
    let holding: Holding = serde_json::from_value(json!({"scenario": scenario(None),
        "side": "sender", "moment": "handshake", "sessions": 1}))
    .unwrap();
    let error = memory::hold(&Allocating, &holding).unwrap_err();
    assert_eq!(error.to_string(), "side \"sender\" holds no connections");
}

fn kept_memory_is_counted() {
    let growth = keep(100, || Ok(vec![1_u8; 10_000])).unwrap();
    assert!(
        growth.allocated >= 1_000_000 && growth.allocated < 1_200_000,
        "{growth:?}"
    );
}

fn memory_that_is_never_touched_is_not_resident() {
    let growth = keep(100, || Ok(Vec::<u8>::with_capacity(1 << 20))).unwrap();
    assert!(growth.allocated >= 100 << 20, "{growth:?}");
    assert!(growth.resident < 50 << 20, "{growth:?}");
}

fn what_is_allocated_once_does_not_count() {
    let mut calls = 0;
    let mut once: Option<Vec<u8>> = None;
    let growth = keep(100, || {
        calls += 1;
        once.get_or_insert_with(|| vec![1; 1_000_000]);
        Ok(vec![1_u8; 1_000])
    })
    .unwrap();
    assert_eq!(calls, 120);
    assert!(growth.allocated < 200_000, "{growth:?}");
}

fn main() -> ExitCode {
    if env::args().nth(1).as_deref() == Some("hold") {
        return program::main(&Allocating);
    }
    kept_memory_is_counted();
    memory_that_is_never_touched_is_not_resident();
    what_is_allocated_once_does_not_count();
    only_clients_and_servers_hold_connections();
    each_state_of_each_side_has_its_bytes_per_connection();
    a_number_of_sessions_has_the_bytes_of_all();
    the_harness_own_bytes_are_those_of_the_no_op_library();
    ExitCode::SUCCESS
}
