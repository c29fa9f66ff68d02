"""A run in `data/runs/<run>`: its description and its figures.

Raw files are compared with their checksums before they are parsed.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from tlsperf.contract.errors import FormatError, UserError, alternatives, mismatch
from tlsperf.contract.record import Identifier, Overhead
from tlsperf.contract.results import Caveat
from tlsperf.contract.run import (
    LOCK_FORMAT,
    BegunRun,
    Host,
    Implementation,
    RawFile,
    Run,
    RunWarning,
)
from tlsperf.contract.text import counted
from tlsperf.contract.toml_text import read_toml
from tlsperf.load import tlsbench
from tlsperf.load.check_rows import check_rows
from tlsperf.load.damage import readable
from tlsperf.load.formats import FOREIGN, HEAD
from tlsperf.load.notes import known_notes
from tlsperf.load.rows import Format, Parsed, ParsedRow, RawInput

_KIND: Final = re.compile(rb'"kind": ?"(\w+)"')


@dataclass(frozen=True, eq=False)
class LoadedRun:
    """A run with its rows, its gaps with their reasons, and other facts from its files."""

    run: Run
    rows: Sequence[ParsedRow]
    gaps: list[tlsbench.Gap] = field(default_factory=list)
    warnings: list[RunWarning] = field(default_factory=list)
    overheads: list[Overhead] = field(default_factory=list)
    histograms: dict[str, list[tlsbench.EncodedHistogram]] = field(default_factory=dict)
    """Histograms of single handshakes, by the file name in errors."""
    withdrawn: list[Implementation] = field(default_factory=list)
    """What was measured, but a note withdraws it: nothing else here has it."""
    compressed: Mapping[str, str] = field(default_factory=dict)
    """The name in the run's folder of each raw file that is compressed there, by its path."""

    @property
    def rounds_are_pairs(self) -> bool:
        """Whether each round measured all implementations, as only `tlsbench` does."""
        return all(file.format == tlsbench.FORMAT for file in _files_of_figures(self.run))


def read_run(folder: Path) -> Run:
    """The checked `run.toml` of a run's folder, without implementations that a note withdraws."""
    return _shown(read_whole_run(folder), _notes_beside(folder))


def read_whole_run(folder: Path) -> Run:
    """The checked `run.toml` of a run's folder. The folder's name must be the run's id."""
    path = folder / "run.toml"
    if path.is_symlink():
        raise FormatError(str(path), None, "a link", "a file of the run")
    if not path.exists():
        if (begun := folder / "run.partial.toml").exists():
            raise UserError(_interrupted(begun))
        known = [other.parent.name for other in sorted(folder.parent.glob("*/run.toml"))]
        raise UserError(
            f"there is no run {folder.name!r}: expected "
            f"{alternatives(folder.name, known, str(folder.parent))}"
        )
    state = path.stat()
    run = _parsed(path, state.st_mtime_ns, state.st_size)
    if run.id != folder.name:
        raise FormatError(str(path), None, f"id {run.id!r}", f"{folder.name!r}, the folder's name")
    return run


def _interrupted(begun: Path) -> str:
    """What a run that was not measured to its end holds, and the command that resumes it."""
    try:
        run = BegunRun.model_validate(read_toml(begun))
    except ValidationError as error:
        raise mismatch(error, str(begun), model=BegunRun) from None
    records = begun.parent / "raw" / "records.jsonl"
    kinds = Counter(_KIND.findall(records.read_bytes() if records.exists() else b""))
    held = (
        f"{counted(kinds[b'measurement'], 'figure')} of {counted(kinds[b'round'], 'whole round')}"
    )
    resumes = "; ".join(run.tool.commands) or "the command that began it"
    return f"{begun}: the run is not complete, it holds {held}; to resume it: {resumes}"


@cache
def _parsed(path: Path, changed: int, size: int) -> Run:
    """The run in a file, read once while it does not change."""
    return parse_run(read_toml(path), str(path))


def parse_run(table: Mapping[str, Any], file: str) -> Run:
    """The run in the table of a `run.toml`; `file` is its name in errors."""
    try:
        return Run.model_validate(table)
    except ValidationError as error:
        raise mismatch(error, file, model=Run) from None


def stored_name(folder: Path, file: RawFile) -> str:
    """The name of a raw file in the run's folder: its path, with `.gz` if it is compressed there.

    Size and checksum in run.toml are those of the file as the tool wrote it.
    """
    return file.path if (folder / file.path).exists() else f"{file.path}.gz"


