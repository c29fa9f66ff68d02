//! Runs Cargo on a package outside the checkout's workspace. Its folder in the cache has its final
//! name only when the package is built.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Error, Result, anyhow};

use crate::libraries::{Compiled, Message};
use crate::matrix::compilers::Variable;
use crate::matrix::lock::{LOCK, Lock};
use crate::matrix::recorded::Recorded;
use crate::stop;

/// File name of Cargo's log, in the folder of the package.
const LOG: &str = "log";

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

/// A package, and everything that Cargo needs to build it.
pub struct Job<'a> {
    /// What it builds, for messages.
    pub name: &'a str,
    /// The workspace of the harness, whose `.cargo/config.toml` applies to each build.
    pub bench: &'a Path,
    pub cache: &'a Path,
    /// The finished folder.
    pub place: &'a Path,
    pub target: PathBuf,
    /// Cargo resolves from its packages and all recorded ones.
    pub lock: Lock,
    /// Arguments that select the package and its features.
    pub arguments: &'a [String],
    /// Variables that are removed from the environment, in addition to `FOREIGN`.
    pub foreign: &'a [String],
    pub environment: Vec<Variable>,
    pub write: Write<'a>,
}

/// Writes the package into an empty folder.
type Write<'a> = Box<dyn Fn(&Path) -> Result<()> + 'a>;

/// The name of a folder until it is finished.
pub fn unfinished(place: &Path) -> PathBuf {
    place.with_extension("building")
}

impl Job<'_> {
    /// Makes the folder if it is missing: `build` receives it with the package in it. Returns its
    /// packages, which must be recorded also if it was made earlier.
    pub fn make(
        &self,
        say: &dyn Fn(&str),
        build: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<Lock> {
        if !self.place.exists() {
            let _lock = self.lock_cache(say)?;
            self.fill(say, build)?;
        }
        let lock = Lock::read(&self.place.join(LOCK))?;
        Recorded::read(self.bench)?.check(&lock)?;
        Ok(lock)
    }

    /// Makes the folder, unless another process did while this one waited for the lock.
    fn fill(&self, say: &dyn Fn(&str), build: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        if self.place.exists() {
            return Ok(());
        }
        let log = unfinished(self.place).join(LOG);
        say(&format!("building {}, log: {}", self.name, log.display()));
        let start = Instant::now();
        let folder = self.begin()?;
        build(&folder)?;
        fs::rename(&folder, self.place).with_context(|| self.place.display().to_string())?;
        let seconds = start.elapsed().as_secs_f64();
        say(&format!("built {} in {seconds:.0} s", self.name));
        Ok(())
    }

    /// Locks the cache for one build at a time: a target folder contains only the last program.
    pub fn lock_cache(&self, say: &dyn Fn(&str)) -> Result<File> {
        let path = self.cache.join("lock");
        let file = File::create(&path).with_context(|| path.display().to_string())?;
        if file.try_lock().is_err() {
            say(&format!("waiting for another build: {}", path.display()));
            file.lock()?;
        }
        Ok(file)
    }

    /// Creates the folder, with a package that resolves to recorded packages alone.
    pub fn begin(&self) -> Result<PathBuf> {
        let (folder, lock) = self.resolve()?;
        Recorded::read(self.bench)?.check(&lock)?;
        Ok(folder)
    }

    /// The packages to which it resolves, recorded or not.
    pub fn resolved(&self) -> Result<Lock> {
        let (folder, lock) = self.resolve()?;
        fs::remove_dir_all(folder)?;
        Ok(lock)
    }

    /// Creates the folder and completes the lock in it. Locked versions stay where possible.
    fn resolve(&self) -> Result<(PathBuf, Lock)> {
        let folder = unfinished(self.place);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        (self.write)(&folder)?;
        let path = folder.join(LOCK);
        let begun = Recorded::read(self.bench)?.added_to(self.lock.clone())?;
        fs::write(&path, toml::to_string(&begun)?)?;
        let mut command = self.command("update", &folder)?;
        command.args(["--workspace", "--quiet"]);
        match stop::run(&mut command, drop)?.success() {
            true => Ok((folder, Lock::read(&path)?)),
            false => Err(failure("update", &folder)),
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
            .stderr(File::create(folder.join(LOG))?);
        let foreign = self.foreign.iter().map(String::as_str);
        for variable in FOREIGN.into_iter().chain(foreign) {
            command.env_remove(variable);
        }
        command.envs(self.environment.iter().cloned());
        Ok(command)
    }

    /// The number of packages that a command compiles.
    fn packages(&self, subcommand: &str, folder: &Path) -> Result<usize> {
        let edges = match subcommand {
            "test" => "normal,build,dev",
            _ => "normal,build",
        };
        let mut command = self.command("tree", folder)?;
        command
            .args(["--locked", "--edges", edges, "--prefix", "none"])
            .args(self.arguments)
            .stdout(Stdio::piped());
        let mut all = BTreeSet::new();
        // `name v1.2.3 (more)`
        let status = stop::run(&mut command, |line| {
            all.extend(line.split(" (").next().map(str::to_owned));
        })?;
        match status.success() {
            true => Ok(all.len()),
            false => Err(failure("tree", folder)),
        }
    }

    /// Runs a command on the package in a folder, with more arguments and variables; returns the
    /// program if it built one.
    pub fn run(
        &self,
        subcommand: &str,
        folder: &Path,
        arguments: &[&str],
        variables: Option<Variable>,
        say: &dyn Fn(&str),
    ) -> Result<Option<PathBuf>> {
        let mut command = self.command(subcommand, folder)?;
        command
            .args(["--release", "--locked"])
            .arg("--message-format=json-render-diagnostics")
            .arg("--target-dir")
            .arg(&self.target)
            .args(self.arguments)
            .args(arguments)
            .envs(variables)
            .stdout(Stdio::piped());
        let all = self.packages(subcommand, folder)?;
        let (mut built, mut compiled) = (None, Compiled::new(Some(all)));
        let status = stop::run(&mut command, |line| {
            match serde_json::from_str::<Message>(&line) {
                Ok(message) => {
                    compiled.add(&message);
                    built = message.executable.or(built.take());
                }
                // A line that is not a message of Cargo is output of a test.
                Err(_) if line.starts_with("test ") => say(&line),
                Err(_) => {}
            }
        })?;
        match status.success() {
            true => Ok(built),
            false => Err(failure(subcommand, folder)),
        }
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
