//! Mistakes on the command line and in suites. Each is rejected before anything is built or
//! measured, within two seconds, with a message that states what to do.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use tls_harness::record::Record;
use tlsbench::files::sha256;

use crate::common::{Bench, check_finished, header, read_records, read_run, scenario};

const NO_TIME: f64 = 0.001;

/// The longest acceptable time of a rejection, as processor time, since tests run in parallel.
const AT_ONCE: Duration = Duration::from_secs(2);

/// The program with the suites and adapters of the checkout.
fn checkout() -> Bench {
    let bench = Bench::new();
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let link = |name: &str| {
        let there = ours.join(name).canonicalize().unwrap();
        std::os::unix::fs::symlink(there, bench.path("bench").join(name)).unwrap();
    };
    fs::remove_dir(bench.path("bench/libraries")).unwrap();
    for name in ["libraries", "suites", "Cargo.toml", "Cargo.lock", "harness"] {
        link(name);
    }
    bench
}

fn tlsbench(bench: &Bench, folder: &str, arguments: &[&str]) -> Output {
    Command::new(bench.path("tlsbench"))
        .args(arguments)
        .current_dir(bench.path(folder))
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

/// The message of a command that must fail.
fn refused(bench: &Bench, folder: &str, arguments: &[&str]) -> String {
    let output = Command::new("bash")
        .args(["-c", "\"$0\" \"$@\"; code=$?; times; exit $code"])
        .arg(bench.path("tlsbench"))
        .args(arguments)
        .current_dir(bench.path(folder))
        .env("NO_COLOR", "1")
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    let took = processor_time(&String::from_utf8_lossy(&output.stdout));
    assert!(!output.status.success(), "{arguments:?} is accepted");
    assert!(took < AT_ONCE, "{arguments:?} takes {took:?}");
    assert!(!message.contains("panicked"), "{message}");
    message
}

/// Processor time of a shell's child processes, from the last line of `times`: `0m0.012s 0m0.004s`.
fn processor_time(printed: &str) -> Duration {
    let last = printed.lines().last().unwrap();
    let seconds = last.split_whitespace().map(|part| {
        let (minutes, seconds) = part.strip_suffix('s').unwrap().split_once('m').unwrap();
        60.0 * minutes.parse::<f64>().unwrap() + seconds.parse::<f64>().unwrap()
    });
    Duration::from_secs_f64(seconds.sum())
}

#[test]
fn processor_time_is_read_from_the_output_of_times() {
    assert_eq!(
        processor_time("0m9.000s 0m9.000s\n1m2.500s 0m0.250s\n"),
        Duration::from_millis(62_750)
    );
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn expect(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "no \"{part}\" in: {message}");
    }
}

