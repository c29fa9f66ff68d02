"""The table of biases names tests that exist."""

from __future__ import annotations

import tomllib

import pytest

from pages.fixture import ROOT

BIASES = tomllib.loads((ROOT / "data" / "biases.toml").read_text(encoding="utf-8"))["bias"]


@pytest.mark.parametrize("line", BIASES, ids=lambda line: line["bias"][:40])
def test_a_named_test_exists(line: dict[str, str]) -> None:
    assert set(line) == {"bias", "consequence", "ours", "test"}
    if line["test"]:
        file, _, name = line["test"].partition("::")
        source = (ROOT / file).read_text(encoding="utf-8")
        assert f"fn {name.rpartition('::')[2]}(" in source or f"def {name}(" in source
