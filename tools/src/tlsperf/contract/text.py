"""The text of figures and libraries on all pages: one function for each.

`ratios.ratio_text` makes the text of ratios, `names.scenario_name` that of scenarios.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from tlsperf.contract.libraries import COLOURS, NAMES, OTHER
from tlsperf.contract.metrics import METRICS, WHOLE_UNITS, Unit
from tlsperf.contract.results import ShownImplementation
from tlsperf.contract.run import HostFacts, Implementation

ABSENT: Final = "–"

_COUNTED: Final = frozenset(
    unit for m in METRICS.values() if m.is_count for units in m.units.values() for unit in units
)


def value_text(value: float, unit: Unit, like: float | None = None, digits: int = 4) -> str:
    """A value without its unit, to four significant digits: 8,134, 812.3, 78.70, 6.500.

    With three digits: 8,130, 812, 78.7. Bytes and instructions are whole numbers; another count has
    decimals only if it is not whole, because it may be a mean. With `like`, the text has the
    decimals of that value: a median and its interval have the same.
    """
    if digits < 4:
        value = float(f"{value:.{digits}g}")
    like = value if like is None else like
    scale = float(f"{like:.{digits}g}")
    most = digits - 1
    decimals = next((d for d in range(most) if scale >= 10 ** (most - d)), most)
    is_whole = unit in WHOLE_UNITS or (unit in _COUNTED and value % 1 == like % 1 == 0)
    return f"{value:,.{0 if is_whole else decimals}f}"


def with_unit(text: str, unit: Unit) -> str:
    """The text of a value and its unit: 7,565 MiB/s, 1 read/handshake, 2 reads/handshake."""
    noun, slash, per = unit.partition("/")
    one = text == "1" and unit in _COUNTED
    return f"{text} {noun.removesuffix('s') if one else noun}{slash}{per}"


def interval_text(low: float, high: float, value: float, unit: Unit) -> str:
    """The interval of a value, with the value's decimals: 8,053 to 8,215."""
    return f"{value_text(low, unit, value)} to {value_text(high, unit, value)}"


def span_text(percents: Sequence[float]) -> str:
    """The lowest to the highest of some percents, as readers see them: −9.6 to +0.4%."""
    return f"{signed(min(percents))} to {signed(max(percents))}%"


def signed(percent: float) -> str:
    """With a sign that is as wide as the other."""
    return f"{percent:+.1f}".replace("-", "−")


def counted(number: int, noun: str) -> str:
    """A number and its noun: 1 file, 2 files."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def share(number: int, total: int, nouns: str, singular: str, plural: str) -> str:
    """A share of a total with its verb: `1 of 3 figures is`, `2 of 3 figures are`."""
    return f"{number} of {total} {nouns} {singular if number == 1 else plural}"


def listed(parts: Sequence[str]) -> str:
    """Parts joined for a sentence: `a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def printable(text: str) -> str:
    r"""Text that no terminal obeys: control characters are written as JSON does, \u001b.

    All that a program prints goes through it (`exits.py`); in JSON the values stay the same.
    """
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV. A text that a spreadsheet would run as a formula begins with an apostrophe.

    So OWASP recommends it ("CSV injection"). Numbers stay as they are, also negative ones.
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_inert, row) for row in rows)
    return text.getvalue()


def _inert(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r", "\n")  # csv.writer quotes only one of them
    return f"'{text}" if text.startswith(_FORMULA) and not _AMOUNT.fullmatch(text) else text


_FORMULA: Final = ("=", "+", "-", "@", "\t", "\n")
_AMOUNT: Final = re.compile(r"[+-][0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?%?")

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""C0 without tab and line feed, DEL, C1, and what turns the direction of text around."""


def markdown(text: str) -> str:
    """One line of text that Markdown shows unchanged: no mark-up, HTML, end of a cell or shortcode.

    All text from a run goes through it before it becomes part of Markdown. Zola searches for
    shortcodes before it parses Markdown, so a brace is written as an entity.
    """
    return "".join(_ESCAPED.get(character, character) for character in " ".join(text.split()))


def markdown_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], right: Collection[str] = ()
) -> str:
    """A table of such texts; columns with the heads `right` are right-aligned."""
    head, *lines = (f"| {' | '.join(map(markdown, cells))} |\n" for cells in (heads, *rows))
    rule = "|".join("--:" if name in right else "---" for name in heads)
    return f"{head}|{rule}|\n{''.join(lines)}"


_ESCAPED: Final = {
    **{character: f"\\{character}" for character in "\\`*_[]<>|~&#!$"},
    **{"{": "&#123;", "}": "&#125;"},
}


def short_version(implementation: Implementation) -> str:
    """The version without the API number: boring-sys 5.4.0 for "boring-sys 5.4.0, API 44"."""
    return implementation.version.split(", API ")[0]


def implementation_label(implementation: Implementation) -> str:
    """The readable name: OpenSSL 3.6.1, rustls 0.23.40 (aws-lc-rs), BoringSSL (boring-sys 5.4.0).

    A library without version numbers of its own has that of its package in brackets.
    """
    name, version = NAMES[implementation.library], short_version(implementation)
    details = [d for d in (implementation.provider, implementation.build) if d]
    if version[0].isdecimal():
        name += f" {version}"
    else:
        details.insert(0, version)
    return f"{name} ({', '.join(details)})" if details else name


def colour_of(implementation: Implementation) -> str:
    """The provider's colour class if it has one, else the library's; without `library-`."""
    library = implementation.library
    names = (f"{library}-{implementation.provider}", library)
    return next((name for name in names if name in COLOURS), OTHER)


def host_label(host: HostFacts) -> str:
    """What people call a host, or its processor; it says if it is a virtual machine."""
    name = host.name or host.cpu
    is_said = not host.virtual or "VM" in name.split()
    return name if is_said else f"{name} (virtual machine)"


def hosts_text(hosts: Iterable[HostFacts]) -> str:
    """The names of several hosts for a sentence."""
    return listed([*map(host_label, hosts)])


def shown(implementation: Implementation) -> ShownImplementation:
    """The implementation with its label and colour."""
    return ShownImplementation(
        **implementation.model_dump(exclude={"label", "colour"}),
        label=implementation_label(implementation),
        colour=colour_of(implementation),
    )
