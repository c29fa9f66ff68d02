"""Folders that are made once for all tests, and again when what they are made of has changed."""

from __future__ import annotations

import fcntl
import hashlib
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
KEPT: Final = ROOT / "build" / "fixture"
PROJECT_SOURCES: Final = (
    *(ROOT / "tools" / "src", ROOT / "tools" / "requirements.txt", ROOT / "config.toml"),
    *(Path(__file__).with_name(f"{name}.py") for name in ("project", "encoded_histogram")),
    *(ROOT / "data" / "libraries.toml", ROOT / "data" / "schema"),
    *sorted((ROOT / "bench" / "libraries").glob("*/library.toml")),
)
"""What the made-up project is made of."""

MADE: Final = frozenset({"tlsperf.egg-info", ".pyc"})
"""What running the tools writes beside their source."""


def kept(name: str, sources: Iterable[Path], make: Callable[[Path], object]) -> Path:
    """A folder that `make` fills from the sources. Tests must only read it."""
    digest = hashlib.sha256()
    for source in sources:
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        for path in files:
            if path.is_file() and not MADE & {*path.parts, path.suffix}:
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    folder = KEPT / f"{name}-{digest.hexdigest()[:16]}"
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            # Another run of the tests may be reading the newest of them.
            older = sorted(KEPT.glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)
            for path in older[:-1]:
                shutil.rmtree(path)
            unfinished = KEPT / f"{name}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder
