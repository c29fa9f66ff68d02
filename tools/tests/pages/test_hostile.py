"""An archive whose every text is an attack becomes pages and feeds that contain it only as text."""

from __future__ import annotations

import contextlib
import hashlib
import json
import typing
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from pages import zolas
from pages.conftest import BASE_URL, Browser, serve
from project import ROOT, RUN, empty_site, write_run
from test_archive import archive_of, packed
from tlsperf.contract.run import CheckResult, HostFacts, Run, Source
from tlsperf.load.run import read_run
from tlsperf.publish.build import build
from tlsperf.publish.draft import draft_report
from tlsperf.publish.runs import run_toml
from tlsperf.site import run

pytestmark = [pytest.mark.browser, pytest.mark.zola]

HOST = "hostile-host"
SHORTCODES = "{{ warnings() }}{{ none() }}{% none() %}{% raw %}"
ATTACK = (
    "<script>owned = 1</script>\"><img src=x onerror=owned=1>'><svg onload=owned=1>"
    + SHORTCODES
    + "<meta http-equiv=refresh content='0;url=https://evil.example/'>"
    "[x](javascript:owned=1)<iframe src=javascript:owned=1></iframe>&lt;script&gt;"
    "\n+++\n\n<script>owned = 1</script>\n\n# x\n\n```\n]]>--></style><!-- more -->`"
)
LINK = "https://example.org/?a=(b)&url=javascript:owned=1;//[x]"
SCRIPT = "compare/compare.js"


def attacked(model: BaseModel, keep: tuple[str, ...] = ()) -> Any:
    """The model with an attack in every text that its fields allow, and in those of its parts."""
    changes: dict[str, Any] = {}
    hints = typing.get_type_hints(type(model), include_extras=True)
    for name in type(model).model_fields.keys() - {*keep}:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            changes[name] = attacked(value)
            continue
        if isinstance(value, list) and value and isinstance(value[0], BaseModel):
            changes[name] = [attacked(part) for part in value]
            continue
        for attack in (ATTACK, [ATTACK, ATTACK], {ATTACK: ATTACK}):
            with contextlib.suppress(ValidationError):
                changes[name] = TypeAdapter(hints[name]).validate_python(attack)
                break
    return model.model_copy(update=changes)


