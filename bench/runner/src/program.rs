//! Runs a library's program: it describes itself, or measures one block in a fresh process.
//! `docs/design.md` specifies the protocol.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use tls_harness::counters;
use tls_harness::implementation::{Implementation, MASK_VARIABLE};
use tls_harness::process::end_with_this_thread;
use tls_harness::record::Record;
use tls_harness::request::Request;
use tls_harness::scenario::{Scenario, Side};

use crate::block;
use crate::files::sha256;
use crate::stop::{self, Waited};

/// `describe` only reads constants of the binary.
const DESCRIBE_TIMEOUT: Duration = Duration::from_secs(30);

/// The program of one implementation.
#[derive(Clone)]
pub struct Program {
    path: PathBuf,
    /// Variables that are added to its environment.
    environment: Vec<(String, String)>,
    pub implementation: Implementation,
}

/// The result of a block's process.
pub struct Measured {
    /// The records of the block, or the reason for its failure.
    pub outcome: std::result::Result<Kept, String>,
    pub elapsed: Duration,
    /// Processor time of the runner while the process ran.
    pub runner_cpu: Duration,
}

pub struct Kept {
    /// The lines that the program wrote; the block mark is the last.
    pub lines: Vec<u8>,
    pub records: Vec<Record>,
}

impl Measured {
    /// The reason why its figures must not count, if so.
    pub fn invalid(&self) -> Option<&str> {
        let kept = self.outcome.as_ref().ok()?;
        kept.records.iter().find_map(|record| match record {
            Record::Measurement(it) if !it.valid => {
                Some(it.note.as_deref().unwrap_or("invalid without a reason"))
            }
            _ => None,
        })
    }
}

/// An ended process and its output.
struct Ended {
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: String,
    elapsed: Duration,
    runner_cpu: Duration,
}

