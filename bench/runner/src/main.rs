//! The command line: parses arguments and calls the modules.

mod comparison;

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use anstream::{eprintln, print, println};
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use jiff::SignedDuration;
use tls_harness::request::Counter;
use tlsbench::host::check::{self, check};
use tlsbench::host::knob::{self, Report};
use tlsbench::host::root::Root;
use tlsbench::host::{facts, identity};
use tlsbench::implementations::{self, Places};
use tlsbench::layouts::Layouts;
use tlsbench::manifest::{CheckStatus, LayoutKind};
use tlsbench::medians;
use tlsbench::pack::pack;
use tlsbench::plan::{Order, selected};
use tlsbench::project::Project;
use tlsbench::run::run;
use tlsbench::selection::Selection;
use tlsbench::suite::Suite;

use crate::comparison::{CompareArguments, compared};

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
    Run(Box<RunArguments>),
    /// Build the programs of a suite that are not built yet; `run` does this as well
    Build {
        /// Suite to build for: a file, or a name in bench/suites such as history
        #[arg(long, value_name = "SUITE")]
        suite: PathBuf,
        #[command(flatten)]
        layouts: LayoutArguments,
    },
    /// Record in bench/matrix.lock which packages the builds of a suite use; `build` and `run` use
    /// no other packages
    Lock {
        /// Suite to record: a file, or a name in bench/suites such as history
        #[arg(long, value_name = "SUITE")]
        suite: PathBuf,
        #[command(flatten)]
        selection: Selection,
    },
    /// Run the conformance tests for the oldest and the newest build of each library in a suite
    Test {
        /// Suite to test: a file, or a name in bench/suites such as history
        #[arg(long, value_name = "SUITE")]
        suite: PathBuf,
    },
    /// Print what `run` would measure on this host, and how long that takes
    List {
        /// Suite to print: a file, or a name in bench/suites
        #[arg(long, value_name = "SUITE", default_value = "quick")]
        suite: PathBuf,
        #[command(flatten)]
        selection: Selection,
    },
    /// Compare two builds of a library by the instructions that they execute. The exit code is 1 if
    /// the second build executes more in any scenario, and 2 if the builds could not be compared
    Compare(Box<CompareArguments>),
    /// Put a complete run into one archive, with its checksum beside it
    Pack {
        /// Run to pack, by id or folder
        run: PathBuf,
        /// Folder to write the archive to
        #[arg(long, value_name = "FOLDER", default_value = ".")]
        out: PathBuf,
    },
    /// Print a script that completes the commands of tlsbench in a shell
    Completions {
        /// Shell. To install the script for bash: `tlsbench completions bash >
        /// ~/.local/share/bash-completion/completions/tlsbench`
        shell: Shell,
    },
    /// Show, check and tune this host
    #[command(subcommand)]
    Host(HostCommand),
}

#[derive(clap::Args)]
struct LayoutArguments {
    /// Number of layouts in which each program is linked, instead of the suite's. The first layout
    /// is the linker's own order. Each session uses the next layout; after the last layout comes the
    /// first
    #[arg(long, value_name = "N")]
    layouts: Option<u32>,
    /// How the other layouts differ from the first: `shifted` moves the code by padding, `shuffled`
    /// links all sections in a random order, `shared` puts the library into a shared library
    #[arg(long, value_name = "KIND", value_parser = ["shifted", "shuffled", "shared"], default_value = "shifted")]
    layout_kind: String,
}

