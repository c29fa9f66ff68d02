"""`tlsperf import`: writes runs below data/runs, of raw files of other tools or of archives.

Raw files are copied as they are. Everything is read and checked before anything is written.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tomlkit

from tlsperf.contract.errors import UserError
from tlsperf.contract.run import Run
from tlsperf.load.archive import read_archive
from tlsperf.load.importer import UNKNOWN_HOST, read_files
from tlsperf.publish.files import replace_file


def import_archive(archive: Path, runs: Path) -> Run:
    """Writes the run of an archive to `runs`/<its id>, which must not exist, and returns it."""
    run, files = read_archive(archive)
    target = runs / run.id
    if target.exists():
        raise UserError(f"{archive}: the run {run.id} is there already: {target}")
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
    """Makes the run `folder` of raw files, or adds them to it; returns it as it is then."""
    run, new = read_files(paths, implementation, folder, format_name, host)
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
        replace_file(place / path, data)
    replace_file(place / "run.toml", run_toml(run).encode())
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


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_empty(v) for k, v in value.items() if v not in ([], {})}
    if isinstance(value, list):
        return [_without_empty(v) for v in value]
    return value
