"""Tables that a source published are made again, and `tlsperf compare` prints two implementations.

test_compare_rules.py has the rules of factors and verdicts.
"""

from __future__ import annotations

import csv
import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from project import ARM, NEW, OPENSSL, RUSTLS
from synthetic import HANDSHAKES, TRANSFERS, implementation, loaded_run, run_of_rows
from tlsperf.analysis.compare import compare, pairs_of, side_of
from tlsperf.analysis.series import MeasuredRun, measured
from tlsperf.cli import app, main
from tlsperf.contract.comparisons import Definition
from tlsperf.contract.record import Scenario
from tlsperf.published.published_tables import differences, lines_of

LEFT, RIGHT = "openssl-1", "rustls-1"
ROUNDS = [100.0, 104.0, 103.0, 101.0]
"""Their upper median is 103."""

DEFINITION = """\
run = "{run}"
published = "printed.csv"
layout = "{layout}"
estimator = "upper-median"
source = {{ title = "Elsewhere", url = "https://example.org/" }}
{errata}
[[table]]
title = "One and another"
left = "{left}"
left_label = "one"
right = "{right}"
right_label = "another"
scenarios = {scenarios}
without = ["bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384_received"]
"""


def definition(text: str = DEFINITION, **more: str) -> Definition:
    known = {"run": "2026-01-01-a", "layout": "factor", "left": LEFT, "right": RIGHT}
    known |= {"errata": "", "scenarios": '["bulk_*"]'}
    return Definition.model_validate(tomllib.loads(text.format(**known | more)))


def run_of_rates() -> MeasuredRun:
    resumed = [s for s in HANDSHAKES if s.resumption == "ticket"]
    rates = {
        name: {s: [by * rate for rate in ROUNDS] for s in (*TRANSFERS, *resumed)}
        for name, by in ((LEFT, 1.0), (RIGHT, 1.5))
    }
    return measured(loaded_run("2026-01-01-a", rates))


def rows_of(definition: Definition, run: MeasuredRun) -> list[list[str]]:
    return lines_of(definition, run)[1:]


def test_a_table_of_factors_has_the_upper_medians_of_its_scenarios_and_their_factor() -> None:
    run = run_of_rates()
    rows = rows_of(definition(), run)
    assert [row[1] for row in rows] == [
        "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256_sent",
        "bulk_1.2_ECDHE_RSA_AES128-GCM_SHA256_received",
        "bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384_sent",
    ]
    for row in rows:
        assert [row[0], *row[2:]] == [
            *("One and another", "one", "another", "103.0", "154.5", "1.50x"),
        ]
    handshakes = rows_of(definition(scenarios='["handshake-*_client"]'), run)
    assert {row[1].partition("_")[0] for row in handshakes} == {"handshake-ticket"}


def test_a_table_of_memory_has_kib_and_the_change_in_per_cent() -> None:
    of = Scenario(
        operation="memory",
        protocol="1.3",
        cipher_suite="TLS_AES_256_GCM_SHA384",
        variant="sessions-1000",
    )
    rows: list[dict[str, Any]] = [
        {
            "implementation": name,
            **of.model_dump(),
            "metric": "peak-resident",
            "unit": "bytes",
            "value": 1024.0 * kib,
        }
        for name, kib in ((LEFT, 83_300), (RIGHT, 62_475))
    ]
    run = measured(run_of_rows("2026-01-01-a", rows, [implementation(n) for n in (LEFT, RIGHT)]))
    assert rows_of(definition(layout="memory", scenarios='["*memory*"]'), run) == [
        ["TLS_AES_256_GCM_SHA384", "1.3", "1000", "83300", "62475", "-25%"],
    ]


ERRATUM = (
    '[[errata]]\nline = {}\ncolumn = "factor"\nprinted = "1.05x"\ncorrect = "1.50x"\nreason = "x"'
)


@pytest.mark.parametrize(
    ("printed", "errata", "found"),
    [
        ("1.50x", "", []),
        ("1.05x", "", ["printed.csv:2", "where the data give"]),
        ("1.05x", ERRATUM.format(2), []),
        ("1.05x", ERRATUM.format(3), ["printed.csv:3", "is not the '1.05x'"]),
    ],
)
def test_a_figure_that_the_data_do_not_give_is_named_unless_it_is_an_erratum(
    printed: str, errata: str, found: list[str], tmp_path: Path
) -> None:
    run, of = run_of_rates(), definition(errata=errata)
    lines = lines_of(of, run)
    lines[1][-1] = printed
    problems = differences(of, lines, run, tmp_path / "tables.toml")
    assert bool(problems) == bool(found)
    assert all(words in " ".join(problems) for words in found)
    assert any("lines" in problem for problem in differences(of, lines[:3], run, tmp_path / "x"))


