"""What a claim of a page says about results, and whether it holds. Pure functions.

The grammar of `holds`:

    holds   = test { " and " test }
    test    = [ [ measure " of " ] rows ":" ] check [ " on " word { word } ]
                                                            without rows: those of the test before;
                                                            on: in the parts of a host with these
                                                            words in its id or name
    rows    = word { word } [ "!" word ] [ "(" count ")" ]  in the anchor, between hyphens; `*` is
              any text; an anchor itself is only that row
    count   = "some" | "most" | number " of " number        absent: in each row that has the figures
    check   = builds " / " builds " in " range              by their ratio, or the figures without one
            | builds " in " range                           in the unit of the table
            | builds " better than " builds                 a verdict, in the metric's direction
            | builds " worse than " builds
            | builds " no difference from " builds
            | "best is " builds                             they alone are best, or tied
    builds  = name { "," name } [ "[" rows "]" ]            other rows for this side of a quotient
    name    = a library | an implementation, with `*` for any text | "*" for each other one
            | "itself", after / and with [rows]: the same in another row
    range   = [ number ] ".." [ number ] | number

A quotient in one row that excludes 1 also needs a verdict, if its table has been tested. A test must
hold in each part of the report that has its rows and builds, and in at least one. Example:

    handshake full 1.3 ecdsa-p256 server: aws-lc, rustls / openssl in 1.8..2.2
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from itertools import product
from typing import Any, Final, Literal, NamedTuple

from tlsperf.analysis.ratios import inverted
from tlsperf.analysis.statistics import fewest_for_median
from tlsperf.contract.errors import alternatives
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import LAYOUT_KINDS, Ratio, Results, Row, Verdict
from tlsperf.contract.run import HostFacts, Implementation
from tlsperf.contract.text import host_label

MEASURES: Final[tuple[str, ...]] = (
    *("figure", *(f"{kind}-layout" for kind in LAYOUT_KINDS)),
    *("library-share", "kernel-share", "copies-share", "noise", "change"),
)
"""What `measure` may be. Absent: the figure. The others are in per cent; a layout has the lowest
and the highest of its effects, the rows of `noise` are its sources, with `floor` and `ratios` of
each run. Counted releases have `change`: from the release before.
"""

VERDICTS: Final[Mapping[str, Verdict]] = {
    "better than": "faster",
    "worse than": "slower",
    "no difference from": "no difference shown",
}

NOISE: Final = ("floor", "ratios")
"""The names in the rows of `noise`: within what are 95% of rates, and of ratios."""

ITSELF: Final = "itself"

MOST_SHOWN: Final = 3
"""A message names at most this many contradictions."""


class ClaimError(Exception):
    """A claim that cannot be evaluated, or that does not hold: found, and expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(f"found {found}, expected {expected}")
        self.found, self.expected = found, expected


class AbsentError(ClaimError):
    """A part of a report has no rows or no builds of a test."""


# --- the grammar ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows by words of their anchors."""

    words: tuple[str, ...]
    measure: str = "figure"
    count: tuple[int, int] | Literal["all", "some", "most"] = "all"

    def matching(self, shown: Sequence[Identifier], every: Sequence[Identifier]) -> list[str]:
        """The anchors that match: of `shown`, or one of `every` that is named as a whole."""
        if len(self.words) == 1 and self.words[0] in every:
            return [self.words[0]]
        wanted = [_word(word) for word in self.words if not word.startswith("!")]
        unwanted = [_word(word[1:]) for word in self.words if word.startswith("!")]
        return [
            anchor
            for anchor in shown
            if all(word.search(anchor) for word in wanted)
            and not any(word.search(anchor) for word in unwanted)
        ]


def _word(word: str) -> re.Pattern[str]:
    inner = re.escape(word.replace(".", "-")).replace(r"\*", ".*")
    return re.compile(rf"(?:^|-){inner}(?:-|$)")


