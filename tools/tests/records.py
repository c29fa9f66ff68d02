"""Output of tools for tests of imports; for tests of published tables whole rows, and errors word for
word.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from cases import RUN
from tlsperf.contract.errors import FormatError
from tlsperf.contract.record import Scenario
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import Parsed, ParsedRow, RawInput

BULK = """\
env LD_LIBRARY_PATH=../openssl ./bench bulk ECDHE-RSA-AES128-GCM-SHA256 1048576
negotiated TLSv1.2 with ECDHE-RSA-AES128-GCM-SHA256
send: 6512.01 MB/s
recv: 7236.13 MB/s
"""
MEMORY = "env /usr/bin/time -f %M ./bench memory TLS_AES_256_GCM_SHA384 1000\n83300\n"

FILE = "raw/output_1"


def parsed(format: str, text: str, implementation: str = "openssl-3.6.1") -> Parsed:
    """The result of a format for the second round of an implementation."""
    return FOREIGN[format].parse([RawInput(text.encode(), FILE, RUN, implementation, 2)])


def refusal(format: str, text: str) -> str:
    """The error message for a file that is not of the format."""
    with pytest.raises(FormatError) as caught:
        parsed(format, text)
    assert caught.value.file == FILE
    return str(caught.value).removeprefix(FILE)


def record(
    line: int,
    scenario: Mapping[str, object],
    value: float,
    unit: str,
    note: str | None = None,
    *,
    metric: str = "rate",
    statistic: str = "value",
    implementation: str = "openssl-3.6.1",
    round_: int | None = 2,
) -> ParsedRow:
    """The row that the file is expected to give; a note makes it invalid."""
    made = Scenario.model_validate(scenario)
    where = (FILE, line, implementation, round_)
    return ParsedRow(*where, made, metric, value, unit, statistic, note)
