//! Hosts of several kinds, as trees of `/proc` and `/sys`: which facts are captured, what the
//! checks report, and that a reset undoes tuning exactly.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tls_harness::record::Cause;
use tlsbench::host::check::check;
use tlsbench::host::facts::{capture, to_text, to_toml, with_compilers};
use tlsbench::host::identity::identified;
use tlsbench::host::knob::{reset, tune};
use tlsbench::host::root::Root;
use tlsbench::host::watch::Watch;
use tlsbench::manifest::{CheckStatus, HostFacts};

struct Tree {
    folder: TempDir,
}

impl Tree {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// Atomically replaces a file that another thread may be reading.
    fn replace(&self, path: &str, content: &str) {
        self.file("beside", content);
        let beside = self.folder.path().join("beside");
        fs::rename(beside, self.folder.path().join(path)).unwrap();
    }

    fn root(&self) -> Root {
        Root::new(self.folder.path())
    }

    /// Every file except the tuner's own state, with its content.
    fn contents(&self) -> BTreeMap<String, Vec<u8>> {
        fn walk(folder: &Path, into: &mut BTreeMap<String, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    walk(&path, into);
                } else {
                    into.insert(path.display().to_string(), fs::read(&path).unwrap());
                }
            }
        }
        let mut contents = BTreeMap::new();
        walk(self.folder.path(), &mut contents);
        contents
    }

    fn common(&self, cpus: u32, memory_kib: u64) -> &Self {
        self.file("sys/devices/system/cpu/online", format!("0-{}\n", cpus - 1))
            .file("sys/devices/system/cpu/isolated", "\n")
            .file("sys/devices/system/node/node0/cpulist", "")
            .file("sys/devices/system/node/online", "0\n")
            .file(
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            )
            .file(
                "proc/meminfo",
                format!("MemTotal: {memory_kib} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n"),
            )
            .file("proc/sys/kernel/randomize_va_space", "2\n")
            .file("proc/sys/kernel/perf_event_max_sample_rate", "100000\n")
            .file("proc/sys/kernel/osrelease", "6.1.0-26\n")
            .file("proc/stat", stat(100, 0))
            .file("proc/1/comm", "systemd\n")
            .file("proc/1/cgroup", "0::/init.scope\n")
            .file(
                "etc/os-release",
                "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
            )
    }

    fn cpus(&self, cpus: u32, siblings: impl Fn(u32) -> String, governor: &str, max_khz: u64) {
        for cpu in 0..cpus {
            let folder = format!("sys/devices/system/cpu/cpu{cpu}");
            self.file(
                &format!("{folder}/topology/thread_siblings_list"),
                siblings(cpu),
            )
            .file(
                &format!("{folder}/cpufreq/scaling_governor"),
                format!("{governor}\n"),
            )
            .file(
                &format!("{folder}/cpufreq/scaling_available_governors"),
                "performance powersave schedutil\n",
            )
            .file(&format!("{folder}/cpufreq/scaling_min_freq"), "800000\n")
            .file(
                &format!("{folder}/cpufreq/scaling_max_freq"),
                format!("{max_khz}\n"),
            );
        }
    }
}

fn cpuinfo(cpus: u32, name: &str, flags: &str) -> String {
    (0..cpus)
        .map(|cpu| format!("processor\t: {cpu}\ncpu family\t: 6\nmodel\t\t: 167\nmodel name\t: {name}\nstepping\t: 1\nmicrocode\t: 0x5d\nflags\t\t: fpu {flags} sse2\n\n"))
        .collect()
}

