"""The formats of other projects' tools: each field of a row, and each part of an error."""

from __future__ import annotations

import json

import pytest

from grammars import RUN
from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import Parsed, ParsedRow, RawInput, Remark

FILE = "raw/output_1"


def parsed(format_: str, text: str) -> Parsed:
    return FOREIGN[format_].parse([RawInput(text.encode(), FILE, RUN, "openssl-3.6.1", 3)])


def refused(format_: str, text: str) -> tuple[str, str, str]:
    with pytest.raises(FormatError) as caught:
        parsed(format_, text)
    error = caught.value
    return str(error).partition(": found")[0], error.found, error.expected


def primitive(
    line: int, name: str, value: float, *, statistic: str = "value", note: str | None = None
) -> ParsedRow:
    """The row of a duration in µs."""
    scenario = Scenario(operation="primitive", variant=name)
    of = (FILE, line, "openssl-3.6.1", 3, scenario)
    return ParsedRow(*of, "duration", value, "µs", statistic, note is None, note)


def bmf(*benchmarks: str) -> str:
    return "{\n" + ",\n".join(benchmarks) + "\n}\n"


def hyperfine(command: str, **fields: object) -> str:
    result = {"command": command, "mean": 2e-6, "median": 1e-6, "max": 4e-6, **fields}
    return json.dumps(result)


def test_a_row_of_bmf_names_its_file_and_the_line_of_its_benchmark() -> None:
    text = bmf('"a": {"latency": {"value": 2000}}', '"b": {"throughput": {"value": 7}}')
    latency = primitive(2, "a", 2)
    rate = primitive(3, "b", 7)._replace(metric="rate", unit="operations/s")
    assert parsed("bmf", text) == Parsed([latency, rate])


def test_bmf_of_another_form_is_rejected_at_its_benchmark() -> None:
    right = '"a": {"latency": {"value": 1}}'
    text = bmf(right, '"b": {"latency": {"value": "1"}}')
    assert refused("bmf", text) == (f"{FILE}:3", "b.latency.value '1'", "a valid number")
    assert refused("bmf", "[]") == (f"{FILE}:1", "[]", "a valid dictionary")
    place, found, _ = refused("bmf", "{\n'a'}")
    assert (place, found) == (f"{FILE}:2", "\"'a'}\"")


def test_names_of_bmf_that_become_the_same_are_rejected_with_the_first_one() -> None:
    other = "a" + 250 * "/"
    text = bmf('"a": {"latency": {"value": 1}}', f'"{other}": {{"latency": {{"value": 1}}}}')
    expected = "a name that differs from 'a' in letters or digits"
    assert refused("bmf", text) == (f"{FILE}:3", repr(other[:200]), expected)


def test_a_name_of_bmf_without_letters_is_rejected_at_its_line() -> None:
    place, found, _ = refused("bmf", bmf('"a": {}', '"//": {}'))
    assert (place, found) == (f"{FILE}:3", "'//'")


def test_a_measure_of_bmf_with_unknown_units_is_rejected() -> None:
    text = bmf('"a": {"latency": {"value": 1}}', '"b": {"branches": {"value": 1}}')
    assert refused("bmf", text) == (
        f"{FILE}:3",
        "the measure 'branches' of 'b'",
        "latency or throughput, whose units are known",
    )


def test_a_row_of_hyperfine_names_its_file_and_the_line_of_its_command() -> None:
    text = f'{{"results": [\n{hyperfine("a")},\n{hyperfine("b", exit_codes=[0, 0, 1])}]}}'
    rows = [
        primitive(line, name, value, statistic=statistic, note=note)
        for line, name, note in ((2, "a", None), (3, "b", "1 of 3 commands failed"))
        for statistic, value in (("value", 2), ("p50", 1), ("max", 4))
    ]
    method = "hyperfine measures a whole process, with its start and its end"
    assert parsed("hyperfine", text) == Parsed(rows, [Remark(FILE, 1, method, "method")])


def test_a_file_of_hyperfine_without_results_has_no_rows_and_no_remarks() -> None:
    assert parsed("hyperfine", '{"results": []}') == Parsed()


def test_results_of_hyperfine_of_another_form_are_rejected() -> None:
    text = f'{{"results": [\n{hyperfine("a", mean="1")}]}}'
    assert refused("hyperfine", text) == (f"{FILE}:1", "results.0.mean '1'", "a valid number")
    place, found, _ = refused("hyperfine", "{\n'a'}")
    assert (place, found) == (f"{FILE}:2", "\"'a'}\"")


def test_a_second_result_of_hyperfine_is_rejected_at_its_line() -> None:
    text = f'{{"results": [\n{hyperfine("a")},\n{hyperfine("a/")}]}}'
    expected = "commands with names that differ"
    assert refused("hyperfine", text) == (f"{FILE}:3", "a second result of a", expected)


