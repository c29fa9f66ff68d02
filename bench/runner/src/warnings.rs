//! Every warning of a run. `data/schema/warnings.json` lists the codes.

use crate::manifest::RunWarning;
use crate::words::counted;

fn warning(code: &str, message: String) -> RunWarning {
    RunWarning {
        code: code.to_owned(),
        message,
    }
}

/// `before`: where the host is described as it was before.
pub fn changed_host(before: &str, differences: &[String]) -> RunWarning {
    let differences = differences.join("; ");
    let message = format!("The host differs from {before}: {differences}.");
    warning("changed-host", message)
}

pub fn container(by: &str) -> RunWarning {
    warning("container", format!("Measured in a container ({by})."))
}

pub fn disk_full() -> RunWarning {
    let message = "The disk was full; the run waited for space.";
    warning("disk-full", message.to_owned())
}

/// `all`: rounds that count, `disturbed` among them; `most`: rounds that a session may repeat.
pub fn disturbed_rounds_counted(
    disturbed: usize,
    all: u32,
    repeated: u32,
    most: u32,
) -> RunWarning {
    let message = format!(
        "{disturbed} of {} count although the host was disturbed: a session repeats at most {}, and \
         this run repeated {repeated}.",
        counted(all, "round"),
        counted(most, "round")
    );
    warning("disturbed-rounds-counted", message)
}

/// The code of what `failed_blocks` makes.
pub const FAILED_BLOCKS: &str = "failed-blocks";

pub fn failed_blocks(id: &str, scenario: &str, blocks: u32, reason: &str) -> RunWarning {
    let blocks = counted(blocks, "block");
    let message = format!("{id} failed in {blocks} of {scenario}: {reason}.");
    warning(FAILED_BLOCKS, message)
}

pub fn failed_build(name: &str, reason: &str) -> RunWarning {
    let message = format!("{name} could not be built, and was not measured: {reason}.");
    warning("failed-build", message)
}

pub fn failed_check(check: &str, found: &str) -> RunWarning {
    let message = format!("The check of the host's {check} failed: {found}.");
    warning("failed-check", message)
}

/// `target`: requested half-width of the interval, as a share of the median.
pub fn imprecise(medians: usize, target: f64, rounds: u32) -> RunWarning {
    let message = format!(
        "After {}, the half-width of the 95% interval is above {}% for {}.",
        counted(rounds, "round"),
        target * 100.0,
        counted(medians, "median")
    );
    warning("imprecise", message)
}

pub fn interrupted(times: u32) -> RunWarning {
    let times = counted(times, "time");
    let message = format!("The run was interrupted and resumed {times}.");
    warning("interrupted", message)
}

/// `features`: what the mask hides, and the processor does not have.
pub fn mask_without_effect(name: &str, features: &str) -> RunWarning {
    let message = format!("The mask of {name} changes nothing: the processor has no {features}.");
    warning("mask-without-effect", message)
}

/// `seconds`: step of the time of day against the monotonic clock.
pub fn stepped_clock(seconds: f64) -> RunWarning {
    let message = format!(
        "The time of day stepped by {seconds:+.1} s during the run: the dates of records may be \
         wrong, the measured times are not."
    );
    warning("stepped-clock", message)
}

pub fn unreadable_sensor(sensor: &str) -> RunWarning {
    warning("unreadable-sensor", format!("Could not read {sensor}."))
}

pub fn virtual_machine(by: &str) -> RunWarning {
    let message = format!("Measured in a virtual machine ({by}), not on bare metal.");
    warning("virtual-machine", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_messages_equal_those_listed_for_tlsbench() {
        let written = [
            changed_host("session 1", &["kernel was 6.1.0, is 6.1.1".to_owned()]),
            container("docker"),
            disk_full(),
            disturbed_rounds_counted(2, 60, 12, 6),
            failed_blocks(
                "openssl-3.6.3",
                "TLS 1.3 handshake, RSA-2048",
                3,
                "exit status 1",
            ),
            failed_build("openssl 300.6.1+3.6.3", "make failed"),
            failed_check("load", "60% of a core"),
            imprecise(4, 0.01, 70),
            interrupted(1),
            mask_without_effect("openssl-3.6.3-no-ifma", "avx512ifma"),
            stepped_clock(-3600.0),
            unreadable_sensor("sys/class/hwmon/hwmon0/temp1_input"),
            virtual_machine("kvm"),
        ];
        let list = include_str!("../../../data/schema/warnings.json");
        let list: serde_json::Value = serde_json::from_str(list).unwrap();
        let all = list["codes"].as_array().unwrap().iter();
        let ours = all.filter(|it| it["written_by"] == "tlsbench");
        let text = |it: &serde_json::Value| it.as_str().unwrap().to_owned();
        let listed = ours.map(|it| warning(&text(&it["code"]), text(&it["example"])));
        assert_eq!(written.to_vec(), listed.collect::<Vec<_>>());
    }
}
