//! A batch of one primitive.

use std::time::Duration;

use anyhow::Result;

/// Operations of one batch, except for AEAD ciphers.
pub const BATCH: usize = 16;

/// A batch of one primitive, ready to be measured; belongs to one thread.
pub trait Batch {
    /// Runs all operations of a batch and returns their time.
    fn run(&mut self) -> Result<Duration>;

    /// Checks the result of the last batch.
    fn check(&mut self) -> Result<()>;
}
