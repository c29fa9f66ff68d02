//! Valgrind's tool callgrind: the requests of the program that it runs, and its profile.
//!
//! The requests are those of `valgrind.h` and `callgrind.h`
//! (<https://valgrind.org/docs/manual/cl-manual.html#cl-manual.clientrequests>): a sequence of
//! instructions that changes nothing, which valgrind knows. Written here, since the packages that
//! wrap them need valgrind's headers to build.

use std::{
    env,
    path::Path,
    process::{Command, Output},
};

use anyhow::{Context, Result, bail, ensure};

use crate::implementation::MASK_VARIABLE;

/// `VG_USERREQ__RUNNING_ON_VALGRIND` of `valgrind.h`.
const RUNNING_ON_VALGRIND: usize = 0x1001;
/// `VG_USERREQ_TOOL_BASE('C', 'T')`, the first request of callgrind.
const CALLGRIND: usize = (b'C' as usize) << 24 | (b'T' as usize) << 16;
const TOGGLE_COLLECT: usize = CALLGRIND + 2;
const START_INSTRUMENTATION: usize = CALLGRIND + 4;

/// glibc's malloc keeps this many freed blocks of each size at hand, instead of 7. The rest
/// goes back to the heap, whose state follows from random numbers and stays for as long as the
/// process lives: the counts of one program then form groups some tenths of a per cent apart
/// (<https://sourceware.org/glibc/manual/latest/html_node/Memory-Allocation-Tunables.html>).
const MALLOC: &str = "glibc.malloc.tcache_count=127";

/// The option that counts locked instructions too.
pub const BUS: &str = "--collect-bus=yes";

/// What the libraries do not see of a processor, as bits of the two words of `OPENSSL_ia32cap`: RDRAND
/// (CPUID.1 ECX, bit 30) and RDSEED (CPUID.7 EBX, bit 18). Valgrind shows both only where the host
/// has them, and with them libraries draw random numbers by other code.
const HIDDEN: [u64; 2] = [1 << 62, 1 << 18];

/// What installs valgrind.
const HOW_TO_INSTALL: &str = "apt-get install valgrind";

/// Makes a request without arguments; 0 if the program does not run under Valgrind.
#[cfg(target_arch = "x86_64")]
fn request(code: usize) -> usize {
    let arguments = [code, 0, 0, 0, 0, 0];
    let mut answer = 0;
    // SAFETY: rdi is turned by 128 bits in all and is what it was; rbx is exchanged with itself.
    // Valgrind reads the six arguments behind rax and writes rdx.
    unsafe {
        std::arch::asm!(
            "rol rdi, 3", "rol rdi, 13", "rol rdi, 61", "rol rdi, 51",
            "xchg rbx, rbx",
            in("rax") &raw const arguments,
            inout("rdx") answer,
            options(nostack),
        );
    }
    answer
}

/// Makes a request without arguments; 0 if the program does not run under Valgrind.
#[cfg(target_arch = "aarch64")]
fn request(code: usize) -> usize {
    let arguments = [code, 0, 0, 0, 0, 0];
    let mut answer = 0;
    // SAFETY: x12 is turned by 128 bits in all and is what it was; x10 is or-ed with itself.
    // Valgrind reads the six arguments behind x4 and writes x3.
    unsafe {
        std::arch::asm!(
            "ror x12, x12, #3", "ror x12, x12, #13", "ror x12, x12, #51", "ror x12, x12, #61",
            "orr x10, x10, x10",
            in("x4") &raw const arguments,
            inout("x3") answer,
            options(nostack),
        );
    }
    answer
}

/// On other processors there is no sequence of instructions for requests.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn request(_: usize) -> usize {
    0
}

/// From now on instructions are followed, and counted while collection is on. Everything before
/// runs much faster.
pub fn start() -> Result<()> {
    ensure!(
        request(RUNNING_ON_VALGRIND) > 0,
        "instructions can only be counted under valgrind, on x86_64 and aarch64"
    );
    request(START_INSTRUMENTATION);
    Ok(())
}

/// Turns collection on or off.
#[inline(always)]
pub fn toggle() {
    request(TOGGLE_COLLECT);
}

/// This program with an argument, to be run under callgrind with more options, with the profile
/// written to standard output.
pub fn this_program(options: &[&str], argument: &str) -> Result<Command> {
    let profile = Path::new("/proc/self/fd/1");
    let own: Vec<_> = env::var(MASK_VARIABLE)
        .map(|mask| (MASK_VARIABLE.to_owned(), mask))
        .into_iter()
        .collect();
    Ok(program(
        options,
        &env::current_exe()?,
        argument,
        profile,
        &own,
    ))
}

