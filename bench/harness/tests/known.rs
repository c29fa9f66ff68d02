//! What is counted and timed in fresh processes is what a library is known to do in its calls, for each side
//! and for each phase of a handshake.
//!
//! This program is its own library's program, as that of `memory.rs`.

mod allocating;

use std::{
    cell::Cell,
    collections::BTreeMap,
    env, fs,
    hint::black_box,
    mem,
    process::ExitCode,
    ptr,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use allocating::Allocating;
use anyhow::{Result, ensure};
use rustix::thread::{CpuSet, sched_getaffinity};
use serde_json::json;
use tls_harness::{
    counters,
    library::{
        Connection, Negotiated, Progress, Setup, TlsLibrary,
        watched::{Call, Watch, Watched},
    },
    program,
    record::{Measurement, Phase, Record},
    request::{Counter, Request},
    scenario::{Operation, Side},
    workloads,
};

/// Names in the environment what the library does.
const VARIABLE: &str = "KNOWN";

/// Read once: each reading allocates.
static KNOWN: LazyLock<String> = LazyLock::new(|| env::var(VARIABLE).unwrap_or_default());

/// What each side does in a handshake, in units: the sums of `units`.
const OF_CLIENT: f64 = 1.0 + 2.0 + 4.0;
const OF_SERVER: f64 = 8.0 + 16.0;

/// How many units of work a call is.
fn units(side: Option<Side>, call: Call) -> u32 {
    static OPENED: AtomicU32 = AtomicU32::new(0);
    let early = match call {
        // The first connections of a process cost more: they are a part of no figure.
        Call::Open if OPENED.fetch_add(1, Relaxed) < 10 => match &**KNOWN {
            "time" | "processor" => 200,
            _ => 20,
        },
        _ => 0,
    };
    early
        + match (side, call) {
            // Nor is what connections share.
            (_, Call::Make | Call::Free) => 20,
            (Some(Side::Client), Call::Open) => 1,
            (Some(Side::Client), Call::Flight(0)) => 2,
            (Some(Side::Client), Call::Flight(_)) => 4,
            (_, Call::Open) => 8,
            (_, Call::Flight(_)) => 16,
            (_, Call::Tickets | Call::Data) => 0,
        }
}

/// One unit of processor time.
const MOMENT: Duration = Duration::from_micros(200);

/// The time that a server sleeps in each connection.
const SLEEP: Duration = Duration::from_millis(20);

struct Known;

impl Watch for Known {
    fn call<R>(&self, side: Option<Side>, call: Call, make: impl FnOnce() -> R) -> R {
        let units = units(side, call);
        match &**KNOWN {
            "instructions" => instructions(4_000 * units),
            "calls" => (0..units).for_each(|_| calls()),
            "sockets" => (0..10 * units).for_each(|_| sockets()),
            "time" | "processor" => {
                spend(units * MOMENT, side);
                if (side, call, &**KNOWN) == (Some(Side::Server), Call::Open, "time") {
                    thread::sleep(SLEEP);
                }
            }
            _ => {}
        }
        make()
    }
}

/// Two instructions each time.
#[cfg(target_arch = "x86_64")]
fn instructions(times: u32) {
    if times > 0 {
        // SAFETY: it counts a register down.
        unsafe { std::arch::asm!("2:", "sub {0:e}, 1", "jnz 2b", inout(reg) times => _) };
    }
}

#[cfg(target_arch = "aarch64")]
fn instructions(times: u32) {
    if times > 0 {
        // SAFETY: it counts a register down.
        unsafe { std::arch::asm!("2:", "subs {0:w}, {0:w}, 1", "b.ne 2b", inout(reg) times => _) };
    }
}

/// Each function that allocates or locks, and a call into the kernel: 6 allocations of 1,500 bytes in all, of
/// which 5 are freed, and 4 locks of each kind.
fn calls() {
    // SAFETY: each call is given what it was made for.
    unsafe {
        let first = black_box(libc::malloc(100));
        let second = black_box(libc::realloc(first, 200));
        libc::free(second);
        libc::free(black_box(libc::calloc(4, 75)));
        let mut third = ptr::null_mut();
        libc::posix_memalign(&raw mut third, 64, 200);
        libc::free(black_box(third));
        libc::free(black_box(libc::aligned_alloc(64, 320)));
        black_box(libc::memalign(64, 380));

        let until: libc::timespec = mem::zeroed();
        let monotonic = libc::CLOCK_MONOTONIC;
        let mut mutex = libc::PTHREAD_MUTEX_INITIALIZER;
        let mutex = &raw mut mutex;
        libc::pthread_mutex_lock(mutex);
        libc::pthread_mutex_unlock(mutex);
        libc::pthread_mutex_trylock(mutex);
        libc::pthread_mutex_unlock(mutex);
        libc::pthread_mutex_timedlock(mutex, &raw const until);
        libc::pthread_mutex_unlock(mutex);
        pthread_mutex_clocklock(mutex, monotonic, &raw const until);
        libc::pthread_mutex_unlock(mutex);

        let mut lock = libc::PTHREAD_RWLOCK_INITIALIZER;
        let lock = &raw mut lock;
        libc::pthread_rwlock_rdlock(lock);
        libc::pthread_rwlock_tryrdlock(lock);
        pthread_rwlock_timedrdlock(lock, &raw const until);
        pthread_rwlock_clockrdlock(lock, monotonic, &raw const until);
        for _ in 0..4 {
            libc::pthread_rwlock_unlock(lock);
        }
        libc::pthread_rwlock_wrlock(lock);
        libc::pthread_rwlock_unlock(lock);
        libc::pthread_rwlock_trywrlock(lock);
        libc::pthread_rwlock_unlock(lock);
        pthread_rwlock_timedwrlock(lock, &raw const until);
        libc::pthread_rwlock_unlock(lock);
        pthread_rwlock_clockwrlock(lock, monotonic, &raw const until);
        libc::pthread_rwlock_unlock(lock);

        libc::getppid();
    }
}

// The crate `libc` lacks these.
unsafe extern "C" {
    fn pthread_mutex_clocklock(
        lock: *mut libc::pthread_mutex_t,
        clock: libc::clockid_t,
        until: *const libc::timespec,
    ) -> libc::c_int;
    fn pthread_rwlock_timedrdlock(
        lock: *mut libc::pthread_rwlock_t,
        until: *const libc::timespec,
    ) -> libc::c_int;
    fn pthread_rwlock_timedwrlock(
        lock: *mut libc::pthread_rwlock_t,
        until: *const libc::timespec,
    ) -> libc::c_int;
    fn pthread_rwlock_clockrdlock(
        lock: *mut libc::pthread_rwlock_t,
        clock: libc::clockid_t,
        until: *const libc::timespec,
    ) -> libc::c_int;
    fn pthread_rwlock_clockwrlock(
        lock: *mut libc::pthread_rwlock_t,
        clock: libc::clockid_t,
        until: *const libc::timespec,
    ) -> libc::c_int;
}

/// The eight calls of sockets, and another. There is no such socket, so that each of them fails.
fn sockets() {
    const NONE: libc::c_int = -1;
    // SAFETY: the kernel reads and writes nothing.
    unsafe {
        let mut message: libc::msghdr = mem::zeroed();
        libc::read(NONE, ptr::null_mut(), 0);
        libc::readv(NONE, ptr::null(), 0);
        libc::recv(NONE, ptr::null_mut(), 0, 0);
        libc::recvmsg(NONE, &raw mut message, 0);
        libc::write(NONE, ptr::null(), 0);
        libc::writev(NONE, ptr::null(), 0);
        libc::send(NONE, ptr::null(), 0, 0);
        libc::sendmsg(NONE, &raw const message, 0);
        libc::getppid();
    }
}

/// Processor time of this thread.
#[expect(
    clippy::disallowed_methods,
    reason = "what is compared with the clocks of processes"
)]
fn spent() -> Duration {
    // SAFETY: the call only writes into `time`.
    let time = unsafe {
        let mut time = mem::zeroed();
        libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time);
        time
    };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.try_into().unwrap())
}

