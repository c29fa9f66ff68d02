"""Pages of nights: the changes of each night, the text of an issue, absent libraries."""

from __future__ import annotations

import functools
import shutil
import tomllib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from project import write_run
from synthetic import HANDSHAKES, TRANSFERS, counted_run, implementation
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.nightly import Absence, Explanation, Nightly
from tlsperf.contract.run import HostFacts
from tlsperf.load.nights import Nights, read_nights, run_folders
from tlsperf.load.run import LoadedRun
from tlsperf.publish.nightly import nightly, nightly_files, percentage, strip_of
from tlsperf.publish.validate import problems

HOST = HostFacts(id="a-host", cpu="A CPU", architecture="x86_64")
SCENARIOS = [TRANSFERS[2], TRANSFERS[3], *HANDSHAKES[:6]]
COMMIT = "0123456789abcdef0123456789abcdef0123456"


@functools.cache
def night(day: int, factors: tuple[float, ...] = ()) -> LoadedRun:
    """A night of November; `factors` of the first scenarios, of a million instructions."""
    name = "rustls-0.24.0"
    run = counted_run(f"2026-11-{day:02}-rustls", {name: 1e6}, SCENARIOS, rounds=3)
    commit = f"{day:02}{COMMIT}"[:40]
    fields = {
        "host": HOST,
        "finished": datetime(2026, 11, day, 4, tzinfo=UTC),
        "implementations": [implementation(name, commit=commit)],
    }
    every = [*factors, *[1.0] * (len(SCENARIOS) - len(factors))]
    of = dict(zip(SCENARIOS, every, strict=True))
    rows = [row._replace(value=row.value * of[row.scenario]) for row in run.rows]
    return replace(run, run=run.run.model_copy(update=fields), rows=rows)


def nights(
    *runs: LoadedRun,
    absences: dict[str, Absence] | None = None,
    explanations: list[Explanation] | None = None,
) -> Nights:
    return Nights("main-branch", list(runs), absences or {}, explanations or [])


def page_of(within: Nights) -> Nightly:
    [page] = nightly(within)
    return page


def history(*factors: float) -> list[LoadedRun]:
    """Nine nights; from the seventh on the first scenarios take these factors of before."""
    return [night(day, factors if day >= 7 else ()) for day in range(1, 10)]


@pytest.fixture(scope="module")
def stepped() -> Nightly:
    """The page of nights with one step."""
    return page_of(nights(*history(1.02)))


def test_a_slower_night_is_named_with_its_scenario_and_by_how_much(
    stepped: Nightly,
) -> None:
    [change] = stepped.changes
    assert (change.night, change.before) == ("0701234567", "0601234567")
    [step] = change.steps
    assert step.name == "TLS 1.3 transfer, AES-256-GCM, sending"
    assert (step.before, step.after, step.change) == ("1,000,002", "1,020,002", "+2.00%")
    assert stepped.answer.startswith("9 nights of rustls")
    assert stepped.answer.endswith("0701234567.")


def test_too_few_nights_have_no_verdict() -> None:
    assert "too few" in page_of(nights(*history()[:2])).answer


def test_nights_that_are_alike_have_no_step() -> None:
    page = page_of(nights(*history()))
    assert page.changes == []
    assert "no step" in page.answer
    assert {path.rpartition("/")[0] for path in nightly_files(page)} == {f"versions/{page.id}"}


def test_a_night_with_a_step_is_an_entry_of_the_feed_with_the_text_of_an_issue(
    stepped: Nightly,
) -> None:
    files = nightly_files(stepped)
    text = files["versions/nights-main-branch-rustls-2026-11-07-rustls/index.md"]
    head = tomllib.loads(text.split("+++\n")[1])
    assert head["taxonomies"] == {"libraries": ["rustls"]}
    assert head["date"] == datetime(2026, 11, 7, 4, tzinfo=UTC)
    issue = files["versions/nights-main-branch-rustls-2026-11-07-rustls/issue.txt"]
    assert issue in text.replace("````\n", "")
    assert "0701234567" in issue.splitlines()[0]
    row = "| TLS 1.3 transfer, AES-256-GCM, sending | instructions/MiB | 1,000,002 | 1,020,002 |"
    assert f"{row} +2.00% |\n" in issue
    assert (
        "tlsbench compare --a rustls=../rustls-0601234567 --b rustls=../rustls-0701234567" in issue
    )
    assert "not explained" in text


