"""The nine reports of 2018 to 2026: every published figure is on its page.

The test reads the published figures from the copies in data/, without the import tools.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pages import zolas
from tlsperf.contract.metrics import Unit
from tlsperf.contract.text import value_text
from tlsperf.publish.page_check import HIDDEN, TYPED
from tlsperf.site import run

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "data" / "runs"
PERF = ROOT / "content" / "perf"
REPORTS = sorted(
    path.parent.name for path in PERF.glob("20*/index.md") if path.parent.name < "2026-04"
)


class Page(HTMLParser):
    """Figures (exact and shown) in <data> elements, cells of all tables, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.figures: set[tuple[float, str]] = set()
        self.cells: set[str] = set()
        self.text = ""
        self._exact: float | None = None
        self._cell: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "data":
            self._exact = float(dict(attrs)["value"] or "")
        elif tag == "td":
            self._cell = ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "data":
            self._exact = None
        elif tag == "td" and self._cell is not None:
            self.cells.add(self._cell.strip())
            self._cell = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell is not None:
            self._cell += data
        if self._exact is not None:
            self.figures.add((self._exact, data))


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The committed site of this repository, built once."""
    folder = tmp_path_factory.mktemp("history") / "public"
    run(zolas.current(), ROOT, "build", "https://example.org", folder)
    return folder


def lines(path: str) -> Iterator[dict[str, str]]:
    with (RUNS / path).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def published() -> Iterator[tuple[str, str, float, Unit]]:
    """Each published figure: report, place, value and unit."""
    for day, name in (
        ("2024-10-18-x86-64", "2024-10-18-report"),
        ("2024-10-31-arm64", "2024-10-31-arm64"),
        ("2025-07-31-x86-64", "2025-07-31-report"),
        ("2026-03-07-x86-64", "2026-03-07-report"),
    ):
        for row in lines(f"{day}/raw/{name}.csv"):
            unit: Unit = "MiB/s" if row["unit"] == "MB/s" else "handshakes/s"
            yield day, str(row), float(row["value"]), unit
    for day, columns in (
        ("2018-01-07-bulk", ("openssl_d201dbc", "rustls_128fb80")),
        ("2019-07-02-resumption", ("openssl_fdbb3a86", "rustls_6a47cd5c")),
    ):
        for row in lines(f"{day}/raw/{day}.csv"):
            for column in columns:
                yield day, str(row), float(row[column]), "MiB/s"
    day = "2024-11-28-threads-latency"
    for row in lines(f"{day}/raw/2024-11-28-threads.csv"):
        value = float(row["handshakes_per_second_per_thread"])
        yield day, str(row), value, "handshakes/s/thread"
    for row in lines(f"{day}/raw/2024-11-28-latency-percentiles.csv"):
        yield day, str(row), round(float(row["latency_ms"]) * 1000, 6), "µs"
    day = "2024-12-17-post-quantum"
    for row in lines(f"{day}/raw/2024-12-17-pq-handshakes.csv"):
        yield day, str(row), float(row["value"]), "handshakes/s"
    for row in lines(f"{day}/raw/2024-12-17-clienthello.csv"):
        yield day, str(row), float(row["median_microseconds"]), "µs"


def test_there_are_nine_reports() -> None:
    assert len(REPORTS) == 9


@pytest.mark.zola
def test_every_published_figure_is_on_its_page_exactly_and_as_shown(
    public: Path,
) -> None:
    pages = {
        report: Page((public / "perf" / report / "index.html").read_text(encoding="utf-8"))
        for report in REPORTS
    }
    figures = list(published())
    missing = [
        f"{report}: {where}: {value}"
        for report, where, value, unit in figures
        if (value, value_text(value, unit)) not in pages[report].figures
    ]
    assert not missing, missing[:5]
    assert len(figures) == 4 * 48 + 2 * 12 + 476 + 64 + 21 + 6


@pytest.mark.zola
def test_the_tables_of_december_2023_are_on_their_page_to_the_last_digit(public: Path) -> None:
    text = (public / "perf" / "2023-12-13-configurations" / "index.html").read_text()
    page = Page(text)
    folder = ROOT / "data" / "comparisons"
    with (folder / "2023-12-13-published-tables.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 75
    for row in rows:
        line = "".join(f"<td>{row[c]}</td>" for c in ("left_median", "right_median", "factor"))
        assert f'<th scope="row">{row["scenario"]}</th>{line}' in text, row
    with (folder / "2023-12-13-published-memory.csv").open(newline="") as file:
        memory = list(csv.DictReader(file))
    assert len(memory) == 8
    for row in memory:
        *_, openssl, rustls, change = row.values()
        assert {openssl, rustls} <= page.cells, row
        # One cell of the source is wrong: it has -0.26 instead of -26%.
        assert f"<td>{rustls}</td><td>{'-26%' if change == '-0.26' else change}</td>" in text, row


def test_thread_points_and_histogram_bins_are_in_csv_files_beside_the_page() -> None:
    report = "2024-11-28-threads-latency"
    with (PERF / report / "results.csv").open(newline="", encoding="utf-8") as file:
        found = {(row["threads"], row["value"]) for row in csv.DictReader(file)}
    for row in lines(f"{report}/raw/2024-11-28-threads.csv"):
        value = float(row["handshakes_per_second_per_thread"])
        assert (row["threads"], str(value)) in found, row
    with (PERF / report / "latency-histogram.csv").open(newline="", encoding="utf-8") as file:
        bins = [
            (float(r["low_us"]), float(r["high_us"]), int(r["count"])) for r in csv.DictReader(file)
        ]
    given = [
        (float(r["bin_low_ms"]) * 1000, float(r["bin_high_ms"]) * 1000, int(r["count"]))
        for r in lines(f"{report}/raw/2024-11-28-latency-histogram.csv")
    ]
    assert len(given) == 836
    rounded = [(float(f"{low:.6g}"), float(f"{high:.6g}"), count) for low, high, count in given]
    assert sorted(bins) == sorted(rounded)


FRONT_MATTER = re.compile(r"^\+\+\+$.*?^\+\+\+$", re.DOTALL | re.MULTILINE)


def typed_numbers(text: str) -> list[str]:
    """Numbers with a unit or factor that a person typed into a page's Markdown."""
    return TYPED.findall(HIDDEN.sub("", FRONT_MATTER.sub("", text)))


