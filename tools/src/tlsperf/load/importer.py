"""Imports raw files of other tools into a run. It reads and checks the files; it writes nothing.

Later commands read the figures again from the copies in the run's folder.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from natsort import natsorted
from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, UserError, alternatives, mismatch
from tlsperf.contract.libraries import LIBRARIES, NAMES, PROVIDERS
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import (
    MOST_RAW_BYTES,
    Implementation,
    RawFile,
    Run,
    RunWarning,
    Tool,
)
from tlsperf.load.check_rows import check_rows
from tlsperf.load.formats import FOREIGN, detect
from tlsperf.load.import_rounds import with_rounds
from tlsperf.load.import_warnings import is_about, warnings_of
from tlsperf.load.rows import Format, Parsed, ParsedRow
from tlsperf.load.run import foreign_rows, raw_bytes, read_whole_run

UNKNOWN_HOST: Final = "unknown"
"""The host of files for which no host is given."""

_PACKAGES: Final = [x.releases.package for x in LIBRARIES if x.releases and x.releases.own_numbers]
_VERSION: Final = re.compile(
    rf"(?:({'|'.join(map(re.escape, _PACKAGES))})-)?"
    r"([^-]+(?:-(?:dev|alpha|beta|pre|rc)[.0-9]*)?)(?=-|$)"
)
"""In an id: the package, if the version is not the library's own, and the version number."""


class Import(NamedTuple):
    """A run, and the files that were added to it."""

    run: Run
    files: dict[str, bytes]
    """The bytes of the new files, by their path in the run."""
    rows: list[ParsedRow]
    """The rows of the new files."""
    warnings: list[RunWarning]
    """The warnings about the new files."""


def read_files(
    paths: Sequence[Path],
    implementation: str | None,
    folder: Path,
    format_name: str | None = None,
    host: str = UNKNOWN_HOST,
) -> Import:
    """The run `folder`, whose name begins with its date, with these raw files, new or added to its
    existing files.

    Files of one implementation and format with the same scenarios become its rounds, in the order
    of the numbers in their names. Published tables name their implementations themselves. Raises
    UserError.
    """
    old = read_whole_run(folder) if folder.exists() else None
    contents = [(path, _read(path)) for path in natsorted(paths, key=lambda path: path.name)]
    formats = [_format(path, data, format_name) for path, data in contents]
    implementations = _implementations(contents, formats, implementation)
    files = _raw_files(contents, formats, implementation, old)
    run = _run(folder, files, implementations, host, old)
    new = {file.path: data for file, (_, data) in zip(files, contents, strict=True)}
    # Files of other implementations were checked earlier and do not depend on the new ones.
    beside = [f for f in run.files if f.implementation == implementation and f.path not in new]
    known = {file.path: raw_bytes(folder, file) for file in beside}
    originals = {f"/{f.path}": str(path) for f, (path, _) in zip(files, contents, strict=True)}
    try:
        run = _numbered(run, beside, files, known | new)
        mine = {file.path for file in (*beside, *files)}
        part = run.model_copy(update={"files": [f for f in run.files if f.path in mine]})
        parsed = foreign_rows(part, known | new, "")
        in_files = max((row.round or 0 for row in parsed.rows), default=0)
        run = run.model_copy(update={"rounds": max(run.rounds or 0, in_files) or None})
        check_rows(parsed.rows)
        _check_copies(parsed)
    except FormatError as error:
        place = originals.get(error.file, str(folder) + error.file)
        raise FormatError(place, error.line, error.found, error.expected) from None
    about = warnings_of(part, parsed)
    earlier = [w for w in run.warnings if not is_about(w, beside, implementation)]
    rows = [row for row in parsed.rows if row.file[1:] in new]
    if not rows:
        why = "".join(f"; {remark.message}" for remark in parsed.remarks[:3])
        raise UserError(f"{', '.join(map(str, paths))}: no figure in what was read{why}")
    said = {w.message for w in run.warnings}
    fresh = [w for w in about if w.message not in said]
    return Import(run.model_copy(update={"warnings": [*earlier, *about]}), new, rows, fresh)


