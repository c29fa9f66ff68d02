"""A run is read completely, or rejected with the place of the error."""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from project import DISTURBED, write_run
from records import BULK
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.record import Url
from tlsperf.contract.results import CaveatSource
from tlsperf.contract.run import MOST_IMPLEMENTATIONS, Implementation, RawPath
from tlsperf.load.run import load_run, read_hosts, read_run
from tlsperf.publish import runs
from tlsperf.publish.runs import compress_raw, import_files


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_run_is_read_with_its_rows_its_gaps_and_its_disturbances(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path))
    assert {row.implementation for row in run.rows} == {i.id for i in run.run.implementations}
    assert {gap.implementation for gap in run.gaps} == {"boringssl-30cd935"}
    assert [gap.scenario.side for gap in run.gaps] == ["client", "server"]
    assert [w.code for w in run.warnings] == ["disturbed-rounds-excluded"]
    assert run.rounds_are_pairs
    assert not any(row.valid for row in run.rows if row.round == DISTURBED)
    assert any(row.valid for row in run.rows)


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("raw/records.jsonl", "1000", "1001", "raw/records.jsonl: found sha256 "),
        ("run.toml", "schema = 1", "schema = 2", "run.toml: found schema 2, expected 1"),
        ("run.toml", "[tool]", "[tool", "run.toml:24: this is not TOML: expected ']'"),
        ("run.toml", 'library = "openssl"', 'library = "opnssl"', "run.toml: found implementatio"),
        ("run.toml", 'id = "2026-11-21-example"', 'id = "other"', "run.toml: found id 'other', "),
        ("run.toml", "tlsbench/1", "tlsbench/9", "run.toml: found format 'tlsbench/9', expected"),
        ("run.toml", "raw/records.jsonl", "raw/gone.jsonl", "raw/gone.jsonl: the raw file is mis"),
    ],
)
def test_an_invalid_run_is_reported_with_the_error(
    tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    folder = write_run(tmp_path)
    replace(folder / file, old, new)
    with pytest.raises(UserError) as caught:
        load_run(folder)
    assert str(caught.value).removeprefix(f"{folder}/").startswith(message)


SCRIPT = "javascript:alert(1)"
ADDRESSES, PATHS = TypeAdapter(Url), TypeAdapter(RawPath)


@pytest.mark.parametrize(
    "address",
    [
        *(SCRIPT, "JavaScript:alert(1)", " https://example.org/", "//example.org/", "example.org"),
        *("data:text/html,<script>alert(1)</script>", "https://", "https://example.org/ x"),
        *('https://example.org/"onclick="alert(1)', "https://example.org/<b>", "file:///etc"),
        *("https://example.org/{{ x }}", "https://example.org/\n", "vbscript:x", ""),
    ],
)
def test_an_address_is_only_http_or_https(address: str) -> None:
    with pytest.raises(ValidationError):
        ADDRESSES.validate_python(address)


@pytest.mark.parametrize(
    ("place", "table", "keys"),
    [
        ("tool", "[tool]", ""),
        ("host", "[host]", ""),
        ("source", "[tool]", '[source]\ntitle = "a"\n'),
    ],
)
def test_every_address_of_a_run_is_checked(
    tmp_path: Path, place: str, table: str, keys: str
) -> None:
    folder = write_run(tmp_path)
    line = f'url = "{SCRIPT}"'
    replace(folder / "run.toml", table, f"{keys}{line}\n{table}" if keys else f"{table}\n{line}")
    with pytest.raises(UserError, match=rf"toml: found {place}.url .*expected text that matches"):
        load_run(folder)


def test_the_addresses_of_hosts_and_notes_are_checked_too(tmp_path: Path) -> None:
    write_run(tmp_path)
    with (tmp_path / "data/hosts/example-host.toml").open("a") as file:
        file.write(f'url = "{SCRIPT}"\n')
    with pytest.raises(UserError, match=r"example-host.toml: found url "):
        read_hosts(tmp_path / "data" / "hosts")
    with pytest.raises(ValidationError):
        CaveatSource(title="a", url=SCRIPT)


@pytest.mark.parametrize(
    "path",
    [
        *("../../../README.md", "raw/../../x.txt", "raw/..", "raw/./x.txt", "/etc/passwd"),
        *("raw//x.txt", "raw/", "raw", "run.toml", "x.txt", "raw\\x.txt", "raw/.htaccess", ""),
        *("raw/builds/evil.html", "raw/evil.HTML", "raw/evil.htm", "raw/evil.svg", "raw/evil.js"),
        *("raw/evil.xml", "raw/evil.xhtml", "raw/evil.pdf", "raw/evil.html.txt", "raw/evil.php.1"),
        *("raw/evil.html/x", "raw/x.txt.", "raw/x\n", "raw/<b>", "raw/é.txt"),
    ],
)
def test_a_raw_file_lies_below_raw_with_a_name_that_no_browser_runs(path: str) -> None:
    with pytest.raises(ValidationError):
        PATHS.validate_python(path)


def test_the_names_of_raw_files_of_tools_are_allowed() -> None:
    for name in ("openssl_3.2.0_gcc", "a-latency.tsv", "bench.log", "output_10", "Cargo.lock"):
        assert PATHS.validate_python(f"raw/openssl-3.2.0-gcc/{name}")


@pytest.mark.parametrize("linked", ["raw/records.jsonl", "raw", "raw/records.jsonl.gz"])
def test_a_raw_file_is_not_a_link(tmp_path: Path, linked: str) -> None:
    folder = write_run(tmp_path)
    if linked.endswith(".gz"):
        compress_raw(folder)
    (folder / linked).rename(tmp_path / "elsewhere")
    (folder / linked).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=r"records.jsonl(.gz)?: found a link, expected a file"):
        load_run(folder)


