"""Checks that the numbers in a text agree with the fields beside it in a file."""

from __future__ import annotations

import re
from typing import Final

_NUMBER: Final = re.compile(r"(?<![\w.])[0-9][0-9,]*(?:\.[0-9]+)?")


def agrees(text: str, *values: float, stored: float = 1e-9) -> bool:
    """Whether the numbers in a text are `values`, each rounded to the digits that are printed.

    `stored` is the relative error that a value has from being rounded itself: 5e-6 for six digits.
    """
    printed = _NUMBER.findall(text)
    return len(printed) == len(values) and all(
        abs(float(number.replace(",", "")) - value)
        <= 0.5 * 10 ** -len(number.partition(".")[2]) * (1 + 1e-9) + stored * abs(value)
        for number, value in zip(printed, values, strict=True)
    )
