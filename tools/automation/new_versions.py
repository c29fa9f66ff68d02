"""Lists newer releases of the measured libraries: `python3 tools/automation/new_versions.py`.

It prints an issue that proposes a bench run of them, as Markdown with the title in the first line,
or nothing if nothing is new. cargo queries the registry: it resolves the requirements of a scratch
package. `*` never resolves to a pre-release. It uses only the standard library and cargo.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
BENCH: Final = ROOT / "bench"


def watched(folder: Path) -> dict[str, dict[str, Any]]:
    """The content of each library.toml, by the package whose releases are those of the library."""
    texts = [path.read_text(encoding="utf-8") for path in folder.glob("*/library.toml")]
    libraries = sorted(map(tomllib.loads, texts), key=lambda library: library["order"])
    return {
        library["releases"]["package"]: library for library in libraries if "releases" in library
    }


LIBRARIES: Final = watched(BENCH / "libraries")


@dataclass(frozen=True)
class Release:
    """A package with its pinned version and its newest version."""

    package: str
    pinned: str
    newest: str

    @property
    def name(self) -> str:
        """The library with its new version in its own numbering: OpenSSL 3.6.3."""
        library = LIBRARIES[self.package]
        if library["releases"].get("own_numbers"):
            return f"{library['name']} ({self.package} {self.newest})"
        return f"{library['name']} {self.newest.partition('+')[2] or self.newest}"

    @property
    def shared(self) -> bool:
        """Whether it is pinned in the workspace that bench.yml measures."""
        return bool(LIBRARIES[self.package]["workspace"] == "shared")

    @property
    def compatible(self) -> bool:
        """Whether Cargo's caret rule accepts the new version for the pinned one."""
        return _caret(self.pinned) == _caret(self.newest)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.partition("+")[0].split("."))


def _caret(version: str) -> tuple[int, ...]:
    """The numbers up to the first that is not zero, which compatible versions share."""
    numbers = _numbers(version)
    first = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
    return numbers[: first + 1]


def locked_versions(lock: str, packages: Iterable[str]) -> dict[str, str]:
    """The packages' versions in the text of a Cargo.lock. Raises KeyError for a missing package.

    If a package has several versions, it is the highest: the others are indirect dependencies.
    """
    versions: dict[str, str] = {}
    for entry in tomllib.loads(lock)["package"]:
        if entry["name"] in packages:
            known = versions.get(entry["name"], entry["version"])
            versions[entry["name"]] = max(known, entry["version"], key=_numbers)
    return {package: versions[package] for package in packages}


def pinned_versions() -> dict[str, str]:
    """The version of each watched package that its library's workspace pins.

    Exits with a message if a lock file lacks a package.
    """
    versions: dict[str, str] = {}
    for package, library in LIBRARIES.items():
        own = BENCH / "libraries" / library["id"]
        lock = (own if library["workspace"] == "own" else BENCH) / "Cargo.lock"
        try:
            versions |= locked_versions(lock.read_text(encoding="utf-8"), [package])
        except KeyError:
            raise SystemExit(
                f"{lock.relative_to(ROOT)}: found no package {package}, expected the one that "
                f"[releases] names in bench/libraries/{library['id']}/library.toml"
            ) from None
    return versions


def newest_versions(requirements: Mapping[str, str]) -> dict[str, str]:
    """The newest release of each package that fits its requirement, according to cargo."""
    with tempfile.TemporaryDirectory() as folder:
        dependencies = "".join(f'{name} = "{wanted}"\n' for name, wanted in requirements.items())
        manifest = Path(folder) / "Cargo.toml"
        manifest.write_text(
            '[package]\nname = "newest"\nversion = "0.0.0"\nedition = "2021"\n'
            f'[lib]\npath = "lib.rs"\n[dependencies]\n{dependencies}'
        )
        (manifest.parent / "lib.rs").touch()
        command = ["cargo", "generate-lockfile", "--quiet", "--manifest-path", str(manifest)]
        subprocess.run(command, check=True)
        return locked_versions((manifest.parent / "Cargo.lock").read_text(), requirements)


def compare(pinned: Mapping[str, str], newest: Mapping[str, str]) -> list[Release]:
    """The packages whose newest version differs from the pinned one."""
    return [
        Release(package, version, newest[package])
        for package, version in pinned.items()
        if newest[package] != version
    ]


def proposal(releases: list[Release]) -> str:
    """The text of the issue, title first; empty without releases."""
    if not releases:
        return ""
    lines = [
        f"# New releases: {', '.join(release.name for release in releases)}",
        "",
        "| package | pinned | newest |",
        "|---|---|---|",
        *(f"| {r.package} | {r.pinned} | {r.newest} |" for r in releases),
        "",
    ]
    ready = [f"{r.package}@{r.newest}" for r in releases if r.compatible and r.shared]
    if ready:
        lines += [
            "To measure them and get a pull request with the report:",
            "",
            f"    gh workflow run bench.yml -f suite=standard -f versions='{' '.join(ready)}'",
            "",
        ]
    lines += [
        f"{r.name}: `cargo update` in bench/libraries/{LIBRARIES[r.package]['id']}."
        for r in releases
        if r.compatible and not r.shared
    ]
    lines += [
        f"{r.name} is not compatible with {r.pinned} by Cargo's rule: it needs a change of "
        "bench/libraries first."
        for r in releases
        if not r.compatible
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    pinned = pinned_versions()
    compatible = newest_versions(pinned)
    newest = newest_versions(dict.fromkeys(LIBRARIES, "*"))
    releases = compare(pinned, newest)
    # A library may have a compatible release as well as an incompatible newest one.
    releases += [r for r in compare(pinned, compatible) if r not in releases]
    sys.stdout.write(proposal(releases))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
