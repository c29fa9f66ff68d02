"""Each figure of a page over several reports, computed again from the results of the reports."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, Final, NamedTuple
from xml.etree import ElementTree

import pytest

from project import RUNS
from recomputed import (
    MIB_OF_A_GIGABIT,
    NOTHING,
    Column,
    Joined,
    OnHost,
    Report,
    Shown,
    by_host,
    computed,
    cores,
    costs,
    factor,
    figure,
    host_name,
    joined,
    mark_of,
    newest,
    newest_first,
    of_many,
    one_host,
    over,
    price,
    reports_of,
    shown,
)
from test_overviews import documents
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.metrics import METRICS

FULL, SIDES = "full-handshake-1-3", ("server", "client")
ECDSA, RSA = (f"{FULL}-{key}-x25519-server" for key in ("ecdsa-p256", "rsa-2048"))
RESUMED = "resumed-handshake-1-3-ticket-x25519"
SENDING, RECEIVING = (f"transfer-1-3-aes-256-gcm-{end}" for end in ("sending", "receiving"))
IDLE = "memory-1-3-x25519-{}-{}-allocated"
SCALED = (f"{FULL}-rsa-2048-x25519", RESUMED, "resumed-handshake-1-2-ticket")
TAILS = (ECDSA, f"{FULL}-ecdsa-p256-x25519-2-threads-server", f"{RESUMED}-server")
OF_80_CORES = tuple(f"{FULL}-rsa-2048-{count}-threads-server" for count in (2, 80))


@pytest.fixture(scope="module")
def reports(root: Path) -> list[Report]:
    return reports_of(root)


def document(root: Path, path: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / path).read_bytes())
    return found


# --- questions -----------------------------------------------------------------------------------


def by_key(side: str, key: str) -> tuple[str, list[Column]]:
    rows = [f"{FULL}-{key}-{group}-{side}" for group in ("x25519", "x25519mlkem768")]
    return f"{side}-{key}", costs(*rows)


def by_moment(side: str) -> list[Column]:
    rows = [IDLE.format(side, moment) for moment in ("construction", "handshake", "data")]
    return [*map(figure, rows), of_many(rows[-1], 10_000)]


def by_threads(task: str) -> list[Column]:
    rows = [task, f"{task}-2-threads", f"{task}-4-threads"]
    return [*(figure(row, marked=False) for row in rows), over(rows[1], task)]


def by_percentile(task: str) -> list[Column]:
    rows = [f"{task}-{part}" for part in ("p50", "p90", "p99", "p99-9", "max")]
    return [*map(figure, rows), over(rows[2], rows[0])]


def by_share(full: str) -> list[Column]:
    """Cores for ten thousand connections a second of which so many resume, and 10 Gbit/s sent."""
    return [
        cores(
            (10_000 * (1 - share), full),
            (10_000 * share, f"{RESUMED}-server"),
            (10 * MIB_OF_A_GIGABIT, SENDING),
        )
        for share in (0, 0.5, 0.9)
    ]


class Asked(NamedTuple):
    """A question: the rows that its report must have, and the columns of its tables."""

    rows: Sequence[str]
    sheets: dict[str, list[Column]]
    apart: bool = False
    """Whether each row is of its own newest report."""


TASKS: Final = (ECDSA, RSA, f"{RESUMED}-server", SENDING, RECEIVING)
QUESTIONS: Final = {
    "server": Asked(TASKS, {"tasks": [figure(row) for row in TASKS]}, apart=True),
    "post-quantum": Asked(
        [
            f"{FULL}-{key}-{group}-{side}"
            for key in ("ecdsa-p256", "rsa-2048")
            for group in ("x25519", "x25519mlkem768")
            for side in SIDES
        ],
        dict(by_key(side, key) for side in SIDES for key in ("ecdsa-p256", "rsa-2048")),
    ),
    "memory": Asked(
        [IDLE.format(s, m) for s in SIDES for m in ("construction", "handshake", "data")],
        {side: by_moment(side) for side in SIDES},
        apart=True,
    ),
    "scaling": Asked(
        [f"{task}{more}" for task in SCALED for more in ("", "-2-threads")],
        {f"threads-{number}": by_threads(task) for number, task in enumerate(SCALED, 1)},
    ),
    "tail": Asked(
        [f"{t}-{p}" for t in TAILS for p in ("p50", "p90", "p99", "p99-9", "max")],
        {f"latency-{number}": by_percentile(task) for number, task in enumerate(TAILS, 1)},
    ),
    "cores": Asked(
        [ECDSA, RSA, f"{RESUMED}-server", SENDING],
        {
            "costs": [
                *(cores((1000, row)) for row in (ECDSA, RSA, f"{RESUMED}-server")),
                cores((MIB_OF_A_GIGABIT, SENDING)),
            ],
            "example-ecdsa-p256": by_share(ECDSA),
            "example-rsa-2048": by_share(RSA),
        },
    ),
}


def answering(name: str, reports: Sequence[Report]) -> list[Report]:
    """The report of each host, or its rows of several, that answers a question."""
    asked = QUESTIONS[name]
    own = [of for of in reports if of.is_own]
    if name == "post-quantum":
        own = [of for of in own if of.results.get("prices")]
    found = [
        joined(of, asked.rows) if asked.apart else newest(of, asked.rows) for of in by_host(own)
    ]
    return [report for report in found if report]


def of_many_cores(reports: Iterable[Report]) -> Report | None:
    return newest((of for of in reports if len(of.hosts) == 1), OF_80_CORES)


@pytest.mark.any_site
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_question_has_the_newest_figures_of_its_rows_on_each_host(
    name: str, root: Path, reports: list[Report]
) -> None:
    page = document(root, f"content/questions/{name}/question.json")
    sheets = {sheet["id"]: shown(sheet) for sheet in page["sheets"]}
    hosts = answering(name, reports)
    expected = {
        sheet if at == 1 else f"{sheet}-host-{at}": computed(report, columns)
        for at, report in enumerate(hosts, 1)
        for sheet, columns in QUESTIONS[name].sheets.items()
    }
    used = hosts
    if "eighty" in sheets and (large := of_many_cores(reports)):
        used = [*hosts, large]
        columns = [figure(row, marked=False) for row in OF_80_CORES]
        expected["eighty"] = computed(large, [*columns, over(*reversed(OF_80_CORES))])
    assert sheets == expected
    assert page["reports"] == [of for report in used for of in references(report)]
    names = [host_name(of.hosts[0]) for of in hosts]
    assert page["host"] == " and ".join(names)
    for sheet in page["sheets"]:
        assert sheet["caption"].startswith(f"{sheet['host']}, ")
    assert {sheet["host"] for sheet in page["sheets"]} == {host_name(of.hosts[0]) for of in used}


def references(report: Report) -> list[dict[str, str]]:
    """The reports of its rows, the newest first."""
    if not isinstance(report, Joined):
        return [report.reference]
    every = {of.id: of for of in report.by_row.values()}
    return [of.reference for of in newest_first(every.values())]


def leaders(report: Report, anchor: str) -> list[str]:
    """What the sentence about a row says."""
    table, row = report.rows[report.place(anchor)]
    leading = [cell for cell in row["cells"] if cell["valid"] and mark_of(cell)]
    names = [report.labels[cell["implementation"]] for cell in leading]
    texts = [
        f"{name} ({cell['text']} {table['unit']})"
        for name, cell in zip(names, leading, strict=True)
    ]
    verdict = {None: "no library is shown", "best": "best is", "tied": "tied are"}
    return [verdict[mark_of(leading[0]) if leading else None], *texts]


def spread(values: Sequence[float], digits: int = 0) -> str:
    """The least to the largest, or the one that both are."""
    return " to ".join(dict.fromkeys(f"{of(values):.{digits}f}" for of in (min, max)))


def losses(report: Report, side: str) -> list[str]:
    """In how many libraries a sentence says that how much is lost, and takes how much longer."""
    rows = [f"{FULL}-ecdsa-p256-{g}-{side}" for g in ("x25519", "x25519mlkem768")]
    every = [of for build in report.builds if (of := price(report, build, *rows))]
    found = [
        (cell["value"], ratio["value"]) for cell, ratio in every if ratio["verdict"] == "slower"
    ]
    assert found
    these = (
        "each library" if len(found) == len(every) else f"{len(found)} of {len(every)} libraries"
    )
    shares = spread([100 * (1 - ratio) for _, ratio in found])
    longer = spread([time * (1 / ratio - 1) for time, ratio in found])
    return [f"In {these} a {side} ", f" {shares}% of", f" {longer} µs"]


def by_factor(report: Report, task: str) -> list[str]:
    column = over(f"{task}-2-threads", task)
    found = [cell for i in report.builds if (cell := column(report, i)) != NOTHING]
    return [f" {spread([float(cell.text.removesuffix('x')) for cell in found], 1)} times"]


def least_and_most(report: Report) -> list[str]:
    column = by_share(ECDSA)[1]
    found = [column(report, i).text for i in report.builds if column(report, i) != NOTHING]
    return [f"{min(found, key=float)} to {max(found, key=float)} cores"]


ANSWERS: Final[dict[str, list[Callable[[Report], list[str]]]]] = {
    "server": [partial(leaders, anchor=row) for row in TASKS[:4]],
    "post-quantum": [partial(losses, side=side) for side in SIDES],
    "memory": [partial(leaders, anchor=IDLE.format(side, "data")) for side in SIDES],
    "scaling": [partial(by_factor, task=task) for task in SCALED],
    "tail": [partial(leaders, anchor=f"{task}-p99") for task in TAILS],
    "cores": [least_and_most],
}
"""The parts of each sentence of an answer."""


@pytest.mark.any_site
@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_says_of_each_host_what_its_tables_show(
    name: str, root: Path, reports: list[Report]
) -> None:
    page = document(root, f"content/questions/{name}/question.json")
    hosts = answering(name, reports)
    assert hosts
    for line, report in zip(page["answer"], hosts, strict=True):
        assert line.startswith(f"{host_name(report.hosts[0])}: ")
        parts = [part for of in ANSWERS[name] for part in of(report)]
        assert [part for part in parts if part not in line] == [], line
    listed = {
        of["id"]: of["answer"] for of in json.loads((root / "data/questions.json").read_bytes())
    }
    assert listed[name] == page["answer"][0]


# --- the scoreboard ------------------------------------------------------------------------------

BOARD: Final = {
    "Sending": SENDING,
    "Receiving": RECEIVING,
    "RSA server": RSA,
    "ECDSA server": ECDSA,
    "Client": ECDSA.replace("server", "client"),
    "Resumption": f"{RESUMED}-server",
    "Memory per idle connection": IDLE.format("server", "data"),
    "ClientHello": "client-hello-1-3-x25519-client",
}


@pytest.mark.any_site
def test_the_scoreboard_has_factors_to_one_baseline_on_one_host(
    root: Path, reports: list[Report]
) -> None:
    board = document(root, "data/scoreboard.json")
    groups = [
        (baseline, {title: found for title, row in BOARD.items() if (found := newest(of, [row]))})
        for of_host in by_host(of for of in reports if of.is_own)
        for baseline in dict.fromkeys(of.baseline for of in of_host if of.baseline)
        for of in [[it for it in of_host if it.baseline == baseline]]
    ]
    first = list(BOARD)[:6]

    def covers(of: tuple[str, dict[str, Report]]) -> tuple[int, str]:
        libraries = sum(len(of[1][title].with_all([BOARD[title]])) for title in first)
        return libraries, max(of[1][title].day for title in first)

    baseline, columns = max((of for of in groups if {*first} <= {*of[1]}), key=covers)
    main = next(iter(columns.values()))
    every = Joined({BOARD[title]: of for title, of in columns.items()})
    expected = {
        label: [factor(BOARD[title])(of, build) for title, of in columns.items()]
        for build, label in every.labels.items()
    }
    assert board["board"]["columns"] == list(columns)
    assert shown(board["board"]) == expected
    assert [of["report"] for of in board["sources"]] == [
        of.reference for of in dict.fromkeys(columns.values())
    ]
    assert main.labels[baseline] == board["baseline"]
    assert main.labels[baseline] in board["board"]["caption"]
    assert (board["host_id"], board["host"]) == (main.hosts[0]["id"], host_name(main.hosts[0]))


# --- trends --------------------------------------------------------------------------------------


class Member(NamedTuple):
    """A report in a trend, with its build of each library."""

    report: Report
    builds: dict[str, str]


def represented(root: Path, report: Report) -> tuple[str | None, Member] | None:
    """The suite of a report, and a build of each library; None if there is no such."""
    page = (root / f"content/perf/{report.id}/index.md").read_text(encoding="utf-8")
    of = tomllib.loads(page.split("+++\n")[1])["extra"]["report"].get("trend")
    suites = {run.get("suite") for run in report.results["runs"]}
    suite = of["suite"] if of else suites.pop() if len(suites) == 1 else None
    wanted = of["implementations"] if of else list(report.builds)
    by_library: dict[str, list[str]] = {}
    for build in wanted:
        by_library.setdefault(report.libraries[build], []).append(build)
    single = {library: of_it[0] for library, of_it in by_library.items() if len(of_it) == 1}
    return (suite if len(single) == len(by_library) else None), Member(report, single)


def line_of(anchor: str, members: Sequence[Member], library: str) -> list[tuple[Any, ...]]:
    """The report, label and text of each point."""
    found = []
    for report, builds in members:
        cell = report.cell(anchor, builds[library]) if library in builds else None
        label = report.labels[builds[library]] if cell else ""
        found.append((report.id, label, cell["text"] if cell else "–", cell and cell["value"]))
    return found


def versions_change(
    library: str, members: Sequence[Member], line: Sequence[tuple[Any, ...]]
) -> bool:
    """Whether the points of a line are of two versions."""
    there = [of for of, point in zip(members, line, strict=True) if point[1]]
    return len({of.report.builds[of.builds[library]]["version"] for of in there}) > 1


@pytest.mark.any_site
def test_a_trend_has_the_figures_that_count_of_all_reports_of_its_suite_and_host(
    root: Path, reports: list[Report]
) -> None:
    groups: dict[str, list[Member]] = {}
    for report in sorted(reports, key=lambda of: (of.day, of.id)):
        suite, member = represented(root, report) or (None, None)
        if suite and member and len(report.hosts) == 1:
            groups.setdefault(f"{report.hosts[0]['id']}-{suite}", []).append(member)
    expected = {}
    for name, every in groups.items():
        newest = every[-1].report.hosts[0]
        members = [of for of in every if one_host(of.report.hosts[0], newest)]
        if len(members) < 2:
            continue
        libraries = sorted({library for of in members for library in of.builds})
        rows = {}
        for table, row in members[-1].report.rows.values():
            if METRICS[row["metric"]].trend and row["scenario"]["operation"] != "primitive":
                lines = {of: line_of(row["anchor"], members, of) for of in libraries}
                if any(versions_change(of, members, line) for of, line in lines.items()):
                    rows[row["anchor"]] = (
                        (row["name"], table["title"], table["unit"]),
                        {of: line for of, line in lines.items() if any(p[1] for p in line)},
                    )
        if rows:
            expected[name] = ([of.report.reference for of in members], rows)
    pages = documents(root, "content/trends/*/trend.json")
    assert pages
    assert {
        name: (
            page["reports"],
            {
                row["anchor"]: (
                    (row["name"], row["table"], row["unit"]),
                    {
                        line["library"]: [
                            (c["report"], c["label"], c["text"], c.get("value"))
                            for c in line["cells"]
                        ]
                        for line in row["lines"]
                    },
                )
                for row in page["rows"]
            },
        )
        for name, page in pages.items()
    } == expected
    for name, page in pages.items():
        for row in page["rows"]:
            check_drawn(
                root / f"content/trends/{name}", row["chart"], row["lines"], page["reports"]
            )


def check_drawn(
    folder: Path, chart: dict[str, Any], lines: Sequence[dict[str, Any]], reports: Sequence[Any]
) -> None:
    """A chart has a point for each figure of its lines, and says each in its order."""
    months = {of["id"]: f"{date.fromisoformat(of['date']):%B %Y}" for of in reports}
    for line in lines:
        points = [f"{months[c['report']]} {c['text']}" for c in line["cells"] if "value" in c]
        assert f"{line['name']}: {', '.join(points)}" in chart["description"]
    drawing = ElementTree.fromstring((folder / chart["file"]).read_text(encoding="utf-8"))
    caps = [p.get("d", "") for p in drawing.iter() if p.get("stroke-linecap") == "round"]
    figures = [c for line in lines for c in line["cells"] if "value" in c]
    assert sum(d.count("Z") for d in caps) == len(figures), chart["file"]


# --- libraries and hosts -------------------------------------------------------------------------


@pytest.mark.any_site
def test_a_library_has_its_versions(root: Path, reports: list[Report]) -> None:
    pages = documents(root, "content/libraries/*/library.json")
    libraries = {library for report in reports for library in report.libraries.values()}
    assert {name for name, page in pages.items() if "withdrawn" not in page} == libraries
    for library in libraries:
        versions = [
            (report.labels[build], report.reference, host_name(report.host_of(build)))
            for report in reports
            for build in report.builds
            if report.libraries[build] == library
        ]
        page = pages[library]
        assert [(v["label"], v["report"], v["host"]) for v in page["versions"]] == versions


@pytest.mark.any_site
def test_a_host_has_its_reports_and_trends_newest_first(root: Path, reports: list[Report]) -> None:
    by_time = sorted(
        sorted(reports, key=lambda of: of.id),
        key=lambda of: of.results.get("time") or of.day,
        reverse=True,
    )
    trends = documents(root, "content/trends/*/trend.json")
    pages = documents(root, "content/hosts/*/host.json")
    assert {*pages} == {host["id"] for report in reports for host in report.hosts}
    for name, page in pages.items():
        own = [of.reference for of in by_time if name in {host["id"] for host in of.hosts}]
        assert page["reports"] == own
        assert sorted(page["trends"]) == sorted(
            trend for trend, of in trends.items() if of["host"]["id"] == name
        )


# --- scenarios -----------------------------------------------------------------------------------

FIELDS: Final = ("value", "text", "low", "high", "interval", "valid", "note")


def figures_of(report: Report, table: dict[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """A report on the page of a scenario."""
    cells = [cell for cell in row["cells"] if "value" in cell]
    figures = [
        {name: cell[name] for name in FIELDS if name in cell}
        | {
            name: report.builds[cell["implementation"]][name]
            for name in ("library", "version", "label")
        }
        | {"host": host_name(report.host_of(cell["implementation"]))}
        | ({"ratio": cell["ratio"]["text"]} if "ratio" in cell else {})
        for cell in cells
    ]
    found: dict[str, Any] = report.reference | {
        "link": report.link(row["anchor"]),
        "figures": figures,
    }
    hosts = {of["host"] for of in figures}
    if len(hosts) == 1:
        found["host"] = hosts.pop()
    if any("ratio" in cell for cell in cells):
        found["baseline"] = report.labels[table["baseline"]]
    return found


def newest_of(reports: Iterable[Report], name: str, unit: str) -> Report:
    """The newest figures of a scenario on any host; those of several libraries count first."""
    having = [of for of in reports if name in of.rows and of.rows[name][0]["unit"] == unit]
    parts = [OnHost(of, host["id"]) for of in having for host in of.hosts]
    parts = [of for of in parts if any("value" in raw(of, name, i) for i in of.builds)]
    found = [
        newest([of for of in host if of.is_own] or host, [name], least=0) for host in by_host(parts)
    ]
    ordered = newest_first(of for of in found if of)
    return min(ordered, key=lambda of: len(of.with_all([name])) < 2)


@pytest.mark.any_site
def test_a_scenario_has_all_figures_of_all_reports_with_their_hosts(
    root: Path, reports: list[Report]
) -> None:
    pages = documents(root, "content/scenarios/*/scenario.json")
    places: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for report in reports:
        for table, row in report.rows.values():
            measured = any("value" in cell for cell in row["cells"])
            if measured and not METRICS[row["metric"]].supporting:
                found = figures_of(report, table, row)
                places.setdefault((row["anchor"], table["unit"]), []).append(found)
    shared = {key: of for key, of in places.items() if len(of) > 1}
    assert {*pages} == {anchor for anchor, _ in shared}
    unshown = ("implementation", "colour")
    for name, page in pages.items():
        seen = [
            {
                **report,
                "figures": [
                    {k: v for k, v in f.items() if k not in unshown} for f in report["figures"]
                ],
            }
            for report in page["reports"]
        ]
        first, rest = seen[0], seen[1:]
        expected = shared[name, page["unit"]]
        for of in seen:  # without the row, where the report's page does not show it
            row = "" if "#" in of["link"] else f"#{name}"
            of["link"] += row
        assert sorted(seen, key=lambda of: str(of["id"])) == sorted(
            expected, key=lambda of: str(of["id"])
        )
        assert first["id"] == newest_of(reports, name, page["unit"]).id
        assert [of["date"] for of in rest] == sorted((of["date"] for of in rest), reverse=True)
        text = (root / f"content/scenarios/{name}/scenario.csv").read_text(encoding="utf-8")
        lines = [
            (
                r["report"],
                r["label"],
                r["host"],
                r["unit"],
                r["value"],
                r["low"],
                r["high"],
                r["valid"],
                r["ratio"],
            )
            for r in csv.DictReader(io.StringIO(text))
        ]
        assert lines == [
            (
                *(of["id"], f["label"], f["host"], page["unit"], str(f["value"])),
                *(str(f.get("low", "")), str(f.get("high", ""))),
                *("true" if f["valid"] else "false", f.get("ratio", "")),
            )
            for of in seen
            for f in of["figures"]
        ]


@pytest.mark.any_site
def test_the_lines_of_a_scenario_are_of_one_host_and_of_figures_that_count(
    root: Path, reports: list[Report]
) -> None:
    seen = 0
    for name, page in documents(root, "content/scenarios/*/scenario.json").items():
        shared = {of["id"] for of in page["reports"]}
        every = [report for report in reports if report.id in shared]
        hosts = {host["id"] for report in every for host in report.hosts}
        lines = {host: over_time(root, name, host, every) for host in hosts}
        expected = {host: line for host, line in lines.items() if line}
        said = {
            line["host"]["id"]: line["chart"]["description"].partition(". ")[2]
            for line in page["lines"]
        }
        assert {*said} == {*expected}, name
        for host, line in expected.items():
            assert said[host].startswith(f"{line}."), (name, host)
        seen += len(said)
    assert seen


def over_time(root: Path, name: str, host: str, every: Sequence[Report]) -> str:
    """The figures of a scenario on a host, one report a day; empty without two versions."""

    def facts(report: Report) -> dict[str, Any]:
        return next(of for of in report.hosts if of["id"] == host)

    def there(report: Report) -> list[str]:
        return [i for i in report.builds if report.host_of(i)["id"] == host]

    measured = [of for of in every if any("value" in raw(of, name, i) for i in there(of))]
    comparing = [of for of in measured if len({of.libraries[i] for i in there(of)}) > 1]
    of_day = {report.day: report for report in reversed(comparing or measured)}
    newest = facts(of_day[max(of_day)]) if of_day else {}
    days = [day for day in sorted(of_day) if one_host(facts(of_day[day]), newest)]
    points: dict[str, list[str]] = {}
    versions: dict[str, set[str]] = {}
    for day in days if len(days) > 1 else ():
        report = of_day[day]
        member = represented(root, report)
        assert member
        for library, build in single_of(report, host, member[1]).items():
            if cell := report.cell(name, build):
                text = f"{date.fromisoformat(day):%B %Y} {cell['text']}"
                points.setdefault(library, []).append(text)
                versions.setdefault(library, set()).add(report.builds[build]["version"])
    if not any(len(of) > 1 for of in versions.values()):
        return ""
    return "; ".join(f"{NAMES[of]}: {', '.join(points[of])}" for of in sorted(points))


def raw(report: Report, anchor: str, build: str) -> dict[str, Any]:
    cells = report.rows[anchor][1]["cells"]
    return next((cell for cell in cells if cell["implementation"] == build), {})


def single_of(report: Report, host: str, member: Member) -> dict[str, str]:
    """The build of each library of a report on one of its hosts."""
    if len(report.hosts) == 1:
        return member.builds
    found: dict[str, list[str]] = {}
    for build in report.builds:
        if report.host_of(build)["id"] == host:
            found.setdefault(report.libraries[build], []).append(build)
    return {library: of[0] for library, of in found.items() if len(of) == 1}


# --- upgrades ------------------------------------------------------------------------------------


def versions(report: Report) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for build in report.builds:
        found.setdefault(report.libraries[build], []).append(build)
    return found


@pytest.mark.any_site
def test_an_upgrade_has_the_ratios_of_all_tasks_and_counts_their_verdicts(
    root: Path, reports: list[Report]
) -> None:
    def is_about(report: Report) -> bool:
        every = [(of["library"], of["version"]) for of in report.builds.values()]
        has_task = "full-handshakes" in {table["anchor"] for table in report.tables}
        most = max(len(of) for of in versions(report).values())
        return report.is_own and has_task and most >= 3 and len({*every}) == len(every)

    report = next(of for of in reports if is_about(of))
    ratios = document(root, f"content/perf/{report.id}/comparisons.json")["rows"]
    pages = documents(root, "content/upgrades/*/upgrade.json")
    question = document(root, "content/questions/upgrade/question.json")
    cells = {}
    for library, of_library in versions(report).items():
        for before, after in combinations(of_library, 2):
            page = pages.pop(f"{before}-to-{after}".replace(".", "-"))
            rows, verdicts = {}, {}
            for anchor, (table, row) in report.rows.items():
                ratio = ratios.get(f"{table['anchor']} {anchor}", {}).get(before, {}).get(after)
                if ratio is None:
                    continue
                value, verdict, text = ratio
                one, other = (report.value(anchor, build) or 0 for build in (before, after))
                assert value == pytest.approx(other / one, rel=0.12), anchor
                verdicts[anchor] = (
                    verdict,
                    max(value, 1 / value),
                    row["name"],
                    text.split(" ")[0],
                )
                plain = [figure(anchor, marked=False)(report, build) for build in (before, after)]
                rows[f"{row['name']}, {table['unit']}"] = [
                    *plain,
                    Shown(text, href=report.link(anchor)),
                ]
            labels = [report.labels[before], report.labels[after]]
            assert shown(page["sheet"]) == rows
            assert (page["before"], page["after"]) == (*labels,)
            assert page["sheet"]["columns"][:2] == labels
            assert page["report"] == report.reference
            assert page["host"] == host_name(report.hosts[0])
            counts = {
                word: [v for v in verdicts.values() if v[0] == word]
                for word in ("faster", "slower")
            }
            sizes = [
                int(size)
                for cells in rows.values()
                if re.match("no diff|the same", cells[-1].text)
                for size in re.findall(r"(\d+)%", cells[-1].text)
            ]
            ends = [str(end) for end in sorted({min(sizes), max(sizes)})] if sizes else []
            size = f"{' to '.join(ends)}% would show" if ends else ""
            least = f" ({size})" if size else ""
            same = len(rows) - sum(map(len, counts.values()))
            parts = [f"of {len(rows)} task"]
            parts += [f"no difference shown in {same}{least}"] if same else []
            assert " shown in 0" not in page["answer"]
            for word, of in counts.items():
                if of:
                    top = max(of, key=lambda v: v[1])
                    parts.append(f"{word} in {len(of)} (up to {top[3]}, {top[2]})")
            assert all(part in page["answer"] for part in parts), page["answer"]
            faster, slower = (len(of) for of in counts.values())
            cells[f"upgrades/{page['id']}/"] = "; ".join(
                filter(None, [f"{faster} faster, {slower} slower of {len(rows)}", size])
            )
            if (before, after) == (of_library[0], of_library[-1]):
                [answer] = [a for a in question["answer"] if a.startswith(f"{NAMES[library]} ")]
                assert all(part in answer for part in parts), answer
    assert pages == {}
    seen = {}
    for sheet in question["sheets"]:
        of_library = versions(report)[sheet["id"]]
        for at, (row, made) in enumerate(zip(sheet["rows"], shown(sheet).values(), strict=True)):
            version = report.builds[of_library[at]]["version"].partition(", API ")[0]
            assert row["label"] == f"from {version}"
            assert made[:at] == [NOTHING] * at
            for to, cell in enumerate(made[at:], at + 1):
                pair = f"{of_library[at]}-to-{of_library[to]}".replace(".", "-")
                assert cell.href == f"upgrades/{pair}/"
                assert (
                    report.builds[of_library[to]]["version"].partition(", API ")[0]
                    in sheet["columns"][to - 1]
                )
                seen[cell.href] = cell.text
    assert seen == cells
    assert question["reports"] == [report.reference]


# --- nights --------------------------------------------------------------------------------------


def records(folder: Path) -> list[dict[str, Any]]:
    packed = folder / "raw" / "records.jsonl.gz"
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else b""
    data = data or (folder / "raw" / "records.jsonl").read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def test_a_night_has_the_median_of_its_rounds_and_a_step_its_change(project: Path) -> None:
    [page] = documents(project, "content/nightly/*/nightly.json").values()
    runs = sorted((project / "data" / "nightly").glob("*/*/run.toml"))
    counts: dict[tuple[str, str], list[float]] = {}
    for run in runs:
        rounds: dict[tuple[str, str], list[float]] = {}
        for of in (r for r in records(run.parent) if r["kind"] == "measurement"):
            key = of["scenario"]["resumption"], of["scenario"]["side"]
            rounds.setdefault(key, []).append(of["observations"][0]["value"])
        for key, values in rounds.items():
            counts.setdefault(key, []).append(median(values))
    labels = [
        tomllib.loads(run.read_text("utf-8"))["implementations"][0]["commit"][:10] for run in runs
    ]
    assert [night["label"] for night in page["nights"]] == labels
    assert [night["run"] for night in page["nights"]] == [run.parent.name for run in runs]
    stepped: dict[int, list[tuple[str, ...]]] = {}
    assert len(page["scenarios"]) == len(counts)
    for scenario in page["scenarios"]:
        resumption = "ticket" if "resumed" in scenario["name"] else "none"
        values = counts[resumption, scenario["name"].rpartition(", ")[2]]
        texts = [f"{value:,.0f}" for value in values]
        assert [(of["value"], of["text"]) for of in scenario["figures"]] == list(
            zip(values, texts, strict=True)
        )
        points = ", ".join(map(" ".join, zip(labels, texts, strict=True)))
        assert points in scenario["chart"]["description"]
        steps = [at for at in range(1, len(values)) if abs(values[at] / values[at - 1] - 1) > 0.01]
        for at in steps:
            change = 100 * (values[at] / values[at - 1] - 1)
            text = f"{'−' if change < 0 else '+'}{abs(change):.2f}%"
            stepped.setdefault(at, []).append(
                (scenario["name"], scenario["unit"], texts[at - 1], texts[at], text)
            )
        check_steps(project / "content" / "nightly" / page["id"], scenario, values, steps)
    names = ("name", "unit", "before", "after", "change")
    assert {
        of["night"]: (of["before"], [tuple(step[name] for name in names) for step in of["steps"]])
        for of in page["changes"]
    } == {labels[at]: (labels[at - 1], of) for at, of in stepped.items()}
    for of in page["changes"]:
        largest = max(of["steps"], key=lambda step: float(re.sub(r"[^\d.]", "", step["change"])))
        assert f"{largest['change']} in {largest['name']}" in of["answer"]
        assert all(
            f"| {s['before']} | {s['after']} | {s['change']} |" in of["issue"] for s in of["steps"]
        )
        assert f"steps were found at {of['night']}" in page["answer"]


def check_steps(
    folder: Path, scenario: dict[str, Any], values: Sequence[float], steps: Sequence[int]
) -> None:
    """The points of a chart are higher where counts are, and a rule stands before each step."""
    drawing = ElementTree.fromstring((folder / scenario["chart"]["file"]).read_text("utf-8"))
    [caps] = [p.get("d", "") for p in drawing.iter() if p.get("stroke-linecap") == "round"]
    points = [tuple(map(float, of)) for of in re.findall(r"M([\d.]+),([\d.]+)Z", caps)]
    assert len(points) == len(values)
    for at in range(1, len(values)):
        assert (points[at][1] < points[at - 1][1]) == (values[at] > values[at - 1])
    rules = [p.get("d", "") for p in drawing.iter() if p.get("stroke-dasharray") == "3,3"]
    places = [float(x) for d in rules for x in re.findall(r"M([\d.]+),", d)]
    assert places == pytest.approx(
        [(points[at][0] + points[at - 1][0]) / 2 for at in steps], abs=0.6
    )
    assert all(scenario["figures"][at] for at in steps)


# --- reports -------------------------------------------------------------------------------------


def numbers(text: str) -> list[float]:
    return [float(of.replace(",", "")) for of in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def printed(text: str, *values: float) -> bool:
    """Whether a text has these numbers, each rounded to its digits."""
    digits = [len(of.partition(".")[2]) for of in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]
    exact = zip(numbers(text), values, digits, strict=True)
    return all(abs(of - value) <= 0.501 * 10**-places + 1e-6 * value for of, value, places in exact)


def shows(cell: dict[str, Any]) -> bool:
    """Whether the text of a cell has its value; without an interval three digits are enough."""
    values = [cell["value"], *([] if "low" in cell else [float(f"{cell['value']:.3g}")])]
    return any(printed(cell["text"], value) for value in values)


Samples = dict[tuple[str, str, str, str, str, str], dict[tuple[str, int], tuple[float, bool]]]
"""By scenario, phase, metric, statistic, unit and build: the figure of each round, and whether it
counts.
"""


def samples(root: Path, runs: Iterable[str]) -> Samples:
    """The figures of runs; those of a disturbed round do not count."""
    found: Samples = {}
    for run in runs:
        every = records(root / "data" / "runs" / run)
        disturbed = {r["round"] for r in every if r["kind"] == "round" and r.get("disturbed")}
        for of in every:
            if of["kind"] != "measurement":
                continue
            counts = of.get("valid", True) and of["round"] not in disturbed
            for it in of["observations"]:
                scenario = json.dumps(of["scenario"], sort_keys=True)
                kind = (it["phase"], it["metric"], it.get("statistic", "value"), it["unit"])
                key = scenario, *kind, of["implementation"]
                found.setdefault(key, {})[run, of["round"]] = it["value"], counts
    return found


OURS: Final = frozenset(run.id for run in RUNS)


def test_every_figure_of_a_report_is_that_of_its_rounds(project: Path) -> None:
    seen = derived = 0
    for report in reports_of(project):
        runs = [run["id"] for run in report.results["runs"]]
        if not OURS.issuperset(runs):
            continue
        raw_figures = samples(project, runs)
        for table in report.results["tables"]:
            for row in table["rows"]:
                of_row = {}
                for cell in row["cells"]:
                    scenario = json.dumps(row["scenario"], sort_keys=True)
                    kind = (row["phase"], row["metric"], row["statistic"], table["unit"])
                    rounds = raw_figures.pop((scenario, *kind, cell["implementation"]), None)
                    if rounds is None and table["unit"].endswith("/thread"):
                        derived += 1
                        continue
                    if rounds is None:
                        assert "value" not in cell
                        assert cell["text"] == "–"
                        assert cell["note"]
                        continue
                    of_row[cell["implementation"]] = rounds
                    values = [value for value, counts in rounds.values() if counts]
                    assert cell["valid"] is bool(values)
                    values = values or [value for value, _ in rounds.values()]
                    together = max(values) if row["statistic"] == "max" else median(values)
                    assert cell["value"] == pytest.approx(together, rel=1e-6), (
                        report.id,
                        row["name"],
                    )
                    assert cell["count"] == len(values)
                    assert shows(cell)
                    if "low" in cell:
                        assert cell["low"] <= cell["value"] <= cell["high"] < 1.15 * cell["low"]
                        assert printed(cell["interval"], cell["low"], cell["high"])
                    seen += 1
                for cell in (cell for cell in row["cells"] if "ratio" in cell):
                    check_ratio(report, table, row, cell, of_row)
        left = {key[-1] for key in raw_figures if key[2] != "overhead"}
        assert not raw_figures, (report.id, left, next(iter(raw_figures)))
    assert seen > 1000 > derived > 0


def check_ratio(
    report: Report,
    table: dict[str, Any],
    row: dict[str, Any],
    cell: dict[str, Any],
    rounds: dict[str, dict[tuple[str, int], tuple[float, bool]]],
) -> None:
    """A ratio is near the median of those of the rounds, and its verdict is what its interval says."""
    ratio, baseline = cell["ratio"], report.baseline
    assert baseline is not None
    assert table["baseline"] == baseline != cell["implementation"]
    if baseline not in rounds:
        return
    ours, theirs = rounds[cell["implementation"]], rounds[baseline]
    both = [(*ours[at], *theirs[at]) for at in ours if at in theirs]
    power = 1 if METRICS[row["metric"]].better == "higher" else -1
    common = [(one / other) ** power for one, ok, other, too in both if ok and too and one * other]
    if common:
        assert ratio["value"] == pytest.approx(median(common), rel=0.015), (report.id, row["name"])
    if ratio["verdict"] in ("faster", "slower") and "low" in ratio:
        above = ratio["low"] > 1
        assert above or ratio["high"] < 1
        assert (ratio["verdict"] == "faster") is above, (report.id, row["name"])


@pytest.mark.any_site
def test_a_headline_has_the_figures_of_its_row(root: Path) -> None:
    seen = 0
    for report in reports_of(root):
        every = {row["anchor"]: (t, row) for t in report.results["tables"] for row in t["rows"]}
        for of in report.results["headlines"]:
            table, row = every[of["anchor"]]
            cells = [cell for cell in row["cells"] if cell["valid"] and cell.get("value")]
            longest = max(cell["value"] for cell in cells)
            assert (of["title"], of["unit"]) == (row["name"], table["unit"])
            assert [
                (bar["implementation"], bar["label"], bar["text"], bar["percent"])
                for bar in of["bars"]
            ] == [
                (
                    i,
                    report.labels[i],
                    cell["text"],
                    pytest.approx(100 * cell["value"] / longest, abs=0.051),
                )
                for cell in cells
                for i in [cell["implementation"]]
            ]
            with_ratio = [cell for cell in cells if "ratio" in cell]
            [of_baseline] = [c for c in cells if c["implementation"] == report.baseline] or [{}]
            said = []
            for c in with_ratio:
                short = (
                    METRICS[row["metric"]].is_count and max(c["value"], of_baseline["value"]) < 1e4
                )
                counts = short and c["ratio"]["verdict"] in ("faster", "slower")
                text = (
                    f"{c['text']} instead of {of_baseline['text']}"
                    if counts
                    else c["ratio"]["text"]
                )
                said.append(f"{report.labels[c['implementation']]} {text}")
            if len(said) <= 3:
                assert [part for part in said if part not in of["statement"]] == []
            else:
                leading = [cell for cell in with_ratio if cell.get("best") or cell.get("tied")]
                top = max(with_ratio, key=lambda cell: cell["ratio"]["value"])
                for cell in leading or [top]:
                    assert said[with_ratio.index(cell)] in of["statement"]
            seen += 1
    assert seen


@pytest.mark.any_site
def test_times_of_a_price_list_agree_with_its_losses_and_with_each_other(root: Path) -> None:
    seen = 0
    for report in reports_of(root):
        every = {row["anchor"]: (t, row) for t in report.results["tables"] for row in t["rows"]}
        times: dict[tuple[str, str], float] = {}
        firsts: dict[str, str] = {}
        for table in report.results.get("prices") or ():
            timed = table["unit"] == "µs"
            if timed:
                firsts.setdefault(table["rows"][0]["scenario"]["side"], table["rows"][0]["anchor"])
            own = {row["anchor"]: row["cells"] for row in table["rows"]}
            for row in table["rows"]:
                known = {c["implementation"]: c for c in every[row["anchor"]][1]["cells"]}
                of_before = {c["implementation"]: c for c in own.get(row.get("against"), ())}
                assert row["scenario"] == every[row["anchor"]][1]["scenario"]
                for cell in row["cells"]:
                    build = cell["implementation"]
                    of = known.get(build, {})
                    if not of.get("valid") or not of.get("value"):
                        assert cell["text"] == "–"
                        continue
                    assert shows(cell)
                    if "interval" in cell:
                        assert printed(cell["interval"], cell["low"], cell["high"])
                    seen += 1
                    if not timed:
                        assert [cell.get(end) for end in ENDS] == [of.get(end) for end in ENDS]
                        continue
                    is_first = row["anchor"] in firsts.values()
                    near = pytest.approx(1e6 / of["value"], rel=1e-6 if is_first else 0.2)
                    assert cell["value"] == near, row["name"]
                    assert cell["value"] == times.setdefault((row["anchor"], build), cell["value"])
                    assert ("ratio" in cell) <= (build in of_before)
                    if "ratio" in cell:
                        check_loss(cell, of_before[build], table["dividing_percent"])
    assert seen or not any(report.results.get("prices") for report in reports_of(root))


ENDS: Final = ("value", "low", "high")


def check_loss(cell: dict[str, Any], before: dict[str, Any], percent: float) -> None:
    """What is lost is the paired ratio, and the times give the same."""
    ratio = cell["ratio"]
    [first], [after] = numbers(before["text"]), numbers(cell["text"])
    assert first / after == pytest.approx(ratio["value"], rel=percent / 100)
    if ratio["verdict"] == "slower":
        value, low, high = (ratio[end] for end in ("value", "high", "low"))
        assert " lost (" in ratio["text"]
        assert printed(ratio["text"], *(100 * (1 - it) for it in (value, low, high)))


@pytest.mark.any_site
def test_a_table_says_how_far_dividing_two_figures_is_from_their_ratio(root: Path) -> None:
    seen = 0
    for report in reports_of(root):
        for table in report.tables:
            apart = [0.0]
            for row in table["rows"]:
                if METRICS[row["metric"]].is_count:
                    continue
                of = {cell["implementation"]: cell for cell in row["cells"]}
                for cell in (cell for cell in row["cells"] if "ratio" in cell):
                    [ours], [theirs] = (numbers(it["text"]) for it in (cell, of[table["baseline"]]))
                    if ours and theirs:
                        quotient = ours / theirs if table["better"] == "higher" else theirs / ours
                        apart.append(100 * abs(quotient / cell["ratio"]["value"] - 1))
                        seen += 1
            assert max(apart) <= table.get("dividing_percent", 0) + 1e-4, table["anchor"]
            said = re.findall(r"dividing two figures gives up to ([\d.]+)%", table["caption"])
            assert said == [f"{table['dividing_percent']:g}"] if max(apart) > 0.5 else len(said) < 2
    assert seen > 100


@pytest.mark.any_site
def test_what_prose_quotes_is_the_figure_or_ratio_that_it_names(root: Path) -> None:
    seen = 0
    for report in reports_of(root):
        every = {row["anchor"]: row["cells"] for t in report.results["tables"] for row in t["rows"]}
        for of in report.results["quoted"]:
            found = re.fullmatch(r"(\w+)\((.+), (.+)\)", of["key"])
            assert found
            kind, anchor, build = found.groups()
            [cell] = [cell for cell in every[anchor] if cell["implementation"] == build]
            text = cell["text"] if kind == "figure" else cell["ratio"]["text"].partition(" (")[0]
            assert of["text"].startswith(text), of
            seen += 1
    assert seen
