"""Checks the harness' time for loading trust anchors against a loop in C, in set_up.md.

    python tools/benchmarks/set_up.py PEM VERSION=PREFIX,PROGRAM VERSION=PREFIX,PROGRAM ...

Each VERSION of OpenSSL is followed by the folder it is installed in and by the harness program that
is linked with it; factors are relative to the first. `tlsbench build --suite FILE` makes both:
build/matrix/prefixes/*/prefix and build/matrix/*/program. A version that no suite lists must first
be added to bench/matrix.lock, by `tlsbench lock --suite FILE`. `PEM` is a file with the anchors of
the scenario `anchors-mozilla`: `cargo run -p tls-harness --example certificates -- mozilla`. The
rounds are interleaved.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Final

LOOP: Final = Path(__file__).with_name("set_up.c")
NOTE: Final = Path(__file__).with_name("set_up.md")

ROUNDS: Final = 5
LOADS: Final = 100
"""Loads of each loop in C in a round; its thread has 1,000 of them."""

LIMIT: Final = 0.1
"""Limit for the difference between the factors of loop and harness."""

_SCENARIO: Final = {
    "operation": "set-up",
    "protocol": "1.3",
    "cipher_suite": "TLS_AES_256_GCM_SHA384",
    "key_exchange": "X25519",
    "certificate": "ecdsa-p256",
    "authentication": "server",
    "resumption": "none",
    "threads": 1,
    "variant": "anchors-mozilla",
}

HARNESS: Final = "harness, `anchors-mozilla`"
LOOPS: Final = {
    "one-context": "loop in C, one SSL_CTX as in the thread",
    "own-store": "loop in C, a store for each load",
}


def compiled(prefix: Path, folder: Path, version: str) -> Path:
    """The program of the loop in C, linked with one OpenSSL."""
    program = folder / version
    libraries = [
        str(found) for name in ("ssl", "crypto") for found in prefix.glob(f"lib*/lib{name}.a")
    ]
    command = ["cc", "-O2", f"-I{prefix / 'include'}", str(LOOP), "-o", str(program), *libraries]
    subprocess.run([*command, "-lpthread", "-ldl"], check=True)
    return program


def by_loop(program: Path, pem: Path) -> dict[str, float]:
    """Milliseconds of one load, measured by the loop."""
    command = [str(program), str(pem), str(LOADS)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    pairs = (line.split() for line in output.splitlines())
    return {LOOPS[name]: float(milliseconds) / LOADS for name, milliseconds in pairs}


def by_harness(program: Path) -> float:
    """Milliseconds of one load and of freeing what it loaded, measured by the harness."""
    request = {
        "schema": 1,
        "round": 1,
        "block": 0,
        "implementation": "openssl",
        "scenario": _SCENARIO,
        "measure_seconds": 1.0,
        "warmup_seconds": 0.1,
    }
    command = [str(program), "measure"]
    output = subprocess.run(
        command, input=json.dumps(request), check=True, capture_output=True, text=True
    ).stdout
    records = (json.loads(line) for line in output.splitlines())
    measured = next(record for record in records if record["kind"] == "measurement")
    return 1e3 * float(measured["elapsed_seconds"]) / int(measured["operations"])


def apart(factors: dict[str, dict[str, float]], version: str) -> float:
    """Relative difference between the factors of the harness and of the loop that does the same."""
    return abs(factors[HARNESS][version] / factors[LOOPS["own-store"]][version] - 1)


def note(versions: list[str], figures: dict[str, dict[str, list[float]]], command: str) -> str:
    """The text of the tables, and whether the factors agree."""
    medians = {
        what: {version: statistics.median(rounds) for version, rounds in found.items()}
        for what, found in figures.items()
    }
    first, *later = versions
    factors = {
        what: {version: found[version] / found[first] for version in later}
        for what, found in medians.items()
    }
    lines = [
        "# Trust anchors: OpenSSL " + ", ".join(versions[:-1]) + f" and {versions[-1]}",
        "",
        f"Written by `{command}`. A cell has the median of {ROUNDS} interleaved",
        "rounds, in milliseconds for one load of Mozilla's list. In each round the loop in C",
        f"(`set_up.c`) loads it {LOADS} times, and the harness measures for a second. The factor",
        f"relative to {first} is in brackets.",
        "",
        "| what | " + " | ".join(versions) + " |",
        "|---|" + "---:|" * len(versions),
    ]
    for what, found in medians.items():
        cells = [f"{found[first]:.3f}"]
        cells += [f"{found[it]:.3f} ({factors[what][it]:.2f}x)" for it in later]
        lines.append(f"| {what} | " + " | ".join(cells) + " |")
    lines += [
        "",
        "Difference between the factors of the harness and of the loop with a store for each load:",
        "",
    ]
    for version in later:
        difference = apart(factors, version)
        verdict = "within" if difference <= LIMIT else "beyond"
        lines.append(
            f"- {version}: {100 * difference:.1f}%, {verdict} the limit of {100 * LIMIT:.0f}%"
        )
    lines += [
        "",
        "The issue openssl/openssl#16878 reports 4,508 ms for 1,000 loads with 1.1.1 and 50,872 ms",
        "with 3.0.0, a factor of 11.28. Its author used another machine and another list.",
        "",
    ]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Measures, and writes the note; returns the exit code."""
    builds = [(text.partition("=")[0], text.partition("=")[2].split(",")) for text in arguments[1:]]
    if len(builds) < 2 or any(len(paths) != 2 for _, paths in builds):
        print("expected PEM VERSION=PREFIX,PROGRAM VERSION=PREFIX,PROGRAM ...", file=sys.stderr)
        return 1
    pem = Path(arguments[0])
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory() as folder:
        loops = {name: compiled(Path(prefix), Path(folder), name) for name, (prefix, _) in builds}
        for _ in range(ROUNDS):
            for name, (_, program) in builds:
                for what, milliseconds in by_loop(loops[name], pem).items():
                    figures[what][name].append(milliseconds)
                figures[HARNESS][name].append(by_harness(Path(program)))
    command = "python tools/benchmarks/set_up.py"
    NOTE.write_text(note([name for name, _ in builds], figures, command), encoding="utf-8")
    print(NOTE.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