#[derive(clap::Args)]
struct RunArguments {
    /// Suite to measure: a file, or a name in bench/suites
    #[arg(long, value_name = "SUITE", default_value = "quick")]
    suite: PathBuf,
    #[command(flatten)]
    selection: Selection,
    /// Folder of the run [default: data/runs/<today>-<suite>; if that run is complete, with the next
    /// free number, such as data/runs/2026-11-21-quick-2]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Id of this host [default: the id in data/hosts if the host is described there, or an id made
    /// from its facts]
    #[arg(long, value_name = "ID")]
    host: Option<String>,
    /// Number of rounds in each session, instead of the suite's
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
    /// Number of sessions, instead of the suite's. A stopped run resumes in the session in which it
    /// stopped
    #[arg(long, value_name = "N")]
    sessions: Option<u32>,
    /// Time from the end of a session to the start of the next, such as 30m
    #[arg(long, value_name = "TIME", value_parser = apart)]
    apart: Option<Duration>,
    /// Measure one session, then exit; the same command measures the next session. In this way the
    /// sessions of several suites can alternate
    #[arg(long, conflicts_with = "apart")]
    one_session: bool,
    #[command(flatten)]
    layouts: LayoutArguments,
    /// Measure until the 95% interval of every median has at most this half-width, such as 1%
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    until_precise: Option<f64>,
    /// Count instead of measuring time, in 6 rounds unless --rounds is given: instructions under
    /// Valgrind (callgrind), allocations, locks and calls into the kernel (calls), or bytes, records
    /// and calls of the transport (wire)
    #[arg(long, value_name = "COUNTER", value_parser = counter, conflicts_with = "until_precise")]
    counter: Option<Counter>,
}

#[derive(Subcommand)]
enum HostCommand {
    /// Print the hardware, the system and the settings of this host
    Show {
        /// Print the facts in the format of data/hosts/<host>.toml
        #[arg(long)]
        toml: bool,
        /// Id of this host [default: the id in data/hosts if the host is described there, or an id
        /// made from its facts]
        #[arg(long, value_name = "ID")]
        host: Option<String>,
    },
    /// Check this host for every known source of noise, and print how to remove each source
    Check,
    /// Reduce noise: turn SMT and turbo off, set the governor to performance, move interrupts to
    /// other processors
    Tune,
    /// Restore every setting that `tune` changed
    Reset,
}

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let failure = match command {
        Command::Compare(_) => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    };
    match execute(command) {
        Ok(code) => code,
        Err(error) => {
            let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
            eprintln!("{style}error:{style:#} {error:#}");
            failure
        }
    }
}

/// Finds the checkout of the current folder, and changes to its top.
fn project() -> Result<Project> {
    let project = Project::find(&std::env::current_dir()?)?;
    project.enter()?;
    Ok(project)
}