def test_the_sentence_of_a_night_has_its_largest_step(
    stepped: Nightly,
) -> None:
    [change] = page_of(nights(*history(1.02, 0.96, 1.03))).changes
    assert len(change.steps) == 3
    assert f"−4.00% in {change.steps[1].name}, the largest of 3 steps" in change.answer
    [alone] = stepped.changes
    assert f"+2.00% in {alone.steps[0].name}" in alone.answer
    assert "largest" not in alone.answer


def test_releases_are_compared_again_by_the_versions_of_their_packages() -> None:
    runs = history(1.02)
    for place, run in enumerate(runs):
        source = f"cargo package openssl-src 300.5.{place}+3.5.{place}"
        fields = {"source": source, "provider": "a", "version": f"3.5.{place}"}
        build = implementation("rustls-0.24.0", **fields)
        runs[place] = replace(run, run=run.run.model_copy(update={"implementations": [build]}))
    [change] = page_of(nights(*runs)).changes
    sides = "--a rustls@300.5.5+3.5.5 --b rustls@300.5.6+3.5.6"
    assert f"tlsbench compare --provider a {sides}\n" in change.issue
    assert (change.night, change.before) == ("3.5.6", "3.5.5")


def test_an_explanation_is_on_the_page_of_its_night() -> None:
    known = Explanation(
        night="0701234567", text="A loop of 250 steps.", url="https://example.org/1"
    )
    page = page_of(nights(*history(1.02), explanations=[known]))
    text = nightly_files(page)["versions/nights-main-branch-rustls-2026-11-07-rustls/index.md"]
    assert "A loop of 250 steps. [Source](https://example.org/1)." in text
    assert "not explained" not in text
    assert text.count("A loop of 250 steps.") == 2, "on the page and in the text of the issue"


def test_an_explanation_of_a_night_without_a_step_is_rejected() -> None:
    known = Explanation(night="0801234567", text="Nothing.", url="https://example.org/1")
    with pytest.raises(UserError, match=r"steps.toml: found .*0801234567.*: 0701234567$"):
        nightly(nights(*history(1.02), explanations=[known]))


def test_a_changed_compiler_and_processor_are_named_beside_a_step() -> None:
    runs = history(1.02)
    for place, run in enumerate(runs):
        new = place >= 6
        build = run.run.implementations[0]
        build = build.model_copy(update={"rust_compiler": f"rustc {'1.96' if new else '1.95'}"})
        host = HOST.model_copy(update={"cpu_model": f"model {17 + new}"})
        update = {"implementations": [build], "host": host}
        runs[place] = replace(run, run=run.run.model_copy(update=update))
    [change] = page_of(nights(*runs)).changes
    for difference in (
        "rustc 1.95 before, rustc 1.96 now",
        "A CPU, model 17 before, A CPU, model 18 now",
    ):
        assert difference in change.answer
        assert difference in change.issue.replace("\\", "")


def test_a_library_that_does_not_build_is_absent_with_its_reason() -> None:
    absences = {
        "2026-11-05-rustls": Absence(library="rustls", reason="error: it does not compile"),
        "2026-11-06-openssl": Absence(library="openssl", reason="fatal: no network"),
    }
    runs = [run for run in history(1.02) if run.run.date.day != 5]
    page = page_of(nights(*runs, absences=absences))
    assert page.absent == ["2026-11-05-rustls: error: it does not compile"]
    assert [change.night for change in page.changes] == ["0701234567"]


