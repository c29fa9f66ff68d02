//! The figures of a window, and who drives the harness' own cost.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, ThreadId},
};

use serde_json::{Value, json};

use super::*;
use crate::{
    library::watched::{Call, Watch, Watched},
    record::Statistic,
    workloads::{handshake::Handshake, transfer::Transfer},
};

fn request(scenario: &Value, latency: bool) -> Request {
    let mut whole = json!({"protocol": "1.3", "cipher_suite": "TLS_AES_256_GCM_SHA384",
        "key_exchange": "X25519", "certificate": "rsa-2048", "authentication": "server",
        "resumption": "none"});
    for (key, value) in scenario.as_object().unwrap() {
        whole[key] = value.clone();
    }
    serde_json::from_value(json!({
        "schema": 1, "round": 1, "block": 0, "implementation": "noop-1.0", "scenario": whole,
        "latency": latency, "measure_seconds": 0.5, "warmup_seconds": 0.125,
    }))
    .unwrap()
}

fn handshake(threads: u32) -> Request {
    request(
        &json!({"operation": "handshake", "threads": threads}),
        false,
    )
}

/// Notes who drives a library, and makes one call of a side slow.
struct Watching {
    threads: Mutex<HashSet<ThreadId>>,
    slow: Option<(Side, Call, Duration)>,
}

impl Watch for Watching {
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
        if call == Call::Open {
            self.threads.lock().unwrap().insert(thread::current().id());
        }
        if let Some((slow, which, time)) = self.slow
            && (side, call) == (Some(slow), which)
        {
            thread::sleep(time);
        }
        make()
    }
}

fn watched(slow: Option<(Side, Call, Duration)>) -> Watched<'static, NoopLibrary, Watching> {
    Watched {
        library: &NoopLibrary,
        watch: Arc::new(Watching {
            threads: Mutex::default(),
            slow,
        }),
    }
}

#[test]
fn the_harness_own_cost_is_that_of_as_many_threads_as_the_scenario_has() {
    for threads in [1, 3] {
        let watched = watched(None);
        let cost = least_cost::<Handshake, _>(&watched, &handshake(threads)).unwrap();
        assert_eq!(cost.len(), 2, "one for each side");
        let seen = watched.watch.threads.lock().unwrap();
        assert_eq!(seen.len(), threads as usize);
        assert!(!seen.contains(&thread::current().id()));
    }
}

#[test]
fn a_delay_in_one_call_is_a_stall_of_that_length_on_its_side_alone() {
    let delayed = watched(Some((Side::Server, Call::Open, millis(3))));
    let request = handshake(1);
    let target = Target {
        library: &delayed,
        scenario: &request.scenario,
        checked: false,
    };
    let shared = Handshake::prepare(&target).unwrap();
    let medians = || {
        let mut tally = Tally::new(2, true).unwrap();
        <Handshake as Timed>::run(&target, &shared, |step| {
            (0..9).try_for_each(|_| step(&mut tally))
        })
        .unwrap();
        let stalls = |side: usize| {
            let measured = role(&request, None, WORK, &[(9, &tally.roles[side])]).unwrap();
            let stalls = measured.observations.into_iter();
            stalls
                .filter(|it| it.metric == Metric::new("stall"))
                .map(|it| (it.statistic, it.value))
                .collect::<Vec<_>>()
        };
        let [client, server] = [0, 1].map(stalls);
        let statistics = [Statistic::P50, Statistic::P99, Statistic::Max];
        assert_eq!(server.iter().map(|it| it.0).collect::<Vec<_>>(), statistics);
        [client[0].1, server[0].1]
    };
    // On a busy host calls may take longer, but not each time.
    let found: Vec<_> = (0..9).map(|_| medians()).collect();
    let least = |side: usize| found.iter().map(|it| it[side]).fold(f64::MAX, f64::min);
    assert!((2990.0..4000.0).contains(&least(1)), "{found:?} µs");
    assert!(least(0) < 1000.0, "{found:?} µs");
}

#[test]
fn a_stall_is_the_longest_phase_and_not_their_sum() {
    let role = &tally(5, true).roles[0];
    let stalls: Vec<_> = role.stalls.iter().flat_map(Latencies::stalls).collect();
    for stall in stalls {
        assert!((stall.value / 5e3 - 1.0).abs() < 1e-2, "{stall:?}");
    }
    assert!(tally(5, false).roles[0].stalls.is_none());
}

