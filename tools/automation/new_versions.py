"""Names newer releases of the measured libraries: `python3 tools/automation/new_versions.py`.

Prints the issue that proposes a bench run of them, as Markdown with its title in the first line;
nothing if nothing is new. The registry is asked by cargo, which resolves requirements of a
scratch package; `*` is never a pre-release. Nothing but the standard library and cargo.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
LIBRARIES: Final = {"rustls": "rustls", "openssl-src": "OpenSSL", "boring-sys": "BoringSSL"}
"""The packages that bring the libraries, and the libraries' names."""


@dataclass(frozen=True)
class Release:
    """A package with the version that is pinned and the newest one that there is."""

    package: str
    pinned: str
    newest: str

    @property
    def name(self) -> str:
        """The library with its new version as its own project counts: OpenSSL 3.6.3."""
        version = self.newest.partition("+")[2] or self.newest
        package = f" (boring-sys {version})" if self.package == "boring-sys" else f" {version}"
        return LIBRARIES[self.package] + package

    @property
    def compatible(self) -> bool:
        """Whether Cargo's caret rule lets the new version stand in for the pinned one."""
        return _caret(self.pinned) == _caret(self.newest)


def _caret(version: str) -> tuple[int, ...]:
    """The numbers up to the first that is not zero: what a compatible version must share."""
    numbers = [int(number) for number in version.partition("+")[0].split(".")]
    first = next((n for n, number in enumerate(numbers) if number), len(numbers) - 1)
    return tuple(numbers[: first + 1])


def pinned_versions(lock: str) -> dict[str, str]:
    """The libraries' versions in the text of a Cargo.lock; KeyError names one that is missing."""
    versions = {p["name"]: p["version"] for p in tomllib.loads(lock)["package"]}
    return {package: versions[package] for package in LIBRARIES}


def newest_versions(requirements: Mapping[str, str]) -> dict[str, str]:
    """The newest release of each package that fits its requirement, as cargo finds it."""
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
        return pinned_versions((manifest.parent / "Cargo.lock").read_text())


def compare(pinned: Mapping[str, str], newest: Mapping[str, str]) -> list[Release]:
    """The packages whose newest version is not the pinned one."""
    return [
        Release(package, version, newest[package])
        for package, version in pinned.items()
        if newest[package] != version
    ]


def proposal(releases: list[Release]) -> str:
    """The issue, title first; empty without releases."""
    if not releases:
        return ""
    lines = [
        f"# New releases: {', '.join(release.name for release in releases)}",
        "",
        "| package | pinned in bench/Cargo.lock | newest |",
        "|---|---|---|",
        *(f"| {r.package} | {r.pinned} | {r.newest} |" for r in releases),
        "",
    ]
    ready = [f"{r.package}@{r.newest}" for r in releases if r.compatible]
    if ready:
        lines += [
            "To measure them and get a pull request with the report:",
            "",
            f"    gh workflow run bench.yml -f suite=standard -f versions='{' '.join(ready)}'",
            "",
        ]
    lines += [
        f"{r.name} is not compatible with {r.pinned} by Cargo's rule: it needs a change of "
        "bench/libraries first."
        for r in releases
        if not r.compatible
    ]
    return "\n".join(lines).rstrip() + "\n"


def main() -> int:
    pinned = pinned_versions((ROOT / "bench" / "Cargo.lock").read_text())
    compatible = newest_versions(pinned)
    newest = newest_versions(dict.fromkeys(LIBRARIES, "*"))
    releases = compare(pinned, newest)
    # A library may have a compatible release beside an incompatible newest one.
    releases += [r for r in compare(pinned, compatible) if r not in releases]
    sys.stdout.write(proposal(releases))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
