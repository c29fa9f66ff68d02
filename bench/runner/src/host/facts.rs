//! The hardware of a host and its state (`HostFacts` of `data/schema/run.schema.json`).
//!
//! Sources: proc(5), and the kernel's `Documentation/ABI/` for `/sys`. A fact that cannot be read
//! is absent, never guessed.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::Result;

use crate::files::sha256;
use crate::manifest::HostFacts;

use super::identity::derived_id;
use super::root::{Root, processors};

/// Reads the facts of the host whose `/proc` and `/sys` are below `root`. The id is derived from
/// them, such as `amd-epyc-family-25-model-17-2-cores-vm`.
pub fn capture(root: &Root) -> HostFacts {
    let cpuinfo = root.read("proc/cpuinfo").unwrap_or_default();
    let (is_virtual, virtualization) = virtualization(root, &cpuinfo);
    let online = root.read("sys/devices/system/cpu/online");
    let threads = online
        .and_then(|list| counted(processors(&list).len()))
        .or_else(|| counted(fields(&cpuinfo, "processor").count()));
    let cores = cores(root, &cpuinfo);
    let frequencies = |file| root.frequencies(file).into_iter();
    let mut facts = HostFacts {
        id: String::new(),
        cpu: cpu(root, &cpuinfo),
        cpu_model: cpu_model(&cpuinfo),
        features: features(&cpuinfo),
        architecture: root
            .read("proc/sys/kernel/arch")
            .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
        machine: machine(root),
        cores,
        threads,
        memory_bytes: meminfo(root, "MemTotal"),
        os: os(root),
        kernel: root.read("proc/sys/kernel/osrelease"),
        is_virtual,
        virtualization,
        container: container(root),
        microcode: fields(&cpuinfo, "microcode").next().map(str::to_owned),
        smt: match root.read("sys/devices/system/cpu/smt/active").as_deref() {
            Some("1") => Some(true),
            Some("0") => Some(false),
            _ => threads.zip(cores).map(|(threads, cores)| threads > cores),
        },
        governor: governor(root),
        frequency_min_mhz: frequencies("scaling_min_freq").reduce(f64::min),
        frequency_max_mhz: frequencies("scaling_max_freq").reduce(f64::max),
        turbo: turbo(root),
        aslr: root.read_number("proc/sys/kernel/randomize_va_space"),
        isolated_cpus: root
            .read("sys/devices/system/cpu/isolated")
            .map(|list| some(list).unwrap_or_else(|| "none".to_owned())),
        irqbalance: irqbalance(root),
        numa_nodes: counted(root.numbered("sys/devices/system/node", "node").len()),
        transparent_hugepages: root
            .read("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|choices| chosen(&choices).map(str::to_owned)),
        temperature_sensors: temperature_sensors(root).into_iter().collect(),
        caches: caches(root),
        mitigations: mitigations(root),
        ..HostFacts::default()
    };
    facts.id = derived_id(&facts);
    facts
}

/// Adds the versions that the compilers on the path report.
pub fn with_compilers(mut facts: HostFacts) -> HostFacts {
    for name in ["rustc", "cc", "clang", "cmake"] {
        let Ok(output) = Command::new(name).arg("--version").output() else {
            continue;
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if let (true, Some(line)) = (output.status.success(), text.lines().next()) {
            facts.compilers.insert(name.to_owned(), line.to_owned());
        }
    }
    facts
}

/// The facts that differ from `before`, except the compilers: checksums identify the programs that
/// they built.
pub fn differences(facts: &HostFacts, before: &HostFacts) -> Result<Vec<String>> {
    let (ours, theirs) = (
        toml::Table::try_from(facts)?,
        toml::Table::try_from(before)?,
    );
    let value = |of: &toml::Table, name: &str| match of.get(name) {
        Some(value) => value.to_string(),
        None => "unknown".to_owned(),
    };
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    let names = names.into_iter().filter(|it| *it != "compilers");
    Ok(names
        .filter(|it| ours.get(*it) != theirs.get(*it))
        .map(|it| format!("{it} was {}, is {}", value(&theirs, it), value(&ours, it)))
        .collect())
}

/// The contents of `data/hosts/<id>.toml` for this host; a person then chooses a better name.
pub fn to_toml(facts: &HostFacts) -> Result<String> {
    let name = toml::Value::from(facts.cpu.as_str());
    Ok(format!(
        "schema = 1\nname = {name}\n{}",
        toml::to_string(facts)?
    ))
}

/// The fields of [`to_toml`] in JSON. A fact that cannot be read is absent.
pub fn to_json(facts: &HostFacts) -> Result<String> {
    let fields: toml::Table = toml::from_str(&to_toml(facts)?)?;
    Ok(serde_json::to_string_pretty(&fields)? + "\n")
}

/// Formats one fact per line.
pub fn to_text(facts: &HostFacts) -> String {
    let word = |value: Option<bool>, yes: &str, no: &str| {
        let word = value.map(|value| if value { yes } else { no });
        word.map(str::to_owned)
    };
    let number = |value: Option<u32>| value.map(|number| number.to_string());
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
    let hypervisor = facts.virtualization.as_ref();
    let hypervisor = hypervisor.map(|name| format!("yes ({name})"));
    let container = facts.container.as_deref().unwrap_or("none found");
    let limits = facts.frequency_min_mhz.zip(facts.frequency_max_mhz);
    let sensors = facts.temperature_sensors.join(", ");
    let lines = [
        ("host", Some(facts.id.clone())),
        ("CPU", Some(facts.cpu.clone())),
        ("CPU model", facts.cpu_model.clone()),
        ("CPU features", some(facts.features.join(" "))),
        ("architecture", Some(facts.architecture.clone())),
        ("machine", facts.machine.clone()),
        ("cores", number(facts.cores)),
        ("threads", number(facts.threads)),
        ("SMT", word(facts.smt, "on", "off")),
        ("memory", facts.memory_bytes.map(gib)),
        ("NUMA nodes", number(facts.numa_nodes)),
        ("distribution", facts.os.clone()),
        ("kernel", facts.kernel.clone()),
        (
            "virtual machine",
            hypervisor.or_else(|| word(facts.is_virtual, "yes", "no")),
        ),
        ("container", Some(container.to_owned())),
        ("microcode", facts.microcode.clone()),
        ("frequency governor", facts.governor.clone()),
        (
            "frequency limits",
            limits.map(|(low, high)| format!("{low:.0} to {high:.0} MHz")),
        ),
        ("turbo", word(facts.turbo, "on", "off")),
        ("ASLR", number(facts.aslr)),
        ("isolated CPUs", facts.isolated_cpus.clone()),
        ("irqbalance running", word(facts.irqbalance, "yes", "no")),
        (
            "huge pages, transparent",
            facts.transparent_hugepages.clone(),
        ),
        ("temperature sensors", some(sensors)),
    ];
    let lines = lines.into_iter().map(|(name, value)| {
        let value = value.unwrap_or_else(|| "not readable".to_owned());
        (name.to_owned(), value)
    });
    let tables = [
        ("cache", &facts.caches),
        ("mitigation", &facts.mitigations),
        ("compiler", &facts.compilers),
    ];
    let tables = tables.into_iter().flat_map(|(what, table)| {
        let values = table.iter();
        values.map(move |(name, value)| (format!("{what} {name}"), value.clone()))
    });
    let lines: Vec<_> = lines.chain(tables).collect();
    let width = lines.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let lines = lines.iter();
    lines
        .map(|(name, value)| format!("{name:<width$}  {value}\n"))
        .collect()
}

/// A text, unless it is empty: then the host does not report it.
fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// A number of things that a host certainly has; zero means that it does not report them.
fn counted(number: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| *number > 0)
}

/// Values of a field of `/proc/cpuinfo`, one per processor.
fn fields<'a>(cpuinfo: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    cpuinfo.lines().filter_map(move |line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == name).then_some(value.trim())
    })
}