@dataclass(frozen=True)
class Builds:
    """Implementations by name, and their rows if those differ from the test's."""

    names: tuple[str, ...]
    rows: Rows | None = None


@dataclass(frozen=True)
class Test:
    """One test of a claim; `right` is None if it compares with nothing."""

    rows: Rows
    left: Builds
    right: Builds | None
    relation: str
    """"in", "best is", or a key of VERDICTS."""
    low: float
    high: float
    text: str
    on: tuple[str, ...] = ()
    """Words of the host; empty: on every host."""


_CHECKS: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<relation>best is) (?P<left>.+)",
        rf"(?P<left>.+?) (?P<relation>{'|'.join(VERDICTS)}) (?P<right>.+)",
        r"(?P<left>.+?) / (?P<right>.+) (?P<relation>in) (?P<range>\S+)",
        r"(?P<left>.+) (?P<relation>in) (?P<range>\S+)",
    )
)
_NUMBER: Final = r"-?[0-9]+(?:\.[0-9]+)?"
_RANGE: Final = re.compile(rf"(?P<low>{_NUMBER})?(?:(?P<dots>\.\.)(?P<high>{_NUMBER})?)?%?")
_BUILDS: Final = re.compile(r"(?P<names>[^\[\]]+?)(?:\s*\[(?P<rows>[^\[\]]+)\])?")
_ROWS: Final = re.compile(
    r"(?:(?P<measure>[a-z-]+) of )?(?P<words>[^()]+?)(?:\s*\((?P<count>[^()]+)\))?"
)


def parsed(holds: str) -> list[Test]:
    """The tests of a claim. Raises ClaimError with the part that is not of the grammar."""
    tests: list[Test] = []
    for part in re.split(r"\s+and\s+", holds.strip()):
        head, colon, check = part.rpartition(":")
        if not colon and not tests:
            raise ClaimError(repr(part), "rows, a colon and a check")
        rows = _rows(head) if colon else tests[-1].rows
        tests.append(_test(rows, check.strip(), part))
    return tests


def _test(rows: Rows, check: str, part: str) -> Test:
    check, _, host = check.partition(" on ")
    found = next((it for pattern in _CHECKS if (it := pattern.fullmatch(check))), None)
    if found is None:
        raise ClaimError(repr(check), "`a / b in 1.2..1.4`, `a better than b` or `best is a`")
    given = found.groupdict()
    if rows.measure != "figure" and given["relation"] != "in":
        raise ClaimError(
            f"{given['relation']!r} of {rows.measure}", "a range: only figures have verdicts"
        )
    low, high = _range(given["range"]) if given.get("range") else (float("-inf"), float("inf"))
    right = _builds(given["right"]) if given.get("right") else None
    if right and right.names == (ITSELF,) and not right.rows:
        raise ClaimError(repr(check), "itself with the words of another row, as in itself [1.2]")
    on = tuple(host.split())
    return Test(rows, _builds(given["left"]), right, given["relation"], low, high, part.strip(), on)


def _range(text: str) -> tuple[float, float]:
    found = _RANGE.fullmatch(text)
    if found is None or not (found["low"] or found["high"]):
        raise ClaimError(repr(text), "a range such as 1.2..1.4, 2.. or ..5%")
    low = float(found["low"]) if found["low"] else float("-inf")
    if not found["dots"]:
        return low, low
    return low, float(found["high"]) if found["high"] else float("inf")


def _builds(text: str) -> Builds:
    found = _BUILDS.fullmatch(text.strip())
    if found is None:
        raise ClaimError(repr(text), "names of implementations, with [other rows] after them")
    names = tuple(name.strip() for name in found["names"].split(","))
    rows = _rows(found["rows"]) if found["rows"] else None
    if rows and (rows.measure, rows.count) != ("figure", "all"):
        raise ClaimError(f"[{found['rows']}]", "only words of a row there")
    return Builds(names, rows)


