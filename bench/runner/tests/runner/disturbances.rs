//! Disturbances of a run: load, a stopped process, a changed journal, another program, a clock that
//! steps. Also checks that the fields of a suite reach the program.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use jiff::SignedDuration;
use tls_harness::record::Cause;
use tls_harness::request::Request;
use tlsbench::host::root::Root;
use tlsbench::host::watch::stepped;

use crate::common::{Bench, check_finished, silent_host, stop_in};

/// Runs `work` while another thread repeats `beside`.
fn meanwhile<R>(mut beside: impl FnMut() + Send, work: impl FnOnce() -> R) -> R {
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Relaxed) {
                beside();
            }
        });
        let result = work();
        stop.store(true, Relaxed);
        result
    })
}

#[test]
fn every_field_of_a_suite_reaches_the_program() {
    let bench = Bench::new();
    for set in [true, false] {
        bench.suite(1, 0.0625, &["request"]);
        let flags = format!("pinned = {set}\nlatency = {set}\nthroughput = {set}\n");
        let warmup = format!("warmup_seconds = 0.03125\n{flags}");
        bench.edit("warmup_seconds = 0.0\n", &warmup);
        bench.measure();
        let reason = &bench.blocks()[0].reason;
        let (_, request) = reason.as_deref().unwrap().split_once("Error: ").unwrap();
        let request: Request = serde_json::from_str(request).unwrap();
        let (seconds, warmup) = (request.measure_seconds, request.warmup_seconds);
        assert_eq!([seconds, warmup], [0.0625, 0.03125]);
        let flags = [request.pinned, request.latency, request.throughput];
        assert_eq!(flags, [set; 3]);
        assert_eq!((request.session, request.round, request.block), (1, 1, 0));
    }
}

#[test]
fn load_by_others_disturbs_the_rounds_of_a_run() {
    // Each block adds hours of processor time to these counters.
    let bench = Bench::of(1, &["load"]);
    let root = bench.path("host");
    fs::create_dir_all(root.join("proc")).unwrap();
    let stat = "cpu  1 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0\n";
    fs::write(root.join("proc/stat"), stat).unwrap();
    bench.run(&Root::new(&root)).unwrap();
    let rounds = bench.rounds();
    assert_eq!(rounds.len(), 2, "one is repeated");
    for round in rounds {
        assert_eq!(round.causes, [Cause::Load]);
        assert!(round.load_by_others_percent.unwrap() > 100.0);
    }
}

#[test]
fn disturbed_rounds_are_repeated_up_to_a_bound_and_then_count_with_a_warning() {
    // Each block adds to this counter.
    let bench = Bench::of(6, &["throttled"]);
    let root = bench.path("host");
    let core = root.join("sys/devices/system/cpu/cpu0/thermal_throttle");
    fs::create_dir_all(&core).unwrap();
    fs::write(core.join("core_throttle_count"), "0").unwrap();
    bench.run(&Root::new(&root)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 6);
    let rounds = bench.rounds();
    assert!(rounds.iter().all(|it| it.causes == [Cause::Throttled]));
    // A fifth of 6 rounds, rounded up, is repeated.
    let disturbed = rounds.iter().filter(|it| it.disturbed).count();
    assert_eq!((rounds.len(), disturbed), (8, 2));
    let warnings = bench.measured().warnings;
    let mut warnings = warnings.iter();
    let warning = warnings.find(|it| it.code == "disturbed-rounds-counted");
    let message = &warning.unwrap().message;
    assert!(
        message.starts_with("6 of 6 rounds count although"),
        "{message}"
    );
}

#[test]
fn a_sensor_that_cannot_be_read_is_named_in_the_run() {
    let bench = Bench::of(1, &["one"]);
    let root = bench.path("odd-root");
    // Nobody can read a folder as a file, not even root.
    fs::create_dir_all(root.join("sys/class/thermal/thermal_zone0/temp")).unwrap();
    bench.run(&Root::new(&root)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 1);
    let [warning] = &bench.measured().warnings[..] else {
        panic!("expected one warning");
    };
    let sensor = "/sys/class/thermal/thermal_zone0/temp: ";
    assert!(warning.message.contains(sensor), "{warning:?}");
}

