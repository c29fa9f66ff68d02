"""What content/ may hold, so that nothing in it writes outside of the site or runs in a browser.

Zola takes an address such as `../x` from front matter, follows links of the file system, publishes
each file beside a page, and passes HTML on. It needs only the standard library, as a site is looked
at before each build.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from tlsperf.contract.errors import FormatError, UserError, alternatives, message_of
from tlsperf.contract.toml_text import toml_table
from tlsperf.load.shortcodes import unreadable

NIGHTS: Final = "nights-"
"""How those folders of content/versions begin that `tlsperf build` makes."""

PICTURE: Final = ("ratios.svg", "ratios-narrow.svg")
"""The drawings beside the home page and beside each answer."""

_PAGE: Final = re.compile(r"\A(\+\+\+\r?\n)(.*?^)(\+\+\+\r?\n.*)\Z", re.DOTALL | re.MULTILINE)
_ENDS_EARLY: Final = re.compile(r"\+\+\+\s*$", re.MULTILINE)

_DATA: Final = Path("static", "data")
"""A link to ../data, which publishes it."""
_OF_EDITORS: Final = re.compile(r"\..+\.sw[a-px]|.+\.md~|#.+\.md#|\.DS_Store")
"""Zola publishes none of them."""
_LOCK: Final = re.compile(r"\.#.+\.md")
"""Emacs makes a link to no file, whose target is who edits the page."""
_LOCKED_BY: Final = re.compile(r"[^/]+@[^/]+\.\d+(:\d+)?")
_NOT_DRAWN: Final = re.compile(
    r"<(?!/|(?:circle|desc|g|path|rect|svg|text|title)[\s/>])[^\s>]*"
    r"""|[\s/"'](?:on\w+|[\w:]*href)\s*=|\ufffd""",
    re.IGNORECASE,
)
"""Elements, attributes and bytes that are in no drawing of ours; some of them run in a browser."""
_ANYWHERE: Final = frozenset({".csv", ".json", ".png", ".txt"})

_OF_REPORTS: Final = (
    *("title", "description", "date", "updated", "authors", "draft"),
    *("aliases", "taxonomies", "extra"),
)
_OF_OTHERS: Final = (*_OF_REPORTS, "template", "page_template", "sort_by", "weight")
_EXTRA: Final = ("report", "claims", "generated")
_NAME: Final = r"[a-z0-9][a-z0-9_-]*"
_TEMPLATE: Final = re.compile(rf"{_NAME}(?:/{_NAME})*\.html")

_Found = tuple[int, str, str]
"""A line, what was found there, and what was expected."""
_Unsure = tuple[tuple[Callable[[str], object], str], ...]

_FENCE: Final = re.compile(r"(`{3,})[\w+#-]*[ \t]*")
_CODE: Final = re.compile(r"(?<!`)`[^`|\n]+`(?!`)")
_LIKELY_FENCE: Final = re.compile(r"[ \t>*+\d.)-]*(`{3,}|~{3,}).*")
_LIKELY_CODE: Final = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
_ON_PAGE: Final = ", or no HTML and no link in the code of this page"
_IN_PARAGRAPH: Final = ", or no HTML and no link in the code of this paragraph"
_UNSURE: Final[_Unsure] = (
    (lambda line: "\r" in line, f"lines that end as others do{_ON_PAGE}"),
    (lambda line: line.count("{{") != line.count("}}"), f"{{{{ and }}}} in one line{_ON_PAGE}"),
)
"""A shortcode swallows the beginning or the end of a block."""
_UNSURE_OUTSIDE: Final[_Unsure] = (
    (re.compile("```").search, f"a block of code with ``` where its line begins{_ON_PAGE}"),
    (re.compile("~~~").search, f"a block of code with ```{_ON_PAGE}"),
    (re.compile(r"\]:").search, f"a link as [text](address){_ON_PAGE}"),
)
"""A block that ends elsewhere than it seems to."""
_UNPLAIN: Final[_Unsure] = (
    (re.compile(r"\]\((?![^\s()`]*\))").search, f"a link without a title{_IN_PARAGRAPH}"),
    (re.compile(r"\{").search, f"a line without {{{_IN_PARAGRAPH}"),
    (re.compile(r"\\").search, f"a line without \\{_IN_PARAGRAPH}"),
)
_UNCLOSED: Final[_Unsure] = (
    (re.compile("`").search, f"code in single `, without | and in one line{_IN_PARAGRAPH}"),
)
_BEFORE: Final = r"(?<!\\)(?:\\\\)*"
"""What begins something is not escaped by a backslash."""
_BARE_LINK: Final = re.compile(rf"{_BEFORE}<(?:https?:|mailto:)[^\s>]*>?")
_COMMENT: Final = re.compile(rf"{_BEFORE}<!--(?:.*-->)?")
_HTML: Final = re.compile(rf"{_BEFORE}<(?!https?:|mailto:|!--)[A-Za-z/!?][^\s>]*>?")
_PATH: Final = r"/?[\w.%-]+(?:/[\w.%-]+)*/?"
_IMAGE: Final = re.compile(rf"{_BEFORE}!\[(?![^\[\]\\`{{]*\]\({_PATH}\))")
_LINK: Final = re.compile(
    rf"{_BEFORE}\](?:\(|:)(?!\s*(?:https?://|mailto:|@/|#|{_PATH}(?=[\s)#?])))\s*[^\s)]*"
)
_LANGUAGE: Final = re.compile(r"^.*(?:```|~~~)(?![`~]*[\w+#-]*[ \t]*\r?$).*", re.MULTILINE)
"""Zola writes the language of a block as it is into an attribute."""
_MARKDOWN: Final = (
    (_LANGUAGE, "a block of code, with one word after ``` or none"),
    (_BARE_LINK, "a link as [text](address)"),
    (_COMMENT, "no comment: what lists show of a page is its description"),
    (_HTML, "Markdown, &lt; in place of <, or `code` that ends in its line"),
    (_IMAGE, "an image of this site: ![what it shows](name.png)"),
    (_LINK, "a link to a page (@/…), to a place in it (#…), to https://…, or mailto:…"),
)


