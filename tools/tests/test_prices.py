"""The price list: times, losses, flights and memory of each choice of algorithms, by hand."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest

from synthetic import OF_SERVER, implementation, in_sessions, report_of, run_of_rows
from tlsperf.analysis.sessions import VIRTUAL_SPREADS
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Cell, Results, Table
from tlsperf.contract.run import Report
from tlsperf.load.shortcodes import shortcodes
from tlsperf.load.tlsbench import Gap
from tlsperf.publish.page_json import page_json
from tlsperf.publish.scaffold import report_page
from tlsperf.report.picture import picture
from tlsperf.report.prices import price_tables

RUN: Final = "2026-11-24-a"
OPENSSL, RUSTLS, GNUTLS = "openssl-3.6.3", "rustls-0.23.46", "gnutls-3.7.9"
TODAY: Final = OF_SERVER.model_copy(update={"certificate": "ecdsa-p256"})
Rows = list[dict[str, Any]]


def with_(scenario: Scenario, **more: Any) -> Scenario:
    return scenario.model_copy(update=more)


HYBRID: Final = with_(TODAY, key_exchange="X25519MLKEM768")
RSA: Final = with_(HYBRID, certificate="rsa-2048")


def of_ml_dsa(size: int = 44, **more: str) -> Scenario:
    return with_(HYBRID, certificate=f"ml-dsa-{size}", **more)


LEAF: Final = of_ml_dsa(variant="issuer-ecdsa-p256")


def early(scenario: Scenario, resumption: str = "ticket") -> tuple[Scenario, Scenario]:
    """A resumed handshake without and with early data."""
    resumed = with_(scenario, resumption=resumption)
    return resumed, with_(resumed, variant="early-data")


def observed(
    name: str, scenario: Scenario, values: Sequence[float], *of: str, phase: str = "total"
) -> Rows:
    metric, unit = of or ("rate", "handshakes/s")
    common = {"implementation": name, **scenario.model_dump(), "phase": phase}
    common |= {"metric": metric, "unit": unit, "note": None}
    return [{**common, "round": n, "value": value} for n, value in enumerate(values, 1)]


def steady(name: str, rate: float, scenario: Scenario = TODAY) -> Rows:
    return observed(name, scenario, [rate] * 15)


def flight(
    name: str, scenario: Scenario, size: int, segments: int, phase: str = "flight-1"
) -> Rows:
    return [
        *observed(name, scenario, [size], "wire-bytes", "bytes/handshake", phase=phase),
        *observed(name, scenario, [segments], "wire-segments", "segments/handshake", phase=phase),
    ]


def memory(scenario: Scenario, size: int, phase: str = "data", name: str = OPENSSL) -> Rows:
    of = with_(scenario, operation="memory")
    return observed(name, of, [size] * 15, "allocated", "bytes/connection", phase=phase)


def results(*rows: Rows, gaps: Sequence[Gap] = (), **more: Any) -> Results:
    flat = [line for group in rows for line in group]
    names = dict.fromkeys(line["implementation"] for line in flat)
    names |= dict.fromkeys(gap.implementation for gap in gaps)
    run = run_of_rows(RUN, flat, [implementation(name) for name in names])
    return report_of(replace(in_sessions(run, 3), gaps=list(gaps)), **more).results


def tables(*rows: Rows, **more: Any) -> dict[str, Table]:
    return {table.anchor: table for table in results(*rows, **more).prices or ()}


def cells(table: Table, name: str = OPENSSL) -> list[Cell]:
    """The cells of a library, in the order of the columns."""
    at = table.implementations.index(name)
    return [row.cells[at] for row in table.rows]


def shown(cell: Cell) -> str:
    """A figure with its loss or its segments."""
    lost = cell.ratio.text.partition(" (")[0] if cell.ratio else cell.segments
    return f"{cell.text} {lost or ''}".strip()


ONE: Final = (
    steady(OPENSSL, 10_000),
    steady(OPENSSL, 8_000, HYBRID),
    steady(OPENSSL, 5_000, LEAF),
    steady(OPENSSL, 4_000, of_ml_dsa()),
)
EARLY: Final = [
    steady(OPENSSL, rate, scenario)
    for rates, group in (((10_000, 8_000), TODAY), ((5_000, 4_500), HYBRID))
    for rate, scenario in zip(rates, early(group), strict=True)
]
DRIFT: Final = [10_000 * 0.8**n for n in range(15)]
"""The host slows down by a fifth from round to round."""
MUTUAL, OF_CLIENT = {"authentication": "mutual"}, {"side": "client"}
ZLIB: Final = {"variant": "compressed-zlib"}
COMPRESSED: Final = (
    *(steady(OPENSSL, 2_000, RSA), steady(OPENSSL, 1_900, with_(RSA, **ZLIB))),
    *(steady(OPENSSL, 8_000, HYBRID), steady(OPENSSL, 6_000, with_(HYBRID, **ZLIB))),
    *(steady(OPENSSL, 4_000, of_ml_dsa()), steady(OPENSSL, 4_400, with_(of_ml_dsa(), **ZLIB))),
    *(flight(OPENSSL, RSA, 3_000, 3), flight(OPENSSL, with_(RSA, **ZLIB), 2_900, 2)),
)


def mutual_flights(of: Scenario, second: int) -> list[Rows]:
    client = with_(of, **MUTUAL, **OF_CLIENT)
    return [
        flight(OPENSSL, client, size, 1, phase)
        for phase, size in (("flight-1", 1_381), ("flight-2", second))
    ]


@pytest.mark.parametrize(
    ("anchor", "rows", "expected"),
    [
        ("", ONE, ["100.0", "125.0 20.0% lost", "200.0 50.0% lost", "250.0 60.0% lost"]),
        (  # of the same rounds
            "",
            (observed(OPENSSL, TODAY, DRIFT), observed(OPENSSL, LEAF, [0.4 * r for r in DRIFT])),
            ["476.8", "1,192 60.0% lost"],
        ),
        (
            "mutual-server",
            (
                *ONE,
                steady(OPENSSL, 4_000, with_(HYBRID, **MUTUAL)),
                steady(OPENSSL, 3_000, with_(of_ml_dsa(), **MUTUAL)),
            ),
            ["250.0", "333.3 25.0% lost"],
        ),
        # Each second column is compared with the one before it.
        ("server-early-data", EARLY, ["100.0", "125.0 20.0% lost", "200.0", "222.2 10.0% lost"]),
        (
            "server-compression",
            COMPRESSED,
            [
                *("500.0", "526.3 5.0% lost", "125.0", "166.7 25.0% lost"),
                *("250.0", "227.3 10.0% gained"),
            ],
        ),
        ("server-flight-compression", COMPRESSED, ["3,000 3", "2,900 2"]),
        (
            "server-flight",
            (*ONE, flight(OPENSSL, TODAY, 1_167, 1), flight(OPENSSL, of_ml_dsa(), 11_400, 8)),
            ["1,167 1", "11,400 8"],
        ),
        (  # a ClientHello depends on the key exchange alone
            "client-flight",
            (
                *ONE,
                *(
                    flight(OPENSSL, with_(of, **OF_CLIENT), size, 1)
                    for of, size in ((TODAY, 197), (HYBRID, 1_381), (of_ml_dsa(), 1_382))
                ),
            ),
            ["197 1", "1,381 1"],
        ),
        (  # a client sends its certificates in its second flight
            "mutual-client-flight",
            (*ONE, *mutual_flights(HYBRID, 1_000), *mutual_flights(of_ml_dsa(), 8_000)),
            ["1,000 1", "8,000 1"],
        ),
        (  # of an idle connection after data, also without times
            "server-memory",
            (memory(TODAY, 50_000), memory(TODAY, 2, "handshake"), memory(of_ml_dsa(), 51_000)),
            ["50,000", "51,000"],
        ),
    ],
)
def test_a_column_has_a_figure_and_what_a_library_loses_against_itself(
    anchor: str, rows: Sequence[Rows], expected: Sequence[str]
) -> None:
    table = tables(*rows)[f"prices-{anchor or 'server'}"]
    assert [shown(cell) for cell in cells(table)] == expected


SECP: Final = with_(TODAY, key_exchange="secp256r1")
BESIDE: Final = {"": 4, "-groups": 2, "-certificates": 2, "-chains": 3}
"""The tables of ONE, with the number of their columns."""


@pytest.mark.parametrize(
    ("rows", "columns"),
    [
        (ONE, BESIDE),
        ((ONE[0], ONE[2]), {"": 2}),
        *(
            ((*ONE, steady(OPENSSL, 1, scenario)), BESIDE | {part: BESIDE[part] + 1})
            for scenario, part in (
                (SECP, "-groups"),
                (with_(HYBRID, variant="hello-retry"), "-groups"),
                (RSA, "-certificates"),
                (with_(HYBRID, variant="chain-3"), "-chains"),
            )
        ),
        *((rows, {}) for rows in (ONE[:2], ONE[1:])),  # from today to ML-DSA
        *(
            ((ONE[0], steady(OPENSSL, 1, with_(of_ml_dsa(), **another))), {})
            for another in (
                {"resumption": "ticket"},
                {"variant": "hello-retry"},
                {"threads": 2},
                {"protocol": "1.2"},
                {"cipher_suite": "TLS_CHACHA20_POLY1305_SHA256"},
            )
        ),
        ((memory(TODAY, 50_000), memory(HYBRID, 51_000)), {}),
        (EARLY[:2], {"-early-data": 2}),
        ([steady(OPENSSL, 1, of) for of in early(TODAY, "session-id")], {"-early-data-cache": 2}),
        # Without early data, with it alone, and of two key exchanges.
        *(((EARLY[one], EARLY[other]), {}) for one, other in ((0, 2), (1, 3), (0, 3))),
        (COMPRESSED[2:6], {}),  # a table begins with its first column
    ],
)
def test_a_report_has_the_tables_whose_columns_were_measured(
    rows: Sequence[Rows], columns: Mapping[str, int]
) -> None:
    found = {anchor: len(table.rows) for anchor, table in tables(*rows).items()}
    assert found == {f"prices-server{part}": count for part, count in columns.items()}


def test_a_difference_below_the_noise_floor_is_not_shown() -> None:
    rows = (ONE[0], steady(OPENSSL, 9_000, HYBRID), ONE[3])
    for floor, text in ((1.02, "111.1 10.0% lost"), (1.2, "111.1 no difference shown")):
        assert shown(cells(tables(*rows, floor=floor)["prices-server"])[1]) == text


def test_a_library_has_its_own_losses_or_the_reason_that_a_figure_is_absent() -> None:
    wrong = [{**of, "note": "wrong"} for of in steady(RUSTLS, 9_000, LEAF)]
    rows = (*ONE, steady(RUSTLS, 20_000), steady(RUSTLS, 15_000, HYBRID), wrong)
    gaps = [Gap(RUSTLS, of_ml_dsa(), "rustls has no ML-DSA here")]
    made = tables(*rows, steady(GNUTLS, 5_000, HYBRID), gaps=gaps, baseline=OPENSSL)
    of = {name: cells(made["prices-server"], name) for name in (RUSTLS, GNUTLS)}
    assert [shown(cell) for cell in of[RUSTLS]] == ["50.00", "66.67 25.0% lost", "–", "–"]
    assert [cell.note for cell in of[RUSTLS][2:]] == ["wrong", "rustls has no ML-DSA here"]
    assert [shown(cell) for cell in of[GNUTLS]] == ["–", "200.0", "–", "–"]
    assert of[GNUTLS][0].note == "not part of the source"


def test_no_library_is_best_in_a_price_list() -> None:
    rows = [
        memory(scenario, size, name=name)
        for name, size in ((OPENSSL, 50_000), (RUSTLS, 40_000))
        for scenario in (TODAY, of_ml_dsa())
    ]
    table = tables(*rows)["prices-server-memory"]
    assert not any(cell.best or cell.tied for row in table.rows for cell in row.cells)


def test_losses_count_once_among_the_comparisons_of_the_page() -> None:
    two = [steady(RUSTLS, 20_000), steady(RUSTLS, 15_000, HYBRID)]
    # Two rows; four losses against X25519, and two of OpenSSL against the hybrid with
    # ECDSA, which several tables have; two pairs.
    for rows, count in (([*two, *ONE[:2]], 2), ([*two, *ONE], 8), ([*two, *ONE, *EARLY], 10)):
        made = results(*rows, baseline=OPENSSL)
        notes = [
            f"{of.caption} {of.interval_note}" for of in (made.tables[0], *(made.prices or ()))
        ]
        assert all(f"corrected for {count} comparisons" in note for note in notes)


def test_a_row_has_one_loss_and_one_time_in_all_tables_and_they_agree() -> None:
    random = np.random.default_rng(1)
    noisy = [
        observed(OPENSSL, scenario, list(rate * np.exp(random.normal(0, 0.05, 15))))
        for scenario, rate in ((TODAY, 9e3), (HYBRID, 8e3), (LEAF, 5e3), (of_ml_dsa(), 4e3))
    ]
    found = tables(*noisy)
    first, *others = cells(found["prices-server"])
    assert others[0] == cells(found["prices-server-groups"])[1]
    beside = cells(found["prices-server-certificates"])
    assert [cell.value for cell in beside] == [others[0].value, others[2].value]
    for cell in others:
        assert first.value
        assert cell.value
        assert cell.ratio
        assert first.value / cell.value == pytest.approx(cell.ratio.value, rel=1e-6)
        for of in (cell, cell.ratio):
            assert of.low is not None
            assert of.value is not None
            assert of.high is not None
            assert of.low < of.value < of.high


def test_a_time_on_a_virtual_machine_has_three_digits_as_its_rate_has() -> None:
    flat = [line for rows in ONE for line in rows]
    made = report_of(in_sessions(run_of_rows(RUN, flat, [implementation(OPENSSL)]), 3))
    rules = replace(made.series.rules, spreads=VIRTUAL_SPREADS)
    shown_tables = price_tables(made.series.rows, made.results.tables, rules, [OPENSSL])
    assert [shown(cell).split()[0] for cell in cells(shown_tables[0])] == [
        "100",
        "125",
        "200",
        "250",
    ]


# --- on the page ----------------------------------------------------------------------------------


@functools.cache
def made_of_two() -> Results:
    rows = (
        *ONE,
        steady(RUSTLS, 20_000),
        steady(RUSTLS, 18_000, HYBRID),
        steady(RUSTLS, 21_000, of_ml_dsa()),
        *(flight(OPENSSL, TODAY, 1_167, 1), flight(RUSTLS, TODAY, 1_100, 1)),
        *(flight(OPENSSL, of_ml_dsa(), 11_400, 8), flight(RUSTLS, of_ml_dsa(), 11_300, 8)),
        flight(OPENSSL, of_ml_dsa(65), 15_200, 11),
        flight(RUSTLS, of_ml_dsa(65), 14_600, 10),
    )
    return results(*rows, baseline=OPENSSL)


def page(made: Results, *anchors: str) -> dict[str, Any]:
    """The tables of page.json if the page names these, in its order."""
    prose = "".join(f'{{{{ table(id="{anchor}") }}}}' for anchor in anchors)
    found: dict[str, Any] = json.loads(page_json([made], calls=shortcodes(prose, "index.md")))
    return {anchor: found["tables"][anchor] for anchor in anchors or found["tables"]}


def heads(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row for block in table["blocks"] for row in block["rows"]]


def test_a_page_has_a_line_for_each_library_with_figures_losses_and_intervals() -> None:
    uneven = observed(OPENSSL, TODAY, [*[9_900] * 5, *[10_000] * 5, *[10_100] * 5])
    made = results(uneven, *ONE[1:], steady(RUSTLS, 20_000))
    table = page(made, "prices-server")["prices-server"]
    [block] = table["blocks"]
    assert [line["label"] for line in block["lines"]] == ["OpenSSL 3.6.3", "rustls 0.23.46"]
    [first], *_, [last] = block["lines"][0]["cells"]
    assert (first["figure"], last["figure"], last["ratio"]) == (*("100.0", "250.0", "−60%"),)
    assert "ratio" not in first
    assert re.fullmatch(r"[\d.]+ to [\d.]+", first["intervals"])
    assert re.fullmatch(r"[\d.]+ to [\d.]+; change −\d\d% to −\d\d%", last["intervals"])
    assert block["lines"][1]["cells"][1:] == [[{"text": "–", "note": "*"}]] * 3
    assert "* not part of the source." in table["notes"]
    assert table["unit"] == "µs"


def test_a_page_states_which_flights_are_over_the_window() -> None:
    table = page(made_of_two(), "prices-server-flight")["prices-server-flight"]
    openssl, rustls = ([cell for [cell] in line["cells"]] for line in table["blocks"][0]["lines"])
    assert [of["ratio"] for of in openssl] == [
        *("1 segment", "8 segments", "11 segments: over the window"),
    ]
    assert rustls[2]["ratio"] == "10 segments"


def test_a_column_has_the_anchor_of_its_row_once_on_the_page() -> None:
    made = made_of_two()
    anchors = ["prices-server", "prices-server-certificates", "prices-server-flight"]
    for order in (anchors, anchors[::-1]):
        columns = [row for table in page(made, *order).values() for row in heads(table)]
        ids = [row["anchor"] for row in columns if "again" not in row]
        assert len(ids) == len(set(ids)) == len({row["anchor"] for row in columns}) == 7


def test_a_figure_of_a_row_links_to_the_column_of_a_price_list_that_the_page_shows() -> None:
    row = "full-handshake-1-3-ml-dsa-44-x25519mlkem768-server"
    text = f'{{{{ figure(row="{row}", implementation="{OPENSSL}") }}}} {{{{ table(id="ID") }}}}'
    for shown_table, is_link in (("prices-server", True), ("prices-server-groups", False)):
        calls = shortcodes(text.replace("ID", shown_table), "index.md")
        [figure] = json.loads(page_json([made_of_two()], calls=calls))["quoted"]
        assert (figure["place"] == f"#{row}") is is_link


def test_a_new_page_shows_the_price_list_first() -> None:
    for rows in (EARLY, ONE):
        found = results(*rows)
        report = Report(id=found.id, title=found.title, date=found.date, runs=[RUN])
        text = report_page([report], [found])
        named = re.findall(r'(\w+)\(id="([^"]+)"\)', text)
        anchors = [table.anchor for table in found.prices or ()]
        assert [name for kind, name in named if kind == "table"][: len(anchors)] == anchors


@pytest.mark.parametrize(
    ("anchor", "rows", "baseline"),
    [
        ("prices-server", ONE, "X25519, ECDSA P-256"),
        ("prices-server-compression", COMPRESSED, "without certificates compressed with zlib"),
    ],
)
def test_in_the_picture_of_a_price_list_the_line_is_the_row_that_others_are_compared_with(
    anchor: str, rows: Sequence[Rows], baseline: str
) -> None:
    report = results(*rows)
    dots = picture([report], [anchor])
    assert dots
    assert dots.baseline == baseline
    [table] = [table for table in report.prices or () if table.anchor == anchor]
    ratios = [c.ratio.value for row in table.rows for c in row.cells if c.ratio]
    assert [dot.ratio for dot in dots.every] == ratios
    assert len(dots.every) == sum(row.against is not None for row in table.rows)


def test_a_picture_has_ratios_to_one_thing() -> None:
    report = results(*ONE, *(steady(RUSTLS, 9_000, s) for s in (TODAY, HYBRID)), baseline=OPENSSL)
    row = report.tables[0].rows[0].anchor
    with pytest.raises(UserError, match=r"found ratios to OpenSSL 3\.6\.3, Price list"):
        picture([report], [row, "prices-server"])
