"""`tlsperf build` makes what a site has and git does not hold, and only what is out of date."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
import time
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from commands import commit, git, tlsperf
from project import (
    BESIDE,
    NEW,
    NIGHTS,
    OPENSSL,
    ROOT,
    RUNS,
    SMALL,
    THERE,
    files,
    write_made,
    write_nights,
)
from reports import reports
from tlsperf.contract.errors import UserError
from tlsperf.load.page import Page
from tlsperf.publish import build as builder
from tlsperf.publish.build import build

REPORT, OTHER = SMALL.id, "2026-10-01-small"
FOLDER = f"content/perf/{REPORT}"


@pytest.fixture
def site(two_reports: Path, tmp_path: Path) -> Path:
    """A copy of the site of two reports."""
    return Path(shutil.copytree(two_reports, tmp_path / "site"))


# --- the downloads -------------------------------------------------------------------------------


@pytest.mark.any_site
def test_results_json_is_valid_by_the_schema(root: Path) -> None:
    schema = json.loads((ROOT / "data/schema/results.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    for _, _, folder in reports(root):
        text = (folder / "results.json").read_text(encoding="utf-8")
        validator.validate(json.loads(text))


@pytest.mark.any_site
def test_results_csv_has_every_cell_of_results_json(root: Path) -> None:
    for page, results, folder in reports(root):
        text = (folder / "results.csv").read_text(encoding="utf-8")
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


# --- what is out of date -------------------------------------------------------------------------


def test_a_second_build_writes_nothing_and_is_quick(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    build(site)
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    capsys.readouterr()
    started = time.process_time()
    build(site)
    assert time.process_time() - started < 1
    assert capsys.readouterr() == ("2 reports, 2 of them up to date\n", "")
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


@pytest.mark.parametrize("damage", ["edited", "deleted"])
@pytest.mark.parametrize(
    "name",
    [
        *(f"{FOLDER}/{name}" for name in ("results.json", "results.csv", "compare.json")),
        *("content/compare/newest.json", "content/compare/short.json"),
        *("data/index.json", "data/index.csv", "data/downloads.json"),
    ],
)
def test_what_was_edited_or_deleted_is_made_again(site: Path, name: str, damage: str) -> None:
    before = files(site)
    if damage == "edited":
        (site / name).write_bytes(before[name] + b"by hand")
    else:
        (site / name).unlink()
    build(site)
    assert files(site) == before


@pytest.mark.parametrize(
    "name",
    [
        *("content/compare/gone.json", "content/versions/nights-gone/a.svg"),
        f"{FOLDER}/layouts.csv",
        "content/perf/2026-01-01-gone/results.csv",
    ],
)
def test_what_is_no_longer_made_is_removed_and_what_a_person_wrote_stays(
    site: Path, name: str
) -> None:
    before = files(site)
    written = ("content/compare/_index.md", "content/perf/_index.md", f"{FOLDER}/notes.txt")
    for path in (name, *written):
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text("a text", encoding="utf-8")
    build(site)
    assert files(site) == {**before, **dict.fromkeys(written, b"a text")}
    assert [path for path in site.glob("content/*/*") if path.name.endswith("gone")] == []


def test_the_folders_of_parts_that_are_gone_go_as_well(project: Path, tmp_path: Path) -> None:
    root = Path(shutil.copytree(project, tmp_path / "parts"))
    page = root / "content" / "perf" / BESIDE / "index.md"
    assert (page.parent / THERE / "results.csv").exists()
    before, *parts = page.read_text(encoding="utf-8").split("[[extra.report.parts]]")
    last = parts[-1].partition("\n[")
    page.write_text("".join([before, "[[extra.report.parts]]", *parts[:-1], *last[1:]]), "utf-8")
    build(root)
    assert not (page.parent / THERE).exists()
    assert (page.parent / "results.csv").exists()


def test_a_first_look_at_a_host_is_on_no_page_over_all_reports(site: Path) -> None:
    described = site / "data" / "runs" / REPORT / "run.toml"
    suite = f'name = "{SMALL.suite}"'
    text = described.read_text(encoding="utf-8")
    assert suite in text
    described.write_text(text.replace(suite, 'name = "quick"'), encoding="utf-8")
    build(site)
    listed = json.loads((site / "data" / "index.json").read_bytes())["results"]
    assert {result["report"] for result in listed} == {OTHER}


def test_a_project_without_reports_has_an_empty_index(two_reports: Path, tmp_path: Path) -> None:
    shutil.copy(two_reports / "config.toml", tmp_path)
    shutil.copytree(two_reports / "data" / "hosts", tmp_path / "data" / "hosts")
    build(tmp_path)
    assert json.loads((tmp_path / "data" / "index.json").read_bytes())["results"] == []
    assert json.loads((tmp_path / "data" / "downloads.json").read_bytes()) == []


def test_only_the_downloads_of_a_report_that_changed_are_made_again(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = site / FOLDER / "index.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nMore prose.\n", encoding="utf-8")
    capsys.readouterr()
    build(site)
    printed = capsys.readouterr()
    assert f"{REPORT}: downloads" in printed.out
    assert OTHER not in printed.out
    assert printed.out.endswith("2 reports, 1 of them up to date\n")


def test_a_mistake_in_one_report_does_not_keep_another_from_being_built(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = site / "content" / "perf" / OTHER / "index.md"
    right = wrong.read_text(encoding="utf-8")
    wrong.write_text(right.replace(f'"{OPENSSL}"', '"another"'), encoding="utf-8")
    (site / FOLDER / "results.csv").unlink()
    (site / "data" / "index.csv").unlink()
    said = f"{OTHER}: found the baseline 'another'"
    with pytest.raises(UserError, match=said):
        build(site)
    assert (site / FOLDER / "results.csv").exists()
    assert REPORT in (site / "data" / "index.csv").read_text(encoding="utf-8")
    capsys.readouterr()
    with pytest.raises(UserError, match=said):
        build(site)
    again = capsys.readouterr().out
    assert again == "1 report, 1 of them up to date\n", "what is in order was made before"
    wrong.write_text(right, encoding="utf-8")
    build(site)
    assert OTHER in (site / "data" / "index.csv").read_text(encoding="utf-8")


def test_a_report_that_is_not_rendered_is_on_no_page_over_all_reports(site: Path) -> None:
    missing = site / FOLDER / "page.json"
    page = missing.read_bytes()
    missing.unlink()
    with pytest.raises(UserError, match=f"{missing} is missing: run `tlsperf render {REPORT}`"):
        build(site)
    index = site / "data" / "index.csv"
    assert OTHER in index.read_text(encoding="utf-8")
    assert REPORT not in index.read_text(encoding="utf-8")
    missing.write_bytes(page)
    build(site)
    assert REPORT in index.read_text(encoding="utf-8")


def test_a_damaged_night_is_left_out_with_those_of_its_folder_alone(site: Path) -> None:
    write_nights(site)
    nights = site / "data" / "nightly"
    shutil.copytree(nights / NIGHTS, nights / "releases")
    described = next((nights / "releases").glob("*/run.toml"))
    described.write_bytes(b"")
    with pytest.raises(UserError, match=f"^{described}: found id nothing"):
        build(site)
    pages = [path.name for path in (site / "content" / "versions").iterdir()]
    assert pages
    assert all(name.startswith(f"nights-{NIGHTS}") for name in pages), pages


def test_a_build_that_was_interrupted_goes_on_where_it_stopped(
    site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = files(site)
    (site / "build" / "built.json").unlink()
    made = builder.downloading(site)

    def interrupted(page: Page) -> dict[Path, str]:
        if page.id == REPORT:
            raise KeyboardInterrupt
        return made(page)

    with monkeypatch.context() as patch:
        patch.setattr(builder, "downloading", lambda _: interrupted)
        with pytest.raises(KeyboardInterrupt):
            build(site)
    capsys.readouterr()
    build(site)
    printed = capsys.readouterr()
    assert f"{REPORT}: downloads" in printed.out
    assert OTHER not in printed.out
    assert files(site) == before


# --- what git holds ------------------------------------------------------------------------------


CHANGED = ("status", "--porcelain", "--untracked-files=all")


@pytest.fixture(scope="module")
def clone(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone of the made-up project, which git holds with our .gitignore."""
    folder = tmp_path_factory.mktemp("held")
    shutil.copytree(project, folder / "origin")
    shutil.copy(ROOT / ".gitignore", folder / "origin")
    commit(folder / "origin")
    git(folder, "clone", "--quiet", "origin", "clone")
    return folder / "clone"


