"""TLS performance reports: from raw benchmark output to results, charts and pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


def frame(folder: str | Path) -> pd.DataFrame:
    """The tidy frame of the run in a folder, for notebooks. `load/frame.py` lists its columns."""
    from tlsperf.load.frame import tidy_frame
    from tlsperf.load.run import load_run

    return tidy_frame(load_run(Path(folder)).rows)
