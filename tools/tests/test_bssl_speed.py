"""Lines of `bssl speed`: names, repeats, and lines whose numbers disagree."""

from __future__ import annotations

import pytest

from grammars import Document
from records import FILE, parsed, record, refusal
from tlsperf.contract.errors import FormatError
from tlsperf.load.formats.bssl_speed import primitive_name
from tlsperf.load.rows import ParsedRow, Remark


def rows(*lines: str) -> list[ParsedRow]:
    return Document("bssl-speed", "".join(f"{line}\n" for line in lines), "out").parsed().rows


def line(
    what: str = "AES-256-GCM (1000 bytes) seal",
    count: int = 2000,
    microseconds: int = 1_000_000,
    rate: str = "2000.0",
    megabytes: str | None = "2.0",
) -> str:
    bulk = f": {megabytes} MB/s" if megabytes else ""
    return f"Did {count} {what} operations in {microseconds}us ({rate} ops/sec){bulk}"


@pytest.mark.parametrize(
    ("printed", "name"),
    [
        ("EVP-AES-256-GCM encrypt (16384 bytes)", "aes-256-gcm-seal-16384"),
        ("AEAD-ChaCha20-Poly1305 decrypt (16 bytes)", "chacha20-poly1305-open-16"),
        ("RSA 2048 encrypt", "rsa-2048-encrypt"),
        ("ML-KEM-768 decap + poly1305", "ml-kem-768-decap-poly1305"),
        ("hmac (sha_256)", "hmac-sha-256"),
        ("TLS 1.3 (X25519)", "tls-1.3-x25519"),
    ],
)
def test_a_primitive_is_named_in_our_words(printed: str, name: str) -> None:
    assert primitive_name(printed) == name


def test_the_same_cipher_through_another_api_has_the_name_that_it_prints() -> None:
    found = rows(line(), line("EVP-AES-256-GCM encrypt (1000 bytes)"))
    assert [row.scenario.variant for row in found] == [
        "aes-256-gcm-seal-1000",
        "evp-aes-256-gcm-encrypt-1000-bytes",
    ]
    assert [(row.line, row.note) for row in found] == [(1, None), (2, None)]


def test_a_repeated_line_does_not_count() -> None:
    found = rows(line(), line("RSA 2048 signing", megabytes=None), line())
    assert found[2].scenario.variant == "aes-256-gcm-seal-1000-line-3"
    assert found[2].note == "repeats line 1; one file must hold one round"
    wrong = rows(line(), line(rate="2000.2"))
    assert wrong[1].note == "2000.2 ops/sec printed where count and time give 2000.0"


@pytest.mark.parametrize(
    ("rate", "megabytes", "note"),
    [
        ("2000.1", "2.0", None),
        ("1999.9", "2.0", None),
        ("2000.2", "2.0", "2000.2 ops/sec printed where count and time give 2000.0"),
        ("1999.8", "2.0", "1999.8 ops/sec printed where count and time give 2000.0"),
        ("2000.0", "2.1", None),
        ("2000.0", "2.2", "2.2 MB/s printed where count, size and time give 2.0"),
        ("2000.0", "1.8", "1.8 MB/s printed where count, size and time give 2.0"),
    ],
)
def test_numbers_of_a_line_agree_to_the_last_digit(
    rate: str, megabytes: str, note: str | None
) -> None:
    [row] = rows(line(rate=rate, megabytes=megabytes))
    assert row.note == note


def test_a_millionth_of_a_large_number_is_not_a_contradiction() -> None:
    def note(rate: str, megabytes: str) -> str | None:
        [row] = rows(line(count=2_000_000, rate=rate, megabytes=megabytes))
        return row.note

    assert note("2000002.0", "2000.0") is None
    assert note("2000002.2", "2000.0") is not None
    assert note("2000000.0", "2000.1") is None
    assert note("2000000.0", "2000.2") is not None


def test_an_impossible_line_is_rejected_with_the_expected_form() -> None:
    expected = "Did N NAME operations in Nus (N ops/sec): N MB/s"
    with pytest.raises(FormatError) as caught:
        rows(line(), "Did nothing " + 300 * "x")
    assert (caught.value.line, caught.value.expected) == (2, expected)
    assert caught.value.found == repr(("Did nothing " + 300 * "x")[:200])
    with pytest.raises(FormatError) as caught:
        rows(line(megabytes=None))
    assert caught.value.found == repr(line(megabytes=None))
    with pytest.raises(FormatError) as caught:
        rows(line(), line("RSA 2048 signing", microseconds=0, megabytes=None))
    error = caught.value
    assert (error.line, error.found, error.expected) == (2, "0us", "a time above zero")
    assert str(error).startswith("raw/out:2: ")
    [slow] = rows(line("RSA 2048 signing", 1, 1, "1000000.0", None))
    assert slow.note is None, "one microsecond is a time"


def test_bytes_are_mebibytes_and_the_rest_are_operations() -> None:
    text = f"$ A=b ./bssl speed -filter x\n{line()}\n{line('RSA 2048 signing', megabytes=None)}\n"
    found = parsed("bssl-speed", f"bssl speed\n{text}")
    bulk = {"operation": "primitive", "variant": "aes-256-gcm-seal-1000"}
    key = {"operation": "primitive", "variant": "rsa-2048-signing"}
    assert found.rows == [
        record(3, bulk, 2.0 * 1e6 / 2**20, "MiB/s"),
        record(4, key, 2000.0, "operations/s"),
    ]
    assert found.remarks == []


def test_a_cut_line_gives_a_remark_and_no_figure() -> None:
    found = parsed("bssl-speed", f"{line()}\n{line()[:40]}")
    message = f"the output was interrupted at {line()[:40]!r}"
    assert found.remarks == [Remark(FILE, 2, message)]
    assert [row.line for row in found.rows] == [1]


def test_an_error_names_the_file() -> None:
    said = "found 'Did nothing', expected Did N NAME operations in Nus (N ops/sec): N MB/s"
    assert refusal("bssl-speed", "Did nothing\n") == f":1: {said}"


def test_a_small_figure_is_exact_to_a_tenth() -> None:
    exact = line("AES-256-GCM (1 bytes) seal", 2, 1_000_000, "2.0", "0.0")
    off = line("AES-256-GCM (1 bytes) seal", 2, 1_000_000, "2.0", "0.2")
    assert [row.note for row in rows(exact, off)] == [
        None,
        "0.2 MB/s printed where count, size and time give 0.0",
    ]


def test_a_rate_in_bytes_without_a_size_is_kept() -> None:
    [row] = rows(line("AES-256-GCM seal"))
    assert (row.unit, row.note, row.value) == ("MiB/s", None, 2.0 * 1e6 / 2**20)
