"""Finds the project's folder, and the run or report that a name or path refers to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from tlsperf.contract.errors import UserError

if TYPE_CHECKING:
    from tlsperf.contract.record import Identifier


def find_root() -> Path:
    """The project's folder that contains the working directory, as a relative path.

    Raises UserError outside a project.
    """
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / "config.toml").is_file() and (folder / "data").is_dir():
            return Path(os.path.relpath(folder))
    raise UserError(
        f"no project here: {here} is in no folder with config.toml and data/; change to a checkout "
        "or a site, or make one: tlsperf init"
    )


def run_id(given: str) -> Identifier:
    """The id of a run, given as an id, a folder or the path of a run.toml."""
    return _name_below(given, "data/runs", "run.toml")


def report_id(given: str) -> Identifier:
    """The id of a report, given as an id, a folder or the path of an index.md."""
    return _name_below(given, "content/perf", "index.md")


def _name_below(given: str, folder: str, file: str) -> str:
    path = Path(given)
    if path.name == file:
        path = path.parent
    if "/" not in given.rstrip("/"):
        return path.name
    if path.resolve().parts[-3:-1] != tuple(folder.split("/")):
        raise UserError(f"{given}: expected a name, or a path {folder}/<name>")
    return path.name


def new_run_folder(root: Path, given: str) -> Path:
    """The folder below data/runs for a new run, from any working directory. Raises UserError."""
    runs = root / "data" / "runs"
    path = Path(given)
    if path.parent.resolve() == runs.resolve() or path.parts[:-1] in ((), ("data", "runs")):
        return runs / path.name
    raise UserError(
        f"found {given!r}, expected a name, or a path data/runs/<name>: runs are in {runs}"
    )
