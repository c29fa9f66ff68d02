"""`make serve`: starts, answers, builds again when a file changes, and stops."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pages import zolas
from project import POST, ROOT, make_site
from tlsperf.contract.errors import UserError
from tlsperf.site import run

pytestmark = pytest.mark.zola

PATIENCE = 120
"""Seconds that a busy machine may take for a small site."""


@dataclass(frozen=True)
class Served:
    """A site that `tlsperf.site serve` serves."""

    site: Path
    address: str

    @property
    def log(self) -> Path:
        return self.site / "serve.log"


@pytest.fixture(scope="module", params=["current", pytest.param("old", marks=pytest.mark.nightly)])
def served(
    project: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Served]:
    """A served site, whose files a test must leave as they were; Ctrl+C ends it."""
    site = make_site(tmp_path_factory.mktemp("served") / "site", project)
    zola = site / "bin" / "zola"
    zola.parent.mkdir()
    zola.write_text(f'#!/bin/sh\nexec {shlex.join(getattr(zolas, request.param)().command)} "$@"\n')
    zola.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{zola.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "src"), "PATH": path}
    # Background processes of a shell ignore Ctrl+C.
    command = ["env", "--default-signal=INT", sys.executable]
    command += ["-m", "tlsperf.site", "serve", "--port", str(port)]
    with (site / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=site,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield Served(site, f"http://127.0.0.1:{port}/")
        finally:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            process.wait(PATIENCE)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/")


def fetch(address: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(address) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def until(holds: Callable[[str], bool], address: str, log: Path) -> str:
    """The page at an address, as soon as `holds` is true for it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            found, body = fetch(address)
            page = body.decode("utf-8")
            if found == 200 and holds(page):
                return page
        time.sleep(0.2)
    raise AssertionError(f"{address}: not in {PATIENCE} s\n{log.read_text()}")


def test_a_served_site_follows_its_files_and_has_no_policy(served: Served) -> None:
    page = until(lambda page: "<main" in page, served.address, served.log)
    assert "Content-Security-Policy" not in page  # a policy would block the script that reloads
    assert "livereload" in page
    post = served.site / "content" / "blog" / f"{POST}.md"
    address = f"{served.address}blog/{POST}/"
    until(lambda page: "<main" in page, address, served.log)
    before = post.read_text("utf-8")
    post.write_text(f"{before}\nA line more.\n", "utf-8")
    until(lambda page: "A line more." in page, address, served.log)
    post.write_text(before, "utf-8")
    until(lambda page: "<main" in page and "A line more." not in page, address, served.log)
    assert served.address.encode() in fetch(f"{served.address}rss.xml")[1]
    assert fetch(f"{served.address}nowhere/")[0] == 404


def test_a_port_in_use_is_reported(project: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        site = make_site(tmp_path / "site", project)
        with pytest.raises(UserError, match="PORT=N serves at another port"):
            run(zolas.current(), site, "serve", port=port)
