//! Set-ups are made, used and freed, and all loaded objects count.

use std::time::{Duration, Instant};

use tls_harness::{
    certificates::{authority, set_up},
    library::{Setup, TlsLibrary},
    record::{Measurement, Metric, Observation, Phase, Record},
    scenario::{Anchors, Certificate, Scenario, SetUp, Variant},
    session::{self, Expected},
    transport::Transport,
};

use super::{
    good,
    measurements::{measurements, request},
    programs::records_of,
    scenarios::{set_up as scenario, set_ups},
};

/// Every supported set-up is measured by its phases, whose sum is its time, and the harness' own cost
/// is recorded.
pub fn every_set_up_is_measured_by_phase<L: TlsLibrary>(library: &L, program: &str) {
    for scenario in set_ups() {
        if library.unsupported(&scenario).is_some() {
            continue;
        }
        let name = scenario.name();
        let Some(Variant::SetUp(what)) = scenario.variant else {
            panic!("{name} has no variant of a set-up");
        };
        let expected: &[Phase] = match what {
            SetUp::Anchors(_) | SetUp::PrivateKey => &[Phase::Construction, Phase::Destruction],
            SetUp::Shared(_) => &[Phase::Handshake],
            SetUp::ProcessClient(_) | SetUp::ProcessServer => &[Phase::Processor, Phase::Waiting],
            SetUp::Slope(_) => &[Phase::Fixed, Phase::Each],
            _ => &[Phase::Construction, Phase::Handshake, Phase::Destruction],
        };
        // One anchor may cost no more than the average of many.
        let has_time = |it: &Observation| {
            it.value > 0.0 || it.phase == Phase::Fixed || it.metric != Metric::DURATION
        };
        let measure = || {
            let request = request(scenario.clone());
            let records = records_of(program, &request);
            let own = records.iter().find_map(|record| match record {
                Record::Overhead(overhead) => overhead.nanoseconds,
                _ => None,
            });
            assert!(own.is_some_and(|it| it > 0.0), "{name}: {own:?}");
            measurements(&records).cloned().collect()
        };
        let is_timed = |it: &Vec<Measurement>| it[0].observations.iter().all(has_time);
        // A busy host may stop the shorter of the two that make a slope.
        let measured = (0..2).map(|_| measure()).find(is_timed);
        let measured = measured.unwrap_or_else(measure);
        let [measurement] = &measured[..] else {
            panic!("{name}: expected one measurement");
        };
        assert_eq!(
            measurement.scenario, scenario,
            "{name}: the measured scenario"
        );
        let observations = measurement.observations.iter();
        let [whole, ..] = &measurement.observations[..] else {
            panic!("{name}: no observation");
        };
        let of_whole = (whole.metric, whole.phase);
        assert_eq!(of_whole, (Metric::DURATION, Phase::Total), "{name}");
        let is_phase =
            |it: &&Observation| it.metric == Metric::DURATION && it.phase != Phase::Total;
        let of_phases = observations.clone().filter(is_phase);
        let phases: Vec<_> = of_phases.clone().map(|it| it.phase).collect();
        assert_eq!(phases, expected, "{name}: the phases");
        let microseconds = of_phases.inspect(|it| {
            assert!(has_time(it), "{name}: no time in {:?}", it.phase);
        });
        let sum: f64 = microseconds.map(|it| it.value).sum();
        let total = whole.value;
        assert!((sum - total).abs() < 1e-6 * total, "{name}: {sum}, {total}");
        let bytes = |metric: Metric| {
            let found = observations.clone().find(|it| it.metric == metric);
            found.map(|it| it.value)
        };
        let keeps = expected.contains(&Phase::Destruction) && !matches!(what, SetUp::Reload(_));
        let stays = bytes(Metric::ALLOCATED);
        assert_eq!(stays.is_some(), keeps, "{name}: whether memory is recorded");
        let (Some(stays), Some(peak)) = (stays, bytes(Metric::new("peak-allocated"))) else {
            continue;
        };
        let all = bytes(Metric::new("allocated-in-all")).unwrap();
        assert!(
            stays > 0.0 && peak <= all,
            "{name}: {stays} bytes stay, {peak} at once, of {all}"
        );
        // The allocator's count includes its own headers.
        assert!(stays <= 1.5 * peak + 4096.0, "{name}: {stays}, {peak}");
    }
}