def _rows(text: str) -> Rows:
    found = _ROWS.fullmatch(text.strip())
    if found is None:
        raise ClaimError(repr(text), "words of rows")
    measure = found["measure"] or "figure"
    if measure not in MEASURES:
        raise ClaimError(f"{measure!r} of rows", alternatives(measure, MEASURES))
    return Rows(tuple(found["words"].split()), measure, _count(found["count"] or "all"))


def _count(text: str) -> tuple[int, int] | Literal["all", "some", "most"]:
    match text:
        case "all" | "some" | "most":
            return text
        case _ if found := re.fullmatch(r"(\d+) of (\d+)", text):
            return int(found[1]), int(found[2])
    raise ClaimError(f"({text})", "(some), (most) or (7 of 8)")


# --- the figures ----------------------------------------------------------------------------------

_Span = tuple[float, float]
"""The lowest and the highest of a figure; both are the same but for layouts."""


Found = Mapping[Identifier, Mapping[Identifier, _Span]]
"""Figures by row and implementation."""


class Pair(NamedTuple):
    """Two implementations in the row of an anchor."""

    row: Identifier
    implementation: Identifier
    over: Identifier


_Place = tuple[Identifier, Identifier]
"""A row and an implementation with a figure in it."""


@dataclass(frozen=True)
class Figures:
    """What claims are about: the rows, implementations and figures of a report."""

    implementations: Sequence[Implementation]
    baseline: Identifier | None
    shown: Sequence[Identifier]
    """The anchors of the rows that are not parts of others."""
    of: Callable[[str], Found]
    """The figures of a measure."""
    rows: Mapping[Identifier, Row] = field(default_factory=dict)
    asked: Mapping[Pair, Ratio] = field(default_factory=dict)
    """The ratios that no table has."""
    priced: Mapping[tuple[_Place, Identifier], Ratio] = field(default_factory=dict)
    """The ratios of a row to another, of one implementation, in a price list."""
    hosts: Mapping[Identifier, Identifier | None] = field(default_factory=dict)
    place: str = ""
    """Ids and names of the hosts."""
    host: str = ""
    """What people call the hosts."""
    to: Callable[[Identifier], Figures] | None = None
    """The figures with another baseline; absent: pairs that no table has were asked for."""

    def is_on(self, words: Sequence[str]) -> bool:
        """Whether its hosts have these words in their ids or names."""
        return all(_word(word.lower()).search(self.place) for word in words)

    def ratio(self, row: Row, one: Identifier, other: Identifier) -> Ratio | None:
        """The ratio in a table, or one that was asked for; None if there is none."""
        of_table = {cell.implementation: cell.ratio for cell in row.cells}
        if other == self.baseline:
            return of_table.get(one)
        if one == self.baseline:
            ratio = of_table.get(other)
            return ratio and inverted(ratio, row.metric)
        asked = self.asked.get(Pair(row.anchor, one, other))
        if asked or self.to is None or row.anchor not in self.rows:
            return asked
        cells = self.to(other).rows[row.anchor].cells
        return next((cell.ratio for cell in cells if cell.implementation == one), None)

    def quotient(self, one: _Place, other: _Place) -> float | None:
        """One figure over another by their ratio; None if there is no ratio of them."""
        if one[0] == other[0]:
            row = self.rows.get(one[0])
            ratio = self.ratio(row, one[1], other[1]) if row else None
            is_inverse = row is not None and METRICS[row.metric].better == "lower"
        else:
            is_inverse = (one, other[0]) not in self.priced
            ratio = self.priced.get((other, one[0]) if is_inverse else (one, other[0]))
            ratio = ratio if one[1] == other[1] else None
        if ratio is None:
            return None
        return 1 / ratio.value if is_inverse else ratio.value

    def named(self, name: str) -> list[Identifier]:
        """The implementations of a name: all of a library, or those that match a pattern."""
        known = [*(i.id for i in self.implementations), *NOISE]
        of_library = [i.id for i in self.implementations if i.library == name]
        found = of_library or [i for i in known if fnmatchcase(i, name)]
        if not found:
            raise AbsentError(f"the implementation {name!r}", alternatives(name, known))
        return found