def test_a_command_of_hyperfine_without_letters_is_rejected_at_its_line() -> None:
    text = f'{{"results": [\n{hyperfine("a")},\n{hyperfine("//")}]}}'
    place, found, _ = refused("hyperfine", text)
    assert (place, found) == (f"{FILE}:3", "'//'")


METHOD_OF_TLS_PERF = "tls-perf measures client, network and server together"
TLS_PERF = """\
Running TLS benchmark with following settings:
TLS version: 1.3
Cipher:  TLS_AES_128_GCM_SHA256
TLS tickets: advertise
"""
RATE = "HANDSHAKES/sec: MAX 4; AVG 3; 95P 2; MIN 1\n"
LATENCY = "LATENCY (ms): MIN 1; AVG 2; 95P 3; MAX 4\n"


def icounts(text: str, implementation: str | None = "rustls-0.23.37-aws-lc-rs") -> Parsed:
    return FOREIGN["rustls-icounts"].parse([RawInput(text.encode(), FILE, RUN, implementation, 3)])


def refused_icounts(text: str, implementation: str | None) -> tuple[str, str, str]:
    with pytest.raises(FormatError) as caught:
        icounts(text, implementation)
    error = caught.value
    return str(error).partition(": found")[0], error.found, error.expected


def test_a_count_names_its_file_its_line_and_all_of_its_benchmark() -> None:
    found = icounts(
        "handshake_tickets_aws_lc_rs_1.2_ecdsap384_chacha_client,60\n"
        "transfer_no_resume_aws_lc_rs_1.3_rsa_aes_client,70\n"
    )
    handshake = Scenario(
        operation="handshake",
        protocol="1.2",
        cipher_suite="TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        certificate="ecdsa-p384",
        authentication="server",
        resumption="ticket",
        side="client",
    )
    transfer = Scenario(
        operation="transfer",
        protocol="1.3",
        cipher_suite="TLS_AES_128_GCM_SHA256",
        certificate="rsa-2048",
        authentication="server",
        resumption="none",
        side="receiver",
    )
    of = ("rustls-0.23.37-aws-lc-rs", 3)
    assert found == Parsed(
        [
            ParsedRow(FILE, 1, *of, handshake, "instructions", 2, "instructions/handshake"),
            ParsedRow(FILE, 2, *of, transfer, "instructions", 7, "instructions/MiB"),
        ]
    )


def test_a_transfer_without_cryptography_has_no_cipher_suite_and_no_certificate() -> None:
    (row,) = icounts("transfer_no_resume_1.3_no_crypto_server,70\n").rows
    assert row.scenario == Scenario(
        operation="transfer",
        protocol="1.3",
        authentication="server",
        resumption="none",
        side="sender",
        variant="no-crypto",
    )


def test_old_transfers_have_one_remark_and_what_follows_is_read() -> None:
    old = "transfer_no_resume_1.2_rsa_aes_{},70\n"
    found = icounts(
        old.format("server") + old.format("client") + "handshake_no_resume_1.2_rsa_aes_client,7\n"
    )
    message = "a transfer of 1 or of 10 MiB, which names without a provider do not say"
    assert found.remarks == [Remark(FILE, 1, message)]
    assert [(row.line, row.value) for row in found.rows] == [(3, 7)]
    assert found.rows[0].scenario.cipher_suite == "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"


def test_a_line_that_is_no_count_is_rejected() -> None:
    wrong = 250 * "x"
    expected = "NAME,COUNT of rustls' ci-bench"
    assert refused_icounts(f"{wrong}\n", "rustls-0.23.37-ring") == (
        f"{FILE}:1",
        repr(wrong[:200]),
        expected,
    )


def test_a_count_without_a_line_end_is_left_out() -> None:
    line = "handshake_no_resume_1.2_rsa_aes_client,7"
    assert icounts(line) == Parsed([], [Remark(FILE, 1, f"the output was interrupted at {line!r}")])


def test_a_second_count_of_a_benchmark_is_rejected_with_the_line_of_the_first() -> None:
    line = "handshake_no_resume_1.2_rsa_aes_client,7\n"
    assert refused_icounts(f"\n{line}{line}", "rustls-0.23.37-ring") == (
        f"{FILE}:3",
        "a second count of handshake_no_resume_1.2_rsa_aes_client, after line 2",
        "each benchmark once",
    )


def test_counts_of_another_provider_are_rejected_with_both_names() -> None:
    line = "\nhandshake_no_resume_aws_lc_rs_1.2_rsa_aes_client,7\n"
    assert refused_icounts(line, "rustls-0.23.37-ring") == (
        f"{FILE}:2",
        "a benchmark of aws-lc-rs",
        "benchmarks of ring, the provider of rustls-0.23.37-ring",
    )
    expected = "an --implementation with its provider, such as rustls-0.23.37-aws-lc-rs"
    assert refused_icounts(line, "rustls-0.23.37")[2] == expected
    assert refused_icounts(line, None)[2].endswith(", such as -aws-lc-rs")