/// The server of rustls' own benchmarks: Xeon E-2386G, 6 cores, 12 threads, bare metal.
fn xeon() -> Tree {
    let tree = Tree::new();
    tree.common(12, 32_768_000)
        .file(
            "proc/cpuinfo",
            cpuinfo(12, "Intel(R) Xeon(R) E-2386G CPU @ 3.50GHz", "vmx"),
        )
        .file("proc/sys/kernel/arch", "x86_64\n")
        .file("sys/devices/system/cpu/smt/active", "1\n")
        .file("sys/devices/system/cpu/smt/control", "on\n")
        .file("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n")
        .file(
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "tsc\n",
        )
        .file(
            "sys/devices/system/clocksource/clocksource0/available_clocksource",
            "tsc hpet acpi_pm\n",
        )
        .file("sys/class/dmi/id/sys_vendor", "Supermicro\n")
        .file("sys/class/hwmon/hwmon0/name", "coretemp\n")
        .file("sys/class/hwmon/hwmon0/temp1_input", "41000\n")
        .file("sys/class/hwmon/hwmon1/name", "nvme\n")
        .file("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n")
        .file("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n")
        .file("sys/devices/system/cpu/cpu0/cache/index0/size", "48K\n")
        .file("sys/devices/system/cpu/cpu0/cache/index3/level", "3\n")
        .file("sys/devices/system/cpu/cpu0/cache/index3/type", "Unified\n")
        .file("sys/devices/system/cpu/cpu0/cache/index3/size", "12288K\n")
        .file(
            "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
            "3\n",
        )
        .file(
            "sys/devices/system/cpu/vulnerabilities/meltdown",
            "Not affected\n",
        )
        .file("proc/4000/comm", "irqbalance\n")
        .file("proc/irq/default_smp_affinity", "fff\n")
        .file("proc/irq/1/smp_affinity_list", "0-11\n")
        .file("proc/irq/120/smp_affinity_list", "7\n");
    tree.cpus(
        12,
        |cpu| format!("{},{}\n", cpu % 6, cpu % 6 + 6),
        "powersave",
        5_100_000,
    );
    tree
}

/// Ampere Altra Q80-30: 80 cores without SMT; only the firmware's table contains its name.
fn altra() -> Tree {
    let tree = Tree::new();
    let cores: String = (0..80)
        .map(|cpu| format!("processor\t: {cpu}\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"))
        .collect();
    // A type 4 structure of 48 bytes; its version is the second string.
    let mut table = vec![0_u8; 48];
    (table[0], table[1], table[0x10]) = (4, 48, 2);
    table.extend(b"Ampere(R)\0Ampere(R) Altra(R) Processor\0Q80-30\0\0");
    table[0x10] = 2;
    tree.common(80, 263_000_000)
        .file("proc/cpuinfo", cores)
        .file("proc/sys/kernel/arch", "aarch64\n")
        .file("sys/firmware/dmi/entries/4-0/raw", table)
        .file("sys/class/dmi/id/sys_vendor", "GIGABYTE\n")
        .file("sys/devices/system/cpu/smt/active", "0\n")
        .file("sys/devices/system/cpu/smt/control", "notimplemented\n")
        .file(
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "arch_sys_counter\n",
        )
        .file("sys/class/thermal/thermal_zone0/type", "SoC\n")
        .file("sys/class/thermal/thermal_zone0/temp", "53500\n");
    tree.cpus(80, |cpu| format!("{cpu}\n"), "performance", 3_000_000);
    tree
}

/// An AMD server: two NUMA nodes, SMT, boost, some processors isolated.
fn epyc() -> Tree {
    let tree = Tree::new();
    tree.common(64, 131_000_000)
        .file(
            "proc/cpuinfo",
            cpuinfo(64, "AMD EPYC 7543P 32-Core Processor", "svm"),
        )
        .file("proc/sys/kernel/arch", "x86_64\n")
        .file("sys/devices/system/node/node1/cpulist", "")
        .file("sys/devices/system/cpu/isolated", "2-31\n")
        .file("sys/devices/system/cpu/smt/active", "1\n")
        .file("sys/devices/system/cpu/smt/control", "on\n")
        .file("sys/devices/system/cpu/cpufreq/boost", "1\n")
        .file(
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "hpet\n",
        )
        .file("sys/class/dmi/id/sys_vendor", "Dell Inc.\n")
        .file("sys/class/hwmon/hwmon2/name", "k10temp\n")
        .file("sys/class/hwmon/hwmon2/temp1_input", "88000\n")
        .file("proc/irq/33/smp_affinity_list", "0-63\n");
    tree.cpus(
        64,
        |cpu| format!("{},{}\n", cpu % 32, cpu % 32 + 32),
        "schedutil",
        3_700_000,
    );
    tree
}

