"""The price list: times, losses, flights and memory of each choice of algorithms, by hand."""

from __future__ import annotations

import functools
import io
import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from PIL import Image, ImageColor

from synthetic import implementation, in_sessions, report_of, run_of_rows
from test_geometry import corners, drawn, of_library
from tlsperf.analysis.prices import lost_of
from tlsperf.analysis.statistics import RatioEstimate
from tlsperf.contract.errors import FormatError
from tlsperf.contract.libraries import LIGHT
from tlsperf.contract.prices import Lost, PriceCell, PriceTable
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Results
from tlsperf.contract.verdict import Verdict
from tlsperf.load.run import LoadedRun
from tlsperf.load.shortcodes import shortcodes
from tlsperf.load.tlsbench import Gap
from tlsperf.publish.page_json import page_json
from tlsperf.report.charts import charts_of
from tlsperf.report.charts.prices import GUTTER, price_charts, signed
from tlsperf.report.preview import HEIGHT, WIDTH, report_preview
from tlsperf.report.statements import statements

RUN: Final = "2026-11-24-a"
OPENSSL, RUSTLS, GNUTLS = "openssl-3.6.3", "rustls-0.23.46", "gnutls-3.7.9"
TODAY: Final = Scenario(
    operation="handshake",
    protocol="1.3",
    cipher_suite="TLS_AES_256_GCM_SHA384",
    key_exchange="X25519",
    certificate="ecdsa-p256",
    authentication="server",
    resumption="none",
    side="server",
    threads=1,
)
HYBRID: Final = TODAY.model_copy(update={"key_exchange": "X25519MLKEM768"})


def of_ml_dsa(size: int = 44, **more: str) -> Scenario:
    return HYBRID.model_copy(update={"certificate": f"ml-dsa-{size}", **more})


LEAF: Final = of_ml_dsa(variant="issuer-ecdsa-p256")
Rows = list[dict[str, Any]]


def rates(name: str, scenario: Scenario, values: Sequence[float]) -> Rows:
    common = {"implementation": name, **scenario.model_dump()}
    common |= {"metric": "rate", "phase": "total", "unit": "handshakes/s"}
    return [{**common, "round": n, "value": value} for n, value in enumerate(values, 1)]


def steady(name: str, rate: float, scenario: Scenario = TODAY) -> Rows:
    return rates(name, scenario, [rate] * 15)


def flight(name: str, scenario: Scenario, size: int, segments: int, phase: str) -> Rows:
    common = {"implementation": name, **scenario.model_dump(), "phase": phase, "round": 1}
    return [
        {**common, "metric": "wire-bytes", "unit": "bytes/handshake", "value": size},
        {**common, "metric": "wire-segments", "unit": "segments/handshake", "value": segments},
    ]


def memory(name: str, scenario: Scenario, size: int, phase: str = "data") -> Rows:
    of = scenario.model_copy(update={"operation": "memory"})
    common = {"implementation": name, **of.model_dump(), "phase": phase, "round": 1}
    return [{**common, "metric": "allocated", "unit": "bytes/connection", "value": size}]


def results(*rows: Rows, gaps: Sequence[Gap] = (), **more: Any) -> Results:
    flat = [line for group in rows for line in group]
    names = dict.fromkeys(line["implementation"] for line in flat)
    names |= dict.fromkeys(gap.implementation for gap in gaps)
    run = run_of_rows(RUN, flat, [implementation(name) for name in names])
    made: LoadedRun = replace(in_sessions(run, 3), gaps=list(gaps))
    return report_of(made, **more).results


def tables(*rows: Rows, **more: Any) -> dict[str, PriceTable]:
    return {table.anchor: table for table in results(*rows, **more).prices or ()}


def cell(table: PriceTable, column: str, name: str = OPENSSL) -> PriceCell:
    [found] = [of for of in table.columns if of.id == column]
    return found.cells[table.implementations.index(name)]


ONE: Final = (
    steady(OPENSSL, 10_000),
    steady(OPENSSL, 8_000, HYBRID),
    steady(OPENSSL, 5_000, LEAF),
    steady(OPENSSL, 4_000, of_ml_dsa()),
)


