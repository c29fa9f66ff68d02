//! Processor time and context switches of the runner and of its ended child processes.

use anyhow::Result;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

pub struct Usage {
    pub processor_seconds: f64,
    pub involuntary_switches: u64,
}

impl Usage {
    pub fn now() -> Result<Self> {
        let (own, children) = (
            getrusage(UsageWho::RUSAGE_SELF)?,
            getrusage(UsageWho::RUSAGE_CHILDREN)?,
        );
        let seconds = [own, children]
            .iter()
            .flat_map(|usage| [usage.user_time(), usage.system_time()])
            .map(|time| time.num_microseconds() as f64 / 1e6)
            .sum();
        Ok(Self {
            processor_seconds: seconds,
            involuntary_switches: children
                .involuntary_context_switches()
                .try_into()
                .unwrap_or_default(),
        })
    }

    pub fn since(&self, before: &Self) -> Self {
        Self {
            processor_seconds: self.processor_seconds - before.processor_seconds,
            involuntary_switches: self.involuntary_switches - before.involuntary_switches,
        }
    }
}
