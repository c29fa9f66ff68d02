//! The suites of the project, and suites that include files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tlsbench::files::sha256;
use tlsbench::listing::expectation;
use tlsbench::run::masks_without_effect;
use tlsbench::suite::SuiteFile;

use crate::common::{Bench, scenario, silent_host};

/// `suites.txt` has the number of scenarios of suites on a host with eight cores, and the checksum of
/// their names in order. Other suites may have any scenarios, but must be valid.
#[test]
fn every_suite_is_valid_and_recorded_suites_have_their_scenarios_in_order() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites");
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.starts_with('_') {
            continue;
        }
        let suite = SuiteFile::read(&folder.join(&name), Some(8));
        let suite = suite.unwrap_or_else(|error| panic!("{error:#}")).suite;
        assert_eq!(name, format!("{}.toml", suite.name), "file and name differ");
        let names: Vec<_> = suite.scenarios.iter().map(|it| it.name()).collect();
        let checksum = &sha256(names.join("\n"))[..16];
        found.insert(format!("{} {} {checksum}", suite.name, names.len()));
    }
    let mut recorded: Vec<&str> = include_str!("suites.txt").lines().collect();
    recorded.retain(|line| !found.contains(*line));
    assert!(
        recorded.is_empty(),
        "other scenarios than bench/runner/tests/runner/suites.txt has: {recorded:?}, found {found:?}: if the change is \
         intended, update the list: earlier runs then have another suite"
    );
}

#[test]
fn each_mask_that_hides_nothing_of_the_processor_is_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suites/rsa.toml");
    let suite = SuiteFile::read(&path, None).unwrap().suite;
    let named = |features: &[&str]| {
        let features: Vec<_> = features.iter().map(|it| (*it).to_owned()).collect();
        let warnings = masks_without_effect(&suite, &features).into_iter();
        warnings.map(|it| it.message).collect::<Vec<_>>()
    };
    assert_eq!(named(&["aes", "avx512ifma"]), [""; 0]);
    let without = named(&["aes"]);
    assert_eq!(without.len(), suite.builds().count() / 2);
    assert!(
        without.iter().all(|it| it.contains("-no-ifma ")),
        "{without:?}"
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
    let text = expectation(&suite);
    assert!(!text.contains(verdict), "{text}");
}

/// A suite whose scenario is in `_shared.toml`.
fn including(bench: &Bench, threads: u32) -> SuiteFile {
    let path = bench.suite(1, 0.001, &[]);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text + "include = [\"_shared.toml\"]\n").unwrap();
    fs::write(bench.path("_shared.toml"), scenario(threads)).unwrap();
    SuiteFile::read(&path, None).unwrap()
}

fn checksum(files: &[&Path]) -> String {
    let texts: Vec<_> = files.iter().map(|it| fs::read(it).unwrap()).collect();
    sha256(texts.concat())
}

#[test]
fn the_checksum_of_a_suite_covers_what_it_includes() {
    let bench = Bench::new();
    let alone = bench.suite(1, 0.001, &["one"]);
    let file = SuiteFile::read(&alone, None).unwrap();
    assert_eq!(file.sha256, checksum(&[&alone]));
    let file = including(&bench, 1);
    assert_eq!(file.suite.scenarios.len(), 1);
    let shared = bench.path("_shared.toml");
    assert_eq!(file.sha256, checksum(&[&alone, &shared]));
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