def _numbered(
    run: Run, beside: Sequence[RawFile], files: Sequence[RawFile], data: Mapping[str, bytes]
) -> Run:
    """The run with round numbers for an implementation's files, by the scenarios in them."""
    together = run.model_copy(update={"files": [*beside, *files]})
    scenarios: dict[str, set[Scenario]] = {}
    for row in foreign_rows(together, data, "").rows:
        scenarios.setdefault(row.file[1:], set()).add(row.scenario)
    numbered = with_rounds(beside, files, scenarios)
    every = [numbered.get(file.path, file) for file in run.files]
    rounds = max((file.round or 0 for file in every), default=0)
    return run.model_copy(update={"files": every, "rounds": max(rounds, run.rounds or 0) or None})


def implementation_of(identifier: str) -> Implementation:
    """The implementation that an id `<library>-<version>[-<provider>][-<build>]` describes.

    Raises UserError.
    """
    library = next((name for name in NAMES if identifier.startswith(f"{name}-")), None)
    after = _VERSION.match(identifier[len(library or "") + 1 :])
    if library is None or not after or not re.fullmatch(r"[a-z0-9._-]+", identifier):
        raise UserError(
            f"implementation {identifier!r}: expected <library>-<version>[-<provider>][-<build>] "
            f"with one of the libraries {', '.join(NAMES)}, such as openssl-3.6.1 or "
            "rustls-0.23.37-aws-lc-rs"
        )
    version = " ".join(part for part in after.groups() if part)
    rest = identifier[len(library) + 1 + after.end() :].removeprefix("-")
    provider = next((name for name in PROVIDERS if f"{rest}-".startswith(f"{name}-")), None)
    build = rest.removeprefix(provider or "").strip("-") or None
    return Implementation(
        id=identifier, library=library, version=version, provider=provider, build=build
    )


# --- reading of files ---------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    try:
        if path.resolve().parent != path.parent.resolve():
            # The import would publish the target of a link with the other files.
            raise FormatError(str(path), None, "a link out of its folder", "the file itself")
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise FormatError(str(path), None, "a pipe or device", "a file")
        if path.stat().st_size > MOST_RAW_BYTES:
            found, most = f"more than {MOST_RAW_BYTES:,} bytes", f"at most {MOST_RAW_BYTES:,}"
            raise FormatError(str(path), None, found, most)
        return path.read_bytes()
    except (OSError, RuntimeError) as error:  # a link to itself is a RuntimeError before 3.13
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UserError(f"{path}: {reason}") from None


def _format(path: Path, data: bytes, name: str | None) -> Format:
    if name is None:
        return detect(data, path.name, str(path))
    if name not in FOREIGN:
        raise UserError(f"--from {name}: expected {alternatives(name, FOREIGN)}")
    return FOREIGN[name]


def _implementations(
    contents: Sequence[tuple[Path, bytes]], formats: Sequence[Format], given: str | None
) -> list[Implementation]:
    tables = [
        (path, data, format_.implementations)
        for (path, data), format_ in zip(contents, formats, strict=True)
        if format_.implementations is not None
    ]
    if len(tables) < len(contents):
        if given is None:
            raise UserError("--implementation is missing: the files do not say what was measured")
        if tables:
            raise UserError(
                f"{tables[0][0]}: names its implementations itself; import it separately"
            )
        return [implementation_of(given)]
    if given is not None:
        raise UserError(f"--implementation: {tables[0][0]} names its implementations itself")
    named = [i for path, data, named_in in tables for i in named_in(data, str(path))]
    return list({implementation.id: implementation for implementation in named}.values())


