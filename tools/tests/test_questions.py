"""The scoreboard and the pages by question: each figure equals that of its row."""

from __future__ import annotations

from pathlib import Path

import pytest

from tlsperf.contract.questions import Question, Sheet, SheetCell
from tlsperf.contract.results import Comparisons, Results
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
    folders += ["2026-11-23-set-up-vm", "2026-11-23-tuned-vm"]
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


def test_the_price_of_post_quantum_is_computed_from_both_rates(
    pages: dict[str, Question],
) -> None:
    first = pages["post-quantum"].sheets[0].rows[0]
    before, after = (float(cell.text.replace(",", "")) for cell in first.cells[:2])
    assert first.cells[2].text == f"{100 * (1 - after / before):.1f}%"
    assert float(first.cells[3].text.split()[0]) == pytest.approx(
        1e6 / after - 1e6 / before, abs=0.1
    )


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
