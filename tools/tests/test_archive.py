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

import fixture_run
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.load import archive as module
from tlsperf.load.archive import SUMS
from tlsperf.publish.runs import import_archive

RUN = fixture_run.RUN
Members = dict[str, bytes]


def packed(folder: Path) -> Members:
    """A run's files by the names in an archive of `tlsbench pack`, without the checksum list."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {f"{RUN}/{path.relative_to(folder)}": path.read_bytes() for path in files}


def sums(members: Members) -> bytes:
    lines = [f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in members.items()]
    return "".join(lines).encode()


def write(archive: Path, members: Members) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    archive.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
    return archive


@pytest.fixture(scope="module")
def members(tmp_path_factory: pytest.TempPathFactory) -> Members:
    root = tmp_path_factory.mktemp("packed")
    fixture_run.write_run(root)
    return packed(root / "data" / "runs" / RUN)


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    folder = tmp_path / "data" / "runs"
    folder.mkdir(parents=True)
    return folder


def archive_of(tmp_path: Path, members: Members) -> Path:
    return write(tmp_path / f"{RUN}.tar.gz", {f"{RUN}/{SUMS}": sums(members), **members})


def refused(archive: Path, runs: Path, expected: str) -> None:
    with pytest.raises(UserError, match=expected) as caught:
        import_archive(archive, runs)
    assert str(archive) in str(caught.value)
    assert list(runs.iterdir()) == []


def test_an_archive_becomes_the_run_that_was_packed(
    tmp_path: Path, runs: Path, members: Members
) -> None:
    run = import_archive(archive_of(tmp_path, members), runs)
    assert run.id == RUN
    assert packed(runs / RUN) == members
    assert [path.name for path in runs.iterdir()] == [RUN]


def test_an_existing_run_is_kept(tmp_path: Path, runs: Path, members: Members) -> None:
    (runs / RUN).mkdir()
    with pytest.raises(UserError, match="exists already"):
        import_archive(archive_of(tmp_path, members), runs)
    assert list((runs / RUN).iterdir()) == []


def test_a_missing_archive_is_reported(tmp_path: Path, runs: Path) -> None:
    refused(tmp_path / "none.tar.gz", runs, "there is no such file")


@given(data=st.data())
def test_a_changed_bit_is_rejected_or_has_no_effect(
    tmp_path_factory: pytest.TempPathFactory, members: Members, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("bit")
    archive = archive_of(folder, members)
    content = bytearray(archive.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    archive.write_bytes(content)
    with contextlib.suppress(UserError):
        import_archive(archive, folder)
    # Some bits of gzip's header do not affect the content: its time and its system.
    if len(list(folder.iterdir())) > 1:
        assert packed(folder / RUN) == members
    shutil.rmtree(folder)


def test_an_archive_must_match_the_checksum_file_beside_it(
    tmp_path: Path, runs: Path, members: Members
) -> None:
    archive = archive_of(tmp_path, members)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    beside = tmp_path / f"{archive.name}.sha256"
    beside.write_text(f"{'0' * 64}  {archive.name}\n")
    refused(archive, runs, f"found sha256 {digest}, expected {'0' * 64}")
    beside.write_text(f"{digest}  {archive.name}\n")
    import_archive(archive, runs)


def test_a_truncated_archive_is_rejected(tmp_path: Path, runs: Path, members: Members) -> None:
    archive = archive_of(tmp_path, members)
    archive.write_bytes(archive.read_bytes()[: archive.stat().st_size // 2])
    refused(archive, runs, "expected an archive of `tlsbench pack`")


@pytest.mark.parametrize(
    "content", [b"", b"not an archive", gzip.compress(b"nor this one", mtime=0)]
)
def test_other_files_are_rejected_as_archives(tmp_path: Path, runs: Path, content: bytes) -> None:
    path = tmp_path / "x.tar.gz"
    path.write_bytes(content)
    refused(path, runs, "expected")


def changed_record(members: Members) -> Members:
    name = f"{RUN}/raw/records.jsonl"
    return {**members, name: members[name].replace(b'"value":', b'"value":1', 1)}


def run_toml(old: bytes, new: bytes) -> Callable[[Members], Members]:
    def edit(members: Members) -> Members:
        text = members[f"{RUN}/run.toml"]
        assert old in text
        return {**members, f"{RUN}/run.toml": text.replace(old, new, 1)}

    return edit


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda m: {**m, f"{RUN}/extra": b""}, "extra in only one of both"),
        (lambda m: {**m, "../evil": b""}, r"the member \.\./evil"),
        (lambda m: {**m, "/etc/evil": b""}, "the member /etc/evil"),
        (lambda m: {**m, "other/file": b""}, "without SHA256SUMS"),
        (lambda m: {k: v for k, v in m.items() if "run.toml" not in k}, "no run.toml"),
        (changed_record, "records.jsonl: found sha256"),
        (run_toml(b'id = "2026-11-21-example"', b'id = "another"'), "id 'another'"),
        (run_toml(b"schema = 1", b"schema = 2"), "schema 2"),
        (run_toml(b"schema = 1", b"schema ="), "run.toml: this is not TOML"),
    ],
)
def test_an_archive_with_valid_checksums_must_contain_one_run(
    tmp_path: Path,
    runs: Path,
    members: Members,
    edit: Callable[[Members], Members],
    expected: str,
) -> None:
    refused(archive_of(tmp_path, edit(members)), runs, expected)


def test_a_file_without_a_checksum_is_rejected(
    tmp_path: Path, runs: Path, members: Members
) -> None:
    fewer = {name: data for name, data in members.items() if not name.endswith("run.toml")}
    archive = write(tmp_path / "a.tar.gz", {f"{RUN}/{SUMS}": sums(fewer), **members})
    refused(archive, runs, "run.toml in only one of both")


def test_a_file_with_another_checksum_is_rejected(
    tmp_path: Path, runs: Path, members: Members
) -> None:
    listed = sums(changed_record(members))
    archive = write(tmp_path / "a.tar.gz", {f"{RUN}/{SUMS}": listed, **members})
    refused(archive, runs, "as SHA256SUMS has it")


def test_a_link_is_not_a_file(tmp_path: Path, runs: Path) -> None:
    archive = tmp_path / "a.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        info = tarfile.TarInfo(f"{RUN}/run.toml")
        info.type = tarfile.SYMTYPE
        info.linkname = "/etc/passwd"
        tar.addfile(info)
    refused(archive, runs, "the member")


def test_an_archive_that_unpacks_beyond_the_limit_is_rejected_early(
    tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(gzip.compress(bytes(64 << 20)))
    monkeypatch.setattr(module, "MOST_BYTES", 1 << 20)
    tracemalloc.start()
    refused(archive, runs, "more than 1048576 bytes when unpacked, expected at most 1048576")
    assert tracemalloc.get_traced_memory()[1] < 8 << 20
    tracemalloc.stop()


def test_a_sparse_file_is_rejected_before_it_is_expanded(tmp_path: Path, runs: Path) -> None:
    info = tarfile.TarInfo(f"{RUN}/raw/records.jsonl")
    info.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(1 << 33)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        tar.addfile(info)
    archive = tmp_path / "a.tar.gz"
    archive.write_bytes(gzip.compress(buffer.getvalue()))
    refused(archive, runs, f"found 8589934592 bytes of {info.name}, expected at most 268435456")


def test_an_archive_of_very_many_files_is_rejected(
    tmp_path: Path, runs: Path, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_FILES", len(members))
    refused(archive_of(tmp_path, members), runs, f"more than {len(members)} files")
    monkeypatch.setattr(module, "MOST_FILES", len(members) + 1)  # + 1 for the checksum list
    import_archive(archive_of(tmp_path, members), runs)


@pytest.mark.parametrize("name", ["../x.txt", "/x.txt", f"{RUN}/../x.txt", f"{RUN}/raw/x.html"])
def test_a_file_is_written_below_raw_with_a_name_that_no_browser_runs(
    tmp_path: Path, runs: Path, members: Members, name: str
) -> None:
    listed = name.removeprefix(f"{RUN}/")
    text = (
        members[f"{RUN}/run.toml"]
        + (
            f'\n[[files]]\npath = "{listed}"\nsha256 = "{hashlib.sha256(b"x").hexdigest()}"\n'
            'bytes = 1\nformat = "cargo-lock"\n'
        ).encode()
    )
    refused(archive_of(tmp_path, {**members, f"{RUN}/run.toml": text, name: b"x"}), runs, "found")
    assert not [path for path in tmp_path.rglob("x.*") if path.is_file()]


def test_records_that_cannot_be_read_are_rejected(
    tmp_path: Path, runs: Path, members: Members
) -> None:
    name = f"{RUN}/raw/records.jsonl"
    bad = members[name].replace(b'"kind":"block"', b'"kind":"blob"', 1)
    old, new = (hashlib.sha256(data).hexdigest().encode() for data in (members[name], bad))
    manifest = members[f"{RUN}/run.toml"].replace(old, new)
    archive = archive_of(tmp_path, {**members, name: bad, f"{RUN}/run.toml": manifest})
    with pytest.raises(FormatError) as caught:
        import_archive(archive, runs)
    assert caught.value.line is not None
    assert caught.value.file == f"{archive}: {name}"
    assert list(runs.iterdir()) == []
