//! rustls does, with either provider, what the harness asks of it.

#[path = "../../conformance.rs"]
mod conformance;

#[cfg(feature = "aws-lc-rs")]
mod aws_lc_rs {
    use tls_rustls::Rustls;

    use crate::conformance;

    const PROGRAM: &str = env!("CARGO_BIN_EXE_tls-rustls-aws-lc-rs");

    #[test]
    fn every_handshake_negotiates_what_it_claims() {
        let missing = conformance::every_handshake_negotiates_what_it_claims(&Rustls::aws_lc_rs());
        assert_eq!(missing, 0);
    }

    #[test]
    fn every_transfer_arrives() {
        conformance::every_transfer_arrives(&Rustls::aws_lc_rs());
    }

    #[test]
    fn what_is_wrong_is_noticed() {
        conformance::what_is_wrong_is_noticed(&Rustls::aws_lc_rs());
    }

    #[test]
    fn a_ticket_is_used_once() {
        conformance::a_ticket_is_used_once(&Rustls::aws_lc_rs());
    }

    #[test]
    fn the_main_report_is_measured() {
        assert_eq!(
            conformance::the_main_report_is_measured(&Rustls::aws_lc_rs()),
            16
        );
    }

    #[test]
    fn threads_measure_at_once() {
        conformance::threads_measure_at_once(&Rustls::aws_lc_rs());
    }

    #[test]
    fn every_primitive_is_right() {
        assert_eq!(
            conformance::every_primitive_is_right(&Rustls::aws_lc_rs()),
            0
        );
    }

    #[test]
    fn the_session_cache_holds_what_it_is_told() {
        conformance::the_session_cache_holds_what_it_is_told(&Rustls::aws_lc_rs());
    }

    #[test]
    fn construction_and_tickets_are_phases() {
        conformance::construction_and_tickets_are_phases(&Rustls::aws_lc_rs());
    }

    #[test]
    fn the_build_is_described() {
        conformance::the_build_is_described(&Rustls::aws_lc_rs());
    }

    #[test]
    fn memory_is_counted_by_the_allocator_that_is_named() {
        conformance::memory_is_counted_by_the_allocator_that_is_named(env!(
            "CARGO_BIN_EXE_tls-rustls-aws-lc-rs"
        ));
    }

    #[test]
    fn threads_and_latencies_are_those_of_every_handshake() {
        conformance::threads_and_latencies_are_those_of_every_handshake(PROGRAM);
    }

    #[test]
    fn memory_grows_with_the_sessions() {
        conformance::memory_grows_with_the_sessions(PROGRAM);
    }

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

    #[test]
    fn every_handshake_negotiates_what_it_claims() {
        let missing = conformance::every_handshake_negotiates_what_it_claims(&Unbuffered(
            Rustls::aws_lc_rs(),
        ));
        assert_eq!(missing, 0);
    }

    #[test]
    fn every_transfer_arrives() {
        conformance::every_transfer_arrives(&Unbuffered(Rustls::aws_lc_rs()));
    }

    #[test]
    fn what_is_wrong_is_noticed() {
        conformance::what_is_wrong_is_noticed(&Unbuffered(Rustls::aws_lc_rs()));
    }

    #[test]
    fn a_ticket_is_used_once() {
        conformance::a_ticket_is_used_once(&Unbuffered(Rustls::aws_lc_rs()));
    }

    #[test]
    fn the_main_report_is_measured() {
        assert_eq!(
            conformance::the_main_report_is_measured(&Unbuffered(Rustls::aws_lc_rs())),
            16
        );
    }

    #[test]
    fn threads_measure_at_once() {
        conformance::threads_measure_at_once(&Unbuffered(Rustls::aws_lc_rs()));
    }

    #[test]
    fn the_session_cache_holds_what_it_is_told() {
        conformance::the_session_cache_holds_what_it_is_told(&Unbuffered(Rustls::aws_lc_rs()));
    }

    #[test]
    fn construction_and_tickets_are_phases() {
        conformance::construction_and_tickets_are_phases(&Unbuffered(Rustls::aws_lc_rs()));
    }

    #[test]
    fn the_build_is_described() {
        conformance::the_build_is_described(&Unbuffered(Rustls::aws_lc_rs()));
    }

    #[test]
    fn memory_is_counted_by_the_allocator_that_is_named() {
        conformance::memory_is_counted_by_the_allocator_that_is_named(env!(
            "CARGO_BIN_EXE_tls-rustls-unbuffered"
        ));
    }

    #[test]
    fn threads_and_latencies_are_those_of_every_handshake() {
        conformance::threads_and_latencies_are_those_of_every_handshake(PROGRAM);
    }

    #[test]
    fn memory_grows_with_the_sessions() {
        conformance::memory_grows_with_the_sessions(PROGRAM);
    }

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

    #[test]
    fn every_handshake_negotiates_what_it_claims() {
        let missing = conformance::every_handshake_negotiates_what_it_claims(&Rustls::ring());
        assert_eq!(missing, 7);
    }

    #[test]
    fn every_transfer_arrives() {
        conformance::every_transfer_arrives(&Rustls::ring());
    }

    #[test]
    fn what_is_wrong_is_noticed() {
        conformance::what_is_wrong_is_noticed(&Rustls::ring());
    }

    #[test]
    fn a_ticket_is_used_once() {
        conformance::a_ticket_is_used_once(&Rustls::ring());
    }

    #[test]
    fn the_main_report_is_measured() {
        assert_eq!(conformance::the_main_report_is_measured(&Rustls::ring()), 8);
    }

    #[test]
    fn threads_measure_at_once() {
        conformance::threads_measure_at_once(&Rustls::ring());
    }

    #[test]
    fn every_primitive_is_right() {
        assert_eq!(conformance::every_primitive_is_right(&Rustls::ring()), 3);
    }

    #[test]
    fn the_session_cache_holds_what_it_is_told() {
        conformance::the_session_cache_holds_what_it_is_told(&Rustls::ring());
    }

    #[test]
    fn construction_and_tickets_are_phases() {
        conformance::construction_and_tickets_are_phases(&Rustls::ring());
    }

    #[test]
    fn the_build_is_described() {
        conformance::the_build_is_described(&Rustls::ring());
    }

    #[test]
    fn memory_is_counted_by_the_allocator_that_is_named() {
        conformance::memory_is_counted_by_the_allocator_that_is_named(env!(
            "CARGO_BIN_EXE_tls-rustls-ring"
        ));
    }

    #[test]
    fn threads_and_latencies_are_those_of_every_handshake() {
        conformance::threads_and_latencies_are_those_of_every_handshake(PROGRAM);
    }

    #[test]
    fn memory_grows_with_the_sessions() {
        conformance::memory_grows_with_the_sessions(PROGRAM);
    }
}
