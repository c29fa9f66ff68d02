"""The formats of other projects' tools, by examples from their documentation and source.

`captured/hyperfine.json` is what hyperfine 1.15.0 wrote on 22 November 2026.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from grammars import Document
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.names import scenario_name
from tlsperf.load.formats import detect
from tlsperf.load.rows import Parsed
from tlsperf.load.run import load_run
from tlsperf.publish.runs import import_files

CAPTURED = Path(__file__).parent / "captured"

TLS_PERF = """\
$ ./tls-perf -l 1000 -t 2 -T 10 192.168.100.4 443
Running TLS benchmark with following settings:
Host:        192.168.100.4 : 443
TLS version: 1.2
Cipher:      ECDHE-ECDSA-AES128-GCM-SHA256
TLS tickets: off
Duration:    3000

set open files limit to 2008
TLS hs in progress 252 [382 h/s], TCP open conns 252 [146 hs in progress], Errors 0
( All peers are active, start to gather statistics )
TLS hs in progress 834 [448 h/s], TCP open conns 834 [1071 hs in progress], Errors 0
========================================
 TOTAL:                  SECONDS 7; HANDSHAKES 5443
 MEASURES (seconds):     MAX h/s 618; AVG h/s 561; 95P h/s 448; MIN h/s 448
 LATENCY (microseconds): MIN 26; AVG 50; 95P 74; MAX 3945
"""
"""From its README, with fewer of the lines that it prints each second."""

ICOUNTS = """\
handshake_no_resume_1.2_rsa_aes_server,11327015
handshake_no_resume_1.2_rsa_aes_client,4314952
handshake_session_id_1.2_rsa_aes_server,11342136
handshake_tickets_1.2_rsa_aes_client,4331424
transfer_no_resume_1.2_rsa_aes_server,8775780
handshake_no_resume_1.3_rsa_aes_client,4212770
"""
"""From ci-bench/README.md of rustls."""

PERFTOOLS = """\
$ ./handshake -s -p certs 16
Average time per handshake: 493.620098us
Handshakes per second: 32413.412345
$ ./writeread -b 16384 certs 1
Average time per write/read: 9.814205us
$ ./pkeyread -f pem -k ec -t 4
Average time per pem(ec) call: 41.220318us
$ ./evp_setpeer -k x25519 4
Average time per x25519 evp_set_peer call: 1.093112us
$ ./rwlocks 8
Running rwlock test with 4 writers and 4 readers
total write lock/unlock calls 1201044 in 5 s
total read lock/unlock calls 820512 5 s
Average time per write_lock/unlock call pair: 16.652179us
Average time per read_lock/unlock call pair: 24.375025us
"""
"""Made with the format strings in its source."""

H1LOAD = """\
h1load -e -P -t 2 -c 100 -d 3 -r 1 https://127.0.0.1:4443/
#     time conns tot_conn  tot_req      tot_bytes    err  cps  rps  bps   ttfb
         1   100     8123     8031        1606200      0 8k12 8k03 12M8 5.101m
         2   100    16310    16210        3242000      0 8k18 8k17 13M0    -
         3     0    16400    16400        3280000      0 90.0 190. 30k4 100.2u
#======= Percentiles for time-to-first-byte and time-to-last-byte =======
# use $3:$5 $3:$7 with logscale X
# $1     $2      $3         $4       $5         $6       $7
#pctl   tail   invtail   ttfbcnt ttfb(ms)   ttlbcnt ttlb(ms)
10      90     1              1640    4.352      1640    4.352
100     0      250000        16400   25.344     16400   25.344
"""
"""Made with the format strings in its source."""

CRITERION = """\
     Running benches/benchmarks.rs (target/release/deps/benchmarks-f36c88332bd25d23)
Benchmarking client/X25519
Benchmarking client/X25519: Collecting 100 samples in estimated 5.0000 s (15B iterations)
client/X25519           time:   [25.518 µs 25.529 µs 25.542 µs]
                        thrpt:  [39.151 Kelem/s 39.171 Kelem/s 39.188 Kelem/s]
Found 8 outliers among 100 measurements (8.00%)
  6 (6.00%) high mild
  2 (2.00%) high severe

client/X25519MLKEM768+X25519
                        time:   [60.210 µs 60.301 µs 60.411 µs]
                        change: [-2.0565% -0.2521% +1.6377%] (p = 0.79 > 0.05)
                        No change in performance detected.
"""
"""The names of rustls-post-quantum's benchmarks, in the lines of Criterion.rs."""

