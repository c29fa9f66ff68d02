//! The functions of Callgrind's profiles: which account for a difference, and which are not cryptography.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use tls_harness::counters::callgrind::instructions;

/// A difference has so many functions at the most.
const MOST: usize = 10;

/// Shares are found after about 15 passes; more than so many are never made.
const PASSES: usize = 1000;

/// A function whose instructions differ, in those of one unit of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    pub name: String,
    pub a: f64,
    pub b: f64,
}

impl Function {
    pub fn change(&self) -> f64 {
        self.b - self.a
    }
}

/// Instructions of each function itself, without those that it calls.
pub type Costs = BTreeMap<String, f64>;

/// The instructions of one process.
#[derive(Debug, Default, PartialEq)]
pub struct Profile {
    pub costs: Costs,
    /// All instructions.
    pub total: f64,
    /// Those of cryptography: of its functions, with all that they call.
    pub cryptography: f64,
}

impl Profile {
    /// Reads a file. The names of functions of cryptography begin with one of `prefixes`.
    pub fn read(path: &Path, prefixes: &[String]) -> Result<Self> {
        let text = std::fs::read(path).with_context(|| path.display().to_string())?;
        Self::parse(&text, prefixes).with_context(|| path.display().to_string())
    }

    /// Reads the lines of the format (<https://valgrind.org/docs/manual/cl-format.html>).
    fn parse(text: &[u8], prefixes: &[String]) -> Result<Self> {
        let total = instructions(text)?;
        let text = String::from_utf8_lossy(text);
        ensure!(
            text.contains("\npositions: line\nevents: Ir\n"),
            "callgrind's profile: expected Ir by lines"
        );
        let mut names: BTreeMap<&str, &str> = BTreeMap::new();
        let mut costs: BTreeMap<&str, u64> = BTreeMap::new();
        let mut calls: BTreeMap<&str, BTreeMap<&str, u64>> = BTreeMap::new();
        let (mut caller, mut called, mut is_call) = ("", "", false);
        for line in text.lines() {
            if let Some(text) = line.strip_prefix("fn=") {
                caller = expanded(&mut names, text);
            } else if let Some(text) = line.strip_prefix("cfn=") {
                called = expanded(&mut names, text);
            } else if line.starts_with("calls=") {
                is_call = true;
            } else if line
                .starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first))
            {
                // A line without a number counts nothing.
                let cost = line.split(' ').nth(1).unwrap_or("0");
                let cost: u64 = cost.parse().with_context(|| {
                    format!("callgrind's profile: found {line:?}, expected a number")
                })?;
                match std::mem::take(&mut is_call) {
                    true => *calls.entry(caller).or_default().entry(called).or_default() += cost,
                    false => *costs.entry(caller).or_default() += cost,
                }
            }
        }
        let sum: u64 = costs.values().sum();
        let outside = outside(&costs, &calls, |name| is_of(name, prefixes));
        let mut shared = Costs::new();
        for (name, cost) in costs {
            *shared.entry(named(name).to_owned()).or_default() += cost as f64;
        }
        ensure!(
            sum == total,
            "callgrind's profile: its functions have {sum} instructions, expected {total}"
        );
        Ok(Self {
            total: total as f64,
            cryptography: total as f64 - outside,
            costs: shared,
        })
    }
}

/// The name of `(1) name`, or of `(1)` after that.
fn expanded<'a>(names: &mut BTreeMap<&'a str, &'a str>, text: &'a str) -> &'a str {
    let (number, name) = text
        .split_once(") ")
        .unwrap_or((text.trim_end_matches(')'), ""));
    match name {
        "" => names.get(number).copied().unwrap_or(text),
        name => {
            names.insert(number, name);
            name
        }
    }
}

