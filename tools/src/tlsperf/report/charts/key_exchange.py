"""Key exchanges: a panel for each handshake, and a bar for each key exchange."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tlsperf.contract.names import anchor_of, scenario_anchor, scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Row, ShownImplementation, Table
from tlsperf.contract.variant import parse_variant
from tlsperf.report.charts import bars, heatmap
from tlsperf.report.charts.kind import Around, Drawing, groups_of


def applies(table: Table) -> bool:
    """Whether a table compares key exchanges of a handshake, for few implementations."""
    groups = groups_of(table, "key_exchange", "variant").values()
    few = len(table.implementations) <= heatmap.MOST_COLUMNS
    return few and any(len({row.scenario.key_exchange for row in rows}) > 1 for rows in groups)


def draw(table: Table, around: Around) -> Iterator[Drawing]:
    """One chart: a panel for each handshake, a bar for each key exchange of each implementation."""
    turned, columns = by_key_exchange(table, around.implementations)
    yield bars.bars_of(turned, columns)


def by_key_exchange(
    table: Table, implementations: Mapping[str, ShownImplementation]
) -> tuple[Table, dict[str, ShownImplementation]]:
    """The table with rows that differ only in key exchange merged into one row.

    In that row, each implementation occurs once for each key exchange. `bars.bars_of` draws it.
    """
    turned: dict[Scenario, dict[str, Cell]] = {}
    columns: dict[str, ShownImplementation] = {}
    order = {i: n for n, i in enumerate(implementations)}
    for row in table.rows:
        variant = parse_variant(row.scenario.variant) if row.scenario.variant else None
        exchange = row.scenario.key_exchange or "key exchange not recorded"
        without = {"key_exchange": None, "variant": None}
        if variant and variant.kind in ("chain", "compressed"):
            del without["variant"]
        elif variant:
            exchange += f", {variant.label}"
        rest = row.scenario.model_copy(update=without)
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
            cells=[cells[i] for i in ids if i in cells],
        )
        for scenario, cells in turned.items()
    ]
    return (
        table.model_copy(update={"rows": rows, "implementations": ids}),
        {i: columns[i] for i in ids},
    )


def _implementation(column: str, known: Mapping[str, int]) -> str:
    return max((i for i in known if column.startswith(i)), key=len)
