"""Reads `data/addresses.toml`: the addresses that charts had before others replaced them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Final

from pydantic import StringConstraints, TypeAdapter, ValidationError

from tlsperf.contract.errors import FormatError, alternatives, mismatch
from tlsperf.contract.record import Identifier
from tlsperf.load.run import read_toml

Drawing = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*\.svg$", max_length=200)]

EarlierNames = Mapping[Identifier, Mapping[Drawing, list[Drawing]]]
"""By report and by the file of a chart: the names that the chart is also written under."""

_ADAPTER: Final = TypeAdapter(dict[Identifier, dict[Drawing, list[Drawing]]])


def read_addresses(path: Path, reports: Collection[Identifier]) -> EarlierNames:
    """The checked content of the file; empty if there is none.

    Raises FormatError, also at a report that is not one of `reports`.
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
    """Charts by the names of their files, and again by their earlier names, which `path` lists."""
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
