//! Schedule, failures, time-outs and resumption.

use std::fs;

use serde_json::Value;
use tls_harness::record::{Cause, Status};
use tlsbench::files::sha256;
use tlsbench::host::root::Root;
use tlsbench::manifest::Run;
use tlsbench::plan::Order;
use tlsbench::run::run;
use tlsbench::schedule::order;

use crate::common::{Answer, Bench, check_finished, expect, rows, silent_host, stop_in};

fn schema(name: &str) -> jsonschema::Validator {
    let path = format!("{}/../../data/schema/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[test]
fn the_seed_determines_the_order_of_libraries_in_each_block() {
    let bench = Bench::of(6, &["one", "two"]);
    let seed = bench.measure().seed.unwrap();
    check_finished(&bench.path("run"), 2, 2, 6);
    let mut expected = Vec::new();
    for round in 1..=6 {
        for block in 0..2 {
            for index in order(seed, round, block, 2) {
                let id = ["fake-a-1.0", "fake-b-1.0"][index];
                expected.push((round, block, id.to_owned()));
            }
        }
    }
    let measured = bench.blocks().into_iter();
    let measured = measured.map(|it| (it.round, it.block, it.implementation));
    assert_eq!(measured.collect::<Vec<_>>(), expected);
}

#[test]
fn every_run_has_its_own_seed() {
    let bench = Bench::of(1, &["one"]);
    let seeds = [(); 3].map(|()| bench.measure().seed);
    assert!(
        seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2],
        "{seeds:?}"
    );
}

#[test]
fn written_files_fit_the_schemas_and_contain_no_local_path() {
    let bench = Bench::of(2, &["one", "absent", "crash"]);
    bench.run(&Root::host()).unwrap();
    let text = fs::read_to_string(bench.path("run/run.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let value = plain(&toml::Value::Table(table));
    schema("run.schema.json").validate(&value).unwrap();
    let record = schema("record.schema.json");
    let raw = fs::read_to_string(bench.path("run/raw/records.jsonl")).unwrap();
    for line in raw.lines() {
        record
            .validate(&serde_json::from_str(line).unwrap())
            .unwrap();
    }
    let place = bench.folder.path().to_str().unwrap();
    assert!(!text.contains(place) && !raw.contains(place));
    let file = &bench.measured().files[0];
    assert_eq!(file.bytes, raw.len() as u64);
    assert_eq!(file.sha256, sha256(raw.as_bytes()));
}

/// Converts TOML to JSON with dates as strings, as the Python schema expects.
fn plain(value: &toml::Value) -> Value {
    match value {
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => items.iter().map(plain).collect(),
        toml::Value::Table(table) => table
            .iter()
            .map(|(key, value)| (key.clone(), plain(value)))
            .collect(),
        other => serde_json::to_value(other).unwrap(),
    }
}

/// How a program fails, and the reason that is recorded.
const FAILURES: &str = r#"
    crash            | exit status 1: Error: the server's certificate was not verified
    abort            | killed by signal 6
    crash-at-the-end | exit status 1: Error: after the last record
    truncated        | output: expected complete lines
    twice            | client again, expected it once
    another-scenario | X25519, 99 threads, client, expected TLS 1.3
    without-side     | output, line 1: measured TLS 1.3 full handshake, RSA-2048, X25519, 7 threads, expected
    no-mark          | output, line 3: nothing, expected a block mark
    1001.0 => -1.0   | output, line 1: -1, expected a finite number not below 0
    1001.0 => 0.0    | output, line 1: 0 handshakes/s, expected a rate of 0.01 to 1e12
    1001.0 => NaN    | output, line 1: expected value
    1001.0 => 1e999  | output, line 1: number out of range
    "handshakes/s" => "MiB/s"                 | output, line 1: unit MiB/s for the rate of a handshake, expected
    }]," => }],"operations":1,"               | output, line 1: duplicate field `operations`
    "operations":1 => "operations":0          | output, line 1: 0 operations, expected at least 1
    "elapsed_seconds":1.0 => "elapsed_seconds":0.0 | output, line 1: elapsed_seconds 0, expected more than 0
    "side":"client" => "side":"sender"        | sending, expected TLS 1.3
    "round":1 => "round":2                    | output, line 1: session 1, round 2 of fake-
"#;

#[test]
fn a_failed_block_is_recorded_with_its_reason_and_the_rest_is_measured() {
    let failures = rows::<2>(FAILURES);
    let ways = failures.iter().map(|[way, _]| *way).chain(["fine"]);
    let bench = Bench::of(1, &Vec::from_iter(ways));
    let warnings = bench.measure().warnings;
    let scenarios = failures.len() as u32 + 1;
    check_finished(&bench.path("run"), scenarios, 2, 1);
    for block in bench.blocks() {
        let (status, [way, reason]) = match failures.get(block.block as usize) {
            Some(row) => (Status::Failed, *row),
            None => (Status::Measured, ["fine", ""]),
        };
        let found = block.reason.unwrap_or_default();
        assert_eq!(block.status, status, "{way}: {found}");
        assert!(found.contains(reason), "{way}: {found}");
    }
    for [way, reason] in &failures {
        let named = warnings.iter().filter(|it| it.message.contains(reason));
        let named = named.filter(|it| it.code == "failed-blocks");
        assert!(named.count() >= 2, "{way}");
    }
    let measured = bench.measurements().into_iter();
    let threads: Vec<_> = measured.map(|it| it.scenario.threads).collect();
    assert_eq!(threads, [Some(scenarios); 4], "only the last one");
}

#[test]
fn what_a_library_or_a_suite_says_never_orders_a_terminal() {
    let bench = Bench::of(1, &["orders"]);
    bench.edit(
        "description = \"\"",
        "description = \"\\u001b[2J\\u009b1A\"",
    );
    // As on a terminal: otherwise the styles are removed, and with them what is like one.
    let answer = |arguments: &str| {
        let mut command = bench.command("", arguments);
        command.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
        let answer = Answer::of(&mut command);
        for text in [&answer.printed, &answer.errors] {
            for order in ["\u{1b}]", "\u{1b}[2J", "\u{9b}", "\u{7}", "\u{202e}"] {
                assert!(!text.contains(order), "{text:?}");
            }
        }
        answer
    };
    let listed = answer("list --suite suite.toml");
    expect(&listed.printed, &["\\u001b[2J\\u009b1A"]);
    let measured = answer("run --suite suite.toml --host test --out run");
    expect(
        &measured.errors,
        &["\\u001b]0;title\\u0007 \\u001b[2J", "warning:", "\u{1b}["],
    );
    let unknown = answer("list --suite \u{1b}[2J");
    expect(&unknown.errors, &["\\u001b[2J"]);
    let file = fs::read_to_string(bench.path("run/run.toml")).unwrap();
    assert!(!file.contains('\u{1b}'));
    let mut reasons = bench.blocks().into_iter().filter_map(|it| it.reason);
    assert!(reasons.all(|it| it.contains("\u{1b}]0;title")));
    let warnings = bench.measured().warnings;
    assert!(
        warnings
            .iter()
            .any(|it| it.message.contains("\u{1b}]0;title"))
    );
}

#[test]
fn a_primitive_is_measured_without_a_side() {
    let bench = Bench::of(1, &[]);
    let primitive = "[[scenarios]]\noperation = \"primitive\"\nvariant = \"rsa-2048-sign\"\n";
    bench.edit("\"fake-b\"]\n", &format!("\"fake-b\"]\n{primitive}"));
    bench.measure();
    check_finished(&bench.path("run"), 1, 2, 1);
    let measured = bench.measurements().into_iter();
    let names: Vec<_> = measured.map(|it| it.scenario.name()).collect();
    assert_eq!(names, ["primitive, rsa-2048-sign"; 2]);
}

#[test]
fn an_unsupported_scenario_is_absent_with_its_reason() {
    let bench = Bench::of(1, &["absent"]);
    assert!(bench.measure().warnings.is_empty());
    let marks = bench.blocks().into_iter().map(|it| (it.status, it.reason));
    let absent = (Status::Absent, Some("has no such thing".to_owned()));
    assert_eq!(marks.collect::<Vec<_>>(), [absent.clone(), absent]);
}

#[test]
fn a_hanging_program_is_killed_with_its_children_and_tried_three_times() {
    let bench = Bench::of(5, &["hang-with-child"]);
    bench.edit("timeout_seconds = 2.0", "timeout_seconds = 0.2");
    let warnings = bench.measure().warnings;
    let blocks = bench.blocks().into_iter();
    let first = blocks.filter(|it| it.implementation == "fake-a-1.0");
    let reasons: Vec<_> = first.map(|it| it.reason.unwrap()).collect();
    let hung = "hung: killed after 0.2 s";
    assert_eq!(reasons[..3], [hung; 3]);
    assert_eq!(
        reasons[3..],
        [
            format!("not tried again: {hung}"),
            format!("not tried again: {hung}")
        ]
    );
    let expected = format!(
        "fake-a-1.0 failed in 5 blocks of TLS 1.3 full handshake, RSA-2048, X25519: {hung}."
    );
    assert_eq!(warnings[0].message, expected);
}

#[test]
fn a_temporary_failure_does_not_stop_later_rounds() {
    let bench = Bench::of(3, &["crash-in-round-1"]);
    bench.measure();
    let statuses: Vec<_> = bench.blocks().iter().map(|it| it.status).collect();
    assert_eq!(statuses[..2], [Status::Failed; 2]);
    assert_eq!(statuses[2..], [Status::Measured; 4]);
}

#[test]
fn a_run_whose_journal_was_cut_at_any_moment_resumes() {
    let bench = Bench::of(2, &["one", "two"]);
    bench.measure();
    let folder = bench.path("run");
    let whole = fs::read(folder.join("raw/records.jsonl")).unwrap();
    for cut in (0..whole.len()).step_by(whole.len() / 12) {
        stop_in(&bench, 1, |_| {});
        fs::write(folder.join("raw/records.jsonl"), &whole[..cut]).unwrap();
        bench.run(&silent_host(&bench)).unwrap();
        check_finished(&folder, 2, 2, 2);
        let again = fs::read(folder.join("raw/records.jsonl")).unwrap();
        let kept = again.iter().zip(&whole).take_while(|(a, b)| a == b).count();
        let last_mark = whole[..cut].iter().rposition(|byte| *byte == b'\n');
        assert!(
            kept + 1000 > last_mark.unwrap_or(0),
            "cut at {cut}: only {kept} bytes kept"
        );
        let rounds = bench.rounds();
        let is_interrupted = rounds.iter().any(|it| it.causes == [Cause::Interrupted]);
        let warnings = bench.measured().warnings;
        let expected: &[&str] = match is_interrupted {
            true => &["The run was interrupted and resumed 1 time."],
            false => &[],
        };
        assert!(
            warnings
                .iter()
                .map(|it| &*it.message)
                .eq(expected.iter().copied()),
            "{warnings:?}"
        );
        assert_eq!(is_interrupted, rounds.len() == 3);
    }
}

type Change = fn(&mut Vec<String>);

/// What is changed in a journal of two rounds with 13 lines each: of two scenarios of two programs,
/// three lines a block, and the state of the round. The line that is named, and a part of the message.
const CHANGES: [(Change, usize, &str); 12] = [
    (
        |it| it[..6].rotate_left(3),
        1,
        "session 1, round 1 of fake-",
    ),
    (|it| it[..12].rotate_left(6), 1, ""),
    (|it| it.rotate_left(13), 1, "round 2 of fake-"),
    (
        |it| it.swap(11, 12),
        10,
        "a record that no block mark follows",
    ),
    (|it| it.swap(0, 3), 1, "session 1, round 1 of fake-"),
    (
        |it| it[1] = it[0].clone(),
        2,
        "client again, expected it once",
    ),
    (|it| drop(it.drain(3..6)), 4, ""),
    (
        |it| drop(it.drain(9..12)),
        10,
        "after 3 of its blocks, expected all 4",
    ),
    (|it| drop(it.drain(..13)), 1, "round 2 of fake-"),
    (
        |it| it.extend(it[..13].to_vec()),
        27,
        "session 1, round 1 of fake-",
    ),
    (
        |it| edit(&mut it[0], "1001.0", "0.0"),
        1,
        "0 handshakes/s, expected a rate",
    ),
    (
        |it| {
            edit(
                &mut it[12],
                "\"round\":1",
                "\"round\":1,\"causes\":[\"load\"]",
            )
        },
        13,
        "disturbed = false with 1 causes, expected true",
    ),
];

fn edit(line: &mut String, old: &str, new: &str) {
    assert!(line.contains(old), "{line}");
    *line = line.replacen(old, new, 1);
}

#[test]
fn a_run_whose_journal_was_reordered_or_edited_does_not_resume() {
    let bench = Bench::of(2, &["one", "two"]);
    bench.measure();
    let journal = bench.path("run/raw/records.jsonl");
    let whole = fs::read_to_string(&journal).unwrap();
    stop_in(&bench, 1, |_| {});
    for (change, line, expected) in CHANGES {
        let mut lines: Vec<_> = whole.split_inclusive('\n').map(str::to_owned).collect();
        change(&mut lines);
        fs::write(&journal, lines.concat()).unwrap();
        let error = bench.run(&silent_host(&bench)).unwrap_err().to_string();
        let place = format!("records.jsonl:{line}: found ");
        assert!(
            error.contains(&place) && error.contains(expected),
            "{error}"
        );
        assert!(error.contains("another --out"), "{error}");
        assert_eq!(
            fs::read_to_string(&journal).unwrap(),
            lines.concat(),
            "{expected}"
        );
        assert!(!bench.path("run/run.toml").exists());
    }
    fs::write(&journal, &whole).unwrap();
    bench.run(&silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 2, 2, 2);
    assert_eq!(fs::read_to_string(&journal).unwrap(), whole);
}

/// A run with its plan only, as after a kill in the first block.
fn begun() -> Bench {
    let bench = Bench::of(1, &["one"]);
    bench.measure();
    stop_in(&bench, 1, |_| {});
    bench
}

#[test]
fn a_run_resumes_only_with_the_same_suite_programs_host_and_command() {
    let bench = begun();
    let silent = silent_host(&bench);
    let refused = |order: &Order, root: &Root, expected: &str| {
        let error = run(order, root).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    bench.edit("# way: one", "# way: another");
    refused(&bench.order(), &silent, "the suite was changed");
    bench.edit("# way: another", "# way: one");
    let root = bench.path("other-root");
    fs::create_dir_all(root.join("proc")).unwrap();
    fs::write(root.join("proc/meminfo"), "MemTotal: 1024 kB\n").unwrap();
    let expected = "host: memory_bytes was unknown, is 1048576";
    refused(&bench.order(), &Root::new(root), expected);
    let mut order = bench.order();
    order.command += " --rounds 2";
    let expected = "begun by `tlsbench run --suite suite.toml --out run`";
    refused(&order, &silent, expected);
    let partial = bench.path("run/run.partial.toml");
    let plan = Run::read(&partial).unwrap();
    let mut other = plan.clone();
    other.tool.sha256 = Some("0".repeat(64));
    other.write(&partial).unwrap();
    let expected = "it was begun by another build of tlsbench;";
    refused(&bench.order(), &silent, expected);
    plan.write(&partial).unwrap();
    let program = fs::read(bench.path("fake-a")).unwrap();
    fs::write(bench.path("fake-a"), [&program[..], b"\0"].concat()).unwrap();
    refused(&bench.order(), &silent, "programs were changed");
}

#[test]
fn records_without_a_plan_are_rejected() {
    let bench = begun();
    fs::remove_file(bench.path("run/run.partial.toml")).unwrap();
    let line = include_str!("../../../../data/schema/record.example.jsonl");
    fs::write(bench.path("run/raw/records.jsonl"), line).unwrap();
    let error = bench.run(&silent_host(&bench)).unwrap_err().to_string();
    assert!(error.contains("holds records, but there is no"), "{error}");
}

#[test]
fn a_program_that_is_listed_twice_is_two_implementations() {
    let bench = Bench::of(1, &["one"]);
    bench.edit("\"fake-b\"", "\"fake-a\"");
    let again = &bench.measure().implementations[1];
    check_finished(&bench.path("run"), 1, 2, 1);
    assert_eq!(again.id, "fake-a-1.0-repeat-2");
    assert_eq!(again.build.as_deref(), Some("repeat-2"));
}

#[test]
fn a_run_records_what_its_libraries_have_otherwise_than_by_default() {
    let bench = Bench::of(1, &["one"]);
    let mut order = bench.order();
    order.places.bench = bench.path("bench");
    // The library that both programs report.
    let folder = bench.path("bench/libraries/rustls");
    fs::create_dir_all(&folder).unwrap();
    let library = "id = \"rustls\"\norder = 1\nworkspace = \"own\"\nprograms = [\"tls-rustls\"]\n\
                   [[deviations]]\nwhat = \"linked statically\"\nreason = \"it is moved\"\n";
    fs::write(folder.join("library.toml"), library).unwrap();
    run(&order, &silent_host(&bench)).unwrap();
    for build in bench.measured().implementations {
        assert_eq!(build.deviations, ["linked statically: it is moved"]);
    }
}

#[test]
fn rounds_are_measured_until_every_median_is_precise() {
    let bench = Bench::of(2, &["one"]);
    // The made-up rates repeat 1000, 1001 and 1002.
    let measured = |percent: f64| {
        let _ = fs::remove_dir_all(bench.path("run"));
        let mut order = bench.order();
        order.options.until_precise = Some(percent / 100.0);
        run(&order, &silent_host(&bench)).unwrap();
        bench.measured()
    };
    let precise = measured(1.0);
    assert_eq!(precise.rounds, Some(6), "as soon as there is an interval");
    assert!(precise.warnings.is_empty());
    let imprecise = measured(0.001);
    assert_eq!(
        imprecise.rounds,
        Some(10),
        "the bound: five times the suite's rounds"
    );
    assert_eq!(imprecise.warnings[0].code, "imprecise");
}
