"""page.json: the data of a report in the arrangement of its page."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from fixture_run import EXAMPLE
from project import PUBLISHED
from synthetic import TRANSFERS
from test_layouts import IDS, TURNS, run_of, working_sets
from test_layouts import results_of as layouts_of
from tlsperf.contract.results import HarnessShare, Noise, NoiseRow, Results, Table
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
                said = f"ratio {interval.removesuffix(')')}" if bracket else ""
                assert made.get("intervals", "").endswith(said)
            assert made.get("intervals", "").startswith(cell.interval or "")


def test_tables_are_those_that_shortcodes_name_or_all_but_those_by_phase(results: Results) -> None:
    by_phase = [table.anchor for table in results.tables if table.by_phase]
    assert by_phase
    assert not set(by_phase) & set(page(results)["tables"])
    calls = shortcodes(f'{{{{ table(id="{by_phase[0]}") }}}}', "index.md")
    assert list(json.loads(page_json(results, calls=calls))["tables"]) == [by_phase[0]]


def test_a_note_that_all_ratios_share_is_printed_once(results: Results) -> None:
    def noted(*notes: str) -> dict[str, Any]:
        table = results.tables[0].model_dump(mode="json", exclude_none=True)
        ratios = [c["ratio"] for row in table["rows"] for c in row["cells"] if "ratio" in c]
        for number, ratio in enumerate(ratios):
            ratio["note"] = notes[number % len(notes)]
        shown = page(results, tables=[Table.model_validate(table)])["tables"]
        return dict(shown[table["anchor"]])

    alike = noted("of single figures")
    assert alike["ratio_note"] == "of single figures"
    assert "of single figures" not in json.dumps(alike["sets"])
    mixed = noted("one", "another")
    assert "ratio_note" not in mixed
    ratios = [c["ratio"] for row in mixed["sets"][0]["rows"] for c in row["cells"] if "ratio" in c]
    assert {ratio.rpartition(" ")[2] for ratio in ratios} == {"(one)", "(another)"}


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


def test_a_warning_of_all_figures_of_an_implementation_is_one_of_the_table(
    results: Results,
) -> None:
    first = results.tables[0]
    chosen = first.rows[0].cells[0].implementation
    label = next(i.label for i in results.implementations if i.id == chosen)

    def warned(count: int) -> dict[str, Any]:
        rows = [
            row.model_copy(
                update={
                    "cells": [
                        cell.model_copy(update={"warnings": ["1 round counts"]})
                        if cell.implementation == chosen and number < count
                        else cell
                        for cell in row.cells
                    ]
                }
            )
            for number, row in enumerate(first.rows)
        ]
        tables = [
            first.model_copy(update={"anchor": anchor, "rows": rows}) for anchor in ("one", "two")
        ]
        return dict(page(results, tables=tables)["tables"])

    whole = warned(len(first.rows))
    assert f"{label}: 1 round counts." in whole["one"]["warnings"]
    assert f"{label}: 1 round counts." not in whole["two"]["warnings"]
    assert "1 round counts" not in json.dumps(whole["one"]["sets"])
    some = warned(1)
    assert f"{label}: 1 round counts." not in some["one"]["warnings"]
    assert "1 round counts" in json.dumps(some["one"]["sets"])


def test_more_implementations_than_rows_are_a_line_each(results: Results) -> None:
    first = results.implementations[0]
    builds = [first.model_copy(update={"id": f"rustls-{n}", "label": f"{n}"}) for n in range(6)]
    row = results.tables[0].rows[0]
    cell = next(cell for cell in row.cells if cell.ratio is None and cell.value is not None)
    cells = [cell.model_copy(update={"implementation": build.id}) for build in builds]
    table = results.tables[0].model_copy(
        update={
            "implementations": [build.id for build in builds],
            "rows": [row.model_copy(update={"cells": cells})],
            "baseline": "rustls-2",
        }
    )
    shown = page(results, implementations=[*results.implementations, *builds], tables=[table])
    made = shown["tables"][table.anchor]
    assert (made["many"], made["wide"]) == (True, True)
    (block,) = made["blocks"]
    assert block["rows"] == [
        {"anchor": row.anchor, "name": row.name, "short": short_names(table)[0]}
    ]
    assert [len(line["cells"]) for line in block["lines"]] == [1] * 6
    assert [line["label"] for line in block["lines"] if line.get("baseline")] == ["2"]
    assert "label" not in block["lines"][0]["cells"][0]


def test_turned_tables_have_no_more_columns_than_a_page_has_room_for(results: Results) -> None:
    first, scenario = results.implementations[0], results.tables[0].rows[0]
    builds = [first.model_copy(update={"id": f"rustls-{n}"}) for n in range(14)]
    cell = next(cell for cell in scenario.cells if cell.ratio is None and cell.value is not None)
    cells = [cell.model_copy(update={"implementation": build.id}) for build in builds]
    rows = [scenario.model_copy(update={"anchor": f"row-{n}", "cells": cells}) for n in range(12)]
    table = results.tables[0].model_copy(
        update={
            "implementations": [build.id for build in builds],
            "rows": rows,
            "baseline": builds[0].id,
        }
    )
    shown = page(results, implementations=[*results.implementations, *builds], tables=[table])
    blocks = shown["tables"][table.anchor]["blocks"]
    assert [row["anchor"] for block in blocks for row in block["rows"]] == [r.anchor for r in rows]
    assert [len(block["rows"]) for block in blocks] == [6, 6]
    assert [[len(line["cells"]) for line in block["lines"]] for block in blocks] == [[6] * 14] * 2


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
    assert noise(3, "other sessions")["left_out"]
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


def test_a_figure_has_its_exact_value_only_where_others_published_it(results: Results) -> None:
    cell = next(c for row in results.tables[0].rows for c in row.cells if c.value is not None)
    source = Source(title="Elsewhere", url="https://example.org/")
    for low, published in ((None, True), (None, False), (1.0, True)):
        single = cell.model_copy(update={"low": low})
        row = results.tables[0].rows[0].model_copy(update={"cells": [single]})
        table = results.tables[0].model_copy(
            update={"rows": [row], "implementations": [cell.implementation]}
        )
        runs = [
            run.model_copy(update={"source": source if published else None}) for run in results.runs
        ]
        [line] = page(results, tables=[table], runs=runs)["tables"][table.anchor]["sets"][0]["rows"]
        [made] = line["cells"]
        assert made["figure"] == cell.text
        assert made.get("value") == (cell.value if published and low is None else None)


def test_a_range_of_one_number_is_left_out_and_equal_counts_are_called_equal(
    results: Results,
) -> None:
    cells = [c for row in results.tables[0].rows for c in row.cells]
    cell = next(c for c in cells if c.ratio and c.interval and " (" in c.ratio.text)
    assert cell.ratio
    shown = cell.ratio.text.partition(" (")[0]
    for (low, high), text in (((2.0, 2.0), shown), ((1.0, 1.0), "equal"), ((1.0, 1.5), shown)):
        ratio = cell.ratio.model_copy(update={"low": low, "high": high})
        made_of = cell.model_copy(update={"low": low, "high": high, "ratio": ratio})
        row = results.tables[0].rows[0].model_copy(update={"cells": [made_of]})
        table = results.tables[0].model_copy(
            update={"rows": [row], "implementations": [cell.implementation]}
        )
        [line] = page(results, tables=[table])["tables"][table.anchor]["sets"][0]["rows"]
        [made] = line["cells"]
        assert made["ratio"].startswith(text)
        assert ("intervals" in made) == (low != high)


def test_a_note_of_several_cells_is_printed_once_and_marked_in_each(results: Results) -> None:
    table = results.tables[0]
    cells = [cell for row in table.rows for cell in row.cells if cell.valid]

    def shown(count: int) -> dict[str, Any]:
        noted = {id(cell) for cell in cells[:count]}
        rows = [
            row.model_copy(
                update={
                    "cells": [
                        cell.model_copy(update={"note": "why" if id(cell) in noted else None})
                        for cell in row.cells
                    ]
                }
            )
            for row in table.rows
        ]
        made = page(results, tables=[table.model_copy(update={"rows": rows})])
        return dict(made["tables"][table.anchor])

    few, many = shown(2), shown(3)
    assert json.dumps(few["sets"]).count('"why"') == 2
    assert "* why." not in few["warnings"]
    assert json.dumps(many["sets"]).count('"note": "*"') == 3
    assert many["warnings"][-1] == "* why."


def test_facts_that_all_builds_share_are_printed_once(results: Results) -> None:
    first = results.implementations[0]
    builds = [
        first.model_copy(
            update={"id": f"build-{n}", "library": "rustls", "linkage": "static", "flags": flags}
        )
        for n, flags in enumerate(("-O2", "-O2", "-O3"))
    ]
    builds[2] = builds[2].model_copy(update={"library": "openssl"})
    made = page(
        results, implementations=builds, tables=[], noise=[], efficiency=[], means=[], headlines=[]
    )
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


def test_words_that_all_columns_begin_with_are_in_the_caption(results: Results) -> None:
    [table] = [table for table in results.tables if table.anchor == "full-handshakes"]
    first, rows = results.implementations[0], table.rows[:2]
    builds = [first.model_copy(update={"id": f"rustls-{n}"}) for n in range(6)]
    cells = [rows[0].cells[0].model_copy(update={"implementation": b.id}) for b in builds]
    turned = table.model_copy(
        update={
            "implementations": [build.id for build in builds],
            "rows": [row.model_copy(update={"cells": cells}) for row in rows],
            "baseline": None,
        }
    )
    shown = page(results, implementations=[*results.implementations, *builds], tables=[turned])
    made = shown["tables"][table.anchor]
    assert [row["short"] for block in made["blocks"] for row in block["rows"]] == [
        *("client", "server"),
    ]
    common = short_names(turned)[0].removesuffix(", client")
    assert common in made["caption"].removeprefix(table.caption)


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
