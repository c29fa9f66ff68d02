"""Rendering is deterministic, writes only changes, keeps prose, and needs no other report."""

from __future__ import annotations

import shutil
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from commands import tlsperf
from project import BESIDE, HERE, NEW, OPENSSL, SMALL, THERE, files, write_small
from reports import reports
from tlsperf.contract.errors import UserError
from tlsperf.load.page import read_page
from tlsperf.publish.assemble import results_of
from tlsperf.publish.render import check_changed, render_reports
from tlsperf.publish.scaffold import new_report

RUN = SMALL.id
QUOTED = f'{{{{ figure(row="transfre", implementation="{OPENSSL}") }}}}'
FOLDER = Path("content", "perf", RUN)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a rendered site, for tests that do not change it."""
    root = tmp_path_factory.mktemp("rendered")
    write_small(root)
    return root


@pytest.fixture
def site(rendered: Path, tmp_path: Path) -> Path:
    """A copy of the rendered site."""
    return Path(shutil.copytree(rendered, tmp_path / "site"))


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_same_data_give_the_same_bytes(rendered: Path, tmp_path: Path) -> None:
    write_small(tmp_path)
    assert files(tmp_path) == files(rendered)


def test_a_second_rendering_writes_nothing_and_is_quick(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {p: p.stat().st_mtime_ns for p in (site / "content").rglob("*")}
    started = time.process_time()
    assert render_reports(site, check=False) == 0
    assert time.process_time() - started < 1
    assert capsys.readouterr() == (f"{RUN}: unchanged\n1 report, 0 files written\n", "")
    assert {p: p.stat().st_mtime_ns for p in (site / "content").rglob("*")} == before


def test_only_the_named_report_is_rendered_and_its_files_are_listed_on_request(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = site / FOLDER
    other = new_report(site, [RUN], slug="other").parent
    render_reports(site, [other.name], check=False)
    for report in (folder, other):
        (report / "ratios.svg").unlink()
    (site / "data" / "reports.json").unlink()
    capsys.readouterr()
    render_reports(site, [other.name], check=False, verbose=True)
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        f"  wrote content/perf/{other.name}/ratios.svg",
        f"{other.name}: 1 file written",
        "  wrote data/reports.json",
        "1 report, 2 files written",
    ]
    assert not (folder / "ratios.svg").exists()


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (("description =", "summary ="), r"found no description"),
        (("+++\n\n", f"+++\n\n{QUOTED}\n\n"), r"\d+: found figure\(\) with row 'transfre'"),
    ],
)
def test_a_mistake_in_one_report_does_not_keep_another_from_being_written(
    mistake: tuple[str, str], said: str, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = site / FOLDER / "index.md"
    replace(wrong, *mistake)
    good = new_report(site, [RUN], slug="other").parent
    before = files(site)
    capsys.readouterr()
    with pytest.raises(UserError, match=rf"{wrong}:.*{said}"):
        render_reports(site, check=False)
    printed = capsys.readouterr()
    assert printed.out.startswith(f"{good.name}: ")
    assert "\n1 report, " in printed.out
    assert (good / "page.json").exists()
    assert "[extra.generated]" in (good / "index.md").read_text(encoding="utf-8")
    after = files(site)
    others = [path for path in before if path.startswith("content/") and good.name not in path]
    assert {path: after[path] for path in others} == {path: before[path] for path in others}


def test_the_id_of_a_part_renders_the_report_whose_part_it_is(
    project: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(project, tmp_path / "parts"))
    page = root / "content" / "perf" / BESIDE / "page.json"
    made = page.read_bytes()
    page.unlink()
    render_reports(root, [THERE], check=False)
    assert page.read_bytes() == made
    assert check_changed(root) == 0


def test_a_run_is_in_one_part_and_there_once(project: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(project, tmp_path / "parts"))
    page = root / "content" / "perf" / BESIDE / "index.md"
    text = page.read_text(encoding="utf-8")
    for runs, said in (
        (f'"{HERE}", "{HERE}"', "each run once"),
        (f'"{HERE}", "{THERE}"', "2 parts"),
    ):
        page.write_text(text.replace(f'runs = ["{HERE}"]', f"runs = [{runs}]"), encoding="utf-8")
        with pytest.raises(UserError, match=said):
            render_reports(root, [BESIDE], check=True)


@pytest.mark.parametrize("name", [RUN[:-2], RUN.replace("2", "3", 1), "small"])
def test_an_unknown_report_is_reported_with_near_matches(rendered: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"no report '{name}': expected {RUN}"):
        render_reports(rendered, [name], check=True)


def test_check_fails_on_any_changed_file_and_writes_nothing(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert render_reports(site, check=True) == 0
    for name in ("page.json", "ratios.svg", "index.md"):
        replace(site / FOLDER / name, "OpenSSL 3.6.1", "OpenSSL 3.6.2")
    (site / FOLDER / "preview.png").unlink()
    before = files(site)
    capsys.readouterr()
    assert render_reports(site, check=True) == 1
    found = capsys.readouterr().err
    for name in ("page.json", "ratios.svg", "index.md", "preview.png"):
        assert f"{FOLDER}/{name}: differs" in found
    assert files(site) == before


def test_quiet_commands_print_only_what_is_wrong(site: Path) -> None:
    for command in ("build", "render", "validate", f"new {RUN} --slug other"):
        assert tlsperf(site, *command.split(), "--quiet")[:3] == (0, "", "")
    assert tlsperf(site, "remove", f"{RUN[:10]}-other", "-q")[:3] == (0, "", "")
    (site / FOLDER / "ratios.svg").unlink()
    code, out, errors, _ = tlsperf(site, "render", "--check", "-q")
    assert (code, out) == (1, "")
    assert f"{FOLDER}/ratios.svg: differs" in errors


def test_manual_changes_of_generated_files_are_replaced(site: Path) -> None:
    before = files(site)
    (site / FOLDER / "page.json").write_text("{}", encoding="utf-8")
    (site / FOLDER / "ratios.svg").unlink()
    render_reports(site, check=False)
    assert files(site) == before


def test_prose_is_kept_and_a_file_without_a_place_is_removed(site: Path) -> None:
    folder = site / FOLDER
    page = folder / "index.md"
    text = page.read_text(encoding="utf-8")
    prose = "## Mine\n\n+++ odd – but mine\n"
    page.write_text(text.replace("files = [", 'files = ["gone.svg", ') + prose, encoding="utf-8")
    (folder / "gone.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "by-hand.png").write_bytes(b"")
    render_reports(site, check=False)
    assert page.read_text(encoding="utf-8") == text + prose
    assert not (folder / "gone.svg").exists()
    assert (folder / "by-hand.png").exists()


def test_bad_input_changes_nothing(site: Path) -> None:
    before = files(site)
    raw = site / "data" / "runs" / RUN / "raw" / "records.jsonl"
    whole, page = raw.read_bytes(), site / FOLDER / "index.md"
    raw.write_bytes(whole[:-20])
    page.write_bytes(before[f"{FOLDER}/index.md"] + b"more prose\n")
    with pytest.raises(UserError, match=r"records\.jsonl: found \d+ bytes, expected \d+"):
        render_reports(site, check=False)
    raw.write_bytes(whole)
    page.write_bytes(before[f"{FOLDER}/index.md"])
    assert files(site) == before


def test_a_scaffolded_report_names_what_it_compares(project: Path) -> None:
    """All pages of the project are as they were made, but NEW has tables of phases too."""
    for page, results, _ in reports(project):
        if (baseline := results.baseline) is not None:
            assert f'baseline = "{baseline}"' in page.front_matter
        libraries = {i.library for i in results.implementations}
        title = results.title.lower()
        assert all(library in title for library in libraries), page.path
        shown = {(call.name, call.arguments.get("id")) for call in page.calls}
        for table in results.tables:
            expected = not table.by_phase or results.id == NEW
            assert (("table", table.anchor) in shown) is expected, page.path
        for chart in results.charts:
            assert ("chart", chart.anchor) in shown, page.path


def test_an_existing_report_is_not_overwritten(site: Path) -> None:
    before = files(site)
    with pytest.raises(UserError, match="this report exists; choose another name"):
        new_report(site, [RUN])
    assert files(site) == before
    assert new_report(site, [RUN], slug="another").parent.name == "2026-11-21-another"


def test_reports_of_one_run_get_times_of_their_own(site: Path) -> None:
    shutil.rmtree(site / FOLDER)
    replace(
        site / "data" / "runs" / RUN / "run.toml",
        "schema = 1\n",
        "schema = 1\nfinished = 2026-11-21T17:02:39.5+01:00\n",
    )
    finished = datetime(2026, 11, 21, 16, 2, 39, tzinfo=UTC)
    pages = [new_report(site, [RUN], slug=slug) for slug in ("one", "two")]
    assert [read_page(page).first.time for page in pages] == [
        *(finished, finished + timedelta(seconds=1))
    ]
    days = [new_report(site, [RUN], slug=s, on=date(2027, 1, 1)) for s in ("one", "two")]
    assert [read_page(page).first.time for page in days] == [
        *(None, datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC))
    ]


def test_two_reports_of_one_time_are_rejected(site: Path) -> None:
    other = new_report(site, [RUN], slug="other")
    text = other.read_text(encoding="utf-8")
    [line] = [line for line in text.splitlines() if line.startswith("date = ")]
    first = (site / FOLDER / "index.md").read_text(encoding="utf-8")
    [taken] = [line for line in first.splitlines() if line.startswith("date = ")]
    assert line != taken
    other.write_text(text.replace(line, taken), encoding="utf-8")
    with pytest.raises(UserError, match=rf"{other}:3: found the date of {RUN}, expected a time"):
        render_reports(site, check=False)


def test_a_report_on_an_unknown_run_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"no run '2026-01-01-nothing': expected a name, but there is none"
    ):
        new_report(tmp_path, ["2026-01-01-nothing"])
    assert not (tmp_path / "content").exists()


def test_a_later_report_is_compared_with_the_earlier_one(site: Path) -> None:
    first = site / "data" / "runs" / RUN
    later = Path(shutil.copytree(first, first.with_name("2026-12-01-small")))
    replace(later / "run.toml", "2026-11-21", "2026-12-01")
    page = new_report(site, [later.name])
    text = page.read_text(encoding="utf-8")
    assert f'previous = "{RUN}"' in text
    assert "{{ changes() }}" in text
    render_reports(site, check=False)
    results = results_of(site, page.parent.name)
    assert results.changes is not None
    assert results.changes.predecessor == RUN
    assert [c.unchanged == c.compared for c in results.changes.libraries] == [True] * 3
