"""The text that shortcodes print in a report's prose, computed from results.json.

Each shortcode is one function of the results, so the text changes with the figures. A call that the
results cannot answer is an error that names its line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import combinations
from typing import Final, NoReturn

from tlsperf.analysis.ratios import against_text, clause, difference_bound, factor_text, inverted
from tlsperf.contract.errors import FormatError
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Cell, Ratio, Results, Row, Statement, Table
from tlsperf.contract.text import counted, listed, with_unit
from tlsperf.load.shortcodes import Call
from tlsperf.report import price_statements
from tlsperf.report.asked import matching

NAMED: Final = 4
"""A sentence names at most this many rows or implementations, else it states their number."""


Others = Callable[[str], Results | None]
"""The results of another report, by the name of its folder; None if there is none."""


def no_others(name: str) -> Results | None:
    """For prose that names no other report."""
    del name
    return None


@dataclass(frozen=True)
class Compared:
    """A row with the ratio of two implementations in it."""

    row: Row
    ratio: Ratio


class Facts:
    """The rows, labels and ratios of a report, for one call. Its methods raise FormatError."""

    def __init__(self, results: Results, call: Call, others: Others) -> None:
        self.call = call
        self.others = others
        self.baseline = results.baseline
        self.rows: dict[Identifier, tuple[Table, Row]] = {
            row.anchor: (table, row) for table in results.tables for row in table.rows
        }
        self.labels = {i.id: i.label for i in results.implementations}
        self.prices = results.prices or []
        self._asked = {(c.row, c.implementation, c.over): c.ratio for c in results.comparisons}

    def fail(self, found: str, expected: str) -> NoReturn:
        raise FormatError(
            self.call.file, self.call.line, f"{self.call.name}() with {found}", expected
        )

    def argument(self, name: str) -> str:
        return self.call.arguments.get(name, "")

    def of_report(self) -> Facts:
        """The facts of the report that `report` names."""
        name = self.argument("report")
        other = self.others(name)
        if other is None:
            self.fail(f"report {name!r}", "the folder of another report")
        return Facts(other, self.call, self.others)

    def row(self, name: str = "row") -> tuple[Table, Row]:
        anchor = self.argument(name)
        if anchor not in self.rows:
            self.fail(f"row {anchor!r}", f"a row of results.json, {_near(anchor, self.rows)}")
        return self.rows[anchor]

    def matching_rows(self) -> list[Row]:
        """The rows that match the patterns of `rows`, in tables that pages show."""
        patterns = self.argument("rows")
        shown = [anchor for anchor, (table, _) in self.rows.items() if not table.by_phase]
        found = [self.rows[anchor][1] for anchor in matching(patterns, shown)]
        if len(found) < 2:
            self.fail(f"rows {patterns!r}", f"patterns of two rows and more, found {len(found)}")
        return found

    def implementation(self, name: str = "implementation") -> Identifier:
        given = self.argument(name) or (name == "over" and self.baseline) or ""
        if given not in self.labels:
            self.fail(f"{name} {given!r}", f"an implementation, {_near(given, self.labels)}")
        return given

    def label(self, name: str = "implementation") -> str:
        return self.labels[self.implementation(name)]

    def cell(self, row: Row, implementation: Identifier) -> Cell:
        """The implementation's valid figure in the row."""
        found = [
            c
            for c in row.cells
            if c.implementation == implementation and c.valid and c.value is not None
        ]
        if not found:
            self.fail(f"{implementation} in row {row.anchor!r}", "one with a figure there")
        return found[0]

    def known_ratio(self, row: Row, implementation: Identifier, over: Identifier) -> Ratio | None:
        """The ratio in a table or in `comparisons`; None if there is none."""
        of_table = {cell.implementation: cell.ratio for cell in row.cells}
        if over == self.baseline:
            return of_table.get(implementation)
        if implementation == self.baseline:
            ratio = of_table.get(over)
            return ratio and inverted(ratio, row.metric)
        return self._asked.get((row.anchor, implementation, over))

    def ratio(self, row: Row, implementation: Identifier, over: Identifier) -> Ratio:
        found = self.known_ratio(row, implementation, over)
        if found is None or implementation == over:
            self.fail(
                f"{implementation} over {over} in row {row.anchor!r}",
                "two implementations with valid figures there",
            )
        return found

    def compared(self) -> list[Compared]:
        """The rows of `rows` in which both sides have figures."""
        ours, theirs = self.implementation(), self.implementation("over")
        found = [
            Compared(row, ratio)
            for row in self.matching_rows()
            if (ratio := self.known_ratio(row, ours, theirs)) is not None
        ]
        if not found:
            self.fail(f"{ours} over {theirs}", "rows in which both have figures")
        if len({c.row.metric for c in found}) > 1:
            self.fail(f"rows {self.argument('rows')!r}", "rows of one metric")
        return found


