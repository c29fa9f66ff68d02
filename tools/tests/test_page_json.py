"""page.json: the data of a report in the arrangement of its page."""

from __future__ import annotations

import csv
import io
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from project import EXAMPLE, PUBLISHED
from synthetic import TRANSFERS
from test_layouts import IDS, TURNS, run_of, working_sets
from test_layouts import results_of as layouts_of
from tlsperf.contract.results import Cell, HarnessShare, Noise, NoiseRow, Results, Table
from tlsperf.contract.run import RunWarning, Source
from tlsperf.load.notes import known_notes
from tlsperf.load.shortcodes import shortcodes
from tlsperf.publish.exports import layouts_csv
from tlsperf.publish.page_json import MOST_FILES, MOST_NOISE, MOST_SHARES, page_json
from tlsperf.report.charts.panels import short_names


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


def page(results: Results, **changes: Any) -> dict[str, Any]:
    table: dict[str, Any] = json.loads(page_json(results.model_copy(update=changes)))
    return table


def with_cells(table: Table, change: Callable[[Cell, int], dict[str, Any]]) -> Table:
    """The table with fields of each cell changed; `change` gets the cell and the place of its row."""
    rows = [
        row.model_copy(
            update={"cells": [cell.model_copy(update=change(cell, at)) for cell in row.cells]}
        )
        for at, row in enumerate(table.rows)
    ]
    return table.model_copy(update={"rows": rows})


def shown_cell(results: Results, cell: Cell, **changes: Any) -> dict[str, Any]:
    """What a page shows of a table of one cell."""
    row = results.tables[0].rows[0].model_copy(update={"cells": [cell]})
    update = {"rows": [row], "implementations": [cell.implementation]}
    table = results.tables[0].model_copy(update=update)
    [line] = page(results, tables=[table], **changes)["tables"][table.anchor]["sets"][0]["rows"]
    [made] = line["cells"]
    return dict(made)


def shown_builds(results: Results, table: Table, builds: int) -> dict[str, Any]:
    """What a page shows of a table of so many builds, the third of which is its baseline."""
    first = results.implementations[0]
    made = [first.model_copy(update={"id": f"rustls-{n}", "label": f"{n}"}) for n in range(builds)]
    rows = [
        row.model_copy(
            update={
                "cells": [row.cells[0].model_copy(update={"implementation": b.id}) for b in made]
            }
        )
        for row in table.rows
    ]
    update = {"implementations": [b.id for b in made], "rows": rows, "baseline": "rustls-2"}
    shown = page(
        results,
        implementations=[*results.implementations, *made],
        tables=[table.model_copy(update=update)],
    )
    return dict(shown["tables"][table.anchor])


def test_a_cell_has_its_texts_and_the_label_of_its_implementation(results: Results) -> None:
    table = results.tables[0]
    shown = page(results)["tables"][table.anchor]
    labels = {i.id: i.label for i in results.implementations}
    assert [head["label"] for head in shown["heads"]] == [labels[i] for i in table.implementations]
    for row, cells in zip(table.rows, shown["sets"][0]["rows"], strict=True):
        assert (cells["anchor"], cells["name"]) == (row.anchor, row.name)
        for cell, made in zip(row.cells, cells["cells"], strict=True):
            text = made["text" if cell.value is None else "figure"]
            assert (text, made["label"]) == (cell.text, labels[cell.implementation])
            assert made.get("invalid", False) is not cell.valid
            mark = "best" if cell.best else "tied" if cell.tied else None
            assert made.get("mark") == (mark if cell.valid else None)
            if cell.ratio:
                assert cell.ratio.text.startswith(made["ratio"].partition(" (")[0])
                _, bracket, interval = cell.ratio.text.partition(" (")
                same = cell.ratio.verdict == "no difference shown"
                assert not same or cell.ratio.text == made["ratio"], "with the size that would show"
                said = f"ratio {interval.removesuffix(')')}" if bracket and not same else ""
                assert made.get("intervals", "").endswith(said)
            assert made.get("intervals", "").startswith(cell.interval or "")


def test_tables_are_those_that_shortcodes_name_or_all_but_those_by_phase(results: Results) -> None:
    by_phase = [table.anchor for table in results.tables if table.by_phase]
    assert by_phase
    assert not set(by_phase) & set(page(results)["tables"])
    calls = shortcodes(f'{{{{ table(id="{by_phase[0]}") }}}}', "index.md")
    assert list(json.loads(page_json(results, calls=calls))["tables"]) == [by_phase[0]]


