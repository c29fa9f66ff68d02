//! The start of a session: when it may start, and the state of the host at that time.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use jiff::{SignedDuration, Timestamp};

use crate::host::check::check;
use crate::host::root::Root;
use crate::host::watch::{frequency, temperature};
use crate::host::{facts, identity};
use crate::manifest::{HostFacts, Run, RunSession, RunWarning};
use crate::plan::{host_warnings, to_the_second};
use crate::resume::same_host;
use crate::stop;
use crate::warnings;
use crate::words::say;

/// Interval between looks at the clock: a host that was suspended may be past the time.
const LOOK: Duration = Duration::from_secs(30);

/// Adds the session `number` to the run with the current state of the host, or finds it there and
/// checks that the host is still in that state.
pub fn begin(run: &mut Run, number: u32, layout: u32, root: &Root) -> Result<()> {
    let first = run.host.clone().context("the host is not recorded")?;
    let now = HostFacts {
        id: run.host_id.clone(),
        compilers: first.compilers.clone(),
        ..facts::capture(root)
    };
    if let Some(begun) = run.sessions.iter().find(|it| it.number == number) {
        return same_host(&now, begun.host.as_ref().unwrap_or(&first));
    }
    if number == 1 {
        same_host(&now, &first)?;
    } else if let Some(why) = identity::another_machine(&now, &first) {
        bail!("session {number} cannot begin on this host: {why}");
    }
    let checks = match number {
        1 => run.checks.clone(),
        _ => check(&now, root),
    };
    if number > 1 {
        let troubling: &[_] = if run.counter.is_none() { &checks } else { &[] };
        let mut warnings = host_warnings(&now, troubling);
        let changes = identity::changed(&now, &first);
        if !changes.is_empty() {
            warnings.push(warnings::changed_host("session 1", &changes));
        }
        for warning in warnings {
            // A warning that all sessions share, such as a virtual machine, is recorded once.
            if !run.warnings.contains(&warning) {
                run.warnings.push(RunWarning {
                    message: format!("In session {number}: {}", warning.message),
                    ..warning
                });
            }
        }
    }
    let load = root.read("proc/loadavg");
    let load = load.and_then(|text| text.split_whitespace().next()?.parse().ok());
    run.sessions.push(RunSession {
        number,
        started: to_the_second(Timestamp::now())?,
        finished: None,
        rounds: None,
        seed: match (number, run.seed) {
            (1, Some(seed)) => seed,
            _ => rand::random::<u32>().into(),
        },
        layout,
        boot: facts::boot(root),
        frequency_mhz: frequency(root),
        temperature_celsius: temperature(root),
        load_average: load,
        host: (now != first).then_some(now),
        checks,
    });
    Ok(())
}

/// Waits until `apart` has passed since the end of the last session.
pub fn wait(run: &Run, apart: Duration, number: u32) -> Result<()> {
    let ended = run.sessions.last().and_then(|it| it.finished);
    let Some(ended) = ended else { return Ok(()) };
    let ended: Timestamp = ended.to_string().parse()?;
    let begin = ended + SignedDuration::try_from(apart)?;
    let left = || Duration::try_from(begin.duration_since(Timestamp::now())).unwrap_or_default();
    if !left().is_zero() {
        say(&format!(
            "session {number} begins at {}; you can stop now and run the same command later",
            begin.strftime("%Y-%m-%d %H:%M:%S UTC")
        ));
    }
    while !left().is_zero() {
        stop::sleep(left().min(LOOK))?;
    }
    Ok(())
}