@pytest.mark.parametrize("start", ["<script>", " \n\t<!DOCTYPE html>"])
def test_a_raw_file_that_begins_as_a_page_is_rejected(tmp_path: Path, start: str) -> None:
    folder = write_run(tmp_path)
    lock = folder / "raw" / "builds" / "Cargo.lock"
    lock.parent.mkdir()
    lock.write_text(start)
    digest = hashlib.sha256(start.encode()).hexdigest()
    with (folder / "run.toml").open("a") as file:
        file.write(
            f'\n[[files]]\npath = "raw/builds/Cargo.lock"\nsha256 = "{digest}"\n'
            f'bytes = {len(start)}\nformat = "cargo-lock"\n'
        )
    with pytest.raises(UserError, match=r"Cargo.lock:1: found <, expected the output"):
        load_run(folder)


@pytest.mark.parametrize("length", [200, 201, 256])
def test_an_id_can_name_a_file(tmp_path: Path, length: int) -> None:
    folder = write_run(tmp_path)
    replace(folder / "run.toml", 'host_id = "example-host"', f'host_id = "{"h" * length}"')
    if length == 200:
        assert len(read_run(folder).host_id) == 200
        return
    with pytest.raises(UserError, match=r"found host_id .*expected String should have at most 200"):
        load_run(folder)


def test_a_run_of_more_implementations_than_a_page_can_show_is_rejected_at_once(
    tmp_path: Path,
) -> None:
    folder = write_run(tmp_path)
    with (folder / "run.toml").open("a") as file:
        for number in range(10_000):
            file.write(
                f'\n[[implementations]]\nid = "go-{number}"\nlibrary = "go"\nversion = "1"\n'
            )
    with pytest.raises(
        UserError, match=rf"found implementations .* at most {MOST_IMPLEMENTATIONS}"
    ):
        load_run(folder)


@pytest.mark.parametrize("version", ["<b>", "{{ x }}", "{% x %}", "[x](y)", "1\n2", "1" * 101, ""])
def test_a_label_has_no_markup(version: str) -> None:
    with pytest.raises(ValidationError):
        Implementation(id="go-1", library="go", version=version)


def test_a_missing_run_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no run 'none': expected a name"):
        load_run(tmp_path / "none")