def test_a_price_is_the_time_of_a_handshake_and_the_part_of_the_rate_that_is_lost() -> None:
    table = tables(*ONE)["prices-server"]
    assert [column.id for column in table.columns] == [
        *("x25519", "x25519mlkem768", "ml-dsa-44-leaf", "ml-dsa-44"),
    ]
    assert [column.name for column in table.columns] == [
        "X25519, ECDSA P-256",
        "X25519MLKEM768, ECDSA P-256",
        "X25519MLKEM768, ML-DSA-44, ECDSA P-256 issuers",
        "X25519MLKEM768, ML-DSA-44",
    ]
    assert [column.cells[0].text for column in table.columns] == [
        *("100.0", "125.0", "200.0", "250.0"),
    ]
    first, *others = [column.cells[0].lost for column in table.columns]
    assert first is None
    assert [lost and lost.text for lost in others] == [
        "20.0% lost (20.0 to 20.0%)",
        "50.0% lost (50.0 to 50.0%)",
        "60.0% lost (60.0 to 60.0%)",
    ]
    assert {lost and lost.verdict for lost in others} == {"slower"}


def test_a_loss_is_of_the_same_rounds() -> None:
    """The host slows down by a fifth from round to round; each ratio is 0.8."""
    drift = [10_000 * 0.8**n for n in range(15)]
    hybrid = [0.8 * rate for rate in drift]
    found = tables(
        rates(OPENSSL, TODAY, drift),
        rates(OPENSSL, HYBRID, hybrid),
        rates(OPENSSL, of_ml_dsa(), [0.4 * rate for rate in drift]),
    )["prices-server"]
    lost = cell(found, "x25519mlkem768").lost
    assert lost is not None
    assert lost.text == "20.0% lost (20.0 to 20.0%)"


def estimate(value: float, low: float | None, high: float | None, verdict: Verdict) -> Lost:
    return lost_of(RatioEstimate(value, low, high, verdict, True, 15))


@pytest.mark.parametrize(
    ("found", "percent", "text"),
    [
        (estimate(0.688, 0.684, 0.692, "slower"), 31.2, "31.2% lost (30.8 to 31.6%)"),
        (estimate(1.03, 1.027, 1.033, "faster"), -3.0, "3.0% gained (2.7 to 3.3%)"),
        (
            estimate(0.999, 0.994, 1.004, "no difference shown"),
            0.1,
            "no difference shown (0.4% gained to 0.6% lost)",
        ),
        (estimate(0.8, 0.7, 0.9, "too few rounds"), 20, "20.0% lost, too few rounds"),
        (estimate(0.8, None, None, "not tested"), 20, "20.0% lost, not tested"),
    ],
)
def test_a_loss_is_one_minus_the_ratio(found: Lost, percent: float, text: str) -> None:
    assert found.percent == pytest.approx(percent)
    assert found.text == text


def test_a_loss_whose_text_has_other_numbers_is_rejected() -> None:
    for text in ("31.3% lost (30.8 to 31.6%)", "31.2% lost (30.8 to 31.5%)", "31.2% lost"):
        with pytest.raises(ValueError, match=r"31\.2"):
            Lost(percent=31.2, low=30.8, high=31.6, verdict="slower", text=text)


def test_a_difference_below_the_noise_floor_is_not_shown() -> None:
    rows = (
        steady(OPENSSL, 10_000),
        steady(OPENSSL, 9_900, HYBRID),
        steady(OPENSSL, 4_000, of_ml_dsa()),
    )
    for floor, text in ((1.0, "1.0% lost"), (1.02, "no difference shown")):
        lost = cell(tables(*rows, floor=floor)["prices-server"], "x25519mlkem768").lost
        assert lost is not None
        assert lost.text.startswith(text)


def test_each_library_is_compared_with_itself() -> None:
    table = tables(
        *ONE,
        steady(RUSTLS, 20_000),
        steady(RUSTLS, 15_000, HYBRID),
        baseline=OPENSSL,
    )["prices-server"]
    lost = cell(table, "x25519mlkem768", RUSTLS).lost
    assert lost is not None
    assert lost.text == "25.0% lost (25.0 to 25.0%)"
    missing = cell(table, "ml-dsa-44", RUSTLS)
    assert (missing.text, missing.value, missing.lost) == ("–", None, None)


