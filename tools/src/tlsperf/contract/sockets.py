"""Where the processor time of a server goes, for one connection over a socket."""

from __future__ import annotations

from pydantic import Field

from tlsperf.contract.record import Identifier, Model


class SocketShares(Model):
    """The parts of a server's processor time for one connection, as percentages."""

    anchor: Identifier = Field(description="the row of the server's processor time")
    name: str
    implementation: Identifier
    connection: str = Field(description="processor time of a connection, in µs as readers see it")
    handshake: str = Field(description="the same handshake in memory, in µs")
    library_percent: float = Field(ge=0, description="the handshake in memory")
    kernel_percent: float = Field(ge=0, description="time in the kernel")
    rest_percent: float = Field(
        description="the rest of the time in the process; below 0 if the handshake in memory took "
        "longer than all of it"
    )
    library: str = Field(description="61%")
    kernel: str
    rest: str
    note: str | None = None
