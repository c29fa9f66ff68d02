"""Price lists of pairs: handshakes without and with early data, or compressed certificates."""

from __future__ import annotations

import re
from typing import Final

from test_prices import (
    HYBRID,
    ONE,
    OPENSSL,
    RUN,
    RUSTLS,
    TODAY,
    cell,
    flight,
    memory,
    of_ml_dsa,
    rates,
    results,
    steady,
    tables,
)
from tlsperf.contract.record import Scenario
from tlsperf.contract.run import Report
from tlsperf.load.tlsbench import Gap
from tlsperf.publish.scaffold import report_page
from tlsperf.report.charts.prices import price_charts


def resumed(of: Scenario, resumption: str = "ticket", **more: str) -> Scenario:
    return of.model_copy(update={"resumption": resumption, **more})


def early(of: Scenario, resumption: str = "ticket") -> Scenario:
    return resumed(of, resumption, variant="early-data")


EARLY: Final = (
    steady(OPENSSL, 10_000, resumed(TODAY)),
    steady(OPENSSL, 8_000, early(TODAY)),
    steady(OPENSSL, 5_000, resumed(HYBRID)),
    steady(OPENSSL, 4_500, early(HYBRID)),
)


def test_early_data_is_compared_with_the_same_handshake_without_it() -> None:
    table = tables(*EARLY)["prices-server-early-data"]
    assert [(of.id, of.against, of.name) for of in table.columns] == [
        ("x25519", None, "X25519"),
        ("x25519-early-data", "x25519", "X25519, early data"),
        ("x25519mlkem768", None, "X25519MLKEM768"),
        ("x25519mlkem768-early-data", "x25519mlkem768", "X25519MLKEM768, early data"),
    ]
    lost = [of.cells[0].lost for of in table.columns]
    assert [it and it.text for it in lost] == [
        *(None, "20.0% lost (20.0 to 20.0%)"),
        *(None, "10.0% lost (10.0 to 10.0%)"),
    ]
    assert "one resumed TLS 1.3 handshake" in table.caption
    assert "against the column before, in the same rounds" in table.caption
    assert "corrected for 2 comparisons" in table.caption


def test_tickets_and_a_session_cache_have_tables_of_their_own() -> None:
    cache = [
        steady(RUSTLS, 9_000, resumed(TODAY, "session-id")),
        steady(RUSTLS, 6_000, early(TODAY, "session-id")),
    ]
    gaps = [Gap(RUSTLS, early(TODAY), "rustls has none with tickets")]
    found = tables(*EARLY, *cache, steady(RUSTLS, 9_000, resumed(TODAY)), gaps=gaps)
    assert list(found) == ["prices-server-early-data", "prices-server-early-data-cache"]
    ticket, in_cache = found.values()
    assert cell(ticket, "x25519-early-data", RUSTLS).note == "rustls has none with tickets"
    assert cell(in_cache, "x25519-early-data").note == "not part of the source"
    lost = cell(in_cache, "x25519-early-data", RUSTLS).lost
    assert lost
    assert lost.text == "33.3% lost (33.3 to 33.3%)"


def test_resumed_handshakes_without_early_data_are_no_price_list() -> None:
    assert results(EARLY[0], EARLY[2]).prices is None
    assert results(EARLY[1], EARLY[3]).prices is None
    assert results(*EARLY[:2]).prices is not None
    assert results(EARLY[0], EARLY[3]).prices is None, "each has another key exchange"


def test_compressed_certificates_are_compared_with_the_same_ones_uncompressed() -> None:
    def of(scenario: Scenario) -> Scenario:
        return scenario.model_copy(update={"variant": "compressed-zlib"})

    rows = [
        *(steady(OPENSSL, 8_000, HYBRID), steady(OPENSSL, 6_000, of(HYBRID))),
        *(steady(OPENSSL, 4_000, of_ml_dsa()), steady(OPENSSL, 4_000, of(of_ml_dsa()))),
        *(flight(OPENSSL, HYBRID, 2_000, 2, "flight-1"),),
        *(flight(OPENSSL, of(HYBRID), 1_700, 2, "flight-1"),),
    ]
    found = tables(*rows)
    # A table begins with its first column.
    assert found == {}
    rsa = HYBRID.model_copy(update={"certificate": "rsa-2048"})
    size = [flight(OPENSSL, it, 3_000, 3, "flight-1") for it in (rsa, of(rsa))]
    found = tables(steady(OPENSSL, 2_000, rsa), steady(OPENSSL, 1_900, of(rsa)), *size, *rows)
    assert list(found) == ["prices-server-compression", "prices-server-flight-compression"]
    table, flights = found.values()
    assert [it.lost and it.lost.percent for it in (it.cells[0] for it in table.columns)] == [
        *(None, 5.0, None, 25.0, None, 0.0),
    ]
    assert [it.cells[0].value for it in flights.columns] == [3_000, 3_000, 2_000, 1_700]


def test_memory_alone_has_its_tables_with_todays_algorithms_and_ml_dsa() -> None:
    rows = [memory(OPENSSL, TODAY, 50_000), memory(OPENSSL, of_ml_dsa(), 60_000)]
    table = tables(*rows)["prices-server-memory"]
    assert [it.cells[0].value for it in table.columns] == [50_000, 60_000]
    assert results(rows[0], memory(OPENSSL, HYBRID, 51_000)).prices is None


def test_pairs_beside_a_price_list_have_the_same_correction() -> None:
    found = tables(*ONE, *EARLY)
    assert {"prices-server", "prices-server-early-data"} < set(found)
    assert (
        found["prices-server"].caption.rpartition("corrected for")[2]
        == (found["prices-server-early-data"].caption.rpartition("corrected for")[2])
    )


def test_a_pair_is_of_the_same_rounds() -> None:
    values = [10_000.0, 8_000.0] * 8
    rows = [
        rates(OPENSSL, resumed(TODAY), values),
        rates(OPENSSL, early(TODAY), [0.9 * value for value in values]),
    ]
    lost = cell(tables(*rows)["prices-server-early-data"], "x25519-early-data").lost
    assert lost
    assert lost.text == "10.0% lost (10.0 to 10.0%)"


def test_a_new_page_shows_the_picture_of_a_price_list_if_it_has_one() -> None:
    for rows, charts in ((EARLY, []), (ONE, ["chart-prices"])):
        found = results(*rows)
        report = Report(id=found.id, title=found.title, date=found.date, runs=[RUN])
        drawn = [drawing.chart for drawing in price_charts(found)]
        page = report_page(report, found.model_copy(update={"charts": drawn}))
        text = page.partition("## The price list")[2].partition("## Results")[0]
        shown = re.findall(r'(\w+)\(id="([^"]+)"\)', text)
        assert [name for kind, name in shown if kind == "chart"] == charts
        prices = [table.anchor for table in found.prices or ()]
        assert [name for kind, name in shown if kind == "prices"] == prices
