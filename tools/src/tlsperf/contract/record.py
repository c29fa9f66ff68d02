"""One line of our raw format: a scenario, and what was measured of it.

`tlsbench` (Rust) writes these records, and the tools read them. `python -m tlsperf.publish.schema`
makes `data/schema/record.schema.json` from these classes. The Rust side is tested against the same
schema and examples. A field that a source does not report is absent (None here), never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StringConstraints,
    model_validator,
)

from tlsperf.contract.identifier import IDENTIFIER, MOST_OF_IDENTIFIER, YEARS
from tlsperf.contract.metrics import LEAST_RATE, METRICS, MOST_RATE, Metric, Statistic, Unit
from tlsperf.contract.operations import Operation
from tlsperf.contract.variant import GROUPS, VariantText

SCHEMA_VERSION: Final = 1
"""The number in every record, run and results file. It is raised when their meaning changes."""


Identifier = Annotated[str, StringConstraints(pattern=IDENTIFIER, max_length=MOST_OF_IDENTIFIER)]


Url = Annotated[str, StringConstraints(pattern=r"^https?://[^\s\"'<>\\^`{|}]+$", max_length=2000)]
"""An address that a page may link: only http or https, without characters that end an attribute."""


Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


_When = TypeVar("_When", date, datetime)


def _possible(when: _When) -> _When:
    if when.year not in YEARS:
        raise ValueError(f"a year from {YEARS[0]} to {YEARS[-1]}")
    return when


Day = Annotated[date, AfterValidator(_possible)]
Moment = Annotated[datetime, AfterValidator(_possible)]


PHASE: Final = (
    "total|construction|flight-[1-9]|tickets|handshake|data|destruction"
    "|processor|waiting|fixed|each|user|system"
)

Phase = Annotated[str, StringConstraints(pattern=f"^({PHASE})$")]
"""The phase of a figure: `total`, or a part of it.

A handshake has `construction`, `flight-1` … `flight-n` (flights in the order in which the role
processes or produces them) and `tickets`. For memory, it is the moment of the measurement:
`construction`, `handshake` (complete), `data` (1 KiB exchanged). A set-up has `construction`,
`handshake` (the first one) and `destruction`. A process has its time on the `processor` and the
rest of its wall time, `waiting`. A connection over a socket has the processor time of a process in
its own code, `user`, and in the kernel, `system`. A slope has the part that is `fixed` and the part
that `each` item adds.
"""


CERTIFICATES: Final = {
    "rsa-2048": "RSA-2048",
    "rsa-4096": "RSA-4096",
    "ecdsa-p256": "ECDSA P-256",
    "ecdsa-p384": "ECDSA P-384",
    "ed25519": "Ed25519",
    "ml-dsa-44": "ML-DSA-44",
    "ml-dsa-65": "ML-DSA-65",
    "ml-dsa-87": "ML-DSA-87",
}
"""The readable names of certificates by the type and size of their keys, in the order of tables."""

ML_DSA: Final = frozenset({"ml-dsa-44", "ml-dsa-65", "ml-dsa-87"})
"""Certificates with keys of ML-DSA (FIPS 204)."""

Protocol = Literal["1.2", "1.3"]


Authentication = Literal["server", "mutual"]


Resumption = Literal["none", "session-id", "ticket", "resumed"]


Side = Literal["client", "server", "sender", "receiver"]


class Model(BaseModel):
    """Strict base class: an unknown field, a NaN or a wrong type is an error."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False, frozen=True)


class Scenario(Model):
    """What is measured. All fields together are the scenario's identity.

    `scenario_name` and `scenario_anchor` make its readable name and its anchor.
    """

    operation: Operation
    protocol: Protocol | None = None
    cipher_suite: str | None = Field(None, description="IANA name")
    key_exchange: str | None = Field(
        None,
        description=f"{', '.join(GROUPS)}; absent if there is none",
    )
    certificate: str | None = Field(None, description=", ".join(CERTIFICATES))
    authentication: Authentication | None = None
    resumption: Resumption | None = None
    side: Side | None = None
    threads: int | None = Field(None, ge=1)
    size: int | None = Field(None, ge=1, description="bytes per write, or of a whole packet")
    in_flight: int | None = Field(
        None,
        ge=1,
        description="bytes written before they are read; absent in transfers of 1 MiB at a time",
    )
    record_size: int | None = Field(None, ge=1, description="largest record, bytes of plaintext")
    variant: VariantText | None = Field(
        None,
        description="what else names it: a primitive, key shares, hello-retry, early-data, "
        "own-tickets, released-buffers, sessions-1000, cold, chain-3, compressed-zlib, nagle, nginx",
    )


