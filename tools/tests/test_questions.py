"""The scoreboard and the pages by question: each figure equals that of its row."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from tlsperf.contract.questions import Question, Scoreboard, Sheet, SheetCell
from tlsperf.contract.results import Comparisons, Results, Row
from tlsperf.load.results import read_results
from tlsperf.publish.capacity import MIB_PER_GIGABIT, cores
from tlsperf.publish.questions import questions
from tlsperf.publish.reports import newest_first
from tlsperf.publish.scoreboard import scoreboard
from tlsperf.publish.sheets import Source
from tlsperf.publish.upgrades import report_of_versions, upgrade_question, upgrades

PERF = Path(__file__).parents[2] / "content" / "perf"


@pytest.fixture(scope="module")
def reports() -> dict[str, Results]:
    """The committed reports that the pages use, newest first."""
    names = ("libraries", "memory", "post-quantum", "threads", "latency", "history")
    folders = [f"2026-11-21-{name}-vm" for name in names]
    folders += ["2026-11-23-set-up-vm", "2026-11-23-tuned-vm", "2026-11-24-post-quantum-vm"]
    paths = [PERF / folder / "results.json" for folder in folders]
    return {r.id: r for r in newest_first([read_results(path) for path in paths])}


@pytest.fixture(scope="module")
def pages(reports: dict[str, Results]) -> dict[str, Question]:
    return {question.id: question for question in questions(list(reports.values()))}


def linked(cell: SheetCell, reports: dict[str, Results]) -> list[str]:
    """The texts in the row that a cell links to: its values and ratios."""
    assert cell.href
    report, _, anchor = cell.href.removeprefix("perf/").partition("/#")
    _, row = Source(reports[report]).rows[anchor]
    return [text for c in row.cells for text in (c.text, c.ratio.text if c.ratio else "")]


def cells(sheet: Sheet) -> list[SheetCell]:
    return [cell for row in sheet.rows for cell in row.cells]


def test_a_report_of_one_library_answers_no_question_about_libraries(
    reports: dict[str, Results], pages: dict[str, Question]
) -> None:
    alone = {r.id for r in reports.values() if len({i.library for i in r.implementations}) == 1}
    assert alone == {"2026-11-23-tuned-vm"}
    board = scoreboard(list(reports.values()))
    assert board is not None
    used = {source.report.id for source in board.sources}
    used |= {report.id for page in pages.values() for report in page.reports}
    assert used.isdisjoint(alone)
    assert [r.id for r in pages["memory"].reports] == ["2026-11-21-memory-vm"]


def test_each_cell_of_the_scoreboard_has_the_verdict_of_its_row(
    reports: dict[str, Results],
) -> None:
    board = scoreboard(list(reports.values()))
    assert board is not None
    assert len(board.board.columns) == 8
    assert len(board.board.rows) == 6
    for row in board.board.rows:
        for cell in row.cells:
            if cell.text == "–":
                continue
            texts = [text.partition(" (")[0] for text in linked(cell, reports)]
            assert cell.text == "baseline" or cell.text in texts
    marks = [cell.mark for cell in cells(board.board)]
    assert marks.count("best") == sum(
        1
        for number in range(8)
        if [r.cells[number].mark for r in board.board.rows].count("best") == 1
    )
    assert "tied" in marks


def test_the_caption_of_the_scoreboard_names_its_host_and_each_run(
    reports: dict[str, Results],
) -> None:
    board = scoreboard(list(reports.values()))
    assert board is not None
    named = board.board.caption
    assert board.host in named
    assert f"in {len(board.sources)} runs: " in named
    for source in board.sources:
        assert f"{source.columns} in {source.run}" in named


def with_all_tasks(reports: dict[str, Results], *left_out: str) -> Results:
    """The report of the libraries, with the rows of the other reports in its own run, and the size
    in flight of later suites in the names of transfers.
    """
    names = ("memory", "post-quantum")
    others = [t for name in names for t in reports[f"2026-11-21-{name}-vm"].tables]
    ours = reports["2026-11-21-libraries-vm"]
    known = {row.anchor for table in ours.tables for row in table.rows}
    later = [t for t in others if not {row.anchor for row in t.rows} & known]
    kept = [i for i in ours.implementations if i.library not in left_out]
    ids = {i.id for i in kept}
    tables = [
        table.model_copy(update={"rows": [renamed(row, ids) for row in table.rows]})
        for table in (*ours.tables, *later)
    ]
    return ours.model_copy(update={"tables": tables, "implementations": kept})


def renamed(row: Row, kept: set[str]) -> Row:
    name, _, side = row.anchor.rpartition("-")
    later = f"{name}-64-kib-in-flight-{side}"
    anchor = later if name.startswith("transfer") else row.anchor
    cells = [cell for cell in row.cells if cell.implementation in kept]
    return row.model_copy(update={"anchor": anchor, "cells": cells})


def test_a_run_of_all_tasks_serves_the_whole_scoreboard(reports: dict[str, Results]) -> None:
    one = with_all_tasks(reports).model_copy(update={"id": "2026-12-01-libraries-vm"})
    board = scoreboard([*reports.values(), one])
    assert board is not None
    (source,) = board.sources
    assert source.report.id == one.id
    assert len(board.board.columns) == 8
    assert board.board.caption.endswith(f"all in one run, {source.run}. Each links to its row.")
    found = [cell for cell in cells(board.board) if cell.href]
    assert len(found) > 40
    assert [c for c in found if c.text not in ("baseline", *short_linked(c, one))] == []


def short_linked(cell: SheetCell, report: Results) -> list[str]:
    return [text.partition(" (")[0] for text in linked(cell, {report.id: report})]


def test_of_two_runs_of_all_tasks_the_one_with_more_libraries_serves(
    reports: dict[str, Results],
) -> None:
    many = with_all_tasks(reports).model_copy(update={"id": "2026-12-01-libraries-vm"})
    few = with_all_tasks(reports, "boringssl").model_copy(update={"id": "2026-12-02-libraries-vm"})
    board = scoreboard([few, many])
    assert board is not None
    assert [source.report.id for source in board.sources] == [many.id]


def test_two_runs_in_one_report_are_not_one_run(reports: dict[str, Results]) -> None:
    ours = with_all_tasks(reports)
    again = ours.runs[0].model_copy(update={"id": "2026-12-02-again"})
    two = ours.model_copy(update={"id": "2026-12-02-two", "runs": [*ours.runs, again]})
    board = scoreboard([two, ours])
    assert board is not None
    assert [source.report.id for source in board.sources] == [ours.id]


@pytest.mark.parametrize("facts", [{"id": "another-host"}, {"machine": "0123456789abcdef"}])
def test_no_column_of_the_scoreboard_is_of_another_host(
    facts: dict[str, str], reports: dict[str, Results]
) -> None:
    def on(report: Results, changed: dict[str, str]) -> Results:
        host = report.hosts[0].model_copy(update={"machine": "fd0e09e7f09fa072", **changed})
        return report.model_copy(update={"hosts": [host]})

    memory = "Memory per idle connection"
    ours, theirs = (reports[f"2026-11-21-{name}-vm"] for name in ("libraries", "memory"))
    same, mixed = (scoreboard([on(theirs, changed), on(ours, {})]) for changed in ({}, facts))
    assert same is not None
    assert memory in same.board.columns
    assert mixed is not None
    assert memory not in mixed.board.columns


def test_a_scoreboard_of_two_hosts_is_invalid(reports: dict[str, Results]) -> None:
    board = scoreboard(list(reports.values()))
    assert board is not None
    other = board.sources[1].model_copy(update={"host_id": "another-host"})
    with pytest.raises(ValidationError, match="on another-host, expected one host"):
        Scoreboard.model_validate(
            board.model_dump() | {"sources": [board.sources[0].model_dump(), other.model_dump()]}
        )


def test_without_a_report_of_all_tasks_there_is_no_scoreboard(reports: dict[str, Results]) -> None:
    assert scoreboard([reports["2026-11-21-memory-vm"]]) is None


def test_figures_of_questions_are_those_of_their_rows(
    pages: dict[str, Question], reports: dict[str, Results]
) -> None:
    assert set(pages) == {"server", "post-quantum", "memory", "scaling", "tail", "cores"}
    followed = [
        cell
        for page in pages.values()
        for sheet in page.sheets
        for cell in cells(sheet)
        if cell.href
    ]
    assert len(followed) > 150
    assert [cell for cell in followed if cell.text not in linked(cell, reports)] == []


def test_an_answer_names_the_leaders_of_its_row(
    pages: dict[str, Question], reports: dict[str, Results]
) -> None:
    _, row = Source(reports["2026-11-21-libraries-vm"]).rows[
        "full-handshake-1-3-ecdsa-p256-x25519-server"
    ]
    leaders = [cell.text for cell in row.cells if cell.best or cell.tied]
    assert leaders
    assert all(text in pages["server"].answer[0] for text in leaders)


def test_the_time_that_post_quantum_adds_is_computed_from_both_rates(
    pages: dict[str, Question],
) -> None:
    first = pages["post-quantum"].sheets[0].rows[0]
    before, after = (float(cell.text.replace(",", "")) for cell in first.cells[:2])
    assert float(first.cells[3].text.split()[0]) == pytest.approx(
        1e6 / after - 1e6 / before, abs=0.1
    )


def test_a_loss_by_post_quantum_is_that_of_the_price_list_with_its_verdict(
    reports: dict[str, Results], pages: dict[str, Question]
) -> None:
    prices = {table.anchor: table for table in reports["2026-11-24-post-quantum-vm"].prices or ()}
    for sheet, (anchor, column) in zip(
        pages["post-quantum"].sheets,
        (
            *(("prices-server", "x25519mlkem768"), ("prices-server-rsa", "rsa-2048")),
            *(("prices-client", "x25519mlkem768"), ("prices-client-rsa", "rsa-2048")),
        ),
        strict=True,
    ):
        (of,) = (of for of in prices[anchor].columns if of.id == column)
        expected = [cell.lost.text for cell in of.cells if cell.lost]
        shown = [f"{row.cells[2].text} ({row.cells[2].detail})" for row in sheet.rows]
        assert shown == expected
        assert len(shown) == 6


def test_the_answer_on_post_quantum_quotes_only_losses_that_are_shown(
    pages: dict[str, Question],
) -> None:
    page = pages["post-quantum"]
    of = {sheet.id: sheet for sheet in page.sheets}
    for name, answer in zip(("server-ecdsa-p256", "client-ecdsa-p256"), page.answer, strict=False):
        texts = [row.cells[2].text for row in of[name].rows]
        losses = [float(t.split("%")[0]) for t in texts if t.endswith("% lost")]
        others = texts.count("no difference shown")
        assert len(losses) + others == len(texts)
        assert others > 0
        assert f"loses from {min(losses):.1f}% of its handshakes" in answer
        assert f"to {max(losses):.1f}% (" in answer
        assert answer.endswith(f"; in {others} of {len(texts)} libraries no loss is shown.")


def test_cores_are_demand_over_rate_with_the_bounds_of_the_rates(
    reports: dict[str, Results],
) -> None:
    source = Source(reports["2026-11-21-libraries-vm"])
    row, other = "full-handshake-1-3-ecdsa-p256-x25519-server", "transfer-1-3-aes-256-gcm-sending"
    full, sending = (source.cell(r, "openssl-3.6.3") for r in (row, other))
    assert full is not None
    assert sending is not None
    rates = [rate for cell in (full, sending) for rate in (cell.value, cell.low) if rate]
    handshakes, fewest, transfer, least = rates
    demand = [(5000.0, row), (10 * MIB_PER_GIGABIT, other)]
    found = cores(source, "openssl-3.6.3", demand)
    assert found is not None
    traffic = 10e9 / 8 / 2**20
    assert found.value == pytest.approx(5000 / handshakes + traffic / transfer)
    assert found.high == pytest.approx(5000 / fewest + traffic / least)
    assert found.low < found.value < found.high
    assert cores(source, "openssl-3.6.3", [(1.0, "no-such-row")]) is None


def test_questions_take_a_newer_run_whose_transfers_state_their_size_in_flight(
    reports: dict[str, Results],
) -> None:
    newer = with_all_tasks(reports).model_copy(update={"id": "2026-12-01-libraries-vm"})
    found = {page.id: page for page in questions([newer, *reports.values()])}
    for name in ("server", "cores"):
        assert [report.id for report in found[name].reports] == [newer.id]
    followed = [c for sheet in found["server"].sheets for c in cells(sheet) if c.href]
    assert any("64-kib-in-flight" in (cell.href or "") for cell in followed)
    assert [c for c in followed if c.text not in linked(c, {newer.id: newer})] == []


def test_every_older_version_has_a_page_to_every_newer_one(reports: dict[str, Results]) -> None:
    source = report_of_versions(list(reports.values()))
    assert source is not None
    assert source.results.id == "2026-11-21-history-vm"
    folder = PERF / source.results.id
    compared = Comparisons.model_validate_json((folder / "comparisons.json").read_bytes())
    found = {upgrade.id: upgrade for upgrade in upgrades(source, compared)}
    assert len(found) == 15 + 21 + 3
    question = upgrade_question(source, compared)
    linked_to = [c.href for sheet in question.sheets for c in cells(sheet) if c.href]
    assert sorted(linked_to) == sorted(f"upgrades/{name}/" for name in found)
    page = found["openssl-1-1-1w-to-openssl-3-0-8"]
    for row in page.sheet.rows:
        anchor = (row.cells[2].href or "").partition("#")[2]
        table = source.rows[anchor][0].anchor
        texts = compared.rows[f"{table} {anchor}"]["openssl-1.1.1w"]["openssl-3.0.8"]
        assert row.cells[2].text == texts[2]
