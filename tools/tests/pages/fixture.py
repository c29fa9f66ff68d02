"""A copy of the site with reports made from the contract's example, for tests alone.

Two reports share their slug on different dates; one of them was measured in a virtual machine,
carries a warning and was published elsewhere. A post stands in the blog.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[3]
NEWER, OLDER = "2026-11-21-example", "2026-03-07-example"

_COLOURS = {"boringssl": "#007a5a", "openssl": "#0072b2", "rustls": "#d55e00"}

_REPORT = """\
+++
title = "{title}"
date = {date}
description = "rustls, OpenSSL and BoringSSL side by side, as an example."
authors = ["A. Person", "B. Person"]
[taxonomies]
feeds = ["performance"]
tags = ["rustls", "openssl", "boringssl"]
+++

{{{{ warnings() }}}}

{{{{ headline() }}}}

## Results

{{{{ table(id="transfer") }}}}

{{{{ table(id="full-handshakes") }}}}

{{{{ table(id="resumed-handshakes") }}}}

## Charts

{{{{ chart(id="chart-transfer") }}}}

{{{{ chart(id="chart-full-handshakes") }}}}

{{{{ chart(id="chart-resumed-handshakes") }}}}

## Observations

BoringSSL sends {{{{ figure(row="transfer-1-2-aes-128-gcm-sending", implementation="boringssl-30cd935") }}}}: \
{{{{ ratio(row="transfer-1-2-aes-128-gcm-sending", implementation="boringssl-30cd935") }}}}.

| Markdown | table |
|---|---:|
| as people | write them |

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
tlsbench run --suite bench/suites/quick.toml --out data/runs/a-run-with-a-rather-long-name-to-overflow
```
"""


def example() -> dict[str, Any]:
    """The contract's example of results.json."""
    path = ROOT / "data" / "schema" / "results.example.json"
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results


def chart_svg(results: dict[str, Any], chart: dict[str, Any]) -> str:
    """A grouped bar chart in the form that the tools draw: classes, no style, real text."""
    table = next(t for t in results["tables"] if t["anchor"] == chart["table"])
    colours = {i["id"]: i["colour"] for i in results["implementations"]}
    longest = max(c.get("value", 0) for row in table["rows"] for c in row["cells"])
    parts, y = [], 10
    for row in table["rows"]:
        y += 14
        parts.append(f'<text class="chart-text" fill="#1c1c1a" y="{y}">{escape(row["name"])}</text>')
        for cell in row["cells"]:
            colour = colours[cell["implementation"]]
            width = round(cell.get("value", 0) / longest * 640, 1)
            y += 12
            parts.append(
                f'<rect class="library-{colour}" fill="{_COLOURS[colour]}" '
                f'x="0" y="{y - 8}" width="{width}" height="10"/>'
                f'<text class="chart-text" fill="#1c1c1a" x="{width + 4}" y="{y}">'
                f"{escape(cell['text'])}</text>"
            )
        y += 10
    chart["height"] = y
    name = chart["anchor"]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{chart["width"]}" height="{y}" '
        f'viewBox="0 0 {chart["width"]} {y}" role="img" font-family="sans-serif" font-size="11" '
        f'aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(chart["title"])}</title>'
        f'<desc id="{name}-desc">{escape(chart["description"])}</desc>{"".join(parts)}</svg>'
    )


def _report(site: Path, name: str, title: str, **changes: Any) -> None:
    results = {**example(), "id": name, "date": name[:10], "title": title, **changes}
    folder = site / "content" / "perf" / name
    folder.mkdir(parents=True)
    for chart in results["charts"]:
        (folder / chart["file"]).write_text(chart_svg(results, chart), encoding="utf-8")
    (folder / "results.json").write_text(json.dumps(results, ensure_ascii=False), encoding="utf-8")
    (folder / "results.csv").write_text("implementation,value\n", encoding="utf-8")
    page = _REPORT.format(title=title, date=name[:10])
    (folder / "index.md").write_text(page, encoding="utf-8")
    for run in results["runs"]:
        raw = site / "data" / "runs" / run["id"] / "raw"
        raw.mkdir(parents=True, exist_ok=True)
        (raw.parent / "run.toml").write_text("schema = 1\n", encoding="utf-8")
        (raw / "records.jsonl").write_text("", encoding="utf-8")


def make_site(site: Path) -> Path:
    """Copies the site to `site`, with the example's reports in place of the committed ones."""
    for name in ("templates", "static", "content"):
        shutil.copytree(
            ROOT / name,
            site / name,
            symlinks=True,
            ignore=lambda folder, names: (
                [n for n in names if n not in ("_index.md",)]
                if Path(folder).name in ("perf", "blog")
                else []
            ),
        )
    shutil.copy(ROOT / "config.toml", site)
    shutil.copytree(ROOT / "data" / "schema", site / "data" / "schema")
    shutil.copy(ROOT / "data" / "biases.toml", site / "data")
    _report(site, NEWER, "rustls 0.23.37, OpenSSL 3.6.1 and BoringSSL 30cd935 on x86_64")
    older = example()
    hosts = [{**older["hosts"][0], "virtual": True, "virtualization": "kvm", "kernel": "6.1.0"}]
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
    warning = {"code": "too-few-rounds", "message": "6 rounds: too few for a 1 % interval."}
    _report(
        site, OLDER, "An older report", virtual=True, hosts=hosts, runs=[run], warnings=[warning]
    )
    post = site / "content" / "blog" / "2026-10-01-clock.md"
    post.write_text(_POST, encoding="utf-8")
    return site
