"""`tlsperf import`: writes runs below data/runs, from raw files of other tools or from archives.

Raw files are copied unchanged. Everything is read and checked before anything is written.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import tomlkit

from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.names import scenario_name
from tlsperf.contract.run import Run
from tlsperf.contract.text import counted
from tlsperf.load.archive import read_archive
from tlsperf.load.importer import UNKNOWN_HOST, Import, read_files
from tlsperf.load.run import raw_bytes, read_whole_run
from tlsperf.publish.files import replace_file


def import_archive(archive: Path, runs: Path) -> Run:
    """Writes the run in an archive to `runs`/<its id> and returns it.

    Raises UserError if the run exists.
    """
    run, files = read_archive(archive)
    target = runs / run.id
    if target.exists():
        raise UserError(
            f"{archive}: the run {run.id} exists already: {target}; remove it to import it again"
        )
    runs.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs, prefix=".import-") as scratch:
        folder = Path(scratch) / run.id
        for path, data in files.items():
            replace_file(folder / path, data)
        folder.rename(target)
    return run


def import_files(
    paths: Sequence[Path],
    implementation: str | None,
    folder: Path,
    format_name: str | None = None,
    host: str = UNKNOWN_HOST,
) -> Run:
    """Makes the run `folder` from raw files, or adds them to it; returns the new run."""
    found = read_files(paths, implementation, folder, format_name, host)
    write_run(folder, found.run, found.files)
    return found.run


def import_report(
    paths: Sequence[Path],
    implementation: str | None,
    folder: Path,
    format_name: str | None = None,
    host: str = UNKNOWN_HOST,
) -> str:
    """Imports like `import_files`; returns a summary with the command that undoes the import."""
    found = read_files(paths, implementation, folder, format_name, host)
    undo = _undo(folder, list(found.files))
    write_run(folder, found.run, found.files)
    of = implementation or counted(len({row.implementation for row in found.rows}), "build")
    lines = [
        f"{folder}: imported {counted(len(found.rows), 'figure')} of {of} from "
        f"{counted(len(found.files), 'file')}",
        *_by_operation(found),
        *(f"warning: {warning.message}" for warning in found.warnings),
        f"to undo: {undo}",
    ]
    return "\n".join(lines)


COMPRESSED_FROM: Final = 64 * 1024
"""Bytes from which a raw file of a published run is compressed; smaller ones open in a browser."""


def compress_raw(folder: Path) -> None:
    """Compresses the large raw files of a run for publication.

    Their content stays, and so do size and checksum in run.toml. Reading them checks both.
    """
    for file in read_whole_run(folder).files:
        path = folder / file.path
        if file.bytes >= COMPRESSED_FROM and path.exists():
            packed = gzip.compress(raw_bytes(folder, file), compresslevel=9, mtime=0)
            replace_file(folder / f"{file.path}.gz", packed)
            path.unlink()


MOST_SCENARIOS: Final = 4
"""The summary names at most this many scenarios of a kind."""


def _by_operation(found: Import) -> Iterator[str]:
    """A line for each kind of scenario: figures, scenarios, rounds."""
    for operation in dict.fromkeys(row.scenario.operation for row in found.rows):
        rows = [row for row in found.rows if row.scenario.operation == operation]
        names = list(dict.fromkeys(scenario_name(row.scenario) for row in rows))
        several = {row.round for row in rows} - {None}
        in_rounds = f" in {counted(len(several), 'round')}" if several else ""
        listed = "; ".join(names[:MOST_SCENARIOS])
        more = len(names) - MOST_SCENARIOS
        yield (
            f"  {operation}: {counted(len(rows), 'figure')} of {counted(len(names), 'scenario')}"
            f"{in_rounds}: {listed}{f'; and {more} more' if more > 0 else ''}"
        )


def _undo(folder: Path, files: Sequence[str]) -> str:
    """The command that undoes an import; it must be computed before the import is written."""
    if not folder.exists():
        return f"rm -r {folder}"
    command = ["git", "-C", str(folder), "status", "--porcelain", "--", "."]
    try:
        state = subprocess.run(command, capture_output=True, text=True)
    except OSError:
        state = None
    if state is not None and state.returncode == 0 and not state.stdout:
        return f"git restore {folder} && git clean -df {folder}"
    names = " ".join(str(folder / file) for file in files)
    return f"rm {names}, and take their [[files]] out of {folder / 'run.toml'}"


def write_run(folder: Path, run: Run, new_files: Mapping[str, bytes]) -> None:
    """Writes raw files and run.toml so that an interruption leaves the old run or the new one.

    A new run is written beside its final place and renamed. In an existing run the raw files come
    first, because nothing refers to them before run.toml is replaced.
    """
    exists = folder.exists()
    place = folder if exists else folder.with_name(f".{folder.name}.partial")
    if not exists and place.exists():  # left by an interrupted import
        shutil.rmtree(place)
    for path in new_files:
        if not (place / path).resolve().is_relative_to(place.resolve()):
            raise FormatError(str(place / path), None, "a link out of the run", "its own folder")
    for path, data in new_files.items():
        replace_file(place / path, data)
    replace_file(place / "run.toml", run_toml(run).encode())
    if not exists:
        place.rename(folder)


def run_toml(run: Run) -> str:
    """The text of a run.toml: only known fields, plain values before tables."""
    table = run.model_dump(by_alias=True, exclude_none=True)
    table = {key: _without_empty(value) for key, value in table.items() if value not in ([], {})}
    files = table.pop("files")
    plain = {key: value for key, value in table.items() if not isinstance(value, (dict, list))}
    nested = {key: value for key, value in table.items() if key not in plain}
    return tomlkit.dumps({**plain, **nested}) + "".join(map(_file_toml, files))


def _file_toml(file: Mapping[str, str | int]) -> str:
    """One [[files]]. tomlkit takes longer for thousands of them than all other work together.

    A JSON string is a valid TOML string.
    """
    lines = (f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in file.items())
    return "\n[[files]]\n" + "".join(lines)


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_empty(v) for k, v in value.items() if v not in ([], {})}
    if isinstance(value, list):
        return [_without_empty(v) for v in value]
    return value
