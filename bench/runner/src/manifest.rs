//! `run.toml`: a run with its host, implementations and files, in the form of
//! `data/schema/run.schema.json`.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use flate2::read::GzDecoder;
use serde::{Deserialize, Serialize};
use tls_harness::implementation::Implementation;
use tls_harness::record::Schema;
use tls_harness::request::Counter;
use toml::value::Datetime;

use crate::files::{parsed, replace, sha256};

/// The hardware of a host and its state. A fact that cannot be read is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostFacts {
    pub id: String,
    pub cpu: String,
    /// As the processor reports it: family 6, model 207, stepping 2.
    pub cpu_model: Option<String>,
    /// Those by which libraries choose their code.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    pub architecture: String,
    /// A one-way hash of the machine's id.
    pub machine: Option<String>,
    /// Physical cores.
    pub cores: Option<u32>,
    /// Logical processors.
    pub threads: Option<u32>,
    pub memory_bytes: Option<u64>,
    pub os: Option<String>,
    pub kernel: Option<String>,
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
    /// Relative to the folder of the run, below `raw/`.
    pub path: String,
    pub sha256: String,
    pub bytes: u64,
    pub format: String,
    /// Present if all records are of one implementation.
    pub implementation: Option<String>,
    pub round: Option<u32>,
}

impl RawFile {
    /// Reads the file at `path` below the folder of a run, and computes its checksum.
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
            sha256: sha256(&bytes),
            bytes: bytes.len() as u64,
            format: format.to_owned(),
            implementation,
            round: None,
        })
    }
}

/// A raw file's bytes as its tool wrote them; `tlsperf` stores large ones of published runs as
/// `<path>.gz`. A run may be of others: nothing but regular files below its `raw/` is read.
pub fn stored_bytes(folder: &Path, file: &RawFile) -> Result<Vec<u8>> {
    // As `RawPath` of tlsperf, with any suffix.
    let is_part = |part: &str| {
        let of_part = |c: char| c.is_ascii_alphanumeric() || "_@+()-.".contains(c);
        !part.is_empty() && !part.starts_with('.') && part.chars().all(of_part)
    };
    let below = file.path.strip_prefix("raw/");
    ensure!(
        below.is_some_and(|it| it.split('/').all(is_part)),
        "{}: files.path is {:?}, expected a path below raw/",
        folder.join("run.toml").display(),
        file.path
    );
    let path = folder.join(&file.path);
    let packed = folder.join(format!("{}.gz", file.path));
    let is_packed = path.symlink_metadata().is_err() && packed.exists();
    let read = if is_packed { packed } else { path };
    let shown = || read.display().to_string();
    // The folders too: a link may lead out of the run.
    let folders = read
        .ancestors()
        .skip(1)
        .take(file.path.split('/').count() - 1);
    for it in folders {
        let metadata = it.symlink_metadata().with_context(shown)?;
        ensure!(metadata.is_dir(), "{}: expected a folder", it.display());
    }
    let metadata = read.symlink_metadata().with_context(shown)?;
    ensure!(metadata.is_file(), "{}: expected a regular file", shown());
    let opened = std::fs::File::open(&read).with_context(shown)?;
    let content: Box<dyn Read> = match is_packed {
        true => Box::new(GzDecoder::new(opened)),
        false => Box::new(opened),
    };
    let mut bytes = Vec::new();
    let most = file.bytes.saturating_add(1);
    content
        .take(most)
        .read_to_end(&mut bytes)
        .with_context(shown)?;
    ensure!(
        bytes.len() as u64 == file.bytes,
        "{}: expected {} bytes{}, as run.toml says",
        shown(),
        file.bytes,
        if is_packed { " when unpacked" } else { "" }
    );
    Ok(bytes)
}

/// The program that measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    pub name: String,
    pub version: Option<String>,
    pub commit: Option<String>,
    /// Checksum of the program.
    pub sha256: Option<String>,
    pub url: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// A fact about a run that a reader must know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunWarning {
    pub code: String,
    pub message: String,
}

/// Result of a check of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    Pass,
    Warn,
    Fail,
}

/// One line of `tlsbench host check` from the start of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckResult {
    pub check: String,
    pub status: CheckStatus,
    pub found: String,
    pub fix: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SuiteReference {
    pub name: String,
    /// Runs of one family can be compared over time.
    pub family: String,
    pub sha256: Option<String>,
}

/// One session of a run, with the state of the host before it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSession {
    /// The first session is 1.
    pub number: u32,
    pub started: Datetime,
    pub finished: Option<Datetime>,
    /// Number of its rounds that count.
    pub rounds: Option<u32>,
    /// Seed of the order of blocks.
    pub seed: u64,
    /// Number of the layout of its programs.
    #[serde(default, skip_serializing_if = "is_own")]
    pub layout: u32,
    /// A one-way hash of the id of the machine's boot.
    pub boot: Option<String>,
    pub frequency_mhz: Option<f64>,
    pub temperature_celsius: Option<f64>,
    /// Load average over the minute before.
    pub load_average: Option<f64>,
    /// Absent if it equals the host of the run.
    pub host: Option<HostFacts>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
}

/// How a layout differs from the linker's own order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LayoutKind {
    /// In the linker's own order.
    Own,
    /// In the same order, after padding.
    Shifted,
    /// With all sections in a random order: in runs of earlier versions.
    Shuffled,
    /// With the library's objects in a shared library, after padding: in runs of earlier versions.
    Shared,
}

/// One way in which the programs of a run were linked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunLayout {
    /// 0 is the linker's own order.
    pub number: u32,
    pub kind: LayoutKind,
    /// Seed of the padding or the order.
    pub seed: Option<u64>,
    /// sha256 of each implementation's program.
    pub programs: BTreeMap<String, String>,
}

/// The counter that was used instead of a clock.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunCounter {
    pub name: Counter,
    /// The version of Valgrind; for the wire, of tlsbench.
    pub version: String,
    /// As valgrind emulates it: counts of another one are of other code.
    pub processor: Option<String>,
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
    /// Number of rounds that count; absent if not known.
    pub rounds: Option<u32>,
    pub seed: Option<u64>,
    pub allocator: Option<String>,
    pub host_id: String,
    pub tool: Tool,
    pub suite: Option<SuiteReference>,
    /// Absent if time was measured.
    pub counter: Option<RunCounter>,
    /// State at the start of the run.
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
        parsed(path)
    }

    /// Writes the run atomically.
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
