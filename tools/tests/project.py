"""The made-up project of all tests: runs of three libraries on two hosts, and their reports.

Its figures are invented, the files have our own raw formats, and everything else (results, charts,
pages over several reports) is what `tlsperf render` and `tlsperf build` make of them. The bytes are
the same each time.
It has what pages can show, in a few rows each: rates, times, counts, bytes, memory, latencies with a
histogram, set-ups, threads, versions, a run in two sessions, a figure that must not count, a library
that cannot do something, a disturbed round, and a report that somebody else published.
`python tools/tests/project.py` writes one of its reports as data/schema/results.example.json.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import io
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import tomlkit

from encoded_histogram import encoded
from tlsperf.publish.build import build
from tlsperf.publish.render import render_reports
from tlsperf.publish.scaffold import new_report

ROOT: Final = Path(__file__).resolve().parents[2]
BORING: Final = "boringssl-30cd935"
OPENSSL: Final = "openssl-3.6.1"
RUSTLS: Final = "rustls-0.23.37-aws-lc-rs"
LIBRARIES: Final = (BORING, OPENSSL, RUSTLS)
HOST: Final = "example-host"
OTHER_HOST: Final = "example-arm"

AES128, AES256 = "AES_128_GCM_SHA256", "AES_256_GCM_SHA384"
HANDSHAKE: Final = {
    "operation": "handshake",
    "protocol": "1.3",
    "cipher_suite": f"TLS_{AES256}",
    "authentication": "server",
    "resumption": "none",
    "threads": 1,
}
HYBRID: Final = "X25519MLKEM768"
SIDES: Final = ("client", "server")

Observations = list[dict[str, Any]]
Figures = Callable[[str, str | None], Observations]
"""The figures of an implementation on a side, before noise."""


HOSTS: Final[dict[str, dict[str, Any]]] = {
    HOST: {
        "id": HOST,
        "description": "A bare-metal server, as an example.",
        "cpu": "Example Xeon E-2386G",
        "cpu_model": "family 6, model 167, stepping 1",
        "features": ["aes", "avx2", "avx512ifma"],
        "architecture": "x86_64",
        "cores": 2,
        "threads": 4,
        "memory_bytes": 34359738368,
        "os": "Debian 12 (Bookworm)",
        "virtual": False,
        "governor": "performance",
    },
    OTHER_HOST: {
        "id": OTHER_HOST,
        "cpu": "Example Altra",
        "cpu_model": "Neoverse N1, part 0xd0c",
        "architecture": "aarch64",
        "cores": 80,
        "threads": 80,
        "kernel": "6.1.0",
        "virtual": True,
        "virtualization": "kvm",
    },
}
"""A server, and a virtual machine of another architecture."""


@dataclass(frozen=True)
class Block:
    """A scenario with its sides and figures; `absent` has the implementations that cannot do it."""

    scenario: dict[str, Any]
    figures: Figures
    sides: Sequence[str | None] = SIDES
    absent: Sequence[str] = ()
    invalid: tuple[str, str] | None = None
    histogram: bool = False


@dataclass(frozen=True)
class MadeRun:
    """A run in our own raw format."""

    id: str
    suite: str
    blocks: Sequence[Block]
    family: str = ""
    host: str = HOST
    implementations: Sequence[str] = LIBRARIES
    rounds: int = 12
    sessions: int = 1
    disturbed: int | None = None
    counter: str | None = None
    commit: str | None = None
    overhead: bool = False
    """Whether each block has what reading the clock costs."""
    warning: str | None = None


# --- figures -------------------------------------------------------------------------------------


def speed(implementation: str, oldest: float | None = None) -> float:
    """How fast an implementation is; versions of one library differ by a few per cent.

    `oldest` is the factor of the two oldest, which only one run has.
    """
    library, version = implementation.split("-")[:2]
    factor = {"boringssl": 1.3, "openssl": 1.0, "rustls": 1.7, "aws": 1.5}[library]
    older = {"3.0.8": 0.8, "3.5.5": 0.99, "0.22.4": 0.9, "0.23.20": 0.998, "29cd934": 0.97}
    if oldest:
        older |= {"3.0.8": oldest, "0.22.4": oldest}
    return factor * older.get(version, 1.0)


def observation(
    metric: str, value: float, unit: str, phase: str = "total", statistic: str = "value"
) -> dict[str, Any]:
    found = {"phase": phase, "metric": metric, "statistic": statistic, "value": value, "unit": unit}
    return {key: value for key, value in found.items() if (key, value) != ("statistic", "value")}


def rate(
    base: float, unit: str = "handshakes/s", *, alike: bool = False, oldest: float | None = None
) -> Figures:
    """A rate, with its time by phase for handshakes; servers and receivers do a little less.

    Where all are alike, no difference can be shown.
    """

    def figures(implementation: str, side: str | None) -> Observations:
        value = base * (1.0 if alike else speed(implementation, oldest))
        value *= 0.9 if side in ("server", "receiver") else 1.0
        found = [observation("rate", value, unit)]
        if unit == "handshakes/s" and side:
            parts = {"construction": 0.05, "flight-1": 0.35, "flight-2": 0.6}
            found += [
                observation("duration", 1e6 / value * share, "µs", phase)
                for phase, share in parts.items()
            ]
        return found

    return figures


def latency(base: float) -> Figures:
    """A rate with the percentiles of single handshakes; a library's tail is not its median."""

    def figures(implementation: str, side: str | None) -> Observations:
        value = base * speed(implementation)
        tail = 1.0 + 0.2 * (LIBRARIES.index(implementation) + 1)
        percentiles = {"p5": 0.97, "p50": 1.0, "p90": 1.1, "p99": tail, "p99.9": 2 * tail}
        times = {**percentiles, "max": 6 * tail}
        return [
            *rate(base)(implementation, side),
            *(
                observation("duration", 1e6 / value * by, "µs", statistic=s)
                for s, by in times.items()
            ),
            *(
                observation("stall", 9e5 / value * times[s], "µs", statistic=s)
                for s in ("p50", "p99", "max")
            ),
        ]

    return figures


