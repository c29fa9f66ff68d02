"""`tlsperf summary`: changes of reports for a reviewer, as Markdown for a pull request.

The texts of figures come from results.json; nothing is calculated here.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Cell, Results
from tlsperf.contract.text import host_label, markdown
from tlsperf.load.results import known_results, parse_results

MOST_ROWS: Final = 200
"""Limit of rows of one report: the text must stay below GitHub's limit of 64 KiB."""


class _Place(NamedTuple):
    table: str
    anchor: str
    phase: str
    metric: str
    statistic: str
    implementation: str


class _Figure(NamedTuple):
    row: str
    label: str
    unit: str
    cell: Cell


def summary_since(root: Path, reference: str) -> str:
    """The changes of the reports since the common ancestor of `reference` and HEAD."""
    try:
        base = _git(root, "merge-base", reference, "HEAD").strip()
    except UserError as error:
        raise UserError(
            f"summary {reference}: found no such commit, expected one that HEAD comes from, "
            f"such as origin/main ({error})"
        ) from None
    paths = _git(
        root, "diff", "--name-only", "--no-renames", base, "--", "content/perf/*/results.json"
    ).splitlines()
    parts = []
    for path in sorted(paths):
        name = Path(path).parent.name
        now = known_results(root / path)
        there = _git(root, "ls-tree", "--name-only", base, "--", path)
        before = parse_results(_git(root, "show", f"{base}:{path}")) if there else None
        if now is None:
            state = "cannot be read by these tools" if (root / path).exists() else "is removed"
            parts.append(f"## {name}\n\nThis report {state}.\n")
        elif before is None:
            parts.append(introduction(now))
        else:
            parts.append(comparison(before, now))
    return "\n".join(parts) or "No figure of any report changes.\n"


def introduction(results: Results) -> str:
    """A new report: headline figures, changes since the last one, warnings."""
    hosts = ", ".join(map(host_label, results.hosts))
    lines = [f"## {markdown(results.title)}", "", f"{results.date}, {markdown(hosts)}", ""]
    if results.headlines:
        lines += [*_row("headline", "unit", "figures", ""), "|---|---|---|---|"]
        for headline in results.headlines:
            figures = "; ".join(f"{bar.label}: {bar.text}" for bar in headline.bars)
            lines += _row(headline.title, headline.unit, figures, headline.statement)
        lines.append("")
    lines += [*_changes(results), ""]
    warnings = [*results.warnings, *(w for run in results.runs for w in run.warnings)]
    if warnings:
        lines += ["### Warnings", ""]
        lines += [f"- {markdown(warning.message)}" for warning in warnings]
    else:
        lines.append("No warnings.")
    return "\n".join(lines).rstrip() + "\n"


def _changes(results: Results) -> Iterator[str]:
    changes = results.changes
    if changes is None:
        yield "No earlier report is comparable with this one."
        return
    yield f"### Changes since {markdown(changes.title)} ({changes.date})"
    yield ""
    yield markdown(changes.rule)
    yield ""
    for caveat in changes.caveats:
        yield f"- Caveat: {markdown(caveat.message)}"
    for library in changes.libraries:
        yield f"- {markdown(library.statement)}"
        for group in library.groups:
            yield f"  - {markdown(group.title)}: {markdown(group.statement)}"
            for change in group.changes:
                figures = f"{change.before} to {change.after} {change.unit}, {change.ratio.text}"
                yield f"    - {markdown(f'{change.name}: {figures}')}"


def comparison(before: Results, now: Results) -> str:
    """An existing report: one line for each figure that changed."""
    old, new = _figures(before), _figures(now)
    rows = []
    for place in [*new, *(place for place in old if place not in new)]:
        figure = new.get(place) or old[place]
        cells = [side[place].cell if place in side else None for side in (old, new)]
        shown = [*map(_value, cells), figure.unit, *map(_verdict, cells)]
        if shown[0] != shown[1] or shown[3] != shown[4]:
            rows.append([figure.row, figure.label, *shown])
    lines = [f"## {markdown(now.title)}", ""]
    if not rows:
        return "\n".join([*lines, "Its figures did not change.\n"])
    lines += _row("figure", "implementation", "was", "is", "unit", "verdict was", "verdict is")
    lines.append("|---|---|---|---|---|---|---|")
    for row in rows[:MOST_ROWS]:
        lines += _row(*row)
    if len(rows) > MOST_ROWS:
        lines += ["", f"… and {len(rows) - MOST_ROWS} more; the diff of the files has all."]
    return "\n".join(lines) + "\n"


def _figures(results: Results) -> dict[_Place, _Figure]:
    labels = {i.id: i.label for i in results.implementations}
    return {
        _Place(
            *(table.anchor, row.anchor, row.phase, row.metric, row.statistic), cell.implementation
        ): _Figure(
            row.name if row.phase == "total" else f"{row.name}, {row.phase}",
            labels[cell.implementation],
            table.unit,
            cell,
        )
        for table in results.tables
        for row in table.rows
        for cell in row.cells
    }


def _value(cell: Cell | None) -> str:
    if cell is None:
        return "not there"
    interval = f" ({cell.interval})" if cell.interval else ""
    return f"{cell.text}{interval}" + ("" if cell.valid else f", invalid: {cell.note}")


def _verdict(cell: Cell | None) -> str:
    return cell.ratio.text if cell and cell.ratio else ""


def _row(*cells: str) -> list[str]:
    """One line of a table, as a list for `+=`."""
    return [f"| {' | '.join(markdown(cell) for cell in cells)} |"]


def _git(root: Path, *arguments: str) -> str:
    result = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    if result.returncode != 0:
        raise UserError(f"git {' '.join(arguments)}: {result.stderr.strip()}")
    return result.stdout
