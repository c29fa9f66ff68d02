//! Prints progress and the remaining time on standard error.

use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::words::{clean, is_quiet, say, warn};

/// A progress bar on a terminal; otherwise one line per round. It is drawn only between blocks, so
/// that nothing runs beside a measurement.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new() -> Self {
        let target = match is_quiet() {
            true => ProgressDrawTarget::hidden(),
            false => ProgressDrawTarget::stderr(),
        };
        let bar = ProgressBar::with_draw_target(Some(0), target);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} blocks  {msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Called before a block: the finished and the total number of blocks, and the next block.
    pub fn block(&self, done: usize, all: usize, remaining: Duration, what: &str) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!(
            "{} left  {}",
            HumanDuration(remaining),
            clean(what)
        ));
        self.bar.tick();
    }

    /// A line where there is no bar, for work that takes long.
    pub fn line(&self, text: &str) {
        if self.bar.is_hidden() {
            say(text);
        }
    }

    pub fn say(&self, text: &str) {
        if self.bar.is_hidden() {
            say(text);
        } else {
            self.bar.println(clean(text));
        }
    }

    /// A line that is printed with `--quiet` too.
    pub fn warn(&self, text: &str) {
        self.bar.suspend(|| warn(text));
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
