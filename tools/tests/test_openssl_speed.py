"""`openssl speed`, as a table and for machines: whole rows, remarks and errors."""

from __future__ import annotations

import pytest

from records import FILE, parsed, record, refusal
from tlsperf.load.formats import FOREIGN
from tlsperf.load.rows import ParsedRow, Remark

FORMAT = "openssl-speed"
ENCRYPTS = "openssl speed -aead -evp aes-256-gcm\n"
DECRYPTS = "openssl speed -aead -decrypt -evp aes-256-gcm\n"
TABLE = "`type N bytes …`, then a name and a figure in k for each size"
MACHINES = "+F:N:NAME:… with a figure for each size of +H, or +F2 to +F6 with their figures"
SIGNING = (
    "openssl speed signs a digest, RSA with PKCS #1 v1.5; "
    "tlsbench hashes a message, and RSA has PSS"
)
STEPS = "one of sign/s, signs/s, verify/s, op/s, encr./s, decr./s, keygens/s, encaps/s, decaps/s"


def bulk(line: int, variant: str, bytes_per_second: float, note: str | None = None) -> ParsedRow:
    scenario = {"operation": "primitive", "variant": variant}
    return record(line, scenario, bytes_per_second / 2**20, "MiB/s", note)


def key(line: int, variant: str, rate: float, note: str | None = None) -> ParsedRow:
    return record(line, {"operation": "primitive", "variant": variant}, rate, "operations/s", note)


def rows(text: str) -> list[ParsedRow]:
    return parsed(FORMAT, text).rows


def remarks(text: str) -> list[Remark]:
    return parsed(FORMAT, text).remarks


def test_a_table_has_a_row_for_each_cipher_and_size() -> None:
    text = (
        "type             31 bytes  16384 bytes\n"
        "AES-256-GCM     1000.50k   9000.00 \n"
        "sha3-256 (AVX)    0.25k      2.00k\n"
    )
    for command, suffix, of_hashes in (
        (ENCRYPTS, "seal", ""),
        (f"$ LD_LIBRARY_PATH=. A= ./apps/{ENCRYPTS}", "seal", ""),
        (DECRYPTS, "open", "-decrypt"),
    ):
        found = parsed(FORMAT, command + text)
        assert found.rows == [
            bulk(3, f"aes-256-gcm-{suffix}-31", 1000500),
            bulk(3, f"aes-256-gcm-{suffix}-16384", 9000),
            bulk(4, f"sha3-256-avx{of_hashes}-31", 250),
            bulk(4, f"sha3-256-avx{of_hashes}-16384", 2000),
        ]
        assert found.remarks == []


def test_lines_for_machines_are_the_same_ciphers() -> None:
    text = "+DT:AES:1:2\n+R:5:AES:0.2\n+H:31:16384\n+F:25:AES-128-GCM:76461663.16:12.50\n"
    assert rows(ENCRYPTS + text) == [
        bulk(5, "aes-128-gcm-seal-31", 76461663.16),
        bulk(5, "aes-128-gcm-seal-16384", 12.5),
    ]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "the file has no command: figures are taken to be of encryption, the default"),
        (
            "openssl speed -evp x\n",
            "measured without -aead: operations have no nonce and no tag of their own",
        ),
        (
            "openssl speed\n",
            "measured without -aead: operations have no nonce and no tag of their own",
        ),
    ],
)
def test_the_warning_about_sealing_is_given_once(command: str, message: str) -> None:
    text = f"{command}type   2 bytes\nmd5 1.00k\nChaCha20-Poly1305 1.00k\nAES-128-GCM 1.00k\n"
    line = 4 if command else 3
    assert remarks(text) == [Remark(FILE, line, message, "method")]


def test_the_warning_about_a_machine_readable_line_has_its_number() -> None:
    [remark] = remarks("+H:2\n+F:25:AES-256-GCM:5.00\n")
    assert (remark.line, remark.code) == (2, "method")


def test_work_of_two_kinds_has_two_remarks() -> None:
    text = "type   2 bytes\nAES-128-GCM 1.00k\nsign/s\n"
    text = text.replace("sign/s", "  sign    sign/s\nrsa 2048 bits 0.1s   3200.0")
    found = remarks(text)
    assert [(remark.line, remark.code) for remark in found] == [(2, "method"), (4, "method")]
    assert found[1].message == SIGNING


PRINTED = [
    ("rsa 2048 bits", "rsa-2048"),
    ("rsa  4096 bit", "rsa-4096"),
    ("dsa 1024 bits", "dsa-1024"),
    ("256 bits ecdsa (nistp256)", "ecdsa-p256"),
    ("521 bits ecdh (nistp521)", "secp521r1"),
    ("253 bits ecdh (X25519)", "x25519"),
    ("256 bits ecdsa (brainpoolP256r1)", "brainpoolp256r1"),
    ("456 bits EdDSA (Ed448)", "ed448"),
    ("256 bits CurveSM2 (CurveSM2)", "curvesm2"),
    ("3072 bits ffdh", "ffdh-3072"),
    ("ML-DSA-44 (of 2024)", "ml-dsa-44-of-2024"),
]


