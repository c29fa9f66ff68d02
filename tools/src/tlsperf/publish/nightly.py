"""Pages of what is counted night by night: `content/nightly/`. Pure functions of runs.

A page for each implementation of each folder in `data/nightly`, with a chart for each scenario; and
one for each night with which steps begin, which is its entry in the feed and holds the text of an
issue. Nothing is posted anywhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from natsort import natsorted

from tlsperf.analysis.conditions import changed_build
from tlsperf.analysis.series import Key, MeasuredRun, measured, row_names
from tlsperf.analysis.steps import RATE, Found, Step, steps
from tlsperf.contract.errors import UserError
from tlsperf.contract.host import one_model
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.names import anchor_of
from tlsperf.contract.nightly import (
    Explanation,
    FoundStep,
    Night,
    NightFigure,
    Nightly,
    NightScenario,
    NightSteps,
)
from tlsperf.contract.run import HostFacts, Implementation, Run
from tlsperf.contract.text import ABSENT, colour_of, counted, listed, markdown, value_text
from tlsperf.load.nights import EXPLANATIONS, Nights
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.charts.nightly import nights as chart_of

COMMIT: Final = 10
"""Digits of a commit in a label."""

FEED: Final = "nightly"
"""The feed that has an entry for each night with steps."""


class _Counted(NamedTuple):
    """An implementation in one night."""

    run: MeasuredRun
    implementation: Implementation


@dataclass
class _Line:
    """One implementation through the nights of a folder."""

    library: str
    provider: str | None
    nights: list[_Counted] = field(default_factory=list)

    @property
    def name(self) -> str:
        return NAMES[self.library] + (f" ({self.provider})" if self.provider else "")

    @property
    def id(self) -> str:
        return anchor_of(f"{self.library} {self.provider or ''}")


def nightly(nights: Nights) -> list[tuple[Nightly, list[Drawing]]]:
    """The pages of a folder, with their charts.

    Raises UserError for an explanation of a night without a step.
    """
    found = [_page(nights, line) for line in _lines(map(measured, nights.runs))]
    stepped = {change.night for page, _ in found for change in page.changes}
    for explanation in nights.explanations:
        if explanation.night not in stepped:
            raise UserError(
                f"data/nightly/{nights.name}/{EXPLANATIONS}: found an explanation of "
                f"{explanation.night!r}, expected a night with a step: {', '.join(sorted(stepped))}"
            )
    return found


def nightly_files(page: Nightly) -> dict[str, str]:
    """The text of each file of a page and of its changes, by its path in content/; no charts."""
    folder = nightly_folder(page)
    head = _head(title=page.title, description=page.answer, template="nightly.html")
    table = page.model_dump(mode="json", exclude_none=True)
    files = {
        f"{folder}/index.md": head,
        f"{folder}/nightly.json": json.dumps(table, indent=1, ensure_ascii=False) + "\n",
    }
    for change in page.changes:
        files[f"nightly/{change.id}/index.md"] = _change_page(page, change)
        files[f"nightly/{change.id}/issue.txt"] = change.issue
    return files


def nightly_folder(page: Nightly) -> str:
    """Where the files of a page are below content/."""
    return f"nightly/{page.id}"


# --- from runs to pages ---------------------------------------------------------------------------


def _lines(runs: Iterable[MeasuredRun]) -> list[_Line]:
    lines: dict[tuple[str, str | None], _Line] = {}
    for run in runs:
        for implementation in run.loaded.run.implementations:
            key = implementation.library, implementation.provider
            line = lines.setdefault(key, _Line(*key))
            line.nights.append(_Counted(run, implementation))
    return list(lines.values())


def _page(within: Nights, line: _Line) -> tuple[Nightly, list[Drawing]]:
    series = _series(line)
    judged = steps(list(series.values()))
    found = judged.steps
    names = _names(line)
    nights = [
        Night(
            run=night.run.id,
            implementation=night.implementation.id,
            label=_label(night.implementation),
            date=night.run.loaded.run.date,
        )
        for night in line.nights
    ]
    identifier = f"{anchor_of(within.name)}-{line.id}"
    title = f"{line.name}: {within.name.replace('-', ' ')}"
    scenarios, drawings = [], []
    for at, (key, values) in enumerate(series.items()):
        firsts = [step.night for step in found if step.series == at]
        scenario, drawing = _scenario(key, names[key], line, nights, values, firsts)
        scenarios.append(scenario)
        drawings.append(drawing)
    last = line.nights[-1].run.loaded.run
    page = Nightly(
        id=identifier,
        title=title,
        answer=_answer(line, nights, judged),
        host=_host(last),
        counter=_counter(last),
        nights=nights,
        absent=_absent(line, within),
        scenarios=scenarios,
        changes=_changes(identifier, line, nights, scenarios, found, within.explanations),
        rate=f"{RATE:.0%}",
    )
    return page, drawings


def _series(line: _Line) -> dict[Key, list[float | None]]:
    """The median of each scenario in each night, scenarios in the order of the newest night."""
    found: dict[Key, list[float | None]] = {}
    for night in reversed(line.nights):
        for row in night.run.series:
            if night.implementation.id in row.samples:
                found.setdefault(row.key, [])
    for night in line.nights:
        figures = {row.key: row.samples.get(night.implementation.id) for row in night.run.series}
        for key, values in found.items():
            sample = figures.get(key)
            values.append(sample.figure if sample is not None and sample.counts else None)
    return found


def _names(line: _Line) -> Mapping[Key, tuple[str, str]]:
    rows = {row.key: row for night in line.nights for row in night.run.series}
    return row_names(list(rows.values()))


def _label(implementation: Implementation) -> str:
    """The commit of a tree, the version of a release."""
    if implementation.commit:
        return implementation.commit[:COMMIT]
    return implementation.version


def _scenario(
    key: Key,
    named: tuple[str, str],
    line: _Line,
    nights: Sequence[Night],
    values: Sequence[float | None],
    firsts: Sequence[int],
) -> tuple[NightScenario, Drawing]:
    unit = key[-1]
    name, anchor = named
    name = name.removesuffix(", instructions")
    texts = [ABSENT if value is None else value_text(value, unit) for value in values]
    labels = [night.label for night in nights]
    colour = colour_of(line.nights[-1].implementation)
    figures = ", ".join(f"{label} {text}" for label, text in zip(labels, texts, strict=True))
    description = f"A line by night in {unit}. {line.name}: {figures}."
    drawing = chart_of(anchor, name, description, colour, labels, values, firsts, unit)
    scenario = NightScenario(
        anchor=anchor,
        name=name,
        unit=unit,
        chart=drawing.chart,
        figures=[
            NightFigure(text=text, value=value) for text, value in zip(texts, values, strict=True)
        ],
    )
    return scenario, drawing


def _absent(line: _Line, within: Nights) -> list[str]:
    """The nights in which a line was not counted, each with the reason."""
    found = [
        (night, absence.reason)
        for night, absence in within.absences.items()
        if absence.library == line.library
    ]
    counted_in = {night.run.id for night in line.nights}
    for loaded in within.runs:
        run = loaded.run
        libraries = {implementation.library for implementation in run.implementations}
        if line.library in libraries and run.id not in counted_in:
            found.append((run.id, " ".join(warning.message for warning in run.warnings)))
    return [f"{night}: {reason}" for night, reason in natsorted(found)]


def _host(run: Run) -> HostFacts:
    if run.host is None:
        raise UserError(f"run {run.id}: found no [host], expected what it was counted on")
    return run.host


def _counter(run: Run) -> str:
    return f"{run.counter.name} {run.counter.version}" if run.counter else ""


# --- what is said about steps ---------------------------------------------------------------------


def percentage(ratio: float) -> str:
    """A change in per cent, to a tenth from 10% on: +1.37%, −12.4%."""
    change = (ratio - 1) * 100
    sign = "−" if change < 0 else "+"
    return f"{sign}{abs(change):.{1 if abs(change) >= 10 else 2}f}%"


def _answer(line: _Line, nights: Sequence[Night], found: Found) -> str:
    span = f"{nights[0].label} to {nights[-1].label}"
    begin = f"{counted(len(nights), 'night')} of {line.name}, {span}"
    if not found.judged:
        return f"{begin}: too few for a verdict."
    if not found.steps:
        return f"{begin}: no step was found."
    firsts = sorted({step.night for step in found.steps})
    labels = listed([nights[first].label for first in firsts])
    return f"{begin}: steps were found at {labels}."


def _changes(
    identifier: str,
    line: _Line,
    nights: Sequence[Night],
    scenarios: Sequence[NightScenario],
    found: Sequence[Step],
    explanations: Sequence[Explanation],
) -> list[NightSteps]:
    known = {explanation.night: explanation for explanation in explanations}
    changes = []
    for first in sorted({step.night for step in found}, reverse=True):
        own = [step for step in found if step.night == first]
        texts = [_found_step(scenarios[step.series], step) for step in own]
        night, before = nights[first], nights[first - 1]
        largest = max(own, key=lambda step: abs(math.log(step.ratio)))
        shown = _found_step(scenarios[largest.series], largest)
        answer = _sentence(line, night.label, before.label, shown, len(own))
        conditions = _conditions(line.nights[first - 1], line.nights[first])
        finished = line.nights[first].run.loaded.run.finished
        if finished is None:
            raise UserError(f"run {night.run}: found no time at which it was finished")
        explanation = known.get(night.label)
        changes.append(
            NightSteps(
                id=f"{identifier}-{anchor_of(night.run)}",
                night=night.label,
                before=before.label,
                time=finished,
                answer=" ".join([answer, *conditions]),
                steps=texts,
                explanation=explanation,
                issue=_issue(line, night, before, texts, conditions, explanation),
            )
        )
    return changes


def _found_step(scenario: NightScenario, step: Step) -> FoundStep:
    return FoundStep(
        anchor=scenario.anchor,
        name=scenario.name,
        unit=scenario.unit,
        before=value_text(step.before, scenario.unit),
        after=value_text(step.after, scenario.unit),
        change=percentage(step.ratio),
    )


def _sentence(line: _Line, night: str, before: str, largest: FoundStep, count: int) -> str:
    of_all = f", the largest of {count} steps" if count > 1 else ""
    step = f"{largest.change} in {largest.name}"
    return f"{line.name} {night} against {before}, instructions: {step}{of_all}."


def _conditions(before: _Counted, after: _Counted) -> list[str]:
    """What else changed between two nights, as sentences: a step may be of that."""
    then, now = before.run.loaded.run, after.run.loaded.run
    differences = changed_build(before.implementation, after.implementation)
    pairs = [("counter", _counter(then), _counter(now))]
    if not one_model(then.host, now.host):
        was, is_now = (
            ", ".join(filter(None, (host.cpu, host.cpu_model))) for host in map(_host, (then, now))
        )
        pairs.append(("processor", was, is_now))
    differences += [f"{what}: {a} before, {b} now" for what, a, b in pairs if a != b]
    return [f"Something else changed too: {difference}." for difference in differences]


def _issue(
    line: _Line,
    night: Night,
    before: Night,
    found: Sequence[FoundStep],
    conditions: Sequence[str],
    explanation: Explanation | None,
) -> str:
    """The text of an issue, in Markdown."""
    rows = [f"| {s.name} | {s.unit} | {s.before} | {s.after} | {s.change} |" for s in found]
    provider = f" --provider {line.provider}" if line.provider else ""
    text = [
        f"# Instructions of {line.name} changed with {night.label}",
        "",
        f"Counted by callgrind, {night.label} against {before.label}:",
        "",
        "| scenario | unit | before | after | change |",
        "|---|---|---:|---:|---:|",
        *rows,
        "",
        *[f"{markdown(sentence)}\n" for sentence in conditions],
        f"{_known(explanation)}\n",
        "An instruction count is not a time. To count both again:",
        "",
        f"    tlsbench compare{provider} --a {_side(line, before)} --b {_side(line, night)}",
        "",
        f"If nothing changes, at most {RATE:.0%} of nights are reported by chance.",
    ]
    return "\n".join(text) + "\n"


def _known(explanation: Explanation | None) -> str:
    """What is known of a step, in Markdown."""
    if explanation is None:
        return "This step is not explained."
    return f"{markdown(explanation.text)} [Source]({explanation.url})."


def _side(line: _Line, night: Night) -> str:
    """A night as `tlsbench compare` takes it: the version of a package, or the tree of a commit."""
    counted_night = next(it for it in line.nights if it.run.id == night.run)
    implementation = counted_night.implementation
    if implementation.commit or implementation.source is None:
        return f"{line.library}=../{line.library}-{night.label}"
    return f"{line.library}@{implementation.source.split()[-1]}"


# --- pages ----------------------------------------------------------------------------------------


def _head(**keys: str) -> str:
    lines = (f"{key} = {json.dumps(text, ensure_ascii=False)}\n" for key, text in keys.items())
    return f"+++\n# written by `tlsperf render`: changes are lost\n{''.join(lines)}+++\n"


def _change_page(page: Nightly, change: NightSteps) -> str:
    """The page of a night with steps, whose text is its entry in the feed."""
    title = f"{page.title}: steps at {change.night}"
    head = (
        "+++\n# written by `tlsperf render`: changes are lost\n"
        f"title = {json.dumps(title, ensure_ascii=False)}\n"
        f"description = {json.dumps(change.answer, ensure_ascii=False)}\n"
        f"date = {change.time:%Y-%m-%dT%H:%M:%SZ}\n\n"
        f'[taxonomies]\nfeeds = ["{FEED}"]\n+++\n'
    )
    rows = [
        f"| {markdown(s.name)} | {s.unit} | {s.before} | {s.after} | {s.change} |"
        for s in change.steps
    ]
    text = [
        markdown(change.answer),
        "",
        "| scenario | unit | before | after | change |",
        "|---|---|---:|---:|---:|",
        *rows,
        "",
        _known(change.explanation),
        "",
        f"[All nights](@/nightly/{page.id}/index.md).",
        "",
        "## Text of an issue",
        "",
        "This site posts nothing. To report the change, paste this text, which is also in "
        "[a file](issue.txt).",
        "",
        "````markdown",
        change.issue.rstrip("\n"),
        "````",
    ]
    return head + "\n" + "\n".join(text) + "\n"
