//! Whether a run that was begun, or is complete, is the one that would begin now: ordered the same
//! way, with the same suite and programs. A session also goes on only on the same host.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::history::History;
use crate::host::facts;
use crate::journal::{Journal, RECORDS};
use crate::manifest::{HostFacts, Run, RunCounter, SuiteReference};
use crate::words::counted;

/// The run in `path`, if it is the one that would begin now.
pub fn same_run(path: &Path, now: &Run) -> Result<Run> {
    let run = Run::read(path)?;
    let mut differences = differences(&run, now);
    // The sessions of a run that resumes compare their hosts.
    if let (true, Some(before), Some(now)) = (run.complete, &run.host, &now.host) {
        let host = facts::differences(now, before)?;
        differences.extend(host.iter().map(|it| format!("host: {it}")));
    }
    refuse(path, &run, &differences)?;
    Ok(run)
}

/// Checks, before anything is built, that a command with this suite and counter began the run in
/// `path`.
pub fn same_order(
    path: &Path,
    command: &str,
    counter: Option<&RunCounter>,
    suite: &SuiteReference,
) -> Result<()> {
    let run = Run::read(path)?;
    let differences = ordered_otherwise(&run, &[command.to_owned()], counter, Some(suite));
    refuse(path, &run, &differences)
}

fn refuse(path: &Path, run: &Run, differences: &[String]) -> Result<()> {
    ensure!(
        differences.is_empty(),
        "{}: {}: {}; begin another with another --out",
        path.display(),
        match run.complete {
            true => "the run is complete, but differs from this command",
            false => "the run cannot resume",
        },
        differences.join("; ")
    );
    Ok(())
}

/// How another order began the run.
fn ordered_otherwise(
    begun: &Run,
    commands: &[String],
    counter: Option<&RunCounter>,
    suite: Option<&SuiteReference>,
) -> Vec<String> {
    let mut differences = Vec::new();
    if begun.tool.commands != commands {
        let before = begun.tool.commands.join("; ");
        differences.push(format!("it was begun by `{before}`"));
    }
    if begun.counter.as_ref() != counter {
        differences.push(match &begun.counter {
            None => "it measures time".to_owned(),
            Some(begun) => format!("it counts under valgrind {}", begun.version),
        });
    }
    if begun.suite.as_ref() != suite {
        differences.push(match (&begun.suite, suite) {
            (Some(before), Some(now)) if before.name != now.name => {
                format!("its suite is {}", before.name)
            }
            _ => "the suite was changed".to_owned(),
        });
    }
    differences
}

fn differences(begun: &Run, now: &Run) -> Vec<String> {
    let (commands, suite) = (&now.tool.commands, now.suite.as_ref());
    let mut differences = ordered_otherwise(begun, commands, now.counter.as_ref(), suite);
    if begun.tool.version != now.tool.version {
        differences.push("it was begun by another version of tlsbench".to_owned());
    } else if begun.tool.sha256 != now.tool.sha256 {
        differences.push("it was begun by another build of tlsbench".to_owned());
    }
    let programs = |run: &Run| {
        let mut programs = run.implementations.clone();
        // Words of library.toml, which change no program.
        programs.iter_mut().for_each(|it| it.deviations.clear());
        programs
    };
    if programs(begun) != programs(now) {
        differences.push("the libraries' programs were changed".to_owned());
    } else if begun.layouts != now.layouts {
        differences.push("the libraries' programs were linked differently".to_owned());
    }
    differences
}

/// What the folder of a run that was stopped keeps; `None` if nothing was measured.
pub fn kept(folder: &Path) -> Option<String> {
    let run = Run::read(&folder.join("run.partial.toml")).ok()?;
    let (_, records) = Journal::open(&folder.join(RECORDS)).ok()?;
    let rounds = counted(History::of(&records).counted(), "complete round");
    let session = match run.sessions.len() {
        0 | 1 => String::new(),
        number => format!(", to session {number},"),
    };
    Some(format!("{rounds}{session} kept in {}", folder.display()))
}

