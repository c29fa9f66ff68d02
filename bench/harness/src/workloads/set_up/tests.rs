//! Each step of a set-up is timed in its own phase, and the peer's work in none.

use std::{thread::sleep, time::Duration};

use anyhow::bail;

use super::*;
use crate::{
    implementation::Implementation,
    library::Setup,
    noop::{self, NoopConnection},
    scenario::{Anchors, Operation},
    transport::Endpoint,
};

/// Longer than anything in the no-op library takes.
const PAUSE: Duration = Duration::from_millis(20);

/// A no-op library with a pause in one phase of one role.
struct Slow(Side, Phase);

struct Config {
    noop: noop::Config,
    ends_slowly: bool,
}

impl Drop for Config {
    fn drop(&mut self) {
        if self.ends_slowly {
            sleep(PAUSE);
        }
    }
}

impl Slow {
    fn pause(&self, side: Side, phase: Phase) {
        if (self.0, self.1) == (side, phase) {
            sleep(PAUSE);
        }
    }

    fn config(&self, side: Side, noop: noop::Config) -> Config {
        self.pause(side, Phase::Construction);
        Config {
            noop,
            ends_slowly: (self.0, self.1) == (side, Phase::Destruction),
        }
    }
}

impl TlsLibrary for Slow {
    type ClientConfig = Config;
    type ServerConfig = Config;
    type Client<'a> = NoopConnection<'a>;
    type Server<'a> = NoopConnection<'a>;

    fn implementation(&self) -> Result<Implementation> {
        bail!("it is not an implementation")
    }

    fn unsupported(&self, _: &Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Config> {
        Ok(self.config(Side::Client, NoopLibrary.client_config(setup)?))
    }

    fn server_config(&self, setup: &Setup) -> Result<Config> {
        Ok(self.config(Side::Server, NoopLibrary.server_config(setup)?))
    }

    fn connect<'a>(
        &self,
        config: &'a Config,
        endpoint: &'a Endpoint,
    ) -> Result<NoopConnection<'a>> {
        self.pause(Side::Client, Phase::Handshake);
        NoopLibrary.connect(&config.noop, endpoint)
    }

    fn accept<'a>(&self, config: &'a Config, endpoint: &'a Endpoint) -> Result<NoopConnection<'a>> {
        self.pause(Side::Server, Phase::Handshake);
        NoopLibrary.accept(&config.noop, endpoint)
    }
}

fn scenario() -> Scenario {
    let text = r#"{"operation":"set-up","protocol":"1.3","cipher_suite":"TLS_AES_256_GCM_SHA384",
        "key_exchange":"X25519","certificate":"ecdsa-p256","authentication":"server",
        "resumption":"none","threads":1}"#;
    let scenario: Scenario = serde_json::from_str(text).unwrap();
    assert_eq!(scenario.operation, Operation::SetUp);
    scenario
}

/// The phases in which a set-up is slow.
fn slow_phases(library: &Slow, set_up: SetUp) -> Vec<Phase> {
    let scenario = scenario();
    let target = Target {
        library,
        scenario: &scenario,
        checked: false,
    };
    let life = Lives::new(&target, set_up).unwrap().next().unwrap();
    let slow = life.into_iter().filter(|(_, time)| *time >= PAUSE);
    slow.map(|(phase, _)| phase).collect()
}

const PHASES: [Phase; 3] = [Phase::Construction, Phase::Handshake, Phase::Destruction];

#[test]
fn postponed_work_counts_in_the_phase_in_which_it_is_done() {
    let anchors = Anchors::Own(2);
    for phase in PHASES {
        for (side, set_up) in [
            (Side::Client, SetUp::Client(anchors)),
            (Side::Server, SetUp::Server),
            (Side::Server, SetUp::Names(2)),
            (Side::Server, SetUp::Reload(2)),
        ] {
            let library = Slow(side, phase);
            assert_eq!(slow_phases(&library, set_up), [phase], "{set_up}");
        }
    }
}

#[test]
fn the_time_of_the_peer_counts_in_no_phase() {
    for phase in PHASES {
        for (side, set_up) in [
            (Side::Server, SetUp::Client(Anchors::Own(2))),
            (Side::Client, SetUp::Server),
            (Side::Client, SetUp::Names(2)),
            (Side::Server, SetUp::Shared(Anchors::Own(2))),
        ] {
            let library = Slow(side, phase);
            assert_eq!(slow_phases(&library, set_up), [], "{set_up}");
        }
    }
}

#[test]
fn a_shared_context_is_neither_made_nor_freed() {
    let shared = SetUp::Shared(Anchors::Own(2));
    for (phase, expected) in [
        (Phase::Construction, vec![]),
        (Phase::Handshake, vec![Phase::Handshake]),
        (Phase::Destruction, vec![]),
    ] {
        assert_eq!(slow_phases(&Slow(Side::Client, phase), shared), expected);
    }
}

#[test]
fn loading_an_object_that_the_library_lacks_is_an_error() {
    let (library, scenario) = (Slow(Side::Client, Phase::Data), scenario());
    let target = Target {
        library: &library,
        scenario: &scenario,
        checked: false,
    };
    for set_up in [SetUp::Anchors(Anchors::Own(1)), SetUp::PrivateKey] {
        let error = Lives::new(&target, set_up).unwrap().next().unwrap_err();
        assert!(
            error.to_string().ends_with("into a context only"),
            "{error}"
        );
    }
}

#[test]
fn the_time_of_a_process_is_processor_time_and_waiting() {
    let reached = Reached {
        wall_nanoseconds: 900,
        processor_nanoseconds: 700,
    };
    let nanoseconds = |it: (Phase, Duration)| (it.0, it.1.as_nanos());
    let expected = [(Phase::Processor, 700), (Phase::Waiting, 200)];
    assert_eq!(reached.phases().map(nanoseconds), expected);
    // The two clocks are read one after the other.
    let reached = Reached {
        wall_nanoseconds: 690,
        ..reached
    };
    assert_eq!(reached.phases().map(nanoseconds)[1], (Phase::Waiting, 0));
}

#[test]
fn a_waiting_peer_takes_no_processor_time_from_the_measured_role() {
    let scenario = Scenario {
        variant: Some(Variant::SetUp(SetUp::ProcessClient(Anchors::Own(1)))),
        ..scenario()
    };
    let before = process_times().unwrap();
    let library = Slow(Side::Server, Phase::Handshake);
    let reached = first_of(&library, &scenario, false).unwrap();
    assert!(u128::from(reached.processor_nanoseconds) >= before.processor.as_nanos());
    let after = process_times().unwrap();
    let without = after.wall.saturating_sub(PAUSE).as_nanos();
    assert!(u128::from(reached.wall_nanoseconds) <= without);
}

#[test]
fn only_set_ups_in_fresh_processes_wait() {
    for (set_up, waits) in [
        (SetUp::ProcessClient(Anchors::Mozilla), true),
        (SetUp::ProcessServer, true),
        (SetUp::Client(Anchors::Mozilla), false),
        (SetUp::Server, false),
    ] {
        let scenario = Scenario {
            variant: Some(Variant::SetUp(set_up)),
            ..scenario()
        };
        assert_eq!(SetUps::waits(&scenario), waits, "{set_up}");
    }
}
