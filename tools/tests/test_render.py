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

from fixture_run import EXAMPLE, ROOT, RUN, write_report, write_run
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.contract.results import Results
from tlsperf.load.page import read_page
from tlsperf.publish.render import render_reports
from tlsperf.publish.scaffold import new_report


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a rendered site, for tests that do not change it."""
    root = tmp_path_factory.mktemp("rendered")
    write_report(root)
    return root


def files(root: Path) -> dict[Path, bytes]:
    return {
        p.relative_to(root): p.read_bytes()
        for p in sorted((root / "content").rglob("*"))
        if p.is_file()
    }


def test_the_same_data_give_the_same_bytes(rendered: Path, tmp_path: Path) -> None:
    write_report(tmp_path)
    assert files(tmp_path) == files(rendered)


def test_the_example_of_the_contract_is_up_to_date(rendered: Path) -> None:
    made = rendered / "content" / "perf" / RUN / "results.json"
    assert EXAMPLE.read_bytes() == made.read_bytes(), "run python tools/tests/fixture_run.py"


def test_results_json_is_valid_by_the_schema(rendered: Path) -> None:
    schema = json.loads((ROOT / "data/schema/results.schema.json").read_text(encoding="utf-8"))
    text = (rendered / "content" / "perf" / RUN / "results.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
    assert Results.model_validate_json(text).id == RUN


def test_results_csv_has_every_cell_of_results_json(rendered: Path) -> None:
    folder = rendered / "content" / "perf" / RUN
    results = Results.model_validate_json((folder / "results.json").read_text(encoding="utf-8"))
    rows = list(csv.DictReader(io.StringIO((folder / "results.csv").read_text(encoding="utf-8"))))
    written = {
        (r["anchor"], r["implementation"]): (r["value"], r["ratio_verdict"], r["note"])
        for r in rows
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
    assert written == cells


def test_a_second_rendering_writes_nothing_and_is_quick(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_report(tmp_path)
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "content").rglob("*")}
    capsys.readouterr()
    started = time.process_time()
    assert render_reports(tmp_path, check=False) == 0
    assert time.process_time() - started < 1
    assert capsys.readouterr().out == ""
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "content").rglob("*")} == before


def test_only_the_named_report_is_rendered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_report(tmp_path)
    other = new_report(tmp_path, [RUN], slug="other").parent
    render_reports(tmp_path, check=False)
    for report in (folder, other):
        (report / "transfer.svg").unlink()
    (tmp_path / "data" / "index.json").unlink()
    capsys.readouterr()
    render_reports(tmp_path, [other.name], check=False)
    assert capsys.readouterr().out.splitlines() == [
        f"wrote content/perf/{other.name}/transfer.svg",
        "wrote data/index.json",
    ]
    (folder / "results.json").unlink()
    with pytest.raises(UserError, match=r"results.json is missing: run `tlsperf render`"):
        render_reports(tmp_path, [other.name], check=False)


@pytest.mark.parametrize("name", [RUN[:-2], RUN.replace("2", "3", 1), "example"])
def test_an_unknown_report_is_reported_with_near_matches(rendered: Path, name: str) -> None:
    with pytest.raises(UserError, match=f"no report '{name}'; similar: {RUN}"):
        render_reports(rendered, [name], check=True)


def test_check_fails_on_any_changed_file_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = write_report(tmp_path)
    assert render_reports(tmp_path, check=True) == 0
    for name in ("results.json", "transfer.svg", "index.md"):
        path = folder / name
        right = path.read_bytes()
        wrong = right.replace(b"OpenSSL 3.6.1", b"OpenSSL 3.6.2")
        path.write_bytes(wrong)
        capsys.readouterr()
        assert render_reports(tmp_path, check=True) == 1
        assert f"content/perf/{RUN}/{name}: differs" in capsys.readouterr().out
        assert path.read_bytes() == wrong
        path.write_bytes(right)
    (folder / "results.csv").unlink()
    assert render_reports(tmp_path, check=True) == 1
    assert f"content/perf/{RUN}/results.csv: differs" in capsys.readouterr().out


def test_manual_changes_of_generated_files_are_replaced(tmp_path: Path) -> None:
    folder = write_report(tmp_path)
    before = files(tmp_path)
    (folder / "results.json").write_text("{}", encoding="utf-8")
    (folder / "transfer.svg").unlink()
    render_reports(tmp_path, check=False)
    assert files(tmp_path) == before


def test_prose_is_kept_and_a_file_without_a_place_is_removed(tmp_path: Path) -> None:
    folder = write_report(tmp_path)
    page = folder / "index.md"
    text = page.read_text(encoding="utf-8")
    prose = "## Mine\n\n+++ odd – but mine\n"
    page.write_text(text.replace("files = [", 'files = ["gone.svg", ') + prose, encoding="utf-8")
    (folder / "gone.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "by-hand.svg").write_text("<svg/>", encoding="utf-8")
    render_reports(tmp_path, check=False)
    assert page.read_text(encoding="utf-8") == text + prose
    assert not (folder / "gone.svg").exists()
    assert (folder / "by-hand.svg").exists()


def test_a_chart_is_also_at_the_addresses_that_it_replaced(tmp_path: Path) -> None:
    folder = write_report(tmp_path)
    listed = tmp_path / "data" / "addresses.toml"
    listed.write_text(f'[{RUN}]\n"transfer.svg" = ["a.svg", "b.svg"]\n', encoding="utf-8")
    render_reports(tmp_path, check=False)
    chart = (folder / "transfer.svg").read_bytes()
    assert (folder / "a.svg").read_bytes() == (folder / "b.svg").read_bytes() == chart
    listed.write_text(f'[{RUN}]\n"transfer.svg" = ["a.svg"]\n', encoding="utf-8")
    render_reports(tmp_path, check=False)
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
        ('[2026-11-21-exampel]\n"transfer.svg" = []\n', f"2026-11-21-exampel', expected {RUN}"),
    ],
)
def test_a_mistake_in_the_list_of_addresses_is_named(tmp_path: Path, text: str, found: str) -> None:
    write_report(tmp_path)
    before = files(tmp_path)
    (tmp_path / "data" / "addresses.toml").write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=rf"addresses\.toml: found .*{found}"):
        render_reports(tmp_path, check=False)
    assert files(tmp_path) == before


def test_bad_input_changes_nothing(tmp_path: Path) -> None:
    write_report(tmp_path)
    before = files(tmp_path)
    raw = tmp_path / "data" / "runs" / RUN / "raw" / "records.jsonl"
    raw.write_bytes(raw.read_bytes()[:-20])
    page = tmp_path / "content" / "perf" / RUN / "index.md"
    page.write_bytes(before[page.relative_to(tmp_path)] + b"more prose\n")
    with pytest.raises(UserError, match=r"records\.jsonl: found \d+ bytes, expected \d+"):
        render_reports(tmp_path, check=False)
    page.write_bytes(before[page.relative_to(tmp_path)])
    assert files(tmp_path) == before


def test_a_scaffolded_report_names_what_it_compares(rendered: Path, tmp_path: Path) -> None:
    write_run(tmp_path)
    text = new_report(tmp_path, [RUN], slug="three").read_text(encoding="utf-8")
    assert 'title = "rustls 0.23.37 vs OpenSSL 3.6.1 vs BoringSSL 30cd935, standard suite"' in text
    assert 'baseline = "openssl-3.6.1"' in text
    results = json.loads((rendered / "content/perf" / RUN / "results.json").read_bytes())
    for table in results["tables"]:
        assert (f'{{{{ table(id="{table["anchor"]}") }}}}' in text) is not table["by_phase"]
    for chart in results["charts"]:
        assert f'{{{{ chart(id="{chart["anchor"]}") }}}}' in text


def test_an_existing_report_is_not_overwritten(tmp_path: Path) -> None:
    write_report(tmp_path)
    before = files(tmp_path)
    with pytest.raises(UserError, match="this report exists; remove it, or choose another name"):
        new_report(tmp_path, [RUN])
    assert files(tmp_path) == before
    assert new_report(tmp_path, [RUN], slug="another").parent.name == "2026-11-21-another"


def test_reports_of_one_run_get_times_of_their_own(tmp_path: Path) -> None:
    manifest = write_run(tmp_path) / "run.toml"
    described = manifest.read_text(encoding="utf-8")
    timed = described.replace(
        "schema = 1\n", "schema = 1\nfinished = 2026-11-21T17:02:39.5+01:00\n"
    )
    manifest.write_text(timed, encoding="utf-8")
    finished = datetime(2026, 11, 21, 16, 2, 39, tzinfo=UTC)
    pages = [new_report(tmp_path, [RUN], slug=slug) for slug in ("one", "two")]
    assert [read_page(page).report.time for page in pages] == [
        *(finished, finished + timedelta(seconds=1))
    ]
    days = [new_report(tmp_path, [RUN], slug=s, on=date(2027, 1, 1)) for s in ("one", "two")]
    assert [read_page(page).report.time for page in days] == [
        *(None, datetime(2027, 1, 1, 0, 0, 1, tzinfo=UTC))
    ]


def test_two_reports_of_one_time_are_rejected(tmp_path: Path) -> None:
    write_report(tmp_path)
    other = new_report(tmp_path, [RUN], slug="other")
    text = other.read_text(encoding="utf-8")
    [line] = [line for line in text.splitlines() if line.startswith("date = ")]
    first = (other.parent.with_name(RUN) / "index.md").read_text(encoding="utf-8")
    [taken] = [line for line in first.splitlines() if line.startswith("date = ")]
    assert line != taken
    other.write_text(text.replace(line, taken), encoding="utf-8")
    with pytest.raises(UserError, match=rf"{other}:3: found the date of {RUN}, expected a time"):
        render_reports(tmp_path, check=False)


def test_a_report_on_an_unknown_run_makes_no_folder(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match=r"no run '2026-01-01-nothing': expected a name, but there is none"
    ):
        new_report(tmp_path, ["2026-01-01-nothing"])
    assert not (tmp_path / "content").exists()


def test_a_later_report_is_compared_with_the_earlier_one(tmp_path: Path) -> None:
    write_report(tmp_path)
    first = tmp_path / "data" / "runs" / RUN
    later = shutil.copytree(first, first.with_name("2026-12-01-example"))
    described = (later / "run.toml").read_text(encoding="utf-8")
    described = described.replace(RUN, later.name).replace("2026-11-21", "2026-12-01")
    (later / "run.toml").write_text(described, encoding="utf-8")
    page = new_report(tmp_path, [later.name])
    text = page.read_text(encoding="utf-8")
    assert f'previous = "{RUN}"' in text
    assert "{{ changes() }}" in text
    render_reports(tmp_path, check=False)
    results = Results.model_validate_json((page.parent / "results.json").read_bytes())
    assert results.changes is not None
    assert results.changes.predecessor == RUN
    assert [c.unchanged == c.compared for c in results.changes.libraries] == [True] * 3
