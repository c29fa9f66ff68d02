"""Latencies of other tools: what a file must contain, and how a row states its source."""

from __future__ import annotations

import pytest

from grammars import RUN
from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import Parsed, RawInput, Remark

NAME = "retry-client-0-latency.tsv"


def source(text: str, name: str = NAME, round_: int | None = 3) -> RawInput:
    return RawInput(text.encode(), f"raw/{name}", RUN, "openssl-3.6.1", round_)


def parsed(text: str, name: str = NAME) -> Parsed:
    return FOREIGN["bench-latency"].parse([source(text, name)])


def refused(text: str, name: str = NAME) -> tuple[str, int | None, str, str]:
    with pytest.raises(FormatError) as caught:
        parsed(text, name)
    error = caught.value
    return str(error).partition(": found")[0], error.line, error.found, error.expected


def line(latency: float) -> str:
    return f"1795230099.5\t{latency}\n"


def test_a_row_names_its_file_its_implementation_and_its_round() -> None:
    files = [source(line(2), "hello-retry-client-1-latency.tsv"), source(line(4), "x")]
    files[1] = source(line(4), "hello-retry-client-2-latency.tsv")
    rows = FOREIGN["bench-latency"].parse(files).rows
    assert len(rows) == 6
    for row in rows:
        assert (row.file, row.line) == ("raw/hello-retry-client-1-latency.tsv", 1)
        assert (row.implementation, row.round) == ("openssl-3.6.1", 3)
        assert (row.metric, row.unit) == ("duration", "µs")
        assert row.scenario == Scenario(
            operation="handshake", variant="hello-retry", side="client", threads=2
        )
    assert [row.value for row in rows] == [2, 2, 4, 4, 4, 4]
    assert [row.statistic for row in rows] == ["p5", "p50", "p90", "p99", "p99.9", "max"]


def test_a_prefix_of_the_makefile_states_what_was_measured() -> None:
    scenario = (
        parsed(line(1), "latency-fullhs-tls12-server-ThreadId(2)-latency.tsv").rows[0].scenario
    )
    assert scenario == Scenario(
        operation="handshake",
        protocol="1.2",
        cipher_suite="TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        certificate="rsa-2048",
        resumption="none",
        side="server",
        threads=1,
    )


def test_a_prefix_that_names_no_variant_is_rejected_with_the_file() -> None:
    place, number, found, _ = refused(line(1), "sessions-0-client-0-latency.tsv")
    assert (place, number) == ("raw/sessions-0-client-0-latency.tsv:1", 1)
    assert found.startswith("variant 'sessions-0'")


def test_an_interrupted_last_line_is_remarked_with_its_number() -> None:
    found = parsed(
        line(1) + line(2) + "1795230099." + 120 * "7", "hello-retry-client-0-latency.tsv"
    )
    cut = "1795230099." + 89 * "7"
    assert found.remarks == [
        Remark(
            "raw/hello-retry-client-0-latency.tsv",
            3,
            f"the output was interrupted at {cut!r}",
        )
    ]
    assert [row.value for row in found.rows] == [1, 1, 2, 2, 2, 2]


def test_a_file_without_latencies_is_rejected_with_its_line() -> None:
    name = "hello-retry-client-0-latency.tsv"
    wrong = "x" * 150
    assert refused(f"{line(1)}{wrong}\n", name) == (
        f"raw/{name}:2",
        2,
        repr(wrong[:100]),
        "seconds, a tab, microseconds",
    )
    assert refused("1795230099.5", name) == (
        f"raw/{name}:1",
        1,
        "no latency",
        "one handshake on each line",
    )
    assert refused(line(1), "latency.tsv") == (
        "raw/latency.tsv",
        None,
        "this file name",
        "PREFIX-(client|server)-THREAD-latency.tsv, which states what was measured",
    )


@pytest.mark.parametrize(
    ("text", "name", "is_one"),
    [
        (line(1), NAME, True),
        (line(1), "retry-client-0-latency.txt", False),
        ("negotiated TLSv1.3\n", NAME, False),
        ("negotiated TLSv1.3\n", "output_1", False),
    ],
)
def test_a_file_is_known_by_its_name_and_its_first_line(text: str, name: str, is_one: bool) -> None:
    assert FOREIGN["bench-latency"].detects(text, name) is is_one
