//! `tlsbench compare`: its arguments, and what it does.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anstream::print;
use anyhow::{Context as _, Result};
use tls_harness::request::Counter;
use tlsbench::compare;
use tlsbench::host::root::Root;
use tlsbench::implementations;
use tlsbench::libraries::Libraries;
use tlsbench::manifest::LayoutKind;
use tlsbench::matrix::Subject;
use tlsbench::plan::Order;
use tlsbench::run::run;
use tlsbench::selection::Selection;
use tlsbench::verdicts;

use crate::{cores, percent, project, relative, show};

#[derive(clap::Args)]
pub struct CompareArguments {
    /// First build: a local tree such as rustls=../rustls, a version such as rustls@0.23.40, a
    /// table as in a suite, or a program such as tls-openssl
    #[arg(long, value_name = "BUILD", value_parser = compare::subject)]
    a: Subject,
    /// Second build, in the same forms
    #[arg(long, value_name = "BUILD", value_parser = compare::subject)]
    b: Subject,
    /// Provider of cryptography of both builds [default: the first of the library's programs]
    #[arg(long)]
    provider: Option<String>,
    /// Suite whose scenarios are compared: a file, or a name in bench/suites
    #[arg(long, value_name = "SUITE", default_value = "instructions")]
    suite: PathBuf,
    /// Compare only scenarios whose KIND/PROTOCOL/NAME matches this pattern. May be given several
    /// times
    #[arg(long, value_name = "PATTERN")]
    only: Vec<String>,
    /// Smallest difference that is shown
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "1%")]
    bound: f64,
    /// Also measure time, into the folder of a run in data/runs, and print its verdicts
    #[arg(long)]
    time: bool,
    /// First record in bench/matrix.lock the packages that the builds use; builds use no others
    #[arg(long)]
    record: bool,
    /// Also write the comparison to this file, as Markdown
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// Counts the instructions of two builds, then prints which takes more.
pub fn compared(arguments: CompareArguments, root: &Root) -> Result<ExitCode> {
    compare::check_bound(arguments.bound)?;
    let project = project()?;
    let places = project.places()?;
    let libraries = Libraries::read(&places.bench)?;
    let sides = [arguments.a, arguments.b].map(|side| project.located(side));
    let instead = compare::completed(sides, arguments.provider.as_deref(), &libraries);
    let selection = Selection {
        only: arguments.only,
        instead: instead.to_vec(),
        ..Selection::default()
    };
    let suite = project.suite(&arguments.suite)?;
    let [counts, times] = project.comparison_of_today();
    let here = std::env::current_dir()?;
    let order = Order {
        command: format!(
            "tlsbench compare --suite {}{}",
            relative(&suite, &here).display(),
            selection.arguments()
        ),
        places,
        suite,
        selection,
        out: counts,
        host_id: None,
        rounds: Some(1),
        sessions: Some(1),
        apart: Duration::ZERO,
        one_session: false,
        layouts: Some(1),
        layout_kind: LayoutKind::Shifted,
        until_precise: None,
        counter: Some(Counter::Callgrind),
    };
    if arguments.record {
        implementations::record(&order.read(cores())?.suite, &order.places)?;
    }
    run(&order, root)?;
    let comparison = compare::compare(&order, arguments.bound, cores())?;
    print!("{}", comparison.to_text());
    if let Some(file) = arguments.markdown {
        let file = project.given(&file);
        let written = std::fs::write(&file, comparison.to_markdown());
        written.with_context(|| file.display().to_string())?;
    }
    if arguments.time {
        let suite = order.read(cores())?.suite;
        let order = Order {
            command: format!("{} --time", order.command),
            out: times,
            rounds: Some(verdicts::rounds_for(suite.comparisons())),
            counter: None,
            ..order
        };
        run(&order, root)?;
        show(&project, &order.out)?;
    }
    Ok(ExitCode::from(u8::from(comparison.is_more())))
}