def test_a_sentence_of_several_tables_is_at_the_first_one(results: Results) -> None:
    first = results.tables[0]
    tables = [
        first.model_copy(update={"anchor": anchor, "title": anchor, "interval_note": note})
        for anchor, note in (("one", "Alike."), ("two", "Alike."), ("three", "Another."))
    ]
    calls = shortcodes(
        '{{ table(id="two") }} {{ table(id="one") }} {{ table(id="three") }}', "index.md"
    )
    made = json.loads(page_json(results.model_copy(update={"tables": tables}), calls=calls))
    shown = made["tables"]
    assert shown["two"]["interval_note"] == "Alike."
    assert shown["one"]["intervals_of"] == {"anchor": "two", "title": "two"}
    assert "interval_note" not in shown["one"]
    assert shown["three"]["interval_note"] == "Another."
    assert "intervals_of" not in shown["three"]


def test_messages_are_grouped_by_weight_and_each_is_printed_once(results: Results) -> None:
    known = [
        RunWarning(code="too-few-rounds", message="Few."),
        RunWarning(code="container", message="Boxed."),
        RunWarning(code="too-few-rounds", message="Few."),
    ]
    runs = [run.model_copy(update={"warnings": [known[0]]}) for run in results.runs]
    said = page(results, warnings=known, runs=runs)["said"]
    assert said == {"figures": ["Few."], "host": ["Boxed."]}


def test_a_noise_floor_of_many_rows_is_left_out(results: Results) -> None:
    cell = next(c for row in results.tables[0].rows for c in row.cells if c.ratio)
    assert cell.ratio is not None

    def noise(count: int, source: Any = "same binary twice") -> dict[str, Any]:
        ids = [i.id for i in results.implementations]
        rows = [
            NoiseRow(
                anchor=f"row-{number // len(ids)}",
                name="a row",
                implementation=ids[number % len(ids)],
                ratio=cell.ratio,
            )
            for number in range(count)
        ]
        made = Noise(source=source, run="run", comparisons=count, statement="Within 1%.", rows=rows)
        [shown] = page(results, noise=[made])["noise"]
        assert shown["statement"] == "Within 1%."
        return dict(shown)

    few = noise(len(results.implementations) + 1)
    assert [row["anchor"] for row in few["rows"]] == ["row-0", "row-1"]
    assert all(cell.ratio.text in text for text in few["rows"][0]["texts"])
    assert [bool(text) for text in few["rows"][1]["texts"]].count(True) == 1
    assert noise(MOST_NOISE + 1)["left_out"]
    assert noise(3, "another layout")["left_out"]
    assert "left_out" not in noise(MOST_NOISE)


def test_a_note_has_its_text_and_sources(project: Path) -> None:
    folder = project / "content" / "perf" / PUBLISHED
    notes = json.loads((folder / "page.json").read_bytes())["notes"]
    known = {note.id: note for note in known_notes(project / "data")}
    assert {note["id"] for note in notes} == set(known)
    for note in notes:
        of = known[note["id"]]
        assert (note["title"], note["text"]) == (of.title, of.text)
        assert [source["url"] for source in note["sources"]] == [s.url for s in of.sources]


def test_many_raw_files_are_counted_and_not_listed(results: Results) -> None:
    run = results.runs[0]
    for count in (MOST_FILES, MOST_FILES + 1):
        runs = [run.model_copy(update={"files": [run.files[0]] * count})]
        [shown] = page(results, runs=runs)["runs"]
        assert (shown["count"], len(shown["files"])) == (
            count,
            count if count <= MOST_FILES else 0,
        )


def test_facts_that_all_builds_share_are_printed_once(results: Results) -> None:
    first = results.implementations[0]
    builds = [
        first.model_copy(
            update={"id": f"build-{n}", "library": "rustls", "linkage": "static", "flags": flags}
        )
        for n, flags in enumerate(("-O2", "-O2", "-O3"))
    ]
    builds[2] = builds[2].model_copy(update={"library": "openssl"})
    made = page(results, implementations=builds, tables=[], noise=[], headlines=[])
    titles = {of["title"]: of["facts"] for of in made["shared"]}
    assert titles["All builds"]["linkage"] == "static"
    assert titles["All of rustls"]["flags"] == "-O2"
    assert "All of OpenSSL" not in titles
    own = [(i.get("linkage"), i.get("flags")) for i in made["implementations"]]
    assert own == [(None, None), (None, None), (None, "-O3")]


