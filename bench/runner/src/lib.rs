//! Runs suites of TLS measurements: the programs of the libraries measure, and the runner controls
//! order and time, writes the journal and watches the host.

pub mod compare;
mod conclusion;
mod entry;
pub mod files;
pub mod functions;
mod history;
pub mod host;
pub mod implementations;
mod include;
mod journal;
pub mod layouts;
pub mod libraries;
pub mod lines;
pub mod listed;
pub mod listing;
pub mod manifest;
pub mod matrix;
pub mod medians;
pub mod options;
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
pub mod sides;
mod snapshot;
pub mod suite;
mod usage;
mod warnings;
mod words;