def figures_of(results: Results) -> Figures:
    """The figures of a report for its claims."""
    tables = results.tables

    def of(measure: str) -> Found:
        found: dict[Identifier, dict[Identifier, _Span]] = {}
        for row, implementation, *span in _values(results, measure):
            of_row = found.setdefault(row, {})
            span += of_row.get(implementation, ())  # the noise of each run
            of_row[implementation] = (min(span), max(span))
        return found

    return Figures(
        results.implementations,
        results.baseline,
        [row.anchor for table in tables if not table.by_phase for row in table.rows],
        cache(of),
        {row.anchor: row for table in tables for row in table.rows},
        {Pair(c.row, c.implementation, c.over): c.ratio for c in results.comparisons},
        {
            ((row.anchor, cell.implementation), row.against): cell.ratio
            for table in results.prices or ()
            for row in table.rows
            for cell in row.cells
            if row.against and cell.ratio
        },
        {i.id: i.host for i in results.implementations},
        place_of(results.hosts),
        ", ".join(map(host_label, results.hosts)),
    )


def place_of(hosts: Sequence[HostFacts]) -> str:
    """The words of hosts, between hyphens."""
    words = " ".join(f"{host.id} {host.name or ''} {host.cpu}" for host in hosts)
    return "-".join(re.findall(r"[a-z0-9]+", words.lower()))


def _values(results: Results, measure: str) -> Iterator[tuple[Any, ...]]:
    """Row, implementation and figures; the figures are one, or those of all layouts."""
    tables = results.tables
    match measure:
        case "figure":
            for row in (row for table in tables for row in table.rows):
                for cell in row.cells:
                    if cell.valid and cell.value is not None:
                        yield row.anchor, cell.implementation, cell.value
        case "library-share":
            for s in results.sockets or ():
                yield s.anchor, s.implementation, s.library_percent
        case "kernel-share":
            for s in results.sockets or ():
                yield s.anchor, s.implementation, s.kernel_percent
        case "copies-share":
            for h in (share for table in tables for share in table.harness or ()):
                yield h.anchor, h.implementation, h.copies_percent
        case "noise":
            for n in results.noise:
                for name, percent in zip(NOISE, (n.floor_percent, n.ratio_percent), strict=True):
                    if percent is not None:
                        yield n.source.replace(" ", "-"), name, percent
        case _:
            for effect in (e for table in tables for e in table.layouts or ()):
                if measure == f"{effect.kind}-layout":
                    yield effect.anchor, effect.implementation, *effect.percents


# --- evaluation -----------------------------------------------------------------------------------


def unreadable(holds: str) -> ClaimError | None:
    """Why a text is not of the grammar; None if it is."""
    try:
        parsed(holds)
    except ClaimError as error:
        return error
    return None


def failing(holds: str, parts: Sequence[Figures]) -> ClaimError | None:
    """Why a claim does not hold in a report, or cannot be evaluated; None if it holds.

    `parts` are the figures of its parts: each that has the rows and the builds of a test is judged.
    """
    try:
        for test in parsed(holds):
            _judge(test, parts)
    except ClaimError as error:
        return error
    return None


def _judge(test: Test, parts: Sequence[Figures]) -> None:
    """Raises ClaimError if a test does not hold in a part, or if no part has its figures."""
    placed = [figures for figures in parts if figures.is_on(test.on)]
    if not placed:
        raise ClaimError(f"no part on {' '.join(test.on)!r}", "words of a host's id or name")
    absent: list[AbsentError] = []
    for figures in placed:
        try:
            _Evaluation(test, figures).run()
        except AbsentError as error:
            absent.append(error)
        except ClaimError as error:
            place = f"on {figures.host}: " if len(parts) > 1 else ""
            raise ClaimError(f"{place}{error.found}", error.expected) from None
    if len(absent) == len(placed):
        raise absent[0]


