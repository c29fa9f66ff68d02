//! Kills the runner many times at random moments and resumes it each time. Every finished run has
//! exactly the requested rounds, no duplicate and no partial line.
//!
//!     cargo test -p tlsbench --test runner kills -- --nocapture --include-ignored

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};

use crate::common::{Bench, check_finished};

const ROUNDS: u32 = 6;

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
    let command = |name: &str| {
        let mut command = Command::new(bench.path("tlsbench"));
        command
            .args(["run", "--suite", "suite.toml", "--host", "test"])
            .args(["--out", name])
            .current_dir(bench.folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command
    };
    let start = Instant::now();
    assert!(command("undisturbed").output().unwrap().status.success());
    let undisturbed = start.elapsed().as_secs_f64();
    check_finished(&bench.path("undisturbed"), 2, 2, ROUNDS);
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
                runner.kill().unwrap();
                kills += 1;
                killed_here += 1;
            }
            let output = runner.wait_with_output().unwrap();
            if output.status.success() {
                break;
            }
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), None, "{text}");
        }
        check_finished(&bench.path(&name), 2, 2, ROUNDS);
        println!("{name}: {killed_here} kills, {ROUNDS} rounds");
    }
    println!(
        "{kills} kills, {runs} runs in {:.1} s",
        start.elapsed().as_secs_f64()
    );
}
