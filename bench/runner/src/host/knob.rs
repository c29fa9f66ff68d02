//! The settings that `tlsbench host tune` changes and `reset` restores.
//!
//! A knob is a set of kernel files with the value that each should have. Their old values are
//! written and flushed to a state file before the first change, so that a reset restores them
//! exactly, also after a crash. A restart of the host discards both the settings and the state file
//! in `/run`.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::root::{Root, processors};
use crate::files::replace;

/// The state file with the old values, below the root.
const STATE: &str = "run/tlsbench-tuned.toml";

/// A kernel file and its wanted value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Setting {
    path: String,
    wanted: String,
}

impl Setting {
    fn new(path: impl Into<String>, wanted: &str) -> Self {
        Self {
            path: path.into(),
            wanted: wanted.to_owned(),
        }
    }

    /// The file's content, in the form in which it is written.
    fn read(&self, root: &Root) -> Option<String> {
        root.read(&self.path)
    }

    /// Writes the file, and checks that the kernel accepted the value.
    fn write(&self, root: &Root) -> Result<(), String> {
        root.write(&self.path, &self.wanted)
            .map_err(|error| format!("/{}: {error}", self.path))?;
        match self.read(root) {
            Some(value) if value == self.wanted => Ok(()),
            value => Err(format!(
                "/{}: holds {value:?} after writing {:?}",
                self.path, self.wanted
            )),
        }
    }
}

/// A setting of the host that affects measurements.
struct Knob {
    name: &'static str,
    /// The files that this host has for it, with their wanted values; empty if it has none.
    settings: fn(&Root) -> Vec<Setting>,
}

/// Its kernel may refuse a change: interrupts that are bound to a processor cannot be moved.
const IRQ_AFFINITY: &str = "irq-affinity";

/// In the order of tuning: SMT is first, since it removes processors. Reset uses the reverse order.
const KNOBS: [Knob; 6] = [
    Knob {
        name: "smt",
        settings: smt,
    },
    Knob {
        name: "governor",
        settings: governor,
    },
    Knob {
        name: "turbo",
        settings: |root| {
            existing(
                root,
                &[
                    ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
                    ("sys/devices/system/cpu/cpufreq/boost", "0"),
                ],
            )
        },
    },
    Knob {
        name: IRQ_AFFINITY,
        settings: irq_affinity,
    },
    Knob {
        name: "aslr",
        settings: |root| existing(root, &[("proc/sys/kernel/randomize_va_space", "2")]),
    },
    Knob {
        name: "perf-sampling",
        settings: |root| existing(root, &[("proc/sys/kernel/perf_event_max_sample_rate", "1")]),
    },
];

/// The settings whose files exist.
fn existing(root: &Root, all: &[(&str, &str)]) -> Vec<Setting> {
    all.iter()
        .filter(|(path, _)| root.exists(path))
        .map(|(path, wanted)| Setting::new(*path, wanted))
        .collect()
}

fn smt(root: &Root) -> Vec<Setting> {
    let control = "sys/devices/system/cpu/smt/control";
    // The other values (forceoff, notsupported, notimplemented) cannot be changed.
    match root.read(control).as_deref() {
        Some("on" | "off") => vec![Setting::new(control, "off")],
        _ => Vec::new(),
    }
}

fn governor(root: &Root) -> Vec<Setting> {
    root.numbered("sys/devices/system/cpu", "cpu")
        .into_iter()
        .filter(|cpu| {
            root.read(&format!("{cpu}/cpufreq/scaling_available_governors"))
                .is_some_and(|all| all.split_whitespace().any(|one| one == "performance"))
        })
        .map(|cpu| Setting::new(format!("{cpu}/cpufreq/scaling_governor"), "performance"))
        .collect()
}

/// Interrupts go to the processors that are not isolated. If none is isolated, they go to the
/// first.
fn irq_affinity(root: &Root) -> Vec<Setting> {
    let list = |file: &str| {
        let text = root.read(&format!("sys/devices/system/cpu/{file}"));
        processors(&text.unwrap_or_default())
    };
    let isolated = list("isolated");
    let wanted = match list("online") {
        online if online.len() < 2 => return Vec::new(),
        online if isolated.is_empty() => online[..1].to_vec(),
        online => online
            .into_iter()
            .filter(|cpu| !isolated.contains(cpu))
            .collect(),
    };
    let wanted = compress(&wanted);
    root.numbered("proc/irq", "")
        .into_iter()
        .map(|irq| format!("{irq}/smp_affinity_list"))
        .filter(|path| root.exists(path))
        .map(|path| Setting::new(path, &wanted))
        .collect()
}

