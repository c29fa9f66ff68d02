"""The score of the mutants of bench/: parsing, problems, and the written file."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import tomlkit

import bench_mutants
from bench_mutants import BENCH, SCORE, Found, problems, read, write
from mutation_score import LEAST_PERCENT, MutantsError, percent

FILES: dict[str, dict[str, Any]] = tomllib.loads(SCORE.read_text("utf-8"))["files"]


def outcome(summary: str, name: str) -> dict[str, Any]:
    return {"scenario": {"Mutant": {"name": name}}, "summary": summary}


def test_survivors_are_read_without_their_lines() -> None:
    outcomes = [
        {"scenario": "Baseline", "summary": "Success"},
        outcome("CaughtMutant", "harness/src/wire.rs:9:5: replace a with b"),
        outcome("Timeout", "harness/src/wire.rs:10:5: replace loop with nothing"),
        outcome("Unviable", "harness/src/wire.rs:11:5: replace c with Default::default()"),
        outcome("MissedMutant", "harness/src/wire.rs:12:5: replace + with - in Reader::u8"),
    ]
    found = read(json.dumps({"outcomes": outcomes}))
    assert found == Found(2, ("replace + with - in Reader::u8",))
    assert found.mutants == 3


def test_a_score_is_never_rounded_up() -> None:
    assert percent(899, 1000) == 89.9
    assert percent(8999, 10000) == 89.9
    assert percent(0, 0) == 100.0


def test_a_lower_score_and_a_survivor_without_a_reason_are_problems() -> None:
    entry: dict[str, Any] = {"mutants": 100, "noticed": 95}
    known = {"mutant": "replace x", "reason": "x is y"}
    assert list(problems("a.rs", entry, Found(95, ()))) == []
    assert list(problems("a.rs", {**entry, "survivors": [known]}, Found(95, ("replace x",)))) == []
    (unlisted,) = problems("a.rs", entry, Found(99, ("replace x",)))
    assert "gives no reason: replace x" in unlisted
    without = {**entry, "survivors": [{"mutant": "replace x", "reason": ""}]}
    assert len(list(problems("a.rs", without, Found(99, ("replace x",))))) == 1
    lower = list(
        problems("a.rs", {**entry, "survivors": [known] * 6}, Found(94, ("replace x",) * 6))
    )
    assert lower == ["a.rs: found 94.0% of 100 mutants noticed, expected at least 95.0%"]
    (first,) = problems("a.rs", {"survivors": [known]}, Found(8, ("replace x",)))
    assert "expected at least 90.0%" in first


def test_a_written_score_keeps_the_reasons() -> None:
    entry = tomlkit.parse('[[survivors]]\nmutant = "replace x"\nreason = "x is y"\n')
    write(entry, Found(18, ("replace x", "replace z")))
    written = tomllib.loads(tomlkit.dumps(entry))
    assert (written["mutants"], written["noticed"]) == (20, 18)
    reasons = {it["mutant"]: it["reason"] for it in written["survivors"]}
    assert reasons == {"replace x": "x is y", "replace z": ""}


def test_a_score_of_a_sample_states_it_and_the_whole_is_held_to_nine_of_ten() -> None:
    entry: Any = tomlkit.parse("")
    write(entry, Found(10, ()), "0/8")
    assert tomllib.loads(tomlkit.dumps(entry))["sample"] == "0/8"
    assert list(problems("a.rs", entry, Found(95, ("replace x",) * 5))) == []
    (lower,) = problems("a.rs", entry, Found(89, ("replace x",) * 11))
    assert lower == "a.rs: found 89.0% of 100 mutants noticed, expected at least 90.0%"
    of_sample = list(problems("a.rs", entry, Found(9, ("replace x",)), "0/8"))
    assert len(of_sample) == 2, "it is not listed, and 90% is less than 100%"
    write(entry, Found(100, ()))
    assert "sample" not in entry


@pytest.mark.parametrize(
    ("tests", "arguments"),
    [
        (["--lib"], ["--cargo-arg=--lib", "--"]),
        (["--lib", "--", "clock::"], ["--cargo-arg=--lib", "--", "--", "clock::"]),
        (
            ["--lib", "--test", "steps"],
            ["--cargo-arg=--lib", "--cargo-arg=--test", "--cargo-arg=steps", "--"],
        ),
    ],
)
def test_nothing_but_the_targets_that_are_named_is_built_for_a_mutant(
    tests: list[str], arguments: list[str]
) -> None:
    assert bench_mutants.arguments_of(tests) == ["--cargo-arg=--locked", *arguments]


def test_a_file_that_is_not_listed_is_named() -> None:
    with pytest.raises(MutantsError, match=r"found nothing\.rs, expected of"):
        bench_mutants.main(["nothing.rs"])


@pytest.mark.parametrize("file", FILES)
def test_every_score_is_high_enough_and_every_survivor_has_its_reason(file: str) -> None:
    entry = FILES[file]
    assert (BENCH / file).is_file()
    survivors = entry.get("survivors", [])
    assert all(survivor["reason"] for survivor in survivors)
    if "scored" in entry:
        assert entry["mutants"] - entry["noticed"] == len(survivors)
        assert percent(entry["noticed"], entry["mutants"]) >= LEAST_PERCENT
