//! Which scenarios can be measured, and what the messages about others name.

use super::*;
use crate::scenario::Chain;

fn scenario(text: &str) -> Scenario {
    serde_json::from_str(text).unwrap()
}

fn base() -> Scenario {
    scenario(
        r#"{"operation":"handshake","protocol":"1.3","cipher_suite":"TLS_AES_256_GCM_SHA384",
        "key_exchange":"X25519","certificate":"rsa-2048","authentication":"server",
        "resumption":"none","threads":1}"#,
    )
}

fn set_up(variant: Option<&str>) -> Scenario {
    Scenario {
        operation: Operation::SetUp,
        variant: variant.map(|it| it.parse().unwrap()),
        ..base()
    }
}

/// The name of the wrong field, if there is one.
fn wrong(scenario: &Scenario) -> Option<&'static str> {
    scenario.check().err().map(|fault| fault.field)
}

#[test]
fn an_error_names_the_missing_field() {
    assert_eq!(base().check(), Ok(()));
    let without = |field: &str| {
        let mut value = serde_json::to_value(base()).unwrap();
        value.as_object_mut().unwrap().remove(field);
        wrong(&serde_json::from_value(value).unwrap())
    };
    for field in [
        "protocol",
        "cipher_suite",
        "key_exchange",
        "certificate",
        "authentication",
        "resumption",
        "threads",
    ] {
        assert_eq!(without(field), Some(field));
    }
}

