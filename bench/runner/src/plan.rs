//! The plan of a run: the part of its `run.toml` that is known before the first round.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use jiff::Timestamp;
use tls_harness::counters::{callgrind, kernel};
use tls_harness::implementation::Implementation;
use tls_harness::record::Schema;
use tls_harness::request::Counter;

use crate::files::sha256;
use crate::id::{EXPECTED, is_id};
use crate::implementations::{Places, Ready, check, described};
use crate::libraries::Libraries;
use crate::manifest::{
    CheckResult, CheckStatus, HostFacts, Run, RunCounter, RunWarning, SuiteReference, Tool,
};
use crate::options::Options;
use crate::selection::Selection;
use crate::suite::{Suite, SuiteFile};
use crate::warnings;

/// Rounds of a run that counts instructions, unless the user sets another number: the fewest that
/// have an interval.
const COUNTED_ROUNDS: u32 = 6;

/// A run that the user wants.
pub struct Order {
    pub suite: PathBuf,
    /// The folder of the run, whose name is the run's id.
    pub out: PathBuf,
    pub places: Places,
    pub options: Options,
    /// The command in the form that the run records.
    pub command: String,
}

impl Order {
    /// The suite to measure: the selected part with the requested numbers, checked for missing
    /// implementations.
    pub fn read(&self, cores: Option<u32>) -> Result<SuiteFile> {
        id(&self.out)?;
        let mut file = selected(&self.suite, &self.options.selection, &self.places, cores)?;
        self.apply(&mut file.suite)?;
        Ok(file)
    }

    /// Applies the options to the suite.
    fn apply(&self, suite: &mut Suite) -> Result<()> {
        let options = &self.options;
        // Counts are equal in every session, so one is enough unless the user sets another number.
        let counted = |number| options.counter.map(|_| number);
        (suite.rounds, suite.sessions, suite.layouts) = (
            options
                .rounds
                .or(counted(COUNTED_ROUNDS))
                .unwrap_or(suite.rounds),
            options.sessions.or(counted(1)).unwrap_or(suite.sessions),
            options.layouts.or(counted(1)).unwrap_or(suite.layouts),
        );
        ensure!(
            options.until_precise.is_none() || suite.sessions == 1,
            "--until-precise is for one session; this run has {}",
            suite.sessions
        );
        // A session uses one layout, so further layouts would not be measured.
        suite.layouts = suite.layouts.min(suite.sessions);
        Ok(())
    }
}

/// A valid suite, reduced to the selection.
pub fn selected(
    suite: &Path,
    selection: &Selection,
    places: &Places,
    cores: Option<u32>,
) -> Result<SuiteFile> {
    let libraries = Libraries::read(&places.bench)?;
    let mut file = SuiteFile::read(suite, cores)?;
    let describe = |name: &str| described(name, places, &libraries);
    selection.apply(&mut file, &libraries, describe)?;
    check(&file, places, &libraries)?;
    Ok(file)
}

/// The plan of a run that starts now.
pub fn plan(
    order: &Order,
    suite: SuiteReference,
    counter: Option<RunCounter>,
    ready: &Ready,
    host: HostFacts,
    checks: Vec<CheckResult>,
) -> Result<Run> {
    // The state of the host affects times, but not counts.
    let troubling: &[CheckResult] = match counter {
        Some(_) => &[],
        None => &checks,
    };
    let mut warnings = host_warnings(&host, troubling);
    warnings.extend(ready.warnings.iter().cloned());
    let programs = ready.programs.iter();
    let implementations: Vec<_> = programs.map(|it| it.implementation.clone()).collect();
    let now = Timestamp::now();
    Ok(Run {
        schema: Schema,
        id: id(&order.out)?,
        date: now.strftime("%Y-%m-%d").to_string().parse()?,
        started: Some(to_the_second(now)?),
        finished: None,
        complete: false,
        rounds: None,
        seed: Some(rand::random::<u32>().into()),
        allocator: allocator(&implementations),
        host_id: host.id.clone(),
        tool: Tool {
            name: "tlsbench".to_owned(),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            commit: None,
            sha256: Some(own_sha256()?),
            url: None,
            commands: vec![order.command.clone()],
        },
        suite: Some(suite),
        counter,
        host: Some(host),
        checks,
        warnings,
        sessions: Vec::new(),
        layouts: ready.layouts.clone(),
        implementations,
        files: Vec::new(),
    })
}

fn own_sha256() -> Result<String> {
    // This path still refers to the running program if its file was replaced.
    let own = std::fs::read("/proc/self/exe").context("/proc/self/exe")?;
    Ok(sha256(own))
}

/// A counter with the installed version.
pub fn versioned(counter: Counter) -> Result<RunCounter> {
    if counter == Counter::Wire {
        return Ok(RunCounter {
            name: counter,
            version: format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION")),
            processor: None,
        });
    }
    let version = callgrind::version()?;
    Ok(RunCounter {
        name: counter,
        version: match counter {
            Counter::Calls => format!("valgrind {version}, strace {}", kernel::version()?),
            _ => version,
        },
        processor: callgrind::processor(),
    })
}

/// A time in the form of `run.toml`.
pub fn to_the_second(time: Timestamp) -> Result<toml::value::Datetime> {
    Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().parse()?)
}

/// The id of the run in a folder, which is the folder's name.
fn id(out: &Path) -> Result<String> {
    let id = out
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    ensure!(
        is_id(id),
        "--out {}: the last part names the run: {EXPECTED}",
        out.display()
    );
    Ok(id.to_owned())
}

