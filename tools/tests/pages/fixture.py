"""The site of the made-up project: its reports and pages with our templates and texts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from project import ARM, NEW, PUBLISHED, WIDE

ROOT = Path(__file__).resolve().parents[3]
NEWER, OLDER = NEW, ARM
"""A report with every kind of sentence, and one of a virtual machine with warnings."""
POST = "2026-10-01-clock"

__all__ = [
    "NEWER",
    "OLDER",
    "POST",
    "PUBLISHED",
    "ROOT",
    "WIDE",
    "empty_site",
    "make_site",
    "results_of",
]

_OVER_ALL = (
    *("perf", "blog", "trends", "hosts", "libraries", "scenarios"),
    *("questions", "upgrades", "nightly"),
)
_POST = """\
+++
title = "On a clock’s cost & others"
date = 2026-10-01
description = "A post, as an example."
[taxonomies]
tags = ["method"]
+++

A post about one read of the clock; see [the methodology](@/methodology.md).

```sh
tlsbench run --suite bench/suites/quick.toml --out data/runs/a-run-of-a-rather-long-name-to-wrap
```
"""


def results_of(root: Path, report: str) -> dict[str, Any]:
    """The content of the results.json of a report."""
    text = (root / "content" / "perf" / report / "results.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


def empty_site(site: Path) -> Path:
    """Copies the site to `site`, without reports, posts, and pages over all reports."""

    def generated(folder: str, names: list[str]) -> list[str]:
        return [n for n in names if n != "_index.md"] if Path(folder).name in _OVER_ALL else []

    for name in ("templates", "static", "content"):
        shutil.copytree(ROOT / name, site / name, symlinks=True, ignore=generated)
    shutil.copy(ROOT / "config.toml", site)
    shutil.copytree(ROOT / "data" / "schema", site / "data" / "schema")
    shutil.copy(ROOT / "data" / "biases.toml", site / "data")
    return site


def make_site(site: Path, project: Path) -> Path:
    """Copies the site to `site`, with the made-up project in place of what is committed."""
    empty_site(site)
    for name in ("content", "data", "static"):
        shutil.copytree(project / name, site / name, dirs_exist_ok=True)
    post = site / "content" / "blog" / f"{POST}.md"
    post.write_text(_POST, encoding="utf-8")
    return site
