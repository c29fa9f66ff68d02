//! The runner as a whole, with libraries' programs that measure nothing.

mod common;
mod counts;
mod hosts;
mod kills;
mod matrix;
mod records;
mod runs;
mod sessions;
mod suites;