def test_working_sets_of_a_scenario_are_below_its_name() -> None:
    sizes = [16384 << n for n in range(7)]
    made = working_sets(sizes, TRANSFERS[:2])
    first = made.tables[0]
    shares = [
        HarnessShare(
            anchor=row.anchor,
            name=row.name,
            implementation=cell.implementation,
            clock_percent=0.1,
            calls_percent=0.1,
            copies_percent=1,
            text="1.0 + 0.1 + 0.1",
        )
        for row in first.rows
        for cell in row.cells
    ]
    for count, listed in ((MOST_SHARES, True), (MOST_SHARES + 1, False)):
        update = {"harness": shares[:count], "harness_statement": "The harness takes 1.2%."}
        table = page(made, tables=[first.model_copy(update=update)])["tables"]["transfer"]
        assert ("shares" in table) is listed
        assert table["harness"] == "The harness takes 1.2%."
    assert ["sending" in of["name"] for of in table["sets"]] == [True, False]
    for of in table["sets"]:
        assert [row["short"] for row in of["rows"]][::3] == [
            *("16 KiB in flight", "128 KiB in flight", "1 MiB in flight"),
        ]
    anchors = [row["anchor"] for of in table["sets"] for row in of["rows"]]
    assert sorted(anchors) == sorted(row.anchor for row in first.rows)


def test_layouts_are_shown_over_all_rows_and_row_by_row_in_a_file() -> None:
    kinds = ("shifted", "shuffled", "shared")
    runs = [
        run_of(TURNS, kind, f"2026-11-22-{id_}", ids=ids)
        for kind, id_, ids in zip(kinds, "abc", (IDS, IDS, IDS[:1]), strict=True)
    ]
    results = layouts_of(*runs)
    first = results.tables[0]
    effects = list(first.layouts or ())
    other = {"anchor": "another-row", "percents": [-20.0, 5.0], "beyond": 1}
    effects += [effect.model_copy(update=other) for effect in effects]
    results = results.model_copy(
        update={"tables": [first.model_copy(update={"layouts": effects})]},
    )
    lines = list(csv.DictReader(io.StringIO(layouts_csv(results))))
    assert [(line["anchor"], line["kind"], float(line["highest_percent"])) for line in lines] == [
        (e.anchor, e.kind, max(e.percents)) for e in effects
    ]
    shown = page(results)["tables"][first.anchor]["layouts"]
    assert shown["kinds"] == [*kinds]
    every, without = (line["cells"] for line in shown["lines"])
    assert every == [{"text": "−20.0 to +5.0%", "beyond": 3, "count": 4}] * 3
    assert without == [*every[:2], {}]


def test_results_without_layouts_have_no_file_of_them(results: Results) -> None:
    assert layouts_csv(results) == ""


def noted(results: Results, *notes: str) -> dict[str, Any]:
    """What a page shows of a table whose ratios have these notes in turn."""
    turn = itertools.cycle(notes)

    def change(cell: Cell, _: int) -> dict[str, Any]:
        return {"ratio": cell.ratio and cell.ratio.model_copy(update={"note": next(turn)})}

    table = with_cells(results.tables[0], change)
    return dict(page(results, tables=[table])["tables"][table.anchor])


def test_a_note_that_all_ratios_share_is_printed_once(results: Results) -> None:
    alike, mixed = noted(results, "of single figures"), noted(results, "one", "another")
    assert alike["ratio_note"] == "of single figures"
    assert "of single figures" not in json.dumps(alike["sets"])
    assert "ratio_note" not in mixed
    ratios = [c["ratio"] for row in mixed["sets"][0]["rows"] for c in row["cells"] if "ratio" in c]
    assert {ratio.rpartition(" ")[2] for ratio in ratios} == {"(one)", "(another)"}


@pytest.mark.parametrize("whole", [True, False])
def test_a_warning_of_all_figures_of_an_implementation_is_one_of_the_table(
    results: Results, whole: bool
) -> None:
    first = results.tables[0]
    chosen = first.rows[0].cells[0].implementation
    label = next(i.label for i in results.implementations if i.id == chosen)

    def change(cell: Cell, at: int) -> dict[str, Any]:
        warned = cell.implementation == chosen and (whole or at == 0)
        return {"warnings": ["1 round counts"]} if warned else {}

    tables = [
        with_cells(first, change).model_copy(update={"anchor": anchor}) for anchor in ("one", "two")
    ]
    shown = page(results, tables=tables)["tables"]
    once = f"{label}: 1 round counts."
    assert (once in shown["one"]["warnings"]) is whole
    assert ("1 round counts" in json.dumps(shown["one"]["sets"])) is not whole
    assert once not in shown["two"]["warnings"]


