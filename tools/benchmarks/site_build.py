"""How long Zola builds a site of many reports, and how much memory it takes.

    python -m benchmarks.site_build [REPORTS]     (from tools/; default 1000)

Makes copies of a committed report of the main series under other dates, with the pages of their
scenarios, builds the site with a quarter, a half and all of them, and prints seconds and peak
resident memory. The time is linear in the reports if the processors' time for each report stays the
same, which holds on a busy machine too. `python -m benchmarks.site_build committed` builds what is
committed instead.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

from tlsperf.load.page import read_page
from tlsperf.load.results import read_results
from tlsperf.publish.overviews import overview_files, scenario_folder
from tlsperf.publish.scenarios import scenario_list, scenarios
from tlsperf.site import Zola, config_for, find_zola

ROOT = Path(__file__).parents[2]
MODEL = "2026-03-07-x86-64"
MOST_SECONDS = 20
MOST_GIB = 1.2
MOST_COMMITTED = 2.0
"""Seconds of processors for what is committed."""


def make_site(site: Path, reports: int) -> None:
    """The committed site below `site`, with copies of one report in place of all others."""
    for name in ("templates", "static"):
        shutil.copytree(ROOT / name, site / name, symlinks=True)
    shutil.copytree(ROOT / "data", site / "data", ignore=shutil.ignore_patterns("runs"))
    shutil.copy(ROOT / "config.toml", site)
    shutil.copytree(
        ROOT / "content",
        site / "content",
        ignore=lambda folder, names: (
            [n for n in names if n != "_index.md"]
            if Path(folder).name in ("perf", "blog", "trends", "hosts", "libraries", "scenarios")
            else []
        ),
    )
    model = ROOT / "content" / "perf" / MODEL
    files = {p.name: p.read_bytes() for p in model.iterdir()}
    page = files.pop("index.md").decode()
    # Links to other reports and a predecessor that is not there have no place in a copy.
    page = re.sub(r"\[([^]]*)\]\(@/[^)]*\)", r"\1", page)
    listed = json.loads((ROOT / "data" / "reports.json").read_text(encoding="utf-8"))
    entry = next(report for report in listed if report["id"] == MODEL)
    copies = []
    for number in range(reports):
        day = date(2026, 3, 7) - timedelta(days=number)
        folder = site / "content" / "perf" / f"{day}-x86-64"
        folder.mkdir()
        text = page.replace("date = 2026-03-07", f"date = {day}")
        (folder / "index.md").write_text(text, encoding="utf-8")
        for name, data in files.items():
            (folder / name).write_bytes(data)
        copies.append({**entry, "id": folder.name, "date": str(day)})
    (site / "data" / "reports.json").write_text(json.dumps(copies), encoding="utf-8")
    write_scenarios(site, model)


def write_scenarios(site: Path, model: Path) -> None:
    """The pages of the scenarios that the copies share. The drawings are those that the model has:
    to Zola they are text."""
    results = read_results(model / "results.json")
    report = read_page(model / "index.md").report
    reports = []
    for folder in sorted((site / "content" / "perf").glob("*-x86-64")):
        of_day = {"id": folder.name, "date": date.fromisoformat(folder.name[:10])}
        reports.append((report.model_copy(update=of_day), results.model_copy(update=of_day)))
    found = scenarios(reports, [])
    overviews = [scenario for scenario, _ in found]
    files = {n: t for n, t in overview_files([], overviews, []).items() if "scenarios" in n}
    for scenario, drawings in found:
        drawing = (model / "transfer.svg").read_text(encoding="utf-8")
        files |= {f"{scenario_folder(scenario)}/{d.chart.file}": drawing for d in drawings}
    for name, text in files.items():
        path = site / "content" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    listed = scenario_list(overviews).model_dump_json()
    (site / "data" / "scenarios.json").write_text(listed, encoding="utf-8")


def build(zola: Zola, site: Path, public: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processors and peak resident GiB of one build."""
    config = config_for(zola, ROOT)
    command = [*zola.command, "--root", str(site), "--config", str(config), "build"]
    command += ["--output-dir", str(public), "--force"]
    started = time.monotonic()
    process = os.posix_spawnp(command[0], command, os.environ)
    _, status, usage = os.wait4(process, 0)
    if status != 0:
        raise SystemExit(f"zola ended with status {status}")
    seconds = time.monotonic() - started
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def main() -> None:
    zola = find_zola(ROOT)
    print(f"zola {'.'.join(map(str, zola.version))}")
    if sys.argv[1:] == ["committed"]:
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            seconds, busy, gib = build(zola, ROOT, Path(folder) / "public")
        print(f"committed: {seconds:.1f} s, {busy:.1f} s of processors, {gib:.2f} GiB")
        print(f"at most {MOST_COMMITTED} s: {'held' if busy <= MOST_COMMITTED else 'NOT held'}")
        return
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print("reports   seconds   of processors   ms a report   peak GiB")
    for reports in (most // 4, most // 2, most):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            site = Path(folder)
            make_site(site, reports)
            seconds, busy, gib = build(zola, site, site / "public")
        each = 1000 * busy / reports
        print(
            f"{reports:7}   {seconds:7.1f}   {busy:13.1f}   {each:11.1f}   {gib:8.2f}", flush=True
        )
    if most == 1000:
        held = busy <= MOST_SECONDS and gib <= MOST_GIB
        print(f"at most {MOST_SECONDS} s and {MOST_GIB} GiB: {'held' if held else 'NOT held'}")


if __name__ == "__main__":
    main()