@pytest.mark.parametrize("path", sorted(PERF.glob("*/index.md")), ids=lambda p: p.parent.name)
def test_no_number_with_a_unit_or_a_factor_is_typed_into_a_report(path: Path) -> None:
    found = typed_numbers(path.read_text(encoding="utf-8"))
    assert not found, f"{path}: {found}: use figure(), ratio() or factor()"


@pytest.mark.parametrize(
    "text",
    ["1.70x faster", "8,292 MiB/s", "4.3% more", "80 threads", "12 times", "5 ms", "3×"],
)
def test_a_typed_number_is_found(text: str) -> None:
    assert typed_numbers(f"+++\ntitle = '9 ms'\n+++\nIt is {text}, as said.")


@pytest.mark.parametrize(
    "text",
    ["TLS1.3 and AES-128-GCM", "rustls 0.23.31", "`make -j12 x`", '{{ ratio(row="a-5-ms") }}'],
)
def test_versions_names_and_shortcodes_are_not_typed_numbers(text: str) -> None:
    assert not typed_numbers(text)


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_has_every_part_and_links_the_original(report: str) -> None:
    text = (PERF / report / "index.md").read_text(encoding="utf-8")
    front = tomllib.loads(text.split("+++")[1])
    for part in ("headline", "notes", "host", "versions", "commands", "raw"):
        assert f"{{{{ {part}() }}}}" in text, part
    for heading in ("Observations", "Changes since the last comparable report"):
        assert f"\n## {heading}\n" in text, heading
    source = tomllib.loads((RUNS / front["extra"]["report"]["runs"][0] / "run.toml").read_text())
    assert source["source"]["url"] in text
    results = (PERF / report / "results.json").read_text(encoding="utf-8")
    for chart in re.findall(r'"anchor": "(chart-[^"]+)"', results):
        if chart != "chart-primitives":
            assert f'chart(id="{chart}")' in text, f"{chart} is drawn but not shown"
