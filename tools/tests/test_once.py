"""A figure that two pages over several reports show differently is an error of the site."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tlsperf.publish.once import contradictions

ROW = "transfer-1-3-aes-256-gcm-64-kib-in-flight-sending"
SERVER = "content/questions/server/question.json"
BOARD = "data/scoreboard.json"
PAGE = f"content/scenarios/{ROW}/page.json"


@pytest.mark.any_site
def test_no_page_contradicts_another(root: Path) -> None:
    assert contradictions(root) == []


@pytest.fixture
def site(project: Path, tmp_path: Path) -> Path:
    """A copy of pages over several reports."""
    for name in (SERVER, BOARD, PAGE, "config.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project / name, tmp_path / name)
    return tmp_path


def of_row(sheet: dict[str, Any]) -> dict[str, Any]:
    """The first figure of the row in a table."""
    cells = (cell for row in sheet["rows"] for cell in row["cells"] if "quotes" in cell)
    return next(cell for cell in cells if cell["href"].endswith(f"#{ROW}"))


@pytest.mark.parametrize(
    ("name", "place", "key"),
    [
        (SERVER, lambda page: of_row(page["sheets"][0]), "text"),
        (BOARD, lambda page: of_row(page["board"]), "text"),
        (PAGE, lambda page: page["reports"][0]["figures"][0], "text"),
        (PAGE, lambda page: page["reports"][0]["figures"][0], "ratio"),
    ],
)
def test_a_page_with_an_older_figure_is_named(
    site: Path, name: str, place: Callable[[Any], dict[str, Any]], key: str
) -> None:
    assert contradictions(site) == []
    page = json.loads((site / name).read_bytes())
    of = place(page)
    before = of[key].partition(" (")[0]
    of[key] = "12.5"
    (site / name).write_text(json.dumps(page), encoding="utf-8")
    [problem] = contradictions(site)
    assert all(text in problem for text in (name, ROW, "12.5", before)), problem


def test_a_page_that_cannot_be_read_is_named(site: Path) -> None:
    (site / SERVER).write_text("{", encoding="utf-8")
    [problem] = contradictions(site)
    assert SERVER in problem
