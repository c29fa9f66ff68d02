//! The command line: calls the modules.

mod arguments;

use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{ExitCode, Stdio};

use anyhow::{Context, Result, ensure};
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
use tlsbench::options::Options;
use tlsbench::pack::pack;
use tlsbench::plan::{Order, selected};
use tlsbench::project::Project;
use tlsbench::resume::kept;
use tlsbench::run::{check_order, masks_without_effect, run};
use tlsbench::selection::Selection;
use tlsbench::sides;
use tlsbench::stop;
use tlsbench::suite::Suite;
use tlsbench::words::{be_quiet, fail, say, show, tell, warn};

use crate::arguments::{
    Command, CompareArguments, Format, HostCommand, RunArguments, command_line,
};

fn main() -> ExitCode {
    let command = arguments::parsed();
    stop::end_with_reader();
    let (failure, kept) = match command {
        Command::Compare(_) => (
            ExitCode::from(2),
            Some("finished builds are kept; the same command counts and measures anew"),
        ),
        Command::Run(_) => (ExitCode::FAILURE, None),
        _ => (
            ExitCode::FAILURE,
            Some("finished builds are kept; the same command goes on"),
        ),
    };
    let (what, text, code) = match (execute(command), stop::signal()) {
        (Ok(code), _) => return code,
        (Err(error), None) => ("error", format!("{error:#}"), failure),
        // As a shell reports a program that a signal ended.
        (Err(error), Some(signal)) => {
            let kept = kept.map_or_else(|| error.to_string(), str::to_owned);
            ("stopped", kept, ExitCode::from(128 + signal))
        }
    };
    fail(what, &text);
    code
}

/// What a run that was stopped keeps, and the command that resumes it. The default folder depends on
/// the date, so that the command names it.
fn resume(out: &Path, is_default: bool) -> String {
    let kept = kept(out).unwrap_or_else(|| "nothing was measured yet".to_owned());
    let out = is_default.then(|| ["--out".into(), out.as_os_str().to_owned()]);
    let words = std::env::args_os().chain(out.into_iter().flatten());
    let words = words.map(|it| quoted(&it.to_string_lossy()));
    let command = words.collect::<Vec<_>>().join(" ");
    format!("{kept}\nresume: {command}")
}

/// A word of a command as a shell needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
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
    if let Command::Run(_) | Command::Compare(_) | Command::Build { .. } | Command::Test { .. } =
        command
    {
        stop::listen()?;
    }
    match command {
        Command::Run(arguments) => measure(*arguments, &root)?,
        Command::Compare(arguments) => return compared(*arguments, &root),
        Command::Build {
            suite,
            layouts,
            quiet,
        } => {
            be_quiet(quiet);
            let (mut suite, places) = checked(&suite, Selection::default())?;
            suite.layouts = layouts.unwrap_or(suite.layouts);
            implementations::build_programs(&suite, &places)?;
            let built = implementations::build_all(&suite, &places)?;
            let failed = built.iter().flatten().any(std::result::Result::is_err);
            return Ok(ExitCode::from(u8::from(failed)));
        }
        Command::Lock { suite, selection } => {
            let (suite, places) = with_builds(&suite, selection)?;
            implementations::record(&suite, &places)?;
        }
        Command::Test { suite } => {
            let (suite, places) = with_builds(&suite, Selection::default())?;
            implementations::test(&suite, &places)?;
        }
        Command::List {
            suite,
            selection,
            format,
        } => {
            let (suite, places) = checked(&suite, selection)?;
            let state = |it: &Listed| implementations::state(it, &places, suite.layouts);
            match format {
                Format::Json => show(format!("{:#}\n", listing::to_json(&suite, state))),
                _ => show(listing::to_text(&suite, state)),
            }
            warn_of_masks(&suite);
            for listed in &suite.implementations {
                implementations::is_there(listed, &places, suite.layouts)
                    .with_context(|| format!("{listed} cannot be built"))?;
            }
        }
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command_line(), "tlsbench", &mut script);
            std::io::stdout().write_all(&script)?;
        }
        Command::Pack { run, out } => {
            // A run that was copied elsewhere is packed by its path.
            let folder = match Project::find(&std::env::current_dir()?) {
                Ok(project) => project.run(&run)?,
                Err(_) => run,
            };
            let (archive, checksum) = pack(&folder, &out)?;
            show(format!("{}\n{}\n", archive.display(), checksum.display()));
        }
        Command::Host(HostCommand::Show { format, host }) => {
            // Known hosts are those of the project, if there is one.
            if let Ok(project) = Project::find(&std::env::current_dir()?) {
                project.enter()?;
            }
            let facts = facts::capture(&root);
            let facts =
                identity::identified(facts, host.as_deref(), identity::KNOWN_HOSTS.as_ref())?;
            let facts = facts::with_compilers(facts);
            match format {
                Format::Toml => show(facts::to_toml(&facts)?),
                Format::Json => show(facts::to_json(&facts)?),
                _ => show(facts::to_text(&facts)),
            }
            for sensor in root.unreadable() {
                warn(&format!("could not read {sensor}"));
            }
        }
        Command::Host(HostCommand::Tune { dry_run: true }) => {
            return Ok(reported(&knob::plan(&root)));
        }
        Command::Host(HostCommand::Tune { dry_run: false }) => {
            return Ok(reported(&knob::tune(&root)?));
        }
        Command::Host(HostCommand::Reset) => return Ok(reported(&knob::reset(&root)?)),
        Command::Host(HostCommand::Check) => {
            let results = check(&facts::capture(&root), &root);
            show(check::to_text(&results));
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
    be_quiet(arguments.quiet);
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
    let file = ordered.read(cores())?;
    project.check_out(&ordered.out)?;
    check_order(&ordered, &file)?;
    let suite = file.suite;
    let is_complete = || ordered.out.join("run.toml").exists();
    let measured = || {
        if !is_complete() {
            if ordered.options.counter.is_none() {
                say(&listing::expectation(&suite));
                warn_of_masks(&suite);
            }
            implementations::build_programs(&suite, &ordered.places)?;
        }
        run(&ordered, root)
    };
    let finished = measured().map_err(|error| match stop::signal() {
        Some(_) => error.context(resume(&ordered.out, arguments.out.is_none())),
        None => error,
    })?;
    if !is_complete() {
        show(format!(
            "{}: the same command measures the next session\n",
            finished.display()
        ));
        return Ok(());
    }
    figures(&project, &ordered.out)
}

