//! A program without a library, for the runner's tests: it follows the protocol and makes its
//! figures up. It is named after its file. In `suite.toml` beside it, a comment before each
//! scenario states how it must misbehave: `# way: crash`, or how its output differs: `# way: this => that`.

#![allow(
    clippy::disallowed_macros,
    reason = "tlsbench reads what this program prints"
)]

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use jiff::Timestamp;
use tls_harness::implementation::{self, Implementation};
use tls_harness::process;
use tls_harness::record::{
    Block, Measurement, Metric, Observation, Phase, Record, Schema, Statistic, Status, Unit,
};
use tls_harness::request::Request;
use tls_harness::scenario::{Scenario, Side};

fn main() -> Result<()> {
    let mut arguments = std::env::args();
    let name = arguments.next().unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    match arguments.next().as_deref() {
        Some("describe") => describe(name),
        Some("measure") => measure(),
        _ => bail!("expected describe or measure"),
    }
}

fn describe(name: &str) -> Result<()> {
    let implementation = Implementation {
        id: format!("{name}-1.0"),
        rust_compiler: None,
        c_compiler: None,
        allocator: Some("system".to_owned()),
        cpu_mask: implementation::cpu_mask(),
        note: Some("Made up: a test of the runner.".to_owned()),
        ..Implementation::new("rustls", "1.0")?
    };
    println!("{}", serde_json::to_string(&implementation)?);
    Ok(())
}

fn measure() -> Result<()> {
    let start = Instant::now();
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let request: Request = serde_json::from_str(&text).context("request")?;
    let way = way_of(request.block);
    let mut output = String::new();
    match way.as_str() {
        "crash" => bail!("the server's certificate was not verified"),
        "crash-in-round-1" if request.round == 1 => bail!("only this once"),
        "hang-with-child" => {
            let mut child = std::process::Command::new("sleep");
            child.arg("3600");
            process::answer(child, &())?;
        }
        "load" => grow("proc/stat", 1_000_000)?,
        "throttled" => grow(THROTTLED, 1)?,
        "request" => bail!("{text}"),
        "orders" => bail!("\u{1b}]0;title\u{7} \u{1b}[2J\u{9b}1A \u{202e}"),
        "abort" => std::process::abort(),
        "absent" => {
            output += &mark(&request, Status::Absent, start)?;
            print!("{output}");
            return Ok(());
        }
        "no-mark" => {
            print!("{}", measurement(&request, &request.scenario, &way, 1.0)?);
            return Ok(());
        }
        _ => {}
    }
    std::thread::sleep(Duration::from_secs_f64(
        request.measure_seconds + request.warmup_seconds,
    ));
    let mut scenario = request.scenario.clone();
    let rate = 1000.0 + f64::from(request.round % 3);
    if way == "another-scenario" {
        scenario.threads = Some(99);
    }
    output += &measurement(&request, &scenario, &way, rate)?;
    output += &mark(&request, Status::Measured, start)?;
    if let Some((old, new)) = way.split_once(" => ") {
        anyhow::ensure!(output.contains(old), "no {old} in {output}");
        output = output.replacen(old, new, 1);
    }
    if way == "twice" {
        let line = output.split_inclusive('\n').next().unwrap_or_default();
        output = format!("{line}{output}");
    }
    let bytes = output.as_bytes();
    let end = if way == "truncated" {
        bytes.len() - 9
    } else {
        bytes.len()
    };
    std::io::stdout().write_all(&bytes[..end])?;
    match way.as_str() {
        "crash-at-the-end" => bail!("after the last record"),
        _ => Ok(()),
    }
}

/// How to misbehave in a block; empty if nothing is stated.
fn way_of(block: u32) -> String {
    let folder = std::env::current_exe().unwrap_or_default();
    let suite = std::fs::read_to_string(folder.with_file_name("suite.toml")).unwrap_or_default();
    let mut ways = suite
        .lines()
        .filter_map(|line| line.strip_prefix("# way: "));
    ways.nth(block as usize).unwrap_or_default().to_owned()
}

const THROTTLED: &str = "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count";

/// Adds to the first number in a file of the folder `host` beside this program, as a kernel does
/// while a block is measured.
fn grow(file: &str, more: u64) -> Result<()> {
    let path = std::env::current_exe()?.with_file_name("host").join(file);
    let text = std::fs::read_to_string(&path)?;
    let mut words = text.split_whitespace();
    let word = words.find(|word| word.parse::<u64>().is_ok());
    let word = word.context("no number")?;
    let grown = word.parse::<u64>()? + more;
    std::fs::write(path, text.replacen(word, &grown.to_string(), 1))?;
    Ok(())
}

/// Whether this program was started twice before; each start creates a file beside it.
fn third_time() -> Result<bool> {
    let own = std::env::current_exe()?;
    for time in 1..3 {
        let mark = own.with_extension(time.to_string());
        if !mark.exists() {
            std::fs::write(mark, "")?;
            return Ok(false);
        }
    }
    Ok(true)
}

/// Both sides, as lines; one line without a side for a primitive. The rate is inserted as text, so
/// that it may be invalid.
fn measurement(request: &Request, scenario: &Scenario, way: &str, rate: f64) -> Result<String> {
    let mut lines = String::new();
    let stopped = match way {
        "stopped" => true,
        "stopped-twice" => !third_time()?,
        _ => false,
    };
    let has_sides = scenario.operation.has_sides();
    let sides = match has_sides && way != "without-side" {
        true => vec![Some(Side::Client), Some(Side::Server)],
        false => vec![None],
    };
    for side in sides {
        let record = Record::Measurement(Measurement {
            schema: Schema,
            time: Timestamp::now(),
            session: request.session,
            round: request.round,
            layout: request.layout,
            implementation: request.implementation.clone(),
            scenario: scenario.on(side),
            observations: vec![Observation {
                phase: Phase::Total,
                metric: Metric::RATE,
                statistic: Statistic::Value,
                value: 123_456.0,
                unit: match has_sides {
                    true => Unit::HANDSHAKES_PER_SECOND,
                    false => Unit::OPERATIONS_PER_SECOND,
                },
            }],
            operations: 1,
            elapsed_seconds: Some(1.0),
            per_thread: None,
            histogram: None,
            valid: !stopped,
            note: stopped.then(|| "the process was stopped".to_owned()),
        });
        lines += &record.to_line()?.replace("123456.0", &format!("{rate:.1}"));
        lines.push('\n');
    }
    Ok(lines)
}

fn mark(request: &Request, status: Status, start: Instant) -> Result<String> {
    let record = Record::Block(Block {
        schema: Schema,
        time: Timestamp::now(),
        session: request.session,
        round: request.round,
        block: request.block,
        implementation: request.implementation.clone(),
        status,
        reason: (status == Status::Absent).then(|| "has no such thing".to_owned()),
        elapsed_seconds: start.elapsed().as_secs_f64(),
    });
    Ok(record.to_line()? + "\n")
}