/// Id of the machine: machine-id(5), or the firmware's id of the product.
fn machine(root: &Root) -> Option<String> {
    root.read("etc/machine-id")
        .and_then(some)
        .or_else(|| root.read("sys/class/dmi/id/product_uuid"))
        .map(|id| one_way("machine", &id))
}

/// Id of the machine's current boot: random(4).
pub fn boot(root: &Root) -> Option<String> {
    root.read("proc/sys/kernel/random/boot_id")
        .map(|id| one_way("boot", &id))
}

/// 16 hexadecimal digits of a hash: they show whether two ids are equal, but not the ids.
fn one_way(what: &str, id: &str) -> String {
    sha256(format!("tlsbench {what} {id}"))[..16].to_owned()
}

/// The selected word of a file such as `always [madvise] never`.
fn chosen(choices: &str) -> Option<&str> {
    Some(choices.split_once('[')?.1.split_once(']')?.0)
}

fn cpu(root: &Root, cpuinfo: &str) -> String {
    let named = fields(cpuinfo, "model name").next();
    let name = named
        .and_then(|name| some(name.to_owned()))
        .or_else(|| dmi_processor(root))
        .or_else(|| arm_core(cpuinfo).map(str::to_owned))
        .unwrap_or_else(|| "unknown".to_owned());
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Family, model and stepping, which x86 processors report even if a hypervisor hides the name.
fn cpu_model(cpuinfo: &str) -> Option<String> {
    let number = |field: &str| fields(cpuinfo, field).next();
    let (family, model) = (number("cpu family")?, number("model")?);
    let stepping = number("stepping")?;
    Some(format!(
        "family {family}, model {model}, stepping {stepping}"
    ))
}

/// Features by which libraries choose their code, on x86-64 and 64-bit ARM, by the kernel's words.
const FEATURES: &str = "aes vaes pclmulqdq vpclmulqdq avx2 avx512f avx512ifma bmi2 adx sha_ni \
                        pmull sha2 sha512 sha3";

fn features(cpuinfo: &str) -> Vec<String> {
    let mut found = fields(cpuinfo, "flags").chain(fields(cpuinfo, "Features"));
    let found: Vec<_> = found.next().unwrap_or_default().split(' ').collect();
    let known = FEATURES.split(' ').filter(|it| found.contains(it));
    known.map(str::to_owned).collect()
}

/// The processor's name in the firmware's table, for 64-bit ARM, which has no `model name`. SMBIOS
/// 3.6, 7.5 "Processor Information (Type 4)": the number of the version string is at offset 10h.
/// The zero-terminated strings follow the structure, whose length is at offset 1.
fn dmi_processor(root: &Root) -> Option<String> {
    let table = root.read_bytes("sys/firmware/dmi/entries/4-0/raw")?;
    let strings = table.get(usize::from(*table.get(1)?)..)?;
    let number = usize::from(*table.get(0x10)?).checked_sub(1)?;
    let version = strings.split(|byte| *byte == 0).nth(number)?;
    some(String::from_utf8_lossy(version).trim().to_owned())
}

/// Name of the core design by implementer and part: Arm cores of servers, with the numbers from
/// each core's technical reference manual (MIDR_EL1).
fn arm_core(cpuinfo: &str) -> Option<&'static str> {
    let implementer = fields(cpuinfo, "CPU implementer").next()?;
    let part = fields(cpuinfo, "CPU part").next()?;
    Some(match (implementer, part) {
        ("0x41", "0xd0c") => "Arm Neoverse-N1",
        ("0x41", "0xd40") => "Arm Neoverse-V1",
        ("0x41", "0xd49") => "Arm Neoverse-N2",
        ("0x41", "0xd4f") => "Arm Neoverse-V2",
        ("0xc0", "0xac3") => "Ampere-1",
        _ => return None,
    })
}

