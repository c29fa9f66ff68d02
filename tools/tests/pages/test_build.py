"""The site builds, shows the figures of results.json, and reports what is wrong."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from datetime import date
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pages import zolas
from pages.conftest import BASE_URL, Built
from project import ARM, BORING, BOTH, NEW, ROOT, results_of
from recomputed import cells_of
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Results
from tlsperf.load.page import read_page
from tlsperf.load.shortcodes import shortcodes
from tlsperf.publish.page_json import page_json
from tlsperf.publish.side_by_side import rows_of
from tlsperf.site import run

pytestmark = pytest.mark.zola

REPORT = f"perf/{NEW}/index.html"


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


@pytest.fixture(scope="session")
def results(site_source: Path) -> dict[str, Any]:
    """The results of the newer report."""
    return results_of(site_source, NEW)


@pytest.fixture(scope="session")
def shown(site_source: Path) -> dict[str, Any]:
    """What the page of the newer report shows."""
    path = site_source / "content" / "perf" / NEW / "page.json"
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def shown_cells(page: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell.shown for table in page["tables"].values() for cell in cells_of(table)]


def cells_of_results(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for table in results["tables"] for row in table["rows"] for c in row["cells"]]


def test_a_report_shows_every_figure_and_ratio(site: Built, shown: dict[str, Any]) -> None:
    cells = shown_cells(shown)
    texts = [cell[key] for cell in cells for key in ("figure", "ratio", "note") if key in cell]
    texts += [note for table in shown["tables"].values() for note in table["notes"]]
    assert texts
    text = text_of(site.text(REPORT))
    assert [of for of in texts if of not in text] == []


def test_intervals_are_shown_at_the_pointer(site: Built, shown: dict[str, Any]) -> None:
    expected = [cell["intervals"] for cell in shown_cells(shown) if "intervals" in cell]
    assert expected
    html = site.text(REPORT)
    assert [text for text in expected if f' title="{text}">' not in html] == []


def test_how_figures_were_made_is_folded_and_the_answer_is_not(
    site: Built, shown: dict[str, Any]
) -> None:
    html = site.text(REPORT)
    for heading in ("caveats", "how-it-was-measured", "versions", "hosts", "reproduce"):
        assert re.search(rf'<details class="part[^>]*><summary><h2 id="{heading}">', html), heading
    folded = text_of(html.partition('<h2 id="how-it-was-measured">')[2].partition("</details>")[0])
    for made in shown["made"]:
        assert text_of(made["text"]) in folded
    assert html.index('<table class="results') < html.index("<details")
    assert html.count("<details") == html.count("</details>")


def unescape_slashes(html: str) -> str:
    """Tera writes a slash as an entity."""
    return html.replace("&#x2F;", "/").replace("&#x27;", "'")


def test_each_figure_of_the_prose_is_on_the_page_and_links_to_its_row(
    site: Built, shown: dict[str, Any]
) -> None:
    said = shown["quoted"]
    assert {s["key"].partition("(")[0] for s in said} == {"figure", "ratio"}
    html = unescape_slashes(site.text(REPORT))
    for figure in said:
        link = f'<a class="figure" href="{figure["place"]}">{escape(figure["text"])}</a>'
        assert link in html, figure
    feed = text_of(text_of(site.text("rss.xml")))
    assert [figure["text"] for figure in said if figure["text"] not in feed] == []


def test_every_row_and_table_of_a_page_has_its_anchor(site: Built, shown: dict[str, Any]) -> None:
    anchors = [table["anchor"] for table in shown["tables"].values()]
    anchors += {row["anchor"] for row in rows_of(shown["tables"])}
    ids = re.findall(r'\bid="([^"]*)"', site.text(REPORT))
    assert [anchor for anchor in anchors if ids.count(anchor) != 1] == []


def test_charts_are_drawn_in_the_page_and_no_drawing_is_in_the_feed(
    site: Built, shown: dict[str, Any]
) -> None:
    page, feed = site.text(REPORT), site.text("rss.xml")
    assert "<img" not in page
    assert page.count('role="img"') == len(shown["charts"]) + 2, "the picture has two drawings"
    assert "<svg" not in feed
    assert "&lt;svg" not in feed


@pytest.mark.any_site
def test_a_chart_of_a_report_leads_to_the_table_that_has_its_figures(
    site: Built, root: Path
) -> None:
    charts = 0
    for path in sorted((root / "content" / "perf").glob("*/results.json")):
        page = site.text(f"perf/{path.parent.name}/index.html")
        shown = re.findall(r'<figure class="chart" id="(chart-[^"]*)"', page)
        assert page.count(". The table has the figures.") == len(shown), path
        for chart in json.loads(path.read_text("utf-8"))["charts"]:
            if chart["anchor"] in shown:
                assert f'<h3 id="{chart["table"]}">' in page, chart["anchor"]
        charts += len(shown)
    assert charts


@pytest.mark.any_site
def test_every_host_is_named_with_family_and_model_or_that_they_are_not_recorded(
    site: Built,
) -> None:
    pages = [p for p in site.pages() if re.match(r"(perf|hosts)/[^/]+/index", p)]
    found = [
        (page, processor)
        for page in pages
        for processor in re.findall(r"<dt>Processor</dt><dd>([^<]*)</dd>", site.text(page))
    ]
    assert {page for page, _ in found} == set(pages)
    named = r"(family \d+, model \d+|Neoverse \w+, part 0x[0-9a-f]+|family and model not recorded)"
    known = re.compile(rf"[^,]+, {named}\b.*, \w+")
    assert [of for of in found if not known.fullmatch(of[1])] == []


def test_a_host_has_the_features_that_its_runs_recorded(site: Built) -> None:
    features = "<dt>Processor features</dt><dd>aes, avx2, avx512ifma</dd>"
    assert site.text(REPORT).count(features) == 1
    assert "Processor features" not in site.text(f"perf/{ARM}/index.html")


def test_a_figure_that_does_not_count_states_the_reason(
    site: Built, results: dict[str, Any]
) -> None:
    page = site.text(REPORT)
    cells = cells_of_results(results)
    invalid = [c for c in cells if not c["valid"]]
    assert page.count('class="invalid"') == len(invalid)
    absent = {c["note"] for c in cells if c["implementation"] == BORING and "note" in c}
    assert absent
    assert all(escape(note) in page for note in absent)


def test_caveats_name_a_virtual_machine(site: Built) -> None:
    def caveats(report: str) -> str:
        page = site.text(f"perf/{report}/index.html")
        return page.partition('<h2 id="caveats">')[2].partition("</details>")[0]

    assert "virtual machine" in caveats(ARM)
    assert caveats(NEW)
    assert "virtual machine" not in caveats(NEW)


def test_a_report_on_two_hosts_names_both(site: Built) -> None:
    page = site.text(f"perf/{BOTH}/index.html")
    assert {"Example Xeon E-2386G", "Example Altra"} <= set(
        re.findall(r"Example (?:Xeon E-2386G|Altra)", page)
    )


def test_the_oldest_zola_makes_the_same_pages(
    site: Built, site_source: Path, tmp_path: Path
) -> None:
    run(zolas.old(), site_source, "build", BASE_URL, tmp_path / "public")
    old = Built(tmp_path / "public")
    assert site.pages() == old.pages()
    for page in site.pages():
        # Feeds but RSS and the markup of a code block are all that may differ.
        texts = [
            re.sub(r"[\s,]*\b(Atom|JSON Feed)\b|\s", "", text_of(of.text(page)))
            for of in (site, old)
        ]
        assert texts[0] == texts[1], page


def test_zola_0_19_builds_the_site(site_source: Path, tmp_path: Path) -> None:
    """The line that rustls.dev builds its site with."""
    run(zolas.between(), site_source, "build", output=tmp_path / "public")
    assert (tmp_path / "public" / "perf" / "index.html").exists()


def test_raw_files_are_published_as_they_lie(site: Built, site_source: Path) -> None:
    packed = f"runs/{NEW}/raw/records.jsonl.gz"
    for name in ("schema/results.example.json", f"runs/{ARM}/run.toml", packed):
        published = site.public / "data" / name
        assert published.read_bytes() == (site_source / "data" / name).read_bytes()
    assert f'href="../../data/{packed}"' in unescape_slashes(site.text(REPORT))


def test_the_index_of_all_results_is_published_and_linked(
    site: Built, results: dict[str, Any]
) -> None:
    page = unescape(site.text("data/index.html"))
    for name in ("index.json", "index.csv", "datapackage.json"):
        assert (site.public / "data" / name).stat().st_size > 1000
        assert f'href="../data/{name}"' in page or f'href="{name}"' in page
    assert f'id="{NEW}-{NEW}"' in page
    assert f'data/runs/{ARM}/run.toml"' in page
    for file in results["runs"][0]["files"]:
        assert f'data/runs/{NEW}/{file["stored"]}"' in page


@pytest.mark.any_site
def test_an_address_that_a_page_had_before_leads_to_it(site: Built, root: Path) -> None:
    """Links to the reports of rustls.dev survive a move."""
    for page in sorted((root / "content" / "perf").glob("*/index.md")):
        head = tomllib.loads(page.read_text("utf-8").split("+++")[1])
        for alias in head.get("aliases", []):
            moved = site.text(f"{alias.strip('/')}/index.html")
            assert f"/perf/{page.parent.name}/" in moved, alias


@pytest.mark.any_site
def test_page_json_has_nothing_that_no_template_reads(root: Path) -> None:
    paths = sorted((ROOT / "templates").rglob("*.*"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    files = sorted((root / "content").glob("*/*/page.json"))
    names = {name for path in files for name in json.loads(path.read_text(encoding="utf-8"))}
    assert names
    assert [n for n in names if not any(re.search(rf"\.{n}\b", text) for text in texts)] == []


@pytest.mark.any_site
def test_large_files_of_templates_are_not_published(site: Built) -> None:
    assert list(site.public.rglob("page.json")) == []


def test_plain_zola_needs_nothing_else(site_source: Path, tmp_path: Path) -> None:
    command = [*zolas.current().command, "build", "--output-dir", str(tmp_path / "public")]
    subprocess.run(command, cwd=site_source, check=True, capture_output=True)
    assert (tmp_path / "public" / "atom.xml").exists()


def test_changes_of_a_report_are_on_its_page(broken: Path, tmp_path: Path) -> None:
    page = broken / "content" / "perf" / NEW / "index.md"
    changes = (
        ("2026-12-30", "Measured again: <b>three</b> rounds & more."),
        ("2026-12-05", "A caveat was added, as an example."),
    )
    rows = ", ".join(f'{{ date = {day}, text = "{text}" }}' for day, text in changes)
    text = page.read_text(encoding="utf-8")
    text = text.replace("[extra.report]\n", f"[extra.report]\nhistory = [{rows}]\n", 1)
    page.write_text(text, encoding="utf-8")
    assert [change.text for change in read_page(page).first.history] == [of for _, of in changes]
    run(zolas.current(), broken, "build", BASE_URL, tmp_path / "public")
    site = Built(tmp_path / "public")
    part = site.text(REPORT).partition('<h3 id="history">')[2].partition("</details>")[0]
    shown = re.findall(r"<li>.*?</li>", part, re.DOTALL)
    assert len(shown) == len(changes)
    for (day, of), entry in zip(changes, shown, strict=True):
        assert of in text_of(entry)
        assert f"{date.fromisoformat(day):%d %B %Y}".lstrip("0") in text_of(entry)
    assert 'id="history"' not in site.text(f"perf/{ARM}/index.html")


def test_a_clone_without_builds_has_its_reports_and_names_the_command_for_the_rest(
    site: Built, site_source: Path, tmp_path: Path
) -> None:
    source = Path(shutil.copytree(site_source, tmp_path / "site", symlinks=True))
    shutil.copy(ROOT / ".gitignore", source)
    for command in (["git", "init", "--quiet"], ["git", "clean", "-fdqX"]):
        subprocess.run(command, cwd=source, check=True)
    assert not (source / "content" / "perf" / NEW / "results.json").exists()
    run(zolas.current(), source, "build", BASE_URL, tmp_path / "public")
    clone = Built(tmp_path / "public")
    of_reports = [page for page in site.pages() if page.startswith("perf/2")]
    assert REPORT in of_reports
    for page in of_reports:
        whole = re.sub(r'<a class="elsewhere".*?</a>', "", site.text(page), flags=re.DOTALL)
        html = clone.text(page)
        assert text_of(html) == text_of(whole), page
        for part in ("<table", "<figure", 'role="img"'):
            assert html.count(part) == whole.count(part), page
        for link in re.findall(r'href="((?:\.\./)+[^"#?]*/)["#?]', html):
            assert (clone.public / page).parent.joinpath(link, "index.html").exists(), link
    assert "<code>make site</code>" in clone.text("data/index.html")
    assert "<code>make site</code>" not in site.text("data/index.html")


_IDS = """address anchor baseline better code colour csv date estimator family file format host_id href id
implementation implementations interval_source key library link machine metric path phase
place predecessor primitive primitive_of report row run sha256 source statistic strip suite table
trends unit url verdict"""
IDS = frozenset(_IDS.split())
"""Keys whose texts are ids, addresses or words of the contract, which find one another."""

MARK = "<u>&"


def marked(value: Any, key: str = "") -> Any:
    """A part of results.json with markup in each text of it that is no id."""
    if isinstance(value, dict):
        return {k: v if k == "scenario" else marked(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [marked(part, key) for part in value]
    return f"{MARK}{value}" if isinstance(value, str) and key not in IDS else value


def quoted_row(results: dict[str, Any]) -> dict[str, Any]:
    """A row in which every figure and every ratio is another one."""
    row: dict[str, Any] = results["tables"][0]["rows"][-1]
    return row


@pytest.fixture(scope="module")
def marked_public(site_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site with markup in every text of its results, and every cell of a row quoted."""
    scratch = tmp_path_factory.mktemp("marked")
    site = Path(shutil.copytree(site_source, scratch / "site", symlinks=True))
    page = site / "content" / "perf" / NEW / "index.md"
    row = quoted_row(results_of(site, NEW))
    quotes = [
        f'{{{{ {name}(row="{row["anchor"]}", implementation="{cell["implementation"]}") }}}}'
        for cell in row["cells"]
        for name in (("figure", "ratio") if "ratio" in cell else ("figure",))
    ]
    added = f"\n\nQUOTES {' '.join(quotes)}"
    page.write_text(page.read_text("utf-8") + added, encoding="utf-8")
    made = Results.model_validate_json(page.with_name("results.json").read_text("utf-8"))
    calls = shortcodes(page.read_text("utf-8"), page.name)
    before = json.loads(page.with_name("page.json").read_bytes())
    after = json.loads(page_json([made], calls=calls))
    after |= {key: before[key] for key in ("picture", "charts", "notes")}
    page.with_name("page.json").write_text(json.dumps(after), encoding="utf-8")
    for found in [
        p for pattern in ("content/*/*/*.json", "data/*.json") for p in site.glob(pattern)
    ]:
        text = json.dumps(marked(json.loads(found.read_text("utf-8"))))
        found.write_text(text, encoding="utf-8")
    run(zolas.current(), site, "build", BASE_URL, scratch / "public")
    return scratch / "public"


