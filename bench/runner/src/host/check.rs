//! Checks of known sources of noise: the result, and how to remove the noise.

use std::time::Duration;

use anstyle::{AnsiColor, Style};

use crate::manifest::{CheckResult, CheckStatus as Status, HostFacts};
use crate::words::Text;

use super::facts::meminfo;
use super::root::Root;
use super::watch::{self, Watch};

/// A source of noise that a host may have.
struct Check {
    name: &'static str,
    /// How to remove it, in one line.
    fix: &'static str,
    /// Returns `None` if the host does not report it.
    look: fn(&HostFacts, &Root) -> Option<(Status, String)>,
}

const CHECKS: [Check; 17] = [
    Check {
        name: "virtual-machine",
        fix: "measure on bare metal: a guest cannot see how other guests and the hypervisor disturb it",
        look: |facts, _| {
            let found = match (facts.is_virtual?, &facts.virtualization) {
                (false, _) => "bare metal".to_owned(),
                (true, None) => "a virtual machine".to_owned(),
                (true, Some(by)) => format!("a virtual machine ({by})"),
            };
            Some((warn_if(facts.is_virtual?), found))
        },
    },
    Check {
        name: "container",
        fix: "measure on the host itself: a container does not show what else runs there",
        look: |facts, _| {
            let found = facts.container.clone();
            let status = warn_if(found.is_some());
            Some((status, found.unwrap_or_else(|| "none found".to_owned())))
        },
    },
    Check {
        name: "processors",
        fix: "use a host with two cores or more: on one core, other programs interrupt the measured one",
        look: |facts, _| {
            let cores = facts.cores.or(facts.threads)?;
            Some((warn_if(cores < 2), format!("{cores} cores")))
        },
    },
    Check {
        name: "governor",
        fix: "tlsbench host tune (sets the governor performance)",
        look: |facts, _| {
            let governor = facts.governor.clone()?;
            Some((warn_if(governor != "performance"), governor))
        },
    },
    Check {
        name: "turbo",
        fix: "tlsbench host tune (turns turbo off: its frequency depends on heat and on other cores)",
        look: |facts, _| {
            let turbo = facts.turbo?;
            Some((warn_if(turbo), if turbo { "on" } else { "off" }.to_owned()))
        },
    },
    Check {
        name: "smt",
        fix: "tlsbench host tune (turns SMT off: a sibling thread shares the core)",
        look: |facts, _| {
            let smt = facts.smt?;
            Some((warn_if(smt), if smt { "on" } else { "off" }.to_owned()))
        },
    },
    // Each block is a separate process, so with full randomisation the rounds sample memory layouts.
    // Without it every round would repeat one layout.
    Check {
        name: "aslr",
        fix: "tlsbench host tune (sets kernel.randomize_va_space to 2)",
        look: |facts, _| {
            let aslr = facts.aslr?;
            Some((warn_if(aslr != 2), format!("randomize_va_space = {aslr}")))
        },
    },
    Check {
        name: "irqbalance",
        fix: "systemctl stop irqbalance (it moves interrupts onto cores that measure)",
        look: |facts, _| {
            let runs = facts.irqbalance?;
            let found = if runs { "running" } else { "not running" };
            Some((warn_if(runs), found.to_owned()))
        },
    },
    Check {
        name: "perf-sampling",
        fix: "tlsbench host tune (sets kernel.perf_event_max_sample_rate to 1)",
        look: |_, root| {
            let rate: u32 = root.read_number("proc/sys/kernel/perf_event_max_sample_rate")?;
            Some((warn_if(rate > 1), format!("at most {rate} samples/s")))
        },
    },
    Check {
        name: "huge-pages",
        fix: "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
        look: |facts, _| {
            let state = facts.transparent_hugepages.clone()?;
            Some((warn_if(state == "always"), state))
        },
    },
    Check {
        name: "clock-source",
        fix: "boot with a clock that is read without a system call (tsc, kvm-clock, arch_sys_counter)",
        look: |_, root| {
            let folder = "sys/devices/system/clocksource/clocksource0";
            let clock = root.read(&format!("{folder}/current_clocksource"))?;
            let slow = ["hpet", "acpi_pm", "jiffies", "refined-jiffies"].contains(&clock.as_str());
            Some((fail_if(slow), clock))
        },
    },
    Check {
        name: "cpu-quota",
        fix: "lift the control group's limit (cpu.max, cpu.cfs_quota_us): it stops programs while they run",
        look: |_, root| {
            let (limited, found) = match root.read("sys/fs/cgroup/cpu.max") {
                Some(limit) => (!limit.starts_with("max"), limit),
                None => match root.read("sys/fs/cgroup/cpu/cpu.cfs_quota_us") {
                    Some(quota) => (quota != "-1", quota),
                    None => (false, "none".to_owned()),
                },
            };
            let found = if limited { found } else { "none".to_owned() };
            Some((fail_if(limited), found))
        },
    },
    Check {
        name: "numa",
        fix: "numactl --cpunodebind=0 --membind=0 tlsbench run … (memory of another node is slower)",
        look: |facts, _| {
            let nodes = facts.numa_nodes?;
            let found = if nodes == 1 {
                "one node".to_owned()
            } else {
                format!("{nodes} nodes")
            };
            Some((warn_if(nodes > 1), found))
        },
    },
    Check {
        name: "swap",
        fix: "swapoff -a, or end the programs that take the memory",
        look: |_, root| {
            let used = meminfo(root, "SwapTotal")?.saturating_sub(meminfo(root, "SwapFree")?);
            let found = format!("{} MiB in use", used >> 20);
            Some((warn_if(used >> 20 > 0), found))
        },
    },
    Check {
        name: "temperature",
        fix: "let it cool before measuring",
        look: |_, root| {
            let celsius = watch::temperature(root)?;
            Some((warn_if(celsius > 80.0), format!("{celsius:.0} °C")))
        },
    },
    Check {
        name: "throttling",
        fix: "improve the cooling; turbo off (tlsbench host tune) leaves more room",
        look: |_, root| {
            let count = watch::throttle_count(root)?;
            Some((warn_if(count > 0), format!("{count} times since boot")))
        },
    },
    // Averaging does not remove half a core of load by others. It is measured over half a second,
    // since the load average would still include a build that has just ended.
    Check {
        name: "load",
        fix: "end other programs: top lists them",
        look: |_, root| {
            // Of a host that does not report it, there is nothing to wait for.
            root.read("proc/stat")?;
            let watch = Watch::start(root);
            std::thread::sleep(Duration::from_millis(500));
            let percent = watch.finish(0.0).load_by_others_percent?;
            let status = match percent {
                percent if percent > 50.0 => Status::Fail,
                percent if percent > watch::LOAD_LIMIT_PERCENT => Status::Warn,
                _ => Status::Pass,
            };
            Some((status, format!("{percent:.0}% of a core")))
        },
    },
];

