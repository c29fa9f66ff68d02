"""Compares versions of a library: a page for each pair of versions in a report.

Pure functions of results.json and comparisons.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tlsperf.contract.questions import Question, Sheet, SheetCell, SheetRow, Upgrade
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Comparisons, Results, ShortRatio, ShownImplementation, Verdict
from tlsperf.contract.text import counted, short_version
from tlsperf.publish.reports import reference
from tlsperf.publish.sheets import NOTHING, Source, own_sources

_TASKS = "full-handshakes"
FEWEST = 3
"""A report is about versions if it has at least this many of one library."""


def report_of_versions(ordered: Sequence[Results]) -> Source | None:
    """The newest report with our harness that compares connections of several versions of a
    library.

    A report with only set-ups does not count: an upgrade page is about the cost of a connection.
    """
    for source in own_sources(ordered):
        of_connections = any(table.anchor == _TASKS for table in source.results.tables)
        if of_connections and any(len(of) >= FEWEST for of in _versions(source).values()):
            return source
    return None


def _versions(source: Source) -> dict[str, list[ShownImplementation]]:
    """The implementations of each library, oldest first as in the report; empty if two are builds
    of one version.
    """
    found: dict[str, list[ShownImplementation]] = {}
    for shown in source.results.implementations:
        of_library = found.setdefault(shown.library, [])
        if shown.version in {other.version for other in of_library}:
            return {}  # two builds of one version: not a report about versions
        of_library.append(shown)
    return found


def upgrades(source: Source, compared: Comparisons) -> list[Upgrade]:
    """Each pair of an older and a newer version of one library."""
    return [
        _upgrade(source, compared, before, after)
        for versions in _versions(source).values()
        for before, after in combinations(versions, 2)
    ]


def _upgrade(
    source: Source, compared: Comparisons, before: ShownImplementation, after: ShownImplementation
) -> Upgrade:
    rows = []
    for anchor, (table, row) in source.rows.items():
        ratio = _ratio(compared, f"{table.anchor} {anchor}", before.id, after.id)
        if ratio is None:
            continue
        _, _, text = ratio
        rows.append(
            SheetRow(
                label=f"{row.name}, {table.unit}",
                cells=[
                    source.figure(anchor, before.id).model_copy(update={"mark": None}),
                    source.figure(anchor, after.id).model_copy(update={"mark": None}),
                    SheetCell(text=text, href=source.link(anchor)),
                ],
            )
        )
    return Upgrade(
        id=pair_id(before, after),
        library=before.library,
        before=before.label,
        after=after.label,
        answer=f"From {before.label} to {after.label}: {_counts(source, compared, before, after)}.",
        sheet=Sheet(
            id="tasks",
            caption=f"{after.label} over {before.label}.",
            corner="Task",
            columns=[before.label, after.label, "Ratio and verdict"],
            rows=rows,
        ),
        host=source.host,
        report=reference(source.results),
    )


def pair_id(before: ShownImplementation, after: ShownImplementation) -> Identifier:
    return f"{before.id}-to-{after.id}".replace(".", "-")


def _ratio(
    compared: Comparisons, row: str, before: Identifier, after: Identifier
) -> ShortRatio | None:
    return compared.rows.get(row, {}).get(before, {}).get(after)


def _verdicts(
    source: Source, compared: Comparisons, before: Identifier, after: Identifier
) -> list[tuple[str, Verdict, str]]:
    """The name of each row, with the verdict and the text of its ratio."""
    found = []
    for anchor, (table, row) in source.rows.items():
        ratio = _ratio(compared, f"{table.anchor} {anchor}", before, after)
        if ratio is not None:
            found.append((row.name, ratio[1], ratio[2]))
    return found


def _counts(
    source: Source, compared: Comparisons, before: ShownImplementation, after: ShownImplementation
) -> str:
    verdicts = _verdicts(source, compared, before.id, after.id)
    of = counted(len(verdicts), "task")
    shown = []
    for verdict in ("faster", "slower"):
        texts = [(text, name) for name, found, text in verdicts if found == verdict]
        if not texts:
            continue
        text, name = max(texts, key=lambda pair: float(pair[0].partition("x")[0]))
        shown.append(f"{verdict} in {len(texts)} (up to {text.partition(' ')[0]}, {name})")
    rest = len(verdicts) - sum(1 for _, found, _ in verdicts if found in ("faster", "slower"))
    shown.append(f"no difference shown in {rest}")
    return f"of {of}, {', '.join(shown)}"


def upgrade_question(source: Source, compared: Comparisons) -> Question:
    """The page about upgrades, with a table for each library: from a line's version to a
    column's.
    """
    sheets, answer = [], []
    for versions in _versions(source).values():
        if len(versions) < 2:
            continue
        name = source.name(versions[0].id)
        rows = []
        for at, before in enumerate(versions[:-1]):
            cells = []
            for number, after in enumerate(versions[1:], start=1):
                cells.append(
                    _matrix_cell(source, compared, before, after) if number > at else NOTHING
                )
            rows.append(SheetRow(label=f"from {short_version(before)}", cells=cells))
        sheets.append(
            Sheet(
                id=versions[0].library,
                caption=f"{name}: the number of tasks in which the later version is faster or "
                "slower, of all tasks that both versions support. Each cell links to its page.",
                corner="Version",
                columns=[f"to {short_version(after)}" for after in versions[1:]],
                rows=rows,
            )
        )
        first, last = versions[0], versions[-1]
        answer.append(
            f"{name} {short_version(first)} to {short_version(last)}: "
            f"{_counts(source, compared, first, last)}."
        )
    return Question(
        id="upgrade",
        title="What does an upgrade change?",
        description="Each version compared with each later one, with a verdict for each task.",
        answer=answer,
        sheets=sheets,
        meaning=[
            "Both versions were built by the same compilers and measured in the same rounds, by "
            "one harness, with the same certificates, groups and tickets."
        ],
        limits=[
            "The figures are of one host and one thread. An upgrade changes only the part of a "
            "program's time that it spends in TLS.",
            "Each pair is tested by itself, and its intervals are corrected for the comparisons "
            "with one version, not for all pairs of these tables.",
        ],
        host=source.host,
        reports=[reference(source.results)],
    )


def _matrix_cell(
    source: Source, compared: Comparisons, before: ShownImplementation, after: ShownImplementation
) -> SheetCell:
    verdicts = [verdict for _, verdict, _ in _verdicts(source, compared, before.id, after.id)]
    faster, slower = verdicts.count("faster"), verdicts.count("slower")
    return SheetCell(
        text=f"{faster} faster, {slower} slower of {len(verdicts)}",
        href=f"upgrades/{pair_id(before, after)}/",
    )
