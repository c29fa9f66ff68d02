//! What a library can't do is listed, by name.

#![allow(dead_code, reason = "an adapter uses the lists that it needs")]

use std::collections::BTreeSet;

use tls_harness::{
    library::TlsLibrary,
    scenario::{Operation, Scenario},
};

use super::scenarios::{handshakes, main_report, primitives, transfers};

/// What needs X25519MLKEM768.
pub const HYBRID: &str = include_str!("unsupported/hybrid.txt");

/// Resumption by session id in TLS 1.3.
pub const SESSION_ID: &str = include_str!("unsupported/session-id.txt");

pub const ML_KEM: &str = include_str!("unsupported/ml-kem.txt");

pub const PRIMITIVES: &str = include_str!("unsupported/primitives.txt");

/// A scenario's name, with the group where that leaves it out.
fn label(scenario: &Scenario) -> String {
    match scenario.key_exchange {
        Some(group) if scenario.operation == Operation::Transfer => {
            format!("{}, {group}", scenario.name())
        }
        _ => scenario.name(),
    }
}

/// The lists hold, one a line, exactly the scenarios that the library doesn't support.
pub fn what_is_unsupported_is_listed_by_name<L: TlsLibrary>(library: &L, lists: &[&str]) {
    let listed: BTreeSet<&str> = lists.iter().flat_map(|list| list.lines()).collect();
    let all = [handshakes(), transfers(), main_report(), primitives()].concat();
    let (unsupported, supported): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|scenario| library.unsupported(scenario).is_some());
    let names = |of: Vec<&Scenario>| of.into_iter().map(label).collect::<BTreeSet<_>>();
    let (unsupported, supported) = (names(unsupported), names(supported));
    let mut wrong = Vec::new();
    for name in unsupported.iter().filter(|it| !listed.contains(&***it)) {
        wrong.push(format!("{name}: unsupported, but not listed"));
    }
    for name in listed {
        if supported.contains(name) {
            wrong.push(format!("{name}: listed as unsupported, but supported"));
        } else if !unsupported.contains(name) {
            wrong.push(format!("{name}: listed, but no scenario of these tests"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
