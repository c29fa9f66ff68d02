"""A copy of the site with reports made from the contract's example, for tests alone.

Two reports share their slug on different dates and have every shortcode; one of them was measured
in a virtual machine, carries a warning and was published elsewhere. A third compares more builds
than a page is wide, and has no picture for previews. A post stands in the blog.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from synthetic import HANDSHAKES, loaded_run, report_of
from tlsperf.analysis.means import group_means
from tlsperf.contract.record import Scenario
from tlsperf.contract.results import Comparisons, Results
from tlsperf.contract.run import Report
from tlsperf.load.shortcodes import shortcodes
from tlsperf.publish.exports import comparisons_json, results_csv, results_json
from tlsperf.publish.index import index_files
from tlsperf.publish.overviews import overview_files, question_files, scenario_folder
from tlsperf.publish.page_json import page_json
from tlsperf.publish.scaffold import report_page
from tlsperf.publish.scenarios import scenarios
from tlsperf.report.charts import charts_of
from tlsperf.report.charts.svg import draw
from tlsperf.report.comparisons import all_comparisons
from tlsperf.report.preview import FILE, report_preview
from tlsperf.report.statements import statements

ROOT = Path(__file__).resolve().parents[3]
NEWER, OLDER = "2026-11-21-example", "2026-03-07-example"
WIDE = "2026-01-15-history"

_REPORT = """\
+++
title = "{title}"
date = {date}T0{hour}:00:00Z
description = "rustls, OpenSSL and BoringSSL side by side, as an example."
authors = ["A. Person", "B. Person"]
[taxonomies]
feeds = ["performance"]
tags = ["rustls", "openssl", "boringssl"]
[extra.generated]
headlines = {headlines}
preview = "{alt}"
+++

## In short

{{{{ standing(rows="*", implementation="{implementation}") }}}}.

{{{{ headline() }}}}

{{{{ warnings() }}}}

## Observations

One sends {{{{ figure(row="{row}", implementation="{implementation}") }}}}: \
{{{{ ratio(row="{row}", implementation="{implementation}") }}}}.

- {{{{ verdict(row="{row}", implementation="{implementation}") }}}}.
- {{{{ verdict(row="{row}", implementation="{implementation}", over="{baseline}") }}}}.
- {{{{ unchanged(row="{row}", implementation="{implementation}", over="{baseline}") }}}}.
- {{{{ change(row="{row}", before="{baseline}", after="{implementation}") }}}}.
- {{{{ rank(row="{row}") }}}}.
- {{{{ extreme(rows="*", implementation="{implementation}", which="smallest") }}}}.
- {{{{ agree(rows="transfer-* !*-receiving", implementation="{implementation}") }}}}.

| Markdown | table |
|---|---:|
| as people | write them |

## Results

{tables}

## Charts

{charts}

## Changes

{{{{ changes() }}}}

## Noise

{{{{ noise() }}}}

## Efficiency

{{{{ efficiency() }}}}

{{{{ sockets() }}}}

{{{{ prices(id="prices-mutual-server") }}}}

{{{{ prices(id="prices-server-flight") }}}}

## System configuration

{{{{ host() }}}}

## Versions and builds

{{{{ versions() }}}}

## How it was measured

{{{{ commands() }}}}

## Raw data

{{{{ raw() }}}}
"""

_POST = """\
+++
title = "On a clock’s cost & more"
date = 2026-10-01
description = "A post, as an example."
[taxonomies]
tags = ["method"]
+++

One read of the clock costs less than one might think; see [the methodology](@/methodology.md).

