//! The command line: parse, then call.

use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use jiff::{SignedDuration, Timestamp};
use tls_harness::request::Counter;
use tlsbench::host::check::{self, check};
use tlsbench::host::knob::{self, Report};
use tlsbench::host::root::Root;
use tlsbench::host::{facts, identity};
use tlsbench::implementations::{self, Places};
use tlsbench::layouts::Layouts;
use tlsbench::manifest::{CheckStatus, LayoutKind};
use tlsbench::pack::pack;
use tlsbench::plan::Order;
use tlsbench::run::run;
use tlsbench::suite::{Suite, SuiteFile};

/// Measures TLS libraries on this host.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure a suite into the folder of a run, or resume a run that was stopped
    Run(RunArguments),
    /// Build what a suite names and is not there yet; `run` does so too
    Build {
        /// What to build for, e.g. bench/suites/history.toml
        #[arg(long, value_name = "FILE")]
        suite: PathBuf,
        #[command(flatten)]
        layouts: LayoutArguments,
    },
    /// Run the conformance tests for the oldest and the newest build of each library in a suite
    Test {
        /// E.g. bench/suites/history.toml
        #[arg(long, value_name = "FILE")]
        suite: PathBuf,
    },
    /// What a suite will run on this host, and how long it will take
    List {
        #[arg(long, value_name = "FILE")]
        suite: PathBuf,
    },
    /// Put a complete run into one archive, with its checksum beside it
    Pack {
        /// Folder of the run, e.g. data/runs/2026-11-21-quick
        run: PathBuf,
        /// Folder of the archive
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        out: PathBuf,
    },
    /// The machine that measures
    #[command(subcommand)]
    Host(HostCommand),
}

#[derive(clap::Args)]
struct LayoutArguments {
    /// Ways to link each program, instead of the suite's; session n uses layout n - 1, and starts
    /// over after the last. The first is the linker's own order
    #[arg(long, value_name = "N")]
    layouts: Option<u32>,
    /// How the others differ: shifted by padding, or all sections in a random order (the extreme)
    #[arg(long, value_name = "KIND", value_parser = ["shifted", "shuffled"], default_value = "shifted")]
    layout_kind: String,
}

#[derive(clap::Args)]
struct RunArguments {
    /// What to measure, e.g. bench/suites/quick.toml
    #[arg(long, value_name = "FILE")]
    suite: PathBuf,
    /// Folder of the run; otherwise data/runs/<today>-<suite>, e.g. data/runs/2026-11-21-quick
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Id of this host; otherwise that of the known host it is, or one made from its facts
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    /// Rounds, instead of the suite's
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Sessions of so many rounds each, instead of the suite's; a run that was stopped resumes with
    /// the session that it was in
    #[arg(long, value_name = "N")]
    sessions: Option<u32>,
    /// Time from the end of a session to the start of the next, e.g. 30m
    #[arg(long, value_name = "TIME", value_parser = apart)]
    apart: Option<Duration>,
    #[command(flatten)]
    layouts: LayoutArguments,
    /// Measure until the 95 % interval of every median is within this half-width, e.g. 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    until_precise: Option<f64>,
    /// Count instructions under valgrind instead of measuring time; 6 rounds unless --rounds is given
    #[arg(long, value_name = "COUNTER", value_parser = ["callgrind"], conflicts_with = "until_precise")]
    counter: Option<String>,
}

#[derive(Subcommand)]
enum HostCommand {
    /// What it is and the state it is in
    Show {
        /// As data/hosts/<host>.toml has it
        #[arg(long)]
        toml: bool,
        /// Id of this host; otherwise that of the known host it is, or one made from its facts
        #[arg(long, value_name = "ID")]
        host: Option<String>,
    },
    /// Check every known source of noise, and print how to remove it
    Check,
    /// Reduce noise: SMT and turbo off, governor performance, interrupts on other processors
    Tune,
    /// Restore everything that tune has changed
    Reset,
}