# --- one function for each shortcode -----------------------------------------------------------


def _figure(facts: Facts) -> str:
    """The figure and its unit: `7,565 MiB/s`."""
    table, row = facts.row()
    implementation = facts.implementation()
    found = [cell for cell in row.cells if cell.implementation == implementation]
    if not found or found[0].value is None:
        facts.fail(f"{implementation} in row {row.anchor!r}", "a cell with a figure")
    return with_unit(found[0].text, table.unit)


def _layout(facts: Facts) -> str:
    """The effect of a kind of layout: `−9.6 to +0.4% (A/A within 1.1%)`."""
    table, row = facts.row()
    implementation, kind = facts.implementation(), facts.argument("kind")
    of_row = [e for e in table.layouts or () if e.anchor == row.anchor and e.kind == kind]
    found = [effect for effect in of_row if effect.implementation == implementation]
    if not found:
        facts.fail(f"kind {kind!r} of {implementation} in row {row.anchor!r}", "measured layouts")
    return f"{found[0].text} (A/A within {found[0].same_text})"


def _ratio(facts: Facts) -> str:
    """The ratio to the baseline: `1.30x faster than OpenSSL 3.6.3 (1.28 to 1.31)`."""
    _, row = facts.row()
    ratio = facts.ratio(row, facts.implementation(), facts.implementation("over"))
    return against_text(ratio, row.metric, facts.label("over"))


def _verdict(facts: Facts) -> str:
    """The ratio to the baseline or to `over`, as a sentence."""
    _, row = facts.row()
    ratio = facts.ratio(row, facts.implementation(), facts.implementation("over"))
    return clause(facts.label(), ratio, row.metric, facts.label("over"))


def _unchanged(facts: Facts) -> str:
    """That there is no difference, with the bound of the interval; or the difference."""
    _, row = facts.row()
    ratio = facts.ratio(row, facts.implementation(), facts.implementation("over"))
    bound = difference_bound(ratio)
    if ratio.verdict != "no difference shown" or bound is None:
        return clause(facts.label(), ratio, row.metric, facts.label("over"))
    return (
        f"{facts.label()} shows no difference from {facts.label('over')}; "
        f"a difference above {bound} is excluded"
    )


def _change(facts: Facts) -> str:
    """The change from one version to another, and the share of it that a third one undoes."""
    table, row = facts.row()
    names = ["before", "after", *(["later"] if facts.argument("later") else [])]
    ids = [facts.implementation(name) for name in names]
    cells = [facts.cell(row, identifier) for identifier in ids]
    shown = [f"{c.text} ({facts.labels[i]})" for i, c in zip(ids, cells, strict=True)]
    shown[0] = f"{with_unit(cells[0].text, table.unit)} ({facts.labels[ids[0]]})"
    first = facts.ratio(row, ids[1], ids[0])
    text = f"from {shown[0]} to {shown[1]}: {first.text}"
    if len(ids) == 2:
        return text
    second = facts.ratio(row, ids[2], ids[1])
    values = [cell.value or 0.0 for cell in cells]
    return f"{text}; then {shown[2]}: {second.text}{_share(first, second, values)}"


def _share(first: Ratio, second: Ratio, values: Sequence[float]) -> str:
    """The share of a verified loss or gain that the next step undoes; empty without verdicts."""
    before, after, later = values
    if {first.verdict, second.verdict} != {"faster", "slower"}:
        return ""
    share = round(100 * (later - after) / (before - after))
    if first.verdict == "slower":
        return f", which recovers {share}% of the loss"
    return f", which loses {share}% of the gain"


def _rank(facts: Facts) -> str:
    """All implementations of a row, with its verdict about the leaders."""
    table, row = facts.row()
    cells = sorted(
        (c for c in row.cells if c.valid and c.value is not None),
        key=lambda c: c.value or 0.0,
        reverse=table.better == "higher",
    )
    if len(cells) < 2:
        facts.fail(f"row {row.anchor!r}", "a row of two figures and more")
    leaders = [c for c in cells if c.best or c.tied]
    others = [c for c in cells if c not in leaders]
    by_figure = "in the order of their figures"
    if not leaders:
        return f"{by_figure}, not tested: {_figures(others, facts, table)}"
    word = "best is" if leaders[0].best else "tied are"
    text = f"{word} {_figures(leaders, facts, table)}"
    return f"{text}; then, {by_figure}, {_figures(others, facts, table)}" if others else text


def _figures(cells: Sequence[Cell], facts: Facts, table: Table) -> str:
    named = [
        f"{facts.labels[c.implementation]} ({with_unit(c.text, table.unit)})" for c in cells[:NAMED]
    ]
    more = [counted(len(cells) - NAMED, "other")] if len(cells) > NAMED else []
    return listed([*named, *more])


