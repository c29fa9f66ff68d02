//! Hexadecimal digits, as published test vectors have them.

use anyhow::{Context, Result};

/// Decodes an even number of hexadecimal digits.
pub fn bytes(digits: &str) -> Result<Vec<u8>> {
    let pair = |i| {
        let pair = digits.get(i..i + 2).context("an odd number of digits")?;
        Ok(u8::from_str_radix(pair, 16)?)
    };
    (0..digits.len()).step_by(2).map(pair).collect()
}