/// Spends processor time: a client in its own code, a server in the kernel.
fn spend(time: Duration, side: Option<Side>) {
    static ZEROS: LazyLock<fs::File> = LazyLock::new(|| fs::File::open("/dev/zero").unwrap());
    // Filled once, so that the kernel's time is by far the most.
    let mut buffer = [0; 1 << 16];
    let start = spent();
    while spent() - start < time {
        match side {
            Some(Side::Server) => {
                use std::io::Read as _;
                (&*ZEROS).read_exact(&mut buffer).unwrap();
            }
            _ => (0..2_000).for_each(|it| {
                black_box(it);
            }),
        }
    }
}

/// The library with known work, or one that reports something wrong of a side: `KNOWN` names it.
type Working = Watched<'static, Reporting, Known>;

struct Reporting;

struct Reported<C> {
    connection: C,
    side: Side,
    is_closed: Cell<bool>,
}

impl<C> Reported<C> {
    fn new(connection: C, side: Side) -> Result<Self> {
        if let Ok(processors) = env::var("KNOWN_PROCESSORS") {
            let [client, server] = processors.split_once(' ').map(<[_; 2]>::from).unwrap();
            let expected = if side == Side::Client { client } else { server };
            let found = format!("{:?}", allowed());
            ensure!(found == expected, "{side}: on {found}, not on {expected}");
        }
        Ok(Self {
            connection,
            side,
            is_closed: Cell::new(true),
        })
    }
}

