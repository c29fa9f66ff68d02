//! The build matrix: any published version of a library in any build, made on demand from its
//! adapter's crate, each in a place of its own that no other inputs ever use.

mod build;
mod found;
mod package;
mod subject;

pub use build::{Built, Installed, Matrix};
pub use found::differences;
pub use subject::{Build, Subject};