#[test]
fn the_harness_own_cost_is_that_of_one_operation() {
    // 64 writes a step: on a busy host a write may take longer, but not 64 times as long.
    let scenario = json!({"operation": "transfer", "size": 16384, "in_flight": 1 << 20});
    let slow = watched(Some((Side::Server, Call::Data, Duration::from_micros(100))));
    let cost = least_cost::<Transfer, _>(&slow, &request(&scenario, false)).unwrap();
    assert!((1e5..4e6).contains(&cost[0]), "{cost:?} ns a write");
    assert!(cost[1] < 1e5, "{cost:?} ns a write");
}

fn millis(number: u64) -> Duration {
    Duration::from_millis(number)
}

/// Steps of a handshake, each with the same times.
fn tally(steps: u64, latency: bool) -> Tally {
    let mut tally = Tally::new(2, latency).unwrap();
    for _ in 0..steps {
        let client = vec![
            (Phase::Construction, millis(1)),
            (Phase::Flight1, millis(2)),
            (Phase::Flight2, millis(5)),
        ];
        let server = vec![
            (Phase::Construction, millis(4)),
            (Phase::Flight1, millis(6)),
        ];
        tally.add([client, server]).unwrap();
    }
    tally
}

const WORK: Work = Work {
    operations: 2,
    amount: 3.0,
    quantity: Quantity::Mebibytes,
};

#[test]
fn throughput_is_measured_from_the_first_start_to_the_last_end_of_a_thread() {
    let zero = Instant::now();
    let window = |steps, start, end| Window {
        tally: tally(steps, false),
        start: zero + millis(start),
        end: zero + millis(end),
        stopped: None,
    };
    let windows = [
        window(5, 100, 600),
        window(10, 0, 500),
        window(15, 50, 1000),
    ];
    let all = throughput(&handshake(3), WORK, &windows).unwrap();
    assert_eq!(all.elapsed_seconds, Some(1.0));
    assert_eq!(all.operations, 60);
    assert_eq!(all.observations, [whole(180.0, Quantity::Mebibytes)]);
    assert_eq!(all.scenario.side, None);
    let expected = [30.0 / 0.5, 60.0 / 0.5, 90.0 / 0.95];
    let rates = all.per_thread.unwrap();
    assert_eq!(rates.len(), 3);
    for (found, expected) in rates.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-9, "{rates:?}");
    }
    let one = throughput(&handshake(1), WORK, &windows[..1]).unwrap();
    assert_eq!((one.elapsed_seconds, one.per_thread), (Some(0.5), None));
    assert!(throughput(&handshake(1), WORK, &[]).is_err());
}

#[test]
fn a_role_has_the_sum_of_its_threads_rates_and_the_mean_of_its_phases() {
    let tallies = [tally(5, false), tally(10, false)];
    let threads = |index: usize| -> Vec<_> {
        let roles = tallies.iter().map(|it| (it.steps, &it.roles[index]));
        roles.collect()
    };
    let client = role(&handshake(2), Some(Side::Client), WORK, &threads(0)).unwrap();
    assert_eq!(client.operations, 30);
    assert_eq!(client.elapsed_seconds, Some(0.12));
    assert_eq!(client.scenario.side, Some(Side::Client));
    // 2 x 3 MiB in 8 ms, on two threads.
    let rates = client.per_thread.unwrap();
    assert!(rates.iter().all(|rate| (rate - 750.0).abs() < 1e-9));
    let total = &client.observations[0];
    assert_eq!((total.metric, total.phase), (Metric::RATE, Phase::Total));
    let one = Work {
        amount: 1.0,
        quantity: Quantity::Single,
        ..WORK
    };
    let single = role(&handshake(1), None, one, &threads(0)[..1]).unwrap();
    let time = &single.observations[0];
    assert_eq!((time.metric, time.phase), (Metric::DURATION, Phase::Total));
    assert!((time.value - 4000.0).abs() < 1e-9, "{time:?}");
    assert_eq!(total.unit, Unit::MEBIBYTES_PER_SECOND);
    assert!((total.value - 1500.0).abs() < 1e-9);
    let phases: Vec<_> = client.observations[1..]
        .iter()
        .map(|it| (it.phase, it.metric, it.value, it.unit))
        .collect();
    let duration = |phase, value| (phase, Metric::DURATION, value, Unit::MICROSECONDS);
    let expected = [
        duration(Phase::Construction, 500.0),
        duration(Phase::Flight1, 1000.0),
        duration(Phase::Flight2, 2500.0),
    ];
    assert_eq!(phases, expected);
    assert_eq!(client.histogram, None);
    let server = role(&handshake(2), Some(Side::Server), WORK, &threads(1)[..1]).unwrap();
    assert_eq!(
        (server.operations, server.elapsed_seconds),
        (10, Some(0.05))
    );
    assert_eq!(server.per_thread, None);
}

