//! Raw data of earlier versions can be read.

use std::fs;
use std::path::Path;

use tls_harness::record::Record;

#[test]
fn every_round_of_the_published_runs_is_read() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/runs");
    let mut rounds = 0;
    for run in fs::read_dir(runs).unwrap() {
        let path = run.unwrap().path().join("raw/records.jsonl");
        let text = fs::read_to_string(path).unwrap_or_default();
        for line in text.lines().filter(|it| it.contains(r#""kind":"round""#)) {
            let record: Record = serde_json::from_str(line).unwrap();
            assert!(matches!(record, Record::RoundState(_)), "{line}");
            rounds += 1;
        }
    }
    assert!(rounds > 100, "{rounds}");
}