/// Instructions outside of cryptography. What cryptography calls is cryptography. A function that it and
/// others call, such as malloc, is shared out by the instructions of their calls, and so is all that it
/// calls. By whole names: without their hashes, a function of Rust for two types would be one.
fn outside(
    costs: &BTreeMap<&str, u64>,
    calls: &BTreeMap<&str, BTreeMap<&str, u64>>,
    is_cryptography: impl Fn(&str) -> bool,
) -> f64 {
    let mut callers: BTreeMap<&str, Vec<(&str, f64)>> = BTreeMap::new();
    let mut shares: BTreeMap<&str, f64> = BTreeMap::new();
    for (&caller, all) in calls {
        for (&called, &cost) in all.iter().filter(|it| *it.0 != caller && *it.1 > 0) {
            let callers = callers.entry(called).or_default();
            callers.push((caller, cost as f64));
        }
    }
    let called = calls.values().flat_map(BTreeMap::keys);
    for &name in costs.keys().chain(calls.keys()).chain(called) {
        shares.insert(name, if is_cryptography(name) { 0.0 } else { 1.0 });
    }
    callers.retain(|name, _| !is_cryptography(name));
    // From callers to those that they call; functions that call each other need several passes.
    for _ in 0..PASSES {
        let mut most = 0.0_f64;
        for (name, callers) in &callers {
            let all: f64 = callers.iter().map(|(_, cost)| cost).sum();
            let outside = callers.iter().map(|(caller, cost)| shares[caller] * cost);
            let share = outside.sum::<f64>() / all;
            let before = shares.insert(name, share).unwrap_or_default();
            most = most.max((share - before).abs());
        }
        if most < 1e-9 {
            break;
        }
    }
    let own = costs.iter().map(|(name, cost)| shares[name] * *cost as f64);
    own.sum::<f64>().round()
}

/// Whether a name begins so, as `aws_lc_rs::` does in `<aws_lc_rs::Key as Drop>::drop`.
fn is_of(name: &str, prefixes: &[String]) -> bool {
    let name = name.trim_start_matches(['<', '&', '*']);
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// A function as both builds call it: without the hash that Rust gives each build, and without the
/// depth of a recursion.
fn named(name: &str) -> &str {
    let name = match name.rsplit_once('\'') {
        Some((name, depth)) if depth.bytes().all(|it| it.is_ascii_digit()) => name,
        _ => name,
    };
    match name.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|it| it.is_ascii_hexdigit()) => {
            path
        }
        _ => name,
    }
}

