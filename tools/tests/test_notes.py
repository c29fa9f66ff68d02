"""Caveats are well-formed and on the pages of their reports; their claims follow from the data."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tlsperf.contract.errors import FormatError
from tlsperf.contract.results import Caveat, Results
from tlsperf.load.notes import read_caveats

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "data" / "runs"
NOTES = {note.id: note for note in read_caveats(ROOT / "data" / "notes.toml")}


def results(report: str) -> Results:
    text = (ROOT / "content" / "perf" / report / "results.json").read_text(encoding="utf-8")
    return Results.model_validate_json(text)


def value(report: str, row: str, implementation: str) -> float:
    return next(
        cell.value
        for table in results(report).tables
        for line in table.rows
        for cell in line.cells
        if line.anchor == row and cell.implementation == implementation and cell.value
    )


REPORTS = sorted(p.parent.name for p in (ROOT / "content" / "perf").glob("20*/results.json"))


def test_every_caveat_is_on_the_pages_of_its_runs() -> None:
    shown = {r: {n.id for n in results(r).notes} for r in REPORTS}
    runs = {r: {run.id for run in results(r).runs} for r in REPORTS}
    for note in NOTES.values():
        for run in note.runs:
            pages = [r for r in REPORTS if run in runs[r]]
            assert pages, f"{note.id}: run {run} is in no report"
            for page in pages:
                assert note.id in shown[page], f"{note.id} is not on {page}"


def test_errors_of_the_source_come_first() -> None:
    kinds = [note.kind for note in results("2025-07-31-x86-64").notes]
    assert kinds == sorted(kinds, key=("page", "setup", "tool", "reading").index)


def test_a_caveat_names_the_affected_rows() -> None:
    (note,) = [n for n in results("2023-12-13-configurations").notes if n.id == "session-id-misses"]
    assert [row.anchor for row in note.rows] == [
        "resumed-handshake-1-3-session-id-client",
        "resumed-handshake-1-3-session-id-server",
    ]


def test_12289_of_32768_session_id_handshakes_were_full_in_every_run() -> None:
    counts: Counter[str] = Counter()
    for build in ("gcc", "clang"):
        for path in (RUNS / f"2023-12-13-configurations/raw/openssl-3.2.0-{build}").iterdir():
            found = re.findall(r"hits: (\d+), misses: (\d+)", path.read_text())
            counts.update(f"{build} {hits} {misses}" for hits, misses in found if misses != "0")
    assert counts == {"gcc 20479 12289": 30, "clang 20479 12289": 30}
    assert 20479 + 12289 == 32768
    assert "12,289 of 32,768" in NOTES["session-id-misses"].text


def published(name: str, column: str) -> list[str]:
    with (ROOT / "data" / "comparisons" / name).open(newline="") as file:
        return [row[column] for row in csv.DictReader(file)]


def histogram_off() -> dict[str, tuple[float, float]]:
    """By figure: the bin of each percentile in the histogram over the printed percentile."""
    raw = RUNS / "2024-11-28-threads-latency" / "raw"
    with (raw / "2024-11-28-latency-histogram.csv").open(newline="") as file:
        bins = list(csv.DictReader(file))
    off: dict[str, list[float]] = {}
    with (raw / "2024-11-28-latency-percentiles.csv").open(newline="") as file:
        for p in csv.DictReader(file):
            key = (p["figure"], p["implementation"], p["version"])
            own = [b for b in bins if (b["figure"], b["implementation"], b["version"]) == key]
            rank = int(p["samples"]) * int(p["percentile"]) / 100
            below = 0
            for b in own:
                below += int(b["count"])
                if below >= rank:
                    off.setdefault(p["figure"], []).append(
                        float(b["bin_low_ms"]) / float(p["latency_ms"])
                    )
                    break
    return {figure: (min(found), max(found)) for figure, found in off.items()}


R24, R25 = "2024-10-18-x86-64", "2025-07-31-x86-64"
ARM, PQ = "2024-10-31-arm64", "2024-12-17-post-quantum"
OLD_RUSTLS, NEW_RUSTLS = "rustls-0.23.15-aws-lc-rs", "rustls-0.23.31-aws-lc-rs"
RESUMED = "resumed-handshake-1-2-client"


def ratio(left: tuple[str, str, str], right: tuple[str, str, str]) -> float:
    return value(*left) / value(*right)


def gigabit(row: str) -> str:
    return f"{value('2018-01-07-bulk', row, 'openssl-d201dbc') * 8 * 2**20 / 1e9:.1f}"


def seal(implementation: str) -> tuple[str, str, str]:
    return ARM, "primitive-aes-256-gcm-seal-16384", implementation


def shared(how: str) -> tuple[str, str, str]:
    row = f"resumed-handshake-1-3-x25519mlkem768-{how}-x25519-client"
    return PQ, row, "rustls-main-2024-12-x86-64"


FACTS: dict[str, tuple[str, Callable[[], str]]] = {
    "2018, AES-256-GCM": (
        "2018-gigabit",
        lambda: f"{gigabit('transfer-1-2-aes-256-gcm-sending')} Gbit/s",
    ),
    "2018, ChaCha20-Poly1305": (
        "2018-gigabit",
        lambda: gigabit("transfer-1-2-chacha20-poly1305-sending"),
    ),
    "2025, rustls' resumptions": (
        "2025-rounding",
        lambda: f"{ratio((R25, RESUMED, NEW_RUSTLS), (R24, RESUMED, OLD_RUSTLS)):.2f}x",
    ),
    "2024, sharing X25519": (
        "post-quantum-percent",
        lambda: f"{100 * ratio(shared('shared'), shared('separate')) - 100:.1f}%",
    ),
    "ARM64, BoringSSL": (
        "arm64-megabytes",
        lambda: f"{value(*seal('boringssl-76968bb3')):.0f} MiB/s",
    ),
    "ARM64, AWS-LC": (
        "arm64-megabytes",
        lambda: f"{value(*seal('aws-lc-not-told')):.0f} MiB/s",
    ),
    "ARM64, OpenSSL": (
        "arm64-megabytes",
        lambda: f"{value(*seal('openssl-3.3.2')):.0f} MiB/s",
    ),
    "ARM64, OpenSSL over BoringSSL": (
        "arm64-megabytes",
        lambda: f"{ratio(seal('openssl-3.3.2'), seal('boringssl-76968bb3')):.2f}x",
    ),
    "2023, primitives": (
        "2023-primitives",
        lambda: f"{value('2023-12-13-configurations', seal('')[1], 'aws-lc-1.17.4'):,.0f} MiB/s",
    ),
}


@pytest.mark.parametrize("fact", FACTS)
def test_a_figure_of_a_caveat_follows_from_the_data(fact: str) -> None:
    note, computed = FACTS[fact]
    assert computed() in NOTES[note].text + NOTES[note].title


def test_memory_of_10000_sessions_in_mebibytes() -> None:
    report = "2023-12-13-configurations"
    for protocol, implementation, text in (
        ("1-3", "rustls-0.22.0-aws-lc-rs-gcc-jemalloc", "128.7 MiB"),
        ("1-3", "openssl-3.2.0-gcc", "672.3 MiB"),
        ("1-2", "openssl-3.2.0-gcc", "738.7 MiB"),
        ("1-2", "rustls-0.22.0-aws-lc-rs-gcc-jemalloc", "102.5 MiB"),
    ):
        kib = value(report, f"memory-{protocol}-sessions-10000-peak-resident", implementation)
        assert f"{kib / 1024:.1f} MiB" == text
        assert text in NOTES["2023-memory-mebibytes"].text


def test_resumption_factors_run_from_1_56x_to_3_30x() -> None:
    name = "2023-12-13-published-tables.csv"
    factors = [
        float(factor.rstrip("x"))
        for table, scenario, factor in zip(
            published(name, "table"),
            published(name, "scenario"),
            published(name, "factor"),
            strict=True,
        )
        if table == "OpenSSL vs rustls + aws-lc" and ("ticket" in scenario or "session" in scenario)
    ]
    assert (min(factors), max(factors)) == (1.56, 3.30)
    assert "1.56x to 3.30x" in NOTES["2023-resumption-percentages"].text


def test_histograms_differ_from_their_percentiles_as_the_caveat_states() -> None:
    off = histogram_off()
    text = NOTES["latency-histogram"].text
    full = [o for figure, o in off.items() if "fullhs" in figure]
    assert min(low for low, _ in full) == pytest.approx(0.98, abs=0.005)
    assert max(high for _, high in full) == pytest.approx(1.09, abs=0.01)
    assert "between 0.98 and 1.09 times" in text
    assert off["latency-resume-tls13-server"][1] == pytest.approx(1.4, abs=0.01)
    assert "1.4 times for TLS 1.3" in text
    assert off["latency-resume-tls12-server"][1] == pytest.approx(3.1, abs=0.05)
    assert "3.1 times for TLS 1.2" in text


def test_openssl_of_december_2024_has_the_figures_of_october() -> None:
    def of(report: str) -> list[float]:
        return sorted(
            cell.value
            for table in results(report).tables
            for row in table.rows
            for cell in row.cells
            if cell.implementation == "openssl-3.3.2"
            and cell.value
            and row.scenario.protocol == "1.3"
            and row.scenario.operation == "handshake"
        )

    assert of(PQ) == of(R24)


NOTE = '[[note]]\nid = "a"\nkind = "tool"\ntitle = "t"\ntext = "x"\nruns = ["r"]\n'
SOURCE = 'sources = [{ title = "s", url = "https://example.org" }]\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NOTE, "note 'a': sources"),
        (NOTE + SOURCE + NOTE + SOURCE, "note 'a' twice"),
        (NOTE + SOURCE + 'scenarios = [{ colour = "red" }]\n', "note 'a': colour"),
        (NOTE.replace("tool", "gossip") + SOURCE, "note 'a': kind"),
        ("[notes]\n", "notes"),
    ],
)
def test_an_invalid_caveat_is_an_error_that_names_it(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "notes.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=re.escape(found)):
        read_caveats(path)


def test_caveats_survive_a_round_trip() -> None:
    for note in NOTES.values():
        assert Caveat.model_validate(json.loads(note.model_dump_json())) == note