def asked_pairs(holds: str, figures: Figures) -> list[Pair]:
    """The pairs in one row, neither of them the baseline, that a claim needs a verdict of."""
    found: list[Pair] = []
    try:
        tests = [test for test in parsed(holds) if figures.is_on(test.on)]
    except ClaimError:
        return []  # `failing` says why
    for test in tests:
        with suppress(ClaimError):
            found += list(_Evaluation(test, figures).asked())
    return found


@dataclass
class _Evaluation:
    """One test of a claim against the figures of a report."""

    test: Test
    figures: Figures

    def __post_init__(self) -> None:
        self.of = self.figures.of(self.test.rows.measure)
        self.used: set[Identifier] = set()

    def run(self) -> None:
        """Raises ClaimError if the test does not hold."""
        judged = [
            wrong for a in self.anchors(self.test.rows) if (wrong := self.in_row(a)) is not None
        ]
        if not judged:
            raise AbsentError(f"no row with the figures of {self.test.text!r}", "one and more")
        self.all_used()
        wrong = [text for found in judged for text in found]
        holding = sum(not found for found in judged)
        of_rows = f"in {holding} of {len(judged)} rows"
        match self.test.rows.count:
            case "all":
                holds = not wrong
            case "some":
                holds = holding > 0
            case "most":
                holds = 2 * holding > len(judged)
            case count:
                holds = (holding, len(judged)) == count
        if not holds:
            shown = "; ".join(wrong[:MOST_SHOWN]) + ("; …" if len(wrong) > MOST_SHOWN else "")
            raise ClaimError(f"it holds {of_rows}{': ' if shown else ''}{shown}", self.test.text)

    def anchors(self, rows: Rows) -> list[Identifier]:
        shown = self.figures.shown if rows.measure == "figure" else list(self.of)
        found = rows.matching(shown, list(self.of))
        if not found:
            words = " ".join(rows.words)
            raise AbsentError(
                f"no row of {words!r}", alternatives("-".join(rows.words), list(self.of))
            )
        return found

    def side(self, builds: Builds, row: Identifier) -> list[_Place]:
        """The places of one side of a comparison."""
        if builds.rows is not None:
            (row, *more) = self.anchors(builds.rows)
            if more:
                words = " ".join(builds.rows.words)
                raise ClaimError(f"{1 + len(more)} rows of [{words}]", "words of one row")
        named = [i for name in builds.names for i in self.figures.named(name)]
        return [(row, i) for i in dict.fromkeys(named) if i in self.of.get(row, {})]

    def pairs(self, row: Identifier) -> list[tuple[_Place, _Place]]:
        right = self.test.right
        if right is None:
            return []
        if right.names == (ITSELF,):
            left = self.side(self.test.left, row)
            others = (self.side(replace(right, names=(i,)), row) for _, i in left)
            return [(one, at[0]) for one, at in zip(left, others, strict=True) if at]
        sides = product(self.side(self.test.left, row), self.side(right, row))
        return [(one, other) for one, other in sides if one != other]

    def all_used(self) -> None:
        """Raises ClaimError for a name that no row of the test has a figure of."""
        for builds in filter(None, (self.test.left, self.test.right)):
            for name in (name for name in builds.names if name != ITSELF):
                if self.used.isdisjoint(self.figures.named(name)):
                    raise AbsentError(
                        f"no figure of {name!r} in {self.test.text!r}", "one and more"
                    )

    def in_row(self, row: Identifier) -> list[str] | None:
        """What contradicts the test in a row; None if the row lacks its figures."""
        if self.test.relation == "best is":
            return self.leaders(row)
        if self.test.right is None:
            alone = self.side(self.test.left, row)
            self.used |= {i for _, i in alone}
            return [wrong for place in alone if (wrong := self.value(place))] if alone else None
        pairs = self.pairs(row)
        self.used |= {i for pair in pairs for _, i in pair}
        return [wrong for pair in pairs if (wrong := self.pair(*pair))] if pairs else None

    def value(self, place: _Place) -> str | None:
        row, implementation = place
        low, high = self.of[row][implementation]
        if self.test.low <= low <= high <= self.test.high:
            return None
        span = f"{low:.7g}" if low == high else f"{low:.7g} to {high:.7g}"
        return f"{implementation} has {span} in {row}"

    def leaders(self, row: Identifier) -> list[str] | None:
        if row not in self.figures.rows:
            raise ClaimError(f"{self.test.text!r} of counts", "a / b in, or the measure change")
        claimed = {i for _, i in self.side(self.test.left, row)}
        self.used |= claimed
        cells = self.figures.rows[row].cells
        leaders = {c.implementation for c in cells if c.best or c.tied}
        if not claimed:
            return None
        found = (
            ", ".join(sorted(leaders)) or "none: not tested, or not of one build of each library"
        )
        return [] if claimed == leaders else [f"best in {row}: {found}"]

    def pair(self, one: _Place, other: _Place) -> str | None:
        """What contradicts a comparison."""
        test, in_row = self.test, f"in {one[0]}"
        row = self.figures.rows.get(one[0])
        is_ratio = one[0] == other[0] and test.rows.measure == "figure"
        ratio = self.figures.ratio(row, one[1], other[1]) if row and is_ratio else None
        if test.relation != "in":
            verdict = ratio.verdict if ratio else "no tested ratio"
            if verdict == VERDICTS[test.relation]:
                return None
            return f"{one[1]} against {other[1]}: {ratio.text if ratio else verdict} {in_row}"
        if ratio is None and self.figures.hosts.get(one[1]) != self.figures.hosts.get(other[1]):
            return f"{one[1]} and {other[1]} are of two hosts"
        (low, high), (least, most) = self.of[one[0]][one[1]], self.of[other[0]][other[1]]
        quotients = [low / most, high / least] if least > 0 else [float("inf")]
        if test.rows.measure == "figure" and (exact := self.figures.quotient(one, other)):
            quotients = [exact]
        if not test.low <= min(quotients) <= max(quotients) <= test.high:
            found = " to ".join(dict.fromkeys(f"{quotient:.4g}" for quotient in quotients))
            return f"{one[1]} / {other[1]} = {found} {in_row}"
        if not (row and is_ratio and excludes_1(test)):
            return None
        if ratio is None and self.is_tested(row, one, other):
            return f"{one[1]} against {other[1]}: no tested ratio {in_row}"
        if ratio and ratio.verdict == "no difference shown":
            return f"{one[1]} against {other[1]}: {ratio.text} {in_row}"
        return None

    def is_tested(self, row: Row, *places: _Place) -> bool:
        """Whether both figures have rounds enough, so that only a test can tell them apart."""
        named = {i for _, i in places}
        cells = [cell for cell in row.cells if cell.implementation in named]
        return all((cell.count or 0) >= fewest_for_median() for cell in cells)

    def asked(self) -> Iterator[Pair]:
        test = self.test
        if test.rows.measure != "figure" or not (test.relation in VERDICTS or excludes_1(test)):
            return
        for row in self.anchors(test.rows):
            for one, other in self.pairs(row):
                if one[0] == other[0] and self.figures.baseline not in (one[1], other[1]):
                    yield Pair(row, one[1], other[1])


def excludes_1(test: Test) -> bool:
    """Whether a quotient in the range is a difference."""
    return test.relation == "in" and test.right is not None and not test.low <= 1 <= test.high