def test_every_text_of_results_is_escaped(marked_public: Path) -> None:
    pages = list(marked_public.rglob("*.html"))
    assert [page for page in pages if "<u>" in page.read_text("utf-8")] == []
    report = (marked_public / "perf" / NEW / "index.html").read_text("utf-8")
    assert report.count("&lt;u&gt;&amp;") > 100
    for feed in (*marked_public.rglob("rss.xml"), *marked_public.rglob("atom.xml")):
        text = feed.read_text("utf-8")
        assert "&lt;u&gt;" not in text, "escaped once alone, so an element to a feed reader"
    assert "&amp;lt;u&amp;gt;&amp;amp;" in (marked_public / "rss.xml").read_text("utf-8")
    for feed in marked_public.rglob("feed.json"):
        assert "<u>" not in feed.read_text("utf-8")


def test_a_quoted_figure_or_ratio_is_that_of_the_implementation_it_names(
    marked_public: Path, results: dict[str, Any]
) -> None:
    report = (marked_public / "perf" / NEW / "index.html").read_text("utf-8")
    linked = re.findall(r'<a class="figure" href="([^"]*)">(.*?)</a>', report.split("QUOTES")[1])
    row, unit = quoted_row(results), results["tables"][0]["unit"]
    page = marked_public.with_name("site") / "content" / "perf" / NEW / "page.json"
    said = {of["key"]: of["text"] for of in json.loads(page.read_text("utf-8"))["quoted"]}
    expected = []
    for cell in row["cells"]:
        expected.append(f"{MARK}{cell['text']} {unit}")
        if "ratio" in cell:
            sentence = said[f"ratio({row['anchor']}, {cell['implementation']})"]
            assert sentence.startswith(f"{MARK}{cell['ratio']['text'].split(' (')[0]}")
            expected.append(sentence)
    assert len(set(expected)) == len(expected) > len(row["cells"])
    assert [unescape(text) for _, text in linked] == expected
    assert all(unescape(href).endswith(f"#{row['anchor']}") for href, _ in linked)


