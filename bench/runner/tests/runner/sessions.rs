//! Sessions of a run, and layouts of its programs.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use tlsbench::files::sha256;
use tlsbench::host::root::Root;
use tlsbench::listing::expectation;
use tlsbench::manifest::{LayoutKind, RunSession};
use tlsbench::options::Options;
use tlsbench::plan::Order;
use tlsbench::run::run;
use tlsbench::suite::SuiteFile;

use crate::common::{Bench, check_finished, copy, place, silent_host, stop_in};

fn several(bench: &Bench, sessions: u32) -> Order {
    bench.ordered(Options {
        sessions: Some(sessions),
        ..Options::default()
    })
}

#[test]
fn round_numbers_continue_over_the_sessions() {
    let bench = Bench::of(2, &["one", "two"]);
    run(&several(&bench, 3), &silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 2, 2, 6);
    let records = bench.records();
    let found: BTreeSet<_> = records.iter().map(place).collect();
    let expected = [(1, 1), (1, 2), (2, 3), (2, 4), (3, 5), (3, 6)];
    assert_eq!(found, BTreeSet::from(expected));
    let sessions = bench.measured().sessions;
    let numbers: Vec<_> = sessions.iter().map(|it| (it.number, it.rounds)).collect();
    assert_eq!(numbers, [1, 2, 3].map(|number| (number, Some(2))));
    let seeds: BTreeSet<_> = sessions.iter().map(|it| it.seed).collect();
    assert_eq!(seeds.len(), 3, "each session has an order of its own");
}

#[test]
fn a_run_of_one_session_records_it_and_its_records_do_not_name_it() {
    let bench = Bench::of(1, &["one"]);
    let run = bench.measure();
    let [
        RunSession {
            number: 1, seed, ..
        },
    ] = run.sessions[..]
    else {
        panic!("{:?}", run.sessions);
    };
    assert_eq!(Some(seed), run.seed);
    assert!(run.layouts.is_empty());
    let raw = fs::read_to_string(bench.path("run/raw/records.jsonl")).unwrap();
    assert!(!raw.contains("session") && !raw.contains("layout"), "{raw}");
}

#[test]
fn measuring_one_session_at_a_time_gives_the_same_run() {
    let bench = Bench::of(2, &["one"]);
    let mut order = several(&bench, 3);
    order.options.one_session = true;
    for measured in 1..3 {
        let left = run(&order, &silent_host(&bench)).unwrap();
        assert!(left.ends_with("run.partial.toml"), "{left:?}");
        let records = bench.records();
        let sessions: BTreeSet<_> = records.iter().map(|it| place(it).0).collect();
        assert_eq!(sessions, (1..=measured).collect());
    }
    let finished = run(&order, &silent_host(&bench)).unwrap();
    assert!(finished.ends_with("run.toml"), "{finished:?}");
    check_finished(&bench.path("run"), 1, 2, 6);
}

#[test]
fn a_suite_may_state_its_sessions() {
    let bench = Bench::of(1, &["one"]);
    bench.edit("rounds = 1", "rounds = 1\nsessions = 2");
    bench.run(&silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 2);
    let suite = SuiteFile::read(&bench.path("suite.toml"), None).unwrap();
    let text = expectation(&suite.suite);
    assert!(text.contains("2 sessions, each as above"), "{text}");
}

#[test]
fn a_stopped_run_resumes_in_its_session() {
    let bench = Bench::of(2, &["one"]);
    let order = several(&bench, 3);
    run(&order, &silent_host(&bench)).unwrap();
    let before = bench.measured().sessions;
    stop_in(&bench, 2, |_| {});
    run(&order, &silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 6);
    let after = bench.measured().sessions;
    assert_eq!(after[0], before[0], "a finished session is left as it is");
    assert_eq!(after[1].seed, before[1].seed);
    assert_ne!(
        after[2].seed, before[2].seed,
        "one that was not begun is new"
    );
}

#[test]
fn sessions_are_the_requested_time_apart() {
    let bench = Bench::of(1, &["one"]);
    let mut order = several(&bench, 2);
    order.options.apart = Some(Duration::from_secs(2));
    let start = Instant::now();
    run(&order, &silent_host(&bench)).unwrap();
    assert!(
        start.elapsed() > Duration::from_secs(1),
        "times have whole seconds"
    );
}

/// A host with this kernel and `files`.
fn host(bench: &Bench, kernel: &str, files: &[(&str, &str)]) -> Root {
    let root = bench.path("root");
    for (path, text) in [("proc/sys/kernel/osrelease", kernel)].iter().chain(files) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Root::new(root)
}

const MACHINE: &str = "etc/machine-id";

/// Stops a run of two sessions before the second one.
fn one_of_two(bench: &Bench) {
    stop_in(bench, 2, |run| {
        run.sessions.truncate(1);
        let first = &mut run.sessions[0];
        (first.finished, first.rounds) = (Some(first.started), Some(1));
    });
}

