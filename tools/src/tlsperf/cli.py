"""`tlsperf import | new | render | build | remove | show | compare | export | validate | …`.

Each command imports its module when it is called, so that `tlsperf --help` does not wait for
scipy.
"""

from __future__ import annotations

import gc
import math
import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from tlsperf.contract.errors import UserError
from tlsperf.load.completion import implementations, report_names, run_names, runs_and_reports
from tlsperf.load.root import find_root, new_run_folder, report_id, run_id

app = typer.Typer(
    help="Makes reports from the raw output of TLS benchmarks.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"tlsperf {version('tlsperf')}")
        raise typer.Exit


def _percentage(text: str) -> float:
    """The share for a percentage such as 5%."""
    try:
        share = float(text.removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not text.endswith("%") or not 0 <= share < math.inf:
        raise typer.BadParameter("expected a percentage such as 5%")
    return share


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Makes reports from the raw output of TLS benchmarks."""


@app.command()
def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Folder to make, or an empty one.")
    ],
    name: Annotated[str, typer.Option(metavar="TEXT", help="Name of the site.")],
    base_url: Annotated[
        str, typer.Option(metavar="URL", help="Address at which it will be published.")
    ],
) -> None:
    """Makes a site of your own, without a report."""
    from tlsperf.publish.start import start_site

    start_site(folder, name, base_url)
    print(f"wrote {folder}\nnext: cd {folder} && make report")


@app.command()
def new(
    run: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN", help="Runs in data/runs, by id or folder.", autocompletion=run_names
        ),
    ],
    slug: Annotated[
        str | None, typer.Option(metavar="NAME", help="Name of the folder after the date.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title; by default what is compared.")
    ] = None,
    date: Annotated[
        datetime | None,
        typer.Option(
            metavar="DATE",
            formats=["%Y-%m-%d"],
            help="Date, such as 2026-11-21; by default that of the runs.",
        ),
    ] = None,
) -> None:
    """Makes the folder of a report on runs, with prose to complete."""
    from tlsperf.publish.scaffold import new_report

    day = date.date() if date else None
    page = new_report(find_root(), [run_id(given) for given in run], slug, title, day)
    print(f"wrote {page}\nnext: write its prose, then tlsperf render {page.parent.name}")


@app.command()
def render(
    reports: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPORT",
            help="Reports in content/perf, by id or folder; by default all.",
            autocompletion=report_names,
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; fail if a file would change.")
    ] = False,
    changed: Annotated[
        bool,
        typer.Option("--changed", help="With --check: only what data/checked.json has not."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="List the files that are written.")
    ] = False,
) -> None:
    """Writes the pages of reports from their data: what git holds."""
    from tlsperf.publish.render import check_changed, render_reports

    if changed:
        if reports or not check:
            raise UserError("--changed: expected --check beside it, and no report")
        raise typer.Exit(check_changed(find_root()))
    names = [report_id(given) for given in reports or ()]
    raise typer.Exit(render_reports(find_root(), names, check=check, verbose=verbose))


@app.command()
def build() -> None:
    """Makes what git does not hold: downloads, pages over all reports."""
    from tlsperf.publish.build import build as build_site

    gc.disable()  # little memory is freed before the end, and collection takes 10% of the time
    build_site(find_root())


@app.command()
def remove(
    report: Annotated[
        str,
        typer.Argument(
            metavar="REPORT",
            help="Report in content/perf, by id or folder.",
            autocompletion=report_names,
        ),
    ],
) -> None:
    """Removes a report, with the runs that nothing else uses."""
    from tlsperf.publish.remove import remove_report

    for line in remove_report(find_root(), report_id(report)):
        print(line)


@app.command()
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN|REPORT",
            help="Run or report, by id or folder.",
            autocompletion=runs_and_reports,
        ),
    ],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the figures as results.json.")
    ] = False,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print the figures as results.csv.")
    ] = False,
    as_markdown: Annotated[
        bool, typer.Option("--markdown", help="Print tables to paste into a pull request.")
    ] = False,
) -> None:
    """Prints the figures of a run or a report, with their verdicts."""
    from tlsperf.publish.show import results_to_show
    from tlsperf.publish.terminal import print_as

    if as_json + as_csv + as_markdown > 1:
        raise UserError("show: expected one of --json, --csv and --markdown")
    results = results_to_show(find_root(), name)
    print_as(
        "json" if as_json else "csv" if as_csv else "markdown" if as_markdown else "table", results
    )


@app.command()
def summary(
    since: Annotated[
        str, typer.Argument(metavar="COMMIT", help="Commit to compare with, such as origin/main.")
    ],
) -> None:
    """Prints, as Markdown, how reports changed since a commit."""
    from tlsperf.publish.summary import summary_since

    print(summary_since(find_root(), since), end="")


@app.command()
def draft(
    archive: Annotated[
        Path,
        typer.Argument(metavar="ARCHIVE", help="Archive of a run, written by `tlsbench pack`."),
    ],
    suite: Annotated[
        Path, typer.Option(metavar="FILE", help="Suite in bench/suites that was measured.")
    ],
) -> None:
    """Imports the run of a bench host and drafts its report."""
    from tlsperf.publish.draft import draft_report

    print(f"wrote {draft_report(find_root(), archive, suite)}")


@app.command("import")
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE", help="Raw files of one implementation, or archives of runs."
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Run to make or to extend, such as 2026-03-07-x86-64."),
    ] = None,
    implementation: Annotated[
        str | None, typer.Option(metavar="ID", help="What was measured, such as openssl-3.6.1.")
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option("--format", metavar="FORMAT", help="Format, if several fit a file."),
    ] = None,
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Host that was measured, by its id in data/hosts.")
    ] = "unknown",
) -> None:
    """Makes or extends a run from raw files, or unpacks archives."""
    from tlsperf.load.archive import SUFFIX
    from tlsperf.publish.runs import import_archive, import_report

    root = find_root()
    if all(file.name.endswith(SUFFIX) for file in files):
        for file in files:
            run = import_archive(file, root / "data" / "runs")
            folder = root / "data" / "runs" / run.id
            print(f"{folder}: imported {file}\nto undo: rm -r {folder}")
        return
    if out is None:
        raise UserError("raw files need --out, the run to make of them: data/runs/<date>-<name>")
    folder = new_run_folder(root, out)
    print(import_report(files, implementation, folder, format_name, host))


@app.command()
def compare(
    left: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN/]LEFT",
            help="Implementation, such as openssl-3.6.1; with its run if several have it.",
            autocompletion=implementations,
        ),
    ] = None,
    right: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN/]RIGHT",
            help="Implementation to compare with it.",
            autocompletion=implementations,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Print the published tables of this file instead."),
    ] = None,
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="PATTERN", help="Part of a scenario's name or anchor; * matches anything."
        ),
    ] = None,
    estimator: Annotated[
        Literal["median", "upper-median", "best"], typer.Option(help="Figure to compare.")
    ] = "median",
    output: Annotated[
        Literal["table", "markdown", "csv", "json"],
        typer.Option("--format", help="Format of the output."),
    ] = "table",
    include_invalid: Annotated[
        bool, typer.Option("--include-invalid", help="Include figures that do not count.")
    ] = False,
    across_hosts: Annotated[
        bool, typer.Option("--across-hosts", help="Also print ratios between hosts.")
    ] = False,
    min_difference: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            parser=_percentage,
            help="Print only the names of rows whose figures differ by less, such as 5%.",
        ),
    ] = None,
) -> None:
    """Compares two implementations: medians, ratios to LEFT, verdicts.

    The exit code is 1 if RIGHT is slower in a printed row, and 2 if the two could not be compared.
    """
    from tlsperf.publish.compare import apart, compared, is_slower
    from tlsperf.publish.terminal import print_as

    root = find_root()
    chosen = (
        scenario
        or estimator != "median"
        or include_invalid
        or across_hosts
        or min_difference is not None
    )
    if tables is not None and chosen:
        raise UserError("compare: --tables prints published tables: it takes only --format")
    if tables is not None and left is None and output != "json":
        _print_published(root, tables, "csv" if output == "csv" else "markdown")
    elif left is not None and right is not None and tables is None:
        results = compared(root, left, right, estimator, include_invalid, across_hosts, scenario)
        if min_difference is not None:
            results = apart(results, min_difference)
        print_as(output, results)
        if is_slower(results):
            raise typer.Exit(1)
    else:
        raise UserError(
            "compare: expected two implementations, each [RUN/]IMPLEMENTATION, or --tables FILE "
            "with the format markdown or csv"
        )


def _print_published(root: Path, file: Path, output: Literal["markdown", "csv"]) -> None:
    from tlsperf.analysis.series import measured
    from tlsperf.load.comparisons import read_definition
    from tlsperf.load.run import load_run
    from tlsperf.published.published_tables import tables_text

    definition = read_definition(file)
    run = measured(load_run(root / "data" / "runs" / definition.run))
    print(tables_text(definition, run, output), end="")


@app.command()
def export(
    form: Annotated[
        str | None, typer.Argument(metavar="FORM", help="Format of the other tool.")
    ] = None,
    report: Annotated[
        str | None,
        typer.Argument(
            metavar="REPORT",
            help="Report in content/perf, by id or folder.",
            autocompletion=report_names,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER", help="Folder to write to; by default a single file is printed."
        ),
    ] = None,
) -> None:
    """Writes a report in another tool's format, or lists the formats."""
    from tlsperf.publish.exchange import FORMS, exported

    if form is None:
        for name, known in FORMS.items():
            print(f"{name:<15}{known.summary}")
        return
    if report is None:
        raise UserError(f"export {form}: expected a report, the name of a folder in content/perf")
    print(exported(find_root(), form, report_id(report), out), end="")


@app.command()
def validate(
    changed: Annotated[
        bool, typer.Option("--changed", help="Only the runs that data/checked.json has not.")
    ] = False,
) -> None:
    """Checks everything in data/ and prints what is wrong.

    If nothing is, it records that in data/checked.json.
    """
    from tlsperf.contract.text import counted
    from tlsperf.publish.validate import check

    root = find_root()
    found, runs = check(root, changed=changed)
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        raise UserError(f"{root / 'data'}: {counted(len(found), 'problem')}")
    print(f"{root / 'data'}: valid, {counted(runs, 'run')} checked")


@app.command()
def noise(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="Run in data/runs, by id or folder.", autocompletion=run_names
        ),
    ],
) -> None:
    """Prints the noise floor of a run, with every row."""
    from tlsperf.analysis.noise import measure_noise

    print(measure_noise(find_root() / "data" / "runs" / run_id(run)))


def main() -> None:
    """Runs a command. An error of the user or the system is one message and exit code 1.

    `compare` exits with 2 for such an error, since its 1 means that a figure is slower.
    """
    failure = 2 if sys.argv[1:2] == ["compare"] else 1
    try:
        app()
    except UserError as error:
        print(f"tlsperf: {error}", file=sys.stderr)
        raise SystemExit(failure) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        print(f"tlsperf: {place}{error.strerror or error}", file=sys.stderr)
        raise SystemExit(failure) from None


if __name__ == "__main__":
    main()
