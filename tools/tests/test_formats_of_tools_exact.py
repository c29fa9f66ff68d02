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
    return ParsedRow(*of, "duration", value, "µs", statistic, note)


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


def icounts(text: str, implementation: str = "rustls-0.23.37-aws-lc-rs") -> Parsed:
    return FOREIGN["rustls-icounts"].parse([RawInput(text.encode(), FILE, RUN, implementation, 3)])


def refused_icounts(text: str, implementation: str) -> tuple[str, str, str]:
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
    assert refused_icounts(line, "")[2].endswith(", such as -aws-lc-rs")


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
        (TLS_PERF + 2 * LATENCY, 6, LATENCY.strip(), "the output of one run of tls-perf"),
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


def test_a_run_of_tls_perf_with_tickets_states_them_but_no_resumption() -> None:
    (row,) = parsed("tls-perf", TLS_PERF.replace("advertise", "on") + RATE).rows
    assert (row.scenario.resumption, row.scenario.variant) == (None, "tcp-tickets")


@pytest.mark.parametrize("cipher", ["", "Cipher: x\n", "Cipher: ECDHE-RSA-AES128-GCM-SHA256\n"])
def test_tls_perf_without_a_cipher_of_its_version_states_no_cipher_suite(cipher: str) -> None:
    (row,) = parsed("tls-perf", f"TLS version: 1.3\nTLS tickets: off\n{cipher}{RATE}").rows
    assert row.scenario.cipher_suite is None


def test_newer_output_of_tls_perf_has_the_mean_and_microseconds() -> None:
    rate = "MEASURES (seconds): MAX h/s 4; AVG h/s 3.5; 95P h/s 2; MIN h/s 1\n"
    latency = "LATENCY (microseconds): MIN 1; AVG 2; 95P 3; MAX 4\n"
    rows = parsed("tls-perf", TLS_PERF + rate + latency).rows
    assert [(row.value, row.unit) for row in rows] == [(3.5, "handshakes/s"), (2, "µs"), (4, "µs")]


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


def test_the_header_of_h1load_has_its_columns_after_its_sign() -> None:
    command, header, *rest = h1load("1k")
    assert of_h1load([command, header.replace("#__", "#   "), *rest]).rows[0].value == 1000


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
COLUMNS_OF_H1LOAD = "the header of h1load, then a value per column"
END_OF_H1LOAD = "the table of percentiles to its end (-P), without which a file may be cut"


