//! A folder with fake libraries' programs, and suites for them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use tls_harness::record::Record;
use tlsbench::host::root::Root;
use tlsbench::implementations::Places;
use tlsbench::manifest::{LayoutKind, Run};
use tlsbench::plan::Order;
use tlsbench::run::run;
use tlsbench::selection::Selection;

/// A scenario in the form of a suite.
pub fn scenario(threads: u32) -> String {
    format!(
        "[[scenarios]]\noperation = \"handshake\"\nprotocol = \"1.3\"\n\
         cipher_suite = \"TLS_AES_256_GCM_SHA384\"\nkey_exchange = \"X25519\"\n\
         certificate = \"rsa-2048\"\nauthentication = \"server\"\nresumption = \"none\"\n\
         threads = {threads}\n"
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
        // This folder makes it a checkout, without any library.
        fs::create_dir_all(folder.path().join("bench/libraries")).unwrap();
        Self { folder }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a suite of `rounds` rounds with one scenario for each way to behave; `tls-fake` reads
    /// the ways from this file.
    pub fn suite(&self, rounds: u32, seconds: f64, ways: &[&str]) -> PathBuf {
        let mut text = format!(
            "schema = 1\nname = \"test\"\nfamily = \"test\"\ndescription = \"\"\n\
             rounds = {rounds}\nmeasure_seconds = {seconds}\nwarmup_seconds = 0.0\n\
             timeout_seconds = 2.0\nimplementations = [\"fake-a\", \"fake-b\"]\n"
        );
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
            selection: Selection::default(),
            host_id: Some("test-host".to_owned()),
            rounds: None,
            sessions: None,
            apart: Duration::ZERO,
            one_session: false,
            layouts: None,
            layout_kind: LayoutKind::Shifted,
            until_precise: None,
            counter: None,
            command: "tlsbench run --suite suite.toml --out run".to_owned(),
        }
    }

    /// Runs the suite on a host that reports only what `root` contains.
    pub fn run(&self, root: &Root) -> anyhow::Result<PathBuf> {
        run(&self.order(), root)
    }
}

/// Starts a program that was just copied. Another thread that starts a process at this moment may
/// still hold the file open for writing, so this retries.
pub fn started(command: &mut Command) -> Child {
    loop {
        match command.spawn() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(1));
            }
            started => return started.unwrap(),
        }
    }
}

/// An empty root: a host that reports nothing is never disturbed.
pub fn silent_host(bench: &Bench) -> Root {
    Root::new(bench.path("no-such-root"))
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
    use std::collections::BTreeSet;

    let run = read_run(folder);
    assert!(run.complete);
    assert_eq!(run.rounds, Some(rounds));
    assert_eq!(run.implementations.len(), implementations);
    assert!(!folder.join("run.partial.toml").exists());
    let records = read_records(folder);
    let counted: BTreeSet<u32> = records
        .iter()
        .filter_map(|record| match record {
            Record::RoundState(state) if !state.disturbed => Some(state.round),
            _ => None,
        })
        .collect();
    assert_eq!(counted.len(), rounds as usize);
    let states = records
        .iter()
        .filter(|record| matches!(record, Record::RoundState(_)))
        .count();
    let mut all_rounds = BTreeSet::new();
    let mut blocks = BTreeSet::new();
    let mut measurements = BTreeSet::new();
    for record in &records {
        match record {
            Record::Block(block) => {
                all_rounds.insert(block.round);
                let key = (block.round, block.block, block.implementation.clone());
                assert!(blocks.insert(key.clone()), "twice: {key:?}");
            }
            Record::Measurement(measurement) => {
                let key = (
                    measurement.round,
                    measurement.implementation.clone(),
                    measurement.scenario.name(),
                );
                assert!(measurements.insert(key.clone()), "twice: {key:?}");
            }
            _ => {}
        }
    }
    assert_eq!(states, all_rounds.len(), "each round has one mark");
    for round in counted {
        for block in 0..scenarios {
            for implementation in &run.implementations {
                assert!(
                    blocks.contains(&(round, block, implementation.id.clone())),
                    "round {round} counts, but lacks block {block} of {}",
                    implementation.id
                );
            }
        }
    }
}
