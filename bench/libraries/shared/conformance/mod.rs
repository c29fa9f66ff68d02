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

use tls_harness::scenario::Scenario;

/// The value of a result; a panic names the scenario.
pub fn good<T>(result: anyhow::Result<T>, scenario: &Scenario) -> T {
    result.unwrap_or_else(|error| panic!("{}: {error:#}", scenario.name()))
}

/// Defines the tests of every adapter, for `$library` and its program. `unsupported`: lists of the
/// scenarios that the library does not support, by name.
macro_rules! conformance_tests {
    ($library:expr, $program:expr, unsupported: $lists:expr) => {
        conformance_tests! { in unsupported (&$library, &$lists):
            unsupported_scenarios_are_listed_by_name
        }
        conformance_tests! { in handshakes (&$library):
            every_handshake_negotiates_the_parameters_of_its_scenario
            the_reported_scheme_is_that_of_the_certificate
            wrong_handshakes_are_noticed
            a_missing_or_another_certificate_is_noticed
            missing_or_unwanted_compression_is_noticed
            early_data_that_is_not_permitted_is_noticed
            replayed_early_data_is_rejected
            a_ticket_is_used_once
            the_session_cache_holds_the_stated_number_of_sessions
        }
        conformance_tests! { in transfers (&$library): every_transfer_arrives }
        conformance_tests! { in measurements (&$library):
            the_main_report_is_measured
            threads_measure_at_once
            construction_and_tickets_are_phases
        }
        conformance_tests! { in packets (&$library): every_packet_is_protected }
        conformance_tests! { in wire (&$library):
            the_wire_of_a_socket_is_the_one_that_is_counted
            hybrid_key_shares_have_the_bytes_of_their_definition
            the_segments_of_a_flight_grow_with_its_certificates
            compression_makes_the_first_flight_of_a_server_smaller
        }
        conformance_tests! { in programs ($program):
            the_build_is_described
            the_build_is_the_default
            memory_is_counted_by_the_reported_allocator
            the_size_of_a_connection_is_plausible
            threads_and_latencies_include_every_handshake
            an_error_names_its_scenario
            figures_of_a_process_that_was_stopped_do_not_count
            memory_grows_with_the_sessions
        }
        conformance_tests! { in connections (&$library, $program):
            connections_over_sockets_are_measured_on_both_sides
        }
        conformance_tests! { in set_ups (&$library, $program):
            every_set_up_is_measured_by_phase
        }
        conformance_tests! { in set_ups (&$library):
            peers_are_verified_with_the_loaded_anchors
            a_server_has_a_certificate_for_each_name
            connections_load_no_configuration
            broken_anchors_and_keys_are_not_loaded
        }
    };
    (in $module:ident $arguments:tt: $($test:ident)+) => {
        $(#[test]
        fn $test() {
            crate::conformance::$module::$test $arguments;
        })+
    };
}