/// The processors that this thread may use.
fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap();
    (0..CpuSet::MAX_CPU).filter(|it| set.is_set(*it)).collect()
}

impl<C> Drop for Reported<C> {
    fn drop(&mut self) {
        // A close that was begun and not awaited.
        assert!(self.is_closed.get(), "{}: not closed", self.side);
    }
}

impl<C: Connection> Connection for Reported<C> {
    fn handshake(&mut self) -> Result<Progress> {
        self.connection.handshake()
    }

    fn receive_tickets(&mut self) -> Result<()> {
        self.connection.receive_tickets()
    }

    fn send(&mut self, data: &[u8]) -> Result<()> {
        self.connection.send(data)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<usize> {
        self.connection.receive(buffer)
    }

    fn close(&mut self) -> Result<Progress> {
        let progress = self.connection.close()?;
        self.is_closed.set(progress == Progress::Done);
        Ok(progress)
    }

    fn negotiated(&self) -> Result<Negotiated> {
        let mut negotiated = self.connection.negotiated()?;
        let wrong = format!("wrong {}", self.side);
        negotiated.peer_verified ^= *KNOWN == wrong;
        Ok(negotiated)
    }
}

impl TlsLibrary for Reporting {
    type ClientConfig = <Allocating as TlsLibrary>::ClientConfig;
    type ServerConfig = <Allocating as TlsLibrary>::ServerConfig;
    type Client<'a> = Reported<<Allocating as TlsLibrary>::Client<'a>>;
    type Server<'a> = Reported<<Allocating as TlsLibrary>::Server<'a>>;

    fn implementation(&self) -> Result<tls_harness::implementation::Implementation> {
        Allocating.implementation()
    }

    fn unsupported(&self, _: &tls_harness::scenario::Scenario) -> Option<String> {
        None
    }

    fn client_config(&self, setup: &Setup) -> Result<Self::ClientConfig> {
        let mut config = Allocating.client_config(setup)?;
        config.accepts |= *KNOWN == "unverified";
        Ok(config)
    }

    fn server_config(&self, setup: &Setup) -> Result<Self::ServerConfig> {
        static COUNTS: LazyLock<bool> = LazyLock::new(|| env::args().any(|it| it == "count"));
        // glibc skips locked instructions in a process with one thread.
        if *KNOWN == "calls" && *COUNTS {
            ensure!(fs::read_dir("/proc/self/task")?.count() == 2, "one thread");
        }
        Allocating.server_config(setup)
    }

    fn connect<'a>(
        &self,
        config: &'a Self::ClientConfig,
        endpoint: &'a tls_harness::transport::Endpoint,
    ) -> Result<Self::Client<'a>> {
        Reported::new(Allocating.connect(config, endpoint)?, Side::Client)
    }

    fn accept<'a>(
        &self,
        config: &'a Self::ServerConfig,
        endpoint: &'a tls_harness::transport::Endpoint,
    ) -> Result<Self::Server<'a>> {
        Reported::new(Allocating.accept(config, endpoint)?, Side::Server)
    }
}

fn library() -> Working {
    Watched {
        library: &Reporting,
        watch: Arc::new(Known),
    }
}

fn request(operation: &str) -> Request {
    serde_json::from_value(json!({"schema": 1, "round": 1, "block": 0,
        "implementation": "known-1.0", "measure_seconds": 0.3, "warmup_seconds": 0.0,
        "scenario": {"operation": operation, "protocol": "1.3", "threads": 1,
            "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
            "certificate": "rsa-2048", "authentication": "server", "resumption": "none"}}))
    .unwrap()
}

/// Runs `measure` with a library that does what `known` names.
fn with<R>(known: &str, measure: impl FnOnce() -> R) -> R {
    // SAFETY: this process has one thread.
    unsafe { env::set_var(VARIABLE, known) };
    measure()
}

fn measurements(records: Vec<Record>) -> Vec<Measurement> {
    let of = |record| match record {
        Record::Measurement(measurement) => measurement,
        other => panic!("{other:?} is not a measurement"),
    };
    records.into_iter().map(of).collect()
}