def page_parts(path: Path) -> tuple[str, str, str]:
    """The line `+++` of a page, its front matter, and the line `+++` with what follows.

    They are what Zola takes for them. Raises FormatError.
    """
    file = str(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(file, None, error.reason, "text in UTF-8") from None
    parts = _PAGE.match(text)
    if parts is None:
        raise FormatError(file, 1, "no front matter", "a line +++, TOML, and another line +++")
    opening, front_matter, rest = parts.groups()
    if early := _ENDS_EARLY.search(front_matter):
        line = 2 + front_matter.count("\n", 0, early.start())
        raise FormatError(file, line, "+++ in the front matter", "it only in the lines around it")
    return opening, front_matter, rest


def content_problems(root: Path) -> list[str]:
    """What content/, static/ and data/ may not hold: one line each, with the file."""
    found = [f"{path}: found a link, expected a file" for path in _links(root)]
    content, drawings = root / "content", cache(_drawings)
    for folder, _, names in [] if content.is_symlink() else os.walk(content):
        for path in (Path(folder, name) for name in sorted(names)):
            if not (path.is_symlink() or _OF_EDITORS.fullmatch(path.name)):
                try:
                    found += map(str, _of_file(path, path.relative_to(content), drawings))
                except (UserError, OSError) as error:
                    found.append(message_of(error))
    return found


def _links(root: Path) -> Iterator[Path]:
    for top in (root / "content", root / "static", root / "data"):
        if top.is_symlink():
            yield top
            continue
        for folder, folders, files in os.walk(top):
            for name in sorted([*folders, *files]):
                path = Path(folder, name)
                if path.is_symlink() and not _is_known(path, root):
                    yield path


def _is_known(link: Path, root: Path) -> bool:
    """It publishes the data, or it is the lock of an editor, which Zola does not publish."""
    to = str(link.readlink())
    if link == root / _DATA:
        return to == "../data"
    in_content = link.is_relative_to(root / "content")
    return bool(in_content and _LOCK.fullmatch(link.name) and _LOCKED_BY.fullmatch(to))


def _of_file(
    path: Path, place: Path, drawings: Callable[[Path], Collection[str]]
) -> Iterator[FormatError]:
    section, depth = place.parts[0], len(place.parts)
    if path.suffix == ".md":
        if section == "perf" and (depth, path.name) not in ((2, "_index.md"), (3, "index.md")):
            yield FormatError(str(path), None, "a page", "index.md in the folder of a report")
        yield from page_content(path, place)
    elif path.suffix == ".svg":
        quotes = path.name in PICTURE and (depth == 1 or (section, depth) == ("answers", 3))
        made = depth == 3 and (section == "versions" or path.name in drawings(path.parent))
        if not (quotes or made):
            yield FormatError(str(path), None, "a drawing", "only those that tlsperf makes")
        elif strange := _NOT_DRAWN.search(path.read_text("utf-8", "replace")):
            yield FormatError(str(path), None, repr(strange[0]), "what tlsperf draws: shapes, text")
    elif path.suffix not in _ANYWHERE:
        expected = f"a page, {', '.join(sorted(_ANYWHERE))}, or a drawing that tlsperf makes"
        yield FormatError(str(path), None, "another kind of file", expected)


def _drawings(folder: Path) -> Collection[str]:
    """The files that the page of a report lists as made for it."""
    found: Any = _head(folder / "index.md")
    for key in ("extra", "generated", "files"):
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, list) else []


def _head(page: Path) -> Mapping[str, Any]:
    return toml_table(page_parts(page)[1], str(page), first_line=2)


