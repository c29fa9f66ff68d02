"""Tables of published figures: complete rows of each kind of table, and errors word for word."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from cases import RUN
from project import PUBLISHED
from records import FILE, parsed, record, refusal
from reports import report
from synthetic import TRANSFERS, Rates, loaded_run
from tlsperf.analysis.series import measured
from tlsperf.contract.comparisons import Definition
from tlsperf.contract.errors import FormatError
from tlsperf.contract.names import scenario_name
from tlsperf.contract.run import Implementation
from tlsperf.contract.text import value_text
from tlsperf.load.formats import FOREIGN
from tlsperf.load.formats.published import implementations
from tlsperf.load.histograms import Bin, read_histograms
from tlsperf.load.rows import ParsedRow, RawInput
from tlsperf.load.run import load_run
from tlsperf.publish.runs import import_files
from tlsperf.published.published_tables import tables

SUITE12 = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
SUITE13 = "TLS_AES_256_GCM_SHA384"
REPORT = (
    "operation,protocol,cipher_suite,certificate,resumption,side,implementation,version,value,unit"
)
SIDE_BY_SIDE = (
    "operation,protocol,cipher_suite,resumption,side,openssl_3.6.1,rustls_0.23.37,vs,unit"
)
THREADS = (
    "figure,operation,protocol,resumption,side,implementation,version,threads,"
    "handshakes_per_second_per_thread"
)
PERCENTILES = (
    "figure,protocol,resumption,side,implementation,version,threads,samples,percentile,latency_ms"
)
HISTOGRAM = "figure,implementation,version,bin_low_ms,bin_high_ms,count"
CLIENT_HELLO = "architecture,implementation,version,key_shares,median_microseconds"
KEY_EXCHANGES = (
    "operation,protocol,certificate,resumption,side,implementation,version,key_exchange,value,unit"
)


def table(header: str, *lines: str) -> str:
    return "".join(f"{line}\n" for line in (header, *lines))


def figures(text: str) -> list[ParsedRow]:
    found = parsed("published", text, "")
    assert found.remarks == []
    return found.rows


def figure(
    line: int,
    scenario: Mapping[str, object],
    value: float,
    unit: str,
    metric: str = "rate",
    statistic: str = "value",
    **more: str,
) -> ParsedRow:
    of = {"metric": metric, "statistic": statistic, **more}
    return record(line, scenario, value, unit, round_=None, **of)


RUSTLS = "rustls-0.23.37-aws-lc-rs"


def scenario(columns: str) -> dict[str, object]:
    """The scenario of a row: operation, protocol, cipher suite, certificate, resumption, side."""
    names = ("operation", "protocol", "cipher_suite", "certificate", "resumption", "side")
    return dict(zip(names, columns.split(), strict=True))


def test_a_report_names_its_implementations_and_scenarios() -> None:
    text = table(
        REPORT,
        "transfer,1.2,aes-256-gcm,rsa-2048,none,sending,OpenSSL,3.6.1,7000.5,MB/s",
        "transfer,1.2,aes-128-gcm,ecdsa-p256,none,receiving,rustls,0.23.37,7100,MB/s",
        "handshake,1.3,aes-256-gcm,ecdsa-p256,ticket,client,Rustls,0.23.37,5,handshakes/s",
        "handshake,1.2,aes-256-gcm,rsa-2048,session-id,server,BoringSSL,30cd935,6,handshakes/s",
    )
    ecdsa = "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"
    openssl, boringssl = "openssl-3.6.1", "boringssl-30cd935"
    expected = (
        (f"transfer 1.2 {SUITE12} rsa-2048 none sender", 7000.5, "MiB/s", openssl),
        (f"transfer 1.2 {ecdsa} ecdsa-p256 none receiver", 7100, "MiB/s", RUSTLS),
        (f"handshake 1.3 {SUITE13} ecdsa-p256 ticket client", 5, "handshakes/s", RUSTLS),
        (f"handshake 1.2 {SUITE12} rsa-2048 session-id server", 6, "handshakes/s", boringssl),
    )
    assert figures(text) == [
        figure(line, scenario(of), value, unit, implementation=name)
        for line, (of, value, unit, name) in enumerate(expected, start=2)
    ]


def test_two_libraries_side_by_side_are_two_rows() -> None:
    handshake = {"operation": "handshake", "protocol": "1.3", "cipher_suite": SUITE13}
    resumed = {**handshake, "resumption": "resumed", "side": "server"}
    text = table(
        SIDE_BY_SIDE, f"handshake,1.3,{SUITE13},resumed,server,3071.5,4000,1.30x,handshakes/s"
    )
    assert figures(text) == [
        figure(2, resumed, 3071.5, "handshakes/s"),
        figure(2, resumed, 4000, "handshakes/s", implementation=RUSTLS),
    ]
    without = SIDE_BY_SIDE.replace("resumption,", "")
    for spelled in ("ECDHE-RSA-AES256-GCM-SHA384", SUITE12):
        transfer = {"operation": "transfer", "protocol": "1.2", "cipher_suite": SUITE12}
        sent = {**transfer, "resumption": "none", "side": "sender"}
        assert figures(table(without, f"transfer,1.2,{spelled},sending,5.5,6,1.09x,MB/s")) == [
            figure(2, sent, 5.5, "MiB/s"),
            figure(2, sent, 6, "MiB/s", implementation=RUSTLS),
        ]


@pytest.mark.parametrize(("protocol", "suite"), [("1.2", SUITE12), ("1.3", SUITE13)])
def test_rates_of_threads_are_those_of_the_makefile(protocol: str, suite: str) -> None:
    line = f"before,handshake,{protocol},ticket,client,OpenSSL,3.6.1,80,600.4"
    of = {**scenario(f"handshake {protocol} {suite} rsa-2048 ticket client"), "threads": 80}
    assert figures(table(THREADS, line)) == [figure(2, of, 600.4, "handshakes/s/thread")]


def test_latencies_in_milliseconds_are_microseconds() -> None:
    lines = [
        f"latency-resume-tls12-client,1.2,session-id,client,OpenSSL,3.6.1,16,9,{p},0.0{p}"
        for p in ("5", "50", "90", "99")
    ]
    of = {**scenario(f"handshake 1.2 {SUITE12} rsa-2048 session-id client"), "threads": 16}
    assert figures(table(PERCENTILES, *lines)) == [
        figure(line, of, value, "µs", "duration", statistic)
        for line, statistic, value in (
            (2, "p5", 50),
            (3, "p50", 50),
            (4, "p90", 90),
            (5, "p99", 99),
        )
    ]


def test_bins_of_a_chart_are_checked_and_no_figures() -> None:
    assert figures(table(HISTOGRAM, "a,OpenSSL,3.6.1,0.1,0.2,0", "a,OpenSSL,3.6.1,0,9,10")) == []
    for bins, said in (
        ("0.2,0.2,5", "bin_high_ms '0.2', expected more than 0.2"),
        ("0.2,0.1,5", "bin_high_ms '0.1', expected more than 0.2"),
        ("low,0.1,5", "bin_low_ms 'low', expected a number"),
        ("0.1,high,5", "bin_high_ms 'high', expected a number"),
        ("0.1,0.2,-5", "count '-5', expected a number"),
    ):
        text = table(HISTOGRAM, f"a,OpenSSL,3.6.1,{bins}")
        assert refusal("published", text) == f":2: found {said}"


def test_the_bins_of_a_chart_are_a_histogram_in_microseconds(tmp_path: Path) -> None:
    figure = "latency-resume-tls13-server"
    (tmp_path / "percentiles.csv").write_text(
        table(PERCENTILES, f"{figure},1.3,ticket,server,OpenSSL,3.6.1,16,7,50,0.150")
    )
    bins = tmp_path / "bins.csv"
    bins.write_text(
        table(HISTOGRAM, f"{figure},OpenSSL,3.6.1,0.2,0.4,2", f"{figure},OpenSSL,3.6.1,0.1,0.2,5")
    )
    folder = tmp_path / "2024-11-28-a-run"
    import_files([tmp_path / "percentiles.csv", bins], None, folder)
    [((scenario, implementation), found)] = read_histograms(folder, load_run(folder)).items()
    assert scenario_name(scenario) == "TLS 1.3 resumed handshake, ticket, server"
    assert implementation == "openssl-3.6.1"
    assert found == [Bin(100, 200, 5), Bin(200, 400, 2)]


def test_a_client_hello_is_of_the_runs_architecture() -> None:
    pairs = {
        "X25519": "X25519",
        "X25519MLKEM768 + X25519 (separate)": "X25519MLKEM768+X25519-separate",
        "X25519MLKEM768 + X25519 (shared X25519 setup)": "X25519MLKEM768+X25519-shared",
    }
    lines = [f"arm64,OpenSSL,3.6.1,{shares},99" for shares in pairs]
    lines += [f"amd64,OpenSSL,3.6.1,{shares},16.05" for shares in pairs]
    hello = {"operation": "client-hello", "protocol": "1.3", "side": "client"}
    assert figures(table(CLIENT_HELLO, *lines)) == [
        figure(line, {**hello, "variant": variant}, 16.05, "µs", "duration")
        for line, variant in enumerate(pairs.values(), start=5)
    ]


def test_rows_of_architectures_need_a_run_with_a_host() -> None:
    text = table(CLIENT_HELLO, "arm64,OpenSSL,3.6.1,X25519,16.05")
    run = RUN.model_copy(update={"host": None})
    with pytest.raises(FormatError) as caught:
        FOREIGN["published"].parse([RawInput(text.encode(), FILE, run)])
    assert str(caught.value) == (
        f"{FILE}:2: found rows of aarch64, expected a [host] in run.toml, whose architecture says "
        "which rows belong to the run"
    )


@pytest.mark.parametrize(
    ("printed", "group", "variant"),
    [
        ("X25519", "X25519", None),
        ("X25519MLKEM768 (shared X25519 setup)", "X25519MLKEM768", "shared-x25519"),
        ("X25519MLKEM768 (separate X25519 setup)", "X25519MLKEM768", "separate-x25519"),
    ],
)
def test_handshakes_by_key_exchange(printed: str, group: str, variant: str | None) -> None:
    line = f"handshake,1.3,ecdsa-p256,ticket,client,OpenSSL,3.6.1,{printed},5.5,handshakes/s"
    of = scenario("handshake 1.3 - ecdsa-p256 ticket client")
    of |= {"cipher_suite": None, "key_exchange": group, "variant": variant}
    assert figures(table(KEY_EXCHANGES, line)) == [figure(2, of, 5.5, "handshakes/s")]
    rsa = figures(table(KEY_EXCHANGES, line.replace("ecdsa-p256", "rsa-2048")))
    assert [row.scenario.certificate for row in rsa] == ["rsa-2048"]


LINES = {
    REPORT: "transfer,1.2,aes-256-gcm,rsa-2048,none,sending,OpenSSL,3.6.1,7000.5,MB/s",
    SIDE_BY_SIDE: f"handshake,1.3,{SUITE13},none,server,3071.5,4000,1.30x,handshakes/s",
    THREADS: "before,handshake,1.3,ticket,client,OpenSSL,3.6.1,80,600.4",
    PERCENTILES: ("latency-resume-tls12-client,1.2,session-id,client,OpenSSL,3.6.1,16,9,50,0.050"),
    CLIENT_HELLO: "amd64,OpenSSL,3.6.1,X25519,16.05",
    KEY_EXCHANGES: "handshake,1.3,rsa-2048,none,client,OpenSSL,3.6.1,X25519,5.5,handshakes/s",
}
"""A line of each table."""
MEASURED = "one of run.toml: openssl 3.6.1, rustls 0.23.37, boringssl 30cd935"
SIDES = "sending or receiving or client or server"
RESUMPTIONS = "none or session-id or ticket or resumed"
NUMBERS = ("value", "openssl_3.6.1", "rustls_0.23.37", "latency_ms", "median_microseconds")
PER_THREAD = "handshakes_per_second_per_thread"
EXPECTED = {
    **dict.fromkeys((*NUMBERS, PER_THREAD), ("1e3", "a number")),
    "operation": ("memory", "transfer or handshake"),
    "protocol": ("1.1", "1.2 or 1.3"),
    "certificate": ("dsa", "rsa-2048 or ecdsa-p256"),
    "resumption": ("psk", RESUMPTIONS),
    "side": ("sender", SIDES),
    "unit": ("GB/s", "MB/s or handshakes/s"),
    "threads": ("0", "a whole number of at least 1"),
    "percentile": ("95", "5 or 50 or 90 or 99"),
    "architecture": ("x86_64", "amd64 or arm64"),
}
"""A wrong cell of a column, whichever table has it, and what is expected."""
FIGURES = (
    "latency-fullhs-tls12 or latency-fullhs-tls13 or latency-resume-tls12 or latency-resume-tls13"
)


@pytest.mark.parametrize(
    ("header", "column", "wrong", "expected"),
    [
        *(
            (header, column, *EXPECTED[column])
            for header in (REPORT, SIDE_BY_SIDE, THREADS, CLIENT_HELLO, KEY_EXCHANGES)
            for column in header.split(",")
            if column in EXPECTED
        ),
        *((PERCENTILES, it, *EXPECTED[it]) for it in ("threads", "percentile", "latency_ms")),
        (REPORT, "cipher_suite", "rc4", "aes-128-gcm or aes-256-gcm"),
        (SIDE_BY_SIDE, "protocol", "1.2", "1.3"),
        (PERCENTILES, "figure", "latency-tls12", FIGURES),
        (PERCENTILES, "figure", "latency-resume-tls12-server", FIGURES),
        (PERCENTILES, "figure", "latency-resume-tls13-client", "one of TLS1.2, session-id"),
        (PERCENTILES, "figure", "latency-fullhs-tls12-client", "one of TLS1.2, session-id"),
        (PERCENTILES, "threads", "1.5", "a whole number of at least 1"),
        (CLIENT_HELLO, "key_shares", "X448", "X25519 or X25519MLKEM768 + X25519 (separate) or "),
        (CLIENT_HELLO, "median_microseconds", "16,05", "5 cells"),
        (KEY_EXCHANGES, "key_exchange", "X448", "X25519 or X25519MLKEM768 (shared X25519 setup) "),
    ],
)
def test_a_wrong_cell_is_reported_with_the_permitted_values(
    header: str, column: str, wrong: str, expected: str
) -> None:
    cells = dict(zip(header.split(","), LINES[header].split(","), strict=True))
    assert figures(table(header, LINES[header]))
    text = table(header, ",".join({**cells, column: wrong}.values()))
    found = "6 cells" if "," in wrong else f"{column} {wrong!r}"
    assert refusal("published", text).startswith(f":2: found {found}, expected {expected}")


def test_a_cipher_suite_has_the_name_of_openssl_or_of_iana() -> None:
    line = LINES[SIDE_BY_SIDE].replace(SUITE13, "TLS13_AES_256_GCM_SHA384")
    said = refusal("published", table(SIDE_BY_SIDE, line))
    assert said.startswith(
        ":2: found cipher_suite 'TLS13_AES_256_GCM_SHA384', expected TLS_AES_128"
    )
    assert " or ECDHE-RSA-AES128-GCM-SHA256 or " in said
    assert f" or {SUITE12} or " in said


@pytest.mark.parametrize(
    ("library", "version"), [("OpenSSL", "3.6.2"), ("rustls", "3.6.1"), ("GnuTLS", "3.8")]
)
def test_an_implementation_is_one_of_the_run(library: str, version: str) -> None:
    text = table(REPORT, LINES[REPORT].replace("OpenSSL,3.6.1", f"{library},{version}"))
    expected = f":2: found {library.lower()} {version}, expected {MEASURED}"
    assert refusal("published", text) == expected


def test_an_implementation_that_two_builds_of_a_run_may_be_is_rejected() -> None:
    other = Implementation(id="openssl-3.6.1-tuned", library="openssl", version="3.6.1")
    run = RUN.model_copy(update={"implementations": [*RUN.implementations, other]})
    source = RawInput(table(REPORT, LINES[REPORT]).encode(), FILE, run)
    with pytest.raises(FormatError, match=r":2: found openssl 3\.6\.1, expected one of run\.toml"):
        FOREIGN["published"].parse([source])


def test_a_repeated_figure_is_rejected_unless_two_charts_show_it() -> None:
    line = LINES[REPORT]
    assert refusal("published", table(REPORT, line, line)) == (
        ":3: found 7000.5 where line 2 has 7000.5, expected each figure once"
    )
    line = LINES[THREADS]
    assert len(figures(table(THREADS, line, line.replace("before", "after")))) == 1
    assert refusal("published", table(THREADS, line, line.replace("600.4", "1600000"))) == (
        ":3: found 1.6e+06 where line 2 has 600.4, expected each figure once"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (table(REPORT, "a,b"), ":2: found 2 cells, expected 10 cells"),
        (table(REPORT, LINES[REPORT] + ","), ":2: found 11 cells, expected 10 cells"),
        (table(REPORT, ""), ":2: found 0 cells, expected 10 cells"),
        (
            table(REPORT, '"a"b,c'),
            ":2: found ',' expected after '\"', expected comma-separated cells",
        ),
        (
            table(REPORT, LINES[REPORT], "transfer,1.2")[:-1],
            ":3: found a last line that does not end, expected the whole file",
        ),
        (REPORT, ":1: found a last line that does not end, expected the whole file"),
    ],
)
def test_an_incomplete_table_is_rejected(text: str, said: str) -> None:
    assert refusal("published", text) == said


def test_an_unknown_header_is_rejected_with_the_known_ones() -> None:
    said = refusal("published", "a,b\n1,2\n")
    start = f":1: found 'a,b', expected the header of a known table: {REPORT} | operation,"
    assert said.startswith(start)
    assert said.endswith(f" | {CLIENT_HELLO} | {KEY_EXCHANGES}")


def test_a_table_is_known_by_its_whole_header() -> None:
    detects = FOREIGN["published"].detects
    assert all(detects(table(header), "x") for header in [*LINES, HISTOGRAM])
    assert not detects(f"{REPORT},more\n", "x")
    assert not detects(f"figures\n{REPORT}\n", "x")


def test_a_table_names_what_was_measured() -> None:
    text = table(REPORT, LINES[REPORT], LINES[REPORT], LINES[REPORT].replace("3.6.1", "3.6.2 (a)"))
    assert implementations(text.encode(), FILE) == [
        Implementation(id="openssl-3.6.1", library="openssl", version="3.6.1"),
        Implementation(id="openssl-3.6.2-a", library="openssl", version="3.6.2 (a)"),
    ]
    text = table(SIDE_BY_SIDE, LINES[SIDE_BY_SIDE])
    assert implementations(text.encode(), FILE) == [
        Implementation(id="openssl-3.6.1", library="openssl", version="3.6.1"),
        Implementation(id="rustls-0.23.37", library="rustls", version="0.23.37"),
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            table(REPORT).encode(),
            f"{FILE}:1: found a table without lines, expected a line for each figure",
        ),
        (
            table(REPORT, LINES[REPORT].replace("OpenSSL", "")).encode(),
            f"{FILE}: found '' '3.6.1', expected a library and a version such as OpenSSL 3.6.1",
        ),
        (
            table(REPORT, "transfer,1.2").encode(),
            f"{FILE}:2: found 2 cells, expected 10 cells",
        ),
        (b"a,\xff", f"{FILE}:1: found byte 0xff, expected UTF-8 text as the tool wrote it"),
    ],
)
def test_a_table_that_names_no_implementation_is_rejected(data: bytes, said: str) -> None:
    with pytest.raises(FormatError) as caught:
        implementations(data, FILE)
    assert str(caught.value) == said


def test_a_report_shows_each_figure_of_a_table_as_printed(project: Path) -> None:
    folder = project / "data" / "runs" / PUBLISHED
    [file] = load_run(folder).run.files
    with (folder / file.path).open(encoding="utf-8", newline="") as text:
        printed = Counter(float(line["value"]) for line in csv.DictReader(text))
    assert printed
    tables = report(project, PUBLISHED).results.tables
    shown = [(table.unit, cell) for table in tables for row in table.rows for cell in row.cells]
    assert Counter(cell.value for _, cell in shown) == printed
    for unit, cell in shown:
        assert cell.value is not None
        assert cell.text == value_text(cell.value, unit)


def test_a_table_of_the_source_is_shown_with_its_labels() -> None:
    rates: Rates = {
        "openssl-1": {TRANSFERS[0]: [1000.0, 900.0, 1100.0]},
        "rustls-2": {TRANSFERS[0]: [1234.5, 1300.0, 1200.0]},
    }
    table = {
        **{"title": "Theirs vs ours", "scenarios": ["bulk_*"]},
        **{"left": "openssl-1", "left_label": "theirs"},
        **{"right": "rustls-2", "right_label": "ours"},
    }
    source = {"title": "Elsewhere", "url": "https://example.org/"}
    fields = {"layout": "factor", "estimator": "median", "source": source, "table": [table]}
    definition = Definition.model_validate({"run": "2023-12-13-a", "published": "a.csv", **fields})
    [shown] = tables(definition, measured(loaded_run("2023-12-13-a", rates)))
    assert (shown.title, shown.anchor) == ("Theirs vs ours", "published-theirs-vs-ours")
    assert shown.columns == ["Scenario", "theirs", "ours", "Factor"]
    label = "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256_sent"
    assert shown.rows == [[label, "1000.0", "1234.5", "1.23x"]]
