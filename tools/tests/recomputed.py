"""What raw records and results.json give, read without tlsperf: nothing of it computes a figure here."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

Rounds = dict[tuple[str, int], tuple[float, bool]]
"""By run and round: a figure, and whether it counts."""

Samples = dict[tuple[str, str, str, str, str, str], Rounds]
"""By scenario, phase, metric, statistic, unit and build."""


def parts_of(root: Path) -> list[dict[str, Any]]:
    """The results.json of all parts of all reports."""
    paths = sorted((root / "content" / "perf").rglob("results.json"))
    assert paths
    return [json.loads(path.read_bytes()) for path in paths]


def records(folder: Path) -> list[dict[str, Any]]:
    packed = folder / "raw" / "records.jsonl.gz"
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else b""
    data = data or (folder / "raw" / "records.jsonl").read_bytes()
    return [json.loads(line) for line in data.splitlines()]


def samples(root: Path, runs: Iterable[str]) -> Samples:
    """The figures of runs; those of a disturbed round do not count."""
    found: Samples = {}
    for run in runs:
        every = records(root / "data" / "runs" / run)
        disturbed = {r["round"] for r in every if r["kind"] == "round" and r.get("disturbed")}
        for of in every:
            if of["kind"] != "measurement":
                continue
            counts = of.get("valid", True) and of["round"] not in disturbed
            for it in of["observations"]:
                scenario = json.dumps(of["scenario"], sort_keys=True)
                kind = (it["phase"], it["metric"], it.get("statistic", "value"), it["unit"])
                key = scenario, *kind, of["implementation"]
                found.setdefault(key, {})[run, of["round"]] = it["value"], counts
    return found


def rounds_of(of: Samples, table: dict[str, Any], row: dict[str, Any], build: str) -> Rounds | None:
    scenario = json.dumps(row["scenario"], sort_keys=True)
    kind = (row["phase"], row["metric"], row["statistic"], table["unit"])
    return of.get((scenario, *kind, build))


def counted(rounds: Rounds) -> list[float]:
    return [value for value, counts in rounds.values() if counts]


def quotient(ours: Rounds, theirs: Rounds) -> float | None:
    """The median of the quotients of the rounds that both have."""
    both = [(*ours[at], *theirs[at]) for at in ours if at in theirs]
    found = [one / other for one, ok, other, too in both if ok and too and one * other]
    return median(found) if found else None


def numbers(text: str) -> list[float]:
    return [float(of.replace(",", "")) for of in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def steps(text: str) -> list[float]:
    """What the last digit of each number stands for."""
    return [10.0 ** -len(of.partition(".")[2]) for of in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


def printed(text: str, *values: float) -> bool:
    """Whether a text has these numbers, each rounded to its digits."""
    found = zip(numbers(text), values, steps(text), strict=True)
    return all(abs(of - value) <= 0.501 * step + 1e-6 * value for of, value, step in found)


def shows(text: str, value: float) -> bool:
    """Whether a text has a value, with all of its digits or with three."""
    return printed(text, value) or printed(text, float(f"{value:.3g}"))


class Cell(NamedTuple):
    """A cell of a page's table: `by_anchor` says of which row, host and build."""

    row: str
    host: str
    label: str
    shown: dict[str, Any]


def cells_of(table: dict[str, Any]) -> Iterator[Cell]:
    """The cells of a table of page.json in both arrangements."""
    labels = [head["label"] for head in table["heads"]]
    for block in table.get("blocks", ()):
        for line in block["lines"]:
            for row, cells in zip(block["rows"], line["cells"], strict=True):
                for host, cell in zip(table["hosts"], cells, strict=True):
                    yield Cell(row["anchor"], host, line["label"], cell)
    for row in table.get("rows", ()):
        for label, cells in zip(labels, row["cells"], strict=True):
            for host, cell in zip(table["hosts"], cells, strict=True):
                yield Cell(row["anchor"], host, label, cell)


def host_name(host: dict[str, Any]) -> str:
    name = str(host.get("name", host["cpu"]))
    return name + " (virtual machine)" * (bool(host.get("virtual")) and not name.endswith("VM"))
