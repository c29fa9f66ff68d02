//! No two files of the harness or of the runner name each other, directly or through others; the
//! compiler accepts such circles. The harness also has floors: a module names only modules of floors
//! above its own.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// From the top; `*` is each module that is not listed. What is inside a module may use the rest of
/// it, but two modules of a floor do not use each other: no kind of work needs another.
const FLOORS: [&[&str]; 13] = [
    &[
        "allocator",
        "binary",
        "clock",
        "hex",
        "interposed",
        "presence",
        "process",
        "scenario",
    ],
    &["certificates", "implementation", "record", "wire"],
    &["chain", "latency", "request", "transport"],
    &["early_data", "library"],
    &["noop", "session"],
    &["copy"],
    &[
        "workloads::growth",
        "workloads::threads",
        "workloads::workload",
    ],
    &["workloads::timed"],
    &[KINDS],
    &["workloads"],
    &["check", "counters"],
    &["block"],
    &["program"],
];

const KINDS: &str = "workloads::*";

/// The modules that may name a kind; all others find it by its operation.
const NAME_KINDS: [&str; 3] = ["workloads", "check", "program"];

/// The code of each file without comments and tests, by its module: `workloads::set_up::kept`.
fn sources(folder: &Path, prefix: &[String], found: &mut BTreeMap<Vec<String>, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let module = match name.as_str() {
            "mod" => prefix.to_vec(),
            _ => [prefix, std::slice::from_ref(&name)].concat(),
        };
        if path.is_dir() {
            sources(&path, &module, found);
        } else if !["lib", "tests"].contains(&name.as_str()) {
            let text = fs::read_to_string(path).unwrap();
            let code = without_tests(&text);
            let lines = code.lines().map(|line| line.split("//").next().unwrap());
            found.insert(module, lines.collect::<Vec<_>>().join("\n"));
        }
    }
}

/// Without modules of tests, which may name everything.
fn without_tests(text: &str) -> String {
    let text = text.replace("#[cfg(test)]\npub mod ", "#[cfg(test)]\nmod ");
    let mut parts = text.split("#[cfg(test)]\nmod ");
    let code = parts.next().map(str::to_owned);
    let rest = parts.map(|part| {
        let is_file = part.lines().next().is_some_and(|it| it.ends_with(';'));
        let end = if is_file { ";\n" } else { "\n}\n" };
        part.split_once(end).map_or("", |it| it.1).to_owned()
    });
    code.into_iter().chain(rest).collect()
}

fn is_name(it: char) -> bool {
    it.is_alphanumeric() || it == '_'
}

/// Names, `::` and other single signs.
fn tokens(code: &str) -> Vec<&str> {
    let mut rest = code.trim_start();
    let mut tokens = Vec::new();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_name(first) => rest.find(|it| !is_name(it)).unwrap_or(rest.len()),
            _ if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        tokens.push(token);
        rest = after.trim_start();
    }
    tokens
}

/// The paths of a code as their names, those of a list one by one.
fn paths(code: &str) -> Vec<Vec<&str>> {
    let tokens = tokens(code);
    let mut found = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    let mut opened = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let continues = index > 0 && tokens[index - 1] == "::";
        match *token {
            "::" => continue,
            "{" if continues => opened.push(path.clone()),
            "{" => opened.push(Vec::new()),
            "}" => drop(opened.pop()),
            name if continues => path.push(name),
            name => path = [opened.last().map_or(&[][..], Vec::as_slice), &[name]].concat(),
        }
        let is_end = tokens.get(index + 1) != Some(&"::");
        if is_end && (token.starts_with(is_name) || *token == "*") {
            found.push(path.clone());
        }
    }
    found
}

/// The other modules that a module names, in a `use` or in a path.
fn named(module: &[String], code: &str, all: &[Vec<String>]) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for path in paths(code).into_iter().filter(|it| it.len() > 1) {
        let mut full = module.to_vec();
        for name in path {
            match name {
                "crate" => full.clear(),
                "super" => drop(full.pop()),
                "self" => {}
                name => full.push(name.to_owned()),
            }
        }
        let mut lengths = (1..=full.len()).rev();
        let length = lengths.find(|length| all.contains(&full[..*length].to_vec()));
        found.extend(length.map(|length| full[..length].to_vec()));
    }
    found.remove(module);
    found
}

