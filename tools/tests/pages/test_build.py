"""The site builds with both Zolas, shows the figures of results.json, and says what is wrong."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pages import zolas
from pages.conftest import BASE_URL, Built
from pages.fixture import NEWER, OLDER, ROOT, WIDE, example
from tlsperf.site import SiteError, run

pytestmark = pytest.mark.zola

REPORT = f"perf/{NEWER}/index.html"


class _Text(HTMLParser):
    """The text of a page, and of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def text_of(html: str) -> str:
    parser = _Text()
    parser.feed(html)
    return re.sub(r"\s+", " ", " ".join(parser.text))


def shown_texts() -> list[str]:
    """Every text of the example's cells and headlines that a reader must find."""
    results = example()
    cells = [c for t in results["tables"] for row in t["rows"] for c in row["cells"]]
    texts = [c["text"] for c in cells] + [c["ratio"]["text"] for c in cells if "ratio" in c]
    texts += [c["interval"] for c in cells if "interval" in c]
    texts += [c["note"] for c in cells if "note" in c] + [w for c in cells for w in c["warnings"]]
    return texts + [b["text"] for h in results["headlines"] for b in h["bars"]]


def test_a_report_shows_every_figure_of_its_results(build: Built) -> None:
    text = text_of(build.text(REPORT))
    assert [figure for figure in shown_texts() if figure not in text] == []


def test_the_feeds_carry_every_figure(build: Built) -> None:
    feed = text_of(build.text("rss.xml"))
    assert [figure for figure in shown_texts() if figure not in text_of(feed)] == []


def test_reports_of_one_slug_on_two_dates_are_two_pages(build: Built) -> None:
    assert {REPORT, f"perf/{OLDER}/index.html"} <= set(build.pages())


def test_every_row_table_and_chart_has_its_anchor(build: Built) -> None:
    results = example()
    anchors = [t["anchor"] for t in results["tables"]] + [c["anchor"] for c in results["charts"]]
    anchors += [row["anchor"] for t in results["tables"] for row in t["rows"]]
    ids = re.findall(r'\bid="([^"]*)"', build.text(REPORT))
    assert [anchor for anchor in anchors if ids.count(anchor) != 1] == []


def test_charts_are_drawn_in_the_page_and_images_in_the_feed(build: Built) -> None:
    page, feed = build.text(REPORT), build.text("rss.xml")
    assert "<img" not in page
    assert page.count('role="img"') == len(example()["charts"])
    assert f"{BASE_URL}/perf/{NEWER}/transfer.svg" in text_of(feed)
    assert "<svg" not in feed
    assert "&lt;svg" not in feed


def test_more_builds_than_scenarios_stand_below_each_other(build: Built) -> None:
    page = build.text(f"perf/{WIDE}/index.html")
    results = json.loads((build.public / "perf" / WIDE / "results.json").read_text("utf-8"))
    tables = re.findall(r'<table class="results many">.*?</table>', page, re.DOTALL)
    assert len(tables) == len(results["tables"])
    for html, table in zip(tables, results["tables"], strict=True):
        rows, builds = len(table["rows"]), len(table["implementations"])
        assert html.count("<tr") - 1 == max(rows, builds)
        assert html.count('<th scope="col"') - 1 == min(rows, builds)
        shown = re.findall(r'<data value="([^"]*)">', html)
        cells = [[c["value"] for c in row["cells"]] for row in table["rows"]]
        if builds > rows:
            cells = [list(column) for column in zip(*cells, strict=True)]
        assert [float(value) for value in shown] == [value for row in cells for value in row]
        assert [row["anchor"] for row in table["rows"] if f'id="{row["anchor"]}"' not in html] == []


def test_what_must_not_count_says_why(build: Built) -> None:
    cells = [c for t in example()["tables"] for row in t["rows"] for c in row["cells"]]
    invalid = [c for c in cells if not c["valid"]]
    page = build.text(REPORT)
    assert invalid
    assert page.count('class="invalid"') == len(invalid)
    assert page.count("not counted: ") == len(invalid)


def test_a_virtual_machine_is_named_at_the_top(build: Built) -> None:
    assert "Measured in a virtual machine" in build.text(f"perf/{OLDER}/index.html")
    assert "Measured in a virtual machine" not in build.text(REPORT)


