//! The scenarios with which every adapter is tested.

use tls_harness::scenario::{
    Authentication, Certificate, Chain, CipherSuite, KeyExchange, Operation, Protocol, Resumption,
    Scenario, Variant,
};

/// A full TLS 1.3 handshake with an RSA certificate.
pub fn handshake_13() -> Scenario {
    Scenario {
        protocol: Some(Protocol::Tls13),
        cipher_suite: Some(CipherSuite::Aes256Gcm),
        key_exchange: Some(KeyExchange::X25519),
        certificate: Some(Certificate::Rsa2048),
        authentication: Some(Authentication::Server),
        resumption: Some(Resumption::None),
        threads: Some(1),
        ..Scenario::new(Operation::Handshake)
    }
}

/// A full TLS 1.2 handshake with an RSA certificate.
pub fn handshake_12() -> Scenario {
    Scenario {
        protocol: Some(Protocol::Tls12),
        cipher_suite: Some(CipherSuite::EcdheRsaAes256Gcm),
        ..handshake_13()
    }
}

/// The cipher suites that a TLS version allows with a certificate.
fn suites(protocol: Protocol, certificate: Certificate) -> Vec<CipherSuite> {
    let rsa = matches!(certificate, Certificate::Rsa2048 | Certificate::Rsa4096);
    let kind = match (protocol, rsa) {
        (Protocol::Tls13, _) => "TLS_AES TLS_CHACHA20",
        (Protocol::Tls12, true) => "TLS_ECDHE_RSA",
        (Protocol::Tls12, false) => "TLS_ECDHE_ECDSA",
    };
    let fits = |suite: &&CipherSuite| kind.split(' ').any(|it| suite.as_str().starts_with(it));
    CipherSuite::ALL.iter().filter(fits).copied().collect()
}

/// Handshakes with each chain other than the usual one.
pub fn chains() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for base in [handshake_12(), handshake_13()] {
        let protocol = base.protocol.unwrap();
        for &chain in Chain::ALL {
            for &certificate in chain.certificates() {
                if protocol == Protocol::Tls12 && certificate.is_ml_dsa() {
                    continue;
                }
                let suite = match (protocol, certificate) {
                    (Protocol::Tls12, Certificate::EcdsaP256) => CipherSuite::EcdheEcdsaAes256Gcm,
                    _ => base.cipher_suite.unwrap(),
                };
                for authentication in [Authentication::Server, Authentication::Mutual] {
                    scenarios.push(Scenario {
                        cipher_suite: Some(suite),
                        certificate: Some(certificate),
                        authentication: Some(authentication),
                        variant: Some(Variant::Chain(chain)),
                        ..base.clone()
                    });
                }
            }
        }
    }
    scenarios
}

/// Handshakes in which the server compresses its certificates, of each type.
pub fn compressed() -> Vec<Scenario> {
    let with = |certificate: &Certificate| Scenario {
        certificate: Some(*certificate),
        variant: Some(Variant::Compressed),
        ..handshake_13()
    };
    Certificate::ALL.iter().map(with).collect()
}

/// Resumed handshakes with early data.
pub fn early_data() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for resumption in [Resumption::Ticket, Resumption::SessionId] {
        let base = Scenario {
            resumption: Some(resumption),
            variant: Some(Variant::EarlyData),
            ..handshake_13()
        };
        for suite in suites(Protocol::Tls13, Certificate::Rsa2048) {
            scenarios.push(Scenario {
                cipher_suite: Some(suite),
                ..base.clone()
            });
        }
        scenarios.push(Scenario {
            key_exchange: Some(KeyExchange::X25519MlKem768),
            ..base.clone()
        });
        scenarios.push(Scenario {
            authentication: Some(Authentication::Mutual),
            ..base
        });
    }
    scenarios
}

/// Resumed handshakes of TLS 1.2 in which a server renews tickets as its library does by default.
pub fn own_tickets() -> Vec<Scenario> {
    let by = |authentication| Scenario {
        key_exchange: None,
        resumption: Some(Resumption::Ticket),
        authentication: Some(authentication),
        variant: Some(Variant::OwnTickets),
        ..handshake_12()
    };
    [Authentication::Server, Authentication::Mutual]
        .map(by)
        .into()
}

