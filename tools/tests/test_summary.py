"""The summary for reviewers has the report's content and changes, with mark-up escaped."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Change, ChangeGroup, Changes, LibraryChanges, Ratio, Results
from tlsperf.contract.run import RunWarning
from tlsperf.publish.summary import MOST_ROWS, comparison, introduction, summary_since

EXAMPLE = Path(__file__).parents[2] / "data" / "schema" / "results.example.json"


@pytest.fixture
def results() -> Results:
    return Results.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


def edited(results: Results, edit: Callable[[dict[str, Any]], None]) -> Results:
    table = json.loads(results.model_dump_json(by_alias=True))
    edit(table)
    return Results.model_validate_json(json.dumps(table))


def test_a_new_report_is_shown_by_its_headlines_changes_and_warnings(results: Results) -> None:
    ratio = Ratio(
        value=1.1, low=1.05, high=1.15, verdict="faster", text="1.10x faster (1.05 to 1.15)"
    )
    one, two = results.implementations[:2]
    change = Change(
        anchor="a", name="transfer", unit="MiB/s", before="100", after="110", ratio=ratio
    )
    changes = Changes(
        predecessor="2026-10-01-last",
        title="The last one",
        date=date(2026, 10, 1),
        caveats=[RunWarning(code="host", message="Another kernel.")],
        rule="Corrected for 32 comparisons.",
        libraries=[
            LibraryChanges(
                before=one,
                after=two,
                statement="OpenSSL 1 to 2: 1 faster",
                compared=1,
                unchanged=0,
                groups=[ChangeGroup(title="transfer", statement="1.10x faster", changes=[change])],
            )
        ],
    )
    warning = RunWarning(code="virtual-machine", message="Measured in a virtual machine.")
    text = introduction(results.model_copy(update={"changes": changes, "warnings": [warning]}))
    for headline in results.headlines:
        assert headline.statement in text
        for bar in headline.bars:
            assert f"{bar.label}: {bar.text}" in text
    assert "### Changes since The last one (2026-10-01)" in text
    assert "- Caveat: Another kernel." in text
    assert "    - transfer: 100 to 110 MiB/s, 1.10x faster (1.05 to 1.15)" in text
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
                other["ratio"] |= {"value": 5.0, "low": None, "high": None, "text": "5.00x"}

    text = comparison(results, edited(results, edit))
    (line,) = [line for line in text.splitlines() if line.startswith(f"| {row.name}")]
    cells = [part.strip() for part in line.strip("|").split(" | ")]
    assert cells[2].startswith(cell.text)
    assert cells[3:] == ["1,234 (1,200 to 1,300)", "MiB/s", cell.ratio.text, "5.00x"]


def test_a_figure_that_appears_or_disappears_is_listed(results: Results) -> None:
    def edit(table: dict[str, Any]) -> None:
        del table["tables"][0]["rows"][0]

    less = edited(results, edit)
    cells = len(results.tables[0].rows[0].cells)
    assert comparison(results, less).count("not there") == cells
    assert comparison(less, results).count("not there") == cells


def test_equal_figures_are_reported_as_equal(results: Results) -> None:
    assert "did not change" in comparison(results, results)


def test_a_long_comparison_is_cut_and_states_that(results: Results) -> None:
    def edit(table: dict[str, Any]) -> None:
        for t in table["tables"]:
            t["rows"] = [{**r, "anchor": f"{r['anchor']}-{n}"} for r in t["rows"] for n in range(9)]

    many = edited(results, edit)
    none = results.model_copy(update={"tables": []})
    total = sum(len(row.cells) for table in many.tables for row in table.rows)
    text = comparison(none, many)
    assert text.count("not there") == MOST_ROWS
    assert f"… and {total - MOST_ROWS} more" in text


def test_data_is_not_markup(results: Results) -> None:
    title = "a | b\n<img src=x> [l](u) `c` *d*"
    text = introduction(results.model_copy(update={"title": title}))
    assert text.splitlines()[0] == r"## a \| b \<img src=x\> \[l\](u) \`c\` \*d\*"


def test_the_reports_that_changed_since_a_commit(results: Results, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *identity, *arguments], cwd=tmp_path, check=True)

    def write(name: str, text: str) -> None:
        path = tmp_path / "content" / "perf" / name / "results.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def as_json(title: str) -> str:
        return results.model_copy(update={"title": title}).model_dump_json(by_alias=True)

    git("init", "--quiet", "--initial-branch=main")
    for name in ("1-same", "2-changed", "3-removed"):
        write(name, as_json(name))
    write("4-old-schema", "{}")
    git("add", "--all")
    git("commit", "--quiet", "--message=one")
    git("branch", "topic")
    write("0-later-on-main", as_json("later"))
    git("add", "--all")
    git("commit", "--quiet", "--message=two")
    git("switch", "--quiet", "topic")
    assert summary_since(tmp_path, "main").startswith("No figure ")

    def change(table: dict[str, Any]) -> None:
        cell = table["tables"][0]["rows"][0]["cells"][0]
        cell |= {"value": 9999.0, "text": "9,999"}

    changed = edited(results, change).model_copy(update={"title": "2-changed"})
    write("2-changed", changed.model_dump_json(by_alias=True))
    (tmp_path / "content" / "perf" / "3-removed" / "results.json").unlink()
    write("4-old-schema", as_json("4-old-schema"))
    write("5-new", as_json("5-new"))
    git("add", "--all")
    git("commit", "--quiet", "--message=three")
    text = summary_since(tmp_path, "main")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert headings == ["## 2-changed", "## 3-removed", "## 4-old-schema", "## 5-new"]
    assert "9,999" in text
    assert "is removed" in text

    with pytest.raises(UserError, match="no-such-branch"):
        summary_since(tmp_path, "no-such-branch")
