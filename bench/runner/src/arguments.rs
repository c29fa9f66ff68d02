//! The commands and their options.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use tlsbench::compare::bound;
use tlsbench::host::identity::given;
use tlsbench::listed::Listed;
use tlsbench::options::{Options, number};
use tlsbench::selection::Selection;
use tlsbench::sides;

/// Measures TLS libraries on this host.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "The exit code is 1 if the second build takes more of anything in any \
                          scenario, and 2 if the builds could not be compared.";

#[derive(Subcommand)]
pub enum Command {
    /// Measure a suite into the folder of a run, or resume a run that was stopped
    Run(Box<RunArguments>),
    /// Build the programs of a suite that are not built yet; `run` does this as well
    Build {
        /// Suite to build for: a file, or a name in bench/suites such as history
        #[arg(long, value_name = "SUITE")]
        suite: PathBuf,
        /// Number of layouts in which each program is linked, instead of the suite's
        #[arg(long, value_name = "N", value_parser = number())]
        layouts: Option<u32>,
        /// Print only warnings and errors
        #[arg(long, short)]
        quiet: bool,
    },
    /// Record in bench/matrix.lock which packages the builds of a suite use
    #[command(after_help = "`build` and `run` use no other packages.")]
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
        /// Format of the output
        #[arg(long, default_value = "text", value_parser = formats(&[Format::Text, Format::Json]))]
        format: Format,
    },
    /// Compare two builds of a library by instructions and allocations
    #[command(after_help = EXIT_CODES)]
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
pub struct RunArguments {
    /// Suite to measure: a file, or a name in bench/suites
    #[arg(long, value_name = "SUITE", default_value = "quick")]
    pub suite: PathBuf,
    /// Folder of the run [default: data/runs/<today>-<suite>; if that run is complete, with the next
    /// free number, such as data/runs/2026-11-21-quick-2]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub options: Options,
    /// Print only warnings, errors and the result
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(clap::Args)]
pub struct CompareArguments {
    /// First build: a local tree such as rustls=../rustls, a version such as rustls@0.23.40, a
    /// table as in a suite, or a program such as tls-openssl
    #[arg(long, value_name = "BUILD", value_parser = sides::side)]
    pub a: Listed,
    /// Second build, in the same forms
    #[arg(long, value_name = "BUILD", value_parser = sides::side)]
    pub b: Listed,
    /// Provider of cryptography of both builds [default: the first of the library's programs]
    #[arg(long)]
    pub provider: Option<String>,
    /// Suite whose scenarios are compared: a file, or a name in bench/suites
    #[arg(long, value_name = "SUITE", default_value = "instructions")]
    pub suite: PathBuf,
    /// Compare only scenarios whose KIND/PROTOCOL/NAME matches this pattern. May be given several
    /// times
    #[arg(long, value_name = "PATTERN")]
    pub only: Vec<String>,
    /// Smallest difference that is shown; for a figure that repeats less well, it is larger
    #[arg(long, value_name = "PERCENT", value_parser = bound, default_value = "0.2%")]
    pub bound: f64,
    /// Also measure time, into the folder of a run in data/runs, and print its verdicts
    #[arg(long)]
    pub time: bool,
    /// First record in bench/matrix.lock the packages that the builds use; builds use no others
    #[arg(long)]
    pub record: bool,
    /// Format of the comparison; markdown is for pull requests
    #[arg(
        long,
        default_value = "text",
        value_parser = formats(&[Format::Text, Format::Json, Format::Markdown])
    )]
    pub format: Format,
    /// Print only warnings, errors and the comparison
    #[arg(long, short)]
    pub quiet: bool,
}

#[derive(Subcommand)]
pub enum HostCommand {
    /// Print the hardware, the system and the settings of this host
    Show {
        /// Format of the output; toml is that of data/hosts/<host>.toml, and json has the same fields
        #[arg(
            long,
            default_value = "text",
            value_parser = formats(&[Format::Text, Format::Json, Format::Toml])
        )]
        format: Format,
        /// Id of this host [default: the id in data/hosts if the host is described there, or an id
        /// made from its facts]
        #[arg(long, value_name = "ID", value_parser = given)]
        host: Option<String>,
    },
    /// Check this host for every known source of noise, and print how to remove each source
    Check,
    /// Reduce noise: turn SMT and turbo off, set the governor to performance, move interrupts to
    /// other processors
    Tune {
        /// Print what would be changed, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Restore every setting that `tune` changed
    Reset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Markdown,
    Toml,
}

/// The formats that a command has.
fn formats(all: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let values = all.iter().filter_map(ValueEnum::to_possible_value);
    PossibleValuesParser::new(values).try_map(|name| Format::from_str(&name, false))
}

/// Whom commands are for, with an example.
const GROUPS: [(&str, &[&str], &str); 3] = [
    (
        "Measure and compare",
        &["list", "run", "compare", "pack"],
        "run --suite quick --only 'full/1.3/*' --library rustls",
    ),
    (
        "Builds of libraries",
        &["build", "lock", "test"],
        "build --suite history",
    ),
    (
        "This host and shell",
        &["host", "completions", "help"],
        "host check",
    ),
];

/// The command line, with its help in groups.
pub fn command_line() -> clap::Command {
    let mut command = Arguments::command();
    command.build();
    let mut text = String::new();
    for (title, names, example) in GROUPS {
        let _ = writeln!(text, "{title}:");
        for found in names.iter().filter_map(|it| command.find_subcommand(it)) {
            let about = found.get_about().map(ToString::to_string);
            let _ = writeln!(
                text,
                "  {:<13}{}",
                found.get_name(),
                about.unwrap_or_default()
            );
        }
        let _ = writeln!(text, "  Example:     tlsbench {example}\n");
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n\n{text}Options:\n{{options}}"
    ))
}

/// The command that this program was called with.
pub fn parsed() -> Command {
    let matches = command_line().get_matches();
    match Arguments::from_arg_matches(&matches) {
        Ok(arguments) => arguments.command,
        Err(error) => error.exit(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_names_every_command_and_its_examples_are_commands() {
        let mut command = command_line();
        let help = command.render_help().to_string();
        for found in command.get_subcommands() {
            let line = format!("\n  {:<13}", found.get_name());
            assert!(help.contains(&line), "{line}");
        }
        for (_, _, example) in GROUPS {
            let words = example.replace('\'', "");
            let words = std::iter::once("tlsbench").chain(words.split(' '));
            assert!(
                command.clone().try_get_matches_from(words).is_ok(),
                "{example}"
            );
        }
    }
}
