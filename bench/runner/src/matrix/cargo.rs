//! Cargo, run on a package that is not the checkout's.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Error, Result, anyhow};
use serde::Deserialize;

/// Name of a lock, as Cargo calls it.
pub const LOCK: &str = "Cargo.lock";

/// Name of cargo's log, in the package's folder.
pub const LOG: &str = "log";

/// Variables that would change a build without a change of its inputs.
const FOREIGN: [&str; 11] = [
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_TARGET_DIR",
];

/// Where cargo runs, and with what in its environment.
pub struct Cargo<'a> {
    /// The workspace of the harness: its `.cargo/config.toml` holds for each build.
    pub bench: &'a Path,
    pub target: &'a Path,
    /// Variables that are not passed on, besides those that no build is given.
    pub foreign: &'a [String],
    pub environment: Vec<(String, String)>,
}

/// A message of cargo's, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

impl Cargo<'_> {
    /// Completes the lock of the package in a folder: what is locked stays, where it can.
    ///
    /// # Errors
    /// It fails: names the command and its log.
    pub fn resolve(&self, folder: &Path) -> Result<()> {
        let mut command = self.command("update", folder)?;
        command.args(["--workspace", "--quiet"]);
        match command.status().context("cargo")?.success() {
            true => Ok(()),
            false => Err(failure("update", folder)),
        }
    }

    /// A command on the package in a folder, with its log there.
    fn command(&self, subcommand: &str, folder: &Path) -> Result<Command> {
        let mut command = Command::new("cargo");
        command
            .arg(subcommand)
            .arg("--manifest-path")
            .arg(folder.join("Cargo.toml"))
            .current_dir(self.bench)
            .stdin(Stdio::null())
            .stderr(File::create(folder.join(LOG))?);
        let foreign = self.foreign.iter().map(String::as_str);
        for variable in FOREIGN.into_iter().chain(foreign) {
            command.env_remove(variable);
        }
        command.envs(self.environment.iter().cloned());
        Ok(command)
    }

    /// Runs a command on the package in a folder, whose lock must be complete; returns the program that it built, if it did.
    ///
    /// # Errors
    /// It fails: names the command and its log.
    pub fn run(
        &self,
        subcommand: &str,
        folder: &Path,
        arguments: &[String],
        say: &impl Fn(&str),
    ) -> Result<Option<PathBuf>> {
        let mut command = self.command(subcommand, folder)?;
        command
            .args(["--release", "--locked"])
            .arg("--message-format=json-render-diagnostics")
            .arg("--target-dir")
            .arg(self.target)
            .args(arguments)
            .stdout(Stdio::piped());
        let mut child = command.spawn().context("cargo")?;
        let output = child.stdout.take().context("cargo has no output")?;
        let mut built = None;
        for line in BufReader::new(output).lines() {
            let line = line?;
            // What is no message of cargo's is a test's output.
            let Ok(message) = serde_json::from_str::<Message>(&line) else {
                if line.starts_with("test ") {
                    say(&line);
                }
                continue;
            };
            if let Some(executable) = message.executable {
                built = Some(executable);
            }
        }
        if !child.wait()?.success() {
            return Err(failure(subcommand, folder));
        }
        Ok(built)
    }
}

/// Why a command failed, by its log.
fn failure(subcommand: &str, folder: &Path) -> Error {
    let log = folder.join(LOG);
    let text = fs::read_to_string(&log).unwrap_or_default();
    let reason = text.lines().find(|line| line.starts_with("error"));
    anyhow!(
        "`cargo {subcommand}` of {} failed: {}; log: {}",
        folder.join("Cargo.toml").display(),
        reason.unwrap_or("it gave no reason"),
        log.display()
    )
}
