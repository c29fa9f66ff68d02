//! Hosts of several kinds, as trees of `/proc` and `/sys`: which facts are captured, what the
//! checks report, and that a reset undoes tuning exactly.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use tempfile::TempDir;
use tls_harness::record::Cause;
use tlsbench::host::check::check;
use tlsbench::host::facts::{capture, to_json, to_text, to_toml, with_compilers};
use tlsbench::host::identity::{changed_since_known, identified};
use tlsbench::host::knob::{plan, reset, tune};
use tlsbench::host::root::Root;
use tlsbench::host::watch::Watch;
use tlsbench::manifest::CheckStatus;

struct Tree {
    folder: TempDir,
}

const CPUS: &str = "sys/devices/system/cpu";

/// Files of every kind of host but a container: each line has the path and the content.
const COMMON: &str = "
sys/devices/system/node/node0/cpulist
sys/devices/system/node/online 0
sys/kernel/mm/transparent_hugepage/enabled always [madvise] never
proc/sys/kernel/randomize_va_space 2
proc/sys/kernel/perf_event_max_sample_rate 100000
proc/sys/kernel/osrelease 6.1.0-26
proc/1/comm systemd
proc/1/cgroup 0::/init.scope
";

impl Tree {
    fn new(files: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tree = Self { folder };
        for line in files.lines().filter(|it| !it.is_empty()) {
            let (path, content) = line.split_once(' ').unwrap_or((line, ""));
            tree.file(path, format!("{content}\n"));
        }
        tree
    }

    fn file(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Atomically replaces a file that another thread may be reading.
    fn replace(&self, path: &str, content: &str) {
        self.file("beside", content);
        fs::rename(self.path("beside"), self.path(path)).unwrap();
    }

    fn root(&self) -> Root {
        Root::new(self.folder.path())
    }

    fn read(&self, path: &str) -> String {
        self.root().read(path).unwrap()
    }

    /// Every file with its content, without surrounding white space.
    fn contents(&self) -> BTreeMap<PathBuf, String> {
        let mut contents = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let bytes = fs::read(&path).unwrap();
                    let text = String::from_utf8_lossy(&bytes).trim().to_owned();
                    contents.insert(path, text);
                }
            }
        }
        contents
    }
}