#[test]
fn list_and_run_reject_invalid_suites_and_name_the_line() {
    let bench = checkout();
    let good = format!(
        "{}implementations = [\"fake-a\"]\n{}",
        header(1, NO_TIME),
        scenario(1)
    );
    let with = |old: &str, new: &str| {
        assert!(good.contains(old), "{old}");
        good.replacen(old, new, 1)
    };
    let builds = |all: &str| with("\"fake-a\"", all);
    let transfer = |more: &str| with("\"handshake\"", "\"transfer\"") + "size = 65536\n" + more;
    let rejected = |text: &str, line: u32, expected: &str| {
        fs::write(bench.path("suite.toml"), text).unwrap();
        for command in ["list", "run"] {
            let message = refused(&bench, "", &[command, "--suite", "suite.toml"]);
            expect(&message, &[&format!("suite.toml:{line}: "), expected]);
        }
        assert!(!bench.path("data").exists(), "the run must not start");
    };
    let expected =
        "resumption: missing in a handshake: expected \"none\", \"session-id\", \"ticket\"";
    rejected(&with("resumption = \"none\"\n", ""), 9, expected);
    let expected = "threads: missing in a handshake: expected a number such as 1";
    rejected(&with("threads = 1\n", ""), 9, expected);
    let expected = "which TLS 1.2 lacks, expected \"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256\"";
    rejected(&with("\"1.3\"", "\"1.2\""), 12, expected);
    let expected = "record_size: found 100, expected 512 to 16384 bytes";
    rejected(&transfer("record_size = [100, 20000]"), 19, expected);
    let expected = "expected a multiple of size = 65536";
    rejected(&transfer("in_flight = 1000"), 19, expected);
    rejected(
        &with("rsa-2048", "rsa-2084"),
        14,
        "did you mean `rsa-2048`?",
    );
    rejected(
        &with("resumption =", "resumtion ="),
        16,
        "did you mean `resumption`?",
    );
    rejected(
        &with("rounds = 1", "round = 1"),
        5,
        "did you mean `rounds`?",
    );
    rejected(&with("rounds = 1", "rounds = 0"), 5, "expected at least 1");
    rejected(
        &with("name = \"test\"", "name = \"test"),
        2,
        "invalid basic string",
    );
    let twice = good.clone() + &scenario(1);
    rejected(&twice, 18, "a second time, expected each scenario once");

    let expected = "found the program \"tls-opensl\", expected one of";
    rejected(&builds("\"tls-opensl\""), 8, expected);
    rejected(&builds("\"tls-opensl\""), 8, "did you mean `tls-openssl`?");
    let names = |count| builds(&vec!["\"none\""; count].join(", "));
    rejected(
        &names(101),
        8,
        "found 101 implementations, expected at most 100",
    );
    rejected(&names(100), 8, "found the program \"none\"");
    let build = |more: &str| format!("{{ library = \"openssl\"{more} }}");
    rejected(&builds(&build("")), 8, "with neither version nor source");
    let wrong = build(", version = \"300.6.1+3.6.3\"").replace("openssl", "opensl");
    rejected(&builds(&wrong), 8, "did you mean `openssl`?");
    let versions =
        ["300.6.0+3.6.3", "300.6.1+3.6.3"].map(|it| build(&format!(", version = \"{it}\"")));
    let expected = "found openssl-3.6.3, which has the id of openssl-3.6.3";
    rejected(&builds(&versions.join(",\n")), 9, expected);
    let rustls = |version: &str, more: &str| {
        builds(&format!(
            "{{ library = \"rustls\", version = \"{version}\", provider = \"ring\"{more} }}"
        ))
    };
    rejected(&rustls("0.23", ""), 8, "expected three numbers");
    let expected = "found cpu_mask with the provider ring, which ignores OPENSSL_ia32cap";
    rejected(&rustls("0.23.46", ", cpu_mask = [\"aes\"]"), 8, expected);

    fs::write(bench.path("suite.toml"), good).unwrap();
    let output = tlsbench(&bench, "", &["list", "--suite", "suite.toml"]);
    assert!(output.status.success());
}

#[test]
fn the_error_for_a_tree_one_level_too_deep_names_the_right_folder() {
    let bench = checkout();
    for (library, holds, inner, more) in [
        (
            "rustls",
            "rustls/Cargo.toml",
            "rustls",
            ", provider = \"ring\"",
        ),
        ("openssl", "include/openssl/ssl.h", "include", ""),
    ] {
        let tree = bench.path(&format!("tree-{library}"));
        let file = tree.join(holds);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, "").unwrap();
        let message = |source: &Path| {
            let source = source.display();
            let build = format!("{{ library = \"{library}\", source = \"{source}\"{more} }}");
            let text = format!(
                "{}implementations = [{build}]\n{}",
                header(1, NO_TIME),
                scenario(1)
            );
            fs::write(bench.path("suite.toml"), text).unwrap();
            refused(&bench, "", &["run", "--suite", "suite.toml"])
        };
        let right = tree.canonicalize().unwrap();
        let right = format!("expected source = \"{}\"", right.display());
        let holds = format!("found no {holds}");
        expect(
            &message(&tree.join(inner)),
            &["suite.toml:8: ", &holds, &right],
        );
        let absent = message(&bench.path("no-such-tree"));
        expect(&absent, &["suite.toml:8: ", "no-such-tree", "No such file"]);
    }
}