def page_content(path: Path, place: Path) -> Iterator[FormatError]:
    """What the page at a `place` below content/ may not hold. Raises FormatError."""
    opening, front_matter, rest = page_parts(path)
    front = opening + front_matter
    for named, found, expected in _front_matter(_head(path), path, place):
        lines = enumerate(front.splitlines(), 1)
        line = next((n for n, line in lines if named in line), 1)
        yield FormatError(str(path), line, found, expected)
    for line, found, expected in [*_markdown(rest), *unreadable(rest)]:
        yield FormatError(str(path), 1 + front.count("\n") + line, repr(found), expected)


def _front_matter(
    head: Mapping[str, Any], path: Path, place: Path
) -> Iterator[tuple[str, str, str]]:
    """Names, what was found there, and what was expected."""
    section, of_report = place.parts[0], place.parts[0] == "perf" and place.name != "_index.md"
    known = _OF_REPORTS if of_report else _OF_OTHERS
    for key in head.keys() - {*known}:
        yield key, f"the key {key}", alternatives(key, known)
    extra = head.get("extra")
    if of_report and isinstance(extra, dict):
        for key in extra.keys() - {*_EXTRA}:
            yield key, f"the key extra.{key}", alternatives(key, _EXTRA)
    for key in ("template", "page_template"):
        if not _TEMPLATE.fullmatch(str(head.get(key, "page.html"))):
            yield key, f"{key} {head[key]!r}", "the name of a template, as page.html"
    aliases = head.get("aliases", [])
    for alias in map(str, aliases if isinstance(aliases, list) else [aliases]):
        page = path.parents[len(place.parts) - 1] / f"{alias}.md"
        if len(place.parts) == 1:
            yield alias, f"the alias {alias!r}", "none, as the page is in no section"
        elif not re.fullmatch(rf"{re.escape(section)}/{_NAME}", alias) or (
            page.exists() or page.with_suffix("").exists()
        ):
            yield alias, f"the alias {alias!r}", f"{section}/<name>, where there is no page"


def _markdown(text: str) -> Iterator[_Found]:
    """HTML, images of other hosts and links that run, with their lines.

    Where code is not told apart, the reason for that is found instead of what is in the code.
    """
    prose, likely, reasons = _without_code(text)
    as_text = {(line, found) for line, found, _ in _unsafe(likely)}
    told: set[_Found] = set()
    for line, found, expected in _unsafe(prose):
        why = [] if (line, found) in as_text else [it for of, it in reasons if line in of]
        for it in why or [(line, found, expected)]:
            if it not in told:
                yield it
        told |= {*why}


def _unsafe(prose: str) -> Iterator[_Found]:
    for pattern, expected in _MARKDOWN:
        for found in pattern.finditer(prose):
            yield prose.count("\n", 0, found.start()), found[0], expected


def _without_code(text: str) -> tuple[str, str, list[tuple[range, _Found]]]:
    """The text with empty lines for blocks of code, and without code in its sentences.

    What any Markdown may take for something else counts as no code, so that nothing hides in it.
    With it, the text without all that is likely code, and why they differ in which lines.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    blocks = _without_blocks(lines, _FENCE, " {0,3}")
    loosely = _paragraphs(_without_blocks(lines, _LIKELY_FENCE, r"[ \t>]*"))
    likely = "".join(
        _LIKELY_CODE.sub(lambda it: "\n" * it[0].count("\n"), part) for part in loosely
    )
    if of_page := [*_first(_UNSURE, lines), *_first(_UNSURE_OUTSIDE, blocks)]:
        return text, likely, [(range(len(lines)), it) for it in of_page]
    prose, reasons, start = [], [], 0
    for paragraph in _paragraphs(blocks):
        left = _CODE.sub("", paragraph)
        why = _first(_UNPLAIN, paragraph.split("\n"), start)
        why = why or _first(_UNCLOSED, left.split("\n"), start)
        end = start + paragraph.count("\n")
        reasons += [(range(start, end + 1), it) for it in why]
        prose.append(paragraph if why else left)
        start = end
    return "".join(prose), likely, reasons


def _without_blocks(lines: list[str], begin: re.Pattern[str], indent: str) -> list[str]:
    prose: list[str] = []
    fence = ""
    for line in lines:
        ends = fence and re.fullmatch(rf"{indent}{fence}{fence[:1]}*[ \t]*", line)
        begins = None if fence else begin.fullmatch(line)
        prose.append("" if fence or begins else line)
        fence = "" if ends else begins[1] if begins else fence
    return prose


def _paragraphs(lines: list[str]) -> list[str]:
    """Paragraphs and what is between them."""
    return re.split(r"(\n[ \t]*(?=\n))", "\n".join(lines))


def _first(unsure: _Unsure, lines: list[str], start: int = 0) -> list[_Found]:
    """The first of the lines with each of what keeps code from being told apart."""
    found = []
    for what, expected in unsure:
        line = next((n for n, line in enumerate(lines) if what(line)), None)
        if line is not None:
            found.append((start + line, lines[line].strip(), expected))
    return found
