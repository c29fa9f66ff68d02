"""`tlsperf export rustls-website`: a page that the site of rustls can use unchanged.

The front matter is compared with the one that rustls.dev published for the same figures. Zola 0.19,
which builds that site, builds one here whose templates read the same keys (docs/export.md).
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from pages import zolas
from tlsperf.contract.errors import UserError
from tlsperf.publish.exchange import FORMS
from tlsperf.publish.exchange.publication import read_publication
from tlsperf.publish.exchange.rustls_website import on_white

ROOT = Path(__file__).parents[2]
PUBLISHED = "2026-03-07-x86-64"
"""A report with figures that rustls.dev published."""
STANDARD = "2026-11-21-standard-vm"
LIBRARIES = ("rustls", "openssl", "boringssl")
SVG = "{http://www.w3.org/2000/svg}"

_RATES = {
    "type": "object",
    "properties": {library: {"type": "number", "exclusiveMinimum": 0} for library in LIBRARIES},
    "required": list(LIBRARIES),
    "additionalProperties": False,
}


def _table(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


FRONT_MATTER_SCHEMA = _table(
    title={"type": "string", "pattern": "^Benchmarking rustls .* vs OpenSSL .* vs BoringSSL "},
    date={},
    taxonomies=_table(tags={"const": ["performance"]}),
    extra=_table(
        headlines={"type": "boolean"},
        version=_table(**{library: {"type": "string"} for library in LIBRARIES}),
        transfer=_table(recv=_RATES, send=_RATES),
        handshake=_table(full=_RATES, resume=_RATES),
    ),
)
"""The keys that the templates of rustls.dev read, after its reports of 2024 to 2026."""


def files(report: str) -> dict[str, str]:
    return dict(FORMS["rustls-website"].files(read_publication(ROOT, report)))


def front_matter(text: str) -> dict[str, Any]:
    return tomllib.loads(text.split("+++\n")[1])


def page_of(made: dict[str, str]) -> str:
    return next(text for name, text in made.items() if name.endswith(".md"))


@pytest.mark.parametrize("report", [PUBLISHED, STANDARD])
def test_the_front_matter_is_what_the_templates_read(report: str) -> None:
    found = front_matter(page_of(files(report)))
    jsonschema.Draft202012Validator(FRONT_MATTER_SCHEMA).validate(found)
    assert f"{found['date']}" == report[:10]


def rates(*values: float) -> dict[str, float]:
    return dict(zip(LIBRARIES, values, strict=True))


def test_the_dials_are_those_that_rustls_published() -> None:
    extra = front_matter(page_of(files(PUBLISHED)))["extra"]
    assert extra["headlines"] is True
    assert extra["version"]["boringssl"] == "BoringSSL 30cd935"
    assert extra["transfer"]["recv"] == rates(7332.91, 6237.52, 6217.68)
    assert extra["transfer"]["send"] == rates(7421.02, 5844.35, 7564.71)
    assert extra["handshake"]["full"] == rates(2357.36, 1712.64, 1302.03)
    assert extra["handshake"]["resume"] == rates(7249.08, 3780, 5687.32)


def test_a_virtual_machine_gives_no_headlines() -> None:
    extra = front_matter(page_of(files(STANDARD)))["extra"]
    assert extra["headlines"] is False


def test_the_prose_has_the_order_of_the_reports_there() -> None:
    headings = re.findall(r"^#+ .*", page_of(files(PUBLISHED)), re.M)
    assert headings == [
        "### System configuration",
        "### Versions",
        "#### BoringSSL",
        "#### OpenSSL",
        "#### Rustls",
        "### Measurements",
        "## Results",
    ]


def test_every_figure_of_the_tables_is_on_the_page_with_its_interval() -> None:
    publication = read_publication(ROOT, STANDARD)
    text = page_of(files(STANDARD))
    shown = [figure for figure in publication.figures if figure.row.metric == "rate"]
    assert len(shown) == 48
    for figure in shown:
        line = next(x for x in text.splitlines() if x.startswith(f"| {figure.row.name} |"))
        assert f" {figure.cell.text} ({figure.cell.interval}) " in line


def test_the_pictures_need_nothing_from_the_page_and_are_on_white() -> None:
    made = files(STANDARD)
    pictures = {name: text for name, text in made.items() if name.endswith(".svg")}
    assert list(pictures) == [
        f"static/2026-11-21-{kind}.svg"
        for kind in ("transfer", "full-handshake", "resumed-handshake")
    ]
    for name, text in pictures.items():
        root = ElementTree.fromstring(text)
        left, top, width, height = root.attrib["viewBox"].split()
        painted = [child for child in root if child.tag not in (f"{SVG}title", f"{SVG}desc")]
        ground = painted[0].attrib
        assert painted[0].tag == f"{SVG}rect"
        assert (ground["x"], ground["y"], ground["fill"]) == (left, top, "#ffffff")
        assert (ground["width"], ground["height"]) == ("100%", "100%")
        assert (root.attrib["width"], root.attrib["height"]) == (width, height)
        assert not {f"{SVG}style", f"{SVG}script", f"{SVG}image"} & {e.tag for e in root.iter()}
        assert "href" not in text
        assert f"](/{name.removeprefix('static/')})" in page_of(made)


def test_a_chart_without_its_size_is_a_fault_of_ours() -> None:
    with pytest.raises(AssertionError):
        on_white("<svg></svg>")


CONFIG = """\
base_url = "https://rustls.example/"
generate_feeds = true
feed_filenames = ["atom.xml", "rss.xml"]
taxonomies = [{ name = "tags", render = false }]
[markdown]
highlight_code = true
[slugify]
paths_keep_dates = true
"""
SECTION = """\
{% for page in section.pages %}{% if page.extra.headlines %}
{% set dials = [page.extra.handshake.full, page.extra.handshake.resume,
  page.extra.transfer.send, page.extra.transfer.recv] %}
{% for dial in dials %}
<p>{{ dial.rustls | round }} {{ [dial.rustls, dial.openssl, dial.boringssl] | sort | last }}
{{ (dial.rustls / dial.openssl) | round(method="ceil", precision=2) }}
{{ (dial.rustls / dial.boringssl) | round(method="ceil", precision=2) }}</p>
{% endfor %}{% endif %}
<a href="{{ page.permalink | safe }}">{{ page.title }}</a> ({{ page.date }})
{% for tag in page.taxonomies["tags"] %}<i>{{ tag }}</i>{% endfor %}
{% endfor %}
"""
PAGE = "<h1>{{ page.title }}</h1>{{ page.content | safe }}"


def test_zola_builds_the_page_in_a_site_with_the_same_keys(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    section = '+++\nsort_by = "date"\ntemplate = "section.html"\npage_template = "page.html"\n+++\n'
    templates = {"index.html": "", "section.html": SECTION, "page.html": PAGE}
    made = files(PUBLISHED) | files(STANDARD) | {"content/perf/_index.md": section}
    for name, text in (made | {f"templates/{n}": t for n, t in templates.items()}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [*zolas.between().command, "--root", str(tmp_path), "build"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = (tmp_path / "public" / "perf" / "index.html").read_text()
    dials = [" ".join(dial.split()) for dial in re.findall(r"<p>(.*?)</p>", listed, re.S)]
    assert dials == [
        "2357 2357.36 1.38 1.82",
        "7249 7249.08 1.92 1.28",
        "7421 7564.71 1.27 0.99",
        "7333 7332.91 1.18 1.18",
    ]
    assert listed.count("<i>performance</i>") == 2
    page = (tmp_path / "public" / "perf" / "2026-03-07-report" / "index.html").read_text()
    assert page.count("<table>") == 3
    pictures = re.findall(r'<img src="/([^"]+)"', page)
    assert len(pictures) == 3
    assert all((tmp_path / "public" / name).is_file() for name in pictures)


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("2026-11-21-history-vm", "has 6 implementations of rustls: expected one each"),
        ("2018-01-07-bulk", "has 0 implementations of BoringSSL: expected one each"),
        (
            "2026-11-22-layout-vm",
            "has no single figure of rustls 0.23.46 (aws-lc-rs) in TLS 1.3 transfer",
        ),
    ],
)
def test_a_report_that_the_dials_cannot_show_is_rejected(report: str, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        files(report)


def test_a_report_without_the_tables_or_of_two_hosts_is_rejected() -> None:
    publication = read_publication(ROOT, STANDARD)
    results = publication.results
    without = results.model_copy(update={"tables": results.tables[:1]})
    with pytest.raises(UserError, match="has no table full-handshakes and resumed-handshakes"):
        FORMS["rustls-website"].files(replace(publication, results=without))
    hosts = results.model_copy(update={"hosts": results.hosts * 2})
    with pytest.raises(UserError, match="has 2 hosts: expected one"):
        FORMS["rustls-website"].files(replace(publication, results=hosts))


def test_commands_and_flags_that_look_like_shortcodes_are_only_text() -> None:
    publication = read_publication(ROOT, PUBLISHED)
    results = publication.results
    tool = results.runs[0].tool.model_copy(update={"commands": ["make {{ evil() }}", "a `b`"]})
    runs = [results.runs[0].model_copy(update={"tool": tool})]
    shown = [i.model_copy(update={"flags": "{{ evil() }}"}) for i in results.implementations]
    changed = results.model_copy(update={"runs": runs, "implementations": shown})
    text = page_of(dict(FORMS["rustls-website"].files(replace(publication, results=changed))))
    assert "{{" not in text
    assert "`b`" not in text.replace("\\`", "")
