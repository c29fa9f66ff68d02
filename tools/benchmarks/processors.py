"""Counts the same programs on several emulated processors: do counts depend on the host's?

    python tools/benchmarks/processors.py [PROGRAM …]    print a table (about a minute)

Valgrind reads the features of the host, and emulates a processor with those that it supports. To
emulate other hosts, the script changes copies of Valgrind's tools where they store these features:
one copy has no RDRAND and no RDSEED, and another has no AVX2, BMI and F16C either, as before
Haswell. The script stops if the tools differ from those of Debian 12 (Valgrind 3.19.0). It counts
few operations in one process; the counts of handshakes repeat within 0.2%.

Requires the built programs (`make libraries`) and that version of Valgrind.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

TOOLS: Final = Path("/usr/libexec/valgrind")
TOOL: Final = "callgrind-amd64-linux"
RELEASE: Final = Path(__file__).parents[2] / "bench" / "target" / "release"
PROGRAMS: Final = ("tls-rustls-aws-lc-rs", "tls-openssl", "tls-boringssl")

LEAF_7: Final = "81e6{avx2} 4181e0{rdseed} c1e10d 81e7{bmi} c1e20e"
"""and $avx2, %esi; and $rdseed, %r8d; shl $13, %ecx; and $bmi, %edi; shl $14, %edx."""
LEAF_1: Final = "c1ea1e 83e1{f16c} 89d6 884c2410 83e6{rdrand}"
"""shr $30, %edx; and $f16c, %ecx; mov %edx, %esi; mov %cl, 16(%rsp); and $rdrand, %esi."""
THERE: Final = {
    **{"avx2": "00080000", "rdseed": "00800000", "bmi": "00040000"},
    **{"f16c": "01", "rdrand": "01"},
}
PROCESSORS: Final = {
    "host": (),
    "without RDRAND, RDSEED": ("rdrand", "rdseed"),
    "before Haswell": ("rdrand", "rdseed", "avx2", "bmi", "f16c"),
}

COMMON: Final = {
    "protocol": "1.3",
    "cipher_suite": "TLS_AES_256_GCM_SHA384",
    "key_exchange": "X25519MLKEM768",
    "authentication": "server",
    "resumption": "none",
    "threads": 1,
}
TRANSFER: Final = {"operation": "transfer", "certificate": "rsa-2048", **COMMON} | {
    "size": 65536,
    "in_flight": 65536,
}
HANDSHAKE: Final = {"operation": "handshake", "certificate": "ecdsa-p256", **COMMON}
COUNTED: Final[dict[str, dict[str, Any]]] = {
    "transfer 1.3, sending": {"scenario": TRANSFER, "side": "sender", "steps": 4},
    "full handshake 1.3, ECDSA, server": {"scenario": HANDSHAKE, "side": "server", "steps": 32},
}


def without(features: tuple[str, ...], folder: Path) -> Path:
    """A copy of Valgrind's tools that find none of the features; SystemExit if they are others."""
    shutil.copytree(TOOLS, folder)
    gone = THERE | {name: "0" * len(THERE[name]) for name in features}
    data = (TOOLS / TOOL).read_bytes()
    for code in (LEAF_7, LEAF_1):
        found = bytes.fromhex(code.format(**THERE))
        if data.count(found) != 1:
            raise SystemExit(f"{TOOLS / TOOL}: expected that of Valgrind 3.19.0, Debian 12")
        data = data.replace(found, bytes.fromhex(code.format(**gone)))
    (folder / TOOL).write_bytes(data)
    return folder


def count(program: str, counting: dict[str, Any], tools: Path) -> int:
    """Instructions of some operations, in a process as `tlsbench` starts them."""
    command = ["valgrind", "--command-line-only=yes", "--tool=callgrind", "--quiet", "--vgdb=no"]
    command += ["--collect-atstart=no", "--instr-atstart=no"]
    command += ["--callgrind-out-file=/proc/self/fd/1", str(RELEASE / program), "count"]
    environment = {
        **os.environ,
        "VALGRIND_LIB": str(tools),
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=127",
    }
    environment.pop("OPENSSL_ia32cap", None)
    asked = json.dumps({**counting, "warm_up": 10})
    done = subprocess.run(command, input=asked, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    return int(done.stdout.rsplit("totals:", 1)[1])


def main() -> None:
    print(f"| program | operation | {' | '.join(PROCESSORS)} |")
    print(f"|---|---|{'---:|' * len(PROCESSORS)}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        tools = [
            without(features, Path(folder) / str(number))
            for number, features in enumerate(PROCESSORS.values())
        ]
        for program in sys.argv[1:] or PROGRAMS:
            for name, counting in COUNTED.items():
                host, *others = (count(program, counting, it) for it in tools)
                changes = " | ".join(f"{other / host - 1:+.3%}" for other in others)
                print(f"| {program} | {name} | {host:,} | {changes} |", flush=True)


if __name__ == "__main__":
    main()
