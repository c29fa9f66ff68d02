//! Mistakes on the command line and in suites. Each is rejected before anything is built or
//! measured, within two seconds, with a message that states what to do.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tlsbench::listed::Listed;
use tlsbench::listing::{to_json, to_text};
use tlsbench::suite::SuiteFile;

use crate::common::{Answer, Bench, NO_TIME, expect, header, rows, scenario};
use crate::counts::programs;

/// The program with the suites and adapters of the checkout.
pub fn checkout() -> Bench {
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

/// Exit code and message of a command that must fail. More than two seconds of processor time would
/// kill it.
fn failed(bench: &Bench, folder: &str, arguments: &str) -> (i32, String) {
    let mut command = Command::new("bash");
    command
        .args(["-c", "ulimit -t 2; exec \"$0\" \"$@\""])
        .arg(bench.path("tlsbench"))
        .args(arguments.split(' '))
        .current_dir(bench.path(folder))
        .env("NO_COLOR", "1");
    let answer = Answer::of(&mut command);
    match answer.code {
        Some(code @ (1 | 2)) => (code, answer.errors),
        _ => panic!("{arguments} is not refused: {answer:?}"),
    }
}

/// The message of a command that must fail.
pub fn refused(bench: &Bench, folder: &str, arguments: &str) -> String {
    failed(bench, folder, arguments).1
}

/// A suite of one scenario with an implementation, on the eighth line.
pub fn suite_of(implementations: &str) -> String {
    let header = header(1, NO_TIME);
    format!(
        "{header}implementations = [{implementations}]\n{}",
        scenario(1)
    )
}

fn rejected(bench: &Bench, suite: &str, line: &str, expected: &str) {
    fs::write(bench.path("suite.toml"), suite).unwrap();
    for command in ["list", "run"] {
        let message = refused(bench, "", &format!("{command} --suite suite.toml"));
        expect(&message, &[&format!("suite.toml:{line}: "), expected]);
    }
    assert!(!bench.path("data/runs").exists(), "the run must not start");
}

/// What replaces which part of a suite; the line that the message names, and a part of the message.
const FIELDS: &str = r#"
    resumption = "none"     |                           |  9 | resumption: missing in a handshake: expected "none", "session-id"
    threads = 1             |                           |  9 | threads: missing in a handshake: expected a number such as 1
    operation = "handshake" |                           |  9 | missing field `operation`
    "handshake"             | "transfer"                |  9 | size: missing in a transfer
    "1.3"                   | "1.2"                     | 12 | which TLS 1.2 lacks, expected "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
    "1.3"                   | ["1.1"]                   | 11 | unknown variant `1.1`
    "1.3"                   | []                        | 11 | protocol = []: expected a value
    rsa-2048                | rsa-2084                  | 14 | did you mean `rsa-2048`?
    resumption =            | resumtion =               | 16 | did you mean `resumption`?
    threads = 1             | threads = 0               | 17 | threads = 0: expected a number up to 10000, "one-and-cores" or
    threads = 1             | threads = 1000000000      | 17 | threads = 1000000000: expected a number up to
    threads = 1             | threads = [1, "many"]     | 17 | threads = "many": expected a number
    rounds = 1              | round = 1                 |  5 | did you mean `rounds`?
    rounds = 1              | rounds = 0                |  5 | found rounds = 0, expected 1 to 10000
    rounds = 1              | rounds = 4294967295       |  5 | expected 1 to 10000
    rounds = 1              | rounds = "1"              |  5 | found string "1", expected a whole number
    measure_seconds = 0.001 | measure_seconds = 0       |  6 | found measure_seconds = 0, expected more than 0
    measure_seconds = 0.001 | measure_seconds = 1e300   |  6 | and at most 86400
    warmup_seconds = 0.0    | warmup_seconds = -1.0     |  7 | found warmup_seconds = -1, expected 0 or more
    name = "test"           | name = "my suite č"       |  2 | found name = "my suite č", expected at most 200 lower-case letters
    family = "test"         | family = "Main"           |  3 | found family = "Main", expected at most 200
    family = "test"         | family = 3                |  3 | found integer `3`, expected text in quotes
    "1.3"                   | 1.3                       | 11 | found protocol = 1.3, expected "1.3", in quotes
    "rsa-2048"              | 2048                      | 14 | unknown variant `2048`, expected
    name = "test"           | name = "test              |  2 | invalid basic string
"#;

/// The same for a suite of a transfer, with two more fields.
const FIELDS_OF_TRANSFERS: &str = "
    in_flight = 65536 | in_flight = 1000            | 12 | expected a multiple of size = 65536
    in_flight = 65536 | record_size = [100, 20000]  | 12 | record_size: found 100, expected 512 to 16384 bytes
";

#[test]
fn a_wrong_field_of_a_suite_is_rejected_with_its_line() {
    let bench = checkout();
    let good = suite_of("\"fake-a\"");
    let transfer = "\"transfer\"\nsize = 65536\nin_flight = 65536";
    let transfer = good.replace("\"handshake\"", transfer);
    for (suite, table) in [(&good, FIELDS), (&transfer, FIELDS_OF_TRANSFERS)] {
        for [old, new, line, expected] in rows(table) {
            assert!(suite.contains(old), "{old}");
            rejected(&bench, &suite.replacen(old, new, 1), line, expected);
        }
    }
    let twice = good.clone() + &scenario(1);
    let expected = "a second time, expected each scenario once";
    rejected(&bench, &twice, "18", expected);
    fs::write(bench.path("suite.toml"), good).unwrap();
    bench.tlsbench("", "list --suite suite.toml").done();
}

/// The implementations of a suite.
const IMPLEMENTATIONS: &str = r#"
    "tls-opensl"                                                                       | found the program "tls-opensl", expected one of
    "tls-opensl"                                                                       | did you mean `tls-openssl`?
    7                                                                                  | expected the name of a program
                                                                                       | expected a program such as
    { library = "openssl" }                                                            | with neither version nor source
    { library = "openssl", version = "300.6.1+3.6.3", source = "." }                   | with both, expected either
    { library = "opensl", version = "300.6.1+3.6.3" }                                  | did you mean `openssl`?
    { library = "../openssl", version = "1" }                                          | ../openssl
    { library = "openssl", version = "1", tund = true }                                | did you mean `tuned`?
    { library = "openssl", version = "1", allocator = "mimalloc" }                     | `mimalloc`
    { library = "rustls", version = "0.23", provider = "ring" }                        | expected three numbers
    { library = "rustls", version = "0.23.46", provider = "ring", cpu_mask = ["aes"] } | cpu_mask with the provider ring, which ignores
    { library = "openssl", version = "300.6.1+3.6.3-Beta" }                            | found a build with the id openssl-3.6.3-Beta, expected at most 200
    { library = "openssl", version = "1", flags = "-O2 -fno-plt -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -fno-unwind-tables" } | with the label o2-fno-plt
"#;

#[test]
fn a_wrong_implementation_of_a_suite_is_rejected_with_its_line() {
    let bench = checkout();
    for [implementations, expected] in rows(IMPLEMENTATIONS) {
        rejected(&bench, &suite_of(implementations), "8", expected);
    }
    let openssl = |version| format!("{{ library = \"openssl\", version = \"{version}\" }}");
    let one_id = format!(
        "{},\n{}",
        openssl("300.6.0+3.6.3"),
        openssl("300.6.1+3.6.3")
    );
    let expected = "found openssl-3.6.3, which has the id of openssl-3.6.3";
    rejected(&bench, &suite_of(&one_id), "9", expected);
    // So has a program that is there, before the build of it begins.
    let program = programs().join("tls-openssl");
    std::os::unix::fs::symlink(program, bench.path("tls-openssl")).unwrap();
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let lock: toml::Table = toml::from_str(&fs::read_to_string(lock).unwrap()).unwrap();
    let packages = lock["package"].as_array().unwrap();
    let locked = packages
        .iter()
        .find(|it| it["name"].as_str() == Some("openssl-src"));
    let locked = openssl(locked.unwrap()["version"].as_str().unwrap());
    let expected = "which has the id of tls-openssl, expected builds with ids of their own";
    rejected(
        &bench,
        &suite_of(&format!("\"tls-openssl\",\n{locked}")),
        "9",
        expected,
    );
    let other = openssl("300.5.5+3.5.5");
    fs::write(
        bench.path("suite.toml"),
        suite_of(&format!("\"tls-openssl\", {other}")),
    )
    .unwrap();
    let answer = bench.tlsbench("", "list --suite suite.toml");
    assert!(!answer.errors.contains("which has the id"), "{answer:?}");
    let names = |count| suite_of(&vec!["\"none\""; count].join(", "));
    let most = "found 101 implementations, expected at most 100";
    rejected(&bench, &names(101), "8", most);
    rejected(&bench, &names(100), "8", "found the program \"none\"");
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
            fs::write(bench.path("suite.toml"), suite_of(&build)).unwrap();
            refused(&bench, "", "run --suite suite.toml")
        };
        let right = tree.canonicalize().unwrap();
        let right = format!("expected source = \"{}\"", right.display());
        let holds = format!("found no {holds}");
        let inner = message(&tree.join(inner));
        expect(&inner, &["suite.toml:8: ", &holds, &right]);
        let absent = message(&bench.path("no-such-tree"));
        expect(&absent, &["suite.toml:8: ", "no-such-tree", "No such file"]);
    }
}

