"""`tlsperf import | new | render | compare | validate | noise | summary | draft`.

Each command calls one function of its module, imported when it is called: `tlsperf --help`
must not wait for pandas.
"""

from __future__ import annotations

import gc
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from tlsperf.contract.errors import UserError

app = typer.Typer(
    help="From raw benchmark output of TLS libraries to reports.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.command()
def new(
    runs: Annotated[list[str], typer.Argument(help="Runs below data/runs, by id.")],
    slug: Annotated[str | None, typer.Option(help="The folder's name after the date.")] = None,
    title: Annotated[str | None, typer.Option(help="What is compared, by default.")] = None,
    date: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], help="That of the runs, by default.")
    ] = None,
) -> None:
    """Makes the folder of a report on runs, with prose to complete."""
    from tlsperf.publish.scaffold import new_report

    print(f"wrote {new_report(Path(), runs, slug, title, date.date() if date else None)}")


@app.command()
def render(
    reports: Annotated[
        list[str] | None, typer.Argument(help="Reports below content/perf, by id; all by default.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a file would change.")
    ] = False,
) -> None:
    """Writes what is drawn from data into reports, and the pages over all reports."""
    from tlsperf.publish.render import render_reports

    gc.disable()  # nothing is thrown away before the end: collecting takes a tenth of the time
    raise typer.Exit(render_reports(Path(), reports or (), check=check))


@app.command()
def summary(
    since: Annotated[str, typer.Argument(help="Commit to compare with, such as origin/main.")],
) -> None:
    """Prints, as Markdown, what became of the reports since a commit."""
    from tlsperf.publish.summary import summary_since

    print(summary_since(Path(), since), end="")


@app.command()
def draft(
    archive: Annotated[Path, typer.Argument(help="A run as `tlsbench pack` wrote it.")],
    suite: Annotated[Path, typer.Option(help="The suite it must be of, in bench/suites.")],
) -> None:
    """Imports the run of a bench host and drafts its report and pull request."""
    from tlsperf.publish.draft import draft_report

    print(f"wrote {draft_report(Path(), archive, suite)}")


@app.command("import")
def import_(
    files: Annotated[
        list[Path], typer.Argument(help="Raw files of one implementation, or packed runs.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The run, such as data/runs/2026-03-07-x86-64.")
    ] = None,
    implementation: Annotated[
        str | None, typer.Option(help="What was measured: openssl-3.6.1, rustls-0.23.37-ring.")
    ] = None,
    format_name: Annotated[
        str | None, typer.Option("--format", help="Only where a file could be several.")
    ] = None,
    host: Annotated[str, typer.Option(help="Where, as in data/hosts.")] = "unknown",
) -> None:
    """Makes a run of raw files of other tools, or adds them to one; or unpacks a packed run."""
    from tlsperf.load.archive import SUFFIX
    from tlsperf.publish.runs import import_archive, import_files

    if all(file.name.endswith(SUFFIX) for file in files):
        for file in files:
            print(f"data/runs/{import_archive(file, Path('data', 'runs')).id}: as {file} has it")
        return
    if out is None:
        raise UserError("raw files need --out, the run to make of them: data/runs/<date>-<name>")
    run = import_files(files, implementation, out, format_name, host)
    print(f"{out}: {len(run.files)} files, {len(run.implementations)} implementations")
    for warning in run.warnings:
        print(f"warning: {warning.message}")


@app.command()
def compare(
    left: Annotated[str | None, typer.Argument(help="[RUN/]IMPLEMENTATION")] = None,
    right: Annotated[str | None, typer.Argument(help="[RUN/]IMPLEMENTATION")] = None,
    tables: Annotated[
        Path | None, typer.Option(help="Instead of two: published tables of data/comparisons.")
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Part of a scenario's name or anchor, with * for anything.")
    ] = None,
    estimator: Annotated[
        Literal["median", "upper-median", "best"], typer.Option(help="Which figure to show.")
    ] = "median",
    output: Annotated[
        Literal["markdown", "csv", "json"], typer.Option("--format", help="How to print it.")
    ] = "markdown",
    include_invalid: Annotated[
        bool, typer.Option("--include-invalid", help="Count what must not count as well.")
    ] = False,
) -> None:
    """Prints two implementations of any runs side by side: medians, factor, verdict."""
    from tlsperf.analysis.compare import comparison_text
    from tlsperf.analysis.series import measured
    from tlsperf.load.comparisons import read_definition
    from tlsperf.load.run import load_run
    from tlsperf.published.published_tables import tables_text

    if tables is not None and left is None and output != "json":
        definition = read_definition(tables)
        run = measured(load_run(Path("data/runs") / definition.run))
        print(tables_text(definition, run, output), end="")
    elif left is not None and right is not None and tables is None:
        print(
            comparison_text(
                Path("data/runs"), left, right, scenario, estimator, include_invalid, output
            ),
            end="",
        )
    else:
        raise UserError("compare: expected two implementations, or --tables FILE (not as JSON)")


@app.command()
def export(
    form: Annotated[str | None, typer.Argument(help="The format.")] = None,
    report: Annotated[
        str | None, typer.Argument(help="The report below content/perf, by id.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder to write to; prints a single file by default.")
    ] = None,
) -> None:
    """Writes a report in the format of another tool; without arguments, lists the formats."""
    from tlsperf.publish.exchange import FORMS, exported

    if form is None:
        for name, known in FORMS.items():
            print(f"{name:<15}{known.summary}")
        return
    if report is None:
        raise UserError(f"export {form}: expected a report, the name of a folder in content/perf")
    print(exported(Path(), form, report, out), end="")


@app.command()
def validate() -> None:
    """Checks everything below data/, and says what is wrong."""
    from tlsperf.publish.validate import problems

    found = problems(Path("data"))
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        raise UserError(f"data: {len(found)} problems")
    print("data: valid")


@app.command()
def noise(run: Annotated[str, typer.Argument(help="A run below data/runs, by id.")]) -> None:
    """Prints how far apart two measurements of the same thing are in a run."""
    from tlsperf.analysis.noise import measure_noise

    print(measure_noise(Path("data/runs") / run))


def main() -> None:
    """Runs a command; what a user got wrong becomes one message and exit code 1."""
    try:
        app()
    except UserError as error:
        print(f"tlsperf: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
