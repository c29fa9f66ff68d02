"""Digests of what was found in order or built, so that only what changed is looked at again.

`tlsperf render` and `tlsperf validate` write `data/checked.json`; with `--changed` they look only at
reports and runs whose files, or the code of the tools, are not those of the digest. The nightly tier
checks everything without it. `tlsperf build` has `build/built.json`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

from tlsperf.analysis.changes import predecessor
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import Run
from tlsperf.contract.shipped import SHIPPED
from tlsperf.load.answers import read_answers
from tlsperf.load.content import PICTURE
from tlsperf.load.page import Page
from tlsperf.load.spreads import SPREADS
from tlsperf.publish.files import put_file

FILE: Final = Path("data", "checked.json")
PACKAGE: Final = SHIPPED.parent
SHORT: Final = 16
"""Hexadecimal digits of a digest."""
Kind = Literal["reports", "answers", "runs", "downloads"]


class Checked:
    """The digests of one kind, as they were recorded and as they are recorded again."""

    def __init__(self, root: Path, kind: Kind, file: Path = FILE) -> None:
        self._path = root / file
        self._kind: Kind = kind
        self._code = digest(root, _code(root))
        self._table = _read(self._path)
        of_kind = self._table.get(kind, {})
        same_code = of_kind.get("code") == self._code
        self._known: dict[str, str] = dict(of_kind.get("digests", {})) if same_code else {}

    def has(self, name: str, found: str) -> bool:
        """Whether a name was recorded with this digest, by the code that there is now."""
        return self._known.get(name) == found

    def record(self, found: Mapping[str, str], *, all_of_them: bool) -> None:
        """Records what was found in order; with `all_of_them`, forgets everything else.

        Nothing is recorded of a part if the rest was recorded by other code.
        """
        if not all_of_them and not self._known:
            return
        digests = dict(found) if all_of_them else self._known | dict(found)
        self._table[self._kind] = {"code": self._code, "digests": dict(sorted(digests.items()))}
        text = json.dumps(dict(sorted(self._table.items())), indent=1) + "\n"
        put_file(self._path, text.encode())


def _read(path: Path) -> dict[str, Any]:
    """The recorded table; empty if there is none or it cannot be read, so that all is checked."""
    try:
        table = json.loads(path.read_text(encoding="utf-8"))
        recorded = table.items()
        return {kind: of for kind, of in recorded if isinstance(of.get("digests"), dict)}
    except (OSError, ValueError, RecursionError, AttributeError):
        return {}


def digest(root: Path, paths: Iterable[Path], *texts: str) -> str:
    """A digest of files, with their paths below `root` or below the package, and of texts."""
    found = hashlib.sha256("\0".join(texts).encode())
    root = root.resolve()
    named = {_name(path, root): path for path in paths}
    for name, path in sorted(named.items()):
        if path.is_file():
            found.update(f"\0{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()[:SHORT]


def _name(path: Path, root: Path) -> str:
    """The name of a file, which is the same from every folder and for every installation."""
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).as_posix()
    return path.resolve().relative_to(root).as_posix()


def _code(root: Path) -> list[Path]:
    """What decides how data are read and shown, besides the data."""
    libraries = (SHIPPED / "libraries").glob("*/library.toml")
    others = ("config.toml", "tools/requirements.txt")
    of_root = (root / name for name in others)
    return [*PACKAGE.rglob("*.py"), *libraries, SHIPPED / "libraries.toml", *of_root]


def run_digest(root: Path, folder: Path) -> str:
    """The digest of a run with its raw files, and of what refers to it."""
    data = root / "data"
    others = [*data.glob("hosts/*.toml"), *data.glob("comparisons/*")]
    return digest(root, [*folder.rglob("*"), *others])


def report_digest(
    root: Path, page: Page, pages: Sequence[Page], runs: Mapping[Identifier, Run]
) -> str:
    """The digest of a report: what it is made from, and what was made.

    A report depends on others: those that its page names, and its predecessor.
    """
    data, text = root / "data", page.opening + page.front_matter + page.rest
    every = [part for it in pages for part in it.reports]
    before = {
        found.of
        for part in page.reports
        if all(run in runs for run in part.runs)
        if (found := predecessor(part, every, runs))
    }

    def is_named(other: Page) -> bool:
        ids = {other.id, *(part.id for part in other.reports)}
        return other.id != page.id and (other.id in before or any(id_ in text for id_ in ids))

    named = [it for it in pages if is_named(it)]
    folder = page.path.parent
    paths = [
        page.path,
        *(folder / name for name in page.generated.get("files", [])),
        *(data / "runs" / run / "run.toml" for run in page.runs),
        *(it.path.with_name("page.json") for it in named),
        *data.glob("hosts/*.toml"),
        *data.glob("comparisons/*"),
        data / "notes.toml",
        root / SPREADS,
    ]
    raw = (data / "runs" / run / "raw" for run in page.runs)
    return digest(root, paths, *sorted(path.name for folder in raw for path in folder.glob("*.gz")))


def answer_digests(
    root: Path, pages: Sequence[Page], reports: Mapping[Identifier, str]
) -> dict[Identifier, str]:
    """The digest of each answer: its page, its files, and the reports of the parts that it quotes.

    `reports` are the digests of reports.
    """
    place = {part.id: page.id for page in pages for part in page.reports}
    return {
        answer.id: digest(
            root,
            [answer.path.with_name(name) for name in (answer.path.name, "page.json", *PICTURE)],
            *(reports[place[part]] for part in answer.answer.parts if part in place),
        )
        for answer in read_answers(root)
    }
