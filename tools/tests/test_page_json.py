"""page.json: the data of a report in the arrangement of its page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from project import ARM, BESIDE, EXAMPLE, NEW, PUBLISHED
from reports import reports
from test_layouts import IDS, TURNS, run_of
from test_layouts import results_of as layouts_of
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import Caveat, Cell, Noise, NoiseRow, Ratio, Results, Table
from tlsperf.contract.run import RunWarning, Tool
from tlsperf.contract.text import host_label
from tlsperf.load.notes import known_notes
from tlsperf.load.shortcodes import shortcodes
from tlsperf.publish.exports import layouts_csv
from tlsperf.publish.page_json import MOST_FILES, MOST_NOISE, page_json
from tlsperf.publish.side_by_side import TURNED_COLUMNS, cell_texts, side_by_side
from tlsperf.report.notes import caveats_for


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.model_validate_json(EXAMPLE.read_text(encoding="utf-8"))


def page(*parts: Results, tables: str = "") -> dict[str, Any]:
    """What the page of these parts has, with these tables."""
    calls = "".join(f'{{{{ table(id="{anchor}") }}}}\n' for anchor in tables.split())
    found: dict[str, Any] = json.loads(page_json(parts, calls=shortcodes(calls, "index.md")))
    return found


def part(results: Results, **changes: Any) -> dict[str, Any]:
    """What a page says of one part."""
    [made] = page(results.model_copy(update=changes))["parts"]
    return dict(made)


def with_cells(table: Table, change: Callable[[Cell], dict[str, Any]]) -> Table:
    """The table with fields of each cell changed."""
    rows = [
        row.model_copy(update={"cells": [c.model_copy(update=change(c)) for c in row.cells]})
        for row in table.rows
    ]
    return table.model_copy(update={"rows": rows})


def elsewhere(results: Results, change: Callable[[Cell], dict[str, Any]]) -> Results:
    """Another part, of another host, with fields of each cell changed."""
    [host] = results.hosts
    other = host.model_copy(update={"id": "other", "name": "Elsewhere"})
    tables = [with_cells(table, change) for table in results.tables]
    return results.model_copy(update={"id": "other", "hosts": [other], "tables": tables})


def test_a_cell_has_the_ratio_and_the_figure_and_the_baseline_no_ratio(project: Path) -> None:
    seen = set()
    for of in reports(project):
        for table in of.results.tables:
            made = side_by_side([of.results], table.anchor)
            if "rows" not in made:
                continue
            of_baseline = [n for n, head in enumerate(made["heads"]) if head.get("baseline")]
            for row, line in zip(table.rows, made["rows"], strict=True):
                assert line["name"] == row.name
                figures = [c for c in row.cells if c.value is not None]
                shown = [c for [c] in line["cells"] if "figure" in c]
                assert [c["figure"] for c in shown] == [c.text for c in figures]
                marked = ["ratio" in c or "mark" in c for c in shown]
                assert marked == [c.ratio is not None for c in figures]
                assert all("ratio" not in line["cells"][n][0] for n in of_baseline)
                rates = not METRICS[row.metric].is_count
                assert all(c.get("large", False) is rates for c in shown if "ratio" in c)
                seen |= {c.get("mark") for c in shown}
    assert {"better", "worse", "same"} < seen


@pytest.mark.parametrize(
    ("verdict", "better", "value", "text", "shown"),
    [
        ("faster", "higher", 2.131, "2.13x faster (2.00 to 2.30)", ("2.13×", "better")),
        ("slower", "higher", 0.5, "2.00x slower (1.90 to 2.10)", ("0.50×", "worse")),
        ("faster", "lower", 4.0, "4.00x less (3.90 to 4.10)", ("4.00×", "better")),
        ("not tested", "higher", 12.34, "12.3x", ("12.3×", None)),
        (
            "no difference shown",
            "higher",
            1.0,
            "no difference shown (7% would show)",
            ("= 7%", "same"),
        ),
    ],
)
def test_a_ratio_above_1_is_better_whatever_is_measured(
    results: Results,
    verdict: Any,
    better: Any,
    value: float,
    text: str,
    shown: tuple[str, str | None],
) -> None:
    ratio = Ratio.model_construct(value=value, verdict=verdict, text=text)
    table = results.tables[0].model_copy(update={"better": better})
    [row, *_] = table.rows
    made = cell_texts(row, row.cells[0].model_copy(update={"ratio": ratio}), table)
    assert (made["ratio"], made.get("mark")) == shown


def test_a_figure_that_does_not_count_says_why(results: Results) -> None:
    table = results.tables[0]
    [row, *_] = table.rows
    cell = row.cells[0].model_copy(update={"valid": False, "note": "a reason"})
    made = cell_texts(row, cell, table)
    assert made["invalid"]
    assert "a reason" in made["note"]


def test_hosts_stand_side_by_side_and_one_without_a_figure_has_a_dash(results: Results) -> None:
    table = results.tables[0]
    absent = table.implementations[0]

    def change(cell: Cell) -> dict[str, Any]:
        without = {"value": None, "text": "–", "ratio": None, "low": None, "high": None}
        return without if cell.implementation == absent else {"text": f"{cell.text} there"}

    other = elsewhere(results, change)
    made = side_by_side([results, other], table.anchor)
    assert made["hosts"] == [host_label(results.hosts[0]), "Elsewhere"]
    for row, line in zip(table.rows, made["rows"], strict=True):
        for cell, (here, there) in zip(row.cells, line["cells"], strict=True):
            missing = "–" if cell.implementation == absent else f"{cell.text} there"
            assert (here.get("figure"), there.get("figure", "–")) == (cell.text, missing)


def test_of_two_parts_of_one_host_the_first_with_a_figure_stands(results: Results) -> None:
    anchor = results.tables[0].anchor
    again = results.model_copy(
        update={
            "id": "again",
            "tables": [with_cells(t, lambda c: {"text": "again"}) for t in results.tables],
        }
    )
    for order, shown in (((results, again), False), ((again, results), True)):
        made = side_by_side(order, anchor)
        assert len(made["hosts"]) == 1
        assert (json.dumps(made["rows"]).count('"again"') > 0) is shown


def test_a_page_has_the_tables_that_its_shortcodes_name(results: Results) -> None:
    anchors = [table.anchor for table in results.tables][:2]
    assert list(page(results, tables=" ".join(anchors[::-1]))["tables"]) == anchors[::-1]
    assert page(results)["tables"] == {}


def test_a_row_has_its_anchor_once_on_a_page(project: Path) -> None:
    for path in project.glob("content/perf/*/page.json"):
        shown = json.loads(path.read_bytes())
        rows = [
            row
            for table in shown["tables"].values()
            for block in table.get("blocks", [table])
            for row in block["rows"]
        ]
        own = [row["anchor"] for row in rows if not row.get("again")]
        assert len(own) == len(set(own))
        assert {*own} == {row["anchor"] for row in rows}


def test_a_sentence_of_all_tables_of_a_part_is_printed_once(results: Results) -> None:
    first = results.tables[0]
    tables = [
        first.model_copy(
            update={"anchor": of, "title": of, "caption": f"Alike. {own}", "interval_note": None}
        )
        for of, own in (("one", "Own."), ("two", "Own."), ("three", "Another."))
    ]
    of_part = results.model_copy(update={"tables": tables})
    shown = page(of_part, elsewhere(of_part, lambda _: {}), tables="one two three")
    assert [made["host"] for made in shown["made"]] == shown["hosts"]
    for made in shown["made"]:
        assert made["text"].startswith("Alike.")
        assert json.dumps(made).count("Alike.") == 1
        assert json.dumps(made).count("Own.") == 1
        [of_two, of_three] = made["tables"]
        assert of_two["of"] == "one; two"
        assert of_three["text"].startswith("Another.")


def test_messages_are_grouped_by_weight_and_each_is_printed_once(results: Results) -> None:
    known = [
        RunWarning(code="too-few-rounds", message="Few."),
        RunWarning(code="container", message="Boxed."),
        RunWarning(code="too-few-rounds", message="Few."),
    ]
    runs = [run.model_copy(update={"warnings": [known[0]]}) for run in results.runs]
    said = part(results, warnings=known, runs=runs)["said"]
    assert said == {"figures": ["Few."], "host": ["Boxed."]}


def test_a_host_and_a_build_of_two_parts_stand_once(project: Path) -> None:
    shown = json.loads((project / "content" / "perf" / BESIDE / "page.json").read_bytes())
    assert len(shown["parts"]) > 1
    for key in ("hosts", "implementations"):
        found = [json.dumps(facts) for of in shown["parts"] for facts in of[key]]
        assert len(found) == len(set(found)) > 0, key


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
        [shown] = part(results, noise=[made])["noise"]
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
        [shown] = part(results, runs=runs)["runs"]
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
    made = part(results, implementations=builds, tables=[], noise=[])
    titles = {of["title"]: dict(of["facts"]) for of in made["shared"]}
    assert titles["All builds"]["Linkage"] == "static"
    assert titles["All of rustls"]["Flags"] == "-O2"
    assert "All of OpenSSL" not in titles
    facts = [dict(of["facts"]) for of in made["implementations"]]
    own = [(of.get("Linkage"), of.get("Flags")) for of in facts]
    assert own == [(None, None), (None, None), (None, "-O3")]


def test_how_builds_were_made_stands_beside_the_first_table_of_runs_that_record_it(
    project: Path,
) -> None:
    new, old = (
        json.loads((project / "content" / "perf" / report / "page.json").read_bytes())
        for report in (ARM, NEW)
    )
    assert old["built"] is None
    built = new["built"]
    assert built["table"] == next(iter(new["tables"]))
    assert "3 deviations" in built["said"]
    facts = {of.get("title") or of["label"]: of["facts"] for of in built["builds"]}
    every = dict(facts.pop("All builds"))
    assert (every["Flags"], every["LTO"], every["Allocator"]) == ("-O3", "none", "system")
    assert every["Deviation"].startswith("linked statically")
    assert sorted(value for [[_, value]] in facts.values()) == [
        "--enable-boringssl",
        "--enable-openssl",
        "--enable-rustls",
    ]
    [part] = new["parts"]
    names = {name for of in [*part["shared"], *part["implementations"]] for name, _ in of["facts"]}
    assert "Version" in names or "Linkage" in names
    assert not names & {"Flags", "Configured with", "Deviation"}


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
    [shown] = page(results, tables=first.anchor)["tables"][first.anchor]["layouts"]
    assert shown["kinds"] == [*kinds]
    every, without = (line["cells"] for line in shown["lines"])
    assert every == [{"text": "−20.0 to +5.0%", "beyond": 3, "count": 4}] * 3
    assert without == [*every[:2], {}]


def test_results_without_layouts_have_no_file_of_them(results: Results) -> None:
    assert layouts_csv(results) == ""


def test_more_columns_than_a_page_has_room_for_are_turned(results: Results) -> None:
    [row, *_] = results.tables[0].rows
    [first, *_] = results.implementations
    builds = [first.model_copy(update={"id": f"rustls-{n}", "label": f"{n}"}) for n in range(16)]
    cells = [row.cells[0].model_copy(update={"implementation": build.id}) for build in builds]
    rows = [row.model_copy(update={"anchor": f"row-{n}", "cells": cells}) for n in range(12)]
    table = results.tables[0].model_copy(
        update={
            "implementations": [build.id for build in builds],
            "rows": rows,
            "baseline": "rustls-2",
        }
    )
    of = results.model_copy(
        update={"implementations": builds, "tables": [table], "baseline": "rustls-2"}
    )
    made = side_by_side([of], table.anchor)
    blocks = made["blocks"]
    assert [row["anchor"] for block in blocks for row in block["rows"]] == [r.anchor for r in rows]
    assert all(len(block["rows"]) <= TURNED_COLUMNS for block in blocks)
    for block in blocks:
        assert [line["label"] for line in block["lines"]] == [build.label for build in builds]
        assert {len(line["cells"]) for line in block["lines"]} == {len(block["rows"])}
    assert [line["label"] for line in blocks[0]["lines"] if line.get("baseline")] == ["2"]


def test_a_note_of_cells_is_printed_once_and_marked_in_each(results: Results) -> None:
    changed = with_cells(results.tables[0], lambda _: {"note": "why"})
    made = side_by_side([results.model_copy(update={"tables": [changed]})], changed.anchor)
    assert json.dumps(made).count("why") == 1
    valid = [cell for row in changed.rows for cell in row.cells if cell.valid]
    assert json.dumps(made["rows"]).count('"note": "*"') == len(valid)


def test_a_caveat_about_every_run_of_ours_is_below_the_tables_with_its_rows(
    results: Results,
) -> None:
    note = Caveat(
        id="renewed",
        kind="setup",
        title="Renewed",
        text="All renew tickets.",
        scenarios=[{"protocol": "1.2", "resumption": "ticket", "variant": ""}],
        sources=[{"title": "Source", "url": "https://example.org"}],
    )

    def with_tickets(table: Table, variant: str | None) -> Table:
        tickets = {"protocol": "1.2", "resumption": "ticket", "variant": variant}
        scenario = table.rows[0].scenario.model_copy(update=tickets)
        first = table.rows[0].model_copy(update={"scenario": scenario})
        return table.model_copy(update={"rows": [first, *table.rows[1:]]})

    of_all, of_each = results.tables[:2]
    tables = [with_tickets(of_all, None), with_tickets(of_each, "own-tickets")]
    ours = results.model_copy(update={"tables": tables})
    [shown] = caveats_for(ours, [note])
    assert [row.anchor for row in shown.rows] == [of_all.rows[0].anchor]
    ours = ours.model_copy(update={"notes": [shown]})
    calls = "".join(f'{{{{ table(id="{table.anchor}") }}}}\n' for table in tables)
    made = json.loads(page_json([ours], [note], shortcodes(calls, "index.md")))["tables"]
    assert note.text in made[of_all.anchor]["notes"]
    assert note.text not in made[of_each.anchor]["notes"]
    others = [run.model_copy(update={"tool": Tool(name="openssl-bench")}) for run in ours.runs]
    assert caveats_for(ours.model_copy(update={"runs": others}), [note]) == []