/// A small virtual machine without firmware tables and without frequencies.
fn virtual_machine() -> Tree {
    let tree = Tree::new();
    tree.common(2, 24_684_084)
        .file(
            "proc/cpuinfo",
            cpuinfo(2, "Intel(R) Xeon(R) Processor", "hypervisor"),
        )
        .file("proc/sys/kernel/arch", "x86_64\n")
        .file("sys/devices/system/cpu/smt/active", "0\n")
        .file("sys/devices/system/cpu/smt/control", "notsupported\n")
        .file(
            "sys/devices/system/clocksource/clocksource0/current_clocksource",
            "tsc\n",
        )
        .file(
            "sys/devices/system/clocksource/clocksource0/available_clocksource",
            "tsc kvm-clock\n",
        );
    for cpu in 0..2 {
        let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        tree.file(&path, format!("{cpu}\n"));
    }
    tree
}

/// A container that has `/proc`, but no `/sys`.
fn container() -> Tree {
    let tree = Tree::new();
    let processors: String = (0..8)
        .map(|cpu| {
            format!(
                "processor\t: {cpu}\nmodel name\t: AMD Ryzen 7 7700\nphysical id\t: 0\n\
                 core id\t\t: {}\nflags\t\t: fpu sse2\n\n",
                cpu / 2
            )
        })
        .collect();
    tree.file("proc/cpuinfo", processors)
        .file("proc/sys/kernel/arch", "x86_64\n")
        .file("proc/meminfo", "MemTotal: 65536 kB\n")
        .file(".dockerenv", "");
    tree
}

/// The result of each check by its name: the load is watched for half a second in each call.
fn statuses(tree: &Tree) -> BTreeMap<String, (CheckStatus, String)> {
    let root = tree.root();
    let results = check(&capture(&root), &root).into_iter();
    let named = results.map(|result| {
        assert_eq!(result.fix.is_none(), result.status == CheckStatus::Pass);
        (result.check, (result.status, result.found))
    });
    named.collect()
}

#[test]
fn a_xeon_server_is_read() {
    let facts = capture(&xeon().root());
    assert_eq!(facts.id, "intel-xeon-e-2386g-cpu-6-cores");
    assert_eq!(facts.cpu, "Intel(R) Xeon(R) E-2386G CPU @ 3.50GHz");
    assert_eq!(
        facts.cpu_model.as_deref(),
        Some("family 6, model 167, stepping 1")
    );
    assert_eq!(
        (facts.cores, facts.threads, facts.smt),
        (Some(6), Some(12), Some(true))
    );
    assert_eq!(facts.memory_bytes, Some(32_768_000 * 1024));
    assert_eq!(
        (facts.is_virtual, facts.virtualization),
        (Some(false), None)
    );
    assert_eq!(facts.container, None);
    assert_eq!(facts.governor.as_deref(), Some("powersave"));
    assert_eq!(
        (facts.frequency_min_mhz, facts.frequency_max_mhz),
        (Some(800.0), Some(5100.0))
    );
    assert_eq!(
        (facts.turbo, facts.aslr, facts.numa_nodes),
        (Some(true), Some(2), Some(1))
    );
    assert_eq!(facts.irqbalance, Some(true));
    assert_eq!(facts.isolated_cpus.as_deref(), Some("none"));
    assert_eq!(facts.microcode.as_deref(), Some("0x5d"));
    assert_eq!(facts.transparent_hugepages.as_deref(), Some("madvise"));
    assert_eq!(facts.temperature_sensors, ["coretemp"]);
    assert_eq!(facts.caches["L1d"], "48 KiB");
    assert_eq!(facts.caches["L3"], "12 MiB");
    assert_eq!(facts.mitigations["meltdown"], "Not affected");
    assert_eq!(facts.os.as_deref(), Some("Debian GNU/Linux 12 (bookworm)"));
}

