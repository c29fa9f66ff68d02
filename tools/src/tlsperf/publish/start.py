"""`tlsperf init`: writes a small site, without a report."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.shipped import SITE
from tlsperf.load.config import read_site
from tlsperf.publish.files import replace_file
from tlsperf.publish.index import reports_json
from tlsperf.publish.render import REPORTS, SITE_PREVIEW
from tlsperf.report.preview import site_preview

_NAMED: Final = ("config.toml", "README.md")
"""The files that have the site's name or address."""


def start_site(folder: Path, name: str, base_url: str) -> None:
    """Writes a site into a new folder, or one without files, such as an empty clone.

    It is written beside its place first. Raises UserError, with nothing written.
    """
    if folder.exists() and (not folder.is_dir() or {it.name for it in folder.iterdir()} - {".git"}):
        raise UserError(f"{folder}: found files, expected a new or an empty folder")
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".site-", dir=folder) as beside:
        site = Path(beside, "site")
        _write(site, name, base_url)
        for path in site.iterdir():
            path.rename(folder / path.name)


def _write(site: Path, name: str, base_url: str) -> None:
    shutil.copytree(SITE, site)
    texts = {
        '"NAME"': json.dumps(name, ensure_ascii=False),
        '"BASE_URL"': json.dumps(base_url.rstrip("/"), ensure_ascii=False),
        "# NAME": f"# {name}",
    }
    for file in _NAMED:
        text = (site / file).read_text(encoding="utf-8")
        text = re.sub("|".join(texts), lambda found: texts[found[0]], text)
        (site / file).write_text(text, encoding="utf-8")
    # A package keeps neither a hidden list of ignored files nor a link.
    (site / "gitignore").rename(site / ".gitignore")
    replace_file(site / SITE_PREVIEW, site_preview(name, read_site(site).description))
    (site / "static" / "data").symlink_to("../data")
    replace_file(site / REPORTS, reports_json([], {}).encode())