ESTIMATE = '{"confidence_interval":{"confidence_level":0.95},"point_estimate":%s}'
ESTIMATES = (
    f'{{"mean":{ESTIMATE % 25529.1},"median":{ESTIMATE % 25501.5},'
    f'"slope":{ESTIMATE % 25530.2},"std_dev":{ESTIMATE % 61.0}}}'
)
MESSAGE = (
    '{"reason":"benchmark-complete","id":"norm","report_directory":"target/criterion/reports/norm",'
    '"iteration_count":[30,3000],"measured_values":[124200.0,9937100.0],"unit":"ns",'
    '"throughput":[{"per_iteration":1024,"unit":"elements"}],'
    '"typical":{"estimate":3419.4923,"lower_bound":3375.24221,"upper_bound":3465.458,"unit":"ns"},'
    '"mean":{"estimate":3419.4923,"lower_bound":3375.2422,"upper_bound":3465.4585,"unit":"ns"},'
    '"median":{"estimate":3271.2,"lower_bound":3204.5,"upper_bound":3361.1,"unit":"ns"},'
    '"change":null}\n'
)
"""From the guide of cargo-criterion."""

BMF = """\
{
    "benchmark-b": {
        "latency": {
            "value": 3443.0,
            "lower_value": 2275.0,
            "upper_value": 2275.0
        },
        "throughput": {"value": 290444.3}
    },
    "tests::benchmark_c": {
        "latency": {"value": 3361.0}
    }
}
"""
"""Has the form of Bencher's own examples."""

HYPERFINE = (CAPTURED / "hyperfine.json").read_text()

RUSTLS = "rustls-0.21.0"
ESTIMATES_NAME = "handshake-X25519-s2n-tls-estimates.json"
EXAMPLES = {
    "tls-perf": (TLS_PERF, "output_1", "openssl-3.6.1"),
    "rustls-icounts": (ICOUNTS, "icounts.csv", RUSTLS),
    "openssl-perftools": (PERFTOOLS, "output_1", "openssl-3.6.1"),
    "h1load": (H1LOAD, "output_1", "openssl-3.6.1"),
    "criterion/text": (CRITERION, "output_1", "rustls-0.23.37-aws-lc-rs"),
    "criterion/estimates": (ESTIMATES, ESTIMATES_NAME, "s2n-tls-1.5.0"),
    "criterion/messages": (MESSAGE, "output_1", "rustls-0.23.37-ring"),
    "bmf": (BMF, "bmf.json", "openssl-3.6.1"),
    "hyperfine": (HYPERFINE, "hyperfine.json", "openssl-3.0.19"),
}
"""By format: the text, the name of its file, the implementation."""


def read(text: str, name: str = "output_1", implementation: str = "openssl-3.6.1") -> Parsed:
    format_ = detect(text.encode(), name, name).name
    return Document(format_, text, name, implementation=implementation).parsed()


def figures(parsed: Parsed) -> list[tuple[str, str, Any, str]]:
    return [
        (scenario_name(row.scenario), row.statistic, row.value, row.unit)
        for row in parsed.rows
        if row.valid
    ]


@pytest.mark.parametrize("format_", EXAMPLES)
def test_an_example_is_recognized_by_its_own_format(format_: str) -> None:
    text, name, _ = EXAMPLES[format_]
    assert detect(text.encode(), name, name).name == format_


@pytest.mark.parametrize("format_", EXAMPLES)
def test_a_file_cut_anywhere_has_no_figure_that_was_not_printed(format_: str) -> None:
    text, name, implementation = EXAMPLES[format_]
    whole = figures(read(text, name, implementation))
    assert whole
    for cut in range(len(text)):
        try:
            found = figures(read(text[:cut], name, implementation))
        except UserError:  # before the first figures the format is not known yet
            continue
        assert set(found) <= set(whole), text[:cut]


@pytest.mark.parametrize("format_", EXAMPLES)
def test_an_example_is_imported_and_counts(format_: str, tmp_path: Path) -> None:
    text, name, implementation = EXAMPLES[format_]
    (tmp_path / name).write_text(text)
    folder = tmp_path / "2026-11-22-example"
    import_files([tmp_path / name], implementation, folder)
    rows = load_run(folder).rows
    assert rows
    assert all(row.valid for row in rows)


def test_tls_perf_has_rate_and_latency() -> None:
    parsed = read(TLS_PERF)
    name = "TLS 1.2 full handshake, AES-128-GCM, tcp"
    assert figures(parsed) == [
        (name, "value", 561.0, "handshakes/s"),
        (name, "value", 50.0, "µs"),
        (name, "max", 3945.0, "µs"),
    ]


def test_tls_perf_with_failed_handshakes_does_not_count() -> None:
    failed = TLS_PERF.replace("hs in progress], Errors 0\n====", "hs in progress], Errors 3\n====")
    assert {row.note for row in read(failed).rows} == {"3 handshakes failed"}


