//! Which scenarios can be measured, and what the messages about others name.

use serde_json::{Value, json};

use super::*;
use crate::scenario::Chain;

/// A scenario that can be measured, with some fields replaced; `null` removes one.
fn with(changes: &Value) -> Scenario {
    let operation = changes["operation"].as_str().unwrap_or("handshake");
    let mut fields = match operation {
        "primitive" => json!({"variant": "rsa-2048-sign"}),
        "quic-packet" => json!({"cipher_suite": "TLS_AES_128_GCM_SHA256", "size": 1200}),
        _ => json!({
            "protocol": "1.3", "cipher_suite": "TLS_AES_256_GCM_SHA384", "key_exchange": "X25519",
            "certificate": "rsa-2048", "authentication": "server", "resumption": "none",
            "threads": 1,
        }),
    };
    match operation {
        "transfer" => fields["size"] = json!(1 << 16),
        "set-up" => fields["variant"] = json!("server"),
        _ => {}
    }
    fields["operation"] = json!(operation);
    if changes["protocol"] == "1.2" {
        fields["cipher_suite"] = json!("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
    }
    let fields = fields.as_object_mut().unwrap();
    for (field, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => drop(fields.remove(field)),
            value => drop(fields.insert(field.clone(), value.clone())),
        }
    }
    serde_json::from_value(Value::Object(fields.clone())).unwrap()
}

/// The name of the wrong field, if there is one.
fn wrong(changes: &Value) -> Option<&'static str> {
    with(changes).check().err().map(|fault| fault.field)
}

#[test]
fn scenarios_that_can_be_measured_are_accepted() {
    for changes in [
        json!({}),
        json!({"protocol": "1.2"}),
        // A resumption of TLS 1.2 exchanges no keys.
        json!({"protocol": "1.2", "key_exchange": null, "resumption": "ticket"}),
        json!({"resumption": "ticket", "variant": "early-data"}),
        json!({"operation": "transfer"}),
        json!({"operation": "primitive"}),
        json!({"operation": "set-up"}),
        json!({"operation": "set-up", "variant": "client-mozilla"}),
        json!({"operation": "set-up", "variant": "private-key"}),
        json!({"operation": "set-up", "variant": "process-server"}),
        json!({"operation": "set-up", "variant": "names-10", "certificate": "ecdsa-p256"}),
        json!({"operation": "connection"}),
        json!({"operation": "connection", "variant": "nginx"}),
        json!({"operation": "quic-packet"}),
        json!({"operation": "quic-packet", "size": 29}),
    ] {
        assert_eq!(with(&changes).check(), Ok(()), "{changes}");
    }
    for certificate in Certificate::ALL {
        let changes = json!({"variant": "compressed-zlib", "certificate": certificate});
        assert_eq!(wrong(&changes), None, "{changes}");
    }
}

