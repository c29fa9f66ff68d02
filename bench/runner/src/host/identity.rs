//! The id of a host: given, that of a known host (`data/hosts/`), or derived from its facts.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::manifest::HostFacts;

/// Where known hosts are described, relative to the repository.
pub const KNOWN_HOSTS: &str = "data/hosts";

/// `data/hosts/<id>.toml`: only what identifies a host.
#[derive(Deserialize)]
struct KnownHost {
    id: String,
    cpu: String,
    threads: Option<u32>,
    memory_bytes: Option<u64>,
}

/// As the schema has it: an id names files, whose names end at 255 bytes.
const LONGEST_ID: usize = 200;

/// Gives the host the given id, or that of the one known host (a file of `folder`) with
/// its processor, number of threads and memory; keeps the derived id if there is none.
pub fn identified(mut facts: HostFacts, given: Option<&str>, folder: &Path) -> Result<HostFacts> {
    if let Some(id) = given {
        let identifier = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let known = |c: char| identifier(c) || "._-".contains(c);
        if !id.starts_with(identifier) || !id.chars().all(known) || id.len() > LONGEST_ID {
            bail!(
                "--host {id}: expected at most {LONGEST_ID} lower-case letters, digits, '.', '_' \
                 and '-'"
            );
        }
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
            // What a shell makes of `tlsbench host show --toml > data/hosts/ID.toml` at first.
            continue;
        }
        let known: KnownHost = toml::from_str(&text).with_context(|| path.display().to_string())?;
        if known.cpu == facts.cpu
            && known.threads.is_some()
            && known.threads == facts.threads
            && close(known.memory_bytes, facts.memory_bytes)
        {
            facts.id = known.id;
            break;
        }
    }
    Ok(facts)
}

/// A slug such as `intel-xeon-processor-2-cores-vm`.
pub fn derived_id(facts: &HostFacts) -> String {
    let mut words = facts.cpu.to_lowercase();
    for mark in ["(r)", "(tm)", "®", "™"] {
        words = words.replace(mark, " ");
    }
    // The nominal frequency that Intel appends to the name adds nothing.
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

/// Memory within 5 %: the kernel keeps a part of it back, and people write the nominal size.
fn close(a: Option<u64>, b: Option<u64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) <= a.max(b) / 20,
        _ => false,
    }
}