def test_a_host_has_the_name_of_its_file(tmp_path: Path) -> None:
    write_run(tmp_path)
    hosts = tmp_path / "data" / "hosts"
    assert read_hosts(hosts)["example-host"].name == "Example Xeon E-2386G"
    (hosts / "example-host.toml").rename(hosts / "other.toml")
    with pytest.raises(UserError, match=r"other.toml: found id 'example-host', expected 'other'"):
        read_hosts(hosts)


# --- compressed raw files ------------------------------------------------------------------------


def test_a_compressed_raw_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    plain, manifest = load_run(folder), (folder / "run.toml").read_bytes()
    size = (folder / "raw" / "records.jsonl").stat().st_size
    compress_raw(folder)
    [packed] = (folder / "raw").iterdir()
    assert packed.name == "records.jsonl.gz"
    assert packed.stat().st_size < size / 4
    assert (folder / "run.toml").read_bytes() == manifest
    read = load_run(folder)
    assert (read.rows, read.run) == (plain.rows, plain.run)
    assert (read.gaps, read.overheads) == (plain.gaps, plain.overheads)
    before = packed.read_bytes()
    compress_raw(folder)
    assert packed.read_bytes() == before


def test_only_large_raw_files_of_a_report_are_compressed(project: Path) -> None:
    found = set()
    for folder in (project / "data" / "runs").iterdir():
        for file in read_run(folder).files:
            packed = (folder / f"{file.path}.gz").exists()
            assert packed is not (folder / file.path).exists()
            assert packed is (file.bytes >= 64 * 1024)
            found.add(packed)
    assert found == {True, False}


def test_figures_are_imported_into_a_run_with_compressed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "COMPRESSED_FROM", 0)
    folder, given = tmp_path / "2026-01-02-a-run", tmp_path / "output_1"
    for number in (1, 2):
        given = given.rename(tmp_path / f"output_{number}") if given.exists() else given
        given.write_text(BULK.replace("6512.01", f"651{number}.01"), encoding="utf-8")
        import_files([given], "openssl-3.6.1", folder)
        compress_raw(folder)
    assert [file.round for file in read_run(folder).files] == [1, 2]
    assert {6511.01, 6512.01} < {row.value for row in load_run(folder).rows}
    with pytest.raises(UserError, match="already has a file"):
        import_files([given], "openssl-3.6.1", folder)
    manifest = folder / "run.toml"
    manifest.write_text(manifest.read_text().replace('implementation = "openssl-3.6.1"\n', ""))
    with pytest.raises(FormatError, match=r"output_1: found no implementation, expected a value"):
        load_run(folder)


def cut(raw: bytes) -> bytes:
    return gzip.compress(raw)[:-12]


def flipped(raw: bytes) -> bytes:
    packed = bytearray(gzip.compress(raw))
    packed[len(packed) // 2] ^= 1
    return bytes(packed)


GZIP = "expected a file that gzip wrote"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (cut, GZIP),
        (flipped, ", expected "),
        (lambda raw: raw, GZIP),
        (lambda raw: gzip.compress(raw) + b"more", GZIP),
        (lambda raw: b"", "found 0 bytes when unpacked, expected "),
        (lambda raw: gzip.compress(raw[:-1]), "bytes when unpacked, expected "),
        (lambda raw: gzip.compress(raw) * 2, "found more than "),
        (lambda raw: gzip.compress(raw + bytes(1 << 26)), "found more than "),
        (lambda raw: gzip.compress(raw.replace(b"1000", b"1001")), "found sha256 "),
    ],
)
def test_a_damaged_compressed_file_is_one_message_and_is_not_unpacked_further(
    tmp_path: Path, damage: Callable[[bytes], bytes], said: str
) -> None:
    folder = write_run(tmp_path)
    plain = folder / "raw" / "records.jsonl"
    raw = plain.read_bytes()
    compress_raw(folder)
    packed = folder / "raw" / "records.jsonl.gz"
    packed.write_bytes(damage(raw))
    tracemalloc.start()
    try:
        with pytest.raises(FormatError) as caught:
            load_run(folder)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert message.startswith(f"{packed}: found ")
    assert said in message
    assert ", expected " in message
    assert "\n" not in message
    assert most < 5 * len(raw)