#[test]
fn a_new_session_after_a_change_of_the_kernel_records_it_with_a_warning() {
    let bench = Bench::of(1, &["one"]);
    let order = several(&bench, 2);
    run(&order, &host(&bench, "6.1.0", &[(MACHINE, "a")])).unwrap();
    assert_eq!(bench.measured().sessions[1].host, None);
    stop_in(&bench, 1, |_| {});
    // The first session started on the old kernel.
    let other = host(&bench, "6.1.1", &[]);
    let error = run(&order, &other).unwrap_err().to_string();
    let expected = "host: kernel was \"6.1.0\", is \"6.1.1\"";
    assert!(error.contains(expected), "{error}");
    run(&order, &host(&bench, "6.1.0", &[])).unwrap();
    one_of_two(&bench);
    run(&order, &host(&bench, "6.1.1", &[])).unwrap();
    let found = bench.measured();
    let hosts = [&found.host, &found.sessions[1].host];
    let kernels = hosts.map(|it| it.clone().unwrap().kernel.unwrap());
    assert_eq!(kernels, ["6.1.0", "6.1.1"]);
    let mut warnings = found.warnings.iter();
    let warning = warnings.find(|it| it.code == "changed-host").unwrap();
    let expected = "In session 2: The host differs from session 1: kernel was 6.1.0, is 6.1.1.";
    assert_eq!(warning.message, expected);
}

#[test]
fn a_new_session_on_another_machine_is_rejected() {
    let bench = Bench::of(1, &["one"]);
    let order = several(&bench, 2);
    run(&order, &host(&bench, "6.1.0", &[(MACHINE, "a")])).unwrap();
    one_of_two(&bench);
    let error = run(&order, &host(&bench, "6.1.0", &[(MACHINE, "b")])).unwrap_err();
    let expected = "session 2 cannot begin on this host: it is another machine of this kind";
    assert_eq!(error.to_string(), expected);
}

/// Virtual machines of one image have the same name, machine and kernel.
#[test]
fn a_session_on_another_processor_model_is_rejected() {
    let bench = Bench::of(1, &["one"]);
    let order = several(&bench, 2);
    let on = |model: u32| {
        let cpuinfo = format!(
            "processor\t: 0\ncpu family\t: 25\nmodel\t: {model}\nmodel name\t: AMD EPYC\n\
             stepping\t: 1\nflags\t: fpu hypervisor\n"
        );
        host(
            &bench,
            "6.1.0",
            &[(MACHINE, "a"), ("proc/cpuinfo", &cpuinfo)],
        )
    };
    let stops: [fn(&Bench); 2] = [|bench| stop_in(bench, 1, |_| {}), one_of_two];
    for stop in stops {
        run(&order, &on(17)).unwrap();
        stop(&bench);
        let error = run(&order, &on(2)).unwrap_err().to_string();
        assert!(error.contains("model 2, stepping 1"), "{error}");
    }
}

/// An order of several sessions with two layouts.
fn in_layouts(bench: &Bench, sessions: u32) -> Order {
    let mut order = several(bench, sessions);
    order.options.layouts = Some(2);
    order
}

/// Links the fake programs: each layout has different trailing bytes, which have no effect.
fn link(bench: &Bench) {
    for layout in 0..2 {
        let folder = bench.path(&format!("layouts/shifted-2/{layout}"));
        fs::create_dir_all(&folder).unwrap();
        for name in ["fake-a", "fake-b"] {
            let appended = format!("layout {layout}");
            copy(&bench.path(name), &folder.join(name), &appended);
        }
    }
}

#[test]
fn each_session_uses_a_layout_whose_checksums_are_recorded() {
    let bench = Bench::of(1, &["one"]);
    link(&bench);
    let order = in_layouts(&bench, 3);
    run(&order, &silent_host(&bench)).unwrap();
    let found = bench.measured();
    let used: Vec<_> = found.sessions.iter().map(|it| it.layout).collect();
    assert_eq!(used, [0, 1, 0]);
    for it in bench.measurements() {
        assert_eq!(it.layout, (it.session - 1) % 2);
    }
    let kinds: Vec<_> = found
        .layouts
        .iter()
        .map(|it| (it.number, it.kind, it.seed))
        .collect();
    assert_eq!(
        kinds,
        [
            (0, LayoutKind::Own, None),
            (1, LayoutKind::Shifted, Some(1))
        ]
    );
    for layout in &found.layouts {
        for name in ["fake-a", "fake-b"] {
            let path = bench.path(&format!("layouts/shifted-2/{}/{name}", layout.number));
            let sha256 = sha256(fs::read(path).unwrap());
            assert_eq!(layout.programs[&format!("{name}-1.0")], sha256);
        }
    }
    let own = found.implementations[0].binary_sha256.as_ref().unwrap();
    assert_eq!(*own, found.layouts[0].programs["fake-a-1.0"]);
}

#[test]
fn a_program_that_was_linked_again_between_sessions_is_rejected() {
    let bench = Bench::of(1, &["one"]);
    link(&bench);
    let order = in_layouts(&bench, 2);
    run(&order, &silent_host(&bench)).unwrap();
    stop_in(&bench, 2, |_| {});
    let program = bench.path("layouts/shifted-2/1/fake-a");
    let mut bytes = fs::read(&program).unwrap();
    bytes.push(0);
    fs::write(&program, bytes).unwrap();
    let error = run(&order, &silent_host(&bench)).unwrap_err().to_string();
    assert!(
        error.contains("programs were linked differently"),
        "{error}"
    );
}

#[test]
fn the_error_for_a_missing_layout_names_the_command_that_links_it() {
    let bench = Bench::of(1, &["one"]);
    let order = in_layouts(&bench, 2);
    let error = run(&order, &silent_host(&bench)).unwrap_err().to_string();
    assert!(
        error.contains("shifted-2/0/fake-a; link it: tlsbench build --suite"),
        "{error}"
    );
}
