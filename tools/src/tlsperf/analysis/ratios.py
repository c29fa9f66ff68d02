"""The ratio of two samples, its direction and its text, for every page and command.

The metric's entry in `contract.metrics` defines which direction is better, whether a count needs no
test, and the word for a better value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tlsperf.analysis.series import At, Rules, Sample, Series, rounded
from tlsperf.analysis.sessions import (
    FEWEST_SESSIONS,
    NO_PRIOR,
    Prior,
    fit_prior,
    session_ratio,
)
from tlsperf.analysis.statistics import (
    SAME_WITHIN,
    Floats,
    RatioEstimate,
    counted_ratio,
    hodges_lehmann,
    paired_ratio,
    unpaired_ratio,
    untested_ratio,
)
from tlsperf.contract.metrics import METRICS, Metric
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Ratio, Verdict, size_text

NO_ROUNDS: Final = "single figures, without rounds to test"


def sample_ratio(
    left: Sample,
    right: Sample,
    row: Series,
    rules: Rules = Rules(),  # noqa: B008 (frozen)
    prior: Prior = NO_PRIOR,
    untested: str = NO_ROUNDS,
    against: Series | None = None,
) -> RatioEstimate | None:
    """Left over right in a row, in pairs if both have rounds of a run whose rounds are pairs.

    `prior` is for the table's ratios between sessions; `untested` is the note of a ratio without
    rounds; `against` is the row of the right side if it is another one. Returns None if a side has
    no usable figure, or the sides are of two hosts, and of maxima: each is one pause of a host.
    """
    if not (left.counts and right.counts and rules.are_comparable(left, right)):
        return None
    metric, better = row.metric, row.definition.better
    if row.definition.is_count:
        return paired_rounds_ratio(left.rounds, right.rounds, metric, floor=rules.count_floor)
    if left.is_extreme:
        return None
    if not (left.has_rounds and right.has_rounds):
        return figure_ratio(left, right, metric, untested)
    common = common_rounds(left, right, rules.pairs)
    if not common:
        widening = rules.widening(row.scenario, left, right)
        return unpaired_ratio(
            left.rounds, right.rounds, rules.comparisons, better, widening, rules.floor
        )
    floor = rules.floor if row.definition.is_time else SAME_WITHIN
    sessions = session_logs(left, right, rules.pairs)
    other = against.scenario if against else None
    spread = rules.spreads.of_ratio(row.scenario, row.statistic, other)
    if len(sessions) >= FEWEST_SESSIONS:
        return session_ratio(sessions, prior, len(common), rules.comparisons, better, floor, spread)
    ours, theirs = ([side.valid[at] for at in common] for side in (left, right))
    return paired_ratio(ours, theirs, rules.comparisons, better, spread, floor)


def can_be_tested(row: Series, *samples: Sample) -> bool:
    """Whether samples of a row have rounds that a test can use."""
    if row.is_part or row.definition.is_count:
        return False
    return all(s.counts and s.has_rounds and not s.is_extreme for s in samples)


def common_rounds(left: Sample, right: Sample, pairs: frozenset[Identifier]) -> list[At]:
    """The rounds that measured both sides, in the order of time."""
    return sorted(at for at in left.valid if at.run in pairs and at in right.valid)


def session_logs(left: Sample, right: Sample, pairs: frozenset[Identifier]) -> Floats:
    """The log ratio of each session with common rounds."""
    return np.array(list(logs_by_session(left, right, pairs).values()))


def logs_by_session(
    left: Sample, right: Sample, pairs: frozenset[Identifier]
) -> dict[tuple[Identifier, int], float]:
    """By run and session: the Hodges-Lehmann estimate over its common rounds."""
    found: dict[tuple[Identifier, int], list[float]] = {}
    for at in common_rounds(left, right, pairs):
        log = math.log(left.valid[at] / right.valid[at])
        found.setdefault((at.run, at.session), []).append(log)
    return {session: hodges_lehmann(np.array(logs)) for session, logs in found.items()}


def prior_of_ratios(logs: Iterable[Floats]) -> Prior:
    """The prior for ratios, from the rows of `session_logs` with enough sessions."""
    return fit_prior([row for row in logs if len(row) >= FEWEST_SESSIONS])


def paired_rounds_ratio(
    left: Sequence[float],
    right: Sequence[float],
    metric: Metric,
    comparisons: int = 1,
    floor: float = 1.0,
) -> RatioEstimate:
    """Left over right of paired rounds, or of counts, whose rounds need not be pairs.

    `floor` is the ratio up to which there is no difference.
    """
    definition = METRICS[metric]
    if definition.same_within is not None:
        return counted_ratio(left, right, max(definition.same_within, floor))
    return paired_ratio(left, right, comparisons, definition.better, floor=floor)


def figure_ratio(left: Sample, right: Sample, metric: Metric, note: str) -> RatioEstimate:
    """Left over right of two figures, without a test; `note` gives the reason."""
    return untested_ratio(left.figure, right.figure, note, METRICS[metric].better)


def direction(ratio: RatioEstimate, untested_from: float) -> int:
    """1 for better, -1 for worse, 0 for no difference.

    Without a verdict, ratios of at least `untested_from` count as a difference.
    """
    match ratio.verdict:
        case "faster":
            return 1
        case "slower":
            return -1
        case "no difference shown":
            return 0
        case _:
            return (ratio.value >= untested_from) - (ratio.value <= 1 / untested_from)


def as_ratio(estimate: RatioEstimate, metric: Metric) -> Ratio:
    """The ratio in the form of results.json."""
    return _as_ratio(estimate, ratio_text(estimate, metric), 6)


def as_loss(estimate: RatioEstimate) -> Ratio:
    """A ratio of rates whose text is the part that is lost. A small one needs more digits."""
    return _as_ratio(estimate, loss_text(estimate), 9)


def _as_ratio(estimate: RatioEstimate, text: str, digits: int) -> Ratio:
    return Ratio(
        value=rounded(estimate.value, digits),
        low=None if estimate.low is None else rounded(estimate.low, digits),
        high=None if estimate.high is None else rounded(estimate.high, digits),
        verdict=estimate.verdict,
        paired=estimate.paired,
        text=text,
        note=estimate.note,
    )


def ratio_text(ratio: RatioEstimate, metric: Metric = "rate") -> str:
    """The text of a ratio on all pages: `1.70x faster (1.68 to 1.72)`.

    A worse one is inverted with its interval (`1.45x slower (1.41 to 1.49)`). Numbers have two
    decimals, or as many as are needed to be above 1.
    """
    better, worse = METRICS[metric].words
    value, low, high = ratio.value, ratio.low, ratio.high
    if ratio.verdict == "too few rounds":
        return f"{factor_text(value)}, {ratio.verdict}"
    if low is None or high is None:
        return factor_text(value)
    is_count = METRICS[metric].is_count
    if ratio.verdict == "no difference shown" and is_count:
        reach = rounded(max(high, 1 / low), 6)
        return f"the same within {size_text(reach)}" if reach > 1 else "the same"
    if ratio.verdict == "no difference shown":
        return _same_text(low, high, seen_from(ratio) or SAME_WITHIN)
    if is_count and f"{low:.2f}" == f"{high:.2f}":
        factor, word = max(value, 1 / value), better if value > 1 else worse
        return f"{_small_text(factor)} {word}"
    if ratio.verdict == "not tested":
        return f"{factor_text(value)} ({low:.2f} to {high:.2f})"
    word = better
    if ratio.verdict == "slower":
        value, low, high, word = 1 / value, 1 / high, 1 / low, worse
    return f"{_above_one(value)}x {word} ({_above_one(low)} to {_above_one(high)})"


def _same_text(low: float, high: float, seen: float) -> str:
    """No difference, and the least that would have been one: `no difference shown (7% would show)`.

    If the interval has only ratios that nobody decides by: `the same within 2%`.
    """
    if max(high, 1 / low) <= SAME_WITHIN:
        return f"the same within {size_text(SAME_WITHIN)}"
    return f"no difference shown ({size_text(rounded(seen, 6))} would show)"


def seen_from(ratio: RatioEstimate) -> float | None:
    """The ratio (above 1) from which a difference would have had a verdict; None without a test."""
    if ratio.low is None or ratio.high is None:
        return None
    return max(ratio.high / ratio.value, ratio.value / ratio.low, ratio.floor)


def _small_text(factor: float) -> str:
    """The size of a difference of exact counts: 1.35x, and below 2% 1.2%, which 1.01x would hide."""
    return f"{100 * (factor - 1):.1f}%" if factor < SAME_WITHIN else f"{_above_one(factor)}x"


def _above_one(value: float) -> str:
    """With two decimals, or as many as are needed to be above 1: of counts, and of old reports."""
    digits = 2
    while digits < 15 and float(f"{value:.{digits}f}") <= 1:
        digits += 1
    return f"{value:.{digits}f}"


def factor_text(value: float) -> str:
    """A ratio without a verdict: 1.22x."""
    return f"{value:.2f}x"


def loss_text(ratio: RatioEstimate) -> str:
    """The part of a rate that is lost: `31.2% lost (30.8 to 31.6%)`, `3.0% gained (2.7 to 3.3%)`."""
    if ratio.verdict == "too few rounds" or ratio.low is None or ratio.high is None:
        return f"{_part(ratio.value)}, {ratio.verdict}"
    if ratio.verdict == "no difference shown":
        return _same_text(ratio.low, ratio.high, seen_from(ratio) or SAME_WITHIN)
    low, high = sorted(abs(_percent(bound)) for bound in (ratio.low, ratio.high))
    return f"{_part(ratio.value)} ({low:.1f} to {high:.1f}%)"


def _percent(ratio: float) -> float:
    return rounded(100 * (1 - ratio), 6)


def _part(ratio: float) -> str:
    percent = _percent(ratio)
    return f"{abs(percent):.1f}% {'gained' if percent < 0 else 'lost'}"


# --- in sentences --------------------------------------------------------------------------------


def against_text(ratio: Ratio, metric: Metric, other: str) -> str:
    """A ratio and its baseline: `1.30x faster than OpenSSL 3.6.3 (1.28 to 1.31)`."""
    definition = METRICS[metric]
    head, bracket, interval = ratio.text.partition(" (")
    tail = f"{bracket}{interval}"
    good = "fast" if definition.words[0] == "faster" else "good"
    match ratio.verdict:
        case "faster" | "slower":
            amount = f" {definition.amount}" if definition.amount else ""
            return f"{head}{amount} than {other}{tail}"
        case "no difference shown" if head.startswith("the same"):
            return head.replace("the same", f"the same as {other}")
        case "no difference shown":
            same, within, percent = head.partition(" within ")
            if same == "the same":
                return f"{same} as {other}{within}{percent}"
            return f"{head} from {other}{tail}"
        case "too few rounds":
            return f"{factor_text(ratio.value)} as {good} as {other}, too few rounds to test"
        case _:
            return f"{head} as {good} as {other}{tail}"


def inverted(ratio: Ratio, metric: Metric) -> Ratio:
    """The same comparison with its sides exchanged."""
    estimate = replace(
        _estimate(ratio),
        value=1 / ratio.value,
        low=None if ratio.high is None else 1 / ratio.high,
        high=None if ratio.low is None else 1 / ratio.low,
        verdict=_OPPOSITE.get(ratio.verdict, ratio.verdict),
    )
    if ratio.verdict == "no difference shown":  # its size is that of both directions
        return _as_ratio(estimate, ratio.text, 6)
    return as_ratio(estimate, metric)


def untested(ratio: Ratio, metric: Metric, note: str) -> Ratio:
    """The same ratio and interval without a verdict; `note` gives the reason."""
    return as_ratio(_estimate(ratio).untested(note), metric)


def _estimate(ratio: Ratio) -> RatioEstimate:
    """The estimate of a ratio of results.json, which does not have its number of rounds."""
    return RatioEstimate(
        value=ratio.value,
        low=ratio.low,
        high=ratio.high,
        verdict=ratio.verdict,
        rounds=0,
        paired=ratio.paired,
        note=ratio.note,
    )


_OPPOSITE: Final[Mapping[Verdict, Verdict]] = {"faster": "slower", "slower": "faster"}


def shown_from(texts: Iterable[str]) -> str:
    """From what size a difference would have been seen, of texts without one: `5 to 9% would show`.

    Empty if none of them says it, such as those of equal counts.
    """
    sizes = sorted(int(size) for text in texts for size in re.findall(r"(\d+)%", text))
    if not sizes:
        return ""
    return f"{' to '.join(dict.fromkeys(map(str, (sizes[0], sizes[-1]))))}% would show"