def test_an_absent_figure_has_the_reason_of_the_library() -> None:
    scenarios = (HYBRID, LEAF, of_ml_dsa())
    gaps = [Gap(GNUTLS, scenario, "GnuTLS has no ML-KEM") for scenario in scenarios]
    table = tables(*ONE, steady(GNUTLS, 5_000), gaps=gaps)["prices-server"]
    assert cell(table, "x25519", GNUTLS).text == "200.0"
    for column in ("x25519mlkem768", "ml-dsa-44"):
        assert cell(table, column, GNUTLS).note == "GnuTLS has no ML-KEM"


def test_losses_count_among_the_comparisons_of_the_page() -> None:
    def comparisons(*rows: Rows) -> str:
        found = results(*rows, baseline=OPENSSL)
        [table] = [table for table in found.tables if table.anchor == "full-handshakes"]
        return table.caption

    two = [steady(RUSTLS, 20_000), steady(RUSTLS, 15_000, HYBRID)]
    without = comparisons(*two, steady(OPENSSL, 10_000), steady(OPENSSL, 8_000, HYBRID))
    assert "corrected for 3 comparisons" in without, "two rows and their mean"
    # Four losses against X25519, and two of OpenSSL against the hybrid with ECDSA: what several
    # tables have counts once.
    assert "corrected for 9 comparisons" in comparisons(*two, *ONE)
    found = tables(*two, *ONE, baseline=OPENSSL)
    assert "corrected for 9 comparisons" in found["prices-server"].caption
    assert {"prices-server-groups", "prices-server-certificates"} < set(found)


def test_without_ml_dsa_or_without_todays_algorithms_there_is_no_price_list() -> None:
    assert results(*ONE[:2]).prices is None
    assert results(*ONE[1:]).prices is None
    assert results(ONE[0], ONE[2]).prices is not None


def test_a_resumption_another_chain_or_a_hello_retry_is_no_price() -> None:
    for change in (
        {"resumption": "ticket"},
        {"variant": "chain-1"},
        {"variant": "hello-retry"},
        {"threads": 2},
        {"protocol": "1.2", "cipher_suite": "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"},
    ):
        other = HYBRID.model_copy(update=change)
        table = tables(ONE[0], steady(OPENSSL, 1_000, other), ONE[3])["prices-server"]
        assert [column.id for column in table.columns] == ["x25519", "ml-dsa-44"], change


def test_a_flight_has_its_bytes_its_segments_and_whether_they_fit_the_initial_window() -> None:
    found = tables(
        *ONE,
        flight(OPENSSL, TODAY, 1_167, 1, "flight-1"),
        flight(OPENSSL, HYBRID, 2_255, 2, "flight-1"),
        flight(OPENSSL, of_ml_dsa(), 14_600, 10, "flight-1"),
        flight(OPENSSL, of_ml_dsa(65), 14_601, 11, "flight-1"),
    )["prices-server-flight"]
    cells = [column.cells[0] for column in found.columns]
    assert [of.text for of in cells] == ["1,167", "2,255", "14,600", "14,601"]
    assert [of.segments for of in cells] == [1, 2, 10, 11]
    assert [of.fits for of in cells] == [True, True, True, False]


def test_the_client_hello_has_a_column_for_each_key_exchange_alone() -> None:
    client = {"side": "client"}
    rows = [
        flight(OPENSSL, scenario.model_copy(update=client), size, 1, "flight-1")
        for scenario, size in ((TODAY, 197), (HYBRID, 1_381), (of_ml_dsa(), 1_381))
    ]
    table = tables(*ONE, *rows)["prices-client-flight"]
    assert [column.id for column in table.columns] == ["x25519", "x25519mlkem768"]


