"""Reads data/spreads.json."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.errors import mismatch
from tlsperf.contract.spreads import ModelSpreads, SpreadsFile
from tlsperf.load.json_text import parse_json

SPREADS = "data/spreads.json"


def read_spreads(root: Path) -> list[ModelSpreads]:
    """The spreads of all processor models; none without the file. Raises FormatError."""
    path = root / SPREADS
    try:
        text = path.read_text("utf-8", errors="replace")
        return SpreadsFile.model_validate(parse_json(text, str(path))).models
    except FileNotFoundError:
        return []
    except ValidationError as error:
        raise mismatch(error, str(path), model=SpreadsFile) from None
