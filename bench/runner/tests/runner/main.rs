//! The runner as a whole, with libraries' programs that measure nothing.

mod common;
mod hosts;
mod kills;
mod runs;
