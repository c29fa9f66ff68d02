"""Writes files atomically: a file has either the old bytes or the new ones."""

from __future__ import annotations

from pathlib import Path


def differs(path: Path, data: bytes | None) -> bool:
    """Whether a file has other bytes than it must have; None: it must not exist."""
    return (path.read_bytes() if path.exists() else None) != data


def put_file(path: Path, data: bytes | None) -> bool:
    """Writes or removes a file, unless it is as it must be; returns whether it was not."""
    if not differs(path, data):
        return False
    if data is None:
        path.unlink()
    else:
        replace_file(path, data)
    return True


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
