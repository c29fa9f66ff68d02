"""The data of the page Compare (`contract.compared`): of one part, and the newest of all. Pure
functions.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from tlsperf.analysis.series import MeasuredReport, Series
from tlsperf.contract.compared import (
    GROUPS,
    ComparedFigures,
    ComparedImplementation,
    ComparedPart,
    ComparedRow,
    ComparedRun,
    Group,
    Pair,
)
from tlsperf.contract.errors import mismatch
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.names import scenario_path
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Ratio, Row, RunReference, ShownImplementation, Table
from tlsperf.contract.run import LOCK_FORMAT
from tlsperf.contract.text import host_label
from tlsperf.publish.reports import host_of, is_main
from tlsperf.report.comparisons import Ratios

PARTS: Final = TypeAdapter(list[ComparedPart])
SHORT: Final = 20
"""Rows of the table that is read without JavaScript."""
_OUT: Final = re.compile(r" --out \S+")
_SIZE: Final = re.compile(r"[\d.,]+(?:%|x)")


# --- a part --------------------------------------------------------------------------------------


def compared_parts(report: MeasuredReport, ratios: Ratios, folder: str) -> list[ComparedPart]:
    """What each host measured for a part of a report, whose downloads are in `folder`.

    Hosts are not compared.
    """
    results = report.results
    by_host: dict[Identifier, list[ShownImplementation]] = {}
    for implementation in sorted(
        results.implementations, key=lambda i: (i.id != results.baseline, i.id)
    ):
        by_host.setdefault(host_of(results, implementation).id, []).append(implementation)
    hosts = {host.id: host for host in results.hosts}
    found = []
    for host, shown in by_host.items():
        runs = [run for run in results.runs if run.host_id == host]
        rows = [
            _figures(table, row, series, ratios.get((table.anchor, row.anchor), {}), shown, runs)
            for table in results.tables
            if not table.by_phase
            for row, series in report.rows(table)
        ]
        found.append(
            ComparedPart(
                id=results.id,
                page=results.of,
                folder=folder,
                title=results.title,
                date=max(run.date for run in runs),
                main=is_main(results),
                host=host,
                host_name=host_label(hosts[host]),
                implementations=[
                    ComparedImplementation(
                        id=i.id, label=i.label, library=i.library, plain=i.build is None
                    )
                    for i in shown
                ],
                runs=[_run(run) for run in runs],
                rows=[row for row in rows if sum(map(bool, row.texts)) > 1],
            )
        )
    return [part for part in found if part.rows]


def _figures(
    table: Table,
    row: Row,
    series: Series,
    ratios: Mapping[Identifier, Mapping[Identifier, Ratio]],
    shown: Sequence[ShownImplementation],
    runs: Sequence[RunReference],
) -> ComparedFigures:
    cells = {cell.implementation: cell for cell in row.cells if cell.valid}
    ids = [implementation.id for implementation in shown]
    measured = {at.run for i in ids if i in series.samples for at in series.samples[i].valid}
    is_count = METRICS[row.metric].is_count
    pairs = [
        _pair(_ratio(cells.get(later), table, earlier, ratios), is_count)
        for later, earlier in ((ids[n], ids[m]) for n, m in _before(len(ids)))
    ]
    while pairs and pairs[-1] is None:
        pairs.pop()
    return ComparedFigures(
        row=ComparedRow(
            anchor=row.anchor,
            unit=table.unit,
            better=table.better,
            name=row.name,
            kind=table.title,
            group=_group(row),
            path=scenario_path(row.scenario),
        ),
        runs=[n for n, run in enumerate(runs) if run.id in measured],
        texts=[_text(cells.get(i)) for i in ids],
        pairs=pairs,
    )


def _group(row: Row) -> Group:
    definition = METRICS[row.metric]
    if not definition.is_time:
        return "counts" if definition.is_count else "memory"
    match row.scenario.operation:
        case "set-up":
            return "set-up"
        case "primitive" | "client-hello":
            return "primitives"
        case _:
            return "speed" if definition.primary or definition.of_process else "latency"


def _text(cell: Cell | None) -> str:
    return cell.text if cell is not None and cell.value is not None else ""


def _ratio(
    cell: Cell | None,
    table: Table,
    earlier: Identifier,
    ratios: Mapping[Identifier, Mapping[Identifier, Ratio]],
) -> Ratio | None:
    """The ratio to an earlier implementation; to the baseline that of the report's page."""
    if cell is None:
        return None
    if earlier == table.baseline:
        return cell.ratio
    return ratios.get(earlier, {}).get(cell.implementation)


def _pair(ratio: Ratio | None, is_count: bool) -> Pair:
    if ratio is None:
        return None
    value = _short(ratio.value)
    if ratio.low is None or ratio.high is None:
        return value if is_count and ratio.verdict in ("faster", "slower") else (value,)
    size = _SIZE.search(ratio.text)
    low, high = _short(ratio.low), _short(ratio.high)
    match ratio.verdict:
        case "no difference shown":
            return (value, low, high, size[0]) if size else 0
        case "faster" | "slower":
            return value if is_count and f"{low:.2f}" == f"{high:.2f}" else (value, low, high)
        case _:
            return (value, low, high, "")