def test_both_zolas_make_the_same_pages(current_build: Built, old_build: Built) -> None:
    assert current_build.pages() == old_build.pages()
    for page in current_build.pages():
        # Feeds but RSS and the markup of a code block are all that may differ.
        texts = [
            re.sub(r"[\s,]*\b(Atom|JSON Feed)\b|\s", "", text_of(site.text(page)))
            for site in (current_build, old_build)
        ]
        assert texts[0] == texts[1], page


def test_raw_files_are_published_as_they_lie(build: Built, example_site: Path) -> None:
    for name in ("results.example.json", "record.example.jsonl"):
        published = build.public / "data" / "schema" / name
        assert published.read_bytes() == (example_site / "data" / "schema" / name).read_bytes()
    assert (build.public / "data" / "runs" / OLDER / "run.toml").exists()


def test_the_index_of_all_results_is_published_and_linked(build: Built) -> None:
    page = unescape(build.text("data/index.html"))
    for name in ("index.json", "index.csv", "datapackage.json"):
        assert (build.public / "data" / name).stat().st_size > 1000
        assert f'href="../data/{name}"' in page or f'href="{name}"' in page
    assert f'id="{NEWER}-{NEWER}"' in page
    assert f'data/runs/{OLDER}/run.toml"' in page
    for file in example()["runs"][0]["files"]:
        assert f'/{file["path"]}"' in page


ADDRESSES_ON_RUSTLS_DEV = {
    "2024-10-18-report": "2024-10-18-x86-64",
    "2024-10-31-arm64": "2024-10-31-arm64",
    "2024-11-28-threading": "2024-11-28-threads-latency",
    "2024-12-17-pq-kx": "2024-12-17-post-quantum",
    "2025-07-31-report": "2025-07-31-x86-64",
    "2026-03-07-report": "2026-03-07-x86-64",
}
"""As its feed of March 2026 has them: links survive a move."""


@pytest.mark.parametrize("name", ["current", "old"])
def test_the_committed_site_builds(name: str, tmp_path: Path) -> None:
    run(getattr(zolas, name)(), ROOT, "build", output=tmp_path / "public")
    assert (tmp_path / "public" / "perf" / "index.html").exists()
    for address, report in ADDRESSES_ON_RUSTLS_DEV.items():
        moved = (tmp_path / "public" / "perf" / address / "index.html").read_text()
        assert f"/perf/{report}/" in moved


def test_plain_zola_needs_nothing_else(example_site: Path, tmp_path: Path) -> None:
    command = [*zolas.current().command, "build", "--output-dir", str(tmp_path / "public")]
    subprocess.run(command, cwd=example_site, check=True, capture_output=True)
    assert (tmp_path / "public" / "atom.xml").exists()


@pytest.fixture
def broken(example_site: Path, tmp_path: Path) -> Path:
    """A copy of the example site for a test to break."""
    return Path(shutil.copytree(example_site, tmp_path / "site", symlinks=True))


@pytest.mark.parametrize("name", ["current", "old"])
@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ('table(id="transfer")', 'table(id="no-such")', 'table(id="no-such"): results.json has no'),
        ('id="chart-transfer"', 'id="no-such"', 'chart(id="no-such"): results.json has no'),
        ('figure(row="transfer', 'figure(row="no', "results.json has no such figure"),
        ('description = "', 'subtitle = "', "a report needs a description"),
    ],
)
def test_a_mistake_in_a_report_is_named(
    broken: Path, name: str, was: str, becomes: str, said: str
) -> None:
    page = broken / "content" / "perf" / OLDER / "index.md"
    text = page.read_text(encoding="utf-8")
    assert was in text
    page.write_text(text.replace(was, becomes, 1), encoding="utf-8")
    with pytest.raises(SiteError) as error:
        run(getattr(zolas, name)(), broken, "build")
    assert said in str(error.value)
    assert OLDER in str(error.value)


def test_a_report_without_a_date_is_named(broken: Path) -> None:
    """Zola reads a date from the folder's name too, so this takes both away."""
    folder = broken / "content" / "perf" / OLDER
    undated = Path(shutil.copytree(folder, folder.with_name("undated")))
    text = (undated / "index.md").read_text(encoding="utf-8")
    (undated / "index.md").write_text(text.replace("date = ", "updated = ", 1), encoding="utf-8")
    with pytest.raises(SiteError, match=r"undated/index\.md: needs a date"):
        run(zolas.current(), broken, "build")