def test_a_row_of_tls_perf_names_its_file_its_line_and_its_settings() -> None:
    scenario = Scenario(
        operation="handshake",
        protocol="1.3",
        cipher_suite="TLS_AES_128_GCM_SHA256",
        resumption="none",
        variant="tcp",
    )
    of = ("openssl-3.6.1", 3, scenario)
    rows = [
        ParsedRow(FILE, 5, *of, "rate", 3, "handshakes/s"),
        ParsedRow(FILE, 6, *of, "duration", 2000, "µs"),
        ParsedRow(FILE, 6, *of, "duration", 4000, "µs", "max"),
    ]
    method = Remark(FILE, 5, METHOD_OF_TLS_PERF, "method")
    assert parsed("tls-perf", TLS_PERF + RATE + LATENCY) == Parsed(rows, [method])


def test_tls_perf_of_any_version_states_neither_version_nor_cipher_suite() -> None:
    text = TLS_PERF.replace(": 1.3", ": Any of 1.2 or 1.3") + RATE
    (row,) = parsed("tls-perf", text).rows
    assert (row.scenario.protocol, row.scenario.cipher_suite) == (None, None)


@pytest.mark.parametrize(
    ("printed", "errors"), [("0", 0), ("1", 1), (18 * "9", int(18 * "9")), (19 * "9", 1)]
)
def test_a_row_of_tls_perf_has_the_number_of_failed_handshakes(printed: str, errors: int) -> None:
    progress = (
        "TLS hs in progress 1 [2 h/s], TCP open conns 3 [4 hs in progress], Errors " + printed
    )
    (row,) = parsed("tls-perf", f"{TLS_PERF}{progress}\n{RATE}").rows
    assert row.note == (f"{errors} handshakes failed" if errors else None)
    assert row.valid is not bool(errors)


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        (TLS_PERF + "Cipher: x\n", 5, "Cipher: x", "the output of one run of tls-perf"),
        (TLS_PERF + RATE + RATE, 6, RATE.strip(), "the output of one run of tls-perf"),
        (TLS_PERF + 250 * "x" + "\n", 5, 200 * "x", "a line of tls-perf"),
        (
            RATE,
            1,
            RATE.strip(),
            "`TLS version:` and `TLS tickets:` before it, as tls-perf prints them",
        ),
        (
            "TLS version: 1.3\n" + RATE,
            2,
            RATE.strip(),
            "`TLS version:` and `TLS tickets:` before it, as tls-perf prints them",
        ),
        (
            "TLS tickets: off\n" + RATE,
            2,
            RATE.strip(),
            "`TLS version:` and `TLS tickets:` before it, as tls-perf prints them",
        ),
    ],
)
def test_output_that_is_not_of_one_run_of_tls_perf_is_rejected(
    text: str, line: int, found: str, expected: str
) -> None:
    assert refused("tls-perf", text) == (f"{FILE}:{line}", repr(found), expected)


def test_a_line_of_tls_perf_without_a_line_end_is_left_out() -> None:
    found = parsed("tls-perf", TLS_PERF + RATE + LATENCY.strip())
    assert [row.metric for row in found.rows] == ["rate"]
    message = f"the output was interrupted at {LATENCY.strip()!r}"
    assert found.remarks[1:] == [Remark(FILE, 6, message)]


COMMAND_OF_H1LOAD = "h1load -P -r 1 https://127.0.0.1:4443/"
HEADER_OF_H1LOAD = "#__time conns tot_conn tot_req tot_bytes err cps rps bps ttfb"
PERCENTILES = ("#== Percentiles ==", "10 90 1 2 3.5 2 3.5", "100 0 - 2 9.5 2 9.5")
METHOD_OF_H1LOAD = (
    "h1load measures client, network and server together, and each connection has one HTTP request"
)


def h1load(*rates: str, command: str = COMMAND_OF_H1LOAD, errors: str = "0") -> list[str]:
    """The lines of a run with a line of figures for each rate."""
    figures = [f"1 2 3 4 5 {errors} {rate} 8 9 -" for rate in rates]
    return [command, HEADER_OF_H1LOAD, *figures, *PERCENTILES]


def of_h1load(lines: list[str]) -> Parsed:
    return parsed("h1load", "".join(f"{line}\n" for line in lines))


def refused_h1load(lines: list[str]) -> tuple[str, str, str]:
    return refused("h1load", "".join(f"{line}\n" for line in lines))


