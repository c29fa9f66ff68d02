"""Archives of `tlsbench pack`: a run in one file, to copy it from the host that measured it.

The format is a gzip-compressed tar with one folder, named after the run: `SHA256SUMS` in the format
of sha256sum(1), `run.toml`, and the raw files. Anything else is rejected.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import re
import tarfile
import zlib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.run import Run
from tlsperf.contract.toml_text import toml_table
from tlsperf.load.run import check_raw, loaded_run, parse_run

SUFFIX: Final = ".tar.gz"
SUMS: Final = "SHA256SUMS"
MOST_BYTES: Final = 256 * 1024 * 1024
"""Limit of an unpacked archive in bytes; the largest run so far has 6 MiB."""
MOST_FILES: Final = 10_000
_SUM: Final = re.compile(r"([0-9a-f]{64})  (\S+)")


def read_archive(archive: Path) -> tuple[Run, dict[str, bytes]]:
    """The run in an archive, and its files by their path in the run's folder, with run.toml.

    It checks the checksum file beside the archive if there is one, the checksums in the archive and
    in run.toml, and every record. Raises UserError.
    """
    name = str(archive)
    members = _members(_verified(archive), name)
    folder = _check_sums(members, name)
    run = _run(members, folder, name)
    files = {
        member.removeprefix(f"{folder}/"): data
        for member, data in members.items()
        if member != f"{folder}/{SUMS}"
    }
    for file in run.files:
        check_raw(file, files[file.path], f"{name}: {folder}/{file.path}")
    loaded_run(run, files, f"{name}: {folder}")
    return run, files


def _verified(archive: Path) -> bytes:
    """The archive's bytes, checked against the checksum file beside it."""
    try:
        with archive.open("rb") as file:
            data = file.read(MOST_BYTES + 1)  # a longer archive is rejected below
    except FileNotFoundError:
        raise UserError(f"{archive}: there is no such file") from None
    beside = archive.with_name(f"{archive.name}.sha256")
    if beside.exists():
        expected = beside.read_text(encoding="utf-8").split(" ")[0]
        digest = hashlib.sha256(data).hexdigest()
        if digest != expected:
            raise FormatError(
                str(archive), None, f"sha256 {digest}", f"{expected} as {beside.name} has it"
            )
    return data


def _members(data: bytes, name: str) -> dict[str, bytes]:
    """The files in the archive by name; any other member is an error."""
    members: dict[str, bytes] = {}
    left = MOST_BYTES
    try:
        # Unpacked completely, to check the checksum at its end: tar stops before it.
        with tarfile.open(fileobj=io.BytesIO(_unpacked(data, name))) as tar:
            for member in tar:
                file = tar.extractfile(member) if member.isreg() else None
                path = PurePosixPath(member.name)
                if file is None or path.is_absolute() or {"..", "."} & set(path.parts):
                    raise FormatError(name, None, f"the member {member.name}", "files of one run")
                if member.issparse() or member.size > left:
                    # A sparse file can have many bytes and take almost no space in the archive.
                    found = f"{member.size} bytes of {member.name}"
                    raise FormatError(name, None, found, f"at most {MOST_BYTES} in all")
                left -= member.size
                if len(members) == MOST_FILES:
                    raise FormatError(name, None, f"more than {MOST_FILES} files", "one packed run")
                if member.name in members:
                    raise FormatError(name, None, f"{member.name} twice", "it once")
                members[member.name] = file.read()
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise FormatError(name, None, str(error), "an archive of `tlsbench pack`") from None
    return members


def _unpacked(data: bytes, name: str) -> bytes:
    """The uncompressed bytes, at most MOST_BYTES of them in memory."""
    with gzip.open(io.BytesIO(data)) as file:
        unpacked = file.read(MOST_BYTES + 1)
    if len(unpacked) > MOST_BYTES:
        found, most = f"more than {MOST_BYTES} bytes when unpacked", f"at most {MOST_BYTES}"
        raise FormatError(name, None, found, most)
    return unpacked


def _check_sums(members: Mapping[str, bytes], name: str) -> str:
    """Compares the files with the archive's list, and returns their common folder."""
    folders = {PurePosixPath(member).parts[0] for member in members}
    folder = next(iter(folders)) if len(folders) == 1 else ""
    sums = f"{folder}/{SUMS}"
    if sums not in members:
        raise FormatError(name, None, f"{len(members)} files without {SUMS}", "one packed run")
    expected: dict[str, str] = {}
    for number, line in enumerate(members[sums].decode("utf-8", "replace").splitlines(), start=1):
        found = _SUM.fullmatch(line)
        if not found:
            raise FormatError(f"{name}: {sums}", number, repr(line), "<sha256>  <file>")
        expected[found[2]] = found[1]
    there = members.keys() - {sums}
    if there != expected.keys():
        odd = ", ".join(sorted(there ^ expected.keys()))
        raise FormatError(name, None, f"{odd} in only one of both", f"the files that {SUMS} lists")
    for member, digest in expected.items():
        found_digest = hashlib.sha256(members[member]).hexdigest()
        if found_digest != digest:
            raise FormatError(
                f"{name}: {member}", None, f"sha256 {found_digest}", f"{digest} as {SUMS} has it"
            )
    return folder


def _run(members: Mapping[str, bytes], folder: str, name: str) -> Run:
    """The parsed run.toml of the archive; its folder and file list must match the archive."""
    manifest = f"{folder}/run.toml"
    place = f"{name}: {manifest}"
    if manifest not in members:
        raise FormatError(name, None, "no run.toml", manifest)
    try:
        text = members[manifest].decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(place, None, error.reason, "text in UTF-8") from None
    run = parse_run(toml_table(text, place), place)
    if run.id != folder:
        raise FormatError(place, None, f"id {run.id!r}", f"{folder!r}, the folder's name")
    listed = {f"{folder}/{file.path}" for file in run.files}
    there = members.keys() - {manifest, f"{folder}/{SUMS}"}
    if listed != there:
        odd = ", ".join(sorted(listed ^ there))
        raise FormatError(
            place, None, f"{odd} in only one of both", "the files that run.toml lists"
        )
    return run
