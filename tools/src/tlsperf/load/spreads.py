"""Reads data/spreads.json."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.errors import mismatch
from tlsperf.contract.spreads import ModelSpreads, SpreadsFile

SPREADS = "data/spreads.json"


def read_spreads(root: Path) -> list[ModelSpreads]:
    """The spreads of all processor models; none without the file. Raises FormatError."""
    path = root / SPREADS
    try:
        return SpreadsFile.model_validate_json(path.read_bytes()).models
    except FileNotFoundError:
        return []
    except ValidationError as error:
        raise mismatch(error, str(path), model=SpreadsFile) from None
