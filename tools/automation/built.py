"""The folders with programs that were built, of which a check is told one."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DEBUG: Final = ROOT / "bench" / "target" / "debug"
"""What `cargo build` makes: enough to see that something works."""
RELEASE: Final = ROOT / "bench" / "target" / "release"
"""What measures: `cargo build --release`."""


def add_programs(parser: argparse.ArgumentParser) -> None:
    """Adds the option `--programs FOLDER`, with those of `cargo build` as its default."""

    def folder(name: str) -> Path:
        if not (Path(name) / "tlsbench").is_file():
            raise argparse.ArgumentTypeError(f"found no {name}/tlsbench, expected built programs")
        return Path(name).absolute()

    parser.add_argument(
        "--programs",
        type=folder,
        default=str(DEBUG),
        metavar="FOLDER",
        help="folder with tlsbench and the programs of libraries; by default bench/target/debug",
    )
