"""Cases of raw formats: files as users have them, and what an import makes of them.

`formats/<format>.toml` has the cases of one format, with a hyphen for the slash in its name:

    implementation  what was measured, for all cases; `of` says it for one
    says            what is special
    given           the text of a file, or a table of texts by file name; or
    files           names of files in `formats/`
    forced          true: the user says the format (`--from`)
    gives           each figure and each remark on a line of its own, or the refusal
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.contract.run import HostFacts, Implementation, RawFile, Run, Tool
from tlsperf.load.check_rows import check_rows
from tlsperf.load.formats import FOREIGN, detect
from tlsperf.load.importer import implementation_of
from tlsperf.load.rows import Parsed, ParsedRow
from tlsperf.load.run import foreign_rows

FOLDER: Final = Path(__file__).parent / "formats"
RUN: Final = Run(
    id="2026-01-01-test",
    date=date(2026, 1, 1),
    host_id="a-host",
    host=HostFacts(id="a-host", cpu="a cpu", architecture="x86_64"),
    tool=Tool(name="a tool"),
    implementations=[
        Implementation(id="openssl-3.6.1", library="openssl", version="3.6.1"),
        Implementation(id="rustls-0.23.37-aws-lc-rs", library="rustls", version="0.23.37"),
        Implementation(id="boringssl-30cd935", library="boringssl", version="30cd935"),
    ],
    files=[RawFile(path="raw/x", sha256="0" * 64, bytes=0, format="published")],
)
ROUND: Final = 3


@dataclass(frozen=True)
class Case:
    format: str
    says: str
    files: dict[str, bytes]
    """The bytes of each file by its name."""
    gives: str
    implementation: str | None
    forced: bool

    def read(self, files: dict[str, bytes] | None = None) -> Parsed:
        """What an import reads from the case's files, or from others. Raises UserError."""
        raw = {f"raw/{name}": data for name, data in (files or self.files).items()}
        implementations = {i.id: i for i in RUN.implementations}
        if named_in := FOREIGN[self.format].implementations:
            for path, data in raw.items():
                named = {i.id: i for i in named_in(data, path)}
                implementations |= named if self.format != "published" else {}
        if self.implementation:
            implementations[self.implementation] = implementation_of(self.implementation)
        listed = [
            RawFile(
                path=path,
                sha256="0" * 64,
                bytes=len(data),
                format=self.format if self.forced else detect(data, Path(path).name, path).name,
                implementation=self.implementation,
                round=ROUND,
            )
            for path, data in raw.items()
        ]
        assert {file.format for file in listed} == {self.format}
        run = RUN.model_copy(
            update={"implementations": list(implementations.values()), "files": listed}
        )
        parsed = foreign_rows(run, raw, "")
        check_rows(parsed.rows)
        return parsed

    def outcome(self) -> str:
        """What the case gives now, in the words of `gives`."""
        try:
            parsed = self.read()
        except UserError as error:
            return f"refused: {str(error).removeprefix('/').removeprefix('raw/')}"
        lines = [self._row(row) for row in parsed.rows]
        lines += [f"{self._place(r.file, r.line)} {r.code}: {r.message}" for r in parsed.remarks]
        return "\n".join(lines) or "nothing"

    def _place(self, file: str, line: int) -> str:
        name = Path(file).name
        assert name in self.files
        return f"{name} {line}" if len(self.files) > 1 else f"{line}"

    def _row(self, row: ParsedRow) -> str:
        scenario = row.scenario.model_dump(exclude_none=True)
        fields = [f"{name}={scenario[name]}" for name in SCENARIO_FIELDS[1:] if name in scenario]
        statistic = "" if row.statistic == "value" else f"{row.statistic} "
        words = f"{row.metric} {statistic}{row.value:.12g} {row.unit}, {row.scenario.operation}"
        if row.implementation != self.implementation:
            fields.append(f"of {row.implementation}")
        if row.round != ROUND:
            fields.append(f"round {row.round}")
        note = "" if row.note is None else f", does not count: {row.note}"
        return f"{self._place(row.file, row.line)} {' '.join([words, *fields])}{note}"


def cases_of(format: str) -> list[Case]:
    """The cases of one format."""
    text = (FOLDER / f"{format.replace('/', '-')}.toml").read_text(encoding="utf-8")
    table = tomllib.loads(text)
    found = []
    for case in table["case"]:
        given = case.get("given", {})
        texts = given if isinstance(given, dict) else {"output_1": given}
        files = {name: text.encode() for name, text in texts.items()}
        files |= {name: (FOLDER / name).read_bytes() for name in case.get("files", [])}
        found.append(
            Case(
                format,
                case["says"],
                files,
                case.get("gives", "").strip("\n"),
                case.get("of", table.get("implementation")),
                case.get("forced", False),
            )
        )
    return found


CASES: Final = {format: cases_of(format) for format in FOREIGN}
