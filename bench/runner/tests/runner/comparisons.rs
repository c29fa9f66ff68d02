//! Comparisons of two builds by instructions, with the real libraries' programs under Valgrind.

use std::fs;

use tls_harness::request::Counter;
use tlsbench::compare::{Comparison, Verdict, compare};
use tlsbench::functions::Function;
use tlsbench::host::root::Root;
use tlsbench::listed::Listed;
use tlsbench::options::Options;
use tlsbench::run::run;

use crate::common::Bench;
use crate::counts::{CLIENT_HELLO, programs, suite};

/// A host with two cores, and nothing else known.
fn two_cores(bench: &Bench) -> Root {
    let top = bench.path("host");
    for number in ["0", "1"] {
        let cpu = top.join(format!("sys/devices/system/cpu/cpu{number}/topology"));
        fs::create_dir_all(&cpu).unwrap();
        fs::write(cpu.join("thread_siblings_list"), number).unwrap();
    }
    Root::new(top)
}

fn compared(sides: [&str; 2]) -> Comparison {
    let bench = Bench::new();
    let threads = CLIENT_HELLO.replace("threads = 1", "threads = \"one-and-cores\"");
    fs::write(
        bench.path("suite.toml"),
        suite(&["tls-openssl"], &[&threads]),
    )
    .unwrap();
    let mut order = bench.ordered(Options {
        counter: Some(Counter::Callgrind),
        rounds: Some(1),
        ..Options::default()
    });
    let sides = sides.map(|it| Listed::Program(it.to_owned()));
    order.options.selection.instead = sides.to_vec();
    order.places.programs = programs();
    run(&order, &two_cores(&bench)).unwrap();
    compare(&order, 0.01, Some(2)).unwrap()
}

#[test]
fn a_program_does_not_differ_from_itself() {
    let found = compared(["tls-rustls-ring", "tls-rustls-ring"]);
    assert_eq!(found.rows.len(), 1);
    for figure in &found.rows[0].figures {
        assert_eq!(figure.verdict(found.bound), Verdict::NoDifference);
    }
    assert!(!found.is_more());
    assert_eq!(found.rows[0].functions.len(), 0);
    assert_ne!(found.ids[0], found.ids[1]);
}

#[test]
fn the_functions_of_a_difference_are_named() {
    let found = compared(["tls-openssl", "tls-rustls-ring"]);
    let row = &found.rows[0];
    let [instructions, protocol, allocations, peak] = &row.figures;
    let [a, b] = instructions.means().unwrap();
    assert_ne!(instructions.verdict(found.bound), Verdict::NoDifference);
    assert_eq!(protocol.means().unwrap().map(|it| it > 0.0), [true; 2]);
    for figure in [allocations, peak] {
        assert!(
            figure.means().unwrap().iter().all(|it| *it >= 1.0),
            "{figure:?}"
        );
    }
    let functions = &row.functions;
    assert_eq!(functions.len(), 10);
    // Both programs call the C library; most other functions exist in only one of them.
    let of_one = |it: &&Function| it.a == 0.0 || it.b == 0.0;
    assert!(functions.iter().filter(of_one).count() > 5, "{functions:?}");
    let explained: f64 = functions.iter().map(|it| it.a.max(it.b)).sum();
    assert!(explained < a + b, "{explained} of {a} and {b}");
    assert!(explained > (a + b) / 4.0, "{explained} of {a} and {b}");
}