impl Program {
    /// Runs `describe` of the program at `path`; errors contain `name`.
    pub fn describe(path: PathBuf, name: &str, environment: Vec<(String, String)>) -> Result<Self> {
        let binary = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let ended = run(&path, &environment, "describe", b"", DESCRIBE_TIMEOUT)
            .with_context(|| format!("{name} describe"))?;
        if let Some(reason) = ended.failure(DESCRIBE_TIMEOUT) {
            bail!("{name} describe: {reason}");
        }
        let mut implementation: Implementation = serde_json::from_slice(&ended.stdout)
            .with_context(|| format!("{name} describe: expected one implementation in JSON"))?;
        implementation.binary_sha256 = Some(sha256(&binary));
        Ok(Self {
            path,
            environment,
            implementation,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same implementation with the program at `path`, which is linked in another layout.
    pub fn linked_as(&self, path: PathBuf) -> Result<Self> {
        let binary = std::fs::read(&path).with_context(|| path.display().to_string())?;
        let mut other = self.clone();
        other.path = path;
        other.implementation.binary_sha256 = Some(sha256(&binary));
        Ok(other)
    }

    /// Measures one block in a fresh process, and kills it after `timeout`.
    pub fn measure(&self, request: &Request, timeout: Duration) -> Result<Measured> {
        let text = serde_json::to_vec(request)?;
        let ended = run(&self.path, &self.environment, "measure", &text, timeout)
            .with_context(|| format!("{} measure", self.implementation.id))?;
        let outcome = match ended.failure(timeout) {
            Some(reason) => Err(reason),
            None => block::parsed(&ended.stdout, request).map(|records| Kept {
                lines: ended.stdout,
                records,
            }),
        };
        Ok(Measured {
            outcome,
            elapsed: ended.elapsed,
            runner_cpu: ended.runner_cpu,
        })
    }

    /// Writes Callgrind's profile of one role's operations to a file. Returns the amount of work in
    /// it: handshakes, MiB or operations.
    pub fn profile(&self, scenario: &Scenario, side: Option<Side>, file: &Path) -> Result<f64> {
        counters::profile(&self.path, &self.environment, scenario, side, file)
            .with_context(|| format!("{}, {}", self.implementation.id, scenario.name()))
    }

    /// Allocations of one role's operations, each, and the most bytes of a step that were allocated
    /// at once; none if the allocator is not glibc's.
    pub fn allocations(&self, scenario: &Scenario, side: Option<Side>) -> Result<Option<[f64; 2]>> {
        if self.implementation.allocator.as_deref() != Some(counters::calls::ALLOCATOR) {
            return Ok(None);
        }
        counters::allocations(&self.path, &self.environment, scenario, side)
            .map(Some)
            .with_context(|| format!("{}, {}", self.implementation.id, scenario.name()))
    }
}

impl Ended {
    /// Why the process failed, if it did: how it ended, and the last line that it printed.
    fn failure(&self, timeout: Duration) -> Option<String> {
        let how = match self.status {
            Some(status) if status.success() => return None,
            Some(status) => match (status.code(), status.signal()) {
                (Some(code), _) => format!("exit status {code}"),
                (None, Some(signal)) => format!("killed by signal {signal}"),
                (None, None) => status.to_string(),
            },
            None => format!("hung: killed after {:.1} s", timeout.as_secs_f64()),
        };
        let words = self.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let words: String = words.chars().take(500).collect();
        Some(if words.is_empty() {
            how
        } else {
            format!("{how}: {words}")
        })
    }
}

/// Runs a program with `input` on its standard input until it ends or `timeout` passes. Its output
/// goes to memory files, so the runner needs no thread to read it, sleeps until the end and adds no
/// load to the measurement.
fn run(
    path: &Path,
    environment: &[(String, String)],
    argument: &str,
    input: &[u8],
    timeout: Duration,
) -> Result<Ended> {
    let mut stdout = File::from(memfd_create("stdout", MemfdFlags::CLOEXEC)?);
    let mut stderr = File::from(memfd_create("stderr", MemfdFlags::CLOEXEC)?);
    let mut stdin = File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?);
    stdin.write_all(input)?;
    stdin.rewind()?;
    let mut command = Command::new(path);
    command
        .arg(argument)
        // What a shell has set for other work is neither measured nor recorded.
        .env_remove(MASK_VARIABLE)
        .env_remove("GLIBC_TUNABLES")
        .envs(environment.iter().map(|(name, value)| (name, value)))
        // Output of the program becomes a reason in the records, which must not contain paths of
        // this machine.
        .env("RUST_BACKTRACE", "0")
        .env("RUST_LIB_BACKTRACE", "0")
        .stdin(Stdio::from(stdin))
        .stdout(Stdio::from(stdout.try_clone()?))
        .stderr(Stdio::from(stderr.try_clone()?))
        .process_group(0);
    // No leftover program disturbs a resumed run.
    end_with_this_thread(&mut command);
    let start = Instant::now();
    let mut child = command
        .spawn()
        .with_context(|| path.display().to_string())?;
    let cpu_before = processor_time();
    let pid = Pid::from_child(&child);
    let waited = stop::wait(&pidfd_open(pid, PidfdFlags::empty())?, Some(timeout))?;
    let elapsed = start.elapsed();
    let runner_cpu = processor_time().saturating_sub(cpu_before);
    // Also kills the program's child processes, even if the program ended by itself.
    let _ = kill_process_group(pid, Signal::KILL);
    let status = child.wait()?;
    if waited == Waited::Stopped {
        stop::check()?;
    }
    let contents = |file: &mut File| -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Ok(Ended {
        status: (waited == Waited::Ended).then_some(status),
        stdout: contents(&mut stdout)?,
        stderr: String::from_utf8_lossy(&contents(&mut stderr)?).into_owned(),
        elapsed,
        runner_cpu,
    })
}

/// Processor time of all threads of the runner; zero if the kernel records none. It is the first
/// number of `/proc/self/task/*/schedstat`, in nanoseconds (the kernel's
/// `Documentation/scheduler/sched-stats.rst`).
fn processor_time() -> Duration {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else {
        return Duration::ZERO;
    };
    let nanoseconds = threads
        .flatten()
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok())
        .filter_map(|stat| stat.split_whitespace().next()?.parse::<u64>().ok())
        .sum();
    Duration::from_nanos(nanoseconds)
}
