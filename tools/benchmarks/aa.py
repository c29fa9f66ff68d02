"""A/A test of the harness: each library is compared with itself.

    python tools/benchmarks/aa.py           measure (about six minutes), write aa.json and aa.md
    python tools/benchmarks/aa.py table     write aa.md again, from aa.json

The suite lists each program twice: `tlsbench` measures it as two implementations, interleaved with
the others like any two libraries. Only the names of the two differ. 5% of the 95% intervals of
their ratios must exclude 1. A higher share would mean that the harness, the schedule or the host
favours one of them, or that intervals are too narrow.

The programs must be built (`make libraries`), and the host must have nothing else to do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

from scipy import stats

from tlsperf.analysis.noise import duplicate_pairs
from tlsperf.analysis.series import measured, row_names
from tlsperf.analysis.statistics import RatioEstimate, paired_ratio, percentile_95
from tlsperf.contract.record import Scenario
from tlsperf.contract.text import implementation_label
from tlsperf.load.run import LoadedRun, load_run

ROUNDS: Final = 15
MEASURE_SECONDS: Final = 0.08
WARMUP_SECONDS: Final = 0.02
PROGRAMS: Final = ("tls-rustls-aws-lc-rs", "tls-openssl", "tls-boringssl")

MEASURED: Final = Path(__file__).with_name("aa.json")
TABLE: Final = Path(__file__).with_name("aa.md")
RELEASE: Final = Path(__file__).parents[2] / "bench" / "target" / "release"

HYBRID: Final = "X25519MLKEM768"


def scenarios() -> Iterator[Scenario]:
    """The measured scenarios, each without its side: every timed kind in its usual forms.

    Memory is left out: it is counted, not timed, and the counts are the same each time.
    """

    def of(operation: str, protocol: str, suite: str, **more: Any) -> Scenario:
        given = {
            "certificate": "rsa-2048",
            "authentication": "server",
            "resumption": "none",
            "threads": 1,
            **more,
        }
        return Scenario.model_validate(
            {"operation": operation, "protocol": protocol, "cipher_suite": suite, **given}
        )

    aes_13, rsa_12 = "TLS_AES_256_GCM_SHA384", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"
    ecdsa_12 = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
    for protocol, suite in [
        ("1.2", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
        ("1.2", "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
        ("1.3", "TLS_AES_128_GCM_SHA256"),
        ("1.3", "TLS_CHACHA20_POLY1305_SHA256"),
    ]:
        yield of("transfer", protocol, suite, key_exchange="X25519", size=1 << 20)
    for size, threads in [(1 << 20, 1), (1 << 20, 2), (1 << 14, 1), (1 << 10, 1)]:
        yield of("transfer", "1.3", aes_13, key_exchange=HYBRID, size=size, threads=threads)
    yield of("handshake", "1.2", rsa_12, key_exchange="X25519")
    yield of("handshake", "1.2", rsa_12, key_exchange="X25519", authentication="mutual")
    yield of("handshake", "1.2", ecdsa_12, key_exchange="X25519", certificate="ecdsa-p256")
    for resumption in ("session-id", "ticket"):
        yield of("handshake", "1.2", rsa_12, resumption=resumption)
    for group, certificate in product((HYBRID, "X25519"), ("rsa-2048", "ecdsa-p256")):
        yield of("handshake", "1.3", aes_13, key_exchange=group, certificate=certificate)
    for group in (HYBRID, "X25519"):
        yield of("handshake", "1.3", aes_13, key_exchange=group, resumption="ticket")
    ecdsa = {"key_exchange": "X25519", "certificate": "ecdsa-p256"}
    yield of("handshake", "1.3", aes_13, **{**ecdsa, "key_exchange": "secp256r1"})
    yield of("handshake", "1.3", aes_13, **ecdsa, authentication="mutual")
    yield of("handshake", "1.3", aes_13, **ecdsa, threads=2)
    for group in (HYBRID, "X25519"):
        yield of("client-hello", "1.3", aes_13, variant=group)


def suite() -> str:
    """The suite in the format of `tlsbench`."""
    lines = [
        "schema = 1",
        'name = "aa"',
        'family = "aa"',
        'description = "Every library against itself"',
        f"rounds = {ROUNDS}",
        f"measure_seconds = {MEASURE_SECONDS}",
        f"warmup_seconds = {WARMUP_SECONDS}",
        f"implementations = {json.dumps([name for name in PROGRAMS for _ in range(2)])}",
    ]
    for scenario in scenarios():
        fields = scenario.model_dump(mode="json", exclude_none=True)
        lines += ["", "[[scenarios]]", *(f"{k} = {json.dumps(v)}" for k, v in fields.items())]
    return "\n".join(lines) + "\n"


class Pair(NamedTuple):
    """Rates of one implementation under its two names, by round."""

    scenario: str
    implementation: str
    left: list[float]
    right: list[float]

    def ratio(self, comparisons: int = 1) -> RatioEstimate:
        """Ratio of one name to the other."""
        return paired_ratio(self.left, self.right, comparisons)


class Measured(NamedTuple):
    host: str
    date: str
    rounds: str
    warnings: list[str]
    pairs: list[Pair]


def kept(run: LoadedRun) -> Measured:
    """The part of a run that aa.json keeps. Raises ValueError without a host."""
    host = run.run.host
    if host is None:
        raise ValueError(f"run {run.run.id} has no host")
    series = measured(run)
    names = row_names(series.series)
    labels = {i.id: implementation_label(i) for i in run.run.implementations}
    kind = f"a virtual machine ({host.virtualization})" if host.virtual else "bare metal"
    return Measured(
        host=f"{host.cpu}, {host.threads} logical processors of {kind}, {host.os}, "
        f"Linux {host.kernel}",
        date=run.run.date.isoformat(),
        rounds=f"{run.run.rounds} rounds of {MEASURE_SECONDS} s a block",
        warnings=[f"{w.code}: {w.message}" for w in run.run.warnings],
        pairs=[
            Pair(names[p.row.key][0], labels[p.implementation], list(p.left), list(p.right))
            for p in duplicate_pairs(series)
        ],
    )


def measure() -> Measured:
    """Runs the suite with the programs of bench/target/release."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder, "aa.toml"), Path(folder, "aa")
        file.write_text(suite(), encoding="utf-8")
        command = [str(RELEASE / "tlsbench"), "run", "--suite", str(file), "--out", str(out)]
        subprocess.run(command, check=True)
        return kept(load_run(out))


