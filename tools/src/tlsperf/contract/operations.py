"""The kinds of work that can be measured, and the words for each.

The harness makes its list of the schema, and `bench/harness/src/workloads/mod.rs` has how each kind
is measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

Operation = Literal[
    "transfer",
    "handshake",
    "client-hello",
    "memory",
    "primitive",
    "set-up",
    "connection",
    "quic-packet",
]


@dataclass(frozen=True, slots=True)
class OperationDefinition:
    """The words for one kind of work, and the place of its tables."""

    name: str
    """The name in titles: ClientHello."""
    noun: str
    """The name in sentences: a ClientHello."""
    order: int
    """Tables of kinds with a lower number come first."""
    anchor: str
    """The anchor of the kind's table."""
    title: str
    """The title of the kind's table."""


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
    "connection": OperationDefinition(
        name="Connection",
        noun="a connection over a socket",
        order=8,
        anchor="connections",
        title="Connections over sockets",
    ),
    "quic-packet": OperationDefinition(
        name="QUIC packet",
        noun="a packet of QUIC",
        order=9,
        anchor="quic-packets",
        title="QUIC packet protection",
    ),
}
"""The definition of each kind, by its id."""
