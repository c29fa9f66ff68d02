//! The plan of a run: the part of its `run.toml` that is known before the first round.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tls_harness::counters::{callgrind, kernel};
use tls_harness::implementation::Implementation;
use tls_harness::record::Schema;
use tls_harness::request::Counter;

use crate::host::identity::{LONGEST_ID, check_id};
use crate::implementations::{Places, Ready, check, described};
use crate::libraries::Libraries;
use crate::manifest::{
    CheckResult, CheckStatus, HostFacts, LayoutKind, Run, RunCounter, SuiteReference, Tool,
};
use crate::selection::Selection;
use crate::suite::{Suite, SuiteFile, hex};
use crate::warnings::Warning;

/// Rounds of a run that counts instructions, unless the user sets another number: the fewest that
/// have an interval.
const COUNTED_ROUNDS: u32 = 6;

/// The options of a run.
pub struct Order {
    pub suite: PathBuf,
    /// The folder of the run, whose name is the run's id.
    pub out: PathBuf,
    pub places: Places,
    pub selection: Selection,
    pub host_id: Option<String>,
    /// Replaces the suite's number.
    pub rounds: Option<u32>,
    /// Replaces the suite's number.
    pub sessions: Option<u32>,
    /// Time from the end of a session to the start of the next.
    pub apart: Duration,
    /// Ends after the next session.
    pub one_session: bool,
    /// Replaces the suite's number.
    pub layouts: Option<u32>,
    pub layout_kind: LayoutKind,
    /// Half-width of the 95% interval to reach for every median, as a share of it.
    pub until_precise: Option<f64>,
    /// The counter to use instead of measuring time.
    pub counter: Option<Counter>,
    /// The command in the form that the run records.
    pub command: String,
}

impl Order {
    /// The suite to measure: the selected part with the requested numbers, checked for missing
    /// implementations.
    ///
    /// # Errors
    ///
    /// The suite is invalid; names file and line.
    pub fn read(&self, cores: Option<u32>) -> Result<SuiteFile> {
        id(&self.out)?;
        self.host_id.as_deref().map(check_id).transpose()?;
        let mut file = selected(&self.suite, &self.selection, &self.places, cores)?;
        self.apply(&mut file.suite)?;
        Ok(file)
    }

    /// Applies the options to the suite.
    ///
    /// # Errors
    ///
    /// A number is 0, or the options contradict each other.
    fn apply(&self, suite: &mut Suite) -> Result<()> {
        // Counts are equal in every session, so one is enough unless the user sets another number.
        let counted = |number| self.counter.map(|_| number);
        let [rounds, sessions, layouts] = [
            (
                "rounds",
                self.rounds.or(counted(COUNTED_ROUNDS)),
                suite.rounds,
            ),
            ("sessions", self.sessions.or(counted(1)), suite.sessions),
            ("layouts", self.layouts.or(counted(1)), suite.layouts),
        ]
        .map(|(name, ordered, of_suite)| match ordered {
            Some(0) => bail!("--{name} 0: expected at least 1"),
            ordered => Ok(ordered.unwrap_or(of_suite)),
        });
        (suite.rounds, suite.sessions, suite.layouts) = (rounds?, sessions?, layouts?);
        ensure!(
            self.until_precise.is_none() || suite.sessions == 1,
            "--until-precise is for one session; this run has {}",
            suite.sessions
        );
        // A session uses one layout, so further layouts would not be measured.
        suite.layouts = suite.layouts.min(suite.sessions);
        Ok(())
    }
}

/// A valid suite, reduced to the selection.
///
/// # Errors
///
/// The suite is invalid; names file and line.
pub fn selected(
    suite: &Path,
    selection: &Selection,
    places: &Places,
    cores: Option<u32>,
) -> Result<SuiteFile> {
    let libraries = Libraries::read(&places.bench)?;
    let mut file = SuiteFile::read(suite, cores)?;
    let describe = |name: &str| described(name, places, &libraries);
    file.select(selection, &libraries, describe)?;
    check(&file, places, &libraries)?;
    Ok(file)
}

/// The plan of a run that starts now.
///
/// # Errors
///
/// The folder's name is not a valid id of a run.
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
        warnings: warnings.into_iter().map(Into::into).collect(),
        sessions: Vec::new(),
        layouts: ready.layouts.clone(),
        implementations,
        files: Vec::new(),
    })
}

