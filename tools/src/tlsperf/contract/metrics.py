"""What can be measured: one entry for each metric, which determines how the tools show it.

To add a metric, add its entry here and record it where it is measured. The schemas, tables, ratios,
verdicts, charts and texts follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from tlsperf.contract.metric import ANY, PAGES, MetricDefinition

_MEMORY: Final[Mapping[str, tuple[str, ...]]] = {ANY: ("bytes", "bytes/connection")}


def _per(counted: str) -> Mapping[str, tuple[str, ...]]:
    """The units of what is counted in handshakes and transfers."""
    return {"handshake": (f"{counted}/handshake",), "transfer": (f"{counted}/MiB",)}


_COUNTED_WITHIN: Final = 1.005
"""Ratio up to which counts of calls are equal."""


def _of_handshake(unit: str) -> Mapping[str, tuple[str, ...]]:
    return {"handshake": (unit,)}


_CALL_SIZE: Final = dict.fromkeys(("handshake", "transfer"), ("bytes",))

_OF_CONNECTION_CALLS: Final = {"connection": ("calls/connection",)}

# Sentences that captions of several metrics share.
_ALLOCATOR: Final = "{} in an operation; for a set-up, with its first handshake (glibc's mtrace)"
_LOCKS: Final = (
    "A count on one thread does not show contention. rustls has no such figure: the locks "
    "of Rust's standard library are locked instructions"
)
_WIRE: Final = "The harness' own transport records what is sent"
_CALLS: Final = (
    "The transport is memory: a read finds a whole flight, and a write accepts all bytes. After "
    "the handshake, one byte is sent in each direction (data)"
)
_TIMING: Final = "How many reads find nothing depends on when bytes arrive"

METRICS: Final[Mapping[str, MetricDefinition]] = {
    "rate": MetricDefinition(
        noun="rate",
        units={
            "transfer": ("MiB/s",),
            "handshake": ("handshakes/s", "handshakes/s/thread"),
            "memory": (),
            "primitive": ("operations/s", "MiB/s"),
            "set-up": (),
            "connection": ("connections/s",),
            "quic-packet": ("packets/s",),
            ANY: ("operations/s",),
        },
        better="higher",
        words=("faster", "slower"),
        order=0,
        tables="kind",
        primary=True,
        harness_cost="inverse",
    ),
    "duration": MetricDefinition(
        noun="duration",
        units={ANY: ("µs",)},
        words=("faster", "slower"),
        order=20,
        tables="kind",
        implied_in_parts=True,
        harness_cost="time",
    ),
    "processor-time": MetricDefinition(
        noun="processor time",
        units={"connection": ("µs",)},
        words=("less", "more"),
        amount="processor time",
        order=10,
        of_process=True,
        caption="Processor time of the whole process of a side, in its own code (user) and in the "
        "kernel (system), for handshake, a byte in both directions and close",
        caution="Both processes run on one host, over loopback",
    ),
    "stall": MetricDefinition(
        noun="longest call",
        units=_of_handshake("µs"),
        words=("shorter", "longer"),
        order=21,
    ),
    "allocated": MetricDefinition(
        noun="memory allocated",
        units=_MEMORY,
        words=("less", "more"),
        amount="memory",
        order=60,
        whole=True,
        charts={"KiB": "sessions"},
        harness_cost="memory",
        price="memory",
    ),
    "resident": MetricDefinition(
        noun="resident memory",
        units=_MEMORY,
        words=("less", "more"),
        amount="memory",
        order=60,
        whole=True,
        plausible_within=PAGES,
        charts={"KiB": "sessions"},
    ),
    "peak-resident": MetricDefinition(
        noun="peak resident memory",
        units=_MEMORY,
        words=("less", "more"),
        amount="memory",
        order=60,
        whole=True,
        plausible_within=PAGES,
        charts={"KiB": "sessions"},
    ),
    "instructions": MetricDefinition(
        noun="instructions",
        units={
            "handshake": ("instructions/handshake",),
            "transfer": ("instructions/MiB",),
            "memory": (),
            "quic-packet": (),
            ANY: ("instructions/operation",),
        },
        amount="instructions",
        order=50,
        whole=True,
        # Counts of one binary agree within 1% from run to run.
        same_within=1.01,
        caption="Instructions in user space of the calls that other runs time, counted on one "
        "thread by callgrind (valgrind {counter})",
        caution="Under Valgrind the libraries choose code without AVX-512",
    ),
    "allocations": MetricDefinition(
        noun="allocations",
        units={"set-up": ("allocations",), **_per("allocations")},
        amount="allocations",
        order=61,
        whole_in=("set-up",),
        same_within=_COUNTED_WITHIN,
        caption=_ALLOCATOR.format("Calls that allocate"),
        caution="An allocation is not a time",
    ),
    "allocated-in-all": MetricDefinition(
        noun="memory allocated in all",
        units={"set-up": ("bytes",), **_per("bytes")},
        words=("less", "more"),
        amount="memory",
        order=62,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption=_ALLOCATOR.format("Bytes that were allocated, also those that were freed"),
        caution="An allocation is not a time",
    ),
    "peak-allocated": MetricDefinition(
        noun="peak memory allocated",
        units=dict.fromkeys(("set-up", "handshake", "transfer"), ("bytes",)),
        words=("less", "more"),
        amount="memory",
        order=63,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption=_ALLOCATOR.format("Most bytes that were allocated at once"),
        caution="An allocation is not a time",
    ),
    "frees": MetricDefinition(
        noun="frees",
        units=_per("frees"),
        amount="frees",
        order=64,
        same_within=_COUNTED_WITHIN,
        caption=_ALLOCATOR.format("Calls that free memory"),
        caution="A connection is freed after the calls that are counted",
    ),
    "mutex-locks": MetricDefinition(
        noun="mutex locks",
        units=_per("locks"),
        amount="mutex locks",
        order=65,
        same_within=_COUNTED_WITHIN,
        caption="Calls that lock a mutex of pthread, on one thread beside an idle one",
        caution=_LOCKS,
    ),
    "read-locks": MetricDefinition(
        noun="read locks",
        units=_per("locks"),
        amount="read locks",
        order=66,
        same_within=_COUNTED_WITHIN,
        caption="Calls that lock a rwlock of pthread for reading, on one thread beside an idle one",
        caution=_LOCKS,
    ),
    "write-locks": MetricDefinition(
        noun="write locks",
        units=_per("locks"),
        amount="write locks",
        order=67,
        same_within=_COUNTED_WITHIN,
        caption="Calls that lock a rwlock of pthread for writing, on one thread beside an idle one",
        caution=_LOCKS,
    ),
    "locked-instructions": MetricDefinition(
        noun="locked instructions",
        units=_per("locked instructions"),
        amount="locked instructions",
        order=68,
        same_within=_COUNTED_WITHIN,
        caption="Instructions that lock the bus, on one thread beside an idle one, counted by "
        "callgrind ({counter})",
        caution="A count on one thread does not show contention",
    ),
    "kernel-calls": MetricDefinition(
        noun="calls into the kernel",
        units=_per("calls"),
        amount="calls into the kernel",
        order=69,
        same_within=_COUNTED_WITHIN,
        caption="System calls on one thread beside an idle one, recorded by strace ({counter})",
        caution="The transport is memory: no call sends or receives",
    ),
    "system-calls": MetricDefinition(
        noun="system calls",
        units=_OF_CONNECTION_CALLS,
        amount="system calls",
        order=85,
        same_within=_COUNTED_WITHIN,
        caption="System calls of a process for each connection over a socket, recorded by strace "
        "({counter}), with those of the harness, such as epoll_wait and accept",
        caution=_TIMING,
    ),
    "socket-calls": MetricDefinition(
        noun="reads and writes of a socket",
        units=_OF_CONNECTION_CALLS,
        amount="reads and writes",
        order=86,
        same_within=_COUNTED_WITHIN,
        caption="Reads and writes of the socket by a library for each connection, recorded by "
        "strace ({counter}), with reads that find nothing",
        caution=_TIMING,
    ),
    "wire-bytes": MetricDefinition(
        noun="bytes on the wire",
        units=_of_handshake("bytes/handshake"),
        amount="bytes",
        order=70,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Bytes that a side sends; an ECDSA signature varies in length",
        caution=_WIRE,
        price="flight",
    ),
    "wire-records": MetricDefinition(
        noun="TLS records",
        units=_per("records"),
        amount="records",
        order=71,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="TLS records that a side sends",
        caution=_WIRE,
    ),
    "wire-messages": MetricDefinition(
        noun="visible handshake messages",
        units=_of_handshake("messages/handshake"),
        amount="messages",
        order=72,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Handshake messages that a side sends before it encrypts",
        caution="Encrypted: messages of TLS 1.3 after the hellos, and a Finished of TLS 1.2",
    ),
    "wire-segments": MetricDefinition(
        noun="TCP segments",
        units=_of_handshake("segments/handshake"),
        amount="segments",
        order=73,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="TCP segments of 1,460 bytes that the flights of a side fill; 10 fit an "
        "initial window (RFC 6928)",
        caution=_WIRE,
        price="segments",
    ),
    "key-share": MetricDefinition(
        noun="key share",
        units=_of_handshake("bytes"),
        amount="bytes",
        order=74,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Bytes of the key shares in the hello of a side",
        caution=_WIRE,
    ),
    "round-trips": MetricDefinition(
        noun="round trips",
        units=_of_handshake("round trips"),
        amount="round trips",
        order=75,
        same_within=_COUNTED_WITHIN,
        caption="Round trips from the first byte of the client until the library of a side "
        "reports a complete handshake, and may send data",
        caution=_WIRE,
    ),
    "wire-overhead": MetricDefinition(
        noun="bytes beside the data",
        units={"transfer": ("bytes/MiB",)},
        amount="bytes beside the data",
        order=76,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Bytes that are sent for a MiB of data, without the data",
        caution=_WIRE,
    ),
    "transport-reads": MetricDefinition(
        noun="reads",
        units=_per("reads"),
        amount="reads",
        order=77,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Reads that a library makes on its transport, also those that find nothing",
        caution=_CALLS,
    ),
    "transport-writes": MetricDefinition(
        noun="writes",
        units=_per("writes"),
        amount="writes",
        order=78,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Writes that a library makes on its transport",
        caution=_CALLS,
    ),
    "read-size": MetricDefinition(
        noun="bytes of a read",
        units=_CALL_SIZE,
        amount="bytes",
        order=79,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Bytes that a library asks for in one read: the median, the smallest and the "
        "largest",
        caution=_CALLS,
    ),
    "write-size": MetricDefinition(
        noun="bytes of a write",
        units=_CALL_SIZE,
        amount="bytes",
        order=80,
        whole=True,
        same_within=_COUNTED_WITHIN,
        caption="Bytes that a library sends in one write: the median, the smallest and the largest",
        caution=_CALLS,
    ),
}
"""By id, in the order of the schema."""

STATISTICS: Final = ("value", "min", "p5", "p50", "p90", "p99", "p99.9", "max")
"""Of a metric's values in one round, in the order of rows."""

