//! Requirements for every adapter, and faults that the driver must notice: a module of each
//! adapter's tests.

pub mod connections;
pub mod handshakes;
pub mod measurements;
pub mod packets;
pub mod programs;
pub mod scenarios;
pub mod set_ups;
pub mod transfers;
pub mod unsupported;
pub mod wire;

/// Defines the tests of every adapter, for `$library` and its program. `unsupported`: lists of the
/// scenarios that the library does not support, by name.
macro_rules! conformance_tests {
    ($library:expr, $program:expr, unsupported: $lists:expr) => {
        #[test]
        fn unsupported_scenarios_are_listed_by_name() {
            crate::conformance::unsupported::unsupported_scenarios_are_listed_by_name(
                &$library, &$lists,
            );
        }

        #[test]
        fn every_handshake_negotiates_the_parameters_of_its_scenario() {
            crate::conformance::handshakes::every_handshake_negotiates_the_parameters_of_its_scenario(&$library);
        }

        #[test]
        fn the_reported_scheme_is_that_of_the_certificate() {
            crate::conformance::handshakes::the_reported_scheme_is_that_of_the_certificate(&$library);
        }

        #[test]
        fn every_transfer_arrives() {
            crate::conformance::transfers::every_transfer_arrives(&$library);
        }

        #[test]
        fn wrong_handshakes_are_noticed() {
            crate::conformance::handshakes::wrong_handshakes_are_noticed(&$library);
        }

        #[test]
        fn a_missing_or_another_certificate_is_noticed() {
            crate::conformance::handshakes::a_missing_or_another_certificate_is_noticed(&$library);
        }

        #[test]
        fn missing_or_unwanted_compression_is_noticed() {
            crate::conformance::handshakes::missing_or_unwanted_compression_is_noticed(&$library);
        }

        #[test]
        fn early_data_that_is_not_permitted_is_noticed() {
            crate::conformance::handshakes::early_data_that_is_not_permitted_is_noticed(&$library);
        }

        #[test]
        fn a_ticket_is_used_once() {
            crate::conformance::handshakes::a_ticket_is_used_once(&$library);
        }

        #[test]
        fn the_main_report_is_measured() {
            crate::conformance::measurements::the_main_report_is_measured(&$library);
        }

        #[test]
        fn every_packet_is_protected() {
            crate::conformance::packets::every_packet_is_protected(&$library);
        }

        #[test]
        fn threads_measure_at_once() {
            crate::conformance::measurements::threads_measure_at_once(&$library);
        }

        #[test]
        fn the_session_cache_holds_the_stated_number_of_sessions() {
            crate::conformance::handshakes::the_session_cache_holds_the_stated_number_of_sessions(
                &$library,
            );
        }

        #[test]
        fn construction_and_tickets_are_phases() {
            crate::conformance::measurements::construction_and_tickets_are_phases(&$library);
        }

        #[test]
        fn the_wire_of_a_socket_is_the_one_that_is_counted() {
            crate::conformance::wire::the_wire_of_a_socket_is_the_one_that_is_counted(&$library);
        }

        #[test]
        fn hybrid_key_shares_have_the_bytes_of_their_definition() {
            crate::conformance::wire::hybrid_key_shares_have_the_bytes_of_their_definition(
                &$library,
            );
        }

        #[test]
        fn the_segments_of_a_flight_grow_with_its_certificates() {
            crate::conformance::wire::the_segments_of_a_flight_grow_with_its_certificates(
                &$library,
            );
        }

        #[test]
        fn compression_makes_the_first_flight_of_a_server_smaller() {
            crate::conformance::wire::compression_makes_the_first_flight_of_a_server_smaller(
                &$library,
            );
        }

        #[test]
        fn the_build_is_described() {
            crate::conformance::programs::the_build_is_described($program);
        }

        #[test]
        fn memory_is_counted_by_the_reported_allocator() {
            crate::conformance::programs::memory_is_counted_by_the_reported_allocator(
                $program,
            );
        }

        #[test]
        fn threads_and_latencies_include_every_handshake() {
            crate::conformance::programs::threads_and_latencies_include_every_handshake(
                $program,
            );
        }

        #[test]
        fn an_error_names_its_scenario() {
            crate::conformance::programs::an_error_names_its_scenario($program);
        }

        #[test]
        fn figures_of_a_process_that_was_stopped_do_not_count() {
            crate::conformance::programs::figures_of_a_process_that_was_stopped_do_not_count(
                $program,
            );
        }

        #[test]
        fn memory_grows_with_the_sessions() {
            crate::conformance::programs::memory_grows_with_the_sessions($program);
        }

        #[test]
        fn connections_over_sockets_are_measured_on_both_sides() {
            crate::conformance::connections::connections_over_sockets_are_measured_on_both_sides(
                &$library, $program,
            );
        }

        #[test]
        fn every_set_up_is_measured_by_phase() {
            crate::conformance::set_ups::every_set_up_is_measured_by_phase(&$library, $program);
        }

        #[test]
        fn peers_are_verified_with_the_loaded_anchors() {
            crate::conformance::set_ups::peers_are_verified_with_the_loaded_anchors(&$library);
        }

        #[test]
        fn a_server_has_a_certificate_for_each_name() {
            crate::conformance::set_ups::a_server_has_a_certificate_for_each_name(&$library);
        }

        #[test]
        fn broken_anchors_and_keys_are_not_loaded() {
            crate::conformance::set_ups::broken_anchors_and_keys_are_not_loaded(&$library);
        }
    };
}
