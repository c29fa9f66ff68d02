"""The scoreboard and the pages by question: which reports they take, and the figures of rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from project import LIBRARIES, OLD, OLDER, VERSIONS
from synthetic import HANDSHAKES, Rates, loaded_run, report_of
from tlsperf.contract.names import scenario_name
from tlsperf.contract.questions import Scoreboard
from tlsperf.contract.results import Results
from tlsperf.load.results import read_results
from tlsperf.publish.questions import questions
from tlsperf.publish.reports import newest_first
from tlsperf.publish.scoreboard import scoreboard
from tlsperf.publish.sheets import Source
from tlsperf.publish.upgrades import upgrade_question, upgrades
from tlsperf.report.comparisons import all_comparisons


@pytest.fixture(scope="module")
def reports(project: Path) -> list[Results]:
    """The reports that the pages use, newest first."""
    paths = sorted((project / "content" / "perf").glob("*/results.json"))
    return newest_first(read_results(path) for path in paths)


# --- figures -------------------------------------------------------------------------------------


Shown = dict[tuple[str, str], tuple[set[str], str | None]]
"""The texts of a row's cell, and its mark, by the row's anchor and the label of a build."""


def shown_of(results: dict[str, Any]) -> Shown:
    labels = {i["id"]: i["label"] for i in results["implementations"]}
    found: Shown = {}
    for row in chain.from_iterable(table["rows"] for table in results["tables"]):
        for cell in row["cells"]:
            mark = "best" if cell["best"] else "tied" if cell["tied"] else None
            ratio = cell.get("ratio", {}).get("text", "baseline").partition(" (")[0]
            key = row["anchor"], labels[cell["implementation"]]
            found[key] = {cell["text"], ratio}, mark
    for mean in results["means"]:
        text = mean["ratio"]["text"].partition(" (")[0]
        found[mean["table"], labels[mean["implementation"]]] = {text}, None
    return found


def documents(root: Path, pattern: str) -> Iterator[Any]:
    for path in sorted(root.glob(pattern)):
        yield json.loads(path.read_bytes())


@pytest.mark.any_site
def test_every_cell_that_leads_to_a_row_has_its_figure_or_ratio_and_its_verdict(
    root: Path,
) -> None:
    rows = {of["id"]: shown_of(of) for of in documents(root, "content/perf/*/results.json")}
    [board] = documents(root, "data/scoreboard.json")
    pages = documents(root, "content/questions/*/question.json")
    of_questions = chain.from_iterable(page["sheets"] for page in pages)
    seen = 0
    for sheet in (board["board"], board["means"], *of_questions):
        for row in sheet["rows"]:
            for cell in row["cells"]:
                report, _, anchor = cell.get("href", "").removeprefix("perf/").partition("/#")
                if anchor:
                    texts, mark = rows[report][anchor, row["label"]]
                    assert cell["text"] in texts, (sheet["id"], row["label"], cell)
                    marks = {mark} if sheet["id"] == "scoreboard" else {mark, None}
                    assert cell.get("mark") in marks, (sheet["id"], row["label"], cell)
                    seen += 1
    assert seen


def test_an_answer_names_the_leaders_of_its_row(project: Path) -> None:
    page = json.loads((project / "content/questions/server/question.json").read_bytes())
    [report] = page["reports"]
    results = json.loads((project / f"content/perf/{report['id']}/results.json").read_bytes())
    rows = {row["anchor"]: row for table in results["tables"] for row in table["rows"]}
    first = rows["full-handshake-1-3-ecdsa-p256-x25519-server"]
    leaders = [cell["text"] for cell in first["cells"] if cell["best"] or cell["tied"]]
    assert leaders
    assert all(text in page["answer"][0] for text in leaders)


def test_every_older_version_has_a_page_to_every_newer_one(project: Path) -> None:
    pairs = [
        f"{older}-to-{newer}".replace(".", "-")
        for older, newer in combinations(VERSIONS, 2)
        if older.partition("-")[0] == newer.partition("-")[0]
    ]
    pages = [path.parent.name for path in project.glob("content/upgrades/*/upgrade.json")]
    assert sorted(pages) == sorted(pairs)
    upgrade = json.loads((project / "content/questions/upgrade/question.json").read_bytes())
    cells = chain.from_iterable(row["cells"] for of in upgrade["sheets"] for row in of["rows"])
    linked = [cell["href"] for cell in cells if "href" in cell]
    assert sorted(linked) == sorted(f"upgrades/{pair}/" for pair in pairs)


def test_an_upgrade_counts_what_is_faster_and_slower_and_names_the_most() -> None:
    factors = {HANDSHAKES[0]: (1.0, 1.5, 3.0), HANDSHAKES[1]: (1.0, 2.0, 1.0)}
    rates: Rates = {
        f"openssl-{n + 1}": {
            row: [factors.get(row, (1.0,) * 3)[n] * (1000.0 + i % 3) for i in range(30)]
            for row in HANDSHAKES
        }
        for n in range(3)
    }
    report = report_of(loaded_run("2026-11-21-a", rates))
    source, compared = Source(report.results), all_comparisons(report)
    name = scenario_name(HANDSHAKES[0])
    first, *_, last = upgrades(source, compared)
    counts = f"of 12 tasks, faster in 1 (up to 2.00x, {name})"
    other = f"slower in 1 (up to 2.00x, {scenario_name(HANDSHAKES[1])})"
    assert (
        last.answer == f"From OpenSSL 2 to OpenSSL 3: {counts}, {other}, no difference shown in 10."
    )
    [row] = [row for row in first.sheet.rows if row.label.startswith(name)]
    assert [cell.text for cell in row.cells][:2] == ["1,001", "1,502"]
    assert row.cells[2].text.startswith("1.50x faster (")
    question = upgrade_question(source, compared)
    assert [[cell.text for cell in row.cells] for row in question.sheets[0].rows] == [
        ["2 faster, 0 slower of 12", "1 faster, 0 slower of 12"],
        ["–", "1 faster, 1 slower of 12"],
    ]
    assert question.answer == [
        f"OpenSSL 1 to 3: of 12 tasks, faster in 1 (up to 3.00x, {name}), no difference shown in 11."
    ]


# --- which reports -------------------------------------------------------------------------------


def of(reports: list[Results], name: str, *words: tuple[str, str]) -> Results:
    """A report with other words in its results."""
    [found] = [results for results in reports if results.id == name]
    text = found.model_dump_json(by_alias=True, exclude_none=True)
    for old, new in words:
        text = text.replace(old, new)
    return Results.model_validate_json(text)


def test_a_report_of_one_library_answers_no_question_about_libraries(
    reports: list[Results],
) -> None:
    library = [(f'"library":"{name}"', '"library":"openssl"') for name in ("rustls", "boringssl")]
    names = (OLD, "2026-11-03-memory")
    alone = [of(reports, name, *library, (name[:10], "2026-12-01")) for name in names]
    assert scoreboard(reports) == scoreboard([*alone, *reports])
    assert questions(reports) == questions([*alone, *reports])


def test_a_run_without_all_tasks_is_completed_only_by_runs_on_its_host(
    reports: list[Results],
) -> None:
    column = "Memory per idle connection"
    versions = [*zip(LIBRARIES, OLDER, strict=True)]
    first = of(reports, OLD)
    second = of(reports, "2026-11-03-memory", *versions)
    [host] = second.hosts
    for facts, there in (
        ({}, True),
        ({"id": "another-host"}, False),
        ({"machine": "0123456789abcdef"}, True),
    ):
        elsewhere = second.model_copy(update={"hosts": [host.model_copy(update=facts)]})
        board = scoreboard([elsewhere, first])
        assert board
        assert (column in board.board.columns) is there
        assert all(source.run in board.board.caption for source in board.sources)
    machines = [
        results.model_copy(
            update={"hosts": [results.hosts[0].model_copy(update={"machine": machine})]}
        )
        for results, machine in ((second, "0123456789abcdef"), (first, "fd0e09e7f09fa072"))
    ]
    board = scoreboard(machines)
    assert board
    assert column not in board.board.columns


def test_a_scoreboard_of_two_hosts_is_invalid(reports: list[Results]) -> None:
    board = scoreboard(reports)
    assert board
    of_one = board.sources[0].model_dump()
    with pytest.raises(ValidationError, match="expected one host"):
        Scoreboard.model_validate(
            board.model_dump() | {"sources": [of_one, of_one | {"host_id": "another-host"}]}
        )


def test_without_a_report_of_all_tasks_there_is_no_scoreboard(reports: list[Results]) -> None:
    assert scoreboard([of(reports, "2026-11-03-memory")]) is None
