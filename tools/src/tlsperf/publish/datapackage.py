"""`datapackage.json`: the Frictionless data package of an `index.csv`, of all reports or one.

Format: https://datapackage.org/standard/data-package/, with the types of Table Schema. The columns
are the fields of `IndexedResult`, so the package cannot differ from the file.
"""

from __future__ import annotations

import json
import types
from collections.abc import Sequence
from datetime import date
from typing import Final, Literal, Union, get_args, get_origin

from tlsperf.contract.index import IndexedResult
from tlsperf.load.config import Licence

_TYPES: Final = {bool: "boolean", int: "integer", float: "number", date: "date"}


def datapackage_json(name: str, title: str, licences: Sequence[Licence]) -> str:
    """The text of the package; its columns are the same for every set of results."""
    any_of = " Licensed under any of the licences." if licences else ""
    package = {
        "name": name,
        "title": title,
        "description": f"One line is one value of one report.{any_of}",
        **({"licenses": [licence.model_dump() for licence in licences]} if licences else {}),
        "resources": [
            {
                "name": "index",
                "path": "index.csv",
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": {"fields": [_field(name) for name in IndexedResult.model_fields]},
            }
        ],
    }
    return json.dumps(package, indent=1, ensure_ascii=False) + "\n"


def _field(name: str) -> dict[str, object]:
    info = IndexedResult.model_fields[name]
    field: dict[str, object] = {"name": name, "type": _type(info.annotation)}
    if info.description:
        field["description"] = info.description
    if info.is_required():
        field["constraints"] = {"required": True}
    return field


def _type(annotation: object) -> str:
    """The type of a column; a list is text, separated by spaces."""
    if get_origin(annotation) in (Union, types.UnionType):
        annotation = next(a for a in get_args(annotation) if a is not type(None))
    if get_origin(annotation) is Literal or not isinstance(annotation, type):
        return "string"
    return _TYPES.get(annotation, "string")
