"""page.json: the data that a report's templates read, in the arrangement of the page.

It has each part of the report with its facts, and the tables and charts that the page shows, with
labels, colours and hosts resolved. Zola copies a file for each shortcode that loads it, and a part
of it for each mention of the part. page.json is not published.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tlsperf.contract.libraries import NAMES
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import (
    LAYOUT_KINDS,
    Caveat,
    Chart,
    LayoutKind,
    Noise,
    Results,
    ShownImplementation,
    Table,
)
from tlsperf.contract.text import host_label, hosts_text, span_text
from tlsperf.contract.warnings import ABOUT_HOST
from tlsperf.load.shortcodes import Call
from tlsperf.publish.side_by_side import rows_of, side_by_side, tables_of
from tlsperf.report.charts.dots import Dots
from tlsperf.report.claims import Rows
from tlsperf.report.figures import quoted
from tlsperf.report.hosts import host_of_part, hosts_of
from tlsperf.report.notes import below_table

MOST_FILES: Final = 12
"""Limit of the raw files that a report's page lists. If there are more, /data/ lists them."""

MOST_NOISE: Final = 48
"""Limit of the figures of noise floors on a page: three libraries in sixteen scenarios."""

_FACTS: Final = {
    "rust_compiler": "Rust compiler",
    "c_compiler": "C compiler",
    "configure": "Configured with",
    "flags": "Flags",
    "lto": "LTO",
    "allocator": "Allocator",
    "cpu_mask": "CPU mask",
    "linkage": "Linkage",
    "source": "Source",
    "note": "Note",
    "deviations": "Deviation",
}
"""Facts of a build that several builds may share, with their names."""

_BUILT: Final = ("c_compiler", "configure", "flags", "lto", "allocator", "deviations")
"""Those that stand beside the first table, of runs that record how libraries were configured."""

_Shown = Mapping[Identifier, ShownImplementation]


