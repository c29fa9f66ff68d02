//! Schedule, failures, time-outs and resumption.

use std::fs;

use serde_json::Value;
use tls_harness::record::{Cause, Record, Status};
use tlsbench::files::sha256;
use tlsbench::host::root::Root;
use tlsbench::manifest::Run;
use tlsbench::medians;
use tlsbench::pack::pack;
use tlsbench::plan::Order;
use tlsbench::run::run;
use tlsbench::schedule::order;

use crate::common::{Bench, check_finished, read_records, read_run, silent_host, stop_in};

const NO_TIME: f64 = 0.001;

fn marks(records: &[Record]) -> Vec<(u32, u32, String, Status, String)> {
    records
        .iter()
        .filter_map(|record| match record {
            Record::Block(block) => Some((
                block.round,
                block.block,
                block.implementation.clone(),
                block.status,
                block.reason.clone().unwrap_or_default(),
            )),
            _ => None,
        })
        .collect()
}

fn schema(name: &str) -> jsonschema::Validator {
    let path = format!("{}/../../data/schema/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[test]
fn the_seed_determines_the_order_of_libraries_in_each_block() {
    let bench = Bench::new();
    bench.suite(6, NO_TIME, &["one", "two"]);
    bench.run(&silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 2, 2, 6);
    let seed = read_run(&bench.path("run")).seed.unwrap();
    let ids = ["fake-a-1.0", "fake-b-1.0"];
    let expected: Vec<_> = (1..=6)
        .flat_map(|round| (0..2).map(move |block| (round, block)))
        .flat_map(|(round, block)| {
            order(seed, round, block, 2)
                .into_iter()
                .map(move |index| (round, block, ids[index].to_owned()))
        })
        .collect();
    let measured: Vec<_> = marks(&read_records(&bench.path("run")))
        .into_iter()
        .map(|(round, block, id, ..)| (round, block, id))
        .collect();
    assert_eq!(measured, expected);
}

#[test]
fn written_files_fit_the_schemas_and_contain_no_local_path() {
    let bench = Bench::new();
    bench.suite(2, NO_TIME, &["one", "absent", "crash"]);
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
    let run = read_run(&bench.path("run"));
    assert_eq!(run.files[0].bytes, raw.len() as u64);
    assert_eq!(run.files[0].sha256, sha256(raw.as_bytes()));
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

#[test]
fn a_failed_block_is_recorded_with_its_reason_and_the_rest_is_measured() {
    const NAME: &str = "TLS 1.3 full handshake, RSA-2048, X25519";
    let bench = Bench::new();
    let line = |text: &str| format!("output, line 1: {text}");
    let other = format!("measured {NAME}, 99 threads, client, expected");
    let rejected = "exit status 1: Error: the server's certificate was not verified".to_owned();
    for (way, reason) in [
        ("crash", rejected),
        ("abort", "killed by signal 6".to_owned()),
        (
            "crash-at-the-end",
            "exit status 1: Error: after the last record".to_owned(),
        ),
        ("truncated", "output: expected complete lines".to_owned()),
        ("negative", line("-1, expected a finite number not below 0")),
        ("another-scenario", line(&other)),
        ("without-side", line(&format!("measured {NAME}, expected"))),
        (
            "no-mark",
            "output: expected one block mark, as the last line".to_owned(),
        ),
    ] {
        bench.suite(1, NO_TIME, &[way, "fine"]);
        let _ = fs::remove_dir_all(bench.path("run"));
        bench.run(&silent_host(&bench)).unwrap();
        check_finished(&bench.path("run"), 2, 2, 1);
        let records = read_records(&bench.path("run"));
        for (_, block, id, status, found) in marks(&records) {
            if block == 0 {
                assert_eq!(status, Status::Failed, "{way}");
                assert!(found.contains(&reason), "{way}: {found}");
            } else {
                assert_eq!(status, Status::Measured, "{way}, {id}");
            }
        }
        let measured = |record: &&Record| matches!(record, Record::Measurement(_));
        assert_eq!(records.iter().filter(measured).count(), 4, "{way}");
        let warnings = read_run(&bench.path("run")).warnings.into_iter();
        let named =
            warnings.filter(|it| it.code == "failed-blocks" && it.message.contains(&reason));
        assert_eq!(named.count(), 2, "{way}");
    }
}

#[test]
fn a_primitive_is_measured_without_a_side() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &[]);
    let primitive = "[[scenarios]]\noperation = \"primitive\"\nvariant = \"rsa-2048-sign\"\n";
    bench.edit("\"fake-b\"]\n", &format!("\"fake-b\"]\n{primitive}"));
    bench.run(&silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 1);
    let measured = read_records(&bench.path("run"));
    let measured = measured.iter().filter_map(|record| match record {
        Record::Measurement(it) => Some(it.scenario.name()),
        _ => None,
    });
    assert_eq!(
        measured.collect::<Vec<_>>(),
        ["primitive, rsa-2048-sign"; 2]
    );
}

#[test]
fn an_unsupported_scenario_is_absent_with_its_reason() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["absent"]);
    bench.run(&silent_host(&bench)).unwrap();
    let marks = marks(&read_records(&bench.path("run")));
    assert_eq!(marks.len(), 2);
    for (.., status, reason) in marks {
        assert_eq!(
            (status, reason.as_str()),
            (Status::Absent, "has no such thing")
        );
    }
    assert!(read_run(&bench.path("run")).warnings.is_empty());
}

