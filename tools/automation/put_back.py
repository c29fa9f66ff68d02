"""Restores each bias of data/biases.toml, and each fault that tests once did not notice.

It fails unless the tests that are named for it notice. They run in a copy of the repository,
build/put-back/copy, those of bench/ in the debug profile. First all of them must pass there. Then
each entry of biases.toml and faults.toml (beside this file) is applied by itself, and its tests
must fail: `make put-back`. Words select biases, faults and tests (WORDS="allocator clock").
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
COPY: Final = ROOT / "build" / "put-back" / "copy"
TARGET: Final = ROOT / "build" / "put-back" / "target"
TABLE: Final = Path("data", "biases.toml")
ENTRIES: Final = Path("tools", "automation", "biases.toml")
FAULTS: Final = Path("tools", "automation", "faults.toml")
PYTHON: Final = "tools/tests/"
"""Tests below this folder are those of pytest, with its Zola, browser and checkers beside it."""

LENT: Final = ("node_modules",)
"""What the tests of pages find in the repository and git ignores."""

MOST_SECONDS: Final = 900
"""Time limit of one test; a test that exceeds it counts as not failed."""


class Change(NamedTuple):
    """A text that occurs once in a file, and its replacement."""

    file: str
    before: str
    after: str


class PutBack(NamedTuple):
    """A bias or a fault as changes of the code, and the tests that must fail with it."""

    bias: str
    tests: tuple[str, ...]
    changes: tuple[Change, ...]


class NotShownError(Exception):
    """Why a run does not show that a test notices a bias."""


def entries(text: str) -> list[PutBack]:
    """The entries of biases.toml or faults.toml, in its order."""
    return [
        PutBack(
            entry["bias"],
            tuple(entry["tests"]),
            tuple(Change(it["file"], it["from"], it["to"]) for it in entry["changes"]),
        )
        for entry in tomllib.loads(text)["put_back"]
    ]


def missing(table: str, put_backs: Sequence[PutBack]) -> list[str]:
    """Tests in the table of biases without an entry, and entries without a row or test in it."""
    rows = tomllib.loads(table)["bias"]
    wanted = {(row["bias"], test) for row in rows for test in row["tests"]}
    found = set()
    for entry in put_backs:
        named = [row["bias"] for row in rows if row["bias"].startswith(entry.bias)]
        found |= {(named[0] if len(named) == 1 else entry.bias, test) for test in entry.tests}
    return [
        *(f"{ENTRIES}: no entry for {test} of {bias!r}" for bias, test in sorted(wanted - found)),
        *(f"{TABLE}: no row {bias!r} with {test}" for bias, test in sorted(found - wanted)),
    ]


def command(test: str) -> list[str]:
    """The command that runs the test `<file>::<name>`: below bench/, or below tools/."""
    if test.startswith(PYTHON):
        arguments = ["-p", "no:cacheprovider", "--hypothesis-seed=0"]
        return [sys.executable, "-m", "pytest", *arguments, test.removeprefix("tools/")]
    file, _, name = test.rpartition("::")
    folder, *rest = PurePosixPath(file).parts[1:]
    package = {"harness": "tls-harness", "runner": "tlsbench"}.get(folder, f"tls-{rest[0]}")
    if folder == "libraries":
        rest = rest[1:]
    if package == "tls-shared":  # all adapters share these tests: one of them is enough
        package, rest, name = "tls-rustls", ["tests", "conformance.rs"], f"aws_lc_rs::{name}"
    where = ["--lib"] if rest[0] == "src" else ["--test", PurePosixPath(rest[1]).stem]
    return ["cargo", "test", "--locked", "--package", package, *where, name]


def write_copy() -> None:
    """Copies the files of the working tree that git does not ignore; unchanged files keep their
    times.
    """
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    wanted = {ROOT / name for name in listed if name} | {ROOT / "bench/.cargo/config.toml"}
    for path in sorted(path for path in wanted if path.is_file()):
        copied = COPY / path.relative_to(ROOT)
        if not copied.exists() or copied.read_bytes() != path.read_bytes():
            copied.parent.mkdir(parents=True, exist_ok=True)
            copied.write_bytes(path.read_bytes())
            copied.chmod(path.stat().st_mode)
    for name in LENT:
        if (ROOT / name).exists() and not (COPY / name).exists():
            (COPY / name).symlink_to(ROOT / name)
    for copied in COPY.rglob("*"):
        if copied.is_file() and ROOT / copied.relative_to(COPY) not in wanted:
            copied.unlink()


@contextmanager
def made(changes: Sequence[Change], root: Path = COPY) -> Iterator[None]:
    """Applies the changes for the duration of the block."""
    kept: dict[Path, str] = {}
    try:
        for change in changes:
            path = root / change.file
            text = path.read_text(encoding="utf-8")
            kept.setdefault(path, text)
            count = text.count(change.before)
            if count != 1:
                raise NotShownError(f"{change.file} has {count} times, not once: {change.before!r}")
            path.write_text(text.replace(change.before, change.after), encoding="utf-8")
        yield
    finally:
        for path, text in kept.items():
            path.write_text(text, encoding="utf-8")


def output_of(arguments: Sequence[str], folder: str = "bench") -> tuple[int, str]:
    """Exit status and output of a command in a folder of the copy; its children are ended with
    it.
    """
    process = subprocess.Popen(
        arguments,
        cwd=COPY / folder,
        env={**os.environ, "CARGO_TARGET_DIR": str(TARGET), "CARGO_TERM_COLOR": "never"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=MOST_SECONDS)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise NotShownError(f"no end after {MOST_SECONDS} seconds") from None
        raise
    return process.returncode, output


def result(test: str) -> str:
    """The result of one test: `ok` or `FAILED`. Raises NotShownError."""
    arguments = command(test)
    if test.startswith(PYTHON):
        return result_of_pytest(*output_of(arguments, "tools"))
    builds = [[*arguments[:-1], "--no-run"]]
    if "tlsbench" in arguments:  # its tests start its examples, which a single test does not build
        builds.insert(0, ["cargo", "build", *arguments[2:5], "--examples"])
    for build in builds:
        status, output = output_of(build)
        if status:
            errors = [line for line in output.splitlines() if line.startswith("error")]
            raise NotShownError(f"it does not compile: {' '.join(errors[:3]) or output[-300:]}")
    name = test.rpartition("::")[2]
    _, output = output_of(arguments)
    results = re.findall(rf"^test (?:\S+::)?{name}(?: - .*)? \.\.\. (\w+)", output, re.M)
    if len(results) != 1 or results[0] not in ("ok", "FAILED"):
        raise NotShownError(f"{name} came out {results}, once expected: {output[-300:]}")
    return str(results[0])


def result_of_pytest(status: int, output: str) -> str:
    """The result by pytest's exit status; a test that could not begin has none. Raises
    NotShownError.
    """
    last = (output.strip().splitlines() or [""])[-1]
    if status == 0 and re.search(r"\b\d+ passed\b", last) and "skipped" not in last:
        return "ok"
    if status == 1 and re.search(r"\b\d+ failed\b", last):
        return "FAILED"
    raise NotShownError(f"pytest ended with {status}: {output[-300:]}")


def expect(test: str, expected: str) -> str | None:
    """A problem if the test does not have the expected result; None otherwise."""
    began = time.monotonic()
    try:
        found = result(test)
    except NotShownError as error:
        return f"{test}: {error}"
    print(f"  {test.rpartition('::')[2]}: {found}, {time.monotonic() - began:.0f} s", flush=True)
    return None if found == expected else f"{test} is {found}, expected {expected}"


def shown(entry: PutBack) -> Iterator[str]:
    """The problems found while one bias is restored."""
    try:
        with made(entry.changes):
            for test in entry.tests:
                if problem := expect(test, "FAILED"):
                    yield f"{entry.bias}: {problem}"
    except NotShownError as error:
        yield f"{entry.bias}: {error}"


def main(words: Sequence[str]) -> int:
    """Runs all selected entries; returns the exit status."""
    every = entries((ROOT / ENTRIES).read_text(encoding="utf-8"))
    wrong = missing((ROOT / TABLE).read_text(encoding="utf-8"), every)
    every += entries((ROOT / FAULTS).read_text(encoding="utf-8"))
    chosen = [
        entry
        for entry in every
        if not words or any(word in " ".join([entry.bias, *entry.tests]) for word in words)
    ]
    if not chosen:
        wrong.append(f"{ENTRIES}, {FAULTS}: no entry with {' or '.join(words)}")
    write_copy()
    print("without a bias or a fault", flush=True)
    for test in dict.fromkeys(test for entry in chosen for test in entry.tests):
        wrong += [problem] if (problem := expect(test, "ok")) else []
    for entry in chosen:
        print(entry.bias, flush=True)
        wrong += shown(entry)
    for problem in wrong:
        print(f"put-back: {problem}", file=sys.stderr)
    print(f"{len(chosen)} biases and faults put back, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
