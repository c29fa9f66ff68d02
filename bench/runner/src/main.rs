//! The command line: parses arguments and calls the modules.

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anstream::{eprintln, print, println};
use anstyle::{AnsiColor, Style};
use anyhow::{Context, Result};
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use tls_harness::request::Counter;
use tlsbench::compare;
use tlsbench::host::check::{self, check};
use tlsbench::host::knob::{self, Report};
use tlsbench::host::root::Root;
use tlsbench::host::{facts, identity};
use tlsbench::implementations::{self, Places};
use tlsbench::libraries::Libraries;
use tlsbench::listed::Listed;
use tlsbench::listing;
use tlsbench::manifest::CheckStatus;
use tlsbench::medians;
use tlsbench::options::{Options, percent};
use tlsbench::pack::pack;
use tlsbench::plan::{Order, selected};
use tlsbench::project::Project;
use tlsbench::run::run;
use tlsbench::selection::Selection;
use tlsbench::sides;
use tlsbench::suite::Suite;
use tlsbench::words::warn;

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
        /// Number of layouts in which each program is linked, instead of the suite's
        #[arg(long, value_name = "N")]
        layouts: Option<u32>,
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
struct RunArguments {
    /// Suite to measure: a file, or a name in bench/suites
    #[arg(long, value_name = "SUITE", default_value = "quick")]
    suite: PathBuf,
    /// Folder of the run [default: data/runs/<today>-<suite>; if that run is complete, with the next
    /// free number, such as data/runs/2026-11-21-quick-2]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    #[command(flatten)]
    options: Options,
}

#[derive(clap::Args)]
struct CompareArguments {
    /// First build: a local tree such as rustls=../rustls, a version such as rustls@0.23.40, a
    /// table as in a suite, or a program such as tls-openssl
    #[arg(long, value_name = "BUILD", value_parser = sides::side)]
    a: Listed,
    /// Second build, in the same forms
    #[arg(long, value_name = "BUILD", value_parser = sides::side)]
    b: Listed,
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

/// Finds the project of the current folder, and changes to its top.
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
            let (mut suite, places) = checked(&suite, Selection::default())?;
            suite.layouts = layouts.unwrap_or(suite.layouts);
            implementations::build_programs(&suite, &places)?;
            let built = implementations::build_all(&suite, &places)?;
            let failed = built.iter().flatten().any(std::result::Result::is_err);
            return Ok(ExitCode::from(u8::from(failed)));
        }
        Command::Lock { suite, selection } => {
            let (suite, places) = checked(&suite, selection)?;
            implementations::record(&suite, &places)?;
        }
        Command::Test { suite } => {
            let (suite, places) = checked(&suite, Selection::default())?;
            implementations::test(&suite, &places)?;
        }
        Command::List { suite, selection } => {
            let (suite, places) = checked(&suite, selection)?;
            let state = |it: &Listed| implementations::state(it, &places, suite.layouts);
            print!("{}", listing::to_text(&suite, state));
            for listed in &suite.implementations {
                implementations::is_there(listed, &places, suite.layouts)
                    .with_context(|| format!("{listed} cannot be built"))?;
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
            // Known hosts are those of the project, if there is one.
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
    project.locate(&mut arguments.options.selection);
    let suite = project.suite(&arguments.suite)?;
    let out = arguments.out.as_deref();
    let out = out.map_or_else(|| project.run_of_today(&suite), |out| project.given(out));
    let here = std::env::current_dir()?;
    let ordered = Order {
        command: format!(
            "tlsbench run --suite {} --out {}{}",
            relative(&suite, &here).display(),
            relative(&out, &here).display(),
            arguments.options.arguments()
        ),
        places: project.places()?,
        suite,
        out,
        options: arguments.options,
    };
    let suite = ordered.read(cores())?.suite;
    if !ordered.out.join("run.toml").exists() {
        if ordered.options.counter.is_none() {
            eprintln!("{}", listing::expectation(&suite));
        }
        implementations::build_programs(&suite, &ordered.places)?;
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

/// Counts the instructions of two builds, then prints which takes more.
fn compared(arguments: CompareArguments, root: &Root) -> Result<ExitCode> {
    compare::check_bound(arguments.bound)?;
    let project = project()?;
    let places = project.places()?;
    let libraries = Libraries::read(&places.bench)?;
    let both = [arguments.a, arguments.b].map(|side| project.located(side));
    let both = sides::completed(both, arguments.provider.as_deref(), &libraries);
    let options = Options {
        selection: Selection {
            only: arguments.only,
            instead: both.to_vec(),
            ..Selection::default()
        },
        rounds: Some(1),
        sessions: Some(1),
        layouts: Some(1),
        counter: Some(Counter::Callgrind),
        ..Options::default()
    };
    let suite = project.suite(&arguments.suite)?;
    let [counts, times] = project.comparison_of_today();
    let here = std::env::current_dir()?;
    let order = Order {
        command: format!(
            "tlsbench compare --suite {}{}",
            relative(&suite, &here).display(),
            options.selection.arguments()
        ),
        places,
        suite,
        out: counts,
        options,
    };
    if arguments.record {
        implementations::record(&order.read(cores())?.suite, &order.places)?;
    }
    implementations::build_programs(&order.read(cores())?.suite, &order.places)?;
    run(&order, root)?;
    let comparison = compare::compare(&order, arguments.bound, cores())?;
    print!("{}", comparison.to_text());
    if let Some(file) = arguments.markdown {
        let file = project.given(&file);
        let written = std::fs::write(&file, comparison.to_markdown());
        written.with_context(|| file.display().to_string())?;
    }
    if arguments.time {
        let comparisons = listing::comparisons(&order.read(cores())?.suite);
        let order = Order {
            command: format!("{} --time", order.command),
            out: times,
            options: Options {
                rounds: Some(listing::rounds_needed(comparisons)),
                counter: None,
                ..order.options
            },
            ..order
        };
        run(&order, root)?;
        show(&project, &order.out)?;
    }
    Ok(ExitCode::from(u8::from(comparison.is_more())))
}

/// Prints the medians of a finished run, and its verdicts if the tools are installed.
fn show(project: &Project, folder: &Path) -> Result<()> {
    print!("{}", medians::table(folder)?);
    if let Some(id) = project.run_id(folder) {
        // Without the tools, the medians are already printed.
        let mut show = std::process::Command::new(project.tlsperf());
        let _ = show.args(["show", id]).stderr(Stdio::null()).status();
    }
    println!("{}", folder.join("run.toml").display());
    Ok(())
}

/// A valid suite, reduced to the selection, and where its programs are.
fn checked(suite: &Path, mut selection: Selection) -> Result<(Suite, Places)> {
    let project = project()?;
    let places = project.places()?;
    project.locate(&mut selection);
    let file = selected(&project.suite(suite)?, &selection, &places, cores())?;
    Ok((file.suite, places))
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
