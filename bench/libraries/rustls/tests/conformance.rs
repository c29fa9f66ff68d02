//! rustls passes the conformance tests of the harness with every provider.

#[macro_use]
#[path = "../../shared/conformance/mod.rs"]
mod conformance;

/// Transfers in records of 16 KiB: from 0.24 on, rustls includes the tag in their size.
const FULL_RECORDS: &str = include_str!("unsupported/full-records.txt");

/// Compressed certificates: only the build of the workspace has the feature.
const COMPRESSION: &str = match cfg!(feature = "certificate-compression") {
    true => "",
    false => conformance::unsupported::COMPRESSION,
};

#[cfg(feature = "aws-lc-rs")]
mod aws_lc_rs {
    use tls_rustls::Rustls;

    use crate::conformance::{self, unsupported};

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-aws-lc-rs");

    const UNSUPPORTED: &[&str] = match (cfg!(rustls_0_24), cfg!(rustls_hybrid)) {
        (true, _) => &[
            crate::FULL_RECORDS,
            crate::COMPRESSION,
            unsupported::EARLY_DATA,
        ],
        (false, true) => &[crate::COMPRESSION, unsupported::EARLY_DATA_TICKET],
        (false, false) => &[
            crate::COMPRESSION,
            unsupported::EARLY_DATA_TICKET,
            unsupported::HYBRID,
            unsupported::P256_HYBRID,
            unsupported::ML_KEM_ALONE,
            unsupported::ML_DSA,
            unsupported::ML_KEM,
        ],
    };

    conformance_tests!(Rustls::aws_lc_rs(), PROGRAM, unsupported: UNSUPPORTED);

    #[test]
    fn tickets_of_tls_1_2_are_renewed_by_default() {
        conformance::handshakes::by_default_renews(&Rustls::aws_lc_rs(), 1);
    }

    #[test]
    fn every_primitive_is_right() {
        conformance::measurements::every_primitive_is_right(&Rustls::aws_lc_rs());
    }

    #[cfg(rustls_hybrid)]
    #[test]
    fn client_hellos_carry_their_key_shares() {
        conformance::programs::client_hellos_carry_their_key_shares(&Rustls::aws_lc_rs(), PROGRAM);
    }
}

#[cfg(all(feature = "aws-lc-rs", feature = "unbuffered"))]
mod unbuffered {
    use tls_rustls::{Rustls, unbuffered::Unbuffered};

    use crate::conformance::{self, unsupported};

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-unbuffered");

    conformance_tests!(Unbuffered(Rustls::aws_lc_rs()), PROGRAM, unsupported: [unsupported::EARLY_DATA]);

    #[test]
    fn client_hellos_carry_their_key_shares() {
        conformance::programs::client_hellos_carry_their_key_shares(
            &Unbuffered(Rustls::aws_lc_rs()),
            PROGRAM,
        );
    }
}

#[cfg(feature = "ring")]
mod ring {
    use tls_rustls::Rustls;

    use crate::conformance::{self, unsupported};

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-ring");

    const UNSUPPORTED: &[&str] = match cfg!(rustls_0_24) {
        true => &[
            unsupported::HYBRID,
            unsupported::P256_HYBRID,
            unsupported::ML_KEM_ALONE,
            unsupported::ML_DSA,
            unsupported::ML_KEM,
            unsupported::EARLY_DATA,
            crate::FULL_RECORDS,
            crate::COMPRESSION,
        ],
        false => &[
            crate::COMPRESSION,
            unsupported::EARLY_DATA_TICKET,
            unsupported::HYBRID,
            unsupported::P256_HYBRID,
            unsupported::ML_KEM_ALONE,
            unsupported::ML_DSA,
            unsupported::ML_KEM,
        ],
    };

    conformance_tests!(Rustls::ring(), PROGRAM, unsupported: UNSUPPORTED);

    #[test]
    fn every_primitive_is_right() {
        conformance::measurements::every_primitive_is_right(&Rustls::ring());
    }
}

#[cfg(feature = "graviola")]
mod graviola {
    use tls_rustls::Rustls;

    use crate::conformance::{self, unsupported};

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-graviola");

    /// Scenarios with Ed25519, which graviola's TLS 1.2 cipher suites do not support.
    const ED25519: &str = include_str!("unsupported/ed25519.txt");

    conformance_tests!(Rustls::graviola(), PROGRAM, unsupported: [
        ED25519,
        crate::COMPRESSION,
        unsupported::EARLY_DATA_TICKET,
        unsupported::QUIC_PACKETS,
        unsupported::P256_HYBRID,
        unsupported::ML_KEM_ALONE,
        unsupported::ML_DSA,
    ]);

    #[test]
    fn every_primitive_is_right() {
        conformance::measurements::every_primitive_is_right(&Rustls::graviola());
    }

    #[test]
    fn client_hellos_carry_their_key_shares() {
        conformance::programs::client_hellos_carry_their_key_shares(&Rustls::graviola(), PROGRAM);
    }
}

#[cfg(all(feature = "aws-lc-rs", feature = "ring", feature = "graviola"))]
#[test]
fn a_mask_is_reported_only_by_the_provider_that_honors_it() {
    let mask = |program: &str| {
        let mut command = std::process::Command::new(program);
        let output = command.arg("describe").env("OPENSSL_ia32cap", "~0x0");
        let output = output.output().unwrap();
        let described: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        described["cpu_mask"].as_str().map(str::to_owned)
    };
    assert_eq!(
        mask(env!("CARGO_BIN_EXE_tls-rustls-aws-lc-rs")).as_deref(),
        Some("~0x0")
    );
    assert_eq!(mask(env!("CARGO_BIN_EXE_tls-rustls-ring")), None);
    assert_eq!(mask(env!("CARGO_BIN_EXE_tls-rustls-graviola")), None);
}
