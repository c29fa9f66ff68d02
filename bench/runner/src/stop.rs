//! Ctrl-C and SIGTERM. The first one ends the processes of this program, which then reports what it
//! keeps; the second one kills it at once.

use std::io::{self, BufRead as _, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::process::{
    Pid, PidfdFlags, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid,
};
use tls_harness::process::end_with_this_thread;

/// The signal that arrived, or 0.
static SIGNAL: AtomicU8 = AtomicU8::new(0);

/// Readable once a signal arrived.
static EVENT: LazyLock<io::Result<OwnedFd>> =
    LazyLock::new(|| Ok(eventfd(0, EventfdFlags::CLOEXEC)?));

/// Why a wait ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Waited {
    /// The process did.
    Ended,
    /// The time passed.
    Late,
    Stopped,
}

extern "C" fn received(signal: i32) {
    SIGNAL.store(u8::try_from(signal).unwrap_or(u8::MAX), Ordering::Relaxed);
    if let Ok(event) = &*EVENT {
        let _ = rustix::io::write(event, &1_u64.to_ne_bytes());
    }
}

/// Begins to accept signals, except those that the caller has this program ignore.
pub fn listen() -> Result<()> {
    if let Err(error) = &*EVENT {
        bail!("eventfd: {error}");
    }
    let handler = SigHandler::Handler(received);
    let once = SigAction::new(handler, SaFlags::SA_RESETHAND, SigSet::empty());
    for signal in [Signal::SIGINT, Signal::SIGTERM] {
        // SAFETY: the handler makes an atomic store and one system call, write(2), which is
        // async-signal-safe.
        let before = unsafe { sigaction(signal, &once)? };
        if matches!(before.handler(), SigHandler::SigIgn) {
            // SAFETY: as above; this restores what was there.
            unsafe { sigaction(signal, &before)? };
        }
    }
    Ok(())
}

/// Ends this program silently when nobody reads its output any more, as `head` does.
pub fn end_with_reader() {
    // SAFETY: this sets no handler.
    let _ = unsafe { nix::sys::signal::signal(Signal::SIGPIPE, SigHandler::SigDfl) };
}

/// The signal that arrived.
pub fn signal() -> Option<u8> {
    Some(SIGNAL.load(Ordering::Relaxed)).filter(|it| *it != 0)
}

/// Fails if a signal arrived.
pub fn check() -> Result<()> {
    match signal() {
        Some(signal) => bail!("stopped by signal {signal}"),
        None => Ok(()),
    }
}

/// Sleeps, unless a signal arrives.
pub fn sleep(time: Duration) -> Result<()> {
    waited(None, Some(time)).and_then(|_| check())
}

/// Waits for the end of a process.
pub fn wait(process: &OwnedFd, most: Option<Duration>) -> Result<Waited> {
    waited(Some(process), most)
}

fn waited(process: Option<&OwnedFd>, most: Option<Duration>) -> Result<Waited> {
    let deadline = most.map(|it| Instant::now() + it);
    let all: Vec<&OwnedFd> = process.into_iter().chain(EVENT.as_ref().ok()).collect();
    loop {
        let mut all: Vec<_> = all
            .iter()
            .map(|it| PollFd::new(it, PollFlags::IN))
            .collect();
        let left = deadline.map(|it| it.saturating_duration_since(Instant::now()));
        let left = left.map(Timespec::try_from).transpose()?;
        let ready = match poll(&mut all, left.as_ref()) {
            Err(rustix::io::Errno::INTR) => continue,
            ready => ready?,
        };
        return Ok(match process {
            Some(_) if !all[0].revents().is_empty() => Waited::Ended,
            _ if ready > 0 => Waited::Stopped,
            _ => Waited::Late,
        });
    }
}

/// Runs a command to its end, or ends it with all that it started when a signal arrives. `line`
/// receives the lines of its standard output, if that is a pipe.
pub fn run(command: &mut Command, mut line: impl FnMut(String)) -> Result<ExitStatus> {
    let name = command.get_program().display().to_string();
    end_with_this_thread(command.stdin(Stdio::null()).process_group(0));
    let mut child = command.spawn().with_context(|| match name.as_str() {
        "cargo" => {
            "cargo does not start; Rust builds the libraries' programs: rustup.rs".to_owned()
        }
        _ => name,
    })?;
    let group = Pid::from_child(&child);
    let process = pidfd_open(group, PidfdFlags::empty())?;
    let read = std::thread::scope(|scope| -> io::Result<()> {
        scope.spawn(|| {
            if let Ok(Waited::Stopped) = wait(&process, None) {
                let _ = kill_process_group(group, rustix::process::Signal::TERM);
                // A stopped process receives the signal only when it goes on.
                let _ = kill_process_group(group, rustix::process::Signal::CONT);
                // While its first process is not collected, no other group has its number.
                let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                let _ = waitid(WaitId::Pid(group), ended);
                let _ = kill_process_group(group, rustix::process::Signal::KILL);
            }
        });
        let output = child.stdout.take().map(BufReader::new);
        for text in output.into_iter().flat_map(BufReader::lines) {
            line(text?);
        }
        Ok(())
    });
    let status = child.wait()?;
    check()?;
    read?;
    Ok(status)
}
