//! What is printed: words whose form depends on a number, results, progress, warnings and errors.
//! Nothing else prints: text of a library, a run or a host never reaches a terminal as it is.

#![allow(
    clippy::disallowed_macros,
    reason = "these functions escape what they print"
)]

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

use anstream::{eprintln, print};
use anstyle::{AnsiColor, Style};

/// Text for a terminal with the styles of its parts.
#[derive(Default)]
pub struct Text(Vec<(Style, String)>);

impl Text {
    /// Adds a part in a style; `write!` adds one without.
    pub fn push(&mut self, style: Style, text: impl Display) {
        self.0.push((style, text.to_string()));
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        match self.0.last_mut() {
            Some((style, last)) if *style == Style::new() => last.push_str(text),
            _ => self.push(Style::new(), text),
        }
        Ok(())
    }
}

impl<T: Into<String>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(vec![(Style::new(), text.into())])
    }
}

/// With the styles and without any other control.
impl Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|(style, text)| write!(f, "{style}{}{style:#}", clean(text)))
    }
}

/// A text in which everything that a terminal obeys, except the end of a line, is an escape that TOML
/// and JSON read in quotes.
pub fn clean(text: &str) -> Cow<'_, str> {
    let is_order = |it: char| {
        // Controls of C0 and C1, marks that end a line or change the direction of what follows.
        let control = it.is_control() && it != '\n' && it != '\t';
        control
            || matches!(it, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(is_order) {
        return text.into();
    }
    let mut cleaned = String::new();
    for it in text.chars() {
        match is_order(it) {
            true => _ = write!(cleaned, "\\u{:04x}", u32::from(it)),
            false => cleaned.push(it),
        }
    }
    cleaned.into()
}

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

/// Prints a result.
pub fn show(text: impl Into<Text>) {
    print!("{}", text.into());
}

/// Prints progress, which is no result.
pub fn say(text: &str) {
    if !is_quiet() {
        tell(text);
    }
}

/// Prints a line on standard error, with `--quiet` too.
pub fn tell(text: &str) {
    eprintln!("{}", clean(text));
}

pub fn warn(text: &str) {
    alert("warning", AnsiColor::Yellow, text);
}

/// Prints why a command failed.
pub fn fail(what: &str, text: &str) {
    alert(what, AnsiColor::Red, text);
}

fn alert(what: &str, color: AnsiColor, text: &str) {
    let style = Style::new().bold().fg_color(Some(color.into()));
    eprintln!("{style}{what}:{style:#} {}", clean(text));
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;

    use super::*;

    #[test]
    fn a_terminal_obeys_only_styles_and_line_ends() {
        let orders = "a\u{1b}]0;x\u{7}b\r\u{9b}2J\u{7f}\u{0}\u{202e}c\u{2028}\té\n";
        let shown = "a\\u001b]0;x\\u0007b\\u000d\\u009b2J\\u007f\\u0000\\u202ec\\u2028\té\n";
        assert_eq!(clean(orders), shown);
        let mut text = Text::from(orders);
        text.push(Style::new().bold(), orders);
        let _ = write!(text, "{orders}");
        assert_eq!(strip_str(&text.to_string()).to_string(), shown.repeat(3));
        let quoted = serde_json::from_str::<String>(&format!("\"{}\"", clean("\u{9b}\u{7f}")));
        assert_eq!(quoted.unwrap(), "\u{9b}\u{7f}");
    }
}
