//! Runs a fresh process that answers one request.

use std::{
    io::Write,
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::Serialize;

/// Runs a command with `input` as JSON on its standard input, and returns its standard output. It
/// inherits standard error, and is killed when the thread that started it ends, so that an
/// interrupted run leaves no process.
///
/// # Errors
///
/// The command cannot be started, or exits with a failure.
pub fn answer(mut command: Command, input: &impl Serialize) -> Result<Vec<u8>> {
    let name = command.get_program().to_string_lossy().into_owned();
    let name = name.rsplit('/').next().unwrap_or_default();
    // SAFETY: between fork and exec this makes only one system call, prctl(2), which is
    // async-signal-safe.
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{name} cannot be started"))?;
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