def _short(ratio: float) -> float:
    """To the digits that are printed of it and of its inverse; near 1, more."""
    return float(f"{ratio:.{5 if 0.98 < ratio < 1.02 else 4}g}")


def _run(run: RunReference) -> ComparedRun:
    ours = run.tool.commands[:1] if run.tool.name == "tlsbench" else []
    return ComparedRun(
        id=run.id,
        command="".join(_OUT.sub("", command) for command in ours),
        files=[
            (file.stored or file.path, file.implementation or "")
            for file in run.files
            if file.format != LOCK_FORMAT
        ],
    )


def parts_json(parts: Sequence[ComparedPart]) -> str:
    """The text of compare.json."""
    return _json(PARTS.dump_python(list(parts), mode="json"))


def read_parts(file: Path) -> list[ComparedPart]:
    """The parts of such a file. Raises FormatError."""
    try:
        return PARTS.validate_json(file.read_bytes())
    except ValidationError as error:
        raise mismatch(error, str(file)) from None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


# --- the newest of all ---------------------------------------------------------------------------

_Place = tuple[Identifier, str]
"""Anchor and unit of a row."""


def compare_files(parts: Iterable[ComparedPart]) -> dict[str, str]:
    """The text of each file of `content/compare/`, by its name."""
    ordered = in_order(parts)
    return {
        "newest.json": newest_json(ordered),
        "short.json": short_json(ordered),
        "libraries.json": libraries_json(ordered),
    }


def in_order(parts: Iterable[ComparedPart]) -> list[ComparedPart]:
    """The newest first; within a day the main series."""
    by_id = sorted(parts, key=lambda part: (part.id, part.host))
    return sorted(by_id, key=lambda part: (part.date, part.main), reverse=True)


def newest_json(ordered: Sequence[ComparedPart]) -> str:
    """The text of `newest.json`: each pair as the newest part of each host has it.

    Texts, rows, hosts and implementations stand once, and their places stand for them. A row of a
    part is `[row, runs, texts, pairs]`. `older` lists, by row, the parts of which pairs are left out.
    """
    chosen = defaults(ordered)
    names: dict[Identifier, ComparedImplementation] = {}
    hosts: dict[Identifier, str] = {}
    for part in ordered:
        hosts.setdefault(part.host, part.host_name)
        for implementation in part.implementations:
            names.setdefault(implementation.id, implementation)
    shown = _sorted(names.values())
    place = {implementation.id: n for n, implementation in enumerate(shown)}
    rows: dict[_Place, ComparedRow] = {}
    for part in ordered:
        for of in part.rows:
            rows.setdefault((of.row.anchor, of.row.unit), of.row)
    row_at = {key: n for n, key in enumerate(rows)}
    kinds = list(dict.fromkeys(row.kind for row in rows.values()))
    units = list(dict.fromkeys(row.unit for row in rows.values()))
    taken: dict[tuple[_Place, Identifier], set[tuple[int, int]]] = {}
    older: dict[int, list[int]] = {}
    listed = []
    for at, part in enumerate(ordered):
        kept: list[list[object]] = []
        ids = [place[i.id] for i in part.implementations]
        for of in part.rows:
            key = (of.row.anchor, of.row.unit)
            texts, pairs, is_whole = _left(of, ids, taken.setdefault((key, part.host), set()))
            if not is_whole:
                older.setdefault(row_at[key], []).append(at)
            if any(texts):
                kept.append([row_at[key], of.runs, texts, pairs])
        listed.append(
            {
                "id": part.id,
                "page": part.page,
                "folder": part.folder,
                "title": part.title,
                "date": part.date.isoformat(),
                "host": list(hosts).index(part.host),
                "implementations": ids,
                "runs": [[run.id, run.command, run.files] for run in part.runs],
                "rows": kept,
            }
        )
    return _json(
        {
            "implementations": [[i.id, i.label, i.library] for i in shown],
            "hosts": list(hosts.items()),
            "kinds": kinds,
            "units": units,
            "rows": [
                [
                    *(r.anchor, r.name, kinds.index(r.kind), units.index(r.unit)),
                    *(GROUPS.index(r.group), r.better, r.path),
                ]
                for r in rows.values()
            ],
            "defaults": {library: place[i] for library, i in chosen.items()},
            "older": older,
            "parts": listed,
        }
    )


def _left(
    of: ComparedFigures, ids: Sequence[int], taken: set[tuple[int, int]]
) -> tuple[list[str], list[Pair], bool]:
    """The figures and pairs of a row that no newer part of the host has; whether that is all.

    `ids` are the implementations; their pairs are added to `taken`, which has those of newer parts.
    """
    pairs: list[Pair] = []
    used: set[int] = set()
    is_whole = True
    every = _before(len(ids))
    for (n, m), pair in zip_longest(every, of.pairs):
        kept: Pair = None
        if of.texts[n] and of.texts[m]:
            key = (min(ids[n], ids[m]), max(ids[n], ids[m]))
            if key in taken:
                is_whole = False
            else:
                taken.add(key)
                used |= {n, m}
                kept = pair
        pairs.append(kept)
    while pairs and pairs[-1] is None:
        pairs.pop()
    return [text if n in used else "" for n, text in enumerate(of.texts)], pairs, is_whole


