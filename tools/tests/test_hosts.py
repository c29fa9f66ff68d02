"""Runs of two hosts in one report: no ratio between them unless the report requests it."""

from __future__ import annotations

import hashlib
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from fixture_run import RUN, write_report
from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Results
from tlsperf.publish.render import render_reports

HOSTS = Path(__file__).parents[2] / "data" / "hosts"
OTHER = "2026-11-22-other"
IDS = ("boringssl-30cd935", "openssl-3.6.1", "rustls-0.23.37-aws-lc-rs")


def add_run(root: Path, host: str, rename: bool = True) -> None:
    """A second run with the same figures, with other ids for the builds, on a host."""
    runs = root / "data" / "runs"
    folder = shutil.copytree(runs / RUN, runs / OTHER)
    described = (folder / "run.toml").read_text("utf-8").replace(RUN, OTHER)
    records = (folder / "raw" / "records.jsonl").read_text("utf-8")
    if rename:
        for name in IDS:
            described = described.replace(f'id = "{name}"', f'id = "{name}-b"')
            records = records.replace(f'"{name}"', f'"{name}-b"')
        described = re.sub(r'^(version = "[^"]*")$', r'\1\nbuild = "b"', described, flags=re.M)
        described = described.replace(
            'name = "tlsbench"\nversion = "0.1.0"\nbuild = "b"', 'name = "tlsbench"'
        )
    data = records.encode()
    described = re.sub(
        r'sha256 = "[0-9a-f]*"', f'sha256 = "{hashlib.sha256(data).hexdigest()}"', described
    )
    described = re.sub(r"bytes = \d+", f"bytes = {len(data)}", described)
    described = described.replace('host_id = "example-host"', f'host_id = "{host}"')
    (folder / "run.toml").write_text(described, "utf-8")
    (folder / "raw" / "records.jsonl").write_bytes(data)
    hosts = root / "data" / "hosts"
    text = (hosts / "example-host.toml").read_text("utf-8")
    (hosts / f"{host}.toml").write_text(
        text.replace('id = "example-host"', f'id = "{host}"'), "utf-8"
    )


def rendered(root: Path, *lines: str) -> Results:
    page = root / "content" / "perf" / RUN / "index.md"
    text = page.read_text("utf-8")
    page.write_text(
        text.replace(f'runs = ["{RUN}"]', "\n".join([f'runs = ["{RUN}", "{OTHER}"]', *lines])),
        "utf-8",
    )
    render_reports(root, check=False)
    return Results.model_validate_json((page.parent / "results.json").read_bytes())


def with_ratio(results: Results) -> set[str]:
    cells = (c for table in results.tables for row in table.rows for c in row.cells)
    return {cell.implementation for cell in cells if cell.ratio}


def leaders(results: Results) -> list[str]:
    cells = (c for table in results.tables for row in table.rows for c in row.cells)
    return [cell.implementation for cell in cells if cell.best or cell.tied]


def about_hosts(results: Results) -> list[str]:
    return [warning.message for warning in results.warnings if warning.code == "host"]


BOTH = "The runs were measured on 2 hosts (example-host and elsewhere): "


def test_there_is_no_ratio_across_hosts(tmp_path: Path) -> None:
    write_report(tmp_path)
    add_run(tmp_path, "elsewhere")
    results = rendered(tmp_path)
    assert with_ratio(results) == {"boringssl-30cd935", "rustls-0.23.37-aws-lc-rs"}
    assert leaders(results) == []
    assert {mean.implementation for mean in results.means} == with_ratio(results)
    assert about_hosts(results) == [
        f"{BOTH}figures of different hosts have no ratio and no verdict."
    ]


def test_a_report_with_ratios_across_hosts_states_that(tmp_path: Path) -> None:
    write_report(tmp_path)
    add_run(tmp_path, "elsewhere")
    results = rendered(tmp_path, "across_hosts = true")
    assert with_ratio(results) == {
        *("boringssl-30cd935", "rustls-0.23.37-aws-lc-rs"),
        *(f"{name}-b" for name in IDS),
    }
    assert about_hosts(results) == [
        f"{BOTH}ratios between them compare the hosts as well as the libraries."
    ]


def test_runs_of_one_host_have_ratios_between_them(tmp_path: Path) -> None:
    write_report(tmp_path)
    add_run(tmp_path, "example-host")
    results = rendered(tmp_path)
    assert "openssl-3.6.1-b" in with_ratio(results)
    assert about_hosts(results) == []


def test_one_build_of_two_hosts_is_rejected(tmp_path: Path) -> None:
    write_report(tmp_path)
    add_run(tmp_path, "elsewhere", rename=False)
    with pytest.raises(UserError, match=r"boringssl-30cd935 was measured on two hosts, example-h"):
        rendered(tmp_path, "across_hosts = true")


def test_a_factor_across_hosts_is_rejected_unless_requested(tmp_path: Path) -> None:
    write_report(tmp_path)
    add_run(tmp_path, "elsewhere")
    factor = [
        *("[[extra.report.factors]]", 'id = "between"'),
        *('row = "transfer-1-3-aes-256-gcm-sending"', 'implementation = "openssl-3.6.1"'),
        'over_implementation = "openssl-3.6.1-b"',
    ]
    page = tmp_path / "content" / "perf" / RUN / "index.md"
    right = page.read_text("utf-8")
    baseline = ['baseline = "openssl-3.6.1"']
    page.write_text(right.replace(f"{baseline[0]}\n", ""), "utf-8")
    with pytest.raises(UserError, match="expected figures of one host, or across_hosts = true"):
        rendered(tmp_path, *baseline, *factor)
    page.write_text(right.replace(f"{baseline[0]}\n", ""), "utf-8")
    results = rendered(tmp_path, *baseline, "across_hosts = true", *factor)
    assert [found.text for found in results.factors] == ["1.00x"]


def test_the_model_of_a_processor_that_a_file_adds_has_its_source_in_the_note() -> None:
    described = [tomllib.loads(path.read_text("utf-8")) for path in sorted(HOSTS.glob("*.toml"))]
    added = [host for host in described if "cpu_model" in host]
    assert {host["id"] for host in added} == {"ampere-altra-q80-30", "i5-6500", "xeon-e-2386g"}
    for host in added:
        assert re.search(r"in Linux \(arch/\S+\.h\)", host["note"]), host["id"]
