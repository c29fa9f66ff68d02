//! The suites of the project, and suites that include files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sha2::Digest as _;
use tlsbench::suite::{SuiteFile, hex};

use crate::common::{Bench, scenario, silent_host};

/// `suites.txt` lists the scenarios of suites on a host with eight cores. Other suites may have any
/// scenarios, but must be valid.
#[test]
fn every_suite_is_valid_and_recorded_suites_have_their_scenarios_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites");
    let mut recorded: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut suite = "";
    for line in include_str!("suites.txt").lines() {
        match line.strip_prefix("    ") {
            Some(scenario) => recorded.get_mut(suite).unwrap().push(scenario),
            None => {
                suite = line;
                recorded.insert(line, Vec::new());
            }
        }
    }
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with('_') {
            continue;
        }
        let suite = SuiteFile::read(&folder.join(&name), Some(8));
        let suite = suite.unwrap_or_else(|error| panic!("{error:#}")).suite;
        assert_eq!(name, format!("{}.toml", suite.name), "file and name differ");
        let Some(expected) = recorded.remove(&*suite.name) else {
            continue;
        };
        let found: Vec<_> = suite.scenarios.iter().map(|it| it.name()).collect();
        assert_eq!(
            found, expected,
            "bench/suites/{name} and its part of bench/runner/tests/runner/suites.txt differ: if the \
             change is intended, update the list: earlier runs then have another suite"
        );
    }
    assert!(
        recorded.is_empty(),
        "no bench/suites/NAME.toml: {recorded:?}"
    );
}

/// The header and the scenario in the guide, each a block of indented lines.
#[test]
fn the_suite_in_the_guide_is_valid() {
    let guide = include_str!("../../../../docs/add-a-scenario.md");
    let block = |first: &str| {
        let lines = guide.lines().map(|line| line.strip_prefix("       "));
        let block = lines.skip_while(|line| *line != Some(first));
        let block: Vec<_> = block.map_while(|line| line).collect();
        assert!(!block.is_empty(), "the guide has no block with {first}");
        block.join("\n") + "\n"
    };
    let bench = Bench::new();
    let path = bench.path("chacha20.toml");
    fs::write(&path, block("schema = 1") + &block("[[scenarios]]")).unwrap();
    let suite = SuiteFile::read(&path, Some(8)).unwrap().suite;
    let names: Vec<_> = suite.scenarios.iter().map(|it| it.name()).collect();
    assert_eq!((&*suite.name, suite.rounds), ("chacha20", 12));
    assert_eq!(
        names,
        ["TLS 1.3 transfer, CHACHA20-POLY1305, 64 KiB in flight"],
        "the scenario of the guide"
    );
    let verdict = "no difference can be shown";
    assert!(
        !suite.expectation().contains(verdict),
        "{}",
        suite.expectation()
    );
}

/// A suite whose scenario is in `_shared.toml`.
fn including(bench: &Bench, threads: u32) -> SuiteFile {
    let path = bench.suite(1, 0.001, &[]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "include = [\"_shared.toml\"]\n").unwrap();
    fs::write(bench.path("_shared.toml"), scenario(threads)).unwrap();
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
    let file = including(&bench, 1);
    assert_eq!(file.suite.scenarios.len(), 1);
    let shared = bench.path("_shared.toml");
    assert_eq!(file.sha256, sha256(&[&alone, &shared]));
    assert_ne!(including(&bench, 2).sha256, file.sha256);
}

#[test]
fn an_error_names_a_missing_included_file() {
    let bench = Bench::new();
    including(&bench, 1);
    fs::remove_file(bench.path("_shared.toml")).unwrap();
    let error = format!("{:#}", bench.run(&silent_host(&bench)).unwrap_err());
    assert!(error.contains("suite.toml:10: "), "{error}");
    assert!(error.contains("_shared.toml: No such file"), "{error}");
}
