"""Repeatability of instruction counts, from the rounds of a committed run, in callgrind.md.

    python tools/benchmarks/callgrind.py            write the table

Every round counts each figure again, in a fresh process of the same binary. The spread of a figure
is the difference between its largest and its smallest round, relative to the smallest.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tlsperf.analysis.series import measured, row_names
from tlsperf.contract.metrics import Unit
from tlsperf.contract.text import implementation_label, value_text
from tlsperf.load.run import LoadedRun, load_run

ROOT: Final = Path(__file__).resolve().parents[2]
RUN: Final = ROOT / "data/runs/2026-11-21-instructions-vm"
TABLE: Final = Path(__file__).with_name("callgrind.md")

FEWEST: Final = 5
"""Required number of rounds."""

_HEAD: Final = """\
# Spread of counts

Written by `python tools/benchmarks/callgrind.py` from run `{run}`: {rounds} rounds of
each program under Valgrind {valgrind}, while other work ran on the machine. A count is the number
of instructions in user space that one side executes in its library. It is measured over 256
handshakes in four fresh processes, or over 16 MiB of plaintext in one. Each process first performs
20 operations that are not counted. The spread of a figure is the difference between its largest and
its smallest round, relative to the smallest. The limit is 0.1% for the C libraries and 1% for
rustls, whose hash maps are seeded at random.

| library | figures | largest spread | limit |
|---|---:|---:|---:|
"""


@dataclass(frozen=True)
class Spread:
    """The difference between the rounds of one figure."""

    percent: float
    least: float
    unit: Unit
    rounds: int


def limit_percent(library: str) -> float:
    """The largest permitted spread of a library's figures, in per cent."""
    return 1.0 if library == "rustls" else 0.1


def spreads(run: LoadedRun) -> dict[tuple[str, str], Spread]:
    """The spreads by the row's name and the implementation."""
    rows = measured(run).series
    names = row_names(rows)
    return {
        (names[row.key][0], implementation): Spread(
            100 * (max(sample.rounds) / min(sample.rounds) - 1),
            min(sample.rounds),
            row.unit,
            len(sample.rounds),
        )
        for row in rows
        for implementation, sample in row.samples.items()
    }


def failures(run: LoadedRun) -> list[str]:
    """Figures whose spread is too large or that have too few rounds."""
    libraries = {i.id: i.library for i in run.run.implementations}
    found = []
    for (name, implementation), spread in spreads(run).items():
        limit = limit_percent(libraries[implementation])
        if spread.percent > limit:
            found.append(f"{name}, {implementation}: {spread.percent:.3f}%, at most {limit}%")
        if spread.rounds < FEWEST:
            found.append(f"{name}, {implementation}: {spread.rounds} rounds, at least {FEWEST}")
    return found


def table(run: LoadedRun) -> str:
    counter = run.run.counter
    text = _HEAD.format(
        run=run.run.id, rounds=run.run.rounds, valgrind=counter.version if counter else "?"
    )
    found = spreads(run)
    implementations = sorted(run.run.implementations, key=lambda i: i.id)
    for i in implementations:
        own = [spread.percent for (_, of), spread in found.items() if of == i.id]
        limit = limit_percent(i.library)
        text += f"| {implementation_label(i)} | {len(own)} | {max(own):.3f}% | {limit}% |\n"
    broken = failures(run)
    text += "\nBeyond their limits:\n\n" if broken else "\nNo figure exceeds its limit.\n"
    text += "".join(f"- {failure}\n" for failure in broken)
    labels = " | ".join(implementation_label(i) for i in implementations)
    text += "\nA cell has the smallest count of the rounds, and the spread of the figure.\n"
    text += f"\n| scenario | {labels} |\n|---|{'---:|' * len(implementations)}\n"
    for name in dict.fromkeys(name for name, _ in found):
        cells = [_cell(found.get((name, i.id))) for i in implementations]
        text += f"| {name} | {' | '.join(cells)} |\n"
    return text


def _cell(spread: Spread | None) -> str:
    if spread is None:
        return "–"
    return f"{value_text(spread.least, spread.unit)}, {spread.percent:.3f}%"


def main() -> int:
    run = load_run(RUN)
    TABLE.write_text(table(run), encoding="utf-8")
    broken = failures(run)
    for failure in broken:
        print(failure, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