def test_the_flight_of_a_client_with_certificates_is_its_second() -> None:
    mutual = {"authentication": "mutual", "side": "client"}
    rows = [
        flight(OPENSSL, scenario.model_copy(update=mutual), size, 1, phase)
        for scenario, size in ((HYBRID, 1_000), (of_ml_dsa(), 8_000))
        for phase, size in (("flight-1", 1_381), ("flight-2", size))
    ]
    table = tables(*ONE, *rows)["prices-mutual-client-flight"]
    assert [column.cells[0].text for column in table.columns] == ["1,000", "8,000"]


def test_memory_is_that_of_an_idle_connection_after_data() -> None:
    table = tables(
        *ONE,
        memory(OPENSSL, TODAY, 50_000),
        memory(OPENSSL, TODAY, 20_000, "handshake"),
        memory(OPENSSL, of_ml_dsa(), 51_000),
    )["prices-server-memory"]
    assert [column.cells[0].text for column in table.columns] == ["50,000", "51,000"]
    assert [column.id for column in table.columns] == ["x25519", "ml-dsa-44"]


def test_a_loss_has_one_interval_in_all_tables() -> None:
    random = np.random.default_rng(1)
    noisy = [
        rates(OPENSSL, scenario, list(rate * np.exp(random.normal(0, 0.01, 15))))
        for scenario, rate in ((TODAY, 9e3), (HYBRID, 8e3), (LEAF, 5e3), (of_ml_dsa(), 4e3))
    ]
    found = tables(*noisy)
    one, other = (cell(found[f"prices-server{of}"], "x25519mlkem768") for of in ("", "-groups"))
    assert one.lost is not None
    assert one.lost == other.lost
    assert one.lost.low is not None
    assert one.lost.high is not None
    assert one.lost.low < one.lost.percent < one.lost.high


def test_key_exchanges_certificates_and_chains_have_columns_of_their_own() -> None:
    def with_(scenario: Scenario, **more: Any) -> Rows:
        return steady(OPENSSL, 5_000, scenario.model_copy(update=more))

    found = tables(
        *ONE,
        with_(TODAY, key_exchange="secp256r1"),
        with_(HYBRID, variant="hello-retry"),
        with_(HYBRID, certificate="rsa-2048"),
        with_(HYBRID, variant="chain-3"),
        with_(of_ml_dsa(), variant="chain-1"),
    )
    columns = {anchor: [column.id for column in table.columns] for anchor, table in found.items()}
    assert columns == {
        "prices-server": ["x25519", "x25519mlkem768", "ml-dsa-44-leaf", "ml-dsa-44"],
        "prices-server-groups": ["x25519", "secp256r1", "x25519mlkem768", "hello-retry"],
        "prices-server-certificates": ["x25519mlkem768", "rsa-2048", "ml-dsa-44"],
        "prices-server-chains": [
            *("x25519mlkem768", "chain-3", "ml-dsa-44-leaf", "ml-dsa-44-chain-1", "ml-dsa-44"),
        ],
    }


def test_mutual_authentication_has_a_first_column_of_its_own() -> None:
    mutual = {"authentication": "mutual"}
    table = tables(
        *ONE,
        steady(OPENSSL, 4_000, HYBRID.model_copy(update=mutual)),
        steady(OPENSSL, 3_000, of_ml_dsa().model_copy(update=mutual)),
    )["prices-mutual-server"]
    assert [column.id for column in table.columns] == ["x25519mlkem768", "ml-dsa-44"]
    lost = cell(table, "ml-dsa-44").lost
    assert lost is not None
    assert lost.text == "25.0% lost (25.0 to 25.0%)"


# --- in sentences ---------------------------------------------------------------------------------


TWO: Final = (
    *ONE,
    steady(RUSTLS, 20_000),
    steady(RUSTLS, 18_000, HYBRID),
    steady(RUSTLS, 21_000, of_ml_dsa()),
    flight(OPENSSL, TODAY, 1_167, 1, "flight-1"),
    flight(OPENSSL, of_ml_dsa(), 11_400, 8, "flight-1"),
    flight(RUSTLS, TODAY, 1_100, 1, "flight-1"),
    flight(RUSTLS, of_ml_dsa(), 11_300, 8, "flight-1"),
    flight(OPENSSL, of_ml_dsa(65), 15_200, 11, "flight-1"),
)