#[test]
fn latencies_are_the_sums_of_the_phases_of_each_step() {
    let tallies = [tally(5, true), tally(10, true)];
    let threads: Vec<_> = tallies.iter().map(|it| (it.steps, &it.roles[0])).collect();
    let client = role(&handshake(2), Some(Side::Client), WORK, &threads).unwrap();
    assert!(client.histogram.is_some());
    let percentiles: Vec<_> = client
        .observations
        .iter()
        .filter(|it| it.statistic != Statistic::Value && it.metric == Metric::DURATION)
        .collect();
    assert_eq!(percentiles.len(), 6);
    for found in percentiles {
        assert!((found.value / 8000.0 - 1.0).abs() < 2e-3, "{found:?}");
    }
}

#[test]
fn a_kind_with_one_phase_records_its_rate_and_no_phase() {
    let mut tally = Tally::new(1, false).unwrap();
    tally.add([[(Phase::Total, millis(4))]]).unwrap();
    let record = role(&handshake(1), None, WORK, &[(tally.steps, &tally.roles[0])]).unwrap();
    assert_eq!(
        record.observations,
        [whole(1500.0, Quantity::Mebibytes)],
        "{:?}",
        record.observations
    );
}

#[test]
fn the_request_states_the_times_and_a_negative_time_is_rejected() {
    let mut request = handshake(1);
    assert_eq!(spans(&request).unwrap(), [millis(125), millis(500)]);
    request.warmup_seconds = -1.0;
    let error = spans(&request).unwrap_err().to_string();
    assert_eq!(error, "-1 s is no span of time");
}

/// Counted steps of a kind that takes no library, in the order of time.
static STEPS: Mutex<Vec<(ThreadId, Instant)>> = Mutex::new(Vec::new());

/// A kind whose step takes a millisecond, and of which every other step does nothing but check. Of
/// several threads, the first is late.
struct Ticking;

const LATE: Duration = Duration::from_millis(100);

impl Timed for Ticking {
    const SIDES: &'static [Option<Side>] = &[Some(Side::Client), Some(Side::Server)];
    const LATENCY: bool = true;

    type Shared<L: TlsLibrary> = AtomicBool;

    fn work(_: &Scenario) -> Result<Work> {
        Ok(WORK)
    }

    fn prepare<L: TlsLibrary>(target: &Target<'_, L>) -> Result<AtomicBool> {
        Ok(AtomicBool::new(target.scenario.threads != Some(1)))
    }

    fn run<L: TlsLibrary, R>(
        _: &Target<'_, L>,
        is_late: &AtomicBool,
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        if is_late.swap(false, Ordering::Relaxed) {
            thread::sleep(LATE);
        }
        let mut counts = false;
        driver(&mut |tally| {
            let start = Instant::now();
            thread::sleep(millis(1));
            counts = !counts;
            if counts {
                return Ok(());
            }
            STEPS.lock().unwrap().push((thread::current().id(), start));
            let client = vec![(Phase::Total, millis(1))];
            tally.add([client.clone(), client])
        })
    }
}

/// The measurements of a request, and the times of the counted steps by thread.
fn ticks(request: &Request) -> (Vec<Measurement>, HashMap<ThreadId, Vec<Instant>>) {
    static ONE_AFTER_ANOTHER: Mutex<()> = Mutex::new(());
    let _guard = ONE_AFTER_ANOTHER
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    STEPS.lock().unwrap().clear();
    let records = Workload::<NoopLibrary>::measure(&Ticking, &NoopLibrary, request).unwrap();
    let measured = records.into_iter().map(|record| match record {
        Record::Measurement(it) => it,
        other => panic!("{other:?} is no measurement"),
    });
    let mut steps: HashMap<_, Vec<_>> = HashMap::new();
    for (thread, time) in STEPS.lock().unwrap().drain(..) {
        steps.entry(thread).or_default().push(time);
    }
    (measured.collect(), steps)
}