```sh
tlsbench run --suite bench/suites/quick.toml --out data/runs/a-run-of-a-rather-long-name-to-wrap
```
"""


def example() -> dict[str, Any]:
    """The contract's example of results.json."""
    path = ROOT / "data" / "schema" / "results.example.json"
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def _sections(results: dict[str, Any], predecessor: str) -> dict[str, Any]:
    """Changes, noise and efficiency, made of the example's own figures."""
    row = results["tables"][0]["rows"][0]
    cell = next(cell for cell in row["cells"] if "ratio" in cell)
    ratio = cell["ratio"]
    before = results["implementations"][1]
    change = {
        "anchor": row["anchor"],
        "name": row["name"],
        "unit": "MiB/s",
        "before": "6,610",
        "after": cell["text"],
        "ratio": ratio,
    }
    group = {"title": "TLS 1.2 transfer", "statement": "1 scenario: faster", "changes": [change]}
    library = {
        "before": before,
        "after": before,
        "statement": "OpenSSL 3.6.1 to 3.6.1: 1 faster",
        "details": ["another compiler"],
        "compared": 1,
        "unchanged": 0,
        "groups": [group],
    }
    of = {"anchor": row["anchor"], "name": row["name"], "implementation": before["id"]}
    return {
        "changes": {
            "predecessor": predecessor,
            "title": "An older report",
            "date": predecessor[:10],
            "caveats": [{"code": "host", "message": "Another host."}],
            "rule": "A change is what its interval says.",
            "libraries": [library],
            "gone": ["rustls 0.22"],
            "new": ["BoringSSL"],
        },
        "noise": [
            {
                "source": "same binary twice",
                "run": results["runs"][0]["id"],
                "floor_percent": 1.2,
                "comparisons": 1,
                "statement": "Two measurements of one library lie within 1.2%.",
                "rows": [{**of, "ratio": ratio}],
            }
        ],
        "efficiency": [
            {
                **of,
                "primitive": "aes-256-gcm-seal-16384",
                "primitive_of": before["id"],
                "rate": "6,610",
                "ceiling": "8,160",
                "percent": 81.0,
                "low": 80.0,
                "high": 82.0,
                "text": "81.0% (80.0 to 82.0%)",
                "note": "an example",
            }
        ],
        "sockets": [
            {
                **of,
                "connection": "912.0",
                "handshake": "510.0",
                "library_percent": 55.9,
                "kernel_percent": 33.0,
                "rest_percent": 11.1,
                "library": "56%",
                "kernel": "33%",
                "rest": "11%",
                "note": "an example",
            }
        ],
        "prices": _prices(row["anchor"], results["tables"][0]["implementations"]),
    }


def _prices(row: str, implementations: list[str]) -> list[dict[str, Any]]:
    """A table of times and one of flights; a library has no figures in their second column."""
    lost = {"percent": 31.2, "low": 30.8, "high": 31.6, "verdict": "slower"}
    lost["text"] = "31.2% lost (30.8 to 31.6%)"
    times = [
        {"value": 100.5, "text": "100.5", "interval": "99.9 to 101.1"},
        {"value": 146.1, "text": "146.1", "interval": "145.0 to 147.2", "lost": lost},
    ]
    flights = [
        {"value": 2255, "text": "2,255", "segments": 2},
        {"value": 15201, "text": "15,201", "segments": 11},
    ]

    def columns(figures: list[dict[str, Any]]) -> list[dict[str, Any]]:
        absent = {"text": "–", "note": "no <ML-DSA> & no other"}
        return [
            {
                "id": f"column-{number}",
                "name": f"Choice {number}",
                "row": row,
                "cells": [
                    {"implementation": i, **(absent if number and not at else figure)}
                    for at, i in enumerate(implementations)
                ],
            }
            for number, figure in enumerate(figures)
        ]

    of = {"side": "server", "caption": "An example.", "implementations": implementations}
    return [
        {
            **of,
            **{"anchor": "prices-mutual-server", "title": "Times", "kind": "time", "unit": "µs"},
            "authentication": "mutual",
            "columns": columns(times),
        },
        {
            **of,
            **{"anchor": "prices-server-flight", "title": "Flights", "kind": "flight"},
            **{"unit": "bytes", "authentication": "server"},
            "columns": columns(flights),
        },
    ]


def _with_charts(results: Results, folder: Path) -> Results:
    """The results with their charts, which are drawn into the folder."""
    drawings = charts_of(results)
    for chart, picture in drawings:
        (folder / chart.file).write_text(draw(picture, chart), encoding="utf-8")
    return results.model_copy(update={"charts": [chart for chart, _ in drawings]})


