"""Writes a file so that it holds the old bytes or the new ones, never a part of them."""

from __future__ import annotations

from pathlib import Path


def replace_file(path: Path, data: bytes) -> None:
    """Writes beside the file, whose folder is made if need be, and renames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.new")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
