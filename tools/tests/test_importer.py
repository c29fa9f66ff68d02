"""Raw files become a complete, checked run with the warnings that a reader needs."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from commands import commit
from records import BULK, MEMORY
from tlsperf.cli import app
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.load.importer import implementation_of
from tlsperf.load.run import load_run, read_run
from tlsperf.publish.runs import import_files

MISSES = """\
env LD_LIBRARY_PATH=../openssl ./bench handshake-resume TLS_AES_256_GCM_SHA384
sessions: 20479, hits: 20479, misses: 12289
handshakes\tclient\t3419.3\thandshakes/s
handshakes\tserver\t3071.68\thandshakes/s
"""


def bulk(number: int) -> str:
    """The output of another round."""
    return BULK.replace("6512.01", f"65{number:02}.01")


def write(folder: Path, **texts: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_bytes(text.encode())
    return [folder / name for name in texts]


def test_files_are_copied_as_they_are_and_numbered_by_their_names(tmp_path: Path) -> None:
    files = write(
        tmp_path / "given",
        output_10=bulk(10),
        output_9=bulk(9).replace("\n", "\r\n"),
        output_1=MISSES,
    )
    folder = tmp_path / "data" / "runs" / "2026-01-02-a-run"
    run = import_files(files, "openssl-3.6.1", folder)
    assert [(f.path, f.round) for f in run.files] == [
        ("raw/openssl-3.6.1/output_1", None),  # it measured another scenario
        ("raw/openssl-3.6.1/output_9", 1),
        ("raw/openssl-3.6.1/output_10", 2),
    ]
    for file in run.files:
        data = (folder / file.path).read_bytes()
        assert data == (tmp_path / "given" / Path(file.path).name).read_bytes()
        assert (file.sha256, file.bytes) == (hashlib.sha256(data).hexdigest(), len(data))
    assert (str(run.date), run.host_id, run.rounds) == ("2026-01-02", "unknown", 2)
    assert run.tool.name == "openssl-bench"
    assert read_run(folder) == run
    assert sorted(p.name for p in folder.iterdir()) == ["raw", "run.toml"]
    assert len(load_run(folder).rows) == 6
    messages = [warning.message for warning in run.warnings]
    assert messages == [
        "openssl-3.6.1: 2 figures do not count: 12,289 of 32,768 handshakes were full ones "
        "(TLS 1.3 resumed handshake, session id, client; "
        "TLS 1.3 resumed handshake, session id, server)",
    ]


def test_another_implementation_joins_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "2026-01-02-a-run"
    import_files(write(tmp_path / "a", one=BULK), "openssl-3.6.1", folder)
    run = import_files(write(tmp_path / "b", one=bulk(1), two=bulk(2)), "openssl-3.5.1", folder)
    assert [i.id for i in run.implementations] == ["openssl-3.6.1", "openssl-3.5.1"]
    assert [f.round for f in run.files] == [None, 1, 2]
    run = import_files(write(tmp_path / "c", three=bulk(3)[:-5]), "openssl-3.5.1", folder)
    assert [f.round for f in run.files] == [None, 1, 2, 3]
    assert len(load_run(folder).rows) == 7
    warned = [warning.message for warning in run.warnings]
    assert [message.partition(" ")[0] for message in warned] == [
        "raw/openssl-3.5.1/three:4:",
        "openssl-3.5.1:",
        "openssl-3.5.1:",
    ]
    assert warned[2] == (
        "openssl-3.5.1: 1 scenario missing in round 3: TLS 1.2 transfer, AES-128-GCM, receiving"
    )
    again = import_files(write(tmp_path / "d", four=bulk(4)), "openssl-3.6.1", folder)
    assert [warning.message for warning in again.warnings] == warned
    assert [f.round for f in again.files] == [1, 1, 2, 3, 2]
    with pytest.raises(UserError, match=r"already has a file raw/openssl-3\.5\.1/three"):
        import_files([tmp_path / "c" / "three"], "openssl-3.5.1", folder)


OF_BORINGSSL = "env LD_LIBRARY_PATH=../boringssl ./bench handshake TLS_AES_256_GCM_SHA384\n"


def test_an_invalid_file_writes_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "2026-01-02-a-run"
    good, bad = write(tmp_path / "given", good=BULK, bad=bulk(2) + OF_BORINGSSL)
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
    files = write(tmp_path / "given", one=bulk(1), two=bulk(2))
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(KeyboardInterrupt):
        import_files(files, "openssl-3.6.1", folder)
    assert not folder.exists()
    monkeypatch.setattr(Path, "rename", rename)
    import_files(files, "openssl-3.6.1", folder)
    assert len(load_run(folder).rows) == 4


def test_required_arguments_of_the_command(tmp_path: Path) -> None:
    files = write(tmp_path, one=BULK)
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
    assert [row.value for row in load_run(tmp_path / run.id).rows] == [5043.04, 8154.27]
    with pytest.raises(UserError, match="names its implementations itself"):
        import_files([tmp_path / "table"], "openssl-3.6.1", tmp_path / "2024-10-18-b-run")


@pytest.mark.parametrize(
    ("identifier", "version", "provider", "build"),
    [
        ("aws-lc-1.17.4", "1.17.4", None, None),
        ("rustls-0.22.0-aws-lc-rs-gcc-jemalloc", "0.22.0", "aws-lc-rs", "gcc-jemalloc"),
        ("rustls-0.24.0-dev.1-ring", "0.24.0-dev.1", "ring", None),
        ("rustls-0.24.0-dev.1", "0.24.0-dev.1", None, None),
        ("openssl-4.0.0-alpha1-gcc", "4.0.0-alpha1", None, "gcc"),
        ("openssl-3.6.1-developer", "3.6.1", None, "developer"),
        ("boringssl-boring-sys-5.4.0", "boring-sys 5.4.0", None, None),
        ("boringssl-boring-sys-5.4.0-clang", "boring-sys 5.4.0", None, "clang"),
    ],
)
def test_the_parts_of_an_id(
    identifier: str, version: str, provider: str | None, build: str | None
) -> None:
    found = implementation_of(identifier)
    assert identifier.startswith(f"{found.library}-")
    assert (found.version, found.provider, found.build) == (version, provider, build)


def test_rounds_of_files_are_numbered_on_from_those_of_the_files_before(tmp_path: Path) -> None:
    files = [tmp_path / f"walltime-{of}.csv" for of in (3, 2, 4)]
    for file, times in zip(files, ("1,2,3", "4,5", "6,7,8,9"), strict=True):
        file.write_text(f"handshake_no_resume_ring_1.3_rsa_aes,{times}\n")
    run = import_files(files, "rustls-0.23.37-ring", tmp_path / "2026-01-02-a-run")
    assert run.rounds == 9


def test_copies_are_not_rounds(tmp_path: Path) -> None:
    folder = tmp_path / "2026-01-02-a-run"
    thirty = write(tmp_path / "given", **{f"output_{n}": BULK for n in range(30)})
    with pytest.raises(
        FormatError, match=r"output_1: found the bytes of raw/.*/output_0, expected"
    ):
        import_files(thirty, "openssl-3.6.1", folder)
    two = write(tmp_path / "two", one=BULK, two=BULK.replace("\n", "\r\n"))
    with pytest.raises(FormatError, match=r"two: found each figure of raw/.*/one again"):
        import_files(two, "openssl-3.6.1", folder)
    import_files(two[:1], "openssl-3.6.1", folder)
    for identifier in ("openssl-3.6.1", "openssl-3.5.1"):
        (again,) = write(tmp_path / "again", another=BULK)
        with pytest.raises(FormatError, match=r"found the bytes of raw/openssl-3\.6\.1/one"):
            import_files([again], identifier, folder)


BOTH_PROVIDERS = """\
handshake_no_resume_ring_1.3_rsa_aes,1010150,1400602
handshake_no_resume_aws_lc_rs_1.3_rsa_aes,936029,960000
"""


def test_a_file_of_several_implementations_is_imported_once_for_each(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "runs" / "2026-01-02-a-run"
    files = write(tmp_path / "given", **{"walltime.csv": BOTH_PROVIDERS})
    for _ in range(2):
        import_files(files, "rustls-0.23.37-ring", folder)
        run = import_files(files, "rustls-0.23.37-aws-lc-rs", folder)
        files = write(tmp_path / "given", **{"again.csv": BOTH_PROVIDERS.replace("0", "1")})
    loaded = load_run(folder)
    values = {(row.implementation, row.round): row.value for row in loaded.rows}
    assert values["rustls-0.23.37-ring", 2] == 1400.602
    assert values["rustls-0.23.37-aws-lc-rs", 3] == 936.129
    assert len(values) == 8
    said = [warning.message for warning in run.warnings if warning.code == "left-out"]
    assert len(said) == len(set(said)) == 4
    with pytest.raises(FormatError, match="output of its own, not a copy"):
        import_files(write(tmp_path / "more", copy=BOTH_PROVIDERS), "rustls-0.23.37-ring", folder)


def test_a_file_without_a_figure_says_what_was_left_out(tmp_path: Path) -> None:
    files = write(tmp_path / "given", **{"walltime.csv": BOTH_PROVIDERS.splitlines()[0] + "\n"})
    folder = tmp_path / "data" / "runs" / "2026-01-02-a-run"
    with pytest.raises(UserError, match="no figure in what was read; 1 other provider's benchmark"):
        import_files(files, "rustls-0.23.37-aws-lc-rs", folder)
    assert not folder.exists()


def test_a_peak_of_memory_may_be_that_of_another_round(tmp_path: Path) -> None:
    files = write(tmp_path / "given", one=MEMORY, two=f"make: ready\n{MEMORY}")
    assert import_files(files, "openssl-3.6.1", tmp_path / "2026-01-02-a-run").rounds == 2


@pytest.mark.parametrize("size", [1 << 30, 1 << 27])
@pytest.mark.parametrize("name", [None, "openssl-bench/2023"])
def test_a_last_line_without_end_is_rejected_fast_with_a_short_message(
    tmp_path: Path, size: int, name: str | None
) -> None:
    (path,) = write(tmp_path / "given", output=BULK)
    with path.open("r+b") as file:
        file.truncate(size)
    began = time.process_time()
    with pytest.raises(FormatError) as error:
        import_files([path], "openssl-3.6.1", tmp_path / "2026-01-02-a-run", name)
    assert time.process_time() - began < 2
    assert len(str(error.value)) < len(str(path)) + 100
    assert re.search(r": found (more than|a line of more than) [0-9,]+ bytes", str(error.value))


def test_links_and_special_files_are_rejected(tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "2026-01-02-a-run"
    (secret,) = write(tmp_path / "elsewhere", secret=BULK)
    given = tmp_path / "given"
    (own,) = write(given, own=BULK)
    (given / "link").symlink_to(secret)
    (given / "relative").symlink_to("../elsewhere/secret")
    (given / "loop").symlink_to("loop")
    os.mkfifo(given / "pipe")
    for name, found in {
        "link": "found a link out of its folder",
        "relative": "found a link out of its folder",
        "loop": "loop",
        "pipe": "found a pipe or device, expected a file",
        ".": "directory",
    }.items():
        with pytest.raises(UserError, match=found):
            import_files([given / name], "openssl-3.6.1", folder)
    (given / "latest").symlink_to(own)
    import_files([given / "latest"], "openssl-3.6.1", folder)
    shutil.rmtree(folder / "raw")
    (folder / "raw").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="a link"):
        import_files(write(given, more=bulk(2)), "openssl-3.5.1", folder)
    assert list((tmp_path / "elsewhere").iterdir()) == [secret]
    (folder / "raw").unlink()
    (folder / "run.toml").rename(tmp_path / "run.toml")
    (folder / "run.toml").symlink_to(tmp_path / "run.toml")
    with pytest.raises(FormatError, match=r"run\.toml: found a link"):
        read_run(folder)


def test_a_binary_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "output"
    path.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 20)
    with pytest.raises(UserError, match="no line of a known format"):
        import_files([path], "openssl-3.6.1", tmp_path / "2026-01-02-a-run")
    assert not (tmp_path / "2026-01-02-a-run").exists()


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (BULK.encode() + b"\x00\x01\x02\n", 5),
        (BULK.replace("6512.01", "9" * 400).encode(), 3),
        (b"bench " * 2000 + b"\n" + BULK.encode(), 1),
    ],
    ids=["zero bytes", "huge", "hostile"],
)
def test_a_bad_line_is_left_out_fast(tmp_path: Path, data: bytes, line: int) -> None:
    path = tmp_path / "output"
    path.write_bytes(data)
    began = time.process_time()
    run = import_files([path], "openssl-3.6.1", tmp_path / "2026-01-02-a-run")
    assert time.process_time() - began < 2
    [said] = [w.message for w in run.warnings if w.code == "left-out"]
    assert f"output:{line}: 1 unknown line left out: " in said
    assert len(said) < 500


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project, with its docs/ as the working directory."""
    for folder in ("docs", "data/runs"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "config.toml").touch()
    monkeypatch.chdir(tmp_path / "docs")
    return tmp_path


