"""Every address that the site ever had still has a file.

addresses.txt lists them, but for raw data, which never change, and for Explore's own scripts. After
a release: `python -m pages.test_addresses <public>` adds those of a built site.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Final

import pytest

from pages.conftest import Built
from pages.fixture import ROOT

pytestmark = pytest.mark.zola

LIST: Final = Path(__file__).parent / "addresses.txt"
PERF: Final = ROOT / "content" / "perf"
MOST_BYTES: Final = 1_250_000
"""Of charts at the addresses of those that they replaced. The repository has each chart once."""


def addresses() -> list[str]:
    return LIST.read_text(encoding="utf-8").splitlines()


def test_every_address_ever_published_has_a_file(committed_build: Built) -> None:
    listed = addresses()
    assert len(listed) > 750
    assert listed == sorted(set(listed))
    assert [path for path in listed if not (committed_build.public / path).is_file()] == []


def test_charts_at_earlier_addresses_are_the_charts_of_today_and_few_bytes() -> None:
    table = tomllib.loads((ROOT / "data" / "addresses.toml").read_text(encoding="utf-8"))
    copies = {
        PERF / report / name: PERF / report / file
        for report, charts in table.items()
        for file, names in charts.items()
        for name in names
    }
    assert len(copies) > 70
    assert [copy for copy, chart in copies.items() if copy.read_bytes() != chart.read_bytes()] == []
    assert sum(copy.stat().st_size for copy in copies) <= MOST_BYTES


if __name__ == "__main__":
    public = Path(sys.argv[1])
    found = (path.relative_to(public).as_posix() for path in public.rglob("*") if path.is_file())
    kept = [p for p in found if not p.startswith(("data/runs/", "explore/", "fonts/"))]
    LIST.write_text("\n".join(sorted({*addresses(), *kept})) + "\n", encoding="utf-8")