def _served(name: str) -> str:
    """The name under which a raw file is kept and published: `h1load.out` is `h1load-out.txt`.

    No other suffix than those of `RawFile` may be served: a browser runs some.
    """
    stem, dot, suffix = name.rpartition(".")
    return f"{stem}-{suffix}.txt" if dot and suffix in _SUFFIXES else name


_SUFFIXES: Final = ("js", "out")
"""Suffixes that tools give to text files and that are not served."""


def _check_copies(parsed: Parsed) -> None:
    """Raises FormatError if all times of a file equal those of another: no two rounds do so."""
    times: dict[str, list[tuple[object, ...]]] = {}
    for row in parsed.rows:
        if row.metric in ("rate", "duration"):
            key = (row.implementation, row.scenario, row.metric, row.statistic, row.value)
            times.setdefault(row.file, []).append(key)
    seen: dict[tuple[object, ...], str] = {}
    for file, figures in times.items():
        earlier = seen.setdefault(tuple(figures), file)
        if earlier != file:
            found = f"each figure of {earlier.removeprefix('/')} again"
            raise FormatError(file, None, found, "a round of its own, not a copy")


def _raw_files(
    contents: Sequence[tuple[Path, bytes]],
    formats: Sequence[Format],
    implementation: str | None,
    old: Run | None,
) -> list[RawFile]:
    """The files as run.toml lists them, without round numbers. Raises UserError for duplicates."""
    taken = {file.path for file in old.files} if old else set()
    known = {_content(file): file.path for file in old.files} if old else {}
    files = []
    for (path, data), format_ in zip(contents, formats, strict=True):
        named = _served(path.name)
        name = "/".join(["raw", *([implementation] if implementation else []), named])
        if name in taken:
            raise UserError(f"{path}: the run already has a file {name}")
        taken.add(name)
        try:
            file = RawFile(
                path=name,
                sha256=hashlib.sha256(data).hexdigest(),
                bytes=len(data),
                format=format_.name,
                implementation=implementation,
            )
        except ValidationError as error:
            raise mismatch(error, str(path)) from None
        if (earlier_file := known.setdefault(_content(file), name)) != name:
            raise FormatError(
                str(path), None, f"the bytes of {earlier_file}", "output of its own, not a copy"
            )
        files.append(file)
    return files


def _content(file: RawFile) -> tuple[str, str | None]:
    """What another file must not have again: its bytes, or what they hold of one implementation."""
    splits = file.format in FOREIGN and FOREIGN[file.format].splits
    return file.sha256, file.implementation if splits else None


def _run(
    folder: Path,
    files: list[RawFile],
    implementations: list[Implementation],
    host: str,
    old: Run | None,
) -> Run:
    tools = list(dict.fromkeys(FOREIGN[file.format].tool for file in files))
    if old:
        ids = {implementation.id for implementation in old.implementations}
        new = [i for i in implementations if i.id not in ids]
        if host not in (UNKNOWN_HOST, old.host_id):
            raise UserError(f"--host {host}: {folder.name} was measured on {old.host_id}")
        names = dict.fromkeys([*old.tool.name.split(", "), *tools])
        return old.model_copy(
            update={
                "implementations": [*old.implementations, *new],
                "files": [*old.files, *files],
                "tool": old.tool.model_copy(update={"name": ", ".join(names)}),
            }
        )
    hosts = folder.parent.parent / "hosts"
    if host != UNKNOWN_HOST and not (hosts / f"{host}.toml").exists():
        known = sorted(path.stem for path in hosts.glob("*.toml"))
        raise UserError(
            f"--host {host}: {hosts / host}.toml does not exist: expected "
            f"{alternatives(host, known)}"
        )
    return Run(
        id=folder.name,
        date=datetime.date.fromisoformat(folder.name[: len("2026-03-07")]),
        host_id=host,
        tool=Tool(name=", ".join(tools)),
        implementations=implementations,
        files=files,
    )
