"""`make serve`: starts, answers, builds again when a file changes, and stops."""

from __future__ import annotations

import contextlib
import html
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pages import zolas
from pages.fixture import ROOT, make_site
from tlsperf.serve import SOON, Build, error_soon, serve

pytestmark = pytest.mark.zola

PATIENCE = 120
"""Seconds that a busy machine may take for a small site."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path / "site")


@pytest.fixture(params=["current", "old"])
def served(site: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a site that `tlsperf.site serve` serves; Ctrl+C ends it."""
    zola = site / "bin" / "zola"
    zola.parent.mkdir()
    zola.write_text(f'#!/bin/sh\nexec {shlex.join(getattr(zolas, request.param)().command)} "$@"\n')
    zola.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{zola.parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "src"), "PATH": path}
    command = [sys.executable, "-m", "tlsperf.site", "serve", "--port", str(port)]
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
            yield f"http://127.0.0.1:{port}/"
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


def until(holds: Callable[[str], bool], address: str, log: Path, status: int = 200) -> str:
    """The page at an address, as soon as `holds` is true for it."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            found, body = fetch(address)
            page = body.decode("utf-8")
            if found == status and holds(page):
                return page
        time.sleep(0.2)
    raise AssertionError(f"{address}: not in {PATIENCE} s\n{log.read_text()}")


def test_a_served_site_follows_its_files_and_has_no_policy(site: Path, served: str) -> None:
    log = site / "serve.log"
    page = until(lambda page: "How to cite" not in page and "<main" in page, served, log)
    assert "Content-Security-Policy" not in page  # a policy would block the script that reloads
    assert "livereload" in page
    post = site / "content" / "blog" / "2026-10-01-clock.md"
    address = f"{served}blog/{post.stem}/"
    until(lambda page: "<main" in page, address, log)
    post.write_text(f"{post.read_text('utf-8')}\nA line more.\n", "utf-8")
    until(lambda page: "A line more." in page, address, log)
    assert served.encode() in fetch(f"{served}rss.xml")[1]  # not the port of Zola itself
    assert fetch(f"{served}nowhere/")[0] == 404


@pytest.mark.parametrize(
    ("file", "right", "wrong", "says"),
    [
        (
            "content/blog/2026-10-01-clock.md",
            "One read",
            "One {{ nope() }}",
            "shortcode named `nope`",
        ),
        ("templates/page.html", "page.title }}", "page.titel }}", "`page.titel` not found"),
    ],
)
def test_a_mistake_is_shown_until_it_is_corrected(
    site: Path, served: str, file: str, right: str, wrong: str, says: str
) -> None:
    log, path = site / "serve.log", site / file
    address = f"{served}blog/2026-10-01-clock/"
    until(lambda page: "<main" in page, address, log)
    before = path.read_text("utf-8")
    assert right in before
    path.write_text(before.replace(right, wrong, 1), "utf-8")
    until(lambda page: html.unescape(page).count(says) == 1, address, log, status=500)
    assert fetch(served)[0] == 500
    path.write_text(before, "utf-8")
    until(lambda page: "<main" in page, address, log)


def test_the_error_of_a_slow_build_is_awaited() -> None:
    build = Build()
    build.printed("Change detected @ 2026-11-22 15:06:57")
    threading.Timer(2 * SOON, build.printed, ["Error: Failed to render"]).start()
    assert error_soon(build) == "Error: Failed to render"
    build.printed("Change detected @ 2026-11-22 15:06:59")
    build.printed("Done in 37ms.")
    assert error_soon(build) is None


def test_a_port_in_use_is_reported(site: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert serve(["false"], port) == 1
    assert f"port {port}: address already in use; make serve PORT=N" in capfd.readouterr().err