_SHOWN: Final[Mapping[tuple[str, str], tuple[str, int]]] = {("memory", "bytes"): ("KiB", 1024)}
"""Unit and divisor in which readers see an operation's values, where it is not the measured one:
of a whole process nobody reads nine digits."""


def as_shown(operation: str, value: float, unit: str) -> tuple[float, str]:
    """A measured value in the unit that readers see."""
    shown, divisor = _SHOWN.get((operation, unit), (unit, 1))
    return (value, unit) if divisor == 1 else (value / divisor, shown)


def _units(definition: MetricDefinition) -> tuple[str, ...]:
    """All units of a metric, each before the one that readers see."""
    measured = [unit for units in definition.units.values() for unit in units]
    shown = {unit: name for (_, unit), (name, _) in _SHOWN.items()}
    return tuple(name for unit in measured for name in (unit, shown.get(unit)) if name)


UNITS: Final = tuple(dict.fromkeys(unit for m in METRICS.values() for unit in _units(m)))
"""Of all metrics, in the order of the schema."""

WHOLE_UNITS: Final = frozenset(
    unit
    for m in METRICS.values()
    for unit in (_units(m) if m.whole else [u for o in m.whole_in for u in m.units_of(o)])
)
"""Units of values that are printed as whole numbers."""

SCALES: Final[Mapping[str, int]] = {"KiB": 1024, "µs": 1000}
"""Bytes or nanoseconds in a unit, where it is neither."""

LEAST_RATE: Final = 0.01
MOST_RATE: Final = 1e12
"""A rate outside these bounds cannot have been measured, in any unit."""

if TYPE_CHECKING:
    Metric = str
    Statistic = str
    Unit = str
else:
    Metric = Literal[tuple(METRICS)]
    Statistic = Literal[STATISTICS]
    Unit = Literal[UNITS]