def test_git_holds_what_people_write_what_hosts_measured_and_what_render_makes(
    clone: Path,
) -> None:
    held = git(clone, "ls-files").splitlines()
    measured = re.compile(r"data/(runs/[^/]+|nightly/[^/]+/[^/]+)/(run\.toml|raw/.+)")
    generic = {
        re.sub(
            r"[^/]+\.svg$",
            "*.svg",
            re.sub(r"^(content/\w+|data/hosts)/[^/]+(?=/|\.toml)", r"\1/*", path),
        )
        for path in held
        if not measured.fullmatch(path)
    }
    assert generic == {
        *(f"content/perf/*/{name}" for name in ("index.md", "page.json", "preview.png", "*.svg")),
        *(f"content/answers/*/{name}" for name in ("index.md", "page.json", "*.svg")),
        *(f"content/versions/*/{name}" for name in ("index.md", "versions.json", "*.svg")),
        *(f"content/{name}" for name in ("_index.md", "page.json", "*.svg", "versions/_index.md")),
        *(
            f"data/{name}"
            for name in ("hosts/*.toml", "notes.toml", "reports.json", "checked.json")
        ),
        *(".gitignore", "config.toml", "static/preview.png"),
    }


def test_a_clone_builds_everything_else_and_git_sees_nothing_of_it(
    clone: Path, project: Path
) -> None:
    assert tlsperf(clone, "build").code == 0
    assert git(clone, *CHANGED) == ""
    assert {name: data for name, data in files(clone).items() if name != ".gitignore"} == files(
        project
    )


def test_one_more_report_changes_few_other_files_in_git(clone: Path) -> None:
    """Reviewers of a report read the report, not the site."""
    [newest] = [run for run in RUNS if run.id == NEW]
    run = replace(newest, id="2026-12-01-server", disturbed=None)
    write_made(clone / "data" / "runs", run)
    for command in (("new", run.id), ("render", run.id), ("build",)):
        done = tlsperf(clone, *command)
        assert done.code == 0, done.errors
    changed = [line[3:] for line in git(clone, *CHANGED).splitlines()]
    own = (f"content/perf/{run.id}/", f"data/runs/{run.id}/")
    assert {path.startswith(own) for path in changed} == {True, False}
    others = [path for path in changed if not path.startswith(own)]
    assert len(others) <= 6, others
    assert run.id in (clone / "data" / "index.csv").read_text(encoding="utf-8")
    assert run.id in (clone / "data" / "reports.json").read_text(encoding="utf-8")
