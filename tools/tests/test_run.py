"""A run is read whole, or refused with the place of what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from fixture_run import DISTURBED, write_run
from tlsperf.contract.errors import UserError
from tlsperf.load.run import load_run, read_hosts


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_run_is_read_with_its_frame_its_gaps_and_its_disturbances(tmp_path: Path) -> None:
    run = load_run(write_run(tmp_path))
    assert set(run.frame["implementation"]) == {i.id for i in run.run.implementations}
    assert {gap.implementation for gap in run.gaps} == {"boringssl-30cd935"}
    assert [gap.scenario.side for gap in run.gaps] == ["client", "server"]
    assert [w.code for w in run.warnings] == ["disturbed-rounds-excluded"]
    assert run.rounds_are_pairs
    disturbed = run.frame[run.frame["round"] == DISTURBED]
    assert not disturbed["valid"].any()


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("raw/records.jsonl", "1000", "1001", "raw/records.jsonl: found sha256 "),
        ("run.toml", "schema = 1", "schema = 2", "run.toml: found schema 2, expected 1"),
        ("run.toml", "[tool]", "[tool", "run.toml:10: found Expected ']'"),
        ("run.toml", 'library = "openssl"', 'library = "opnssl"', "run.toml: found implementatio"),
        ("run.toml", 'id = "2026-11-21-example"', 'id = "other"', "run.toml: found id 'other', "),
        ("run.toml", "tlsbench/1", "tlsbench/9", "run.toml: found format 'tlsbench/9', expected"),
        ("run.toml", "raw/records.jsonl", "raw/gone.jsonl", "raw/gone.jsonl: the raw file is mis"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    folder = write_run(tmp_path)
    replace(folder / file, old, new)
    with pytest.raises(UserError) as caught:
        load_run(folder)
    assert str(caught.value).removeprefix(f"{folder}/").startswith(message)


def test_a_run_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"run.toml: there is no such file"):
        load_run(tmp_path)


def test_a_host_has_the_name_of_its_file(tmp_path: Path) -> None:
    write_run(tmp_path)
    hosts = tmp_path / "data" / "hosts"
    assert read_hosts(hosts)["example-host"].name == "Example Xeon"
    (hosts / "example-host.toml").rename(hosts / "other.toml")
    with pytest.raises(UserError, match=r"other.toml: found id 'example-host', expected 'other'"):
        read_hosts(hosts)