def test_tickets_of_tls_perf_do_not_prove_resumption() -> None:
    parsed = read(TLS_PERF.replace("tickets: off", "tickets: on"))
    assert {(row.scenario.resumption, row.scenario.variant) for row in parsed.rows} == {
        (None, "tcp-tickets")
    }


def test_two_runs_of_tls_perf_in_a_file_are_rejected() -> None:
    with pytest.raises(FormatError, match="one run of tls-perf"):
        read(TLS_PERF + TLS_PERF)


def test_instructions_are_those_of_one_handshake_and_old_transfers_are_left_out() -> None:
    parsed = read(ICOUNTS, "icounts.csv", RUSTLS)
    assert [(name, value) for name, _, value, _ in figures(parsed)] == [
        ("TLS 1.2 full handshake, AES-128-GCM, RSA-2048, server", 11327015.0),
        ("TLS 1.2 full handshake, AES-128-GCM, RSA-2048, client", 4314952.0),
        ("TLS 1.2 resumed handshake, session id, AES-128-GCM, server", 11342136 / 30),
        ("TLS 1.2 resumed handshake, ticket, AES-128-GCM, client", 4331424 / 30),
        ("TLS 1.3 full handshake, AES-128-GCM, RSA-2048, client", 4212770.0),
    ]
    assert [(remark.line, remark.code) for remark in parsed.remarks] == [(5, "missing-figure")]


def test_instructions_of_a_transfer_are_per_mebibyte() -> None:
    line = "transfer_no_resume_ring_1.3_rsa_aes_server,87757800\n"
    parsed = read(line, "icounts.csv", "rustls-0.23.37-ring")
    assert figures(parsed) == [
        ("TLS 1.3 transfer, AES-128-GCM, sending", "value", 8775780.0, "instructions/MiB")
    ]


@pytest.mark.parametrize(
    ("implementation", "expected"),
    [
        ("rustls-0.23.37-aws-lc-rs", "benchmarks of aws-lc-rs, the provider"),
        ("rustls-0.23.37", "such as rustls-0.23.37-ring"),
    ],
)
def test_instructions_of_another_provider_are_rejected(implementation: str, expected: str) -> None:
    with pytest.raises(FormatError, match=expected) as error:
        read("handshake_tickets_ring_1.3_rsa_aes_server,113\n", "icounts.csv", implementation)
    assert error.value.line == 1


def test_perftools_have_the_threads_and_the_options_of_their_commands() -> None:
    assert figures(read(PERFTOOLS)) == [
        ("full handshake, both-sides-s-p, 16 threads", "value", 493.620098, "µs"),
        ("full handshake, both-sides-s-p, 16 threads", "value", 32413.412345, "handshakes/s"),
        ("primitive, write-read-b-16384", "value", 9.814205, "µs"),
        ("primitive, pem-read-ec, 4 threads", "value", 41.220318, "µs"),
        ("primitive, x25519-set-peer, 4 threads", "value", 1.093112, "µs"),
        ("primitive, rwlock-write, 8 threads", "value", 16.652179, "µs"),
        ("primitive, rwlock-read, 8 threads", "value", 24.375025, "µs"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("$ ./sslnew 1\n493.620098\nAverage time per SSL/BIO creation call: 1.0us\n", 2, "-t"),
        ("Average time per hash: 1.500000us\n\n", 1, "the work of one of handshake"),
        ("./writeread -d certs 1\nAverage time per write/read: 1.000000us\n", 1, "TLS"),
        ("./sslnew 1\nAverage time per write/read: 1.000000us\n\n", 2, "output of sslnew"),
        ("./sslnew many\nAverage time per SSL/BIO creation call: 1.000000us\n", 1, "threads"),
    ],
)
def test_unusable_output_of_perftools_is_rejected(text: str, line: int, expected: str) -> None:
    with pytest.raises(FormatError) as error:
        read(text)
    assert error.value.line == line
    assert expected in error.value.expected


def test_a_program_of_perftools_that_ran_twice_counts_once() -> None:
    line = "Average time per SSL/BIO creation call: 1.000000us\n"
    assert [row.note for row in read(line + line).rows] == [
        None,
        "repeats line 1; one file must hold one round",
    ]


def test_h1load_has_the_median_of_its_connections_per_second() -> None:
    name = "full handshake, tcp-and-request"
    assert figures(read(H1LOAD)) == [(name, "value", 8120.0, "handshakes/s")]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("https://", "http://", "the command as the first line"),
        (" -r 1 ", " ", "the command as the first line"),
        (H1LOAD[H1LOAD.index("#=====") :], "", "the table of percentiles"),
        ("100     0      250000        16400   25.344     16400   25.344\n", "", "percentiles"),
        ("https://", "--tls-ver SSL3 https://", "TLS1.2 or TLS1.3"),
        ("8k12 8k03", "8,12 8k03", "a rate such as 8k12"),
    ],
)
def test_connections_of_h1load_that_may_not_be_handshakes_are_rejected(
    old: str, new: str, expected: str
) -> None:
    with pytest.raises(FormatError) as error:
        read(H1LOAD.replace(old, new))
    assert expected in error.value.expected


