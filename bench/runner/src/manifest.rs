//! `run.toml`: a run with its host, implementations and files, as `data/schema/run.schema.json`.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tls_harness::implementation::Implementation;
use tls_harness::record::Schema;
use tls_harness::request::Counter;
use toml::value::Datetime;

use crate::files::replace;
use crate::suite::hex;

/// What a host is and the state it was found in. What cannot be read is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    pub id: String,
    pub cpu: String,
    /// As the processor reports it: family 6, model 207, stepping 2.
    pub cpu_model: Option<String>,
    pub architecture: String,
    /// Which machine: a one-way hash of its id.
    pub machine: Option<String>,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Logical processors.
    pub threads: Option<u32>,
    pub memory_bytes: Option<u64>,
    pub os: Option<String>,
    pub kernel: Option<String>,
    /// True in a virtual machine.
    #[serde(rename = "virtual")]
    pub is_virtual: Option<bool>,
    /// kvm, vmware, …; absent on bare metal.
    pub virtualization: Option<String>,
    pub container: Option<String>,
    pub microcode: Option<String>,
    pub smt: Option<bool>,
    pub governor: Option<String>,
    pub frequency_min_mhz: Option<f64>,
    pub frequency_max_mhz: Option<f64>,
    pub turbo: Option<bool>,
    pub aslr: Option<u32>,
    pub isolated_cpus: Option<String>,
    pub irqbalance: Option<bool>,
    pub numa_nodes: Option<u32>,
    pub transparent_hugepages: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub temperature_sensors: Vec<String>,
    pub description: Option<String>,
    pub note: Option<String>,
    pub url: Option<String>,
    // Tables come last: TOML requires plain values before them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub caches: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub mitigations: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compilers: BTreeMap<String, String>,
}

/// A raw file of a run; its bytes never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawFile {
    /// Relative to the run's folder, below `raw/`.
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
    pub format: String,
    /// If the file holds only one.
    pub implementation: Option<String>,
    pub round: Option<u32>,
}

impl RawFile {
    /// The file at `path` below the folder of a run, with its checksum.
    pub fn read(
        folder: &Path,
        path: &str,
        format: &str,
        implementation: Option<String>,
    ) -> Result<Self> {
        let full = folder.join(path);
        let bytes = std::fs::read(&full).with_context(|| full.display().to_string())?;
        Ok(Self {
            path: path.to_owned(),
            sha256: hex(&Sha256::digest(&bytes)),
            bytes: bytes.len() as u64,
            format: format.to_owned(),
            implementation,
            round: None,
        })
    }
}

/// What measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    pub version: Option<String>,
    pub commit: Option<String>,
    /// Of the program itself.
    pub sha256: Option<String>,
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// Something a reader must know about a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunWarning {
    pub code: String,
    pub message: String,
}

/// Outcome of a check of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    Pass,
    Warn,
    Fail,
}

/// One line of `tlsbench host check` as it was when the run began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    pub check: String,
    pub status: CheckStatus,
    pub found: String,
    pub fix: Option<String>,
}

/// The suite that was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteReference {
    pub name: String,
    /// Runs of one family are comparable over time.
    pub family: String,
    pub sha256: Option<String>,
}

/// One session of a run, with the state that the host was found in before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSession {
    /// Counted from 1.
    pub number: u32,
    pub started: Datetime,
    pub finished: Option<Datetime>,
    /// Rounds of it that count.
    pub rounds: Option<u32>,
    /// Of the order of its blocks.
    pub seed: u64,
    /// Number of the layout that its programs have.
    #[serde(default, skip_serializing_if = "is_own")]
    pub layout: u32,
    /// Which boot of the machine: a one-way hash of its id.
    pub boot: Option<String>,
    pub frequency_mhz: Option<f64>,
    pub temperature_celsius: Option<f64>,
    /// Of the minute before.
    pub load_average: Option<f64>,
    /// Absent: as it is in the run.
    pub host: Option<HostFacts>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
}

/// How a layout differs from the linker's own order.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::Display, strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum LayoutKind {
    /// Not at all.
    Own,
    /// The same order behind padding.
    Shifted,
    /// All sections in a random order.
    Shuffled,
    /// The library's objects in a shared library, behind padding.
    Shared,
}

/// One way in which the programs of a run were linked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunLayout {
    /// 0: in the linker's own order.
    pub number: u32,
    pub kind: LayoutKind,
    /// Decides padding or order.
    pub seed: Option<u64>,
    /// sha256 by implementation.
    pub programs: BTreeMap<String, String>,
}

/// What counted instead of a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunCounter {
    pub name: Counter,
    /// Of valgrind.
    pub version: String,
}

/// `data/runs/<id>/run.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    pub schema: Schema,
    pub id: String,
    pub date: Datetime,
    pub started: Option<Datetime>,
    pub finished: Option<Datetime>,
    #[serde(default = "yes")]
    pub complete: bool,
    /// Rounds that count; absent if not known.
    pub rounds: Option<u32>,
    pub seed: Option<u64>,
    pub allocator: Option<String>,
    pub host_id: String,
    pub tool: Tool,
    pub suite: Option<SuiteReference>,
    /// Absent: time was measured.
    pub counter: Option<RunCounter>,
    /// As captured when the run began.
    pub host: Option<HostFacts>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<RunWarning>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<RunSession>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layouts: Vec<RunLayout>,
    pub implementations: Vec<Implementation>,
    pub files: Vec<RawFile>,
}

impl Run {
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
        toml::from_str(&text).context(name)
    }

    /// Writes the run completely or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        replace(path, toml::to_string(self)?.as_bytes())
    }
}

fn yes() -> bool {
    true
}

fn is_own(layout: &u32) -> bool {
    *layout == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_read_and_written_without_loss() {
        let example = include_str!("../../../data/schema/run.example.toml");
        let run: Run = toml::from_str(example).unwrap();
        let written: toml::Table = toml::from_str(&toml::to_string(&run).unwrap()).unwrap();
        assert_eq!(written, toml::from_str(example).unwrap());
    }
}