/// A host with `cpus` processors, each of which shares its core with those of `siblings`.
fn host(cpus: u32, memory_kib: u64, siblings: impl Fn(u32) -> String, files: &str) -> Tree {
    let tree = Tree::new(&format!("{COMMON}{files}"));
    let memory = format!("MemTotal: {memory_kib} kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
    let name = "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n";
    tree.file(&format!("{CPUS}/online"), format!("0-{}\n", cpus - 1))
        .file("proc/meminfo", memory)
        .file("proc/stat", stat(100, 0))
        .file("etc/os-release", name);
    for cpu in 0..cpus {
        let path = format!("{CPUS}/cpu{cpu}/topology/thread_siblings_list");
        tree.file(&path, siblings(cpu));
    }
    tree
}

fn governed(tree: &Tree, cpus: u32, governor: &str, max_khz: u64) {
    for cpu in 0..cpus {
        for (file, content) in [
            ("governor", governor.to_owned()),
            (
                "available_governors",
                "performance powersave schedutil".to_owned(),
            ),
            ("min_freq", "800000".to_owned()),
            ("max_freq", max_khz.to_string()),
        ] {
            let path = format!("{CPUS}/cpu{cpu}/cpufreq/scaling_{file}");
            tree.file(&path, format!("{content}\n"));
        }
    }
}

fn cpuinfo(cpus: u32, name: &str, flags: &str) -> String {
    (0..cpus)
        .map(|cpu| {
            format!(
                "processor\t: {cpu}\ncpu family\t: 6\nmodel\t\t: 167\nmodel name\t: {name}\n\
                 stepping\t: 1\nmicrocode\t: 0x5d\nflags\t\t: fpu {flags} sse2\n\n"
            )
        })
        .collect()
}

const XEON: &str = "
sys/devices/system/cpu/isolated
proc/sys/kernel/arch x86_64
sys/devices/system/cpu/smt/active 1
sys/devices/system/cpu/smt/control on
sys/devices/system/cpu/intel_pstate/no_turbo 0
sys/devices/system/clocksource/clocksource0/current_clocksource tsc
sys/devices/system/clocksource/clocksource0/available_clocksource tsc hpet acpi_pm
sys/class/dmi/id/sys_vendor Supermicro
sys/class/hwmon/hwmon0/name coretemp
sys/class/hwmon/hwmon0/temp1_input 41000
sys/class/hwmon/hwmon1/name nvme
sys/devices/system/cpu/cpu0/cache/index0/level 1
sys/devices/system/cpu/cpu0/cache/index0/type Data
sys/devices/system/cpu/cpu0/cache/index0/size 48K
sys/devices/system/cpu/cpu0/cache/index3/level 3
sys/devices/system/cpu/cpu0/cache/index3/type Unified
sys/devices/system/cpu/cpu0/cache/index3/size 12288K
sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count 3
sys/devices/system/cpu/vulnerabilities/meltdown Not affected
sys/devices/system/cpu/vulnerabilities/gather_data_sampling Not affected
proc/4000/comm irqbalance
proc/irq/default_smp_affinity fff
proc/irq/1/smp_affinity_list 0-11
proc/irq/120/smp_affinity_list 7
";

/// The server of rustls' own benchmarks: Xeon E-2386G, 6 cores, 12 threads, bare metal.
fn xeon() -> Tree {
    let siblings = |cpu| format!("{},{}\n", cpu % 6, cpu % 6 + 6);
    let tree = host(12, 32_768_000, siblings, XEON);
    let name = "Intel(R) Xeon(R) E-2386G CPU @ 3.50GHz";
    tree.file("proc/cpuinfo", cpuinfo(12, name, "vmx aes avx512ifma avx2"));
    governed(&tree, 12, "powersave", 5_100_000);
    tree
}

const ALTRA: &str = "
sys/devices/system/cpu/isolated
proc/sys/kernel/arch aarch64
sys/class/dmi/id/sys_vendor GIGABYTE
sys/devices/system/cpu/smt/active 0
sys/devices/system/cpu/smt/control notimplemented
sys/devices/system/clocksource/clocksource0/current_clocksource arch_sys_counter
sys/class/thermal/thermal_zone0/type SoC
sys/class/thermal/thermal_zone0/temp 53500
";

/// Ampere Altra Q80-30: 80 cores without SMT; only the firmware's table contains its name.
fn altra() -> Tree {
    let tree = host(80, 263_000_000, |cpu| format!("{cpu}\n"), ALTRA);
    let cores = (0..80).map(|cpu| {
        format!(
            "processor\t: {cpu}\nFeatures\t: fp asimd aes pmull sha1 sha2\n\
                 CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n\n"
        )
    });
    // A type 4 structure of 48 bytes; its version is the second string.
    let mut table = vec![0_u8; 48];
    (table[0], table[1], table[0x10]) = (4, 48, 2);
    table.extend(b"Ampere(R)\0Ampere(R) Altra(R) Processor\0Q80-30\0\0");
    tree.file("proc/cpuinfo", cores.collect::<String>())
        .file("sys/firmware/dmi/entries/4-0/raw", table);
    governed(&tree, 80, "performance", 3_000_000);
    tree
}

const EPYC: &str = "
sys/devices/system/cpu/isolated 2-31
proc/sys/kernel/arch x86_64
sys/devices/system/node/node1/cpulist
sys/devices/system/cpu/smt/active 1
sys/devices/system/cpu/smt/control on
sys/devices/system/cpu/cpufreq/boost 1
sys/devices/system/clocksource/clocksource0/current_clocksource hpet
sys/class/dmi/id/sys_vendor Dell Inc.
sys/class/hwmon/hwmon2/name k10temp
sys/class/hwmon/hwmon2/temp1_input 88000
proc/irq/33/smp_affinity_list 0-63
";

/// An AMD server: two NUMA nodes, SMT, boost, some processors isolated.
fn epyc() -> Tree {
    let siblings = |cpu| format!("{},{}\n", cpu % 32, cpu % 32 + 32);
    let tree = host(64, 131_000_000, siblings, EPYC);
    let name = "AMD EPYC 7543P 32-Core Processor";
    tree.file("proc/cpuinfo", cpuinfo(64, name, "svm"));
    governed(&tree, 64, "schedutil", 3_700_000);
    tree
}

const VIRTUAL_MACHINE: &str = "
sys/devices/system/cpu/isolated
proc/sys/kernel/arch x86_64
sys/devices/system/cpu/smt/active 0
sys/devices/system/cpu/smt/control notsupported
sys/devices/system/clocksource/clocksource0/current_clocksource tsc
sys/devices/system/clocksource/clocksource0/available_clocksource tsc kvm-clock
";

/// A small virtual machine without firmware tables and without frequencies.
fn virtual_machine() -> Tree {
    let tree = host(2, 24_684_084, |cpu| format!("{cpu}\n"), VIRTUAL_MACHINE);
    let text = cpuinfo(2, "Intel(R) Xeon(R) Processor", "hypervisor");
    tree.file("proc/cpuinfo", text);
    tree
}

/// A container that has `/proc`, but no `/sys`.
fn container() -> Tree {
    let processors = (0..8).map(|cpu| {
        format!(
            "processor\t: {cpu}\nmodel name\t: AMD Ryzen 7 7700\nphysical id\t: 0\n\
             core id\t\t: {}\nflags\t\t: fpu sse2\n\n",
            cpu / 2
        )
    });
    let tree = Tree::new("proc/sys/kernel/arch x86_64\n.dockerenv");
    tree.file("proc/cpuinfo", processors.collect::<String>())
        .file("proc/meminfo", "MemTotal: 65536 kB\n");
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

/// What must be captured of each host, in the form of `tlsbench host show --toml`, and the facts
/// that it does not report.
#[test]
fn the_facts_of_each_host_are_captured_and_shown() {
    let schema = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/schema/host.schema.json"
    );
    let schema = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let no_table = altra();
    fs::remove_dir_all(no_table.path("sys/firmware")).unwrap();
    for (tree, facts, absent) in [
        (
            xeon(),
            "id = \"intel-xeon-e-2386g-cpu-6-cores\"
             cpu = \"Intel(R) Xeon(R) E-2386G CPU @ 3.50GHz\"
             cpu_model = \"family 6, model 167, stepping 1\"
             features = [\"aes\", \"avx2\", \"avx512ifma\"]
             cores = 6\nthreads = 12\nsmt = true\nmemory_bytes = 33554432000\nvirtual = false
             governor = \"powersave\"\nfrequency_min_mhz = 800.0\nfrequency_max_mhz = 5100.0
             turbo = true\naslr = 2\nnuma_nodes = 1\nirqbalance = true\nisolated_cpus = \"none\"
             microcode = \"0x5d\"\ntransparent_hugepages = \"madvise\"
             temperature_sensors = [\"coretemp\"]\ncaches = { L1d = \"48 KiB\", L3 = \"12 MiB\" }
             os = \"Debian GNU/Linux 12 (bookworm)\"
             mitigations.meltdown = \"Not affected\"
             mitigations.gather_data_sampling = \"Not affected\"",
            "virtualization container",
        ),
        (
            altra(),
            "cpu = \"Ampere(R) Altra(R) Processor\"\narchitecture = \"aarch64\"
             features = [\"aes\", \"pmull\", \"sha2\"]
             cores = 80\nthreads = 80\nsmt = false\nvirtual = false
             temperature_sensors = [\"SoC\"]",
            "cpu_model turbo microcode",
        ),
        // Without the firmware's table, an Arm core is named by its design.
        (no_table, "cpu = \"Arm Neoverse-N1\"", "cpu_model"),
        (
            epyc(),
            "cores = 32\nthreads = 64\nsmt = true\nturbo = true\nnuma_nodes = 2
             isolated_cpus = \"2-31\"\ngovernor = \"schedutil\"",
            "container",
        ),
        (
            virtual_machine(),
            "id = \"intel-xeon-processor-family-6-model-167-2-cores-vm\"
             virtual = true\nvirtualization = \"kvm\"",
            "features governor turbo frequency_max_mhz",
        ),
        (
            container(),
            "container = \"docker\"\ncores = 4\nthreads = 8\nsmt = true",
            "numa_nodes isolated_cpus os",
        ),
    ] {
        let captured = capture(&tree.root());
        let found: toml::Table = toml::from_str(&to_toml(&captured).unwrap()).unwrap();
        for (name, expected) in toml::from_str::<toml::Table>(facts).unwrap() {
            assert_eq!(found.get(&name), Some(&expected), "{name}");
        }
        for name in absent.split(' ') {
            assert_eq!(found.get(name), None);
        }
        let fields = serde_json::to_value(found).unwrap();
        validator.validate(&fields).unwrap();
        let json: serde_json::Value = serde_json::from_str(&to_json(&captured).unwrap()).unwrap();
        assert_eq!(json, fields);
        assert!(to_text(&captured).contains(&captured.cpu));
    }
}

#[test]
fn facts_are_shown_in_two_columns_with_names_of_any_length() {
    let text = to_text(&capture(&xeon().root()));
    for (name, value) in [
        ("cores", "6"),
        ("SMT", "on"),
        ("memory", "31.2 GiB"),
        ("virtual machine", "no"),
        ("container", "none found"),
        ("frequency limits", "800 to 5100 MHz"),
        ("machine", "not readable"),
        ("cache L3", "12 MiB"),
        ("mitigation gather_data_sampling", "Not affected"),
    ] {
        let line = format!("{name:<31}  {value}");
        assert!(text.lines().any(|it| it == line), "{line}\n{text}");
    }
    let text = to_text(&capture(&virtual_machine().root()));
    assert!(
        text.contains("virtual machine          yes (kvm)\n"),
        "{text}"
    );
}

#[test]
fn this_host_is_read_with_its_compilers() {
    let facts = with_compilers(capture(&Root::host()));
    assert!(facts.threads.unwrap() > 0 && facts.memory_bytes.unwrap() > 1 << 20);
    assert!(facts.compilers["rustc"].starts_with("rustc "));
}

#[test]
fn a_known_host_is_found_by_processor_model_threads_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let known = |id: &str, threads: u32, cpu_model: &str| {
        let text = format!(
            "schema = 1\nid = \"{id}\"\nname = \"X\"\narchitecture = \"x86_64\"\n\
             cpu = \"Intel(R) Xeon(R) E-2386G CPU @ 3.50GHz\"\nthreads = {threads}\n\
             cpu_model = \"{cpu_model}\"\nmemory_bytes = 34359738368\n"
        );
        fs::write(folder.path().join(format!("{id}.toml")), text).unwrap();
    };
    let id = |asked: Option<&str>| {
        let facts = identified(capture(&xeon().root()), asked, folder.path());
        facts.map(|facts| facts.id)
    };
    fs::write(folder.path().join("being-written.toml"), "").unwrap();
    let rocket_lake = "family 6, model 167 (Rocket Lake)";
    known("other", 6, rocket_lake);
    known("another-model", 12, "family 6, model 168");
    known("another-stepping", 12, "family 6, model 167, stepping 2");
    assert_eq!(id(None).unwrap(), "intel-xeon-e-2386g-cpu-6-cores");
    known("rustls-bench", 12, rocket_lake);
    assert_eq!(id(None).unwrap(), "rustls-bench");
    assert_eq!(id(Some("mine")).unwrap(), "mine");
}

#[test]
fn changes_of_a_known_host_are_named_and_no_file_of_another_is_read() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("other.toml"), "no TOML").unwrap();
    let mut facts = capture(&xeon().root());
    facts.id = "mine".to_owned();
    let known = to_toml(&facts).unwrap();
    let path = folder.path().join("mine.toml");
    let changes = || changed_since_known(&facts, folder.path()).unwrap();
    assert_eq!(changes(), [""; 0]);
    let kernel = facts.kernel.as_deref().unwrap();
    for (text, expected) in [
        ("", vec![]),
        (&*known, vec![]),
        (
            &known.replace(kernel, "6.0.9"),
            vec![format!("kernel was 6.0.9, is {kernel}")],
        ),
        (
            &known.replace("\"avx512ifma\"", "\"bmi2\""),
            vec!["features was aes avx2 bmi2, is aes avx2 avx512ifma".to_owned()],
        ),
        (
            &known.replace("model 167", "model 168"),
            vec![
                "another processor model under this name, cpu model was family 6, model 168, \
                 stepping 1, is family 6, model 167, stepping 1"
                    .to_owned(),
            ],
        ),
    ] {
        fs::write(&path, text).unwrap();
        assert_eq!(changes(), expected);
    }
}

#[test]
fn checks_find_the_noise_of_each_host() {
    use CheckStatus::{Fail, Pass, Warn};
    const UNKNOWN: &str = "the host does not report it";
    let [limited, limited_in_v1, unlimited] = [
        ("cpu.max", "50000 100000"),
        ("cpu/cpu.cfs_quota_us", "50000"),
        ("cpu.max", "max 100000"),
    ]
    .map(|(file, quota)| {
        let tree = xeon();
        tree.file(&format!("sys/fs/cgroup/{file}"), quota);
        tree
    });
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
        (limited, &[("cpu-quota", Fail, "50000 100000")]),
        (limited_in_v1, &[("cpu-quota", Fail, "50000")]),
        (unlimited, &[("cpu-quota", Pass, "none")]),
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
fn a_sensor_that_cannot_be_read_is_named() {
    let tree = xeon();
    // Nobody can read a folder as a file, not even root.
    let sensor = "sys/class/hwmon/hwmon0/temp1_input";
    fs::remove_file(tree.path(sensor)).unwrap();
    fs::create_dir(tree.path(sensor)).unwrap();
    let root = tree.root();
    check(&capture(&root), &root);
    let unreadable = root.unreadable();
    assert_eq!(unreadable.len(), 1);
    assert!(unreadable[0].starts_with(&format!("/{sensor}: ")));
}

/// The host with a folder in which the old settings are saved.
fn tunable(tree: Tree) -> Tree {
    fs::create_dir(tree.path("run")).unwrap();
    tree
}

#[test]
fn tuning_sets_every_knob_and_reset_restores_exactly_what_was_found() {
    let tree = tunable(xeon());
    let before = tree.contents();
    let planned = plan(&tree.root()).lines;
    assert_eq!(tree.contents(), before, "a plan changes nothing");
    let report = tune(&tree.root()).unwrap();
    assert!(!report.failed, "{report:?}");
    for (path, value) in [
        ("sys/devices/system/cpu/smt/control", "off"),
        (
            "sys/devices/system/cpu/cpu11/cpufreq/scaling_governor",
            "performance",
        ),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1"),
        ("proc/irq/120/smp_affinity_list", "0"),
        ("proc/sys/kernel/perf_event_max_sample_rate", "1"),
    ] {
        assert_eq!(tree.read(path), value, "{path}");
        let was = &before[&tree.path(path)];
        let line = format!("  /{path}: {} becomes {value}", was.trim());
        assert!(planned.contains(&line), "{line}: {planned:#?}");
    }
    let nothing = |line: &String| line.ends_with(": already set");
    assert!(plan(&tree.root()).lines.iter().all(nothing));
    // Tuning again finds tuned values, and must not save them as the original ones.
    tune(&tree.root()).unwrap();
    let report = reset(&tree.root()).unwrap();
    assert!(!report.failed, "{report:?}");
    assert_eq!(tree.contents(), before);
    assert_eq!(reset(&tree.root()).unwrap().lines, ["nothing was tuned"]);
}

#[test]
fn interrupts_go_to_the_processors_that_are_not_isolated() {
    let tree = tunable(epyc());
    tune(&tree.root()).unwrap();
    assert_eq!(tree.read("proc/irq/33/smp_affinity_list"), "0-1,32-63");
    assert_eq!(tree.read("sys/devices/system/cpu/cpufreq/boost"), "0");
}

#[test]
fn an_interrupted_tuning_is_undone() {
    let tree = tunable(xeon());
    let before = tree.contents();
    // The last knob's file can be read, but not written.
    let broken = tree.path("proc/sys/kernel/perf_event_max_sample_rate");
    fs::remove_file(&broken).unwrap();
    std::os::unix::fs::symlink("/proc/version", &broken).unwrap();
    let report = tune(&tree.root()).unwrap();
    assert!(report.failed);
    let last = report.lines.last().unwrap();
    assert!(
        last.contains("not set: /proc/sys/kernel/perf_event"),
        "{last}"
    );
    assert_eq!(tree.read("sys/devices/system/cpu/smt/control"), "off");
    assert!(!reset(&tree.root()).unwrap().failed);
    let mut after = tree.contents();
    after.insert(broken.clone(), before[&broken].clone());
    assert_eq!(after, before);
}

#[test]
fn nothing_is_changed_if_the_settings_cannot_be_saved_or_there_are_none() {
    // Without /run the state file cannot be written.
    let tree = xeon();
    let before = tree.contents();
    let error = tune(&tree.root()).unwrap_err();
    assert!(error.to_string().contains("nothing was changed"), "{error}");
    assert_eq!(tree.contents(), before);

    let tree = container();
    let before = tree.contents();
    let lines = tune(&tree.root()).unwrap().lines;
    assert!(lines.iter().all(|line| line.ends_with("not on this host")));
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
        watch.finish(0.5).disturbances
    };
    for (user, steal, throttled, expected) in [
        (0.5, 0.0, 0, &[][..]),
        // Less than a few ticks.
        (0.52, 0.02, 0, &[]),
        (1.5, 0.0, 0, &[(Cause::Load, "load by others of ")]),
        (0.5, 1.0, 0, &[(Cause::Steal, "steal time of ")]),
        (0.5, 0.0, 2, &[(Cause::Throttled, "throttled 2 times")]),
        (
            1.5,
            1.0,
            1,
            &[
                (Cause::Load, "load"),
                (Cause::Steal, "steal"),
                (Cause::Throttled, "throttled 1"),
            ],
        ),
    ] {
        let found = disturbed(user, steal, throttled);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((cause, reason), (expected, start)) in found.into_iter().zip(expected) {
            assert_eq!(cause, *expected);
            assert!(reason.starts_with(start), "{reason}");
        }
    }
}
