//! The command line of a library's program: `describe` or `measure` (see `docs/design.md`).
//! `measure` starts the program again with `hold` to measure memory, with `first` and `keep` to
//! measure set-ups, with `peer` to be one side of connections, and with `count` to count instead of
//! timing.

use std::{
    env,
    io::{self, Write},
    process::ExitCode,
};

use anyhow::{Context, Result, bail, ensure};
use serde::de::DeserializeOwned;

use crate::{
    allocator, block,
    counters::{self, kernel},
    implementation::{self, TUNED_VARIABLE},
    library::TlsLibrary,
    request::Request,
    workloads::{connection, memory, set_up},
};

/// The `main` function of every adapter's program.
pub fn main<L: TlsLibrary>(library: &L) -> ExitCode {
    match run(library) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// What standard input says, as JSON.
fn input<T: DeserializeOwned>(what: &str) -> Result<T> {
    serde_json::from_reader(io::stdin().lock())
        .with_context(|| format!("{what} on standard input is not valid"))
}

fn run<L: TlsLibrary>(library: &L) -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mut output = io::stdout().lock();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["describe"] => {
            let mut implementation = library.implementation()?;
            ensure!(
                implementation::is_tuned() == implementation.reports_tuned(),
                "found {TUNED_VARIABLE} in the environment, expected none: {} has no settings of \
                 its own (docs/tuned.md)",
                implementation.id
            );
            implementation.allocator = Some(allocator::found()?);
            let given = implementation.flags.as_deref();
            implementation.flags = given.map(implementation::effective_flags);
            writeln!(output, "{}", serde_json::to_string(&implementation)?)?;
        }
        ["measure"] => {
            let request: Request = input("the request")?;
            let records = block::measure(library, &request);
            for record in records.with_context(|| request.scenario.name())? {
                writeln!(output, "{}", record.to_line()?)?;
            }
        }
        ["hold"] => {
            let growth = memory::hold(library, &input("what to hold")?)?;
            writeln!(output, "{}", serde_json::to_string(&growth)?)?;
        }
        ["first"] => {
            let reached = set_up::first(library, &input("what to do first")?)?;
            writeln!(output, "{}", serde_json::to_string(&reached)?)?;
        }
        ["keep"] => {
            let growth = set_up::keep(library, &input("what to keep")?)?;
            writeln!(output, "{}", serde_json::to_string(&growth)?)?;
        }
        ["peer"] => {
            let peer = input("what to be")?;
            let spent = connection::be(library, &peer, &mut output, kernel::mark)?;
            writeln!(output, "{}", serde_json::to_string(&spent)?)?;
        }
        ["count"] => {
            if let Some(counts) = counters::count(library, &input("what to count")?)? {
                writeln!(output, "{}", serde_json::to_string(&counts)?)?;
            }
        }
        _ => {
            bail!("expected the argument `describe`, or `measure` with a request on standard input")
        }
    }
    output.flush()?;
    Ok(())
}