/// Formats a list like the kernel: consecutive numbers as a range.
fn compress(cpus: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => ranges.push((cpu, cpu)),
        }
    }
    let parts = ranges.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    parts.collect::<Vec<_>>().join(",")
}

/// The values before tuning, by path, in the order in which they were changed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    found: Vec<Found>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Found {
    path: String,
    value: String,
}

impl State {
    fn read(root: &Root) -> Result<Self> {
        let path = root.join(STATE);
        match fs::read_to_string(&path) {
            Ok(text) => toml::from_str(&text).with_context(|| path.display().to_string()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| path.display().to_string()),
        }
    }

    fn write(&self, root: &Root) -> Result<()> {
        replace(&root.join(STATE), toml::to_string(self)?.as_bytes())
    }
}

/// The result of changes to a host: lines of text, and whether any change failed.
#[derive(Debug, Default)]
pub struct Report {
    pub lines: Vec<String>,
    pub failed: bool,
}

/// Sets every knob of the host, except those that already have the wanted value.
pub fn tune(root: &Root) -> Result<Report> {
    let mut report = Report::default();
    for knob in KNOBS {
        let settings = (knob.settings)(root);
        let name = knob.name;
        if settings.is_empty() {
            report.lines.push(format!("{name}: not on this host"));
            continue;
        }
        let found: BTreeMap<String, String> = settings
            .iter()
            .filter_map(|setting| Some((setting.path.clone(), setting.read(root)?)))
            .collect();
        let wrong: Vec<&Setting> = settings
            .iter()
            .filter(|setting| {
                found
                    .get(&setting.path)
                    .is_some_and(|now| *now != setting.wanted)
            })
            .collect();
        keep(root, &wrong, &found)?;
        let (mut set, mut refused) = (0, Vec::new());
        for setting in &wrong {
            match setting.write(root) {
                Ok(()) => set += 1,
                Err(reason) => refused.push(reason),
            }
        }
        report.lines.push(match wrong.is_empty() {
            true => format!("{name}: already set"),
            false => format!("{name}: {set} of {} set", wrong.len()),
        });
        report.failed |= !refused.is_empty() && name != IRQ_AFFINITY;
        let refused = refused.into_iter();
        report
            .lines
            .extend(refused.map(|reason| format!("  not set: {reason}")));
    }
    Ok(report)
}

/// Saves the values that are about to change, unless an earlier tuning did.
fn keep(root: &Root, settings: &[&Setting], found: &BTreeMap<String, String>) -> Result<()> {
    let mut state = State::read(root)?;
    let before = state.found.len();
    for setting in settings {
        let known = state.found.iter().any(|found| found.path == setting.path);
        if let (false, Some(value)) = (known, found.get(&setting.path)) {
            state.found.push(Found {
                path: setting.path.clone(),
                value: value.clone(),
            });
        }
    }
    if state.found.len() > before {
        state
            .write(root)
            .context("nothing was changed: the present settings could not be saved")?;
    }
    Ok(())
}

/// Restores all values from before the first tuning, in reverse order.
pub fn reset(root: &Root) -> Result<Report> {
    let mut report = Report::default();
    let mut state = State::read(root)?;
    if state.found.is_empty() {
        report.lines.push("nothing was tuned".to_owned());
        return Ok(report);
    }
    let mut left = Vec::new();
    let count = state.found.len();
    for found in state.found.drain(..).rev() {
        let setting = Setting::new(found.path.clone(), &found.value);
        if !root.exists(&found.path) {
            // For example the interrupt of a device that was removed.
            report.lines.push(format!("gone: /{}", found.path));
            continue;
        }
        let done = setting.read(root).as_ref() == Some(&found.value);
        if let Err(reason) = if done { Ok(()) } else { setting.write(root) } {
            report.lines.push(format!("not restored: {reason}"));
            left.push(found);
        }
    }
    report.failed = !left.is_empty();
    report.lines.push(format!(
        "{} of {count} settings restored",
        count - left.len()
    ));
    if left.is_empty() {
        let path = root.join(STATE);
        fs::remove_file(&path).with_context(|| path.display().to_string())?;
    } else {
        left.reverse();
        State { found: left }.write(root)?;
    }
    Ok(report)
}
