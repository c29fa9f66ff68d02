//! The settings that `tlsbench host tune` changes and `reset` restores.
//!
//! A knob is a set of kernel files with the value that each should have. Their old values are
//! written and flushed to a state file before the first change, so that a reset restores them
//! exactly, also after a crash. A restart of the host discards both the settings and the state file
//! in `/run`.

use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use super::root::{Root, processors};
use crate::files::replace;
use crate::lines;

/// The state file with the old values, below the root.
const STATE: &str = "run/tlsbench-tuned.toml";

/// A kernel file with a value.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Setting {
    path: String,
    value: String,
}

impl Setting {
    fn new(path: impl Into<String>, value: &str) -> Self {
        Self {
            path: path.into(),
            value: value.to_owned(),
        }
    }

    /// The file with the value that it has now, in the form in which it is written.
    fn present(&self, root: &Root) -> Option<Self> {
        let value = root.read(&self.path)?;
        Some(Self::new(self.path.clone(), &value))
    }

    /// Writes the file, unless it has the value, and checks that the kernel accepted the value.
    fn write(&self, root: &Root) -> Result<(), String> {
        if self.present(root).as_ref() == Some(self) {
            return Ok(());
        }
        root.write(&self.path, &self.value)
            .map_err(|error| format!("/{}: {error}", self.path))?;
        match root.read(&self.path) {
            Some(value) if value == self.value => Ok(()),
            value => Err(format!(
                "/{}: holds {value:?} after writing {:?}",
                self.path, self.value
            )),
        }
    }
}

/// The files that a host has for a knob, with the values to set; empty if it has none.
type Settings = fn(&Root) -> Vec<Setting>;

/// Its kernel may refuse a change: interrupts that are bound to a processor cannot be moved.
const IRQ_AFFINITY: &str = "irq-affinity";

/// In the order of tuning: SMT is first, since it removes processors. Reset uses the reverse order.
const KNOBS: [(&str, Settings); 6] = [
    ("smt", smt),
    ("governor", governor),
    ("turbo", |root| {
        let no_turbo = ("sys/devices/system/cpu/intel_pstate/no_turbo", "1");
        existing(
            root,
            &[no_turbo, ("sys/devices/system/cpu/cpufreq/boost", "0")],
        )
    }),
    (IRQ_AFFINITY, irq_affinity),
    ("aslr", |root| {
        existing(root, &[("proc/sys/kernel/randomize_va_space", "2")])
    }),
    ("perf-sampling", |root| {
        existing(root, &[("proc/sys/kernel/perf_event_max_sample_rate", "1")])
    }),
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
    found: Vec<Setting>,
}

impl State {
    fn read(root: &Root) -> Result<Self> {
        let path = root.join(STATE);
        match fs::read_to_string(&path) {
            Ok(text) => lines::parse(&path.display().to_string(), &text),
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

/// The values that a knob would change, as they are and as they should be; `None` if the host does
/// not have it.
fn changes(root: &Root, settings: Settings) -> Option<(Vec<Setting>, Vec<Setting>)> {
    let settings = Some(settings(root)).filter(|it| !it.is_empty())?;
    let both = settings.into_iter();
    let both = both.filter_map(|wanted| Some((wanted.present(root)?, wanted)));
    Some(both.filter(|(now, wanted)| now != wanted).unzip())
}

/// What `tune` would change.
pub fn plan(root: &Root) -> Report {
    let mut report = Report::default();
    for (name, settings) in KNOBS {
        let Some((now, wanted)) = changes(root, settings) else {
            report.lines.push(format!("{name}: not on this host"));
            continue;
        };
        report.lines.push(match wanted.len() {
            0 => format!("{name}: already set"),
            all => format!("{name}: {all} to set"),
        });
        let all = now.iter().zip(&wanted);
        report.lines.extend(all.map(|(now, wanted)| {
            format!("  /{}: {} becomes {}", now.path, now.value, wanted.value)
        }));
    }
    report
}

/// Sets every knob of the host, except those that already have the wanted value.
pub fn tune(root: &Root) -> Result<Report> {
    let mut report = Report::default();
    for (name, settings) in KNOBS {
        let Some((now, wanted)) = changes(root, settings) else {
            report.lines.push(format!("{name}: not on this host"));
            continue;
        };
        keep(root, now)?;
        let written = wanted.iter().map(|it| it.write(root));
        let refused: Vec<String> = written.filter_map(Result::err).collect();
        report.lines.push(match wanted.len() {
            0 => format!("{name}: already set"),
            all => format!("{name}: {} of {all} set", all - refused.len()),
        });
        report.failed |= !refused.is_empty() && name != IRQ_AFFINITY;
        let refused = refused.iter();
        report
            .lines
            .extend(refused.map(|reason| format!("  not set: {reason}")));
    }
    Ok(report)
}

/// Saves the values that are about to change, unless an earlier tuning did.
fn keep(root: &Root, now: Vec<Setting>) -> Result<()> {
    let mut state = State::read(root)?;
    let before = state.found.len();
    for setting in now {
        if state.found.iter().all(|it| it.path != setting.path) {
            state.found.push(setting);
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
        if !root.exists(&found.path) {
            // For example the interrupt of a device that was removed.
            report.lines.push(format!("gone: /{}", found.path));
        } else if let Err(reason) = found.write(root) {
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
