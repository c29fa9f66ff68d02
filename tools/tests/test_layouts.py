"""A run that repeats layouts shows the effect of a layout, with A/A."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from synthetic import SIXTEEN, implementation, in_sessions, loaded_run, with_each
from tlsperf.analysis.series import measured
from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import HostFacts, Report
from tlsperf.load.run import LoadedRun
from tlsperf.report.charts import charts_of
from tlsperf.report.charts.svg import draw
from tlsperf.report.results import measured_report

IDS = ("openssl-3.6.3", "rustls-1")
SCENARIO = SIXTEEN[0]
LAYOUTS = (1.0, 0.9, 1.02)
WOBBLE = (1.005, 1.0, 0.995, 1.005, 0.995)
TURNS = [0, 1, 2] * 3


def run_of(
    layouts: Sequence[int],
    kind: str = "shuffled",
    id_: str = "2026-11-22-a",
    rate: float = LAYOUTS[2],
    ids: Sequence[str] = IDS,
) -> LoadedRun:
    """A session for each layout in `layouts`, whose rates depend on the layout.

    The host becomes slower from turn to turn, and sessions of one layout differ by 0.5%.
    """
    rates = []
    for at, layout in enumerate(layouts):
        turn = layouts[:at].count(layout)
        wobble = WOBBLE[turn] if layout else 1
        rates += [100 * (*LAYOUTS[:2], rate)[layout] * 0.95**turn * wobble] * 3
    sessions = [
        {"number": n, "started": "2026-11-22T08:00:00Z", "seed": n, "layout": layout}
        for n, layout in enumerate(layouts, 1)
    ]
    linked = [
        {"number": n, "kind": kind if n else "own", "programs": dict.fromkeys(ids, f"{n}" * 64)}
        for n in sorted(set(layouts))
    ]
    more: dict[str, Any] = {"sessions": sessions, "layouts": linked}
    rows = {i: {SCENARIO: rates} for i in ids}
    # Each kind has its own object files.
    sha256 = id_[-1] * 64
    built = [implementation(i, binary_sha256=sha256) for i in ids]
    return in_sessions(loaded_run(id_, rows, built, **more), 3)


def results_of(*runs: LoadedRun) -> Results:
    report = Report(
        id="2026-11-22-a", title="A", date=runs[0].run.date, runs=[r.run.id for r in runs]
    )
    host = HostFacts(id="a-host", cpu="A CPU", architecture="x86_64")
    return measured_report(report, [measured(r) for r in runs], {"a-host": host}).results


def test_a_layout_is_compared_with_the_own_order_and_with_itself() -> None:
    (table,) = results_of(run_of(TURNS)).tables
    assert table.layouts is not None
    assert [e.implementation for e in table.layouts] == list(IDS)
    effect = table.layouts[0]
    assert effect.percents == [pytest.approx(-10, abs=0.01), pytest.approx(2, abs=0.01)]
    # A median deviation of 0.5% as a normal standard deviation, for means of three turns.
    assert effect.same_percent == pytest.approx(1.96 * 1.4826 * 0.5 / 2**0.5, rel=0.01)
    assert (effect.kind, effect.beyond) == ("shuffled", 2)
    assert (effect.text, effect.same_text) == ("−10.0 to +2.0%", "1.0%")


def test_a_layout_within_a_a_is_not_beyond_it() -> None:
    found = []
    for rate in (1.009, 1.011):
        effects = results_of(run_of([0, 2] * 3, rate=rate)).tables[0].layouts
        assert effects is not None
        found.append([e.beyond for e in effects])
    assert found == [[0, 0], [1, 1]]


def test_a_disturbed_session_changes_neither_effect_nor_a_a() -> None:
    run = run_of([0, 1, 2] * 5)
    calm = results_of(run).tables[0].layouts
    halved = with_each(run, lambda of: of._replace(value=of.value / (2 if of.session == 5 else 1)))
    disturbed = results_of(halved).tables[0].layouts
    assert calm is not None
    assert disturbed is not None
    for one, other in zip(calm, disturbed, strict=True):
        assert other.percents == pytest.approx(one.percents, abs=0.6)
        assert other.same_percent == pytest.approx(one.same_percent, rel=0.5)


def test_layouts_without_repetition_show_no_effect() -> None:
    for layouts in ([0, 1, 2], [0, 1, 2] * 2, [0] * 6):
        (table,) = results_of(run_of(layouts)).tables
        assert table.layouts is None


def test_each_kind_of_layout_has_its_line_and_each_layout_its_dot() -> None:
    results = results_of(
        run_of(TURNS, "shifted"),
        run_of(TURNS, "shuffled", "2026-11-22-b"),
    )
    (drawing,) = charts_of(results)
    for label in ("OpenSSL 3.6.3", "rustls 1"):
        for kind in ("shifted", "shuffled"):
            assert f"{label}, {kind}: −10.0 to +2.0% (A/A: within 1.0%)" in (
                drawing.chart.description
            )
    svg = draw(drawing.picture, drawing.chart)
    dots = svg.count(LIGHT["openssl"]) + svg.count(LIGHT["rustls"])
    assert scenario_name(SCENARIO) in svg
    assert dots >= 2


def working_sets(sizes: Sequence[int], scenarios: Sequence[Scenario] = (SCENARIO,)) -> Results:
    rows = [
        scenario.model_copy(update={"size": 16384, "in_flight": size})
        for scenario in scenarios
        for size in sizes
    ]
    rates: dict[Scenario, list[float]] = {
        row: [9000.0 - 100 * at] * 6 for at, row in enumerate(rows)
    }
    return results_of(loaded_run("2026-11-22-a", dict.fromkeys(IDS, rates)))


def test_transfers_by_bytes_in_flight_are_lines() -> None:
    results = working_sets([16384 << n for n in range(7)])
    (drawing,) = charts_of(results)
    assert "OpenSSL 3.6.3 9,000 with 16 KiB, 8,900 with 32 KiB" in drawing.chart.description
    assert "8,400 with 1 MiB" in drawing.chart.description
    svg = draw(drawing.picture, drawing.chart)
    assert all(f">{tick}<" in svg for tick in ("16 KiB", "256 KiB"))


def test_few_working_sets_are_bars() -> None:
    (drawing,) = charts_of(working_sets([16384, 65536, 1 << 20]))
    assert drawing.chart.description.startswith("Bars in ")