def _before(count: int) -> Iterator[tuple[int, int]]:
    """Each place with each before it, in the order of `ComparedFigures.pairs`."""
    return ((n, m) for n in range(count) for m in range(n))


def _sorted(shown: Iterable[ComparedImplementation]) -> list[ComparedImplementation]:
    """By library; the newest version of each first, and plain builds before others."""
    order = list(NAMES)

    def key(of: ComparedImplementation) -> tuple[object, ...]:
        numbers = [-int(number) for number in re.findall(r"\d+", of.label)]
        return (
            order.index(of.library),
            not of.plain,
            not re.search(r"\d\.\d", of.label),
            numbers,
            of.id,
        )

    return sorted(shown, key=key)


def defaults(ordered: Sequence[ComparedPart]) -> dict[str, Identifier]:
    """The build that stands for each library: of those that users get the one with the most rows.

    Libraries have the order of all pages: the first two are compared if a reader picks nothing.
    """
    count: dict[tuple[str, Identifier], set[_Place]] = {}
    for part in ordered:
        for n, of in enumerate(part.implementations):
            rows = {(r.row.anchor, r.row.unit) for r in part.rows if r.texts[n]}
            count.setdefault((of.library, of.id), set()).update(rows if of.plain else ())
    found: dict[str, Identifier] = {}
    for library, id_ in sorted(count, key=lambda of: (-len(count[of]), of)):
        found.setdefault(library, id_)
    return {library: found[library] for library in NAMES if library in found}


def libraries_json(ordered: Sequence[ComparedPart]) -> str:
    """The text of `libraries.json`: by library its builds, and the hosts that measured each."""
    names: dict[Identifier, ComparedImplementation] = {}
    hosts: dict[Identifier, dict[str, None]] = {}
    for part in ordered:
        for implementation in part.implementations:
            names.setdefault(implementation.id, implementation)
            hosts.setdefault(implementation.id, {})[part.host_name] = None
    found: dict[str, list[dict[str, object]]] = {}
    for of in _sorted(names.values()):
        build = {"id": of.id, "label": of.label, "hosts": list(hosts[of.id]), "plain": of.plain}
        found.setdefault(of.library, []).append(build)
    return _json(found)


# --- without JavaScript --------------------------------------------------------------------------


def short_json(ordered: Sequence[ComparedPart]) -> str:
    """The text of `short.json`: the largest differences in speed of the first two libraries.

    They are of the host of the newest part that has both. The page shows them without JavaScript.
    If no part has two libraries, they are of the first two builds of the newest; `{"rows":[]}`
    without any.
    """
    if not ordered:
        return _json({"rows": []})
    pair = list(defaults(ordered).values())[:2]
    having = [part for part in ordered if len(pair) == 2 and set(pair) <= set(_ids(part))]
    if not having:
        having, pair = [ordered[0]], _ids(ordered[0])[:2]
    newest, found = having[0], dict[_Place, tuple[float, list[str]] | None]()
    for part in (part for part in having if part.host == newest.host):
        a, b = (_ids(part).index(id_) for id_ in pair)
        for of in part.rows:
            if of.row.group == "speed" and of.texts[a] and of.texts[b]:
                found.setdefault((of.row.anchor, of.row.unit), _difference(of, a, b))
    rows = [row for row in found.values() if row is not None]
    labels = {i.id: i.label for i in newest.implementations}
    largest = sorted(rows, key=lambda row: -row[0])[:SHORT]
    return _json(
        {
            "labels": [labels[id_] for id_ in pair],
            "host": newest.host_name,
            "rows": [row for _, row in largest],
        }
    )


def _ids(part: ComparedPart) -> list[Identifier]:
    return [implementation.id for implementation in part.implementations]


def _difference(of: ComparedFigures, a: int, b: int) -> tuple[float, list[str]] | None:
    """The size of a difference that is shown, and the texts of its row."""
    ratio = over(of, a, b)
    if not isinstance(ratio, tuple) or len(ratio) != 3:
        return None
    text = _ratio_text(*ratio)
    shown = [of.row.name, of.row.unit, text, of.texts[a], of.texts[b]]
    return abs(math.log(ratio[0])), shown


def over(of: ComparedFigures, a: int, b: int) -> Pair:
    """The pair of implementation `a` over `b` of a row."""
    later, earlier = max(a, b), min(a, b)
    at = later * (later - 1) // 2 + earlier
    pair = of.pairs[at] if at < len(of.pairs) else None
    if pair is None or later == a:
        return pair
    if not isinstance(pair, tuple):
        return 1 / pair if pair else 0
    if len(pair) == 1:
        return (1 / pair[0],)
    return (1 / pair[0], 1 / pair[2], 1 / pair[1], *pair[3:])


def _ratio_text(value: float, low: float, high: float) -> str:
    """As a report's table has it."""
    mark = "▲" if value > 1 else "▼"
    return f"{mark} {value:.2f}× ({low:.2f} to {high:.2f})"