/// Checks every known source of noise. A source that the host does not report gives a warning,
/// except in a virtual machine, which has a warning already.
pub fn check(facts: &HostFacts, root: &Root) -> Vec<CheckResult> {
    CHECKS
        .iter()
        .map(|check| {
            let unknown = || {
                let status = match facts.is_virtual {
                    Some(true) => Status::Pass,
                    _ => Status::Warn,
                };
                (status, "the host does not report it".to_owned())
            };
            let (status, found) = (check.look)(facts, root).unwrap_or_else(unknown);
            CheckResult {
                check: check.name.to_owned(),
                status,
                found,
                fix: (status != Status::Pass).then(|| check.fix.to_owned()),
            }
        })
        .collect()
}

/// Formats one check per line, with its fix below. The caller's output stream removes the colour if
/// it is not wanted.
pub fn to_text(results: &[CheckResult]) -> Text {
    use std::fmt::Write as _;
    let mut text = Text::default();
    for result in results {
        let (status, color) = match result.status {
            Status::Pass => ("pass", AnsiColor::Green),
            Status::Warn => ("warn", AnsiColor::Yellow),
            Status::Fail => ("FAIL", AnsiColor::Red),
        };
        let style = Style::new().bold().fg_color(Some(color.into()));
        text.push(style, status);
        let _ = writeln!(text, "  {:<18}{}", result.check, result.found);
        if let Some(fix) = &result.fix {
            let dim = Style::new().dimmed();
            let _ = write!(text, "      {:<18}", "");
            text.push(dim, format!("fix: {fix}"));
            let _ = writeln!(text);
        }
    }
    text
}

fn warn_if(bad: bool) -> Status {
    if bad { Status::Warn } else { Status::Pass }
}

fn fail_if(bad: bool) -> Status {
    if bad { Status::Fail } else { Status::Pass }
}
