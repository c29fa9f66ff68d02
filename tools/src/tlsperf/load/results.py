"""Reads the results.json of a report."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.errors import UserError, mismatch
from tlsperf.contract.results import Results


def read_results(path: Path) -> Results:
    """The checked results in a file that `tlsperf render` wrote. Raises UserError."""
    try:
        return Results.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run `tlsperf render`") from None
    except ValidationError as error:
        raise mismatch(error, str(path)) from None


def parse_results(text: str | bytes) -> Results | None:
    """The results in the text of a results.json; None if it has another schema."""
    try:
        return Results.model_validate_json(text)
    except ValidationError:
        return None


def known_results(path: Path) -> Results | None:
    """The results in a file; None if it is missing or has another schema."""
    return parse_results(path.read_bytes()) if path.exists() else None
