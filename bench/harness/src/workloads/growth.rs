//! Bytes by which a process grows.

use std::fs;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::allocator;

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// By the allocator's count.
    pub allocated: u64,
    /// By the kernel's count.
    pub resident: u64,
}

impl Growth {
    /// Bytes in use by this process.
    pub fn until_now() -> Result<Self> {
        let statm = fs::read_to_string("/proc/self/statm").context("/proc/self/statm")?;
        let pages = statm.split(' ').nth(1);
        let pages: u64 = pages
            .context("/proc/self/statm has no second field")?
            .parse()?;
        Ok(Self {
            allocated: allocator::in_use()?,
            resident: pages * rustix::param::page_size() as u64,
        })
    }

    pub fn since(self, before: Self) -> Self {
        Self {
            allocated: self.allocated.saturating_sub(before.allocated),
            resident: self.resident.saturating_sub(before.resident),
        }
    }
}
