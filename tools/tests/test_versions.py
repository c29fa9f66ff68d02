"""Pages of versions: their ratios are those of the report, and mistakes in them are named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from project import NIGHTS, OF_HISTORY, ROW, VERSIONS
from tlsperf.contract.errors import UserError
from tlsperf.contract.nightly import Nightly
from tlsperf.load.nights import night_folders, read_nights
from tlsperf.publish.build import build
from tlsperf.publish.nightly import figures_of_nights, nightly
from tlsperf.publish.render import check_changed, render_reports
from tlsperf.report.claims import failing

PAGE = "content/versions/openssl"
OF_OPENSSL = [name for name in VERSIONS if name.startswith("openssl-")]


@pytest.fixture(scope="module")
def page(project: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((project / PAGE / "versions.json").read_bytes())
    return found


@pytest.fixture(scope="module")
def ratios(project: Path) -> dict[str, dict[str, dict[str, tuple[float, str, str]]]]:
    """Those of the report, by the anchor of the row, the older version, the newer one."""
    path = project / "content" / "perf" / OF_HISTORY / "comparisons.json"
    rows: dict[str, Any] = json.loads(path.read_bytes())["rows"]
    return {name.partition(" ")[2]: found for name, found in rows.items()}


Ratios = dict[str, dict[str, dict[str, tuple[float, str, str]]]]


def test_a_matrix_has_each_pair_of_an_older_and_a_newer_version(
    page: dict[str, Any], ratios: Ratios
) -> None:
    [matrix] = page["matrices"]
    assert [line["id"] for line in matrix["lines"]] == OF_OPENSSL[:-1]
    assert [to["id"] for to in matrix["columns"]] == OF_OPENSSL[1:]
    for at, line in enumerate(matrix["lines"]):
        for to, cell in zip(matrix["columns"], line["cells"], strict=True):
            if OF_OPENSSL.index(to["id"]) <= at:
                assert cell == {}
                continue
            value, verdict, text = ratios[ROW][line["id"]][to["id"]]
            assert cell["detail"].startswith(f"{value:.2f}× (") or cell["detail"] == text
            shown = f"{value:.2f}" if verdict in ("faster", "slower") else "="
            assert cell["text"] == shown
            side = {"faster": "better", "slower": "worse"}.get(verdict, "same")
            assert cell["colour"].partition("-")[0] == side


def test_a_release_has_the_rows_in_which_it_differs_from_the_one_before(
    page: dict[str, Any], ratios: Ratios
) -> None:
    assert [change["newer"] for change in page["changes"]] == OF_OPENSSL[:0:-1]
    some = False
    for change in page["changes"]:
        of_pair = {row: of[change["older"]][change["newer"]] for row, of in ratios.items()}
        shown = {row: of for row, of in of_pair.items() if of[1] in ("faster", "slower")}
        named = {of["text"]: of["is_better"] for of in change.get("rows", [])}
        expected = {f"{value:.2f}×": verdict == "faster" for value, verdict, _ in shown.values()}
        assert named.items() <= expected.items()
        assert len(named) + change.get("more", 0) == len(shown)
        some = some or bool(named)
    assert some


def test_a_strip_marks_the_releases_that_differ(project: Path, page: dict[str, Any]) -> None:
    changed = [
        c["label"] for c in page["changes"] for row in c.get("rows", []) if row["name"] == "Sending"
    ]
    assert changed
    for suffix in ("", "-narrow"):
        drawing = (project / PAGE / f"{page['strip']}{suffix}.svg").read_text("utf-8")
        assert "Sending" in drawing
        assert "New connections" in drawing
        assert "Returning" not in drawing, "the author wants it in lists alone"
        assert all(f"steps at {label}" in drawing or f", {label}" in drawing for label in changed)


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(project, tmp_path / "copy", symlinks=True))


def edit(path: Path, change: Callable[[str], str]) -> None:
    text = path.read_text(encoding="utf-8")
    changed = change(text)
    assert changed != text
    path.write_text(changed, encoding="utf-8")


@pytest.mark.parametrize(
    ("known", "unknown", "expected"),
    [
        (f'report = "{OF_HISTORY}"', 'report = "2026-11-07-version"', "the report"),
        (f'row = "{ROW}"', f'row = "{ROW}s"', "the row"),
        (f'report = "{OF_HISTORY}"', f'report = "{OF_HISTORY}"\ncounts = "nobody"', "the folder"),
        ('library = "openssl"', 'library = "boringssl"', "two versions"),
        ('name = "Sending", ', "", "name"),
    ],
)
def test_what_is_not_there_is_named_with_its_line(
    copy: Path, known: str, unknown: str, expected: str
) -> None:
    edit(copy / PAGE / "index.md", lambda text: text.replace(known, unknown))
    with pytest.raises(UserError, match=rf"{PAGE}/index\.md.*{expected}"):
        check_changed(copy)


def test_a_drawing_that_was_edited_or_is_stale_is_found(
    copy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_changed(copy) == 0
    edit(copy / PAGE / "openssl-by-time.svg", lambda text: text.replace("3.5.5", "3.5.6"))
    (copy / PAGE / "older.svg").write_text("<svg/>", encoding="utf-8")
    assert check_changed(copy) == 1
    said = capsys.readouterr().err
    assert f"{PAGE}/openssl-by-time.svg" in said
    assert f"{PAGE}/older.svg" in said


def test_a_claim_of_another_page_may_compare_any_two_versions(copy: Path) -> None:
    room = copy / "content" / "versions" / "_index.md"
    edit(room, lambda text: text.replace("openssl-3.5.5 better than", "openssl-3.5.5 worse than"))
    with pytest.raises(UserError, match=r"openssl-3.5.5 against openssl-3.0.8: .* faster"):
        render_reports(copy, [OF_HISTORY], check=False)


# --- counts --------------------------------------------------------------------------------------


def counted(root: Path) -> tuple[list[Nightly], Callable[[str], str | None]]:
    """The pages of the nights, and why a claim about them does not hold."""
    [folder] = night_folders(root)
    nights = read_nights(folder)
    pages = nightly(nights)
    figures = figures_of_nights(pages, nights)

    def why(holds: str) -> str | None:
        error = failing(holds, [figures])
        return str(error) if error else None

    return pages, why


def test_counts_and_their_changes_can_be_claimed(project: Path) -> None:
    _, why = counted(project)
    assert why("change of full-handshake: * in -0.5..2.5") is None
    assert "full-handshake" in (why("change of full-handshake: * in ..1") or "")
    assert why("full-handshake client: * in 880000..950000") is None
    assert why("full-handshake: best is rustls") is not None


def test_a_folder_that_a_page_of_versions_shows_has_no_other_page(copy: Path) -> None:
    pages, _ = counted(copy)
    [nights] = pages
    folder = copy / "content" / "versions" / nights.id
    assert folder.is_dir()
    other = copy / "content" / "versions" / "rustls"
    other.mkdir()
    text = (copy / PAGE / "index.md").read_text(encoding="utf-8")
    text = text.replace('library = "openssl"', f'library = "rustls"\ncounts = "{NIGHTS}"')
    (other / "index.md").write_text(text.replace(", strip = false", ""), encoding="utf-8")
    render_reports(copy, [OF_HISTORY], check=False)
    build(copy)
    assert not folder.exists()
    counts = json.loads((other / "versions.json").read_bytes())["counted"]
    steps = [step for change in counts["changes"] for step in change["steps"]]
    assert {step["change"] for step in steps} == {
        step.change for change in nights.changes for step in change.steps
    }
    assert {step["is_better"] for step in steps} == {True, False}
    assert (other / f"{counts['strip']}.svg").exists()
    assert (copy / PAGE / "versions.json").exists(), "git holds it"
