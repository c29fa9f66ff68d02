"""What pages over several reports must show, computed again from the results.json of the reports.

Nothing of tlsperf computes a figure here. A table of a page is a list of columns for a report;
`shown` has the cells of such a table as a page's JSON has them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final, NamedTuple

MIB: Final = 1 << 20
MIB_OF_A_GIGABIT: Final = 1e9 / 8 / MIB
IN_FLIGHT: Final = "-64-kib-in-flight"


class Shown(NamedTuple):
    """A cell as readers see it."""

    text: str
    mark: str | None = None
    detail: str | None = None
    href: str | None = None


NOTHING: Final = Shown("–")


class Report:
    """The results.json of a report; parts of a row by phase are no rows of it."""

    def __init__(self, results: dict[str, Any]) -> None:
        self.results = results
        self.id: str = results["id"]
        self.day: str = results["date"]
        self.hosts: list[dict[str, Any]] = results["hosts"]
        self.baseline: str | None = results.get("baseline")
        self.builds: dict[str, dict[str, Any]] = {i["id"]: i for i in results["implementations"]}
        self.labels = {id_: build["label"] for id_, build in self.builds.items()}
        self.libraries = {id_: build["library"] for id_, build in self.builds.items()}
        self.tables = [table for table in results["tables"] if not table["by_phase"]]
        self.rows = {row["anchor"]: (table, row) for table in self.tables for row in table["rows"]}

    @property
    def reference(self) -> dict[str, str]:
        return {name: self.results[name] for name in ("id", "title", "date")}

    @property
    def is_own(self) -> bool:
        """Whether our harness measured it, on one host."""
        return len(self.hosts) == 1 and all("suite" in run for run in self.results["runs"])

    def place(self, anchor: str) -> str:
        """The anchor of a row; of a transfer without a row of 1 MiB the one with 64 KiB."""
        head, _, side = anchor.rpartition("-")
        longer = f"{head}{IN_FLIGHT}-{side}"
        return longer if anchor not in self.rows and longer in self.rows else anchor

    def cell(self, anchor: str, build: str) -> dict[str, Any] | None:
        """A figure that counts."""
        found = self.rows.get(self.place(anchor))
        cells = found[1]["cells"] if found else ()
        return next(
            (c for c in cells if c["implementation"] == build and c["valid"] and c.get("value")),
            None,
        )

    def value(self, anchor: str, build: str, end: str = "value") -> float | None:
        cell = self.cell(anchor, build)
        return None if cell is None else float(cell.get(end, cell["value"]))

    def link(self, anchor: str) -> str:
        return f"perf/{self.id}/#{self.place(anchor)}"

    def with_all(self, anchors: Iterable[str]) -> set[str]:
        """The libraries with a figure in all of these rows."""
        rows = list(anchors)
        return {self.libraries[i] for i in self.builds if all(self.cell(a, i) for a in rows)}

    def host_of(self, build: str) -> dict[str, Any]:
        wanted = self.builds[build].get("host", self.hosts[0]["id"])
        return next(host for host in self.hosts if host["id"] == wanted)


def reports_of(root: Path) -> list[Report]:
    """The reports that pages over several show: the newest day first, the main series first of it."""
    found = [
        Report(json.loads(path.read_bytes())) for path in root.glob("content/perf/*/results.json")
    ]
    runs = {report.id: report.results["runs"] for report in found}
    covered = [of for of in found if any(run.get("suite") != "quick" for run in runs[of.id])]
    return newest_first(covered)


def newest_first(reports: Iterable[Report]) -> list[Report]:
    """The newest day first, the main series first of it."""
    found = sorted(reports, key=lambda of: of.id)
    found.sort(key=lambda of: of.results.get("time") or f"{of.day}T00:00:00Z", reverse=True)

    def is_main(report: Report) -> bool:
        return {run.get("family") for run in report.results["runs"]} == {"main"}

    return sorted(found, key=lambda of: (-date.fromisoformat(of.day).toordinal(), not is_main(of)))


class Joined(Report):
    """Rows of several reports of one host."""

    def __init__(self, by_row: dict[str, Report]) -> None:
        first, *_ = by_row.values()
        super().__init__(first.results)
        self.by_row = by_row
        self.rows = {}
        for anchor, report in by_row.items():
            self.builds |= report.builds
            self.labels |= report.labels
            self.libraries |= report.libraries
            self.rows[report.place(anchor)] = report.rows[report.place(anchor)]

    def cell(self, anchor: str, build: str) -> dict[str, Any] | None:
        return self.by_row[anchor].cell(anchor, build)

    def link(self, anchor: str) -> str:
        return self.by_row[anchor].link(anchor)


class OnHost(Report):
    """The builds of a report on one of its hosts."""

    def __init__(self, report: Report, host: str) -> None:
        super().__init__(report.results)
        self.of_several = len(report.hosts) > 1
        self.builds = {i: of for i, of in self.builds.items() if report.host_of(i)["id"] == host}
        self.hosts = [of for of in report.hosts if of["id"] == host]

    @property
    def is_own(self) -> bool:
        return super().is_own and not self.of_several


def by_host(reports: Iterable[Report]) -> list[list[Report]]:
    """The reports of each host, in their order."""
    found: dict[str, list[Report]] = {}
    for report in reports:
        found.setdefault(report.hosts[0]["id"], []).append(report)
    return list(found.values())


def newest(reports: Iterable[Report], anchors: Iterable[str], least: int = 2) -> Report | None:
    """The report of one host that has rows for the most libraries, the newest of several."""
    rows = list(anchors)
    several = [of for of in reports if all(of.place(a) in of.rows for a in rows)]
    most = max((len(of.with_all(rows)) for of in several), default=0)
    wide = (of for of in several if len(of.with_all(rows)) == most >= least)
    return next(wide, None)


def joined(reports: Sequence[Report], anchors: Iterable[str]) -> Report | None:
    """Each row from the newest report that has it."""
    found = {anchor: newest(reports, [anchor]) for anchor in anchors}
    known = {anchor: report for anchor, report in found.items() if report}
    return Joined(known) if len(known) == len(found) else None


def one_host(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two hosts of one name are one, as far as both record it."""
    facts = ("cpu", "cpu_model", "threads", "virtual", "virtualization", "machine")
    return all(a[fact] == b[fact] for fact in facts if fact in a and fact in b)


