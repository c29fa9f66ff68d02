"""`tlsperf draft`: imports the archive of a bench host as a run, and drafts its report.

It checks what a person would check before publishing. It stops with a message, and leaves the
checkout unchanged, if the archive was changed, the run is of another suite or incomplete, the host
was not fit to measure, its data are invalid, or the run or report exists already.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tlsperf.contract.errors import UserError
from tlsperf.contract.results import Results
from tlsperf.contract.run import Run
from tlsperf.load.suite import read_suite
from tlsperf.publish.assemble import results_of
from tlsperf.publish.render import render_reports
from tlsperf.publish.runs import import_archive
from tlsperf.publish.scaffold import new_report
from tlsperf.publish.summary import introduction
from tlsperf.publish.validate import validating

OUTPUT: Final = Path("build") / "draft"
"""The folder for the text of the pull request: `report` (its id), `title`, `body.md`."""


def draft_report(root: Path, archive: Path, suite: Path) -> Path:
    """Imports the run in `archive` and drafts its report; returns the path of its `index.md`.

    The run must be of the suite in the file `suite`. Raises UserError, and then writes nothing.
    """
    build = root / OUTPUT.parent
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=build) as scratch:
        run = import_archive(archive, Path(scratch))
        check_run(run, suite, str(archive))
        target = root / "data" / "runs" / run.id
        if target.exists():
            raise UserError(f"{archive}: the run {run.id} exists already: {target}")
        target.parent.mkdir(parents=True, exist_ok=True)
        (Path(scratch) / run.id).rename(target)
    with _removed_on_failure(target):
        if found := validating(root / "data")(target):
            raise UserError("\n".join(found))
        page = new_report(root, [run.id])
        with _removed_on_failure(page.parent):
            render_reports(root, [page.parent.name], check=False)
            _write_pull_request(root / OUTPUT, results_of(root, page.parent.name))
    return page


def check_run(run: Run, suite: Path, archive: str) -> None:
    """Raises UserError unless the run is complete, of this suite, and from a host fit to
    measure.
    """
    name, digest = read_suite(suite)
    if run.suite is None or run.suite.name != name:
        found = run.suite.name if run.suite else "none"
        raise UserError(f"{archive}: found a run of the suite {found}, expected {name}")
    if run.suite.sha256 != digest:
        raise UserError(
            f"{archive}: found the suite {name} with sha256 {run.suite.sha256}, expected {digest} "
            f"as {suite} has it: it was changed"
        )
    if not run.complete:
        raise UserError(f"{archive}: found a run that was stopped, expected a complete one")
    failed = [
        f"{check.check} ({check.found}; {check.fix})"
        for check in run.checks
        if check.status == "fail"
    ]
    if failed:
        raise UserError(
            f"{archive}: the host was not fit to measure when the run began: {', '.join(failed)}"
        )


@contextmanager
def _removed_on_failure(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException:
        shutil.rmtree(folder)
        raise


def _write_pull_request(folder: Path, results: Results) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "report").write_text(results.id + "\n")
    host = ", ".join(host.id for host in results.hosts)
    (folder / "title").write_text(f"Report: {results.title}, on {host}\n", encoding="utf-8")
    body = f"""\
{introduction(results)}
---
The report was made from the run {results.runs[0].id}, whose raw output is in this branch.
Merging publishes it. Before you merge, read the warnings, and complete the prose in
`content/perf/{results.id}/index.md`. The workflow ci on this branch has the site with this report
as an artifact.
"""
    (folder / "body.md").write_text(body, encoding="utf-8")