def test_a_row_of_h1load_names_its_file_and_the_line_of_the_header() -> None:
    scenario = Scenario(operation="handshake", resumption="none", variant="tcp-and-request")
    row = ParsedRow(FILE, 3, "openssl-3.6.1", 3, scenario, "rate", 90, "handshakes/s")
    method = Remark(FILE, 3, METHOD_OF_H1LOAD, "method")
    assert of_h1load(["", *h1load("8k12", "90.", "7.05", "8120.0")]) == Parsed([row], [method])


@pytest.mark.parametrize(
    ("printed", "rate"),
    [("8k12", 8120), ("90.", 90), ("190.", 190), ("8120.5", 8120.5), ("1M", 1e6), ("5m1", 0.0051)],
)
def test_a_rate_of_h1load_has_the_unit_between_its_digits(printed: str, rate: float) -> None:
    assert of_h1load(h1load(printed)).rows[0].value == rate


def test_a_blank_file_of_h1load_has_no_rows() -> None:
    assert of_h1load(["", " "]) == Parsed()


@pytest.mark.parametrize(
    ("options", "protocol", "suite", "resumption", "variant"),
    [
        (
            "--tls-ver TLS1.3 --cipher-suites TLS_AES_128_GCM_SHA256",
            *("1.3", "TLS_AES_128_GCM_SHA256", "none", "tcp-and-request"),
        ),
        (
            "--tls-ver TLS1.2 --cipher-list ECDHE-RSA-AES128-GCM-SHA256 --tls-reuse",
            *("1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", None, "tcp-and-request-tls-reuse"),
        ),
        (
            "--tls-ver TLS1.2 --cipher-list TLS_AES_128_GCM_SHA256",
            *("1.2", None, "none", "tcp-and-request"),
        ),
    ],
)
def test_the_options_of_h1load_are_the_scenario(
    options: str, protocol: str, suite: str | None, resumption: str | None, variant: str
) -> None:
    command = COMMAND_OF_H1LOAD.replace("-P", f"-P {options}")
    assert of_h1load(h1load("1k", command=command)).rows[0].scenario == Scenario.model_validate(
        {
            "operation": "handshake",
            "protocol": protocol,
            "cipher_suite": suite,
            "resumption": resumption,
            "variant": variant,
        }
    )


def test_a_run_of_h1load_with_errors_has_a_note() -> None:
    (row,) = of_h1load(h1load("1k", errors=18 * "9")).rows
    assert (row.note, row.valid) == (f"{18 * '9'} connections failed", False)
    (row,) = of_h1load(h1load("1k", errors="1")).rows
    assert row.note == "1 connections failed"


ANOTHER_COMMAND = COMMAND_OF_H1LOAD.replace("-r 1", "-r 2")
COLUMNS_OF_H1LOAD = "the header of h1load, then a value a column"
END_OF_H1LOAD = "the table of percentiles to its end (-P), without which a file may be cut"


@pytest.mark.parametrize(
    ("lines", "line", "found", "expected"),
    [
        ([*h1load("1k"), 250 * "x"], 7, repr(200 * "x"), "one run of h1load a file"),
        (
            [*h1load("1k")[:-1], "100 0"],
            *(6, "'100 0'", "seven numbers of the table of percentiles"),
        ),
        ([COMMAND_OF_H1LOAD, "1 2 3"], 2, "'1 2 3'", COLUMNS_OF_H1LOAD),
        ([COMMAND_OF_H1LOAD, "# a comment"], 2, "'# a comment'", COLUMNS_OF_H1LOAD),
        ([*h1load("1k")[:3], "1 2 3"], 4, "'1 2 3'", COLUMNS_OF_H1LOAD),
        (h1load("1,5"), 3, "'1,5'", "a rate such as 8k12, or 8120.0 with -ll"),
        (h1load("1k", errors="x"), 3, "'x'", "a number of errors"),
        (h1load("1k")[:-1], 5, "the end", END_OF_H1LOAD),
        (h1load(), 2, "no line with figures", "one a second"),
        (
            ["", ANOTHER_COMMAND],
            *(2, repr(ANOTHER_COMMAND)),
            "the command as the first line, with -r 1 and https://: `h1load … -r 1 https://…`",
        ),
        (
            [COMMAND_OF_H1LOAD.replace("-P", "--tls-ver SSL3")],
            *(1, "'SSL3'", "TLS1.2 or TLS1.3"),
        ),
    ],
)
def test_output_that_is_not_of_one_run_of_h1load_is_rejected(
    lines: list[str], line: int, found: str, expected: str
) -> None:
    assert refused_h1load(lines) == (f"{FILE}:{line}", found, expected)


def test_a_table_of_h1load_without_its_line_end_is_rejected() -> None:
    assert refused("h1load", "\n".join(h1load("1k"))) == (f"{FILE}:6", "the end", END_OF_H1LOAD)