def hostile_run(folder: Path, suite: Path) -> Run:
    """The example's run, as a stranger might pack it."""
    made = read_run(folder)
    host = HostFacts(id=HOST, cpu="", architecture="", url=LINK)
    assert made.suite
    made = made.model_copy(
        update={
            "host_id": HOST,
            "host": host,
            "source": Source(title="", url=LINK),
            "checks": [CheckResult(check="load", status="pass", found="")],
            "tool": made.tool.model_copy(update={"url": LINK}),
            "suite": made.suite.model_copy(
                update={"sha256": hashlib.sha256(suite.read_bytes()).hexdigest()}
            ),
        }
    )
    files = made.files
    changed: Run = attacked(made, keep=("files",))
    raw = folder / files[0].path
    lines = [json.loads(line) for line in raw.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line |= {key: ATTACK for key in ("note", "reason") if key in line}
        line |= {"reasons": [ATTACK]} if "reasons" in line else {}
    data = "".join(json.dumps(line) + "\n" for line in lines).encode()
    raw.write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    file = files[0].model_copy(update={"sha256": digest, "bytes": len(data)})
    return changed.model_copy(update={"files": [file]})


@pytest.fixture(scope="module")
def hostile_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of a site whose one report is drafted from the hostile archive."""
    site = empty_site(tmp_path_factory.mktemp("hostile") / "site")
    suite = site / "bench" / "suites" / "standard.toml"
    suite.parent.mkdir(parents=True)
    suite.write_text('name = "standard"\n', encoding="utf-8")
    scratch = tmp_path_factory.mktemp("stranger")
    folder = write_run(scratch)
    hostile = hostile_run(folder, suite)
    (folder / "run.toml").write_text(run_toml(hostile), encoding="utf-8")
    (site / "data" / "notes.toml").write_bytes((ROOT / "data" / "notes.toml").read_bytes())
    draft_report(site, archive_of(scratch, packed(folder)), suite)
    build(site)
    return site


@pytest.fixture(scope="module")
def hostile_public(hostile_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    public = tmp_path_factory.mktemp("hostile-public") / "public"
    run(zolas.current(), hostile_site, "build", BASE_URL, public)
    return public


class Elements(HTMLParser):
    """What is dangerous among the elements of a page, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.dangers: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        is_ours = tag == "script" and values.get("src", "").split("?")[0].endswith(SCRIPT)
        if tag in ("script", "iframe", "object", "embed", "style", "base") and not is_ours:
            self.dangers.append(tag)
        if values.get("http-equiv", "Content-Security-Policy") != "Content-Security-Policy":
            self.dangers.append(f"meta {values}")
        for name, value in values.items():
            scheme = value.strip().lower().partition(":")[0]
            if name.startswith("on") or name == "srcdoc":
                self.dangers.append(f"{tag} {name}")
            if name in ("href", "src", "action", "data") and scheme in ("javascript", "data"):
                self.dangers.append(f"{tag} {name}={value}")
        if tag == "img" and values.get("src") == "x":
            self.dangers.append("img")

    def handle_data(self, data: str) -> None:
        self.text += data


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_no_page_has_an_element_of_the_archive(hostile_public: Path) -> None:
    pages = {path: Elements(path.read_text("utf-8")) for path in hostile_public.rglob("*.html")}
    assert len(pages) > 10
    assert {str(path): page.dangers for path, page in pages.items() if page.dangers} == {}
    # The attack is there, as text: its shortcodes were not executed, its entities not decoded.
    report = one_line(pages[hostile_public / "perf" / RUN / "index.html"].text)
    assert report.count(one_line(ATTACK)) > 20
    listed = one_line(pages[hostile_public / "perf" / "index.html"].text)
    assert one_line(ATTACK)[:150] in listed


def contents(public: Path) -> Iterator[str]:
    """The HTML of every entry of every feed."""
    for path in public.rglob("rss.xml"):
        for item in ET.parse(path).getroot().iter("item"):
            yield from (e.text or "" for e in item if e.tag.endswith(("encoded", "description")))
    for path in public.rglob("atom.xml"):
        for element in ET.parse(path).getroot().iter("{http://www.w3.org/2005/Atom}content"):
            yield element.text or ""
    for path in public.rglob("feed.json"):
        for item in json.loads(path.read_text(encoding="utf-8"))["items"]:
            yield item["content_html"]


def test_no_feed_has_an_element_of_the_archive(hostile_public: Path) -> None:
    entries = [Elements(content) for content in contents(hostile_public)]
    assert len(entries) >= 2
    assert [danger for entry in entries for danger in entry.dangers] == []
    assert all(one_line(ATTACK)[:150] in one_line(entry.text) for entry in entries)


def test_no_drawing_has_an_element_of_the_archive(hostile_public: Path) -> None:
    drawings = [*hostile_public.glob("perf/*/*.svg"), *hostile_public.glob("versions/*/*.svg")]
    assert drawings
    for path in drawings:
        for element in ET.parse(path).getroot().iter():
            name = element.tag.rpartition("}")[2]
            assert name in {"svg", "title", "desc", "g", "path", "rect", "text", "line", "circle"}
            assert not [key for key in element.attrib if key.startswith("on") or "href" in key]


def test_published_files_have_types_that_a_browser_does_not_run(hostile_public: Path) -> None:
    files = [path for path in (hostile_public / "data").rglob("*") if path.is_file()]
    suffixes = {path.suffix for path in files if path.name != "index.html"}
    assert suffixes == {".json", ".jsonl", ".csv", ".toml", ".gz"}
    pages = [path for path in files if path.name == "index.html"]
    assert pages == [hostile_public / "data" / "index.html"]


def test_nothing_of_the_archive_runs_in_chromium(
    hostile_public: Path, browser: Browser, tmp_path: Path
) -> None:
    paths = sorted(hostile_public.rglob("*.html"))
    pages = [str(path.relative_to(hostile_public)) for path in paths]
    served = serve(hostile_public, tmp_path)
    base = next(served)
    for seen in browser.ask("look", base=base, pages=pages, views=[(1280, "light")]):
        # A script, a handler or a frame that the policy stops would be a message.
        assert seen["messages"] == [], seen["page"]
        assert seen["owned"] is None, seen["page"]
        assert seen["address"] == base + seen["page"]
        assert [url for url in seen["requests"] if not url.startswith(base)] == []
    assert next(served, None) is None
