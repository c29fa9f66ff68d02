//! The id of a host: given by the user, that of a known host (`data/hosts/`), or derived from its
//! facts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use toml::Table;

use crate::files::sorted;
use crate::id::{EXPECTED, is_id};
use crate::lines;
use crate::manifest::HostFacts;

/// Folder with the descriptions of known hosts, relative to the repository.
pub const KNOWN_HOSTS: &str = "data/hosts";

/// The fields of `data/hosts/<id>.toml` that are compared with a host.
const COMPARED: [&str; 13] = [
    "id",
    "cpu",
    "cpu_model",
    "features",
    "architecture",
    "threads",
    "memory_bytes",
    "virtual",
    "virtualization",
    "machine",
    "kernel",
    "microcode",
    "mitigations",
];

/// The id that the user gives to a host.
pub fn given(text: &str) -> Result<String, String> {
    let id = is_id(text).then(|| text.to_owned());
    id.ok_or_else(|| EXPECTED.to_owned())
}

/// Sets the given id, or the id of the first known host (a file of `folder`) that is not another
/// machine and has the same number of threads and as much memory. Keeps the derived id if there is
/// none.
pub fn identified(mut facts: HostFacts, given: Option<&str>, folder: &Path) -> Result<HostFacts> {
    if let Some(id) = given {
        facts.id = id.to_owned();
        return Ok(facts);
    }
    let is_same = |known: &HostFacts| {
        known.threads.is_some()
            && facts.threads.is_some()
            && close(known.memory_bytes, facts.memory_bytes)
            && another_machine(&facts, known).is_none()
    };
    if let Some(known) = known_hosts(folder)?.into_iter().find(is_same) {
        facts.id = known.id;
    }
    Ok(facts)
}

/// The hosts that the files of a folder describe, sorted by file.
fn known_hosts(folder: &Path) -> Result<Vec<HostFacts>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = sorted(folder)?;
    paths.retain(|path| path.extension().is_some_and(|it| it == "toml"));
    let known = paths.iter().map(|path| known_host(path));
    known.filter_map(Result::transpose).collect()
}

/// The host that a file describes, unless it is empty.
fn known_host(path: &Path) -> Result<Option<HostFacts>> {
    let place = || path.display().to_string();
    let text = fs::read_to_string(path).with_context(place)?;
    // A shell creates this empty file first in `tlsbench host show --format toml > data/hosts/ID.toml`.
    if text.trim().is_empty() {
        return Ok(None);
    }
    let mut host: Table = lines::parse(&place(), &text)?;
    host.retain(|name, _| COMPARED.contains(&name));
    Ok(Some(host.try_into().with_context(place)?))
}

/// Differences in processor, its features, kernel, microcode and mitigations from the known host with
/// this id (a file of `folder`), where both state them.
pub fn changed_since_known(facts: &HostFacts, folder: &Path) -> Result<Vec<String>> {
    let path = folder.join(format!("{}.toml", facts.id));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let Some(known) = known_host(&path)? else {
        return Ok(Vec::new());
    };
    let another = another_model(facts, &known);
    let another = another.map(|why| format!("another processor model under this name, {why}"));
    Ok(another.into_iter().chain(changed(facts, &known)).collect())
}

/// Differences in CPU features, kernel, microcode and mitigations from `before`, where both state
/// them.
pub fn changed(now: &HostFacts, before: &HostFacts) -> Vec<String> {
    let mitigations = before.mitigations.iter();
    let mitigations = mitigations.map(|(name, was)| {
        let is = now.mitigations.get(name);
        (format!("mitigation of {name}"), Some(was), is)
    });
    let (kernel, microcode) = (before.kernel.as_ref(), before.microcode.as_ref());
    let features = |of: &HostFacts| (!of.features.is_empty()).then(|| of.features.join(" "));
    let (had, has) = (features(before), features(now));
    [
        ("features".to_owned(), had.as_ref(), has.as_ref()),
        ("kernel".to_owned(), kernel, now.kernel.as_ref()),
        ("microcode".to_owned(), microcode, now.microcode.as_ref()),
    ]
    .into_iter()
    .chain(mitigations)
    .filter(|(_, was, is)| differ(*was, *is))
    .filter_map(|(name, was, is)| Some(format!("{name} was {}, is {}", was?, is?)))
    .collect()
}

/// Why this is not the same machine as before: all sessions of a run use one machine.
pub fn another_machine(now: &HostFacts, before: &HostFacts) -> Option<String> {
    let is_other = differ(now.machine.as_ref(), before.machine.as_ref());
    let other = || is_other.then(|| "it is another machine of this kind".to_owned());
    another_model(now, before).or_else(other)
}

/// Why this is not the same processor model with as many threads on the same hypervisor. The hash
/// of the machine's id does not show it: it is the image's, from which virtual machines are made.
fn another_model(now: &HostFacts, before: &HostFacts) -> Option<String> {
    let was = |name: &str, was: &str, is: &str| Some(format!("{name} was {was}, is {is}"));
    if now.cpu != before.cpu {
        return was("cpu", &before.cpu, &now.cpu);
    }
    if let (Some(is), Some(then)) = (&now.cpu_model, &before.cpu_model) {
        let (own, others) = (parts(is), parts(then));
        if own
            .iter()
            .any(|(name, value)| others.get(name).is_some_and(|it| it != value))
        {
            return was("cpu model", then, is);
        }
    }
    if differ(now.threads, before.threads) {
        return Some("it has another number of threads".to_owned());
    }
    let is_other = differ(now.is_virtual, before.is_virtual)
        || differ(now.virtualization.as_ref(), before.virtualization.as_ref());
    is_other.then(|| "it has another hypervisor".to_owned())
}

/// The numbers of `family 6, model 94, stepping 3` by their names; also of what people write, such
/// as `family 6, model 94 (Skylake)`.
fn parts(cpu_model: &str) -> BTreeMap<&str, &str> {
    let parts = cpu_model.split(", ").map(|part| part.split(" (").next());
    parts
        .flatten()
        .filter_map(|part| part.rsplit_once(' '))
        .collect()
}

/// Whether both are present and differ.
fn differ<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

/// A slug such as `amd-epyc-family-25-model-17-2-cores-vm`: hypervisors hide the processor's name,
/// so that several models have one.
pub fn derived_id(facts: &HostFacts) -> String {
    let mut words = facts.cpu.to_lowercase();
    for mark in ["(r)", "(tm)", "®", "™"] {
        words = words.replace(mark, " ");
    }
    // Intel appends the nominal frequency to the name.
    let name = words.split('@').next().unwrap_or_default().to_owned();
    let mut id = name;
    let is_virtual = facts.is_virtual == Some(true);
    if is_virtual || !id.contains(|c: char| c.is_ascii_digit()) {
        let numbers = parts(facts.cpu_model.as_deref().unwrap_or_default());
        for name in ["family", "model"] {
            if let Some(number) = numbers.get(name) {
                let _ = write!(id, " {name} {number}");
            }
        }
    }
    if let Some(cores) = facts.cores {
        let _ = write!(id, " {cores} cores");
    }
    if is_virtual {
        id.push_str(" vm");
    }
    let spaced: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' })
        .collect();
    spaced.split_whitespace().collect::<Vec<_>>().join("-")
}

/// Whether memory sizes differ by at most 5%: the kernel reserves a part, and people write the
/// nominal size.
fn close(a: Option<u64>, b: Option<u64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) <= a.max(b) / 20,
        _ => false,
    }
}
