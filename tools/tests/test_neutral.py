"""What neutral.md says of figures, and that neutral.toml names what there is."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import neutral
import neutral_tools
from tlsperf.contract.errors import UserError
from tlsperf.contract.record import Scenario
from tlsperf.load.formats import FOREIGN

SEAL = Scenario(operation="primitive", variant="aes-256-gcm-seal-16384")
CLIENT = Scenario(operation="handshake", side="client")
WORKS = tomllib.loads(Path(neutral.__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def result(ours: list[float], theirs: list[float], differs: str = "") -> neutral.Result:
    row = neutral.Row(SEAL, {}, None)
    return neutral.Result("openssl-3.6.3", "openssl speed", row, differs, ours, theirs)


@pytest.mark.parametrize(
    ("ours", "within"), [(91.0, True), (109.0, True), (90.0, False), (111.0, False)]
)
def test_a_ratio_is_within_ten_percent_or_not(ours: float, within: bool) -> None:
    assert (result([ours] * 5, [100.0] * 5).verdict == "yes") is within


def test_one_disturbed_round_does_not_decide() -> None:
    assert result([100, 100, 10], [100, 100, 100]).verdict == "yes"


def test_a_ratio_that_is_not_within_has_its_reason_or_says_that_none_is_known() -> None:
    assert "another clock" in result([50], [100], "another clock").verdict
    assert "not explained" in result([50], [100]).verdict
    assert "another clock" not in result([100], [100], "another clock").verdict


def test_a_line_has_the_ratio_of_rounds_and_its_spread() -> None:
    # The machine is half as fast in the third round: each ratio is of one round.
    line = neutral.table([result([100, 110, 60], [100, 100, 50])])[-1]
    assert "1.10 (1.00 to 1.20)" in line
    assert "aes-256-gcm-seal-16384" in line


def test_a_handshake_says_which_side_it_is_of() -> None:
    both = Scenario(operation="handshake", protocol="1.3")
    lines = neutral.table(
        [result([1], [1])._replace(row=neutral.Row(both, {}, side)) for side in ("client", None)]
    )
    assert "client" in lines[-2]
    assert "both sides" in lines[-1]


def test_a_command_with_a_bar_stays_in_its_cell() -> None:
    line = neutral.table([result([1], [1])._replace(command="bench 'a|b'")])[-1]
    assert line.replace("\\|", "").count("|") == 8


def test_a_figure_that_a_tool_did_not_print_is_an_error() -> None:
    with pytest.raises(UserError, match="openssl speed: found 0 figures"):
        neutral.only_rate({CLIENT: 1.0}, {"side": "server"}, "openssl speed")


def test_figures_of_several_threads_are_not_taken() -> None:
    rates = {SEAL: 5.0, SEAL.model_copy(update={"threads": 2}): 9.0}
    assert neutral.only_rate(rates, {"variant": "aes-256-gcm-seal-16384"}, "bssl_bench") == 5


def test_connections_of_a_user_second_are_read_from_s_time() -> None:
    text = "***\n\n1234 connections in 0.50s; 2468.00 connections/user sec, bytes read 0\n"
    assert neutral.of_s_time(text) == {CLIENT: 2468}
    assert neutral.of_s_time("ERROR\n") == {}


def test_the_mean_time_of_the_client_is_read_from_tls_bench() -> None:
    text = (
        "Side    Cipher  Group  Total Bytes  Num Conns  Rx ms  Tx ms  Rx MiB/s  Tx MiB/s"
        "  Connect Total ms  Connect Avg ms\n"
        "Server  ECDHE-RSA-AES256-GCM-SHA384  N/A  1  9  1.000  1.000  1.000  1.000  1.000  9.000\n"
        "Client  ECDHE-RSA-AES256-GCM-SHA384  N/A  1  9  1.000  1.000  1.000  1.000  1.000  0.500\n"
    )
    assert list(neutral.of_tls_bench(text).values()) == [2000]


@pytest.mark.parametrize(
    "tool", WORKS["tools"], ids=lambda it: f"{it['build']}-{it['programs'][0]}"
)
def test_a_tool_names_what_there_is(tool: dict[str, Any]) -> None:
    assert tool["build"] in neutral_tools.BUILDS
    assert tool["reads"] in {*FOREIGN, *neutral.OTHERS}
    for run in tool["runs"]:
        for row in run["rows"]:
            assert neutral.row_of(row, WORKS["handshakes"]).theirs
