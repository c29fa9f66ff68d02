"""The data of the page Compare: all pairs of all parts, and the newest of them."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from project import NEW, OPENSSL, RUSTLS, results_of
from tlsperf.contract.compared import (
    ComparedFigures,
    ComparedImplementation,
    ComparedPart,
    ComparedRow,
    ComparedRun,
    Pair,
)
from tlsperf.contract.names import scenario_path
from tlsperf.contract.record import Scenario
from tlsperf.publish.compare_page import in_order, newest_json, over, read_parts, short_json


def figures(texts: list[str], pairs: list[Pair], anchor: str = "row") -> ComparedFigures:
    row = ComparedRow(
        anchor=anchor,
        unit="handshakes/s",
        better="higher",
        name=anchor,
        kind="Full handshakes",
        group="speed",
        path="full/1.3/x",
    )
    return ComparedFigures(row=row, runs=[0], texts=texts, pairs=pairs)


def part(
    day: str, builds: list[str], *rows: ComparedFigures, host: str = "here", main: bool = False
) -> ComparedPart:
    """A part whose builds are `<library>-<version>`."""
    return ComparedPart(
        id=day,
        page=day,
        folder=f"perf/{day}",
        title=day,
        date=date.fromisoformat(day),
        main=main,
        host=host,
        host_name=host.title(),
        implementations=[
            ComparedImplementation(id=b, label=b, library=b.partition("-")[0], plain=True)
            for b in builds
        ],
        runs=[ComparedRun(id=day, command="tlsbench run", files=[("raw/records.jsonl", "")])],
        rows=list(rows),
    )


OLD = part("2026-01-01", ["openssl-1", "rustls-1", "boringssl-1"], figures(["10", "20", "30"], [
    (2.0, 1.9, 2.1), (3.0, 2.9, 3.1), (1.5, 1.4, 1.6),
]))  # fmt: skip
NEWER = part("2026-02-01", ["openssl-1", "rustls-1"], figures(["10", "22"], [(2.2, 2.1, 2.3)]))


def newest(*parts: ComparedPart) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(newest_json(in_order(parts)))
    return found


def test_each_pair_is_that_of_the_newest_part_of_its_host() -> None:
    found = newest(OLD, NEWER)
    assert [of["id"] for of in found["parts"]] == [NEWER.id, OLD.id]
    (new,), (old,) = (of["rows"] for of in found["parts"])
    assert new == [0, [0], ["10", "22"], [[2.2, 2.1, 2.3]]]
    assert old == [0, [0], ["10", "20", "30"], [None, [3.0, 2.9, 3.1], [1.5, 1.4, 1.6]]]
    assert found["older"] == {"0": [1]}


def test_a_host_never_replaces_another() -> None:
    there = part("2026-02-01", ["openssl-1", "rustls-1"], NEWER.rows[0], host="there")
    found = newest(OLD, there)
    assert [len(of["rows"]) for of in found["parts"]] == [1, 1]
    assert found["older"] == {}


def test_of_two_parts_of_a_day_the_main_series_counts() -> None:
    main = part("2026-02-01", ["openssl-1", "rustls-1"], NEWER.rows[0], main=True)
    other = NEWER.model_copy(update={"id": "2026-02-01-other"})
    assert [of["id"] for of in newest(other, main)["parts"]] == [main.id, other.id]


def test_the_build_with_the_most_rows_stands_for_its_library() -> None:
    more = part("2026-03-01", ["openssl-1", "rustls-2"], figures(["1", "2"], [2.0], "other"))
    found = newest(OLD, NEWER, more, part("2025-01-01", ["openssl-1", "rustls-1"], *more.rows))
    defaults = {
        library: found["implementations"][at][0] for library, at in found["defaults"].items()
    }
    assert defaults == {"rustls": "rustls-1", "openssl": "openssl-1", "boringssl": "boringssl-1"}


def test_a_pair_turns_round_with_its_interval() -> None:
    of = figures(["1", "2", "3"], [(2.0, 1.6, 2.5), 4.0, (1.0, 0.8, 1.25, "25%")])
    assert over(of, 1, 0) == (2.0, 1.6, 2.5)
    assert over(of, 0, 1) == (0.5, 0.4, 0.625)
    assert (over(of, 2, 0), over(of, 0, 2)) == (4.0, 0.25)
    assert over(of, 1, 2) == (1.0, 0.8, 1.25, "25%")
    assert over(figures(["1", "2"], []), 0, 1) is None


def test_the_short_table_is_of_two_libraries_or_else_of_two_builds() -> None:
    short = json.loads(short_json(in_order([OLD, NEWER])))
    assert short["labels"] == ["rustls-1", "openssl-1"]
    assert short["rows"] == [["row", "handshakes/s", "▲ 2.20× (2.10 to 2.30)", "22", "10"]]
    alone = part("2026-01-01", ["rustls-1", "rustls-2"], NEWER.rows[0])
    assert json.loads(short_json([alone]))["labels"] == ["rustls-1", "rustls-2"]
    assert json.loads(short_json([])) == {"rows": []}


def test_every_pair_of_a_report_to_its_baseline_is_that_of_its_table(project: Path) -> None:
    results = results_of(project, NEW)
    (of,) = read_parts(project / "content" / "perf" / NEW / "compare.json")
    ids = [i.id for i in of.implementations]
    assert ids[0] == results["baseline"] == OPENSSL
    rows = {(row.row.anchor, row.row.unit): row for row in of.rows}
    compared = 0
    for table in results["tables"]:
        for row in [] if table["by_phase"] else table["rows"]:
            found = rows[row["anchor"], table["unit"]]
            for cell in row["cells"]:
                if cell["implementation"] == RUSTLS and "ratio" in cell:
                    pair = over(found, ids.index(RUSTLS), 0)
                    value = pair[0] if isinstance(pair, tuple) else pair
                    assert value == pytest.approx(cell["ratio"]["value"], rel=1e-3)
                    assert found.texts[ids.index(RUSTLS)] == cell["text"]
                    compared += 1
    assert compared


@pytest.mark.parametrize(
    ("scenario", "path"),
    [
        (
            {
                **{"operation": "handshake", "protocol": "1.3", "certificate": "rsa-2048"},
                **{"key_exchange": "X25519", "resumption": "none", "side": "server"},
            },
            "full/1.3/rsa-2048-x25519",
        ),
        (
            {"operation": "handshake", "protocol": "1.2", "resumption": "ticket"},
            "resumed/1.2/ticket",
        ),
        ({"operation": "primitive", "variant": "rsa-2048-sign"}, "primitive/rsa-2048-sign"),
        (
            {"operation": "client-hello", "protocol": "1.3", "variant": "X25519MLKEM768+X25519"},
            "client-hello/1.3/x25519mlkem768-x25519",
        ),
        (
            {
                **{"operation": "quic-packet", "cipher_suite": "TLS_AES_128_GCM_SHA256"},
                **{"size": 1200, "side": "sender"},
            },
            "quic-packet/aes-128-gcm-1200-b",
        ),
    ],
)
def test_a_scenario_has_the_path_by_which_tlsbench_selects_it(
    scenario: dict[str, Any], path: str
) -> None:
    assert scenario_path(Scenario.model_validate(scenario)) == path