/// Counts two builds, then prints which takes more.
fn compared(arguments: CompareArguments, root: &Root) -> Result<ExitCode> {
    be_quiet(arguments.quiet);
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
    match arguments.format {
        Format::Json => show(format!("{:#}\n", comparison.to_json())),
        Format::Markdown => show(comparison.to_markdown()),
        _ => show(comparison.to_text()),
    }
    ensure!(
        comparison.compares(),
        "nothing was compared: each scenario is absent or failed in one of the builds"
    );
    // Not a success: what fails in B has taken no instructions.
    ensure!(
        comparison.failed == 0,
        "not all was compared: a scenario failed in one of the builds; the reason is above"
    );
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
        run(&order, root).inspect_err(|_| {
            // The next comparison is another run, since trees may have changed. This folder is new.
            if stop::signal().is_some() {
                let _ = std::fs::remove_dir_all(&order.out);
            }
        })?;
        match arguments.format {
            Format::Text => figures(&project, &order.out)?,
            _ => tell(&format!("times: {}", order.out.join("run.toml").display())),
        }
    }
    Ok(ExitCode::from(u8::from(comparison.is_more())))
}

/// Prints the figures of a finished run: by the tools, with verdicts; without them, or if they fail,
/// its medians.
fn figures(project: &Project, folder: &Path) -> Result<()> {
    let shown = project.run_id(folder).is_some_and(|id| {
        let mut show = std::process::Command::new(project.tlsperf());
        let show = show.args(["show", id]).stderr(Stdio::null());
        show.status().is_ok_and(|it| it.success())
    });
    if !shown {
        show(medians::table(folder)?);
    }
    show(format!("{}\n", folder.join("run.toml").display()));
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

/// The same for a suite that has builds of the matrix.
fn with_builds(given: &Path, selection: Selection) -> Result<(Suite, Places)> {
    let (suite, places) = checked(given, selection)?;
    ensure!(
        suite.builds().next().is_some(),
        "--suite {}: found no build of a version or tree, expected a suite such as history",
        given.display()
    );
    Ok((suite, places))
}

/// Physical cores of this host, if known; the scenarios of a suite may depend on it.
fn cores() -> Option<u32> {
    facts::capture(&Root::host()).cores
}

fn warn_of_masks(suite: &Suite) {
    for warning in masks_without_effect(suite, &facts::capture(&Root::host()).features) {
        warn(&warning.message);
    }
}

/// Prints the changes to the host; returns failure unless all succeeded.
fn reported(report: &Report) -> ExitCode {
    show(report.lines.join("\n") + "\n");
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
