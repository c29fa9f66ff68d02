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
/// them, such as `intel-xeon-processor-2-cores-vm`.
pub fn capture(root: &Root) -> HostFacts {
    let cpuinfo = root.read("proc/cpuinfo").unwrap_or_default();
    let (is_virtual, virtualization) = virtualization(root, &cpuinfo);
    let online = root.read("sys/devices/system/cpu/online");
    let threads = online
        .and_then(|list| counted(processors(&list).len()))
        .or_else(|| counted(fields(&cpuinfo, "processor").count()));
    let cores = cores(root, &cpuinfo);
    let mut facts = HostFacts {
        id: String::new(),
        cpu: cpu(root, &cpuinfo),
        cpu_model: cpu_model(&cpuinfo),
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
        frequency_min_mhz: frequencies(root, "scaling_min_freq").reduce(f64::min),
        frequency_max_mhz: frequencies(root, "scaling_max_freq").reduce(f64::max),
        turbo: turbo(root),
        aslr: root.read_number("proc/sys/kernel/randomize_va_space"),
        isolated_cpus: root.read("sys/devices/system/cpu/isolated").map(|list| {
            if list.is_empty() {
                "none".to_owned()
            } else {
                list
            }
        }),
        irqbalance: irqbalance(root),
        numa_nodes: counted(root.numbered("sys/devices/system/node", "node").len()),
        transparent_hugepages: root
            .read("sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|choices| chosen(&choices).map(str::to_owned)),
        temperature_sensors: temperature_sensors(root),
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
        let output = Command::new(name).arg("--version").output().ok();
        let first = output
            .filter(|output| output.status.success())
            .and_then(|output| {
                let text = String::from_utf8_lossy(&output.stdout).into_owned();
                text.lines().next().map(str::to_owned)
            });
        if let Some(line) = first {
            facts.compilers.insert(name.to_owned(), line);
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
    let names: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
    Ok(names
        .into_iter()
        .filter(|name| *name != "compilers" && ours.get(*name) != theirs.get(*name))
        .map(|name| match (theirs.get(name), ours.get(name)) {
            (Some(was), Some(is)) => format!("{name} was {was}, is {is}"),
            (Some(was), None) => format!("{name} was {was}, is unknown"),
            (None, Some(is)) => format!("{name} was unknown, is {is}"),
            (None, None) => name.clone(),
        })
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

/// Formats one fact per line.
pub fn to_text(facts: &HostFacts) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut line = |name: &str, value: Option<String>| {
        let value = value.unwrap_or_else(|| "not readable".to_owned());
        lines.push((name.to_owned(), value));
    };
    let yes = |value: Option<bool>| value.map(|v| if v { "yes" } else { "no" }.to_owned());
    let on = |value: Option<bool>| value.map(|v| if v { "on" } else { "off" }.to_owned());
    line("host", Some(facts.id.clone()));
    line("CPU", Some(facts.cpu.clone()));
    if facts.cpu_model.is_some() {
        line("CPU model", facts.cpu_model.clone());
    }
    line("architecture", Some(facts.architecture.clone()));
    line("machine", facts.machine.clone());
    line("cores", facts.cores.map(|n| n.to_string()));
    line("threads", facts.threads.map(|n| n.to_string()));
    line("SMT", on(facts.smt));
    for (name, size) in &facts.caches {
        line(&format!("cache {name}"), Some(size.clone()));
    }
    let gib = |bytes: u64| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30));
    line("memory", facts.memory_bytes.map(gib));
    line("NUMA nodes", facts.numa_nodes.map(|n| n.to_string()));
    line("distribution", facts.os.clone());
    line("kernel", facts.kernel.clone());
    line("virtual machine", yes(facts.is_virtual));
    if facts.virtualization.is_some() {
        line("virtualisation", facts.virtualization.clone());
    }
    let container = facts.container.clone();
    line(
        "container",
        container.or_else(|| Some("none found".to_owned())),
    );
    line("microcode", facts.microcode.clone());
    line("frequency governor", facts.governor.clone());
    line(
        "frequency limits",
        facts
            .frequency_min_mhz
            .zip(facts.frequency_max_mhz)
            .map(|(low, high)| format!("{low:.0} to {high:.0} MHz")),
    );
    line("turbo", on(facts.turbo));
    line("ASLR", facts.aslr.map(|n| n.to_string()));
    line("isolated CPUs", facts.isolated_cpus.clone());
    line("irqbalance running", yes(facts.irqbalance));
    line(
        "huge pages, transparent",
        facts.transparent_hugepages.clone(),
    );
    let sensors = facts.temperature_sensors.join(", ");
    line(
        "temperature sensors",
        (!sensors.is_empty()).then_some(sensors),
    );
    for (name, state) in &facts.mitigations {
        line(&format!("mitigation {name}"), Some(state.clone()));
    }
    for (name, version) in &facts.compilers {
        line(&format!("compiler {name}"), Some(version.clone()));
    }
    let width = lines.iter().map(|(name, _)| name.len()).max();
    let width = width.unwrap_or_default();
    let lines = lines.iter();
    lines
        .map(|(name, value)| format!("{name:<width$}  {value}\n"))
        .collect()
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
        .filter(|id| !id.is_empty())
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
    let named = fields(cpuinfo, "model name")
        .next()
        .filter(|name| !name.is_empty())
        .map(str::to_owned);
    let name = named
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

/// The processor's name in the firmware's table, for 64-bit ARM, which has no `model name`. SMBIOS
/// 3.6, 7.5 "Processor Information (Type 4)": the number of the version string is at offset 10h.
/// The zero-terminated strings follow the structure, whose length is at offset 1.
fn dmi_processor(root: &Root) -> Option<String> {
    let table = root.read_bytes("sys/firmware/dmi/entries/4-0/raw")?;
    let strings = table.get(usize::from(*table.get(1)?)..)?;
    let number = usize::from(*table.get(0x10)?).checked_sub(1)?;
    let version = strings.split(|byte| *byte == 0).nth(number)?;
    let version = String::from_utf8_lossy(version).trim().to_owned();
    (!version.is_empty()).then_some(version)
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
    let siblings: BTreeSet<String> = root
        .numbered("sys/devices/system/cpu", "cpu")
        .iter()
        .filter_map(|cpu| root.read(&format!("{cpu}/topology/thread_siblings_list")))
        .collect();
    let count = if siblings.is_empty() {
        let packages = fields(cpuinfo, "physical id");
        packages
            .zip(fields(cpuinfo, "core id"))
            .collect::<BTreeSet<_>>()
            .len()
    } else {
        siblings.len()
    };
    counted(count)
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

/// Whether the host is a virtual machine, and of which hypervisor. An x86 processor has a flag under
/// a hypervisor. Other processors, and the hypervisor's name, are recognized by the firmware's vendor
/// and the paravirtual clocks.
fn virtualization(root: &Root, cpuinfo: &str) -> (Option<bool>, Option<String>) {
    let product = ["sys_vendor", "product_name", "bios_vendor", "board_vendor"]
        .iter()
        .filter_map(|name| root.read(&format!("sys/class/dmi/id/{name}")))
        .collect::<Vec<_>>()
        .join(" ");
    let clocks = root
        .read("sys/devices/system/clocksource/clocksource0/available_clocksource")
        .unwrap_or_default();
    let flags = fields(cpuinfo, "flags").next();
    let flagged = flags.map(|flags| flags.split_whitespace().any(|flag| flag == "hypervisor"));
    let metal = product.contains(".metal");
    let named = [
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
    ]
    .iter()
    .find(|(mark, _)| product.contains(mark))
    .map(|(_, name)| (*name).to_owned())
    .or_else(|| {
        [
            ("kvm-clock", "kvm"),
            ("hyperv_clocksource", "hyper-v"),
            ("xen", "xen"),
        ]
        .iter()
        .find(|(clock, _)| clocks.contains(clock))
        .map(|(_, name)| (*name).to_owned())
    })
    .or_else(|| {
        root.read("sys/hypervisor/type")
            .filter(|name| !name.is_empty())
    });
    let is_virtual = match (flagged, &named) {
        _ if metal => Some(false),
        (Some(flagged), _) => Some(flagged),
        (None, Some(_)) => Some(true),
        (None, None) if !product.is_empty() => Some(false),
        (None, None) => None,
    };
    (is_virtual, named.filter(|_| is_virtual == Some(true)))
}

fn container(root: &Root) -> Option<String> {
    if let Some(name) = root
        .read("run/systemd/container")
        .filter(|name| !name.is_empty())
    {
        return Some(name);
    }
    let cgroups = root.read("proc/1/cgroup").unwrap_or_default();
    [
        (root.exists("run/.containerenv"), "podman"),
        (cgroups.contains("kubepods"), "kubernetes"),
        (root.exists(".dockerenv"), "docker"),
        (cgroups.contains("/lxc"), "lxc"),
    ]
    .iter()
    .find(|(found, _)| *found)
    .map(|(_, name)| (*name).to_owned())
}

fn frequencies(root: &Root, file: &str) -> impl Iterator<Item = f64> {
    let kilohertz: Vec<f64> = root
        .numbered("sys/devices/system/cpu", "cpu")
        .iter()
        .filter_map(|cpu| root.read_number(&format!("{cpu}/cpufreq/{file}")))
        .collect();
    kilohertz.into_iter().map(|khz| khz / 1000.0)
}

fn governor(root: &Root) -> Option<String> {
    let governors: BTreeSet<String> = root
        .numbered("sys/devices/system/cpu", "cpu")
        .iter()
        .filter_map(|cpu| root.read(&format!("{cpu}/cpufreq/scaling_governor")))
        .collect();
    let joined = governors.into_iter().collect::<Vec<_>>().join(", ");
    (!joined.is_empty()).then_some(joined)
}

fn turbo(root: &Root) -> Option<bool> {
    match root
        .read("sys/devices/system/cpu/intel_pstate/no_turbo")
        .as_deref()
    {
        Some("0") => return Some(true),
        Some("1") => return Some(false),
        _ => {}
    }
    match root.read("sys/devices/system/cpu/cpufreq/boost").as_deref() {
        Some("1") => Some(true),
        Some("0") => Some(false),
        _ => None,
    }
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

/// `hwmon` chips and thermal zones that report a temperature.
fn temperature_sensors(root: &Root) -> Vec<String> {
    let chips = root
        .numbered("sys/class/hwmon", "hwmon")
        .into_iter()
        .filter(|chip| {
            root.list(chip)
                .iter()
                .any(|file| file.starts_with("temp") && file.ends_with("_input"))
        });
    let chips = chips.filter_map(|chip| root.read(&format!("{chip}/name")));
    let zones = root
        .numbered("sys/class/thermal", "thermal_zone")
        .into_iter()
        .filter_map(|zone| root.read(&format!("{zone}/type")));
    let names: BTreeSet<String> = chips.chain(zones).collect();
    names.into_iter().collect()
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
