"""Reads `data/addresses.toml`: earlier file names of charts, which must keep working."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import StringConstraints, TypeAdapter, ValidationError

from tlsperf.contract.errors import FormatError, alternatives, mismatch
from tlsperf.contract.record import Identifier
from tlsperf.load.toml_text import read_toml

Drawing = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*\.svg$", max_length=200)]

EarlierNames = Mapping[Identifier, Mapping[Drawing, list[Drawing]]]
"""By report and file of a chart: the names under which the chart is also written."""

_ADAPTER: Final = TypeAdapter(dict[Identifier, dict[Drawing, list[Drawing]]])


def read_addresses(path: Path, reports: Collection[Identifier]) -> EarlierNames:
    """The checked content of the file; empty if the file does not exist.

    Raises FormatError, also for a report that is not in `reports`.
    """
    if not path.exists():
        return {}
    try:
        earlier = _ADAPTER.validate_python(read_toml(path))
    except ValidationError as error:
        raise mismatch(error, str(path)) from None
    for report in earlier:
        if report not in reports:
            raise FormatError(str(path), None, f"report {report!r}", alternatives(report, reports))
    return earlier


def with_earlier_names(
    drawn: Mapping[str, str], earlier: Mapping[Drawing, list[Drawing]], path: Path
) -> dict[str, str]:
    """Charts by file name, repeated under the earlier names in the file `path`.

    Raises FormatError if a chart does not exist or a name occurs twice.
    """
    files = dict(drawn)
    for file, names in earlier.items():
        if file not in drawn:
            expected = f"a chart of the report: {', '.join(drawn) or 'it has none'}"
            raise FormatError(str(path), None, file, expected)
        for name in names:
            if name in files:
                raise FormatError(str(path), None, f"{name} twice", "each address once")
            files[name] = drawn[file]
    return files