fn handshake<L: TlsLibrary>(library: &L, client: &Setup, server: &Setup) -> anyhow::Result<()> {
    let transport = Transport::new(Transport::HANDSHAKE_CAPACITY);
    let (client, server) = (
        library.client_config(client)?,
        library.server_config(server)?,
    );
    let pair = session::run(library, &client, &server, &transport, false)?;
    let plain = scenario("server", Certificate::EcdsaP256);
    Expected::new(&plain)?.check(&pair, &transport, false)
}

/// Clients verify with the loaded anchors, wherever in the list the right one is.
pub fn peers_are_verified_with_the_loaded_anchors<L: TlsLibrary>(library: &L) {
    let certificate = Certificate::EcdsaP256;
    for text in ["client-1", "client-10", "client-1000", "client-mozilla"] {
        let scenario = scenario(text, certificate);
        let (client, server) = setups(&scenario);
        good(handshake(library, &client, &server), &scenario);
        let root = authority(certificate).root;
        let without = client.trusted.replace(root, "");
        if without.is_empty() {
            continue;
        }
        assert_ne!(
            without, client.trusted,
            "{text}: the root is among the anchors"
        );
        let client = Setup {
            trusted: String::leak(without),
            ..client
        };
        handshake(library, &client, &server).expect_err("a root that was not loaded is trusted");
    }
}

fn setups(scenario: &Scenario) -> (Setup, Setup) {
    (
        Setup::client(scenario).unwrap(),
        Setup::server(scenario).unwrap(),
    )
}

/// A server presents the certificate of each name that a client sends.
pub fn a_server_has_a_certificate_for_each_name<L: TlsLibrary>(library: &L) {
    let scenario = scenario("names-100", Certificate::EcdsaP256);
    if library.unsupported(&scenario).is_some() {
        return;
    }
    let (client, server) = setups(&scenario);
    for named in set_up::named(100) {
        let client = Setup {
            host_name: named.name,
            ..client.clone()
        };
        handshake(library, &client, &server)
            .unwrap_or_else(|error| panic!("{}: {error:#}", named.name));
    }
    let client = Setup {
        host_name: "site-00100.example",
        ..client
    };
    handshake(library, &client, &server).expect_err("a name without a certificate is served");
}

/// Configurations are made outside the measured time: a connection takes much less than the anchors
/// of a client, or the certificate and key of a server.
pub fn connections_load_no_configuration<L: TlsLibrary>(library: &L) {
    fn fastest<T>(mut make: impl FnMut() -> anyhow::Result<T>) -> Duration {
        let times = (0..10).map(|_| {
            let start = Instant::now();
            drop(make().unwrap());
            start.elapsed()
        });
        times.min().unwrap()
    }
    let certificate = Certificate::Rsa2048;
    let (client, _) = setups(&scenario("client-mozilla", certificate));
    let (_, server) = setups(&scenario("server", certificate));
    let transport = Transport::new(Transport::HANDSHAKE_CAPACITY);
    let made = library.client_config(&client).unwrap();
    let connecting = fastest(|| library.connect(&made, &transport.client));
    let loading = fastest(|| library.client_config(&client));
    assert!(4 * connecting < loading, "{connecting:?}, {loading:?}");
    let made = library.server_config(&server).unwrap();
    let accepting = fastest(|| library.accept(&made, &transport.server));
    let loading = fastest(|| library.server_config(&server));
    assert!(2 * accepting < loading, "{accepting:?}, {loading:?}");
}

/// Invalid anchors and keys are rejected, even if no connection uses them.
pub fn broken_anchors_and_keys_are_not_loaded<L: TlsLibrary>(library: &L) {
    let broken = |pem: &str| pem.replacen("MI", "AA", 1);
    let alone = scenario("private-key", Certificate::EcdsaP256);
    if library.unsupported(&alone).is_none() {
        let key = authority(Certificate::EcdsaP256).server.key;
        library.private_key(key).unwrap();
        assert!(library.private_key(&broken(key)).is_err(), "a broken key");
    }
    let alone = scenario("anchors-1", Certificate::EcdsaP256);
    if library.unsupported(&alone).is_none() {
        let anchors = set_up::trusted(Certificate::EcdsaP256, Anchors::Own(1));
        library.anchors(anchors).unwrap();
        assert!(
            library.anchors(&broken(anchors)).is_err(),
            "a broken anchor"
        );
    }
}
