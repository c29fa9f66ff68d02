"""Writes files atomically: a file has either the old bytes or the new ones."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
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


def write_generated(wanted: Mapping[Path, str], arguments: Sequence[str]) -> int:
    """Writes files that are made of others; with --check it names those that differ, and returns 1."""
    check = "--check" in arguments
    stale = [path for path, text in wanted.items() if differs(path, text.encode())]
    for path in stale:
        if check:
            print(f"{path}: out of date; run `make generate`", file=sys.stderr)
        else:
            replace_file(path, wanted[path].encode())
            print(f"wrote {path}")
    return 1 if stale and check else 0


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
