"""openssl-bench, both versions of its grammar: complete rows, and text of other tools."""

from __future__ import annotations

import pytest

from records import parsed, record, refusal
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import ParsedRow
from tlsperf.load.spellings import GROUPS

RSA12 = "ECDHE-RSA-AES128-GCM-SHA256"
ECDSA12 = "ECDHE-ECDSA-AES256-GCM-SHA384"
TLS13 = "TLS_AES_256_GCM_SHA384"
OLD = "openssl-bench/2023"
NEW = "openssl-bench/2024"
TRANSFER = {
    "operation": "transfer",
    "protocol": "1.2",
    "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "certificate": "rsa-2048",
    "authentication": "server",
    "resumption": "none",
    "threads": 1,
}
HANDSHAKE = {
    "operation": "handshake",
    "protocol": "1.3",
    "cipher_suite": TLS13,
    "certificate": "rsa-2048",
    "authentication": "server",
    "resumption": "none",
    "threads": 1,
}
STATISTICS = (
    "connects: 0, connects-good: 0, accepts: {}, accepts-good: 0\n"
    "sessions: 1, hits: {}, misses: {}\n"
)


def command(mode: str, suite: str, *more: str) -> str:
    return f"{' '.join(['env ./bench', *more, mode, suite])}\n"


def old(mode: str, suite: str = TLS13, before: str = "", *more: str) -> str:
    """A command of 2023 with the figures of both sides."""
    words = {"bulk": ("send: {} MB/s", "recv: {} MB/s")}.get(
        mode, ("handshakes\tclient\t{}\thandshakes/s", "handshakes\tserver\t{}\thandshakes/s")
    )
    figures = "".join(f"{word.format(rate)}\n" for word, rate in zip(words, (5, 7.25), strict=True))
    return command(mode, suite, *more) + before + figures


def test_a_transfer_of_2023_has_what_its_command_and_its_negotiation_state() -> None:
    text = f"env ./bench bulk {RSA12} 8192\nnegotiated TLSv1.2 with {RSA12} kx prime256v1\n"
    found = parsed(OLD, f"{text}send: 6512.01 MB/s\nrecv: 2.1e+06 MB/s\n")
    scenario = {**TRANSFER, "key_exchange": "secp256r1", "size": 8192}
    assert found.rows == [
        record(3, {**scenario, "side": "sender"}, 6512.01, "MiB/s"),
        record(4, {**scenario, "side": "receiver"}, 2.1e6, "MiB/s"),
    ]
    assert found.remarks == []


def test_a_handshake_of_2023_has_what_its_command_and_its_negotiation_state() -> None:
    found = parsed(OLD, old("handshake", TLS13, f"negotiated TLSv1.3 with {TLS13} kx X25519\n"))
    scenario = {**HANDSHAKE, "key_exchange": "X25519"}
    assert found.rows == [
        record(3, {**scenario, "side": "client"}, 5, "handshakes/s"),
        record(4, {**scenario, "side": "server"}, 7.25, "handshakes/s"),
    ]


def test_each_version_has_rows_with_threads() -> None:
    threads = "threads 2 100 102 total 202 per-thread 101"
    lines = {
        OLD: "handshakes {} {} handshakes/s\n",
        NEW: f"handshakes {{}} TLSv1.3 {TLS13} {{}} handshakes/s\n",
    }
    for format, line in lines.items():
        text = command("handshake", TLS13)
        text += line.format("client", threads) + line.format("server", threads)
        assert parsed(format, text).rows == [
            record(2, {**HANDSHAKE, "threads": 2, "side": "client"}, 202, "handshakes/s"),
            record(3, {**HANDSHAKE, "threads": 2, "side": "server"}, 202, "handshakes/s"),
        ]


def new(word: str, suite: str, version: str, unit: str = "handshakes/s") -> str:
    """Both sides' figures of 2024."""
    sides = ("send", "recv") if word == "bulk" else ("client", "server")
    return "".join(f"{word}\t{side}\t{version}\t{suite}\t6.5\t{unit}\n" for side in sides)


