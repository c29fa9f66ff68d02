//! A run that is stopped by Ctrl-C or killed leaves no process behind, and can be resumed.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Answer, Bench, check_finished};

fn children(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|it| it.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|number| {
            let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
            // Fields of proc_pid_stat(5): the name in parentheses, the state, the parent.
            let rest = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
            rest.split(' ').nth(1) == Some(&parent.to_string())
        })
        .collect()
}

/// The only child of a process, once it runs its own program.
fn child(parent: u32) -> u32 {
    let of = name(parent).unwrap_or_default();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match children(parent)[..] {
            [child] if name(child).is_some_and(|it| it != of) => return child,
            _ => assert!(Instant::now() < deadline, "no child of {parent}"),
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn name(process: u32) -> Option<String> {
    let name = fs::read_to_string(format!("/proc/{process}/comm")).ok()?;
    Some(name.trim().to_owned())
}

/// Whether a process ends in half a minute; its parent may not have collected its status yet.
pub fn ends(process: u32) -> bool {
    let deadline = Instant::now() + Duration::from_secs(30);
    let has_ended = || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit_once(") ")
            .is_none_or(|(_, rest)| rest.starts_with('Z'))
    };
    while !has_ended() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(1));
    }
    has_ended()
}

/// The program in a folder, with arguments: a shell starts background processes with Ctrl-C ignored.
pub fn accepting_signals(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new("env");
    command
        .arg("--default-signal=INT,TERM")
        .arg(folder.join("tlsbench"))
        .args(arguments.split(' '))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

/// Sends a signal to a process, and returns its exit code and the rest of its errors.
pub fn stopped(runner: Child, signal: Signal) -> (Option<i32>, String) {
    kill_process(Pid::from_child(&runner), signal).unwrap();
    let output = runner.wait_with_output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    (output.status.code(), text)
}

#[test]
fn ctrl_c_states_what_is_kept_and_the_command_that_resumes() {
    let bench = Bench::of(100, &["one"]);
    let run = "run --suite suite.toml --host test --only full/*";
    let mut runner = accepting_signals(bench.folder.path(), run).spawn().unwrap();
    let mut errors = BufReader::new(runner.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("3 of 100 rounds complete") {
        line.clear();
        assert_ne!(errors.read_line(&mut line).unwrap(), 0, "it ended");
    }
    let (code, _) = stopped(runner, Signal::INT);
    assert_eq!(code, Some(130));
    let mut text = String::new();
    errors.read_to_string(&mut text).unwrap();
    let (_, message) = text.split_once("stopped: ").unwrap();
    let [kept, resume] = <[&str; 2]>::try_from(message.lines().collect::<Vec<_>>()).unwrap();
    let (rounds, folder) = kept.split_once(" complete rounds kept in ").unwrap();
    assert!((3..100).contains(&rounds.parse::<u32>().unwrap()), "{kept}");
    let resume = resume.strip_prefix("resume: ").unwrap();
    assert!(resume.ends_with(&format!("--only 'full/*' --out {folder}")));
    let mut shell = Command::new("sh");
    let shell = shell.args(["-c", resume]).current_dir(bench.folder.path());
    let again = Answer::of(shell).done().errors;
    assert!(!again.contains("round 1: "), "it begins anew: {again}");
    check_finished(&bench.path(folder), 1, 2, 100);
}

#[test]
fn a_stopped_run_leaves_no_process_and_no_trace_of_the_program() {
    for (signal, code) in [
        (Signal::INT, Some(130)),
        (Signal::TERM, Some(143)),
        (Signal::KILL, None),
    ] {
        let bench = Bench::of(1, &["hang-with-child"]);
        bench.edit("timeout_seconds = 2.0\n", "");
        let run = "run --suite suite.toml --host test --out run";
        let runner = accepting_signals(bench.folder.path(), run).spawn().unwrap();
        let program = loop {
            // `describe` precedes the measurement.
            let program = child(runner.id());
            if !children(program).is_empty() {
                break program;
            }
        };
        let sleep = child(program);
        assert_eq!(name(sleep).as_deref(), Some("sleep"));
        let (found, text) = stopped(runner, signal);
        assert_eq!(found, code, "{text}");
        assert!(
            !text.contains("panicked") && !text.contains("backtrace"),
            "{text}"
        );
        for process in [program, sleep] {
            assert!(ends(process), "{process} outlives the runner");
        }
        assert!(!bench.path("run/run.toml").exists());
        let records = fs::read(bench.path("run/raw/records.jsonl")).unwrap();
        assert_eq!(records, b"", "the block that was stopped is not a failure");
    }
}

/// A limit on the size of files takes the place of a full disk.
#[test]
fn a_record_that_cannot_be_written_whole_is_cut_off_and_the_run_resumes() {
    let bench = Bench::of(20, &["one"]);
    let tlsbench = |limit: &str| {
        let script = format!("trap '' XFSZ; {limit} exec \"$0\" \"$@\"");
        let run = "run --suite suite.toml --host test --out run";
        let mut command = Command::new("bash");
        command
            .args(["-c", &script])
            .arg(bench.path("tlsbench"))
            .args(run.split(' '))
            .current_dir(bench.folder.path());
        Answer::of(&mut command)
    };
    let errors = tlsbench("ulimit -f 16;").errors;
    assert!(errors.contains("could not write a record"), "{errors}");
    let before = bench.records();
    assert!(before.len() > 10);
    tlsbench("").done();
    check_finished(&bench.path("run"), 1, 2, 20);
    assert!(bench.records().starts_with(&before));
}
