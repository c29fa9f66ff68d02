"""What the tools read of `config.toml`, the configuration of Zola."""

from __future__ import annotations

from pathlib import Path
from typing import Final, NamedTuple

from tlsperf.contract.errors import FormatError
from tlsperf.load.toml_text import read_toml

FILE: Final = "config.toml"


class Site(NamedTuple):
    """The texts of a site that previews show."""

    title: str
    description: str


def read_site(root: Path) -> Site:
    """Title and description of the site. Raises FormatError."""
    table = read_toml(root / FILE)
    found = []
    for key in Site._fields:
        if not isinstance(value := table.get(key), str):
            what = f"no {key}" if value is None else f"{key} {value!r}"
            raise FormatError(str(root / FILE), None, what, f"{key} with a text")
        found.append(value)
    return Site(*found)