@pytest.mark.parametrize(
    ("mode", "word", "resumption"),
    [
        ("handshake", "handshakes", "none"),
        ("handshake-resume", "handshake-resume", "session-id"),
        ("handshake-ticket", "handshake-ticket", "ticket"),
    ],
)
def test_a_handshake_of_2024_states_itself(mode: str, word: str, resumption: str) -> None:
    for text, first in ((command(mode, TLS13), 2), ("", 1)):
        found = parsed(NEW, text + new(word, TLS13, "TLSv1.3"))
        certificate = "rsa-2048" if text else None
        scenario = {**HANDSHAKE, "certificate": certificate, "resumption": resumption}
        assert found.rows == [
            record(first, {**scenario, "side": "client"}, 6.5, "handshakes/s"),
            record(first + 1, {**scenario, "side": "server"}, 6.5, "handshakes/s"),
        ]


@pytest.mark.parametrize(
    ("text", "line", "size"),
    [
        ("", 1, None),
        (f"env ./bench bulk {RSA12}\n", 2, None),
        (f"./bench bulk {RSA12} 16\n", 2, 16),
    ],
)
def test_a_transfer_of_2024_states_itself(text: str, line: int, size: int | None) -> None:
    found = parsed(NEW, text + new("bulk", RSA12, "TLSv1/SSLv3", "MB/s"))
    assert found.rows == [
        record(line, {**TRANSFER, "size": size, "side": "sender"}, 6.5, "MiB/s"),
        record(line + 1, {**TRANSFER, "size": size, "side": "receiver"}, 6.5, "MiB/s"),
    ]


@pytest.mark.parametrize(
    ("suite", "flags", "certificate"),
    [
        (RSA12, ["--ecdsa"], "rsa-2048"),
        (ECDSA12, [], "ecdsa-p256"),
        (TLS13, ["--rsa"], "rsa-2048"),
        (TLS13, ["--ecdsa"], "ecdsa-p256"),
    ],
)
def test_the_certificate_is_the_suites_or_the_commands(
    suite: str, flags: list[str], certificate: str
) -> None:
    rows = parsed(OLD, old("handshake", suite, "", *flags)).rows
    assert [row.scenario.certificate for row in rows] == [certificate] * 2


def rows_of(mode: str, hits: int, misses: int = 0, accepts: int = 5001) -> list[ParsedRow]:
    return parsed(OLD, old(mode, TLS13, STATISTICS.format(accepts, hits, misses))).rows


@pytest.mark.parametrize(
    ("accepts", "hits", "misses", "note"),
    [
        (5001, 5000, 0, None),
        (5001, 5001, 0, None),
        (5001, 4999, 0, "1 of 5,000 handshakes did not resume"),
        (5001, 2000, 0, "3,000 of 5,000 handshakes did not resume"),
        (5001, 4999, 1, "1 of 5,000 handshakes were full ones"),
        (5001, 2000, 3000, "3,000 of 5,000 handshakes were full ones"),
        (1, 0, 0, "OpenSSL counted no handshake that resumed"),
        (1, 1, 0, None),
    ],
)
def test_handshakes_that_did_not_resume_are_counted(
    accepts: int, hits: int, misses: int, note: str | None
) -> None:
    scenario = {**HANDSHAKE, "resumption": "ticket"}
    assert rows_of("handshake-ticket", hits, misses, accepts) == [
        record(4, {**scenario, "side": "client"}, 5, "handshakes/s", note),
        record(5, {**scenario, "side": "server"}, 7.25, "handshakes/s", note),
    ]


def test_the_lines_of_a_command_do_not_apply_to_the_next() -> None:
    full = old("handshake", TLS13, f"negotiated TLSv1.3 with {TLS13} kx X25519\n")
    spoiled = old("handshake-ticket", TLS13, STATISTICS.format(9, 1, 0))
    resumed = old("handshake-resume", TLS13, "sessions: 1, hits: 0, misses: 0\n")
    rows = parsed(OLD, full + spoiled + resumed).rows
    assert [row.scenario.key_exchange for row in rows] == ["X25519"] * 2 + [None] * 4
    not_resumed = "7 of 8 handshakes did not resume"
    none_counted = "OpenSSL counted no handshake that resumed"
    assert [row.note for row in rows] == [None] * 2 + [not_resumed] * 2 + [none_counted] * 2