@pytest.mark.parametrize(
    ("was", "becomes", "said"),
    [
        ('table(id="transfer")', 'table(id="no-such")', 'table(id="no-such"): page.json has no'),
        ('figure(row="transfer', 'figure(row="no', "has no such figure; run `tlsperf render`"),
        ('ratio(row="transfer', 'ratio(row="no', "has no such figure; run `tlsperf render`"),
        ('description = "', '# "', "a report needs a description"),
    ],
)
def test_a_mistake_in_a_report_is_named(broken: Path, was: str, becomes: str, said: str) -> None:
    page = broken / "content" / "perf" / NEW / "index.md"
    text = page.read_text(encoding="utf-8")
    assert was in text
    page.write_text(text.replace(was, becomes, 1), encoding="utf-8")
    with pytest.raises(UserError) as error:
        run(zolas.current(), broken, "build")
    assert said in str(error.value)
    assert NEW in str(error.value)


def test_links_of_a_table_are_whole_in_an_entry(
    broken: Path, tmp_path: Path, results: dict[str, Any]
) -> None:
    page = broken / "content" / "perf" / NEW / "index.md"
    text = page.read_text(encoding="utf-8")
    assert text.index('{{ table(id="transfer") }}') < text.index("## How it was measured")
    run(zolas.current(), broken, "build", BASE_URL, tmp_path / "public")
    feed = unescape((tmp_path / "public" / "rss.xml").read_text(encoding="utf-8"))
    entry = feed.partition(f"/{NEW}/</link>")[2].partition("</item>")[0]
    row = results["tables"][0]["rows"][0]["anchor"]
    assert f'<tr id="{row}"><th scope="row"><a href="{BASE_URL}/perf/{NEW}/#{row}">' in entry
    assert 'href="#' not in entry


def test_a_report_without_a_date_is_named(broken: Path) -> None:
    """Zola reads a date from the folder's name too, so this takes both away."""
    folder = broken / "content" / "perf" / ARM
    undated = Path(shutil.copytree(folder, folder.with_name("undated")))
    text = (undated / "index.md").read_text(encoding="utf-8")
    (undated / "index.md").write_text(text.replace("date = ", "updated = ", 1), encoding="utf-8")
    with pytest.raises(UserError, match=r"undated/index\.md: needs a date"):
        run(zolas.current(), broken, "build")
