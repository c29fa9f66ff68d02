//! The kinds of scenarios: a file each, and one line in the list below.
//!
//! A kind whose operations are timed implements `Timed`; any other implements `Workload` itself.
//! No kind depends on another one or on a counter: `tests/arrows.rs` checks it.

pub mod client_hello;
pub mod handshake;
pub mod memory;
pub mod primitives;
pub mod set_up;
mod threads;
pub mod timed;
pub mod transfer;

use std::fmt;

use anyhow::Result;

use crate::{
    library::TlsLibrary,
    noop::NoopLibrary,
    record::{Record, Unit},
    request::Request,
    scenario::{Scenario, Side, VariantKind, vocabulary},
};

/// Makes of the list `Operation`, whose values are written as the contract spells them, and the
/// function that finds a kind.
macro_rules! kinds {
    ($($operation:ident = $text:literal => $workload:expr,)+) => {
        vocabulary!(
            /// The kind of work.
            Operation { $($operation = $text,)+ }
        );

        /// The kind of an operation.
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
}

impl Operation {
    /// Whether each role is measured apart.
    pub fn has_sides(self) -> bool {
        of::<NoopLibrary>(self).sides().iter().all(Option::is_some)
    }
}

/// One kind of scenario: how it is measured, and what the harness itself costs in it.
pub trait Workload<L: TlsLibrary> {
    /// The roles, each measured apart; a single `None` where there are none.
    fn sides(&self) -> &'static [Option<Side>];

    /// Kinds of variants that its scenarios may have.
    fn variants(&self) -> &'static [VariantKind];

    /// The records of one block.
    ///
    /// # Errors
    /// The scenario is not valid, or an operation failed or had another result than the scenario
    /// says.
    fn measure(&self, library: &L, request: &Request) -> Result<Vec<Record>>;

    /// What the harness itself costs, for each side: the same with a library that does nothing.
    ///
    /// # Errors
    /// The scenario is not valid.
    fn own_cost(&self, request: &Request) -> Result<Vec<Record>>;

    /// The same operations for a counter; none where nothing can be counted.
    fn countable(&self) -> Option<&dyn Countable<L>>;
}

/// A step that a counter repeats.
pub type Repeatable<'a> = dyn FnMut() -> Result<()> + 'a;

/// Operations that a counter can repeat.
pub trait Countable<L: TlsLibrary> {
    /// # Errors
    /// The scenario is not valid.
    fn work(&self, scenario: &Scenario) -> Result<Work>;

    /// Whether an operation draws random numbers, so that its count varies.
    fn is_random(&self) -> bool;

    /// Whether an operation takes so long that few of them are counted.
    fn is_long(&self) -> bool;

    /// Prepares, and calls `driver` with a step that does the operations and checks their result.
    ///
    /// # Errors
    /// An operation failed, or had another result than the scenario says.
    fn run(
        &self,
        library: &L,
        scenario: &Scenario,
        driver: &mut dyn FnMut(&mut Repeatable<'_>) -> Result<()>,
    ) -> Result<()>;
}

/// What one step does.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    pub operations: u64,
    /// Of one operation, in `quantity`.
    pub amount: f64,
    pub quantity: Quantity,
}

/// What figures are divided by, or given per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Handshakes,
    /// Of plaintext.
    Mebibytes,
    Operations,
    /// Operations that nobody repeats: the time of one is recorded, not a rate.
    Single,
}

impl Quantity {
    /// The unit of its rate, if it has one.
    fn per_second(self) -> Option<Unit> {
        match self {
            Self::Handshakes => Some(Unit::HANDSHAKES_PER_SECOND),
            Self::Mebibytes => Some(Unit::MEBIBYTES_PER_SECOND),
            Self::Operations => Some(Unit::OPERATIONS_PER_SECOND),
            Self::Single => None,
        }
    }
}

/// Bytes of a MiB.
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
    fn primitives_and_set_ups_alone_have_no_sides() {
        for operation in Operation::ALL {
            let sideless = [Operation::Primitive, Operation::SetUp];
            assert_eq!(operation.has_sides(), !sideless.contains(operation));
        }
    }
}
