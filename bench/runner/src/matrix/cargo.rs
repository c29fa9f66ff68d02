//! Runs Cargo on packages outside the checkout's workspace.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Error, Result, anyhow};
use serde::Deserialize;

use crate::matrix::lock::{LOCK, Lock};
use crate::matrix::recorded::Recorded;

/// File name of Cargo's log, in the folder of the package.
pub const LOG: &str = "log";

/// Variables that would change a build although its inputs are the same.
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

/// The folders and the environment in which Cargo runs.
pub struct Cargo<'a> {
    /// The workspace of the harness, whose `.cargo/config.toml` applies to each build.
    pub bench: &'a Path,
    pub target: &'a Path,
    /// Variables that are removed from the environment, in addition to `FOREIGN`.
    pub foreign: &'a [String],
    pub environment: Vec<(String, String)>,
}

/// The part of Cargo's JSON messages that is used here.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
}

impl Cargo<'_> {
    /// Completes the lock of the package in a folder, and returns it. Locked versions stay where
    /// possible.
    pub fn resolve(&self, folder: &Path) -> Result<Lock> {
        let mut command = self.command("update", folder)?;
        command.args(["--workspace", "--quiet"]);
        match command.status().context("cargo")?.success() {
            true => Lock::read(&folder.join(LOCK)),
            false => Err(failure("update", folder)),
        }
    }

    /// A command on the package in a folder, which also receives the log.
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

    /// Runs a command on the package in a folder, whose packages must all be recorded; returns the
    /// program if it built one.
    pub fn run(
        &self,
        subcommand: &str,
        folder: &Path,
        arguments: &[String],
        say: &impl Fn(&str),
    ) -> Result<Option<PathBuf>> {
        self.resolve(folder)?;
        Recorded::read(self.bench)?.check(&folder.join(LOCK))?;
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
            // A line that is not a message of Cargo is output of a test.
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

/// The reason of a failure, from the log.
fn failure(subcommand: &str, folder: &Path) -> Error {
    let log = folder.join(LOG);
    let text = fs::read_to_string(&log).unwrap_or_default();
    let reason = text.lines().find(|line| line.starts_with("error"));
    anyhow!(
        "`cargo {subcommand}` of {} failed: {}; log: {}",
        folder.join("Cargo.toml").display(),
        reason.unwrap_or("it reported no reason"),
        log.display()
    )
}
