//! OpenSSL passes the conformance tests of the harness.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

use conformance::unsupported;
use tls_openssl::OpenSsl;

const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-openssl");

const UNSUPPORTED: &[&str] = match (cfg!(openssl_3), cfg!(openssl_hybrid)) {
    (false, _) => &[
        unsupported::COMPRESSION,
        unsupported::HYBRID,
        unsupported::QUIC_PACKETS,
        unsupported::P256_HYBRID,
        unsupported::ML_KEM_ALONE,
        unsupported::ML_DSA,
        unsupported::PRIMITIVES,
    ],
    (true, false) => &[
        unsupported::COMPRESSION,
        unsupported::HYBRID,
        unsupported::QUIC_PACKETS,
        unsupported::P256_HYBRID,
        unsupported::ML_KEM_ALONE,
        unsupported::ML_DSA,
        unsupported::ML_KEM,
    ],
    (true, true) => &[unsupported::QUIC_PACKETS, unsupported::COMPRESSION],
};

conformance_tests!(OpenSsl, PROGRAM, unsupported: UNSUPPORTED);

#[cfg(openssl_hybrid)]
#[test]
fn the_scheme_of_a_servers_signature_is_reported() {
    let reported =
        conformance::handshakes::the_reported_scheme_is_that_of_the_certificate(&OpenSsl);
    assert!(reported >= 4);
}

#[test]
fn tickets_of_tls_1_2_are_not_renewed_by_default() {
    conformance::handshakes::by_default_renews(&OpenSsl, 0);
}

#[test]
fn released_buffers_hold_less_memory() {
    conformance::programs::released_buffers_hold_less_memory(PROGRAM);
}

#[test]
fn every_primitive_is_right() {
    conformance::measurements::every_primitive_is_right(&OpenSsl);
}

#[cfg(openssl_hybrid)]
#[test]
fn client_hellos_carry_their_key_shares() {
    conformance::programs::client_hellos_carry_their_key_shares(&OpenSsl, PROGRAM);
}

/// The same program with the settings that OpenSSL's documentation recommends.
mod tuned {
    use std::{process::Command, sync::OnceLock};

    use tls_openssl::Tuned;

    use super::*;

    conformance_tests!(Tuned, program(), unsupported: UNSUPPORTED);

    /// A script that starts the program as `tlsbench` starts a tuned one.
    fn program() -> &'static str {
        static PATH: OnceLock<String> = OnceLock::new();
        PATH.get_or_init(|| {
            let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/tls-openssl-tuned");
            let script = format!("#!/bin/sh\nTLS_HARNESS_TUNED=1 exec '{PROGRAM}' \"$@\"\n");
            // A shell writes the script: if this process did, a concurrent fork could hold the file
            // open for writing, and executing it would fail.
            let write = "printf %s \"$1\" > \"$0\" && chmod +x \"$0\"";
            let written = Command::new("sh")
                .args(["-c", write, path, &script])
                .status();
            assert!(written.unwrap().success(), "{path} was not written");
            path.to_owned()
        })
    }

    #[test]
    fn a_program_reports_that_it_is_tuned_and_how() {
        let described = |program: &str| -> serde_json::Value {
            let output = Command::new(program).arg("describe").output().unwrap();
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let (default, tuned) = (described(PROGRAM), described(program()));
        assert_eq!(default.get("build").or(default.get("note")), None);
        assert_eq!(tuned["build"], "tuned");
        let id = default["id"].as_str().unwrap();
        assert_eq!(tuned["id"], format!("{id}-tuned"));
        let note = tuned["note"].as_str().unwrap();
        let expected = match cfg!(openssl_3) {
            true => "Tuned: SSL_MODE_RELEASE_BUFFERS; a library context for each thread; 17",
            false => "Tuned: SSL_MODE_RELEASE_BUFFERS.",
        };
        assert!(note.starts_with(expected), "{note}");
    }
}
