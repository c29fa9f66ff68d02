"""The example site, built once by current Zola and once by 0.17, and what looks at it."""

from __future__ import annotations

import functools
import threading
import time
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pages import zolas
from pages.fixture import ROOT, make_site
from tlsperf.site import run

BASE_URL = "https://owner.github.io/tlsperf"
"""Where the built site would live: below a path, where a link from the root would break."""

PATH = "tlsperf"


def replaced() -> dict[str, str]:
    """The report that replaces each replaced one, by the front matter of the committed pages."""
    found: dict[str, str] = {}
    for page in sorted((ROOT / "content" / "perf").glob("*/index.md")):
        head = tomllib.loads(page.read_text("utf-8").split("+++")[1])
        found |= dict.fromkeys(head["extra"]["report"].get("replaces", []), page.parent.name)
    return found


@dataclass(frozen=True)
class Built:
    """A site as Zola wrote it."""

    public: Path
    base_url: str

    def pages(self) -> list[str]:
        """The path of every HTML page but Zola's redirects, relative to the site's root."""
        return sorted(
            str(path.relative_to(self.public))
            for path in self.public.rglob("*.html")
            if "<title>Redirect</title>" not in path.read_text(encoding="utf-8")
        )

    def text(self, path: str) -> str:
        return (self.public / path).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def example_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source of the example site."""
    return make_site(tmp_path_factory.mktemp("example"))


@pytest.fixture(scope="session")
def current_build(example_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The example site by current Zola."""
    public = tmp_path_factory.mktemp("current") / "public"
    run(zolas.current(), example_site, "build", BASE_URL, public)
    return Built(public, BASE_URL)


@pytest.fixture(scope="session")
def old_build(example_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The example site by Zola 0.17."""
    public = tmp_path_factory.mktemp("old") / "public"
    run(zolas.old(), example_site, "build", BASE_URL, public)
    return Built(public, BASE_URL)


@pytest.fixture(scope="session", params=["current", "old"])
def build(request: pytest.FixtureRequest) -> Built:
    """The example site by either Zola."""
    built: Built = request.getfixturevalue(f"{request.param}_build")
    return built


@pytest.fixture(scope="session")
def committed_build(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The site as it is committed, by current Zola."""
    public = tmp_path_factory.mktemp("committed") / "public"
    run(zolas.current(), ROOT, "build", BASE_URL, public)
    return Built(public, BASE_URL)


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


PIECE = 400
"""Bytes that a slow server sends of a page at once."""


class _Slow(_Quiet):
    """Sends HTML in pieces, so slowly that a browser paints what it has between them."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        if not self.path.partition("?")[0].endswith((".html", "/")):
            super().copyfile(source, outputfile)
            return
        while piece := source.read(PIECE):
            outputfile.write(piece)
            outputfile.flush()
            time.sleep(0.02)


def serve(
    source: Path, root: Path, server_of: type[SimpleHTTPRequestHandler] = _Quiet
) -> Iterator[str]:
    """Builds a site below a path of a server of this host, and yields its address."""
    handler = functools.partial(server_of, directory=str(root))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    base = f"http://127.0.0.1:{server.server_port}/{PATH}/"
    run(zolas.current(), source, "build", base, root / PATH)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield base
    server.shutdown()


@pytest.fixture(scope="session")
def served(example_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the example site."""
    yield from serve(example_site, tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def committed_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the committed site."""
    yield from serve(ROOT, tmp_path_factory.mktemp("committed-served"))


@pytest.fixture(scope="session")
def slowly_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the committed site, whose pages arrive in pieces."""
    yield from serve(ROOT, tmp_path_factory.mktemp("slowly-served"), _Slow)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-pictures", action="store_true", help="write the kept pictures of pages anew"
    )
