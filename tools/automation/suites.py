"""Runs suites in a shortened form and renders a report of each.

`python tools/automation/suites.py` runs a suite of one scenario of each kind that suites have. With
`--all` it runs each suite whose programs `make libraries` builds, and with names those suites. Each
runs for one round of short blocks, with the programs of `--programs`, in a scratch folder. There
`tlsperf` makes, renders, checks and validates its report. No block may fail. The measurements are not
kept, so nothing else seems to run meanwhile: a busy host would have each round measured twice.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path
from typing import Any, Final

import tomlkit

from built import ROOT, add_programs
from rehearse import STILL, at_rest

SUITES: Final = ROOT / "bench" / "suites"
TLSPERF: Final = Path(sys.executable).with_name("tlsperf")
SHORT: Final = {"rounds": "1", "measure_seconds": "0.02", "warmup_seconds": "0.0"}
MEMORY: Final = 'operation = "memory"'
KINDS: Final = "kinds"
"""The name of the suite of one scenario of each kind."""
EXPECTED: Final = {
    KINDS: ("latency-histogram.csv", "ratios.svg", "ratios-narrow.svg"),
    "latency": ("latency-histogram.csv", "*-latency.svg"),
    "memory": ("ratios.svg",),
    "post-quantum": ("ratios.svg",),
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


def one_of_each_kind() -> str:
    """The suite `quick` with the first scenario of each kind that suites have, and one value each."""
    table = tomllib.loads((SUITES / "quick.toml").read_text(encoding="utf-8"))
    table |= {"name": KINDS, "family": KINDS, "latency": True, "include": []}
    scenarios: dict[tuple[str | None, ...], dict[str, Any]] = {}
    for path in sorted(SUITES.glob("*.toml"), key=lambda path: path.stem):
        for scenario in tomllib.loads(path.read_text(encoding="utf-8")).get("scenarios", []):
            first = {key: v[0] if isinstance(v, list) else v for key, v in scenario.items()}
            operation, resumption = first["operation"], first.get("resumption")
            protocol = first["protocol"] if operation in ("handshake", "transfer") else None
            scenarios.setdefault((operation, protocol, resumption), first)
    return tomlkit.dumps(table | {"scenarios": list(scenarios.values())})


def play(name: str, text: str, folder: Path, programs: Path) -> None:
    """Measures a suite with this text, and makes its report."""
    short = folder / "bench" / "suites" / f"{name}.toml"
    short.write_text(shortened(text), encoding="utf-8")
    run_folder = folder / "data" / "runs" / f"shortened-{name}"
    tlsbench = str(programs / "tlsbench")
    run([tlsbench, "run", "--suite", str(short), "--out", str(run_folder)], folder)
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


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs suites in a shortened form.")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="suite in bench/suites")
    parser.add_argument("--all", action="store_true", help="all suites of `make libraries`")
    add_programs(parser)
    given = parser.parse_args()
    if STILL not in os.environ:
        return at_rest()
    started = time.monotonic()
    names = given.suites or (suites_of_built_programs(SUITES) if given.all else [])
    texts = {name: (SUITES / f"{name}.toml").read_text(encoding="utf-8") for name in names}
    texts = texts or {KINDS: one_of_each_kind()}
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
            for name, text in texts.items():
                before = time.monotonic()
                play(name, text, folder, given.programs)
                print(f"{name}: {time.monotonic() - before:.1f} s", flush=True)
            for command in (["render"], ["render", "--check"], ["build"], ["validate"]):
                run([str(TLSPERF), *command], folder)
            for name in texts:
                [report] = (folder / "content" / "perf").glob(f"*shortened-{name}")
                for pattern in ("results.json", "results.csv", *EXPECTED.get(name, ())):
                    if not list(report.glob(pattern)):
                        found = ", ".join(sorted(path.name for path in report.iterdir()))
                        raise SuiteError(f"{name}: its report has no {pattern}, but {found}")
        except SuiteError as error:
            print(f"suites: {error}", file=sys.stderr)
            return 1
    print(f"measured and rendered: {', '.join(texts)} in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
