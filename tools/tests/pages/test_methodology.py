"""The table of biases names tests that exist."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from pages.fixture import ROOT

BIASES = tomllib.loads((ROOT / "data" / "biases.toml").read_text(encoding="utf-8"))["bias"]


@pytest.mark.parametrize("line", BIASES, ids=lambda line: line["bias"][:40])
def test_the_named_tests_exist(line: dict[str, Any]) -> None:
    assert set(line) == {"bias", "consequence", "ours", "tests"}
    assert line["tests"]
    for test in line["tests"]:
        file, _, name = test.partition("::")
        source = (ROOT / file).read_text(encoding="utf-8")
        assert re.search(rf"#\[test\]\n\s*fn {name}\(", source), test
