//! Tests of the whole runner, with programs that measure nothing.

#![allow(clippy::disallowed_macros, reason = "a test prints for its reader")]

mod commands;
mod common;
mod comparisons;
mod counts;
mod disturbances;
mod guides;
mod hosts;
mod kills;
mod layouts;
mod matrix;
mod mistakes;
mod packs;
mod records;
mod runs;
mod sessions;
mod signals;
mod suites;
