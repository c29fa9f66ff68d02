"""Memory of openssl-bench and rustls' bench (`bench-memory`): `make memory 2>&1`.

    env LD_LIBRARY_PATH=../openssl /usr/bin/time -f %M ./bench memory TLS_AES_256_GCM_SHA384 1000
    76712

The tool itself prints nothing. The figure is the peak resident set of the process in KiB, with
the harness and the library in it, once for that many sessions (half of them clients, half
servers); /usr/bin/time prints it on standard error. In the frame it is in bytes.
"""

from __future__ import annotations

import re
from typing import Final

from tlsperf.load.rows import Format, file_by_file
from tlsperf.load.spellings import OPENSSL_API, OPENSSL_SUITES, RUSTLS_SUITES
from tlsperf.load.transcript import Grammar, parse


class _BenchMemory(Grammar):
    suites = OPENSSL_SUITES | RUSTLS_SUITES


_COMMAND: Final = re.compile(r"^.*bench.*\smemory\s+(?:TLS|ECDHE)", re.M)
_OF_RUSTLS: Final = re.compile(r"^.*memory\s+TLS(?:13|_ECDHE)_", re.M)
_FIGURES: Final = re.compile(r"^(?:bulk|handshake|send:|recv:)", re.M)


def _libraries(text: str) -> frozenset[str]:
    """The libraries whose names of cipher suites the commands use."""
    return frozenset(["rustls"] if _OF_RUSTLS.search(text) else OPENSSL_API)


FORMATS: Final = (
    Format(
        "bench-memory",
        "/usr/bin/time",
        lambda text, name: bool(_COMMAND.search(text)) and not _FIGURES.search(text),
        file_by_file(lambda source: parse(source, _BenchMemory)),
        libraries=_libraries,
    ),
)
