"""`tlsperf import | new | render | build | remove | show | compare | export | validate | …`.

Each command imports its module when it is called, so that `tlsperf --help` does not wait for
scipy.
"""

from __future__ import annotations

import contextlib
import datetime
import gc
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

import typer
from typer.completion import completion_init, get_completion_script
from typer.core import TyperCommand, TyperGroup

from tlsperf import options
from tlsperf.contract.errors import UsageError, UserError, message_of, mismatch
from tlsperf.exits import ERROR, WRONG_USE, exit_code
from tlsperf.load.completion import implementations, report_names, run_names, runs_and_reports
from tlsperf.load.damage import damage
from tlsperf.load.root import find_root

if TYPE_CHECKING:
    from typer._click import Context, HelpFormatter

_MAKE: Final = "Make a report"
_READ: Final = "Read figures"
_KEEP: Final = "Keep the data"
_OTHER: Final = "Other commands"


class _Grouped(TyperGroup):
    """Its help lists the commands by what they are for."""

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        widest = max(map(len, self.commands))
        groups: dict[str, list[tuple[str, str]]] = {_MAKE: [], _READ: [], _KEEP: [], _OTHER: []}
        for name, command in self.commands.items():
            group = command.rich_help_panel if isinstance(command, TyperCommand) else None
            summary = command.get_short_help_str(formatter.width - widest - 6)
            groups[group or _OTHER].append((f"{name:<{widest}}", summary))
        for title, rows in groups.items():
            with formatter.section(title):
                formatter.write_dl(rows)


app = typer.Typer(
    cls=_Grouped,
    help="Makes reports from the raw output of TLS benchmarks.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,  # `completions` prints the script, as that of tlsbench does
)
completion_init()


Format = Annotated[
    Literal["text", "csv", "json", "markdown"],
    typer.Option("--format", help="Format of the output."),
]


def _silence(context: typer.Context, wanted: bool) -> None:
    """Discards what the command prints of its progress; warnings and errors are on stderr."""
    if wanted:
        context.with_resource(contextlib.redirect_stdout(io.StringIO()))


Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", callback=_silence, help="Print only warnings and errors."),
]


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"tlsperf {version('tlsperf')}")
        raise typer.Exit


def _typed(parse: Callable[[str], options.Value]) -> Callable[[str], options.Value]:
    return options.raising(parse, typer.BadParameter)


