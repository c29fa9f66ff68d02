//! Whether a run that was begun can be resumed: it must have been ordered the same way, with the
//! same suite and programs, and a session that was begun with the same host.

use std::path::Path;

use anyhow::{Result, ensure};
use tls_harness::request::Counter;

use crate::host::facts;
use crate::manifest::{HostFacts, Run};

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
    let mut differences = Vec::new();
    if begun.tool.commands != now.tool.commands {
        differences.push(format!(
            "it was begun by `{}`",
            begun.tool.commands.join("; ")
        ));
    }
    if begun.tool.version != now.tool.version {
        differences.push("it was begun by another version of tlsbench".to_owned());
    }
    if begun.counter != now.counter {
        differences.push(match (&begun.counter, &now.counter) {
            (None, _) => "it measures time".to_owned(),
            (Some(begun), _) => format!("it counts under valgrind {}", begun.version),
        });
    }
    if begun.suite != now.suite {
        differences.push("the suite was changed".to_owned());
    }
    if begun.implementations != now.implementations {
        differences.push("the libraries' programs were changed".to_owned());
    } else if begun.layouts != now.layouts {
        differences.push("the libraries' programs were linked differently".to_owned());
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

/// Accepts the finished run in `path` as what is ordered only if both measure the same.
///
/// # Errors
/// The run cannot be read, or one of both is of time and the other of instructions.
pub fn same_measure(path: &Path, ordered: Option<Counter>) -> Result<()> {
    let run = Run::read(path)?;
    let of = |counter: Option<Counter>| counter.map_or("time", |_| "instructions");
    let (found, expected) = (of(run.counter.map(|it| it.name)), of(ordered));
    ensure!(
        found == expected,
        "{}: the run is complete, and measured {found}, not {expected}; begin another with \
         another --out",
        path.display()
    );
    Ok(())
}
