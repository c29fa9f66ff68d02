//! Runs suites of TLS measurements: the programs of the libraries measure, and the runner controls
//! order and time, writes the journal and watches the host.

pub mod compare;
mod conclusion;
mod entry;
mod files;
pub mod functions;
mod history;
pub mod host;
pub mod implementations;
mod include;
mod journal;
pub mod layouts;
pub mod libraries;
pub mod lines;
mod linker;
pub mod manifest;
pub mod matrix;
pub mod medians;
mod metadata;
pub mod pack;
pub mod plan;
mod precision;
mod program;
mod progress;
pub mod project;
mod resume;
pub mod run;
pub mod schedule;
pub mod selection;
mod session;
mod snapshot;
pub mod suite;
mod usage;
pub mod verdicts;
mod warnings;
mod words;