def host_name(host: dict[str, Any]) -> str:
    name = str(host.get("name", host["cpu"]))
    return name + " (virtual machine)" * (bool(host.get("virtual")) and not name.endswith("VM"))


def mark_of(cell: dict[str, Any]) -> str | None:
    return "best" if cell["best"] else "tied" if cell["tied"] else None


def said(ratio: str) -> tuple[str, str | None]:
    """A ratio and its interval; that of no difference has from what size one would show."""
    text, _, interval = ratio.replace(" shown (", " (").partition(" (")
    return text, interval.removesuffix(")") or None


def three_digits(value: float) -> str:
    return f"{value:#.3g}".removesuffix(".")


# --- columns -------------------------------------------------------------------------------------

Column = Callable[[Report, str], Shown]
"""The cell of a build."""


def figure(anchor: str, *, marked: bool = True) -> Column:
    def column(report: Report, build: str) -> Shown:
        cell = report.cell(anchor, build)
        if cell is None:
            return NOTHING
        mark = mark_of(cell) if marked else None
        return Shown(cell["text"], mark, cell.get("interval"), report.link(anchor))

    return column


def factor(anchor: str) -> Column:
    """A ratio to the baseline."""

    def column(report: Report, build: str) -> Shown:
        cell = report.cell(anchor, build)
        if cell is None:
            return NOTHING
        of_baseline = build == report.baseline
        text, interval = ("baseline", None) if of_baseline else said(cell["ratio"]["text"])
        return Shown(text, mark_of(cell), interval, report.link(anchor))

    return column


def over(above: str, below: str) -> Column:
    def column(report: Report, build: str) -> Shown:
        one, other = report.value(above, build), report.value(below, build)
        if not (one and other):
            return NOTHING
        return Shown(f"{one / other:.{1 if one < 10 * other else 0}f}x")

    return column


def of_many(anchor: str, times: int) -> Column:
    """The bytes of this many connections."""

    def column(report: Report, build: str) -> Shown:
        value = report.value(anchor, build)
        return Shown(f"{times * value / MIB:.0f} MiB") if value else NOTHING

    return column


def price(
    report: Report, build: str, before: str, after: str
) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The cell of a row in the price list, and the ratio of the other row to it."""
    for table in report.results["prices"]:
        cells = {
            (row["anchor"], row.get("against")): cell
            for row in table["rows"]
            for cell in row["cells"]
            if cell["implementation"] == build
        }
        first, second = cells.get((before, None)), cells.get((after, before), {})
        if first and "value" in first and "ratio" in second:
            return first, second["ratio"]
    return None


def costs(before: str, after: str) -> list[Column]:
    """The time of a handshake, what another adds, and what is lost: of one ratio."""

    def column(part: int) -> Column:
        def of(report: Report, build: str) -> Shown:
            if (found := price(report, build, before, after)) is None:
                return NOTHING
            cell, ratio = found
            text, interval = said(ratio["text"])
            added = three_digits(cell["value"] * (1 / ratio["value"] - 1))
            there = report.link(after)
            return [
                Shown(cell["text"], None, cell.get("interval"), report.link(before)),
                Shown(added, None, None, there),
                Shown(text, None, interval, there),
            ][part]

        return of

    return [column(part) for part in range(3)]


def cores(*demand: tuple[float, str]) -> Column:
    """The seconds of a core that so many of each row take."""

    def column(report: Report, build: str) -> Shown:
        rates = [report.value(row, build) for _, row in demand]
        if None in rates:
            return NOTHING
        seconds = sum(many / (of or 1) for (many, _), of in zip(demand, rates, strict=True))
        return Shown(three_digits(seconds))

    return column


Rows = dict[str, list[Shown]]
"""The cells of a table by the label of each row, in the order of the page."""


def computed(report: Report, columns: Sequence[Column], *, empty: bool = False) -> Rows:
    """The table of a report; without builds that have no cell, unless they are to be shown."""
    found = {report.labels[i]: [column(report, i) for column in columns] for i in report.builds}
    return {
        label: cells
        for label, cells in found.items()
        if empty or any(cell != NOTHING for cell in cells)
    }


def shown(sheet: dict[str, Any]) -> Rows:
    """The table of a page."""
    found = {
        row["label"]: [Shown(*(cell.get(name) for name in Shown._fields)) for cell in row["cells"]]
        for row in sheet["rows"]
    }
    assert len(found) == len(sheet["rows"])
    assert {len(cells) for cells in found.values()} <= {len(sheet["columns"])}
    return found
