"""Times the commands that everyone runs, beside those of another checkout.

    python tools/benchmarks/commands_speed.py [CHECKOUT]

It runs each command three times on committed data, in turn here and in CHECKOUT, and prints the
median of the seconds and their ratio. Nothing that git holds may change by it. CHECKOUT needs no
environment: this one's Python runs it. `build` is timed after a build, when nothing has changed.
commands_speed.md has the output.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Final

ROOT: Final = Path(__file__).parents[2]
REPORT: Final = "2026-11-25-standard-xeon-vm"
TURNS: Final = 3
COMMANDS: Final = (
    ("render one report", ["render", REPORT]),
    ("render all reports", ["render"]),
    ("validate", ["validate"]),
    ("build, nothing changed", ["build"]),
)


def seconds(root: Path, command: list[str]) -> float | None:
    """How long a command takes in a checkout; None if that has no such command."""
    if command == ["build"] and not (root / "tools/src/tlsperf/publish/build.py").exists():
        return None
    environment = {**os.environ, "PYTHONPATH": str(root / "tools" / "src")}
    program = [sys.executable, "-m", "tlsperf.cli", *command]
    started = time.monotonic()
    subprocess.run(program, cwd=root, env=environment, check=True, capture_output=True)
    return time.monotonic() - started


def size(root: Path) -> tuple[int, int]:
    """The number of files that git holds, and their bytes."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, check=True, capture_output=True, text=True
    ).stdout
    paths = [root / name for name in listed.split("\0") if name]
    return len(paths), sum(path.lstat().st_size for path in paths)


def main(roots: list[Path]) -> int:
    for root in roots:
        seconds(root, ["build"])
    heads = ["here", *(["CHECKOUT", "ratio"] if len(roots) > 1 else [])]
    print(f"| command | {' | '.join(heads)} |\n|{'---|' * (1 + len(heads))}")
    for name, command in COMMANDS:
        taken: list[list[float]] = [[] for _ in roots]
        for _ in range(TURNS):
            for root, times in zip(roots, taken, strict=True):
                found = seconds(root, command)
                times += [] if found is None else [found]
        middle = [median(times) if times else None for times in taken]
        cells = [f"{it:.1f} s" if it else "–" for it in middle]
        if len(middle) > 1:
            here, there = middle
            cells.append(f"{there / here:.1f}" if here and there else "–")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    for root in roots:
        count, held = size(root)
        print(f"\n{'Here' if root == ROOT else 'CHECKOUT'}: {count} files, {held / 1e6:.1f} MB.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main([ROOT, *(Path(it).resolve() for it in sys.argv[1:])]))
