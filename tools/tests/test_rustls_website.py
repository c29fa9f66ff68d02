"""`tlsperf export rustls-website`: a page that the site of rustls can use unchanged.

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


@pytest.mark.parametrize(
    ("virtual", "architecture", "end"),
    [(False, "aarch64", "BoringSSL on ARM64"), (True, "x86_64", "on x86_64 (virtual machine)")],
)
def test_the_title_names_the_machine(
    virtual: bool, architecture: str, end: str, published: Publication
) -> None:
    of = {"virtual": virtual, "architecture": architecture}
    hosts = [published.results.hosts[0].model_copy(update=of)]
    assert front_matter(page_of(changed(published, hosts=hosts)))["title"].endswith(end)


def test_a_report_from_before_hybrid_groups_has_dials(published: Publication) -> None:
    text = published.results.model_dump_json(by_alias=True, exclude_none=True)
    text = re.sub(r'"key_exchange":"[^"]+",', "", text).replace('"ticket"', '"resumed"')
    older = replace(published, results=Results.model_validate_json(text))
    assert front_matter(page_of(older))["extra"] == front_matter(page_of(published))["extra"]


def test_the_system_is_described_as_people_name_it(published: Publication) -> None:
    host = published.results.hosts[0].model_copy(
        update={
            "url": "https://cpu.test/x",
            "cpu_model": "family 6 (Rocket Lake)",
            "smt": False,
            "turbo": False,
            "governor": "performance",
            "compilers": {"gcc": "GCC 12.2.0", "rustc": "rustc 1.94.0"},
        }
    )
    built = {
        "rustls": {"rust_compiler": "rustc version 1.95.0 (59807616e 2026-04-14)"},
        "openssl": {"c_compiler": "GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"},
        "boringssl": {"c_compiler": "Debian clang version 14.0.6; GCC: (Debian) 12.2.0"},
    }
    none = dict.fromkeys(("rust_compiler", "c_compiler", "allocator"))

    def facts(**fields: dict[str, Any]) -> dict[str, str]:
        shown = [
            i.model_copy(update={**none, **fields.get(i.library, {})})
            for i in published.results.implementations
        ]
        text = page_of(changed(published, hosts=[host], implementations=shown))
        return dict(re.findall(r"^- ([^:]+): (.*)\.$", text.partition("### Versions")[0], re.M))

    assert facts(**built) == {
        "OS": "Debian 12 (Bookworm)",
        "C/C++ toolchains": "GCC 12.2.0 and Clang 14.0.6",
        "Rust toolchain": "1.95.0",
        "CPU": "[Example Xeon E-2386G](https://cpu.test/x), family 6 (Rocket Lake)",
        "Memory": "32 GiB",
        "Extra configuration": "SMT disabled, turbo disabled and CPU scaling governor set to "
        "performance",
    }
    of_host = facts(rustls={"allocator": "jemalloc"}, openssl={"allocator": "system"})
    assert of_host["C/C++ toolchains"] == "GCC 12.2.0"
    assert of_host["Rust toolchain"] == "1.94.0"
    assert of_host["Allocators"] == "system in OpenSSL and jemalloc in rustls"


@pytest.mark.parametrize(
    ("tool", "line"),
    [
        (
            {"name": "openssl-bench, rustls' bench", "commit": "82b86b22" + 32 * "0"},
            "tools were [openssl-bench 82b86b2200](https://tool.test) and rustls' bench.",
        ),
        ({"name": "tlsbench", "version": "0.2.0"}, "tool was [tlsbench 0.2.0](https://tool.test)."),
    ],
)
def test_the_tools_are_linked(tool: dict[str, Any], line: str, published: Publication) -> None:
    [run] = published.results.runs
    none = {"version": None, "commit": None, "url": "https://tool.test"}
    runs = [run.model_copy(update={"tool": run.tool.model_copy(update={**none, **tool})})]
    assert f"\nThe benchmarking {line}\n" in page_of(changed(published, runs=runs))


def hints(publication: Publication, site: Path) -> list[str]:
    return [line for hint in FORMS["rustls-website"].hints for line in hint(publication, site)]


@pytest.mark.parametrize("virtual", [False, True])
def test_the_printed_command_leaves_the_dials_to_the_page(
    virtual: bool, published: Publication, tmp_path: Path
) -> None:
    hosts = [published.results.hosts[0].model_copy(update={"virtual": virtual})]
    publication = changed(published, hosts=hosts)
    for name, text in files(publication).items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    before = "+++\n[extra]\nheadlines = true\n+++\n"
    pages = tmp_path / "content" / "perf"
    (pages / "before.md").write_text(before)
    told = hints(publication, tmp_path)[-1]
    assert ("its host is virtual" in told) is virtual
    subprocess.run(told.partition("website: ")[2], shell=True, cwd=tmp_path, check=True)
    assert "headlines = false\n" in (pages / "before.md").read_text()
    assert front_matter((pages / f"{OLD}.md").read_text())["extra"]["headlines"] is not virtual


def test_a_folder_that_is_no_website_is_named(published: Publication, tmp_path: Path) -> None:
    for name in ("content", "static"):
        (tmp_path / name).mkdir()
    assert "config.toml" not in "".join(hints(published, tmp_path)[1:])
    (tmp_path / "notes").mkdir()
    assert any("found no config.toml" in line for line in hints(published, tmp_path))


CRATES = "https://docs.rs/crate"


@pytest.mark.parametrize(
    ("library", "fields", "links"),
    [
        (
            "rustls",
            {"version": "0.23.46", "source": "cargo package rustls 0.23.46"},
            [
                "https://github.com/rustls/rustls/releases/tag/v%2F0.23.46",
                f"{CRATES}/rustls/0.23.46",
                f"{CRATES}/aws-lc-rs/1.19.0",
                f"{CRATES}/aws-lc-sys/0.37.1",
            ],
        ),
        (
            "openssl",
            {"version": "3.6.3", "source": "cargo package openssl-src 300.6.1+3.6.3"},
            [
                "https://github.com/openssl/openssl/releases/tag/openssl-3.6.3",
                f"{CRATES}/openssl-src/300.6.1+3.6.3",
            ],
        ),
        (
            "openssl",
            {"version": "3.6.1", "source": None},
            ["https://github.com/openssl/openssl/releases/tag/openssl-3.6.1"],
        ),
        (
            "boringssl",
            {"version": "boring-sys 5.4.0, API 44", "source": "cargo package boring-sys 5.4.0"},
            [
                "https://github.com/google/boringssl/tree/0.20261020.0",
                f"{CRATES}/boring-sys/5.4.0",
            ],
        ),
        (
            "boringssl",
            {"version": "boring-sys 99.1.0, API 99", "source": "cargo package boring-sys 99.1.0"},
            [f"{CRATES}/boring-sys/99.1.0"],
        ),
        ("boringssl", {"version": "30cd935", "source": "https://a.test/x"}, ["https://a.test/x"]),
        ("boringssl", {"version": "main", "source": None}, []),
        ("openssl", {"version": "3.0.14", "source": "Debian 3.0.14-1~deb12u2"}, []),
        ("openssl", {"version": "3.7.0-dev", "source": None}, []),
        ("openssl", {"version": "3.6.1", "source": "cargo package somebodys-openssl 3.6.1"}, []),
    ],
)
def test_versions_have_the_links_that_follow_from_what_is_recorded(
    library: str, fields: dict[str, Any], links: list[str], published: Publication
) -> None:
    if library == "rustls":
        fields = fields | {"provider_version": "1.19.0", "note": "aws-lc-sys 0.37.1"}
    shown = [
        i.model_copy(update={"commit": None, **fields}) if i.library == library else i
        for i in published.results.implementations
    ]
    text = page_of(changed(published, implementations=shown))
    heading = {"rustls": "Rustls", "openssl": "OpenSSL", "boringssl": "BoringSSL"}[library]
    part = text.partition(f"#### {heading}\n")[2].partition("\n#")[0]
    assert re.findall(r"\]\(([^)]+)\)", part) == links
    release = [link for link in links if not link.startswith(CRATES)]
    assert ("not recorded" in part or "Source: " in part) is not bool(release)


def at(address: str, published: Publication, root: Path) -> Publication:
    """The report in a project whose site has this address."""
    config = (published.root / "config.toml").read_text()
    changed_to = re.sub("^base_url.*", f'base_url = "{address}"', config, flags=re.M)
    (root / "config.toml").write_text(changed_to)
    return replace(published, root=root)


@pytest.mark.parametrize("address", ["https://tls.test/x/", "https://example.tls.test/x"])
def test_raw_data_and_commands_are_linked_where_the_site_is_public(
    address: str, published: Publication, tmp_path: Path
) -> None:
    public = at(address, published, tmp_path)
    assert not any("base_url" in line for line in hints(public, tmp_path))
    text, [run] = page_of(public), published.results.runs
    address = address.removesuffix("/")
    for path in ("run.toml", *(file.stored or file.path for file in run.files)):
        assert f"]({address}/data/runs/{run.id}/{path})" in text
    assert f"]({address}/perf/{published.results.id}/#reproduce)" in text


@pytest.mark.parametrize(
    "address",
    [
        "https://tlsperf.example",
        "https://www.example.com/x",
        "http://localhost:1111",
        "http://127.0.0.1/",
        "/",
    ],
)
def test_nothing_leads_to_a_site_that_nobody_can_reach(
    address: str, published: Publication, tmp_path: Path
) -> None:
    private = at(address, published, tmp_path)
    assert any("base_url" in line for line in hints(private, tmp_path))
    text = page_of(private)
    assert "run.toml" not in text
    assert "#reproduce" not in text


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
        "### Transfer",
        "### Full handshakes",
        "### Resumed handshakes",
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
        assert (int(left), int(top)) == (-16, -16)
        assert "background:#fff" in root.attrib["style"]
        assert (root.attrib["width"], root.attrib["height"]) == (width, height)
        assert not {f"{SVG}style", f"{SVG}script", f"{SVG}image"} & {e.tag for e in root.iter()}
        assert "href" not in text
        assert f"](/{name.removeprefix('static/')})" in text_of_page


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
    page = (tmp_path / "public" / "perf" / OLD / "index.html").read_text()
    assert page.count("<table>") == 3
    pictures = re.findall(r'<img src="/([^"]+)"', page)
    assert len(pictures) == 3
    assert all((tmp_path / "public" / name).is_file() for name in pictures)


@pytest.mark.parametrize(
    ("report", "message"),
    [
        ("2026-11-07-versions", "has 3 implementations of rustls: expected one each"),
        (PUBLISHED, "has 0 implementations of BoringSSL: expected one each"),
        (NEW, "has no single figure of rustls 0.23.37 (aws-lc-rs) for the dial handshake.full"),
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


@pytest.mark.parametrize("command", ["make {{ evil() }}", "a `b`"])
def test_commands_and_flags_that_look_like_shortcodes_are_only_text(
    command: str, published: Publication
) -> None:
    [run] = published.results.runs
    tool = run.tool.model_copy(update={"commands": [command]})
    shown = [i.model_copy(update={"flags": command}) for i in published.results.implementations]
    runs = [run.model_copy(update={"tool": tool})]
    text = page_of(changed(published, runs=runs, implementations=shown))
    assert "{{" not in text
    assert "`b`" not in text.replace("\\`", "")