fn main() -> ExitCode {
    match execute(Arguments::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn execute(command: Command) -> Result<ExitCode> {
    let root = Root::host();
    match command {
        Command::Run(arguments) => {
            let out = arguments.out.clone();
            let out = out.unwrap_or_else(|| of_today(&arguments.suite));
            let ordered = Order {
                command: recorded(&arguments, &out)?,
                places: places()?,
                suite: arguments.suite,
                out,
                host_id: arguments.host,
                rounds: arguments.rounds,
                sessions: arguments.sessions,
                apart: arguments.apart.unwrap_or_default(),
                layouts: arguments.layouts.layouts,
                layout_kind: arguments.layouts.layout_kind.parse()?,
                until_precise: arguments.until_precise,
                counter: arguments.counter.map(|_| Counter::Callgrind),
            };
            if !ordered.out.join("run.toml").exists() {
                let mut suite = SuiteFile::read(&ordered.suite, cores())?.suite;
                ordered.apply(&mut suite)?;
                link(&suite, ordered.layout_kind, &ordered.places)?;
            }
            println!("{}", run(&ordered, &root)?.display());
        }
        Command::Build { suite, layouts } => {
            let mut suite = SuiteFile::read(&suite, cores())?.suite;
            suite.layouts = layouts.layouts.unwrap_or(suite.layouts);
            link(&suite, layouts.layout_kind.parse()?, &places()?)?;
            let built = implementations::build_all(&suite, &places()?)?;
            let failed = built.iter().flatten().any(std::result::Result::is_err);
            return Ok(ExitCode::from(u8::from(failed)));
        }
        Command::Test { suite } => {
            let suite = SuiteFile::read(&suite, cores())?.suite;
            implementations::test(&suite, &places()?)?;
        }
        Command::List { suite } => {
            let (suite, places) = (SuiteFile::read(&suite, cores())?.suite, places()?);
            print!(
                "{}",
                suite.to_text(|entry| implementations::state(entry, &places))
            );
        }
        Command::Pack { run, out } => {
            let (archive, checksum) = pack(&run, &out)?;
            println!("{}\n{}", archive.display(), checksum.display());
        }
        Command::Host(HostCommand::Show { toml, host }) => {
            let facts = facts::capture(&root);
            let facts =
                identity::identified(facts, host.as_deref(), identity::KNOWN_HOSTS.as_ref())?;
            let facts = facts::with_compilers(facts);
            if toml {
                print!("{}", facts::to_toml(&facts)?);
            } else {
                print!("{}", facts::to_text(&facts));
            }
            for sensor in root.unreadable() {
                eprintln!("warning: could not read {sensor}");
            }
        }
        Command::Host(HostCommand::Tune) => return Ok(reported(&knob::tune(&root)?)),
        Command::Host(HostCommand::Reset) => return Ok(reported(&knob::reset(&root)?)),
        Command::Host(HostCommand::Check) => {
            let results = check(&facts::capture(&root), &root);
            print!("{}", check::to_text(&results));
            if results
                .iter()
                .any(|result| result.status == CheckStatus::Fail)
            {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Links the programs of a suite as often as it says.
fn link(suite: &Suite, kind: LayoutKind, places: &Places) -> Result<()> {
    match suite.layouts {
        1 => Ok(()),
        count => Layouts::new(&places.layouts, kind, count).link(suite, places),
    }
}

/// Physical cores of this host, if known: the scenarios of a suite may depend on them.
fn cores() -> Option<u32> {
    facts::capture(&Root::host()).cores
}

/// Programs are beside `tlsbench`; builds are made from the checkout that this is run in.
fn places() -> Result<Places> {
    let own = std::env::current_exe().context("where is tlsbench?")?;
    Ok(Places {
        programs: own.parent().unwrap_or(Path::new(".")).to_owned(),
        bench: "bench".into(),
        cache: "build/matrix".into(),
        layouts: "build/layouts".into(),
    })
}

/// Prints what was done to the host; fails if not all of it worked.
fn reported(report: &Report) -> ExitCode {
    println!("{}", report.lines.join("\n"));
    ExitCode::from(u8::from(report.failed))
}

/// The folder of a run without `--out`: one a day for each suite.
fn of_today(suite: &Path) -> PathBuf {
    let today = Timestamp::now().strftime("%Y-%m-%d");
    let suite = suite.file_stem().unwrap_or_default().display();
    Path::new("data/runs").join(format!("{today}-{suite}"))
}

/// The command as a run records it: with relative paths only, and the same again when it resumes.
fn recorded(arguments: &RunArguments, out: &Path) -> Result<String> {
    let here = std::env::current_dir()?;
    let mut command = format!(
        "tlsbench run --suite {} --out {}",
        relative(&arguments.suite, &here).display(),
        relative(out, &here).display()
    );
    if let Some(host) = &arguments.host {
        command += &format!(" --host {host}");
    }
    if let Some(rounds) = arguments.rounds {
        command += &format!(" --rounds {rounds}");
    }
    if let Some(sessions) = arguments.sessions {
        command += &format!(" --sessions {sessions}");
    }
    if let Some(apart) = arguments.apart {
        command += &format!(" --apart {}s", apart.as_secs());
    }
    let LayoutArguments {
        layouts,
        layout_kind,
    } = &arguments.layouts;
    if let Some(layouts) = layouts {
        command += &format!(" --layouts {layouts} --layout-kind {layout_kind}");
    }
    if let Some(counter) = &arguments.counter {
        command += &format!(" --counter {counter}");
    }
    if let Some(share) = arguments.until_precise {
        command += &format!(" --until-precise {}%", share * 100.0);
    }
    Ok(command)
}

/// A path relative to `here`; of one that is elsewhere only its name, since a run records no path
/// of this machine.
fn relative(path: &Path, here: &Path) -> PathBuf {
    let path = path.strip_prefix(here).unwrap_or(path);
    let inside = path.is_relative() && !path.components().any(|part| part == Component::ParentDir);
    let plain = || {
        path.components()
            .filter(|part| *part != Component::CurDir)
            .collect()
    };
    match path.file_name() {
        Some(name) if !inside => name.into(),
        _ => plain(),
    }
}

/// A time such as `90s`, `30m` or `2h`.
fn apart(text: &str) -> Result<Duration, String> {
    let time = text.parse::<SignedDuration>().ok();
    time.and_then(|time| Duration::try_from(time).ok())
        .ok_or_else(|| "expected a time such as 30m".to_owned())
}

/// A percentage such as `1%` or `0.5 %`, as a share.
fn percent(text: &str) -> Result<f64, String> {
    let number = text
        .strip_suffix('%')
        .map(str::trim)
        .and_then(|text| text.parse::<f64>().ok());
    match number {
        Some(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        _ => Err("expected a percentage such as 1%".to_owned()),
    }
}
