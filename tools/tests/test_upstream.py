"""Current output of the supported tools is imported completely.

`captured/` has the output of `make measure` of rustls (0.24.0-dev.1, with ring) and of
openssl-bench (with OpenSSL 3.0.19), and of `openssl speed`, from 22 November 2026, with little work
for each figure.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tlsperf.load.run import load_run
from tlsperf.publish.runs import import_files

CAPTURED = Path(__file__).parent / "captured"


@pytest.mark.parametrize(
    ("name", "format_", "implementation", "figures"),
    [
        ("rustls-bench.txt", "rustls-bench/2023", "rustls-0.24.0-dev.1-ring", 38),
        ("rustls-memory.txt", "bench-memory", "rustls-0.24.0-dev.1-ring", 6),
        ("openssl-bench.txt", "openssl-bench/2024", "openssl-3.0.19", 24),
        ("openssl-speed.txt", "openssl-speed", "openssl-3.0.19", 6),
    ],
)
def test_output_is_imported_whole(
    tmp_path: Path, name: str, format_: str, implementation: str, figures: int
) -> None:
    folder = tmp_path / "2026-11-22-upstream"
    run = import_files([CAPTURED / name], implementation, folder)
    assert [file.format for file in run.files] == [format_]
    # The output of `openssl speed` does not contain its options.
    expected = ["method"] if format_ == "openssl-speed" else []
    assert [warning.code for warning in run.warnings] == expected
    rows = load_run(folder).rows
    assert len(rows) == figures
    assert all(row.valid for row in rows)


def test_keys_of_ed25519_sign_under_the_suites_of_ecdsa(tmp_path: Path) -> None:
    folder = tmp_path / "2026-11-22-upstream"
    import_files([CAPTURED / "rustls-bench.txt"], "rustls-0.24.0-dev.1-ring", folder)
    scenarios = [row.scenario for row in load_run(folder).rows]
    assert Counter(s.cipher_suite for s in scenarios if s.certificate == "ed25519") == {
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": 2,
        "TLS_AES_256_GCM_SHA384": 6,
    }


def test_latencies_keep_the_names_that_rustls_gives_them(tmp_path: Path) -> None:
    names = [f"latency-resume-tls13-server-ThreadId({n})-latency.tsv" for n in (2, 3)]
    for number, name in enumerate(names):
        (tmp_path / name).write_text(f"1795230099.38374996\t{928 + number}.87878418\n")
    folder = tmp_path / "2026-11-22-upstream"
    run = import_files([tmp_path / n for n in names], "rustls-0.24.0-dev.1-ring", folder)
    assert [file.path.rpartition("/")[2] for file in run.files] == names
    assert {row.scenario.threads for row in load_run(folder).rows} == {2}