#[test]
fn the_runners_own_processor_time_is_measured() {
    let bench = Bench::new();
    bench.suite(2, 0.1, &["one"]);
    let spin = || {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(1) {}
    };
    meanwhile(spin, || bench.run(&silent_host(&bench))).unwrap();
    let percents: Vec<_> = bench
        .rounds()
        .iter()
        .map(|round| round.runner_cpu_percent.unwrap())
        .collect();
    // A thread of this process works all the time, as far as the host allows.
    assert!(percents.iter().all(|it| *it > 3.0), "{percents:?}");
    assert!(percents[0].to_bits() != percents[1].to_bits());
}

#[test]
fn a_block_whose_process_was_stopped_is_measured_again_and_never_counts() {
    for (way, note) in [
        ("stopped-twice", None),
        ("stopped", Some("the process was stopped")),
    ] {
        let bench = Bench::of(1, &[way]);
        bench.measure();
        check_finished(&bench.path("run"), 1, 2, 1);
        let measured = bench.measurements();
        assert_eq!(measured.len(), 4, "both sides of both programs, once");
        for it in measured {
            assert_eq!((it.valid, it.note.as_deref()), (note.is_none(), note));
        }
    }
}

fn wait_for_records(bench: &Bench) -> PathBuf {
    let path = bench.path("run/raw/records.jsonl");
    while fs::metadata(&path).map_or(0, |it| it.len()) == 0 {
        thread::sleep(Duration::from_millis(1));
    }
    path
}

#[test]
fn a_journal_that_is_deleted_or_edited_during_a_run_ends_the_run() {
    for (edits, expected) in [
        (false, "it was deleted"),
        (true, "the records were changed while the run measured"),
    ] {
        let bench = Bench::new();
        bench.suite(3, 0.1, &["one"]);
        let error = thread::scope(|scope| {
            let ran = scope.spawn(|| bench.run(&silent_host(&bench)).unwrap_err());
            let path = wait_for_records(&bench);
            match edits {
                false => fs::remove_file(&path).unwrap(),
                true => {
                    use std::os::unix::fs::FileExt as _;
                    let file = fs::File::options().write(true).open(&path).unwrap();
                    file.write_all_at(b"[", 0).unwrap();
                }
            }
            format!("{:#}", ran.join().unwrap())
        });
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("--out"), "{error}");
        assert!(!bench.path("run/run.toml").exists());
    }
}

#[test]
fn a_journal_that_lost_rounds_between_two_sessions_is_rejected() {
    let bench = Bench::of(2, &["one"]);
    bench.edit("rounds = 2", "rounds = 2\nsessions = 2");
    let first = bench.measure().sessions.remove(0);
    stop_in(&bench, 1, |run| run.sessions = vec![first.clone()]);
    let error = bench.run(&silent_host(&bench)).unwrap_err().to_string();
    let expected = "found 0 rounds of session 1, expected 2: the records were changed";
    assert!(error.contains(expected), "{error}");
}

#[test]
fn a_gradual_adjustment_of_the_clock_is_not_a_step() {
    let minute = Duration::from_secs(60);
    let found = [59, 60, 61, 62, 0].map(|seconds| {
        stepped(SignedDuration::from_secs(seconds), minute).map(|step| step.as_secs())
    });
    assert_eq!(found, [None, None, None, Some(2), Some(-60)]);
}

/// Makes the time of day jump by an hour once the file `stepped` exists.
const STEP: &str = r#"
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
  int result = syscall(SYS_clock_gettime, clock, time);
  if (clock == CLOCK_REALTIME && access("stepped", F_OK) == 0) time->tv_sec -= 3600;
  return result;
}
"#;

#[test]
fn a_clock_that_steps_during_a_run_is_recorded() {
    let bench = Bench::new();
    bench.suite(1, 0.1, &["one", "two"]);
    fs::write(bench.path("step.c"), STEP).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "libstep.so", "step.c"])
        .current_dir(bench.folder.path())
        .status();
    assert!(built.unwrap().success());
    let mut command = bench.command("", "run --suite suite.toml --host test --out run");
    command.env("LD_PRELOAD", bench.path("libstep.so"));
    let mut runner = command.spawn().unwrap();
    wait_for_records(&bench);
    fs::write(bench.path("stepped"), "").unwrap();
    assert!(runner.wait().unwrap().success());
    let warnings = bench.measured().warnings;
    let stepped = warnings.iter().find(|it| it.code == "stepped-clock");
    let message = &stepped.unwrap().message;
    // To a tenth of a second, since the two clocks are not read at exactly the same time.
    assert!(message.contains("stepped by -3600.0 s") || message.contains("-3599.9 s"));
    for round in bench.rounds() {
        assert!(round.elapsed_seconds < 1000.0);
    }
}
