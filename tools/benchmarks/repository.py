"""Prints what takes the space of this repository: its history, its checkout, and one report.

    python tools/benchmarks/repository.py

Sizes in the history are those of git's compressed objects, each counted once, for the folder in
which it is first named. The size of a report is the median over the reports of our own runs.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Final

from tlsperf.load.page import read_pages

ROOT: Final = Path(__file__).parents[2]
GROUPS: Final = (
    ("raw data of runs", "data/runs/"),
    ("counts of nights", "data/nightly/"),
    ("pictures that tests compare", "tools/tests/pages/pictures/"),
    ("reports", "content/perf/"),
    ("pages over all reports", "content/"),
)
MIB: Final = 1 << 20


def git(*arguments: str, given: str = "") -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout


def objects() -> dict[str, tuple[str, int]]:
    """Each blob of the history: the first path that names it, and its bytes as git stores them."""
    named = git("rev-list", "--objects", "HEAD")
    shown = "%(objecttype) %(objectname) %(objectsize:disk) %(rest)"
    found: dict[str, tuple[str, int]] = {}
    for line in git("cat-file", f"--batch-check={shown}", given=named).splitlines():
        kind, name, size, *path = line.split(" ", 3)
        if kind == "blob":
            found[name] = (path[0] if path else "", int(size))
    return found


def checkout() -> dict[str, tuple[str, int]]:
    """Each file of HEAD: its blob and its bytes in a checkout."""
    found = {}
    for line in git("ls-tree", "-r", "-l", "HEAD").splitlines():
        head, path = line.split("\t")
        _, _, name, size = head.split()
        found[path] = (name, int(size))
    return found


def group(path: str) -> str:
    return next((name for name, start in GROUPS if path.startswith(start)), "everything else")


def main() -> int:
    stored, files = objects(), checkout()
    in_history, in_checkout = Counter[str](), Counter[str]()
    for path, size in stored.values():
        in_history[group(path)] += size
    for path, (_, size) in files.items():
        in_checkout[group(path)] += size
    print("| part | history | checkout |\n|---|---|---|")
    for name in [*(name for name, _ in GROUPS), "everything else"]:
        print(f"| {name} | {in_history[name] / MIB:.1f} MiB | {in_checkout[name] / MIB:.1f} MiB |")
    total, whole = in_history.total() / MIB, in_checkout.total() / MIB
    print(f"| together | {total:.1f} MiB | {whole:.1f} MiB |")
    sizes = []
    for page in read_pages(ROOT):
        if not page.report.id.endswith("-vm"):
            continue
        folders = [f"content/perf/{page.report.id}/"]
        folders += [f"data/runs/{run}/" for run in page.report.runs]
        own = [of for path, of in files.items() if path.startswith(tuple(folders))]
        sizes.append((sum(stored[name][1] for name, _ in own), sum(size for _, size in own)))
    clone, check = (median(size) / MIB for size in zip(*sizes, strict=True))
    print(
        f"\nThe median of {len(sizes)} reports takes {clone:.2f} MiB of a clone and "
        f"{check:.1f} MiB of a checkout."
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