@app.callback()
def tlsperf(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Makes reports from the raw output of TLS benchmarks."""


@app.command(
    rich_help_panel=_MAKE,
    epilog="Example: tlsperf init acme --name ACME --base-url https://acme.example",
)
def init(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            parser=_typed(options.folder),
            help="Folder to make, or an empty one.",
        ),
    ],
    name: Annotated[
        str,
        typer.Option(metavar="TEXT", parser=_typed(options.title), help="Name of the site."),
    ],
    base_url: Annotated[
        str,
        typer.Option(
            metavar="URL",
            parser=_typed(options.address),
            help="Address at which it will be published.",
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Makes a site of your own, without a report."""
    from tlsperf.publish.start import start_site

    start_site(folder, name, base_url)
    print(f"wrote {folder}\nnext: cd {folder} && make report")


@app.command(
    rich_help_panel=_MAKE,
    epilog="Example: tlsperf new 2026-11-26-quick --title 'Two libraries on Zen 4'",
)
def new(
    run: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            parser=_typed(options.run),
            help="Runs in data/runs, by id or folder.",
            autocompletion=run_names,
        ),
    ],
    slug: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            parser=_typed(options.slug),
            help="Name of the folder after the date.",
        ),
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            parser=_typed(options.title),
            help="Title; by default what is compared.",
        ),
    ] = None,
    date: Annotated[
        datetime.date | None,
        typer.Option(
            metavar="DATE",
            parser=_typed(options.day),
            help="Date, such as 2026-11-21; by default that of the runs.",
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Makes the folder of a report on runs, with prose to complete."""
    from tlsperf.publish.scaffold import new_report

    page = new_report(find_root(), list(dict.fromkeys(run)), slug, title, date)
    print(f"wrote {page}\nnext: write its prose, then tlsperf render {page.parent.name}")


@app.command(rich_help_panel=_MAKE, epilog="Example: tlsperf render 2026-11-26-quick")
def render(
    reports: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="REPORT",
            parser=_typed(options.report),
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
    quiet: Quiet = False,
) -> None:
    """Writes the pages of reports from their data: what git holds."""
    from tlsperf.publish.render import check_changed, render_reports

    if changed:
        if reports or not check:
            raise UsageError("--changed: expected --check beside it, and no report")
        raise typer.Exit(check_changed(find_root()))
    raise typer.Exit(render_reports(find_root(), reports or (), check=check, verbose=verbose))


@app.command(rich_help_panel=_MAKE, epilog="Example: tlsperf build")
def build(quiet: Quiet = False) -> None:
    """Makes what git does not hold: downloads and Compare."""
    from tlsperf.publish.build import build as build_site

    gc.disable()  # little memory is freed before the end, and collection takes 10% of the time
    build_site(find_root())


@app.command(rich_help_panel=_KEEP, epilog="Example: tlsperf remove 2026-11-26-quick")
def remove(
    report: Annotated[
        str,
        typer.Argument(
            metavar="REPORT",
            parser=_typed(options.report),
            help="Report in content/perf, by id or folder.",
            autocompletion=report_names,
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Removes a report, with the runs that nothing else uses."""
    from tlsperf.publish.remove import remove_report

    for line in remove_report(find_root(), report):
        print(line)


@app.command(
    rich_help_panel=_READ, epilog="Example: tlsperf show 2026-11-26-quick --format markdown"
)
def show(
    name: Annotated[
        str,
        typer.Argument(
            metavar="RUN|REPORT",
            parser=_typed(options.name),
            help="Run or report, by id or folder.",
            autocompletion=runs_and_reports,
        ),
    ],
    output: Format = "text",
) -> None:
    """Prints the figures of a run or a report, with their verdicts."""
    from tlsperf.publish.show import results_to_show
    from tlsperf.publish.terminal import print_as

    print_as(output, results_to_show(find_root(), name))


@app.command(rich_help_panel=_READ, epilog="Example: tlsperf summary origin/main")
def summary(
    since: Annotated[
        str,
        typer.Argument(
            metavar="COMMIT",
            parser=_typed(options.commit),
            help="Commit to compare with, such as origin/main.",
        ),
    ],
) -> None:
    """Prints, as Markdown, how reports changed since a commit."""
    from tlsperf.publish.summary import summary_since

    print(summary_since(find_root(), since), end="")


@app.command(
    rich_help_panel=_MAKE,
    epilog="Example: tlsperf draft quick.tar.gz --suite bench/suites/quick.toml",
)
def draft(
    archive: Annotated[
        Path,
        typer.Argument(
            metavar="ARCHIVE",
            parser=_typed(options.file),
            help="Archive of a run, written by `tlsbench pack`.",
        ),
    ],
    suite: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            parser=_typed(options.file),
            help="Suite in bench/suites that was measured.",
        ),
    ],
    quiet: Quiet = False,
) -> None:
    """Imports the run of a bench host and drafts its report."""
    from tlsperf.publish.draft import draft_report

    print(f"wrote {draft_report(find_root(), archive, suite)}")


