//! Each library has lists of the scenarios that it does not support.

#![allow(dead_code, reason = "an adapter uses the lists that it needs")]

use std::collections::BTreeSet;

use tls_harness::{
    library::TlsLibrary,
    scenario::{Operation, Scenario},
};

use super::scenarios::{
    connections, handshakes, main_report, packets, primitives, set_ups, transfers,
};

/// Scenarios with X25519MLKEM768.
pub const HYBRID: &str = include_str!("unsupported/hybrid.txt");

/// Scenarios with SecP256r1MLKEM768.
pub const P256_HYBRID: &str = include_str!("unsupported/p256-hybrid.txt");

/// Scenarios with MLKEM768, which no elliptic curve accompanies.
pub const ML_KEM_ALONE: &str = include_str!("unsupported/ml-kem-alone.txt");

/// Scenarios with certificates of ML-DSA.
pub const ML_DSA: &str = include_str!("unsupported/ml-dsa.txt");

/// Certificates that a server compresses.
pub const COMPRESSION: &str = include_str!("unsupported/compression.txt");

/// Resumption by session id in TLS 1.3.
pub const SESSION_ID: &str = include_str!("unsupported/session-id.txt");

pub const ML_KEM: &str = include_str!("unsupported/ml-kem.txt");

pub const PRIMITIVES: &str = include_str!("unsupported/primitives.txt");

/// Packets of QUIC, which most libraries' APIs do not protect.
pub const QUIC_PACKETS: &str = include_str!("unsupported/quic-packets.txt");

/// A scenario's name, followed by the group if the name does not contain it.
fn label(scenario: &Scenario) -> String {
    match scenario.key_exchange {
        Some(group) if scenario.operation == Operation::Transfer => {
            format!("{}, {group}", scenario.name())
        }
        _ => scenario.name(),
    }
}

/// The lists contain, one per line, exactly the scenarios that the library does not support.
pub fn unsupported_scenarios_are_listed_by_name<L: TlsLibrary>(library: &L, lists: &[&str]) {
    let listed: BTreeSet<&str> = lists.iter().flat_map(|list| list.lines()).collect();
    let all = [
        handshakes(),
        transfers(),
        main_report(),
        primitives(),
        packets(),
        set_ups(),
        connections(),
    ]
    .concat();
    let (unsupported, supported): (Vec<_>, Vec<_>) = all
        .iter()
        .partition(|scenario| library.unsupported(scenario).is_some());
    let names = |of: Vec<&Scenario>| of.into_iter().map(label).collect::<BTreeSet<_>>();
    let (unsupported, supported) = (names(unsupported), names(supported));
    let listed_as = |is_wrong: &dyn Fn(&str) -> bool| {
        let wrong = listed.iter().copied().filter(|it| is_wrong(it));
        wrong.collect::<Vec<_>>()
    };
    let missing = unsupported.iter().map(String::as_str);
    let wrong = [
        (
            "unsupported, but not listed: add to tests/unsupported.txt",
            missing.filter(|it| !listed.contains(it)).collect(),
        ),
        (
            "listed as unsupported, but supported",
            listed_as(&|it| supported.contains(it)),
        ),
        (
            "listed, but no scenario of these tests",
            listed_as(&|it| !supported.contains(it) && !unsupported.contains(it)),
        ),
    ];
    let wrong = wrong.iter().filter(|(_, names)| !names.is_empty());
    let wrong: Vec<_> = wrong
        .map(|(what, names)| format!("{what}\n{}", names.join("\n")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
