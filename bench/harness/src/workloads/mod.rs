//! The kinds of scenarios: one file each, and one line in the list below.
//!
//! A kind whose operations are timed implements `Timed`; any other implements `Workload`. No kind
//! depends on another kind or on a counter: `tests/arrows.rs` checks this.

pub mod client_hello;
pub mod connection;
pub mod handshake;
pub mod memory;
pub mod primitives;
pub mod quic_packet;
pub mod set_up;
mod threads;
pub mod timed;
pub mod transfer;

use std::{fmt, process::Command};

use anyhow::Result;

use crate::{
    library::TlsLibrary,
    noop::NoopLibrary,
    record::{Record, Unit},
    request::Request,
    scenario::{Scenario, Side, VariantKind, vocabulary},
};

/// Defines the enumeration `Operation` and the function that returns a kind's `Workload`.
macro_rules! kinds {
    ($($operation:ident = $text:literal => $workload:expr,)+) => {
        vocabulary!(
            /// The kind of a scenario.
            Operation { $($operation = $text,)+ }
        );

        /// The workload of a kind.
        pub fn of<'a, L: TlsLibrary + 'a>(operation: Operation) -> &'a dyn Workload<L> {
            match operation { $(Operation::$operation => &$workload,)+ }
        }
    };
}

kinds! {
    Transfer = "transfer" => transfer::Transfer,
    Handshake = "handshake" => handshake::Handshake,
    ClientHello = "client-hello" => client_hello::ClientHello,
    Memory = "memory" => memory::Memory,
    Primitive = "primitive" => primitives::Primitives,
    SetUp = "set-up" => set_up::SetUps,
    Connection = "connection" => connection::Connections,
    QuicPacket = "quic-packet" => quic_packet::QuicPackets,
}

impl Operation {
    /// Whether each role is measured separately.
    pub fn has_sides(self) -> bool {
        of::<NoopLibrary>(self).sides().iter().all(Option::is_some)
    }
}

/// One kind of scenario: how to measure it, and how to measure the overhead of the harness in it.
pub trait Workload<L: TlsLibrary> {
    /// The roles that are measured separately, or a single `None`.
    fn sides(&self) -> &'static [Option<Side>];

    /// The variants that its scenarios may have.
    fn variants(&self) -> &'static [VariantKind];

    /// Why it is not measured with this library on this host, if the adapter supports it.
    ///
    /// # Errors
    ///
    /// The host lacks what it should have.
    fn unsupported(&self, _: &L, _: &Scenario) -> Result<Option<String>> {
        Ok(None)
    }

    /// Measures one block and returns its records.
    ///
    /// # Errors
    ///
    /// The scenario is invalid, an operation failed, or its result differs from the scenario.
    fn measure(&self, library: &L, request: &Request) -> Result<Vec<Record>>;

    /// Measures the overhead of the harness for each side, with the no-op library.
    ///
    /// # Errors
    ///
    /// The scenario is invalid.
    fn own_cost(&self, request: &Request) -> Result<Vec<Record>>;

    /// Its operations for a counter; `None` if the kind cannot be counted.
    fn countable(&self) -> Option<&dyn Countable<L>>;

    /// Its two processes for a counter; `None` if the kind has none.
    fn peers(&self) -> Option<&dyn Peers> {
        None
    }
}

/// The command of a fresh process: this program, for a side, with an argument.
pub type Program<'a> = dyn Fn(Side, &str) -> Result<Command> + 'a;

/// A server and a client that are processes of their own.
pub trait Peers {
    /// Makes connections one after another, in processes that `program` starts, and returns their
    /// number. What is counted in a process lies between its two marks.
    ///
    /// # Errors
    ///
    /// A process failed.
    fn count(&self, scenario: &Scenario, connections: u64, program: &Program<'_>) -> Result<u64>;
}

/// A step that a counter repeats.
pub type Repeatable<'a> = dyn FnMut() -> Result<()> + 'a;

/// Operations that a counter can repeat.
pub trait Countable<L: TlsLibrary> {
    /// # Errors
    ///
    /// The scenario is invalid.
    fn work(&self, scenario: &Scenario) -> Result<Work>;

    /// Whether an operation draws random numbers, which makes its count vary.
    fn is_random(&self) -> bool;

    /// Whether an operation takes so long that only a few are counted.
    fn is_long(&self) -> bool;

    /// Prepares the operations, and passes `driver` a step that runs them and checks their result.
    ///
    /// # Errors
    ///
    /// An operation failed, or its result differs from the scenario.
    fn run(
        &self,
        library: &L,
        scenario: &Scenario,
        driver: &mut dyn FnMut(&mut Repeatable<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// The work of one step.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub operations: u64,
    /// Amount of one operation, in `quantity`.
    pub amount: f64,
    pub quantity: Quantity,
}

/// The unit of work that rates and counts refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Handshakes,
    /// MiB of plaintext.
    Mebibytes,
    Operations,
    Packets,
    /// Operations that are not repeated in practice: their time is recorded, not a rate.
    Single,
}

impl Quantity {
    fn per_second(self) -> Option<Unit> {
        match self {
            Self::Handshakes => Some(Unit::HANDSHAKES_PER_SECOND),
            Self::Mebibytes => Some(Unit::MEBIBYTES_PER_SECOND),
            Self::Operations => Some(Unit::OPERATIONS_PER_SECOND),
            Self::Packets => Some(Unit::PACKETS_PER_SECOND),
            Self::Single => None,
        }
    }
}

const MEBIBYTE: f64 = (1 << 20) as f64;

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_schema_has_the_same_kinds() {
        let schema = include_str!("../../../../data/schema/record.schema.json");
        let schema: Value = serde_json::from_str(schema).unwrap();
        let values = &schema["$defs"]["Scenario"]["properties"]["operation"]["enum"];
        let names: Vec<_> = Operation::ALL.iter().map(|it| it.as_str()).collect();
        assert_eq!(*values, Value::from(names));
    }

    #[test]
    fn only_primitives_and_set_ups_have_no_sides() {
        for operation in Operation::ALL {
            let sideless = [Operation::Primitive, Operation::SetUp];
            assert_eq!(operation.has_sides(), !sideless.contains(operation));
        }
    }
}