/// Accepts the host as it is now for the rest of a session only if it is as it was.
pub fn same_host(now: &HostFacts, before: &HostFacts) -> Result<()> {
    let differences = facts::differences(now, before)?;
    ensure!(
        differences.is_empty(),
        "the run cannot resume: host: {}; begin another with another --out",
        differences.join("; host: ")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../../data/schema/run.example.toml");

    fn example() -> Run {
        toml::from_str(EXAMPLE).unwrap()
    }

    /// How the run in a text differs from the example, which would begin now.
    fn differences_of(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.toml");
        std::fs::write(&path, text).unwrap();
        let run: Run = toml::from_str(text).unwrap();
        let error = match same_run(&path, &example()) {
            Ok(found) => {
                assert_eq!(found, run);
                return String::new();
            }
            Err(error) => error.to_string(),
        };
        let how = match run.complete {
            true => "run.toml: the run is complete, but differs from this command: ",
            false => "run.toml: the run cannot resume: ",
        };
        let (_, differences) = error.split_once(how).unwrap();
        let (differences, advice) = differences.rsplit_once("; ").unwrap();
        assert_eq!(advice, "begin another with another --out");
        differences.to_owned()
    }

    /// A part of the example, what a run has instead of it, and the difference.
    const DIFFERENCES: &str = r#"
        seed = 42            | seed = 43            |
        tlsbench run --suite | tlsbench run --suit  | it was begun by `tlsbench run --suit bench/
        version = "0.1.0"    | version = "0.2.0"    | it was begun by another version of tlsbench
        sha256 = "0000       | sha256 = "1111       | it was begun by another build of tlsbench
        name = "quick"       | name = "full"        | its suite is full
        family = "main"      | family = "other"     | the suite was changed
        version = "1.0"      | version = "1.1"      | the libraries' programs were changed
        seed = 7             | seed = 8             | the libraries' programs were linked differently
        allocator = "system" | counter = {name = "callgrind", version = "3.19.0"} | it counts under valgrind 3.19.0
    "#;

    #[test]
    fn a_run_is_accepted_only_if_it_would_begin_the_same_way_now() {
        for row in DIFFERENCES.trim().lines() {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let complete = EXAMPLE.replacen(cells[0], cells[1], 1);
            let begun = complete.replace("complete = true", "complete = false");
            for text in [complete, begun] {
                let found = differences_of(&text);
                assert!(found.starts_with(cells[2]), "{row}: {found}");
                assert_eq!(found.is_empty(), cells[2].is_empty(), "{row}: {found}");
                assert!(!found.contains(';'), "{row}: {found}");
            }
        }
        let mut now = example();
        (now.tool.version, now.tool.sha256, now.suite) = (None, None, None);
        let several = [
            "the suite was changed",
            "it was begun by another version of tlsbench",
        ];
        assert_eq!(differences(&example(), &now), several);
        let counter = "counter = {name = \"callgrind\", version = \"3.19.0\"}";
        let now = EXAMPLE.replacen("allocator = \"system\"", counter, 1);
        let found = differences(&example(), &toml::from_str(&now).unwrap());
        assert_eq!(found, ["it measures time"]);
    }

    #[test]
    fn the_host_of_a_complete_run_and_of_a_session_is_the_same_but_for_its_compilers() {
        let compilers = EXAMPLE.replacen("rustc 1.95.0", "rustc 1.96.0", 1);
        assert_eq!(differences_of(&compilers), "");
        let kernel = EXAMPLE.replacen("6.1.0", "6.0.9", 1);
        let expected = "host: kernel was \"6.0.9\", is \"6.1.0\"";
        assert_eq!(differences_of(&kernel), expected);
        // The session that goes on compares the host.
        let begun = kernel.replace("complete = true", "complete = false");
        assert_eq!(differences_of(&begun), "");
        let now = example().host.unwrap();
        same_host(&now, &now).unwrap();
        let before: Run = toml::from_str(&kernel).unwrap();
        let error = same_host(&now, &before.host.unwrap()).unwrap_err();
        let refused =
            format!("the run cannot resume: {expected}; begin another with another --out");
        assert_eq!(error.to_string(), refused);
    }
}
