"""Assembles everything that a report shows from the files below data/."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tlsperf.analysis.noise import verdict_floor
from tlsperf.analysis.series import MeasuredReport, MeasuredRun, measured
from tlsperf.contract.claim import Claim
from tlsperf.contract.compared import ComparedPart
from tlsperf.contract.record import Identifier
from tlsperf.contract.results import Comparisons, Noise, Results
from tlsperf.contract.run import Host, Report
from tlsperf.contract.spreads import ModelSpreads
from tlsperf.load.comparisons import read_definitions
from tlsperf.load.histograms import Histograms, read_histograms
from tlsperf.load.notes import known_notes
from tlsperf.load.page import Page, read_pages, read_part, read_report
from tlsperf.load.run import loader, read_hosts, read_runs
from tlsperf.load.spreads import read_spreads
from tlsperf.publish.compare_page import compared_parts
from tlsperf.published.published_tables import tables
from tlsperf.report.charts import charts_of
from tlsperf.report.charts.kind import Drawing
from tlsperf.report.comparisons import Ratios, all_comparisons, all_ratios
from tlsperf.report.notes import caveats_for, warnings_for
from tlsperf.report.results import measured_report
from tlsperf.report.sections import report_noise, sections


class Assembled(NamedTuple):
    """A report's results, and the data of the files beside them."""

    results: Results
    histograms: Histograms
    drawings: list[Drawing]
    """The drawings of `results.charts`, in their order."""
    comparisons: Callable[[], Comparisons]
    compared: Callable[[str], list[ComparedPart]]
    """Of the folder of its downloads. These are computed if asked for: no report shows them."""
    ratios: Callable[[], Ratios]
    """The same with all facts, which pages of versions show."""


def assembler(
    root: Path, pages: Sequence[Page] | None = None, new: Sequence[Report] = ()
) -> Callable[[Report], Assembled]:
    """A function that assembles a part of a report; with another baseline its ratios are to that.

    `pages` are those of all reports, because a report is compared with an earlier one; absent: as
    they are below `root`. `new` are reports without a page.
    """
    pages = read_pages(root) if pages is None else pages
    reports = [*(part for page in pages for part in page.reports), *new]
    claims = {part.id: page.claims for page in pages for part in page.reports}
    folder = root / "data" / "runs"
    load, runs = loader(folder), read_runs(folder)
    notes = known_notes(root / "data")
    definitions = read_definitions(root / "data" / "comparisons")
    spreads = read_spreads(root)
    by_id = {report.id: report for report in reports}

    @cache
    def run_of(run_id: Identifier) -> MeasuredRun:
        return measured(load(run_id))

    @cache
    def noise_of(report_id: Identifier) -> list[Noise]:
        return report_noise(by_id[report_id].runs, run_of)

    @cache
    def report_to(report_id: Identifier, baseline: Identifier | None) -> MeasuredReport:
        report, own = by_id[report_id], claims.get(report_id, ())
        if baseline != report.baseline:
            report, own = report.model_copy(update={"baseline": baseline}), ()
        measured_runs = [run_of(run) for run in report.runs]
        hosts = read_hosts(root / "data" / "hosts", [run.loaded.run for run in measured_runs])
        return with_floors(report, measured_runs, noise_of(report_id), hosts, spreads, own)

    def report_of(report_id: Identifier) -> MeasuredReport:
        return report_to(report_id, by_id[report_id].baseline)

    @cache
    def ratios_of(report_id: Identifier, baseline: Identifier | None) -> Ratios:
        return all_ratios(report_to(report_id, baseline))

    def assemble(report: Report) -> Assembled:
        results = report_to(report.id, report.baseline).results
        histograms = {
            key: bins
            for run in report.runs
            for key, bins in read_histograms(folder / run, load(run)).items()
        }
        drawings = charts_of(results)
        withdrawn = {run: {of.library for of in load(run).withdrawn} for run in report.runs}
        shown = caveats_for(results, notes, withdrawn)
        added = sections(report, reports, runs, noise_of(report.id), report_of) | {
            "notes": shown,
            "warnings": [*warnings_for(shown, notes), *results.warnings],
            "published": [
                table
                for of in definitions
                if of.run in report.runs
                for table in tables(of, run_of(of.run))
            ],
            "charts": [drawing.chart for drawing in drawings],
        }
        return Assembled(
            results.model_copy(update=added),
            histograms,
            drawings,
            lambda: all_comparisons(ratios_of(report.id, report.baseline)),
            lambda folder: compared_parts(
                report_to(report.id, report.baseline),
                ratios_of(report.id, report.baseline),
                folder,
            ),
            lambda: ratios_of(report.id, report.baseline),
        )

    return assemble


def with_floors(
    report: Report,
    of: Sequence[MeasuredRun],
    noise: Sequence[Noise],
    hosts: Mapping[Identifier, Host],
    spreads: Sequence[ModelSpreads],
    claims: Sequence[Claim] = (),
) -> MeasuredReport:
    """The tables of a report, in which no difference below the noise of its runs has a verdict.

    `hosts` are those of its runs, `spreads` those of all processor models that are known.
    """
    counted = {run.id for run in of if run.loaded.run.counter}
    times, counts = (
        verdict_floor(n for n in noise if (n.run in counted) is of_counts)
        for of_counts in (False, True)
    )
    return measured_report(report, of, hosts, times, claims, counts, spreads)


def results_of(root: Path, report: Identifier) -> Results:
    """What a part of a report shows, computed from its data. Raises UserError if there is none."""
    return assembler(root)(read_part(root, report)).results


def results_of_page(root: Path, report: Identifier) -> list[Results]:
    """What all parts of a report show. Raises UserError if there is no such report."""
    assemble = assembler(root)
    return [assemble(part).results for part in read_report(root, report).reports]
