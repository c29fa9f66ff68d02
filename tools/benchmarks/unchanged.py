"""Compares a program with itself by `tlsbench compare`, and counts the false differences.

    python tools/benchmarks/unchanged.py [TIMES]    compare (100 times), write unchanged.md

Each comparison runs the whole command: it counts both sides again in fresh processes, and has the
exit code and the verdicts that a maintainer gets. The program is the one whose counts vary
most (callgrind.md): the hash maps of rustls are seeded at random. The scenario is the cheapest one
in which they vary by more than 0.01%. Other work on the host changes no count.

Requires the built programs (`make libraries`) and Valgrind.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

TIMES: Final = 100
PROGRAM: Final = "tls-rustls-aws-lc-rs"
ONLY: Final = "transfer/1.3/*"
BOUND: Final = "0.2%"
"""The smallest that `compare` accepts."""

ROOT: Final = Path(__file__).parents[2]
RESULT: Final = Path(__file__).with_name("unchanged.md")
COUNTER: Final = re.compile(r"^Instructions, (counted by .*)\.$", re.MULTILINE)
ROW: Final = re.compile(r"^\| (.*?) \(.*\| [+−](\d+\.\d\d)% \| (.*?) \|$", re.MULTILINE)
NONE: Final = "no difference shown"


class Row(NamedTuple):
    """One scenario of one comparison; `percent` is the difference of B from A."""

    name: str
    percent: float
    verdict: str


class Compared(NamedTuple):
    """One comparison: its exit code, the counter and its rows."""

    code: int
    counter: str
    rows: tuple[Row, ...]


def compare(file: Path) -> Compared:
    """Runs the command once; its tables are written to `file`."""
    command = ["bench/target/release/tlsbench", "compare", "--a", PROGRAM, "--b", PROGRAM]
    command += ["--only", ONLY, "--bound", BOUND, "--markdown", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    text = file.read_text("utf-8")
    rows = [Row(name, float(percent), verdict) for name, percent, verdict in ROW.findall(text)]
    (counter,) = COUNTER.findall(text)
    return Compared(done.returncode, counter, tuple(rows))


def report(all_: list[Compared]) -> str:
    """The page: how many comparisons report a difference, and the largest difference of counts."""
    silent = [it for it in all_ if it.code == 0 and {row.verdict for row in it.rows} == {NONE}]
    (counter,) = {it.counter for it in all_}
    lines = [
        "# An unchanged build",
        "",
        f"Written by `python tools/benchmarks/unchanged.py`: `tlsbench compare` of `{PROGRAM}`",
        f"with itself, with `--only '{ONLY}' --bound {BOUND}`, the smallest bound that it accepts,",
        f"{counter}.",
        "",
        f"{len(silent)} of {len(all_)} comparisons show no difference in any row and exit with 0.",
        "",
        "| row | comparisons | with a verdict | largest difference |",
        "|---|---:|---:|---:|",
    ]
    for name in dict.fromkeys(row.name for it in all_ for row in it.rows):
        rows = [row for it in all_ for row in it.rows if row.name == name]
        found = sum(row.verdict != NONE for row in rows)
        lines.append(f"| {name} | {len(rows)} | {found} | {max(it.percent for it in rows):.2f}% |")
    return "\n".join(lines) + "\n"


def main() -> None:
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    with tempfile.TemporaryDirectory() as folder:
        found = [compare(Path(folder) / "comparison.md") for _ in range(times)]
    RESULT.write_text(report(found), encoding="utf-8")


if __name__ == "__main__":
    main()