def _extreme(facts: Facts) -> str:
    """The row with the largest or smallest ratio of one implementation to another."""
    which = facts.argument("which")
    if which not in ("largest", "smallest"):
        facts.fail(f"which {which!r}", "largest or smallest")
    compared = facts.compared()
    choose = max if which == "largest" else min
    found = choose(compared, key=lambda c: c.ratio.value)
    text = against_text(found.ratio, found.row.metric, facts.label("over"))
    return f"the {which} of {len(compared)} ratios is in {found.row.name}: {text}"


def _agree(facts: Facts) -> str:
    """The number of rows in which a verdict holds, and the rows with other verdicts."""
    compared = facts.compared()
    metric = METRICS[compared[0].row.metric]
    words = dict(zip(("faster", "slower"), metric.words, strict=True))
    untested = {c.ratio.verdict for c in compared} == {"not tested"}
    if untested:
        above = ("above", "below") if metric.better == "higher" else ("below", "above")
        words = dict(zip(("faster", "slower"), above, strict=True))
    groups: dict[str, list[str]] = {word: [] for word in _ORDER}
    for each in compared:
        groups[_side(each.ratio) if untested else each.ratio.verdict].append(each.row.name)
    most = max(_ORDER, key=lambda word: len(groups[word]))
    rest = [
        f"{words.get(word, word)} in {_rows(groups[word])}"
        for word in _ORDER
        if groups[word] and word != most
    ]
    ours, theirs = facts.label(), facts.label("over")
    amount = f" {metric.amount}" if metric.amount else ""
    match most:
        case "faster" | "slower" if untested:
            text = f"{ours} is {words[most]} {theirs}"
        case "faster" | "slower":
            text = f"{ours} {metric.verb} {words[most]}{amount} than {theirs}"
        case "no difference shown":
            text = f"{ours} shows no difference from {theirs}"
        case _:
            text = f"{ours} against {theirs}: {most}"
    count = len(groups[most])
    in_all = f"all {count} rows" if not rest else f"{count} of {len(compared)} rows"
    tail = " (single figures, not tested)" if untested else ""
    return "; ".join([f"{text} in {in_all}{tail}", *rest])


def _standing(facts: Facts) -> str:
    """The numbers of rows in which an implementation is better and worse, with the
    largest ratios.
    """
    compared = facts.compared()
    metric = METRICS[compared[0].row.metric]
    ours, theirs = facts.label(), facts.label("over")
    noun = "scenarios" if {c.row.statistic for c in compared} == {"value"} else "rows"
    untested = {c.ratio.verdict for c in compared} == {"not tested"}
    better, worse = ("better", "worse") if untested else metric.words
    sides: dict[str, list[Compared]] = {word: [] for word in _ORDER}
    for each in compared:
        sides[_side(each.ratio) if untested else each.ratio.verdict].append(each)
    amount = f" {metric.amount}" if metric.amount else ""
    shown: list[str] = []
    rest: list[str] = []
    for verdict, found in sides.items():
        if not found:
            continue
        count = str(len(found)) if shown or rest else _all_of(len(found), len(compared), noun)
        if verdict not in ("faster", "slower"):
            rest.append(f"{verdict} in {count}")
            continue
        most = (max if verdict == "faster" else min)(found, key=lambda c: c.ratio.value)
        word = better if verdict == "faster" else worse
        to = "down" if untested and verdict == "slower" else "up"
        bound = f"{to} to {most.ratio.text.split()[0].rstrip(',')}"
        shown.append(f"{word}{amount} in {count} ({bound}, {most.row.name})")
    if not shown:
        return f"Against {theirs}, {ours}: {listed(rest)}"
    tail = f", with {listed(rest)}" if rest else ""
    if untested:
        return f"Against {theirs}, {ours} is {listed(shown)}{tail}; single figures, not tested"
    return f"Against {theirs}, {ours} {metric.verb} {listed(shown)}{tail}"


def _equal(one: float, other: float, metric: str) -> bool:
    """Whether two counts show no difference, so that they predict no order."""
    return max(one, other) <= min(one, other) * (METRICS[metric].same_within or 1.0)


