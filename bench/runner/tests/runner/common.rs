//! A folder with fake libraries' programs, and suites for them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use tls_harness::record::{Block, Measurement, Record, RoundState};
use tlsbench::host::root::Root;
use tlsbench::implementations::Places;
use tlsbench::manifest::Run;
use tlsbench::options::Options;
use tlsbench::plan::Order;
use tlsbench::run::run;

/// Seconds of a block whose figures do not matter.
pub const NO_TIME: f64 = 0.001;

/// A scenario in the form of a suite.
pub fn scenario(threads: u32) -> String {
    format!(
        "[[scenarios]]\noperation = \"handshake\"\nprotocol = \"1.3\"\n\
         cipher_suite = \"TLS_AES_256_GCM_SHA384\"\nkey_exchange = \"X25519\"\n\
         certificate = \"rsa-2048\"\nauthentication = \"server\"\nresumption = \"none\"\n\
         threads = {threads}\n"
    )
}

/// The beginning of a suite, of seven lines; `implementations` follows.
pub fn header(rounds: u32, seconds: f64) -> String {
    format!(
        "schema = 1\nname = \"test\"\nfamily = \"test\"\ndescription = \"\"\nrounds = {rounds}\n\
         measure_seconds = {seconds}\nwarmup_seconds = 0.0\n"
    )
}

pub struct Bench {
    pub folder: TempDir,
}

/// Copies a program and appends text, which has no effect. Another process does: a test that starts a
/// program at that moment would inherit the open file, and Linux starts no program that is open for
/// writing.
pub fn copy(program: &Path, to: &Path, appended: &str) {
    const COPY: &str = "cp \"$0\" \"$1\" && printf %s \"$2\" >> \"$1\"";
    let mut shell = Command::new("sh");
    let copied = shell.args(["-c", COPY]).arg(program).arg(to).arg(appended);
    let copied = copied.status().unwrap();
    assert!(copied.success(), "{}: {copied}", program.display());
}

impl Bench {
    /// Creates a folder with `tlsbench` and the programs of two libraries, `fake-a` and `fake-b`.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let place = |program: &Path, name: &str| copy(program, &folder.path().join(name), "");
        // It is an example, which `cargo test` builds and a release build does not.
        let tlsbench = Path::new(env!("CARGO_BIN_EXE_tlsbench"));
        let fake = tlsbench.with_file_name("examples").join("tls-fake");
        place(&fake, "fake-a");
        place(&fake, "fake-b");
        place(tlsbench, "tlsbench");
        // These make it a project, with sources of its own: without any library.
        fs::write(folder.path().join("config.toml"), "").unwrap();
        for name in ["data", "bench/libraries"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a suite of `rounds` rounds with one scenario for each way to behave; `tls-fake` reads
    /// the ways from this file.
    pub fn suite(&self, rounds: u32, seconds: f64, ways: &[&str]) -> PathBuf {
        let mut text = header(rounds, seconds);
        text += "timeout_seconds = 2.0\nimplementations = [\"fake-a\", \"fake-b\"]\n";
        for (threads, way) in (1..).zip(ways) {
            text += &format!("# way: {way}\n{}", scenario(threads));
        }
        let path = self.path("suite.toml");
        fs::write(&path, text).unwrap();
        path
    }

    pub fn order(&self) -> Order {
        Order {
            suite: self.path("suite.toml"),
            out: self.path("run"),
            places: Places {
                programs: self.folder.path().to_owned(),
                bench: Path::new(env!("CARGO_MANIFEST_DIR")).join(".."),
                cache: self.path("cache"),
                layouts: self.path("layouts"),
            },
            options: Options {
                host: Some("test-host".to_owned()),
                ..Options::default()
            },
            command: "tlsbench run --suite suite.toml --out run".to_owned(),
        }
    }

    /// The order with other options than `host`.
    pub fn ordered(&self, options: Options) -> Order {
        let mut order = self.order();
        let host = order.options.host.take();
        order.options = Options { host, ..options };
        order
    }

    /// Changes the text of the suite.
    pub fn edit(&self, from: &str, to: &str) {
        let path = self.path("suite.toml");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(path, text.replace(from, to)).unwrap();
    }

    /// Runs the suite on a host that reports only what `root` contains.
    pub fn run(&self, root: &Root) -> anyhow::Result<PathBuf> {
        run(&self.order(), root)
    }

    /// A bench whose suite takes no time.
    pub fn of(rounds: u32, ways: &[&str]) -> Self {
        let bench = Self::new();
        bench.suite(rounds, NO_TIME, ways);
        bench
    }

    /// Measures the suite into a new folder, on a host that is never disturbed.
    pub fn measure(&self) -> Run {
        let _ = fs::remove_dir_all(self.path("run"));
        self.run(&silent_host(self)).unwrap();
        self.measured()
    }

    pub fn measured(&self) -> Run {
        read_run(&self.path("run"))
    }

    pub fn records(&self) -> Vec<Record> {
        read_records(&self.path("run"))
    }

    pub fn measurements(&self) -> Vec<Measurement> {
        let records = self.records().into_iter();
        let measurements = records.filter_map(|record| match record {
            Record::Measurement(it) => Some(it),
            _ => None,
        });
        measurements.collect()
    }

    pub fn blocks(&self) -> Vec<Block> {
        let records = self.records().into_iter();
        let blocks = records.filter_map(|record| match record {
            Record::Block(it) => Some(it),
            _ => None,
        });
        blocks.collect()
    }

    pub fn rounds(&self) -> Vec<RoundState> {
        let records = self.records().into_iter();
        let rounds = records.filter_map(|record| match record {
            Record::RoundState(it) => Some(it),
            _ => None,
        });
        rounds.collect()
    }

    /// The program with arguments that are separated by spaces, in a folder, without color.
    pub fn command(&self, folder: &str, arguments: &str) -> Command {
        let mut command = Command::new(self.path("tlsbench"));
        command.args(arguments.split(' '));
        command.current_dir(self.path(folder)).env("NO_COLOR", "1");
        command
    }

    pub fn tlsbench(&self, folder: &str, arguments: &str) -> Answer {
        Answer::of(&mut self.command(folder, arguments))
    }
}

/// How a command ended, and what it printed.
#[derive(Debug)]
pub struct Answer {
    pub code: Option<i32>,
    pub printed: String,
    pub errors: String,
}

impl Answer {
    pub fn of(command: &mut Command) -> Self {
        let output = command.output().unwrap();
        Self {
            code: output.status.code(),
            printed: String::from_utf8(output.stdout).unwrap(),
            errors: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Of a command that succeeded.
    pub fn done(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.errors);
        self
    }
}

/// The rows of a table, a line each, with bars between the cells.
pub fn rows<const N: usize>(table: &str) -> Vec<[&str; N]> {
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    let cells = |line| <Vec<&str>>::from_iter(str::split(line, '|').map(str::trim));
    lines
        .map(|line| <[&str; N]>::try_from(cells(line)).unwrap_or_else(|_| panic!("{line}")))
        .collect()
}

/// Asserts that a text has all parts.
pub fn expect(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no \"{part}\" in: {text}");
    }
}

