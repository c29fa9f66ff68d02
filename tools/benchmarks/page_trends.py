"""What pages weigh, how many words and screens they have, by kind, now and before.

`make page-trends` prints a table in Markdown: the site of HEAD, of a week and of a month before, each
built from its own sources. It judges nothing: a person sees what grows.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools" / "tests"))

from pages import zolas  # noqa: E402
from pages.conftest import BASE_URL, Browser, Built, serve  # noqa: E402
from tlsperf.contract.errors import UserError  # noqa: E402
from tlsperf.site import run  # noqa: E402

SCREEN: Final = 800
WIDTH: Final = 1280
AGES: Final = (0, 7, 30)
"""Days before now."""
LOADED: Final = re.compile(r'<(?:link rel="stylesheet" href|img src|script src)="([^"?]*)')
TAG: Final = re.compile(r"<(script|style|svg).*?</\1>|<[^>]*>", re.DOTALL)


class Measured(NamedTuple):
    """A page with all it loads: bytes uncompressed, words of its text, screens of a desk."""

    kind: str
    weight: int
    words: int
    screens: float


def commits() -> Iterator[tuple[int, str]]:
    """Each age with the newest commit before it, if there is one."""
    for days in AGES:
        command = ["git", "rev-list", "-1", f"--before={days} days ago", "HEAD"]
        done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
        if commit := done.stdout.strip():
            yield days, commit


def built(commit: str, folder: Path) -> Path:
    """The site of a commit, built below a folder. Raises UserError."""
    parts = [
        "config.toml",
        "content",
        "data",
        "static",
        "templates",
        "bench/libraries",
        "tools/src",
    ]
    archive = subprocess.run(
        ["git", "archive", commit, *parts], cwd=ROOT, check=True, capture_output=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder / "site", filter="data")
    site = folder / "site"
    if (site / "tools" / "src" / "tlsperf" / "publish" / "build.py").exists():
        command = [sys.executable, "-m", "tlsperf", "build"]
        sources = {**os.environ, "PYTHONPATH": str(site / "tools" / "src")}
        subprocess.run(command, cwd=site, check=True, capture_output=True, env=sources)
    run(zolas.current(), folder / "site", "build", BASE_URL, folder / "public")
    return folder / "public"


def weight(public: Path, page: str, text: str) -> int:
    """Bytes of a page and what it loads."""
    names = {(public / page).parent.joinpath(name).resolve() for name in LOADED.findall(text)}
    return len(text.encode()) + sum(path.stat().st_size for path in names if path.is_file())


def measured(public: Path, browser: Browser, scratch: Path) -> list[Measured]:
    """Every page of a built site."""
    site = Built(public)
    texts = {page: site.text(page) for page in site.pages()}
    with contextmanager(serve)(public, scratch) as served:
        seen = browser.ask("look", base=served, pages=[*texts], views=[(WIDTH, "light")])
    heights = {view["page"]: view["height"] for view in seen}
    return [
        Measured(
            page.split("/")[0] if "/" in page else "home and others",
            weight(public, page, text),
            len(TAG.sub(" ", text).split()),
            heights[page] / SCREEN,
        )
        for page, text in texts.items()
    ]


def table(title: str, found: list[Measured]) -> str:
    """A table in Markdown, with a line for each kind of page."""
    lines = [
        f"### {title}: {len(found)} pages, {sum(it.words for it in found):,} words",
        "",
        "| pages | count | KB, median | KB, most | words, median | screens, median | screens, most |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for kind in sorted({it.kind for it in found}):
        of = [it for it in found if it.kind == kind]
        lines.append(
            f"| {kind} | {len(of)} | {median(it.weight for it in of) / 1000:.0f} "
            f"| {max(it.weight for it in of) / 1000:.0f} | {median(it.words for it in of):.0f} "
            f"| {median(it.screens for it in of):.1f} | {max(it.screens for it in of):.1f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    browser = Browser()
    for days, commit in commits():
        when = f"{days} days ago, {commit[:10]}" if days else f"now, {commit[:10]}"
        with tempfile.TemporaryDirectory() as folder:
            try:
                public = built(commit, Path(folder))
            except UserError as error:
                print(f"### {when}: not built: {error}\n")
                continue
            scratch = Path(folder) / "served"
            scratch.mkdir()
            print(table(when, measured(public, browser, scratch)), flush=True)
    browser.close()


if __name__ == "__main__":
    main()
