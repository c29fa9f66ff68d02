"""The kinds of work that can be measured: one entry a kind, with its words.

`bench/harness/src/workloads/mod.rs` lists the kinds that our programs measure, by the same ids.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Operation = Literal["transfer", "handshake", "client-hello", "memory", "primitive", "set-up"]


@dataclass(frozen=True, slots=True)
class OperationDefinition:
    """One kind of work."""

    name: str
    """As titles name one of them: ClientHello."""
    noun: str
    """As sentences name one of them: a ClientHello."""
    order: int
    """Place of its tables among those of other kinds."""
    anchor: str
    """Of its table."""
    title: str
    """Of its table."""


OPERATIONS: Final[Mapping[Operation, OperationDefinition]] = {
    "transfer": OperationDefinition(
        name="Transfer",
        noun="a transfer",
        order=0,
        anchor="transfer",
        title="Transfer",
    ),
    "handshake": OperationDefinition(
        name="Handshake",
        noun="a handshake",
        order=1,
        anchor="handshakes",
        title="Handshakes",
    ),
    "client-hello": OperationDefinition(
        name="ClientHello",
        noun="a ClientHello",
        order=4,
        anchor="client-hello",
        title="ClientHello",
    ),
    "memory": OperationDefinition(
        name="Memory",
        noun="a connection's memory",
        order=5,
        anchor="memory",
        title="Memory",
    ),
    "primitive": OperationDefinition(
        name="Primitive",
        noun="a primitive",
        order=6,
        anchor="primitives",
        title="Primitives",
    ),
    "set-up": OperationDefinition(
        name="Set-up",
        noun="a set-up",
        order=7,
        anchor="set-up",
        title="Set-up",
    ),
}
"""By id."""
