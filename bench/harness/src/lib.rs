//! Measures TLS libraries with one driver, so that a ratio between two libraries is a ratio
//! between the libraries and nothing else.
//!
//! This crate links no TLS library: each has an adapter and a program of its own in `libraries/`.

pub mod allocator;
pub mod binary;
pub mod callgrind;
pub mod certificates;
pub mod client_hello;
pub mod clock;
pub mod count;
pub mod empty;
pub mod handshake;
pub mod implementation;
pub mod latency;
pub mod library;
pub mod measure;
pub mod memory;
pub mod primitive;
mod process;
pub mod program;
pub mod record;
pub mod request;
pub mod run;
pub mod scenario;
pub mod transfer;
pub mod transport;
pub mod wire;
