//! Each step of a set-up is timed in its own phase, and the peer's work in none.

use std::{sync::Arc, thread::sleep, time::Duration};

use super::*;
use crate::{
    copy::CopyLibrary,
    library::watched::{Call, Watch, Watched},
    scenario::{Anchors, Operation},
};

/// Longer than anything in the no-op library takes.
const PAUSE: Duration = Duration::from_millis(20);

/// A pause in one phase of one role.
struct Slow(Side, Phase);

impl Watch for Slow {
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
        let phase = match call {
            Call::Make => Phase::Construction,
            Call::Open => Phase::Handshake,
            Call::Free => Phase::Destruction,
            _ => return make(),
        };
        if (side, phase) == (Some(self.0), self.1) {
            sleep(PAUSE);
        }
        make()
    }
}

fn slow(side: Side, phase: Phase) -> Watched<'static, NoopLibrary, Slow> {
    Watched {
        library: &NoopLibrary,
        watch: Arc::new(Slow(side, phase)),
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

/// The phases that take a pause of one phase of a role.
fn slow_phases(side: Side, phase: Phase, set_up: SetUp) -> Vec<Phase> {
    let target = Target {
        library: &slow(side, phase),
        scenario: &scenario(),
        checked: false,
    };
    let life = Lives::new(&target, set_up).unwrap().next().unwrap();
    let slow = life.into_iter().filter(|(_, time)| *time >= PAUSE);
    slow.map(|(phase, _)| phase).collect()
}

#[test]
fn work_counts_in_the_phase_in_which_it_is_done_and_that_of_the_peer_in_none() {
    let all = [Phase::Construction, Phase::Handshake, Phase::Destruction];
    let anchors = Anchors::Own(2);
    for (set_up, role, timed) in [
        (SetUp::Client(anchors), Side::Client, &all[..]),
        (SetUp::Server, Side::Server, &all),
        (SetUp::Names(2), Side::Server, &all),
        (SetUp::Reload(2), Side::Server, &all),
        // The context is neither made nor freed.
        (SetUp::Shared(anchors), Side::Client, &[Phase::Handshake]),
    ] {
        for side in [Side::Client, Side::Server] {
            for phase in all {
                let is_timed = side == role && timed.contains(&phase);
                let expected = Vec::from_iter(is_timed.then_some(phase));
                let found = slow_phases(side, phase, set_up);
                assert_eq!(found, expected, "{set_up}, {side}, {phase:?}");
            }
        }
    }
}

#[test]
fn loading_an_object_that_the_library_lacks_is_an_error() {
    let target = Target {
        library: &CopyLibrary,
        scenario: &scenario(),
        checked: false,
    };
    for set_up in [SetUp::Anchors(Anchors::Own(1)), SetUp::PrivateKey] {
        let error = Lives::new(&target, set_up).unwrap().next().unwrap_err();
        let message = error.to_string();
        assert!(message.ends_with("into a context only"), "{message}");
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
    let library = slow(Side::Server, Phase::Handshake);
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

#[test]
fn a_slope_divides_the_time_of_one_item_from_that_of_each() {
    let millis = Duration::from_millis;
    let expected = [(Phase::Fixed, millis(30)), (Phase::Each, millis(2))];
    assert_eq!(ends(millis(32), millis(30 + 2 * 11), 11), expected);
    // By chance, one item may take no less than many.
    let expected = [(Phase::Fixed, millis(32)), (Phase::Each, millis(0))];
    assert_eq!(ends(millis(32), millis(31), 11), expected);
}
