"""The scoreboard and the pages by question: which reports they take."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from project import LIBRARIES, OLD, OLDER
from tlsperf.contract.questions import Scoreboard
from tlsperf.contract.results import Results
from tlsperf.load.results import read_results
from tlsperf.publish.questions import questions
from tlsperf.publish.reports import newest_first
from tlsperf.publish.scoreboard import scoreboard


@pytest.fixture(scope="module")
def reports(project: Path) -> list[Results]:
    """The reports that the pages use, newest first."""
    paths = sorted((project / "content" / "perf").glob("*/results.json"))
    return newest_first(read_results(path) for path in paths)


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


def test_of_the_reports_that_compare_the_most_libraries_the_newest_is_taken(
    reports: list[Results],
) -> None:
    def later(name: str, day: str, *words: tuple[str, str]) -> Results:
        return of(reports, name, (name[:10], f"2026-12-{day}"), *words)

    memory = "2026-10-04-idle"
    newer = [later(memory, "03"), later(OLD, "02"), later(memory, "01")]
    fewer = later(OLD, "04", ('"library":"boringssl"', '"library":"openssl"'))
    ordered = [fewer, *newer, *reports]
    board = scoreboard(ordered)
    assert board
    assert [source.run for source in board.sources] == ["2026-12-02-server", "2026-12-03-idle"]
    used = {page.id: page.reports[0].id for page in questions(ordered)}
    names = {"server": "2026-12-02-server", "cores": "2026-12-02-server"}
    assert names | {"memory": "2026-12-03-idle"} == {id_: used[id_] for id_ in (*names, "memory")}


def test_each_host_has_a_line_and_a_table_of_its_own_newest_figures(
    reports: list[Results],
) -> None:
    first = of(reports, OLD)

    def on(model: str, day: str) -> Results:
        [host] = first.hosts
        facts = {"name": f"CPU {model}", "cpu_model": f"family 6, model {model}, stepping 1"}
        later = of(reports, OLD, (OLD[:10], f"2026-12-{day}"))
        return later.model_copy(update={"hosts": [host.model_copy(update=facts)]})

    ordered = newest_first([on("1", "01"), on("1", "02"), on("2", "01")])
    [server] = [page for page in questions(ordered) if page.id == "server"]
    assert [line.partition(":")[0] for line in server.answer] == ["CPU 1", "CPU 2"]
    assert [(sheet.host, sheet.caption.partition(":")[0]) for sheet in server.sheets] == [
        ("CPU 1", "CPU 1, 2 December 2026"),
        ("CPU 2", "CPU 2, 1 December 2026"),
    ]
    assert len({sheet.id for sheet in server.sheets}) == 2
    assert [report.date.day for report in server.reports] == [2, 1]


def test_a_row_has_one_newest_figure_on_all_pages(reports: list[Results]) -> None:
    row = "full-handshake-1-3-ecdsa-p256-x25519-server"
    first = of(reports, OLD)
    later = of(reports, OLD, (OLD[:10], "2026-12-01"), (row, f"{row}-elsewhere"))
    board = scoreboard([later, first])
    pages = {page.id: page for page in questions([later, first])}
    assert board
    of_server = [cell for line in pages["server"].sheets[0].rows for cell in line.cells]
    of_board = [cell for line in board.board.rows for cell in line.cells]
    links = {cell.href for cell in (*of_server, *of_board)}
    assert f"perf/{OLD}/#{row}" in links
    assert {link for link in links if link and OLD in link} == {f"perf/{OLD}/#{row}"}


def test_a_transfer_of_1_mib_is_not_replaced_by_one_of_64_kib(reports: list[Results]) -> None:
    results = of(reports, OLD)
    table = results.tables[0]
    longer = [row for row in table.rows if "64-kib" in row.anchor]
    other = of(reports, OLD, ("-64-kib-in-flight", "")).tables[0].rows
    for rows in ([*longer, *other], [*other, *longer]):
        tables = [table.model_copy(update={"rows": rows}), *results.tables[1:]]
        both = [results.model_copy(update={"tables": tables})]
        board = scoreboard(both)
        assert board
        sheets = [board.board, *(sheet for page in questions(both) for sheet in page.sheets[:1])]
        cells = [cell for sheet in sheets for row in sheet.rows for cell in row.cells]
        sending = [cell for cell in cells if (cell.href or "").endswith("-sending")]
        assert {cell.href for cell in sending} == {f"perf/{OLD}/#transfer-1-3-aes-256-gcm-sending"}


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
        ({"cpu_model": "family 6, model 143, stepping 8"}, False),
    ):
        board = scoreboard(
            [second.model_copy(update={"hosts": [host.model_copy(update=facts)]}), first]
        )
        assert board
        assert (column in board.board.columns) is there


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


def test_a_range_of_cores_is_of_one_build_of_each_library(reports: list[Results]) -> None:
    baseline_of_rustls = ('"library":"openssl"', '"library":"rustls","provider":"ring"')
    for words, named in (([], True), ([baseline_of_rustls], False)):
        [page] = [page for page in questions([of(reports, OLD, *words)]) if page.id == "cores"]
        [fastest] = [row for row in page.sheets[1].rows if "aws-lc-rs" in row.label]
        assert (f"{fastest.cells[1].text} to " in page.answer[0]) is named