@pytest.mark.parametrize(
    ("mode", "suite", "exchanges"),
    [
        ("bulk", RSA12, True),
        ("handshake", RSA12, True),
        ("handshake-ticket", RSA12, False),
        ("handshake-resume", TLS13, True),
    ],
)
def test_a_resumption_in_tls_1_2_exchanges_no_keys(mode: str, suite: str, exchanges: bool) -> None:
    version = "TLSv1.2" if suite == RSA12 else "TLSv1.3"
    rows = parsed(OLD, old(mode, suite, f"negotiated {version} with {suite} kx p-384\n")).rows
    expected = "secp384r1" if exchanges else None
    assert [row.scenario.key_exchange for row in rows] == [expected] * 2


def test_a_group_without_a_name_is_not_recorded() -> None:
    rows = parsed(OLD, old("handshake", TLS13, f"negotiated TLSv1.3 with {TLS13} kx (null)\n")).rows
    assert [row.scenario.key_exchange for row in rows] == [None, None]


def test_a_figure_of_another_suite_than_requested_does_not_count() -> None:
    found = parsed(NEW, command("handshake", RSA12) + new("handshakes", TLS13, "TLSv1.3"))
    note = f"negotiated {TLS13}, not {RSA12} as asked for"
    assert [row.note for row in found.rows] == [note, note]


def test_a_figure_of_2023_of_another_suite_than_requested_does_not_count() -> None:
    found = parsed(OLD, old("bulk", RSA12, f"negotiated TLSv1.3 with {TLS13}\n"))
    note = f"negotiated {TLS13}, not {RSA12} as asked for"
    assert [row.note for row in found.rows] == [note, note]


@pytest.mark.parametrize(
    ("mode", "line"), [("bulk", "send: 5 MB/s"), ("handshake", "handshakes client 5 handshakes/s")]
)
def test_a_figure_of_an_unknown_suite_is_named(mode: str, line: str) -> None:
    said = f":2: found cipher suite 'AES', expected one of {NAMES}"
    assert refusal(OLD, f"{command(mode, 'AES')}{line}\n") == said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("handshakes client", "nothing, expected a rate and its unit"),
        (
            "handshakes client five handshakes/s",
            "'five', expected a number like 6368.22 or 2.1e+06",
        ),
    ],
)
def test_a_handshake_of_2023_has_a_rate(line: str, said: str) -> None:
    assert refusal(OLD, f"{command('handshake', TLS13)}{line}\n") == f":2: found {said}"


def test_resumption_that_boringssl_lacks_is_no_missing_figure() -> None:
    unsupported = "!!! BoringSSL does not support stateful resumption for TLS1.3\n"
    first, second = command("handshake-resume", TLS13), command("handshake", TLS13)
    found = parsed(OLD, f"{first}  {unsupported}{second}", "boringssl-30cd935")
    assert [(remark.line, remark.message) for remark in found.remarks] == [
        (3, f"handshake {TLS13}: no figures follow the command")
    ]


PAIR = "negotiated TLSv1.2 with "
NEGOTIATED = "negotiated VERSION with SUITE"
NAMES = (
    "TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256, "
    "ECDHE-RSA-AES128-GCM-SHA256, ECDHE-RSA-AES256-GCM-SHA384, ECDHE-RSA-CHACHA20-POLY1305, "
    "ECDHE-ECDSA-AES128-GCM-SHA256, ECDHE-ECDSA-AES256-GCM-SHA384, ECDHE-ECDSA-CHACHA20-POLY1305"
)
SIDES = "handshakes (client|server) RATE handshakes/s"


