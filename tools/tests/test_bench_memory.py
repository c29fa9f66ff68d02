"""Peak memory of a process as /usr/bin/time prints it, and whose output a file is."""

from __future__ import annotations

import pytest

from records import parsed, record
from tlsperf.load.formats import FOREIGN

COMMAND = "env /usr/bin/time -f %M ./bench memory {} 1000\n"
FORMAT = FOREIGN["bench-memory"]


@pytest.mark.parametrize(
    ("suite", "protocol", "iana"),
    [
        ("TLS_AES_256_GCM_SHA384", "1.3", "TLS_AES_256_GCM_SHA384"),
        ("TLS13_AES_256_GCM_SHA384", "1.3", "TLS_AES_256_GCM_SHA384"),
        ("ECDHE-RSA-AES128-GCM-SHA256", "1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
        (
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
            "1.2",
            "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        ),
    ],
)
def test_the_kibibytes_of_a_command_are_bytes(suite: str, protocol: str, iana: str) -> None:
    found = parsed("bench-memory", COMMAND.format(suite) + "76712\n")
    scenario = {
        "operation": "memory",
        "protocol": protocol,
        "cipher_suite": iana,
        "variant": "sessions-1000",
    }
    assert found.rows == [record(2, scenario, 76712 * 1024.0, "bytes", metric="peak-resident")]
    assert found.remarks == []


@pytest.mark.parametrize(
    ("suite", "libraries"),
    [
        ("TLS_AES_256_GCM_SHA384", {"openssl", "boringssl", "aws-lc", "libressl"}),
        ("ECDHE-RSA-AES128-GCM-SHA256", {"openssl", "boringssl", "aws-lc", "libressl"}),
        ("TLS13_AES_256_GCM_SHA384", {"rustls"}),
        ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", {"rustls"}),
    ],
)
def test_the_name_of_a_cipher_suite_says_whose_tool_it_is(suite: str, libraries: set[str]) -> None:
    assert FORMAT.libraries
    assert FORMAT.libraries(f"make memory\n{COMMAND.format(suite)}76712\n") == libraries


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (COMMAND.format("TLS_AES_256_GCM_SHA384"), True),
        ("make\n" + COMMAND.format("ECDHE-RSA-AES128-GCM-SHA256"), True),
        ("./bench --key-type rsa2048 memory TLS13_AES_256_GCM_SHA384 9\n", True),
        ("./bench bulk TLS_AES_256_GCM_SHA384\n", False),
        (COMMAND.format("TLS_AES_256_GCM_SHA384") + "send: 6512.01 MB/s\n", False),
    ],
)
def test_a_file_is_known_by_a_command_without_rates(text: str, is_one: bool) -> None:
    assert FORMAT.detects(text, "output_1") is is_one