fn own_sha256() -> Result<String> {
    // This path still refers to the running program if its file was replaced.
    let own = std::fs::read("/proc/self/exe").context("/proc/self/exe")?;
    Ok(hex(&Sha256::digest(own)))
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
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    ensure!(
        id.starts_with(letter)
            && id.chars().all(|c| letter(c) || "._-".contains(c))
            && id.len() <= LONGEST_ID,
        "--out {}: the last part names the run: expected at most {LONGEST_ID} lower-case letters, \
         digits, '.', '_', '-'",
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

pub fn host_warnings(host: &HostFacts, checks: &[CheckResult]) -> Vec<Warning> {
    let mut warnings = Vec::new();
    if host.is_virtual == Some(true) {
        let by = host.virtualization.as_deref().unwrap_or("unknown");
        warnings.push(Warning::VirtualMachine { by: by.to_owned() });
    }
    let container = host.container.clone();
    warnings.extend(container.map(|by| Warning::Container { by }));
    let failed = |check: &&CheckResult| check.status == CheckStatus::Fail;
    let failed = checks.iter().filter(failed);
    warnings.extend(failed.map(|check| Warning::FailedCheck {
        check: check.check.clone(),
        found: check.found.clone(),
    }));
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
            Warning::VirtualMachine {
                by: "kvm".to_owned(),
            },
            Warning::Container {
                by: "docker".to_owned(),
            },
            Warning::FailedCheck {
                check: "load".to_owned(),
                found: "60% of a core".to_owned(),
            },
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
            selection: Selection::default(),
            host_id: None,
            rounds: None,
            sessions: None,
            apart: Duration::ZERO,
            one_session: false,
            layouts: None,
            layout_kind: LayoutKind::Shifted,
            until_precise: None,
            counter: None,
            command: String::new(),
        }
    }

    /// Rounds, sessions and layouts after applying an order to a suite with 20, 4 and 3.
    fn applied(order: &Order) -> Result<[u32; 3]> {
        let mut suite = SuiteFile::read(&order.suite, None)?.suite;
        (suite.rounds, suite.sessions, suite.layouts) = (20, 4, 3);
        order.apply(&mut suite)?;
        Ok([suite.rounds, suite.sessions, suite.layouts])
    }

    #[test]
    fn options_replace_the_numbers_of_the_suite() {
        assert_eq!(applied(&order()).unwrap(), [20, 4, 3]);
        let ordered = Order {
            rounds: Some(7),
            sessions: Some(2),
            layouts: Some(5),
            ..order()
        };
        assert_eq!(applied(&ordered).unwrap(), [7, 2, 2], "a layout a session");
        let counted = Order {
            counter: Some(Counter::Callgrind),
            ..order()
        };
        assert_eq!(applied(&counted).unwrap(), [COUNTED_ROUNDS, 1, 1]);
        let counted = Order {
            rounds: Some(2),
            sessions: Some(3),
            ..counted
        };
        assert_eq!(applied(&counted).unwrap(), [2, 3, 1]);
    }

    #[test]
    fn zero_or_contradicting_options_are_rejected() {
        let refused = |order: &Order| applied(order).unwrap_err().to_string();
        let none = Order {
            sessions: Some(0),
            ..order()
        };
        assert_eq!(refused(&none), "--sessions 0: expected at least 1");
        let precise = Order {
            until_precise: Some(0.01),
            ..order()
        };
        assert_eq!(
            refused(&precise),
            "--until-precise is for one session; this run has 4"
        );
        let precise = Order {
            sessions: Some(1),
            ..precise
        };
        assert_eq!(applied(&precise).unwrap(), [20, 1, 1]);
    }

    #[test]
    fn the_checksum_of_the_measuring_program_is_recorded() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert_eq!(own_sha256().unwrap(), hex(&Sha256::digest(own)));
    }

    #[test]
    fn the_folder_names_the_run() {
        let id = |name: &str| id(&Path::new("data/runs").join(name));
        assert_eq!(id("2026-11-21-quick_2.x").unwrap(), "2026-11-21-quick_2.x");
        assert_eq!(id(&"a".repeat(200)).unwrap().len(), 200);
        let long = "a".repeat(201);
        for wrong in ["Quick", "-quick", "quick/..", "qu ick", "..", &long] {
            let error = id(wrong).unwrap_err().to_string();
            assert!(error.contains("at most 200 lower-case letters"), "{error}");
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
