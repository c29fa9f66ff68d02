//! System calls, as strace records them (<https://strace.io>). They are not counted under Valgrind,
//! which makes a system call of each reading of the clock.

use std::{
    env, fs,
    path::PathBuf,
    process::{self, Command},
};

use anyhow::{Context, Result, bail, ensure};

/// The bytes of a mark: a write to a file that does not exist, so the call fails.
const MARK: &[u8] = b"tls-calls-mark";

/// Marks where the count begins or ends, for strace.
pub fn mark() {
    // SAFETY: no file has this number; the call fails and changes nothing.
    unsafe { libc::write(-1, MARK.as_ptr().cast(), MARK.len()) };
}

/// The file in which strace records the calls of one thread; it is removed when it is dropped.
pub struct Trace(PathBuf);

impl Trace {
    pub fn of_this_process() -> Self {
        Self(env::temp_dir().join(format!("tls-kernel-{}", process::id())))
    }

    /// This program with an argument; its first thread is watched.
    pub fn this_program(&self, argument: &str) -> Result<Command> {
        let mut command = Command::new("strace");
        command
            .args(["--quiet=all", "--signal=none", "--output"])
            .arg(&self.0)
            .arg("--")
            .arg(env::current_exe()?)
            .arg(argument);
        Ok(command)
    }

    /// The names of the calls between the marks.
    pub fn calls(&self) -> Result<Vec<String>> {
        let text = fs::read(&self.0).with_context(|| format!("strace: {}", self.0.display()))?;
        calls(&String::from_utf8_lossy(&text))
    }
}

impl Drop for Trace {
    fn drop(&mut self) {
        // What cannot be removed stays in the folder for temporary files.
        let _ = fs::remove_file(&self.0);
    }
}

/// Calls between the marks of a trace: lines such as `getrandom("\x1f", 1, 0) = 1`.
fn calls(text: &str) -> Result<Vec<String>> {
    let mark = format!("write(-1, {:?},", String::from_utf8_lossy(MARK));
    let (mut calls, mut marks) = (Vec::new(), 0_u64);
    for line in text.lines() {
        if line.starts_with(&mark) {
            marks += 1;
        } else if marks % 2 == 1 {
            let name = line.split('(').next().unwrap_or_default();
            let letter = |it: char| it.is_ascii_alphanumeric() || it == '_';
            ensure!(
                line.contains('(') && !name.is_empty() && name.chars().all(letter),
                "strace: found {line:?}, expected a call"
            );
            calls.push(name.to_owned());
        }
    }
    ensure!(
        marks > 0 && marks % 2 == 0,
        "strace: found {marks} marks, expected an even number"
    );
    Ok(calls)
}

/// The version of strace on this host, such as `6.1`.
pub fn version() -> Result<String> {
    let output = Command::new("strace").arg("--version").output().context(
        "strace, which counts calls into the kernel, is not installed: apt-get install strace",
    )?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default();
    match first.rsplit_once("version ") {
        Some((_, version)) if output.status.success() => Ok(version.to_owned()),
        _ => bail!("strace --version: found {first:?}, expected a version"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "\
execve(\"./tls-openssl\", [\"./tls-openssl\", \"count\"], 0x7ffd /* 20 vars */) = 0
write(-1, \"tls-calls-mark\", 14)         = -1 EBADF (Bad file descriptor)
getrandom(\"\\x1f\\x8b\", 2, 0)            = 2
write(-1, \"tls-calls-mark\", 14)         = -1 EBADF (Bad file descriptor)
brk(NULL)                               = 0x55
write(-1, \"tls-calls-mark\", 14)         = -1 EBADF (Bad file descriptor)
mlock(0x7f, 16384)                      = 0
write(1, \"tls-calls-mark\", 14)          = 14
write(-1, \"tls-calls-mark\", 14)         = -1 EBADF (Bad file descriptor)
exit_group(0)                           = ?
";

    #[test]
    fn calls_between_the_marks_are_counted() {
        assert_eq!(calls(TRACE).unwrap(), ["getrandom", "mlock", "write"]);
    }

    #[test]
    fn a_trace_without_a_mark_is_rejected() {
        let lines: Vec<_> = TRACE.lines().collect();
        for end in [0, 1, 2, 6, 8] {
            assert!(calls(&lines[..end].join("\n")).is_err(), "{end}");
        }
    }

    #[test]
    fn a_line_without_a_call_is_rejected() {
        for line in ["resumed>) = 2", "strace: detached", ""] {
            let trace = TRACE.replace("getrandom(\"\\x1f\\x8b\", 2, 0)            = 2", line);
            assert!(calls(&trace).is_err(), "{line}");
        }
    }
}
