"""`tlsperf show`: the figures of a run or a report, as on its page."""

from __future__ import annotations

from pathlib import Path

from tlsperf.contract.errors import UserError, alternatives
from tlsperf.contract.libraries import NAMES
from tlsperf.contract.results import Results
from tlsperf.contract.run import Report, Run
from tlsperf.contract.text import listed
from tlsperf.load.page import report_names
from tlsperf.load.root import report_id, run_id
from tlsperf.load.run import read_run
from tlsperf.publish.assemble import assembler, results_of
from tlsperf.publish.scaffold import baseline_of


def results_to_show(root: Path, given: str) -> Results:
    """The results of a run or a report, computed from its data.

    A name that both have is that of the run; `content/perf/<name>` is the report. Ratios of a run
    are to the baseline of a new report on it. Raises UserError for an unknown name.
    """
    names = report_names(root)
    runs = sorted(path.parent.name for path in (root / "data" / "runs").glob("*/run*.toml"))
    named = Path(given.rstrip("/"))
    is_path = named.parent != Path()
    if is_path and "perf" in named.resolve().parts[-3:-1]:
        name = report_id(given)
        known = names
    else:
        name = run_id(given)
        if name in runs:
            report = _report_on(read_run(root / "data" / "runs" / name))
            return assembler(root, [], [report])(report).results
        known = runs if is_path else [*runs, *names]
    if name not in names or known is runs:
        raise UserError(
            f"there is no run or report {given!r}: expected {alternatives(name, known)}"
        )
    return results_of(root, name)


def _report_on(run: Run) -> Report:
    labels = dict.fromkeys(NAMES[i.library] for i in run.implementations)
    return Report(
        id=run.id,
        title=f"{run.id}: {listed(list(labels))}",
        date=run.date,
        runs=[run.id],
        baseline=baseline_of(run.implementations),
        previous=None,
    )