def test_h1load_with_errors_does_not_count() -> None:
    text = H1LOAD.replace("3280000      0", "3280000      7")
    assert [row.note for row in read(text).rows] == ["7 connections failed"]


def test_criterion_prints_its_estimate_between_two_bounds() -> None:
    expected = [
        ("primitive, client-X25519", "value", 25.529, "µs"),
        ("primitive, client-X25519MLKEM768-and-X25519", "value", 60.301, "µs"),
    ]
    assert figures(read(CRITERION)) == expected


def test_criterion_prints_the_slope_if_there_is_one() -> None:
    parsed = read(ESTIMATES, ESTIMATES_NAME, "s2n-tls-1.5.0")
    name = "primitive, handshake-X25519-s2n-tls"
    assert figures(parsed) == [
        (name, "value", pytest.approx(25.5302), "µs"),
        (name, "p50", pytest.approx(25.5015), "µs"),
    ]
    without = json.loads(ESTIMATES) | {"slope": None}
    parsed = read(json.dumps(without), ESTIMATES_NAME, "s2n-tls-1.5.0")
    assert figures(parsed)[0][2] == pytest.approx(25.5291)


def test_estimates_without_the_name_of_the_benchmark_are_rejected() -> None:
    with pytest.raises(FormatError, match=r"expected <benchmark>-estimates\.json"):
        read(ESTIMATES, "estimates.json")


def test_benchmarks_of_another_library_are_rejected() -> None:
    text = CRITERION.replace("client/X25519  ", "client/openssl ")
    with pytest.raises(FormatError, match="only benchmarks of rustls") as error:
        read(text, implementation="rustls-0.23.37-aws-lc-rs")
    assert error.value.line == 4


def test_a_benchmark_of_criterion_that_ran_twice_is_rejected() -> None:
    for text in (CRITERION, MESSAGE):
        with pytest.raises(FormatError, match="a second time"):
            read(text + text)


def test_messages_in_another_unit_are_rejected() -> None:
    with pytest.raises(FormatError, match="the unit 'cycles'"):
        read(MESSAGE.replace('"ns"', '"cycles"') + "\n")


def test_bmf_has_the_units_of_the_measures_that_bencher_defines() -> None:
    assert figures(read(BMF)) == [
        ("primitive, benchmark-b", "value", 3.443, "µs"),
        ("primitive, benchmark-b", "value", 290444.3, "operations/s"),
        ("primitive, tests-benchmark_c", "value", 3.361, "µs"),
    ]


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ('"throughput"', '"instructions"', 2, "latency or throughput"),
        ('"tests::benchmark_c"', '"benchmark b"', 10, "a name that differs"),
        ('"value": 3361.0', '"value": "3361"', 10, "a valid number"),
        ('"value": 3361.0', '"value": 3361.0, "value": 1', 4, "each key once"),
        ('"value": 3361.0', '"value": NaN', 1, "each key once"),
        ('"tests::benchmark_c"', '"' + "c" * 101 + '"', 10, "1 to 100"),
    ],
)
def test_bmf_without_known_units_or_names_is_rejected(
    old: str, new: str, line: int, expected: str
) -> None:
    with pytest.raises(FormatError) as error:
        read(BMF.replace(old, new), "bmf.json")
    assert error.value.line == line
    assert expected in error.value.expected


def test_hyperfine_has_mean_median_and_maximum_of_each_command() -> None:
    results = json.loads(HYPERFINE)["results"]
    parsed = read(HYPERFINE, "hyperfine.json")
    assert figures(parsed) == [
        (f"primitive, {variant}", statistic, pytest.approx(result[key] * 1e6), "µs")
        for variant, result in zip(
            ("openssl-version", "openssl-list-providers"), results, strict=True
        )
        for statistic, key in (("value", "mean"), ("p50", "median"), ("max", "max"))
    ]
    assert [remark.code for remark in parsed.remarks] == ["method"]


def test_commands_that_failed_under_hyperfine_do_not_count() -> None:
    content = json.loads(HYPERFINE)
    content["results"][0]["exit_codes"] = [0, 1, None, 0, 0]
    notes = {row.note for row in read(json.dumps(content)).rows}
    assert notes == {"2 of 5 commands failed", None}


def test_two_commands_with_the_same_name_are_rejected() -> None:
    with pytest.raises(FormatError, match="a second result of openssl-version"):
        read(HYPERFINE.replace("openssl list -providers", "openssl/version"))
