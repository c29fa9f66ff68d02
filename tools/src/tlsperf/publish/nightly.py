"""What is counted night by night, and its pages. Pure functions of runs.

A page for each implementation of each folder in `data/nightly` whose releases no page of versions
shows; and one for each night with which steps begin, which is its entry in the feed of its library and
holds the text of an issue. Nothing is posted anywhere.
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
from tlsperf.contract.record import Identifier
from tlsperf.contract.run import HostFacts, Implementation, Run
from tlsperf.contract.text import ABSENT, colour_of, counted, listed, markdown, value_text
from tlsperf.load.content import NIGHTS
from tlsperf.load.nights import EXPLANATIONS, Nights
from tlsperf.report.charts.strip import Strip, StripPoint, StripSeries, strip_files
from tlsperf.report.claims import Figures

COMMIT: Final = 10
"""Digits of a commit in a label."""

WEIGHT: Final = 100
"""The place of nights among the pages of versions: after those that people write."""


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


def nightly(nights: Nights) -> list[Nightly]:
    """The pages of a folder.

    Raises UserError for an explanation of a night without a step.
    """
    found = [_page(nights, line) for line in _lines(map(measured, nights.runs))]
    stepped = {change.night for page in found for change in page.changes}
    for explanation in nights.explanations:
        if explanation.night not in stepped:
            raise UserError(
                f"data/nightly/{nights.name}/{EXPLANATIONS}: found an explanation of "
                f"{explanation.night!r}, expected a night with a step: {', '.join(sorted(stepped))}"
            )
    return found


def strip_of(page: Nightly, anchor: Identifier, names: Mapping[Identifier, str]) -> Strip:
    """The counts of scenarios by night, as ratios to the first night that has one.

    `names` are those of scenarios by their anchors; a scenario that is not in it is left out.
    """
    series = []
    for scenario in page.scenarios:
        values = [figure.value for figure in scenario.figures]
        first = next((value for value in values if value), None)
        if scenario.anchor in names and first:
            points = [StripPoint(at, first / value) for at, value in enumerate(values) if value]
            name = names[scenario.anchor]
            series.append(StripSeries(name, page.colour, points, scenario.steps))
    labels = [night.label for night in page.nights]
    return Strip(anchor, page.title, labels, series, labels[0])


def nightly_files(page: Nightly) -> dict[str, str]:
    """The text of each file of a page and of its changes, by its path in content/."""
    folder = f"versions/{page.id}"
    table = page.model_dump(mode="json", exclude_none=True)
    files = {
        f"{folder}/index.md": _head(page),
        f"{folder}/nights.json": json.dumps(table, indent=1, ensure_ascii=False) + "\n",
    }
    strip = strip_of(page, page.id, {scenario.anchor: scenario.name for scenario in page.scenarios})
    if strip.series:
        files |= {f"{folder}/{name}": text for name, text in strip_files(strip).items()}
    for change in page.changes:
        files[f"versions/{change.id}/index.md"] = _change_page(page, change)
        files[f"versions/{change.id}/issue.txt"] = change.issue
    return files


def figures_of_nights(pages: Iterable[Nightly], runs: Nights) -> Figures:
    """The counts of releases for claims, and as the measure `change` by how many per cent each
    release differs from the one before it. All nights of one version are one implementation.
    """
    found: dict[str, dict[Identifier, dict[Identifier, tuple[float, float]]]] = {}

    def add(measure: str, row: Identifier, implementation: Identifier, value: float) -> None:
        of_row = found.setdefault(measure, {}).setdefault(row, {})
        low, high = of_row.get(implementation, (value, value))
        of_row[implementation] = min(low, value), max(high, value)

    for page in pages:
        for scenario in page.scenarios:
            before: float | None = None
            for night, figure in zip(page.nights, scenario.figures, strict=True):
                if figure.value is None:
                    continue
                add("figure", scenario.anchor, night.implementation, figure.value)
                if before:
                    change = 100 * (figure.value / before - 1)
                    add("change", scenario.anchor, night.implementation, change)
                before = figure.value
    return Figures(
        [it for loaded in runs.runs for it in loaded.run.implementations],
        None,
        list(found.get("figure", {})),
        lambda measure: found.get(measure, {}),
    )


# --- from runs to pages ---------------------------------------------------------------------------


def _lines(runs: Iterable[MeasuredRun]) -> list[_Line]:
    lines: dict[tuple[str, str | None], _Line] = {}
    for run in runs:
        for implementation in run.loaded.run.implementations:
            key = implementation.library, implementation.provider
            line = lines.setdefault(key, _Line(*key))
            line.nights.append(_Counted(run, implementation))
    return list(lines.values())


def _page(within: Nights, line: _Line) -> Nightly:
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
    identifier = f"{NIGHTS}{anchor_of(within.name)}-{line.id}"
    scenarios = [
        _scenario(key, names[key], values, [step.night for step in found if step.series == at])
        for at, (key, values) in enumerate(series.items())
    ]
    last = line.nights[-1].run.loaded.run
    return Nightly(
        id=identifier,
        library=line.library,
        title=f"{line.name}: {within.name.replace('-', ' ')}",
        answer=_answer(line, nights, judged),
        colour=colour_of(line.nights[-1].implementation),
        host=_host(last),
        counter=_counter(last),
        nights=nights,
        absent=_absent(line, within),
        scenarios=scenarios,
        changes=_changes(identifier, line, nights, scenarios, found, within.explanations),
        rate=f"{RATE:.0%}",
    )


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
    key: Key, named: tuple[str, str], values: Sequence[float | None], firsts: Sequence[int]
) -> NightScenario:
    unit = key[-1]
    name, anchor = named
    return NightScenario(
        anchor=anchor,
        name=name.removesuffix(", instructions"),
        unit=unit,
        figures=[
            NightFigure(text=ABSENT if value is None else value_text(value, unit), value=value)
            for value in values
        ],
        steps=list(firsts),
    )


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
        is_better=step.ratio < 1,
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


def _head(page: Nightly) -> str:
    lines = "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in (
            ("title", page.title),
            ("description", page.answer),
            ("template", "nights.html"),
            ("weight", WEIGHT),
        )
    )
    remark = "# written by `tlsperf build`: changes are lost"
    return f"+++\n{remark}\n{lines}\n[extra]\nnights = true\n+++\n"


def _change_page(page: Nightly, change: NightSteps) -> str:
    """The page of a night with steps, whose text is its entry in the feed."""
    title = f"{page.title}: steps at {change.night}"
    head = (
        "+++\n# written by `tlsperf build`: changes are lost\n"
        f"title = {json.dumps(title, ensure_ascii=False)}\n"
        f"description = {json.dumps(change.answer, ensure_ascii=False)}\n"
        f"date = {change.time:%Y-%m-%dT%H:%M:%SZ}\n"
        f'template = "page.html"\nweight = {WEIGHT}\n\n'
        f'[taxonomies]\nlibraries = ["{page.library}"]\n+++\n'
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
        f"[All nights](@/versions/{page.id}/index.md).",
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