#[test]
fn an_error_names_the_field_that_is_missing_or_contradicts_another() {
    for (field, changes) in [
        ("protocol", json!({"protocol": null})),
        ("cipher_suite", json!({"cipher_suite": null})),
        ("key_exchange", json!({"key_exchange": null})),
        ("certificate", json!({"certificate": null})),
        ("authentication", json!({"authentication": null})),
        ("resumption", json!({"resumption": null})),
        ("threads", json!({"threads": null})),
        ("size", json!({"operation": "transfer", "size": null})),
        ("variant", json!({"operation": "set-up", "variant": null})),
        (
            "variant",
            json!({"operation": "primitive", "variant": null}),
        ),
        (
            "cipher_suite",
            json!({"operation": "quic-packet", "cipher_suite": null}),
        ),
        ("size", json!({"operation": "quic-packet", "size": null})),
        ("side", json!({"side": "client"})),
        (
            "cipher_suite",
            json!({"protocol": "1.2", "cipher_suite": "TLS_AES_256_GCM_SHA384"}),
        ),
        (
            "cipher_suite",
            json!({"protocol": "1.2", "certificate": "ecdsa-p256"}),
        ),
        (
            "key_exchange",
            json!({"protocol": "1.2", "key_exchange": "X25519MLKEM768"}),
        ),
        (
            "variant",
            json!({"protocol": "1.2", "variant": "hello-retry"}),
        ),
        (
            "variant",
            json!({"protocol": "1.2", "variant": "early-data", "resumption": "ticket"}),
        ),
        ("resumption", json!({"variant": "early-data"})),
        ("resumption", json!({"resumption": "resumed"})),
        ("size", json!({"size": 1})),
        (
            "resumption",
            json!({"operation": "transfer", "resumption": "ticket"}),
        ),
        (
            "record_size",
            json!({"operation": "transfer", "record_size": 100}),
        ),
        (
            "record_size",
            json!({"operation": "transfer", "record_size": 20_000}),
        ),
        (
            "in_flight",
            json!({"operation": "transfer", "in_flight": 1000}),
        ),
        (
            "variant",
            json!({"operation": "transfer", "variant": "chain-1"}),
        ),
        (
            "protocol",
            json!({"operation": "primitive", "protocol": "1.3"}),
        ),
        (
            "cipher_suite",
            json!({"operation": "primitive", "cipher_suite": "TLS_AES_256_GCM_SHA384"}),
        ),
        ("variant", json!({"operation": "set-up", "variant": "cold"})),
        (
            "certificate",
            json!({"operation": "set-up", "variant": "names-10"}),
        ),
        (
            "authentication",
            json!({"operation": "set-up", "authentication": "mutual"}),
        ),
        ("threads", json!({"operation": "set-up", "threads": 2})),
        ("threads", json!({"operation": "connection", "threads": 2})),
        (
            "variant",
            json!({"operation": "connection", "variant": "compressed-zlib"}),
        ),
        (
            "resumption",
            json!({"operation": "connection", "variant": "nginx", "resumption": "ticket"}),
        ),
        (
            "authentication",
            json!({"operation": "connection", "variant": "nginx", "authentication": "mutual"}),
        ),
        ("variant", json!({"variant": "nginx"})),
        (
            "resumption",
            json!({"variant": "chain-1", "resumption": "ticket"}),
        ),
        (
            "cipher_suite",
            json!({"operation": "quic-packet", "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}),
        ),
        ("size", json!({"operation": "quic-packet", "size": 28})),
        ("size", json!({"operation": "quic-packet", "size": 65_528})),
        (
            "protocol",
            json!({"operation": "quic-packet", "protocol": "1.3"}),
        ),
        (
            "record_size",
            json!({"operation": "quic-packet", "record_size": 1024}),
        ),
        (
            "variant",
            json!({"operation": "quic-packet", "variant": "hello-retry"}),
        ),
    ] {
        assert_eq!(wrong(&changes), Some(field), "{changes}");
    }
}

#[test]
fn a_chain_requires_certificates_that_exist() {
    for chain in Chain::ALL {
        for certificate in Certificate::ALL {
            for protocol in Protocol::ALL {
                let is_rsa = matches!(certificate, Certificate::Rsa2048 | Certificate::Rsa4096);
                let suite = match (protocol, is_rsa) {
                    (Protocol::Tls13, _) => CipherSuite::Aes256Gcm,
                    (Protocol::Tls12, true) => CipherSuite::EcdheRsaAes256Gcm,
                    (Protocol::Tls12, false) => CipherSuite::EcdheEcdsaAes256Gcm,
                };
                let changes = json!({
                    "variant": chain, "certificate": certificate, "protocol": protocol,
                    "cipher_suite": suite,
                });
                let is_made = chain.certificates().contains(certificate)
                    && (*protocol == Protocol::Tls13 || !certificate.is_ml_dsa());
                let expected = (!is_made).then_some("certificate");
                assert_eq!(wrong(&changes), expected, "{changes}");
            }
        }
    }
}

#[test]
fn a_message_states_what_was_found_and_what_is_expected() {
    for (changes, message) in [
        (
            json!({"variant": "chain-3", "certificate": "ed25519"}),
            "found \"ed25519\" with variant \"chain-3\", expected \"rsa-2048\", \"ecdsa-p256\", \
             \"ml-dsa-44\", \"ml-dsa-65\": there are no other certificates in this chain",
        ),
        (
            json!({"variant": "compressed-zlib", "resumption": "ticket"}),
            "found \"ticket\" with variant \"compressed-zlib\", expected \"none\": resumed \
             handshakes send no certificates",
        ),
        (
            json!({"variant": "compressed-zlib", "authentication": "mutual"}),
            "found \"mutual\" with variant \"compressed-zlib\", expected \"server\": only servers \
             compress their certificates here",
        ),
        (
            json!({"variant": "compressed-zlib", "protocol": "1.2"}),
            "found \"compressed-zlib\" with protocol \"1.2\", expected \"1.3\"",
        ),
    ] {
        let found = with(&changes).check().unwrap_err();
        assert_eq!(found.message, message);
    }
}
