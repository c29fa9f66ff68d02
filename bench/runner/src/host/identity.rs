//! The id of a host: given by the user, that of a known host (`data/hosts/`), or derived from its
//! facts.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::manifest::HostFacts;

/// Folder with the descriptions of known hosts, relative to the repository.
pub const KNOWN_HOSTS: &str = "data/hosts";

/// `data/hosts/<id>.toml`: the fields that identify a host.
#[derive(Deserialize)]
struct KnownHost {
    id: String,
    cpu: String,
    threads: Option<u32>,
    memory_bytes: Option<u64>,
    machine: Option<String>,
    kernel: Option<String>,
    microcode: Option<String>,
    #[serde(default)]
    mitigations: BTreeMap<String, String>,
}

/// Longest id in the schema: an id is part of file names, which have at most 255 bytes.
pub const LONGEST_ID: usize = 200;

/// Checks an id that the user gives to a host.
pub fn check_id(id: &str) -> Result<()> {
    let identifier = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let known = |c: char| identifier(c) || "._-".contains(c);
    if !id.starts_with(identifier) || !id.chars().all(known) || id.len() > LONGEST_ID {
        bail!(
            "--host {id}: expected at most {LONGEST_ID} lower-case letters, digits, '.', '_' and '-'"
        );
    }
    Ok(())
}

/// Sets the given id, or the id of the only known host (a file of `folder`) with the same
/// processor, number of threads and memory, and the same machine if both state one. Keeps the
/// derived id if there is none.
pub fn identified(mut facts: HostFacts, given: Option<&str>, folder: &Path) -> Result<HostFacts> {
    if let Some(id) = given {
        check_id(id)?;
        facts.id = id.to_owned();
        return Ok(facts);
    }
    if !folder.is_dir() {
        return Ok(facts);
    }
    let mut paths: Vec<_> = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .collect::<std::io::Result<Vec<_>>>()?
        .into_iter()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "toml")
        })
        .collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        if text.trim().is_empty() {
            // A shell creates this empty file first in `tlsbench host show --toml >
            // data/hosts/ID.toml`.
            continue;
        }
        let known: KnownHost = toml::from_str(&text).with_context(|| path.display().to_string())?;
        if known.cpu == facts.cpu
            && known.threads.is_some()
            && known.threads == facts.threads
            && close(known.memory_bytes, facts.memory_bytes)
            && !differ(known.machine.as_ref(), facts.machine.as_ref())
        {
            facts.id = known.id;
            break;
        }
    }
    Ok(facts)
}

/// Differences in kernel, microcode and mitigations from the known host with this id (a file of
/// `folder`), where both state them.
pub fn changed_since_known(facts: &HostFacts, folder: &Path) -> Result<Vec<String>> {
    let path = folder.join(format!("{}.toml", facts.id));
    if !path.exists() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let known: KnownHost = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let before = HostFacts {
        kernel: known.kernel,
        microcode: known.microcode,
        mitigations: known.mitigations,
        ..HostFacts::default()
    };
    Ok(changed(facts, &before))
}

/// Differences in kernel, microcode and mitigations from `before`, where both state them.
pub fn changed(now: &HostFacts, before: &HostFacts) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |name: &str, was: Option<&String>, is: Option<&String>| {
        if let (Some(was), Some(is)) = (was, is)
            && was != is
        {
            found.push(format!("{name} was {was}, is {is}"));
        }
    };
    compare("kernel", before.kernel.as_ref(), now.kernel.as_ref());
    compare(
        "microcode",
        before.microcode.as_ref(),
        now.microcode.as_ref(),
    );
    for (name, was) in &before.mitigations {
        let is = now.mitigations.get(name);
        compare(&format!("mitigation of {name}"), Some(was), is);
    }
    found
}

/// Why this is not the same machine as before: all sessions of a run use one machine.
pub fn another_machine(now: &HostFacts, before: &HostFacts) -> Option<String> {
    let was = |name: &str, was: &str, is: &str| Some(format!("{name} was {was}, is {is}"));
    if now.cpu != before.cpu {
        return was("cpu", &before.cpu, &now.cpu);
    }
    if differ(now.threads, before.threads) {
        return Some("it has another number of threads".to_owned());
    }
    differ(now.machine.as_ref(), before.machine.as_ref())
        .then(|| "it is another machine of this kind".to_owned())
}

/// Whether both are present and differ.
fn differ<T: PartialEq>(a: Option<T>, b: Option<T>) -> bool {
    matches!((a, b), (Some(a), Some(b)) if a != b)
}

/// A slug such as `intel-xeon-processor-2-cores-vm`.
pub fn derived_id(facts: &HostFacts) -> String {
    let mut words = facts.cpu.to_lowercase();
    for mark in ["(r)", "(tm)", "®", "™"] {
        words = words.replace(mark, " ");
    }
    // Intel appends the nominal frequency to the name.
    let name = words.split('@').next().unwrap_or_default().to_owned();
    let mut id = name;
    if let Some(cores) = facts.cores {
        let _ = write!(id, " {cores} cores");
    }
    if facts.is_virtual == Some(true) {
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
