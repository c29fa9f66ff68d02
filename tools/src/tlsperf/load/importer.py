"""`tlsperf import`: raw files of other tools, and archives of our own, become a run.

The raw files are copied as they are, with their checksums; what they hold is read again from the
copies whenever it is needed. Everything is read and checked before anything is written.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

import tomlkit
from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, UserError, mismatch
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import Implementation, RawFile, Run, RunWarning, Tool
from tlsperf.load.formats import FOREIGN, bench_latency, detect, published
from tlsperf.load.formats.rows import Format, Parsed, frame_of
from tlsperf.load.run import foreign_rows, raw_bytes, read_run

UNKNOWN_HOST: Final = "unknown"
"""The host of files of which nobody said where they were measured."""

_DATED: Final = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})-[a-z0-9._-]+")
_CODES: Final = ("missing-figure", "invalid", "missing-scenario")
"""Of the warnings that an import writes."""
_PROVIDERS: Final = ("aws-lc-rs", "ring", "graviola")
_ONE_ROUND: Final = (bench_latency.FORMATS[0].name, published.FORMATS[0].name)
"""Formats whose files are parts of one measurement, not rounds."""


def import_files(
    paths: Sequence[Path],
    implementation: str | None,
    folder: Path,
    format_name: str | None = None,
    host: str = UNKNOWN_HOST,
) -> Run:
    """Makes the run `folder` of raw files, or adds them to it; returns it as it is then.

    Several files of one implementation and format are its rounds, in the order of the numbers in
    their names. Published tables name their implementations themselves.
    """
    old = read_run(folder) if folder.exists() else None
    contents = [(path, _read(path)) for path in _natural(paths)]
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
    warnings = [w for w in run.warnings if not _is_about(w, beside, implementation)]
    run = run.model_copy(update={"warnings": [*warnings, *_warnings(part, parsed)]})
    write_run(folder, run, new)
    return run


def write_run(folder: Path, run: Run, new_files: Mapping[str, bytes]) -> None:
    """Writes raw files and run.toml so that an interruption leaves the old run or the new one.

    A new run is made beside its place and renamed; in an existing one the raw files come first,
    since nothing refers to them before run.toml is replaced.
    """
    exists = folder.exists()
    place = folder if exists else folder.with_name(f".{folder.name}.partial")
    if not exists and place.exists():  # left by an interrupted import
        shutil.rmtree(place)
    for path, data in new_files.items():
        target = place / path
        target.parent.mkdir(parents=True, exist_ok=True)
        _replace(target, data)
    _replace(place / "run.toml", run_toml(run).encode())
    if not exists:
        place.rename(folder)


def run_toml(run: Run) -> str:
    """The text of a run.toml: only what is known, plain values before tables."""
    table = run.model_dump(by_alias=True, exclude_none=True)
    table = {key: _without_empty(value) for key, value in table.items() if value not in ([], {})}
    files = table.pop("files")
    plain = {key: value for key, value in table.items() if not isinstance(value, (dict, list))}
    nested = {key: value for key, value in table.items() if key not in plain}
    return tomlkit.dumps({**plain, **nested}) + "".join(map(_file_toml, files))


def _file_toml(file: Mapping[str, str | int]) -> str:
    """One [[files]]. Not by tomlkit, which takes longer over thousands than all else together.

    A JSON string is a TOML string as well.
    """
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in file.items())
    return "\n[[files]]\n" + "".join(lines)


def implementation_of(identifier: str) -> Implementation:
    """What an id `<library>-<version>[-<provider>][-<build>]` says."""
    libraries = get_args(Implementation.model_fields["library"].annotation)
    library = next((name for name in libraries if identifier.startswith(f"{name}-")), None)
    version, _, rest = identifier[len(library or "") + 1 :].partition("-")
    if library is None or not version or not re.fullmatch(r"[a-z0-9._-]+", identifier):
        raise UserError(
            f"implementation {identifier!r}: expected <library>-<version>[-<provider>][-<build>] "
            f"with one of the libraries {', '.join(libraries)}, such as openssl-3.6.1 or "
            "rustls-0.23.37-aws-lc-rs"
        )
    provider = next((name for name in _PROVIDERS if f"{rest}-".startswith(f"{name}-")), None)
    build = rest.removeprefix(provider or "").strip("-") or None
    return Implementation(
        id=identifier, library=library, version=version, provider=provider, build=build
    )


# --- what is read ------------------------------------------------------------------------------


def _natural(paths: Iterable[Path]) -> list[Path]:
    """By name, numbers by their value: output_2 before output_10."""
    return sorted(
        paths, key=lambda p: [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", p.name)]
    )


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
        (path, data)
        for (path, data), format_ in zip(contents, formats, strict=True)
        if format_ in published.FORMATS
    ]
    if len(tables) < len(contents):
        if given is None:
            raise UserError("--implementation is missing: the files do not say what was measured")
        if tables:
            raise UserError(f"{tables[0][0]}: a published table among raw output; import it apart")
        return [implementation_of(given)]
    if given is not None:
        raise UserError("--implementation: published tables name their implementations themselves")
    named = [i for path, data in tables for i in published.implementations(data, str(path))]
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
        if format_.name not in _ONE_ROUND:
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


# --- what a reader must know ---------------------------------------------------------------------


def _is_about(warning: RunWarning, files: Sequence[RawFile], implementation: str | None) -> bool:
    """Whether an earlier import wrote it about these files, which are looked at again."""
    subjects = [f"{implementation}:", *(f"{file.path}:" for file in files)]
    return warning.code in _CODES and warning.message.startswith(tuple(subjects))


def _warnings(run: Run, parsed: Parsed) -> list[RunWarning]:
    """What the files show of which a reader must know."""
    missing = [
        RunWarning(
            code="missing-figure",
            message=f"{remark.file[1:]}:{remark.line}: {remark.message}",
        )
        for remark in parsed.remarks
    ]
    return [*missing, *_invalid(parsed), *_missing_scenarios(run, parsed)]


def _invalid(parsed: Parsed) -> list[RunWarning]:
    """One warning for each implementation and reason, with the scenarios it concerns."""
    grouped: dict[tuple[str, str], list[str]] = {}
    counts: dict[tuple[str, str], int] = {}
    for row in parsed.rows:
        if not row.valid:
            key = (str(row.implementation), str(row.note))
            grouped.setdefault(key, []).append(scenario_name(row.scenario))
            counts[key] = counts.get(key, 0) + 1
    return [
        RunWarning(
            code="invalid",
            message=f"{implementation}: {counts[implementation, note]} figures do not count: "
            f"{note} ({'; '.join(dict.fromkeys(names))})",
        )
        for (implementation, note), names in grouped.items()
    ]


def _missing_scenarios(run: Run, parsed: Parsed) -> list[RunWarning]:
    """Scenarios that some rounds of an implementation have and others lack."""
    rounds: dict[tuple[str | None, str], set[int]] = {}
    for file in run.files:
        if file.round:
            rounds.setdefault((file.implementation, file.format), set()).add(file.round)
    formats = {f"/{file.path}": file.format for file in run.files}
    present: dict[tuple[str | None, str], dict[Scenario, set[int]]] = {}
    for row in parsed.rows:
        if row.round:
            key = (row.implementation, formats[row.file])
            present.setdefault(key, {}).setdefault(row.scenario, set()).add(row.round)
    return [
        RunWarning(
            code="missing-scenario",
            message=f"{key[0]}: {scenario_name(scenario)} is missing in rounds "
            + ", ".join(map(str, sorted(rounds[key] - found))),
        )
        for key, scenarios in present.items()
        for scenario, found in scenarios.items()
        if rounds[key] - found
    ]


# --- what is written ---------------------------------------------------------------------------


def _replace(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.writing")
    beside.write_bytes(data)
    beside.replace(path)


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_empty(v) for k, v in value.items() if v not in ([], {})}
    if isinstance(value, list):
        return [_without_empty(v) for v in value]
    return value
