"""Reads the results.json of a report."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.errors import UserError, mismatch
from tlsperf.contract.results import Results


def read_results(path: Path) -> Results:
    """The checked results of a file that `tlsperf render` wrote."""
    try:
        return Results.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run `tlsperf render`") from None
    except ValidationError as error:
        raise mismatch(error, str(path)) from None


def parse_results(text: str | bytes) -> Results | None:
    """The results of a results.json; None where it is of another schema."""
    try:
        return Results.model_validate_json(text)
    except ValidationError:
        return None


def known_results(path: Path) -> Results | None:
    """The results of a file; None where it is missing or of another schema."""
    return parse_results(path.read_bytes()) if path.exists() else None
