//! Kills or stops the runner many times at random moments and resumes it each time. Every finished run has
//! exactly the requested sessions and rounds, no duplicate and no partial line.
//!
//!     cargo test -p tlsbench --test runner kills -- --nocapture --include-ignored

use std::process::Stdio;
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rustix::process::{Pid, Signal, kill_process};

use crate::common::{Bench, check_finished, read_run};
use crate::signals::accepting_signals;

/// Rounds of each of two sessions.
const ROUNDS: u32 = 3;

#[test]
fn ten_kills_at_random_moments_lose_nothing() {
    kills_lose_nothing(10);
}

#[test]
#[ignore = "nightly: it takes more than a minute"]
fn a_hundred_kills_at_random_moments_lose_nothing() {
    kills_lose_nothing(100);
}

fn kills_lose_nothing(most: u32) {
    let seed = u64::from(std::process::id());
    println!("seed {seed}");
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let bench = Bench::new();
    bench.suite(ROUNDS, 0.002, &["one", "two"]);
    bench.edit("seconds = 0.0\n", "seconds = 0.0\nsessions = 2\n");
    let command = |name: &str| {
        let run = format!("run --suite suite.toml --host test --out {name}");
        let mut command = accepting_signals(bench.folder.path(), &run);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    };
    let check = |name: &str| {
        check_finished(&bench.path(name), 2, 2, 2 * ROUNDS);
        let sessions = read_run(&bench.path(name)).sessions.into_iter();
        assert!(sessions.map(|it| it.rounds).eq([Some(ROUNDS); 2]));
    };
    let start = Instant::now();
    assert!(command("undisturbed").output().unwrap().status.success());
    let undisturbed = start.elapsed().as_secs_f64();
    check("undisturbed");
    let (mut kills, mut runs) = (0, 0);
    while kills < most {
        runs += 1;
        let name = format!("run-{runs}");
        let mut killed_here = 0;
        loop {
            let mut runner = command(&name).spawn().unwrap();
            // From the first system call until after the end.
            let pause = undisturbed * random.random_range(0.0..1.1);
            std::thread::sleep(Duration::from_secs_f64(pause));
            if kills < most && runner.try_wait().unwrap().is_none() {
                let signal = [Signal::KILL, Signal::INT][kills as usize % 2];
                kill_process(Pid::from_child(&runner), signal).unwrap();
                kills += 1;
                killed_here += 1;
            }
            let output = runner.wait_with_output().unwrap();
            if output.status.success() {
                break;
            }
            let text = String::from_utf8_lossy(&output.stderr);
            // Before the first line of its own, Ctrl-C kills it too.
            assert!([None, Some(130)].contains(&output.status.code()), "{text}");
        }
        check(&name);
        println!("{name}: {killed_here} kills");
    }
    println!(
        "{kills} kills, {runs} runs in {:.1} s",
        start.elapsed().as_secs_f64()
    );
}
