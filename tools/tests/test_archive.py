"""An archive becomes exactly the run that was packed, or is rejected."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import shutil
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from project import RUN, write_run
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.load import archive as module
from tlsperf.load.archive import SUMS
from tlsperf.publish.runs import import_archive

Members = dict[str, bytes]


def packed(folder: Path) -> Members:
    """A run's files by the names in an archive of `tlsbench pack`, without the checksum list."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"{RUN}/{path.relative_to(folder)}": path.read_bytes() for path in files}


def sums(members: Members) -> bytes:
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items()]
    return "".join(lines).encode()


def tar(*files: tuple[tarfile.TarInfo, bytes], format: int = tarfile.USTAR_FORMAT) -> bytes:
    """A compressed archive of members with their content."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for info, data in files:
            archive.addfile(info, io.BytesIO(data))
    return gzip.compress(buffer.getvalue(), mtime=0)


def archived(members: Members, listed: Members | None = None) -> bytes:
    """An archive of these files, with the checksums of others if they are given."""
    files = []
    for name, data in {f"{RUN}/{SUMS}": sums(listed or members), **members}.items():
        info = tarfile.TarInfo(name)
        info.size = len(data)
        files.append((info, data))
    return tar(*files)


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    root = tmp_path_factory.mktemp("packed")
    write_run(root)
    return packed(root / "data" / "runs" / RUN)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "runs"
    folder.mkdir(parents=True)
    return folder


def archive_of(folder: Path, members: Members) -> Path:
    path = folder / f"{RUN}.tar.gz"
    path.write_bytes(archived(members))
    return path


@pytest.fixture
def archive(tmp_path: Path, members: Members) -> Path:
    return archive_of(tmp_path, members)


def refused(archive: Path, runs: Path, expected: str) -> None:
    with pytest.raises(UserError, match=expected) as caught:
        import_archive(archive, runs)
    assert str(archive) in str(caught.value)
    assert list(runs.iterdir()) == []


def test_an_archive_becomes_the_run_that_was_packed(
    archive: Path, runs: Path, members: Members
) -> None:
    assert import_archive(archive, runs).id == RUN
    assert packed(runs / RUN) == members
    assert [path.name for path in runs.iterdir()] == [RUN]


def test_an_existing_run_is_kept(archive: Path, runs: Path) -> None:
    (runs / RUN).mkdir()
    with pytest.raises(UserError, match="exists already"):
        import_archive(archive, runs)
    assert list((runs / RUN).iterdir()) == []


def test_a_missing_archive_is_reported(tmp_path: Path, runs: Path) -> None:
    refused(tmp_path / "none.tar.gz", runs, "there is no such file")


@given(data=st.data())
def test_a_changed_bit_is_rejected_or_has_no_effect(
    tmp_path_factory: pytest.TempPathFactory, members: Members, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("bit")
    archive = folder / "a.tar.gz"
    content = bytearray(archived(members))
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    archive.write_bytes(content)
    with contextlib.suppress(UserError):
        import_archive(archive, folder)
    # Some bits of gzip's header do not affect the content: its time and its system.
    if len(list(folder.iterdir())) > 1:
        assert packed(folder / RUN) == members
    shutil.rmtree(folder)


def test_an_archive_must_match_the_checksum_file_beside_it(archive: Path, runs: Path) -> None:
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    beside = archive.with_name(f"{archive.name}.sha256")
    beside.write_text(f"{'0' * 64}  {archive.name}\n")
    refused(archive, runs, f"found sha256 {digest}, expected {'0' * 64}")
    beside.write_text(f"{digest}  {archive.name}\n")
    import_archive(archive, runs)


def changed_record(members: Members) -> Members:
    name = f"{RUN}/raw/records.jsonl"
    return {**members, name: members[name].replace(b'"value":', b'"value":1', 1)}


def run_toml(members: Members, old: bytes, new: bytes) -> Members:
    text = members[f"{RUN}/run.toml"]
    assert old in text
    return {**members, f"{RUN}/run.toml": text.replace(old, new, 1)}


def listing(members: Members, name: str) -> Members:
    """The run with one more file, which its run.toml lists."""
    listed, digest = name.removeprefix(f"{RUN}/"), hashlib.sha256(b"x").hexdigest()
    file = f'[[files]]\npath = "{listed}"\nsha256 = "{digest}"\nbytes = 1\nformat = "cargo-lock"\n'
    text = members[f"{RUN}/run.toml"] + b"\n" + file.encode()
    return {**members, f"{RUN}/run.toml": text, name: b"x"}


def link() -> bytes:
    info = tarfile.TarInfo(f"{RUN}/run.toml")
    info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return tar((info, b""))


def sparse() -> bytes:
    info = tarfile.TarInfo(f"{RUN}/raw/records.jsonl")
    info.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 33)}
    return tar((info, b""), format=tarfile.PAX_FORMAT)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda m: b"", "expected"),
        (lambda m: b"not an archive", "expected"),
        (lambda m: gzip.compress(b"nor this one", mtime=0), "expected"),
        (lambda m: archived(m)[:-999], "expected an archive of `tlsbench pack`"),
        (lambda m: link(), "the member"),
        (lambda m: sparse(), r"found 8589934592 bytes of .*records.jsonl, expected at most 2684"),
        (lambda m: archived({**m, f"{RUN}/extra": b""}), "extra in only one of both"),
        (lambda m: archived({**m, f"{RUN}/x": b""}, m), "x in only one of both"),
        (lambda m: archived(m, changed_record(m)), "as SHA256SUMS has it"),
        (lambda m: archived({**m, "../evil": b""}), r"the member \.\./evil"),
        (lambda m: archived({**m, "/etc/evil": b""}), "the member /etc/evil"),
        (lambda m: archived({**m, "other/file": b""}), "without SHA256SUMS"),
        (
            lambda m: archived({k: v for k, v in m.items() if "run.toml" not in k}),
            "no run.toml",
        ),
        (lambda m: archived(changed_record(m)), "records.jsonl: found sha256"),
        (lambda m: archived(run_toml(m, f'id = "{RUN}"'.encode(), b'id = "x"')), "id 'x'"),
        (lambda m: archived(run_toml(m, b"schema = 1", b"schema = 2")), "schema 2"),
        (lambda m: archived(run_toml(m, b"schema = 1", b"schema =")), "run.toml:1: this is not"),
        (lambda m: archived(listing(m, "../x.txt")), "found"),
        (lambda m: archived(listing(m, "/x.txt")), "found"),
        (lambda m: archived(listing(m, f"{RUN}/../x.txt")), "found"),
        (lambda m: archived(listing(m, f"{RUN}/raw/x.html")), "found"),
    ],
)
def test_what_is_not_one_whole_run_is_refused(
    archive: Path,
    runs: Path,
    members: Members,
    made: Callable[[Members], bytes],
    expected: str,
) -> None:
    archive.write_bytes(made(members))
    refused(archive, runs, expected)
    assert not [path for path in archive.parent.rglob("x.*") if path.is_file()]


def test_an_archive_that_unpacks_beyond_the_limit_is_rejected_early(
    archive: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.write_bytes(gzip.compress(bytes(64 << 20)))
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 20)
    tracemalloc.start()
    refused(archive, runs, "more than 1048576 bytes when unpacked, expected at most 1048576")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_an_archive_of_very_many_files_is_rejected(
    archive: Path, runs: Path, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", len(members))
    refused(archive, runs, f"more than {len(members)} files")
    monkeypatch.setattr(module, "MOST_FILES", len(members) + 1)  # + 1 for the checksum list
    import_archive(archive, runs)


def test_records_that_cannot_be_read_are_rejected(
    archive: Path, runs: Path, members: Members
) -> None:
    name = f"{RUN}/raw/records.jsonl"
    bad = members[name].replace(b'"kind":"block"', b'"kind":"blob"', 1)
    old, new = (hashlib.sha256(data).hexdigest().encode() for data in (members[name], bad))
    archive.write_bytes(archived(run_toml({**members, name: bad}, old, new)))
    with pytest.raises(FormatError) as caught:
        import_archive(archive, runs)
    assert caught.value.line is not None
    assert caught.value.file == f"{archive}: {name}"
    assert list(runs.iterdir()) == []
