"""What imported files show of which a reader must know, as warnings of their run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import RawFile, Run, RunWarning
from tlsperf.load.rows import Parsed

_CODES: Final = ("missing-figure", "invalid", "missing-scenario")
"""Of the warnings that an import writes."""


def is_about(warning: RunWarning, files: Sequence[RawFile], implementation: str | None) -> bool:
    """Whether an earlier import wrote it about these files, which are looked at again."""
    subjects = [f"{implementation}:", *(f"{file.path}:" for file in files)]
    return warning.code in _CODES and warning.message.startswith(tuple(subjects))


def warnings_of(run: Run, parsed: Parsed) -> list[RunWarning]:
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