def page_json(
    parts: Sequence[Results],
    notes: Sequence[Caveat] = (),
    calls: Sequence[Call] = (),
    charts: Mapping[tuple[Identifier, Identifier], str] | None = None,
    picture: Dots | None = None,
) -> str:
    """The text of page.json of the parts of a report.

    `notes` are all caveats; `calls` are the shortcodes of the page: it has the tables that they
    name. `charts` are the files of charts by part and anchor, `picture` is the dots of ratios.
    """
    tables = _tables(parts, [call.arguments for call in calls if call.name == "table"])
    for table in tables.values():
        anchors = {row["anchor"] for row in rows_of({"": table})}
        table["notes"] += below_table(notes, parts, anchors)
    _anchor_once(tables)
    built = _built(parts) if tables else None
    shown = [_part(part, without=_BUILT if built else ()) for part in parts]
    _once(shown)
    made = list(_made(tables))
    on_page = {row["anchor"] for row in rows_of(tables)}
    page = {
        "id": parts[0].of,
        "title": parts[0].title,
        "hosts": [*hosts_of(parts).values()],
        "virtual": any(part.virtual for part in parts),
        "noisy": any(part.noise for part in parts),
        "parts": shown,
        "notes": list(_notes(parts, notes)),
        "picture": picture and {"title": picture.title, "description": picture.description},
        "tables": tables,
        "built": built and built | {"table": next(iter(tables))},
        "made": made,
        "charts": list(_charts(parts, charts or {})),
        "quoted": [of.model_dump(mode="json") for of in quoted(parts, calls, on_page)],
    }
    text = json.dumps(page, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace('{"anchor":', '\n{"anchor":') + "\n"


def _notes(parts: Sequence[Results], notes: Sequence[Caveat]) -> Iterable[dict[str, Any]]:
    """The caveats of all parts, each once, with their texts."""
    by_id = {note.id: note for note in notes}
    of_parts = {note.id: note for part in reversed(parts) for note in part.notes}
    for note in of_parts.values():
        of = by_id[note.id]
        made = note.model_dump(mode="json", exclude_none=True)
        yield made | of.model_dump(mode="json", include={"title", "text", "sources"})


def _once(parts: Sequence[dict[str, Any]]) -> None:
    """Keeps a host, and a build, only in the first part that has the same facts of it."""
    seen: list[Any] = []
    for part in parts:
        for key in ("hosts", "implementations"):
            part[key] = [facts for facts in part[key] if facts not in seen]
            seen += part[key]


def _built(parts: Sequence[Results]) -> dict[str, Any] | None:
    """How all builds of a page were made, and what is not their library's default."""
    builds = [build for part in parts for build in part.implementations]
    if not all(any(of.configure or of.deviations for of in part.implementations) for part in parts):
        return None  # a run from before builds said so
    facts: list[dict[str, Any]] = []
    for build in builds:
        lto = [word for word in (build.flags or "").split() if "lto" in word]
        own = build.model_dump(include={"id", "label", *_BUILT})
        own["lto"] = (" ".join(lto) or "none") if build.flags else None
        own["deviations"] = [text.replace("`", "") for text in build.deviations or ()]
        facts += [] if own in facts else [own]
    shared = _shared(facts, builds)
    rest = [{"label": of["label"], "facts": named} for of in facts if (named := _named(of))]
    hosts = {host_label(host): host.features for part in parts for host in part.hosts}
    rest += [
        {"label": name, "facts": [("Processor features", " ".join(features))]}
        for name, features in hosts.items()
        if features
    ]
    count = len({(build.library, text) for build in builds for text in build.deviations or ()})
    labelled = any(build.build for build in builds)
    return {
        "said": "Built as each library’s own instructions say"
        + (", except where a name says otherwise" if labelled else "")
        + f"; {count or 'no'} deviation{'s' * (count != 1)}",
        "builds": [*shared, *rest],
    }


def _part(part: Results, without: Sequence[str]) -> dict[str, Any]:
    """The facts of a part: runs, hosts, builds, noise, changes, caveats."""
    other = {"schema_", "time", "comparisons", "tables", "prices", "noise", "warnings"}
    other |= {"charts", "title", "notes"}
    shown = {i.id: i for i in part.implementations}
    made = part.model_dump(mode="json", by_alias=True, exclude_none=True, exclude=other)
    made["host"] = hosts_text(part.hosts)
    made["labels"] = [i.label for i in part.implementations]
    made["said"] = _said(part)
    noisy = sum(len(noise.rows) for noise in part.noise if noise.source != "another layout")
    made["noise"] = [_noise(noise, part, few=noisy <= MOST_NOISE) for noise in part.noise]
    files = sum(len(run["files"]) for run in made["runs"])
    for run in made["runs"]:
        del run["warnings"]
        run["count"] = len(run["files"])
        if files > MOST_FILES:
            run["files"] = []
    for of in made["implementations"]:
        for field in without:
            of.pop(field, None)
    made["shared"] = _shared(made["implementations"], part.implementations)
    made["implementations"] = [_build(of) for of in made["implementations"]]
    for line in made.get("sockets", ()):
        line["label"] = shown[line["implementation"]].label
    return made


def _tables(
    parts: Sequence[Results], named: Sequence[Mapping[str, str]]
) -> dict[str, dict[str, Any]]:
    """The tables by the arguments of their shortcodes: id, then part and rows of those that have them.

    The second table of an id on a page has another anchor.
    """
    found: dict[str, dict[str, Any]] = {}
    for given in named:
        id_, first, words = given.get("id", ""), given.get("part"), given.get("rows")
        key = " ".join(filter(None, (id_, first, words)))
        those = [part for part in parts if part.id == first] + [p for p in parts if p.id != first]
        if key in found or all(t.anchor != id_ for part in parts for t in tables_of(part)):
            continue
        before = sum(known.split()[0] == id_ for known in found)
        having = [p.id for p in parts if any(t.anchor == id_ for t in tables_of(p))]
        own = [of.get("part", having[0]) for of in named if of.get("id") == id_]
        found[key] = _table(those, id_, words, own)
        found[key]["anchor"] = f"{id_}-{before + 1}" if before else id_
    return found


def rows_with(parts: Sequence[Results], anchor: Identifier, words: str) -> list[Identifier]:
    """The rows of a table whose anchors have these words, as those of a claim."""
    rows = [row.anchor for p in parts for t in tables_of(p) if t.anchor == anchor for row in t.rows]
    return Rows(tuple(words.split())).matching(list(dict.fromkeys(rows)), rows)


def _table(
    parts: Sequence[Results], anchor: Identifier, words: str | None, own: Sequence[Identifier]
) -> dict[str, Any]:
    rows = rows_with(parts, anchor, words) if words else ()
    made = side_by_side(parts, anchor, rows, own=own)
    names = hosts_of(parts)
    layouts = [
        {"host": names[host_of_part(part)]}
        | _layouts(table, {i.id: i for i in part.implementations})
        for part in parts
        for table in part.tables
        if table.anchor == anchor and table.layouts
    ]
    return made | ({"layouts": layouts} if layouts else {})


def _made(tables: Mapping[str, dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """How the figures of each part were made: what holds of all its tables, then what of some.

    It takes `made` out of the tables.
    """
    by_part: dict[tuple[str, Identifier], list[tuple[dict[str, Any], list[str]]]] = {}
    for table in tables.values():
        for of in table.pop("made"):
            by_part.setdefault((of["host"], of["run"]), []).append((table, of["said"]))
    for (host, run), of_part in by_part.items():
        alike = [of for of in of_part[0][1] if all(of in said for _, said in of_part)]
        lines: dict[str, list[str]] = {}
        for table, said in of_part:
            if own := " ".join(of for of in said if of not in alike):
                titles = lines.setdefault(own, [])
                titles += [] if table["title"] in titles else [table["title"]]
        some = [{"of": "; ".join(titles), "text": text} for text, titles in lines.items()]
        yield {"host": host, "run": run, "text": " ".join(alike), "tables": some}


def _anchor_once(tables: Mapping[str, dict[str, Any]]) -> None:
    """Marks the rows whose anchor an earlier table of the page has."""
    seen: set[str] = set()
    for row in rows_of(tables):
        if row["anchor"] in seen:
            row["again"] = True
        seen.add(row["anchor"])


def _charts(
    parts: Sequence[Results], files: Mapping[tuple[Identifier, Identifier], str]
) -> Iterable[dict[str, Any]]:
    for part in parts:
        for chart in part.charts:
            if (part.id, chart.anchor) in files:
                made = Chart.model_dump(chart, mode="json", exclude_none=True)
                file = files[part.id, chart.anchor]
                place = {"anchor": f"chart-{file.removesuffix('.svg')}", "file": file}
                yield made | {"id": chart.anchor, "part": part.id} | place


def _said(results: Results) -> dict[str, list[str]]:
    """The messages of warnings about figures and about hosts, each once."""
    warnings = [*results.warnings, *(w for run in results.runs for w in run.warnings)]
    return {
        about: list(
            dict.fromkeys(
                w.message for w in warnings if (w.code in ABOUT_HOST) == (about == "host")
            )
        )
        for about in ("figures", "host")
    }


def _shared(
    facts: Sequence[dict[str, Any]], implementations: Sequence[ShownImplementation]
) -> list[dict[str, Any]]:
    """Facts that all builds share, or all of a library; they are removed from `facts`."""
    ids = [i.id for i in implementations]
    groups = {"All builds": ids}
    for library in dict.fromkeys(i.library for i in implementations):
        builds = [i.id for i in implementations if i.library == library]
        groups[f"All of {NAMES[library]}"] = builds
    found = []
    for title, members in groups.items():
        own = [of for of in facts if of["id"] in members]
        alike = {
            field: value
            for field in _FACTS
            if (value := own[0].get(field)) and all(of.get(field) == value for of in own)
        }
        if len(own) < 2 or not alike:
            continue
        for build in own:
            for field in alike:
                del build[field]
        found.append({"title": title, "facts": _named(alike)})
    return found


def _named(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The facts of a build with their names."""
    found = [(name, facts[field]) for field, name in _FACTS.items() if facts.get(field)]
    each = [(name, value if isinstance(value, list) else [value]) for name, value in found]
    return [(name, value) for name, values in each for value in values]


def _build(of: Mapping[str, Any]) -> dict[str, Any]:
    """A build as the page lists it: what its label does not say."""
    label = of["label"]
    facts = [("Version", of["version"]), ("Commit", of.get("commit"))]
    if provider := of.get("provider"):
        facts.append(("Cryptography", f"{provider} {of.get('provider_version') or ''}".strip()))
    facts.append(("Build", of.get("build")))
    told = [(name, value) for name, value in facts if value and value not in label]
    return {"label": label, "facts": [*told, *_named(of)]}


def _layouts(table: Table, shown: _Shown) -> dict[str, Any]:
    """The layouts of each kind over all rows: a line for each implementation."""
    effects = table.layouts or ()
    kinds = [kind for kind in LAYOUT_KINDS if any(effect.kind == kind for effect in effects)]
    lines = [
        {
            "label": shown[implementation].label,
            "colour": shown[implementation].colour,
            "cells": [_over_rows(table, implementation, kind) for kind in kinds],
        }
        for implementation in table.implementations
        if any(effect.implementation == implementation for effect in effects)
    ]
    return {"kinds": kinds, "lines": lines}


def _over_rows(table: Table, implementation: Identifier, kind: LayoutKind) -> dict[str, Any]:
    """The lowest and highest effect of one program's layouts, and how many are beyond A/A."""
    effects = [
        effect
        for effect in table.layouts or ()
        if effect.implementation == implementation and effect.kind == kind
    ]
    percents = [percent for effect in effects for percent in effect.percents]
    if not percents:
        return {}
    beyond = sum(effect.beyond for effect in effects)
    return {"text": span_text(percents), "beyond": beyond, "count": len(percents)}


def _noise(noise: Noise, results: Results, *, few: bool) -> dict[str, Any]:
    """A noise floor; without rows if they are many, or if they are pairs of sessions."""
    kept = {"source", "run", "statement"}
    made = noise.model_dump(mode="json", include=kept)
    if noise.rows and (noise.source == "another layout" or not few):
        return made | {"left_out": True}
    rows: dict[Identifier, dict[str, Any]] = {}
    order = [implementation.id for implementation in results.implementations]
    for row in noise.rows:
        empty = {"anchor": row.anchor, "name": row.name, "texts": [""] * len(order)}
        texts = rows.setdefault(row.anchor, empty)["texts"]
        texts[order.index(row.implementation)] += f"{row.ratio.text} "
    return made | {"rows": list(rows.values())}