/// The floor of a module, and the listed name that it is a part of.
fn floor(module: &[String]) -> (usize, String) {
    let lengths = (1..=module.len()).rev();
    let mut places = lengths.flat_map(|length| {
        let name = module[..length].join("::");
        let any = [&module[..length - 1], &["*".to_owned()]]
            .concat()
            .join("::");
        [(name.clone(), name.clone()), (any, name)]
    });
    let place = places.find_map(|(listed, name)| {
        let floor = FLOORS.iter().position(|it| it.contains(&&*listed))?;
        Some((floor, name))
    });
    place.unwrap_or_else(|| panic!("{} is on no floor", module.join("::")))
}

/// The modules that each module names.
type Arrows = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

fn arrows(sources: &BTreeMap<Vec<String>, String>) -> Arrows {
    let all: Vec<_> = sources.keys().cloned().collect();
    let of = |(module, code): (&Vec<String>, &String)| (module.clone(), named(module, code, &all));
    sources.iter().map(of).collect()
}

/// The arrows that do not go up to a floor above.
fn not_above(arrows: &Arrows) -> Vec<String> {
    let mut faults = Vec::new();
    for (from, named) in arrows {
        let (own_floor, own) = floor(from);
        for to in named {
            let (other_floor, other) = floor(to);
            let (from, to) = (from.join("::"), to.join("::"));
            if own != other && other_floor >= own_floor {
                faults.push(format!("{from} names {to}, which is not above it"));
            }
            let is_kind = FLOORS[other_floor].contains(&KINDS);
            if own != other && is_kind && !NAME_KINDS.contains(&&*own) {
                faults.push(format!("{from} names the kind {to}"));
            }
        }
    }
    faults
}

fn circles(arrows: &Arrows) -> Vec<String> {
    let is_in_circle = |from: &&Vec<String>| {
        let mut reached = BTreeSet::new();
        let mut next: Vec<_> = arrows[*from].iter().collect();
        while let Some(module) = next.pop() {
            if reached.insert(module) {
                next.extend(&arrows[module]);
            }
        }
        reached.contains(*from)
    };
    let found = arrows.keys().filter(is_in_circle);
    found
        .map(|it| format!("{} is in a circle", it.join("::")))
        .collect()
}

/// The arrows of a crate with more than `least` files.
fn of_crate(folder: &str, least: usize) -> Arrows {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = BTreeMap::new();
    sources(&source, &[], &mut found);
    assert!(found.len() > least, "{:?}", found.keys());
    arrows(&found)
}

#[test]
fn a_file_of_the_harness_names_only_files_above_it() {
    let arrows = of_crate("src", 50);
    assert_eq!(not_above(&arrows), [""; 0]);
    assert_eq!(circles(&arrows), [""; 0]);
}

#[test]
fn no_file_of_the_runner_names_one_that_names_it() {
    assert_eq!(circles(&of_crate("../runner/src", 40)), [""; 0]);
}

#[test]
fn an_arrow_upwards_and_a_circle_are_found_wherever_a_module_is_named() {
    let names = |module: &str| module.split("::").map(str::to_owned).collect::<Vec<_>>();
    let up = "record names session, which is not above it";
    for (module, code, expected) in [
        ("record", "use crate::session;", up),
        ("record", "use crate::{hex, session::{self, Pair}};", up),
        ("record", "use super::session::Pair;", up),
        ("record", "fn f() { crate::session::run() }", up),
        ("record", "ensure!(crate::session::run());", up),
        (
            "workloads::memory",
            "use super::transfer;",
            "workloads::memory names workloads::transfer, which is not above it",
        ),
        (
            "session",
            "use crate::{record, scenario::{words::Side}, hex};",
            "",
        ),
        (
            "counters",
            "use crate::workloads::transfer::Batch;",
            "counters names the kind workloads::transfer",
        ),
        ("scenario", "use words::Side;", "scenario is in a circle"),
        (
            "session",
            "use crate::record; struct Session; fn session() {}",
            "",
        ),
    ] {
        let mut sources: BTreeMap<_, _> = ["hex", "session", "record", "workloads::transfer"]
            .map(|it| (names(it), String::new()))
            .into();
        sources.insert(names("scenario::words"), "use super::Scenario;".to_owned());
        sources.insert(names("scenario"), String::new());
        sources.insert(names(module), code.to_owned());
        let arrows = arrows(&sources);
        let found = [not_above(&arrows), circles(&arrows)].concat();
        let first = found.first().map_or("", String::as_str);
        assert_eq!(first, expected, "{code}");
    }
}
