//! The plan of a run: its `run.toml` as far as it is known before the first round.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use jiff::Timestamp;
use sha2::{Digest as _, Sha256};
use tls_harness::counters::callgrind;
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

/// Rounds of a run that counts, if none are ordered: the fewest that have an interval.
const COUNTED_ROUNDS: u32 = 6;

/// What a run is to measure, and where.
pub struct Order {
    pub suite: PathBuf,
    /// The folder of the run; its name is the run's id.
    pub out: PathBuf,
    pub places: Places,
    /// Of the suite.
    pub selection: Selection,
    pub host_id: Option<String>,
    /// Instead of the suite's.
    pub rounds: Option<u32>,
    /// Instead of the suite's.
    pub sessions: Option<u32>,
    /// From the end of a session to the start of the next.
    pub apart: Duration,
    /// End after the first session that is not measured yet.
    pub one_session: bool,
    /// Instead of the suite's.
    pub layouts: Option<u32>,
    pub layout_kind: LayoutKind,
    /// Half-width of the 95% interval of every median, as a share of it.
    pub until_precise: Option<f64>,
    /// What to count instead of measuring time.
    pub counter: Option<Counter>,
    /// As the run records it.
    pub command: String,
}

impl Order {
    /// The suite as it is to be measured: what is selected of it, in so many rounds as ordered, with
    /// implementations that can be there.
    ///
    /// # Errors
    /// It cannot work: names file and line.
    pub fn read(&self, cores: Option<u32>) -> Result<SuiteFile> {
        id(&self.out)?;
        self.host_id.as_deref().map(check_id).transpose()?;
        let mut file = selected(&self.suite, &self.selection, &self.places, cores)?;
        self.apply(&mut file.suite)?;
        Ok(file)
    }

    /// Puts what is ordered in the place of what the suite says.
    ///
    /// # Errors
    /// A number is 0, or what is ordered does not go together.
    fn apply(&self, suite: &mut Suite) -> Result<()> {
        // The same instructions are counted in every session: one is enough, unless more are ordered.
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
        // A session uses one layout: more of them would not be measured.
        suite.layouts = suite.layouts.min(suite.sessions);
        Ok(())
    }
}

/// A suite that can work, or what is selected of it.
///
/// # Errors
/// It cannot work: names file and line.
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

/// The plan of a run that begins now.
///
/// # Errors
/// The folder's name is no id of a run.
pub fn plan(
    order: &Order,
    suite: SuiteReference,
    counter: Option<RunCounter>,
    ready: &Ready,
    host: HostFacts,
    checks: Vec<CheckResult>,
) -> Result<Run> {
    // The state of the host disturbs a clock, and no count.
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

/// The checksum of this program.
fn own_sha256() -> Result<String> {
    // By this name also if the file was replaced since the program started.
    let own = std::fs::read("/proc/self/exe").context("/proc/self/exe")?;
    Ok(hex(&Sha256::digest(own)))
}

/// A counter with the version that this host has.
pub fn versioned(counter: Counter) -> Result<RunCounter> {
    let Counter::Callgrind = counter;
    Ok(RunCounter {
        name: counter,
        version: callgrind::version()?,
    })
}

/// A moment as `run.toml` has it.
pub fn to_the_second(time: Timestamp) -> Result<toml::value::Datetime> {
    Ok(time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().parse()?)
}

/// The id of the run in a folder: the folder's name.
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

/// The allocator that all implementations share, if they do.
fn allocator(implementations: &[Implementation]) -> Option<String> {
    let (first, others) = implementations.split_first()?;
    let same = |other: &Implementation| other.allocator == first.allocator;
    others
        .iter()
        .all(same)
        .then(|| first.allocator.clone())
        .flatten()
}

/// Warnings of the host that measures.
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
    fn a_host_has_a_warning_for_what_it_is_and_for_each_failed_check() {
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

    /// An order of the standard suite as it is.
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

    /// Rounds, sessions and layouts of a suite that has 20, 4 and 3, as an order changes them.
    fn applied(order: &Order) -> Result<[u32; 3]> {
        let mut suite = SuiteFile::read(&order.suite, None)?.suite;
        (suite.rounds, suite.sessions, suite.layouts) = (20, 4, 3);
        order.apply(&mut suite)?;
        Ok([suite.rounds, suite.sessions, suite.layouts])
    }

    #[test]
    fn what_is_ordered_takes_the_place_of_what_the_suite_says() {
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
    fn an_order_of_nothing_or_of_what_does_not_go_together_is_refused() {
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
    fn the_program_that_measures_is_recorded_by_its_checksum() {
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
    fn the_allocator_of_a_run_is_that_of_all_its_programs() {
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
    fn a_moment_is_written_to_the_second() {
        let moment: Timestamp = "2026-11-21T08:09:10.9Z".parse().unwrap();
        let written = to_the_second(moment).unwrap().to_string();
        assert_eq!(written, "2026-11-21T08:09:10Z");
    }
}
