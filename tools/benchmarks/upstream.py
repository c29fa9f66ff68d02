"""Cost of each difference between our transfers with rustls and those of rustls' own bench.

    cd bench
    cargo build --release -p tls-rustls --example upstream
    cp target/release/examples/upstream ours-system
    cargo build --release -p tls-rustls --example upstream --features tls-harness/jemalloc
    cp target/release/examples/upstream ours-jemalloc
    python tools/benchmarks/upstream.py ours-system ours-jemalloc theirs-system theirs-jemalloc

The last two are programs of rustls' bench, with the system's allocator and with jemalloc. The runs
of all four are interleaved. For each allocator and API the script prints a Markdown table: the rate
of the first step, the factor of each further step, and the remaining factor between rustls' bench
and our last step.
`upstream.md` has the results.
"""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

TURNS: Final = 9
ALLOCATORS: Final = ("system", "jemalloc")
APIS: Final = ("buffered", "unbuffered")
PROTOCOLS: Final = ("1.2", "1.3")
SIDES: Final = ("sending", "receiving")
THEIRS: Final = "rustls' bench"
_SUITES: Final = {
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "1.2",
    "TLS13_AES_256_GCM_SHA384": "1.3",
}
_VARIANTS: Final = {"bulk": "buffered", "bulk-unbuffered": "unbuffered"}


class Figure(NamedTuple):
    """The program and scenario of a rate."""

    allocator: str
    api: str
    protocol: str
    step: str
    side: str


def ours(output: str) -> Iterator[tuple[Figure, float]]:
    """The rates that our example printed, MiB/s."""
    for line in output.splitlines():
        allocator, api, protocol, step, *rates = line.split("\t")
        for side, rate in zip(SIDES, rates, strict=True):
            yield Figure(allocator.split()[0], api, protocol, step, side), float(rate)


def theirs(output: str, allocator: str) -> Iterator[tuple[Figure, float]]:
    """The rates that rustls' bench printed, MiB/s."""
    for line in output.splitlines():
        variant, _, suite, _, side, rate, *_ = line.split("\t")
        found = Figure(
            allocator,
            _VARIANTS[variant],
            _SUITES[suite],
            THEIRS,
            {"send": "sending", "recv": "receiving"}[side],
        )
        yield found, float(rate.split()[0])


def measure(programs: Mapping[str, tuple[str, str]]) -> dict[Figure, list[float]]:
    """The rates of all programs, interleaved: for each allocator our example and rustls' bench."""
    rates: defaultdict[Figure, list[float]] = defaultdict(list)
    for turn in range(TURNS):
        for allocator in ALLOCATORS if turn % 2 else reversed(ALLOCATORS):
            example, bench = programs[allocator]
            for figure, rate in ours(_run(example)):
                if figure.allocator != allocator:
                    raise SystemExit(f"{example}: runs on {figure.allocator}, expected {allocator}")
                rates[figure].append(rate)
            for suite in _SUITES:
                arguments = ("--key-type", "rsa2048", "--provider", "aws-lc-rs", "bulk")
                output = _run(bench, *arguments, suite, str(1 << 20))
                for figure, rate in theirs(output, allocator):
                    rates[figure].append(rate)
    return rates


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def tables(rates: Mapping[Figure, Sequence[float]]) -> str:
    """A Markdown table for each API and allocator."""
    medians = {figure: median(values) for figure, values in rates.items()}
    return "\n".join(
        f"{api}, {allocator}\n\n{_table(medians, api, allocator)}"
        for api in APIS
        for allocator in ALLOCATORS
    )


def _table(medians: Mapping[Figure, float], api: str, allocator: str) -> str:
    columns = [(protocol, side) for protocol in PROTOCOLS for side in SIDES]
    steps = list(dict.fromkeys(f.step for f in medians if f.api == api and f.step != THEIRS))

    def of(step: str, on: str = allocator) -> list[float]:
        return [medians[Figure(on, api, p, step, side)] for p, side in columns]

    def over(one: Sequence[float], other: Sequence[float]) -> list[str]:
        return [f"{a / b:.2f}" for a, b in zip(one, other, strict=True)]

    first, last, bench = of(steps[0]), of(steps[-1]), of(THEIRS)
    rows = [
        ("step", [f"{protocol}, {side}" for protocol, side in columns]),
        ("---", ["---:"] * len(columns)),
        (f"{steps[0]}, MiB/s", [f"{rate:,.0f}" for rate in first]),
        *((b, over(of(b), of(a))) for a, b in pairwise(steps)),
        ("all steps together", over(last, first)),
        (f"{THEIRS}, MiB/s", [f"{rate:,.0f}" for rate in bench]),
        (f"{THEIRS} over ours", over(bench, first)),
        ("left after these steps", over(bench, last)),
    ]
    if allocator != ALLOCATORS[0]:
        ours_as_published = of(steps[0], ALLOCATORS[0])
        rows[3:3] = [(f"allocator: {allocator}", over(first, ours_as_published))]
        rows.append((f"{THEIRS} over ours as we publish it", over(bench, ours_as_published)))
    return "".join(f"| {name} | {' | '.join(cells)} |\n" for name, cells in rows)


def main(arguments: Sequence[str]) -> int:
    if len(arguments) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    system, jemalloc, their_system, their_jemalloc = arguments
    programs = {"system": (system, their_system), "jemalloc": (jemalloc, their_jemalloc)}
    print(tables(measure(programs)), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
