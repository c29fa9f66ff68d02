"""Compares the figures of reports with those of another commit.

    python tools/automation/frozen.py COMMIT

It reads results.json of each report, and of each part if there are several, as `tlsperf build` wrote it
here, and as it was committed at COMMIT, or as built in the folder COMMIT. For each it prints how many values, intervals,
ratios, verdicts and texts are compared, and each that differs, is gone or is new. The exit code is 1
if one differs or is gone, or if there is nothing to compare. Steps that must not change a figure are checked with it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = "content/perf"
NAMES: Final = ("anchor", "id", "key", "row", "table", "source", "run", "implementation", "over")
"""Fields that tell the entries of a list apart."""
NOT_FIGURES: Final = frozenset(
    {"charts", "hosts", "runs", "schema", "scenario", "title", "corrections"}
)
MOST: Final = 20


def figures(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Each number, verdict and text in a part of results.json, with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key not in NOT_FIGURES:
                yield from figures(inner, f"{path}/{key}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            named = isinstance(inner, dict) and [str(inner[n]) for n in NAMES if n in inner]
            yield from figures(inner, f"{path}[{' '.join(named or [str(number)])}]")
    else:
        yield path, value


def before(commit: str, report: str) -> Any:
    """results.json of a report at a commit, or in a folder; None if there is none."""
    place = Path(commit) / FOLDER / report / "results.json"
    if place.exists():
        return json.loads(place.read_bytes())
    command = ["git", "show", f"{commit}:{FOLDER}/{report}/results.json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def main(commit: str) -> int:
    failed = compared = 0
    for path in sorted((ROOT / FOLDER).glob("**/results.json")):
        report = path.parent.relative_to(ROOT / FOLDER).as_posix()
        old = before(commit, report)
        if old is None:
            print(f"{report}: not at {commit}")
            continue
        was, now = dict(figures(old)), dict(figures(json.loads(path.read_bytes())))
        lines = [
            f"{it}: {was[it]!r} is now {now.get(it)!r}" for it in was if was[it] != now.get(it)
        ]
        new = len(now.keys() - was.keys())
        print(f"{report}: {len(was)} compared, {len(lines)} differ, {new} new")
        for line in lines[:MOST]:
            print(f"  {line}")
        failed += bool(lines)
        compared += 1
    if not compared:
        print(f"nothing compared: {commit} has no results.json, or `tlsperf build` made none here")
    return 0 if compared and not failed else 1


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:2]) if len(sys.argv) == 2 else __doc__)
