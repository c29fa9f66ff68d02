"""Raw files of other tools become a run: everything is read and checked, nothing is written.

What they hold is read again from the run's copies whenever it is needed.
"""

from __future__ import annotations

import datetime
import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from natsort import natsorted
from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, UserError, mismatch
from tlsperf.contract.libraries import NAMES, PROVIDERS
from tlsperf.contract.run import Implementation, RawFile, Run, Tool
from tlsperf.load.formats import FOREIGN, detect
from tlsperf.load.import_warnings import is_about, warnings_of
from tlsperf.load.rows import Format, frame_of
from tlsperf.load.run import foreign_rows, raw_bytes, read_run

UNKNOWN_HOST: Final = "unknown"
"""The host of files of which nobody said where they were measured."""

_DATED: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})-[a-z0-9._-]+")


def read_files(
    paths: Sequence[Path],
    implementation: str | None,
    folder: Path,
    format_name: str | None = None,
    host: str = UNKNOWN_HOST,
) -> tuple[Run, dict[str, bytes]]:
    """The run `folder` with these raw files, new or added to those it has; and the bytes of the
    new files by their paths in it.

    Several files of one implementation and format are its rounds, in the order of the numbers in
    their names. Published tables name their implementations themselves.
    """
    old = read_run(folder) if folder.exists() else None
    contents = [(path, _read(path)) for path in natsorted(paths, key=lambda path: path.name)]
    formats = [_format(path, data, format_name) for path, data in contents]
    implementations = _implementations(contents, formats, implementation)
    files = _raw_files(contents, formats, implementation, old)
    run = _run(folder, files, implementations, host, old)
    new = {file.path: data for file, (_, data) in zip(files, contents, strict=True)}
    # What other implementations have cannot contradict the new files, and was checked before.
    beside = [f for f in run.files if f.implementation == implementation and f.path not in new]
    known = {file.path: raw_bytes(folder, file) for file in beside}
    try:
        part = run.model_copy(update={"files": [*beside, *files]})
        parsed = foreign_rows(part, known | new, "")
        frame_of(parsed.rows)
    except FormatError as error:
        originals = {f"/{f.path}": str(path) for f, (path, _) in zip(files, contents, strict=True)}
        place = originals.get(error.file, str(folder) + error.file)
        raise FormatError(place, error.line, error.found, error.expected) from None
    warnings = [w for w in run.warnings if not is_about(w, beside, implementation)]
    run = run.model_copy(update={"warnings": [*warnings, *warnings_of(part, parsed)]})
    return run, new


def implementation_of(identifier: str) -> Implementation:
    """What an id `<library>-<version>[-<provider>][-<build>]` says."""
    library = next((name for name in NAMES if identifier.startswith(f"{name}-")), None)
    version, _, rest = identifier[len(library or "") + 1 :].partition("-")
    if library is None or not version or not re.fullmatch(r"[a-z0-9._-]+", identifier):
        raise UserError(
            f"implementation {identifier!r}: expected <library>-<version>[-<provider>][-<build>] "
            f"with one of the libraries {', '.join(NAMES)}, such as openssl-3.6.1 or "
            "rustls-0.23.37-aws-lc-rs"
        )
    provider = next((name for name in PROVIDERS if f"{rest}-".startswith(f"{name}-")), None)
    build = rest.removeprefix(provider or "").strip("-") or None
    return Implementation(
        id=identifier, library=library, version=version, provider=provider, build=build
    )


# --- what is read ------------------------------------------------------------------------------


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: {error.strerror}") from None


def _format(path: Path, data: bytes, name: str | None) -> Format:
    if name is None:
        return detect(data, path.name, str(path))
    if name not in FOREIGN:
        raise UserError(f"--format {name}: expected one of {', '.join(FOREIGN)}")
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
            raise UserError(f"{tables[0][0]}: a published table among raw output; import it apart")
        return [implementation_of(given)]
    if given is not None:
        raise UserError("--implementation: published tables name their implementations themselves")
    named = [i for path, data, named_in in tables for i in named_in(data, str(path))]
    return list({implementation.id: implementation for implementation in named}.values())


def _raw_files(
    contents: Sequence[tuple[Path, bytes]],
    formats: Sequence[Format],
    implementation: str | None,
    old: Run | None,
) -> list[RawFile]:
    """The files as run.toml lists them; several of one format are rounds, after those it has."""
    taken = {file.path for file in old.files} if old else set()
    earlier: Counter[str] = Counter()
    for file in old.files if old else []:
        if file.implementation == implementation:
            earlier[file.format] = max(earlier[file.format], file.round or 1)
    given = Counter(format_.name for format_ in formats)
    files = []
    for (path, data), format_ in zip(contents, formats, strict=True):
        round_ = None
        if format_.has_rounds:
            is_only_one = given[format_.name] == 1 and not earlier[format_.name]
            earlier[format_.name] += 1
            round_ = None if is_only_one else earlier[format_.name]
        name = "/".join(["raw", *([implementation] if implementation else []), path.name])
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
                round=round_,
            )
        except ValidationError as error:
            raise mismatch(error, str(path)) from None
        files.append(file)
    return files


def _run(
    folder: Path,
    files: list[RawFile],
    implementations: list[Implementation],
    host: str,
    old: Run | None,
) -> Run:
    rounds = [file.round for file in files if file.round]
    tools = list(dict.fromkeys(FOREIGN[file.format].tool for file in files))
    if old:
        ids = {implementation.id for implementation in old.implementations}
        new = [i for i in implementations if i.id not in ids]
        if host not in (UNKNOWN_HOST, old.host_id):
            raise UserError(f"--host {host}: {folder.name} was measured on {old.host_id}")
        names = dict.fromkeys([*old.tool.name.split(", "), *tools])
        numbered = {(f.implementation, f.format) for f in files if f.round}
        earlier = [  # what was the only file is the first round now
            f.model_copy(update={"round": f.round or 1})
            if (f.implementation, f.format) in numbered
            else f
            for f in old.files
        ]
        return old.model_copy(
            update={
                "implementations": [*old.implementations, *new],
                "files": [*earlier, *files],
                "rounds": max([*rounds, old.rounds or 0]) or None,
                "tool": old.tool.model_copy(update={"name": ", ".join(names)}),
            }
        )
    day = _day(folder)
    hosts = folder.parent.parent / "hosts"
    if host != UNKNOWN_HOST and not (hosts / f"{host}.toml").exists():
        known = ", ".join(sorted(path.stem for path in hosts.glob("*.toml"))) or "none yet"
        raise UserError(f"--host {host}: {hosts / host}.toml does not exist (known: {known})")
    return Run(
        id=folder.name,
        date=day,
        host_id=host,
        rounds=max(rounds, default=None),
        tool=Tool(name=", ".join(tools)),
        implementations=implementations,
        files=files,
    )


def _day(folder: Path) -> datetime.date:
    """The day that the folder's name begins with."""
    dated = _DATED.fullmatch(folder.name)
    try:
        return datetime.date.fromisoformat(dated[1] if dated else "")
    except ValueError:
        raise UserError(
            f"{folder}: expected a name in lower case that begins with the day of measurement, "
            "such as 2026-03-07-x86-64"
        ) from None