def run_import(*arguments: str) -> list[str]:
    result = CliRunner().invoke(app, ["import", *arguments])
    assert result.exit_code == 0, result.output
    return result.output.splitlines()


def test_a_successful_import_prints_its_figures_and_how_to_undo_it(project: Path) -> None:
    (path,) = write(project / "given", one=BULK)
    arguments = ("--implementation", "openssl-3.6.1", "--out", "data/runs/2026-01-02-a-run")
    folder = "../data/runs/2026-01-02-a-run"
    assert run_import(str(path), *arguments) == [
        f"{folder}: imported 2 figures of openssl-3.6.1 from 1 file",
        "  transfer: 2 figures of 2 scenarios: TLS 1.2 transfer, AES-128-GCM, sending; "
        "TLS 1.2 transfer, AES-128-GCM, receiving",
        f"to undo: rm -r {folder}",
    ]
    assert not (project / "docs" / "data").exists()
    (other,) = write(project / "given", two=bulk(2))
    lines = run_import(str(other), "--implementation", "openssl-3.5.1", *arguments[2:])
    assert lines[-1] == (
        f"to undo: rm {folder}/raw/openssl-3.5.1/two, and take their [[files]] out of "
        f"{folder}/run.toml"
    )


def test_a_committed_run_is_undone_by_git(project: Path) -> None:
    one, two = write(project / "given", one=BULK, two=bulk(2))
    run_import(str(one), "--implementation", "openssl-3.6.1", "--out", "2026-01-02-a-run")
    commit(project)
    before = {p: p.read_bytes() for p in (project / "data").rglob("*") if p.is_file()}
    lines = run_import(str(two), "--implementation", "openssl-3.6.1", "--out", "2026-01-02-a-run")
    assert {p for p in (project / "data").rglob("*") if p.is_file()} != set(before)
    subprocess.run(lines[-1].removeprefix("to undo: "), shell=True, check=True)
    assert {p: p.read_bytes() for p in (project / "data").rglob("*") if p.is_file()} == before


