"""Runs every suite in a shortened form and renders a report of each.

`python tools/automation/suites.py [SUITE…]` runs each suite of bench/suites for one round of short
blocks, with the programs in bench/target/release, in a scratch folder. There `tlsperf` makes,
renders and validates its report. No block may fail. The measurements are not kept. Without a name
it runs all suites whose programs `make libraries` builds.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
TLSBENCH: Final = ROOT / "bench" / "target" / "release" / "tlsbench"
SUITES: Final = ROOT / "bench" / "suites"
TLSPERF: Final = Path(sys.executable).with_name("tlsperf")
SHORT: Final = {"rounds": "1", "measure_seconds": "0.02", "warmup_seconds": "0.0"}
MEMORY: Final = 'operation = "memory"'
EXPECTED: Final = {
    "latency": ("latency-histogram.csv", "*-latency.svg"),
    "memory": ("allocated*.svg", "resident*.svg"),
    "post-quantum": ("full-handshakes.svg", "client-hello.svg"),
    "threads": ("*-threads.svg",),
}
"""Files in the report of a suite, besides those in every report."""


class SuiteError(Exception):
    """A step that failed."""


def shortened(text: str) -> str:
    """The text of a suite with all its scenarios and the shortest possible times. Raises
    SuiteError.
    """
    for name, value in SHORT.items():
        text, count = re.subn(rf"^{name} = .*$", f"{name} = {value}", text, flags=re.MULTILINE)
        if count != 1:
            raise SuiteError(f"{name} stands {count} times, expected once")
    # Rounds of 0.02 s differ too much on a busy machine to be checked against each other.
    text = re.sub(r"^(sessions|layouts) = .*$", r"\1 = 1", text, flags=re.MULTILINE)
    return of_few_sessions(text)


def of_few_sessions(text: str) -> str:
    """The text with two small numbers of sessions in place of the slope over ten thousand."""
    return text.replace(MEMORY, f'{MEMORY}\nvariant = ["sessions-100", "sessions-200"]')


def run(command: list[str], folder: Path) -> None:
    """Runs a command in the scratch folder. Raises SuiteError with its output if it fails."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools" / "src")}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SuiteError(f"{' '.join(command)}: {done.stdout}{done.stderr}")


def play(suite: Path, folder: Path) -> None:
    """Measures a suite, and makes, renders and validates its report."""
    name = suite.stem
    short = folder / "bench" / "suites" / suite.name
    short.write_text(shortened(suite.read_text(encoding="utf-8")), encoding="utf-8")
    run_folder = folder / "data" / "runs" / f"shortened-{name}"
    run([str(TLSBENCH), "run", "--suite", str(short), "--out", str(run_folder)], folder)
    measured = tomllib.loads((run_folder / "run.toml").read_text(encoding="utf-8"))
    failed = [w["message"] for w in measured["warnings"] if w["code"] == "failed-blocks"]
    if failed:
        raise SuiteError(f"{name}: {'; '.join(failed)}")
    run([str(TLSPERF), "new", run_folder.name], folder)


def suites_of_built_programs(folder: Path) -> list[str]:
    """The names of the suites whose programs `make libraries` builds.

    `make test-libraries` runs the suites of all libraries. `make test-matrix` tests the builds of
    the matrix, which take longer.
    """
    command = [str(ROOT / "scripts" / "libraries"), "programs", "shared"]
    built = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    names = []
    for path in sorted(folder.glob("[!_]*.toml")):
        wanted = tomllib.loads(path.read_text(encoding="utf-8")).get("implementations", [])
        if wanted and all(program in built for program in wanted):
            names.append(path.stem)
    return names


def main(names: list[str]) -> int:
    started = time.monotonic()
    suites = [SUITES / f"{name}.toml" for name in names or suites_of_built_programs(SUITES)]
    with tempfile.TemporaryDirectory(prefix="suites-") as scratch:
        folder = Path(scratch)
        for part in (
            "bench/libraries",
            "bench/suites",
            "content/perf",
            "data/runs",
            "data/comparisons",
        ):
            (folder / part).mkdir(parents=True)
        for included in SUITES.glob("_*.toml"):
            text = of_few_sessions(included.read_text(encoding="utf-8"))
            (folder / "bench" / "suites" / included.name).write_text(text, encoding="utf-8")
        for part in ("hosts", "schema"):
            shutil.copytree(ROOT / "data" / part, folder / "data" / part)
        shutil.copy(ROOT / "config.toml", folder)  # has the site's name for link previews
        try:
            for suite in suites:
                before = time.monotonic()
                play(suite, folder)
                print(f"{suite.stem}: {time.monotonic() - before:.1f} s", flush=True)
            run([str(TLSPERF), "render"], folder)
            run([str(TLSPERF), "validate"], folder)
            for suite in suites:
                [report] = (folder / "content" / "perf").glob(f"*shortened-{suite.stem}")
                for pattern in ("results.json", "results.csv", *EXPECTED.get(suite.stem, ())):
                    if not list(report.glob(pattern)):
                        found = ", ".join(sorted(path.name for path in report.iterdir()))
                        raise SuiteError(f"{suite.stem}: its report has no {pattern}, but {found}")
        except SuiteError as error:
            print(f"suites: {error}", file=sys.stderr)
            return 1
    print(f"{len(suites)} suites measured and rendered in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
