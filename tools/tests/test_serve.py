"""`make serve`: starts, answers, builds again when a file changes, and stops."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pages.fixture import ROOT, make_site

pytestmark = pytest.mark.zola

PATIENCE = 120
"""Seconds that a busy machine may take for a small site."""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    return make_site(tmp_path / "site")


@pytest.fixture
def served(site: Path) -> Iterator[str]:
    """The address of a site that `tlsperf.site serve` serves, ended afterwards as by Ctrl+C."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (site / "node_modules").symlink_to(ROOT / "node_modules")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "src")}
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
            os.killpg(process.pid, signal.SIGINT)  # what a terminal does
            process.wait(PATIENCE)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{port}/")


def until(holds: Callable[[str], bool], address: str, log: Path) -> str:
    """The page at an address, as soon as it holds."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with urllib.request.urlopen(address) as answer:
                page: str = answer.read().decode("utf-8")
            if holds(page):
                return page
        except OSError:
            pass
        time.sleep(0.2)
    raise AssertionError(f"{address}: not in {PATIENCE} s\n{log.read_text()}")


def test_a_served_site_follows_its_files_and_has_no_policy(site: Path, served: str) -> None:
    log = site / "serve.log"
    page = until(lambda page: "How to cite" not in page and "<main" in page, served, log)
    assert "Content-Security-Policy" not in page  # it would refuse the script that reloads
    assert "livereload" in page
    post = site / "content" / "blog" / "2026-10-01-clock.md"
    post.write_text(post.read_text("utf-8").replace("A post, as", "Now changed, as"), "utf-8")
    until(lambda page: "Now changed, as an example." in page, f"{served}blog/", log)
