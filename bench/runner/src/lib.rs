//! Runs suites of TLS measurements: each library's program measures, the runner keeps order, time
//! and journal, and watches the host.

mod conclusion;
mod entry;
mod files;
mod history;
pub mod host;
pub mod implementations;
mod include;
mod journal;
pub mod layouts;
pub mod manifest;
pub mod matrix;
pub mod pack;
pub mod plan;
mod precision;
mod program;
mod progress;
mod resume;
pub mod run;
pub mod schedule;
mod session;
mod snapshot;
pub mod suite;
mod usage;
mod warnings;