/// An empty root: a host that reports nothing is never disturbed.
pub fn silent_host(bench: &Bench) -> Root {
    Root::new(bench.path("no-such-root"))
}

/// Changes a finished run to the state after a kill in session `number`: its plan, and the records
/// of the sessions before it. `change`: what else differs in the plan.
pub fn stop_in(bench: &Bench, number: u32, change: impl Fn(&mut Run)) {
    let folder = bench.path("run");
    let mut run = read_run(&folder);
    run.complete = false;
    (run.finished, run.rounds) = (None, None);
    run.files.clear();
    run.warnings.clear();
    run.sessions.truncate(number as usize);
    let last = run.sessions.last_mut().unwrap();
    (last.finished, last.rounds) = (None, None);
    change(&mut run);
    run.write(&folder.join("run.partial.toml")).unwrap();
    fs::remove_file(folder.join("run.toml")).unwrap();
    let mut kept = String::new();
    for record in read_records(&folder) {
        if place(&record).0 < number {
            kept += &(record.to_line().unwrap() + "\n");
        }
    }
    fs::write(folder.join("raw/records.jsonl"), kept).unwrap();
}

/// Session and round of a record.
pub fn place(record: &Record) -> (u32, u32) {
    match record {
        Record::Measurement(it) => (it.session, it.round),
        Record::Block(it) => (it.session, it.round),
        Record::Overhead(it) => (it.session, it.round),
        Record::RoundState(it) => (it.session, it.round),
    }
}

pub fn read_run(folder: &Path) -> Run {
    toml::from_str(&fs::read_to_string(folder.join("run.toml")).unwrap()).unwrap()
}

pub fn read_records(folder: &Path) -> Vec<Record> {
    let text = fs::read_to_string(folder.join("raw/records.jsonl")).unwrap();
    assert!(text.ends_with('\n'), "the last line is partial");
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Checks a finished run: each round that counts has every block of every implementation once, no
/// round has a block twice, and run.toml fits the raw file.
pub fn check_finished(folder: &Path, scenarios: u32, implementations: usize, rounds: u32) {
    let run = read_run(folder);
    assert!(run.complete);
    assert_eq!(run.rounds, Some(rounds));
    assert_eq!(run.implementations.len(), implementations);
    assert!(!folder.join("run.partial.toml").exists());
    let (mut counted, mut all_rounds) = (BTreeSet::new(), BTreeSet::new());
    let (mut states, mut blocks, mut measurements) = (0, BTreeSet::new(), BTreeSet::new());
    for record in read_records(folder) {
        match record {
            Record::RoundState(state) => {
                states += 1;
                counted.extend((!state.disturbed).then_some(state.round));
            }
            Record::Block(block) => {
                all_rounds.insert(block.round);
                let key = (block.round, block.block, block.implementation);
                assert!(blocks.insert(key.clone()), "twice: {key:?}");
            }
            Record::Measurement(it) => {
                let key = (it.round, it.implementation, it.scenario.name());
                assert!(measurements.insert(key.clone()), "twice: {key:?}");
            }
            Record::Overhead(_) => {}
        }
    }
    assert_eq!(counted.len(), rounds as usize);
    assert_eq!(states, all_rounds.len(), "each round has one mark");
    for round in counted {
        for block in 0..scenarios {
            for it in &run.implementations {
                let key = (round, block, it.id.clone());
                assert!(blocks.contains(&key), "the round counts, but lacks {key:?}");
            }
        }
    }
}