@pytest.mark.parametrize(
    ("lines", "line", "found", "expected"),
    [
        ([*h1load("1k"), 250 * "x"], 7, repr(200 * "x"), "one run of h1load in a file"),
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
            ["curl -r 1 https://127.0.0.1/"],
            *(1, "'curl -r 1 https://127.0.0.1/'"),
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


def average(work: str, microseconds: float = 1.5) -> str:
    return f"Average time per {work}: {microseconds:.6f}us\n"


SSL_NEW = average("SSL/BIO creation call")
OF_HANDSHAKE = average("handshake")
RATE_OF_HANDSHAKES = "Handshakes per second: 7.250000"


def of_perftools(text: str) -> ParsedRow:
    """The row of the only figure in a file."""
    (row,) = parsed("openssl-perftools", text).rows
    return row


def test_the_rows_of_perftools_name_their_file_their_line_and_their_command() -> None:
    text = f"$ A=b ./handshake  -s -p certs 16\n\n{OF_HANDSHAKE}{RATE_OF_HANDSHAKES}\n"
    scenario = Scenario(
        operation="handshake", resumption="none", threads=16, variant="both-sides-s-p"
    )
    of = ("openssl-3.6.1", 3, scenario)
    rows = [
        ParsedRow(FILE, 3, *of, "duration", 1.5, "µs"),
        ParsedRow(FILE, 4, *of, "rate", 7.25, "handshakes/s"),
    ]
    assert parsed("openssl-perftools", text) == Parsed(rows)


def test_perftools_without_a_command_have_neither_threads_nor_options() -> None:
    scenario = Scenario(operation="handshake", resumption="none", variant="both-sides")
    assert of_perftools(OF_HANDSHAKE).scenario == scenario
    scenario = Scenario(operation="primitive", variant="ssl-new")
    assert of_perftools(f"./sslnew\n{SSL_NEW}").scenario == scenario


@pytest.mark.parametrize(
    ("command", "work", "threads", "name"),
    [
        (
            "newrawkey -a ml-kem-768 1",
            "EVP_PKEY_new_raw_public_key_ex() call for algorithm ML-KEM-768",
            *(1, "ml-kem-768-new-raw-public-key"),
        ),
        ("rsasign 2", "RSA signature operation", 2, "rsa-512-sign-sha1-digest"),
        ("x509storeissuer certs 3", "X509_STORE_CTX_get1_issuer() call", 3, None),
        ("sslnew 999999", "SSL/BIO creation call", 999_999, "ssl-new"),
        ("writeread -b --Xs 16 certs 1", "write/read", 1, "write-read-b-Xs-16"),
        ("randbytes 4", "RAND_bytes() call", 4, "rand-bytes"),
        ("providerdoall 10", "OSSL_PROVIDER_do_all() call", 10, "provider-do-all"),
        ("pkeyread -f PEM -t 3 -k ec", "pem(ec) call", 3, "pem-read-ec"),
        ("pkeyread -f pem -k ec -t 4", "pem(ec) call", 4, "pem-read-ec"),
        ("pkeyread -f pem -k ec -t", "pem(ec) call", None, "pem-read-ec"),
        ("pkeyread -f der -k all 5", "der(rsa) call", None, "der-read-rsa"),
        ("pkeyread", "der(rsa) call", None, "der-read-rsa"),
        ("evp_setpeer -k x25519 4", "x25519 evp_set_peer call", 4, "x25519-set-peer"),
        ("rwlocks 8", "write_lock/unlock call pair", 8, "rwlock-write"),
    ],
)
def test_the_works_of_perftools_are_primitives_with_the_threads_of_their_commands(
    command: str, work: str, threads: int | None, name: str | None
) -> None:
    variant = name or "x509-store-get1-issuer"
    scenario = Scenario(operation="primitive", threads=threads, variant=variant)
    row = ParsedRow(FILE, 2, "openssl-3.6.1", 3, scenario, "duration", 1.5, "µs")
    assert of_perftools(f"./{command}\n{average(work)}") == row


def test_a_second_figure_of_perftools_has_the_line_in_its_name_and_does_not_count() -> None:
    first, _, again = parsed("openssl-perftools", SSL_NEW + OF_HANDSHAKE + SSL_NEW).rows
    scenario = first.scenario.model_copy(update={"variant": "ssl-new-line-3"})
    note = "repeats line 1; one file must hold one round"
    assert again == first._replace(line=3, scenario=scenario, note=note)


ANOTHER_WORK = "Average time per " + 250 * "x" + ": 1.000000us"
WORKS = (
    "the work of one of handshake, newrawkey, rsasign, x509storeissuer, sslnew, writeread, "
    "randbytes, providerdoall, pkeyread, evp_setpeer, rwlocks"
)
NEITHER = "a command, or `Average time per …: N.NNNNNNus` (without -t)"


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        (250 * "x", 1, repr(200 * "x"), NEITHER),
        (ANOTHER_WORK, 1, repr(ANOTHER_WORK[:200]), WORKS),
        ("\n./writeread -d certs 1", 2, "DTLS (-d)", "TLS"),
        ("\n./sslnew 0", 2, "'0' of sslnew", "a number of threads"),
        ("./sslnew 1000000", 1, "'1000000' of sslnew", "a number of threads"),
        ("./pkeyread -t x -k ec", 1, "'x' of pkeyread", "a number of threads"),
        (
            f"./sslnew\n{OF_HANDSHAKE.rstrip()}",
            *(2, repr(OF_HANDSHAKE.rstrip()), "output of sslnew, the command before it"),
        ),
        (
            f"./sslnew\n{RATE_OF_HANDSHAKES}",
            *(2, repr(RATE_OF_HANDSHAKES), "output of sslnew, the command before it"),
        ),
        (
            f"./rwlocks\n{ANOTHER_WORK.replace(250 * 'x', 'evp_set_peer ' * 40 + 'call')}",
            *(2, repr(f"Average time per {'evp_set_peer ' * 40}"[:200]), WORKS),
        ),
        (
            f"./sslnew\nAverage time per {250 * 'x'} evp_set_peer call: 1.000000us",
            *(2, repr(ANOTHER_WORK[:200]), "output of sslnew, the command before it"),
        ),
    ],
)
def test_output_that_is_not_of_perftools_is_rejected(
    text: str, line: int, found: str, expected: str
) -> None:
    assert refused("openssl-perftools", f"{text}\n") == (f"{FILE}:{line}", found, expected)


def test_options_of_perftools_that_are_no_variant_are_rejected_at_the_figure() -> None:
    for command, work in (("handshake", OF_HANDSHAKE), ("writeread", average("write/read"))):
        place, found, _ = refused("openssl-perftools", f"./{command} -s+X25519 certs 1\n{work}")
        assert place == f"{FILE}:2"
        assert found.endswith("-s+X25519'")


