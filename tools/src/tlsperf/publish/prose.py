"""The prose of a page, and what of it no claim covers.

A sentence that compares, or has a number with a unit, needs a claim (`contract.claim`), so that
the check fails when the data say otherwise. Shortcodes follow the data by themselves; code,
quotations and link targets are not prose of ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tlsperf.contract.claim import Claim
from tlsperf.contract.errors import FormatError, alternatives
from tlsperf.contract.record import Identifier
from tlsperf.load.page import Document
from tlsperf.report.claims import Figures, failing, unreadable

_UNITS: Final = (
    r"%|×|x\b|[KMG]i?B\b|Gbit|bytes?\b|[µmn]?s\b|seconds?\b|minutes?\b|handshakes|resumptions|"
    r"operations|instructions|calls|times\b|fold|per\s?cent|threads|cores|rounds|runs\b|samples|"
    r"sessions"
)
NUMBER: Final = re.compile(rf"(?<![\w.-])-?\d[\d,.]*(?:\s|-)?(?:{_UNITS})")

_COUNTS: Final = r"(?:two|three|four|five|six|seven|eight|nine|ten|twenty|hundred|many|few|several)"
_PARTS: Final = r"(?:third|quarter|fifth|sixth|seventh|eighth|ninth|tenth|twentieth|hundredth)s?"
COMPARING: Final = re.compile(
    rf"""\b(?:
      (?:fast|slow|quick|cheap|dear)(?:er|est) | (?:best|worst|better|worse) | outperform\w*
    | beats? | ahead | behind | leads? | leading | leaders? | wins? | loses? | lost | gains?
    | fewer | (?<!more\sor\s)less(?!\sthan\sone) | heavier | the\s(?:most|least)
    | (?:more|larger|smaller|higher|lower|longer|shorter|greater)\b(?=[^.;:…]*\bthan\b)
    | fewest | (?<!smallest\sand\s)largest | smallest(?!\sand\slargest) | highest | lowest
    | longest(?!\scall) | shortest
    | as\s(?:fast|quick|slow|much|many|good|large|small|little|long)
    | half | halves | halved | twice | thrice | twofold | doubl(?:e|es|ed|ing) | tripl(?:e|es|ed)
    | (?:a|an|one|two|three|four)\s{_PARTS} | {_COUNTS}\stimes
    | (?:the|about\sthe)\ssame\swithin | equally | on\spar | tied | no\sdifference
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)

_SKIPPED: Final = re.compile(
    r"""
      (?P<shortcode>\{\{.*?\}\} | \{%.*?%\})
    | (?P<code>^```.*?^``` | `[^`\n]*` | “[^”]*” | ^>.*?$ | \bTLS\ 1\.[0-3]\b | \b\d[\d.]*%\ intervals?\b)
    | (?P<gone>\]\([^)\n]*\) | \[(?=[^\]\n]*\]\() | \*\*? | <!--.*?-->)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True)
class Prose:
    """What a reader reads of a page: its title, its description and its sentences."""

    text: str
    """White space is one space, a shortcode is …"""
    checked: str
    """The same, with code and quotations as · for each character."""
    lines: Sequence[int]
    """The line in the file of each character."""

    def uncovered(self, claims: Sequence[Claim]) -> Iterator[tuple[int, str]]:
        """Line and words of each comparison, and of each number with a unit, without a claim."""
        covered = [span for claim in claims for span in self._spans(claim.text)]
        found = [m for pattern in (NUMBER, COMPARING) for m in pattern.finditer(self.checked)]
        for match in sorted(found, key=lambda m: m.start()):
            if not any(start <= match.start() and match.end() <= end for start, end in covered):
                yield self.lines[match.start()], match.group()

    def has(self, text: str) -> bool:
        """Whether the text of a claim stands in the page."""
        return bool(list(self._spans(text)))

    def _spans(self, text: str) -> Iterator[tuple[int, int]]:
        words = " ".join(text.split())
        start = self.text.find(words)
        while start >= 0:
            yield start, start + len(words)
            start = self.text.find(words, start + 1)


def prose_of(document: Document) -> Prose:
    """The prose of a page."""
    text: list[str] = []
    checked: list[str] = []
    lines: list[int] = []

    def add(part: str, line: int, *, code: bool = False) -> None:
        for character in part:
            space = character.isspace()
            if not (space and text and text[-1] == " "):
                text.append(" " if space else character)
                checked.append(" " if space else "·" if code else character)
                lines.append(line)
            line += character == "\n"

    def marked(part: str, line: int) -> None:
        at = 0
        for found in _SKIPPED.finditer(part):
            add(part[at : found.start()], line + part.count("\n", 0, at))
            if found["shortcode"]:
                add("…", line + part.count("\n", 0, found.start()))
            elif found["code"]:
                here = line + part.count("\n", 0, found.start())
                add(found["code"].replace("`", ""), here, code=True)
            at = found.end()
        add(part[at:], line + part.count("\n", 0, at))

    for key in ("title", "description"):
        said = f"{document.head.get(key) or ''}\n\n"
        if said.endswith("?\n\n"):  # a question claims nothing
            add(said, document.line_of(key), code=True)
        else:
            marked(said, document.line_of(key))
    _, _, body = document.rest.partition("\n")
    marked(body, 2 + document.front.count("\n"))
    return Prose("".join(text), "".join(checked), lines)


def uncovered(document: Document) -> list[FormatError]:
    """The comparisons, and the numbers with a unit, that no claim of the page covers."""
    expected = "a claim that covers it: [[extra.claims]] with text and holds, or a figure()"
    return [
        FormatError(str(document.path), line, f"{words!r}", expected)
        for line, words in prose_of(document).uncovered(document.claims)
    ]


def broken(
    document: Document,
    own: Sequence[Figures],
    others: Mapping[Identifier, Callable[[], Sequence[Figures]]],
    about: Collection[Identifier] | None = None,
) -> list[FormatError]:
    """The claims of a page that do not hold, and those whose text is gone.

    `own` are the figures of the parts of the page's report, `others` return those of each report
    and of each part. Only claims `about` some reports are looked at, if they are given.
    """
    prose = prose_of(document)
    found: list[FormatError] = []
    for claim in document.claims:
        if about is not None and not set(about) & set(claim.reports):
            continue

        def wrong(what: str, expected: str, claim: Claim = claim) -> None:
            line = document.line_of(claim.text)
            what = f"the claim {claim.text!r}: {what}"
            found.append(FormatError(str(document.path), line, what, expected))

        if not prose.has(claim.text):
            wrong("its text is not in the page", "the words of a sentence there")
        if claim.source is not None and not _links(document, claim.source):
            wrong(f"no link to {claim.source}", "one in the page")
        if claim.holds is None:
            continue
        if error := unreadable(claim.holds):
            wrong(error.found, error.expected)
            continue
        if not claim.reports:
            if not own:
                wrong("its page has no results", 'reports = ["<report>"]')
            elif error := failing(claim.holds, own):
                wrong(error.found, error.expected)
        for name in claim.reports:
            if about is not None and name not in about:
                continue
            if name not in others:
                wrong(f"the report {name!r}", alternatives(name, others))
            elif error := failing(claim.holds, others[name]()):
                wrong(f"report {name}: {error.found}", error.expected)
    return found


def _links(document: Document, address: str) -> bool:
    """Whether a page links to an address, or to a place in it."""
    return re.search(rf"\]\({re.escape(address)}[#)\s]", document.rest) is not None
