"""Compares versions of a library: a page for each pair of versions in a report.

Pure functions of results.json and comparisons.json.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tlsperf.analysis.ratios import shown_from
from tlsperf.contract.questions import Question, Sheet, SheetCell, SheetRow, Upgrade
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Comparisons, Results, ShortRatio, ShownImplementation, Verdict
from tlsperf.contract.text import counted, short_version
from tlsperf.publish.reports import reference
from tlsperf.publish.sheets import NOTHING, OF_PAIRS, Source, own_sources

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


class _Pair:
    """An older and a newer version of one library, with the ratios of the rows that both have."""

    def __init__(
        self,
        source: Source,
        compared: Comparisons,
        before: ShownImplementation,
        after: ShownImplementation,
    ) -> None:
        self.source, self.before, self.after = source, before, after
        self.id = f"{before.id}-to-{after.id}".replace(".", "-")
        of_row = {
            anchor: compared.rows.get(f"{table.anchor} {anchor}", {}).get(before.id, {})
            for anchor, (table, _) in source.rows.items()
        }
        self.ratios: dict[Identifier, ShortRatio] = {
            anchor: found[after.id] for anchor, found in of_row.items() if after.id in found
        }

    def count(self, verdict: Verdict) -> int:
        return sum(found == verdict for _, found, _ in self.ratios.values())

    def counts(self) -> str:
        """How many tasks are faster and slower, with the largest difference of each."""
        shown = []
        rest = len(self.ratios)
        for verdict in ("faster", "slower"):
            of = {
                a: max(ratio, 1 / ratio)
                for a, (ratio, found, _) in self.ratios.items()
                if found == verdict
            }
            if of:
                most = max(of, key=lambda anchor: of[anchor])
                factor = self.ratios[most][2].partition(" ")[0]
                name = self.source.rows[most][1].name
                shown.append(f"{verdict} in {len(of)} (up to {factor}, {name})")
            rest -= len(of)
        if rest:
            size = self.shown_from()
            shown.append(f"no difference shown in {rest}" + (f" ({size})" if size else ""))
        return f"of {counted(len(self.ratios), 'task')}, {', '.join(shown)}"

    def shown_from(self) -> str:
        same = (text for _, found, text in self.ratios.values() if found == "no difference shown")
        return shown_from(same)

    def cell(self) -> SheetCell:
        faster, slower = self.count("faster"), self.count("slower")
        counts = f"{faster} faster, {slower} slower of {len(self.ratios)}"
        return SheetCell(
            text="; ".join(filter(None, [counts, self.shown_from()])),
            href=f"upgrades/{self.id}/",
        )

    def row(self, anchor: Identifier) -> SheetRow:
        source, (table, row) = self.source, self.source.rows[anchor]
        figures = (source.figure(anchor, of.id) for of in (self.before, self.after))
        return SheetRow(
            label=f"{row.name}, {table.unit}",
            cells=[
                *(figure.model_copy(update={"mark": None}) for figure in figures),
                SheetCell(text=self.ratios[anchor][2], href=source.link(anchor)),
            ],
        )

    def page(self) -> Upgrade:
        labels = [self.before.label, self.after.label]
        return Upgrade(
            id=self.id,
            library=self.before.library,
            before=self.before.label,
            after=self.after.label,
            answer=f"From {self.before.label} to {self.after.label}: {self.counts()}.",
            sheet=Sheet(
                id="tasks",
                caption=f"{self.after.label} over {self.before.label}. {OF_PAIRS}",
                corner="Task",
                columns=[*labels, "Ratio and verdict"],
                rows=[self.row(anchor) for anchor in self.ratios],
            ),
            host=self.source.host,
            report=reference(self.source.results),
        )


def upgrades(source: Source, compared: Comparisons) -> list[Upgrade]:
    """Each pair of an older and a newer version of one library."""
    return [
        _Pair(source, compared, before, after).page()
        for versions in _versions(source).values()
        for before, after in combinations(versions, 2)
    ]


def upgrade_question(source: Source, compared: Comparisons) -> Question:
    """The page about upgrades, with a table for each library: from a line's version to a
    column's.
    """
    sheets, answer = [], []
    for versions in _versions(source).values():
        if len(versions) < 2:
            continue
        name, (first, last) = source.name(versions[0].id), (versions[0], versions[-1])
        rows = [
            SheetRow(
                label=f"from {short_version(before)}",
                cells=[
                    *([NOTHING] * at),
                    *(_Pair(source, compared, before, of).cell() for of in versions[at + 1 :]),
                ],
            )
            for at, before in enumerate(versions[:-1])
        ]
        sheets.append(
            Sheet(
                id=versions[0].library,
                caption=f"{name}: the number of tasks in which the later version is faster or "
                "slower, of all tasks that both versions support, and from what size a difference would "
                "show in the others. Each cell links to its page.",
                corner="Version",
                columns=[f"to {short_version(after)}" for after in versions[1:]],
                rows=rows,
            )
        )
        answer.append(
            f"{name} {short_version(first)} to {short_version(last)}: "
            f"{_Pair(source, compared, first, last).counts()}."
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