@pytest.mark.parametrize(
    ("line", "found", "expected"),
    [
        ("connects: 1 of 2", "connects: 1 of 2", "connects, connects-good, accepts, …"),
        ("sessions: 1 of 2", "sessions: 1 of 2", "sessions: N, hits: N, misses: N"),
        (f"{PAIR}{RSA12} kx", f"{PAIR}{RSA12} kx", NEGOTIATED),
        (f"{PAIR}{RSA12} by X25519", f"{PAIR}{RSA12} by X25519", NEGOTIATED),
        (f"negotiated TLSv1.2 for {RSA12}", f"negotiated TLSv1.2 for {RSA12}", NEGOTIATED),
        (f"{PAIR}{RSA12} kx X448", "kx X448", f"kx {', '.join(GROUPS)}"),
        (f"{PAIR}AES", "cipher suite 'AES'", f"one of {NAMES}"),
        (
            f"negotiated TLSv1.1 with {RSA12}",
            "version 'TLSv1.1'",
            "TLSv1.2 or TLSv1.3 or TLSv1/SSLv3",
        ),
        (f"{PAIR}{TLS13}", f"TLSv1.2 with {TLS13}", "TLSv1.3"),
        ("handshakes client 5 handshakes/s", "handshakes client 5 handshakes/s", "bulk"),
        ("send: 5", "5", "a rate and its unit"),
        ("send: five MB/s", "'five'", "a number like 6368.22 or 2.1e+06"),
        (
            "Segmentation fault",
            "'Segmentation fault'",
            "a line of the tool (connects:, sessions:, negotiated, send:, recv:, handshakes), "
            "a command, or make's output",
        ),
    ],
)
def test_a_wrong_line_of_2023_is_named(line: str, found: str, expected: str) -> None:
    said = "the figures of bulk" if expected == "bulk" else expected
    text = f"{command('bulk', RSA12)}{line}\n"
    assert refusal(OLD, text) == f":2: found {found}, expected {said}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("send: 5 MB/s", "the figures of handshake"),
        ("handshakes", SIDES),
        ("handshakes sender 5 handshakes/s", SIDES),
    ],
)
def test_a_line_that_is_no_figure_of_a_handshake_is_named(line: str, expected: str) -> None:
    text = f"{command('handshake', TLS13)}{line}\n"
    assert refusal(OLD, text) == f":2: found {line}, expected {expected}"


@pytest.mark.parametrize("line", ["send: 5 MB/s", "handshakes client 5 handshakes/s", PAIR + RSA12])
def test_a_line_of_2023_needs_its_command(line: str) -> None:
    expected = "found a figure without a command, expected make's echo of ./bench before it"
    assert refusal(OLD, f"{line}\n") == f":1: {expected}"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"bulk client TLSv1.3 {TLS13} 5 MB/s", "bulk (send|recv) VERSION SUITE RATE UNIT"),
        (f"bulk send TLSv1.3 {TLS13} 5", "bulk (send|recv) VERSION SUITE RATE UNIT"),
        (
            f"handshakes send TLSv1.3 {TLS13} 5 handshakes/s",
            "handshakes (client|server) VERSION SUITE RATE UNIT",
        ),
        (
            f"handshake-ticket client TLSv1.3 {TLS13} 5",
            "handshake-ticket (client|server) VERSION SUITE RATE UNIT",
        ),
        (f"handshakes client TLSv1.3 {TLS13} 5 handshakes/s", "the figures of bulk"),
    ],
)
def test_a_wrong_line_of_2024_is_named(line: str, expected: str) -> None:
    text = f"{command('bulk', TLS13)}{line}\n"
    assert refusal(NEW, text) == f":2: found {line}, expected {expected}"


def test_a_wrong_version_suite_or_rate_of_2024_is_named() -> None:
    for rest, said in (
        (f"TLSv1.2 {TLS13} 5", f"TLSv1.2 with {TLS13}, expected TLSv1.3"),
        ("TLSv1.2 AES 5", f"cipher suite 'AES', expected one of {NAMES}"),
        (f"TLSv1.3 {TLS13} five", "'five', expected a number like 6368.22 or 2.1e+06"),
    ):
        assert refusal(NEW, f"handshakes client {rest} handshakes/s\n") == f":1: found {said}"


@pytest.mark.parametrize("format", [OLD, NEW])
def test_the_versions_are_distinguished_and_measure_what_has_the_api(format: str) -> None:
    texts = {OLD: old("bulk", RSA12), NEW: new("handshake-ticket", TLS13, "TLSv1.3")}
    assert [name for name in texts if FOREIGN[format].detects(texts[name], "x")] == [format]
    libraries = FOREIGN[format].libraries
    assert libraries
    assert libraries("") == {"openssl", "boringssl", "aws-lc", "libressl"}