/// Arguments, the exit code, and a part of the message.
const ARGUMENTS: &str = "
    list --suite qick                        | 1 | --suite qick
    run --suite qick                         | 1 | quick,
    build --suite qick                       | 1 | did you mean `quick`?
    test --suite qick                        | 1 | did you mean `quick`?
    run --only full/1.4/*                    | 1 | --only 'full/1.4/*': no scenario of the suite quick matches
    run --only full/1.4/*                    | 1 | full/1.3/rsa-2048-x25519mlkem768
    list --library gnutsl                    | 1 | expected one of: rustls, openssl,
    list --library gnutsl                    | 1 | did you mean `gnutls`?
    run --round 2                            | 2 | --rounds
    run --rounds 0                           | 2 | --rounds <N>': 0 is not in 1..=10000
    build --suite quick --layouts 4294967295 | 2 | is not in 1..=10000
    run --apart 1000000000h                  | 2 | expected a time such as 30m
    run --rounds many                        | 2 | invalid value 'many'
    run --until-precise 0                    | 2 | expected a percentage such as 1%
    run --apart later                        | 2 | expected a time such as 30m
    run --counter callgrnd                   | 2 | expected callgrind or calls
    run --out Data/Runs/X                    | 1 | lower-case letters
    run --out data                           | 1 | --out data: found a folder of the project, expected one in data/runs or build
    run --out data/runs                      | 1 | found a folder of the project
    run --out bench/x                        | 1 | found a folder of the project
    run --out build                          | 1 | found a folder of the project
    run --out whole                          | 1 | found notes.txt in it, expected a new folder or that of a run
    run --out build/begun/raw/x              | 1 | build/begun around it, expected a folder of its own
    run --out build/file/x                   | 1 | build/file, expected a folder
    run --out build/none/../../data          | 1 | found `..` after a folder that does not exist
    run --host My/Host                       | 2 | at most 200 lower-case letters
    host show --host kvíz                    | 2 | at most 200 lower-case letters
    test --suite quick                       | 1 | --suite quick: found no build of a version
    lock --suite quick                       | 1 | found no build of a version or tree, expected a suite such as history
    pack no-such-run                         | 1 | no-such-run: found no such run, expected the folder of a complete run
    measure                                  | 2 | unrecognized subcommand
    list --format csv                        | 2 | possible values: text, json
    host show --format markdown              | 2 | possible values: text, json, toml
    completions cmd                          | 2 | possible values: bash
    compare --a rustls --b tls-x             | 2 | expected a local tree such as rustls=../rustls
    compare --a tls-x --b tls-x --bound 0.1% | 2 | for '--bound <PERCENT>': expected at least 0.2%
";

#[test]
fn the_error_for_a_wrong_argument_states_the_expected_value() {
    let bench = checkout();
    for file in [
        "whole/notes.txt",
        "build/file",
        "build/begun/run.partial.toml",
    ] {
        let path = bench.path(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }
    for [arguments, code, expected] in rows(ARGUMENTS) {
        let (found, message) = failed(&bench, "", arguments);
        expect(&message, &[expected]);
        assert_eq!(found.to_string(), code, "{arguments}");
    }
    assert!(!bench.path("data/runs").exists() && !bench.path("Data").exists());
    fs::remove_file(bench.path("config.toml")).unwrap();
    for command in ["list", "run"] {
        let message = refused(&bench, "", command);
        expect(&message, &["found no project", "tlsperf init"]);
    }
}

#[test]
fn a_complete_run_is_rejected_for_another_command() {
    let bench = Bench::of(1, &["one"]);
    let run = "run --suite suite.toml --out run --host test";
    bench.tlsbench("", run).done();
    let before = fs::read(bench.path("run/run.toml")).unwrap();
    let again = bench.tlsbench("", run).done();
    expect(&again.errors, &["is complete: nothing to do"]);
    let other = |more: &str, expected: &str| {
        let message = refused(&bench, "", &format!("{run}{more}"));
        let complete = "run.toml: the run is complete";
        expect(&message, &[complete, expected, "another --out"]);
    };
    other(" --rounds 2", "it was begun by `tlsbench run");
    // No program is started, and no build begins.
    let start = |mode| fs::set_permissions(bench.path("fake-a"), Permissions::from_mode(mode));
    start(0o644).unwrap();
    other(" --sessions 2", "it was begun by `tlsbench run");
    start(0o755).unwrap();
    let changed = |file: &str, change: &dyn Fn(Vec<u8>) -> Vec<u8>, expected: &str| {
        let content = fs::read(bench.path(file)).unwrap();
        fs::write(bench.path(file), change(content.clone())).unwrap();
        other("", expected);
        fs::write(bench.path(file), content).unwrap();
    };
    let more = |content: Vec<u8>| [&content[..], b"# other\n"].concat();
    changed("suite.toml", &more, "the suite was changed");
    changed("fake-a", &more, "programs were changed");
    let moved = |content: Vec<u8>| {
        let text = String::from_utf8(content).unwrap();
        text.replace("\ncpu = \"", "\ncpu = \"another ").into()
    };
    changed("run/run.toml", &moved, "host: cpu was \"another ");
    bench.tlsbench("", run).done();
    assert_eq!(fs::read(bench.path("run/run.toml")).unwrap(), before);
}

#[test]
fn a_run_of_another_order_is_refused_before_programs_are_built() {
    let bench = checkout();
    fs::create_dir(bench.path("run")).unwrap();
    let begun = include_str!("../../../../data/schema/run.example.toml");
    fs::write(bench.path("run/run.partial.toml"), begun).unwrap();
    let message = refused(&bench, "", "run --suite quick --out run");
    expect(&message, &["run.partial.toml", "it was begun by"]);
    assert!(!message.contains("building"), "{message}");
}

/// Lines that a file in TOML may have to exhaust its reader.
fn hostile() -> [String; 7] {
    let nested = |open: &str, close: &str| {
        let (open, close) = (open.repeat(100_000), close.repeat(100_000));
        format!("x = {open}1{close}")
    };
    [
        format!("x{} = 1", ".x".repeat(50_000)),
        format!("[x{}]", ".x".repeat(50_000)),
        nested("[", "]"),
        nested("{x = ", "}"),
        format!("rounds = {}", "1".repeat(400)),
        "rounds = 1000000000000000000".to_owned(),
        format!("x = \"{}", "\u{1b}]0;".repeat(1000)),
    ]
}

/// `failed` kills a command that takes long.
#[test]
fn a_hostile_file_is_rejected_at_once_with_its_line() {
    let bench = checkout();
    let good = suite_of("\"fake-a\"").replace("rounds = 1\n", "");
    let begun =
        include_str!("../../../../data/schema/run.example.toml").replace("rounds = 6\n", "");
    let write = |path: &str, text: String| {
        let path = bench.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let refused_at = |place: &str| {
        let message = refused(&bench, "", "run --suite suite.toml --out build/run");
        expect(&message, &[&format!("{place}:3: ")]);
        assert!(
            message.len() < 1000 && !message.contains('\u{1b}'),
            "{message}"
        );
    };
    let third = |text: &str, line: &str| {
        let lines: Vec<&str> = text.lines().collect();
        [&lines[..2], &[line], &lines[2..]].concat().join("\n")
    };
    for line in hostile() {
        write("suite.toml", third(&good, &line));
        refused_at("suite.toml");
        write("suite.toml", suite_of("\"fake-a\""));
        write("build/run/run.partial.toml", third(&begun, &line));
        refused_at("build/run/run.partial.toml");
        fs::remove_dir_all(bench.path("build/run")).unwrap();
    }
    let many = |name: &str| format!("{name} = [{}]\n", "1, ".repeat(20_000));
    write(
        "suite.toml",
        suite_of("\"fake-a\"") + &many("size") + &many("in_flight"),
    );
    let message = refused(&bench, "", "list --suite suite.toml");
    expect(
        &message,
        &["suite.toml:9: ", "more than 10000 combinations"],
    );
}

/// Values that any field of a suite may have by mistake.
const VALUES: [&str; 16] = [
    "\"\"",
    "\"č\"",
    "\"1.3\"",
    "0",
    "-1",
    "9223372036854775807",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "true",
    "[]",
    "[[1, \"x\"]]",
    "{}",
    "2026-11-27",
    "\"../x\"",
];

/// Each value in the place of each other value, alone and beside a build that has it too.
#[test]
fn no_value_of_a_suite_makes_the_runner_panic() {
    let bench = Bench::new();
    let suite = suite_of("{ library = \"openssl\", version = \"300.6.1+3.6.3\", flags = \"-O2\" }");
    let suite = suite.replace(
        "description",
        "sessions = 2\ntimeout_seconds = 1\ndescription",
    );
    let lines: Vec<&str> = suite.lines().collect();
    let path = bench.path("suite.toml");
    let read = |lines: &[String]| {
        fs::write(&path, lines.join("\n")).unwrap();
        let Ok(file) = SuiteFile::read(&path, Some(8)) else {
            return 0;
        };
        let state = |_: &Listed| String::new();
        assert!(!to_text(&file.suite, state).is_empty());
        assert!(to_json(&file.suite, state).is_object());
        1
    };
    let changed = |number: usize, value: &str| -> Vec<String> {
        let mut all: Vec<String> = lines.iter().map(|it| (*it).to_owned()).collect();
        if let Some((key, _)) = lines[number].split_once(" = ") {
            all[number] = format!("{key} = {value}");
        }
        all
    };
    let mut accepted = 0;
    for (number, line) in lines.iter().enumerate() {
        for value in VALUES.iter().filter(|_| line.contains(" = ")) {
            accepted += read(&changed(number, value));
            let build =
                format!("[{{ library = \"openssl\", version = {value}, flags = {value} }}]");
            let mut both = changed(number, value);
            let implementations = lines.iter().position(|it| it.starts_with("impl")).unwrap();
            both[implementations] = format!("implementations = {build}");
            accepted += read(&both);
        }
    }
    assert!(accepted > 10, "{accepted}");
}