@functools.cache
def of_two() -> Results:
    return results(*TWO, baseline=OPENSSL)


def said(call: str) -> str:
    calls = shortcodes(f'{{{{ {call} }}}} {{{{ prices(id="prices-server") }}}}', "index.md")
    [statement] = statements(of_two(), calls)
    return statement.text


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (f'price(table="prices-server", column="x25519", implementation="{OPENSSL}")', "100.0 µs"),
        (
            f'price(table="prices-server-flight", column="ml-dsa-44", implementation="{OPENSSL}")',
            "11,400 bytes .* 8 segments",
        ),
        (
            f'lost(table="prices-server", column="ml-dsa-44", implementation="{OPENSSL}")',
            r"loses 60.0% .*\(60.0 to 60.0%\)",
        ),
        (
            f'lost(table="prices-server", column="ml-dsa-44", implementation="{RUSTLS}")',
            r"gains 5.0% .*\(5.0 to 5.0%\)",
        ),
        (
            'losses(table="prices-server", column="x25519mlkem768")',
            r"loses .*10.0% \(rustls 0.23.46\) .*20.0% \(OpenSSL 3.6.3\) .*both libraries",
        ),
        (
            'losses(table="prices-server", column="ml-dsa-44")',
            r"loses 60.0% \(OpenSSL 3.6.3\) .*1 of 2 .*gains 5.0% \(rustls 0.23.46\) .*in 1",
        ),
        (
            'losses(table="prices-server", column="ml-dsa-44-leaf")',
            r"loses 50.0% \(OpenSSL 3.6.3\) .*in 1 library",
        ),
        (
            'flights(table="prices-server-flight", column="ml-dsa-44")',
            "11,300 to 11,400 bytes in 8 .*fits .*both libraries",
        ),
        (
            'flights(table="prices-server-flight", column="ml-dsa-65")',
            "15,200 bytes in 11 .*exceeds .*1 library",
        ),
        ('absent(table="prices-server", column="ml-dsa-44")', "none"),
        (
            'absent(table="prices-server", column="ml-dsa-44-leaf")',
            "rustls 0.23.46: not part of the source",
        ),
    ],
)
def test_sentences_have_the_figures_of_the_price_list(call: str, words: str) -> None:
    assert re.search(words, said(call))