@app.command(
    "import", rich_help_panel=_KEEP, epilog="Example: tlsperf import 2026-11-26-quick.tar.gz"
)
def import_(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE",
            parser=_typed(options.file),
            help="Raw files of one implementation, or archives of runs.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN",
            parser=_typed(options.new_run),
            help="Run to make or to extend, such as 2026-03-07-x86-64.",
        ),
    ] = None,
    implementation: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            parser=_typed(options.name),
            help="What was measured, such as openssl-3.6.1.",
        ),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Format, if several fit a file."),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            metavar="HOST",
            parser=_typed(options.host),
            help="Host that was measured, by its id in data/hosts.",
        ),
    ] = "unknown",
    quiet: Quiet = False,
) -> None:
    """Makes or extends a run from raw files, or unpacks archives."""
    from tlsperf.load.archive import SUFFIX
    from tlsperf.load.importer import UNKNOWN_HOST
    from tlsperf.publish.runs import import_archive, import_report

    root = find_root()
    archives = [file for file in files if file.name.endswith(SUFFIX)]
    if archives:
        others = out or implementation or format_name or host != UNKNOWN_HOST
        if archives != files or others:
            raise UsageError(
                f"{archives[0]}: found an archive, which says what is in it, among other files or "
                "options; expected archives alone"
            )
        for file in archives:
            run = import_archive(file, root / "data" / "runs")
            folder = root / "data" / "runs" / run.id
            print(f"{folder}: imported {file}\nto undo: rm -r {folder}")
        return
    if out is None:
        raise UsageError("raw files need --out, the run to make of them: data/runs/<date>-<name>")
    print(import_report(files, implementation, out, format_name, host))