#[test]
fn a_hanging_program_is_killed_with_its_children_and_tried_three_times() {
    let bench = Bench::new();
    bench.suite(5, NO_TIME, &["hang-with-child"]);
    bench.edit("timeout_seconds = 2.0", "timeout_seconds = 0.2");
    bench.run(&silent_host(&bench)).unwrap();
    let reasons: Vec<_> = marks(&read_records(&bench.path("run")))
        .into_iter()
        .filter(|(.., id, _, _)| id == "fake-a-1.0")
        .map(|(.., reason)| reason)
        .collect();
    assert_eq!(reasons[..3], ["hung: killed after 0.2 s"; 3]);
    assert_eq!(
        reasons[3..],
        ["not tried again: hung: killed after 0.2 s"; 2]
    );
}

#[test]
fn a_temporary_failure_does_not_stop_later_rounds() {
    let bench = Bench::new();
    bench.suite(3, NO_TIME, &["crash-in-round-1"]);
    bench.run(&silent_host(&bench)).unwrap();
    let statuses: Vec<_> = marks(&read_records(&bench.path("run")))
        .into_iter()
        .map(|(round, _, _, status, _)| (round, status))
        .collect();
    assert_eq!(statuses[..2], [(1, Status::Failed); 2]);
    assert!(
        statuses[2..]
            .iter()
            .all(|(_, status)| *status == Status::Measured)
    );
}

#[test]
fn a_run_whose_journal_was_cut_at_any_moment_resumes() {
    let bench = Bench::new();
    bench.suite(2, NO_TIME, &["one", "two"]);
    bench.run(&silent_host(&bench)).unwrap();
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
    }
}

/// A run with its plan only, as after a kill in the first block.
fn begun() -> Bench {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    bench.run(&silent_host(&bench)).unwrap();
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
    bench.suite(1, NO_TIME, &["another"]);
    refused(&bench.order(), &silent, "the suite was changed");
    bench.suite(1, NO_TIME, &["one"]);
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
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    bench.edit("\"fake-b\"", "\"fake-a\"");
    bench.run(&silent_host(&bench)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 1);
    let run = read_run(&bench.path("run"));
    assert_eq!(run.implementations[1].id, "fake-a-1.0-repeat-2");
    assert_eq!(run.implementations[1].build.as_deref(), Some("repeat-2"));
}

#[test]
fn rounds_are_measured_until_every_median_is_precise() {
    let bench = Bench::new();
    bench.suite(2, NO_TIME, &["one"]);
    // The made-up rates repeat 1000, 1001 and 1002.
    let measured = |percent: f64| {
        let _ = fs::remove_dir_all(bench.path("run"));
        let mut order = bench.order();
        order.options.until_precise = Some(percent / 100.0);
        run(&order, &silent_host(&bench)).unwrap();
        read_run(&bench.path("run"))
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

#[test]
fn disturbed_rounds_are_repeated_up_to_a_bound_and_then_count_with_a_warning() {
    let bench = Bench::new();
    // Each block adds to this counter.
    bench.suite(6, NO_TIME, &["throttled"]);
    let root = bench.path("host");
    let core = root.join("sys/devices/system/cpu/cpu0/thermal_throttle");
    fs::create_dir_all(&core).unwrap();
    fs::write(core.join("core_throttle_count"), "0").unwrap();
    bench.run(&Root::new(&root)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 6);
    let states: Vec<_> = read_records(&bench.path("run"))
        .into_iter()
        .filter_map(|record| match record {
            Record::RoundState(state) => Some((state.disturbed, state.causes)),
            _ => None,
        })
        .collect();
    // A fifth of 6 rounds, rounded up, is repeated.
    assert_eq!(states.iter().filter(|(disturbed, _)| *disturbed).count(), 2);
    assert_eq!(states.len(), 8);
    assert!(
        states
            .iter()
            .all(|(_, causes)| *causes == [Cause::Throttled]),
        "{states:?}"
    );
    let warnings = read_run(&bench.path("run")).warnings;
    let warning = warnings
        .iter()
        .find(|warning| warning.code == "disturbed-rounds-counted");
    assert!(
        warning
            .unwrap()
            .message
            .contains("6 of 6 rounds count although")
    );
}

#[test]
fn an_archive_contains_the_run_with_checksums_and_is_reproducible() {
    use std::collections::BTreeMap;
    use std::io::Read as _;

    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    bench.run(&silent_host(&bench)).unwrap();
    let (archive, checksum) = pack(&bench.path("run"), bench.folder.path()).unwrap();
    let bytes = fs::read(&archive).unwrap();
    let text = fs::read_to_string(checksum).unwrap();
    assert_eq!(text, format!("{}  run.tar.gz\n", sha256(&bytes)));
    pack(&bench.path("run"), bench.folder.path()).unwrap();
    assert_eq!(fs::read(&archive).unwrap(), bytes);

    let mut unpacked = tar::Archive::new(flate2::read::GzDecoder::new(&bytes[..]));
    let mut members = BTreeMap::new();
    for entry in unpacked.entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        members.insert(entry.path().unwrap().display().to_string(), content);
    }
    let sums = String::from_utf8(members.remove("run/SHA256SUMS").unwrap()).unwrap();
    assert_eq!(members.len(), 2);
    for (name, content) in &members {
        assert!(sums.contains(&format!("{}  {name}\n", sha256(content))));
        assert_eq!(*content, fs::read(bench.path(name)).unwrap());
    }
}

#[test]
fn a_changed_or_incomplete_run_is_not_packed() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    bench.run(&silent_host(&bench)).unwrap();
    let records = bench.path("run/raw/records.jsonl");
    let mut text = fs::read_to_string(&records).unwrap();
    text = text.replacen("1001.0", "2002.0", 1);
    fs::write(&records, text).unwrap();
    let error = pack(&bench.path("run"), bench.folder.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("raw/records.jsonl: sha256 is"), "{error}");
    fs::remove_file(bench.path("run/run.toml")).unwrap();
    let error = pack(&bench.path("run"), bench.folder.path())
        .unwrap_err()
        .to_string();
    assert!(error.contains("expected a complete run"), "{error}");
    assert!(!bench.path("run.tar.gz").exists());
}

