"""What else names a scenario: its `variant`, and the one parser of it.

The Rust side has the same parser; both are tested against `data/schema/variants.json`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, WithJsonSchema

Kind = Literal["key-shares", "hello-retry", "sessions", "cold", "primitive", "foreign"]

GROUPS: Final = ("X25519", "secp256r1", "secp384r1", "X25519MLKEM768")
"""Key shares that a client of ours may send."""

_CIPHERS: Final = ("aes-128-gcm", "aes-256-gcm", "chacha20-poly1305")
_WITHOUT_SIZE: Final = frozenset(
    {
        *("rsa-2048-sign", "rsa-2048-verify", "ecdsa-p256-sign", "ecdsa-p256-verify"),
        *("x25519-generate", "x25519-agree"),
        *("ml-kem-768-generate", "ml-kem-768-encapsulate", "ml-kem-768-decapsulate"),
    }
)
_LARGEST: Final = (1 << 32) - 1

_NUMBER: Final = "[1-9][0-9]*"
_GROUP: Final = f"({'|'.join(GROUPS)})"
_SHARES: Final = rf"{_GROUP}(\+{_GROUP})*"
_SIZED: Final = f"({'|'.join(_CIPHERS)})-(seal|open)"

PATTERN: Final = (
    # Numbers have no sign and no leading zero; what a tool prints twice is numbered.
    rf"^(?!sessions-(?!{_NUMBER}(-repeat-{_NUMBER})?$))"
    rf"(?!{_SIZED}-0[0-9]*$)"
    # A known group is part of a whole list of them.
    rf"(?!(?!{_SHARES}(-shared|-separate)?$)([^\n]*\+)?\s*{_GROUP}\s*(\+[^\n]*)?$)"
    r"[^\n]+$"
)
"""Of all variants, but for numbers that are too large and groups that are named twice."""

_VALID: Final = re.compile(PATTERN)
_SESSIONS: Final = re.compile(f"sessions-({_NUMBER})")
_PRIMITIVE: Final = re.compile(f"{_SIZED}-({_NUMBER})")


@dataclass(frozen=True, slots=True)
class Variant:
    """A variant. Its text is what records and suites have."""

    text: str
    kind: Kind
    number: int | None = None
    """Of sessions, or of bytes that a primitive takes at once."""

    @property
    def label(self) -> str:
        """As readers see it beside other words: `hello retry`."""
        return self.text.replace("-", " ")


@lru_cache(maxsize=1024)
def parse_variant(text: str) -> Variant:
    """The variant that a text names; ValueError if it is like one of ours and malformed."""
    if _VALID.fullmatch(text) is None:
        raise ValueError("sessions-NUMBER, key shares joined by +, a primitive or another name")
    if text == "hello-retry":
        return Variant(text, "hello-retry")
    if text == "cold":
        return Variant(text, "cold")
    if found := _SESSIONS.fullmatch(text):
        return Variant(text, "sessions", _checked(found[1]))
    if found := _PRIMITIVE.fullmatch(text):
        return Variant(text, "primitive", _checked(found[3]))
    if text in _WITHOUT_SIZE:
        return Variant(text, "primitive")
    if re.fullmatch(_SHARES, text):
        groups = text.split("+")
        if len(set(groups)) < len(groups):
            raise ValueError("each key share once")
        return Variant(text, "key-shares")
    return Variant(text, "foreign")


def sized_primitive(cipher: str, step: Literal["seal", "open"], size: int) -> str:
    """The text of the variant of a cipher: `aes-256-gcm-seal-16384`."""
    return f"{cipher}-{step}-{size}"


def _checked(digits: str) -> int:
    number = int(digits)
    if number > _LARGEST:
        raise ValueError(f"a number from 1 to {_LARGEST}")
    return number


def _text(text: str) -> str:
    return parse_variant(text).text


VariantText = Annotated[
    str, AfterValidator(_text), WithJsonSchema({"type": "string", "pattern": PATTERN})
]
"""The text of a variant, checked; the schema has its pattern."""
