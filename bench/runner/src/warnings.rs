//! Every warning of a run. `data/schema/warnings.json` lists the codes.

use std::fmt;

use crate::manifest::RunWarning;
use crate::words::counted as number;

/// The code in `run.toml` is the name of the variant in kebab-case; the message is its `Display`.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Warning {
    /// `before`: where the host is described as it was before; `differences`: how it differs.
    ChangedHost {
        before: String,
        differences: String,
    },
    Container {
        by: String,
    },
    DiskFull,
    DisturbedRoundsCounted {
        disturbed: usize,
        counted: u32,
        repeated: u32,
        most: u32,
    },
    FailedBlocks {
        implementation: String,
        scenario: String,
        blocks: u32,
        reason: String,
    },
    FailedBuild {
        implementation: String,
        reason: String,
    },
    FailedCheck {
        check: String,
        found: String,
    },
    Imprecise {
        medians: usize,
        /// Requested half-width of the interval, as a share of the median.
        target: f64,
        rounds: u32,
    },
    Interrupted {
        times: usize,
    },
    SteppedClock {
        /// Step of the time of day against the monotonic clock.
        seconds: f64,
    },
    UnreadableSensor {
        sensor: String,
    },
    VirtualMachine {
        by: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::ChangedHost {
                before,
                differences,
            } => write!(to, "The host differs from {before}: {differences}."),
            Self::Container { by } => write!(to, "Measured in a container ({by})."),
            Self::DiskFull => write!(to, "The disk was full; the run waited for space."),
            Self::DisturbedRoundsCounted {
                disturbed,
                counted,
                repeated,
                most,
            } => write!(
                to,
                "{disturbed} of {} count although the host was disturbed: a session repeats at most \
                 {}, and this run repeated {repeated}.",
                number(*counted, "round"),
                number(*most, "round")
            ),
            Self::FailedBlocks {
                implementation,
                scenario,
                blocks,
                reason,
            } => write!(
                to,
                "{implementation} failed in {} of {scenario}: {reason}.",
                number(*blocks, "block")
            ),
            Self::FailedBuild {
                implementation,
                reason,
            } => write!(
                to,
                "{implementation} could not be built, and was not measured: {reason}."
            ),
            Self::FailedCheck { check, found } => {
                write!(to, "The check of the host's {check} failed: {found}.")
            }
            Self::Imprecise {
                medians,
                target,
                rounds,
            } => write!(
                to,
                "After {}, the half-width of the 95% interval is above {}% for {}.",
                number(*rounds, "round"),
                target * 100.0,
                number(*medians, "median")
            ),
            Self::Interrupted { times } => {
                let times = number(*times, "time");
                write!(to, "The run was interrupted and resumed {times}.")
            }
            Self::SteppedClock { seconds } => write!(
                to,
                "The time of day stepped by {seconds:+.1} s during the run: the dates of records \
                 may be wrong, the measured times are not."
            ),
            Self::UnreadableSensor { sensor } => write!(to, "Could not read {sensor}."),
            Self::VirtualMachine { by } => {
                write!(
                    to,
                    "Measured in a virtual machine ({by}), not on bare metal."
                )
            }
        }
    }
}

impl From<Warning> for RunWarning {
    fn from(warning: Warning) -> Self {
        Self {
            code: <&str>::from(&warning).to_owned(),
            message: warning.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use strum::VariantNames as _;

    use super::*;

    #[derive(Deserialize)]
    struct Listed {
        codes: Vec<ListedCode>,
    }

    #[derive(Deserialize)]
    struct ListedCode {
        code: String,
        written_by: String,
        example: String,
    }

    /// The codes that the list marks as written by tlsbench.
    fn listed() -> Vec<ListedCode> {
        let text = include_str!("../../../data/schema/warnings.json");
        let list: Listed = serde_json::from_str(text).unwrap();
        let ours = list.codes.into_iter();
        ours.filter(|it| it.written_by == "tlsbench").collect()
    }

    #[test]
    fn the_codes_equal_those_listed_for_tlsbench() {
        let codes: Vec<_> = listed().into_iter().map(|it| it.code).collect();
        assert_eq!(codes, Warning::VARIANTS);
    }

    #[test]
    fn the_messages_equal_the_listed_examples() {
        let text = |text: &str| text.to_owned();
        let warnings = [
            Warning::ChangedHost {
                before: text("session 1"),
                differences: text("kernel was 6.1.0, is 6.1.1"),
            },
            Warning::Container { by: text("docker") },
            Warning::DiskFull,
            Warning::DisturbedRoundsCounted {
                disturbed: 2,
                counted: 60,
                repeated: 12,
                most: 6,
            },
            Warning::FailedBlocks {
                implementation: text("openssl-3.6.3"),
                scenario: text("TLS 1.3 handshake, RSA-2048"),
                blocks: 3,
                reason: text("exit status 1"),
            },
            Warning::FailedBuild {
                implementation: text("openssl 300.6.1+3.6.3"),
                reason: text("make failed"),
            },
            Warning::FailedCheck {
                check: text("load"),
                found: text("60% of a core"),
            },
            Warning::Imprecise {
                medians: 4,
                target: 0.01,
                rounds: 70,
            },
            Warning::Interrupted { times: 1 },
            Warning::SteppedClock { seconds: -3600.0 },
            Warning::UnreadableSensor {
                sensor: text("sys/class/hwmon/hwmon0/temp1_input"),
            },
            Warning::VirtualMachine { by: text("kvm") },
        ];
        let written: Vec<_> = warnings.map(RunWarning::from).into();
        let expected: Vec<_> = listed()
            .into_iter()
            .map(|it| RunWarning {
                code: it.code,
                message: it.example,
            })
            .collect();
        assert_eq!(written, expected);
    }
}