@pytest.mark.parametrize(("printed", "name"), PRINTED)
def test_a_key_is_named_in_our_words(printed: str, name: str) -> None:
    text = f"    op      op/s\n{printed} 0.0011s    900.1\n"
    assert rows(text) == [key(2, f"{name}-agree", 900.1)]
    assert remarks(text) == []


@pytest.mark.parametrize(
    ("header", "steps"),
    [
        ("sign verify sign/s verify/s", ["sign", "verify"]),
        ("sign verify signs/s verify/s", ["sign", "verify"]),
        (
            "sign verify encrypt decrypt sign/s verify/s encr./s decr./s",
            ["sign", "verify", "encrypt", "decrypt"],
        ),
        (
            "keygen encaps decaps keygens/s encaps/s decaps/s",
            ["generate", "encapsulate", "decapsulate"],
        ),
        ("op op/s", ["agree"]),
    ],
)
def test_a_key_has_a_row_for_each_step(header: str, steps: list[str]) -> None:
    numbers = range(1, len(steps) + 1)
    times = " ".join(f"{number}.5s" for number in numbers)
    rates = " ".join(f"{number}.0" for number in numbers)
    text = f"  {header}\nrsa 2048 bits {times} {rates}\n"
    assert rows(text) == [
        key(2, f"rsa-2048-{step}", number) for step, number in zip(steps, numbers, strict=True)
    ]
    signs = {"sign", "verify"} & set(steps)
    assert remarks(text) == ([Remark(FILE, 2, SIGNING, "method")] if signs else [])


def test_verifying_also_has_the_warning_about_signatures() -> None:
    assert remarks("  verify verify/s\nrsa 2048 bits 1.5s 2.0\n") == [
        Remark(FILE, 2, SIGNING, "method")
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "+F2:0:1024:8.0:7.0:6.0:5.0",
            [
                ("rsa-1024-sign", 8),
                ("rsa-1024-verify", 7),
                ("rsa-1024-encrypt", 6),
                ("rsa-1024-decrypt", 5),
            ],
        ),
        ("+F3:1:2048:8.0:7.0", [("dsa-2048-sign", 8), ("dsa-2048-verify", 7)]),
        ("+F4:3:256:8.0:7.0", [("ecdsa-p256-sign", 8), ("ecdsa-p256-verify", 7)]),
        ("+F4:4:384:8.0:7.0", [("ecdsa-p384-sign", 8), ("ecdsa-p384-verify", 7)]),
        ("+F4:9:256:8.0:7.0", [("ecdsa-curve-9-256-sign", 8), ("ecdsa-curve-9-256-verify", 7)]),
        ("+F5:5:521:8.0", [("secp521r1-agree", 8)]),
        ("+F5:22:253:8.0", [("x25519-agree", 8)]),
        ("+F5:23:448:8.0", [("x448-agree", 8)]),
        ("+F5:9:256:8.0", [("ecdh-9-256-agree", 8)]),
        ("+F6:0:253:Ed25519:8.0:7.0", [("ed25519-sign", 8), ("ed25519-verify", 7)]),
        ("+F2:2:2048:8.0:7.0", [("rsa-2048-sign", 8), ("rsa-2048-verify", 7)]),
        ("+F5:22:253:1.0", [("x25519-agree", 1)]),
        ("+F5:22:253:1.5", [("x25519-agree", 1.5)]),
        ("+F5:22:253:0.5", [("x25519-agree", 2)]),
    ],
)
def test_lines_for_machines_are_the_same_keys(line: str, expected: list[tuple[str, float]]) -> None:
    assert rows(f"{line}\n") == [key(1, variant, rate) for variant, rate in expected]


@pytest.mark.parametrize(
    "line",
    [
        "+F:25:AES-256-GCM:1.0",
        "+F:25:AES-256-GCM:1.0:2.0:3.0",
        "+F:25:AES-256-GCM:1.0:fast",
        "+F7:1:256:1.0:2.0",
        "+F4:1:256:fast:2.0",
        "+F4:1",
        "+F5:22:253:0.0",
        "+F6:0:253",
        "+F" + "9" * 300,
    ],
)
def test_a_wrong_line_for_machines_is_named(line: str) -> None:
    said = f":3: found {line[:200]!r}, expected {MACHINES}"
    assert refusal(FORMAT, f"+H:31:16384\n+F5:22:253:1.0\n{line}\n") == said


