//! The host: its hardware, its state, and how to reduce its noise.

pub mod check;
pub mod facts;
pub mod identity;
pub mod knob;
pub mod root;
pub mod watch;