#[test]
fn a_window_follows_the_warm_up_and_lasts_for_its_time() {
    for [warm_up, measured_for] in [[0, 20], [50, 100], [100, 20]] {
        let mut request = request(&json!({"operation": "handshake", "threads": 1}), true);
        request.warmup_seconds = millis(warm_up).as_secs_f64();
        request.measure_seconds = millis(measured_for).as_secs_f64();
        let start = Instant::now();
        let (measured, steps) = ticks(&request);
        assert!(start.elapsed() >= millis(warm_up + measured_for));
        let sides: Vec<_> = measured.iter().map(|it| it.scenario.side).collect();
        assert_eq!(sides, [Some(Side::Client), Some(Side::Server)]);
        assert!(measured.iter().all(|it| it.histogram.is_some() && it.valid));
        assert!(!steps.contains_key(&thread::current().id()));
        let steps = steps.into_values().next().unwrap();
        let counted = usize::try_from(measured[0].operations / WORK.operations).unwrap();
        let first = steps.len() - counted;
        assert!(first >= 2, "{first} steps of warm-up");
        assert!(steps[first] - start >= millis(warm_up));
        // The last step began within the window.
        assert!(*steps.last().unwrap() - steps[first] < millis(measured_for));
    }
}

#[test]
fn however_short_the_time_is_a_step_that_counts_is_measured() {
    let mut request = handshake(1);
    (request.warmup_seconds, request.measure_seconds) = (0.0, 0.0);
    request.throughput = true;
    let (measured, _) = ticks(&request);
    assert_eq!(measured.len(), 3);
    assert!(measured.iter().all(|it| it.operations == WORK.operations));
    assert_eq!(measured[2].scenario.side, None);
}

#[test]
fn threads_measure_for_one_window_when_all_are_ready() {
    const WINDOW: Duration = Duration::from_millis(50);
    let mut request = handshake(3);
    (request.warmup_seconds, request.measure_seconds) = (0.0, WINDOW.as_secs_f64());
    request.throughput = true;
    let (measured, steps) = ticks(&request);
    assert_eq!(steps.len(), 3);
    assert!(!steps.contains_key(&thread::current().id()));
    let late = steps.values().map(|times| times[0]).max().unwrap();
    for times in steps.values() {
        let before = times.iter().filter(|time| **time < late).count();
        assert!(before <= 2, "{before} steps before all were ready");
        let lasted = *times.last().unwrap() - late;
        assert!(times.len() > before + 2, "{} steps", times.len());
        assert!(lasted < WINDOW + LATE, "{lasted:?}");
    }
    // The rate refers to the time that passed, not to the time in the roles' calls.
    let [clients, _, all] = &measured[..] else {
        panic!("{measured:?} is not of two sides and of all threads");
    };
    assert_eq!(all.operations, clients.operations);
    let wall = all.operations as f64 * WORK.amount / all.observations[0].value;
    assert!(wall >= WINDOW.as_secs_f64(), "{wall} s");
}

/// A kind whose step is away for as long as a process that it waits for.
struct Away<const WAITS: bool>;

impl<const WAITS: bool> Timed for Away<WAITS> {
    const SIDES: &'static [Option<Side>] = &[None];
    const LEAST_WARM_UP: u32 = 0;

    type Shared<L: TlsLibrary> = ();

    fn work(_: &Scenario) -> Result<Work> {
        Ok(WORK)
    }

    fn prepare<L: TlsLibrary>(_: &Target<'_, L>) -> Result<()> {
        Ok(())
    }

    fn waits(_: &Scenario) -> bool {
        WAITS
    }

    fn run<L: TlsLibrary, R>(
        _: &Target<'_, L>,
        (): &(),
        driver: impl FnOnce(&mut Step<'_>) -> Result<R>,
    ) -> Result<R> {
        driver(&mut |tally| {
            thread::sleep(millis(100));
            tally.add([[(Phase::Total, millis(100))]])
        })
    }
}

#[test]
fn a_thread_that_waits_for_a_process_was_not_stopped() {
    let mut request = handshake(1);
    (request.warmup_seconds, request.measure_seconds) = (0.0, 0.0);
    let valid = |kind: &dyn Workload<NoopLibrary>| {
        let records = kind.measure(&NoopLibrary, &request).unwrap();
        let [Record::Measurement(measured)] = &records[..] else {
            panic!("{records:?} is not one measurement");
        };
        let note = measured.note.clone().unwrap_or_default();
        let is_said = note.starts_with("the process was stopped for ")
            && note.ends_with("% of the measured time");
        assert_eq!(is_said, !measured.valid, "{note}");
        measured.valid
    };
    assert!(valid(&Away::<true>));
    assert!(!valid(&Away::<false>));
}
