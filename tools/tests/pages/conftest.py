"""The site of the made-up project, built once, and the one browser that looks at it.

With `--committed`, tests of any site look at the committed one.
"""

from __future__ import annotations

import functools
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pages import zolas
from project import PROJECT_SOURCES, ROOT, kept, make_site
from tlsperf.site import run

PATH = "tlsperf"
BASE_URL = f"https://owner.github.io/{PATH}"
"""Where the built site would live: below a path, where a link from the root would break."""

SITE_SOURCES = (
    *PROJECT_SOURCES,
    *(ROOT / name for name in ("templates", "static", "package-lock.json")),
    *sorted((ROOT / "content").glob("*.md")),
    *sorted((ROOT / "content").glob("*/_index.md")),
    *(ROOT / "data" / name for name in ("biases.toml", "library-pages.toml")),
)


@dataclass(frozen=True)
class Built:
    """A site as Zola wrote it."""

    public: Path
    base_url: str = BASE_URL

    @functools.cached_property
    def _pages(self) -> dict[str, str]:
        texts = {
            str(path.relative_to(self.public)): path.read_text(encoding="utf-8")
            for path in sorted(self.public.rglob("*.html"))
        }
        return {p: text for p, text in texts.items() if "<title>Redirect</title>" not in text}

    def pages(self) -> list[str]:
        """The path of every HTML page but Zola's redirects, relative to the site's root."""
        return list(self._pages)

    def text(self, path: str) -> str:
        return self._pages.get(path) or (self.public / path).read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def site_source(project: Path) -> Path:
    """The source of the made-up site. It must not be changed: use `broken`."""
    return kept("site", SITE_SOURCES, lambda folder: make_site(folder, project))


@pytest.fixture
def broken(site_source: Path, tmp_path: Path) -> Path:
    """A copy of the made-up site for a test to break."""
    return Path(shutil.copytree(site_source, tmp_path / "site", symlinks=True))


@pytest.fixture(scope="session")
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The made-up site by current Zola, or the committed one."""
    if request.config.getoption("--committed"):
        public = tmp_path_factory.mktemp("committed") / "public"
        run(zolas.current(), ROOT, "build", BASE_URL, public)
        return Built(public)
    source: Path = request.getfixturevalue("site_source")

    def build(folder: Path) -> None:
        run(zolas.current(), source, "build", BASE_URL, folder / "public")

    return Built(kept("public", SITE_SOURCES, build) / "public")


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


FIRST = 4096
"""Bytes that arrive together before the pieces: the first packets of a page."""

PIECE = 400
"""Bytes that a slow server sends of a page at once."""


class _Slow(_Quiet):
    """Sends HTML in pieces, so slowly that a browser paints what it has between them."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        if not self.path.partition("?")[0].endswith((".html", "/")):
            super().copyfile(source, outputfile)
            return
        outputfile.write(source.read(FIRST))
        while piece := source.read(PIECE):
            outputfile.write(piece)
            outputfile.flush()
            time.sleep(0.02)


def serve(
    public: Path, scratch: Path, server_of: type[SimpleHTTPRequestHandler] = _Quiet
) -> Iterator[str]:
    """Serves a built site below a path of a server of this host, and yields its address."""
    (scratch / PATH).symlink_to(public)
    handler = functools.partial(server_of, directory=str(scratch))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/{PATH}/"
    server.shutdown()


@pytest.fixture(scope="session")
def served(site: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site."""
    yield from serve(site.public, tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="session")
def slowly_served(site: Built, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the site, whose pages arrive in pieces."""
    yield from serve(site.public, tmp_path_factory.mktemp("slowly-served"), _Slow)


class BrowserError(Exception):
    """The browser is missing, with how to install it, or could not answer."""


def _chromium() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    raise BrowserError("no Chromium: install one, on Debian with `apt-get install chromium`")


class Browser:
    """One Chromium, which answers the requests that browser.mjs describes."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            script = Path(__file__).with_name("browser.mjs")
            self._process = subprocess.Popen(
                ["node", str(script), _chromium()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process

    def ask(self, what: str, **request: Any) -> Any:
        """The answer to a request."""
        process = self._running()
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps({"ask": what, **request}) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise BrowserError("the browser ended; is `make setup` done?")
        answer = json.loads(line)
        if "error" in answer:
            raise BrowserError(answer["error"])
        return answer["answer"]

    def close(self) -> None:
        if self._process is not None and self._process.stdin:
            self._process.stdin.close()
            self._process.wait()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The browser of all tests; it starts at the first request."""
    browser = Browser()
    yield browser
    browser.close()
