//! The build matrix: makes any published version of a library in any build from its adapter's
//! crate, each in a folder for exactly these inputs.

mod build;
mod checkout;
mod checksum;
mod compilers;
mod found;
mod install;
mod job;
mod lock;
mod manifest;
mod metadata;
mod package;
mod recorded;

pub use build::{Built, Matrix, in_layout};
pub use found::{differences, has_id_of};
pub use install::Installed;
