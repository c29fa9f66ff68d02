"""The score of the mutation tests: its content, and the comparison of a run with it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomlkit

import mutants
from mutants import Found, Survivor
from mutation_score import LEAST_PERCENT, MutantsError, percent

SCORE: dict[str, Any] = tomllib.loads(mutants.SCORE.read_text(encoding="utf-8"))
SCORED = {name: entry for name, entry in SCORE["modules"].items() if "mutants" in entry}
CORES = (
    *("analysis/statistics.py", "analysis/series.py", "analysis/changes.py"),
    *("analysis/compare.py", "analysis/noise.py", "analysis/ratios.py", "analysis/sessions.py"),
    *("analysis/intervals.py", "report/results.py"),
)
FORMATS = mutants.TOOLS / "src" / "tlsperf" / "load" / "formats"


def test_the_pure_cores_are_in_the_score() -> None:
    assert set(CORES) <= set(SCORED)


def test_every_format_is_in_the_score() -> None:
    formats = {f"load/formats/{path.name}" for path in FORMATS.glob("[!_]*.py")}
    assert formats <= set(SCORED)
    assert len(formats) > 10


@pytest.mark.parametrize("module", SCORE["modules"])
def test_modules_and_their_tests_exist(module: str) -> None:
    assert (mutants.TOOLS / "src" / "tlsperf" / module).is_file()
    tests = SCORE["modules"][module]["tests"]
    assert all((mutants.TOOLS / "tests" / test).is_file() for test in tests)


@pytest.mark.parametrize("module", SCORED)
def test_at_least_nine_of_ten_mutants_are_noticed_and_each_survivor_has_a_reason(
    module: str,
) -> None:
    entry = SCORED[module]
    assert percent(entry["killed"], entry["mutants"]) >= LEAST_PERCENT
    survivors = entry.get("survivors", [])
    assert len(survivors) == entry["mutants"] - entry["killed"]
    assert [s for s in survivors if len(s["reason"].split()) < 3] == []


def test_tests_that_are_left_out_exist() -> None:
    for name in SCORE["slow"]:
        file, _, function = name.partition("::")
        assert f"def {function}(" in (mutants.TOOLS / "tests" / file).read_text(encoding="utf-8")


OLD = Survivor("f", "a < b", "a <= b")
NEW = Survivor("f", "a + 1", "a + 2")
ENTRY = {
    "tests": ["test_x.py"],
    "mutants": 100,
    "killed": 95,
    "survivors": [{"function": "f", "was": "a < b", "becomes": "a <= b", "reason": "as good"}],
}


def test_a_run_is_compared_with_the_score() -> None:
    assert list(mutants.problems("m.py", ENTRY, Found(20, (OLD,)))) == []
    [unlisted] = mutants.problems("m.py", ENTRY, Found(100, (OLD, NEW)))
    assert unlisted == "m.py: no test of test_x.py notices that in f `a + 1` becomes `a + 2`"
    [lower] = mutants.problems("m.py", ENTRY, Found(100, (OLD,) * 6))
    assert lower == "m.py: found 94.0% of 100 mutants noticed, expected at least 95.0%"
    [few] = mutants.problems(
        "m.py", {"tests": [], "survivors": ENTRY["survivors"]}, Found(9, (OLD,))
    )
    assert few == "m.py: found 88.8% of 9 mutants noticed, expected at least 90.0%"


def test_a_written_score_keeps_existing_reasons() -> None:
    entry: Any = tomlkit.item(ENTRY)
    mutants.write(entry, Found(50, (NEW, OLD)))
    assert (entry["mutants"], entry["killed"]) == (50, 48)
    assert [(s["becomes"], s["reason"]) for s in entry["survivors"]] == [
        ("a + 2", ""),
        ("a <= b", "as good"),
    ]
    mutants.write(entry, Found(50, ()))
    assert "survivors" not in entry


def test_cached_functions_and_properties_become_functions_that_are_mutated() -> None:
    source = (
        "@cache\ndef f() -> int:\n    return 1\n\n\nclass A:\n    @property\n"
        "    def a(self) -> int:\n        return 2\n\n    def b(self) -> int:\n        return 3\n\n"
        "    @property\n    def c(self) -> int:\n        return 4\n\n\nx = 5\n"
    )
    made = mutants.mutable(source)
    assert "@" not in made
    assert made.count("property(") == 2
    space: dict[str, Any] = {}
    exec(made, space)
    a = space["A"]()
    assert (space["f"](), a.a, a.b(), a.c, space["x"]) == (1, 2, 3, 4, 5)
    for module in SCORE["modules"]:
        path = Path(mutants.TOOLS / "src" / "tlsperf" / module)
        compile(mutants.mutable(path.read_text(encoding="utf-8")), module, "exec")


def test_a_mutant_whose_tests_were_late_is_tried_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempts = iter(
        [{"killed": 1, "late": 36, "endless": 24}, {"killed": 1, "late": 0, "endless": 24}]
    )
    tried: list[list[str]] = []

    def run_mutmut(folder: Path, module: str, names: Any = ()) -> dict[str, int | None]:
        tried.append(list(names))
        return dict(next(attempts))

    monkeypatch.setattr(mutants, "SCRATCH", tmp_path)
    monkeypatch.setattr(mutants, "prepare", lambda folder, *_: folder.mkdir())
    monkeypatch.setattr(mutants, "run_mutmut", run_mutmut)
    monkeypatch.setattr(mutants, "survivor", lambda name, _: Survivor(name, "", ""))
    assert mutants.mutate("m.py", [], []) == Found(3, (Survivor("late", "", ""),))
    assert tried == [[], ["late", "endless"]]


def test_a_module_that_is_not_in_the_score_is_named() -> None:
    with pytest.raises(MutantsError, match="found no/such, expected of analysis/ratios"):
        mutants.main(["no/such"])
