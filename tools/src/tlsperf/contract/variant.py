"""The field `variant` of a scenario, and its only parser.

The Rust side has the same parser; both are tested against `data/schema/variants.json`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, WithJsonSchema

Kind = Literal[
    "key-shares",
    "hello-retry",
    "early-data",
    "own-tickets",
    "released-buffers",
    "sessions",
    "cold",
    "nagle",
    "server",
    "chain",
    "compressed",
    "primitive",
    "set-up",
    "foreign",
]

SERVERS: Final = ("nginx", "haproxy")
"""Servers of the system's packages, to which a client connects."""

GROUPS: Final = (
    *("X25519", "secp256r1", "secp384r1"),
    *("X25519MLKEM768", "SecP256r1MLKEM768", "MLKEM768"),
)
"""The groups of the key shares that our clients can send."""

_CIPHERS: Final = ("aes-128-gcm", "aes-256-gcm", "chacha20-poly1305")
_WITHOUT_SIZE: Final = frozenset(
    {
        *("rsa-2048-sign", "rsa-2048-verify", "ed25519-sign", "ed25519-verify"),
        *(f"ecdsa-{curve}-{step}" for curve in ("p256", "p384") for step in ("sign", "verify")),
        *("x25519-generate", "x25519-agree"),
        *(f"secp{bits}r1-{step}" for bits in (256, 384) for step in ("generate", "agree")),
        *(f"ml-dsa-{size}-{step}" for size in (44, 65, 87) for step in ("sign", "verify")),
        *("ml-kem-768-generate", "ml-kem-768-encapsulate", "ml-kem-768-decapsulate"),
    }
)
_SET_UPS: Final = frozenset(
    {
        *("server", "private-key", "process-server"),
        *("anchors-slope", "client-slope", "names-slope"),
    }
)
_LARGEST: Final = (1 << 32) - 1
_CHAINS: Final[Mapping[str, str]] = {
    "chain-1": "chain of 1 certificate",
    "chain-3": "chain of 3 certificates",
    "issuer-ecdsa-p256": "ECDSA P-256 issuers",
}
"""What names of scenarios say of a chain other than a leaf and an intermediate of the same type."""

_COMPRESSED: Final = "compressed-zlib"
_READABLE: Final[Mapping[str, str]] = {
    **_CHAINS,
    _COMPRESSED: "certificates compressed with zlib",
    "early-data": "early data",
    "own-tickets": "default renewal",
    "released-buffers": "buffers released",
}
"""What names of scenarios say instead of the variant's text."""

SetUp = Literal["clients", "servers", "names", "processes", "slopes"]
"""The groups of set-ups; each has a table."""

_SET_UP_TABLES: Final[Mapping[str, SetUp]] = {
    **dict.fromkeys(("server", "private"), "servers"),
    **dict.fromkeys(("names", "reload"), "names"),
    "process": "processes",
}
"""The group of a variant by its first word; all others belong to clients."""

_WORDS: Final[Mapping[str, Kind]] = {
    "hello-retry": "hello-retry",
    "early-data": "early-data",
    "own-tickets": "own-tickets",
    "released-buffers": "released-buffers",
    "cold": "cold",
    "nagle": "nagle",
    _COMPRESSED: "compressed",
    **dict.fromkeys(SERVERS, "server"),
    **dict.fromkeys(_CHAINS, "chain"),
    **dict.fromkeys(_SET_UPS, "set-up"),
    **dict.fromkeys(_WITHOUT_SIZE, "primitive"),
}
"""The kinds of variants that have neither a number nor groups."""

_NUMBER: Final = "[1-9][0-9]*"
_GROUP: Final = f"({'|'.join(GROUPS)})"
_SHARES: Final = rf"{_GROUP}(\+{_GROUP})*"
_ANCHORS: Final = "(anchors|client|shared|process-client)"
_UP_TO_1000: Final = "([1-9][0-9]{0,2}|1000)"
_UP_TO_10000: Final = "([1-9][0-9]{0,3}|10000)"
_SIZED: Final = f"({'|'.join(_CIPHERS)})-(seal|open)"

PATTERN: Final = (
    # Numbers have no sign and no leading zero; repeated output of a tool has a number.
    rf"^(?!sessions-(?!{_NUMBER}(-repeat-{_NUMBER})?$))"
    rf"(?!{_SIZED}-0[0-9]*$)"
    rf"(?!{_ANCHORS}-(?!{_UP_TO_1000}$)[0-9]*$)"
    rf"(?!(names|reload)-(?!{_UP_TO_10000}$)([0-9]*|mozilla)$)"
    # A known group occurs only in a list of known groups.
    rf"(?!(?!{_SHARES}(-shared|-separate)?$)([^\n]*\+)?\s*{_GROUP}\s*(\+[^\n]*)?$)"
    r"[^\n]+$"
)
"""Matches every variant. It also accepts numbers that are too large, and a group twice."""

_VALID: Final = re.compile(PATTERN)
_SESSIONS: Final = re.compile(f"sessions-({_NUMBER})")
_SET_UP: Final = re.compile(
    f"{_ANCHORS}-(?P<anchors>mozilla|{_UP_TO_1000})|(names|reload)-(?P<names>{_UP_TO_10000})"
)
_PRIMITIVE: Final = re.compile(f"{_SIZED}-({_NUMBER})")


@dataclass(frozen=True, slots=True)
class Variant:
    """A parsed variant; `text` is its form in records and suites."""

    text: str
    kind: Kind
    number: int | None = None
    """Number of sessions, bytes for each call of a primitive, or number of things that are set up.
    """

    @property
    def label(self) -> str:
        """The text that pages show beside other words: `hello retry`."""
        return _READABLE.get(self.text, self.text.replace("-", " "))

    @property
    def name(self) -> str:
        """The text in the name of a scenario: `hello-retry`, but `chain of 3 certificates`."""
        return _READABLE.get(self.text, self.text)

    @property
    def set_up(self) -> SetUp:
        """The group of set-ups that it is compared with; each group has a table."""
        if self.text.endswith("-slope"):
            return "slopes"
        what = self.text.split("-")[0]
        return _SET_UP_TABLES.get(what, "clients")


@lru_cache(maxsize=1024)
def parse_variant(text: str) -> Variant:
    """The variant of a text. Raises ValueError if it resembles one of ours but is malformed."""
    if _VALID.fullmatch(text) is None:
        raise ValueError("sessions-NUMBER, key shares joined by +, a primitive or another name")
    if text in _WORDS:
        return Variant(text, _WORDS[text])
    if found := _SESSIONS.fullmatch(text):
        return Variant(text, "sessions", _checked(found[1]))
    if found := _PRIMITIVE.fullmatch(text):
        return Variant(text, "primitive", _checked(found[3]))
    if found := _SET_UP.fullmatch(text):
        many = found["names"] or found["anchors"]
        return Variant(text, "set-up", None if many == "mozilla" else int(many))
    if re.fullmatch(_SHARES, text):
        groups = text.split("+")
        if len(set(groups)) < len(groups):
            raise ValueError("each key share once")
        return Variant(text, "key-shares")
    return Variant(text, "foreign")


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
"""The text of a variant, checked by the parser; the schema has only its pattern."""