/// Figures by metric.
type Figures = BTreeMap<String, f64>;

/// What is counted of the client and of the server.
fn counted(known: &str, request: &Request, counter: Counter) -> [Figures; 2] {
    let records = with(known, || counters::measure(&library(), request, counter));
    let measured = measurements(records.unwrap());
    let sides: Vec<_> = measured.iter().map(|it| it.scenario.side).collect();
    assert_eq!(sides, [Some(Side::Client), Some(Side::Server)]);
    let figures = measured.iter().map(|it| {
        let all = it.observations.iter();
        all.map(|it| (it.metric.to_string(), it.value)).collect()
    });
    figures.collect::<Vec<_>>().try_into().unwrap()
}

/// By how much the figures of each side grow with known work, as a part of its units.
fn grown(known: &str, request: &Request, counter: Counter) -> [Figures; 2] {
    let before = counted("", request, counter);
    let mut after = counted(known, request, counter);
    for ((after, before), units) in after.iter_mut().zip(before).zip([OF_CLIENT, OF_SERVER]) {
        assert_eq!(after.len(), before.len());
        for (metric, value) in after {
            *value = (*value - before[metric]) / units;
        }
    }
    after
}

fn about(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 0.01
}

/// One percent is more than what differs by chance, and less than a unit of work or a connection.
fn instructions_of_each_side_are_counted() {
    if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
        return;
    }
    let request = request("handshake");
    for figures in grown("instructions", &request, Counter::Callgrind) {
        assert!(about(figures["instructions"], 8_000.0), "{figures:?}");
    }
}

fn each_function_that_allocates_or_locks_is_counted() {
    let request = request("handshake");
    for figures in grown("calls", &request, Counter::Calls) {
        for (metric, expected) in [
            ("allocations", 6.0),
            ("allocated-in-all", 1_500.0),
            ("frees", 5.0),
            ("mutex-locks", 4.0),
            ("read-locks", 4.0),
            ("write-locks", 4.0),
            ("kernel-calls", 1.0),
        ] {
            assert!(about(figures[metric], expected), "{metric} in {figures:?}");
        }
    }
}

fn calls_of_sockets_are_counted_of_one_side() {
    let request = request("connection");
    for figures in grown("sockets", &request, Counter::Calls) {
        assert!(about(figures["system-calls"], 90.0), "{figures:?}");
        assert!(about(figures["socket-calls"], 80.0), "{figures:?}");
    }
}

/// Of the client, of the server, and of both.
fn timed() -> Vec<Measurement> {
    let request = request("connection");
    let connections = workloads::of::<Working>(Operation::Connection);
    measurements(connections.measure(&library(), &request).unwrap())
}

fn the_time_of_each_side() -> Result<()> {
    let start = Instant::now();
    let all = with("time", timed);
    let [client, server, both] = &all[..] else {
        panic!("{all:?}");
    };
    let time = |of: &Measurement, phase| {
        let mut all = of.observations.iter();
        all.find(|it| it.phase == phase).unwrap().value
    };
    let unit = MOMENT.as_secs_f64() * 1e6;
    for (side, units, is_in_kernel) in [(client, OF_CLIENT, false), (server, OF_SERVER, true)] {
        let [total, user, system] =
            [Phase::Total, Phase::User, Phase::System].map(|it| time(side, it));
        let found = format!("{:?}: {total}, {user}, {system} µs", side.scenario.side);
        let elapsed = side.elapsed_seconds.unwrap() * 1e6 / side.operations as f64;
        ensure!((elapsed - total).abs() < 1.0, "{found}, {elapsed} in all");
        // What the connections themselves take is less than five milliseconds.
        let expected = units * unit..units * unit + 5_000.0;
        ensure!(expected.contains(&total), "{found}, expected {expected:?}");
        ensure!((system > user) == is_in_kernel, "{found}");
    }
    let lasted = both.elapsed_seconds.unwrap();
    ensure!(
        (0.3..start.elapsed().as_secs_f64()).contains(&lasted),
        "{lasted} s"
    );
    ensure!(
        SLEEP.as_secs_f64() * both.operations as f64 <= 1.1 * lasted,
        "{both:?}"
    );
    Ok(())
}

/// On a busy host another time than that of the library is a part of it, but not each time.
fn processor_time_is_that_of_each_side_in_its_code_and_in_the_kernel() {
    let again = |_| the_time_of_each_side();
    let found = the_time_of_each_side().or_else(again).or_else(again);
    found.unwrap();
}