#[test]
fn an_ampere_server_is_read() {
    let facts = capture(&altra().root());
    assert_eq!(facts.cpu, "Ampere(R) Altra(R) Processor");
    assert_eq!(facts.cpu_model, None);
    assert_eq!(facts.architecture, "aarch64");
    assert_eq!(
        (facts.cores, facts.threads, facts.smt),
        (Some(80), Some(80), Some(false))
    );
    assert_eq!(
        (facts.is_virtual, facts.turbo, facts.microcode),
        (Some(false), None, None)
    );
    assert_eq!(facts.temperature_sensors, ["SoC"]);
}

#[test]
fn without_the_firmware_table_an_arm_core_is_named_by_its_design() {
    let tree = altra();
    fs::remove_dir_all(tree.folder.path().join("sys/firmware")).unwrap();
    assert_eq!(capture(&tree.root()).cpu, "Arm Neoverse-N1");
}

#[test]
fn an_amd_server_with_smt_is_read() {
    let facts = capture(&epyc().root());
    assert_eq!(
        (facts.cores, facts.threads, facts.smt),
        (Some(32), Some(64), Some(true))
    );
    assert_eq!((facts.turbo, facts.numa_nodes), (Some(true), Some(2)));
    assert_eq!(facts.isolated_cpus.as_deref(), Some("2-31"));
    assert_eq!(facts.governor.as_deref(), Some("schedutil"));
}

#[test]
fn a_virtual_machine_is_reported_as_one() {
    let facts = capture(&virtual_machine().root());
    assert_eq!(facts.id, "intel-xeon-processor-2-cores-vm");
    assert_eq!(
        (facts.is_virtual, facts.virtualization.as_deref()),
        (Some(true), Some("kvm"))
    );
    assert_eq!(
        (facts.governor, facts.turbo, facts.frequency_max_mhz),
        (None, None, None)
    );
}

#[test]
fn a_container_without_sysfs_reports_what_it_can() {
    let facts = capture(&container().root());
    assert_eq!(facts.container.as_deref(), Some("docker"));
    assert_eq!(
        (facts.cores, facts.threads, facts.smt),
        (Some(4), Some(8), Some(true))
    );
    assert_eq!(
        (facts.numa_nodes, facts.isolated_cpus, facts.os),
        (None, None, None)
    );
}

