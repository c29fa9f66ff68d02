"""A run of made-up figures in our own raw format, only for tests and the contract's example.

It has the sixteen scenarios of the main report, three libraries and twelve rounds. One library
cannot do one block, one measurement is marked invalid, and one round was disturbed and repeated.
The bytes are the same each time: `python tools/tests/fixture_run.py` writes
data/schema/results.example.json from it.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
RUN: Final = "2026-11-21-example"
ROUNDS: Final = 12
DISTURBED: Final = 5
EXAMPLE: Final = ROOT / "data" / "schema" / "results.example.json"

# Medians of the made-up figures by block: one for each side of each library.
_LIBRARIES: Final = ("boringssl-30cd935", "openssl-3.6.1", "rustls-0.23.37-aws-lc-rs")
_MEDIANS: Final = (
    ((8292, 6722), (6610, 7129), (8134, 7947)),
    ((7565, 6218), (5844, 6238), (7421, 7333)),
    ((5658, 1550), (3187, 1720), (8123, 1790)),
    ((4900, 9000), (3900, 9700), (5300, 12100)),
    ((3100, 1400), (2200, 1350), (4600, 1640)),
    ((2900, 5100), (2350, 4700), (3500, 6600)),
    ((45390, 44429), (21137, 22647), (63870, 72481)),
    ((4648, 4700), (3595, 3780), (6736, 7249)),
)
_AES128, _AES256 = "AES_128_GCM_SHA256", "AES_256_GCM_SHA384"
_TRANSFER: Final = {"operation": "transfer", "authentication": "server", "resumption": "none"}
_SIZE: Final = {"threads": 1, "size": 1048576}
_FULL: Final = {"operation": "handshake", "authentication": "server", "resumption": "none"}
_RESUMED: Final = {**_FULL, "resumption": "ticket"}
_TLS12: Final = {"protocol": "1.2", "key_exchange": "X25519"}
_TLS13: Final = {"protocol": "1.3", "key_exchange": "X25519MLKEM768"}
_RSA: Final = {"certificate": "rsa-2048", "cipher_suite": f"TLS_ECDHE_RSA_WITH_{_AES256}"}
_ECDSA: Final = {"certificate": "ecdsa-p256", "cipher_suite": f"TLS_ECDHE_ECDSA_WITH_{_AES256}"}
_SUITE13: Final = {"cipher_suite": f"TLS_{_AES256}"}
_BLOCKS: Final[tuple[dict[str, Any], ...]] = (
    {**_TRANSFER, **_TLS12, **_RSA, "cipher_suite": f"TLS_ECDHE_RSA_WITH_{_AES128}", **_SIZE},
    {**_TRANSFER, **_TLS13, **_RSA, **_SUITE13, **_SIZE},
    {**_FULL, **_TLS12, **_RSA, "threads": 1},
    {**_FULL, **_TLS12, **_ECDSA, "threads": 1},
    {**_FULL, **_TLS13, **_RSA, **_SUITE13, "threads": 1},
    {**_FULL, **_TLS13, **_ECDSA, **_SUITE13, "threads": 1},
    {**_RESUMED, **_RSA, "protocol": "1.2", "threads": 1},
    {**_RESUMED, **_TLS13, **_RSA, **_SUITE13, "threads": 1},
)
_ABSENT: Final = (7, "boringssl-30cd935")
_INVALID: Final = (6, "openssl-3.6.1", "server")

_RUN_TOML: Final = """\
schema = 1
id = "{run}"
date = 2026-11-21
complete = true
rounds = {rounds}
seed = 42
allocator = "system"
host_id = "example-host"

[tool]
name = "tlsbench"
version = "0.1.0"
commands = ["tlsbench run --suite bench/suites/standard.toml --out data/runs/{run}"]

[suite]
name = "standard"
family = "main"

[[warnings]]
code = "interrupted"
message = "Made-up figures, as an example of the format."

[[implementations]]
id = "boringssl-30cd935"
library = "boringssl"
version = "30cd935"
c_compiler = "clang 19.1.7"
linkage = "static"

[[implementations]]
id = "openssl-3.6.1"
library = "openssl"
version = "3.6.1"
c_compiler = "clang 19.1.7"
linkage = "static"

[[implementations]]
id = "rustls-0.23.37-aws-lc-rs"
library = "rustls"
version = "0.23.37"
provider = "aws-lc-rs"
provider_version = "1.16.1"
rust_compiler = "rustc 1.94.0"
c_compiler = "clang 19.1.7"
linkage = "static"

