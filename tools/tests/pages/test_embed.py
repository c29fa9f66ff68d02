"""A report inside another Zola site, as docs/embed.md describes it, under a hostile style sheet."""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pages import zolas
from pages.conftest import Browser
from project import NEW, PUBLISHED, ROOT
from tlsperf.publish.style import embedded
from tlsperf.site import Zola

pytestmark = [pytest.mark.browser, pytest.mark.zola]

REPORTS = (PUBLISHED, NEW)
BASE = """\
<html><head><title>{{ page.title | default(value="Other") }}</title>
<link rel="stylesheet" href="/hostile.css"></head>
<body><header><h1>Another site</h1></header>
<div class="box"><div class="content">{% block content %}{% endblock content %}</div></div>
</body></html>
"""
SECTION = '{% extends "base.html" %}{% block content %}{{ section.title }}{% endblock content %}'
HOSTILE = """\
body { background: #2f4858; font-family: fantasy; }
* { color: white; letter-spacing: 0.3em; }
table { padding: 0.5em; background: rgba(0, 0, 0, 0.1); }
td { background: rgba(255, 255, 255, 0.1); font-size: 40px; }
th { background: rgba(255, 255, 255, 0.2); padding: 1em; }
div.content img { object-fit: contain; max-width: 10%; background: black; }
div.content a { color: yellow; }
svg { width: 3px; }
"""


def blocks(language: str) -> list[str]:
    """The blocks of docs/embed.md in a language."""
    text = (ROOT / "docs" / "embed.md").read_text()
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def copy(source: Path, path: str, site: Path) -> None:
    target = site / path
    target.parent.mkdir(parents=True, exist_ok=True)
    if (source / path).is_dir():
        shutil.copytree(source / path, target)
    else:
        shutil.copy(source / path, target)


def foreign_site(site: Path, source: Path) -> Path:
    """A minimal site with a theme of its own, and what docs/embed.md says to copy."""
    (listed,) = blocks("text")
    for line in listed.splitlines():
        path = line.split()[0]
        if "<report>" in path:
            for name in REPORTS:
                copy(source, path.replace("<report>", name).rstrip("/"), site)
        else:
            copy(source, path.rstrip("/"), site)
    # They link to pages that stay where they are.
    for page in (site / "content" / "perf").glob("*/index.md"):
        text = re.sub(
            r"\(@/([^)#]*?)(/_?index)?\.md", r"(https://tlsperf.example/\1/", page.read_text()
        )
        page.write_text(text)
    section, config = blocks("toml")
    files = {
        "content/perf/_index.md": section,
        "config.toml": f'base_url = "http://127.0.0.1"\n{config}',
        "templates/base.html": BASE,
        "templates/index.html": BASE,
        "templates/section.html": SECTION,
        "templates/page.html": SECTION.replace("section.title", "page.content | safe"),
        "templates/taxonomy_list.html": BASE,
        "templates/taxonomy_single.html": BASE,
        "static/hostile.css": HOSTILE,
    }
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    return site


@pytest.fixture(scope="module")
def foreign(site_source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return foreign_site(tmp_path_factory.mktemp("foreign"), site_source)


def build(zola: Zola, site: Path, public: Path) -> None:
    command = [*zola.command, "--root", str(site), "build", "--base-url", "/"]
    done = subprocess.run(
        [*command, "--output-dir", str(public)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def foreign_served(foreign: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    public = tmp_path_factory.mktemp("built") / "public"
    build(zolas.current(), foreign, public)
    handler = partial(_Quiet, directory=str(public))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def test_every_text_of_a_report_can_be_read_under_a_hostile_style_sheet(
    foreign_served: str, browser: Browser
) -> None:
    pages = [f"perf/{name}/" for name in REPORTS]
    seen = browser.ask("embed", base=foreign_served, pages=pages, schemes=["light", "dark"])
    assert [view["low"] for view in seen] == [[]] * 4
    assert min(view["texts"] for view in seen) > 30
    # The site keeps its own look, and the report keeps that of its own style sheet.
    assert {view["own"] for view in seen} == {"rgb(255, 255, 255)"}
    assert all(float(view["size"].removesuffix("px")) < 20 for view in seen)
    assert {view["spacing"] for view in seen} == {"normal"}
    assert all(view["picture"] > 100 for view in seen)
    assert not any(view["wide"] for view in seen)


def test_zola_0_19_builds_the_foreign_site_too(foreign: Path, tmp_path: Path) -> None:
    build(zolas.between(), foreign, tmp_path / "public")
    page = (tmp_path / "public" / "perf" / REPORTS[0] / "index.html").read_text()
    assert '<article class="tls-performance">' in page
    assert '<table class="results' in page


def test_the_embedded_style_sheet_has_no_rule_of_a_whole_page() -> None:
    text = embedded((ROOT / "static" / "style.css").read_text())
    assert not re.search(r"^\s*(?:body|html|:root|@font-face|@page|@media print)\b", text, re.M)
    assert text.count("{") == text.count("}")