/// The functions whose instructions differ most.
pub fn differences(a: &Costs, b: &Costs) -> Vec<Function> {
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let cost = |of: &Costs, name: &String| of.get(name).copied().unwrap_or_default();
    let mut all: Vec<Function> = names
        .into_iter()
        .map(|name| Function {
            name: name.clone(),
            a: cost(a, name),
            b: cost(b, name),
        })
        .filter(|it| it.change() != 0.0)
        .collect();
    all.sort_by(|one, other| other.change().abs().total_cmp(&one.change().abs()));
    all.truncate(MOST);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As callgrind 3.19.0 writes it: main calls the protocol, that the provider and malloc, and the
    /// provider malloc and a function without a prefix, which calls the provider again.
    const PROFILE: &str = "# callgrind format
version: 1
creator: callgrind-3.19.0
cmd:  program count

positions: line
events: Ir
summary: 1000

ob=(1) /usr/bin/program
fl=(1) a.c
fn=(1) main
cfn=(2) <rustls::conn::Connection as core::ops::Drop>::drop::h0123456789abcdef
calls=1 10
5 1000

fn=(2)
10 100
cfi=(2) b.c
cfn=(3) <aws_lc_rs::Key as Sign>::sign
calls=2 +3
+1 800
cob=(2) libc.so
cfn=(4) malloc
calls=1 +3
* 100

fn=(3)
20 200
cfn=(4)
calls=1 +3
* 40
cfn=(5) static
calls=1 +3
-2 560

ob=(2)
fn=(4)
30 130
+2
31 10

ob=(1)
fn=(5)
40 300
cfn=(6) aws_lc_0_47_0_SHA256
calls=1 +3
40 260

fn=(6)
50 160
cfn=(7) aws_lc_0_47_0_SHA256'2
calls=1 +3
50 100

fn=(7)
50 100

totals: 1000
";

    fn parsed(text: &str) -> Result<Profile> {
        Profile::parse(text.as_bytes(), &["aws_lc".to_owned()])
    }

    #[test]
    fn a_profile_has_each_functions_own_instructions_by_a_name_that_all_builds_share() {
        let found = parsed(PROFILE).unwrap();
        let expected = [
            ("<rustls::conn::Connection as core::ops::Drop>::drop", 100.0),
            ("<aws_lc_rs::Key as Sign>::sign", 200.0),
            ("malloc", 140.0),
            ("static", 300.0),
            ("aws_lc_0_47_0_SHA256", 260.0),
        ];
        let expected: Costs = expected.map(|(name, cost)| (name.to_owned(), cost)).into();
        assert_eq!((found.costs, found.total), (expected, 1000.0));
        assert_eq!(named("f'name"), "f'name");
        assert_eq!(named("x::h0123456789abcdeg"), "x::h0123456789abcdeg");
        assert_eq!(named("x::habc"), "x::habc");
    }

    #[test]
    fn what_cryptography_calls_is_cryptography_and_counted_once() {
        assert_eq!(parsed(PROFILE).unwrap().cryptography, 800.0);
        let none = Profile::parse(PROFILE.as_bytes(), &[]).unwrap();
        assert_eq!(none.cryptography, 0.0);
    }

    /// As OpenSSL's HMAC_CTX_free: the protocol calls it for 10 instructions, cryptography for 90, and it
    /// calls cryptography.
    #[test]
    fn a_function_that_both_call_is_shared_out_with_what_it_calls() {
        let profile = "# callgrind format\npositions: line\nevents: Ir\nfn=(1) main\n1 100\n\
            cfn=(2) free_both\ncalls=1 1\n1 10\ncfn=(3) aws_lc_derive\ncalls=1 1\n1 190\nfn=(2)\n\
            1 20\ncfn=(4) aws_lc_free\ncalls=9 1\n1 80\nfn=(3)\n1 100\ncfn=(2)\ncalls=9 1\n1 90\n\
            fn=(4)\n1 80\ntotals: 300\n";
        assert_eq!(parsed(profile).unwrap().cryptography, 300.0 - 102.0);
    }

    /// `main` calls `map` of one type and the provider, which calls that of another, which calls it.
    #[test]
    fn one_function_for_two_types_is_two_functions_where_calls_are_followed() {
        let [one, other] = ["h0123456789abcdef", "h0123456789abcde0"];
        let profile = format!(
            "# callgrind format\npositions: line\nevents: Ir\nfn=(1) main\n1 10\ncfn=(2) map::{one}\n\
             calls=1 1\n1 20\ncfn=(3) aws_lc::sign\ncalls=1 1\n1 70\nfn=(2)\n1 20\nfn=(3)\n1 30\n\
             cfn=(4) map::{other}\ncalls=1 1\n1 40\nfn=(4)\n1 15\ncfn=(5) aws_lc::hash\ncalls=1 1\n\
             1 25\nfn=(5)\n1 25\ntotals: 100\n"
        );
        let found = parsed(&profile).unwrap();
        assert_eq!((found.total, found.cryptography), (100.0, 70.0));
        assert_eq!(found.costs["map"], 35.0);
    }

    #[test]
    fn a_profile_that_is_not_understood_is_rejected() {
        for (found, put, said) in [
            ("events: Ir", "events: Ir Dr", "expected Ir by lines"),
            (
                "positions: line",
                "positions: instr line",
                "expected Ir by lines",
            ),
            ("30 130", "30 many", "expected a number"),
            ("30 130", "30 131", "1001 instructions, expected 1000"),
            ("totals: 1000\n", "", "cut off"),
        ] {
            let error = parsed(&PROFILE.replace(found, put)).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
        let error = Profile::read(Path::new("/none"), &[]).unwrap_err();
        assert_eq!(error.to_string(), "/none");
    }

    #[test]
    fn the_largest_differences_come_first() {
        let costs = |all: &[(&str, f64)]| -> Costs {
            all.iter()
                .map(|(name, cost)| ((*name).to_owned(), *cost))
                .collect()
        };
        let a = costs(&[("same", 5.0), ("less", 9.0), ("gone", 1.0)]);
        let b = costs(&[("same", 5.0), ("less", 6.0), ("new", 2.0)]);
        let found = differences(&a, &b);
        let changes: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.change()))
            .collect();
        assert_eq!(changes, [("less", -3.0), ("new", 2.0), ("gone", -1.0)]);
        let many: Costs = (0..20).map(|it| (it.to_string(), f64::from(it))).collect();
        assert_eq!(differences(&Costs::new(), &many).len(), MOST);
    }
}