fn cores(root: &Root, cpuinfo: &str) -> Option<u32> {
    let siblings = root.of_processors("topology/thread_siblings_list");
    let siblings: BTreeSet<String> = siblings.into_iter().collect();
    let packages = fields(cpuinfo, "physical id").zip(fields(cpuinfo, "core id"));
    counted(match siblings.len() {
        0 => packages.collect::<BTreeSet<_>>().len(),
        cores => cores,
    })
}

/// Bytes of a field in `/proc/meminfo`, whose `kB` means 1024 bytes.
pub fn meminfo(root: &Root, name: &str) -> Option<u64> {
    let text = root.read("proc/meminfo")?;
    let value = fields(&text, name).next()?.strip_suffix("kB")?.trim();
    Some(value.parse::<u64>().ok()? * 1024)
}

fn os(root: &Root) -> Option<String> {
    let text = root
        .read("etc/os-release")
        .or_else(|| root.read("usr/lib/os-release"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    Some(line.trim_matches(['"', '\'']).to_owned())
}

/// Words of the firmware's vendor, and of the paravirtual clocks, with the hypervisor that has them.
const VENDORS: [(&str, &str); 10] = [
    ("QEMU", "qemu"),
    ("KVM", "kvm"),
    ("VMware", "vmware"),
    ("VirtualBox", "virtualbox"),
    ("innotek", "virtualbox"),
    ("Xen", "xen"),
    ("Virtual Machine", "hyper-v"),
    ("Parallels", "parallels"),
    ("Amazon EC2", "amazon-ec2"),
    ("Google Compute Engine", "google-compute-engine"),
];
const CLOCKS: [(&str, &str); 3] = [
    ("kvm-clock", "kvm"),
    ("hyperv_clocksource", "hyper-v"),
    ("xen", "xen"),
];

/// Whether the host is a virtual machine, and of which hypervisor. An x86 processor has a flag under
/// a hypervisor. Other processors, and the hypervisor's name, are recognized by the firmware's vendor
/// and the paravirtual clocks.
fn virtualization(root: &Root, cpuinfo: &str) -> (Option<bool>, Option<String>) {
    let marked = |text: &str, marks: &[(&str, &str)]| {
        let found = marks.iter().find(|(mark, _)| text.contains(mark));
        found.map(|(_, name)| (*name).to_owned())
    };
    let product = ["sys_vendor", "product_name", "bios_vendor", "board_vendor"]
        .iter()
        .filter_map(|name| root.read(&format!("sys/class/dmi/id/{name}")))
        .collect::<Vec<_>>()
        .join(" ");
    let clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource";
    let named = marked(&product, &VENDORS)
        .or_else(|| marked(&root.read(clocks)?, &CLOCKS))
        .or_else(|| root.read("sys/hypervisor/type").and_then(some));
    let flags = fields(cpuinfo, "flags").next();
    let flagged = flags.map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    let is_virtual = match (flagged, &named) {
        _ if product.contains(".metal") => Some(false),
        (Some(flagged), _) => Some(flagged),
        (None, Some(_)) => Some(true),
        (None, None) if !product.is_empty() => Some(false),
        (None, None) => None,
    };
    (is_virtual, named.filter(|_| is_virtual == Some(true)))
}

fn container(root: &Root) -> Option<String> {
    let cgroups = root.read("proc/1/cgroup").unwrap_or_default();
    let marks = [
        (root.exists("run/.containerenv"), "podman"),
        (cgroups.contains("kubepods"), "kubernetes"),
        (root.exists(".dockerenv"), "docker"),
        (cgroups.contains("/lxc"), "lxc"),
    ];
    let marked = marks.iter().find(|(found, _)| *found);
    let named = root.read("run/systemd/container").and_then(some);
    named.or_else(|| marked.map(|(_, name)| (*name).to_owned()))
}

fn governor(root: &Root) -> Option<String> {
    let governors = root.of_processors("cpufreq/scaling_governor");
    let governors: BTreeSet<String> = governors.into_iter().collect();
    some(governors.into_iter().collect::<Vec<_>>().join(", "))
}

fn turbo(root: &Root) -> Option<bool> {
    let read = |file: &str| root.read(&format!("sys/devices/system/cpu/{file}"));
    let switch = |value: Option<String>, on: &str, off: &str| match value?.as_str() {
        value if value == on => Some(true),
        value if value == off => Some(false),
        _ => None,
    };
    switch(read("intel_pstate/no_turbo"), "0", "1")
        .or_else(|| switch(read("cpufreq/boost"), "1", "0"))
}

fn irqbalance(root: &Root) -> Option<bool> {
    let processes = root.numbered("proc", "");
    if processes.is_empty() {
        return None;
    }
    Some(processes.iter().any(|process| {
        // A process may end between listing and reading it.
        root.read(&format!("{process}/comm")).as_deref() == Some("irqbalance")
    }))
}

/// The names of the sensors.
fn temperature_sensors(root: &Root) -> BTreeSet<String> {
    let sensors = root.sensors().into_iter();
    sensors.filter_map(|(name, _)| root.read(&name)).collect()
}

/// Caches of the first processor: `L1d`, `L1i`, `L2`, … with their sizes.
fn caches(root: &Root) -> BTreeMap<String, String> {
    root.numbered("sys/devices/system/cpu/cpu0/cache", "index")
        .iter()
        .filter_map(|cache| {
            let level = root.read(&format!("{cache}/level"))?;
            let letter = match root.read(&format!("{cache}/type"))?.as_str() {
                "Data" => "d",
                "Instruction" => "i",
                _ => "",
            };
            let size = root.read(&format!("{cache}/size"))?;
            let kib: u64 = size.strip_suffix('K')?.parse().ok()?;
            let size = match kib {
                kib if kib % 1024 == 0 => format!("{} MiB", kib / 1024),
                kib => format!("{kib} KiB"),
            };
            Some((format!("L{level}{letter}"), size))
        })
        .collect()
}

fn mitigations(root: &Root) -> BTreeMap<String, String> {
    let folder = "sys/devices/system/cpu/vulnerabilities";
    root.list(folder)
        .into_iter()
        .filter_map(|name| {
            let state = root.read(&format!("{folder}/{name}"))?;
            Some((name, state))
        })
        .collect()
}
