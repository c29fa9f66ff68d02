//! Raw data of earlier versions can be read.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tls_harness::record::Record;
use tlsbench::manifest::{RawFile, stored_bytes};

/// The part of a run.toml that runs of other tools have too.
#[derive(Deserialize)]
struct Run {
    files: Vec<RawFile>,
}

#[test]
fn every_round_of_the_published_runs_is_read() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/runs");
    let mut rounds = 0;
    for folder in fs::read_dir(runs).unwrap() {
        let folder = folder.unwrap().path();
        let text = fs::read_to_string(folder.join("run.toml")).unwrap();
        let run: Run = toml::from_str(&text).unwrap();
        for file in run.files.iter().filter(|it| it.format == "tlsbench/1") {
            let text = String::from_utf8(stored_bytes(&folder, file).unwrap()).unwrap();
            for line in text.lines().filter(|it| it.contains(r#""kind":"round""#)) {
                let record: Record = serde_json::from_str(line).unwrap();
                assert!(matches!(record, Record::RoundState(_)), "{line}");
                rounds += 1;
            }
        }
    }
    assert!(rounds > 100, "{rounds}");
}
