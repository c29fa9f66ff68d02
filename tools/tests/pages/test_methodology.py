"""The table of biases names tests that exist."""

from __future__ import annotations

import re
import tomllib

import pytest

from pages.fixture import ROOT

BIASES = tomllib.loads((ROOT / "data" / "biases.toml").read_text(encoding="utf-8"))["bias"]


@pytest.mark.parametrize("line", BIASES, ids=lambda line: line["bias"][:40])
def test_a_named_test_exists(line: dict[str, str]) -> None:
    assert set(line) == {"bias", "consequence", "ours", "test"}
    file, _, name = line["test"].partition("::")
    source = (ROOT / file).read_text(encoding="utf-8")
    assert re.search(rf"#\[test\]\n\s*fn {name}\(", source)


def test_every_line_of_the_table_is_answered() -> None:
    assert len(BIASES) == 23
