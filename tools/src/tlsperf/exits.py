"""How a program ends: with an exit code and, if it failed, with one line that says why."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Final

from tlsperf.contract.errors import UsageError, UserError, message_of

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
    try:
        code = work() or 0
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        if sys.stdout is not None:  # as it is if it was closed at the start
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        code, said = INTERRUPTED, f"interrupted{f': {left}' if left else ''}"
    except BrokenPipeError:
        # Nobody reads on, as in `| head`. Python would flush what is left when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
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