def raw_bytes(folder: Path, file: RawFile) -> bytes:
    """The bytes of a raw file, checked against size and checksum in run.toml."""
    name = stored_name(folder, file)
    path = folder / name
    if path.resolve() != folder.resolve() / name:
        raise FormatError(str(path), None, "a link", "a file of the run")
    try:
        data = _unpacked(path, file.bytes) if name != file.path else _read(path, file.bytes)
    except FileNotFoundError:
        raise UserError(f"{folder / file.path}: the raw file is missing") from None
    check_raw(file, data, str(path))
    return data


def _read(path: Path, expected: int) -> bytes:
    size = path.stat().st_size
    if size != expected:  # before a large file is read
        raise FormatError(str(path), None, f"{size} bytes", f"{expected}, as run.toml has it")
    return path.read_bytes()


def _unpacked(path: Path, expected: int) -> bytes:
    """The content of a compressed file, of which no more is unpacked than run.toml says."""
    try:
        with gzip.open(path) as file:
            data = file.read(expected + 1)
    except FileNotFoundError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        raise FormatError(str(path), None, str(error), "a file that gzip wrote") from None
    if len(data) != expected:
        size = f"more than {expected}" if len(data) > expected else str(len(data))
        found = f"{size} bytes when unpacked"
        raise FormatError(str(path), None, found, f"{expected}, as run.toml has it")
    return data


def check_raw(file: RawFile, data: bytes, name: str) -> None:
    """Raises FormatError if a raw file is HTML or does not match its checksum; `name` is for
    errors.
    """
    if data.lstrip().startswith(b"<"):
        # Browsers may treat a file of unknown type that starts like this as HTML and run it.
        raise FormatError(name, 1, "<", "the output of a benchmark, not a page")
    digest = hashlib.sha256(data).hexdigest()
    if digest != file.sha256:
        raise FormatError(name, None, f"sha256 {digest}", f"{file.sha256}, as run.toml has it")


def read_hosts(folder: Path, of: Iterable[Run] | None = None) -> dict[str, Host]:
    """The known hosts in `data/hosts`, or those `of` some runs, by id. Raises FormatError."""
    wanted = None if of is None else tuple(run.host_id for run in of)
    hosts = {}
    for path in sorted(folder.glob("*.toml")):
        if wanted is not None and not path.stem.startswith(wanted):
            continue
        try:
            host = Host.model_validate(read_toml(path))
        except ValidationError as error:
            raise mismatch(error, str(path), model=Host) from None
        if host.id != path.stem:
            raise FormatError(str(path), None, f"id {host.id!r}", f"{path.stem!r}, its file's name")
        hosts[host.id] = host
    return hosts


def read_runs(folder: Path) -> dict[str, Run]:
    """The runs in `data/runs` as `read_run` reads them, by id; those that cannot be read are left
    out.
    """
    notes = known_notes(folder.parent)
    folders = [path.parent for path in sorted(folder.glob("*/run.toml"))]
    return {run.id: _shown(run, notes) for run in readable(read_whole_run, folders)}


def load_run(folder: Path) -> LoadedRun:
    """Reads a run with all its raw files, without what a note withdraws. Raises UserError."""
    return without_withdrawn(load_whole_run(folder), _notes_beside(folder))


def load_whole_run(folder: Path) -> LoadedRun:
    """Reads a run with all its raw files. Raises UserError."""
    run = read_whole_run(folder)
    data = {file.path: raw_bytes(folder, file) for file in run.files}
    stored = {file.path: stored_name(folder, file) for file in run.files}
    compressed = {path: name for path, name in stored.items() if path != name}
    return replace(loaded_run(run, data, str(folder)), compressed=compressed)


def loaded_run(run: Run, data: Mapping[str, bytes], folder: str) -> LoadedRun:
    """The run with the content of its files, given by path; `folder` names the run in errors."""
    rows, gaps, warnings, overheads, histograms = [], [], [], [], {}
    for file in run.files:
        if file.format == tlsbench.FORMAT:
            name = f"{folder}/{file.path}"
            records = tlsbench.parse(data[file.path], name)
            rows += records.rows
            gaps += records.gaps
            warnings += _disturbances(records)
            overheads += records.overheads
            histograms[name] = records.histograms
    foreign = foreign_rows(run, data, folder).rows
    check_rows(foreign)
    rows += foreign
    known = {implementation.id for implementation in run.implementations}
    if unknown := sorted({row.implementation for row in rows} - known):
        expected = f"one of {', '.join(sorted(known))}"
        raise FormatError(f"{folder}/run.toml", None, f"figures of {unknown[0]!r}", expected)
    return LoadedRun(run, rows, gaps, warnings, overheads, histograms)


def loader(folder: Path) -> Callable[[Identifier], LoadedRun]:
    """A function that loads runs of `folder` by id and caches them."""
    return cache(lambda run_id: load_run(folder / run_id))


# --- what notes withdraw -------------------------------------------------------------------------