def _predicts(facts: Facts) -> str:
    """Whether a lower count goes with a higher factor between the rates of two rows.

    The rates are those of another report, `report`. `builds` pairs the builds of the count with
    those of the rates, `COUNTED=RATED` each: they may be other versions, on another host.
    """
    table, row = facts.row()
    rates = facts.of_report()
    after, before = (rates.row(name)[1] for name in ("later", "earlier"))
    builds = [part.split("=") for part in facts.argument("builds").split()]
    if len(builds) < 2 or any(len(pair) != 2 for pair in builds):
        facts.fail(f"builds {facts.argument('builds')!r}", "two pairs COUNTED=RATED and more")
    counts = {pair[0]: facts.cell(row, pair[0]) for pair in builds}
    kept = {
        counted: (rates.cell(after, rated).value or 0) / (rates.cell(before, rated).value or 1)
        for counted, rated in builds
    }
    rated = dict(builds)
    amount = {i: cell.value or 0.0 for i, cell in counts.items()}
    fewest = [
        f"{facts.labels[i]} ({counts[i].text})" for i in sorted(amount, key=lambda i: amount[i])
    ]
    most = [
        f"{rates.labels[rated[i]]} ({factor_text(kept[i])})"
        for i in sorted(kept, key=lambda i: -kept[i])
    ]
    pairs = list(combinations(amount, 2))
    others = [
        f"{facts.labels[a]} with {facts.labels[b]}"
        for a, b in pairs
        if _equal(amount[a], amount[b], row.metric)
        or (amount[a] - amount[b]) * (kept[b] - kept[a]) <= 0
    ]
    noun = METRICS[row.metric].noun
    order = f"{noun} from the fewest: {listed(fewest)} {table.unit}"
    share = f"the factor of the rate, from the highest: {listed(most)}"
    text = f"{_all_of(len(pairs) - len(others), len(pairs), 'pairs')} have the same order"
    rest = f"; these have not: {listed(others)}" if others else ""
    return f"{order}; {share}; {text}{rest}"


def _all_of(count: int, total: int, noun: str) -> str:
    return f"all {total} {noun}" if count == total else f"{count} of {total} {noun}"


_ORDER: Final = ("faster", "slower", "no difference shown", "too few rounds", "not tested")


def _side(ratio: Ratio) -> str:
    return "faster" if ratio.value > 1 else "slower" if ratio.value < 1 else "not tested"


def _rows(names: Sequence[str]) -> str:
    return f"{len(names)} ({'; '.join(names)})" if len(names) <= NAMED else str(len(names))


def _near(given: str, known: Iterable[str]) -> str:
    near = get_close_matches(given, list(known), 1)
    return f"such as {near[0]!r}" if near else "by its id"


# --- all calls of a page -------------------------------------------------------------------------

_KINDS: Final[dict[str, tuple[Callable[[Facts], str], tuple[str, ...]]]] = {
    "figure": (_figure, ("row", "implementation")),
    "layout": (_layout, ("row", "implementation", "kind")),
    "ratio": (_ratio, ("row", "implementation")),
    "verdict": (_verdict, ("row", "implementation", "over")),
    "unchanged": (_unchanged, ("row", "implementation", "over")),
    "change": (_change, ("row", "before", "after", "later")),
    "rank": (_rank, ("row",)),
    "extreme": (_extreme, ("rows", "implementation", "over", "which")),
    "agree": (_agree, ("rows", "implementation", "over")),
    "standing": (_standing, ("rows", "implementation", "over")),
    "predicts": (_predicts, ("row", "report", "later", "earlier", "builds")),
    **price_statements.KINDS,
}
"""The function of each shortcode, and its arguments in the order of its key."""


def statements(
    results: Results, calls: Sequence[Call], others: Others = no_others
) -> list[Statement]:
    """The text of each shortcode, once for equal calls. Raises FormatError."""
    found: dict[str, Statement] = {}
    tables = ("table", "prices")
    named = {call.arguments.get("id", "") for call in calls if call.name in tables}
    for call in calls:
        if call.name not in _KINDS:
            continue
        make, names = _KINDS[call.name]
        facts = Facts(results, call, others)
        if unknown := [name for name in call.arguments if name not in names]:
            facts.fail(f"argument {unknown[0]!r}", f"only {listed(names)}")
        key = f"{call.name}({', '.join(facts.argument(name) for name in names)})"
        if key not in found:
            found[key] = Statement(key=key, text=make(facts), place=_place(facts, named))
    return list(found.values())


def _place(facts: Facts, named: Collection[str]) -> str:
    """Where the figures of a call are: its row, or the table with most of its rows.

    A page shows the tables that it names, or all but those by phase. The figures of the others are
    in the file.
    """
    if prices := facts.argument("table"):
        return f"#{prices}" if prices in named else "results.json"
    if facts.argument("row"):
        table, row = facts.row()
        is_shown = table.anchor in named if named else not table.by_phase
        columns = [
            c.row for prices in facts.prices if prices.anchor in named for c in prices.columns
        ]
        is_shown = is_shown or row.anchor in columns
        return f"#{row.anchor}" if is_shown else "results.csv"
    tables = Counter(facts.rows[row.anchor][0].anchor for row in facts.matching_rows())
    [(anchor, _)] = tables.most_common(1)
    return f"#{anchor}" if anchor in named or not named else "results.csv"