#[test]
fn the_error_for_a_missing_suite_lists_the_existing_ones() {
    let bench = checkout();
    for command in ["list", "run", "build", "test"] {
        let message = refused(&bench, "", &[command, "--suite", "qick"]);
        expect(
            &message,
            &["--suite qick", "quick, ", "did you mean `quick`?"],
        );
    }
}

#[test]
fn a_command_outside_of_a_checkout_reports_it() {
    let bench = Bench::new();
    fs::remove_dir_all(bench.path("bench")).unwrap();
    for command in ["list", "run"] {
        let message = refused(&bench, "", &[command]);
        expect(&message, &["found no project", "run this in a checkout"]);
    }
}

#[test]
fn runs_started_in_any_folder_go_to_the_folder_of_runs() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    fs::create_dir_all(bench.path("docs/images")).unwrap();
    let output = tlsbench(
        &bench,
        "docs/images",
        &["run", "--suite", "../../suite.toml"],
    );
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(!bench.path("docs/images/data").exists());
    let runs: Vec<_> = fs::read_dir(bench.path("data/runs")).unwrap().collect();
    assert_eq!(runs.len(), 1);
    let folder = runs[0].as_ref().unwrap().path();
    check_finished(&folder, 1, 2, 1);
    // The printed path is valid in that folder.
    let printed = String::from_utf8(output.stdout).unwrap();
    let finished = Path::new(printed.lines().last().unwrap());
    assert_eq!(
        bench.path("docs/images").join(finished),
        folder.join("run.toml")
    );
}

#[test]
fn a_suite_is_found_from_any_folder_by_path_or_name() {
    let bench = checkout();
    fs::create_dir(bench.path("docs")).unwrap();
    for suite in [
        "bench/suites/memory.toml",
        "memory",
        "../bench/suites/memory.toml",
    ] {
        let output = tlsbench(&bench, "docs", &["list", "--suite", suite]);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(
            text.starts_with("memory (family memory)"),
            "{suite}: {text}"
        );
    }
}

#[test]
fn a_complete_run_is_rejected_for_another_command() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    let run = "run --suite suite.toml --out run --host test";
    let run: Vec<_> = run.split(' ').collect();
    assert!(tlsbench(&bench, "", &run).status.success());
    let before = fs::read(bench.path("run/run.toml")).unwrap();
    let again = tlsbench(&bench, "", &run);
    assert!(again.status.success());
    expect(&errors(&again), &["is complete: nothing to do"]);
    let other = |more: &[&str], expected: &str| {
        let message = refused(&bench, "", &[&run[..], more].concat());
        let complete = "run.toml: the run is complete";
        expect(&message, &[complete, expected, "another --out"]);
    };
    other(&["--rounds", "2"], "it was begun by `tlsbench run");
    other(&["--sessions", "2"], "it was begun by `tlsbench run");
    let changed = |file: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>, expected: &str| {
        let content = fs::read(bench.path(file)).unwrap();
        fs::write(bench.path(file), change(content.clone())).unwrap();
        other(&[], expected);
        fs::write(bench.path(file), content).unwrap();
    };
    let more = |content: Vec<u8>| [&content[..], b"# other\n"].concat();
    changed("suite.toml", &more, "the suite was changed");
    changed("fake-a", &more, "programs were changed");
    let replaced = |content: Vec<u8>, from: &str, to: &str| {
        String::from_utf8(content).unwrap().replace(from, to).into()
    };
    let renamed = |content| replaced(content, "\"test\"", "\"other\"");
    changed("suite.toml", &renamed, "its suite is test");
    let moved = |content| replaced(content, "\ncpu = \"", "\ncpu = \"another ");
    changed("run/run.toml", &moved, "host: cpu was \"another ");
    assert!(tlsbench(&bench, "", &run).status.success());
    assert_eq!(fs::read(bench.path("run/run.toml")).unwrap(), before);
}