fn gzip(content: &[u8]) -> Vec<u8> {
    use std::io::Write as _;

    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(content).unwrap();
    gzip.finish().unwrap()
}

#[test]
fn a_compressed_run_gives_the_archive_and_medians_of_the_same_run() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    bench.run(&silent_host(&bench)).unwrap();
    let folder = bench.path("run");
    let results = || {
        let (archive, checksum) = pack(&folder, bench.folder.path()).unwrap();
        let files = [archive, checksum].map(|path| {
            let bytes = fs::read(&path).unwrap();
            fs::remove_file(path).unwrap();
            bytes
        });
        (files, medians::table(&folder).unwrap())
    };
    let expected = results();
    let records = folder.join("raw/records.jsonl");
    let content = fs::read(&records).unwrap();
    fs::write(folder.join("raw/records.jsonl.gz"), gzip(&content)).unwrap();
    // A publication that was stopped leaves both files.
    assert_eq!(results(), expected);
    fs::remove_file(&records).unwrap();
    assert_eq!(results(), expected);
}

#[test]
fn a_damaged_compressed_file_is_named_and_not_packed() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    bench.run(&silent_host(&bench)).unwrap();
    let folder = bench.path("run");
    let error = || pack(&folder, bench.folder.path()).unwrap_err().to_string();
    let content = fs::read(folder.join("raw/records.jsonl")).unwrap();
    fs::remove_file(folder.join("raw/records.jsonl")).unwrap();
    assert!(error().ends_with("raw/records.jsonl"), "{}", error());

    let compressed = folder.join("raw/records.jsonl.gz");
    let whole = gzip(&content);
    let cut = (0..whole.len()).map(|length| whole[..length].to_vec());
    // Of the header's ten bytes, those that only describe the file may change.
    let changed = (0..3).chain(10..whole.len()).map(|place| {
        let mut bytes = whole.clone();
        bytes[place] ^= 0xff;
        bytes
    });
    let longer = [&content[..], b"\n"].concat();
    let other = [gzip(&content[1..]), gzip(&longer)];
    for (number, bytes) in cut.chain(changed).chain(other).enumerate() {
        fs::write(&compressed, bytes).unwrap();
        let of_medians = medians::table(&folder).unwrap_err().to_string();
        for error in [error(), of_medians] {
            assert!(error.contains("raw/records.jsonl.gz"), "{number}: {error}");
        }
    }
    let text = String::from_utf8(content).unwrap();
    let other = text.replacen("1001.0", "2002.0", 1);
    fs::write(&compressed, gzip(other.as_bytes())).unwrap();
    let error = error();
    assert!(error.contains("raw/records.jsonl: sha256 is"), "{error}");
    assert!(!bench.path("run.tar.gz").exists());
}

#[test]
fn a_sensor_that_cannot_be_read_is_named_in_the_run() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    let root = bench.path("odd-root");
    // Nobody can read a folder as a file, not even root.
    fs::create_dir_all(root.join("sys/class/thermal/thermal_zone0/temp")).unwrap();
    bench.run(&Root::new(&root)).unwrap();
    check_finished(&bench.path("run"), 1, 2, 1);
    let warnings = read_run(&bench.path("run")).warnings;
    assert_eq!(warnings.len(), 1);
    let message = &warnings[0].message;
    assert!(
        message.contains("/sys/class/thermal/thermal_zone0/temp: "),
        "{message}"
    );
}
