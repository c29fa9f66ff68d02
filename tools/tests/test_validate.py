"""`tlsperf validate` names each kind of damage; `make check` runs it on what is committed."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from project import ARM, HOST, NIGHTS, OLD, write_run
from records import MEMORY
from test_compare import DEFINITION
from test_importer import bulk, write
from tlsperf.publish.runs import compress_raw, import_files
from tlsperf.publish.validate import problems

RUN = "2026-01-02-a-run"


@pytest.fixture(scope="module")
def clean(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data folder with one run of four rounds. It must not be changed."""
    folder = tmp_path_factory.mktemp("clean")
    data = folder / "data"
    shutil.copytree(project / "data" / "hosts", data / "hosts")
    (data / "runs").mkdir()
    files = write(folder / "given", **{f"output_{n}": bulk(n) for n in range(1, 5)})
    import_files(files, "openssl-3.6.1", data / "runs" / RUN, host=HOST)
    assert problems(data) == []
    return data


@pytest.fixture
def data(clean: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(clean, tmp_path / "data"))


def _toml(before: str, after: str) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        text = (folder / "run.toml").read_text()
        assert before in text
        (folder / "run.toml").write_text(text.replace(before, after, 1))

    return damage


def _append(folder: Path) -> None:
    with (folder / "raw/openssl-3.6.1/output_1").open("a") as file:
        file.write("send: 1 MB/s\n")


def _another_digit(folder: Path) -> None:
    file = folder / "raw/openssl-3.6.1/output_1"
    file.write_text(file.read_text().replace("7236.13", "7236.14"))


def _another_processor(folder: Path) -> None:
    later = folder.with_name("2026-01-03-a-run")
    shutil.copytree(folder, later)
    text = (folder / "run.toml").read_text().replace(HOST, "a-vm")
    for of, model in ((folder, 17), (later, 18)):
        facts = f'id = "a-vm"\ncpu = "CPU"\ncpu_model = "model {model}"\narchitecture = "x"\n'
        (of / "run.toml").write_text(f"{text.replace(RUN, of.name)}\n[host]\n{facts}")


def _published_table(folder: Path) -> None:
    comparisons = folder.parents[1] / "comparisons"
    comparisons.mkdir()
    of = {"run": RUN, "layout": "factor", "left": "openssl-3.6.1", "right": "openssl-3.6.1"}
    made = DEFINITION.format(**of, errata="", scenarios='["bulk_*_sent"]')
    (comparisons / "tables.toml").write_text(made)
    (comparisons / "printed.csv").write_text("table,scenario,factor\nOne and another,sent,1.1x\n")


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (_toml(f'host_id = "{HOST}"', 'host_id = "elsewhere"'), "host_id 'elsewhere'"),
        (_toml("rounds = 4", 'rounds = "four"'), "rounds 'four'"),
        (_toml("rounds = 4", "round = 4"), "round"),
        (_toml(f'id = "{RUN}"', 'id = "2026-01-02-b-run"'), "the folder's name"),
        (_toml("round = 2", "round = 1"), "second observation"),
        (_toml("openssl-bench/2023", "openssl-bench/1066"), "format 'openssl-bench/1066'"),
        (_toml('id = "openssl-3.6.1"', 'id = "openssl-3.6.2"'), "the run, not openssl-3.6.1"),
        (_append, "bytes, expected "),
        (_another_digit, "sha256"),
        (lambda folder: (folder / "raw/openssl-3.6.1/output_2").unlink(), "is missing"),
        (lambda folder: (folder / "raw/stray").touch(), "run.toml does not list"),
        (lambda folder: (folder.parent / "note.txt").touch(), "the folder of a run"),
        (lambda folder: (folder.parent.parent / "hosts/x.toml").touch(), "hosts/x.toml"),
        (_another_processor, f"another model than in run {RUN}"),
        (_published_table, "where the data give"),
    ],
)
def test_damage_is_named(data: Path, damage: Callable[[Path], None], expected: str) -> None:
    damage(data / "runs" / RUN)
    found = problems(data)
    assert any(expected in problem for problem in found), found
    assert all(str(data) in problem for problem in found)


