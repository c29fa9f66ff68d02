//! All commands and options in the guides exist.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::mistakes::checkout;

/// The texts of the files that show commands.
fn guides() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = fs::read_dir(root.join("docs")).unwrap();
    let files = folder.map(|entry| entry.unwrap().path());
    files
        .chain(["README.md", "CONTRIBUTING.md"].map(|name| root.join(name)))
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn help(command: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tlsbench"))
        .args(command)
        .arg("--help")
        .output()
        .unwrap();
    assert!(output.status.success(), "tlsbench {command:?} --help");
    String::from_utf8(output.stdout).unwrap()
}

/// The arguments of each call of tlsbench in a text, up to the end of the line or quotation.
fn calls(text: &str) -> Vec<Vec<String>> {
    let text = text.replace("\\\n", " ");
    let calls = text.lines().flat_map(|line| {
        let parts = line.split("tlsbench ").skip(1);
        parts.map(|part| part.split(['`', '#', '|']).next().unwrap())
    });
    let words = calls.map(|call| call.split_whitespace().map(str::to_owned).collect());
    words.filter(|call: &Vec<_>| !call.is_empty()).collect()
}

#[test]
fn all_tlsbench_commands_and_options_in_guides_exist() {
    let commands = help(&[]);
    let mut found = 0;
    let mut missing = Vec::new();
    for (guide, text) in guides() {
        let known = |call: &&Vec<String>| commands.contains(&format!("\n  {} ", call[0]));
        for call in calls(&text).iter().filter(known) {
            let command: Vec<_> = call.iter().map(String::as_str).collect();
            let words = if command[0] == "host" { 2 } else { 1 };
            let command = &command[..words.min(command.len())];
            let known = help(command);
            for option in call.iter().filter(|word| word.starts_with("--")) {
                found += 1;
                if !known.contains(&format!(" {option} ")) {
                    missing.push(format!("{guide}: tlsbench {} {option}", command.join(" ")));
                }
            }
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(found > 30, "found only {found} options in the guides");
}

/// `list` has the options that choose what `run` measures, and rejects the same.
#[test]
fn a_run_of_the_readme_is_one_that_list_prints() {
    let bench = checkout();
    let manifest = bench.path("rustls/rustls/Cargo.toml");
    fs::create_dir_all(manifest.parent().unwrap()).unwrap();
    fs::write(
        manifest,
        "[package]\nname = \"rustls\"\nversion = \"0.1.0\"\n",
    )
    .unwrap();
    let calls = calls(&guides()["README.md"]);
    let runs: Vec<_> = calls.iter().filter(|call| call[0] == "run").collect();
    assert!(!runs.is_empty());
    for run in runs {
        let options = run[1..].join(" ").replace("=../rustls", "=rustls");
        let answer = bench.tlsbench("", &format!("list {}", options.replace('\'', "")));
        // The folder has no programs: `list` says so after it has accepted the options.
        let not_built = answer.errors.contains("is not built yet");
        assert!(
            answer.code == Some(0) || not_built,
            "{run:?}: {}",
            answer.errors
        );
    }
}

#[test]
fn all_options_in_the_comparison_with_other_tools_exist() {
    let guides = guides();
    let (_, measuring) = guides["commands.md"].split_once("\n## Measuring").unwrap();
    let (measuring, _) = measuring.split_once("\n## ").unwrap();
    let help = help(&["run"]);
    let rows = measuring.lines().filter(|line| line.starts_with('|'));
    let ours = rows.map(|row| row.rsplit(" | ").next().unwrap());
    let named: Vec<_> = ours
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter_map(|quoted| quoted.split_whitespace().next())
        .filter(|word| word.starts_with("--"))
        .collect();
    assert!(named.contains(&"--until-precise"), "{named:?}");
    for option in named {
        assert!(
            help.contains(&format!(" {option} ")),
            "tlsbench run {option}"
        );
    }
}