#[test]
fn the_folder_of_a_run_is_named_after_date_suite_and_number() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    for number in ["", "-2", "-3"] {
        let output = tlsbench(
            &bench,
            "",
            &["run", "--suite", "suite.toml", "--rounds", "2"],
        );
        let printed = printed(&output);
        let folder = Path::new(printed.lines().last().unwrap()).parent().unwrap();
        let run = read_run(&bench.path(folder.to_str().unwrap()));
        let expected = format!("data/runs/{}-suite{number}", run.date);
        assert_eq!(folder, Path::new(&expected));
        let command = format!("tlsbench run --suite suite.toml --out {expected} --rounds 2");
        assert_eq!(run.tool.commands, [command]);
        check_finished(&bench.path(&expected), 1, 2, 2);
    }
}

#[test]
fn a_selected_part_of_a_suite_has_its_own_name() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one", "two", "three"]);
    let run =
        "run --suite suite.toml --out run --rounds 2 --only full/1.3/*-2-threads --library fake-b";
    let output = tlsbench(&bench, "", &run.split(' ').collect::<Vec<_>>());
    assert!(output.status.success(), "{}", errors(&output));
    check_finished(&bench.path("run"), 1, 1, 2);
    for record in read_records(&bench.path("run")) {
        if let Record::Measurement(it) = record {
            assert_eq!(
                it.scenario.threads,
                Some(2),
                "the one scenario that matches"
            );
        }
    }
    let run = read_run(&bench.path("run"));
    assert_eq!(run.implementations[0].id, "fake-b-1.0");
    let suite = run.suite.unwrap();
    assert_eq!((&*suite.name, &*suite.family), ("test-part", "test-part"));
    let whole = sha256(fs::read(bench.path("suite.toml")).unwrap());
    assert_ne!(suite.sha256, Some(whole));
    let part = "--only 'full/1.3/*-2-threads' --library 'fake-b'";
    expect(&run.tool.commands[0], &[part]);
}

#[test]
fn the_error_for_a_selection_without_match_lists_the_possible_values() {
    let bench = checkout();
    let message = refused(&bench, "", &["run", "--only", "full/1.4/*"]);
    let values = [
        "expected a pattern of: ",
        "full/1.3/rsa-2048-x25519mlkem768",
    ];
    expect(&message, &["--only 'full/1.4/*'", values[0], values[1]]);
    let message = refused(&bench, "", &["list", "--library", "gnutsl"]);
    expect(
        &message,
        &["--library gnutsl", "openssl", "did you mean `gnutls`?"],
    );
}

#[test]
fn selecting_a_library_outside_the_suite_measures_its_programs() {
    let bench = checkout();
    for (library, expected, not) in [
        (
            "gnutls",
            "tls-gnutls: not built yet: make more-libraries",
            "tls-openssl",
        ),
        (
            "tls-rustls-ring",
            "tls-rustls-ring: ",
            "tls-rustls-aws-lc-rs",
        ),
    ] {
        let text = printed(&tlsbench(&bench, "", &["list", "--library", library]));
        expect(&text, &[expected]);
        assert!(!text.contains(not), "{text}");
    }
}

#[test]
fn a_local_tree_is_measured_beside_each_build_of_its_library() {
    let bench = checkout();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/schema");
    fs::create_dir(bench.path("data")).unwrap();
    std::os::unix::fs::symlink(schema.canonicalize().unwrap(), bench.path("data/schema")).unwrap();
    let build = "library = \"rustls\", version = \"0.23.46\", provider = \"ring\"";
    let suite = format!(
        "{}implementations = [{{ {build} }}]\n{}",
        header(1, NO_TIME),
        scenario(1)
    );
    fs::write(bench.path("suite.toml"), suite).unwrap();
    fs::create_dir_all(bench.path("docs/fork/rustls")).unwrap();
    let manifest = "package.version = \"0.23.99\"";
    fs::write(bench.path("docs/fork/rustls/Cargo.toml"), manifest).unwrap();
    let list = |source| ["list", "--suite", "../suite.toml", "--source", source];
    let text = printed(&tlsbench(&bench, "docs", &list("rustls=fork")));
    expect(
        &text,
        &["rustls-0.23.46-ring: not", "rustls-ring-local: not"],
    );
    assert!(text.starts_with("test-part (family test-part)"), "{text}");
    for (source, expected) in [
        (
            "rustls",
            "expected a library and a folder such as rustls=../rustls",
        ),
        (
            "openssl=fork",
            "has no build of openssl, expected a library that it measures",
        ),
        (
            "rustls=fork/rustls",
            "found no rustls/Cargo.toml in it, expected source = ",
        ),
    ] {
        expect(&refused(&bench, "docs", &list(source)), &[expected]);
    }
}

