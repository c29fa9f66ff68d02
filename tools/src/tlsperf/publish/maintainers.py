"""Writes docs/maintainers/<library>.md, what a maintainer would look at to sign, from
bench/libraries/<library>: `python -m tlsperf.publish.maintainers [--check]`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Final

from tlsperf.contract.libraries import LIBRARIES, Default, Library
from tlsperf.publish.files import write_generated

ADAPTERS: Final = Path("bench/libraries")
PAGES: Final = Path("docs/maintainers")
_FOREIGN: Final = re.compile(r'#\[path = "(?:\.\./)+shared/([^"]+)"\]')


def page(library: Library) -> str:
    """What is measured of a library, how it is built, and how to object."""
    name, folder = library.name, ADAPTERS / library.id
    own = library.workspace == "own"
    build = f"more-libraries LIBRARY={library.id}" if own else ""
    test = f"test-libraries LIBRARY={library.id}" if own else "test-bench"
    reviewed = library.default and library.default.reviewed
    deviations = [
        f"| {_cell(it.what)} | {_cell(it.reason)}{f' [Source]({it.link})' if it.link else ''} |"
        for it in library.deviations
    ]
    lines = [
        f"<!-- From {folder}, by `make generate`: change library.toml. -->",
        f"# {name}, for its maintainers",
        "",
        f"[{reviewed.by} reviewed this page]({reviewed.link}) on {reviewed.on:%-d %B %Y}."
        if reviewed
        else f"No maintainer of {name} has reviewed this page yet. "
        "[How to object, or to sign](../for-maintainers.md#object-sign-or-send-a-better-configuration).",
        "",
        "## Its default",
        "",
        *_default(library.default),
        "",
        "## What is measured otherwise",
        "",
        *(["| what | why |", "|---|---|", *deviations] if deviations else ["Nothing is listed."]),
        "",
        "[What its documentation recommends](../tuned.md), and whether it is measured beside the default.",
        "",
        "## Build, run, test",
        "",
        f"    make libraries {build}".rstrip(),
        *(f"    bench/target/release/{program} describe" for program in library.programs),
        f"    bench/target/release/tlsbench run --library {library.id} --rounds 1 --out build/try",
        f"    make {test}",
        "",
        *_needs(library),
        "## Its adapter",
        "",
        *(f"- {_link(path)}" for path in _places(folder)),
        "",
        f"Each scenario that the library or the adapter does not support has a reason, which `unsupported` in "
        f"{_link(folder / 'src/lib.rs')} returns and readers see in place of a figure. "
        f"{_link(folder / 'tests')} lists these scenarios in unsupported.txt.",
    ]
    return "\n".join(lines) + "\n"


def _default(default: Default | None) -> list[str]:
    if default is None:
        return ["library.toml does not state it yet."]
    stated = [("configure", default.configure), ("flags", default.flags)]
    words = [f"{what} `{text}`" for what, text in stated if text]
    by = default.compiler or "the host's `cc`"
    large = ["", f"A server's connection is large: {default.large_connection}"]
    return [
        f"{default.sentence} [Source]({default.link})",
        "",
        f"A test compares what its program reports: {', '.join([*words, f'compiled by {by}'])}, "
        "the system's allocator, no LTO.",
        *(large if default.large_connection else []),
    ]


def _needs(library: Library) -> list[str]:
    needs = ", ".join(f"`{it.debian}`" for it in library.needs)
    said = f"Debian packages that the build needs: {needs}. `make doctor` says what is missing."
    return [said, ""] if needs else []


def _places(folder: Path) -> list[Path]:
    """Where an adapter is, and the sources that it shares with others."""
    shared = {"build.rs"} | {
        name
        for path in [*folder.glob("src/**/*.rs"), *folder.glob("*.rs")]
        for name in _FOREIGN.findall(path.read_text(encoding="utf-8"))
    }
    own = [folder / name for name in ("library.toml", "Cargo.toml", "src")]
    own += sorted([*folder.glob("*.rs"), *folder.glob("*.c")])
    return own + [ADAPTERS / "shared" / name for name in sorted(shared)]


def _link(path: Path) -> str:
    return f"[{path.relative_to(ADAPTERS)}](../../{path})"


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


def main(arguments: list[str]) -> int:
    return write_generated({PAGES / f"{it.id}.md": page(it) for it in LIBRARIES}, arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