def test_a_last_line_of_perftools_without_a_line_end_may_be_cut_off() -> None:
    found = parsed("openssl-perftools", f"{SSL_NEW}Average time")
    assert [row.line for row in found.rows] == [1]
    message = "the output was interrupted at 'Average time'"
    assert found.remarks == [Remark(FILE, 2, message)]


def of_criterion(format_: str, text: str, name: str = FILE) -> Parsed:
    """The figures of one file of rustls."""
    source = RawInput(text.encode(), name, RUN, "rustls-0.23.37-aws-lc-rs", 3)
    return FOREIGN[f"criterion/{format_}"].parse([source])


def refused_criterion(format_: str, text: str, name: str = FILE) -> tuple[str, str, str]:
    with pytest.raises(FormatError) as caught:
        of_criterion(format_, text, name)
    error = caught.value
    return str(error).partition(": found")[0], error.found, error.expected


def rustls(row: ParsedRow, file: str = FILE) -> ParsedRow:
    return row._replace(implementation="rustls-0.23.37-aws-lc-rs", file=file)


LONG_NAME = "client/X25519MLKEM768+X25519"


def test_a_time_of_criterion_names_its_file_and_the_line_of_its_figure() -> None:
    text = (
        "a             time:   [1 µs 2.5 µs 3 µs]\n\n"
        f"{LONG_NAME}\n              time: [1 µs 20 µs 30 µs]\n"
        "  thrpt: [39.151 Kelem/s 39.171 Kelem/s 39.188 Kelem/s]\n"
    )
    name = "client-X25519MLKEM768-and-X25519"
    rows = [rustls(primitive(1, "a", 2.5)), rustls(primitive(4, name, 20))]
    assert of_criterion("text", text) == Parsed(rows)


@pytest.mark.parametrize(
    ("unit", "microseconds"),
    [("ps", 2e-6), ("ns", 2e-3), ("µs", 2), ("us", 2), ("ms", 2e3), ("s", 2e6)],
)
def test_a_time_of_criterion_is_the_middle_figure_in_its_unit(
    unit: str, microseconds: float
) -> None:
    (row,) = of_criterion("text", f"a time: [1 ns 2 {unit} 3 s]\n").rows
    assert row.value == pytest.approx(microseconds)


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        (
            f"{LONG_NAME}\n{250 * 'x'}\n",
            *(2, repr(200 * "x"), f"`time: [LOW ESTIMATE HIGH]` of {LONG_NAME}"),
        ),
        (
            f"{150 * 'x'}\n{LONG_NAME}\n",
            *(2, repr(LONG_NAME), f"`time: [LOW ESTIMATE HIGH]` of {100 * 'x'}"),
        ),
        (
            f"\n{18 * 'x'}\n",
            *(2, repr(18 * "x"), "NAME time: [LOW ESTIMATE HIGH], or another line of criterion"),
        ),
        (f"a time: [1 µs 2 µs 3 µs]\n{19 * 'x'}\n", 3, "the end", f"the time of {19 * 'x'}"),
        (f"a time: [1 µs 2 µs 3 µs]\n{150 * 'x'}\n", 3, "the end", f"the time of {100 * 'x'}"),
    ],
)
def test_text_that_is_not_of_criterion_is_rejected(
    text: str, line: int, found: str, expected: str
) -> None:
    assert refused_criterion("text", text) == (f"{FILE}:{line}", found, expected)


def test_text_of_criterion_without_any_time_has_no_rows() -> None:
    assert of_criterion("text", f"{LONG_NAME}\n") == Parsed()


def test_a_benchmark_of_criterion_without_a_name_is_rejected() -> None:
    place, found, _ = refused_criterion("text", "\ntime: [1 µs 2 µs 3 µs]\n")
    assert (place, found) == (f"{FILE}:2", "''")


def test_a_line_of_criterion_without_a_line_end_is_left_out() -> None:
    found = of_criterion("text", "a time: [1 µs 2 µs 3 µs]\nb time: [1 µs")
    assert [row.line for row in found.rows] == [1]
    assert found.remarks == [Remark(FILE, 2, "the output was interrupted at 'b time: [1 µs'")]


def test_a_second_time_of_criterion_is_rejected_at_its_line() -> None:
    name = 50 * "x" + 60 * "/"
    line = f"{name} time: [1 µs 2 µs 3 µs]\n"
    assert refused_criterion("text", line + line) == (
        f"{FILE}:2",
        f"{name[:100]!r} a second time",
        "each benchmark once: one file must hold one round",
    )


