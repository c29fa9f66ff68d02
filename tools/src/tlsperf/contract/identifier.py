"""What names a run, a report, a host or an implementation; `contract/record.py` has the type."""

from __future__ import annotations

from typing import Final

IDENTIFIER: Final = r"^[a-z0-9][a-z0-9._-]*$"
MOST_OF_IDENTIFIER: Final = 200
"""Short enough to name a folder, with a suffix: file systems limit names to 255 bytes."""
YEARS: Final = range(2000, 2100)
"""Of every date: TLS is of 1999, so nothing here is older, and a later year is a slip or an attack."""
