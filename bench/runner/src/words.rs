//! What is printed: words whose form depends on a number, progress and warnings.

use std::fmt::Display;
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::eprintln;
use anstyle::{AnsiColor, Style};

/// `1 round`, `2 rounds`.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Whether only warnings, errors and results are printed.
static QUIET: AtomicBool = AtomicBool::new(false);

pub fn be_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Prints progress, which is no result.
pub fn say(text: &str) {
    if !is_quiet() {
        eprintln!("{text}");
    }
}

pub fn warn(text: &str) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    eprintln!("{style}warning:{style:#} {text}");
}
