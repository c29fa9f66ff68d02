"""Rendering is deterministic, writes only changes, keeps prose, and follows the schema."""

from __future__ import annotations

import csv
import io
import json
import shutil
import time
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest

from fixture_run import EXAMPLE, ROOT, write_report
from project import NEW, SMALL, write_small
from reports import reports
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.results import Results
from tlsperf.load.addresses import read_addresses, with_earlier_names
from tlsperf.load.page import read_page
from tlsperf.publish.render import render_reports
from tlsperf.publish.scaffold import new_report

RUN = SMALL.id
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


def files(root: Path) -> dict[Path, bytes]:
    return {
        p.relative_to(root): p.read_bytes()
        for p in sorted((root / "content").rglob("*"))
        if p.is_file()
    }


def replace(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_the_same_data_give_the_same_bytes(rendered: Path, tmp_path: Path) -> None:
    write_small(tmp_path)
    assert files(tmp_path) == files(rendered)


def test_the_example_of_the_contract_is_up_to_date(tmp_path: Path) -> None:
    made = write_report(tmp_path) / "results.json"
    assert EXAMPLE.read_bytes() == made.read_bytes(), "run python tools/tests/fixture_run.py"


@pytest.mark.any_site
def test_results_json_is_valid_by_the_schema(root: Path) -> None:
    schema = json.loads((ROOT / "data/schema/results.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    for page, _ in reports(root):
        text = page.path.with_name("results.json").read_text(encoding="utf-8")
        validator.validate(json.loads(text))


@pytest.mark.any_site
def test_results_csv_has_every_cell_of_results_json(root: Path) -> None:
    for page, results in reports(root):
        text = page.path.with_name("results.csv").read_text(encoding="utf-8")
        written = {
            (r["anchor"], r["implementation"]): (r["value"], r["ratio_verdict"], r["note"])
            for r in csv.DictReader(io.StringIO(text))
        }
        cells = {
            (row.anchor, cell.implementation): (
                "" if cell.value is None else str(cell.value),
                cell.ratio.verdict if cell.ratio else "",
                cell.note or "",
            )
            for table in results.tables
            for row in table.rows
            for cell in row.cells
        }
        assert written == cells, page.path


def test_a_second_rendering_writes_nothing_and_is_quick(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {p: p.stat().st_mtime_ns for p in (site / "content").rglob("*")}
    started = time.process_time()
    assert render_reports(site, check=False) == 0
    assert time.process_time() - started < 1
    assert capsys.readouterr().out == ""
    assert {p: p.stat().st_mtime_ns for p in (site / "content").rglob("*")} == before


def test_only_the_named_report_is_rendered(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = site / FOLDER
    other = new_report(site, [RUN], slug="other").parent
    render_reports(site, [other.name], check=False)
    for report in (folder, other):
        (report / "transfer.svg").unlink()
    (site / "data" / "index.json").unlink()
    capsys.readouterr()
    render_reports(site, [other.name], check=False)
    assert capsys.readouterr().out.splitlines() == [
        f"wrote content/perf/{other.name}/transfer.svg",
        "wrote data/index.json",
    ]
    (folder / "results.json").unlink()
    with pytest.raises(UserError, match=r"results.json is missing: run `tlsperf render`"):
        render_reports(site, [other.name], check=False)


@pytest.mark.parametrize("name", [RUN[:-2], RUN.replace("2", "3", 1), "small"])
def test_an_unknown_report_is_reported_with_near_matches(rendered: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"no report '{name}'; similar: {RUN}"):
        render_reports(rendered, [name], check=True)


def test_check_fails_on_any_changed_file_and_writes_nothing(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert render_reports(site, check=True) == 0
    for name in ("results.json", "transfer.svg", "index.md"):
        replace(site / FOLDER / name, "OpenSSL 3.6.1", "OpenSSL 3.6.2")
    (site / FOLDER / "results.csv").unlink()
    before = files(site)
    capsys.readouterr()
    assert render_reports(site, check=True) == 1
    found = capsys.readouterr().out
    for name in ("results.json", "transfer.svg", "index.md", "results.csv"):
        assert f"{FOLDER}/{name}: differs" in found
    assert files(site) == before


def test_manual_changes_of_generated_files_are_replaced(site: Path) -> None:
    before = files(site)
    (site / FOLDER / "results.json").write_text("{}", encoding="utf-8")
    (site / FOLDER / "transfer.svg").unlink()
    render_reports(site, check=False)
    assert files(site) == before


def test_prose_is_kept_and_a_file_without_a_place_is_removed(site: Path) -> None:
    folder = site / FOLDER
    page = folder / "index.md"
    text = page.read_text(encoding="utf-8")
    prose = "## Mine\n\n+++ odd – but mine\n"
    page.write_text(text.replace("files = [", 'files = ["gone.svg", ') + prose, encoding="utf-8")
    (folder / "gone.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "by-hand.svg").write_text("<svg/>", encoding="utf-8")
    render_reports(site, check=False)
    assert page.read_text(encoding="utf-8") == text + prose
    assert not (folder / "gone.svg").exists()
    assert (folder / "by-hand.svg").exists()


def test_a_chart_is_also_at_the_addresses_that_it_replaced(site: Path) -> None:
    folder = site / FOLDER
    listed = site / "data" / "addresses.toml"
    listed.write_text(f'[{RUN}]\n"transfer.svg" = ["a.svg", "b.svg"]\n', encoding="utf-8")
    render_reports(site, check=False)
    chart = (folder / "transfer.svg").read_bytes()
    assert (folder / "a.svg").read_bytes() == (folder / "b.svg").read_bytes() == chart
    listed.write_text(f'[{RUN}]\n"transfer.svg" = ["a.svg"]\n', encoding="utf-8")
    render_reports(site, check=False)
    assert (folder / "a.svg").exists()
    assert not (folder / "b.svg").exists()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f'[{RUN}]\n"gone.svg" = ["a.svg"]\n', "gone.svg, expected a chart of the report: transf"),
        (f'[{RUN}]\n"transfer.svg" = ["a.svg", "a.svg"]\n', "a.svg twice"),
        (f'[{RUN}]\n"transfer.svg" = ["transfer.svg"]\n', "transfer.svg twice"),
        (f'[{RUN}]\n"transfer.svg" = ["../a.svg"]\n', r"transfer\.svg\.0 '../a\.svg'"),
        (f'[{RUN}]\n"transfer.svg" = "a.svg"\n', r"transfer\.svg 'a\.svg'"),
        ('[2026-11-21-smal]\n"transfer.svg" = []\n', f"2026-11-21-smal', expected {RUN}"),
    ],
)
def test_a_mistake_in_the_list_of_addresses_is_named(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "addresses.toml"
    path.write_text(text, encoding="utf-8")

    def named() -> dict[str, str]:
        names = read_addresses(path, [RUN])[RUN]
        return dict(with_earlier_names({"transfer.svg": "<svg/>"}, names, path))

    with pytest.raises(FormatError, match=rf"addresses\.toml: found .*{found}"):
        named()


def test_bad_input_changes_nothing(site: Path) -> None:
    before = files(site)
    raw = site / "data" / "runs" / RUN / "raw" / "records.jsonl"
    whole, page = raw.read_bytes(), site / FOLDER / "index.md"
    raw.write_bytes(whole[:-20])
    page.write_bytes(before[FOLDER / "index.md"] + b"more prose\n")
    with pytest.raises(UserError, match=r"records\.jsonl: found \d+ bytes, expected \d+"):
        render_reports(site, check=False)
    page.write_bytes(before[FOLDER / "index.md"])
    assert files(site) == before
    raw.write_bytes(whole)
    (site / "data" / "addresses.toml").write_text(f'[{RUN}]\n"gone.svg" = ["a.svg"]\n')
    with pytest.raises(FormatError, match=r"gone\.svg"):
        render_reports(site, check=False)
    assert files(site) == before


def test_a_scaffolded_report_names_what_it_compares(project: Path) -> None:
    """All pages of the project are as they were made, but NEW has tables of phases too."""
    for page, results in reports(project):
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
    with pytest.raises(UserError, match="this report exists; remove it, or choose another name"):
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
    assert [read_page(page).report.time for page in pages] == [
        *(finished, finished + timedelta(seconds=1))
    ]
    days = [new_report(site, [RUN], slug=s, on=date(2027, 1, 1)) for s in ("one", "two")]
    assert [read_page(page).report.time for page in days] == [
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
    results = Results.model_validate_json((page.parent / "results.json").read_bytes())
    assert results.changes is not None
    assert results.changes.predecessor == RUN
    assert [c.unchanged == c.compared for c in results.changes.libraries] == [True] * 3