/// The figures of a set-up by phase and metric.
fn set_up(variant: &str) -> Result<Figures> {
    let mut request = request("set-up");
    request.scenario.variant = Some(variant.parse().unwrap());
    let set_ups = workloads::of::<Working>(Operation::SetUp);
    let records = set_ups.measure(&library(), &request)?;
    let [measured] = &measurements(records)[..] else {
        panic!("{variant}: not one measurement");
    };
    let all = measured.observations.iter();
    let named = all.map(|it| (format!("{:?} {}", it.phase, it.metric), it.value));
    Ok(named.collect())
}

/// In its first handshake a process has one connection of each side, and both are early.
fn a_fresh_process_has_the_time_of_its_role() {
    for (variant, units) in [
        ("process-client-1", 20.0 + 200.0 + OF_CLIENT),
        ("process-server", 20.0 + 200.0 + OF_SERVER),
    ] {
        let known = units * MOMENT.as_secs_f64() * 1e6;
        let measured = || {
            let start = Instant::now();
            let found = with("processor", || set_up(variant)).unwrap();
            let (processor, waiting) = (found["Processor duration"], found["Waiting duration"]);
            let elapsed = start.elapsed().as_secs_f64() * 1e6;
            assert!(processor + waiting < elapsed, "{variant}: {found:?}");
            processor
        };
        // What starts a process is less than the other role's time, which is taken off by the wall clock: on a
        // busy host too much or too little, but not each time.
        let is_own = |it: f64| (0.7 * known..known + 40_000.0).contains(&it);
        assert!(
            (0..5).any(|_| is_own(measured())),
            "{variant}: not {known} µs"
        );
    }
}

/// A server and a client, which are early.
fn the_allocations_of_a_set_up_are_counted() {
    let [before, after] = ["", "calls"].map(|known| with(known, || set_up("server")).unwrap());
    let units = 20.0 + 2.0 * 20.0 + OF_CLIENT + OF_SERVER;
    let grown = |metric: &str| {
        let metric = format!("Total {metric}");
        (after[&metric] - before[&metric]) / units
    };
    assert_eq!(grown("allocations"), 6.0);
    assert_eq!(grown("allocated-in-all"), 1_500.0);
    // What each unit keeps, and the most of the last.
    let peak = grown("peak-allocated");
    assert!((380.0..400.0).contains(&peak), "{peak} bytes");
}

fn each_side_has_a_processor_of_its_own() {
    let all = allowed();
    let [client, server] = [all[0], all[1 % all.len()]];
    // SAFETY: this process has one thread.
    unsafe { env::set_var("KNOWN_PROCESSORS", format!("[{client}] [{server}]")) };
    // The proof that the library verifies runs in this process.
    let peers = workloads::of::<Working>(Operation::Connection)
        .peers()
        .unwrap();
    let program = |_, argument: &str| tls_harness::process::this_program(argument);
    let scenario = request("connection").scenario;
    let connections = with("", || peers.count(&scenario, 8, &program));
    // SAFETY: as above.
    unsafe { env::remove_var("KNOWN_PROCESSORS") };
    assert_eq!(connections.unwrap(), 8);
}

/// An error of a fresh process is on its standard error.
fn handshakes_that_are_not_as_stated_are_not_measured() {
    let peers = workloads::of::<Working>(Operation::Connection)
        .peers()
        .unwrap();
    let program = |_, argument: &str| tls_harness::process::this_program(argument);
    let scenario = request("connection").scenario;
    for wrong in ["wrong client", "wrong server"] {
        for variant in ["server", "process-server"] {
            let measured = with(wrong, || set_up(variant));
            assert!(measured.is_err(), "{wrong}, {variant}");
        }
        assert!(
            with(wrong, || peers.count(&scenario, 8, &program)).is_err(),
            "{wrong}"
        );
    }
}

fn main() -> ExitCode {
    if env::args().len() == 2 && !env::args().any(|it| it.starts_with('-')) {
        return program::main(&library());
    }
    // The quickest first.
    processor_time_is_that_of_each_side_in_its_code_and_in_the_kernel();
    a_fresh_process_has_the_time_of_its_role();
    the_allocations_of_a_set_up_are_counted();
    each_side_has_a_processor_of_its_own();
    handshakes_that_are_not_as_stated_are_not_measured();
    each_function_that_allocates_or_locks_is_counted();
    instructions_of_each_side_are_counted();
    calls_of_sockets_are_counted_of_one_side();
    ExitCode::SUCCESS
}
