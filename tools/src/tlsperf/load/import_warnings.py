"""Warnings of a run about its imported files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import RawFile, Run, RunWarning
from tlsperf.contract.text import counted
from tlsperf.load.import_rounds import groups
from tlsperf.load.rows import Parsed

_CODES: Final = ("missing-figure", "left-out", "method", "invalid", "missing-scenario")
"""Codes of the warnings that an import writes."""


def is_about(warning: RunWarning, files: Sequence[RawFile], implementation: str | None) -> bool:
    """Whether an earlier import wrote the warning about these files, which are checked again."""
    subjects = [f"{implementation}:", *(f"{file.path}:" for file in files)]
    return warning.code in _CODES and warning.message.startswith(tuple(subjects))


def warnings_of(run: Run, parsed: Parsed) -> list[RunWarning]:
    """The warnings about imported files: remarks, invalid figures, missing scenarios."""
    missing = [
        RunWarning(
            code=remark.code,
            message=f"{remark.file[1:]}:{remark.line}: {remark.message}",
        )
        for remark in parsed.remarks
    ]
    return [*missing, *_invalid(parsed), *_missing_scenarios(run, parsed)]


def _invalid(parsed: Parsed) -> list[RunWarning]:
    """One warning for each implementation and reason, with the affected scenarios."""
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
            message=f"{implementation}: {_do_not_count(counts[implementation, note])}: "
            f"{note} ({'; '.join(dict.fromkeys(names))})",
        )
        for (implementation, note), names in grouped.items()
    ]


def _do_not_count(figures: int) -> str:
    return f"{counted(figures, 'figure')} {'does' if figures == 1 else 'do'} not count"


def _missing_scenarios(run: Run, parsed: Parsed) -> list[RunWarning]:
    """One warning for each set of rounds that lack scenarios which other rounds have."""
    in_file: dict[str, set[Scenario]] = {}
    for row in parsed.rows:
        in_file.setdefault(row.file[1:], set()).add(row.scenario)
    found = []
    for (implementation, _), files in groups([f for f in run.files if f.round], in_file):
        lacking: dict[tuple[int, ...], list[str]] = {}
        for scenario in dict.fromkeys(row.scenario for row in parsed.rows):
            has = {file.round for file in files if scenario in in_file.get(file.path, ())}
            rounds = tuple(sorted(f.round for f in files if f.round and f.round not in has))
            if has and rounds:
                lacking.setdefault(rounds, []).append(scenario_name(scenario))
        for rounds, names in lacking.items():
            where = f"round{'' if len(rounds) == 1 else 's'} {', '.join(map(str, rounds))}"
            message = (
                f"{implementation}: {counted(len(names), 'scenario')} missing in {where}: "
                f"{'; '.join(dict.fromkeys(names))}"
            )
            found.append(RunWarning(code="missing-scenario", message=message))
    return found
