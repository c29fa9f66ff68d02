"""Answers quote reports: each figure is that of its row, and a mistake or an old figure is named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from project import AHEAD, CORES, FIRST, HERE, OPENSSL, ROW, RUSTLS, SINCE, THERE, results_of
from tlsperf.contract.errors import UserError
from tlsperf.load.answers import read_answers
from tlsperf.publish.render import check_changed, render_reports

VERSIONS = "2026-11-07-versions"
SOCKETS = "2026-11-10-sockets"
IDLE = "2026-11-03-memory"


@pytest.fixture
def root(project: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(project, tmp_path / "project"))


def page(root: Path, name: str) -> Path:
    return root / "content" / "answers" / name / "index.md"


def shown(root: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(page(root, name).with_name("page.json").read_bytes())
    return found


def change(root: Path, name: str, before: str, after: str) -> None:
    path = page(root, name)
    text = path.read_text("utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def lines(root: Path, name: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Host, library, row and cell of each figure, whichever of them are lines."""
    answer = shown(root, name)
    for line in answer["lines"]:
        for host, cells in zip(answer["hosts"], line["cells"], strict=True):
            for head, cell in zip(answer["heads"], cells, strict=True):
                names = (head["label"], line["label"])
                yield host["name"], *(names if answer["by_row"] else names[::-1]), cell


def cells_of(root: Path, report: str, row: str) -> dict[str, dict[str, Any]]:
    tables = results_of(root, report)["tables"]
    [found] = [of for table in tables for of in table["rows"] if of["anchor"] == row]
    return {cell["implementation"]: cell for cell in found["cells"]}


def test_each_figure_of_an_answer_is_that_of_its_row(project: Path) -> None:
    folder = project / "content" / "perf" / "2026-10-07-beside"
    parts = [json.loads((folder / part / "results.json").read_bytes()) for part in (HERE, THERE)]
    [here, there] = [
        {
            cell["implementation"]: cell
            for table in part["tables"]
            for row in table["rows"]
            if row["anchor"] == ROW
            for cell in row["cells"]
        }
        for part in parts
    ]
    found = {
        (host, library): cell
        for host, library, row, cell in lines(project, AHEAD)
        if row == "Sending"
    }
    hosts = list(dict.fromkeys(host for host, _ in found))
    assert len(hosts) == 2
    for host, cells in zip(hosts, (here, there), strict=True):
        assert found[host, "rustls"]["figure"] == cells[RUSTLS]["text"]
        assert found[host, "rustls"]["mark"] == "better"
        assert found[host, "OpenSSL"]["figure"] == cells[OPENSSL]["text"]
        assert "ratio" not in found[host, "OpenSSL"]


def test_an_answer_leads_to_the_page_and_the_figures_of_each_part(project: Path) -> None:
    parts = [part for host in shown(project, AHEAD)["hosts"] for part in host["parts"]]
    assert [part["address"] for part in parts] == ["perf/2026-10-07-beside/"] * 2
    for part in parts:
        assert (project / "content" / part["csv"]).is_file()


def test_ratios_to_another_baseline_are_those_that_the_estimator_gives(project: Path) -> None:
    path = project / "content" / "perf" / VERSIONS / "comparisons.json"
    ratios = json.loads(path.read_bytes())["rows"][f"transfer {ROW}"][FIRST]
    found = {library: cell for _, library, row, cell in lines(project, SINCE) if row == "Sending"}
    assert len(found) == 3
    for name, build in (("OpenSSL 3.5.5", "openssl-3.5.5"), ("OpenSSL 3.6.1", OPENSSL)):
        assert found[name]["ratio"] == f"{ratios[build][0]:.2f}×"
        assert found[name]["figure"] == cells_of(project, VERSIONS, ROW)[build]["text"]


def test_cores_follow_the_formula_of_the_page(project: Path) -> None:
    [host] = shown(project, CORES)["cores"]["hosts"]
    full = cells_of(project, SOCKETS, "full-handshake-1-3-rsa-2048-x25519-server")
    sent = cells_of(project, SOCKETS, "connection-1-3-rsa-2048-x25519-server-processor-time")
    assert {library["id"] for library in host["libraries"]} == set(sent)
    for library in host["libraries"]:
        alone = 20_000 / full[library["id"]]["value"]
        socket = 20_000 * sent[library["id"]]["value"] / 1e6
        for way, cores in (("alone", alone), ("socket", socket)):
            assert [float(text) for text in library["cores"][way]] == pytest.approx(
                [cores] * 3, rel=0.051
            )
            assert library["costs"][way]["ecdsa"] == pytest.approx(cores * 50, rel=1e-3)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (f'parts = ["{HERE}"', 'parts = ["2026-10-07-heer"', HERE),
        (f'row = "{ROW}"', f'row = "{ROW[:-1]}"', ROW),
        ("[extra.answer]", f'[extra.answer]\nimplementations = ["{RUSTLS}x"]', RUSTLS),
        ('label = "Sending"', 'label = "Sending"\ntable = "transfers"', "transfer"),
        ('label = "Sending"', 'label = "Sending"\nshown = false', "drawn"),
        ('label = "Receiving"', 'label = "Sending"', "Sending twice"),
        ("[extra.answer]", f'[extra.answer]\nbaseline = "{RUSTLS}x"', f"expected {RUSTLS}"),
        ("in 1.5..", "in 3..", "it holds in 0 of 1 rows"),
        ("Another key.", "Another key is faster.", "a claim that covers it"),
    ],
)
def test_a_mistake_is_named_with_its_page(root: Path, before: str, after: str, said: str) -> None:
    change(root, AHEAD, before, after)
    with pytest.raises(UserError) as error:
        render_reports(root, [AHEAD], check=True)
    assert f"answers/{AHEAD}/index.md" in str(error.value)
    assert said in str(error.value)


