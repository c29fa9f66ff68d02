//! Runs suites of TLS measurements: each library's program measures, the runner keeps order, time
//! and journal, and watches the host.

mod entry;
mod files;
mod history;
pub mod host;
pub mod implementations;
mod journal;
pub mod matrix;
pub mod pack;
mod precision;
mod program;
mod progress;
pub mod run;
pub mod schedule;
pub mod suite;