@pytest.mark.parametrize("line", ["+F:25:AES-256-GCM", "+F:25:AES-256-GCM:1.0"])
def test_a_cipher_for_machines_needs_its_sizes(line: str) -> None:
    assert refusal(FORMAT, f"{line}\n") == f":1: found {line!r}, expected {MACHINES}"


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        ("type 2 bytes 31 bytes\nmd5 1.00k\n", 2, "'md5 1.00k'", TABLE),
        ("type 2 bytes\nmd5 1.00k 2.00k\n", 2, "'md5 1.00k 2.00k'", TABLE),
        ("md5 1.00k\n", 1, "'md5 1.00k'", TABLE),
        ("type 2 bytes\n" + "x" * 300 + "\n", 2, repr("x" * 200), TABLE),
        (
            "sign sign/s\nrsa 2048 bits 1.5s 2.0 3.0\n",
            2,
            "'rsa 2048 bits 1.5s 2.0 3.0'",
            "times and rates of sign/s",
        ),
        (
            "sign verify sign/s verify/s\nrsa 2048 bits 1.5s 2.0 3.0\n",
            2,
            "'rsa 2048 bits 1.5s 2.0 3.0'",
            "times and rates of sign/s, verify/s",
        ),
        (
            f"{'x' * 300} 1.5s 2.0\n",
            1,
            repr("x" * 200),
            "times and rates of a header with sign/s",
        ),
        ("sign sign/s prove/s\n", 1, "prove/s", STEPS),
        ("prove prove/s deny/s\n", 1, "prove/s", STEPS),
    ],
)
def test_a_wrong_line_of_a_table_is_named(text: str, line: int, found: str, expected: str) -> None:
    assert refusal(FORMAT, text) == f":{line}: found {found}, expected {expected}"


@pytest.mark.parametrize(
    ("lines", "count"),
    [
        ("type 2 bytes\nmd5 1.00k", 1),
        ("type 2 bytes\nmd5 1.00 ", 1),
        ("type 2 bytes\nmd5 1.00", 0),
        ("type 2 bytes\nmd5 1.0", 0),
        ("sign sign/s\nrsa 2048 bits 1.5s 2.0", 1),
        ("+H:2\n+F:1:md5:1.00", 1),
        ("+H:2\n+F:1:md5:1.0", 0),
        ("+F5:22:253:1.000000", 1),
        ("+F5:22:253:1.00000", 0),
    ],
)
def test_a_last_line_that_may_be_cut_is_no_figure(lines: str, count: int) -> None:
    found = parsed(FORMAT, lines)
    assert len(found.rows) == count
    last = lines.split("\n")[-1]
    message = f"the output was interrupted at {last!r}"
    cut = [Remark(FILE, lines.count("\n") + 1, message)]
    assert [remark for remark in found.remarks if remark.code != "method"] == cut * (1 - count)


def test_a_figure_that_is_there_again_does_not_count() -> None:
    text = "type 2 bytes\nmd5 1.00k\nmd5 2.00k\nmd5 3.00k\n"
    note = "repeats line 2; one file must hold one round"
    assert rows(text) == [
        bulk(2, "md5-2", 1000),
        bulk(3, "md5-2-line-3", 2000, note),
        bulk(4, "md5-2-line-4", 3000, note),
    ]


def test_what_else_openssl_prints_is_no_figure() -> None:
    text = (
        "Doing md5 for 3s on 16 size blocks: 434715 md5's in 3.00s\n"
        "Doing md5 ops for 3s on 16 size blocks: 434715 md5 ops in 3.00s\n"
        "You have chosen to measure elapsed time instead of user CPU time.\n"
        "OpenSSL 1.1.1w  11 Sep 2023\n"
        "version: 3.0.19\nbuilt on: today\noptions: bn(64,64)\ncompiler: gcc\nCPUINFO: none\n"
        "The 'numbers' are in 1000s of bytes per second processed.\n"
        "type 16 bytes\nmd5 1.00k\n"
    )
    assert rows(text) == [bulk(12, "md5-16", 1000)]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("version: 3.0\ntype   2 bytes\n", True),
        ("+H:31\n", True),
        ("+F2:2:2048:1.0\n", True),
        ("   sign    verify    sign/s verify/s\n", True),
        ("   op    op/s\n", True),
        ("   keygen encaps decaps keygens/s encaps/s decaps/s\n", True),
        ("sign verify sign/s\n", False),
        ("the type 2 bytes\n", False),
    ],
)
def test_a_file_is_known_by_its_headers(text: str, is_one: bool) -> None:
    assert FOREIGN[FORMAT].detects(text, "x") is is_one
    libraries = FOREIGN[FORMAT].libraries
    assert libraries
    assert libraries(text) == {"openssl", "libressl"}
