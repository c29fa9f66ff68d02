"""Every metric has one entry, and all code that depends on a metric reads it."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

from project import ROOT
from tlsperf.contract.metrics import METRICS, STATISTICS, UNITS, as_shown
from tlsperf.contract.operations import OPERATIONS, Operation

SOURCE = ROOT / "tools" / "src" / "tlsperf"
READERS = ("load/",)
"""Modules that read foreign formats name the metrics of their figures."""


def observation() -> Any:
    text = (ROOT / "data" / "schema" / "record.schema.json").read_text(encoding="utf-8")
    return json.loads(text)["$defs"]["Observation"]["properties"]


def test_the_schema_has_the_metrics_units_and_statistics_of_the_table() -> None:
    fields = observation()
    assert fields["metric"]["enum"] == list(METRICS)
    assert fields["unit"]["enum"] == list(UNITS)
    assert fields["statistic"]["enum"] == list(STATISTICS)


def test_a_unit_is_whole_in_all_metrics_or_in_none() -> None:
    precision: dict[str, set[bool]] = {}
    for metric in METRICS.values():
        for units in metric.units.values():
            for unit in units:
                precision.setdefault(unit, set()).add(metric.whole)
    assert {unit: len(found) for unit, found in precision.items() if len(found) > 1} == {}


def test_every_operation_has_its_words() -> None:
    assert tuple(OPERATIONS) == get_args(Operation)


def test_units_are_of_operations_that_exist() -> None:
    known = {*get_args(Operation), "*"}
    assert {operation for metric in METRICS.values() for operation in metric.units} <= known
    assert METRICS["rate"].units_of("memory") == ()
    assert METRICS["duration"].units_of("handshake") == ("µs",)


def test_one_metric_is_primary() -> None:
    assert [name for name, metric in METRICS.items() if metric.primary] == ["rate"]


def test_bytes_of_a_process_are_shown_in_kib() -> None:
    assert as_shown("memory", 2048.0, "bytes") == (2.0, "KiB")
    assert as_shown("memory", 2048.0, "bytes/connection") == (2048.0, "bytes/connection")
    assert as_shown("handshake", 10.0, "µs") == (10.0, "µs")


def test_no_other_module_decides_by_the_name_of_a_metric() -> None:
    named = re.compile(rf"""metric\b[^\n]*[!=]= ?["'](?:{"|".join(METRICS)})["']""")
    others = "|".join(set(METRICS) - {"rate", "duration"})
    quoted = re.compile(rf"""["'](?:{others})["']""")
    modules = {path.relative_to(SOURCE).as_posix(): path for path in SOURCE.rglob("*.py")}
    assert quoted.search(modules.pop("contract/metrics.py").read_text(encoding="utf-8"))
    found = {
        name: [*named.findall(text), *quoted.findall(text)]
        for name, path in modules.items()
        if not name.startswith(READERS) and (text := path.read_text(encoding="utf-8"))
    }
    assert {name: words for name, words in found.items() if words} == {}
