//! What is printed: words whose form depends on a number, and warnings.

use std::fmt::Display;

use anstream::eprintln;
use anstyle::{AnsiColor, Style};

/// `1 round`, `2 rounds`.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

pub fn warn(text: &str) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    eprintln!("{style}warning:{style:#} {text}");
}
