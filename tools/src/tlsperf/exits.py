"""How a program ends: with an exit code and, if it failed, with one line that says why.

All that it prints is safe for a terminal, whatever the files have that it read.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Final, TextIO, cast

from tlsperf.contract.errors import UsageError, UserError, message_of
from tlsperf.contract.text import printable

ERROR: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130
"""As shells have it: 128 and the number of the signal."""


def exit_code(
    program: str, work: Callable[[], int | None], failure: int = ERROR, left: str = ""
) -> int:
    """Runs `work` and returns the exit code of `program`, by default 0.

    `failure` is the code of an error. `left` says what an interruption leaves, and how to go on.
    """
    with ExitStack() as stack:
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            # A stream that was closed at the start is None
            beneath = stream or stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))
            stack.enter_context(redirect(cast(TextIO, Printed(beneath))))
        return _code(program, work, failure, left)


class Printed:
    """A stream that writes control characters as text."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        return self.beneath.write(printable(text))

    def writelines(self, lines: Iterable[str]) -> None:
        self.beneath.writelines(map(printable, lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.beneath, name)


def _code(program: str, work: Callable[[], int | None], failure: int, left: str) -> int:
    out = sys.stdout  # Typer puts another in its place, which hides that nobody reads on
    try:
        code = work() or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        out.flush()
        return code
    except KeyboardInterrupt:
        code, said = INTERRUPTED, f"interrupted{f': {left}' if left else ''}"
    except BrokenPipeError:
        # Nobody reads on, as in `| head`. Python would flush what is left when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())
        return failure
    except (UserError, OSError) as error:
        code = WRONG_USE if isinstance(error, UsageError) else failure
        said = message_of(error)
    except (UnicodeError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and not str(error).startswith("Symlink loop"):
            raise  # a link to itself is an OSError only since Python 3.13
        code, said = failure, str(error)
    print(f"{program}: {said}", file=sys.stderr)
    return code
