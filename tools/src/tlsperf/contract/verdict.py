"""The verdict of a comparison."""

from __future__ import annotations

from typing import Literal

Verdict = Literal["faster", "slower", "no difference shown", "too few rounds", "not tested"]
