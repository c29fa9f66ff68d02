//! Progress and the time that remains, on standard error.

use std::time::Duration;

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on a terminal; elsewhere a line a round. It draws only between blocks: nothing ticks
/// while a library is being measured.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} blocks  {msg}") {
            bar.set_style(style);
        }
        Self { bar }
    }

    /// Before a block: how many are done, how many there will be, and what is measured now.
    pub fn block(&self, done: usize, all: usize, remaining: Duration, what: &str) {
        self.bar.set_length(all as u64);
        self.bar.set_position(done as u64);
        self.bar
            .set_message(format!("{} left  {what}", HumanDuration(remaining)));
        self.bar.tick();
    }

    /// Something to be read.
    pub fn say(&self, text: &str) {
        if self.bar.is_hidden() {
            eprintln!("{text}");
        } else {
            self.bar.println(text);
        }
    }

    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