#[test]
fn facts_of_every_host_fit_the_schema_and_can_be_shown() {
    let schema = format!(
        "{}/../../data/schema/host.schema.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for root in
        [xeon(), altra(), epyc(), virtual_machine(), container()].map(|tree| capture(&tree.root()))
    {
        let text = to_toml(&root).unwrap();
        let value: serde_json::Value = toml::from_str(&text).unwrap();
        validator.validate(&value).unwrap();
        assert!(to_text(&root).contains(&root.cpu));
    }
}

#[test]
fn facts_are_shown_in_two_columns_with_names_of_any_length() {
    let tree = xeon();
    tree.file(
        "sys/devices/system/cpu/vulnerabilities/gather_data_sampling",
        "Not affected\n",
    );
    let text = to_text(&capture(&tree.root()));
    let line = "mitigation gather_data_sampling  Not affected";
    assert!(text.lines().any(|it| it == line), "{text}");
    let column = line.find("Not").unwrap();
    for line in text.lines() {
        let (name, value) = line.split_at(column);
        assert!(
            name.ends_with("  ") && !value.starts_with(' '),
            "{line}: expected the value in column {column}"
        );
    }
}

#[test]
fn this_host_is_read_with_its_compilers() {
    let facts = with_compilers(capture(&Root::host()));
    assert!(facts.threads.unwrap() > 0 && facts.memory_bytes.unwrap() > 1 << 20);
    assert!(facts.compilers["rustc"].starts_with("rustc "));
}

#[test]
fn a_known_host_is_found_by_processor_threads_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let known = |id: &str, threads: u32| {
        let text = format!(
            "schema = 1\nid = \"{id}\"\nname = \"X\"\narchitecture = \"x86_64\"\n\
             cpu = \"Intel(R) Xeon(R) E-2386G CPU @ 3.50GHz\"\nthreads = {threads}\n\
             memory_bytes = 34359738368\n"
        );
        fs::write(folder.path().join(format!("{id}.toml")), text).unwrap();
    };
    let id = |asked: Option<&str>| -> HostFacts {
        identified(capture(&xeon().root()), asked, folder.path()).unwrap()
    };
    fs::write(folder.path().join("being-written.toml"), "").unwrap();
    known("other", 6);
    assert_eq!(id(None).id, "intel-xeon-e-2386g-cpu-6-cores");
    known("rustls-bench", 12);
    assert_eq!(id(None).id, "rustls-bench");
    assert_eq!(id(Some("mine")).id, "mine");
    assert!(identified(capture(&xeon().root()), Some("Mine"), folder.path()).is_err());
    assert_eq!(id(Some(&"h".repeat(200))).id.len(), 200);
    let long = "h".repeat(201);
    assert!(identified(capture(&xeon().root()), Some(&long), folder.path()).is_err());
}

#[test]
fn checks_find_the_noise_of_each_host() {
    use CheckStatus::{Fail, Pass, Warn};
    const UNKNOWN: &str = "the host does not report it";
    for (tree, expected) in [
        (
            xeon(),
            &[
                ("virtual-machine", Pass, "bare metal"),
                ("governor", Warn, "powersave"),
                ("turbo", Warn, "on"),
                ("smt", Warn, "on"),
                ("irqbalance", Warn, "running"),
                ("perf-sampling", Warn, "at most 100000 samples/s"),
                ("throttling", Warn, "3 times since boot"),
                ("temperature", Pass, "41 °C"),
                ("load", Pass, "0% of a core"),
            ][..],
        ),
        (
            altra(),
            &[
                ("governor", Pass, "performance"),
                ("smt", Pass, "off"),
                ("turbo", Warn, UNKNOWN),
                ("temperature", Pass, "54 °C"),
            ],
        ),
        (
            epyc(),
            &[
                ("clock-source", Fail, "hpet"),
                ("numa", Warn, "2 nodes"),
                ("temperature", Warn, "88 °C"),
            ],
        ),
        (
            virtual_machine(),
            &[
                ("virtual-machine", Warn, "a virtual machine (kvm)"),
                ("governor", Pass, UNKNOWN),
            ],
        ),
        (
            container(),
            &[
                ("container", Warn, "docker"),
                ("clock-source", Warn, UNKNOWN),
                ("load", Warn, UNKNOWN),
            ],
        ),
    ] {
        let found = statuses(&tree);
        for &(name, status, text) in expected {
            assert_eq!(found[name], (status, text.to_owned()), "{name}");
        }
    }
}

#[test]
fn a_host_with_load_by_others_fails_the_check() {
    let tree = xeon();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(100));
            tree.replace("proc/stat", &stat(100 + ticks(100.0), 0));
        });
        assert_eq!(statuses(&tree)["load"].0, CheckStatus::Fail);
    });
}

