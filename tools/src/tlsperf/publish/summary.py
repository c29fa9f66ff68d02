"""`tlsperf summary`: changes of reports for a reviewer, as Markdown for a pull request.

The texts of figures come from page.json, which git holds; nothing is calculated here.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.results import Results
from tlsperf.contract.text import host_label, markdown, markdown_table
from tlsperf.load.damage import readable
from tlsperf.load.json_text import parse_json
from tlsperf.publish.assemble import results_of_page
from tlsperf.report.picture import picture

MOST_ROWS: Final = 200
"""Limit of rows of one report: the text must stay below GitHub's limit of 64 KiB."""


class _Figure(NamedTuple):
    """A cell of a table as a reviewer sees it."""

    row: str
    unit: str
    value: str
    verdict: str


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
        root, "diff", "--name-only", "--no-renames", base, "--", "content/perf/*/page.json"
    ).splitlines()

    def part(path: str) -> str:
        name = Path(path).parent.name
        if not (root / path).exists():
            left = (root / path).with_name("index.md").exists()
            state = "has no page.json: run `tlsperf render`" if left else "is removed"
            return f"## {markdown(name)}\n\nThis report {state}.\n"
        if not _git(root, "ls-tree", "--name-only", base, "--", path):
            return "\n".join(introduction(of) for of in results_of_page(root, name))
        before = parse_json(_git(root, "show", f"{base}:{path}"), f"{base}:{path}")
        after = (root / path).read_text(encoding="utf-8", errors="replace")
        try:
            return comparison(before, parse_json(after, str(root / path)))
        except (KeyError, TypeError, AttributeError, ValueError):
            expected = "what `tlsperf render` writes"
            raise FormatError(str(root / path), None, "other content", expected) from None

    parts = list(readable(part, sorted(paths)))
    return "\n".join(parts) or "No figure of any report changes.\n"


def introduction(results: Results) -> str:
    """A new report: ratios of its first tables, changes since the last one, warnings."""
    hosts = ", ".join(map(host_label, results.hosts))
    lines = [f"## {markdown(results.title)}", "", f"{results.date}, {markdown(hosts)}", ""]
    if dots := picture([results]):
        rows = [(p.title, row.label, dots.words(row)) for p in dots.panels for row in p.rows]
        lines.append(markdown_table(["picture", "", f"ratio to {dots.baseline}"], rows))
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
    for text in filter(None, (changes.shift, changes.rule)):
        yield from (markdown(text), "")
    for caveat in changes.caveats:
        yield f"- Caveat: {markdown(caveat.message)}"
    for library in changes.libraries:
        yield f"- {markdown(library.statement)}"
        for change in library.changes:
            of = f" of {change.against}" if change.against else ""
            figures = f"{change.before} to {change.after}{of}, {change.ratio.text}"
            yield f"  - {markdown(f'{change.name}: {figures}')}"


def comparison(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """An existing report, as page.json has it: one line for each figure that changed."""
    old, new = dict(_figures(before)), dict(_figures(now))
    rows = []
    for place in {**new, **old}:
        was, is_ = (figures.get(place, _NOT_THERE) for figures in (old, new))
        if (was.value, was.verdict) != (is_.value, is_.verdict):
            named = new.get(place, was)
            shown = [was.value, is_.value, named.unit, was.verdict, is_.verdict]
            rows.append([named.row, place[-1], *shown])
    if not rows:
        text = "Its figures did not change.\n"
    else:
        heads = ["figure", "implementation", "was", "is", "unit", "verdict was", "verdict is"]
        text = markdown_table(heads, rows[:MOST_ROWS])
    if len(rows) > MOST_ROWS:
        text += f"\n… and {len(rows) - MOST_ROWS} more; the diff of the files has all.\n"
    return f"## {markdown(now['title'])}\n\n{text}"


_NOT_THERE: Final = _Figure("", "", "not there", "")


def _figures(page: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], _Figure]]:
    """The cells of the tables of a page.json by table, row and implementation."""
    for table in page["tables"].values():
        for row, label, cell in _cells(table):
            name = row.get("name", row["anchor"])
            shown = _Figure(name, table["unit"], _value(cell), str(cell.get("ratio", "")))
            yield (table["anchor"], row["anchor"], label), shown


def _cells(table: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str, Mapping[str, Any]]]:
    """The row, the label and the cell of each figure, in both arrangements."""
    hosts = table["hosts"]

    def on(label: str, cells: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
        for host, cell in zip(hosts, cells, strict=True):
            yield f"{label}, {host}" if len(hosts) > 1 else label, cell

    for block in table.get("blocks", ()):
        for line in block["lines"]:
            for row, cells in zip(block["rows"], line["cells"], strict=True):
                yield from ((row, *of) for of in on(line["label"], cells))
    for row in table.get("rows", ()):
        for head, cells in zip(table["heads"], row["cells"], strict=True):
            yield from ((row, *of) for of in on(head["label"], cells))


def _value(cell: Mapping[str, Any]) -> str:
    value = str(cell.get("figure") or cell.get("text", ""))
    own = cell.get("intervals", "").partition("; ")[0]
    if own and not own.startswith(("ratio ", "change ")):
        value += f" ({own})"
    if cell.get("invalid"):
        value += f", {cell['note']}"
    return value


def _git(root: Path, *arguments: str) -> str:
    result = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True)
    if result.returncode != 0:
        raise UserError(f"git {' '.join(arguments)}: {result.stderr.strip()}")
    return result.stdout
