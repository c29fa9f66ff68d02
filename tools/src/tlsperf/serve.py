"""`make serve`: Zola's server, behind a server that shows why the site cannot be built.

After a mistake Zola answers every address with 404, and prints the error only on its terminal. Uses
only the standard library, like `tlsperf.site`.
"""

from __future__ import annotations

import html
import http.client
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

HOST: Final = "127.0.0.1"
SOON: Final = 0.5
"""Seconds within which a build that has started prints its first line."""
LONGEST_BUILD: Final = 20.0
_COLORS: Final = re.compile(r"\x1b\[[0-9;]*m")
_BEGINS: Final = re.compile(r"Change detected|-> .* changed|Building site")
_FAILS: Final = re.compile(r"^\s*(?:\S+\s+)?(?:Error|ERROR)\b|^Failed to ", re.MULTILINE)
_DONE: Final = re.compile(r"^Done in|INFO.*Done in")
_TEXT: Final = ("text/", "application/json", "application/xml", "application/javascript")
_PAGE: Final = """<!doctype html>
<meta charset="utf-8"><meta http-equiv="refresh" content="1"><title>The site cannot be built</title>
<body style="font: 1rem/1.5 system-ui; max-width: 60rem; margin: 3rem auto; padding: 0 1rem">
<h1>The site cannot be built</h1><pre style="white-space: pre-wrap">{}</pre>
<p>This page is gone as soon as the mistake is corrected.</p>
"""


class Build:
    """The output of Zola's last build."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lines: list[str] = []

    def printed(self, line: str) -> None:
        with self._lock:
            if _BEGINS.search(line):
                self._lines.clear()
            self._lines.append(line)

    @property
    def running(self) -> bool:
        """Whether the last build has started and not yet ended."""
        with self._lock:
            begun = any(_BEGINS.search(line) for line in self._lines)
            return begun and not any(_DONE.search(line) for line in self._lines)

    @property
    def error(self) -> str | None:
        """Why the site cannot be built; None if it can."""
        with self._lock:
            for number, line in enumerate(self._lines):
                if _FAILS.search(line):
                    shown = [said for said in self._lines[number:] if not _DONE.search(said)]
                    return "\n".join(shown).strip()
        return None


def serve(command: Sequence[str], port: int) -> int:
    """Serves the site that `command` (Zola, its options and `serve`) builds; returns the exit code.

    Only pages that depend on a changed file are rebuilt. It ends with Ctrl+C or when Zola ends.
    """
    inner = _free_port()
    try:
        server = _server(port, inner, build := Build())
    except OSError as error:
        reason = (error.strerror or "cannot be used").lower()
        print(f"port {port}: {reason}; make serve PORT=N serves at another", file=sys.stderr)
        return 1
    zola = subprocess.Popen(
        [*command, "--fast", "--interface", HOST, "--port", str(inner)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    print(f"The site is at http://{HOST}:{port} as soon as it is built; Ctrl+C stops.", flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        _read(zola.stdout or (), build, lambda text: text.replace(f":{inner}", f":{port}"))
        return zola.wait()
    except KeyboardInterrupt:
        return 0
    finally:
        zola.terminate()
        zola.wait()
        server.server_close()


def _read(lines: Iterable[str], build: Build, shown: Callable[[str], str]) -> None:
    """Prints the output of Zola, and passes it to `build` for the error page."""
    for line in lines:
        print(shown(line), end="", flush=True)
        build.printed(_COLORS.sub("", line).rstrip())


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((HOST, 0))
        found: int = free.getsockname()[1]
        return found


def _server(port: int, inner: int, build: Build) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if error := build.error:
                page = _PAGE.format(html.escape(error))
                self._answer(500, "text/html; charset=utf-8", page.encode())
                return
            try:
                status, kind, body = _fetched(inner, self.path)
            except OSError:
                page = _PAGE.format("Zola has not built the site yet.")
                self._answer(503, "text/html; charset=utf-8", page.encode())
                return
            if status == 404 and (error := error_soon(build)):
                self._answer(500, "text/html; charset=utf-8", _PAGE.format(error).encode())
                return
            if kind.startswith(_TEXT):
                body = body.replace(f"{HOST}:{inner}".encode(), f"{HOST}:{port}".encode())
            self._answer(status, kind, body)

        do_HEAD = do_GET  # noqa: N815 (the name that the server looks for)

        def _answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Prints nothing: Zola prints what matters."""

    return ThreadingHTTPServer((HOST, port), Handler)


def error_soon(build: Build) -> str | None:
    """The error of a build that has removed the pages and has not printed the reason yet."""
    begun = time.monotonic()
    while build.running or time.monotonic() - begun < SOON:
        if error := build.error:
            return html.escape(error)
        if time.monotonic() - begun > LONGEST_BUILD:
            break
        time.sleep(0.05)
    return None


def _fetched(port: int, path: str) -> tuple[int, str, bytes]:
    connection = http.client.HTTPConnection(HOST, port)
    try:
        connection.request("GET", path, headers={"Host": f"{HOST}:{port}"})
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Content-Type", ""), answer.read()
    finally:
        connection.close()
