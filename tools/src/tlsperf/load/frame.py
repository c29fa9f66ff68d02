"""The tidy frame of a run for notebooks: one row for each observation, whatever format it was in.

Its columns have this order:

    implementation                                text
    operation … side, variant                     text   } together a scenario
    threads, size, in_flight, record_size         Int64  }
    phase                                         text
    session, round                                Int64
    metric, statistic                             text
    value                                         float64, finite, >= 0
    unit                                          text
    valid                                         bool
    note                                          text

Text columns are categorical, which keeps 300,000 rows below 20 MB. A value that the source does not
report is missing (NaN in text, <NA> in integers), so group with `observed=True, dropna=False`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import pandas as pd

from tlsperf.contract.record import SCENARIO_FIELDS
from tlsperf.load.rows import ParsedRow

INTEGERS: Final = ("threads", "size", "in_flight", "record_size", "session", "round")


def tidy_frame(rows: Sequence[ParsedRow]) -> pd.DataFrame:
    """The tidy frame of rows."""
    columns = {
        "implementation": [row.implementation for row in rows],
        **{name: [getattr(row.scenario, name) for row in rows] for name in SCENARIO_FIELDS},
    }
    for name in (
        "phase",
        "session",
        "round",
        "metric",
        "statistic",
        "value",
        "unit",
        "valid",
        "note",
    ):
        columns[name] = [getattr(row, name) for row in rows]
    types = {name: "Int64" if name in INTEGERS else "category" for name in columns}
    return pd.DataFrame(columns).astype({**types, "value": "float64", "valid": "bool"})
