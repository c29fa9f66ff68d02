//! Measures TLS libraries with one driver, so that a ratio of two figures depends on the libraries
//! alone.
//!
//! This crate links no TLS library: each library has its own adapter and program in `libraries/`.

pub mod allocator;
pub mod binary;
pub mod block;
pub mod certificates;
pub mod chain;
pub mod check;
pub mod clock;
pub mod copy;
pub mod counters;
pub mod early_data;
mod hex;
pub mod implementation;
pub mod interposed;
pub mod latency;
pub mod library;
pub mod noop;
mod presence;
pub mod process;
pub mod program;
pub mod record;
pub mod request;
pub mod scenario;
pub mod session;
pub mod transport;
pub mod wire;
pub mod workloads;
