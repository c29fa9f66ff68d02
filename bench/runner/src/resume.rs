//! Whether a run that was begun can be resumed: it must have been ordered the same way, with the
//! same suite and programs, and a session that was begun with the same host.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::host::facts;
use crate::manifest::{HostFacts, Run, RunCounter, SuiteReference};

/// The plan in `partial`, if what there is now can resume it.
pub fn resume(partial: &Path, now: &Run) -> Result<Run> {
    let begun = Run::read(partial)?;
    let differences = differences(&begun, now);
    ensure!(
        differences.is_empty(),
        "{}: the run cannot resume: {}; begin another with another --out",
        partial.display(),
        differences.join("; ")
    );
    Ok(begun)
}

fn differences(begun: &Run, now: &Run) -> Vec<String> {
    let command = now.tool.commands.join("; ");
    let mut differences = otherwise(begun, &command, now.suite.as_ref(), now.counter.as_ref());
    if begun.tool.version != now.tool.version {
        differences.push("it was begun by another version of tlsbench".to_owned());
    }
    if begun.tool.version == now.tool.version && begun.tool.sha256 != now.tool.sha256 {
        differences.push("it was begun by another build of tlsbench".to_owned());
    }
    if begun.implementations != now.implementations {
        differences.push("the libraries' programs were changed".to_owned());
    } else if begun.layouts != now.layouts {
        differences.push("the libraries' programs were linked differently".to_owned());
    }
    differences
}

/// How a run was ordered otherwise.
fn otherwise(
    begun: &Run,
    command: &str,
    suite: Option<&SuiteReference>,
    counter: Option<&RunCounter>,
) -> Vec<String> {
    let mut differences = Vec::new();
    let before = begun.tool.commands.join("; ");
    if before != command {
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

/// Accepts the finished run in `path` as what is ordered, as far as that is known before anything is
/// built.
pub fn same_order(
    path: &Path,
    run: &Run,
    command: &str,
    suite: &SuiteReference,
    counter: Option<&RunCounter>,
) -> Result<()> {
    accepted(path, &otherwise(run, command, Some(suite), counter))
}

/// Accepts the finished run in `path` as the one that would begin now.
pub fn same_run(path: &Path, now: &Run) -> Result<()> {
    let run = Run::read(path)?;
    let mut differences = differences(&run, now);
    if let (Some(before), Some(now)) = (&run.host, &now.host) {
        let host = facts::differences(now, before)?;
        differences.extend(host.iter().map(|it| format!("host: {it}")));
    }
    accepted(path, &differences)
}

fn accepted(path: &Path, differences: &[String]) -> Result<()> {
    ensure!(
        differences.is_empty(),
        "{}: the run is complete, but differs from this command: {}; begin another with another \
         --out",
        path.display(),
        differences.join("; ")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use tls_harness::request::Counter;

    use super::*;

    type Change = fn(&mut Run);

    fn example() -> Run {
        toml::from_str(include_str!("../../../data/schema/run.example.toml")).unwrap()
    }

    fn counted() -> Run {
        Run {
            counter: Some(RunCounter {
                name: Counter::Callgrind,
                version: "3.19.0".to_owned(),
                processor: Some("amd64-avx2".to_owned()),
            }),
            ..example()
        }
    }

    #[test]
    fn each_difference_from_the_run_that_was_begun_is_named() {
        let command = format!("it was begun by `{}`", example().tool.commands[0]);
        let version = "it was begun by another version of tlsbench";
        let rows: [(Change, &[&str]); 10] = [
            (|_| {}, &[]),
            (|it| it.tool.commands[0] += " --rounds 6", &[&command]),
            (|it| it.tool.version = Some("0.2.0".to_owned()), &[version]),
            (
                |it| (it.tool.version, it.tool.sha256) = (None, None),
                &[version],
            ),
            (
                |it| it.tool.sha256 = None,
                &["it was begun by another build of tlsbench"],
            ),
            (
                |it| it.suite.as_mut().unwrap().name += "-2",
                &["its suite is quick"],
            ),
            (
                |it| it.suite.as_mut().unwrap().family += "-2",
                &["the suite was changed"],
            ),
            (
                |it| it.implementations[0].version += ".1",
                &["the libraries' programs were changed"],
            ),
            (
                |it| it.layouts.clear(),
                &["the libraries' programs were linked differently"],
            ),
            (|it| *it = counted(), &["it measures time"]),
        ];
        for (change, expected) in rows {
            let mut now = example();
            change(&mut now);
            assert_eq!(differences(&example(), &now), expected);
        }
        let expected = "it counts under valgrind 3.19.0";
        assert_eq!(differences(&counted(), &example()), [expected]);
    }

    #[test]
    fn a_finished_run_is_accepted_before_anything_is_built_if_it_was_ordered_the_same_way() {
        let ordered = |now: &Run| {
            let suite = now.suite.as_ref().unwrap();
            let command = now.tool.commands.join("; ");
            let path = Path::new("run.toml");
            same_order(path, &example(), &command, suite, now.counter.as_ref())
        };
        ordered(&example()).unwrap();
        let error = ordered(&counted()).unwrap_err().to_string();
        let expected = "run.toml: the run is complete, but differs from this command: it measures";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn a_finished_run_is_accepted_if_it_would_begin_the_same_way_now() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.toml");
        example().write(&path).unwrap();
        let refused = |change: Change| {
            let mut now = example();
            change(&mut now);
            same_run(&path, &now).err().map(|error| error.to_string())
        };
        assert_eq!(refused(|_| {}), None);
        // A finished run looks up no compilers.
        assert_eq!(
            refused(|it| it.host.as_mut().unwrap().compilers.clear()),
            None
        );
        let kernel = refused(|it| it.host.as_mut().unwrap().kernel = None).unwrap();
        assert!(
            kernel.contains("differs from this command: host: "),
            "{kernel}"
        );
        let suite = refused(|it| it.suite = None).unwrap();
        assert!(suite.contains(": the suite was changed; "), "{suite}");
    }

    #[test]
    fn a_plan_is_resumed_as_it_was_written_on_the_same_host() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.partial.toml");
        let begun = Run {
            seed: Some(7),
            ..example()
        };
        begun.write(&path).unwrap();
        assert_eq!(resume(&path, &example()).unwrap(), begun);
        let now = Run {
            suite: None,
            ..example()
        };
        let error = resume(&path, &now).unwrap_err().to_string();
        let expected = "the run cannot resume: the suite was changed;";
        assert!(error.contains(expected), "{error}");
        let before = example().host.unwrap();
        same_host(&before, &before).unwrap();
        let now = HostFacts {
            kernel: None,
            ..before.clone()
        };
        let error = same_host(&now, &before).unwrap_err().to_string();
        assert!(
            error.starts_with("the run cannot resume: host: "),
            "{error}"
        );
    }
}
