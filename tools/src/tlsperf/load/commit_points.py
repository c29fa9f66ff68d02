"""The file of github-action-benchmark (src/write.ts): points of commits, by entry.

window.BENCHMARK_DATA = {"repoUrl": …, "entries": {ENTRY: [{"commit": {"id": …}, "date": …,
  "tool": "googlecpp", "benches": [{"name": …, "value": …, "unit": …, "extra": …}]}]}}
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pydantic import Field

from tlsperf.contract.errors import FormatError
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.run import Implementation
from tlsperf.load.json_text import Content, line_of, read_json
from tlsperf.load.rows import decode
from tlsperf.load.spellings import hyphened

_START: Final = re.compile(r"\s*(?:window\.BENCHMARK_DATA\s*=\s*)?(?=\{)")
_KEYS: Final = re.compile(_START.pattern + r'\{\s*"(?:entries|lastUpdate|repoUrl)"\s*:')


class Bench(Content):
    """A figure."""

    name: str
    value: float
    unit: str
    extra: str = ""
    """Lines of what else is known of it, such as `threads: 1`."""


class _Commit(Content):
    id: str = Field(pattern="^[0-9a-f]{7,64}$")


class Point(Content):
    """The figures of a commit."""

    commit: _Commit
    date: int
    tool: str
    benches: list[dict[str, object]]


class _File(Content):
    repoUrl: str  # noqa: N815, their name
    entries: dict[str, list[Point]]


def is_commit_points(text: str) -> bool:
    """Whether a file that starts so is one of points, with or without the start of a script."""
    return _KEYS.match(text) is not None


@lru_cache(maxsize=2)
def read_points(data: bytes, name: str) -> tuple[str, list[tuple[Implementation, Point]]]:
    """The JSON text of a file, and its points with what they measured: the library that the repository
    is named after, at a commit, in a build that the entry names.

    Raises FormatError.
    """
    text = _START.sub("", decode(data, name), count=1).rstrip().removesuffix(";")
    file = read_json(text, name, _File)
    library = file.repoUrl.rstrip("/").removesuffix(".git").rpartition("/")[2].lower()
    if library not in NAMES:
        expected = "a repository with the name of a library, such as boringssl"
        raise FormatError(name, line_of(text, file.repoUrl), f"repoUrl {file.repoUrl!r}", expected)
    entries: dict[str | None, str] = {}
    points = []
    for entry, of_entry in file.entries.items():
        build = hyphened(re.sub(r"\b(?:benchmarks?|on)\b", " ", entry.lower()))[:60] or None
        if entries.setdefault(build, entry) != entry:
            expected = f"a name that differs from {entries[build]!r} in letters or digits"
            raise FormatError(name, line_of(text, entry), repr(entry), expected)
        for point in of_entry:
            commit = point.commit.id
            id = "-".join(filter(None, (library, commit[:7], build)))
            of = Implementation(
                id=id, library=library, version=commit[:7], commit=commit, build=build
            )
            points.append((of, point))
    return text, points
