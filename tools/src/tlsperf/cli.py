"""The command line: `tlsperf import | new | render | compare | validate | noise | zola`.

Each command calls one function of its module, imported when it is asked for: `tlsperf --help`
must not wait for pandas.
"""

from __future__ import annotations

import sys

import typer

from tlsperf.errors import UserError

app = typer.Typer(
    help="From raw benchmark output of TLS libraries to reports.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def root() -> None:
    """Keeps `tlsperf` a group of commands, however few there are."""


def main() -> None:
    """Runs a command; what a user got wrong becomes one message and exit code 1."""
    try:
        app()
    except UserError as error:
        print(f"tlsperf: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
