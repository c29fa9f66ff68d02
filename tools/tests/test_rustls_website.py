"""`tlsperf export --format rustls-website`: a page that the site of rustls can use unchanged.

Zola 0.19, which builds that site, builds one here whose templates read the same keys
(docs/export.md).
"""

from __future__ import annotations

import json
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
from project import NEW, OLD, PUBLISHED
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Results
from tlsperf.publish.exchange import FORMS
from tlsperf.publish.exchange.publication import Publication, read_publication
from tlsperf.publish.exchange.rustls_website import on_white

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


@pytest.fixture(scope="module")
def published(project: Path) -> Publication:
    """A report on one server, with the key exchange of the main series."""
    made = (project / "content" / "perf" / OLD / "results.json").read_bytes()
    text = json.dumps(json.loads(made))
    text = text.replace('"key_exchange": "X25519"', '"key_exchange": "X25519MLKEM768"')
    return Publication(project, Results.model_validate_json(text))


def files(publication: Publication) -> dict[str, str]:
    return dict(FORMS["rustls-website"].files(publication))


def changed(publication: Publication, **fields: Any) -> Publication:
    return replace(publication, results=publication.results.model_copy(update=fields))


def front_matter(text: str) -> dict[str, Any]:
    return tomllib.loads(text.split("+++\n")[1])


def page_of(publication: Publication) -> str:
    return next(text for name, text in files(publication).items() if name.endswith(".md"))


def test_the_front_matter_is_what_the_templates_read(published: Publication) -> None:
    found = front_matter(page_of(published))
    jsonschema.Draft202012Validator(FRONT_MATTER_SCHEMA).validate(found)
    assert f"{found['date']}" == OLD[:10]
    assert found["extra"]["version"]["openssl"] == "OpenSSL 3.5.5"


DIALS = {
    ("transfer", "recv"): "transfer-1-3-aes-256-gcm-64-kib-in-flight-receiving",
    ("transfer", "send"): "transfer-1-3-aes-256-gcm-64-kib-in-flight-sending",
    ("handshake", "full"): "full-handshake-1-3-rsa-2048-x25519-server",
    ("handshake", "resume"): "resumed-handshake-1-3-ticket-x25519-server",
}


def test_the_dials_have_the_figures_of_their_rows(published: Publication) -> None:
    library = {i.id: i.library for i in published.results.implementations}
    rows = {
        row.anchor: {library[cell.implementation]: cell.value for cell in row.cells}
        for table in published.results.tables
        for row in table.rows
    }
    extra = front_matter(page_of(published))["extra"]
    for (section, dial), anchor in DIALS.items():
        assert extra[section][dial] == pytest.approx(rows[anchor], abs=0.006)


def test_a_virtual_machine_gives_no_headlines(published: Publication) -> None:
    [host] = published.results.hosts
    for virtual in (True, False):
        hosts = [host.model_copy(update={"virtual": virtual})]
        extra = front_matter(page_of(changed(published, hosts=hosts)))["extra"]
        assert extra["headlines"] is not virtual


def test_the_prose_has_the_order_of_the_reports_there(published: Publication) -> None:
    headings = re.findall(r"^#+ .*", page_of(published), re.M)
    assert headings == [
        "### System configuration",
        "### Versions",
        "#### BoringSSL",
        "#### OpenSSL",
        "#### Rustls",
        "### Measurements",
        "## Results",
    ]


def test_every_figure_of_the_tables_is_on_the_page_with_its_interval(
    published: Publication,
) -> None:
    lines = page_of(published).splitlines()
    shown = [figure for figure in published.figures if figure.row.metric == "rate"]
    assert shown
    for figure in shown:
        line = next(line for line in lines if line.startswith(f"| {figure.row.name} |"))
        assert f" {figure.cell.text} ({figure.cell.interval}) " in line


def test_the_pictures_need_nothing_from_the_page_and_are_on_white(published: Publication) -> None:
    text_of_page = page_of(published)
    pictures = {name: text for name, text in files(published).items() if name.endswith(".svg")}
    assert len(pictures) == 3
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
        assert f"](/{name.removeprefix('static/')})" in text_of_page


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


@pytest.mark.zola
def test_zola_builds_the_page_in_a_site_with_the_same_keys(
    published: Publication, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text(CONFIG)
    section = '+++\nsort_by = "date"\ntemplate = "section.html"\npage_template = "page.html"\n+++\n'
    templates = {"index.html": "", "section.html": SECTION, "page.html": PAGE}
    made = files(published) | {"content/perf/_index.md": section}
    for name, text in (made | {f"templates/{n}": t for n, t in templates.items()}).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    command = [*zolas.between().command, "--root", str(tmp_path), "build"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = (tmp_path / "public" / "perf" / "index.html").read_text()
    extra = front_matter(page_of(published))["extra"]
    dials = [
        extra[section][dial]
        for section, dial in (
            *(("handshake", "full"), ("handshake", "resume")),
            *(("transfer", "send"), ("transfer", "recv")),
        )
    ]
    shown = [dial.split() for dial in re.findall(r"<p>(.*?)</p>", listed, re.S)]
    assert [[float(number) for number in dial[:2]] for dial in shown] == [
        [round(dial["rustls"]), max(dial.values())] for dial in dials
    ]
    assert "<i>performance</i>" in listed
    page = (tmp_path / "public" / "perf" / f"{OLD[:10]}-report" / "index.html").read_text()
    assert page.count("<table>") == 3
    pictures = re.findall(r'<img src="/([^"]+)"', page)
    assert len(pictures) == 3
    assert all((tmp_path / "public" / name).is_file() for name in pictures)


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("2026-11-07-versions", "has 3 implementations of rustls: expected one each"),
        (PUBLISHED, "has 0 implementations of BoringSSL: expected one each"),
        (NEW, "has no single figure of rustls 0.23.37 (aws-lc-rs) in TLS 1.3 full handshake"),
    ],
)
def test_a_report_that_the_dials_cannot_show_is_rejected(
    report: str, message: str, project: Path
) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        files(read_publication(project, report))


def test_a_report_without_the_tables_or_of_two_hosts_is_rejected(published: Publication) -> None:
    results = published.results
    with pytest.raises(UserError, match="has no table full-handshakes and resumed-handshakes"):
        files(changed(published, tables=results.tables[:1]))
    with pytest.raises(UserError, match="has 2 hosts: expected one"):
        files(changed(published, hosts=results.hosts * 2))


def test_commands_and_flags_that_look_like_shortcodes_are_only_text(
    published: Publication,
) -> None:
    [run] = published.results.runs
    tool = run.tool.model_copy(update={"commands": ["make {{ evil() }}", "a `b`"]})
    shown = [
        i.model_copy(update={"flags": "{{ evil() }}"}) for i in published.results.implementations
    ]
    runs = [run.model_copy(update={"tool": tool})]
    text = page_of(changed(published, runs=runs, implementations=shown))
    assert "{{" not in text
    assert "`b`" not in text.replace("\\`", "")