@pytest.mark.parametrize(
    "name", ["evil.html", "hosts/evil.svg", "hosts/raw/evil.js", "runs/evil.xml", "noname"]
)
def test_a_file_that_a_browser_may_run_is_named(data: Path, name: str) -> None:
    (data / name).parent.mkdir(exist_ok=True)
    (data / name).write_text("x")
    assert any(f"{data / name}: found a file with the suffix" in found for found in problems(data))


@pytest.mark.parametrize("target", ["/etc", "/etc/passwd", "hosts"])
def test_a_link_is_named(data: Path, target: str) -> None:
    link = data / "runs" / RUN / "raw" / "link"
    link.symlink_to(target)
    assert any(f"{link}: found a link" in found for found in problems(data))


def test_a_rate_ten_times_its_neighbours(data: Path, tmp_path: Path) -> None:
    files = write(tmp_path / "more", output_5=bulk(0).replace("6500.01", "65120.1"))
    import_files(files, "openssl-3.6.1", data / "runs" / RUN)
    (problem,) = problems(data)
    assert "found 65120.1 MiB/s for TLS 1.2 transfer, AES-128-GCM, sending" in problem
    assert "in round 5, expected about 6503.01" in problem


def test_a_published_rate_ten_times_those_beside_it(data: Path, tmp_path: Path) -> None:
    lines = [
        "figure,operation,protocol,resumption,side,implementation,version,threads,"
        "handshakes_per_second_per_thread",
        *(
            f"f,handshake,1.3,none,server,OpenSSL,3.6.1,{threads},{rate}"
            for threads, rate in ((2, 600.4), (8, 59.98), (14, 599.6))
        ),
    ]
    files = write(tmp_path / "more", table="".join(f"{line}\n" for line in lines))
    import_files(files, None, data / "runs" / "2026-01-02-threads", host=HOST)
    (problem,) = problems(data)
    assert "found 59.98 handshakes/s/thread of openssl-3.6.1 with 8 threads" in problem


@pytest.mark.parametrize(("kib", "many"), [(69, 0), (70, 1)])
def test_some_pages_more_are_plausible(data: Path, tmp_path: Path, kib: int, many: int) -> None:
    outputs = [MEMORY.replace("83300", str(size)) for size in (4, 5, 6, kib)]
    files = write(tmp_path / "more", **{f"output_{n}": o for n, o in enumerate(outputs, 1)})
    import_files(files, "openssl-3.6.1", data / "runs" / "2026-01-02-memory", host=HOST)
    found = problems(data)
    assert len(found) == many
    assert all("expected about 5.5 as in its other rounds" in problem for problem in found)


def test_a_compressed_raw_file_is_valid_and_one_that_is_there_twice_is_named(
    tmp_path: Path,
) -> None:
    folder = write_run(tmp_path)
    plain = folder / "raw" / "records.jsonl"
    raw, packed = plain.read_bytes(), plain.with_name("records.jsonl.gz")
    compress_raw(folder)
    assert problems(tmp_path / "data") == []
    plain.write_bytes(raw)
    [problem] = problems(tmp_path / "data")
    assert problem.startswith(f"{packed}: found a file that run.toml does not list")
    plain.unlink()
    packed.write_bytes(packed.read_bytes()[:-1])
    [problem] = problems(tmp_path / "data")
    assert problem.startswith(f"{packed}: found ")


def test_damage_among_many_runs_is_named_in_the_order_of_folders(
    project: Path, tmp_path: Path
) -> None:
    """Several processes check them."""
    data = Path(shutil.copytree(project / "data", tmp_path / "data"))
    damaged = (
        data / "runs" / OLD / "raw" / "records.jsonl.gz",
        data / "runs" / ARM / "run.toml",
        data / "nightly" / NIGHTS / "2026-11-03-rustls" / "run.toml",
    )
    for path in damaged:
        path.write_bytes(b"[")
    assert [problem.partition(": ")[0].partition(":")[0] for problem in problems(data)] == [
        str(path) for path in damaged
    ]
