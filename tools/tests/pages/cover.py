"""A few pages that have, together, every structure of all pages: each element with its classes in
each parent, and each attribute that readers' tools use.
"""

from __future__ import annotations

from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Final

_VOID: Final = frozenset(
    [
        "area",
        "base",
        "br",
        "col",
        "embed",
        "hr",
        "img",
        "input",
        "link",
        "meta",
        "source",
        "track",
        "wbr",
    ]
)
_DRAWN: Final = frozenset(["path", "circle", "rect", "line", "g", "text", "tspan"])
_READ: Final = frozenset({"role", "scope", "type"})
_ATTRIBUTES: Final = frozenset({"tabindex", "open", "colspan"})


class _Structure(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: set[tuple[str, ...]] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        kind = tag if tag in _DRAWN else ".".join([tag, *sorted(given.get("class", "").split())])
        self.found.add((self.open[-1] if self.open else "", kind))
        for name, value in given.items():
            if name in _READ or name in _ATTRIBUTES or name.startswith("aria"):
                self.found.add((kind, name, value if name in _READ else ""))
        if tag not in _VOID:
            self.open.append(kind)

    def handle_endtag(self, tag: str) -> None:
        for at in range(len(self.open) - 1, -1, -1):
            if self.open[at].split(".")[0] == tag:
                del self.open[at:]
                return


def cover(texts: Mapping[str, str]) -> list[str]:
    """The fewest pages, chosen greedily, with every structure.

    `texts` has the HTML of each page by its path.
    """
    parsed = {page: _Structure(text) for page, text in texts.items()}
    left: set[tuple[str, ...]] = set().union(*(it.found for it in parsed.values()))
    chosen: list[str] = []
    while left:
        best = max(parsed, key=lambda page: len(parsed[page].found & left))
        chosen.append(best)
        left -= parsed[best].found
    return chosen
