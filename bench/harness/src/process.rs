//! Runs a fresh process that answers one request.

use std::{
    env,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdout, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::Serialize;

/// A process that answers a request on its standard output. Dropping it kills the process.
pub struct Running {
    name: String,
    child: Child,
    output: BufReader<ChildStdout>,
}

/// This program with an argument.
pub fn this_program(argument: &str) -> Result<Command> {
    let mut command = Command::new(env::current_exe()?);
    command.arg(argument);
    Ok(command)
}

/// Has the kernel kill the command's process when the thread that started it ends.
pub fn end_with_this_thread(command: &mut Command) {
    // SAFETY: between fork and exec this makes only one system call, prctl(2), which is
    // async-signal-safe.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

/// Starts a command with `input` as JSON on its standard input. It inherits standard error, and is
/// killed when the thread that started it ends, so that an interrupted run leaves no process.
pub fn start(mut command: Command, input: &impl Serialize) -> Result<Running> {
    let name = command.get_program().to_string_lossy().into_owned();
    let name = name.rsplit('/').next().unwrap_or_default().to_owned();
    end_with_this_thread(&mut command);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{name} cannot be started"))?;
    let stdin = child
        .stdin
        .take()
        .context("the process has no standard input")?;
    let output = child
        .stdout
        .take()
        .context("the process has no standard output")?;
    let running = Running {
        name,
        child,
        output: BufReader::new(output),
    };
    serde_json::to_writer(&stdin, input)?;
    (&stdin).flush()?;
    Ok(running)
}

impl Running {
    /// The next line of its output.
    pub fn line(&mut self) -> Result<String> {
        let mut line = String::new();
        if self.output.read_line(&mut line)? == 0 {
            let status = self.child.wait()?;
            ensure!(status.success(), "{}: {status}", self.name);
        }
        ensure!(
            line.ends_with('\n'),
            "{}: found {line:?}, expected a line of output",
            self.name
        );
        Ok(line)
    }

    /// The rest of its output, when it has ended.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "{}: {status}", self.name);
        Ok(rest)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // A process that has ended cannot be killed, and is no longer there to be.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command with `input` as JSON on its standard input, and returns its standard output.
pub fn answer(command: Command, input: &impl Serialize) -> Result<Vec<u8>> {
    start(command, input)?.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_fails_has_no_answer() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        assert_eq!(answer(shell("cat"), &1).unwrap(), b"1");
        assert!(answer(shell("cat; exit 1"), &1).is_err());
        // Each reads its request first.
        for rest in ["exit 1", "printf 1", "kill -9 $$"] {
            let script = format!("cat >/dev/null; {rest}");
            assert!(start(shell(&script), &1).unwrap().line().is_err(), "{rest}");
        }
    }
}