def _inverted(tables: list[dict[str, Any]]) -> dict[str, Any]:
    """Ratios of a baseline to each other implementation, as a file of comparisons has them."""
    rows: dict[str, Any] = {}
    for table in tables:
        for row in table["rows"]:
            for cell in row["cells"]:
                if "ratio" in cell:
                    value = 1 / cell["ratio"]["value"]
                    others = {
                        other["implementation"]: [value, "not tested", f"{value:.2f}x, an example"]
                        for other in row["cells"]
                    }
                    of_row = rows.setdefault(f"{table['anchor']} {row['anchor']}", {})
                    of_row[cell["implementation"]] = others
    return rows


def _report(site: Path, name: str, title: str, **changes: Any) -> None:
    hour = len(title) % 10
    results = {**example(), "id": name, "date": name[:10], "title": title, **changes}
    results["time"] = f"{name[:10]}T0{hour}:00:00Z"
    results |= _sections(results, OLDER)
    folder = site / "content" / "perf" / name
    folder.mkdir(parents=True)
    checked = Results.model_validate({**results, "charts": []})
    checked = _with_charts(checked, folder)
    compared = json.dumps({"schema": 1, "rows": _inverted(results["tables"])})
    (folder / "comparisons.json").write_text(compared, encoding="utf-8")
    (folder / "results.csv").write_text("implementation,value\n", encoding="utf-8")
    preview = report_preview(checked, "TLS performance reports")
    assert preview is not None
    (folder / FILE).write_bytes(preview.png)
    page = _REPORT.format(
        title=title,
        alt=preview.alt,
        date=name[:10],
        hour=hour,
        headlines=json.dumps([f"{h.title}: {h.statement}" for h in checked.headlines]),
        tables="\n\n".join(f'{{{{ table(id="{t.anchor}") }}}}' for t in checked.tables),
        charts="\n\n".join(f'{{{{ chart(id="{c.anchor}") }}}}' for c in checked.charts),
        row=checked.tables[0].rows[0].anchor,
        implementation=next(
            c.implementation for c in checked.tables[0].rows[0].cells if c.ratio is not None
        ),
        baseline=checked.baseline,
    )
    (folder / "index.md").write_text(page, encoding="utf-8")
    calls = shortcodes(page, "index.md")
    said = statements(checked, calls)
    checked = checked.model_copy(update={"statements": said})
    text = checked.model_dump_json(by_alias=True, exclude_none=True)
    (folder / "page.json").write_text(page_json(checked, calls=calls), encoding="utf-8")
    (folder / "results.json").write_text(text, encoding="utf-8")
    for run in results["runs"]:
        raw = site / "data" / "runs" / run["id"] / "raw"
        raw.mkdir(parents=True, exist_ok=True)
        (raw.parent / "run.toml").write_text("schema = 1\n", encoding="utf-8")
        (raw / "records.jsonl").write_text("", encoding="utf-8")


def _wide_report(site: Path) -> None:
    """Thirteen builds in 18 scenarios: a table of more rows than builds, and one of fewer."""
    openssl = [f"openssl-3.{minor}.0" for minor in range(7)]
    rustls = [f"rustls-0.{minor}.0-aws-lc-rs" for minor in range(19, 24)]
    builds = [*openssl, *rustls, "boringssl-0.20260101"]
    transfers = [
        Scenario(
            operation="transfer",
            protocol="1.3",
            cipher_suite="TLS_CHACHA20_POLY1305_SHA256",
            side=side,
            size=size,
        )
        for size in (16, 64, 256, 1024, 4096, 16384, 65536)
        for side in ("sender", "receiver")
    ]
    resumed = [s for s in HANDSHAKES if s.resumption == "ticket"]
    rates = {
        build: {
            scenario: [
                (90 + 7 * b + 11 * s % 40) * 30 * (1 + 0.004 * ((b + s + 3 * number) % 7))
                for number in range(12)
            ]
            for s, scenario in enumerate([*transfers, *resumed])
        }
        for b, build in enumerate(builds)
    }
    measured = report_of(loaded_run(WIDE, rates), baseline="openssl-3.6.0")
    made = measured.results.model_copy(update={"means": group_means(measured)})
    folder = site / "content" / "perf" / WIDE
    folder.mkdir(parents=True)
    made = _with_charts(made.model_copy(update={"title": "Thirteen builds"}), folder)
    report = Report(id=WIDE, title=made.title, date=made.date, runs=[WIDE])
    page = report_page(report, made).replace(
        "\n+++\n\n", "\n[extra.generated]\nheadlines = []\n+++\n\n", 1
    )
    said = statements(made, shortcodes(page, "index.md"))
    made = made.model_copy(update={"statements": said})
    (folder / "results.json").write_text(results_json(made), encoding="utf-8")
    (folder / "page.json").write_text(page_json(made), encoding="utf-8")
    compared = comparisons_json(all_comparisons(measured))
    (folder / "comparisons.json").write_text(compared, encoding="utf-8")
    (folder / "results.csv").write_text(results_csv(made), encoding="utf-8")
    (folder / "index.md").write_text(page, encoding="utf-8")
    run = site / "data" / "runs" / WIDE
    (run / "raw").mkdir(parents=True)
    (run / "run.toml").write_text("schema = 1\n", encoding="utf-8")
    (run / "raw" / "a").write_text("", encoding="utf-8")


