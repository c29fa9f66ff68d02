//! What a kind of scenario implements: how it is measured, and how a counter repeats it.

use std::process::Command;

use anyhow::Result;

use crate::{
    library::TlsLibrary,
    record::{Record, Unit},
    request::Request,
    scenario::{Scenario, Side, VariantKind},
};

/// One kind of scenario: how to measure it, and how to measure the overhead of the harness in it.
pub trait Workload<L: TlsLibrary> {
    /// The roles that are measured separately, or a single `None`.
    fn sides(&self) -> &'static [Option<Side>];

    /// The variants that its scenarios may have.
    fn variants(&self) -> &'static [VariantKind];

    /// Why it is not measured with this library on this host, if the adapter supports it.
    fn unsupported(&self, _: &L, _: &Scenario) -> Result<Option<String>> {
        Ok(None)
    }

    /// Measures one block and returns its records.
    fn measure(&self, library: &L, request: &Request) -> Result<Vec<Record>>;

    /// Measures the overhead of the harness for each side, with the no-op library.
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
    fn count(&self, scenario: &Scenario, connections: u64, program: &Program<'_>) -> Result<u64>;
}

/// A step that a counter repeats.
pub type Repeatable<'a> = dyn FnMut() -> Result<()> + 'a;

/// Operations that a counter can repeat.
pub trait Countable<L: TlsLibrary> {
    fn work(&self, scenario: &Scenario) -> Result<Work>;

    /// Whether an operation draws random numbers, which makes its count vary.
    fn is_random(&self) -> bool;

    /// Whether an operation takes so long that only a few are counted.
    fn is_long(&self) -> bool;

    /// Prepares the operations, and passes `driver` a step that runs them and checks their result.
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

impl Work {
    pub fn one(quantity: Quantity) -> Self {
        Self {
            operations: 1,
            amount: 1.0,
            quantity,
        }
    }
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
    pub fn per_second(self) -> Option<Unit> {
        match self {
            Self::Handshakes => Some(Unit::HANDSHAKES_PER_SECOND),
            Self::Mebibytes => Some(Unit::MEBIBYTES_PER_SECOND),
            Self::Operations => Some(Unit::OPERATIONS_PER_SECOND),
            Self::Packets => Some(Unit::PACKETS_PER_SECOND),
            Self::Single => None,
        }
    }
}

/// Bytes of a MiB.
pub const MEBIBYTE: f64 = (1 << 20) as f64;
