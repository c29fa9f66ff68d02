"""What the tools read of `config.toml`, the configuration of Zola."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tlsperf.contract.errors import FormatError
from tlsperf.load.toml_text import read_toml

FILE: Final = "config.toml"


class Licence(NamedTuple):
    name: str
    path: str


class Site(NamedTuple):
    """The texts of a site that previews and downloads show."""

    title: str
    description: str
    licences: list[Licence]
    """A reader may choose any."""


def read_site(root: Path) -> Site:
    """Title, description and licences of the site. Raises FormatError."""
    table = read_toml(root / FILE)
    title, description = (_text(root, table, key) for key in ("title", "description"))
    listed = table.get("extra", {}).get("licences", [])
    licences = [
        Licence(*(_text(root, licence, key) for key in Licence._fields)) for licence in listed
    ]
    return Site(title, description, licences)


def _text(root: Path, table: Mapping[str, Any], key: str) -> str:
    if not isinstance(value := table.get(key), str):
        what = f"no {key}" if value is None else f"{key} {value!r}"
        raise FormatError(str(root / FILE), None, what, f"{key} with a text")
    return value