def empty_site(site: Path) -> Path:
    """Copies the site to `site`, without reports, posts, and pages over all reports."""
    for name in ("templates", "static", "content"):
        shutil.copytree(
            ROOT / name,
            site / name,
            symlinks=True,
            ignore=lambda folder, names: (
                [n for n in names if n not in ("_index.md",)]
                if Path(folder).name
                in (
                    *("perf", "blog", "trends", "hosts", "libraries", "scenarios"),
                    *("questions", "upgrades"),
                )
                else []
            ),
        )
    shutil.copy(ROOT / "config.toml", site)
    shutil.copytree(ROOT / "data" / "schema", site / "data" / "schema")
    for name in ("biases.toml", "corrections.toml"):
        shutil.copy(ROOT / "data" / name, site / "data")
    return site


def _over_all(site: Path, reports: list[Results]) -> None:
    """What is drawn over all reports: the index, and the pages of scenarios."""
    decided = [
        (Report(id=r.id, title=r.title, date=r.date, runs=[run.id for run in r.runs]), r)
        for r in reports
    ]
    found = scenarios(decided, [])
    overviews = [scenario for scenario, _ in found]
    pages = overview_files([], overviews, reports)
    files = {f"content/{name}": text for name, text in pages.items()}
    files |= {f"data/{name}": text for name, text in index_files(reports, overviews).items()}
    files |= question_files(reports, lambda _: Comparisons(rows={}), overviews)
    for scenario, drawings in found:
        folder = f"content/{scenario_folder(scenario)}"
        for chart, picture in drawings:
            files[f"{folder}/{chart.file}"] = draw(picture, chart)
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text, encoding="utf-8")


def make_site(site: Path) -> Path:
    """Copies the site to `site`, with the example's reports in place of the committed ones."""
    empty_site(site)
    _report(site, NEWER, "rustls 0.23.37, OpenSSL 3.6.1 and BoringSSL 30cd935 on x86_64")
    older = example()
    hosts = [{**older["hosts"][0], "virtual": True, "virtualization": "kvm", "kernel": "6.1.0"}]
    hosts[0]["cpu_model"] = "family 6, model 167, stepping 1"
    run = {
        **older["runs"][0],
        "id": OLDER,
        "date": OLDER[:10],
        "source": {
            "title": "Elsewhere",
            "url": "https://example.org/",
            "estimator": "one run",
            "note": "Figures as published.",
        },
    }
    warning = {"code": "too-few-rounds", "message": "6 rounds: too few for a 1% interval."}
    _report(
        site, OLDER, "An older report", virtual=True, hosts=hosts, runs=[run], warnings=[warning]
    )
    _wide_report(site)
    paths = sorted((site / "content" / "perf").glob("*/results.json"))
    reports = [Results.model_validate_json(path.read_text(encoding="utf-8")) for path in paths]
    _over_all(site, reports)
    post = site / "content" / "blog" / "2026-10-01-clock.md"
    post.write_text(_POST, encoding="utf-8")
    return site
