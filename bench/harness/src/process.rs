//! A fresh process that answers one request.

use std::{
    io::Write,
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::Serialize;

/// Runs a command with `input` as JSON on its standard input; what it writes to its standard
/// output. Its standard error is this program's. It ends with the thread that waits for it: a run
/// that was stopped leaves no process.
///
/// # Errors
/// It can't be started, or fails.
pub fn answer(mut command: Command, input: &impl Serialize) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let name = name.rsplit('/').next().unwrap_or_default();
    // SAFETY: between fork and exec only one async-signal-safe system call is made, prctl(2).
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{name} can't be started"))?;
    let stdin = child
        .stdin
        .take()
        .context("the process has no standard input")?;
    serde_json::to_writer(&stdin, input)?;
    (&stdin).flush()?;
    drop(stdin);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{name}: {}", output.status);
    Ok(output.stdout)
}
