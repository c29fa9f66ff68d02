"""No command line and no damaged file ends a command in a traceback, or changes a file elsewhere.

`pytest --hypothesis-profile=nightly` tries thousands of both.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, get_args

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st

from commands import commit, tlsperf
from project import (
    HOST,
    NOTE,
    OPENSSL,
    ROOT,
    RUSTLS,
    SMALL,
    files,
    write_made,
    write_run,
    write_small,
)
from records import BULK
from test_archive import archived, packed
from test_compare import DEFINITION
from tlsperf.cli import app
from tlsperf.publish.exchange import FORMS

RUN: Final = SMALL.id
EARLIER: Final = f"2026-10-01{RUN[10:]}"

VALUES: Final[dict[str, list[str]]] = {
    "RUN": [RUN, EARLIER, f"data/runs/{RUN}", f"content/perf/{RUN}", "2026-10-05-imported"],
    "REPORT": [RUN, f"content/perf/{RUN}", f"data/runs/{RUN}"],
    "[RUN]...": [RUN, EARLIER, f"data/runs/{RUN}"],
    "RUN|REPORT": [RUN, f"content/perf/{RUN}", f"data/runs/{RUN}/run.toml"],
    "[RUN/]LEFT": [OPENSSL, f"{RUN}/{OPENSSL}", f"data/runs/{RUN}/{OPENSSL}"],
    "[RUN/]RIGHT": [f"{RUN}/{RUSTLS}", f"{EARLIER}/{OPENSSL}"],
    "ID": ["openssl-3.6.1", "rustls-0.23.37-aws-lc-rs", "openssl-"],
    "HOST": [HOST, "unknown"],
    "FILE": ["one", "theirs.toml", "suite.toml", "run.tar.gz", "content", "data/biases.toml"],
    "ARCHIVE": ["run.tar.gz", "one"],
    "COMMIT": ["HEAD", "main"],
    "DATE": ["2026-10-05", "2026-02-30"],
    "NAME": ["named", "a.b"],
    "TEXT": ["A title", "Ü ≠ č 漢", "\u202eright to left"],
    "PATTERN": ["sending", "*", "[", "hand*"],
    "PERCENT": ["5%", "0%", "100"],
    "FOLDER": ["out", "out/one", "config.toml", "content/perf"],
    "FORMAT": [*FORMS, "openssl-bench/2024"],
    "URL": ["https://acme.example/tls", "http://127.0.0.1:8000", "acme.example", "ftp://acme"],
    "SHELL": ["bash", "zsh", "fish", "csh"],
}
"""What fits an option or argument, by its name in the help."""

HOSTILE: Final = st.sampled_from(
    [
        *("", " ", ".", "..", "../../x", "a/../b", "-", "--", "-x", "--help", "a\nb", "a\tb"),
        *("a" * 300, "č", "\udcff", "%s", "{0}", "$(x)", "data", "config.toml", "2031-01-01"),
        *("5", "-1", "nan%", "1e999%", "\x1b[31m", "~", "*"),
    ]
) | st.text(st.characters(exclude_characters="\0/"), max_size=12)


def other(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """The damage that a file has other bytes; a folder stays."""

    def damaged(path: Path) -> None:
        if path.is_file():
            path.write_bytes(change(path.read_bytes()))

    return damaged


def gone(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def folder(path: Path) -> None:
    gone(path)
    path.mkdir()


def link(path: Path) -> None:
    gone(path)
    path.symlink_to(path.name)


DAMAGES: Final[dict[str, Callable[[Path], None]]] = {
    "gone": gone,
    "a folder": folder,
    "a link to itself": link,
    "nothing": other(lambda data: b""),
    "half of it": other(lambda data: data[: len(data) // 2]),
    "no UTF-8": other(lambda data: data + b"\n\xff\n"),
    "a NUL": other(lambda data: data + b"\0"),
    "a page": other(lambda data: b"<html></html>"),
    "other keys": other(lambda data: b'other = 1\n[table]\nkey = "x"\n'),
    "JSON": other(lambda data: b'{"a": [{}]}'),
    "a list": other(lambda data: b"[]"),
    "deep": other(lambda data: b"a = " + b"[" * 5000),
    "deep JSON": other(lambda data: b"[" * 100_000),
    "a long number": other(lambda data: b"a = " + b"1" * 5000),
    "twice": other(lambda data: data + data),
    "no texts": other(lambda data: data.replace(b'"', b"")),
    "texts": other(lambda data: data.replace(b" = 1", b' = "1"').replace(b":1", b':"1"')),
    "another library": other(lambda data: data.replace(b"openssl", b"opensll")),
    "negative numbers": other(lambda data: data.replace(b" = ", b" = -").replace(b":", b":-")),
    "no names": other(lambda data: data.replace(b"name", b"nome").replace(b"id", b"di")),
    "other lines": other(lambda data: b"\n".join(reversed(data.split(b"\n")))),
    "numbers": other(lambda data: re.sub(rb'"[^"\n]*"', b"3", data)),
    "no tables": other(lambda data: re.sub(rb"\{[^{}\n]*\}", b'"x"', data)),
    "a number for a table": other(
        lambda data: re.sub(rb"\n\[(extra|suite)\][^[]*", rb"\n\1 = 3\n", data)
    ),
    "another run": other(lambda data: data.replace(RUN.encode(), b"2026-01-01-none")),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small project with every kind of file that a command reads, in git."""
    root = tmp_path_factory.mktemp("whole") / "project"
    root.mkdir()
    write_small(root, EARLIER[:10])
    between = {"run": RUN, "layout": "factor", "left": OPENSSL, "right": RUSTLS}
    suite = 'name = "standard"\n'
    digest = hashlib.sha256(suite.encode()).hexdigest()
    manifest = write_run(root / "packed") / "run.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("[suite]", f'[suite]\nsha256 = "{digest}"'), encoding="utf-8")
    (root / "run.tar.gz").write_bytes(archived(packed(manifest.parent)))
    shutil.rmtree(root / "packed")
    for name, content in {
        "data/notes.toml": NOTE.format(run=RUN),
        "theirs.toml": DEFINITION.format(**between, errata="", scenarios='["bulk_*"]'),
        "one": BULK,
        "suite.toml": suite,
        "content/_index.md": "+++\n+++\n",
    }.items():
        (root / name).write_text(content, encoding="utf-8")
    commit(root)
    return root