/// A program with an argument, to be run under callgrind: with collection and instrumentation off,
/// with a malloc whose cost does not jump, and the profile written to a file when it ends.
/// `environment` is that of its build; what a shell has set for malloc or the processor is not seen.
#[must_use]
pub fn program(
    options: &[&str],
    path: &Path,
    argument: &str,
    profile: &Path,
    environment: &[(String, String)],
) -> Command {
    let mut command = Command::new("valgrind");
    command
        .args([
            // What a user has set for other work must not change the counts.
            "--command-line-only=yes",
            "--tool=callgrind",
            "--quiet",
            // Nobody attaches a debugger.
            "--vgdb=no",
            "--collect-atstart=no",
            "--instr-atstart=no",
        ])
        .args(options)
        .arg(format!("--callgrind-out-file={}", profile.display()))
        .arg(path)
        .arg(argument)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .env("GLIBC_TUNABLES", MALLOC)
        .env(MASK_VARIABLE, mask(environment));
    command
}

/// What hides features of the processor: those that a build masks (`~0x1:~0x2`), and `HIDDEN`.
fn mask(environment: &[(String, String)]) -> String {
    let own = environment.iter().find(|(name, _)| name == MASK_VARIABLE);
    let mut words = own.map_or("", |(_, value)| value).split(':');
    let words = HIDDEN.map(|hidden| {
        let own = words.next().and_then(|word| word.strip_prefix("~0x"));
        let own = own.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        format!("~{:#x}", own.unwrap_or_default() | hidden)
    });
    words.join(":")
}

/// The version of valgrind on this host, such as `3.19.0`.
pub fn version() -> Result<String> {
    let Output { status, stdout, .. } = Command::new("valgrind")
        .arg("--version")
        .output()
        .with_context(|| {
            format!("Valgrind, which counts instructions, is not installed: {HOW_TO_INSTALL}")
        })?;
    let text = String::from_utf8_lossy(&stdout);
    match text.trim().strip_prefix("valgrind-") {
        Some(version) if status.success() => Ok(version.to_owned()),
        _ => bail!("valgrind --version: found {text:?}, expected valgrind- and a number"),
    }
}

/// The processor as valgrind emulates it, which depends on that of the host:
/// `amd64-cx16-lzcnt-rdtscp-sse3-ssse3-avx-avx2-bmi-f16c`. Without RDRAND and RDSEED, which are
/// hidden. Valgrind writes it to its log of debugging level 1.
#[must_use]
pub fn processor() -> Option<String> {
    let mut valgrind = Command::new("valgrind");
    let output = valgrind.args(["--command-line-only=yes", "-d", "--tool=none", "true"]);
    emulated(&String::from_utf8_lossy(&output.output().ok()?.stderr))
}

/// The processor that a log of valgrind names.
fn emulated(log: &str) -> Option<String> {
    let (_, features) = log
        .lines()
        .find_map(|line| line.split_once(", hwcaps = "))?;
    let seen = |it: &&str| !["rdrand", "rdseed"].contains(it);
    Some(
        features
            .split('-')
            .filter(seen)
            .collect::<Vec<_>>()
            .join("-"),
    )
}

/// All instructions that a profile counts: the event `Ir` of the line `totals:`, the last of a
/// complete profile (<https://valgrind.org/docs/manual/cl-format.html>).
pub fn instructions(profile: &[u8]) -> Result<u64> {
    let total = total(profile, "Ir")?;
    ensure!(total > 0, "callgrind counted no instructions");
    Ok(total)
}

/// All instructions with a lock prefix, or that lock without one, which a profile counts: the event
/// `Ge` of `BUS` (<https://valgrind.org/docs/manual/cl-manual.html#opt.collect-bus>).
pub fn locked_instructions(profile: &[u8]) -> Result<u64> {
    instructions(profile)?;
    total(profile, "Ge")
}

/// All events of a kind: those of the line `totals:`, the last of a complete profile
/// (<https://valgrind.org/docs/manual/cl-format.html>).
fn total(profile: &[u8], event: &str) -> Result<u64> {
    let lines = || profile.split(|byte| *byte == b'\n');
    ensure!(
        lines().next() == Some(b"# callgrind format"),
        "callgrind's profile: expected the first line \"# callgrind format\""
    );
    let [events] = valued(lines(), b"events:")?[..] else {
        bail!("callgrind's profile: expected one line \"events:\"");
    };
    let column = events.split_whitespace().position(|it| it == event);
    let column = column.with_context(|| {
        format!("callgrind's profile: events: found {events:?}, expected {event} among them")
    })?;
    let [totals] = valued(lines(), b"totals:")?[..] else {
        bail!("callgrind's profile: expected one line \"totals:\": is it cut off?");
    };
    // Behind the last line's end there is nothing more: else its number may be cut off.
    ensure!(
        profile.ends_with(format!("\ntotals:{totals}\n").as_bytes()),
        "callgrind's profile: expected \"totals:\" as the last line: is it cut off?"
    );
    let total = totals.split_whitespace().nth(column).unwrap_or("0");
    total
        .parse()
        .with_context(|| format!("callgrind's profile: totals: found {total:?}"))
}