def test_a_benchmark_of_another_library_is_rejected_with_its_name() -> None:
    name = f"client/OpenSSL {100 * 'x'}"
    assert refused_criterion("text", f"\n{name} time: [1 µs 2 µs 3 µs]\n") == (
        f"{FILE}:2",
        f"the benchmark {name[:100]!r}",
        "only benchmarks of rustls: the others belong to another --implementation",
    )
    (row,) = of_criterion("text", "client rustls time: [1 µs 2 µs 3 µs]\n").rows
    assert row.scenario.variant == "client-rustls"
    source = RawInput(b"a openssl time: [1 s 2 s 3 s]\n", FILE, RUN, "", 3)
    with pytest.raises(FormatError, match="only benchmarks of : the others"):
        FOREIGN["criterion/text"].parse([source])


def estimates(**values: object) -> str:
    given = {"mean": 2000.0, "median": 1000.0, **values}
    return json.dumps({name: {"point_estimate": value} for name, value in given.items()})


@pytest.mark.parametrize("folder", ["", "raw/some_folder/"])
@pytest.mark.parametrize("end", ["-estimates.json", "_estimates_1.json", ".estimates-12.json"])
def test_estimates_of_criterion_have_the_benchmark_of_their_file_name(
    folder: str, end: str
) -> None:
    name = f"{folder}client-X25519{end}"
    found = of_criterion("estimates", estimates(), name)
    rows = [
        rustls(primitive(1, "client-X25519", value, statistic=statistic), file=name)
        for statistic, value in (("value", 2), ("p50", 1))
    ]
    assert found == Parsed(rows)
    slope, _ = of_criterion("estimates", estimates(slope=3000.0), name).rows
    assert slope.value == 3


@pytest.mark.parametrize(
    ("text", "name", "line", "found"),
    [
        (estimates(), "a.json", "", "the file name a.json"),
        (estimates(), "raw/a.json", "", "the file name a.json"),
        (estimates(mean="1"), "raw/a-estimates.json", ":1", "mean.point_estimate '1'"),
        ("{\n'a'}", "raw/a-estimates.json", ":2", "\"'a'}\""),
        (estimates(), "raw/openssl -estimates.json", ":1", "the benchmark 'openssl '"),
        (estimates(), "raw/__-estimates.json", ":1", None),
    ],
)
def test_estimates_of_criterion_without_a_benchmark_are_rejected(
    text: str, name: str, line: str, found: str | None
) -> None:
    place, what, expected = refused_criterion("estimates", text, name)
    assert place == f"{name}{line}"
    assert what == found or found is None
    assert line or expected == "<benchmark>-estimates.json"


def message(name: str = "a", unit: str = "ns", median: str = "ns", **fields: object) -> str:
    values = {"typical": {"estimate": 2000.0, "unit": unit}}
    values["median"] = {"estimate": 1000.0, "unit": median}
    return json.dumps({"reason": "benchmark-complete", "id": name, **values, **fields}) + "\n"


def test_a_message_of_criterion_names_its_file_and_its_line() -> None:
    group = '{"reason": "group-complete"}\n'
    found = of_criterion("messages", message("a") + group + message("b", "ms", "ms"))
    rows = [
        rustls(primitive(line, name, value, statistic=statistic))
        for line, name, unit in ((1, "a", 1), (3, "b", 1_000_000))
        for statistic, value in (("value", 2 * unit), ("p50", unit))
    ]
    assert found == Parsed(rows)


COMPLETE = "an object with the reason benchmark-complete or group-complete"


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        (f'"{150 * "x"}"\n', repr(f'"{99 * "x"}'), COMPLETE),
        ("{}\n", "'{}'", COMPLETE),
        (
            message(150 * "x", "cycles"),
            f"the unit 'cycles' of {100 * 'x'!r}",
            "ps or ns or µs or us or ms or s",
        ),
        (message("a", "ns", "ms"), "the unit 'ns' of 'a'", "ps or ns or µs or us or ms or s"),
        (message(id=1), "id 1", "a valid string"),
        (message("a"), "'a' a second time", "each benchmark once: one file must hold one round"),
        ("{'a'}\n", "\"'a'}\"", None),
    ],
)
def test_messages_of_criterion_of_another_form_are_rejected_at_their_line(
    text: str, found: str, expected: str | None
) -> None:
    place, what, wanted = refused_criterion("messages", message("a") + text)
    assert (place, what) == (f"{FILE}:2", found)
    assert expected is None or wanted == expected


def test_a_message_of_criterion_without_a_line_end_may_be_cut_off() -> None:
    found = of_criterion("messages", message("a") + "{")
    assert [row.line for row in found.rows] == [1, 1]
    assert found.remarks == [Remark(FILE, 2, "the output was interrupted at '{'")]
