"""Comparisons of all implementations with each other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from project import OLD

INVERSE = {"faster": "slower", "slower": "faster"}


def test_to_the_baseline_of_the_report_they_are_those_of_its_tables(project: Path) -> None:
    folder = project / "content" / "perf" / OLD
    rows = json.loads((folder / "comparisons.json").read_bytes())["rows"]
    found = 0
    for table in json.loads((folder / "results.json").read_bytes())["tables"]:
        for row in [] if table["by_phase"] else table["rows"]:
            of_row = rows[f"{table['anchor']} {row['anchor']}"]
            for cell in (cell for cell in row["cells"] if "ratio" in cell):
                found += 1
                shown = [cell["ratio"][key] for key in ("value", "verdict", "text")]
                assert of_row[table["baseline"]][cell["implementation"]] == shown
                _, back, _ = of_row[cell["implementation"]][table["baseline"]]
                assert back == INVERSE.get(shown[1], shown[1])
    assert found


@pytest.mark.any_site
def test_each_pair_has_both_directions_which_do_not_contradict_each_other(root: Path) -> None:
    found = 0
    for path in sorted((root / "content" / "perf").glob("*/comparisons.json")):
        for name, of_row in json.loads(path.read_bytes())["rows"].items():
            for baseline, ratios in of_row.items():
                for other, (value, verdict, _) in ratios.items():
                    found += 1
                    back, its_verdict, _ = of_row[other][baseline]
                    assert value * back == pytest.approx(1, rel=0.002), (path, name)
                    assert verdict != its_verdict or verdict not in INVERSE, (path, name)
    assert found
