//! rustls does, with every provider, what the harness asks of it.

#[macro_use]
#[path = "../../shared/conformance.rs"]
mod conformance;

#[cfg(feature = "aws-lc-rs")]
mod aws_lc_rs {
    use tls_rustls::Rustls;

    use crate::conformance;

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-aws-lc-rs");

    const HAS_HYBRID: bool = cfg!(rustls_hybrid);

    conformance_tests!(
        Rustls::aws_lc_rs(),
        PROGRAM,
        missing: if HAS_HYBRID { 0 } else { 7 },
        measured: if HAS_HYBRID { 16 } else { 8 }
    );

    #[test]
    fn every_primitive_is_right() {
        let missing = conformance::every_primitive_is_right(&Rustls::aws_lc_rs());
        assert_eq!(missing, if HAS_HYBRID { 0 } else { 3 });
    }

    #[cfg(rustls_hybrid)]
    #[test]
    fn client_hellos_carry_their_key_shares() {
        conformance::client_hellos_carry_their_key_shares(&Rustls::aws_lc_rs(), PROGRAM);
    }
}

#[cfg(all(feature = "aws-lc-rs", feature = "unbuffered"))]
mod unbuffered {
    use tls_rustls::{Rustls, unbuffered::Unbuffered};

    use crate::conformance;

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-unbuffered");

    conformance_tests!(Unbuffered(Rustls::aws_lc_rs()), PROGRAM, missing: 0, measured: 16);

    #[test]
    fn client_hellos_carry_their_key_shares() {
        conformance::client_hellos_carry_their_key_shares(
            &Unbuffered(Rustls::aws_lc_rs()),
            PROGRAM,
        );
    }
}

#[cfg(feature = "ring")]
mod ring {
    use tls_rustls::Rustls;

    use crate::conformance;

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-ring");

    conformance_tests!(Rustls::ring(), PROGRAM, missing: 7, measured: 8);

    #[test]
    fn every_primitive_is_right() {
        assert_eq!(conformance::every_primitive_is_right(&Rustls::ring()), 3);
    }
}

#[cfg(feature = "graviola")]
mod graviola {
    use tls_rustls::Rustls;

    use crate::conformance;

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-graviola");

    // Its cipher suites of TLS1.2 do not go with Ed25519.
    conformance_tests!(Rustls::graviola(), PROGRAM, missing: 6, measured: 16);

    #[test]
    fn every_primitive_is_right() {
        assert_eq!(
            conformance::every_primitive_is_right(&Rustls::graviola()),
            0
        );
    }

    #[test]
    fn client_hellos_carry_their_key_shares() {
        conformance::client_hellos_carry_their_key_shares(&Rustls::graviola(), PROGRAM);
    }
}

#[cfg(all(feature = "aws-lc-rs", feature = "ring", feature = "graviola"))]
#[test]
fn a_mask_is_told_by_the_provider_that_heeds_it_alone() {
    let told = |program: &str| {
        let mut command = std::process::Command::new(program);
        let output = command.arg("describe").env("OPENSSL_ia32cap", "~0x0");
        let output = output.output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        told["cpu_mask"].as_str().map(str::to_owned)
    };
    assert_eq!(
        told(env!("CARGO_BIN_EXE_tls-rustls-aws-lc-rs")).as_deref(),
        Some("~0x0")
    );
    assert_eq!(told(env!("CARGO_BIN_EXE_tls-rustls-ring")), None);
    assert_eq!(told(env!("CARGO_BIN_EXE_tls-rustls-graviola")), None);
}