def test_rounds_of_programs_that_ran_one_after_the_other_are_no_pairs() -> None:
    rates = {LEFT: {TRANSFERS[0]: ROUNDS * 3}, RIGHT: {TRANSFERS[0]: ROUNDS * 3}}
    run = measured(loaded_run("2026-01-01-a", rates, format_="openssl-bench/2024"))
    left, right = side_of(run, LEFT), side_of(run, RIGHT)
    [row] = compare(left, right, pairs_of(left, right))
    assert row.estimate
    assert not row.estimate.paired


# --- the command ---------------------------------------------------------------------------------


@pytest.fixture
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project)
    return project


TWO = (f"{NEW}/{RUSTLS}", f"{NEW}/{OPENSSL}")
SENDING = ("--scenario", "transfer-1-3-*-sending")


def output(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["compare", *arguments])
    assert result.exit_code == code, result.output
    return result.output


def test_the_command_prints_a_table_markdown_csv_and_json(inside: Path) -> None:
    made = {
        form: output(*TWO, *SENDING, "--format", form, code=1)
        for form in ("table", "markdown", "csv", "json")
    }
    results = json.loads((inside / "content" / "perf" / NEW / "results.json").read_bytes())
    rows = [row for row in results["tables"][0]["rows"] if row["anchor"].endswith("sending")]
    [row] = [row for row in rows if "-1-3-" in row["anchor"]]
    value = {cell["implementation"]: cell["value"] for cell in row["cells"]}
    factor = value[OPENSSL] / value[RUSTLS]
    header, line, *_ = made["table"].splitlines()
    assert header.index("factor") == line.index(f"{factor:.2f}x") + len("0.56x") - len("factor")
    head, _, shown, *_ = made["markdown"].splitlines()
    assert "|OpenSSL 3.6.1|" in head
    assert shown.startswith(f"|{row['name']}|")
    [of_csv] = csv.DictReader(made["csv"].splitlines())
    assert (of_csv["scenario"], of_csv["factor"]) == (row["name"], f"{factor:.2f}x")
    [of_json] = json.loads(made["json"])["rows"]
    assert of_json["factor"] == pytest.approx(factor, rel=1e-3)
    assert of_json["verdict"] == "slower"
    for form in ("table", "markdown"):
        near = output(*TWO, *SENDING, "--format", form, "--min-difference", "80%")
        assert "Left out" in near
        assert row["name"] in near
        assert f"{factor:.2f}x" not in near


def test_figures_of_two_hosts_have_factors_only_if_requested(inside: Path) -> None:
    two = (f"{NEW}/{OPENSSL}", f"{ARM}/{OPENSSL}", *SENDING, "--format", "csv")
    [apart] = csv.DictReader(output(*two).splitlines())
    [asked] = csv.DictReader(output(*two, "--across-hosts").splitlines())
    assert apart["factor"] == "–"
    assert asked["factor"].endswith("x")
    for more, words in (((), "--across-hosts"), (("--across-hosts",), "compare the hosts as well")):
        assert words in output(*two[:-2], *more)


def test_a_published_table_is_printed_from_the_data(inside: Path, tmp_path: Path) -> None:
    file = tmp_path / "tables.toml"
    of = {"run": NEW, "layout": "factor", "left": OPENSSL, "right": RUSTLS}
    erratum = ERRATUM.format(2)
    file.write_text(DEFINITION.format(**of, errata=erratum, scenarios='["*"]'), encoding="utf-8")
    rows = csv.DictReader(output("--tables", str(file), "--format", "csv").splitlines())
    row = {row["scenario"]: row for row in rows}["bulk_1.3_ECDHE_RSA_AES256-GCM_SHA384_sent"]
    assert row["factor"] == f"{float(row['right_median']) / float(row['left_median']):.2f}x"
    assert "prints 1.05x, which is 1.50x" in output("--tables", str(file))


@pytest.mark.parametrize(
    ("sides", "code"),
    [
        (TWO, 1),
        (TWO[::-1], 0),
        (TWO[:1] * 2, 0),
        ((TWO[0], f"{NEW}/openssl-nobody"), 2),
        ((TWO[0], OPENSSL), 2),
        ((), 2),
    ],
)
def test_the_exit_code_states_whether_a_figure_is_slower(
    sides: tuple[str, ...], code: int, inside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["tlsperf", "compare", *sides, *SENDING])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
