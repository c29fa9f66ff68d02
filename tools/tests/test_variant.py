"""The parser of variants agrees with the examples that the Rust parser is tested with."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from pydantic import ValidationError

from project import ROOT
from tlsperf.contract.record import Scenario
from tlsperf.contract.variant import PATTERN, parse_variant

EXAMPLES = json.loads((ROOT / "data" / "schema" / "variants.json").read_text(encoding="utf-8"))
BEYOND_A_PATTERN = {"X25519+X25519", "sessions-4294967296", "aes-256-gcm-open-4294967296"}


@pytest.mark.parametrize("example", EXAMPLES["valid"], ids=lambda e: e["text"])
def test_valid_examples_are_of_their_kind(example: dict[str, Any]) -> None:
    found = parse_variant(example["text"])
    assert (found.text, found.kind) == (example["text"], example["kind"])
    assert re.search(PATTERN, example["text"])
    assert Scenario(operation="handshake", variant=example["text"]).variant == example["text"]


@pytest.mark.parametrize("text", EXAMPLES["invalid"])
def test_invalid_examples_are_rejected(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        parse_variant(text)
    with pytest.raises(ValidationError):
        Scenario(operation="handshake", variant=text)
    assert bool(re.search(PATTERN, text)) == (text in BEYOND_A_PATTERN)


def test_numbers_are_of_sessions_and_of_bytes() -> None:
    assert parse_variant("sessions-1000").number == 1000
    assert parse_variant("chacha20-poly1305-open-1350").number == 1350
    assert parse_variant("rsa-2048-sign").number is None
    assert parse_variant("evp-aes-256-gcm-encrypt-16384-bytes").number is None


def test_numbers_are_of_what_is_set_up() -> None:
    assert parse_variant("anchors-1000").number == 1000
    assert parse_variant("process-client-10").number == 10
    assert parse_variant("names-10000").number == 10_000
    for text in ("client-mozilla", "server", "private-key"):
        assert parse_variant(text).number is None


@pytest.mark.parametrize(
    ("texts", "group"),
    [
        (("anchors-mozilla", "client-1000", "shared-mozilla"), "clients"),
        (("server", "private-key"), "servers"),
        (("names-100", "reload-100"), "names"),
        (("process-client-mozilla", "process-server"), "processes"),
        (("client-slope", "names-slope"), "slopes"),
    ],
)
def test_set_ups_are_compared_with_those_of_their_kind(texts: tuple[str, ...], group: str) -> None:
    assert {parse_variant(text).set_up for text in texts} == {group}


@pytest.mark.parametrize(
    ("text", "name", "label"),
    [
        ("chain-1", "chain of 1 certificate", "chain of 1 certificate"),
        ("chain-3", "chain of 3 certificates", "chain of 3 certificates"),
        ("issuer-ecdsa-p256", "ECDSA P-256 issuers", "ECDSA P-256 issuers"),
        (
            "compressed-zlib",
            "certificates compressed with zlib",
            "certificates compressed with zlib",
        ),
        ("early-data", "early data", "early data"),
        ("hello-retry", "hello-retry", "hello retry"),
    ],
)
def test_variants_of_handshakes_have_readable_names(text: str, name: str, label: str) -> None:
    found = parse_variant(text)
    assert (found.name, found.label) == (name, label)


def test_the_schema_has_the_pattern() -> None:
    text = (ROOT / "data" / "schema" / "record.schema.json").read_text(encoding="utf-8")
    variant = json.loads(text)["$defs"]["Scenario"]["properties"]["variant"]
    assert variant["anyOf"][0] == {"type": "string", "pattern": PATTERN}