#[test]
fn the_error_for_a_wrong_argument_states_the_expected_value() {
    let bench = checkout();
    for (arguments, expected) in [
        (&["run", "--round", "2"][..], "--rounds"),
        (&["run", "--rounds", "0"], "--rounds 0: expected at least 1"),
        (&["run", "--rounds", "many"], "invalid value 'many'"),
        (
            &["run", "--until-precise", "0"],
            "expected a percentage such as 1%",
        ),
        (
            &["run", "--apart", "half an hour"],
            "expected a time such as 30m",
        ),
        (&["run", "--out", "Data/Runs/X"], "lower-case letters"),
        (&["run", "--host", "My Host"], "lower-case letters"),
        (
            &["pack", "no-such-run"],
            "no-such-run: found no such run, expected the folder of a complete run",
        ),
        (&["measure"], "unrecognized subcommand"),
        (&["completions", "cmd"], "possible values: bash"),
    ] {
        let message = refused(&bench, "", arguments);
        expect(&message, &[expected]);
    }
    assert!(!bench.path("data").exists() && !bench.path("Data").exists());
}

#[test]
fn the_rounds_that_a_verdict_needs_are_printed_before_the_run() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one", "two"]);
    let expected = "a verdict on 4 comparisons needs 8 rounds: this run has 1, so no difference can \
                    be shown; use --rounds 8";
    let output = tlsbench(&bench, "", &["list", "--suite", "suite.toml"]);
    expect(&String::from_utf8_lossy(&output.stdout), &[expected]);
    let output = tlsbench(&bench, "", &["run", "--suite", "suite.toml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    let (before, _) = text.split_once("round 1: ").unwrap();
    expect(before, &[expected]);
}

#[test]
fn each_round_is_reported_with_the_number_of_complete_ones() {
    let bench = Bench::new();
    bench.suite(3, NO_TIME, &["one"]);
    let output = tlsbench(&bench, "", &["run", "--suite", "suite.toml"]);
    let text = String::from_utf8_lossy(&output.stderr);
    let complete = |count: &str| {
        text.matches(&format!("{count} of 3 rounds complete, about "))
            .count()
    };
    assert_eq!(complete("3"), 1, "{text}");
    // A round that this host disturbs is measured again, so the number of complete ones stays.
    assert!(complete("1") >= 1 && complete("2") >= 1, "{text}");
    assert!(!text.contains(" count,"), "{text}");
}

#[test]
fn the_medians_are_printed_after_the_run() {
    let bench = Bench::new();
    bench.suite(3, NO_TIME, &["one"]);
    let output = tlsbench(&bench, "", &["run", "--suite", "suite.toml"]);
    let text = String::from_utf8_lossy(&output.stdout);
    expect(
        &text,
        &[
            "medians of 3 rounds\n",
            "unit          fake-a-1.0  fake-b-1.0\n",
            "TLS 1.3 full handshake, RSA-2048, X25519, client  handshakes/s       1,001       1,001\n",
        ],
    );
}

#[test]
fn the_output_of_tlsperf_follows_if_it_is_installed() {
    use std::os::unix::fs::PermissionsExt as _;

    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    let tool = bench.path(".venv/bin/tlsperf");
    fs::create_dir_all(tool.parent().unwrap()).unwrap();
    let write = |script: &str| {
        fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        tlsbench(&bench, "", &["run", "--suite", "suite.toml"])
    };
    let output = write("echo called with $*");
    let text = String::from_utf8_lossy(&output.stdout);
    let (_, shown) = text.split_once("called with show ").unwrap();
    assert!(shown.lines().next().unwrap().ends_with("-suite"), "{text}");
    // If the tools fail, the run still succeeds, and their error is not shown.
    let output = write("echo no such command >&2; exit 2");
    assert!(output.status.success());
    assert!(!String::from_utf8_lossy(&output.stderr).contains("no such command"));
}

#[test]
fn a_run_is_packed_from_any_folder_by_id_folder_or_file() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    fs::create_dir_all(bench.path("docs/images")).unwrap();
    let run = ["run", "--suite", "suite.toml", "--out", "data/runs/today"];
    assert!(tlsbench(&bench, "", &run).status.success());
    for given in [
        "today",
        "data/runs/today",
        "../../data/runs/today",
        "data/runs/today/run.toml",
    ] {
        let output = tlsbench(&bench, "docs/images", &["pack", given]);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{given}: {text}");
        fs::remove_file(bench.path("docs/images/today.tar.gz")).unwrap();
    }
    let message = refused(&bench, "docs", &["pack", "todya"]);
    expect(
        &message,
        &["todya: found no such run", "did you mean `today`?"],
    );
    // A run that was stopped has only its plan.
    let [finished, partial] =
        ["run", "run.partial"].map(|it| bench.path(&format!("data/runs/today/{it}.toml")));
    fs::rename(&finished, &partial).unwrap();
    let message = refused(&bench, "docs", &["pack", "today"]);
    expect(
        &message,
        &["data/runs/today: the run is not complete", "resume it"],
    );
    // A run that was copied out of the checkout is packed by its folder.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(&partial, &finished).unwrap();
    fs::rename(
        bench.path("data/runs/today"),
        elsewhere.path().join("today"),
    )
    .unwrap();
    let output = Command::new(bench.path("tlsbench"))
        .args(["pack", "today"])
        .current_dir(elsewhere.path())
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(elsewhere.path().join("today.tar.gz").exists());
}