def test_the_strip_has_a_band_for_each_scenario_and_marks_the_night_of_a_step(
    stepped: Nightly,
) -> None:
    names = {scenario.anchor: scenario.name for scenario in stepped.scenarios}
    strip = strip_of(stepped, "nights", names)
    assert [series.label for series in strip.series] == [*names.values()]
    assert [list(series.steps) for series in strip.series] == [[6], *[[]] * (len(names) - 1)]
    marked = strip.series[0].points
    assert marked[0].ratio == 1
    assert marked[6].ratio == pytest.approx(1 / 1.02, rel=1e-3), "fewer instructions are better"


def test_a_strip_has_the_chosen_scenarios_by_their_names(stepped: Nightly) -> None:
    strip = strip_of(stepped, "nights", {stepped.scenarios[1].anchor: "Receiving"})
    assert [series.label for series in strip.series] == ["Receiving"]


def test_two_nights_of_one_commit_have_pages_of_their_own() -> None:
    runs = history(1.02)
    for place in (7, 8):
        build = runs[6].run.implementations
        fields = {"implementations": build}
        runs[place] = replace(runs[place], run=runs[place].run.model_copy(update=fields))
    runs[8] = replace(night(9), run=runs[8].run)
    page = page_of(nights(*runs))
    assert [change.night for change in page.changes] == ["0701234567"] * 2
    files = nightly_files(page)
    for day in ("07", "09"):
        assert f"versions/nights-main-branch-rustls-2026-11-{day}-rustls/index.md" in files


@pytest.mark.parametrize(
    ("ratio", "text"), [(1.0137, "+1.37%"), (0.876, "−12.4%"), (0.999, "−0.10%"), (2.5, "+150.0%")]
)
def test_a_change_is_in_per_cent(ratio: float, text: str) -> None:
    assert percentage(ratio) == text


# --- from files ----------------------------------------------------------------------------------


def folder_with(root: Path, *names: str) -> Path:
    """`data/nightly/releases` with the run of the fixture under these names."""
    folder = root / "data" / "nightly" / "releases"
    folder.mkdir(parents=True)
    write_run(root)
    [run] = (root / "data" / "runs").iterdir()
    for name in names:
        shutil.copytree(run, folder / name)
        text = (run / "run.toml").read_text(encoding="utf-8")
        text = text.replace(f'id = "{run.name}"', f'id = "{name}"')
        (folder / name / "run.toml").write_text(text, encoding="utf-8")
    shutil.rmtree(root / "data" / "runs")
    return folder


def test_nights_are_in_the_order_of_their_names_with_numbers_as_numbers(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "a-0.23.10", "a-0.22.4", "a-0.23.9")
    assert [path.name for path in run_folders(folder)] == ["a-0.22.4", "a-0.23.9", "a-0.23.10"]


def test_a_run_that_counts_nothing_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"found no \[counter\], expected a run that counts"):
        read_nights(folder_with(tmp_path, "a-0.23.10"))


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("steps.toml", "[[steps]]\nnight = 'a'\ntext = 'b'\n", "url"),
        ("a-1/absent.toml", "library = 'nobody'\nreason = 'b'\n", "library"),
    ],
)
def test_a_wrong_file_is_reported(tmp_path: Path, name: str, text: str, expected: str) -> None:
    path = tmp_path / "data" / "nightly" / "main-branch" / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=expected) as caught:
        read_nights(tmp_path / "data" / "nightly" / "main-branch")
    assert caught.value.file == str(path)


def test_nights_are_validated_like_every_run(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "a-0.23.10")
    assert problems(tmp_path / "data") == []
    raw = next((folder / "a-0.23.10" / "raw").glob("*.jsonl"))
    raw.write_text(raw.read_text(encoding="utf-8").replace("1", "2", 1), encoding="utf-8")
    [problem] = problems(tmp_path / "data")
    assert "sha256" in problem
