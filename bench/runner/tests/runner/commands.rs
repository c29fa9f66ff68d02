//! What the commands find and print, in any folder of a checkout.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tlsbench::files::sha256;

use crate::common::{Answer, Bench, check_finished, expect, read_run, rows};
use crate::mistakes::{checkout, refused, suite_of};

#[test]
fn runs_started_in_any_folder_go_to_the_folder_of_runs() {
    let bench = Bench::of(1, &["one"]);
    fs::create_dir_all(bench.path("docs/images")).unwrap();
    let run = "run --suite ../../suite.toml";
    let answer = bench.tlsbench("docs/images", run).done();
    assert!(!bench.path("docs/images/data").exists());
    let runs: Vec<_> = fs::read_dir(bench.path("data/runs")).unwrap().collect();
    assert_eq!(runs.len(), 1);
    let folder = runs[0].as_ref().unwrap().path();
    check_finished(&folder, 1, 2, 1);
    // The printed path is valid in that folder.
    let finished = answer.printed.lines().last().unwrap();
    let finished = bench.path("docs/images").join(finished);
    assert_eq!(finished, folder.join("run.toml"));
}

#[test]
fn the_folder_of_a_run_is_named_after_date_suite_and_number() {
    let bench = Bench::of(1, &["one"]);
    for number in ["", "-2", "-3"] {
        let answer = bench.tlsbench("", "run --suite suite.toml --rounds 2");
        let finished = Path::new(answer.printed.lines().last().unwrap());
        let folder = finished.parent().unwrap();
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
    let bench = Bench::of(1, &["one", "two", "three"]);
    let part = "--only full/1.3/*-2-threads --library fake-b";
    let run = format!("run --suite suite.toml --out run --rounds 2 {part}");
    bench.tlsbench("", &run).done();
    check_finished(&bench.path("run"), 1, 1, 2);
    let measurements = bench.measurements();
    let is_chosen = |threads| threads == Some(2);
    assert!(measurements.iter().all(|it| is_chosen(it.scenario.threads)));
    let run = bench.measured();
    assert_eq!(run.implementations[0].id, "fake-b-1.0");
    let suite = run.suite.unwrap();
    assert_eq!((&*suite.name, &*suite.family), ("test-part", "test-part"));
    let whole = sha256(fs::read(bench.path("suite.toml")).unwrap());
    assert_ne!(suite.sha256, Some(whole));
    let part = "--only 'full/1.3/*-2-threads' --library 'fake-b'";
    expect(&run.tool.commands[0], &[part]);
}

/// Arguments, what is listed, and what is not. The libraries are not in the suite.
const LISTS: &str = "
    --suite bench/suites/memory.toml    | memory (family memory)                         | part
    --suite memory                      | memory (family memory)                         | part
    --suite ../bench/suites/memory.toml | memory (family memory)                         | part
    --library gnutls                    | tls-gnutls: not built yet: run builds it      | tls-openssl
    --library tls-rustls-ring           | tls-rustls-ring:                               | tls-rustls-aws-lc-rs
";

#[test]
fn a_site_without_sources_has_the_suites_and_libraries_of_tlsbench() {
    let bench = Bench::new();
    fs::remove_dir_all(bench.path("bench")).unwrap();
    let text = bench.tlsbench("data", "list --suite memory").printed;
    expect(&text, &["memory (family memory)", "tls-openssl"]);
    let message = refused(&bench, "", "list --suite memry");
    expect(&message, &["did you mean `memory`?"]);
}

#[test]
fn list_finds_suites_and_libraries_from_any_folder() {
    let bench = checkout();
    fs::create_dir(bench.path("docs")).unwrap();
    for [arguments, expected, not] in rows(LISTS) {
        let text = bench.tlsbench("docs", &format!("list {arguments}")).printed;
        expect(&text, &[expected]);
        assert!(!text.contains(not), "{text}");
    }
}

#[test]
fn a_list_in_json_has_scenarios_implementations_and_the_rounds_that_a_verdict_needs() {
    let bench = Bench::of(3, &["one", "two"]);
    let list = "list --suite suite.toml --format json --library fake-a";
    let text = bench.tlsbench("", list).done().printed;
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    let name = "TLS 1.3 full handshake, RSA-2048, X25519";
    let expected = serde_json::json!({
        "schema": 1,
        "name": "test-part",
        "family": "test-part",
        "description": "",
        "rounds": 3,
        "sessions": 1,
        "layouts": 1,
        "seconds": 0.606,
        "comparisons": 0,
        "rounds_needed": 6,
        "scenarios": [
            {"path": "full/1.3/rsa-2048-x25519", "name": name},
            {"path": "full/1.3/rsa-2048-x25519-2-threads", "name": format!("{name}, 2 threads")},
        ],
        "implementations": [{"name": "fake-a", "state": "built"}],
    });
    assert_eq!(found, expected);
}

/// Trees that are refused.
const SOURCES: &str = "
    rustls             | expected a library and a folder such as rustls=../rustls
    openssl=fork       | has no build of openssl, expected a library that it measures
    rustls=fork/rustls | found no rustls/Cargo.toml in it, expected source =
";

#[test]
fn a_local_tree_is_measured_beside_each_build_of_its_library() {
    let bench = checkout();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/schema");
    std::os::unix::fs::symlink(schema.canonicalize().unwrap(), bench.path("data/schema")).unwrap();
    let build = "{ library = \"rustls\", version = \"0.23.46\", provider = \"ring\" }";
    fs::write(bench.path("suite.toml"), suite_of(build)).unwrap();
    fs::create_dir_all(bench.path("docs/fork/rustls")).unwrap();
    let manifest = "package.version = \"0.23.99\"";
    fs::write(bench.path("docs/fork/rustls/Cargo.toml"), manifest).unwrap();
    let list = |source| format!("list --suite ../suite.toml --source {source}");
    let text = bench.tlsbench("docs", &list("rustls=fork")).printed;
    expect(
        &text,
        &["rustls-0.23.46-ring: not", "rustls-ring-local: not"],
    );
    assert!(text.starts_with("test-part (family test-part)"), "{text}");
    for [source, expected] in rows(SOURCES) {
        expect(&refused(&bench, "docs", &list(source)), &[expected]);
    }
}

#[test]
fn a_run_prints_what_to_expect_its_progress_and_its_medians() {
    let bench = Bench::of(3, &["one"]);
    let needed = "a verdict on 2 comparisons needs 7 rounds: this run has 3, so no difference can be \
                  shown; use --rounds 7";
    let listed = bench.tlsbench("", "list --suite suite.toml").done();
    expect(&listed.printed, &[needed]);
    let answer = bench.tlsbench("", "run --suite suite.toml").done();
    let (before, rounds) = answer.errors.split_once("round 1: ").unwrap();
    expect(before, &[needed]);
    let complete = |count: u32| {
        let text = format!("{count} of 3 rounds complete, about ");
        rounds.matches(&text).count()
    };
    assert_eq!(complete(3), 1, "{rounds}");
    // A round that this host disturbs is measured again, so the number of complete ones stays.
    assert!(complete(1) >= 1 && complete(2) >= 1, "{rounds}");
    let medians = [
        "medians of 3 rounds\n",
        "unit          fake-a-1.0  fake-b-1.0\n",
        "TLS 1.3 full handshake, RSA-2048, X25519, client  handshakes/s       1,001       1,001\n",
    ];
    expect(&answer.printed, &medians);
}

#[test]
fn a_quiet_run_prints_its_result_and_warnings_alone() {
    let bench = Bench::of(2, &["one"]);
    let answer = bench.tlsbench("", "run --suite suite.toml --quiet").done();
    expect(&answer.printed, &["medians of 2 rounds\n", "/run.toml\n"]);
    let mut lines = answer.errors.lines();
    assert!(lines.all(|it| it.starts_with("warning: ")), "{answer:?}");
}

#[test]
fn counting_prints_a_line_for_each_scenario() {
    let bench = Bench::of(1, &["one", "two"]);
    let run = "run --suite suite.toml --counter wire --rounds 1";
    let errors = bench.tlsbench("", run).errors;
    let second = "X25519, 2 threads (2 of 2): about ";
    expect(&errors, &["RSA-2048, X25519 (1 of 2)\n", second]);
}

#[test]
fn tlsperf_prints_the_figures_if_it_is_installed() {
    let bench = Bench::of(1, &["one"]);
    let tool = bench.path(".venv/bin/tlsperf");
    fs::create_dir_all(tool.parent().unwrap()).unwrap();
    let run = |script: &str| {
        fs::write(&tool, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
        bench.tlsbench("", "run --suite suite.toml").done()
    };
    let text = run("echo called with $*").printed;
    let (_, shown) = text.split_once("called with show ").unwrap();
    assert!(shown.lines().next().unwrap().ends_with("-suite"), "{text}");
    assert!(
        !text.contains("medians"),
        "the figures are printed once: {text}"
    );
    // If the tools fail, the run still succeeds, and their error is not shown.
    let failed = run("echo no such command >&2; exit 2");
    assert!(!failed.errors.contains("no such command"));
    expect(&failed.printed, &["medians of 1 round\n"]);
}

#[test]
fn a_run_is_packed_from_any_folder_by_id_folder_or_file() {
    let bench = Bench::of(1, &["one"]);
    fs::create_dir_all(bench.path("docs/images")).unwrap();
    let run = "run --suite suite.toml --out data/runs/today";
    bench.tlsbench("", run).done();
    let folder = bench.path("data/runs/today");
    for given in [
        "today",
        "data/runs/today",
        "../../data/runs/today",
        "data/runs/today/run.toml",
    ] {
        bench
            .tlsbench("docs/images", &format!("pack {given}"))
            .done();
        fs::remove_file(bench.path("docs/images/today.tar.gz")).unwrap();
    }
    let message = refused(&bench, "docs", "pack todya");
    let suggested = ["todya: found no such run", "did you mean `today`?"];
    expect(&message, &suggested);
    // A run that was stopped has only its plan.
    let [finished, partial] = ["run.toml", "run.partial.toml"].map(|it| folder.join(it));
    fs::rename(&finished, &partial).unwrap();
    let message = refused(&bench, "docs", "pack today");
    let stopped = ["data/runs/today: the run is not complete", "resume it"];
    expect(&message, &stopped);
    fs::rename(&partial, &finished).unwrap();
    // A run that was copied out of the checkout is packed by its folder.
    let elsewhere = tempfile::tempdir().unwrap();
    fs::rename(&folder, elsewhere.path().join("today")).unwrap();
    let mut pack = bench.command("", "pack today");
    Answer::of(pack.current_dir(elsewhere.path())).done();
    assert!(elsewhere.path().join("today.tar.gz").exists());
}

#[test]
fn color_is_used_only_if_requested_where_there_is_no_terminal() {
    let bench = Bench::of(1, &["one"]);
    for arguments in [
        "host check",
        "run --suite suite.toml --out run",
        "list --suite none",
    ] {
        for (variables, expected) in [
            (&["CLICOLOR_FORCE"][..], true),
            (&[], false),
            (&["NO_COLOR"], false),
            (&["NO_COLOR", "CLICOLOR_FORCE"], false),
        ] {
            let _ = fs::remove_dir_all(bench.path("run"));
            let mut command = bench.command("", arguments);
            command.env_remove("NO_COLOR");
            let answer = Answer::of(command.envs(variables.iter().map(|it| (it, "1"))));
            let text = answer.printed + &answer.errors;
            assert!(!text.is_empty());
            assert_eq!(text.contains("\u{1b}["), expected, "{variables:?}: {text}");
        }
    }
}

#[test]
fn every_shell_has_its_completion_and_the_version_is_printed() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = bench.tlsbench("", &format!("completions {shell}")).printed;
        assert!(text.contains("until-precise"), "{shell}");
    }
    let version = Command::new(bench.path("tlsbench"))
        .arg("--version")
        .output();
    let expected = format!("tlsbench {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(version.unwrap().stdout, expected.as_bytes());
}
