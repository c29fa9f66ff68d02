"""`make serve`: starts, answers, builds again when a file changes, and stops."""

from __future__ import annotations

import contextlib
import os
import re
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
from project import ROOT, make_site
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
    session: int
    """Of its processes."""

    @property
    def log(self) -> Path:
        return self.site / "serve.log"


@pytest.fixture(scope="module", params=["current", "old"])
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
            yield Served(site, f"http://127.0.0.1:{port}/", process.pid)
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
    about = served.site / "content" / "about.md"
    address = f"{served.address}about/"
    until(lambda page: "<main" in page, address, served.log)
    before = about.read_text("utf-8")
    about.write_text(f"{before}\nA line more.\n", "utf-8")
    until(lambda page: "A line more." in page, address, served.log)
    about.write_text(before, "utf-8")
    until(lambda page: "<main" in page and "A line more." not in page, address, served.log)
    assert served.address.encode() in fetch(f"{served.address}rss.xml")[1]
    assert fetch(f"{served.address}nowhere/")[0] == 404


def asked(served: Served, request: str) -> bytes:
    """What is answered to the lines of a request, until the server ends the connection."""
    port = int(served.address.rstrip("/").rpartition(":")[2])
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
        connection.sendall(request.replace("PORT", str(port)).encode())
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ("GET / HTTP/1.1\r\nHost: localhost:PORT", 200),
        ("HEAD / HTTP/1.1\r\nHost: LocalHost:PORT", 200),
        (
            "GET /data/reports.json HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\nOrigin: http://evil.example",
            200,
        ),
        ("GET / HTTP/1.1\r\nHost: evil.example:PORT", 421),
        ("GET / HTTP/1.1\r\nHost: evil.example", 421),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1:1", 421),
        ("GET / HTTP/1.1\r\nHost: localhost:PORT\r\nHost: evil.example", 421),
        ("GET / HTTP/1.0", 421),
        ("POST / HTTP/1.1\r\nHost: localhost:PORT", 501),
        ("OPTIONS / HTTP/1.1\r\nHost: localhost:PORT", 501),
        ("GET http://evil.example/ HTTP/1.1\r\nHost: localhost:PORT", 400),
        ("GET /../config.toml HTTP/1.1\r\nHost: localhost:PORT", 404),
        ("GET /%2e%2e/%2e%2e/config.toml HTTP/1.1\r\nHost: localhost:PORT", 404),
        ("GET //etc/passwd HTTP/1.1\r\nHost: localhost:PORT", 404),
    ],
)
def test_a_page_of_another_site_reads_nothing(served: Served, request_: str, status: int) -> None:
    until(lambda page: "<main" in page, served.address, served.log)
    # A body is not taken for the next request.
    inner = "GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n"
    answer = asked(served, f"{request_}\r\nConnection: keep-alive\r\n\r\n{inner}")
    assert answer.startswith(b"HTTP/1.0 %d " % status)
    assert answer.count(b"HTTP/1.0") == 1
    assert b"access-control" not in answer.lower()
    assert b"feed_limit" not in answer
    assert status in (200, 404) or b"<main" not in answer


def test_pages_load_themselves_again_from_an_address_that_no_other_page_knows(
    served: Served,
) -> None:
    page = until(lambda page: "livereload" in page, served.address, served.log)
    found = re.search(r"livereload\.js\?host=(127\.[\d.]+)&amp;port=(\d+)", page)
    assert found
    assert found[1] != "127.0.0.1"
    with socket.create_connection((found[1], int(found[2])), timeout=PATIENCE) as connection:
        key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13"
        upgrade = (
            f"Host: {found[1]}:{found[2]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{key}"
        )
        connection.sendall(f"GET /livereload HTTP/1.1\r\n{upgrade}\r\n\r\n".encode())
        assert connection.recv(12) == b"HTTP/1.1 101"


def test_only_this_host_reaches_a_served_site(served: Served) -> None:
    """Of all sockets that its processes listen at."""
    until(lambda page: "<main" in page, served.address, served.log)
    sockets = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if os.getsid(int(process.name)) == served.session:
                sockets |= {str(descriptor.readlink()) for descriptor in (process / "fd").iterdir()}
    bound = []
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text("ascii").splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == "0A" and f"socket:[{rest[5]}]" in sockets:
                bound.append(local.partition(":")[0])
    assert len(bound) >= 2
    assert [address for address in bound if len(address) != 8 or not address.endswith("7F")] == []


def test_a_port_in_use_is_reported(project: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        site = make_site(tmp_path / "site", project)
        with pytest.raises(UserError, match="PORT=N serves at another port"):
            run(zolas.current(), site, "serve", port=port)
