//! What a fresh process counts: the marks around the calls of one role.

use std::sync::OnceLock;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{callgrind, kernel};
use crate::interposed;

/// Who counts what is between two marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Marks {
    /// Callgrind, which runs the process.
    Callgrind,
    /// The functions that the process finds before those of glibc.
    Interposed,
    /// strace, which watches the process.
    Kernel,
}

static IN_USE: OnceLock<Marks> = OnceLock::new();

impl Marks {
    /// From now on what is between two marks is counted.
    pub fn start(self) -> Result<()> {
        match self {
            Self::Callgrind => callgrind::start(),
            Self::Interposed => interposed::start(),
            Self::Kernel => Ok(()),
        }?;
        IN_USE.get_or_init(|| self);
        Ok(())
    }
}

/// Turns the count on or off.
#[inline(always)]
fn toggle() {
    match IN_USE.get() {
        None => {}
        Some(Marks::Callgrind) => callgrind::toggle(),
        Some(Marks::Interposed) => interposed::toggle(),
        Some(Marks::Kernel) => kernel::mark(),
    }
}

/// Makes `call` between two marks.
#[inline(always)]
pub fn collect<R>(call: impl FnOnce() -> R) -> R {
    toggle();
    let result = call();
    toggle();
    result
}
