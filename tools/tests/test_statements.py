"""Computed prose: its words follow the figures, and calls must refer to existing rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np
import pytest

from synthetic import HANDSHAKES, SIXTEEN, TRANSFERS, Rates, loaded_run, report_of
from tlsperf.analysis.ratios import against_text, clause, difference_bound, inverted
from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Ratio, Results, Verdict
from tlsperf.load.shortcodes import Call, shortcodes
from tlsperf.report.statements import statements

A, B, C = "openssl-1", "rustls-2", "boringssl-3"
SENDING = "transfer-1-2-aes-128-gcm-sending"
RUN = "2026-11-21-a"


def rates(factors: Mapping[str, float], noise: float = 0.002) -> Rates:
    """Thirty rounds of each scenario with independent noise for each implementation."""
    random = np.random.default_rng(1)
    return {
        i: {s: list(1000 * f * np.exp(random.normal(0, noise, 30))) for s in SIXTEEN}
        for i, f in factors.items()
    }


def texts(prose: str, measured: Rates, baseline: str | None = A) -> list[str]:
    """The texts that the shortcodes of a prose print for these rates."""
    calls = shortcodes(prose, "index.md")
    results = report_of(loaded_run(RUN, measured), calls=calls, baseline=baseline).results
    return [statement.text for statement in statements(results, calls)]


def said(prose: str, factors: Mapping[str, float]) -> str:
    (text,) = texts(prose, rates(factors))
    return text


FASTER = {A: 1.0, B: 1.3, C: 1.1}
CALLS = [
    f'{{{{ ratio(row="{SENDING}", implementation="{B}") }}}}',
    f'{{{{ verdict(row="{SENDING}", implementation="{B}") }}}}',
    f'{{{{ verdict(row="{SENDING}", implementation="{B}", over="{C}") }}}}',
    f'{{{{ unchanged(row="{SENDING}", implementation="{B}", over="{A}") }}}}',
    f'{{{{ change(row="{SENDING}", before="{A}", after="{B}", later="{C}") }}}}',
    f'{{{{ rank(row="{SENDING}") }}}}',
    f'{{{{ extreme(rows="transfer-*", implementation="{B}", which="largest") }}}}',
    f'{{{{ agree(rows="*", implementation="{B}") }}}}',
    f'{{{{ standing(rows="*", implementation="{B}") }}}}',
]


@cache
def sentences(a: float, b: float, c: float) -> dict[str, str]:
    """The text of each call where the libraries are as fast as these factors."""
    found = texts("\n".join(CALLS), rates({A: a, B: b, C: c}))
    return dict(zip(CALLS, found, strict=True))


@pytest.mark.parametrize(
    ("call", "expected"),
    list(
        zip(
            CALLS,
            [
                "1.30x faster than OpenSSL 1 (",
                "rustls 2 is 1.30x faster than OpenSSL 1 (",
                "rustls 2 is 1.18x faster than BoringSSL 3 (",
                "rustls 2 is 1.30x faster than OpenSSL 1 (",
                "from 1,000 MiB/s (OpenSSL 1) to 1,30",
                "best is rustls 2 (1,30",
                "the largest of 4 ratios is in TLS 1.",
                "rustls 2 is faster than OpenSSL 1 in all 16 rows",
                "Against OpenSSL 1, rustls 2 is faster in all 16 scenarios (up to 1.3",
            ],
            strict=True,
        )
    ),
    ids=lambda text: text[:20],
)
def test_a_sentence_names_what_it_compares(call: str, expected: str) -> None:
    assert sentences(1.0, 1.3, 1.1)[call].startswith(expected)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[3:20])
def test_two_libraries_that_change_places_change_the_text(call: str) -> None:
    assert sentences(1.0, 1.3, 1.1)[call] != sentences(1.3, 1.0, 1.1)[call]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[3:20])
def test_an_interval_that_contains_1_shows_no_difference(call: str) -> None:
    text = sentences(1.0, 1.0, 1.0)[call]
    assert "faster" not in text
    assert "slower" not in text
    assert "no difference" in text or text.startswith("tied are ")


def test_unchanged_has_a_bound_that_holds() -> None:
    call = f'{{{{ unchanged(row="{SENDING}", implementation="{B}", over="{A}") }}}}'
    text = said(call, {A: 1.0, B: 1.0})
    assert text.startswith("rustls 2 shows no difference from OpenSSL 1; a difference above ")
    assert 0.2 < float(text.split("above ")[1].split("%")[0]) < 5


def test_a_bound_is_rounded_up() -> None:
    assert difference_bound(ratio("no difference shown", 1.0, 0.99, 1.0101)) == "1.1%"
    assert difference_bound(ratio("no difference shown", 1.0, 0.9, 1.01)) == "11.2%"
    assert difference_bound(ratio("not tested", 2.0)) is None


@pytest.mark.parametrize(
    ("steps", "share"),
    [
        ((1.0, 0.5, 0.8), ", which recovers 60% of the loss"),
        ((0.5, 1.0, 0.9), ", which loses 20% of the gain"),
        ((1.0, 0.5, 0.5), ""),
        ((1.0, 1.0, 0.5), ""),
        ((1.0, 0.9, 0.8), ""),
    ],
)
def test_a_change_states_the_share_that_is_recovered(steps: Sequence[float], share: str) -> None:
    factors = dict(zip((A, B, C), steps, strict=True))
    text = said(CALLS[4], factors)
    assert text.endswith(share or ")")
    assert ("%" in text) == bool(share)


def test_a_statement_over_rows_names_those_in_which_it_does_not_hold() -> None:
    measured = {i: dict(of) for i, of in rates({A: 1.0, B: 1.2}).items()}
    swap(measured, TRANSFERS[0])
    measured[B][TRANSFERS[1]] = measured[A][TRANSFERS[1]]
    (text,) = texts(CALLS[7], measured)
    assert text == (
        "rustls 2 is faster than OpenSSL 1 in 14 of 16 rows; "
        "slower in 1 (TLS 1.2 transfer, AES-128-GCM, sending); "
        "no difference shown in 1 (TLS 1.2 transfer, AES-128-GCM, receiving)"
    )
    for scenario in HANDSHAKES:
        swap(measured, scenario)
    (text,) = texts(CALLS[7], measured)
    assert text.startswith("rustls 2 is slower than OpenSSL 1 in 13 of 16 rows; faster in 2 (")


def test_a_standing_counts_both_sides_and_names_the_largest_of_each() -> None:
    measured = {i: dict(of) for i, of in rates({A: 1.0, B: 1.2}).items()}
    swap(measured, TRANSFERS[0])
    measured[B][TRANSFERS[1]] = measured[A][TRANSFERS[1]]
    measured[B][TRANSFERS[2]] = list(2.0 * np.array(measured[A][TRANSFERS[2]]))
    (text,) = texts(CALLS[8], measured)
    assert text == (
        "Against OpenSSL 1, rustls 2 is faster in 14 of 16 scenarios (up to 2.00x, "
        "TLS 1.3 transfer, AES-256-GCM, sending) and slower in 1 (up to 1.20x, "
        "TLS 1.2 transfer, AES-128-GCM, sending), with no difference shown in 1"
    )


def swap(measured: dict[str, dict[Scenario, Sequence[float] | float]], scenario: Scenario) -> None:
    ours, theirs = measured[B][scenario], measured[A][scenario]
    measured[A][scenario], measured[B][scenario] = ours, theirs


def test_single_figures_are_never_called_faster() -> None:
    single: Rates = {i: dict.fromkeys(SIXTEEN, 1000.0 * f) for i, f in FASTER.items()}
    found = texts(" ".join(CALLS), single)
    assert not any("faster" in text or "slower" in text or "best" in text for text in found)
    assert found[0] == "1.30x as fast as OpenSSL 1"
    assert found[1] == "rustls 2 is 1.30x as fast as OpenSSL 1"
    assert found[5].startswith(
        "in the order of their figures, not tested: rustls 2 (1,300 MiB/s), "
    )
    assert found[7] == "rustls 2 is above OpenSSL 1 in all 16 rows (single figures, not tested)"
    assert found[8].startswith("Against OpenSSL 1, rustls 2 is better in all 16 scenarios (up to ")
    assert found[8].endswith("; single figures, not tested")


def test_comparisons_of_the_prose_are_counted_with_those_of_the_tables() -> None:
    run = loaded_run(RUN, rates(FASTER))
    without = report_of(run, baseline=A).results
    assert "corrected for 38 comparisons" in without.tables[0].caption
    calls = shortcodes(CALLS[2] + CALLS[2] + CALLS[1] + CALLS[4], "index.md")
    results = report_of(run, baseline=A, calls=calls).results
    pairs = [(c.implementation, c.over) for c in results.comparisons]
    assert pairs == [(B, C), (C, B)], "each once, and none that a table makes"
    assert "corrected for 40 comparisons" in results.tables[0].caption


def test_the_baseline_over_another_is_the_table_s_ratio_inverted() -> None:
    of_table = said(CALLS[1], FASTER)
    other_way = said(
        f'{{{{ verdict(row="{SENDING}", implementation="{A}", over="{B}") }}}}', FASTER
    )
    assert of_table.replace("rustls 2 is 1.30x faster than OpenSSL 1", "") == other_way.replace(
        "OpenSSL 1 is 1.30x slower than rustls 2", ""
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('rank(row="transfer-1-2-aes-128-gcm-send")', "index.md:3: found rank() with row 'tr"),
        (f'ratio(row="{SENDING}", implementation="rustls-3")', "such as 'rustls-2'"),
        (f'verdict(row="{SENDING}", implementation="{B}", ovr="{A}")', "argument 'ovr', expected"),
        (f'extreme(rows="*", implementation="{B}", which="most")', "expected largest or smallest"),
        (f'agree(rows="no-*", implementation="{B}")', "two rows and more, found 0"),
        (f'agree(rows="{SENDING}", implementation="{B}")', "two rows and more, found 1"),
        (f'verdict(row="{SENDING}", implementation="{B}", over="{B}")', "two implementations"),
    ],
)
def test_a_call_that_the_results_cannot_answer_is_an_error_with_its_line(
    call: str, message: str
) -> None:
    with pytest.raises(FormatError) as error:
        texts(f"\n\n{{{{ {call} }}}}", rates(FASTER))
    assert "index.md:3: found" in str(error.value)
    assert message in str(error.value)


# --- words ---------------------------------------------------------------------------------------


def ratio(
    verdict: Verdict, value: float, low: float | None = None, high: float | None = None
) -> Ratio:
    text = {
        "no difference shown": f"no difference shown ({low} to {high})",
        "faster": "2.00x fewer (1.90 to 2.10)",
        "too few rounds": "2.00x, too few rounds",
        "not tested": "2.00x",
    }
    return Ratio(value=value, low=low, high=high, verdict=verdict, text=text.get(verdict, ""))


def test_words_are_those_of_the_metric() -> None:
    fewer = ratio("faster", 2, 1.9, 2.1)
    assert clause("It", fewer, "instructions", "X") == (
        "It takes 2.00x fewer instructions than X (1.90 to 2.10)"
    )
    assert clause("It", ratio("not tested", 2), "allocated", "X") == "It is 2.00x as good as X"
    assert against_text(ratio("too few rounds", 2), "rate", "X") == (
        "2.00x as fast as X, too few rounds to test"
    )


def test_a_comparison_inverted_twice_is_unchanged() -> None:
    fewer = ratio("faster", 2, 1.9, 2.1)
    turned = inverted(fewer, "instructions")
    assert (turned.verdict, turned.text) == ("slower", "2.00x more (1.90 to 2.10)")
    assert inverted(turned, "instructions") == fewer


def test_calls_are_found_with_their_lines() -> None:
    text = "a\n{{ table(id='x') }} {{ rank( row = `y` ) }}\n\n{{ notes() }} `{% raw %}`"
    assert shortcodes(text, "f", 10) == [
        Call("table", {"id": "x"}, "f", 11),
        Call("rank", {"row": "y"}, "f", 11),
        Call("notes", {}, "f", 13),
    ]


def test_a_report_without_shortcodes_has_no_statements() -> None:
    results: Results = report_of(loaded_run(RUN, rates(FASTER)), baseline=A).results
    assert statements(results, []) == []
    assert results.comparisons == []
