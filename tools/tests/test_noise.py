"""Known noise is found, and no noise is reported where none can be measured."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fixture_run import RUN, write_run
from project import HOST, PUBLISHED
from synthetic import SIXTEEN, TRANSFERS, Rates, implementation, in_sessions, loaded_run
from tlsperf.analysis.noise import (
    alternate_rounds,
    another_layout,
    measure_noise,
    noise_of,
    noise_text,
    other_sessions,
    same_binary_twice,
    verdict_floor,
)
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.contract.errors import UserError
from tlsperf.contract.run import HostFacts, Implementation


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
    assert noise.floor_percent is not None
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
    assert noise.floor_percent is not None
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
    assert noise.floor_percent is not None
    assert noise.floor_percent > 0
    assert noise.false_verdicts is None
    assert noise.statement.endswith("too few rounds for a verdict on any of them.")
    assert noise.rows[0].ratio.text == f"{noise.rows[0].ratio.value:.2f}x, too few rounds"


PROGRAM = implementation("openssl-3.6.3", binary_sha256="a" * 64)


def test_other_sessions_are_of_the_same_program_on_the_same_host() -> None:
    def host(**facts: Any) -> HostFacts:
        return HostFacts(id="a-host", cpu="A CPU", architecture="x86_64", **facts)

    here = {"kernel": "6.1", "microcode": "0x1", "mitigations": {"mds": "Not affected"}}
    now = measured(
        loaded_run("2026-11-21-a", noisy(["openssl-3.6.3"], 0.1), [PROGRAM], host=host(**here))
    )
    shifted = {
        "openssl-3.6.3": {
            s: [1.04 * r for r in np.atleast_1d(v)]
            for s, v in noisy(["openssl-3.6.3"], 0.1, seed=2)["openssl-3.6.3"].items()
        }
    }

    def before(program: Implementation = PROGRAM, **more: Any) -> MeasuredRun:
        return measured(
            loaded_run("2026-11-20-a", shifted, [program], **{"host": host(**here), **more})
        )

    noise = other_sessions(now, [before(), now])
    assert noise.others == ["2026-11-20-a"]
    assert noise.floor_percent == pytest.approx(4, abs=0.3)
    assert noise.ratio_percent is None, "one implementation has no ratios"
    assert noise.false_verdicts is None
    assert verdict_floor([noise]) == 1
    assert other_sessions(now, [before(host=host())]).comparisons == 16, "not recorded"
    for other in (
        before(host_id="another"),
        before(host=host(**here | {"kernel": "6.2"})),
        before(host=host(**here | {"microcode": "0x2"})),
        before(host=host(**here | {"mitigations": {"mds": "Vulnerable"}})),
        before(implementation("openssl-3.6.3", binary_sha256="b" * 64)),
        before(implementation("openssl-3.6.3")),
    ):
        assert other_sessions(now, [other]).comparisons == 0


def test_sessions_with_other_layouts_are_a_line_of_their_own() -> None:
    ids = ["openssl-3.6.3", "boringssl-1"]
    moved = np.repeat([1.0, 1.0, 1.02], 6)
    rates = {
        ids[0]: {s: list(1000 * moved) for s in SIXTEEN},
        ids[1]: {s: [1000.0] * 18 for s in SIXTEEN},
    }
    hashes = [dict.fromkeys(ids, "a" * 64), dict.fromkeys(ids, "b" * 64)]
    sessions = [
        {"number": n, "started": "2026-11-21T08:00:00Z", "seed": n, "layout": layout}
        for n, layout in ((1, 0), (2, 0), (3, 1))
    ]
    layouts = [
        {"number": 0, "kind": "own", "programs": hashes[0]},
        {"number": 1, "kind": "shifted", "seed": 1, "programs": hashes[1]},
    ]
    run = measured(
        in_sessions(loaded_run("2026-11-21-a", rates, sessions=sessions, layouts=layouts), 6)
    )
    layout, session = another_layout(run), other_sessions(run, [])
    assert layout.floor_percent == pytest.approx(2, abs=0.01)
    assert layout.comparisons == 64
    assert (session.floor_percent, session.comparisons) == (0, 32)
    assert layout.ratio_percent == pytest.approx(100 * (1.02 ** (1 / 3**0.5) - 1), abs=0.01)
    assert verdict_floor([layout, session]) == pytest.approx(1.0115, abs=0.001)


def test_text_names_all_sources() -> None:
    run = duplicates(1)
    found = noise_of(run, [])
    assert [n.source for n in found] == ["same binary twice", "another layout", "other sessions"]
    text = noise_text(run, found)
    assert text.count("| scenario | implementation | against itself |") == 1
    assert "Another layout: not measured" in text
    row = "| TLS 1.2 transfer, AES-128-GCM, sending | OpenSSL 3.6.3 | "
    assert f"{row}no difference shown (" in text


def test_command_reads_the_run_and_its_predecessors(tmp_path: Path) -> None:
    folder = write_run(tmp_path)
    own = folder / "run.toml"
    program = f'library = "openssl"\nbinary_sha256 = "{"a" * 64}"\n'
    described = own.read_text(encoding="utf-8").replace('library = "openssl"\n', program)
    own.write_text(described, encoding="utf-8")
    alone = measure_noise(folder)
    assert alone.startswith("Odd rounds of this run against even ones")
    assert "Other sessions: not measured" in alone
    before = folder.with_name("2026-11-20-before")
    shutil.copytree(folder, before)
    text = (before / "run.toml").read_text(encoding="utf-8")
    text = text.replace(RUN, before.name, 1).replace("date = 2026-11-21", "date = 2026-11-20")
    (before / "run.toml").write_text(text, encoding="utf-8")
    assert "Other sessions of the same programs on this host: 95% of " in measure_noise(folder)
    assert "not measured" in measure_noise(before), "what comes later is not history"


def test_single_figures_have_no_noise(project: Path) -> None:
    with pytest.raises(UserError) as caught:
        measure_noise(project / "data" / "runs" / PUBLISHED)
    assert str(caught.value) == (
        f"run {PUBLISHED} has single figures, and no earlier run on {HOST} has one of its "
        "builds, so its noise is not known: measure several rounds"
    )
