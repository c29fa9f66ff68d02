"""A scratch copy of the repository, to which tests apply the examples of the guides.

A guide contains its whole example: a fenced block whose info string ends in `file=PATH` is a new
file, and a `diff` block changes an existing file.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[2]
_NEW_FILE = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CHANGE = re.compile(r"^```diff\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(guide: str) -> dict[str, str]:
    """The new files of a guide, by their paths."""
    return dict(_NEW_FILE.findall((ROOT / "docs" / guide).read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Checkout:
    """A git repository with a copy of every file that git does not ignore."""

    folder: Path

    def git(self, *arguments: str, text: str | None = None) -> str:
        command = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments]
        done = subprocess.run(
            command, cwd=self.folder, input=text, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"git {arguments[0]}: {done.stderr}"
        return done.stdout

    def follow(self, guide: str) -> set[str]:
        """Applies every example of a guide; returns the files that it alone adds or changes."""
        before = self.touched()
        text = (self.folder / "docs" / guide).read_text(encoding="utf-8")
        files, changes = _NEW_FILE.findall(text), _CHANGE.findall(text)
        assert files or changes, f"docs/{guide} has no example: a block with file=PATH or a diff"
        for name, content in files:
            path = self.folder / name
            assert not path.exists(), f"docs/{guide} adds {name}, which exists"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        for change in changes:
            self.git("apply", "-", text=change)
        return self.touched() - before

    def generate(self) -> set[str]:
        """Runs the generators that need no run; returns the files that they change."""
        before = {name: (self.folder / name).read_bytes() for name in self.touched()}
        program = "from tlsperf.publish import schema, style; schema.main([]); style.main([])"
        self.python("-c", program)
        now = self.touched()
        return {n for n in now if before.get(n) != (self.folder / n).read_bytes()}

    def python(self, *arguments: str, cwd: Path | None = None) -> str:
        """Runs Python with the copy's modules; returns its output."""
        paths = [self.folder / "tools" / part for part in ("src", "tests", "automation")]
        path = os.pathsep.join(map(str, paths))
        return self.run(sys.executable, *arguments, cwd=cwd, PYTHONPATH=path)

    def run(self, *command: str, cwd: Path | None = None, **environment: str) -> str:
        """Runs a command in the copy, which must succeed; returns its output with its messages."""
        done = subprocess.run(
            command,
            cwd=cwd or self.folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, f"{command}:\n{done.stdout}"
        return done.stdout

    def touched(self) -> set[str]:
        """The paths of all files that differ from the commit."""
        lines = self.git("status", "--porcelain", "--untracked-files=all").splitlines()
        return {line[3:] for line in lines}


LEFT_OUT: Final = (
    "content/",
    "data/runs/",
    "data/nightly/",
    "static/compare/",
    "tools/tests/pages/",
)


def copied(folder: Path) -> Checkout:
    """A scratch copy of the repository without the folders that no example needs."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in listed:
        source = ROOT / name
        if (source.is_file() or source.is_symlink()) and not name.startswith(LEFT_OUT):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    checkout = Checkout(folder)
    checkout.git("init", "--quiet")
    checkout.git("add", "--all")
    checkout.git("commit", "--quiet", "--message", "A scratch copy")
    return checkout