def test_a_warning_is_printed_only_by_the_import_it_is_about(project: Path) -> None:
    cut, whole = write(project / "given", cut=BULK[:-5], whole=bulk(2))
    out = ("--out", "2026-01-02-a-run")
    first = run_import(str(cut), "--implementation", "openssl-3.6.1", *out)
    assert [line for line in first if line.startswith("warning")] == [
        "warning: raw/openssl-3.6.1/cut:4: the output was interrupted at 'recv: 7236.13'",
        "warning: openssl-3.6.1: 1 figure does not count: the output stops before the receiver's "
        "figure (TLS 1.2 transfer, AES-128-GCM, sending)",
    ]
    second = run_import(str(whole), "--implementation", "openssl-3.5.1", *out)
    assert not [line for line in second if line.startswith("warning")]
    described = tomllib.loads((project / "data/runs/2026-01-02-a-run/run.toml").read_text())
    assert [warning["code"] for warning in described["warnings"]] == [
        "missing-figure",
        "invalid",
    ]


def test_a_file_of_threads_is_not_a_round_of_one_thread(project: Path) -> None:
    line = (
        "handshakes TLSv1_3 Rsa TLS13_AES_256_GCM_SHA384 {} server-auth no-resume {} handshake/s\n"
    )

    def output(rate: str) -> str:
        return line.format("client", rate) + line.format("server", rate)

    given = {f"measure-{n}.txt": output(f"469{n}.01") for n in (1, 2, 3)}
    given["threads.txt"] = output("threads 2 100.00 102.00 total 202.00 per-thread 101.00")
    *first, third, threads = (str(path) for path in write(project / "given", **given))
    arguments = ("--implementation", "rustls-0.23.37-ring", "--out", "2026-01-02-a-run")
    lines = run_import(*first, threads, *arguments)
    assert not [line for line in lines if line.startswith("warning")]
    run_import(third, *arguments)
    run = read_run(project / "data/runs/2026-01-02-a-run")
    assert {Path(f.path).name: f.round for f in run.files} == {
        "measure-1.txt": 1,
        "measure-2.txt": 2,
        "threads.txt": None,
        "measure-3.txt": 3,
    }