#[test]
fn an_error_names_the_contradicting_field() {
    let tls12 = Scenario {
        protocol: Some(Protocol::Tls12),
        cipher_suite: Some(CipherSuite::EcdheRsaAes256Gcm),
        ..base()
    };
    assert_eq!(wrong(&tls12), None);
    let transfer = Scenario {
        operation: Operation::Transfer,
        size: Some(1 << 16),
        ..base()
    };
    assert_eq!(wrong(&transfer), None);
    for (scenario, field) in [
        (
            Scenario {
                cipher_suite: base().cipher_suite,
                ..tls12.clone()
            },
            "cipher_suite",
        ),
        (
            Scenario {
                certificate: Some(Certificate::EcdsaP256),
                ..tls12.clone()
            },
            "cipher_suite",
        ),
        (
            Scenario {
                key_exchange: Some(KeyExchange::X25519MlKem768),
                ..tls12.clone()
            },
            "key_exchange",
        ),
        (
            Scenario {
                variant: Some(Variant::HelloRetry),
                ..tls12
            },
            "variant",
        ),
        (
            Scenario {
                resumption: Some(Resumption::Resumed),
                ..base()
            },
            "resumption",
        ),
        (
            Scenario {
                size: Some(1),
                ..base()
            },
            "size",
        ),
        (
            Scenario {
                resumption: Some(Resumption::Ticket),
                ..transfer.clone()
            },
            "resumption",
        ),
        (
            Scenario {
                record_size: Some(100),
                ..transfer.clone()
            },
            "record_size",
        ),
        (
            Scenario {
                record_size: Some(20_000),
                ..transfer.clone()
            },
            "record_size",
        ),
        (
            Scenario {
                in_flight: Some(1000),
                ..transfer
            },
            "in_flight",
        ),
        (scenario(r#"{"operation":"primitive"}"#), "variant"),
        (
            scenario(r#"{"operation":"primitive","variant":"rsa-2048-sign","protocol":"1.3"}"#),
            "protocol",
        ),
        (set_up(None), "variant"),
        (
            Scenario {
                certificate: Some(Certificate::Rsa2048),
                ..set_up(Some("names-10"))
            },
            "certificate",
        ),
        (
            Scenario {
                authentication: Some(Authentication::Mutual),
                ..set_up(Some("server"))
            },
            "authentication",
        ),
        (
            Scenario {
                threads: Some(2),
                ..set_up(Some("server"))
            },
            "threads",
        ),
        (base().on(crate::scenario::Side::Client), "side"),
    ] {
        assert_eq!(wrong(&scenario), Some(field), "{scenario:?}");
    }
}

#[test]
fn a_set_up_requires_the_variant_of_a_set_up() {
    for variant in ["server", "client-mozilla", "private-key", "process-server"] {
        assert_eq!(wrong(&set_up(Some(variant))), None, "{variant}");
    }
    let named = Scenario {
        certificate: Some(Certificate::EcdsaP256),
        ..set_up(Some("names-10"))
    };
    assert_eq!(wrong(&named), None);
    assert_eq!(wrong(&set_up(Some("cold"))), Some("variant"));
}

#[test]
fn a_connection_has_one_thread_and_a_server_of_the_system_resumes_nothing() {
    let connection = Scenario {
        operation: Operation::Connection,
        ..base()
    };
    assert_eq!(wrong(&connection), None);
    let threads = Some(2);
    let several = Scenario {
        threads,
        ..connection.clone()
    };
    assert_eq!(wrong(&several), Some("threads"));
    let nginx = Scenario {
        variant: Some("nginx".parse().unwrap()),
        ..connection
    };
    assert_eq!(wrong(&nginx), None);
    let resumed = Scenario {
        resumption: Some(Resumption::Ticket),
        ..nginx.clone()
    };
    assert_eq!(wrong(&resumed), Some("resumption"));
    let mutual = Scenario {
        authentication: Some(Authentication::Mutual),
        ..nginx.clone()
    };
    assert_eq!(wrong(&mutual), Some("authentication"));
    let handshake = Scenario {
        operation: Operation::Handshake,
        ..nginx
    };
    assert_eq!(wrong(&handshake), Some("variant"));
}

#[test]
fn a_chain_requires_a_full_handshake_and_certificates_that_exist() {
    let with = |text: &str, certificate, protocol: Protocol| Scenario {
        protocol: Some(protocol),
        cipher_suite: Some(match (protocol, certificate) {
            (Protocol::Tls13, _) => CipherSuite::Aes256Gcm,
            (_, Certificate::Rsa2048 | Certificate::Rsa4096) => CipherSuite::EcdheRsaAes256Gcm,
            _ => CipherSuite::EcdheEcdsaAes256Gcm,
        }),
        certificate: Some(certificate),
        variant: Some(text.parse().unwrap()),
        ..base()
    };
    for &chain in Chain::ALL {
        for &certificate in Certificate::ALL {
            for &protocol in Protocol::ALL {
                let scenario = with(chain.as_str(), certificate, protocol);
                let is_made = chain.certificates().contains(&certificate)
                    && (protocol == Protocol::Tls13 || !certificate.is_ml_dsa());
                let expected = (!is_made).then_some("certificate");
                assert_eq!(wrong(&scenario), expected, "{scenario:?}");
            }
        }
    }
    let message = |scenario: Scenario| scenario.check().unwrap_err().message;
    assert_eq!(
        message(with("chain-3", Certificate::Ed25519, Protocol::Tls13)),
        "found \"ed25519\" with variant \"chain-3\", expected \"rsa-2048\", \"ecdsa-p256\", \
         \"ml-dsa-44\", \"ml-dsa-65\": there are no other certificates in this chain"
    );
    let resumed = Scenario {
        resumption: Some(Resumption::Ticket),
        ..with("chain-1", Certificate::Rsa2048, Protocol::Tls13)
    };
    assert_eq!(wrong(&resumed), Some("resumption"));
    let transfer = Scenario {
        operation: Operation::Transfer,
        size: Some(1 << 16),
        ..with("chain-1", Certificate::Rsa2048, Protocol::Tls13)
    };
    assert_eq!(wrong(&transfer), Some("variant"));
}

#[test]
fn a_server_alone_compresses_its_certificates_in_full_handshakes_of_tls13() {
    let compressed = Scenario {
        variant: Some(Variant::Compressed),
        ..base()
    };
    for &certificate in Certificate::ALL {
        let scenario = Scenario {
            certificate: Some(certificate),
            ..compressed.clone()
        };
        assert_eq!(wrong(&scenario), None, "{certificate}");
    }
    for (scenario, field, message) in [
        (
            Scenario {
                resumption: Some(Resumption::Ticket),
                ..compressed.clone()
            },
            "resumption",
            "found \"ticket\" with variant \"compressed-zlib\", expected \"none\": resumed \
             handshakes send no certificates",
        ),
        (
            Scenario {
                authentication: Some(Authentication::Mutual),
                ..compressed.clone()
            },
            "authentication",
            "found \"mutual\" with variant \"compressed-zlib\", expected \"server\": only servers \
             compress their certificates here",
        ),
        (
            Scenario {
                protocol: Some(Protocol::Tls12),
                cipher_suite: Some(CipherSuite::EcdheRsaAes256Gcm),
                ..compressed.clone()
            },
            "variant",
            "found \"compressed-zlib\" with protocol \"1.2\", expected \"1.3\"",
        ),
    ] {
        let found = scenario.check().unwrap_err();
        assert_eq!((found.field, found.message.as_str()), (field, message));
    }
    let connection = Scenario {
        operation: Operation::Connection,
        ..compressed
    };
    assert_eq!(wrong(&connection), Some("variant"));
}

#[test]
fn a_resumption_of_tls12_exchanges_no_keys() {
    let resumed = Scenario {
        protocol: Some(Protocol::Tls12),
        cipher_suite: Some(CipherSuite::EcdheRsaAes256Gcm),
        key_exchange: None,
        resumption: Some(Resumption::Ticket),
        ..base()
    };
    assert_eq!(wrong(&resumed), None);
}

#[test]
fn a_packet_states_a_cipher_suite_of_quic_and_a_size() {
    let packet = |suite, size| Scenario {
        cipher_suite: suite,
        size,
        ..Scenario::new(Operation::QuicPacket)
    };
    let suite = Some(CipherSuite::Aes128Gcm);
    let good = packet(suite, Some(1200));
    assert_eq!(good.check(), Ok(()));
    assert_eq!(packet(suite, Some(29)).check(), Ok(()));
    for (scenario, field) in [
        (packet(None, Some(1200)), "cipher_suite"),
        (
            packet(Some(CipherSuite::EcdheRsaAes128Gcm), Some(1200)),
            "cipher_suite",
        ),
        (packet(suite, None), "size"),
        (packet(suite, Some(28)), "size"),
        (packet(suite, Some(65_528)), "size"),
        (
            Scenario {
                protocol: Some(Protocol::Tls13),
                ..good.clone()
            },
            "protocol",
        ),
        (
            Scenario {
                record_size: Some(1024),
                ..good.clone()
            },
            "record_size",
        ),
        (
            Scenario {
                variant: Some(Variant::HelloRetry),
                ..good
            },
            "variant",
        ),
    ] {
        assert_eq!(wrong(&scenario), Some(field), "{scenario:?}");
    }
}