@pytest.mark.parametrize(("many", "marks"), [(2, 0), (3, 3)])
def test_a_note_of_several_cells_is_printed_once_and_marked_in_each(
    results: Results, many: int, marks: int
) -> None:
    table = results.tables[0]
    noted = [id(cell) for row in table.rows for cell in row.cells if cell.valid][:many]
    changed = with_cells(table, lambda cell, _: {"note": "why" if id(cell) in noted else None})
    made = page(results, tables=[changed])["tables"][table.anchor]
    assert json.dumps(made["sets"]).count('"why"') == many - marks
    assert json.dumps(made["sets"]).count('"note": "*"') == marks
    assert ("* why." in made["warnings"]) is bool(marks)


def test_more_implementations_than_rows_are_a_line_each(results: Results) -> None:
    table = results.tables[0].model_copy(update={"rows": results.tables[0].rows[:1]})
    [row] = table.rows
    made = shown_builds(results, table, 6)
    assert (made["many"], made["wide"]) == (True, True)
    (block,) = made["blocks"]
    assert block["rows"] == [
        {"anchor": row.anchor, "name": row.name, "short": short_names(table)[0]}
    ]
    assert [len(line["cells"]) for line in block["lines"]] == [1] * 6
    assert [line["label"] for line in block["lines"] if line.get("baseline")] == ["2"]
    assert "label" not in block["lines"][0]["cells"][0]


def test_turned_tables_have_no_more_columns_than_a_page_has_room_for(results: Results) -> None:
    [row, *_] = results.tables[0].rows
    rows = [row.model_copy(update={"anchor": f"row-{n}"}) for n in range(12)]
    table = results.tables[0].model_copy(update={"rows": rows})
    blocks = shown_builds(results, table, 14)["blocks"]
    assert [row["anchor"] for block in blocks for row in block["rows"]] == [r.anchor for r in rows]
    assert [len(block["rows"]) for block in blocks] == [6, 6]
    assert [[len(line["cells"]) for line in block["lines"]] for block in blocks] == [[6] * 14] * 2


def test_words_that_all_columns_begin_with_are_in_the_caption(results: Results) -> None:
    [table] = [table for table in results.tables if table.anchor == "full-handshakes"]
    table = table.model_copy(update={"rows": table.rows[:2]})
    made = shown_builds(results, table, 6)
    assert [row["short"] for block in made["blocks"] for row in block["rows"]] == [
        *("client", "server"),
    ]
    common = short_names(table)[0].removesuffix(", client")
    assert common in made["caption"].removeprefix(table.caption)


@pytest.mark.parametrize(
    ("low", "published", "exact"), [(None, True, True), (None, False, False), (1.0, True, False)]
)
def test_a_figure_has_its_exact_value_only_where_others_published_it(
    results: Results, low: float | None, published: bool, exact: bool
) -> None:
    cell = results.tables[0].rows[0].cells[0].model_copy(update={"low": low})
    source = Source(title="Elsewhere", url="https://example.org/") if published else None
    runs = [run.model_copy(update={"source": source}) for run in results.runs]
    made = shown_cell(results, cell, runs=runs)
    assert made["figure"] == cell.text
    assert made.get("value") == (cell.value if exact else None)


@pytest.mark.parametrize(
    ("low", "high", "text"), [(2.0, 2.0, None), (1.0, 1.0, "equal"), (1.0, 1.5, None)]
)
def test_a_range_of_one_number_is_left_out_and_equal_counts_are_called_equal(
    results: Results, low: float, high: float, text: str | None
) -> None:
    cells = [c for row in results.tables[0].rows for c in row.cells]
    cell = next(c for c in cells if c.ratio and c.interval and " (" in c.ratio.text)
    assert cell.ratio
    span = {"low": low, "high": high}
    ratio = cell.ratio.model_copy(update=span)
    made = shown_cell(results, cell.model_copy(update={**span, "ratio": ratio}))
    assert made["ratio"].startswith(text or cell.ratio.text.partition(" (")[0])
    assert ("intervals" in made) == (low != high)