def memory(base: float) -> Figures:
    """Clients are alike, and servers are not."""

    def figures(implementation: str, side: str | None) -> Observations:
        held = base * (1.2 / speed(implementation) if side == "server" else 1.0)
        return [
            observation(metric, round(held * by), "bytes/connection", phase)
            for phase, by in (("construction", 0.5), ("handshake", 1.3), ("data", 1.0))
            for metric in ("allocated", "resident")
        ]

    return figures


def calls(base: int) -> Figures:
    """What a library asks of the allocator and the kernel for a handshake; of all, equal counts."""

    def figures(implementation: str, side: str | None) -> Observations:
        many = round(base / speed(implementation))
        return [
            observation("allocations", many, "allocations/handshake"),
            observation("allocated-in-all", 80 * many, "bytes/handshake"),
            observation("peak-allocated", 30 * many, "bytes"),
            observation("frees", many - 7, "frees/handshake"),
            observation("mutex-locks", 0, "locks/handshake"),
            observation("locked-instructions", 3 * many, "locked instructions/handshake"),
            observation("kernel-calls", 2 if implementation == OPENSSL else 0, "calls/handshake"),
        ]

    return figures


def wire(sent: int) -> Figures:
    """Bytes of a handshake in two flights of each side, and the calls for them."""

    def figures(implementation: str, side: str | None) -> Observations:
        whole = sent + (40 if implementation == RUSTLS else 0) + (1900 if side == "server" else 0)
        found: Observations = []
        for phase, share in (("flight-1", 0.75), ("flight-2", 0.25), ("total", 1.0)):
            size = round(whole * share)
            found += [
                observation("wire-bytes", size, "bytes/handshake", phase),
                observation("wire-records", 1 + (phase == "total"), "records/handshake", phase),
                observation("wire-messages", 1, "messages/handshake", phase),
                observation("wire-segments", -(-size // 1460), "segments/handshake", phase),
            ]
        return [
            *found,
            observation("key-share", sent - 200, "bytes"),
            observation("round-trips", 1, "round trips"),
            observation("transport-reads", 7 if implementation == BORING else 4, "reads/handshake"),
            observation("transport-writes", 2, "writes/handshake"),
            *(
                observation(f"{call}-size", size, "bytes", statistic=statistic)
                for call in ("read", "write")
                for statistic, size in (("value", 5), ("min", 1), ("max", 16389))
            ),
        ]

    return figures


def set_up(base: float) -> Figures:
    def figures(implementation: str, side: str | None) -> Observations:
        by = 1 / speed(implementation)
        return [
            observation("duration", base * by, "µs"),
            observation("duration", 0.9 * base * by, "µs", "construction"),
            observation("duration", 0.1 * base * by, "µs", "destruction"),
            observation("allocated", round(9000 * by), "bytes"),
            observation("resident", 8192, "bytes"),
            observation("allocations", round(300 * by), "allocations"),
            observation("allocated-in-all", round(20_000 * by), "bytes"),
            observation("peak-allocated", round(10_000 * by), "bytes"),
        ]

    return figures


def connection(base: float) -> Figures:
    """Connections of both sides together, or the processor time of one."""

    def figures(implementation: str, side: str | None) -> Observations:
        if side is None:
            return [observation("rate", base * speed(implementation), "connections/s")]
        time = 1e6 / base / speed(implementation) / 2
        return [
            observation("processor-time", time * share, "µs", phase)
            for phase, share in (("total", 1.0), ("user", 0.7), ("system", 0.3))
        ]

    return figures


# --- scenarios -----------------------------------------------------------------------------------


def full(certificate: str, group: str, **more: Any) -> dict[str, Any]:
    return {**HANDSHAKE, "certificate": certificate, "key_exchange": group, **more}


def resumed(protocol: str = "1.3", **more: Any) -> dict[str, Any]:
    group = {"key_exchange": "X25519"} if protocol == "1.3" else {}
    suite = f"TLS_{AES256}" if protocol == "1.3" else f"TLS_ECDHE_RSA_WITH_{AES256}"
    scenario = {**HANDSHAKE, "protocol": protocol, "cipher_suite": suite, **group, **more}
    return {**scenario, "resumption": "ticket"}


TRANSFER: Final = {
    "operation": "transfer",
    "protocol": "1.3",
    "cipher_suite": f"TLS_{AES256}",
    "size": 65536,
    "in_flight": 65536,
    "threads": 1,
}
ENDS: Final = ("sender", "receiver")
CHACHA: Final = {
    "operation": "transfer",
    "protocol": "1.3",
    "cipher_suite": "TLS_CHACHA20_POLY1305_SHA256",
    "threads": 1,
}
TLS12: Final = {"protocol": "1.2", "cipher_suite": f"TLS_ECDHE_RSA_WITH_{AES128}"}
SERVER: Final = (
    Block({**TRANSFER, **TLS12}, rate(6000, "MiB/s", alike=True), ENDS),
    Block(TRANSFER, rate(7000, "MiB/s"), ENDS),
    Block(full("rsa-2048", "X25519", **TLS12), rate(2700)),
    Block(full("rsa-2048", "X25519"), rate(2500)),
    Block(full("ecdsa-p256", "X25519"), rate(9000), invalid=(OPENSSL, "server")),
    Block(resumed(), rate(14_000), absent=(BORING,)),
)
IDLE: Final = Block({**full("ecdsa-p256", "X25519"), "operation": "memory"}, memory(20_000))
CERTIFICATES: Final = (("rsa-2048", 2500, 232), ("ecdsa-p256", 9000, 232), ("ml-dsa-44", 5000, 232))
HYBRID_COSTS: Final = {"X25519": (1.0, 0), HYBRID: (0.85, 1184)}


def post_quantum() -> Iterator[Block]:
    for certificate, base, _ in CERTIFICATES:
        for group, (share, _) in HYBRID_COSTS.items():
            yield Block(full(certificate, group), rate(base * share))
    hello = {"operation": "client-hello", "certificate": "ecdsa-p256"}
    for shares, base in (
        ("X25519", 110_000),
        (HYBRID, 30_000),
        (f"{HYBRID}+X25519-shared", 29_000),
    ):
        scenario = {**HANDSHAKE, **hello, "variant": shares}
        yield Block(scenario, rate(base, "operations/s"), ("client",))


def flights() -> Iterator[Block]:
    for certificate, _, sent in CERTIFICATES:
        for group, (_, added) in HYBRID_COSTS.items():
            yield Block(full(certificate, group), wire(sent + added))


def threads_of(scenario: dict[str, Any], base: float) -> Iterator[Block]:
    """One, two and four threads, of which two cores make less than twice as much."""
    for count, by in ((1, 1.0), (2, 1.9), (4, 1.95)):
        together = {**scenario, "threads": count}
        yield Block(together, rate(base * by), sides=(None, *SIDES))


VERSIONS: Final = (
    "openssl-3.0.8",
    "openssl-3.5.5",
    OPENSSL,
    "rustls-0.22.4-aws-lc-rs",
    "rustls-0.23.20-aws-lc-rs",
    RUSTLS,
)
OLDER: Final = ("boringssl-29cd934", "openssl-3.5.5", "rustls-0.23.20-aws-lc-rs")
BUILDS: Final = (
    *(f"openssl-3.{minor}.0" for minor in range(7)),
    *(f"rustls-0.{minor}.0-aws-lc-rs" for minor in range(19, 24)),
    "boringssl-0.20260101",
)
"""More than a page is wide."""
OF_HISTORY: Final = "2026-11-07-versions"
"""The run, and the report, of versions."""
OF_VERSIONS: Final = (
    Block(TRANSFER, rate(7000, "MiB/s", oldest=0.7), ENDS),
    Block(full("rsa-2048", "X25519"), rate(2500)),
    Block(resumed(), rate(14_000, oldest=1.2)),
)
SIZES: Final = (16, 256, 1024, 4096, 16384, 65536)
PRIMITIVES: Final = {
    "aes-256-gcm-seal-16384": (8000, "MiB/s"),
    "aes-256-gcm-open-16384": (8200, "MiB/s"),
    "rsa-2048-sign": (3000, "operations/s"),
    "ecdsa-p256-sign": (40_000, "operations/s"),
    "x25519": (30_000, "operations/s"),
}
CLIENT: Final = full("ecdsa-p256", "X25519")

OLD, NEW, ARM = "2026-10-01-server", "2026-11-21-server", "2026-10-02-arm"
BOTH, WIDE, PUBLISHED = "2026-10-03-hosts", "2026-11-06-builds", "2025-03-01-published"
BESIDE = "2026-10-07-beside"
"""A report of two parts, whose hosts stand side by side."""
HERE, THERE = "2026-10-05-here", "2026-10-06-there"
LATENCY = "2026-11-04-latency"

RUNS: Final = (
    MadeRun(OLD, "server", SERVER, "main", implementations=OLDER),
    MadeRun(NEW, "server", SERVER, "main", disturbed=3),
    MadeRun(ARM, "server", SERVER, "main", OTHER_HOST, rounds=4, sessions=2),
    MadeRun(HERE, "server", SERVER, "main"),
    MadeRun(THERE, "server", SERVER[:2], "main", OTHER_HOST),
    MadeRun("2026-11-02-post-quantum", "post-quantum", list(post_quantum())),
    MadeRun("2026-11-02-flights", "post-quantum", list(flights()), counter="wire", rounds=2),
    MadeRun("2026-10-04-idle", "memory", [IDLE], implementations=OLDER),
    MadeRun("2026-11-03-memory", "memory", [IDLE]),
    MadeRun(
        LATENCY,
        "latency",
        [
            Block(CLIENT, latency(9000), histogram=True),
            Block({**CLIENT, "threads": 2}, latency(17_000), invalid=(BORING, "server")),
            Block(resumed(), latency(14_000)),
        ],
    ),
    MadeRun(
        "2026-11-05-threads",
        "threads",
        [
            *threads_of(full("rsa-2048", "X25519"), 2000),
            *threads_of(resumed(), 9000),
            *threads_of(resumed("1.2", certificate="rsa-2048"), 15_000),
        ],
    ),
    MadeRun(
        WIDE,
        "configurations",
        [
            *(Block({**CHACHA, "size": s}, rate(3000, "MiB/s"), ENDS) for s in SIZES),
            Block(resumed(), rate(14_000)),
        ],
        implementations=BUILDS,
    ),
    MadeRun(OF_HISTORY, "history", OF_VERSIONS, implementations=VERSIONS),
    MadeRun("2026-11-08-calls", "calls", [Block(CLIENT, calls(260))], counter="calls", rounds=2),
    MadeRun(
        "2026-11-09-set-up",
        "set-up",
        [
            Block({**CLIENT, "operation": "set-up", "variant": variant}, set_up(base), (None,))
            for variant, base in (("client", 300), ("server", 400), ("process", 5000))
        ],
    ),
    MadeRun(
        "2026-11-10-sockets",
        "sockets",
        [
            Block(
                {**full("rsa-2048", "X25519"), "operation": "connection"},
                connection(1500),
                (None, *SIDES),
            ),
            Block(full("rsa-2048", "X25519"), rate(2500)),
        ],
    ),
    MadeRun(
        "2026-11-11-primitives",
        "primitives",
        [
            *(
                Block({"operation": "primitive", "variant": name}, rate(base, unit), (None,))
                for name, (base, unit) in PRIMITIVES.items()
            ),
            Block(TRANSFER, rate(7000, "MiB/s"), ENDS),
        ],
    ),
)

_NO_REPORT: Final = ("2026-11-02-flights", PUBLISHED, HERE, THERE)
REPORTS: Final[dict[str, tuple[str, ...]]] = {
    **{run.id: (run.id,) for run in RUNS if run.id not in _NO_REPORT},
    "2026-11-02-post-quantum": ("2026-11-02-post-quantum", "2026-11-02-flights"),
    PUBLISHED: (PUBLISHED,),
    BOTH: (OLD, ARM),
    BESIDE: (HERE, THERE),
}
"""The runs of each report."""

# --- writing -------------------------------------------------------------------------------------

NOISELESS: Final = (
    *("bytes", "allocations", "frees", "locks", "locked", "calls", "instructions"),
    *("reads", "writes", "records", "messages", "segments", "round trips"),
)


def with_noise(made: dict[str, Any], noise: random.Random, session: int) -> dict[str, Any]:
    """An observation of a round: times and rates differ by up to 1.6%, counts not at all."""
    if made["unit"].startswith(NOISELESS):
        return made
    shift = 1 + 0.008 * (noise.uniform(-1, 1) + noise.uniform(-1, 1)) + 0.004 * (session - 1)
    return {**made, "value": round(made["value"] * shift, 3)}


def raw_records(run: MadeRun) -> bytes:
    """The content of raw/records.jsonl."""
    noise = random.Random(run.id)
    lines: list[dict[str, Any]] = []

    def write(kind: str, in_round: int, **fields: Any) -> None:
        time = f"{run.id[:10]}T08:{len(lines) // 60 % 60:02}:{len(lines) % 60:02}Z"
        session = 1 + (in_round - 1) * run.sessions // run.rounds if run.sessions > 1 else 1
        placed = {"session": session} if run.sessions > 1 else {}
        lines.append(
            {"schema": 1, "kind": kind, "time": time, **placed, "round": in_round, **fields}
        )

    for in_round in range(1, run.rounds + 1 + (run.disturbed is not None)):
        session = 1 + (in_round - 1) * run.sessions // run.rounds if run.sessions > 1 else 1
        for number, block in enumerate(run.blocks):
            for implementation in run.implementations:
                mark = {"block": number, "implementation": implementation, "elapsed_seconds": 1.0}
                if implementation in block.absent:
                    reason = "it has no tickets in this build"
                    write("block", in_round, **mark, status="absent", reason=reason)
                    continue
                for side in block.sides:
                    scenario = {**block.scenario, **({"side": side} if side else {})}
                    if run.overhead:
                        cost = {"nanoseconds": 100.0, "clock_nanoseconds": 25.0}
                        of = {"implementation": implementation, "scenario": scenario}
                        write("overhead", in_round, **of, **cost)
                    found = block.figures(implementation, side)
                    made = [with_noise(it, noise, session) for it in found]
                    more: dict[str, Any] = {} if run.counter else {"elapsed_seconds": 0.5}
                    if (implementation, side) == block.invalid:
                        more |= {"valid": False, "note": "the process was stopped meanwhile"}
                    if block.histogram and side:
                        more["histogram"] = histogram(found)
                    write(
                        "measurement",
                        in_round,
                        implementation=implementation,
                        scenario=scenario,
                        observations=made,
                        operations=1000,
                        **more,
                    )
                write("block", in_round, **mark, status="measured")
        state: dict[str, Any] = {"elapsed_seconds": 60.0}
        if in_round == run.disturbed:
            state |= {"disturbed": True, "reasons": ["steal time 3.2% is above 1%"]}
        write("round", in_round, **state)
    text = "".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines
    )
    return text.encode()


def histogram(observations: Observations) -> str:
    """Handshakes around the median and a few in the tail, in bins of an HdrHistogram."""
    time = next(it["value"] for it in observations if it.get("statistic") == "p50") * 1000
    middle = bin_of(time)
    return encoded({middle - 20: 200, middle: 700, middle + 60: 90, middle + 400: 10})


def bin_of(nanoseconds: float) -> int:
    """The bin of a time in a histogram of 3 digits: 2,048 first bins, then 1,024 for each octave."""
    octave = max(0, int(nanoseconds).bit_length() - 11)
    return octave * 1024 + (int(nanoseconds) >> octave)


def described(run: MadeRun, implementation: str) -> dict[str, Any]:
    """An implementation as run.toml has it."""
    library, version, provider = ([*implementation.split("-", 2), ""])[:3]
    found: dict[str, Any] = {
        "id": implementation,
        "library": library,
        "version": version,
        "c_compiler": "clang 19.1.7",
        "linkage": "static",
        "binary_sha256": hashlib.sha256(implementation.encode()).hexdigest(),
    }
    if run.id == ARM:
        found |= {"configure": f"--enable-{library}", "flags": "-O3", "allocator": "system"}
        found["deviations"] = ["linked statically: its code is moved"]
    if provider:
        found |= {
            "provider": provider,
            "provider_version": "1.16.1",
            "rust_compiler": "rustc 1.94.0",
        }
    return found | ({"commit": run.commit} if run.commit else {})


def write_folder(folder: Path, table: dict[str, Any], name: str, data: bytes, format_: str) -> None:
    """Writes a run with one raw file."""
    (folder / "raw").mkdir(parents=True)
    (folder / "raw" / name).write_bytes(data)
    file = {
        "path": f"raw/{name}",
        "sha256": hashlib.sha256(data).hexdigest(),
        "bytes": len(data),
        "format": format_,
    }
    text = tomlkit.dumps({"schema": 1, **table, "files": [file]})
    (folder / "run.toml").write_text(text, encoding="utf-8")


def write_made(runs: Path, run: MadeRun) -> Path:
    """Writes a run into a folder of runs; returns the run's own."""
    command = f"tlsbench run --suite bench/suites/{run.suite}.toml --out data/runs/{run.id}"
    table: dict[str, Any] = {
        "id": run.id,
        "date": date.fromisoformat(run.id[:10]),
        "complete": True,
        "rounds": run.rounds,
        "seed": 42,
        "allocator": "system",
        "host_id": run.host,
        "host": HOSTS[run.host],
        "tool": {"name": "tlsbench", "version": "0.1.0", "commands": [command]},
        "suite": {"name": run.suite, "family": run.family or run.suite},
        "implementations": [described(run, it) for it in run.implementations],
    }
    if run.warning:
        table["warnings"] = [{"code": "interrupted", "message": run.warning}]
    if run.counter:
        table["counter"] = {"name": run.counter, "version": "3.19.0"}
    if run.commit:
        table["finished"] = datetime.fromisoformat(f"{run.id[:10]}T04:00:00Z")
    if run.sessions > 1:
        began = datetime.fromisoformat(f"{run.id[:10]}T08:00:00Z")
        table["sessions"] = [
            {
                "number": number,
                "started": began + timedelta(hours=number),
                "rounds": run.rounds // run.sessions,
                "seed": number,
            }
            for number in range(1, run.sessions + 1)
        ]
    write_folder(runs / run.id, table, "records.jsonl", raw_records(run), "tlsbench/1")
    return runs / run.id


_PUBLISHED: Final = """\
operation,protocol,cipher_suite,certificate,resumption,side,implementation,version,value,unit
transfer,1.3,aes-256-gcm,rsa-2048,none,sending,OpenSSL,3.3.2,5560.79,MB/s
transfer,1.3,aes-256-gcm,rsa-2048,none,sending,rustls,0.23.15,6043.04,MB/s
handshake,1.3,aes-256-gcm,rsa-2048,none,server,OpenSSL,3.3.2,1560.79,handshakes/s
handshake,1.3,aes-256-gcm,rsa-2048,none,server,rustls,0.23.15,2043.04,handshakes/s
"""
"""Figures that somebody else published, as the importer of `published` reads them."""

_NOTES: Final = f"""\
[[note]]
id = "two-programs"
kind = "tool"
title = "Two programs, not one"
text = "Each library was measured by a program of its own, as an example of a caveat."
warning = "The programs do not do the same work."
runs = ["{PUBLISHED}"]
sources = [{{ title = "Elsewhere", url = "https://example.org/programs" }}]

[[note]]
id = "one-side"
kind = "page"
title = "The page swapped two columns"
text = "A caveat about some rows, as an example."
runs = ["{PUBLISHED}"]
scenarios = [{{ operation = "transfer" }}]
sources = [{{ title = "Elsewhere", url = "https://example.org/page" }}]
"""


NOTE: Final = """\
[[note]]
id = "n"
kind = "setup"
title = "A title"
text = "A text."
runs = ["{run}"]
sources = [{{ title = "s", url = "https://example.org" }}]
"""
"""A note in data/notes.toml on a run, to be formatted with its id."""


def write_published(runs: Path) -> None:
    """Writes the run of a report that somebody else published."""
    table = {
        "id": PUBLISHED,
        "date": date.fromisoformat(PUBLISHED[:10]),
        "host_id": HOST,
        "tool": {"name": "openssl-bench, rustls' bench"},
        "suite": {"name": "published", "family": "main"},
        "source": {
            "title": "Elsewhere",
            "url": "https://example.org/",
            "estimator": "one run",
            "note": "Figures as published.",
        },
        "implementations": [
            {"id": "openssl-3.3.2", "library": "openssl", "version": "3.3.2"},
            {
                "id": "rustls-0.23.15-aws-lc-rs",
                "library": "rustls",
                "version": "0.23.15",
                "provider": "aws-lc-rs",
            },
        ],
    }
    write_folder(runs / PUBLISHED, table, "published.csv", _PUBLISHED.encode(), "published")


def write_hosts(root: Path) -> None:
    hosts = root / "data" / "hosts"
    hosts.mkdir(parents=True, exist_ok=True)
    for facts in HOSTS.values():
        table = {"schema": 1, "name": facts["cpu"], **facts}
        (hosts / f"{facts['id']}.toml").write_text(tomlkit.dumps(table), encoding="utf-8")


NIGHTS: Final = "main-branch"
STEP: Final = 7


def write_nights(root: Path) -> None:
    """Ten nights of a main branch; from the seventh on a full handshake takes 2% more instructions,
    and a resumed one 3% less.
    """

    def counted(base: float) -> Figures:
        def figures(_: str, side: str | None) -> Observations:
            more = 1.1 if side == "server" else 1.0
            return [observation("instructions", round(base * more), "instructions/handshake")]

        return figures

    for day in range(1, 11):
        changed = day >= STEP
        night = MadeRun(
            f"2026-11-{day:02}-rustls",
            "nightly",
            [
                Block(full("ecdsa-p256", "X25519"), counted(900_000 * (1.02 if changed else 1.0))),
                Block(resumed(), counted(300_000 * (0.97 if changed else 1.0))),
            ],
            implementations=[RUSTLS],
            rounds=3,
            counter="callgrind",
            commit=f"{day:02}" * 20,
        )
        write_made(root / "data" / "nightly" / NIGHTS, night)


_VERSIONS: Final = """\
+++
title = "Versions"
description = "What each release changed."
sort_by = "weight"
template = "versions.html"
page_template = "version.html"

[[extra.claims]]
text = "OpenSSL 3.5.5 sends faster than 3.0.8."
holds = "{row}: openssl-3.5.5 better than openssl-3.0.8"
reports = ["{report}"]

[[extra.claims]]
text = "Full handshakes of the main branch grew by no more than 2%."
holds = "change of full-handshake: * in ..2.5"
reports = ["{nights}"]
+++

OpenSSL 3.5.5 sends faster than 3.0.8. Full handshakes of the main branch grew by no more than 2%.

## Defaults that changed

None.
"""
_OF_LIBRARY: Final = """\
+++
title = "OpenSSL grew"
description = "Versions of OpenSSL."
weight = 1

[extra.versions]
library = "openssl"
report = "{report}"
rows = [
  {{ name = "Sending", row = "{row}", matrix = true }},
  {{ name = "New connections", row = "full-handshake-1-3-rsa-2048-x25519-server" }},
  {{ name = "Returning connections", row = "resumed-handshake-1-3-ticket-x25519-server", strip = false }},
]
+++

OpenSSL.
"""
_SAID: Final = """\
One sends {{{{ figure(row="{row}", implementation="{implementation}") }}}}: \
{{{{ ratio(row="{row}", implementation="{implementation}") }}}}.

- rustls sends fastest, well ahead of OpenSSL.

| Markdown | table |
|---|---:|
| as people | write them |
"""
_CLAIMS: Final = """\
[[extra.claims]]
text = "rustls sends fastest, well ahead of OpenSSL"
holds = "{row}: best is {implementation} and {implementation} / {baseline} in 1.02.. and {implementation} better than *"

"""
_BY_PHASE: Final = """\
{{ table(id="full-handshakes-phases") }}

{{ table(id="resumed-handshakes-phases") }}"""
ROW: Final = "transfer-1-3-aes-256-gcm-64-kib-in-flight-sending"
"""A row of the report NEW."""


def write_versions(root: Path) -> None:
    """The pages about versions: their room, and OpenSSL."""
    folder = root / "content" / "versions"
    (folder / "openssl").mkdir(parents=True)
    given = {"report": OF_HISTORY, "row": ROW, "nights": NIGHTS}
    (folder / "_index.md").write_text(_VERSIONS.format(**given), encoding="utf-8")
    (folder / "openssl" / "index.md").write_text(_OF_LIBRARY.format(**given), encoding="utf-8")


def write_reports(root: Path) -> None:
    """Writes each report as `tlsperf new` makes it, one of them with a claim and figures in its prose."""
    for name, runs in sorted(REPORTS.items()):
        page = new_report(root, runs, slug=name[11:], on=date.fromisoformat(name[:10]))
        if name == NEW:
            text = page.read_text(encoding="utf-8")
            said = _SAID.format(row=ROW, implementation=RUSTLS)
            text = text.replace("{{ picture() }}", f"{said}\n{{{{ picture() }}}}")
            claims = _CLAIMS.format(row=ROW, implementation=RUSTLS, baseline=OPENSSL)
            text = text.replace("\n+++\n", f"\n\n{claims}+++\n", 1)
            text = text.replace("## Changes", f"{_BY_PHASE}\n\n## Changes")
            page.write_text(text, encoding="utf-8")


_ROWS: Final = """\
[[extra.answer.rows]]
row = "{row}"
label = "{label}"

"""
_CONNECTION: Final = "connection-1-3-rsa-2048-x25519-{}-processor-time"
_FULL: Final = "full-handshake-1-3-rsa-2048-x25519-{}"
RECEIVING: Final = ROW.replace("sending", "receiving")
AHEAD, SINCE, CORES = "ahead", "since", "cores"
FIRST: Final = "openssl-3.0.8"
"""The baseline of SINCE; that of its report is another."""
_LEAD: Final = "rustls sends more than half again as much as OpenSSL."
_STEP: Final = "OpenSSL has become at least a fifth faster."
_ANSWERS: Final = {
    "": f"""\
+++
title = "Libraries against OpenSSL"
[extra.answer]
caption = "TLS 1.3, one thread."
parts = ["{HERE}", "{THERE}"]
{_ROWS.format(row=ROW, label="Sending")}{_ROWS.format(row=RECEIVING, label="Receiving")}+++

How fast some libraries are.
""",
    AHEAD: f"""\
+++
title = "Which one is ahead?"
weight = 1
description = "{_LEAD}"
[extra.answer]
parts = ["{HERE}", "{THERE}"]
{_ROWS.format(row=ROW, label="Sending")}{_ROWS.format(row=RECEIVING, label="Receiving")}[[extra.claims]]
text = "{_LEAD}"
holds = "{ROW}: {RUSTLS} / {OPENSSL} in 1.5.."
reports = ["{HERE}", "{THERE}"]
+++

{_LEAD}

## What would change the answer

Another key.
""",
    SINCE: f"""\
+++
title = "What has changed?"
weight = 2
description = "{_STEP}"
[extra.answer]
parts = ["2026-11-07-versions"]
implementations = ["{FIRST}", "openssl-3.5.5", "{OPENSSL}"]
baseline = "{FIRST}"
{_ROWS.format(row=ROW, label="Sending")}{_ROWS.format(row=RECEIVING, label="Receiving")}{_ROWS.format(row=_FULL.format("server"), label="New")}{_ROWS.format(row=_FULL.format("client"), label="New, client")}[[extra.claims]]
text = "{_STEP}"
holds = "{ROW}: openssl-3.5.5 / {FIRST} in 1.2.."
reports = ["2026-11-07-versions"]
+++

{_STEP}
""",
    CORES: f"""\
+++
title = "How many cores?"
weight = 3
description = "Some cores."
template = "cores.html"
[extra.answer]
parts = ["2026-11-10-sockets"]
{_ROWS.format(row=_CONNECTION.format("server"), label="New")}[extra.answer.cores]
alone = {{ ecdsa = "{_FULL.format("server")}", rsa = "{_FULL.format("client")}", resumed = "{_FULL.format("server")}" }}
socket = {{ ecdsa = "{_CONNECTION.format("server")}", rsa = "{_CONNECTION.format("client")}", resumed = "{_CONNECTION.format("server")}" }}
+++

Some cores.
""",
}


def write_answers(root: Path) -> None:
    """Writes the home page, and the pages that answer a question."""
    for name, text in _ANSWERS.items():
        path = root / "content" / (f"answers/{name}/index.md" if name else "_index.md")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def render_and_build(root: Path) -> None:
    """Runs both commands on a site; what they print is not of interest."""
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        render_reports(root, check=False)
        build(root)


def write_project(root: Path) -> Path:
    """Writes data and reports below `root`, rendered; returns `root`."""
    shutil.copy(ROOT / "config.toml", root)
    runs = root / "data" / "runs"
    write_hosts(root)
    for run in RUNS:
        write_made(runs, run)
    write_published(runs)
    write_nights(root)
    (root / "data" / "notes.toml").write_text(_NOTES, encoding="utf-8")
    write_reports(root)
    write_answers(root)
    write_versions(root)
    render_and_build(root)
    return root


SMALL: Final = MadeRun(
    "2026-11-21-small", "server", [Block(TRANSFER, rate(7000, "MiB/s"), ENDS)], "main"
)


def files(root: Path) -> dict[str, bytes]:
    """The files of a site, without what git does not look at anyway."""
    paths = (path for path in root.rglob("*") if path.is_file())
    names = {path.relative_to(root).as_posix(): path for path in sorted(paths)}
    return {
        name: path.read_bytes()
        for name, path in names.items()
        if not name.startswith((".git/", "build/"))
    }


def write_site(root: Path, *runs: MadeRun) -> Path:
    """Writes runs, each with a built report, below `root`; returns the newest report's folder."""
    shutil.copy(ROOT / "config.toml", root)
    write_hosts(root)
    for run in runs:
        write_made(root / "data" / "runs", run)
        page = new_report(root, [run.id])
    render_and_build(root)
    return page.parent


def write_small(root: Path, *earlier: str) -> Path:
    """Writes a run of one scenario and its report, for tests that render again and again.

    `earlier` are days of more runs with the same figures. Returns the folder of the newest report.
    """
    days = (*earlier, SMALL.id[:10])
    return write_site(root, *(replace(SMALL, id=f"{day}{SMALL.id[10:]}") for day in days))


# --- its site -----------------------------------------------------------------------------------

_OVER_ALL: Final = {("content", name) for name in ("perf", "answers", "compare", "versions")}


def results_of(root: Path, report: str) -> dict[str, Any]:
    """The content of the results.json of a report."""
    text = (root / "content" / "perf" / report / "results.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


def empty_site(site: Path) -> Path:
    """Copies the site to `site`, without reports, answers and pages over all reports."""

    def generated(folder: str, names: list[str]) -> list[str]:
        below = Path(folder).relative_to(ROOT).parts
        return [n for n in names if n != "_index.md"] if below in _OVER_ALL else []

    for name in ("templates", "static", "content"):
        shutil.copytree(ROOT / name, site / name, symlinks=True, ignore=generated)
    for path in (site / "content").iterdir():
        if path.is_file() and path.suffix != ".md":
            path.unlink()
    (site / "content" / "_index.md").write_text("+++\n+++\n\nWhat was made up.\n", "utf-8")
    shutil.copy(ROOT / "config.toml", site)
    shutil.copytree(ROOT / "data" / "schema", site / "data" / "schema")
    for name in ("biases.toml", "library-pages.toml"):
        shutil.copy(ROOT / "data" / name, site / "data")
    return site


def make_site(site: Path, project: Path) -> Path:
    """Copies the site to `site`, with the made-up project in place of what is committed."""
    empty_site(site)
    for name in ("content", "data", "static"):
        shutil.copytree(project / name, site / name, dirs_exist_ok=True)
    return site


# --- made once for all tests, and again when what it is made of has changed ----------------------

KEPT: Final = ROOT / "build" / "fixture"
PROJECT_SOURCES: Final = (
    *(ROOT / "tools" / "src", ROOT / "tools" / "requirements.txt", ROOT / "config.toml"),
    *(Path(__file__).with_name(f"{name}.py") for name in ("project", "encoded_histogram")),
    *(ROOT / "data" / "libraries.toml", ROOT / "data" / "schema"),
    *sorted((ROOT / "bench" / "libraries").glob("*/library.toml")),
)
"""What the made-up project is made of."""

MADE: Final = frozenset({"tlsperf.egg-info", ".pyc"})
"""What running the tools writes beside their source."""


def kept(name: str, sources: Iterable[Path], make: Callable[[Path], object]) -> Path:
    """A folder that `make` fills from the sources. Tests must only read it."""
    digest = hashlib.sha256()
    for source in sources:
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        for path in files:
            if path.is_file() and not MADE & {*path.parts, path.suffix}:
                digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes())
    folder = KEPT / f"{name}-{digest.hexdigest()[:16]}"
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            # Another run of the tests may be reading the newest of them.
            older = sorted(KEPT.glob(f"{name}-*"), key=lambda path: path.stat().st_mtime)
            for path in older[:-1]:
                shutil.rmtree(path)
            unfinished = KEPT / f"{name}.unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


# --- one run and its report ----------------------------------------------------------------------

RUN: Final = "2026-11-21-example"
DISTURBED: Final = 5
MADE_UP: Final = MadeRun(
    RUN,
    "standard",
    SERVER,
    "main",
    disturbed=DISTURBED,
    overhead=True,
    warning="Made-up figures, as an example of the format.",
)
EXAMPLE: Final = ROOT / "data" / "schema" / "results.example.json"


def write_run(root: Path) -> Path:
    """Writes the run and its host below `root`; returns the run's folder."""
    write_hosts(root)
    return write_made(root / "data" / "runs", MADE_UP)


def write_report(root: Path) -> Path:
    """Writes the run and a built report on it below `root`; returns the report's folder."""
    return write_site(root, MADE_UP)


def main() -> None:
    """Writes the contract's example of results.json."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(write_report(Path(folder)) / "results.json", EXAMPLE)
    print(f"wrote {EXAMPLE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
