"""Writes the contract as JSON Schema: `python -m tlsperf.publish.schema [--check]`.

The schemas are generated from `contract/`, so that the vocabulary is defined once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter

from tlsperf.contract.index import Index
from tlsperf.contract.record import Record
from tlsperf.contract.results import Results
from tlsperf.contract.run import Host, Run
from tlsperf.publish.files import write_generated

SCHEMAS: Final[dict[str, TypeAdapter[Any]]] = {
    "record": TypeAdapter(Record),
    "run": TypeAdapter(Run),
    "host": TypeAdapter(Host),
    "results": TypeAdapter(Results),
    "index": TypeAdapter(Index),
}


def schema_text(name: str) -> str:
    """The JSON Schema (draft 2020-12) of one part of the contract, as its file has it."""
    schema = SCHEMAS[name].json_schema(by_alias=True)
    body = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Writes every schema below data/schema; with --check prints the files that would change."""
    folder = Path("data/schema")
    wanted = {folder / f"{name}.schema.json": schema_text(name) for name in SCHEMAS}
    return write_generated(wanted, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
