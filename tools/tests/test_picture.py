"""Which ratios of a report's parts stand in its picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from synthetic import HANDSHAKES, TRANSFERS, Rates, loaded_run, report_of
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.run import HostFacts
from tlsperf.report.charts.dots import Dots
from tlsperf.report.picture import MANY_ROWS, MOST_ROWS, picture

ROUNDS = np.array([1000.0 + 5 * (n % 3) for n in range(20)])
FACTORS = {"openssl-3.6": 1.0, "rustls-1": 1.3, "boringssl-2": 0.8, "gnutls-4": 1.0}
SENDING = TRANSFERS[2]
SERVER = HANDSHAKES[-1]


def part(
    factors: Mapping[str, float] = FACTORS,
    scenarios: Sequence[Scenario] = (*TRANSFERS, *HANDSHAKES),
    host: str = "Here",
    id_: str = "2026-11-21-a",
    baseline: str = "openssl-3.6",
) -> Results:
    rates: Rates = {i: {s: list(f * ROUNDS) for s in scenarios} for i, f in factors.items()}
    facts = HostFacts(id=host.lower(), name=host, cpu="A CPU", architecture="x86_64")
    run = loaded_run(id_, rates, host_id=facts.id)
    return report_of(run, [facts], baseline=baseline).results


HERE = part()
THERE = part({**FACTORS, "rustls-1": 1.5}, host="There", id_="2026-11-22-b")


def row_of(scenario: Scenario) -> str:
    return next(r.anchor for t in HERE.tables for r in t.rows if r.scenario == scenario)


def picture_of(*arguments: object) -> Dots:
    found = picture(*arguments)  # type: ignore[arg-type]
    assert found
    return found


def test_the_ratios_of_a_picture_are_those_of_the_tables() -> None:
    ratios = {
        (c.implementation.split("-")[0], c.ratio.value, c.ratio.low, c.ratio.high, c.ratio.verdict)
        for table in HERE.tables
        for row in table.rows
        if row.scenario == SENDING
        for c in row.cells
        if c.ratio
    }
    dots = picture_of([HERE], [row_of(SENDING)])
    assert dots.baseline == "OpenSSL 3.6"
    [panel] = dots.panels
    assert [row.label for row in panel.rows] == ["rustls", "BoringSSL", "GnuTLS"]
    assert {(d.ratio, d.low, d.high) for d in dots.every} == {of[1:4] for of in ratios}
    assert {d.ratio for d in dots.every if not d.is_shown} == {
        value for _, value, *_, verdict in ratios if verdict == "no difference shown"
    }


def test_a_row_has_a_dot_for_each_host() -> None:
    dots = picture_of([HERE, THERE], [row_of(SENDING)])
    assert list(dots.hosts) == ["Here", "There"]
    rustls = dots.panels[0].rows[0]
    assert [(dot.host, round(dot.ratio, 1)) for dot in rustls.dots] == [(0, 1.3), (1, 1.5)]


def test_two_hosts_of_one_name_have_a_dot_each() -> None:
    [host] = THERE.hosts
    same = THERE.model_copy(update={"hosts": [host.model_copy(update={"name": "Here"})]})
    dots = picture_of([HERE, same], [row_of(SENDING)])
    assert [dot.host for dot in dots.panels[0].rows[0].dots] == [0, 1]
    assert len(set(dots.hosts)) == 2


def test_of_two_parts_of_a_host_the_first_that_has_the_row_counts() -> None:
    again = part({**FACTORS, "rustls-1": 2.0}, id_="2026-11-23-c")
    transfers = part({**FACTORS, "rustls-1": 3.0}, TRANSFERS, id_="2026-11-24-d")
    dots = picture_of([transfers, again, HERE], [row_of(SENDING), row_of(SERVER)])
    ratios = [panel.rows[0].dots[0].ratio for panel in dots.panels]
    assert ratios == pytest.approx([3.0, 2.0], abs=0.01)
    assert list(dots.hosts) == ["Here"]


def test_the_name_of_a_table_follows_the_names_of_its_rows() -> None:
    table = next(t.anchor for t in HERE.tables for r in t.rows if r.scenario == SENDING)
    plain, named = (picture_of([HERE], [of]).panels for of in (table, f"{table}: by a cache"))
    assert [panel.title for panel in named] == [f"{panel.title}, by a cache" for panel in plain]


def test_a_host_without_the_row_has_no_dot_there() -> None:
    transfers = part(scenarios=TRANSFERS, host="There", id_="2026-11-22-b")
    dots = picture_of([HERE, transfers], [row_of(SENDING), row_of(SERVER)])
    assert [len(panel.rows[0].dots) for panel in dots.panels] == [2, 1]


def test_one_implementation_has_a_panel_with_a_row_for_each_scenario() -> None:
    dots = picture_of([HERE], ["transfer", row_of(SERVER)], ["rustls-1"])
    [panel] = dots.panels
    assert panel.title == "rustls"
    assert len(panel.rows) == len(TRANSFERS) + 1
    assert len({row.label for row in panel.rows}) == len(panel.rows)


def test_few_implementations_have_a_panel_each_if_scenarios_are_many() -> None:
    both = ["boringssl-2", "rustls-1"]
    many = picture_of([HERE], ["transfer", "full-handshakes"], both)
    assert len(many.panels[0].rows) > MANY_ROWS
    assert [panel.title for panel in many.panels] == ["BoringSSL", "rustls"]
    few = picture_of([HERE], ["transfer"], both)
    assert [row.label for row in few.panels[0].rows] == ["BoringSSL", "rustls"]
    assert len(few.panels) == len(TRANSFERS)


def test_a_row_has_the_name_that_somebody_chose() -> None:
    dots = picture_of([HERE], [f"{row_of(SENDING)}: Sending", row_of(SERVER)])
    assert dots.panels[0].title == "Sending"
    assert "handshake" in dots.panels[1].title


def test_words_that_all_rows_share_are_said_once() -> None:
    dots = picture_of([HERE], ["transfer"], ["rustls-1"])
    senders = [row.anchor for row in HERE.tables[0].rows if row.scenario.side == "sender"]
    sending = picture_of([HERE], senders, ["rustls-1"])
    assert any("sending" in row.label for row in dots.panels[0].rows)
    assert all("sending" not in row.label for row in sending.panels[0].rows)
    assert "ending" in sending.notes[0]


def test_versions_of_a_library_are_told_apart_as_briefly_as_possible() -> None:
    versions = part({"openssl-3.6": 1.0, "openssl-1.1": 1.2, "rustls-1": 1.3})
    dots = picture_of([versions], [row_of(SENDING)])
    assert [row.label for row in dots.panels[0].rows] == ["OpenSSL 1.1", "rustls"]


def test_without_a_choice_each_table_has_a_row_and_there_are_few() -> None:
    one = picture_of([part({"openssl-3.6": 1.0, "rustls-1": 1.3})])
    assert len(one.panels[0].rows) == MOST_ROWS
    names = " ".join(row.label for row in one.panels[0].rows)
    for operation in ("transfer", "full", "resumed"):
        assert operation in names
    assert len(picture_of([HERE, THERE]).panels) == MANY_ROWS


def test_a_report_without_a_ratio_has_no_picture() -> None:
    alone = part({"rustls-1": 1.3}, baseline="rustls-1")
    assert picture([alone]) is None
    with pytest.raises(UserError, match="no ratio"):
        picture([alone], [row_of(SENDING)])


def test_versions_of_the_baseline_that_differ_by_host_are_named_by_their_library() -> None:
    older = part(
        {"openssl-3.5": 1.0, "rustls-1": 1.2},
        host="There",
        id_="2026-11-22-b",
        baseline="openssl-3.5",
    )
    assert picture_of([HERE, older], [row_of(SENDING)]).baseline == "OpenSSL"
    other = part(
        {"gnutls-4": 1.0, "rustls-1": 1.2}, host="There", id_="2026-11-22-b", baseline="gnutls-4"
    )
    with pytest.raises(UserError, match=r"OpenSSL 3.6, GnuTLS 4"):
        picture([HERE, other], [row_of(SENDING)])
    assert list(picture_of([HERE, other]).hosts) == ["Here"]


@pytest.mark.parametrize(
    ("chosen", "implementations", "message"),
    [
        (["transfers"], None, "'transfers', expected transfer"),
        (["transfer"], ["rustls-2"], "'rustls-2', expected rustls-1"),
    ],
)
def test_an_unknown_name_is_rejected_with_alternatives(
    chosen: list[str], implementations: list[str] | None, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        picture([HERE], chosen, implementations)