[[files]]
path = "raw/records.jsonl"
sha256 = "{sha256}"
bytes = {bytes}
format = "tlsbench/1"
"""


def records() -> bytes:
    """The content of raw/records.jsonl."""
    random_ = random.Random(42)
    lines: list[dict[str, Any]] = []

    def write(kind: str, in_round: int, **fields: Any) -> None:
        time = f"2026-11-21T08:{len(lines) // 60 % 60:02}:{len(lines) % 60:02}Z"
        lines.append({"schema": 1, "kind": kind, "time": time, "round": in_round, **fields})

    for in_round in range(1, ROUNDS + 2):
        for block, (scenario, medians) in enumerate(zip(_BLOCKS, _MEDIANS, strict=True)):
            transfer = scenario["operation"] == "transfer"
            sides = ("sender", "receiver") if transfer else ("client", "server")
            for implementation, figures in zip(_LIBRARIES, medians, strict=True):
                mark = {"block": block, "implementation": implementation, "elapsed_seconds": 1.0}
                if (block, implementation) == _ABSENT:
                    reason = "an example of what a library cannot do"
                    write("block", in_round, **mark, status="absent", reason=reason)
                    continue
                for side in sides:
                    write(
                        "overhead",
                        in_round,
                        implementation=implementation,
                        clock_nanoseconds=25.0,
                        scenario={**scenario, "side": side},
                        nanoseconds=100.0,
                    )
                for side, median in zip(sides, figures, strict=True):
                    noise = random_.uniform(-1, 1) + random_.uniform(-1, 1)
                    rate = round(median * (1 + 0.008 * noise), 2)
                    unit = "MiB/s" if transfer else "handshakes/s"
                    observations = [{"metric": "rate", "value": rate, "unit": unit}]
                    if not transfer:
                        parts = {"construction": 0.05, "flight-1": 0.35, "flight-2": 0.6}
                        observations += [
                            {
                                "phase": phase,
                                "metric": "duration",
                                "value": round(1e6 / rate * share, 3),
                                "unit": "µs",
                            }
                            for phase, share in parts.items()
                        ]
                    extra: dict[str, Any] = {}
                    if (block, implementation, side) == _INVALID:
                        note = "an example of what must not count"
                        extra = {"valid": False, "note": note}
                    write(
                        "measurement",
                        in_round,
                        implementation=implementation,
                        scenario={**scenario, "side": side},
                        observations=observations,
                        operations=1000,
                        elapsed_seconds=0.5,
                        **extra,
                    )
                write("block", in_round, **mark, status="measured")
        state: dict[str, Any] = {"elapsed_seconds": 60.0}
        if in_round == DISTURBED:
            state |= {"disturbed": True, "reasons": ["steal time 3.2% is above 1%"]}
        write("round", in_round, **state)
    return b"".join(
        json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        for line in lines
    )


def write_run(root: Path) -> Path:
    """Writes the run and its host below `root`; returns the run's folder."""
    folder = root / "data" / "runs" / RUN
    (folder / "raw").mkdir(parents=True)
    data = records()
    (folder / "raw" / "records.jsonl").write_bytes(data)
    described = _RUN_TOML.format(
        run=RUN, rounds=ROUNDS, sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)
    )
    (folder / "run.toml").write_text(described, encoding="utf-8")
    hosts = root / "data" / "hosts"
    hosts.mkdir(exist_ok=True)
    shutil.copy(ROOT / "data" / "schema" / "host.example.toml", hosts / "example-host.toml")
    return folder


def write_report(root: Path) -> Path:
    """Writes the run and a rendered report on it below `root`; returns the report's folder."""
    from tlsperf.publish.build import build
    from tlsperf.publish.render import render_reports
    from tlsperf.publish.scaffold import new_report

    write_run(root)
    shutil.copy(ROOT / "config.toml", root)
    page = new_report(root, [RUN], title="Example report")
    render_reports(root, check=False)
    build(root)
    return page.parent


def main() -> None:
    """Writes the contract's example of results.json."""
    # The paths in the scratch folder must not be printed.
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    with tempfile.TemporaryDirectory() as folder, quiet[0], quiet[1]:
        report = write_report(Path(folder))
        EXAMPLE.write_bytes((report / "results.json").read_bytes())
    print(f"wrote {EXAMPLE.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
