"""Writes files atomically: a file has either the old bytes or the new ones."""

from __future__ import annotations

from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Writes a temporary file beside `path` and renames it; creates the folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
