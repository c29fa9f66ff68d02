//! Which scenarios can be measured, and what the messages about others name.

use serde_json::{Value, json};

use super::*;
use crate::scenario::Chain;

/// A scenario that can be measured, with some fields replaced, such as `size=1 variant=nginx`; `-`
/// removes one.
fn with(changes: &str) -> Scenario {
    let changes = changes.split_whitespace();
    let changes: Vec<_> = changes.map(|it| it.split_once('=').unwrap()).collect();
    let changed = |field| changes.iter().find(|it| it.0 == field).map(|it| it.1);
    let operation = changed("operation").unwrap_or("handshake");
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
    if changed("protocol") == Some("1.2") {
        fields["cipher_suite"] = json!("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384");
    }
    for (field, value) in changes {
        fields[field] = match (value, value.parse::<u32>()) {
            ("-", _) => Value::Null,
            (_, Ok(number)) => json!(number),
            (text, Err(_)) => json!(text),
        };
    }
    serde_json::from_value(fields).unwrap()
}

/// The name of the wrong field, if there is one.
fn wrong(changes: &str) -> Option<&'static str> {
    with(changes).check().err().map(|fault| fault.field)
}

#[test]
fn scenarios_that_can_be_measured_are_accepted() {
    for changes in [
        "",
        "protocol=1.2",
        // A resumption of TLS 1.2 exchanges no keys.
        "protocol=1.2 key_exchange=- resumption=ticket",
        "resumption=ticket variant=early-data",
        "operation=transfer",
        "operation=primitive",
        "operation=set-up",
        "operation=set-up variant=client-mozilla",
        "operation=set-up variant=private-key",
        "operation=set-up variant=process-server",
        "operation=set-up variant=names-10 certificate=ecdsa-p256",
        "operation=connection",
        "operation=connection variant=nginx",
        "operation=memory variant=released-buffers",
        "operation=quic-packet",
        "operation=quic-packet size=29",
    ] {
        assert_eq!(with(changes).check(), Ok(()), "{changes}");
    }
    for certificate in Certificate::ALL {
        let changes = format!("variant=compressed-zlib certificate={certificate}");
        assert_eq!(wrong(&changes), None, "{changes}");
    }
}

#[test]
fn an_error_names_the_field_that_is_missing_or_contradicts_another() {
    for (field, changes) in [
        ("protocol", "protocol=-"),
        ("cipher_suite", "cipher_suite=-"),
        ("key_exchange", "key_exchange=-"),
        ("certificate", "certificate=-"),
        ("authentication", "authentication=-"),
        ("resumption", "resumption=-"),
        ("threads", "threads=-"),
        ("size", "operation=transfer size=-"),
        ("variant", "operation=set-up variant=-"),
        ("variant", "operation=primitive variant=-"),
        ("cipher_suite", "operation=quic-packet cipher_suite=-"),
        ("size", "operation=quic-packet size=-"),
        ("side", "side=client"),
        (
            "cipher_suite",
            "protocol=1.2 cipher_suite=TLS_AES_256_GCM_SHA384",
        ),
        ("cipher_suite", "protocol=1.2 certificate=ecdsa-p256"),
        ("key_exchange", "protocol=1.2 key_exchange=X25519MLKEM768"),
        ("variant", "protocol=1.2 variant=hello-retry"),
        (
            "variant",
            "protocol=1.2 variant=early-data resumption=ticket",
        ),
        ("resumption", "variant=early-data"),
        ("protocol", "variant=own-tickets resumption=ticket"),
        (
            "resumption",
            "protocol=1.2 variant=own-tickets resumption=session-id",
        ),
        ("variant", "variant=released-buffers"),
        ("resumption", "resumption=resumed"),
        ("size", "size=1"),
        ("resumption", "operation=transfer resumption=ticket"),
        ("record_size", "operation=transfer record_size=100"),
        ("record_size", "operation=transfer record_size=20000"),
        ("in_flight", "operation=transfer in_flight=1000"),
        ("variant", "operation=transfer variant=chain-1"),
        ("protocol", "operation=primitive protocol=1.3"),
        (
            "cipher_suite",
            "operation=primitive cipher_suite=TLS_AES_256_GCM_SHA384",
        ),
        ("variant", "operation=set-up variant=cold"),
        ("certificate", "operation=set-up variant=names-10"),
        ("authentication", "operation=set-up authentication=mutual"),
        ("threads", "operation=set-up threads=2"),
        ("threads", "operation=connection threads=2"),
        ("variant", "operation=connection variant=compressed-zlib"),
        (
            "resumption",
            "operation=connection variant=nginx resumption=ticket",
        ),
        (
            "authentication",
            "operation=connection variant=nginx authentication=mutual",
        ),
        ("variant", "variant=nginx"),
        ("resumption", "variant=chain-1 resumption=ticket"),
        (
            "cipher_suite",
            "operation=quic-packet cipher_suite=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        ),
        ("size", "operation=quic-packet size=28"),
        ("size", "operation=quic-packet size=65528"),
        ("protocol", "operation=quic-packet protocol=1.3"),
        ("record_size", "operation=quic-packet record_size=1024"),
        ("variant", "operation=quic-packet variant=hello-retry"),
    ] {
        assert_eq!(wrong(changes), Some(field), "{changes}");
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
                let changes = format!(
                    "variant={chain} certificate={certificate} protocol={protocol} \
                     cipher_suite={suite}"
                );
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
            "variant=chain-3 certificate=ed25519",
            "found \"ed25519\" with variant \"chain-3\", expected \"rsa-2048\", \"ecdsa-p256\", \
             \"ml-dsa-44\", \"ml-dsa-65\": there are no other certificates in this chain",
        ),
        (
            "variant=compressed-zlib resumption=ticket",
            "found \"ticket\" with variant \"compressed-zlib\", expected \"none\": resumed \
             handshakes send no certificates",
        ),
        (
            "variant=compressed-zlib authentication=mutual",
            "found \"mutual\" with variant \"compressed-zlib\", expected \"server\": only servers \
             compress their certificates here",
        ),
        (
            "variant=compressed-zlib protocol=1.2",
            "found \"compressed-zlib\" with protocol \"1.2\", expected \"1.3\"",
        ),
    ] {
        let found = with(changes).check().unwrap_err();
        assert_eq!(found.message, message);
    }
}
