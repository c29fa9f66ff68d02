"""Reads the results.json of a report."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from tlsperf.contract.errors import UserError, mismatch
from tlsperf.contract.results import Results


def read_results(path: Path) -> Results:
    """The checked results in a file that `tlsperf build` wrote. Raises UserError."""
    try:
        return Results.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise UserError(f"{path} is missing: run `tlsperf build`") from None
    except ValidationError as error:
        raise mismatch(error, str(path)) from None
