"""Raw files become a run: whole, checked, and with what a reader must know."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from test_formats import BULK, MISSES
from tlsperf.cli import app
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.load.importer import implementation_of
from tlsperf.load.run import load_run, read_run
from tlsperf.publish.runs import import_files


def write(folder: Path, **texts: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    return [folder / name for name in texts]


def test_files_are_copied_as_they_are_and_numbered_by_their_names(tmp_path: Path) -> None:
    files = write(
        tmp_path / "given", output_10=BULK, output_9=BULK.replace("\n", "\r\n"), output_1=MISSES
    )
    folder = tmp_path / "data" / "runs" / "2026-01-02-a-run"
    run = import_files(files, "openssl-3.6.1", folder)
    assert [(f.path, f.round) for f in run.files] == [
        ("raw/openssl-3.6.1/output_1", 1),
        ("raw/openssl-3.6.1/output_9", 2),
        ("raw/openssl-3.6.1/output_10", 3),
    ]
    for file in run.files:
        data = (folder / file.path).read_bytes()
        assert data == (tmp_path / "given" / Path(file.path).name).read_bytes()
        assert (file.sha256, file.bytes) == (hashlib.sha256(data).hexdigest(), len(data))
    assert (str(run.date), run.host_id, run.rounds) == ("2026-01-02", "unknown", 3)
    assert run.tool.name == "openssl-bench"
    assert read_run(folder) == run
    assert sorted(p.name for p in folder.iterdir()) == ["raw", "run.toml"]
    assert len(load_run(folder).frame) == 6
    messages = [warning.message for warning in run.warnings]
    assert messages == [
        "openssl-3.6.1: 2 figures do not count: 12,289 of 32,768 handshakes were full ones "
        "(resumed handshake 1.3, session id, client; resumed handshake 1.3, session id, server)",
        "openssl-3.6.1: resumed handshake 1.3, session id, client is missing in rounds 2, 3",
        "openssl-3.6.1: resumed handshake 1.3, session id, server is missing in rounds 2, 3",
        "openssl-3.6.1: transfer 1.2, AES-128-GCM, sending is missing in rounds 1",
        "openssl-3.6.1: transfer 1.2, AES-128-GCM, receiving is missing in rounds 1",
    ]


def test_another_implementation_joins_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "2026-01-02-a-run"
    import_files(write(tmp_path / "a", one=BULK), "openssl-3.6.1", folder)
    run = import_files(write(tmp_path / "b", one=BULK, two=BULK), "openssl-3.5.1", folder)
    assert [i.id for i in run.implementations] == ["openssl-3.6.1", "openssl-3.5.1"]
    assert [f.round for f in run.files] == [None, 1, 2]
    run = import_files(write(tmp_path / "c", three=BULK[:-5]), "openssl-3.5.1", folder)
    assert [f.round for f in run.files] == [None, 1, 2, 3]
    assert len(load_run(folder).frame) == 7
    warned = [warning.message for warning in run.warnings]
    assert [message.partition(" ")[0] for message in warned] == [
        "raw/openssl-3.5.1/three:4:",
        "openssl-3.5.1:",
        "openssl-3.5.1:",
    ]
    again = import_files(write(tmp_path / "d", four=BULK), "openssl-3.6.1", folder)
    assert [warning.message for warning in again.warnings] == warned
    assert [f.round for f in again.files] == [1, 1, 2, 3, 2]
    with pytest.raises(UserError, match=r"already has a file raw/openssl-3\.5\.1/three"):
        import_files([tmp_path / "c" / "three"], "openssl-3.5.1", folder)


def test_nothing_is_written_for_a_file_that_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "2026-01-02-a-run"
    good, bad = write(tmp_path / "given", good=BULK, bad=BULK + "Segmentation fault\n")
    with pytest.raises(FormatError) as error:
        import_files([good, bad], "openssl-3.6.1", folder)
    assert (error.value.file, error.value.line) == (str(bad), 5)
    assert list(tmp_path.iterdir()) == [tmp_path / "given"]
    import_files([good], "openssl-3.6.1", folder)
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    with pytest.raises(FormatError):
        import_files([bad], "openssl-3.5.1", folder)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_a_file_whose_name_a_browser_might_run_is_not_imported(tmp_path: Path) -> None:
    (page,) = write(tmp_path / "given", **{"output.html": BULK})
    folder = tmp_path / "2026-01-02-a-run"
    with pytest.raises(FormatError, match=r"output.html: found path 'raw/openssl-3.6.1/output.htm"):
        import_files([page], "openssl-3.6.1", folder)
    assert not folder.exists()


def test_an_interrupted_import_leaves_no_run_and_is_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "2026-01-02-a-run"
    files = write(tmp_path / "given", one=BULK, two=BULK)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(KeyboardInterrupt):
        import_files(files, "openssl-3.6.1", folder)
    assert not folder.exists()
    monkeypatch.setattr(Path, "rename", rename)
    import_files(files, "openssl-3.6.1", folder)
    assert len(load_run(folder).frame) == 4


def test_required_arguments_of_the_command(tmp_path: Path) -> None:
    files = write(tmp_path, one=BULK)
    for name in ("a-run", "2026-13-01-a-run", "2026-01-01-A-Run"):
        with pytest.raises(UserError, match="begins with the day"):
            import_files(files, "openssl-3.6.1", tmp_path / name)
    with pytest.raises(UserError, match="--implementation is missing"):
        import_files(files, None, tmp_path / "2026-01-02-a-run")
    for identifier in ("opensl-3.6.1", "openssl-", "openssl-3.6.1-GCC"):
        with pytest.raises(UserError, match="expected <library>-<version>"):
            import_files(files, identifier, tmp_path / "2026-01-02-a-run")
    with pytest.raises(UserError, match="does not exist"):
        import_files(files, "openssl-3.6.1", tmp_path / "runs/2026-01-02-a-run", host="here")


def test_a_published_table_names_its_implementations(tmp_path: Path) -> None:
    table = (
        "operation,protocol,cipher_suite,certificate,resumption,side,implementation,version,value,"
        "unit\n"
        "transfer,1.2,aes-128-gcm,rsa-2048,none,sending,BoringSSL,76968bb3,5043.04,MB/s\n"
        "transfer,1.2,aes-128-gcm,rsa-2048,none,sending,rustls,0.23.15,8154.27,MB/s\n"
    )
    run = import_files(write(tmp_path, table=table), None, tmp_path / "2024-10-18-a-run")
    assert [i.id for i in run.implementations] == ["boringssl-76968bb3", "rustls-0.23.15"]
    assert list(load_run(tmp_path / run.id).frame["value"]) == [5043.04, 8154.27]
    with pytest.raises(UserError, match="name their implementations themselves"):
        import_files([tmp_path / "table"], "openssl-3.6.1", tmp_path / "2024-10-18-b-run")


def test_the_parts_of_an_id() -> None:
    found = implementation_of("rustls-0.22.0-aws-lc-rs-gcc-jemalloc")
    assert (found.library, found.version, found.provider, found.build) == (
        *("rustls", "0.22.0"),
        *("aws-lc-rs", "gcc-jemalloc"),
    )
    found = implementation_of("aws-lc-1.17.4")
    assert (found.library, found.version, found.provider, found.build) == (
        *("aws-lc", "1.17.4"),
        *(None, None),
    )


def test_the_command(tmp_path: Path) -> None:
    (path,) = write(tmp_path, one=BULK[:-5])
    folder = tmp_path / "2026-01-02-a-run"
    arguments = ["import", str(path), "--implementation", "openssl-3.6.1", "--out", str(folder)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "1 files, 1 implementations" in result.output
    assert "warning: raw/openssl-3.6.1/one:4: the output was interrupted" in result.output
    assert tomllib.loads((folder / "run.toml").read_text())["warnings"][0]["code"] == (
        "missing-figure"
    )
