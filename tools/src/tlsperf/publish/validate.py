"""`tlsperf validate`: checks everything below data/, and what content/ may hold.

Each check returns its errors, with the file in each; no error stops the others. The checks cover:
files that a browser could run, because all files are published; hosts and runs against the schema;
checksums and stray or missing files; every raw file against its format; units, duplicates and
unknown values (load/check_rows.py); references to hosts and implementations; plausibility;
comparison tables against the published ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from operator import itemgetter
from pathlib import Path
from typing import Final

from tlsperf.analysis.series import MeasuredRun, Sample, Series, measured
from tlsperf.contract.errors import UserError
from tlsperf.contract.host import two_models
from tlsperf.contract.names import scenario_name
from tlsperf.contract.run import Host
from tlsperf.load.comparisons import read_definition, read_printed
from tlsperf.load.content import content_problems
from tlsperf.load.nights import night_folders, run_folders
from tlsperf.load.rows import ParsedRow
from tlsperf.load.run import LoadedRun, load_whole_run, read_hosts, read_runs
from tlsperf.load.spreads import read_spreads
from tlsperf.publish.checked import Checked, run_digest
from tlsperf.publish.processes import each
from tlsperf.published.published_tables import differences

IMPLAUSIBLE: Final = 8.0
"""A figure this many times larger or smaller than its neighbours is an error until someone explains
it: the factor of a misplaced decimal point, minus what neighbours usually differ by.
"""

EXTREMES: Final = frozenset({"p99.9", "max"})
"""Statistics that depend on a single pause of a thread."""


SUFFIXES: Final = frozenset({".csv", ".json", ".jsonl", ".toml"})
"""Suffixes of files below data/ that are not raw files; for raw files, see
`contract.run.RawPath`.
"""


def check(root: Path, *, changed: bool) -> tuple[list[str], int]:
    """All errors below `data/` and in what content/ holds, and the number of runs that were looked at.

    With `changed`, runs that `data/checked.json` has are skipped. Otherwise that file is written if
    there is no error.
    """
    data = root / "data"
    folders = [path.parent for path in sorted((data / "runs").glob("*/run.toml"))]
    folders += [folder for nights in night_folders(root) for folder in run_folders(nights)]
    digests = {folder: run_digest(root, folder) for folder in folders}
    checked = Checked(root, "runs")
    names = {folder: folder.relative_to(data).as_posix() for folder in folders}
    known = {folder for folder in folders if checked.has(names[folder], digests[folder])}
    skipped = known if changed else set()
    found = [*problems(data, skipped), *content_problems(root)]
    found = list(dict.fromkeys(found))
    if not found and not changed:
        checked.record({names[of]: digests[of] for of in folders}, all_of_them=True)
    return found, len(folders) - len(skipped)


def problems(data: Path, skipped: Set[Path] = frozenset()) -> list[str]:
    """All errors below `data`, in the order of its folders, without those of `skipped` runs."""
    found = list(_unsafe_files(data))
    try:
        hosts = read_hosts(data / "hosts")
        other = two_models(read_runs(data / "runs").values(), hosts)
        found += [f"{data / 'runs' / id_ / 'run.toml'}: {text}" for id_, text in other.items()]
        read_spreads(data.parent)
    except UserError as error:
        found.append(str(error))
    folders = []
    for path in sorted((data / "runs").iterdir()) if (data / "runs").is_dir() else []:
        if path.is_dir():
            folders.append(path)
        else:
            found.append(f"{path}: found a file, expected the folder of a run")
    folders += [path for nights in night_folders(data.parent) for path in run_folders(nights)]
    for _, wrong in each(validating, data, [path for path in folders if path not in skipped]):
        found += [wrong] if isinstance(wrong, str) else wrong
    for path in sorted((data / "comparisons").glob("*.toml")):
        found += _comparison(path, data / "runs", {folder.name for folder in skipped})
    return found


def validating(data: Path) -> Callable[[Path], list[str]]:
    """Of the folder of a run: what is wrong with it. Raises UserError if it cannot be read."""
    try:
        hosts = read_hosts(data / "hosts")
    except UserError:
        hosts = {}

    def problems_of(folder: Path) -> list[str]:
        run = load_whole_run(folder)
        return [
            *_stray_files(folder, run),
            *_references(folder, run, hosts),
            *_implausible(folder, measured(run)),
        ]

    return problems_of


def _unsafe_files(data: Path) -> Iterator[str]:
    """Links, and files of a type that a browser may run: data/ is published unchanged."""
    for path in sorted(data.rglob("*")):
        parts = path.relative_to(data).parts
        is_raw = (parts[0], *parts[2:3]) == ("runs", "raw") or (
            (parts[0], *parts[3:4]) == ("nightly", "raw")
        )
        if path.is_symlink():
            yield f"{path}: found a link, expected a file"
        elif path.is_file() and not is_raw and path.suffix not in SUFFIXES:
            expected = ", ".join(sorted(SUFFIXES))
            yield f"{path}: found a file with the suffix {path.suffix!r}, expected {expected}"


def _stray_files(folder: Path, run: LoadedRun) -> Iterator[str]:
    listed = {run.compressed.get(file.path, file.path) for file in run.run.files}
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
    absent = (
        known - {row.implementation for row in run.rows} - {gap.implementation for gap in run.gaps}
    )
    for identifier in sorted(absent):
        yield f"{place}: found no figure of {identifier!r}, expected some of each implementation"


# --- plausibility --------------------------------------------------------------------------------


def _implausible(folder: Path, run: MeasuredRun) -> Iterator[str]:
    """Figures that are far from their neighbours (IMPLAUSIBLE) and not marked invalid.

    Neighbours are the other rounds of the same implementation; without rounds, the same
    implementation with the next higher and lower number of threads. Rounds within
    `plausible_within` of the metric are near, whatever their ratio. EXTREMES and phases are
    ignored: a pause of milliseconds is many times the usual value of most of them, and is not an
    error.
    """
    for row in run.series:
        if row.is_part or row.statistic in EXTREMES:
            continue
        for identifier, sample in row.samples.items():
            yield from _off_in_rounds(folder, row, identifier, sample)
    yield from _off_in_sequences(folder, run.loaded.rows)


def _off_in_rounds(folder: Path, row: Series, identifier: str, sample: Sample) -> Iterator[str]:
    middle = sample.figure if len(sample.valid) > 2 else 0.0
    if middle <= 0:
        return
    near = row.definition.plausible_within.get(row.unit, 0)
    for (_, _, round_), value in sample.valid.items():
        if abs(value - middle) <= near:
            continue
        if not middle / IMPLAUSIBLE < value < middle * IMPLAUSIBLE:
            yield (
                f"{folder}: found {value:g} {row.unit} for {scenario_name(row.scenario)} of "
                f"{identifier} in round {round_}, expected about {middle:g} as in its other rounds"
            )


def _off_in_sequences(folder: Path, rows: Iterable[ParsedRow]) -> Iterator[str]:
    """Single figures in a sequence of thread counts, each compared with the two beside it."""
    sequences: dict[tuple[object, ...], list[tuple[int, ParsedRow]]] = {}
    for row in rows:
        threads = row.scenario.threads
        if row.valid and row.round is None and threads is not None:
            of = row.scenario.model_copy(update={"threads": None})
            key = (row.implementation, of, row.phase, row.metric, row.statistic, row.unit)
            sequences.setdefault(key, []).append((threads, row))
    for sequence in sequences.values():
        ordered = [row for _, row in sorted(sequence, key=itemgetter(0))]
        for before, row, after in zip(ordered, ordered[1:], ordered[2:], strict=False):
            beside = (before.value, after.value)
            if not min(beside) / IMPLAUSIBLE < row.value < max(beside) * IMPLAUSIBLE:
                yield (
                    f"{folder}: found {row.value:g} {row.unit} of {row.implementation} with "
                    f"{row.scenario.threads} threads, expected something like the {beside[0]:g} "
                    f"and {beside[1]:g} beside it"
                )


# --- comparison tables ---------------------------------------------------------------------------


def _comparison(path: Path, runs: Path, skipped: Set[str]) -> list[str]:
    try:
        definition = read_definition(path)
        if definition.run in skipped:
            return []
        if not (runs / definition.run).is_dir():
            return [f"{path}: found run {definition.run!r}, expected a run of data/runs"]
        printed = read_printed(path, definition)
        run = measured(load_whole_run(runs / definition.run))
        return differences(definition, printed, run, path)
    except UserError as error:
        return [str(error)]
