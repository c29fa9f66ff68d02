"""Shell completion: runs, reports and implementations of the project in the working directory."""

from __future__ import annotations

from pathlib import Path

from tlsperf.contract.errors import UserError
from tlsperf.contract.toml_text import read_toml
from tlsperf.load.root import find_root


def run_names(incomplete: str) -> list[str]:
    return [name for name in _below("data/runs", "run.toml") if name.startswith(incomplete)]


def report_names(incomplete: str) -> list[str]:
    return [name for name in _below("content/perf", "index.md") if name.startswith(incomplete)]


def runs_and_reports(incomplete: str) -> list[str]:
    return sorted({*run_names(incomplete), *report_names(incomplete)})


def implementations(incomplete: str) -> list[str]:
    """Bare ids and `RUN/IMPLEMENTATION` of all runs that start with `incomplete`."""
    found = []
    for run in _below("data/runs", "run.toml"):
        path = _root() / "data" / "runs" / run / "run.toml"
        try:
            table = read_toml(path)
            ids = [str(i["id"]) for i in table["implementations"]]
        except (OSError, UserError, KeyError, TypeError):  # a run that `tlsperf validate` rejects
            continue
        found += [*ids, *(f"{run}/{identifier}" for identifier in ids)]
    return sorted({name for name in found if name.startswith(incomplete)})


def _below(folder: str, file: str) -> list[str]:
    return sorted(path.parent.name for path in (_root() / folder).glob(f"*/{file}"))


def _root() -> Path:
    try:
        return find_root()
    except UserError:  # without a project, nothing completes
        return Path("/nonexistent")
