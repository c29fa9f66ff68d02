"""Measures importing: `python tools/benchmarks/importing.py [files …]`, from the repository.

It imports the raw files of December 2023 (244, of ten implementations) into an empty folder, loads
the run again and summarises every row. Then it does the same with as many copies of a file as
requested (10,000 by default), as rounds of one implementation. It prints seconds without Python's
start-up, and the peak resident set. The project's limits are 1.5 s for the former, and 500 MB and
linear time for the latter.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from tlsperf.analysis.series import measured
from tlsperf.analysis.statistics import summary
from tlsperf.load.run import load_run, read_run
from tlsperf.publish.runs import import_files

DECEMBER = Path("data/runs/2023-12-13-configurations")


def december(target: Path) -> None:
    """Imports the whole set, with one call for each implementation and format, as a
    person would.
    """
    run = read_run(DECEMBER)
    groups: dict[tuple[str, str], list[Path]] = {}
    for file in run.files:
        key = (str(file.implementation), file.format)
        groups.setdefault(key, []).append(DECEMBER / file.path)
    for (implementation, _), paths in groups.items():
        import_files(paths, implementation, target)


def copies(target: Path, count: int) -> None:
    """Imports `count` rounds of one implementation."""
    run = read_run(DECEMBER)
    originals = [
        (DECEMBER / file.path).read_bytes()
        for file in run.files
        if file.implementation == "rustls-0.22.0-ring-gcc-jemalloc"
    ]
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        paths = [Path(folder, f"output_{number}") for number in range(1, count + 1)]
        for number, path in enumerate(paths):
            path.write_bytes(originals[number % len(originals)])
        started = clocks()
        import_files(paths, "rustls-0.22.0-ring-gcc-jemalloc", target)
        report(f"import of {count} files", started)


def summarise(target: Path) -> None:
    """Computes everything that a table needs: loads the run, and each row's median and interval."""
    rows = measured(load_run(target)).series
    for row in rows:
        for sample in row.samples.values():
            summary(list(sample.valid.values()) or sample.invalid)


def clocks() -> tuple[float, float]:
    """Wall time and processor time of this process, in seconds."""
    return time.perf_counter(), time.process_time()


def report(what: str, started: tuple[float, float]) -> None:
    """Prints the time since `started`, and the peak memory of this process.

    On a busy machine, compare the processor's seconds.
    """
    elapsed, busy = (now - then for now, then in zip(clocks(), started, strict=True))
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{what}: {elapsed:.2f} s ({busy:.2f} s of CPU), at most {megabytes:.0f} MB", flush=True)


def measure(count: int) -> None:
    """One measurement in this process; 0 for the set of December 2023."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "2023-12-13-benchmark")
        started = clocks()
        if count:
            copies(target, count)
            started = clocks()
            summarise(target)
            report(f"summary of {count} files", started)
        else:
            december(target)
            summarise(target)
            report("import and summary of December 2023 (244 files, 12 imports)", started)


def main(arguments: Sequence[str]) -> None:
    """Runs each measurement in a separate process, so that its memory is separate too."""
    if arguments[:1] == ["--one"]:
        measure(int(arguments[1]))
        return
    for count in [0, *(int(a) for a in arguments or ["2500", "5000", "10000"])]:
        subprocess.run([sys.executable, __file__, "--one", str(count)], check=True)


if __name__ == "__main__":
    main(sys.argv[1:])
