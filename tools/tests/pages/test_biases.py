"""The table of biases names tests that exist."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from project import ROOT

CONFORMANCE = ROOT / "bench" / "libraries" / "shared" / "conformance"
EVERY_ADAPTER = (CONFORMANCE / "mod.rs").read_text(encoding="utf-8")
"""It makes a test of a function of its modules for each adapter."""
BIASES = tomllib.loads((ROOT / "data" / "biases.toml").read_text(encoding="utf-8"))["bias"]


@pytest.mark.parametrize("line", BIASES, ids=lambda line: line["bias"][:40])
def test_the_named_tests_exist(line: dict[str, Any]) -> None:
    assert set(line) == {"bias", "consequence", "ours", "tests"}
    assert line["tests"]
    for test in line["tests"]:
        file, _, name = test.partition("::")
        path = ROOT / file
        source = path.read_text(encoding="utf-8")
        if path.parent == CONFORMANCE:
            assert re.search(rf"^pub fn {name}\b", source, re.MULTILINE), test
            assert re.search(rf"\b{name}\b", EVERY_ADAPTER), test
        else:
            assert re.search(rf"#\[test\]\n\s*fn {name}\(", source), test
