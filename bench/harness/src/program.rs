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

use crate::{
    allocator, block,
    counters::{self, Counting, kernel},
    implementation::{self, TUNED_VARIABLE},
    library::TlsLibrary,
    request::Request,
    workloads::{
        connection::{self, Peer},
        memory::{self, Holding},
        set_up::{self, First, Keeping},
    },
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
            writeln!(output, "{}", serde_json::to_string(&implementation)?)?;
        }
        ["measure"] => {
            let request: Request = serde_json::from_reader(io::stdin().lock())
                .context("the request on standard input is not valid")?;
            let records = block::measure(library, &request);
            for record in records.with_context(|| request.scenario.name())? {
                writeln!(output, "{}", record.to_line()?)?;
            }
        }
        ["hold"] => {
            let holding: Holding = serde_json::from_reader(io::stdin().lock())
                .context("what to hold, on standard input, is not valid")?;
            let growth = memory::hold(library, &holding)?;
            writeln!(output, "{}", serde_json::to_string(&growth)?)?;
        }
        ["first"] => {
            let first: First = serde_json::from_reader(io::stdin().lock())
                .context("what to do first, on standard input, is not valid")?;
            let reached = set_up::first(library, &first)?;
            writeln!(output, "{}", serde_json::to_string(&reached)?)?;
        }
        ["keep"] => {
            let keeping: Keeping = serde_json::from_reader(io::stdin().lock())
                .context("what to keep, on standard input, is not valid")?;
            let growth = set_up::keep(library, &keeping)?;
            writeln!(output, "{}", serde_json::to_string(&growth)?)?;
        }
        ["peer"] => {
            let peer: Peer = serde_json::from_reader(io::stdin().lock())
                .context("what to be, on standard input, is not valid")?;
            let spent = connection::be(library, &peer, &mut output, kernel::mark)?;
            writeln!(output, "{}", serde_json::to_string(&spent)?)?;
        }
        ["count"] => {
            let counting: Counting = serde_json::from_reader(io::stdin().lock())
                .context("what to count, on standard input, is not valid")?;
            if let Some(counts) = counters::count(library, &counting)? {
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