/// Handshakes with each cipher suite, group, certificate, chain, authentication and resumption, with
/// compressed certificates, with early data, and with each library's renewal of tickets.
pub fn handshakes() -> Vec<Scenario> {
    let mut scenarios = [chains(), compressed(), early_data(), own_tickets()].concat();
    for base in [handshake_12(), handshake_13()] {
        let protocol = base.protocol.unwrap();
        for &certificate in Certificate::ALL {
            if protocol == Protocol::Tls12 && certificate.is_ml_dsa() {
                continue;
            }
            for authentication in [Authentication::Server, Authentication::Mutual] {
                for suite in suites(protocol, certificate) {
                    scenarios.push(Scenario {
                        cipher_suite: Some(suite),
                        certificate: Some(certificate),
                        authentication: Some(authentication),
                        ..base.clone()
                    });
                }
            }
        }
        for &group in KeyExchange::ALL {
            if protocol == Protocol::Tls12 && group.has_ml_kem() {
                continue;
            }
            for resumption in [Resumption::None, Resumption::Ticket, Resumption::SessionId] {
                for authentication in [Authentication::Server, Authentication::Mutual] {
                    let resumed_12 = protocol == Protocol::Tls12 && resumption != Resumption::None;
                    if resumed_12 && group != KeyExchange::X25519 {
                        continue;
                    }
                    scenarios.push(Scenario {
                        key_exchange: (!resumed_12).then_some(group),
                        resumption: Some(resumption),
                        authentication: Some(authentication),
                        ..base.clone()
                    });
                }
            }
            if protocol == Protocol::Tls13 {
                scenarios.push(Scenario {
                    key_exchange: Some(group),
                    variant: Some(Variant::HelloRetry),
                    ..base.clone()
                });
            }
        }
    }
    scenarios
}

/// Transfers of every cipher suite, in writes and records of several sizes.
pub fn transfers() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for base in [handshake_12(), handshake_13()] {
        for suite in suites(base.protocol.unwrap(), Certificate::Rsa2048) {
            for (size, in_flight, record_size) in [
                (16, None, None),
                (1000, None, None),
                (8192, None, None),
                (1 << 20, None, None),
                (8192, None, Some(1024)),
                (1 << 20, None, Some(4096)),
                (16, Some(1 << 14), None),
                (1000, Some(65_000), None),
                (1 << 16, Some(1 << 16), None),
                (1 << 16, Some(1 << 18), Some(4096)),
            ] {
                scenarios.push(Scenario {
                    operation: Operation::Transfer,
                    cipher_suite: Some(suite),
                    size: Some(size),
                    in_flight,
                    record_size,
                    ..base.clone()
                });
            }
        }
        scenarios.push(Scenario {
            operation: Operation::Transfer,
            size: Some(1 << 20),
            in_flight: Some(1 << 24),
            ..base.clone()
        });
        scenarios.push(Scenario {
            operation: Operation::Transfer,
            size: Some(1 << 16),
            in_flight: Some(1 << 16),
            variant: Some(Variant::Cold),
            ..base
        });
    }
    scenarios
}

/// The scenarios of the main report, as blocks of a suite.
pub fn main_report() -> Vec<Scenario> {
    let transfer = |base: Scenario, suite| Scenario {
        operation: Operation::Transfer,
        cipher_suite: Some(suite),
        size: Some(1 << 16),
        in_flight: Some(1 << 16),
        ..base
    };
    let ecdsa = |base: Scenario, suite| Scenario {
        cipher_suite: Some(suite),
        certificate: Some(Certificate::EcdsaP256),
        ..base
    };
    let hybrid = Scenario {
        key_exchange: Some(KeyExchange::X25519MlKem768),
        ..handshake_13()
    };
    let ticket = |base: Scenario, key_exchange| Scenario {
        resumption: Some(Resumption::Ticket),
        key_exchange,
        ..base
    };
    vec![
        transfer(handshake_12(), CipherSuite::EcdheRsaAes128Gcm),
        transfer(hybrid.clone(), CipherSuite::Aes256Gcm),
        handshake_12(),
        ecdsa(handshake_12(), CipherSuite::EcdheEcdsaAes256Gcm),
        hybrid.clone(),
        ecdsa(hybrid.clone(), CipherSuite::Aes256Gcm),
        ticket(handshake_12(), None),
        ticket(hybrid.clone(), hybrid.key_exchange),
    ]
}

