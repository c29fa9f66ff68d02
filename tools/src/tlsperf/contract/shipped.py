"""The files of the repository that an installed tlsperf has beside its modules.

In a checkout, `shipped/` has links to them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

SHIPPED: Final = Path(__file__).parents[1] / "shipped"
SITE: Final = SHIPPED / "site"
"""What `tlsperf init` writes."""
THEME: Final = Path("themes", "tlsperf")
"""The templates and style sheets, below the top of a site."""
