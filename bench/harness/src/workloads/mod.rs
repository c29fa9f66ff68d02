//! The kinds of scenarios: one file each, and one line in `of` below.
//!
//! A kind whose operations are timed implements `Timed`; any other implements `Workload`.

pub mod client_hello;
pub mod connection;
pub mod growth;
pub mod handshake;
pub mod memory;
pub mod primitives;
pub mod quic_packet;
pub mod set_up;
pub mod threads;
pub mod timed;
pub mod transfer;
pub mod workload;

use self::workload::Workload;
use crate::{library::TlsLibrary, noop::NoopLibrary, scenario::Operation};

/// The workload of a kind.
pub fn of<'a, L: TlsLibrary + 'a>(operation: Operation) -> &'a dyn Workload<L> {
    match operation {
        Operation::Transfer => &transfer::Transfer,
        Operation::Handshake => &handshake::Handshake,
        Operation::ClientHello => &client_hello::ClientHello,
        Operation::Memory => &memory::Memory,
        Operation::Primitive => &primitives::Primitives,
        Operation::SetUp => &set_up::SetUps,
        Operation::Connection => &connection::Connections,
        Operation::QuicPacket => &quic_packet::QuicPackets,
    }
}

impl Operation {
    /// Whether each role is measured separately.
    pub fn has_sides(self) -> bool {
        of::<NoopLibrary>(self).sides().iter().all(Option::is_some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_primitives_and_set_ups_have_no_sides() {
        for operation in Operation::ALL {
            let sideless = [Operation::Primitive, Operation::SetUp];
            assert_eq!(operation.has_sides(), !sideless.contains(operation));
        }
    }
}
