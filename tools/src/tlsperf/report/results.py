"""Makes `Results` of measured runs: everything that the page of a report shows. Pure functions.

All floats are rounded, so that another machine's mathematics library yields the same file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from tlsperf.analysis.layouts import with_layouts
from tlsperf.analysis.overhead import overhead_text, transfer_costs, with_harness
from tlsperf.analysis.series import MeasuredReport, MeasuredRun, report_series, rounded
from tlsperf.analysis.sessions import spreads_of
from tlsperf.analysis.statistics import SAME_WITHIN, UNSTABLE_SPREAD_PERCENT, fewest_for_median
from tlsperf.contract.claim import Claim
from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.host import completed, host_id_of, hosts_of, two_models
from tlsperf.contract.metrics import METRICS
from tlsperf.contract.results import (
    Results,
    RunReference,
    ShownImplementation,
    StoredFile,
    Table,
)
from tlsperf.contract.run import HostFacts, Implementation, Report, Run, RunWarning
from tlsperf.contract.spreads import ModelSpreads
from tlsperf.contract.text import counted, listed, share, shown
from tlsperf.load.formats import FOREIGN
from tlsperf.report.asked import asked_for
from tlsperf.report.prices import price_tables, tested_prices
from tlsperf.report.tables import comparisons, grouped, tables


def _warnings(
    report: Report, runs: Sequence[MeasuredRun], tables: Sequence[Table]
) -> list[RunWarning]:
    found = _about_hosts(report, runs)
    for run in runs:
        if not run.loaded.run.complete:
            message = f"Run {run.id} was interrupted before its last round."
            found.append(RunWarning(code="incomplete", message=message))
        found += _incomparable(run.loaded.run)
        found += run.loaded.warnings
    cells = [
        c
        for t in tables
        for row in t.rows
        if not METRICS[row.metric].is_count
        for c in row.cells
        if c.valid and c.value
    ]
    fewest = sum(1 < (c.count or 1) < fewest_for_median() for c in cells)
    if fewest:
        message = (
            f"{share(fewest, len(cells), 'figures', 'has', 'have')} too few rounds for an interval."
        )
        found.append(RunWarning(code="too-few-rounds", message=message))
    figures = [
        c
        for t in tables
        if not t.by_phase
        for row in t.rows
        for c in row.cells
        if c.valid and c.value
    ]
    unstable = sum(1 for c in figures if (c.spread_percent or 0) >= UNSTABLE_SPREAD_PERCENT)
    if unstable:
        message = (
            f"{share(unstable, len(figures), 'figures', 'is', 'are')} unstable: relative standard "
            f"deviation at or above {UNSTABLE_SPREAD_PERCENT:.0f}%. Each table counts its own."
        )
        found.append(RunWarning(code="unstable", message=message))
    return found


def _about_hosts(report: Report, runs: Sequence[MeasuredRun]) -> list[RunWarning]:
    """A warning if the runs are of several hosts: whether ratios compare them."""
    hosts = list(dict.fromkeys(hosts_of(run.loaded.run for run in runs).values()))
    if len(hosts) < 2:
        return []
    rule = (
        "ratios between them compare the hosts as well as the libraries"
        if report.across_hosts
        else "figures of different hosts have no ratio and no verdict"
    )
    message = f"The runs were measured on {len(hosts)} hosts ({listed(hosts)}): {rule}."
    return [RunWarning(code="host", message=message)]


def _incomparable(run: Run) -> list[RunWarning]:
    """Warnings about figures of other tools that cannot be compared, from the facts in run.toml."""
    if not any(file.format in FOREIGN for file in run.files):
        return []
    found = []
    programs = run.tool.name.split(", ")
    if len(programs) > 1 and len({i.library for i in run.implementations}) > 1:
        found.append(
            f"The figures are of {len(programs)} programs, {listed(programs)}: a ratio between "
            "them compares the programs too."
        )
    allocators = sorted({i.allocator for i in run.implementations if i.allocator})
    if len(allocators) > 1:
        found.append(
            f"The implementations have {len(allocators)} allocators, {listed(allocators)}."
        )
    estimator = run.source.estimator if run.source else None
    if run.rounds is None and estimator:
        found.append(
            f"The figures have no interval ({estimator}): how much another run would differ is not "
            "known."
        )
    elif run.rounds is None:
        found.append("The figures have no interval, and their number of runs is not recorded.")
    return [RunWarning(code="incomparable", message=message) for message in found]


def _implementations(report: Report, runs: Sequence[MeasuredRun]) -> list[Implementation]:
    found: dict[str, Implementation] = {}
    hosts = hosts_of(run.loaded.run for run in runs)
    first: dict[str, MeasuredRun] = {}
    # In several layouts it is several programs, whose checksums are in run.toml.
    several = {
        of.id for run in runs if run.loaded.run.layouts for of in run.loaded.run.implementations
    }
    for run in runs:
        for implementation in run.loaded.run.implementations:
            before = first.setdefault(implementation.id, run)
            if hosts[before.id] != hosts[run.id]:
                raise UserError(
                    f"report {report.id}: {implementation.id} was measured on two hosts, "
                    f"{hosts[before.id]} (run {before.id}) and {hosts[run.id]} (run {run.id}), "
                    "and has one column: make a report of each run"
                )
        for implementation in run.loaded.run.implementations:
            earlier = found.setdefault(implementation.id, implementation)
            apart = _linked_apart(run) and _linked_apart(first[implementation.id])
            if apart and implementation.id in several:
                binary = {"binary_sha256": earlier.binary_sha256}
                implementation = implementation.model_copy(update=binary)
            if earlier != implementation:
                raise UserError(
                    f"report {report.id}: {implementation.id} is another build in run {run.id} "
                    "than in an earlier one; give the builds ids of their own"
                )
    return [
        of.model_copy(update={"binary_sha256": None}) if of.id in several else of
        for of in found.values()
    ]


def _linked_apart(run: MeasuredRun) -> bool:
    """Whether the programs of a run may differ from those of another run of the same build.

    Two kinds of layouts are linked apart, so they differ in the first layout too. A program that is
    linked once, for a count, differs from all of them.
    """
    return bool(run.loaded.run.layouts or run.loaded.run.counter)


def _hosts(runs: Sequence[MeasuredRun], known: Mapping[str, HostFacts]) -> list[HostFacts]:
    """Each host once: the facts that its first run recorded, completed from data/hosts.

    Raises UserError for an unknown host, and for two processor models with one id.
    """
    found: dict[str, HostFacts] = {}
    for id_, error in two_models((r.loaded.run for r in runs), known).items():
        raise UserError(f"run {id_}: {error}")
    for run in (r.loaded.run for r in runs):
        id_ = host_id_of(run, known)
        if id_ in found:
            continue
        host = completed(run.host, known.get(id_))
        if host is None:
            raise UserError(f"run {run.id}: host {run.host_id} is not in data/hosts")
        found[id_] = host.model_copy(update={"id": id_})
    return list(found.values())


def _shown(
    implementations: Sequence[Implementation],
    runs: Sequence[MeasuredRun],
    hosts: Sequence[HostFacts],
    known: Mapping[str, HostFacts],
) -> list[ShownImplementation]:
    """The implementations with label and colour; with their host if the report has several."""
    found = [shown(implementation) for implementation in implementations]
    if len(hosts) == 1:
        return found
    places = {
        i.id: host_id_of(run, known)
        for run in (r.loaded.run for r in runs)
        for i in run.implementations
    }
    return [of.model_copy(update={"host": places[of.id]}) for of in found]


def _reference(measured: MeasuredRun, known: Mapping[str, HostFacts]) -> RunReference:
    run = measured.loaded.run
    return RunReference(
        id=run.id,
        date=run.date,
        suite=run.suite.name if run.suite else None,
        family=run.suite.family if run.suite else None,
        rounds=run.rounds,
        allocator=run.allocator,
        host_id=host_id_of(run, known),
        tool=run.tool,
        source=run.source,
        files=[
            StoredFile(**dict(file), stored=measured.loaded.compressed.get(file.path))
            for file in run.files
        ],
        # The report itself has this fact, in `virtual`.
        warnings=[w for w in run.warnings if w.code != "virtual-machine"],
        overhead=overhead_text(measured),
        took=_took(run),
    )


def _took(run: Run) -> str | None:
    """The time from the start of a run to its end, with the pauses between sessions."""
    if run.started is None or run.finished is None:
        return None
    minutes = max(1, round((run.finished - run.started).total_seconds() / 60))
    return counted(minutes, "minute")


def measured_report(
    report: Report,
    runs: Sequence[MeasuredRun],
    known_hosts: Mapping[str, HostFacts],
    floor: float = 1.0,
    claims: Sequence[Claim] = (),
    count_floor: float = 1.0,
    spreads: Sequence[ModelSpreads] = (),
) -> MeasuredReport:
    """The series of a report, and its results without sections and charts.

    `floor` and `count_floor` are the noise floors of times and of counts that the report prints: no
    smaller difference is called faster, or fewer.
    `claims` are those of its page; their comparisons count with those of the tables. `spreads` are
    those of all processor models that are known.

    Raises UserError if no run has the baseline, a host is unknown, or one id names two builds.
    """
    implementations = _implementations(report, runs)
    ids = [i.id for i in implementations]
    if report.baseline is not None and report.baseline not in ids:
        raise UserError(
            f"report {report.id}: found the baseline {report.baseline!r}, expected "
            f"{alternatives(report.baseline, ids)}"
        )
    hosts = _hosts(runs, known_hosts)
    series = report_series(
        runs,
        spreads_of(hosts[0], spreads),
        max(floor, SAME_WITHIN),
        report.across_hosts,
        count_floor,
    )
    groups = grouped(series.rows)
    asked = asked_for(claims, list(groups.values()), implementations, report.baseline, hosts)
    count = comparisons(groups.values(), report.baseline, series.rules) + asked.tested
    count = max(1, count + tested_prices(series.rows, series.rules))
    series = replace(series, rules=replace(series.rules, comparisons=count))
    costs = transfer_costs(runs)
    of_rows = [
        with_layouts(with_harness(table, costs), runs)
        for table in tables(runs, groups, series.rules, implementations, report.baseline)
    ]
    timed = any(not METRICS[row.metric].is_count for table in of_rows for row in table.rows)
    results = Results(
        id=report.id,
        page=report.page or None,
        title=report.title,
        date=report.date,
        time=report.time,
        virtual=_any(h.virtual for h in hosts),
        baseline=report.baseline,
        runs=[_reference(run, known_hosts) for run in runs],
        hosts=hosts,
        implementations=_shown(implementations, runs, hosts, known_hosts),
        tables=of_rows,
        charts=[],
        comparisons=asked.compared(series.rules),
        prices=price_tables(series.rows, of_rows, series.rules, ids) or None,
        warnings=_warnings(report, runs, of_rows),
        noise_floor_percent=rounded(100 * (floor - 1), 4) if timed and floor > 1 else None,
        count_floor_percent=rounded(100 * (count_floor - 1), 4) if count_floor > 1 else None,
    )
    return MeasuredReport(results, series)


def _any(facts: Iterable[bool | None]) -> bool | None:
    known = [fact for fact in facts if fact is not None]
    return any(known) if known else None