/// The primitives of the suite `primitives`.
const PRIMITIVES: &str = "
    aes-128-gcm-seal-16384 aes-128-gcm-open-16384 aes-128-gcm-seal-1350 aes-128-gcm-open-1350
    aes-256-gcm-seal-16384 aes-256-gcm-open-16384 aes-256-gcm-seal-1350 aes-256-gcm-open-1350
    chacha20-poly1305-seal-16384 chacha20-poly1305-open-16384
    chacha20-poly1305-seal-1350 chacha20-poly1305-open-1350
    rsa-2048-sign rsa-2048-verify ecdsa-p256-sign ecdsa-p256-verify ecdsa-p384-sign
    ecdsa-p384-verify ed25519-sign ed25519-verify ml-dsa-44-sign ml-dsa-44-verify ml-dsa-65-sign
    ml-dsa-65-verify ml-dsa-87-sign ml-dsa-87-verify
    x25519-generate x25519-agree secp256r1-generate secp256r1-agree secp384r1-generate
    secp384r1-agree ml-kem-768-generate ml-kem-768-encapsulate ml-kem-768-decapsulate";

pub fn primitives() -> Vec<Scenario> {
    let named = |name: &str| Scenario {
        variant: Some(name.parse().unwrap()),
        ..Scenario::new(Operation::Primitive)
    };
    PRIMITIVES.split_whitespace().map(named).collect()
}

/// Packets of QUIC: each cipher suite, and the sizes of the suite `quic`.
pub fn packets() -> Vec<Scenario> {
    let suites = suites(Protocol::Tls13, Certificate::EcdsaP256);
    let packet = |suite, size| Scenario {
        cipher_suite: Some(suite),
        size: Some(size),
        ..Scenario::new(Operation::QuicPacket)
    };
    let sizes = |suite| [1200, 1452].map(|size| packet(suite, size));
    suites.into_iter().flat_map(sizes).collect()
}

pub fn set_up(variant: &str, certificate: Certificate) -> Scenario {
    Scenario {
        operation: Operation::SetUp,
        certificate: Some(certificate),
        variant: Some(variant.parse().unwrap()),
        ..handshake_13()
    }
}

pub fn set_ups() -> Vec<Scenario> {
    let (rsa, ecdsa) = (Certificate::Rsa2048, Certificate::EcdsaP256);
    vec![
        set_up("anchors-10", ecdsa),
        set_up("anchors-mozilla", ecdsa),
        set_up("client-10", ecdsa),
        set_up("client-mozilla", rsa),
        set_up("shared-mozilla", ecdsa),
        set_up("server", rsa),
        set_up("server", ecdsa),
        set_up("private-key", rsa),
        set_up("private-key", ecdsa),
        set_up("names-1", ecdsa),
        set_up("names-100", ecdsa),
        set_up("reload-100", ecdsa),
        set_up("process-client-mozilla", ecdsa),
        set_up("process-server", ecdsa),
        set_up("anchors-slope", ecdsa),
        set_up("client-slope", ecdsa),
        set_up("names-slope", ecdsa),
    ]
}

/// Connections over sockets: full and resumed, with each way to resume.
pub fn connections() -> Vec<Scenario> {
    let of = |base: Scenario| Scenario {
        operation: Operation::Connection,
        ..base
    };
    let (old, new) = (of(handshake_12()), of(handshake_13()));
    let resumed = |base: &Scenario, resumption| Scenario {
        resumption: Some(resumption),
        key_exchange: base
            .key_exchange
            .filter(|_| base.protocol == Some(Protocol::Tls13)),
        ..base.clone()
    };
    vec![
        resumed(&old, Resumption::Ticket),
        of(own_tickets()[0].clone()),
        resumed(&old, Resumption::SessionId),
        old,
        resumed(&new, Resumption::Ticket),
        Scenario {
            key_exchange: Some(KeyExchange::X25519MlKem768),
            certificate: Some(Certificate::EcdsaP256),
            ..new.clone()
        },
        Scenario {
            authentication: Some(Authentication::Mutual),
            ..new.clone()
        },
        Scenario {
            variant: Some(Variant::HelloRetry),
            ..new.clone()
        },
        Scenario {
            variant: Some(Variant::Nagle),
            ..new.clone()
        },
        new,
    ]
}