#[test]
fn a_quota_fails_the_check() {
    let tree = xeon();
    tree.file("sys/fs/cgroup/cpu.max", "max 100000\n");
    assert_eq!(statuses(&tree)["cpu-quota"].0, CheckStatus::Pass);
    tree.file("sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_eq!(statuses(&tree)["cpu-quota"].0, CheckStatus::Fail);
}

#[test]
fn a_sensor_that_cannot_be_read_is_named() {
    let tree = xeon();
    // Nobody can read a folder as a file, not even root.
    let sensor = tree
        .folder
        .path()
        .join("sys/class/hwmon/hwmon0/temp1_input");
    fs::remove_file(&sensor).unwrap();
    fs::create_dir(&sensor).unwrap();
    let root = tree.root();
    check(&capture(&root), &root);
    let unreadable = root.unreadable();
    assert_eq!(unreadable.len(), 1);
    assert!(unreadable[0].starts_with("/sys/class/hwmon/hwmon0/temp1_input: "));
}

fn read(tree: &Tree, path: &str) -> String {
    tree.root().read(path).unwrap()
}

#[test]
fn tuning_sets_every_knob_and_reset_restores_exactly_what_was_found() {
    let tree = xeon();
    fs::create_dir(tree.folder.path().join("run")).unwrap();
    let before = tree.contents();
    let report = tune(&tree.root()).unwrap();
    assert!(!report.failed, "{report:?}");
    let cpus = "sys/devices/system/cpu";
    assert_eq!(read(&tree, &format!("{cpus}/smt/control")), "off");
    assert_eq!(
        read(&tree, &format!("{cpus}/cpu11/cpufreq/scaling_governor")),
        "performance"
    );
    assert_eq!(read(&tree, &format!("{cpus}/intel_pstate/no_turbo")), "1");
    assert_eq!(read(&tree, "proc/irq/120/smp_affinity_list"), "0");
    assert_eq!(
        read(&tree, "proc/sys/kernel/perf_event_max_sample_rate"),
        "1"
    );
    // Tuning again finds tuned values, and must not save them as the original ones.
    tune(&tree.root()).unwrap();
    let report = reset(&tree.root()).unwrap();
    assert!(!report.failed, "{report:?}");
    let after = tree.contents();
    let trimmed = |contents: &BTreeMap<String, Vec<u8>>| -> BTreeMap<String, String> {
        contents
            .iter()
            .map(|(path, bytes)| {
                (
                    path.clone(),
                    String::from_utf8_lossy(bytes).trim().to_owned(),
                )
            })
            .collect()
    };
    assert_eq!(trimmed(&after), trimmed(&before));
    assert_eq!(reset(&tree.root()).unwrap().lines, ["nothing was tuned"]);
}

#[test]
fn interrupts_go_to_the_processors_that_are_not_isolated() {
    let tree = epyc();
    fs::create_dir(tree.folder.path().join("run")).unwrap();
    tune(&tree.root()).unwrap();
    assert_eq!(read(&tree, "proc/irq/33/smp_affinity_list"), "0-1,32-63");
    assert_eq!(read(&tree, "sys/devices/system/cpu/cpufreq/boost"), "0");
}

#[test]
fn an_interrupted_tuning_is_undone() {
    let tree = xeon();
    fs::create_dir(tree.folder.path().join("run")).unwrap();
    // The last knob's file can be read, but not written.
    let broken = tree
        .folder
        .path()
        .join("proc/sys/kernel/perf_event_max_sample_rate");
    fs::remove_file(&broken).unwrap();
    std::os::unix::fs::symlink("/proc/version", &broken).unwrap();
    let report = tune(&tree.root()).unwrap();
    assert!(report.failed);
    assert!(
        report
            .lines
            .last()
            .unwrap()
            .contains("not set: /proc/sys/kernel/perf_event")
    );
    assert_eq!(read(&tree, "sys/devices/system/cpu/smt/control"), "off");
    assert!(!reset(&tree.root()).unwrap().failed);
    assert_eq!(read(&tree, "sys/devices/system/cpu/smt/control"), "on");
    assert_eq!(
        read(
            &tree,
            "sys/devices/system/cpu/cpu3/cpufreq/scaling_governor"
        ),
        "powersave"
    );
}

#[test]
fn nothing_is_changed_if_the_settings_cannot_be_saved() {
    let tree = xeon();
    // Without /run the state file cannot be written.
    let before = tree.contents();
    let error = tune(&tree.root()).unwrap_err();
    assert!(error.to_string().contains("nothing was changed"), "{error}");
    assert_eq!(tree.contents(), before);
}

#[test]
fn a_host_without_knobs_is_left_alone() {
    let tree = container();
    let before = tree.contents();
    let report = tune(&tree.root()).unwrap();
    assert!(
        report
            .lines
            .iter()
            .all(|line| line.ends_with("not on this host"))
    );
    assert_eq!(tree.contents(), before);
}

/// `/proc/stat` of two processors: ticks in user mode and stolen, since boot.
fn stat(user: u64, steal: u64) -> String {
    format!("cpu  {user} 0 0 1000 0 0 0 {steal} 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\nintr 1\n")
}

#[test]
fn a_rounds_own_load_does_not_disturb_it() {
    let tree = xeon();
    tree.file("proc/stat", stat(100, 0));
    let root = tree.root();
    let mut watch = Watch::start(&root);
    for (mhz, temperature) in [(3_000_000, 50_000), (3_400_000, 61_000)] {
        for cpu in 0..12 {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq");
            tree.file(&path, mhz.to_string());
        }
        tree.file(
            "sys/class/hwmon/hwmon0/temp1_input",
            temperature.to_string(),
        );
        watch.sample();
    }
    // The round itself used a second of processor time.
    tree.file("proc/stat", stat(100 + ticks(1.0), 0));
    let seen = watch.finish(1.0);
    assert_eq!(seen.disturbances, []);
    assert_eq!(seen.load_by_others_percent, Some(0.0));
    assert_eq!(seen.steal_percent, Some(0.0));
    assert_eq!(seen.throttle_count, Some(0));
    assert_eq!(seen.frequency_mhz, Some(3200.0));
    assert_eq!(seen.temperature_celsius, Some(61.0));
}

fn ticks(seconds: f64) -> u64 {
    (seconds * rustix::param::clock_ticks_per_second() as f64) as u64
}

#[test]
fn load_by_others_steal_time_and_throttling_disturb_a_round() {
    let disturbed = |user: f64, steal: f64, throttled: u64| {
        let tree = xeon();
        tree.file("proc/stat", stat(0, 0));
        let root = tree.root();
        let watch = Watch::start(&root);
        tree.file("proc/stat", stat(ticks(user), ticks(steal)))
            .file(
                "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
                (3 + throttled).to_string(),
            );
        std::thread::sleep(Duration::from_millis(50));
        let found = watch.finish(0.5).disturbances.into_iter();
        found.unzip::<_, _, Vec<_>, Vec<_>>()
    };
    let none = (vec![], vec![]);
    assert_eq!(disturbed(0.5, 0.0, 0), none);
    assert_eq!(disturbed(0.52, 0.02, 0), none, "less than a few ticks");
    let (causes, reasons) = disturbed(1.5, 0.0, 0);
    assert_eq!(causes, [Cause::Load]);
    assert!(reasons[0].starts_with("load by others of "));
    let (causes, reasons) = disturbed(0.5, 1.0, 0);
    assert_eq!(causes, [Cause::Steal]);
    assert!(reasons[0].starts_with("steal time of "));
    let (causes, reasons) = disturbed(0.5, 0.0, 2);
    assert_eq!(causes, [Cause::Throttled]);
    assert_eq!(reasons, ["throttled 2 times"]);
    let (causes, _) = disturbed(1.5, 1.0, 1);
    assert_eq!(causes, [Cause::Load, Cause::Steal, Cause::Throttled]);
}
