"""Key exchanges beside each other: a group of bars for each handshake, a bar for each exchange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tlsperf.contract.names import anchor_of, scenario_anchor, scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Row, ShownImplementation, Table
from tlsperf.contract.text import ABSENT
from tlsperf.contract.variant import parse_variant
from tlsperf.report.charts import bars, heatmap
from tlsperf.report.charts.kind import Around, Drawing, draw_first, groups_of


def applies(table: Table) -> bool:
    """Whether a table compares key exchanges in some handshake."""
    groups = groups_of(table, "key_exchange", "variant").values()
    return any(len({row.scenario.key_exchange for row in rows}) > 1 for rows in groups)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart; where it would have too many bars, one for each handshake that compares key
    exchanges, and one of the rest."""
    turned, columns = by_key_exchange(table, around.implementations)
    if bars.applies(turned):
        yield bars.bars_of(turned, columns)
        return
    rest = []
    for scenario, rows in groups_of(table, "key_exchange", "variant").items():
        if len(rows) > 1:
            part = table.model_copy(update={"rows": rows})
            yield bars.bars_of(*by_key_exchange(part, around.implementations), scenario)
        else:
            rest += rows
    if rest:
        yield from draw_first((heatmap, bars), table.model_copy(update={"rows": rest}), around)


def by_key_exchange(
    table: Table, implementations: Mapping[str, ShownImplementation]
) -> tuple[Table, dict[str, ShownImplementation]]:
    """The table turned: rows that differ in key exchange alone become one row, in which each
    implementation is once for each exchange. It is drawn by `bars.bars`."""
    turned: dict[Scenario, dict[str, Cell]] = {}
    columns: dict[str, ShownImplementation] = {}
    order = {i: n for n, i in enumerate(implementations)}
    for row in table.rows:
        rest = row.scenario.model_copy(update={"key_exchange": None, "variant": None})
        exchange = row.scenario.key_exchange or "key exchange not recorded"
        if row.scenario.variant:
            exchange += f", {parse_variant(row.scenario.variant).label}"
        for cell in row.cells:
            if cell.value is None:
                continue
            shown = implementations[cell.implementation]
            column = f"{cell.implementation}-{anchor_of(exchange)}"
            columns.setdefault(
                column,
                shown.model_copy(update={"id": column, "label": f"{shown.label}, {exchange}"}),
            )
            turned.setdefault(rest, {})[column] = cell.model_copy(
                update={"implementation": column, "best": False}
            )
    ids = sorted(columns, key=lambda c: (order[_implementation(c, order)], list(columns).index(c)))
    rows = [
        Row(
            anchor=scenario_anchor(scenario),
            name=scenario_name(scenario),
            scenario=scenario,
            cells=[cells.get(i) or Cell(implementation=i, text=ABSENT) for i in ids],
        )
        for scenario, cells in turned.items()
    ]
    return (
        table.model_copy(update={"rows": rows, "implementations": ids}),
        {i: columns[i] for i in ids},
    )


def _implementation(column: str, known: Mapping[str, int]) -> str:
    return max((i for i in known if column.startswith(i)), key=len)