/// What follows `key` on the lines that begin with it.
fn valued<'a>(lines: impl Iterator<Item = &'a [u8]>, key: &[u8]) -> Result<Vec<&'a str>> {
    lines
        .filter_map(|line| line.strip_prefix(key))
        .map(|value| std::str::from_utf8(value).context("callgrind's profile: not UTF-8"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As callgrind 3.19.0 writes it.
    const PROFILE: &str = "# callgrind format
version: 1
cmd:  tls-openssl count

positions: line
events: Ir
summary: 1234567

fn=(1) totals: of main
0 1234567
totals: 1234567
";

    #[test]
    fn the_mask_hides_random_instructions_and_keeps_the_mask_of_the_build() {
        let masked = |value: &str| mask(&[(MASK_VARIABLE.to_owned(), value.to_owned())]);
        assert_eq!(mask(&[]), "~0x4000000000000000:~0x40000");
        assert_eq!(
            masked("~0x200000200000000:~0x60000000020"),
            "~0x4200000200000000:~0x60000040020"
        );
        assert_eq!(masked("~0x0:~0x0"), mask(&[]));
        let own = [("ITS_OWN".to_owned(), "1".to_owned())];
        let command = program(&[], Path::new("x"), "count", Path::new("y"), &own);
        let set: Vec<_> = command.get_envs().map(|(name, _)| name).collect();
        assert_eq!(set, ["GLIBC_TUNABLES", "ITS_OWN", MASK_VARIABLE]);
    }

    #[test]
    fn the_emulated_processor_is_that_of_the_log() {
        let log = "--7:1: launcher launching /usr/libexec/valgrind/none-amd64-linux\n\
                   --7:1:    main ... arch = AMD64, hwcaps = amd64-cx16-avx-avx2-rdrand-rdseed\n";
        assert_eq!(emulated(log).as_deref(), Some("amd64-cx16-avx-avx2"));
        assert_eq!(emulated("--7:1:    main"), None);
    }

    /// The profile with these events and totals.
    fn profile(events: &str, totals: &str) -> Vec<u8> {
        let profile = PROFILE.replace("events: Ir", &format!("events: {events}"));
        let totals = format!("\ntotals: {totals}");
        profile.replace("\ntotals: 1234567", &totals).into_bytes()
    }

    #[test]
    fn a_total_is_read_from_the_last_line_at_the_position_of_its_event() {
        for (events, totals, all, locked) in [
            ("Ir", "1234567", Some(1_234_567), None),
            ("Dr Dw Ir sysCount", "7 8 42", Some(42), None),
            ("Dr", "1234567", None, None),
            ("Ir Ge", "42 7", Some(42), Some(7)),
            // Callgrind omits zeros at the end of a line.
            ("Ir Ge", "42", Some(42), Some(0)),
            ("Ir Ge", "0 7", None, None),
            ("Ir", "0", None, None),
            ("Ir", "-1", None, None),
            ("Ir", "1.5", None, None),
            ("Ir", "many", None, None),
            ("Ir", "", None, None),
            ("Ir", "18446744073709551616", None, None),
            ("Ir", "\u{661}", None, None),
        ] {
            let profile = profile(events, totals);
            let found = (
                instructions(&profile).ok(),
                locked_instructions(&profile).ok(),
            );
            assert_eq!(found, (all, locked), "{events}: {totals}");
        }
        let error = locked_instructions(PROFILE.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("expected Ge"), "{error}");
    }

    #[test]
    fn a_profile_cut_at_any_byte_is_rejected() {
        for end in 0..PROFILE.len() {
            assert!(instructions(&PROFILE.as_bytes()[..end]).is_err(), "{end}");
        }
    }

    #[test]
    fn an_output_without_exactly_one_profile_is_rejected() {
        let twice = PROFILE.repeat(2);
        for bytes in [
            twice.as_bytes(),
            b"",
            b"\n",
            b"\0\xff\xfe",
            b"totals: 1\n",
            b"{\"kind\":\"block\"}\n",
        ] {
            assert!(instructions(bytes).is_err());
        }
    }

    /// Whatever single byte is changed, the total is the right one, another number in its own
    /// place, or refused: never a panic.
    #[test]
    fn a_changed_byte_before_the_totals_never_changes_the_total() {
        let start = PROFILE.rfind("totals:").unwrap();
        for position in 0..PROFILE.len() {
            for put in [0, b'\n', b' ', b':', b'9', 0x80, 0xff] {
                let mut bytes = PROFILE.as_bytes().to_vec();
                bytes[position] = put;
                if let Ok(total) = instructions(&bytes) {
                    assert!(
                        total == 1_234_567 || position > start,
                        "{position}: {total}"
                    );
                }
            }
        }
    }

    #[test]
    fn outside_of_valgrind_nothing_is_counted() {
        assert!(start().is_err());
    }
}
