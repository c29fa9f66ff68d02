"""The original addresses of reports by others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pages.conftest import Built

pytestmark = [pytest.mark.zola, pytest.mark.any_site]


def test_the_original_address_of_a_report_by_others_leads_to_it(site: Built, root: Path) -> None:
    original = re.compile(r"\[The original\]\(https://rustls\.dev/perf/([^/]+)/\)")
    for source in sorted((root / "content" / "perf").glob("*/index.md")):
        for name in original.findall(source.read_text("utf-8")):
            page = site.text(f"perf/{name}/index.html")
            assert f"{site.base_url}/perf/{source.parent.name}/" in page, name
