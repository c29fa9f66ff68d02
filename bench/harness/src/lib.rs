//! Measures TLS libraries with one driver, so that a ratio between two libraries is a ratio
//! between the libraries and nothing else.
//!
//! This crate links no TLS library: each has an adapter and a program of its own in `libraries/`.

pub mod allocator;
pub mod binary;
pub mod block;
pub mod certificates;
pub mod check;
pub mod clock;
pub mod copy;
pub mod counters;
pub mod implementation;
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