FILES: Final = st.integers(0, 1000)
DAMAGE: Final = st.none() | st.sampled_from(sorted(DAMAGES))


def is_read(path: Path) -> bool:
    """Whether a command may read it: no picture, and nothing of git."""
    return path.suffix not in (".svg", ".png") and ".git" not in path.parts


def value_of(fitting: list[str]) -> st.SearchStrategy[str]:
    return st.integers(0, 19).flatmap(lambda at: HOSTILE if at == 0 else st.sampled_from(fitting))


def fitting(parameter: Any) -> list[str]:
    """What fits an option or argument, of which one without a name in the help has choices."""
    if parameter.metavar:
        return VALUES[parameter.metavar]
    return list(get_args(parameter.type_descriptor.annotation))


def drawn(parameter: Any) -> st.SearchStrategy[list[str]]:
    """An option or argument as it may stand on the command line, or nothing."""
    option = st.sampled_from(parameter.opts)
    if parameter.param_type_name == "option" and parameter.is_flag:
        return st.lists(option, max_size=1)
    value = value_of(fitting(parameter))
    if parameter.param_type_name == "argument":
        least, most = int(parameter.required), 2 if parameter.nargs == -1 else 1
        return st.lists(value, min_size=least, max_size=most)
    return st.just([]) | st.tuples(option, value).map(list)


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A command with options and arguments, most of which fit."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    name = draw(st.sampled_from(sorted(commands)))
    parts = [draw(drawn(parameter)) for parameter in commands[name].params]
    more = draw(st.integers(0, 19).flatmap(lambda at: st.lists(HOSTILE, max_size=int(at == 0))))
    return [name, *chain.from_iterable(draw(st.permutations([*parts, more])))]


def test_every_value_of_the_help_is_tried() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    given = [of for command in commands.values() for of in command.params]
    assert {of.metavar for of in given if of.metavar} == VALUES.keys()


Run = Callable[[Path, list[str]], tuple[int, str]]


def check(whole: Path, run: Run, command: list[str], file: int, damage: str | None) -> None:
    """Runs a command on a copy of a project, perhaps with a damaged file."""
    with tempfile.TemporaryDirectory(dir=whole.parent) as scratch:
        root = Path(scratch) / "a" / "project"
        shutil.copytree(whole, root)
        beside = Path(scratch) / "beside"
        beside.write_text("stays")
        paths = [path for path in sorted(root.rglob("*")) if is_read(path)]
        if damage:
            DAMAGES[damage](paths[file % len(paths)])
        before = files(root)
        code, said = run(root, command)
        assert code in (0, 1, 2), said
        assert code == 0 or said.strip()
        assert "Traceback" not in said
        assert {it.name for it in Path(scratch).iterdir()} == {"a", "beside"}
        assert [it.name for it in root.parent.iterdir()] == ["project"]
        assert beside.read_text() == "stays"
        if code == 2:
            assert files(root) == before