#[test]
fn checks_and_medians_have_color_only_if_requested() {
    let bench = Bench::new();
    bench.suite(1, NO_TIME, &["one"]);
    let run = ["run", "--suite", "suite.toml", "--out", "run"];
    for arguments in [&["host", "check"][..], &run] {
        let printed = |variables: &[&str]| {
            let _ = fs::remove_dir_all(bench.path("run"));
            let output = Command::new(bench.path("tlsbench"))
                .args(arguments)
                .current_dir(bench.folder.path())
                .env_remove("NO_COLOR")
                .envs(variables.iter().map(|it| (it, "1")))
                .output()
                .unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let asked = printed(&["CLICOLOR_FORCE"]);
        assert!(asked.contains("\u{1b}["), "{asked}");
        for variables in [&[][..], &["NO_COLOR"], &["NO_COLOR", "CLICOLOR_FORCE"]] {
            let text = printed(variables);
            assert!(!text.contains('\u{1b}'), "{variables:?}: {text}");
            assert!(!text.is_empty());
        }
    }
}

#[test]
fn color_is_used_on_terminals_and_if_requested() {
    let bench = Bench::new();
    let error = |variable: &str| {
        let output = Command::new(bench.path("tlsbench"))
            .args(["list", "--suite", "none"])
            .current_dir(bench.folder.path())
            .env_remove("NO_COLOR")
            .env(variable, "1")
            .output()
            .unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error("CLICOLOR_FORCE").starts_with("\u{1b}[1m"));
    assert!(error("NO_COLOR").starts_with("error: "));
    assert!(error("LANG").starts_with("error: "), "no terminal");
}

#[test]
fn every_shell_has_its_completion_and_the_version_is_printed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = tlsbench(&bench, "", &["completions", shell]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(
            text.contains("--until-precise") || text.contains("until-precise"),
            "{shell}"
        );
    }
    let output = tlsbench(&bench, "", &["--version"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text, format!("tlsbench {}\n", env!("CARGO_PKG_VERSION")));
}
