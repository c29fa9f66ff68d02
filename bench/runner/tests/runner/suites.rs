//! The suites of the project, and suites that include files.

use std::fs;
use std::path::Path;

use sha2::Digest as _;
use tlsbench::suite::{SuiteFile, hex};

use crate::common::{Bench, silent_host};

/// `suites.txt` lists each suite with the names of its scenarios on a host with eight cores.
#[test]
fn every_suite_holds_the_recorded_scenarios_in_the_recorded_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites");
    let mut names: Vec<_> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('_'))
        .collect();
    names.sort();
    let mut found = String::new();
    for name in names {
        let suite = SuiteFile::read(&folder.join(&name), Some(8)).unwrap().suite;
        assert_eq!(name, format!("{}.toml", suite.name));
        found += &format!("{}\n", suite.name);
        for scenario in &suite.scenarios {
            found += &format!("    {}\n", scenario.name());
        }
    }
    assert_eq!(found, include_str!("suites.txt"));
}

/// A suite whose scenario is in `_shared.toml`.
fn including(bench: &Bench, scenario: &str) -> SuiteFile {
    let path = bench.suite(1, 0.001, &[]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "include = [\"_shared.toml\"]\n").unwrap();
    let shared = format!("[[scenarios]]\noperation = \"handshake\"\nvariant = \"{scenario}\"\n");
    fs::write(bench.path("_shared.toml"), shared).unwrap();
    SuiteFile::read(&path, None).unwrap()
}

fn sha256(files: &[&Path]) -> String {
    let bytes: Vec<u8> = files.iter().flat_map(|it| fs::read(it).unwrap()).collect();
    hex(&sha2::Sha256::digest(bytes))
}

#[test]
fn the_checksum_of_a_suite_covers_what_it_includes() {
    let bench = Bench::new();
    let alone = bench.suite(1, 0.001, &["one"]);
    let file = SuiteFile::read(&alone, None).unwrap();
    assert_eq!(file.sha256, sha256(&[&alone]));
    let file = including(&bench, "one");
    assert_eq!(file.suite.scenarios.len(), 1);
    let shared = bench.path("_shared.toml");
    assert_eq!(file.sha256, sha256(&[&alone, &shared]));
    assert_ne!(including(&bench, "two").sha256, file.sha256);
}

#[test]
fn an_included_file_that_is_missing_is_named() {
    let bench = Bench::new();
    including(&bench, "one");
    fs::remove_file(bench.path("_shared.toml")).unwrap();
    let error = format!("{:#}", bench.run(&silent_host(&bench)).unwrap_err());
    assert!(error.contains("suite.toml: "), "{error}");
    assert!(error.contains("_shared.toml: No such file"), "{error}");
}
