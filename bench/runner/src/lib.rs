//! Runs suites of TLS measurements: each library's program measures, the runner keeps order, time
//! and journal, and watches the host.

pub mod host;
