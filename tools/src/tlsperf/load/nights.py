"""Runs that count night by night, in `data/nightly/<folder>/<run>`.

Their order is that of their names, in which numbers count as numbers: dates for the main branches,
`rustls-0.23.9` before `rustls-0.23.10` for releases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from natsort import natsorted
from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, mismatch
from tlsperf.contract.nightly import Absence, Explanation, Explanations
from tlsperf.contract.toml_text import read_toml
from tlsperf.load.run import LoadedRun, load_run

ABSENCE: Final = "absent.toml"
EXPLANATIONS: Final = "steps.toml"


def night_folders(root: Path) -> list[Path]:
    """The folders of runs below `root`, each with nights of its own."""
    return sorted(path for path in (root / "data" / "nightly").glob("*") if path.is_dir())


def run_folders(folder: Path) -> list[Path]:
    """The runs of a folder, in the order of the nights."""
    found: Sequence[Path] = natsorted(folder.glob("*/run.toml"), key=lambda path: path.parent.name)
    return [path.parent for path in found]


@dataclass(frozen=True)
class Nights:
    """What is in a folder."""

    name: str
    runs: list[LoadedRun]
    """In the order of the nights."""
    absences: dict[str, Absence]
    """The libraries that could not be counted, by the name of the night."""
    explanations: list[Explanation]


def read_nights(folder: Path) -> Nights:
    """Everything in a folder; FormatError for a run that counts nothing."""
    return Nights(folder.name, _runs(folder), _absences(folder), _explanations(folder))


def _runs(folder: Path) -> list[LoadedRun]:
    runs = []
    for path in run_folders(folder):
        run = load_run(path)
        if run.run.counter is None:
            raise FormatError(str(path / "run.toml"), None, "no [counter]", "a run that counts")
        runs.append(run)
    return runs


def _absences(folder: Path) -> dict[str, Absence]:
    found = {}
    for path in natsorted(folder.glob(f"*/{ABSENCE}"), key=lambda path: path.parent.name):
        try:
            found[path.parent.name] = Absence.model_validate(read_toml(path))
        except ValidationError as error:
            raise mismatch(error, str(path), model=Absence) from None
    return found


def _explanations(folder: Path) -> list[Explanation]:
    path = folder / EXPLANATIONS
    if not path.exists():
        return []
    try:
        return Explanations.model_validate(read_toml(path)).steps
    except ValidationError as error:
        raise mismatch(error, str(path), model=Explanations) from None
