"""`tlsperf validate`: everything below data/ is valid.

Each check returns what is wrong, in words with the file in them; nothing stops at the first find.
Checked are: that a browser runs none of the files, all of which are published; hosts and runs
against the schema; checksums and stray or missing files; every raw file against its format; units,
duplicates and unknown values (the tidy frame's own checks); references to hosts and
implementations; plausibility; comparison tables against what was published.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pandas as pd

from tlsperf.analysis.series import MeasuredRun, Sample, Series, measured
from tlsperf.contract.errors import UserError
from tlsperf.contract.names import scenario_name
from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.contract.run import Host
from tlsperf.load.comparisons import read_definition, read_printed
from tlsperf.load.run import LoadedRun, load_run, read_hosts
from tlsperf.published.published_tables import differences

IMPLAUSIBLE: Final = 8.0
"""A figure so many times its neighbours, or as little, is a mistake until someone explains it:
a misplaced decimal point, less what neighbours differ by."""

EXTREMES: Final = frozenset({"p99.9", "max"})
"""Statistics that one pause of a thread decides."""


SUFFIXES: Final = frozenset({".csv", ".json", ".jsonl", ".toml"})
"""Of files below data/ that are no raw files; for those, see `contract.run.RawPath`."""


def problems(data: Path) -> list[str]:
    """All errors below `data`, in the order of its folders."""
    found = list(_unsafe_files(data))
    hosts: dict[str, Host] = {}
    try:
        hosts = read_hosts(data / "hosts")
    except UserError as error:
        found.append(str(error))
    runs: dict[str, MeasuredRun] = {}
    for folder in sorted((data / "runs").iterdir()) if (data / "runs").is_dir() else []:
        if not folder.is_dir():
            found.append(f"{folder}: found a file, expected the folder of a run")
            continue
        try:
            run = load_run(folder)
        except UserError as error:
            found.append(str(error))
            continue
        runs[folder.name] = measured(run)
        found += _stray_files(folder, run)
        found += _references(folder, run, hosts)
        found += _implausible(folder, runs[folder.name])
    for path in sorted((data / "comparisons").glob("*.toml")):
        found += _comparison(path, runs)
    return found


def _unsafe_files(data: Path) -> Iterator[str]:
    """Links, and files of a type that a browser may run: data/ is published as it is."""
    for path in sorted(data.rglob("*")):
        parts = path.relative_to(data).parts
        is_raw = parts[0] == "runs" and parts[2:3] == ("raw",)
        if path.is_symlink():
            yield f"{path}: found a link, expected a file"
        elif path.is_file() and not is_raw and path.suffix not in SUFFIXES:
            expected = ", ".join(sorted(SUFFIXES))
            yield f"{path}: found a file with the suffix {path.suffix!r}, expected {expected}"


def _stray_files(folder: Path, run: LoadedRun) -> Iterator[str]:
    listed = {file.path for file in run.run.files}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name != "run.toml" and name not in listed:
            yield f"{path}: found a file that run.toml does not list, expected only those it does"


def _references(folder: Path, run: LoadedRun, hosts: Mapping[str, Host]) -> Iterator[str]:
    place = folder / "run.toml"
    known = {implementation.id for implementation in run.run.implementations}
    if len(known) < len(run.run.implementations):
        yield f"{place}: found an implementation twice, expected each id once"
    if len({file.path for file in run.run.files}) < len(run.run.files):
        yield f"{place}: found a file twice, expected each path once"
    host = run.run.host
    if run.run.host_id not in hosts and (host is None or host.id != run.run.host_id):
        yield (
            f"{place}: found host_id {run.run.host_id!r}, expected a file of data/hosts "
            f"({', '.join(hosts)}) or a [host] with that id"
        )
    measured = set(run.frame["implementation"].dropna().unique())
    absent = known - measured - {gap.implementation for gap in run.gaps}
    for identifier in sorted(absent):
        yield f"{place}: found no figure of {identifier!r}, expected some of each implementation"


# --- plausibility --------------------------------------------------------------------------------


def _implausible(folder: Path, run: MeasuredRun) -> Iterator[str]:
    """Figures that are far from their neighbours (IMPLAUSIBLE) and are not marked invalid.

    Neighbours are the other rounds of the same implementation; where there are none, the same
    implementation with one more or one less of what the scenarios count (threads, sessions). Not
    looked at are EXTREMES and phases: a pause of milliseconds is many times what most of them
    take, and is no error.
    """
    for row in run.series:
        if row.is_part or row.statistic in EXTREMES:
            continue
        for identifier, sample in row.samples.items():
            yield from _off_in_rounds(folder, row, identifier, sample)
    yield from _off_in_sequences(folder, run.loaded.frame)


def _off_in_rounds(folder: Path, row: Series, identifier: str, sample: Sample) -> Iterator[str]:
    middle = sample.figure if len(sample.valid) > 2 else 0.0
    if middle <= 0:
        return
    for (_, _, round_), value in sample.valid.items():
        if not middle / IMPLAUSIBLE < value < middle * IMPLAUSIBLE:
            yield (
                f"{folder}: found {value:g} {row.unit} for {scenario_name(row.scenario)} of "
                f"{identifier} in round {round_}, expected about {middle:g} as in its other rounds"
            )


def _off_in_sequences(folder: Path, frame: pd.DataFrame) -> Iterator[str]:
    """Single figures in a sequence of thread counts: each against those beside it."""
    single = frame[frame["valid"] & frame["round"].isna() & frame["threads"].notna()]
    keys = ["implementation", "phase", "metric", "statistic", "unit"]
    keys += [name for name in SCENARIO_FIELDS if name != "threads"]
    for _, rows in single.groupby(keys, observed=True, dropna=False, sort=False):
        ordered = rows.sort_values("threads")
        values = ordered["value"].to_numpy()
        for at in range(1, len(values) - 1):
            beside = (values[at - 1], values[at + 1])
            low, high = min(beside) / IMPLAUSIBLE, max(beside) * IMPLAUSIBLE
            if not low < values[at] < high:
                first = ordered.iloc[at]
                yield (
                    f"{folder}: found {values[at]:g} {first['unit']} of {first['implementation']} "
                    f"with {first['threads']} threads, expected something like the {beside[0]:g} "
                    f"and {beside[1]:g} beside it"
                )


# --- comparison tables ---------------------------------------------------------------------------


def _comparison(path: Path, runs: Mapping[str, MeasuredRun]) -> list[str]:
    try:
        definition = read_definition(path)
        if definition.run not in runs:
            return [f"{path}: found run {definition.run!r}, expected a valid run of data/runs"]
        printed = read_printed(path, definition)
        return differences(definition, printed, runs[definition.run], path)
    except UserError as error:
        return [str(error)]