def test_an_answer_with_a_part_that_is_gone_is_named_when_all_is_rendered(root: Path) -> None:
    change(root, AHEAD, f'parts = ["{HERE}", "{THERE}"]', 'parts = ["2026-10-07-gone"]')
    for check in (True, False):
        with pytest.raises(UserError, match=rf"answers/{AHEAD}/index.md:\d+.*2026-10-07-gone"):
            render_reports(root, check=check)


def test_two_parts_of_a_host_are_one_host_in_the_table_of_cores(root: Path) -> None:
    [before] = shown(root, CORES)["cores"]["hosts"]
    change(root, CORES, f'parts = ["{SOCKETS}"]', f'parts = ["{SOCKETS}", "{HERE}"]')
    render_reports(root, [CORES], check=False)
    [after] = shown(root, CORES)["cores"]["hosts"]
    assert after["name"] == before["name"]
    assert after["libraries"] == before["libraries"]


@pytest.mark.parametrize(
    ("row", "said"),
    [("nothing", "nothing"), ("memory", "a rate or a time")],
)
def test_cores_of_a_row_that_gives_none_are_named_with_the_line(
    root: Path, row: str, said: str
) -> None:
    if row == "memory":
        [row, *_] = [
            of["anchor"]
            for table in results_of(root, IDLE)["tables"]
            if table["unit"].startswith("bytes")
            for of in table["rows"]
        ]
        change(root, CORES, f'parts = ["{SOCKETS}"]', f'parts = ["{SOCKETS}", "{IDLE}"]')
    before = 'ecdsa = "connection-1-3-rsa-2048-x25519-server-processor-time"'
    change(root, CORES, before, f'ecdsa = "{row}"')
    with pytest.raises(UserError, match=rf"answers/{CORES}/index.md:\d+: .*{said}"):
        render_reports(root, [CORES], check=True)


def test_a_claim_compares_any_two_builds_by_the_estimator(root: Path) -> None:
    change(root, SINCE, f"openssl-3.5.5 / {FIRST} in 1.2..", f"{FIRST} better than openssl-3.5.5")
    with pytest.raises(UserError, match="slower"):
        render_reports(root, [SINCE], check=True)


def test_a_question_claims_nothing(root: Path) -> None:
    change(root, AHEAD, "Which one is ahead?", "Which one is the fastest?")
    render_reports(root, [AHEAD], check=False)


def test_an_answer_is_rendered_again_with_a_report_that_it_quotes(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check_changed(root) == 0
    report = root / "content" / "perf" / VERSIONS / "index.md"
    text = report.read_text("utf-8")
    title = next(line for line in text.splitlines() if line.startswith("title"))
    report.write_text(text.replace(title, 'title = "Of versions"'), encoding="utf-8")
    capsys.readouterr()
    assert check_changed(root) == 1
    assert f"answers/{SINCE}/page.json" in capsys.readouterr().err
    render_reports(root, [VERSIONS], check=False)
    assert "Of versions" in page(root, SINCE).with_name("page.json").read_text("utf-8")
    assert check_changed(root) == 0


def test_a_page_without_figures_quotes_nothing(root: Path) -> None:
    path = root / "content" / "_index.md"
    path.write_text("+++\n+++\n\nWords.\n", encoding="utf-8")
    assert "home" not in [answer.id for answer in read_answers(root)]


def test_a_row_of_a_price_list_has_the_change_of_its_rate(root: Path) -> None:
    report = "2026-11-02-post-quantum"
    [table] = [of for of in results_of(root, report)["prices"] if of["anchor"] == "prices-server"]
    priced = table["rows"][1]
    text = f"""\
+++
title = "Which price?"
[extra.answer]
parts = ["{report}"]
against = "the first row"
[[extra.answer.rows]]
row = "{priced["anchor"]}"
table = "prices-server"
label = "Price"
+++
"""
    page(root, AHEAD).write_text(text, encoding="utf-8")
    render_reports(root, [AHEAD], check=False)
    found = {library: cell for _, library, _, cell in lines(root, AHEAD)}
    values = [cell["ratio"]["value"] for cell in priced["cells"]]
    assert len(found) == len(values)
    for cell, value in zip(found.values(), values, strict=True):
        percent = float(cell["ratio"].replace("\N{MINUS SIGN}", "-").removesuffix("%"))
        assert percent == pytest.approx(100 * (value - 1), abs=0.51)
