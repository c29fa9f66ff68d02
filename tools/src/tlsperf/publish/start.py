"""`tlsperf init`: writes a small site, without a report."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.shipped import SITE
from tlsperf.load.config import read_site
from tlsperf.publish.files import replace_file
from tlsperf.publish.index import reports_json
from tlsperf.publish.render import REPORTS, SITE_PREVIEW
from tlsperf.report.preview import site_preview

_NAMED: Final = ("config.toml", "README.md", "content/_index.md")
"""The files that have the site's name or address."""


def start_site(folder: Path, name: str, base_url: str) -> None:
    """Writes a site into a new or an empty folder. Raises UserError, with nothing written."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder}: found files, expected a new or an empty folder")
    picture = site_preview(name, read_site(SITE).description)
    shutil.copytree(SITE, folder, dirs_exist_ok=True)
    for file in _NAMED:
        text = (folder / file).read_text(encoding="utf-8")
        text = text.replace('"NAME"', json.dumps(name, ensure_ascii=False))
        text = text.replace("# NAME", f"# {name}").replace("BASE_URL", base_url.rstrip("/"))
        (folder / file).write_text(text, encoding="utf-8")
    # A package keeps neither a hidden list of ignored files nor a link.
    (folder / "gitignore").rename(folder / ".gitignore")
    replace_file(folder / SITE_PREVIEW, picture)
    (folder / "static" / "data").symlink_to("../data")
    replace_file(folder / REPORTS, reports_json([], {}).encode())
