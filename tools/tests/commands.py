"""Commands of tlsperf in this process, as one of its own takes a second to start, and those of git."""

from __future__ import annotations

import contextlib
import gc
import io
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from tlsperf import cli, site


class Done(NamedTuple):
    """The exit code of a command, what it printed, and the processor seconds that it took."""

    code: int
    out: str
    errors: str
    seconds: float


def tlsperf(folder: Path, *arguments: str) -> Done:
    """Runs a command in a folder, as if its terminal were wide."""
    return _done(folder, ["tlsperf", *arguments], cli.main)


def tlsperf_site(folder: Path, *arguments: str) -> Done:
    """Runs `tlsperf-site` in a folder."""
    return _done(folder, ["tlsperf-site", *arguments], lambda: sys.exit(site.main(arguments)))


def _done(folder: Path, command: list[str], main: Callable[[], None]) -> Done:
    code, out, errors = 0, io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("COLUMNS", "200")
        patch.setattr(sys, "argv", command)
        before = time.process_time()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
            finally:
                gc.enable()  # a command that ends with its process does without
        spent = time.process_time() - before
    return Done(code, out.getvalue(), errors.getvalue(), spent)


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


def commit(folder: Path) -> None:
    """Commits every file of a repository, which is made if there is none."""
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "All")
