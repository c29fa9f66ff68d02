"""Finds the files of an implementation that are rounds of the same measurement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tlsperf.contract.record import Scenario
from tlsperf.contract.run import RawFile
from tlsperf.load.formats import FOREIGN

Kind = tuple[str | None, str]
"""Implementation and format of a file."""


def groups(
    files: Sequence[RawFile], scenarios: Mapping[str, set[Scenario]]
) -> list[tuple[Kind, list[RawFile]]]:
    """Files of one implementation and format that share scenarios; `scenarios` are by file path.

    A file without scenarios (its tool stopped at once) joins the first group of its kind.
    """
    found: list[tuple[Kind, set[Scenario], list[RawFile]]] = []
    for file in sorted(files, key=lambda file: not scenarios.get(file.path)):
        kind, own = (file.implementation, file.format), set(scenarios.get(file.path, ()))
        alike = [g for g in found if g[0] == kind and (g[1] & own or not own)]
        if not own:
            alike = alike[:1]
        merged = (
            kind,
            own.union(*(group[1] for group in alike)),
            [*(member for group in alike for member in group[2]), file],
        )
        found = [group for group in found if group not in alike] + [merged]
    return [(kind, members) for kind, _, members in found]


def with_rounds(
    old: Sequence[RawFile], new: Sequence[RawFile], scenarios: Mapping[str, set[Scenario]]
) -> dict[str, RawFile]:
    """The files by path, with a round: old files keep theirs, new files continue in order.

    A file that shares no scenario with another file has no round.
    """
    order = {file.path: at for at, file in enumerate([*old, *new])}
    has = [file for file in (*old, *new) if _has_rounds(file)]
    found = {file.path: file for file in (*old, *new)}
    for _, members in groups(has, scenarios):
        if len(members) == 1:
            continue
        last = 0
        for file in sorted(members, key=lambda file: order[file.path]):
            round_ = file.round or last + 1
            last = max(last, round_)
            found[file.path] = file.model_copy(update={"round": round_})
    return found


def _has_rounds(file: RawFile) -> bool:
    return file.format in FOREIGN and FOREIGN[file.format].has_rounds
