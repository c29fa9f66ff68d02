"""Finds typed comparisons: words that compare must be computed, not typed.

If a figure changes, the words about it must change. So the prose of a page says what was compared,
and shortcodes (`ratio`, `verdict`, `rank`, `extreme`, `change`, `unchanged`, `agree`, `standing`)
print the result. Shortcodes, code, link targets and quotations are ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple


class Typed(NamedTuple):
    """A comparison that a person typed."""

    file: str
    line: int
    words: str

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line}: found the typed comparison {self.words!r}, expected a "
            "shortcode (ratio, verdict, rank, extreme, change, unchanged, agree, standing) or "
            "neutral words"
        )


_SKIPPED: Final = re.compile(
    r"""
      \{\{.*?\}\}             # a shortcode
    | ^```.*?^```             # code
    | `[^`\n]*`
    | \]\([^)\n]*\)           # where a link leads
    | ^>.*?$                  # quotations
    | “[^”]*” | (?<!\w)"[^"\n]*"
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)

_COMPARING: Final = re.compile(
    r"""\b(
      # speed and order
      (?:fast|slow|quick|cheap|dear|light)(?:er|est) | outperform\w* | beat(?:s|en)? | inferior
    | superior | lead(?:s|er|ers|ing)? | led | trail(?:s|ed|ing)? | ahead | behind | best | worst
    | better | worse | rank(?:s|ed) | wins? | won | loses? | losing | winner | overtak\w+
    | weak(?:er|est|\sspot) | strong(?:er|est) | catch(?:es)?\sup | caught\sup | keeps?\sup
    | falls?\s(?:behind|off|back)
      # size
    | (?:high|low|larg|small|bigg|big|long|short|wid|narrow|tight|great|few|near|close|steep|hard)
      (?:er|est)
    | more | most | less | least | extremely | half | halves | halved | twice | thrice
    | twofold | doubl(?:e|es|ed|ing) | tripl(?:e|es|ed) | a\s(?:third|quarter|fifth|tenth|fraction)
      # no difference
    | level | same | equal(?:ly|s)? | alike | unchanged | identical(?:ly)? | a\sdraw | on\spar
    | tied | similar(?:ly)? | no\sdifference | neither\schanges | close\stogether | hardly
    | (?<!·\s)as\s(?:fast|quick|slow|much|many|good|large|small|little)
    | h(?:o|e)ld?s?\s(?:still|level)
      # movement
    | gr(?:ow|ows|ew|own|owing) | shr(?:ink|inks|ank|unk|inking) | gain(?:s|ed|ing)? | recover\w*
    | improv\w+ | regress\w+ | speeds?\sup | sped\sup | slow(?:s|ed)\sdown | slowdown | speedup
    | increas\w+ | decreas\w+ | rise[sn]? | rose | drop(?:s|ped)? | fell | dominat\w+ | outweigh\w*
      # amounts without a number
    | nearly | almost | slight(?:ly)? | considerabl[ey] | significant(?:ly)? | by\sfar
    | far\s(?:more|less|ahead) | next\sto\snothing | a\slittle | negligible
    | (?:costs?|worth|changed|changes)\slittle
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)

ALLOWED: Final[Mapping[str, str]] = {
    r"\bnearly six years\b": "a span between two dates of the pages",
    r"\blongest call, handshake(?:, smallest and largest)?": "titles of tables, in what `new` writes",
    r"\bone more\b(?! time)": "an addition",
    r"\blongest call\b|\bsmallest and largest\b": "names of tables",
    r"\bsignificant digits\b": "of a number",
    r"\bcalled faster or slower\b": "names the verdicts",
    r"\bsame (?:digits|estimator)\b": "of a table that is made again",
    r"\bthe same (?:in-memory|full TLS|builds|cryptography|certificates|compilers|host|row|server|"
    r"versions|work)\b": "what is held equal by construction",
}
"""Allowed patterns, and why each does not compare results."""

_ALLOWED: Final = re.compile("|".join(f"(?:{pattern})" for pattern in ALLOWED), re.IGNORECASE)
_FRONT_MATTER: Final = re.compile(r"\A\+\+\+\r?\n.*?^\+\+\+\r?$", re.DOTALL | re.MULTILINE)
_HEAD: Final = re.compile(r'^(?:title|description)\s*=\s*"(.*)"\s*$')


def typed_comparisons(text: str, file: str) -> list[Typed]:
    """The comparisons typed into a page's Markdown, and into its title and description."""
    text = _FRONT_MATTER.sub(lambda front: _head(front.group()), text)
    for pattern in (_SKIPPED, _ALLOWED):
        text = pattern.sub(lambda found: re.sub(r"[^\n]", "·", found.group()), text)
    return [
        Typed(file, 1 + text.count("\n", 0, found.start()), " ".join(found.group().split()))
        for found in _COMPARING.finditer(text)
    ]


def _head(front_matter: str) -> str:
    """Only the title and description, each on its line."""
    lines = front_matter.splitlines()
    return "\n".join(found.group(1) if (found := _HEAD.match(line)) else "" for line in lines)


PAGES: Final = (
    "_index.md",
    "perf/**/*.md",
    "blog/**/*.md",
    "hosts/**/*.md",
    "libraries/**/*.md",
    "trends/**/*.md",
)
"""Pages below content/ that report results. The methodology compares methods, and tests
check it.
"""


def typed_in_pages(content: Path) -> Iterator[Typed]:
    """The typed comparisons of all pages that report results."""
    for pattern in PAGES:
        for path in sorted(content.glob(pattern)):
            shown = path.relative_to(content.parent).as_posix()
            yield from typed_comparisons(path.read_text(encoding="utf-8"), shown)
