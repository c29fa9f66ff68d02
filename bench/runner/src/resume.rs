//! Whether a run that was begun can be resumed: it must have been ordered the same way, with the
//! same suite and programs, and a session that was begun with the same host.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::host::facts;
use crate::manifest::{HostFacts, Run, RunCounter, SuiteReference};

/// The plan in `partial`, if what there is now can resume it.
///
/// # Errors
/// The plan cannot be read, or differs from `now`: names every difference.
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
///
/// # Errors
/// It differs: names every difference.
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
///
/// # Errors
/// It was ordered otherwise: names every difference.
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
///
/// # Errors
/// Order, suite, programs or host differ: names every difference.
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

    fn example() -> Run {
        toml::from_str(include_str!("../../../data/schema/run.example.toml")).unwrap()
    }

    #[test]
    fn a_run_resumes_as_it_was_begun_and_each_difference_is_named() {
        assert_eq!(differences(&example(), &example()), [""; 0]);
        let named = |change: fn(&mut Run), expected: &str| {
            let mut now = example();
            change(&mut now);
            assert_eq!(differences(&example(), &now), [expected]);
        };
        let command = &example().tool.commands[0];
        named(
            |run| run.tool.commands[0] += " --rounds 6",
            &format!("it was begun by `{command}`"),
        );
        named(
            |run| run.tool.version = Some("0.2.0".to_owned()),
            "it was begun by another version of tlsbench",
        );
        named(
            |run| {
                run.tool.version = None;
                run.tool.sha256 = None;
            },
            "it was begun by another version of tlsbench",
        );
        named(
            |run| run.suite.as_mut().unwrap().name = "standard".to_owned(),
            "its suite is quick",
        );
        named(
            |run| run.tool.sha256 = None,
            "it was begun by another build of tlsbench",
        );
        named(
            |run| run.suite.as_mut().unwrap().family += "-2",
            "the suite was changed",
        );
        named(
            |run| run.implementations[0].version += ".1",
            "the libraries' programs were changed",
        );
        named(
            |run| run.layouts.clear(),
            "the libraries' programs were linked differently",
        );
    }

    #[test]
    fn runs_of_time_and_of_instructions_do_not_resume_each_other() {
        let counted = || Run {
            counter: Some(RunCounter {
                name: Counter::Callgrind,
                version: "3.19.0".to_owned(),
                processor: Some("amd64-avx2".to_owned()),
            }),
            ..example()
        };
        assert_eq!(differences(&example(), &counted()), ["it measures time"]);
        assert_eq!(
            differences(&counted(), &example()),
            ["it counts under valgrind 3.19.0"]
        );
        for (run, other) in [(example(), counted()), (counted(), example())] {
            let accepts = |now: &Run| {
                let suite = now.suite.as_ref().unwrap();
                let command = now.tool.commands.join("; ");
                same_order(
                    "run.toml".as_ref(),
                    &run,
                    &command,
                    suite,
                    now.counter.as_ref(),
                )
            };
            accepts(&run).unwrap();
            let error = accepts(&other).unwrap_err().to_string();
            assert!(
                error.contains("the run is complete, but differs from"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_host_that_changed_does_not_resume_a_session() {
        let before = example().host.unwrap();
        same_host(&before, &before).unwrap();
        let now = HostFacts {
            kernel: Some("6.1.1".to_owned()),
            ..before.clone()
        };
        let error = same_host(&now, &before).unwrap_err().to_string();
        assert!(
            error.starts_with("the run cannot resume: host: "),
            "{error}"
        );
    }

    #[test]
    fn a_finished_run_is_accepted_if_it_would_begin_the_same_way_now() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.toml");
        example().write(&path).unwrap();
        same_run(&path, &example()).unwrap();
        let refused = |change: fn(&mut HostFacts)| {
            let mut now = example();
            change(now.host.as_mut().unwrap());
            same_run(&path, &now).err().map(|error| error.to_string())
        };
        let not_looked_up = refused(|host| host.compilers.clear());
        assert_eq!(not_looked_up, None, "a finished run looks up no compilers");
        let error = refused(|host| host.kernel = Some("6.1.1".to_owned())).unwrap();
        assert!(
            error.contains("differs from this command: host: "),
            "{error}"
        );
        let mut now = example();
        now.seed = Some(7);
        now.suite = None;
        let error = same_run(&path, &now).unwrap_err().to_string();
        assert!(error.contains(": the suite was changed; "), "{error}");
    }

    #[test]
    fn a_plan_is_resumed_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.partial.toml");
        let mut begun = example();
        begun.seed = Some(7);
        begun.write(&path).unwrap();
        assert_eq!(resume(&path, &example()).unwrap(), begun);
        let mut now = example();
        now.suite = None;
        let error = resume(&path, &now).unwrap_err().to_string();
        assert!(
            error.contains("the run cannot resume: the suite was changed;"),
            "{error}"
        );
    }
}
