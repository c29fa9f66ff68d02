//! Types that the primitives of all providers use.

use anyhow::{Context, Result};
use tls_harness::library::primitives::TAG;

/// A private key that can be used only once.
pub struct Once<K>(Option<K>);

impl<K> Once<K> {
    pub fn new(key: K) -> Self {
        Self(Some(key))
    }

    pub fn take(&mut self) -> Result<K> {
        self.0.take().context("the key was used before")
    }
}

/// Splits a record into data and tag.
pub fn data_and_tag(record: &mut [u8]) -> Result<(&mut [u8], &mut [u8; TAG])> {
    record
        .split_last_chunk_mut()
        .context("a record without room for a tag")
}