def test_libraries_without_a_difference_are_counted_after_the_losses() -> None:
    rows = [
        *(steady(OPENSSL, 10_000), steady(OPENSSL, 9_500, HYBRID)),
        *(steady(RUSTLS, 10_000), steady(RUSTLS, 9_900, HYBRID)),
        steady(OPENSSL, 4_000, of_ml_dsa()),
    ]
    made = results(*rows, floor=1.02)
    calls = shortcodes('{{ losses(table="prices-server", column="x25519mlkem768") }}', "index.md")
    [statement] = statements(made, calls)
    words = r"loses 5.0% \(OpenSSL 3.6.3\) .*1 of 2 libraries.*no difference in 1"
    assert re.search(words, statement.text)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('losses(table="prices-x", column="x25519")', "table 'prices-x'.*expected.*prices-server"),
        ('losses(table="prices-server", column="x")', "column 'x', expected one of x25519, "),
        ('losses(table="prices-server", column="x25519")', "expected losses"),
        (
            f'lost(table="prices-server", column="x25519", implementation="{OPENSSL}")',
            "the first column of prices-server, expected a column that is compared with it",
        ),
        (
            f'price(table="prices-server", column="ml-dsa-44-leaf", implementation="{RUSTLS}")',
            "expected a cell with a figure",
        ),
        ('flights(table="prices-server", column="x25519")', "expected a table of flights"),
    ],
)
def test_a_sentence_without_its_figures_is_rejected(call: str, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        said(call)


def test_a_sentence_links_to_the_table_that_the_page_shows() -> None:
    text = '{{ losses(table="TABLE", column="ml-dsa-44") }}{{ prices(id="prices-server") }}'
    made = of_two()
    [shown] = statements(made, shortcodes(text.replace("TABLE", "prices-server"), "index.md"))
    assert shown.place == "#prices-server"
    hidden = text.replace("losses", "flights").replace("TABLE", "prices-server-flight")
    [other] = statements(made, shortcodes(hidden, "index.md"))
    assert other.place == "results.json"


# --- on the page ----------------------------------------------------------------------------------


def test_page_json_has_a_line_for_each_library_and_the_tables_that_shortcodes_name() -> None:
    made = of_two()
    calls = shortcodes('{{ prices(id="prices-server") }}', "index.md")
    page = json.loads(page_json(made, calls=calls))["prices"]
    assert list(page) == ["prices-server"]
    table = page["prices-server"]
    assert [line["label"] for line in table["lines"]] == ["OpenSSL 3.6.3", "rustls 0.23.46"]
    cells = table["lines"][0]["cells"]
    assert [cell["figure"] for cell in cells] == ["100.0", "125.0", "200.0", "250.0"]
    assert [cell.get("ratio") for cell in cells] == [
        *(None, "20.0% lost", "50.0% lost", "60.0% lost"),
    ]
    assert cells[3]["intervals"] == "250.0 to 250.0; loss 60.0 to 60.0%"
    assert table["lines"][1]["cells"][2] == {"text": "–", "note": "*"}
    assert table["caption"].endswith(" * not part of the source.")


def test_a_library_without_figures_is_named_in_the_caption_with_its_reason() -> None:
    scenarios = (HYBRID, LEAF, of_ml_dsa())
    gaps = [Gap(GNUTLS, scenario, "GnuTLS has no ML-KEM") for scenario in scenarios]
    page = json.loads(page_json(results(*ONE, steady(GNUTLS, 5_000), gaps=gaps)))["prices"]
    labels = {anchor: [line["label"] for line in of["lines"]] for anchor, of in page.items()}
    assert labels["prices-server"] == ["OpenSSL 3.6.3", "GnuTLS 3.7.9"]
    assert labels["prices-server-certificates"] == ["OpenSSL 3.6.3"]
    caption = page["prices-server-certificates"]["caption"]
    assert "Without GnuTLS 3.7.9: GnuTLS has no ML-KEM" in caption
    assert "* GnuTLS has no ML-KEM." in page["prices-server"]["caption"]


def test_a_column_has_the_anchor_of_its_row_once_on_the_page() -> None:
    made = of_two()
    for names in (["server", "server-certificates"], ["server-certificates", "server"]):
        prose = "".join(f'{{{{ prices(id="prices-{name}") }}}}' for name in names)
        prose += '{{ prices(id="prices-server-flight") }}{{ table(id="wire-bytes-per-handshake") }}'
        page = json.loads(page_json(made, calls=shortcodes(prose, "index.md")))["prices"]
        assert list(page) == [*(f"prices-{name}" for name in names), "prices-server-flight"]
        ids = [head["id"] for table in page.values() for head in table["heads"] if "id" in head]
        assert len(ids) == len(set(ids)) == 4
        assert "full-handshake-1-3-ml-dsa-44-x25519mlkem768-server" in ids
        prose += '{{ table(id="full-handshakes") }}'
        page = json.loads(page_json(made, calls=shortcodes(prose, "index.md")))["prices"]
        assert [h for table in page.values() for h in table["heads"] if "id" in h] == []


def test_a_figure_of_a_row_links_to_the_column_of_a_price_list_that_the_page_shows() -> None:
    row = "full-handshake-1-3-ml-dsa-44-x25519mlkem768-server"
    text = f'{{{{ figure(row="{row}", implementation="{OPENSSL}") }}}} {{{{ prices(id="ID") }}}}'
    made = of_two()
    for shown, place in (("prices-server", f"#{row}"), ("prices-server-groups", "results.csv")):
        [statement] = statements(made, shortcodes(text.replace("ID", shown), "index.md"))
        assert statement.place == place


def test_words_that_all_columns_have_are_not_in_their_heads() -> None:
    rows = (steady(OPENSSL, 5_000, TODAY.model_copy(update={"key_exchange": "secp256r1"})),)
    page = json.loads(page_json(results(*ONE, *rows)))["prices"]
    heads = {anchor: [head["name"] for head in of["heads"]] for anchor, of in page.items()}
    assert heads["prices-server"][:2] == ["X25519, ECDSA P-256", "X25519MLKEM768, ECDSA P-256"]
    assert heads["prices-server-groups"] == ["X25519", "secp256r1", "X25519MLKEM768"]
    assert heads["prices-server-certificates"] == ["ECDSA P-256", "ML-DSA-44"]


def test_page_json_states_which_flights_are_over_the_window() -> None:
    page = json.loads(page_json(of_two()))["prices"]
    cells = page["prices-server-flight"]["lines"][0]["cells"]
    assert [cell["ratio"] for cell in cells] == [
        *("1 segment", "8 segments", "11 segments: over the window"),
    ]
    assert not page["prices-server-flight"]["timed"]


def test_the_picture_has_bars_as_long_as_the_times_and_the_losses_beside_them() -> None:
    made = of_two()
    drawing, *_ = charts_of(made)
    assert [drawing.chart] == [of.chart for of in price_charts(made)]
    assert (drawing.chart.file, drawing.chart.table) == ("prices.svg", "prices-server")
    root = drawn(drawing)
    bars = [corners(e.get("d") or "") for e in of_library(root, "openssl", "path")]
    lengths = [max(x for x, _ in bar) - min(x for x, _ in bar) for bar in bars]
    assert [min(x for x, _ in bar) for bar in bars] == pytest.approx([GUTTER] * 3, abs=0.6)
    assert [length / lengths[0] for length in lengths] == pytest.approx([1, 1.25, 2.5], abs=0.03)
    opacity = [e.get("fill-opacity") for e in root.iter() if e.get("class") == "library-openssl"]
    assert len(dict.fromkeys(opacity)) == 3
    texts = [element.text for element in root.iter() if element.text]
    for text in ("100.0 µs", "125.0 µs −20.0%", "250.0 µs −60.0%", "47.62 µs +5.0%"):
        assert text in texts
    assert (
        "OpenSSL 3.6.3: X25519 100.0 µs, hybrid 125.0 µs, 20.0% lost" in drawing.chart.description
    )


def test_a_difference_that_is_not_shown_has_no_sign() -> None:
    assert signed(estimate(0.999, 0.994, 1.004, "no difference shown")) == ""
    assert signed(estimate(0.688, 0.684, 0.692, "slower")) == "−31.2%"
    assert signed(estimate(1.03, 1.027, 1.033, "faster")) == "+3.0%"
    assert signed(None) == ""


def test_a_library_without_ml_dsa_has_no_bar_there() -> None:
    gaps = [Gap(GNUTLS, of_ml_dsa(), "no ML-DSA")]
    made = results(*ONE, steady(GNUTLS, 5_000), gaps=gaps)
    [drawing] = price_charts(made)
    assert len(list(of_library(drawn(drawing), "gnutls", "path"))) == 1
    assert "GnuTLS 3.7.9: X25519 200.0 µs, hybrid –, ML-DSA –" in drawing.chart.description


def test_the_preview_of_a_price_list_has_the_bars_of_a_server() -> None:
    made = of_two()
    preview = report_preview(made, "A site")
    assert preview is not None
    assert "A handshake of a server" in preview.alt
    assert "OpenSSL 3.6.3: X25519 100.0 µs, hybrid 125.0 µs, 20.0% lost" in preview.alt
    image = Image.open(io.BytesIO(preview.png)).convert("RGB")
    assert image.size == (WIDTH, HEIGHT)
    pixels = np.asarray(image, dtype=float)
    ground, full = pixels[0, 0], np.array(ImageColor.getrgb(LIGHT["openssl"]))
    # How much of the colour is in each pixel; parts differ where another colour is in it.
    parts = (pixels - ground) / (full - ground)
    strength = np.where(np.ptp(parts, axis=2) < 0.03, parts[..., 0].round(1), 0)
    lengths = {of: (strength == of).sum(axis=1).max() for of in np.unique(strength[strength > 0.1])}
    bars = {of: length for of, length in lengths.items() if length > 20}
    assert bars[max(bars)] / bars[min(bars)] == pytest.approx(2.5, abs=0.05)