fn execute(command: Command) -> Result<ExitCode> {
    let root = Root::host();
    match command {
        Command::Run(arguments) => measure(*arguments, &root)?,
        Command::Compare(arguments) => return compared(*arguments, &root),
        Command::Build { suite, layouts } => {
            let project = project()?;
            let places = project.places()?;
            let mut suite = checked(&project.suite(&suite)?, &Selection::default(), &places)?;
            suite.layouts = layouts.layouts.unwrap_or(suite.layouts);
            link(&suite, layouts.layout_kind.parse()?, &places)?;
            let built = implementations::build_all(&suite, &places)?;
            let failed = built.iter().flatten().any(std::result::Result::is_err);
            return Ok(ExitCode::from(u8::from(failed)));
        }
        Command::Lock {
            suite,
            mut selection,
        } => {
            let project = project()?;
            let places = project.places()?;
            project.locate(&mut selection);
            let suite = checked(&project.suite(&suite)?, &selection, &places)?;
            implementations::record(&suite, &places)?;
        }
        Command::Test { suite } => {
            let project = project()?;
            let places = project.places()?;
            let suite = checked(&project.suite(&suite)?, &Selection::default(), &places)?;
            implementations::test(&suite, &places)?;
        }
        Command::List {
            suite,
            mut selection,
        } => {
            let project = project()?;
            let places = project.places()?;
            project.locate(&mut selection);
            let suite = checked(&project.suite(&suite)?, &selection, &places)?;
            print!(
                "{}",
                suite.to_text(|entry| implementations::state(entry, &places, suite.layouts))
            );
            for subject in &suite.implementations {
                implementations::is_there(subject, &places, suite.layouts)
                    .with_context(|| format!("{subject} cannot be built"))?;
            }
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "tlsbench", &mut script);
            std::io::stdout().write_all(&script)?;
        }
        Command::Pack { run, out } => {
            // A run that was copied elsewhere is packed by its path.
            let folder = match Project::find(&std::env::current_dir()?) {
                Ok(project) => project.run(&run)?,
                Err(_) => run,
            };
            let (archive, checksum) = pack(&folder, &out)?;
            println!("{}\n{}", archive.display(), checksum.display());
        }
        Command::Host(HostCommand::Show { toml, host }) => {
            // Known hosts are those of the checkout, if there is one.
            if let Ok(project) = Project::find(&std::env::current_dir()?) {
                project.enter()?;
            }
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
                warn(&format!("could not read {sensor}"));
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

fn measure(mut arguments: RunArguments, root: &Root) -> Result<()> {
    let project = project()?;
    project.locate(&mut arguments.selection);
    let suite = project.suite(&arguments.suite)?;
    let out = arguments.out.as_deref();
    let out = out.map_or_else(|| project.run_of_today(&suite), |out| project.given(out));
    let ordered = Order {
        command: recorded(&arguments, &suite, &out)?,
        places: project.places()?,
        suite,
        selection: arguments.selection,
        out,
        host_id: arguments.host,
        rounds: arguments.rounds,
        sessions: arguments.sessions,
        apart: arguments.apart.unwrap_or_default(),
        one_session: arguments.one_session,
        layouts: arguments.layouts.layouts,
        layout_kind: arguments.layouts.layout_kind.parse()?,
        until_precise: arguments.until_precise,
        counter: arguments.counter,
    };
    let suite = ordered.read(cores())?.suite;
    if !ordered.out.join("run.toml").exists() {
        if ordered.counter.is_none() {
            eprintln!("{}", suite.expectation());
        }
        link(&suite, ordered.layout_kind, &ordered.places)?;
    }
    let finished = run(&ordered, root)?;
    if !ordered.out.join("run.toml").exists() {
        println!(
            "{}: the same command measures the next session",
            finished.display()
        );
        return Ok(());
    }
    show(&project, &ordered.out)
}

/// Prints the medians of a finished run, and its verdicts if the tools are installed.
fn show(project: &Project, folder: &Path) -> Result<()> {
    print!("{}", medians::table(folder)?);
    if let (Some(tlsperf), Some(id)) = (project.tlsperf(), project.run_id(folder)) {
        // If the tools cannot show the run, the medians are already printed.
        let mut show = std::process::Command::new(tlsperf);
        let _ = show.args(["show", id]).stderr(Stdio::null()).status();
    }
    println!("{}", folder.join("run.toml").display());
    Ok(())
}

/// A valid suite, reduced to the selection.
fn checked(path: &Path, selection: &Selection, places: &Places) -> Result<Suite> {
    Ok(selected(path, selection, places, cores())?.suite)
}

fn warn(text: &str) {
    let style = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    eprintln!("{style}warning:{style:#} {text}");
}

/// Links the programs of a suite in each layout.
fn link(suite: &Suite, kind: LayoutKind, places: &Places) -> Result<()> {
    match suite.layouts {
        1 => Ok(()),
        count => Layouts::new(&places.layouts, kind, count).link(suite, places),
    }
}

/// Physical cores of this host, if known; the scenarios of a suite may depend on it.
fn cores() -> Option<u32> {
    facts::capture(&Root::host()).cores
}

/// Prints the changes to the host; returns failure unless all succeeded.
fn reported(report: &Report) -> ExitCode {
    println!("{}", report.lines.join("\n"));
    ExitCode::from(u8::from(report.failed))
}

/// The command as a run records it: with relative paths only, and unchanged when it resumes.
fn recorded(arguments: &RunArguments, suite: &Path, out: &Path) -> Result<String> {
    let here = std::env::current_dir()?;
    let mut command = format!(
        "tlsbench run --suite {} --out {}",
        relative(suite, &here).display(),
        relative(out, &here).display()
    );
    command += &arguments.selection.arguments();
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
    if let Some(counter) = arguments.counter {
        command += &format!(" --counter {}", counter.as_str());
    }
    if let Some(share) = arguments.until_precise {
        command += &format!(" --until-precise {}%", share * 100.0);
    }
    Ok(command)
}

/// A path relative to `here`; only the name of a path elsewhere, since a run records no path of
/// this machine.
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

/// The name of a counter.
fn counter(text: &str) -> Result<Counter, String> {
    let found = Counter::ALL.into_iter().find(|it| it.as_str() == text);
    found.ok_or_else(|| {
        format!(
            "expected {}",
            Counter::ALL.map(Counter::as_str).join(" or ")
        )
    })
}

/// A percentage such as `1%` or `0.5%`, as a share.
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
