"""Caveats are well-formed and on the pages of their reports."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from project import PUBLISHED
from reports import report, reports
from tlsperf.contract.errors import FormatError
from tlsperf.load.notes import read_caveats


@pytest.mark.any_site
def test_every_caveat_is_on_the_pages_of_its_runs(root: Path) -> None:
    notes = read_caveats(root / "data" / "notes.toml")
    assert notes
    for note in notes:
        for run in note.runs:
            pages = [page for page, of, _ in reports(root) if run in {it.id for it in of.runs}]
            assert pages, f"{note.id}: run {run} is in no report"
            for page in pages:
                results = next(of for at, of, _ in reports(root) if at is page)
                assert note.id in {shown.id for shown in results.notes}, page.path
                # What is withdrawn is named at the top, without a shortcode.
                if note.withdraws:
                    assert "withdrawn" in {it.code for it in results.warnings}, page.path
                else:
                    assert "notes" in {call.name for call in page.calls}, page.path


def test_errors_of_the_source_come_first_and_name_the_affected_rows(project: Path) -> None:
    given = read_caveats(project / "data" / "notes.toml")
    assert [note.kind for note in given] == ["tool", "page"]
    results = report(project, PUBLISHED).results
    of_the_page, of_the_tool = results.notes
    assert (of_the_page.kind, of_the_tool.kind) == ("page", "tool")
    (transfers,) = [table for table in results.tables if table.anchor == "transfer"]
    assert [row.anchor for row in of_the_page.rows] == [row.anchor for row in transfers.rows]


NOTE = '[[note]]\nid = "a"\nkind = "tool"\ntitle = "t"\ntext = "x"\nruns = ["r"]\n'
SOURCE = 'sources = [{ title = "s", url = "https://example.org" }]\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (NOTE, "note 'a': sources"),
        (NOTE + SOURCE + NOTE + SOURCE, "note 'a' twice"),
        (NOTE + SOURCE + 'scenarios = [{ colour = "red" }]\n', "note 'a': colour"),
        (NOTE.replace("tool", "gossip") + SOURCE, "note 'a': kind"),
        (NOTE.replace('runs = ["r"]', "withdraws = true") + SOURCE, "note 'a': withdraws"),
        ("[notes]\n", "notes"),
    ],
)
def test_an_invalid_caveat_is_an_error_that_names_it(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "notes.toml"
    path.write_text(text)
    with pytest.raises(FormatError, match=re.escape(found)):
        read_caveats(path)
