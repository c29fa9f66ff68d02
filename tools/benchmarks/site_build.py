"""Measures how long Zola builds a site of many reports, its memory, and how soon a save is visible.

    PYTHONPATH=tests python -m benchmarks.site_build [REPORTS]     (from tools/; default 1000)
    PYTHONPATH=tests python -m benchmarks.site_build committed
    PYTHONPATH=tests python -m benchmarks.site_build saves

It needs what `tlsperf build` makes. The first form copies a committed report of the main series to
other dates, with the pages of its scenarios. It builds the site with a quarter, a half and all of the
copies, and prints seconds and peak resident memory. If the processor time for each report stays the
same, the time is linear in the number of reports; this also holds on a busy machine. `committed`
builds the committed site with each Zola that the tests use. `saves` changes files of a copy of it
under `make serve`, and prints the seconds until the server shows each change.

site_build.md has the output.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path

from pages import zolas
from tlsperf.load.page import read_page
from tlsperf.load.results import read_results
from tlsperf.publish.overviews import overview_files, scenario_folder
from tlsperf.publish.scenarios import scenario_list, scenarios
from tlsperf.serve import HOST
from tlsperf.site import Zola, config_for, environment, run

ROOT = Path(__file__).parents[2]
MODEL = "2026-03-07-x86-64"
MOST_SECONDS = 20
MOST_GIB = 1.2
MOST_COMMITTED = 2.0
"""Limit in seconds of processor time for the committed site."""
MOST_SAVED = 1.0
"""Limit in seconds until a saved change is visible."""
BUILDS = 3
"""Builds of the committed site with each Zola, and saves of each file."""
PORT = 1112


def make_site(site: Path, reports: int) -> None:
    """Copies the committed site to `site`, with copies of one report instead of all others."""
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
    # A copy cannot link to other reports, nor have a predecessor that does not exist.
    page = re.sub(r"\[([^]]*)\]\(@/[^)]*\)", r"\1", page)
    page = re.sub(r"^aliases = .*\n", "", page, flags=re.MULTILINE)  # an alias must be unique
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
        newest = number == 0
        copies.append({**entry, "id": folder.name, "date": str(day), "featured": newest})
    (site / "data" / "reports.json").write_text(json.dumps(copies), encoding="utf-8")
    write_scenarios(site, model)


def write_scenarios(site: Path, model: Path) -> None:
    """Writes the pages of the scenarios that the copies share.

    The charts are those of the model, because Zola only copies them.
    """
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
    """Seconds, processor seconds and peak resident GiB of one build."""
    config = config_for(zola, ROOT)
    command = [*zola.command, "--root", str(site), "--config", str(config), "build"]
    command += ["--output-dir", str(public), "--force"]
    started = time.monotonic()
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    process = os.posix_spawnp(command[0], command, environment(), file_actions=silent)
    _, status, usage = os.wait4(process, 0)
    if status != 0 or not (public / "index.html").exists():
        raise SystemExit(f"zola {name(zola)} built no site; it ended with status {status}")
    seconds = time.monotonic() - started
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20


def measure_committed(versions: Sequence[Zola]) -> None:
    """Builds the committed site three times with each Zola, and prints whether the limit is met."""
    print("zola     s of processors   seconds   peak GiB")
    held = True
    for zola in versions:
        for _ in range(BUILDS):
            with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
                seconds, busy, gib = build(zola, ROOT, Path(folder) / "public")
            print(f"{name(zola)}   {busy:15.2f}   {seconds:7.2f}   {gib:8.2f}", flush=True)
            held = held and busy <= MOST_COMMITTED
    print(f"limit of {MOST_COMMITTED} s of processor time: {'met' if held else 'NOT met'}")


def measure_saves(versions: Sequence[Zola]) -> None:
    """Saves files of a copy of the site while it is served, and waits until each change
    is visible.
    """
    print("zola     saved                       seconds")
    held = True
    for zola in versions:
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            site = Path(folder)
            for part in ("content", "data", "static", "templates"):
                shutil.copytree(ROOT / part, site / part, symlinks=True)
            shutil.copy(ROOT / "config.toml", site)
            for path, seconds in saved(zola, site):
                print(f"{name(zola)}   {path:25}   {seconds:7.2f}", flush=True)
                held = held and seconds <= MOST_SAVED
    print(f"limit of {MOST_SAVED} s: {'met' if held else 'NOT met'}")


def saved(zola: Zola, site: Path) -> Iterator[tuple[str, float]]:
    """The changed files, each with the seconds until a page shows the change."""
    report = max(path.name for path in (site / "content" / "perf").glob("*-standard-vm"))
    page = f"perf/{report}/"
    changes = (
        (f"content/{page}index.md", "## Raw data", "Saved {}.\n\n## Raw data", page),
        ("templates/report.html", "<h1", "<!-- saved {} --><h1", page),
        ("static/style.css", ":root", "/* saved {} */:root", "style.css"),
    )
    process = multiprocessing.get_context("fork").Process(
        target=run, args=(zola, site, "serve"), kwargs={"port": PORT}
    )
    process.start()
    try:
        shown_after(page, "<main", MOST_SECONDS)
        for number, (path, old, new, shows) in enumerate(changes):
            for again in range(BUILDS):
                text = (site / path).read_text(encoding="utf-8")
                mark = f"{number}-{again}"
                changed = text.replace(old, new.format(mark), 1)
                time.sleep(1)  # the server waits for further changes before it builds
                started = time.monotonic()
                (site / path).write_text(changed, encoding="utf-8")
                yield Path(path).name, shown_after(shows, f"aved {mark}", MOST_SECONDS) - started
    finally:
        process.terminate()
        process.join()


def shown_after(path: str, text: str, most: float) -> float:
    """When an address first shows a text, on the monotonic clock. Raises an error after `most`
    seconds.
    """
    end = time.monotonic() + most
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(f"http://{HOST}:{PORT}/{path}") as answer:
            if text in answer.read().decode():
                return time.monotonic()
        time.sleep(0.01)
    raise SystemExit(f"/{path} does not show {text!r} in {most} s")


def name(zola: Zola) -> str:
    return ".".join(map(str, zola.version))


def measure_many(versions: Sequence[Zola], most: int) -> None:
    """Builds a quarter, a half and all of that many reports."""
    print("zola     reports   seconds   of processors   ms a report   peak GiB")
    held = True
    for reports in (most // 4, most // 2, most):
        with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
            site = Path(folder)
            make_site(site, reports)
            for zola in versions:
                seconds, busy, gib = build(zola, site, site / "public")
                figures = f"{seconds:7.1f}   {busy:13.1f}   {1000 * busy / reports:11.1f}"
                print(f"{name(zola)}   {reports:7}   {figures}   {gib:8.2f}", flush=True)
                held = held and busy <= MOST_SECONDS and gib <= MOST_GIB
                shutil.rmtree(site / "public")
    if most == 1000:
        print(f"limits of {MOST_SECONDS} s and {MOST_GIB} GiB: {'met' if held else 'NOT met'}")


def main(arguments: Sequence[str]) -> None:
    match arguments:
        case ["committed"]:
            measure_committed([zolas.old(), zolas.between(), zolas.current()])
        case ["saves"]:
            measure_saves([zolas.old(), zolas.current()])
        case [] | [_]:
            versions = [zolas.old(), zolas.current()]
            measure_many(versions, int(arguments[0]) if arguments else 1000)
        case _:
            raise SystemExit("expected a number of reports, committed or saves")


if __name__ == "__main__":
    main(sys.argv[1:])
