"""`make mutants-bench`: mutation testing of the pure cores of bench/, by bench/mutants.toml.

`tools/automation/bench_mutants.py [--write] [--shard K/N] [FILE…]`: cargo-mutants changes each
file in a scratch copy, one place at a time, and runs the tests that bench/mutants.toml names for
it. A mutant that they do not notice survives. The command fails if a survivor is not listed there
with a reason, or if fewer mutants are noticed than the file states. A file without a score is
reported and fails nothing. `--write` writes what was found into the file; it refuses a lower score,
and one below 90%. Without a name, all files.

`--shard 0/8` takes every eighth mutant, and what is written then states it as `sample`. A run over
all mutants of such a file fails below 90%, and reports survivors that are not listed.

A mutant that does not compile is not counted. One that takes many times as long as the tests do
otherwise is noticed.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import tomlkit

from mutation_score import MutantsError, below, exit_code, percent, run

ROOT: Final = Path(__file__).resolve().parents[2]
BENCH: Final = ROOT / "bench"
SCORE: Final = BENCH / "mutants.toml"
SCRATCH: Final = ROOT / "build" / "mutants-bench"
CARGO_MUTANTS: Final = ROOT / "build" / "bin" / "cargo-mutants"
NOTICED: Final = frozenset({"CaughtMutant", "Timeout"})
SURVIVED: Final = "MissedMutant"


@dataclass(frozen=True)
class Found:
    """What cargo-mutants found in a file."""

    noticed: int
    survivors: tuple[str, ...]

    @property
    def mutants(self) -> int:
        return self.noticed + len(self.survivors)


def read(outcomes: str) -> Found:
    """The results in `outcomes.json` of cargo-mutants. A survivor is named without its line."""
    noticed, survivors = 0, []
    for outcome in json.loads(outcomes)["outcomes"]:
        if outcome["scenario"] == "Baseline":
            continue
        noticed += outcome["summary"] in NOTICED
        if outcome["summary"] == SURVIVED:
            name: str = outcome["scenario"]["Mutant"]["name"]
            survivors.append(name.split(": ", 1)[1])
    return Found(noticed, tuple(sorted(survivors)))


def prepare() -> None:
    """A copy of bench/, and of the schemas that it reads; what was built in it stays."""
    for name in ("bench", "data/schema"):
        place = SCRATCH / name
        ignored = shutil.ignore_patterns("target", ".cargo")
        for part in place.iterdir() if place.exists() else ():
            if part.is_dir() and part.name != "target":
                shutil.rmtree(part)
        # Files get the time of now: Cargo would take the program of the last mutant for theirs.
        shutil.copytree(
            ROOT / name, place, ignore=ignored, dirs_exist_ok=True, copy_function=shutil.copy
        )


def arguments_of(tests: Sequence[str]) -> list[str]:
    """Of cargo-mutants: the targets for every call of Cargo, so that nothing else is built for a
    mutant, and what tests are chosen by (`-- clock::`) for their run alone."""
    targets = [*itertools.takewhile(lambda argument: argument != "--", tests)]
    every = [f"--cargo-arg={argument}" for argument in ("--locked", *targets)]
    return [*every, "--", *tests[len(targets) :]]


def mutate(file: str, entry: dict[str, Any], shard: str | None) -> Found:
    """Runs cargo-mutants over a file or a part of its mutants, one at a time."""
    output = SCRATCH / "found" / file.replace("/", "-")
    shutil.rmtree(output, ignore_errors=True)
    output.mkdir(parents=True)
    command = [str(CARGO_MUTANTS), "mutants", "--in-place", "--package", entry["package"]]
    command += ["--file", file, "--output", str(output), "--no-shuffle"]
    command += ["--minimum-test-timeout", "90", *entry.get("options", [])]
    if shard:
        command += ["--shard", shard, "--sharding", "round-robin"]
    command += arguments_of(entry["tests"])
    done = subprocess.run(command, cwd=SCRATCH / "bench", capture_output=True, text=True)
    outcomes = output / "mutants.out" / "outcomes.json"
    if done.returncode not in (0, 2, 3) or not outcomes.exists():  # 2: missed, 3: timed out
        raise MutantsError(f"{file}: cargo-mutants failed\n{done.stdout[-4000:]}{done.stderr}")
    return read(outcomes.read_text(encoding="utf-8"))


def unlisted(file: str, entry: dict[str, Any], found: Found) -> Iterator[str]:
    """The survivors for which the score gives no reason."""
    known = {survivor["mutant"] for survivor in entry.get("survivors", []) if survivor["reason"]}
    for survivor in found.survivors:
        if survivor not in known:
            yield f"{file}: no test notices, and bench/mutants.toml gives no reason: {survivor}"


def problems(
    file: str, entry: dict[str, Any], found: Found, shard: str | None = None
) -> Iterator[str]:
    """Where a file's score is below the one that is written, and which survivors are not listed."""
    before = (entry["noticed"], entry["mutants"]) if "mutants" in entry else None
    if entry.get("sample", shard) != shard:
        yield from below(file, found.noticed, found.mutants, None)
        return
    yield from unlisted(file, entry, found)
    yield from below(file, found.noticed, found.mutants, before)


def write(entry: Any, found: Found, shard: str | None = None) -> None:
    """Writes what was found into the entry of a file; reasons that are there stay."""
    reasons = {survivor["mutant"]: survivor["reason"] for survivor in entry.get("survivors", [])}
    entry["scored"] = date.today()
    entry["mutants"] = found.mutants
    entry["noticed"] = found.noticed
    entry.pop("sample", None)
    if shard:
        entry["sample"] = shard
    entry.pop("survivors", None)
    if found.survivors:
        tables = tomlkit.aot()
        for mutant in found.survivors:
            tables.append(tomlkit.item({"mutant": mutant, "reason": reasons.get(mutant, "")}))
        entry["survivors"] = tables


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description="mutation testing of the pure cores of bench/")
    parser.add_argument("--write", action="store_true", help="write what is found into the score")
    parser.add_argument("--shard", metavar="K/N", help="one of N parts of the mutants")
    parser.add_argument("files", nargs="*", help="such as harness/src/clock.rs")
    options = parser.parse_args(arguments)
    score = tomlkit.parse(SCORE.read_text(encoding="utf-8"))
    files: Any = score["files"]
    unknown = [file for file in options.files if file not in files]
    if unknown:
        raise MutantsError(f"found {', '.join(unknown)}, expected of {', '.join(files)}")
    prepare()
    wrong: list[str] = []
    for file in options.files or files:
        entry = files[file]
        found = mutate(file, entry, options.shard)
        scored = "scored" in entry
        print(
            f"{file}: {found.noticed} of {found.mutants} mutants noticed, "
            f"{percent(found.noticed, found.mutants)}%{'' if scored else ', not scored before'}",
            flush=True,
        )
        here = list(problems(file, entry, found, options.shard)) if scored or options.write else []
        if "sample" in entry and options.shard is None:
            print("".join(f"{survivor}\n" for survivor in unlisted(file, entry, found)), end="")
        if options.write and not any("expected at least" in problem for problem in here):
            write(entry, found, options.shard)
            SCORE.write_text(tomlkit.dumps(score), encoding="utf-8")
        wrong += here
    return exit_code(wrong)


if __name__ == "__main__":
    run(main)
