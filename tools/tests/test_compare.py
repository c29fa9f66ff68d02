"""The comparison of two implementations, and the published tables of December 2023 made again."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tlsperf.analysis.compare import compare, find_side, left_out, matching, pairs_of, text
from tlsperf.analysis.series import MeasuredRun, measured, row_names
from tlsperf.cli import app, main
from tlsperf.contract.errors import UserError
from tlsperf.load.comparisons import read_definition, read_printed
from tlsperf.load.run import load_run
from tlsperf.published.published_tables import differences, lines_of

DATA = Path(__file__).parents[2] / "data"
RUNS = DATA / "runs"
TABLES = DATA / "comparisons" / "2023-12-13-tables.toml"
MEMORY = DATA / "comparisons" / "2023-12-13-memory.toml"


@pytest.fixture(scope="module")
def december() -> MeasuredRun:
    return measured(load_run(RUNS / "2023-12-13-configurations"))


def printed(name: str) -> list[list[str]]:
    text = (DATA / "comparisons" / name).read_text(encoding="utf-8")
    return list(csv.reader(text.splitlines()))


def test_all_75_published_rows_are_reproduced(december: MeasuredRun) -> None:
    published = printed("2023-12-13-published-tables.csv")
    assert len(published) == 76
    assert len({line[0] for line in published[1:]}) == 6
    assert lines_of(read_definition(TABLES), december) == published


def test_the_memory_table_is_reproduced_except_for_the_error_of_the_source(
    december: MeasuredRun,
) -> None:
    definition = read_definition(MEMORY)
    published = printed("2023-12-13-published-memory.csv")
    computed = lines_of(definition, december)
    assert len(published) == 9
    differing = [
        (line, column, published[line][column], computed[line][column])
        for line in range(len(published))
        for column in range(len(published[0]))
        if published[line][column] != computed[line][column]
    ]
    assert differing == [(5, 5, "-0.26", "-26%")]
    (erratum,) = definition.errata
    assert (erratum.line, erratum.column) == (6, "change")
    assert (erratum.printed, erratum.correct) == ("-0.26", "-26%")
    assert differences(definition, read_printed(MEMORY, definition), december, MEMORY) == []


def test_a_wrong_erratum_is_reported_as_a_difference(december: MeasuredRun, tmp_path: Path) -> None:
    for path in (MEMORY, MEMORY.with_name("2023-12-13-published-memory.csv")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    copy = tmp_path / MEMORY.name
    copy.write_text(copy.read_text().replace('column = "change"', 'column = "protocol"'))
    definition = read_definition(copy)
    found = differences(definition, read_printed(copy, definition), december, copy)
    assert any("'1.3' is not the '-0.26'" in problem for problem in found)
    assert any("where the data give" in problem for problem in found)


def test_session_ids_of_openssl_32_in_tls13_are_invalid_with_a_reason(
    december: MeasuredRun,
) -> None:
    frame = december.loaded.frame
    chosen = frame[
        frame["implementation"].isin(["openssl-3.2.0-gcc", "openssl-3.2.0-clang"])
        & (frame["protocol"] == "1.3")
        & (frame["resumption"] == "session-id")
    ]
    assert len(chosen) == 2 * 2 * 30
    assert not chosen["valid"].any()
    assert set(chosen["note"]) == {"12,289 of 32,768 handshakes were full ones"}
    assert frame.drop(chosen.index)["valid"].all()


def test_no_ratio_uses_an_invalid_figure_unless_requested() -> None:
    left = find_side("openssl-3.2.0-gcc", RUNS)
    right = find_side("rustls-0.22.0-aws-lc-rs-gcc-jemalloc", RUNS)
    chosen = matching(pairs_of(left, right), "TLS 1.3 resumed handshake, session id, client")
    (row,) = compare(left, right, chosen, "upper-median")
    assert (row.left, row.right, row.factor, row.verdict) == (3415.35, 11272.98, None, "–")
    assert row.note is not None
    assert "30 of 30 invalid, 12,289 of 32,768 handshakes were full ones" in row.note
    (row,) = compare(left, right, chosen, "upper-median", include_invalid=True)
    assert row.factor == pytest.approx(3.30, abs=0.005)
    assert row.note is not None


def test_jemalloc_has_a_verdict_and_foreign_rounds_are_no_pairs() -> None:
    left = find_side("rustls-0.22.0-aws-lc-rs-gcc-malloc", RUNS)
    right = find_side("2023-12-13-configurations/rustls-0.22.0-aws-lc-rs-gcc-jemalloc", RUNS)
    chosen = matching(pairs_of(left, right), "transfer-1-2-aes-128-gcm-*")
    rows = compare(left, right, chosen)
    assert [row.name for row in rows] == [
        "TLS 1.2 transfer, AES-128-GCM, sending",
        "TLS 1.2 transfer, AES-128-GCM, receiving",
    ]
    assert [row.estimate and row.estimate.verdict for row in rows] == [
        "faster",
        "no difference shown",
    ], "unpaired, so the second is within the drift between sessions"
    assert [row.estimate and row.estimate.paired for row in rows] == [False, False]
    best = compare(left, right, chosen, "best")
    assert all(b.left >= row.left for b, row in zip(best, rows, strict=True))


def test_single_figures_have_a_factor_and_no_verdict() -> None:
    left = find_side("2024-10-18-x86-64/rustls-0.23.15-aws-lc-rs", RUNS)
    right = find_side("rustls-0.23.31-aws-lc-rs", RUNS)
    rows = compare(left, right, pairs_of(left, right))
    assert len(rows) == 16
    assert {row.verdict for row in rows} == {"not tested: single figures, without rounds to test"}
    by_name = {row.name: row for row in rows}
    assert by_name["TLS 1.3 full handshake, RSA-2048, client"].factor == pytest.approx(
        4187.28 / 6803.93
    )


def test_every_row_that_is_left_out_is_named_with_the_reason() -> None:
    left = find_side("2026-11-21-providers-vm/rustls-0.23.46-ring", RUNS)
    right = find_side("2026-11-21-standard-vm/rustls-0.23.46-aws-lc-rs", RUNS)
    pairs = pairs_of(left, right)
    without = left_out(left, right, pairs)
    shown = {pair.anchor for pair in pairs} | {row.anchor for row in without}
    for side in (left, right):
        rows = [*side.rows, *side.parts]
        assert {anchor for _, anchor in row_names(rows).values()} <= shown
    why = {row.anchor: row.why for row in without}
    assert why["full-handshake-1-3-rsa-2048-x25519-client"] == (
        "rustls 0.23.46 (aws-lc-rs) has no figure of it"
    )
    assert why["full-handshake-1-3-rsa-2048-x25519mlkem768-client"] == (
        "rustls 0.23.46 (ring): ring has no X25519MLKEM768"
    )
    assert why["full-handshake-1-2-rsa-2048-x25519-client-flight-1"] == (
        "each a phase of another row"
    )
    assert not {row.why for row in without} - set(why.values())
    left_out_texts = [
        text(left, right, compare(left, right, pairs), format_, without)
        for format_ in ("markdown", "csv", "json")
    ]
    markdown, table, document = left_out_texts
    assert (
        "\nLeft out, rustls 0.23.46 (ring): ring has no X25519MLKEM768:\n\n"
        "- TLS 1.3 full handshake, RSA-2048, X25519MLKEM768, client (handshakes/s)\n"
    ) in markdown
    assert (
        "- TLS 1.2 resumed handshake, ticket, client (µs): construction, flight 1, flight 2\n"
    ) in markdown
    absent = [row for row in csv.DictReader(table.splitlines()) if "left out: " in row["note"]]
    assert {row["factor"] for row in absent} == {"–"}
    assert len(absent) == len(json.loads(document)["left_out"]) == len(without)


def test_who_is_meant_must_be_clear() -> None:
    with pytest.raises(UserError, match=r"2024-10-18-x86-64/openssl-3\.3\.2, 2024-10-31-arm64/"):
        find_side("openssl-3.3.2", RUNS)
    with pytest.raises(UserError, match=r"expected .*openssl-3\.2\.0-gcc"):
        find_side("2023-12-13-configurations/openssl-3.2.0", RUNS)


def test_the_command_prints_markdown_csv_and_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA.parent)
    two = ["compare", "openssl-3.2.0-gcc", "openssl-3.2.0-clang", "--scenario", "chacha*sending"]

    def output(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == code, result.output
        return result.output

    markdown = output(*two, "--format", "markdown", code=1)
    assert markdown.startswith("|Scenario|Unit|OpenSSL 3.2.0 (gcc)|OpenSSL 3.2.0 (clang)|Factor|")
    assert "|TLS 1.2 transfer, CHACHA20-POLY1305, sending|MiB/s|" in markdown
    assert "\nVerdicts are unpaired: " in markdown
    header, line, _ = output(*two, code=1).splitlines()
    assert header.index("factor") == line.index("0.56x") + len("0.56x") - len("factor")
    (row,) = csv.DictReader(output(*two, "--format", "csv", code=1).splitlines())
    assert row["factor"] == "0.56x"
    for form in ("table", "markdown"):
        near = output(*two, "--format", form, "--min-difference", "80%")
        assert "Left out, their figures differ by less than 80%:\n\n- TLS 1.2 transfer, CHA" in near
        assert "0.56x" not in near
    (item,) = json.loads(output(*two, "--format", "json", code=1))["rows"]
    assert item["verdict"] == "slower"
    other_host = ["compare", "2024-10-18-x86-64/openssl-3.3.2", "2024-10-31-arm64/openssl-3.3.2"]
    hosts = "Measured on different hosts (xeon-e-2386g and ampere-altra-q80-30): "
    apart = output(*other_host)
    rule = "no factor and no verdict; --across-hosts prints them."
    assert f"{hosts}{rule}\n" in apart
    lines = csv.DictReader(output(*other_host, "--format", "csv").splitlines())
    assert {line["factor"] for line in lines} == {"–"}
    asked = output(*other_host, "--across-hosts")
    assert f"{hosts}factors compare the hosts as well.\n" in asked
    assert "not tested" in asked
    tables = ["compare", "--tables", str(TABLES), "--format", "csv"]
    expected = (DATA / "comparisons" / "2023-12-13-published-tables.csv").read_text()
    assert output(*tables) == expected
    assert "prints -0.26, which is -26%" in output("compare", "--tables", str(MEMORY))


def test_the_exit_code_states_whether_a_figure_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA.parent)
    row = ("--scenario", "chacha*sending")
    for sides, code in (
        (("openssl-3.2.0-gcc", "openssl-3.2.0-clang"), 1),
        (("openssl-3.2.0-clang", "openssl-3.2.0-gcc"), 0),
        (("openssl-3.2.0-gcc", "openssl-3.2.0-gcc"), 0),
        (("openssl-3.2.0-gcc", "openssl-3.2.0-nobody"), 2),
        ((), 2),
    ):
        for form in ("table", "json"):
            arguments = ["tlsperf", "compare", *sides, *row, "--format", form]
            monkeypatch.setattr(sys, "argv", arguments)
            with pytest.raises(SystemExit) as ended:
                main()
            assert ended.value.code == code, arguments
