"""Tables of a report: which parts stand side by side in one table."""

from __future__ import annotations

import json
from typing import Any

import pytest

from project import EXAMPLE
from tlsperf.contract.results import Results, Table
from tlsperf.load.shortcodes import shortcodes
from tlsperf.publish.page_json import page_json
from tlsperf.publish.side_by_side import rows_of, side_by_side


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


def other_part(results: Results, **changes: Any) -> Results:
    """The same figures as those of another part."""
    return results.model_copy(update={"id": "2026-01-02-other", **changes})


def elsewhere(results: Results, name: str = "Elsewhere", **changes: Any) -> Results:
    """The same figures as those of a part on another host."""
    [host] = results.hosts
    hosts = [host.model_copy(update={"id": "elsewhere", "name": name})]
    return other_part(results, hosts=hosts, **changes)


def with_baseline(results: Results, baseline: str | None) -> list[Table]:
    return [table.model_copy(update={"baseline": baseline}) for table in results.tables]


def test_a_host_whose_ratios_are_to_another_library_is_named_below_the_table(
    results: Results,
) -> None:
    table = next(t for t in results.tables if t.baseline)
    rustls = next(i for i in results.implementations if i.library == "rustls")
    other = elsewhere(results, tables=with_baseline(results, rustls.id))
    made = side_by_side([results, other], table.anchor)
    assert "Elsewhere" not in made["hosts"]
    [note] = [note for note in made["notes"] if "Elsewhere" in note]
    assert rustls.label in note
    assert "results.csv" in note
    assert "Elsewhere" in side_by_side([results, elsewhere(results)], table.anchor)["hosts"]


def test_tables_without_ratios_stand_side_by_side_whatever_the_baselines_of_their_parts(
    results: Results,
) -> None:
    plain = results.model_copy(update={"tables": with_baseline(results, None)})
    other = elsewhere(plain, baseline=None)
    made = side_by_side([plain, other], results.tables[0].anchor)
    assert made["hosts"][1] == "Elsewhere"


def test_two_hosts_of_one_name_are_two_columns_with_names_of_their_own(results: Results) -> None:
    [host] = results.hosts
    other = elsewhere(results, name=host.name or host.cpu)
    made = side_by_side([results, other], results.tables[0].anchor)
    assert len(set(made["hosts"])) == 2
    assert "elsewhere" in made["hosts"][1]


def test_a_table_of_a_part_begins_with_this_part(results: Results) -> None:
    anchor = results.tables[0].anchor
    other = elsewhere(results, tables=with_baseline(results, None))
    call = f'{{{{ table(id="{anchor}") }}}}\n\n{{{{ table(id="{anchor}", part="{other.id}") }}}}'
    page = json.loads(page_json([results, other], (), shortcodes(call, "index.md", 1)))
    first, second = page["tables"].values()
    assert "Elsewhere" not in first["hosts"]
    assert not any("Also measured" in note for note in [*first["notes"], *second["notes"]])
    assert second["hosts"] == ["Elsewhere"]
    assert first["anchor"] != second["anchor"]


def test_a_table_may_have_only_rows_with_some_words(results: Results) -> None:
    table = results.tables[0]
    words = table.rows[0].anchor
    call = f'{{{{ table(id="{table.anchor}", rows="{words}") }}}}\n{{{{ table(id="{table.anchor}") }}}}'
    page = json.loads(page_json([results], (), shortcodes(call, "index.md", 1)))
    few, every = page["tables"].values()
    assert [row["anchor"] for row in rows_of({"": few})] == [words]
    assert len(list(rows_of({"": every}))) == len(table.rows)
    assert few["anchor"] != every["anchor"]


def test_an_implementation_without_figures_is_named_below_the_table(results: Results) -> None:
    table = results.tables[0]
    absent = table.implementations[-1]
    rows = [
        row.model_copy(
            update={
                "cells": [
                    cell.model_copy(update={"value": None, "ratio": None, "note": "it cannot"})
                    if cell.implementation == absent
                    else cell
                    for cell in row.cells
                ]
            }
        )
        for row in table.rows
    ]
    part = results.model_copy(update={"tables": [table.model_copy(update={"rows": rows})]})
    made = side_by_side([part], table.anchor)
    label = next(i.label for i in results.implementations if i.id == absent)
    assert f"{label}: it cannot." in made["notes"]
    assert label not in [head["label"] for head in made["heads"]]
