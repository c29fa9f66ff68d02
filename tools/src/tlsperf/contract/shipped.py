"""The files of the repository that an installed tlsperf has beside its modules.

In a checkout, `shipped/` has links to them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SHIPPED: Final = Path(__file__).parents[1] / "shipped"