/// The allocator of all implementations, if it is the same.
fn allocator(implementations: &[Implementation]) -> Option<String> {
    let (first, others) = implementations.split_first()?;
    let same = |other: &Implementation| other.allocator == first.allocator;
    others
        .iter()
        .all(same)
        .then(|| first.allocator.clone())
        .flatten()
}

pub fn host_warnings(host: &HostFacts, checks: &[CheckResult]) -> Vec<RunWarning> {
    let mut warnings = Vec::new();
    if host.is_virtual == Some(true) {
        let by = host.virtualization.as_deref().unwrap_or("unknown");
        warnings.push(warnings::virtual_machine(by));
    }
    warnings.extend(host.container.as_deref().map(warnings::container));
    let failed = checks.iter().filter(|it| it.status == CheckStatus::Fail);
    warnings.extend(failed.map(|it| warnings::failed_check(&it.check, &it.found)));
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_warnings_for_its_kind_and_each_failed_check() {
        let host = HostFacts {
            is_virtual: Some(true),
            virtualization: Some("kvm".to_owned()),
            container: Some("docker".to_owned()),
            ..HostFacts::default()
        };
        let check = |check: &str, status| CheckResult {
            check: check.to_owned(),
            status,
            found: "60% of a core".to_owned(),
            fix: None,
        };
        let checks = [
            check("governor", CheckStatus::Pass),
            check("turbo", CheckStatus::Warn),
            check("load", CheckStatus::Fail),
        ];
        let expected = [
            warnings::virtual_machine("kvm"),
            warnings::container("docker"),
            warnings::failed_check("load", "60% of a core"),
        ];
        assert_eq!(host_warnings(&host, &checks), expected);
        assert_eq!(host_warnings(&HostFacts::default(), &[]), []);
    }

    /// An order of the unmodified suite `standard`.
    fn order() -> Order {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Order {
            suite: bench.join("suites/standard.toml"),
            out: PathBuf::from("run"),
            places: Places {
                programs: PathBuf::new(),
                bench,
                cache: PathBuf::new(),
                layouts: PathBuf::new(),
            },
            options: Options::default(),
            command: String::new(),
        }
    }

    /// Rounds, sessions and layouts after applying options to a suite with 20, 4 and 3.
    fn applied(options: Options) -> Result<[u32; 3], String> {
        let order = Order { options, ..order() };
        let mut suite = SuiteFile::read(&order.suite, None).unwrap().suite;
        (suite.rounds, suite.sessions, suite.layouts) = (20, 4, 3);
        order.apply(&mut suite).map_err(|error| error.to_string())?;
        Ok([suite.rounds, suite.sessions, suite.layouts])
    }

    #[test]
    fn options_replace_the_numbers_of_the_suite_and_are_rejected_if_they_cannot() {
        let options = |rounds, sessions, layouts| Options {
            rounds,
            sessions,
            layouts,
            ..Options::default()
        };
        let counted = |options| Options {
            counter: Some(Counter::Callgrind),
            ..options
        };
        let precise = |options| Options {
            until_precise: Some(0.01),
            ..options
        };
        let none = || options(None, None, None);
        let wrong = |text: &str| Err(text.to_owned());
        for (options, expected) in [
            (none(), Ok([20, 4, 3])),
            // Each session has a layout.
            (options(Some(7), Some(2), Some(5)), Ok([7, 2, 2])),
            (counted(none()), Ok([COUNTED_ROUNDS, 1, 1])),
            (counted(options(Some(2), Some(3), None)), Ok([2, 3, 1])),
            (precise(options(None, Some(1), None)), Ok([20, 1, 1])),
            (
                precise(none()),
                wrong("--until-precise is for one session; this run has 4"),
            ),
        ] {
            assert_eq!(applied(options), expected);
        }
    }

    #[test]
    fn the_checksum_of_the_measuring_program_is_recorded() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(own_sha256().unwrap(), sha256(own));
    }

    #[test]
    fn the_folder_names_the_run() {
        let id = |name: &str| id(&Path::new("data/runs").join(name));
        assert_eq!(id("2026-11-21-quick_2.x").unwrap(), "2026-11-21-quick_2.x");
        for wrong in ["Quick", "quick/.."] {
            let error = id(wrong).unwrap_err().to_string();
            assert!(error.ends_with(EXPECTED), "{error}");
        }
    }

    #[test]
    fn a_run_has_an_allocator_if_all_programs_share_it() {
        let of = |name: Option<&str>| Implementation {
            allocator: name.map(str::to_owned),
            ..Implementation::new("rustls", "1.0").unwrap()
        };
        let (system, other) = (of(Some("system")), of(Some("jemalloc 5.3.0")));
        let shared = allocator(&[system.clone(), system.clone()]);
        assert_eq!(shared.as_deref(), Some("system"));
        assert_eq!(allocator(&[system.clone(), other]), None);
        assert_eq!(allocator(&[of(None), of(None)]), None);
        assert_eq!(allocator(&[]), None);
        assert_eq!(allocator(&[system, of(None)]), None);
    }

    #[test]
    fn times_are_written_in_whole_seconds() {
        let moment: Timestamp = "2026-11-21T08:09:10.9Z".parse().unwrap();
        let written = to_the_second(moment).unwrap().to_string();
        assert_eq!(written, "2026-11-21T08:09:10Z");
    }
}
