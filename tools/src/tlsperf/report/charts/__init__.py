"""The charts of a report, each drawn from rows of one of its tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from tlsperf.analysis.ratios import factor_text
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.names import scenario_anchor, scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Chart, Results, Row, ShownImplementation, Table
from tlsperf.report.charts.bars import MOST_BARS, bars
from tlsperf.report.charts.heatmap import heatmap
from tlsperf.report.charts.key_exchange import by_key_exchange
from tlsperf.report.charts.latency import latency
from tlsperf.report.charts.memory import memory
from tlsperf.report.charts.picture import Picture
from tlsperf.report.charts.threads import threads

if TYPE_CHECKING:
    from tlsperf.load.histograms import Histograms

MOST_COLUMNS = 5
"""A table with ratios and more implementations is drawn as a matrix of factors."""

Each = Callable[..., Iterable[str]]
"""How a function that draws is called with the items of iterables: `map`, or that of processes."""

Implementations = Mapping[str, ShownImplementation]


def describe_charts(results: Results) -> list[Chart]:
    """The charts that a report has, undrawn."""
    return [chart for chart, _ in _pictures(results, {})]


def draw_charts(
    results: Results, histograms: Histograms, each: Each = map
) -> Iterator[tuple[str, str]]:
    """Name and text of each SVG file of `results.charts`."""
    from tlsperf.report.charts.svg import draw

    described = {chart.file: chart for chart in results.charts}
    pictures = {chart.file: picture for chart, picture in _pictures(results, histograms)}
    specifications = [picture.specification for picture in pictures.values()]
    return zip(pictures, each(draw, specifications, map(described.get, pictures)), strict=True)


def _pictures(results: Results, histograms: Histograms) -> Iterator[tuple[Chart, Picture]]:
    implementations = {i.id: i for i in results.implementations}
    counts = {host.cores for host in results.hosts}
    cores = counts.pop() if len(counts) == 1 else None
    for table in results.tables:
        if table.by_phase:
            continue
        if table.anchor.endswith(("-threads", "-per-thread")):
            yield from _threads(table, implementations, cores)
        elif table.anchor.endswith("-latency"):
            yield from _latencies(table, implementations, histograms)
        elif METRICS[table.rows[0].metric].charts.get(table.unit) == "sessions":
            yield from _memory(table, implementations)
        elif _compares_key_exchanges(table):
            yield from _key_exchanges(table, implementations)
        else:
            yield from _compared(table, implementations)


def _cells(table: Table) -> int:
    return sum(len(row.cells) for row in table.rows)


def _bars(
    table: Table, implementations: Implementations, scenario: Scenario | None = None
) -> tuple[Chart, Picture]:
    told = f"Grouped bars in {table.unit}, {table.better} is better. "
    picture = bars(table, implementations)
    return _chart(table, picture, told + _figures(table, implementations), scenario)


def _key_exchanges(
    table: Table, implementations: Implementations
) -> Iterator[tuple[Chart, Picture]]:
    """One chart; where it would have too many bars, one for each handshake that compares key
    exchanges, and one of the rest."""
    turned, columns = by_key_exchange(table, implementations)
    if _cells(turned) <= MOST_BARS:
        yield _bars(turned, columns)
        return
    rest = []
    for scenario, rows in _groups(table, "key_exchange", "variant").items():
        if len(rows) > 1:
            part = table.model_copy(update={"rows": rows})
            yield _bars(*by_key_exchange(part, implementations), scenario)
        else:
            rest += rows
    if rest:
        yield from _compared(table.model_copy(update={"rows": rest}), implementations)


def _compared(table: Table, implementations: Implementations) -> Iterator[tuple[Chart, Picture]]:
    """Implementations beside each other: bars, or a matrix of factors where they are many."""
    cells = _cells(table)
    if table.baseline and (len(table.implementations) > MOST_COLUMNS or cells > MOST_BARS):
        yield _chart(table, heatmap(table, implementations), _factors(table, implementations))
    elif cells <= MOST_BARS:
        yield _bars(table, implementations)


def _threads(
    table: Table, implementations: Implementations, cores: int | None
) -> Iterator[tuple[Chart, Picture]]:
    for scenario, rows in _groups(table, "threads").items():
        ends = [
            f"{implementations[first.implementation].label} from {first.text} with "
            f"{rows[0].scenario.threads} threads to {last.text} with {rows[-1].scenario.threads}"
            for first, last in zip(rows[0].cells, rows[-1].cells, strict=True)
            if first.value is not None and last.value is not None
        ]
        yield _chart(
            table,
            threads(rows, implementations, table.unit, cores),
            f"Lines over the number of threads, in {table.unit}: {'; '.join(ends)}.",
            scenario,
        )


def _latencies(
    table: Table, implementations: Implementations, histograms: Histograms
) -> Iterator[tuple[Chart, Picture]]:
    for scenario, rows in _groups(table).items():
        untold = scenario.model_copy(update={"threads": None})
        shapes = {i: bins for (s, i), bins in histograms.items() if s in (scenario, untold)}
        told = [
            f"{label.label}: "
            + ", ".join(
                f"{r.statistic} {c.text}"
                for r in rows
                for c in r.cells
                if c.value and c.implementation == label.id
            )
            for label in implementations.values()
            if any(c.implementation == label.id and c.value for r in rows for c in r.cells)
        ]
        yield _chart(
            table,
            latency(rows, implementations, table.unit, shapes),
            f"Percentiles in {table.unit} on a logarithmic axis, a line for each library with the "
            f"median as its largest point. {'; '.join(told)}.",
            scenario,
        )


def _memory(table: Table, implementations: Implementations) -> Iterator[tuple[Chart, Picture]]:
    for scenario, rows in _groups(table, "variant").items():
        picture, slopes = memory(rows, implementations)
        told = (
            f"Memory over the number of sessions, with the slope of each line. {'; '.join(slopes)}."
        )
        yield _chart(table, picture, told, scenario)


def _groups(table: Table, *without: str) -> dict[Scenario, list[Row]]:
    """Rows of a table by scenario but for some fields, in their order."""
    groups: dict[Scenario, list[Row]] = {}
    for row in table.rows:
        rest = row.scenario.model_copy(update=dict.fromkeys(without))
        groups.setdefault(rest, []).append(row)
    return groups


def _compares_key_exchanges(table: Table) -> bool:
    groups = _groups(table, "key_exchange", "variant").values()
    return any(len({row.scenario.key_exchange for row in rows}) > 1 for rows in groups)


def _chart(
    table: Table, picture: Picture, description: str, scenario: Scenario | None = None
) -> tuple[Chart, Picture]:
    kind = table.anchor.rpartition("-")[2]
    name = f"{scenario_anchor(scenario)}-{kind}" if scenario else table.anchor
    chart = Chart(
        anchor=f"chart-{name}",
        file=f"{name}.svg",
        title=f"{table.title}: {scenario_name(scenario)}" if scenario else table.title,
        description=description,
        width=picture.width,
        height=picture.height,
        table=table.anchor,
    )
    return chart, picture


def _factors(table: Table, implementations: Implementations) -> str:
    """The text alternative of a matrix: the lowest and highest factor of each implementation.

    Every figure would be minutes of listening; the table has them all.
    """
    told = []
    for i in table.implementations:
        cells = [c for row in table.rows for c in row.cells if c.implementation == i]
        factors = [cell.ratio.value for cell in cells if cell.ratio]
        if factors:
            ends = f"{factor_text(min(factors))} to {factor_text(max(factors))}"
            told.append(f"{implementations[i].label} {ends}")
    baseline = implementations[table.baseline].label if table.baseline else ""
    return (
        f"Matrix of the factors of {len(table.rows)} scenarios against {baseline}; above 1 is "
        f"better. {'; '.join(told)}."
    )


def _figures(table: Table, implementations: Implementations) -> str:
    """The text alternative of a table: every figure that its chart shows."""
    rows = [
        f"{row.name}: "
        + ", ".join(
            f"{implementations[c.implementation].label} {c.text}"
            + ("" if c.valid else " (not counted)")
            for c in row.cells
        )
        for row in table.rows
    ]
    return f"{'; '.join(rows)}."
