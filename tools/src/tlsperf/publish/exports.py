"""A report's results as files: results.json, results.csv, layouts.csv, latency-histogram.csv."""

from __future__ import annotations

import json
from statistics import median
from typing import TYPE_CHECKING, Final

from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.contract.results import Comparisons, Results
from tlsperf.contract.text import csv_text

if TYPE_CHECKING:
    from tlsperf.load.histograms import Histograms


RESULTS: Final = "results.csv"
HISTOGRAM: Final = "latency-histogram.csv"
LAYOUTS: Final = "layouts.csv"


def results_json(results: Results) -> str:
    """The text of results.json, without absent fields; a line for each row of a table."""
    table = results.model_dump(mode="json", by_alias=True, exclude_none=True)
    text = json.dumps(table, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace('{"anchor":', '\n{"anchor":') + "\n"


def comparisons_json(comparisons: Comparisons) -> str:
    """The text of comparisons.json, with a line for each row and baseline."""
    text = comparisons.model_dump_json(by_alias=True)
    return text.replace(':{"', ':\n{"') + "\n"


def results_csv(results: Results) -> str:
    """The text of results.csv, with a line for each cell of each table."""
    rows = [row for table in results.tables for row in table.rows]
    # Reports without `in_flight` keep their columns.
    old = all(row.scenario.in_flight is None for row in rows)
    scenario_fields = [field for field in SCENARIO_FIELDS if not (old and field == "in_flight")]
    cell_fields = ("value", "low", "high", "count", "spread_percent", "valid", "note")
    ratio_fields = ("value", "low", "high", "verdict", "paired")
    lines: list[list[object]] = [
        [
            *("table", "anchor", "name", *scenario_fields, "phase", "metric", "statistic"),
            *("implementation", "unit", *cell_fields),
            *("baseline", *(f"ratio_{field}" for field in ratio_fields)),
        ]
    ]
    for table in results.tables:
        for row in table.rows:
            scenario = [getattr(row.scenario, field) for field in scenario_fields]
            for cell in row.cells:
                ratio = cell.ratio
                lines.append(
                    [
                        *(table.anchor, row.anchor, row.name, *scenario),
                        *(row.phase, row.metric, row.statistic, cell.implementation, table.unit),
                        *(_csv(getattr(cell, field)) for field in cell_fields),
                        table.baseline if ratio else None,
                        *(_csv(getattr(ratio, f)) if ratio else None for f in ratio_fields),
                    ]
                )
    return csv_text(lines)


def layouts_csv(results: Results) -> str:
    """The text of layouts.csv: a line for each program, row and kind; empty without layouts."""
    effects = [effect for table in results.tables for effect in table.layouts or ()]
    if not effects:
        return ""
    fields = ("anchor", "name", "implementation", "kind", "same_percent", "beyond")
    lines: list[list[object]] = [
        [*fields, "layouts", "lowest_percent", "median_percent", "highest_percent"]
    ]
    for effect in effects:
        percents = effect.percents
        span = (min(percents), f"{median(percents):.6g}", max(percents))
        lines.append([*(getattr(effect, field) for field in fields), len(percents), *span])
    return csv_text(lines)


def _csv(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def histograms_csv(histograms: Histograms) -> str:
    """The text of latency-histogram.csv, with a line for each bin."""
    lines: list[list[object]] = [["name", "implementation", "low_us", "high_us", "count"]]
    for (scenario, implementation), bins in histograms.items():
        for b in bins:
            line = [scenario_name(scenario), implementation, f"{b.low:.6g}", f"{b.high:.6g}"]
            lines.append([*line, b.count])
    return csv_text(lines)