@given(command=command_lines(), file=FILES, damage=DAMAGE)
def test_a_command_of_tlsperf_ends_with_a_message_and_changes_only_the_project(
    whole: Path, command: list[str], file: int, damage: str | None
) -> None:
    def run(root: Path, command: list[str]) -> tuple[int, str]:
        done = tlsperf(root, *command)
        return done.code, done.out + done.errors

    check(whole, run, command, file, damage)


# --- tlsbench ------------------------------------------------------------------------------------

TLSBENCH: Final = [ROOT / "bench" / "target" / kind / "tlsbench" for kind in ("release", "debug")]
BENCH_COMMANDS: Final = (
    *("run", "list", "pack", "build", "lock", "test", "compare", "completions"),
    *("host show", "host check"),
)
"""Not `host tune`, which changes this host."""
BENCH_VALUES: Final[dict[str, list[str]]] = {
    "SUITE": ["quick", "bench/suites/standard.toml", "history", "mine.toml"],
    "FOLDER": ["out", "data/runs/2026-11-21-new", "data", f"data/runs/{RUN}"],
    "RUN": [RUN, f"data/runs/{RUN}"],
    "PATTERN": ["handshake/*", "*", "nothing"],
    "LIBRARY": ["openssl", "tls-rustls-*", "none"],
    "LIBRARY=FOLDER": ["rustls=../rustls", "openssl=data", "x"],
    "BUILD": ["rustls=data", "rustls@0.23.40", "tls-openssl", '{ library = "openssl" }', "x@"],
    "ID": [HOST, "another"],
    "N": ["1", "0", "-1", "4294967296"],
    "TIME": ["1s", "30m", "-1h", "x"],
    "PERCENT": ["1%", "0%", "1"],
    "COUNTER": ["wire", "calls", "callgrind", "x"],
    "PROVIDER": ["ring", "none"],
    "FILE": ["out.md", "data"],
    "SHELL": ["bash", "csh"],
    "FORMAT": ["text", "json", "markdown", "csv"],
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with suites and libraries, but no program that could measure."""
    root = tmp_path_factory.mktemp("bench") / "project"
    for name in ("bench/suites", "data/hosts"):
        shutil.copytree(ROOT / name, root / name)
    for path in (ROOT / "bench" / "libraries").glob("*/library.toml"):
        copy = root / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True)
        shutil.copy(path, copy)
    shutil.copy(ROOT / "bench" / "matrix.lock", root / "bench")
    shutil.copy(ROOT / "config.toml", root)
    write_made(root / "data" / "runs", SMALL)
    text = (root / "bench" / "suites" / "quick.toml").read_text(encoding="utf-8")
    (root / "mine.toml").write_text(text.replace("_main", "bench/suites/_main"), encoding="utf-8")
    return root


@cache
def program() -> Path:
    """A copy of tlsbench, beside which there is no program that could measure."""
    built = next((path for path in TLSBENCH if path.exists()), None)
    assert built, "found no tlsbench in bench/target: run `make tlsbench`"
    return Path(shutil.copy2(built, tempfile.mkdtemp(prefix="tlsbench-")))


def tlsbench(root: Path, *arguments: str) -> tuple[int, str]:
    """The exit code of tlsbench and what it prints, where it finds no Cargo and no git."""
    done = subprocess.run(
        [program(), *arguments], cwd=root, env={"PATH": ""}, capture_output=True, timeout=60
    )
    return done.returncode, (done.stdout + done.stderr).decode("utf-8", "replace")


@cache
def options_of(command: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The values that a command of tlsbench takes, and its options with theirs, by its help."""
    _, text = tlsbench(ROOT, *command.split(), "--help")
    values = re.findall(r"^  <([A-Z=]+)>", text, re.MULTILINE)
    return values, re.findall(r"^ +(?:-., )?(--[a-z-]+)(?: <([A-Z=]+)>)?", text, re.MULTILINE)


@st.composite
def bench_lines(draw: st.DrawFn) -> list[str]:
    command = draw(st.sampled_from(BENCH_COMMANDS))
    values, options = options_of(command)
    given = [[draw(value_of(BENCH_VALUES[value]))] for value in values]
    for option, value in draw(st.lists(st.sampled_from(options), max_size=5, unique=True)):
        given.append([option, *([draw(value_of(BENCH_VALUES[value]))] if value else [])])
    return [*command.split(), *chain.from_iterable(draw(st.permutations(given)))]


@pytest.mark.nightly
@given(command=bench_lines(), file=FILES, damage=DAMAGE)
@settings(max_examples=500)
def test_a_command_of_tlsbench_ends_with_a_message_and_changes_only_the_project(
    bench: Path, command: list[str], file: int, damage: str | None
) -> None:
    check(bench, lambda root, command: tlsbench(root, *command), command, file, damage)
