"""Whose figures a file has: those of another library or version than its implementation's do not
count for it.

Such a file is refused, or, if each of its figures has a name that says whose it is, split.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from tlsperf.contract.errors import FormatError
from tlsperf.contract.libraries import NAMES, WORDS
from tlsperf.contract.run import Implementation
from tlsperf.contract.text import counted, listed
from tlsperf.load.rows import Parsed, ParsedRow, RawInput, RefusedError, Remark

_IDS: Final = {word.replace("-", ""): id for word, id in WORDS.items()}
_HUMP: Final = "(?-i:(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]))"
_NAMED: Final = re.compile(
    f"(?:(?<![a-z0-9])|{_HUMP}(?!(?:bo)?ring))("
    + "|".join(re.escape(word).replace(r"\-", "[-_ ]?") for word in sorted(WORDS, reverse=True))
    + rf")(?:(?![a-z0-9])|{_HUMP}(?<!ring))"
    + r"(?:[-_ /]?v?(?!1\.[0-3](?![.0-9]))([0-9]+(?:\.[0-9]+)+[a-z]{0,2})(?![a-z0-9]))?",
    re.IGNORECASE,
)
"""A library's word, also of CamelCase but `ring`, and the version after it; 1.0 to 1.3 are TLS's."""
_VERSION: Final = re.compile(r"[0-9]+(?:\.[0-9]+)+(?:[a-z]{1,2}(?![a-z]))?")
_SAME: Final = ("fips", "freebsd")
"""Suffixes of a version that distributions add to the same release."""


def _named(source: RawInput, text: str) -> dict[str, bool]:
    """The libraries that a text names, by its own words and with the version if it says one, and
    whether the implementation has them.

    Words that are part of a longer word do not count. Versions of providers are not known.
    """
    own = _own(source)
    named = {}
    for found in _NAMED.finditer(text):
        id = _IDS[re.sub("[-_ ]", "", found[1].lower())]
        other = own and id == own.library and not _agrees(own, found[2])
        named[found[0] if other else found[1]] = (
            f"-{id}-" in f"-{source.implementation}-" and not other
        )
    return named


def _own(source: RawInput) -> Implementation | None:
    return {i.id: i for i in source.run.implementations}.get(source.implementation)


def _agrees(own: Implementation, stated: str | None) -> bool:
    """Whether a stated version can be the own: 3.6 has the release 3.6.1. Suffixes that are not of
    distributions (-dev, +quic) must be in the id. What has no number, as a commit, is not compared.
    """
    mine, said = _VERSION.match(own.version), _VERSION.match(stated or "")
    if not mine or not said:
        return True
    suffixes = re.findall("[a-z]+[0-9]*", said.string[said.end() :].lower())
    is_release = re.match(rf"{re.escape(said[0])}(?![0-9])", mine[0]) is not None
    return is_release and all(word in _SAME or f"-{word}" in own.id for word in suffixes)


def check_named(source: RawInput, line: int, text: str) -> None:
    """Raises RefusedError if the text names a library that the implementation's id does not have.

    For the name of a benchmark or a command.
    """
    for name, own in _named(source, text).items():
        if not own:
            expected = f"figures of {source.implementation}; import each library by itself"
            raise RefusedError(source.name, line, f"{name} in {text[:100]!r}", expected)


def own_rows(source: RawInput, rows: Sequence[tuple[str, ParsedRow]]) -> Parsed:
    """The rows of the implementation, each given with the name that its benchmark has in the file.

    Benchmarks that name another library are left out in a remark, and, where any names a library,
    those that name none.
    """
    named = {name: _named(source, name) for name, _ in rows}
    left = {name: of for name, of in named.items() if not of or not all(of.values())}
    if not any(named.values()):
        left = {}
    parsed = Parsed()
    for name, row in rows:
        if name not in left:
            parsed.add_once(row)
    if left:
        whose = dict.fromkeys(word for of in left.values() for word in of if not of[word])
        whose |= {} if all(left.values()) else {"no named library": None}
        first, line = next((name, row.line) for name, row in rows if name in left)
        what = f"{counted(len(left), 'benchmark')} of {listed(tuple(whose))} left out"
        message = f"{what}, the first: {first[:100]!r}"
        parsed.remarks.append(Remark(source.name, line, message, "left-out"))
    return parsed


def check_stated(source: RawInput, line: int, library: str, version: str | None = None) -> None:
    """Raises RefusedError if the tool states another library, or another version, than the
    implementation has.
    """
    own = _own(source)
    if own and (own.library != library or not _agrees(own, version)):
        stated = f"{NAMES.get(library, library)} {version or ''}".rstrip()
        expected = f"{NAMES[own.library]} {own.version}, which is {source.implementation}"
        raise RefusedError(source.name, line, f"output of {stated}", expected)


def check_build(source: RawInput, name: str) -> None:
    """Raises FormatError if a build by its name in files of openssl/perftools is of another library
    or version: openssl-3.6, openssl-master, OpenSSL_1_1_1-stable, libressl-4.2.1, aws-lc.
    """
    library = next((id for id in NAMES if name.lower().startswith(id)), None)
    if library is None:
        raise FormatError(source.name, None, f"{name!r} in its name", "a library and its version")
    version = name[len(library) + 1 :].removesuffix("-stable").replace("_", ".")
    check_stated(source, 1, library, version)
    own = _own(source)
    if version == "master" and own and _VERSION.fullmatch(own.version):
        raise FormatError(source.name, 1, f"output of {name}", f"that of {source.implementation}")