def table(of: Measured) -> str:
    """The text of aa.md."""
    alone = [(pair, pair.ratio()) for pair in of.pairs]
    outside = [pair for pair, ratio in alone if excludes_1(ratio)]
    corrected = [p for p in of.pairs if excludes_1(p.ratio(len(of.pairs)))]
    count, all_ = len(outside), len(of.pairs)
    low, high = stats.binomtest(count, all_).proportion_ci(0.95)
    lines = [
        "# Every library against itself",
        "",
        "Written by `python tools/benchmarks/aa.py`; its docstring describes the measurement.",
        "",
        f"- **Host**: {of.host}, {of.date}; {of.rounds}.",
        *(f"- **Warning of the run**: {warning}" for warning in of.warnings),
        f"- **Intervals that exclude 1**: {count} of {all_}, {_percent(count / all_)}; 5% are "
        f"expected. The 95% interval of this share is {_percent(low)} to {_percent(high)}, if the "
        "figures are independent. They are not fully independent: the two sides of a scenario "
        "share their rounds.",
        *(
            f"  - {name}: {sum(p.implementation == name for p in outside)} of "
            f"{sum(p.implementation == name for p in of.pairs)}"
            for name in dict.fromkeys(p.implementation for p in of.pairs)
        ),
        f"- **Verdicts of faster or slower**, corrected for {all_} comparisons as in a report: "
        f"{len(corrected)} (none expected).",
        f"- **95th percentile ratio**: 95% of the ratios are within "
        f"{_percent(percentile_95(ratio.value for _, ratio in alone) - 1)} of 1.",
        "",
        "| scenario | implementation | against itself | 95% interval | |",
        "|---|---|---:|---:|---|",
    ]
    for pair, ratio in alone:
        mark = "excludes 1" if excludes_1(ratio) else ""
        lines.append(
            f"| {pair.scenario} | {pair.implementation} | {ratio.value:.4f}x | "
            f"{ratio.low:.4f} to {ratio.high:.4f} | {mark} |"
        )
    return "\n".join(lines) + "\n"


def excludes_1(ratio: RatioEstimate) -> bool:
    """Whether the interval of a ratio shows a difference. Raises ValueError without an interval."""
    if ratio.low is None or ratio.high is None:
        raise ValueError(f"{ratio.rounds} rounds give no interval")
    return not ratio.low <= 1 <= ratio.high


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def to_json(of: Measured) -> str:
    """The text of aa.json: a line for each pair, rates with six digits."""
    head = {"host": of.host, "date": of.date, "rounds": of.rounds, "warnings": of.warnings}
    pairs = [[p.scenario, p.implementation, _six(p.left), _six(p.right)] for p in of.pairs]
    lines = ",\n".join(json.dumps(pair, ensure_ascii=False) for pair in pairs)
    return json.dumps(head, ensure_ascii=False, indent=1)[:-2] + f',\n "pairs": [\n{lines}\n]}}\n'


def _six(rates: Sequence[float]) -> list[float]:
    return [float(f"{rate:.6g}") for rate in rates]


def from_json(text: str) -> Measured:
    """The inverse of `to_json`."""
    read = json.loads(text)
    return Measured(**{**read, "pairs": [Pair(*pair) for pair in read["pairs"]]})


def _write(path: Path, text: str) -> None:
    written = path.with_name(path.name + ".new")
    written.write_text(text, encoding="utf-8")
    written.replace(path)


def main(arguments: Sequence[str]) -> None:
    if arguments != ["table"]:
        _write(MEASURED, to_json(measure()))
    _write(TABLE, table(from_json(MEASURED.read_text(encoding="utf-8"))))


if __name__ == "__main__":
    main(sys.argv[1:])