@app.command(
    rich_help_panel=_READ, epilog="Example: tlsperf compare openssl-3.6.3 rustls-0.23.46-aws-lc-rs"
)
def compare(
    left: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN/]LEFT",
            parser=_typed(options.name),
            help="Implementation, such as openssl-3.6.1; by default of the newest run with both.",
            autocompletion=implementations,
        ),
    ] = None,
    right: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN/]RIGHT",
            parser=_typed(options.name),
            help="Implementation to compare with it.",
            autocompletion=implementations,
        ),
    ] = None,
    tables: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            parser=_typed(options.file),
            help="Print the published tables of this file instead.",
        ),
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
    output: Format = "text",
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
            parser=_typed(options.percentage),
            help="Print only the names of rows whose figures differ by less, such as 5%.",
        ),
    ] = None,
) -> None:
    """Compares two implementations: ratios to LEFT, and verdicts.

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
        raise UsageError("compare: --tables prints published tables: it takes only --format")
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
        raise UsageError(
            "compare: expected two implementations, each [RUN/]IMPLEMENTATION, or --tables FILE "
            "with the format text, csv or markdown"
        )


def _print_published(root: Path, file: Path, output: Literal["markdown", "csv"]) -> None:
    from tlsperf.analysis.series import measured
    from tlsperf.load.comparisons import read_definition
    from tlsperf.load.run import load_run
    from tlsperf.published.published_tables import tables_text

    definition = read_definition(file)
    run = measured(load_run(root / "data" / "runs" / definition.run))
    print(tables_text(definition, run, output), end="")


@app.command(rich_help_panel=_READ, epilog="Example: tlsperf export bmf 2026-11-26-quick")
def export(
    form: Annotated[
        str | None, typer.Argument(metavar="FORMAT", help="Format of the other tool.")
    ] = None,
    report: Annotated[
        str | None,
        typer.Argument(
            metavar="REPORT",
            parser=_typed(options.report),
            help="Report in content/perf, by id or folder.",
            autocompletion=report_names,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            parser=_typed(options.folder),
            help="Folder to write to; by default a single file is printed.",
        ),
    ] = None,
    append: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The data.js that the format data-js adds the report to, or makes."
        ),
    ] = None,
) -> None:
    """Writes a report in the format of another tool.

    Without FORMAT it lists the formats.
    """
    from tlsperf.publish.exchange import FORMS, exported

    if form is None:
        for name, known in FORMS.items():
            print(f"{name:<15}{known.summary}")
    elif report is None:
        raise UsageError("export: expected FORMAT and REPORT; alone it lists the formats")
    else:
        print(exported(find_root(), form, report, out, append), end="")


@app.command(rich_help_panel=_KEEP, epilog="Example: tlsperf validate")
def validate(
    changed: Annotated[
        bool, typer.Option("--changed", help="Only the runs that data/checked.json has not.")
    ] = False,
    quiet: Quiet = False,
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


@app.command(rich_help_panel=_READ, epilog="Example: tlsperf noise 2026-11-26-quick")
def noise(
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN",
            parser=_typed(options.run),
            help="Run in data/runs, by id or folder.",
            autocompletion=run_names,
        ),
    ],
) -> None:
    """Prints the noise floor of a run, with every row."""
    from tlsperf.analysis.noise import measure_noise

    print(measure_noise(find_root() / "data" / "runs" / run))


@app.command(
    rich_help_panel=_READ, epilog="Example: tlsperf spreads 2026-11-25-standard 2026-11-26-standard"
)
def spreads(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN]...",
            parser=_typed(options.run),
            help="Runs to compare with each other, by id or folder.",
            autocompletion=run_names,
        ),
    ] = None,
) -> None:
    """Compares runs of the same builds with what pages promise.

    Without RUN it writes data/spreads.json, from which intervals are made, of all runs. The exit
    code is 1 if two runs differ by more than pages promise.
    """
    from tlsperf.publish.spreads import spreads_text

    text, holds = spreads_text(find_root(), runs or [])
    print(text, end="")
    if not holds:
        raise typer.Exit(1)


@app.command(epilog="Example: tlsperf completions zsh")
def completions(
    shell: Annotated[
        Literal["bash", "zsh", "fish"],
        typer.Argument(
            metavar="SHELL",
            help="Shell. To install the script for bash: `tlsperf completions bash > "
            "~/.local/share/bash-completion/completions/tlsperf`.",
        ),
    ],
) -> None:
    """Prints a script that completes commands in a shell."""
    script = get_completion_script(
        prog_name="tlsperf", complete_var="_TLSPERF_COMPLETE", shell=shell
    )
    print(script)


_GO_ON: Final = "the reports written so far stay; the same command goes on"
_LEFT: Final = {"render": _GO_ON, "build": _GO_ON}
"""What an interrupted command leaves, and how to go on; the others write all or nothing."""


def main() -> None:
    """Runs a command, and ends with its exit code.

    `compare` exits with 2 for an error too, since its 1 means that a figure is slower.
    """
    command = "".join(sys.argv[1:2])
    failure = WRONG_USE if command == "compare" else ERROR
    raise SystemExit(exit_code("tlsperf", lambda: _ended(failure), failure, _LEFT.get(command, "")))


def _ended(failure: int) -> int | None:
    """Runs a command; what Typer and pydantic found wrong is an error of the user."""
    given = sys.argv[1:]
    try:
        code = _run(given or ["--help"])
    except typer.TyperException as error:
        raise UsageError(_of_typer(error)) from None
    except SystemExit as end:  # when nobody reads the output any more, and after completion
        return failure if end.code else 0
    except ValueError as error:
        from pydantic import ValidationError

        if isinstance(error, ValidationError):
            raise mismatch(error, error.title) from None
        raise
    return code if given else WRONG_USE


def _run(arguments: list[str]) -> int | None:
    """Runs a command, and warns of what it left out unless its error says the same."""
    with damage() as left_out:
        try:
            code: int | None = app(arguments, prog_name="tlsperf", standalone_mode=False)
            return code
        finally:
            error = sys.exception()
            said = message_of(error) if isinstance(error, (UserError, OSError)) else ""
            for line in left_out:
                if line not in said.splitlines():
                    print(f"warning: {line}; left out", file=sys.stderr)


def _of_typer(error: typer.TyperException) -> str:
    """What is wrong, in one line: `--date: found '2031-01-01', expected …`."""
    said = " ".join(error.format_message().split())
    if isinstance(error, typer.BadParameter) and error.message:
        return re.sub(r"^Invalid value for '(?:.* / ')?(.*?)': (Value error, )?", r"\1: ", said)
    place = getattr(error, "ctx", None)
    end = "" if said.endswith((".", "?")) else "."
    return f"{said}{end} Try: {place.command_path} --help" if place else said