def _notes_beside(folder: Path) -> list[Caveat]:
    """The notes on the run `data/runs/<run>`."""
    return known_notes(folder.parent.parent)


def _withdrawn(run: Run, notes: Iterable[Caveat]) -> list[Implementation]:
    about = [note for note in notes if note.withdraws and run.id in note.runs]
    libraries = {library for note in about for library in note.libraries}
    return [of for of in run.implementations if of.library in libraries]


def withdrawal(folder: Path, implementation: Identifier) -> Caveat | None:
    """The note that withdraws an implementation of the run in `folder`."""
    run = read_whole_run(folder)
    for note in _notes_beside(folder):
        if implementation in (of.id for of in _withdrawn(run, [note])):
            return note
    return None


def _shown(run: Run, notes: Sequence[Caveat]) -> Run:
    """The run as if nothing that a note withdraws had been measured; its raw files stay."""
    gone = {of.id for of in _withdrawn(run, notes)}
    if not gone:
        return run
    layouts = [
        of.model_copy(update={"programs": {i: p for i, p in of.programs.items() if i not in gone}})
        for of in run.layouts
    ]
    kept = [of for of in run.implementations if of.id not in gone]
    return run.model_copy(update={"implementations": kept, "layouts": layouts})


def without_withdrawn(loaded: LoadedRun, notes: Sequence[Caveat]) -> LoadedRun:
    """The run without what a note withdraws. Raises UserError if nothing is left."""
    withdrawn = _withdrawn(loaded.run, notes)
    if not withdrawn:
        return loaded
    run = _shown(loaded.run, notes)
    if not run.implementations:
        found = ", ".join(note.id for note in notes if _withdrawn(loaded.run, [note]))
        raise UserError(
            f"run {run.id} has no figures to show: data/notes.toml withdraws all ({found})"
        )
    gone = {of.id for of in withdrawn}
    return replace(
        loaded,
        run=run,
        rows=[row for row in loaded.rows if row.implementation not in gone],
        gaps=[gap for gap in loaded.gaps if gap.implementation not in gone],
        overheads=[of for of in loaded.overheads if of.implementation not in gone],
        histograms={
            name: [of for of in histograms if of.implementation not in gone]
            for name, histograms in loaded.histograms.items()
        },
        withdrawn=withdrawn,
    )


def _files_of_figures(run: Run) -> list[RawFile]:
    return [file for file in run.files if file.format != LOCK_FORMAT]


def foreign_rows(run: Run, data: Mapping[str, bytes], folder: str) -> Parsed:
    """The rows and remarks in raw files of other tools; files of one format are read together.

    `data` has the bytes of each file by its path in the run; `folder` names the run in errors.
    """
    sources: dict[str, list[RawInput]] = {}
    for file in _files_of_figures(run):
        if file.format == tlsbench.FORMAT:
            continue
        if file.format not in FOREIGN:
            known = ", ".join([tlsbench.FORMAT, *FOREIGN])
            raise FormatError(f"{folder}/run.toml", None, f"format {file.format!r}", known)
        name = f"{folder}/{file.path}"
        if not file.implementation and not FOREIGN[file.format].implementations:
            raise FormatError(name, None, "no implementation", "a value for implementation")
        check_library(FOREIGN[file.format], run, file.implementation, data[file.path], name)
        source = RawInput(data[file.path], name, run, file.implementation or "", file.round)
        sources.setdefault(file.format, []).append(source)
    together = Parsed()
    for format_name, files in sources.items():
        parsed = FOREIGN[format_name].parse(files)
        together.rows += parsed.rows
        together.remarks += parsed.remarks
    return together


def check_library(
    format_: Format, run: Run, implementation: Identifier | None, data: bytes, name: str
) -> None:
    """Raises FormatError if the tool of a file cannot measure the file's implementation."""
    if format_.libraries is None:
        return
    libraries = format_.libraries(data[:HEAD].decode("utf-8-sig", errors="replace"))
    library = next((i.library for i in run.implementations if i.id == implementation), None)
    if library is not None and library not in libraries:
        expected = f"an implementation of {' or '.join(sorted(libraries))}"
        found = f"output of {format_.tool} ({format_.name}) for {implementation}"
        raise FormatError(name, None, found, expected)


def _disturbances(records: tlsbench.Records) -> list[RunWarning]:
    disturbed = [state for state in records.rounds if state.disturbed]
    if not disturbed:
        return []
    why = f" (the first: {'; '.join(disturbed[0].reasons)})" if disturbed[0].reasons else ""
    message = (
        f"{len(disturbed)} of {len(records.rounds)} rounds were disturbed and do not count{why}."
    )
    return [RunWarning(code="disturbed-rounds-excluded", message=message)]