SCENARIO_FIELDS: Final = tuple(Scenario.model_fields)


@lru_cache(maxsize=4096)
def _shared(scenario: Scenario) -> Scenario:
    """The same object for equal scenarios: thousands of records have each of them."""
    return scenario


_Shared = Annotated[Scenario, AfterValidator(_shared)]


def _lists(units: Mapping[str, Sequence[str]]) -> dict[str, JsonValue]:
    """Units by operation, as JSON has them; `*` are the operations that are not named."""
    return {operation: list(of) for operation, of in units.items()}


class Observation(Model):
    """One measured figure of one scenario: a row.

    The schema also has the units that a metric may have by operation, and the bounds of a rate:
    `tlsbench` checks them when it measures.
    """

    phase: Phase = "total"
    metric: Metric = Field(
        json_schema_extra={"units": {name: _lists(of.units) for name, of in METRICS.items()}}
    )
    statistic: Statistic = "value"
    value: float = Field(ge=0, json_schema_extra={"rates": [LEAST_RATE, MOST_RATE]})
    unit: Unit


class _Record(Model):
    schema_: Literal[1] = Field(1, alias="schema")
    time: Moment = Field(description="when it was written, UTC")
    session: int = Field(1, ge=1, description="absent: the first, or the only one")
    round: int = Field(ge=1, description="counted through over all sessions of the run")


class Measurement(_Record):
    """One implementation in one scenario in one round."""

    kind: Literal["measurement"] = "measurement"
    layout: int = Field(
        0, ge=0, description="how the program was linked; 0, or absent: in the linker's own order"
    )
    implementation: Identifier
    scenario: _Shared
    observations: list[Observation] = Field(min_length=1)
    operations: int = Field(ge=1, description="handshakes or writes measured in this round")
    elapsed_seconds: float | None = Field(
        None,
        gt=0,
        description="time charged to this side, summed; absent where no time is measured",
    )
    per_thread: list[Annotated[float, Field(ge=0)]] | None = Field(
        None, description="rate of each thread, in the unit of the total rate"
    )
    histogram: str | None = Field(
        None, description="HdrHistogram V2, base64, nanoseconds, 3 significant digits"
    )
    valid: bool = True
    note: str | None = Field(None, description="why it must not count, when valid is false")


class Block(_Record):
    """The last record of a block: it marks the records of the block as complete."""

    kind: Literal["block"] = "block"
    block: int = Field(ge=0, description="index of the scenario in the suite")
    implementation: Identifier
    status: Literal["measured", "absent", "failed"]
    reason: str | None = Field(
        None, description="why the implementation cannot do it (absent), or what failed"
    )
    elapsed_seconds: float = Field(ge=0, description="wall time of the block's process")


class Overhead(_Record):
    """Cost of the harness itself: the driver run with a library that does nothing."""

    kind: Literal["overhead"] = "overhead"
    implementation: Identifier
    clock_nanoseconds: float = Field(ge=0, description="one read of the clock")
    scenario: _Shared
    nanoseconds: float | None = Field(
        None, ge=0, description="per handshake, write or operation; absent for memory"
    )
    copies_nanoseconds: float | None = Field(
        None,
        ge=0,
        description="per write of a transfer, above nanoseconds: framing and copying to or from "
        "the transport",
    )
    bytes: float | None = Field(
        None,
        ge=0,
        description="for memory: by the allocator's count, per connection or in all",
    )

    @model_validator(mode="after")
    def _check_cost(self) -> Self:
        if (self.nanoseconds is None) == (self.bytes is None):
            raise ValueError("either nanoseconds or bytes")
        return self


class RoundState(_Record):
    """State of the host during one round; a disturbed round does not count and is repeated."""

    kind: Literal["round"] = "round"
    elapsed_seconds: float = Field(ge=0)
    disturbed: bool = False
    causes: list[Literal["interrupted", "load", "steal", "throttled"]] = Field(
        [], description="codes of the reasons; absent in records from before there were codes"
    )
    reasons: list[str] = Field([])
    load_by_others_percent: float | None = Field(None, ge=0, description="of one core")
    steal_percent: float | None = Field(None, ge=0)
    frequency_mhz: float | None = Field(None, ge=0, description="mean over the cores")
    throttle_count: int | None = Field(None, ge=0)
    temperature_celsius: float | None = None
    involuntary_switches: int | None = Field(None, ge=0)
    runner_cpu_percent: float | None = Field(None, ge=0, description="of one core")


Record = Annotated[Measurement | Block | Overhead | RoundState, Field(discriminator="kind")]
"""One line of our raw format, JSON Lines (`tlsbench/1`)."""
