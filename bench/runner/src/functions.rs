//! Which functions account for a difference: the output of `callgrind_annotate` for two profiles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// A difference has so many functions at the most.
const MOST: usize = 10;

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

/// Instructions of each function itself, without those that it calls, per unit of work.
pub type Costs = BTreeMap<String, f64>;

/// The functions of a profile, with the amount of work that it covers.
pub fn costs(profile: &Path, work: f64) -> Result<Costs> {
    let output = Command::new("callgrind_annotate")
        .args(["--threshold=100", "--auto=no", "--show-percs=no"])
        .arg(profile)
        .output()
        .context("callgrind_annotate: it comes with valgrind: apt-get install valgrind")?;
    ensure!(
        output.status.success(),
        "callgrind_annotate: {}: {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let mut costs = read(&String::from_utf8_lossy(&output.stdout))?;
    for cost in costs.values_mut() {
        *cost /= work;
    }
    Ok(costs)
}

/// Reads the lines `1,234  FILE:FUNCTION [PROGRAM]` below the heading that ends with
/// `file:function`.
fn read(text: &str) -> Result<Costs> {
    let mut lines = text.lines();
    let heading = lines.by_ref().find(|it| it.ends_with("file:function"));
    ensure!(
        heading.is_some_and(|it| it.starts_with("Ir ")),
        "callgrind_annotate: expected a list of functions by Ir"
    );
    let mut costs = Costs::new();
    for line in lines.filter(|it| !it.starts_with("--")) {
        let line = line.trim();
        if line.is_empty() {
            break;
        }
        let (number, place) = line.split_once(' ').unwrap_or((line, ""));
        // A point stands for a function that counts nothing itself.
        let number = if number == "." { "0" } else { number };
        let cost: f64 = number
            .replace(',', "")
            .parse()
            .with_context(|| format!("callgrind_annotate: found {line:?}, expected a number"))?;
        *costs.entry(named(place).to_owned()).or_default() += cost;
    }
    ensure!(
        !costs.is_empty(),
        "callgrind_annotate: found no function, expected some"
    );
    Ok(costs)
}

/// The function of `FILE:FUNCTION [PROGRAM]`, as both builds call it: without the hash that Rust
/// gives each build, and without the depth of a recursion.
fn named(place: &str) -> &str {
    let place = place.trim();
    let (place, _) = place.rsplit_once(" [").unwrap_or((place, ""));
    let (_, name) = place.split_once(':').unwrap_or(("", place));
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

    /// As callgrind_annotate 3.19.0 prints it.
    const LIST: &str = "\
--------------------------------------------------------------------------------
Profile data file 'a.out' (creator: callgrind-3.19.0)
--------------------------------------------------------------------------------
Events recorded:  Ir
Events shown:     Ir
Thresholds:       100
Auto-annotation:  off

--------------------------------------------------------------------------------
Ir          
--------------------------------------------------------------------------------
16,000,300  PROGRAM TOTALS

--------------------------------------------------------------------------------
Ir          file:function
--------------------------------------------------------------------------------
12,000,000  ???:aes_gcm_enc [/usr/bin/x]
 3,000,000  ???:<rustls::conn::Connection as core::ops::Drop>::drop::h0123456789abcdef [/usr/bin/x]
 1,000,000  ./malloc/malloc.c:_int_free [/usr/lib/libc.so.6]
       200  ./malloc/malloc.c:_int_free'2 [/usr/lib/libc.so.6]
       100  /build/a.c:f
        50  ./a.c:f'name [/usr/bin/x]
        40  ???:x::h0123456789abcdeg [/usr/bin/x]
        30  ???:x::habc [/usr/bin/x]
         .  ./csu/libc_start.h:(below main) [/usr/lib/libc.so.6]

";

    #[test]
    fn names_of_functions_have_no_hashes_that_differ_between_builds() {
        let costs = read(LIST).unwrap();
        let expected = [
            ("<rustls::conn::Connection as core::ops::Drop>::drop", 3e6),
            ("_int_free", 1_000_200.0),
            ("aes_gcm_enc", 12e6),
            ("f", 100.0),
            ("f'name", 50.0),
            ("x::h0123456789abcdeg", 40.0),
            ("x::habc", 30.0),
            ("(below main)", 0.0),
        ];
        let expected: Costs = expected.map(|(name, cost)| (name.to_owned(), cost)).into();
        assert_eq!(costs, expected);
    }

    #[test]
    fn the_costs_of_a_profile_are_divided_by_the_units_of_work() {
        let folder = tempfile::tempdir().unwrap();
        let profile = folder.path().join("profile");
        let text = "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npositions: line\n\
                    events: Ir\n\nob=/usr/bin/x\nfl=a.c\nfn=f\n1 300\nfn=g\n2 100\n\n\
                    totals: 400\n";
        std::fs::write(&profile, text).unwrap();
        let expected: Costs = [("f", 75.0), ("g", 25.0)]
            .map(|(name, cost)| (name.to_owned(), cost))
            .into();
        assert_eq!(costs(&profile, 4.0).unwrap(), expected);
        assert!(costs(&folder.path().join("none"), 4.0).is_err());
    }

    #[test]
    fn text_that_is_not_a_list_of_functions_is_rejected() {
        for text in [
            "".to_owned(),
            LIST.replace("Ir          file", "Dr          file"),
            LIST.replace("12,000,000", "many"),
            LIST.split("12,000").next().unwrap().to_owned(),
        ] {
            assert!(read(&text).is_err(), "{text}");
        }
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
