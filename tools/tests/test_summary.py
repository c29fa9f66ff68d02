"""The summary for reviewers has the report's content and changes, with mark-up escaped."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from commands import commit, git
from project import EXAMPLE, SMALL, write_small
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Change, Changes, LibraryChanges, Ratio, Results
from tlsperf.contract.run import RunWarning
from tlsperf.load.shortcodes import shortcodes
from tlsperf.publish.page_json import page_json
from tlsperf.publish.summary import MOST_ROWS, comparison, introduction, summary_since
from tlsperf.report.picture import picture


@pytest.fixture
def results() -> Results:
    return Results.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


def edited(results: Results, edit: Callable[[dict[str, Any]], None]) -> Results:
    table = json.loads(results.model_dump_json(by_alias=True))
    edit(table)
    return Results.model_validate_json(json.dumps(table))


def page(results: Results) -> dict[str, Any]:
    """The page.json of a report, which git holds."""
    calls = "".join(f'{{{{ table(id="{table.anchor}") }}}}\n' for table in results.tables)
    table: dict[str, Any] = json.loads(page_json([results], calls=shortcodes(calls, "index.md")))
    return table


def test_a_new_report_is_shown_by_its_ratios_changes_and_warnings(results: Results) -> None:
    ratio = Ratio(
        value=1.1, low=1.05, high=1.15, verdict="faster", text="1.10x faster (1.05 to 1.15)"
    )
    one, two = results.implementations[:2]
    change = Change(
        anchor="a", name="transfer", against="OpenSSL 1", before="1.00x", after="1.10x", ratio=ratio
    )
    changes = Changes(
        predecessor="2026-10-01-last",
        title="The last one",
        date=date(2026, 10, 1),
        shift="All 48 rates are higher.",
        caveats=[RunWarning(code="host", message="Another kernel.")],
        rule="Corrected for 32 comparisons.",
        libraries=[
            LibraryChanges(
                before=one,
                after=two,
                statement="OpenSSL 1 to 2: 1 faster",
                compared=1,
                unchanged=0,
                changes=[change],
            )
        ],
    )
    warning = RunWarning(code="virtual-machine", message="Measured in a virtual machine.")
    text = introduction(results.model_copy(update={"changes": changes, "warnings": [warning]}))
    dots = picture([results])
    assert dots
    for row in (row for panel in dots.panels for row in panel.rows):
        assert f"| {row.label} | {dots.words(row)} |" in text
    assert "### Changes since The last one (2026-10-01)" in text
    assert "- Caveat: Another kernel." in text
    assert text.index("All 48 rates are higher.") < text.index("Corrected for 32")
    assert "  - transfer: 1.00x to 1.10x of OpenSSL 1, 1.10x faster (1.05 to 1.15)" in text
    assert "### Warnings\n\n- Measured in a virtual machine.\n" in text
    for run in results.runs:
        for of_run in run.warnings:
            assert f"- {of_run.message}" in text


def test_missing_changes_and_warnings_are_stated(results: Results) -> None:
    runs = [run.model_copy(update={"warnings": []}) for run in results.runs]
    bare = results.model_copy(update={"changes": None, "warnings": [], "runs": runs})
    text = introduction(bare)
    assert "No earlier report" in text
    assert "No warnings" in text


def test_a_changed_figure_has_both_values_and_both_verdicts(results: Results) -> None:
    row = results.tables[0].rows[0]
    cell = next(cell for cell in row.cells if cell.ratio)
    assert cell.ratio

    def edit(table: dict[str, Any]) -> None:
        for other in table["tables"][0]["rows"][0]["cells"]:
            if other["implementation"] == cell.implementation:
                other |= {"value": 1234.0, "text": "1,234"}
                other |= {"low": 1200.0, "high": 1300.0, "interval": "1,200 to 1,300"}
                other["ratio"] = {"value": 5.0, "verdict": "not tested", "text": "5.00x"}

    text = comparison(page(results), page(edited(results, edit)))
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {row.name}")]
    cells = [part.strip() for part in line.strip("|").split(" | ")]
    was, is_, unit, ratio, now = cells[2:]
    assert (was, is_) == (f"{cell.text} ({cell.interval})", "1,234 (1,200 to 1,300)")
    assert (unit, now) == ("MiB/s", "5.00×")
    assert ratio not in ("", now)


def test_the_interval_of_a_ratio_is_not_that_of_the_figure(results: Results) -> None:
    def edit(table: dict[str, Any]) -> None:
        for cell in (c for of in table["tables"] for row in of["rows"] for c in row["cells"]):
            cell |= {"value": 1234.0, "text": "1,234", "low": None, "high": None, "interval": None}

    text = comparison(page(results), page(edited(results, edit)))
    assert " | 1,234 | " in text
    assert "1,234 (" not in text


def test_a_changed_verdict_is_listed_although_the_figure_is_the_same(results: Results) -> None:
    def edit(table: dict[str, Any]) -> None:
        cells = table["tables"][0]["rows"][0]["cells"]
        ratio = next(c for c in cells if c.get("ratio"))["ratio"]
        ratio |= {"value": 6.0, "low": None, "high": None, "text": "6.00x", "verdict": "not tested"}

    assert comparison(page(results), page(edited(results, edit))).count("| 6.00× |") == 1


def test_a_figure_that_appears_disappears_or_no_longer_counts_is_listed(results: Results) -> None:
    def remove(table: dict[str, Any]) -> None:
        del table["tables"][0]["rows"][0]

    def mark(table: dict[str, Any]) -> None:
        table["tables"][0]["rows"][0]["cells"][0] |= {"valid": False, "note": "a reason"}

    more, less = page(results), page(edited(results, remove))
    cells = len(results.tables[0].rows[0].cells)
    assert comparison(more, less).count("not there") == cells
    assert comparison(less, more).count("not there") == cells
    assert "a reason" in comparison(more, page(edited(results, mark)))


def cells_of(table: dict[str, Any]) -> list[dict[str, Any]]:
    """The cells of a table of a page in both arrangements."""
    lines = [line for block in table.get("blocks", ()) for line in block["lines"]]
    return [
        cell for line in lines or table["rows"] for of_hosts in line["cells"] for cell in of_hosts
    ]


def test_every_figure_of_a_page_is_compared_in_each_arrangement_of_tables(project: Path) -> None:
    for path in project.glob("content/perf/*/page.json"):
        shown = json.loads(path.read_bytes())
        assert "did not change" in comparison(shown, shown)
        cells = [cell for table in shown["tables"].values() for cell in cells_of(table)]
        text = comparison({**shown, "tables": {}}, shown)
        assert text.count("| not there |") == min(len(cells), MOST_ROWS) > 0, path
        figures = {cell["figure"] for cell in cells if "figure" in cell}
        assert len(cells) > MOST_ROWS or all(f" {figure}" in text for figure in figures)


def test_a_long_comparison_is_cut_and_states_that(results: Results) -> None:
    def edit(table: dict[str, Any]) -> None:
        for t in table["tables"]:
            t["rows"] = [{**r, "anchor": f"{r['anchor']}-{n}"} for r in t["rows"] for n in range(9)]

    many = edited(results, edit)
    none = results.model_copy(update={"tables": []})
    total = sum(map(len, map(cells_of, page(many)["tables"].values())))
    text = comparison(page(none), page(many))
    assert text.count("not there") == MOST_ROWS
    assert f"… and {total - MOST_ROWS} more" in text


def test_data_is_not_markup(results: Results) -> None:
    title = "a | b\n<img src=x> [l](u) `c` *d*"
    text = introduction(results.model_copy(update={"title": title}))
    assert text.splitlines()[0] == r"## a \| b \<img src=x\> \[l\](u) \`c\` \*d\*"


def test_the_reports_that_changed_since_a_commit(tmp_path: Path) -> None:
    write_small(tmp_path)
    perf = tmp_path / "content" / "perf"
    new = perf.rename(tmp_path / "new")
    for name in ("1-same", "2-changed", "3-removed"):
        path = perf / name / "page.json"
        path.parent.mkdir(parents=True)
        table = json.loads((new / SMALL.id / "page.json").read_bytes())
        path.write_text(json.dumps({**table, "title": name}), encoding="utf-8")
    commit(tmp_path)
    git(tmp_path, "branch", "topic")
    shutil.copytree(perf / "1-same", perf / "0-later-on-main")
    commit(tmp_path)
    git(tmp_path, "switch", "--quiet", "topic")
    assert summary_since(tmp_path, "main").startswith("No figure ")

    changed = perf / "2-changed" / "page.json"
    table = json.loads(changed.read_bytes())
    table["tables"]["transfer"]["rows"][0]["cells"][0][0]["figure"] = "9,999"
    changed.write_text(json.dumps(table), encoding="utf-8")
    shutil.rmtree(perf / "3-removed")
    (new / SMALL.id).rename(perf / SMALL.id)
    commit(tmp_path)
    text = summary_since(tmp_path, "main")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    changed_report, new_report, removed = headings
    assert (changed_report, removed) == ("## 2-changed", "## 3-removed")
    assert "9,999" in text.partition(new_report)[0]
    assert "| picture |" in text.partition(new_report)[2]
    assert "is removed" in text.partition(removed)[2]

    with pytest.raises(UserError, match="no-such-branch"):
        summary_since(tmp_path, "no-such-branch")
