"""Adds the night that a library's job left in `build/night/LIBRARY` to `data/nightly/main-branch`.

`python tools/automation/take_night.py LIBRARY DAY...` accepts one night of one of these days, about
that library alone. The job ran the build scripts of another project, so its files are a stranger's:
nothing is copied before all of it was checked. Prints what became of it; the exit code is 1, with the
reason, if the night is left out.
"""

from __future__ import annotations

import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from built import ROOT
from tlsperf.contract.errors import UserError, message_of
from tlsperf.load.nights import ABSENCE, read_nights
from tlsperf.publish.nightly import nightly
from tlsperf.publish.validate import problems

BYTES: Final = 8 * 1024 * 1024
"""Of all files of a night; most have 60 KB, and one that is absent a line."""
FILES: Final = 100


def take(root: Path, library: str, days: Sequence[str]) -> str:
    """Adds the night; what became of it. UserError, and nothing was added, if it is invalid."""
    night = _only_night(root / "build" / "night" / library, [f"{day}-{library}" for day in days])
    place = root / "data" / "nightly" / "main-branch" / night.name
    if place.exists():
        return f"{night.name} is in the branch counts already: it is not replaced"
    _refuse_large_or_unusual(night)
    with tempfile.TemporaryDirectory() as scratch:
        alone = Path(scratch, "data", "nightly", "main-branch", night.name)
        shutil.copytree(night, alone)
        for problem in [*problems(Path(scratch, "data")), *_about_others(alone, library, days)]:
            raise UserError(problem.replace(f"{scratch}/", ""))
    shutil.copytree(night, place)
    try:
        nightly(read_nights(place.parent))  # beside the earlier ones
    except BaseException:
        shutil.rmtree(place)
        raise
    return f"{night.name} is added"


def _only_night(folder: Path, expected: Sequence[str]) -> Path:
    found = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    if len(found) != 1 or found[0] not in expected:
        names = ", ".join(map(repr, found)) or "nothing"
        raise UserError(f"found {names[:200]}, expected {' or '.join(expected)}")
    return folder / found[0]


def _refuse_large_or_unusual(night: Path) -> None:
    """Refuses what is no plain file, and more of them than a night has; reads none."""
    size = 0
    for count, path in enumerate(chain([night], night.rglob("*"))):
        state = path.lstat()
        if not (stat.S_ISREG(state.st_mode) or stat.S_ISDIR(state.st_mode)):
            raise UserError(f"{path.name!r}: found a link or a device, expected plain files")
        size += state.st_size if stat.S_ISREG(state.st_mode) else 0
        if size > BYTES or count > FILES:
            raise UserError(f"found more than {FILES} files or {BYTES} bytes, expected a night")


def _about_others(night: Path, library: str, days: Sequence[str]) -> Iterator[str]:
    """What is wrong with a night that is valid by itself: another library, another day."""
    nights = read_nights(night.parent)
    if len(nights.runs) + len(nights.absences) != 1:
        yield f"{night.name}: found run.toml and {ABSENCE} or neither, expected one of them"
    if nights.absences and [path.name for path in night.iterdir()] != [ABSENCE]:
        yield f"{night.name}: found other files beside {ABSENCE}, expected it alone"
    libraries = {absence.library for absence in nights.absences.values()}
    for run in nights.runs:
        libraries |= {of.library for of in run.run.implementations}
        if str(run.run.date) not in days:
            yield f"{night.name}: found the date {run.run.date}, expected {' or '.join(days)}"
    if libraries != {library}:
        yield f"{night.name}: found {', '.join(sorted(libraries))}, expected {library} alone"


def main(library: str, *days: str) -> int:
    try:
        print(take(ROOT, library, days))
    except (UserError, OSError) as error:
        print(f"take_night: {message_of(error)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
