"""Noise is found where it was put, and nothing is said where nothing can be."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixture_run import ROOT, RUN, write_run
from synthetic import SIXTEEN, TRANSFERS, Rates, implementation, loaded_run
from tlsperf.analysis.noise import (
    alternate_rounds,
    measure_noise,
    noise_of,
    noise_text,
    other_runs,
    same_binary_twice,
)
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.contract.errors import UserError


def noisy(ids: list[str], percent: float, seed: int = 1, rounds: int = 30) -> Rates:
    random = np.random.default_rng(seed)
    return {
        i: {s: list(1000 * np.exp(random.normal(0, percent / 100, rounds))) for s in SIXTEEN}
        for i in ids
    }


def duplicates(percent: float, rates: Rates | None = None, **more: Any) -> MeasuredRun:
    ids = ["openssl-3.6.3", "openssl-3.6.3-again"]
    same = [implementation(i, binary_sha256="a" * 64) for i in ids]
    return measured(loaded_run("2026-11-21-aa", rates or noisy(ids, percent), same, **more))


@pytest.mark.parametrize("percent", [0.5, 2.0])
def test_same_binary_twice_gives_the_noise_of_a_ratio(percent: float) -> None:
    noise = same_binary_twice(duplicates(percent))
    assert noise is not None
    assert (noise.comparisons, noise.false_verdicts) == (16, 0)
    # 1.96 standard errors of the Hodges-Lehmann estimate of 30 differences of two such noises
    expected = 1.96 * percent * (2 / 30) ** 0.5 * (np.pi / 3) ** 0.5
    assert expected / 2 < noise.floor_percent < expected * 2
    assert "none of them would have been called" in noise.statement


def test_a_difference_between_duplicates_is_a_false_verdict() -> None:
    rates = noisy(["openssl-3.6.3", "openssl-3.6.3-again"], 0.5)
    moved = {s: [1.1 * r for r in np.atleast_1d(v)] for s, v in rates["openssl-3.6.3"].items()}
    noise = same_binary_twice(duplicates(0.5, {**rates, "openssl-3.6.3": moved}))
    assert noise is not None
    assert noise.false_verdicts == 16
    assert noise.floor_percent > 9


def test_duplicates_need_the_same_binary_and_common_rounds() -> None:
    ids = ["openssl-3.6.3", "openssl-3.6.3-again"]
    assert same_binary_twice(measured(loaded_run("2026-11-21-ab", noisy(ids, 1)))) is None
    assert same_binary_twice(duplicates(1, format_="openssl-bench/2023")) is None


def test_any_run_with_rounds_can_be_split() -> None:
    noise = alternate_rounds(
        measured(loaded_run("2026-11-21-a", noisy(["rustls-1.0"], 1, rounds=31)))
    )
    assert noise is not None
    assert noise.comparisons == 16
    assert noise.rows[0].ratio.paired
    single = {"rustls-1.0": {TRANSFERS[0]: 1000.0}}
    assert alternate_rounds(measured(loaded_run("2026-11-21-a", single))) is None


def test_few_rounds_give_a_floor_but_no_false_verdicts_to_count() -> None:
    noise = alternate_rounds(
        measured(loaded_run("2026-11-21-a", noisy(["rustls-1.0"], 1, rounds=8)))
    )
    assert noise is not None
    assert noise.floor_percent > 0
    assert noise.false_verdicts is None
    assert noise.statement.endswith("too few rounds for a verdict on any of them.")
    assert noise.rows[0].ratio.text == f"{noise.rows[0].ratio.value:.2f}x, too few rounds"


def test_history_is_of_the_same_build_on_the_same_host() -> None:
    now = measured(loaded_run("2026-11-21-a", noisy(["openssl-3.6.3"], 0.1)))
    shifted = {
        "openssl-3.6.3": {
            s: [1.04 * r for r in np.atleast_1d(v)]
            for s, v in noisy(["openssl-3.6.3"], 0.1, seed=2)["openssl-3.6.3"].items()
        }
    }
    before = measured(loaded_run("2026-11-20-a", shifted))
    noise = other_runs(now, [before, now])
    assert noise is not None
    assert noise.others == ["2026-11-20-a"]
    assert noise.floor_percent == pytest.approx(4, abs=0.3)
    assert noise.false_verdicts is None
    assert (
        other_runs(now, [measured(loaded_run("2026-11-20-a", shifted, host_id="another"))]) is None
    )
    other_build = [implementation("openssl-3.6.3", c_compiler="gcc 14")]
    assert other_runs(now, [measured(loaded_run("2026-11-20-a", shifted, other_build))]) is None


def test_text_names_all_sources() -> None:
    run = duplicates(1)
    found = noise_of(run, [])
    assert [n.source for n in found] == ["same binary twice", "alternate rounds"]
    text = noise_text(run, found)
    assert text.count("| scenario | implementation | against itself |") == 2
    assert "| transfer 1.2, AES-128-GCM, sending | OpenSSL 3.6.3 | no difference shown (" in text


def test_command_reads_the_run_and_its_predecessors(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    alone = measure_noise(folder)
    assert alone.startswith("Odd rounds of this run against even ones")
    assert "other runs" not in alone
    before = folder.with_name("2026-11-20-before")
    shutil.copytree(folder, before)
    text = (before / "run.toml").read_text(encoding="utf-8")
    text = text.replace(RUN, before.name, 1).replace("date = 2026-11-21", "date = 2026-11-20")
    (before / "run.toml").write_text(text, encoding="utf-8")
    assert "The same builds in other runs on this host: 19 of 20" in measure_noise(folder)
    assert "other runs" not in measure_noise(before), "what comes later is not history"


def test_single_figures_have_no_noise() -> None:
    with pytest.raises(UserError, match="single figures"):
        measure_noise(ROOT / "data" / "runs" / "2018-01-07-bulk")
