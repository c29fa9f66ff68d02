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

SECTIONS: Final = (
    *("trends", "hosts", "libraries", "scenarios", "questions", "upgrades"),
    "nightly",
)
"""The folders of content/ whose pages `tlsperf build` makes; a person writes their `_index.md`."""

_PAGE: Final = re.compile(r"\A(\+\+\+\r?\n)(.*?^)(\+\+\+\r?\n.*)\Z", re.DOTALL | re.MULTILINE)
_ENDS_EARLY: Final = re.compile(r"\+\+\+\s*$", re.MULTILINE)

_DATA: Final = Path("static", "data")
"""A link to ../data, which publishes it."""
_OF_EDITORS: Final = re.compile(r"\..+\.sw[a-px]|.+\.md~|#.+\.md#")
_ANYWHERE: Final = frozenset({".csv", ".json", ".png", ".txt"})

_OF_REPORTS: Final = (
    *("title", "description", "date", "updated", "authors", "draft"),
    *("aliases", "taxonomies", "extra"),
)
_OF_OTHERS: Final = (*_OF_REPORTS, "template", "page_template", "sort_by", "weight")
_EXTRA: Final = ("report", "claims", "generated")
_NAME: Final = r"[a-z0-9][a-z0-9_-]*"
_TEMPLATE: Final = re.compile(rf"{_NAME}(?:/{_NAME})*\.html")

_FENCE: Final = re.compile(r"(`{3,})[\w-]*[ \t]*")
_CODE: Final = re.compile(r"(?<!`)`[^`|\n]+`(?!`)")
_UNPLAIN: Final = re.compile(r"\]\((?![^\s()`]*\))|\{|\\")
_BEFORE: Final = r"(?<!\\)(?:\\\\)*"
"""What begins something is not escaped by a backslash."""
_HTML: Final = re.compile(rf"{_BEFORE}<[A-Za-z/!?][^\s>]*>?")
_PATH: Final = r"/?[\w.-]+(?:/[\w.-]+)*/?"
_IMAGE: Final = re.compile(rf"{_BEFORE}!\[(?![^\[\]\\`{{]*\]\({_PATH}\))")
_LINK: Final = re.compile(
    rf"{_BEFORE}\](?:\(|:)(?!\s*(?:https?://|@/|#|{_PATH}(?=[\s)#])))\s*[^\s)]*"
)
_LANGUAGE: Final = re.compile(r"^.*(?:```|~~~)(?![`~]*[\w-]*[ \t]*\r?$).*", re.MULTILINE)
"""Zola writes the language of a block as it is into an attribute."""
_MARKDOWN: Final = (
    (_LANGUAGE, "a block of code, with one word after ``` or none"),
    (_HTML, "Markdown, or HTML in `code` that each line of its paragraph closes"),
    (_IMAGE, "an image of this site: ![what it shows](name.png)"),
    (_LINK, "a link to a page (@/…), to a place in it (#…), or to https://…"),
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
                if path.is_symlink() and (
                    path != root / _DATA or str(path.readlink()) != "../data"
                ):
                    yield path


def _of_file(
    path: Path, place: Path, drawings: Callable[[Path], Collection[str]]
) -> Iterator[FormatError]:
    section, depth = place.parts[0], len(place.parts)
    if path.suffix == ".md":
        if section == "perf" and (depth, path.name) not in ((2, "_index.md"), (3, "index.md")):
            yield FormatError(str(path), None, "a page", "index.md in the folder of a report")
        yield from page_content(path, place)
    elif path.suffix == ".svg":
        if depth != 3 or not (section in SECTIONS or path.name in drawings(path.parent)):
            yield FormatError(str(path), None, "a drawing", "only those that tlsperf makes")
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
        if not re.fullmatch(rf"{re.escape(section)}/{_NAME}", alias) or (
            page.exists() or page.with_suffix("").exists()
        ):
            yield alias, f"the alias {alias!r}", f"{section}/<name>, where there is no page"


def _markdown(text: str) -> Iterator[tuple[int, str, str]]:
    """HTML, images of other hosts and links that run, with their lines."""
    prose = _without_code(text)
    for pattern, expected in _MARKDOWN:
        for found in pattern.finditer(prose):
            yield prose.count("\n", 0, found.start()), found[0], expected


def _without_code(text: str) -> str:
    """The text with empty lines for blocks of code, and without code in its sentences.

    What any Markdown may take for something else counts as no code, so that nothing hides in it.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if any("\r" in line or line.count("{{") != line.count("}}") for line in lines):
        return text  # a shortcode swallows the beginning or the end of a block
    prose: list[str] = []
    fence = ""
    for line in lines:
        ends = fence and re.fullmatch(rf" {{0,3}}{fence}`*[ \t]*", line)
        begins = None if fence else _FENCE.fullmatch(line)
        if not (fence or begins) and re.search(r"```|~~~|\]:", line):
            return text  # a block that ends elsewhere than those below
        prose.append("" if fence or begins else line)
        fence = "" if ends else begins[1] if begins else fence
    paragraphs = re.split(r"(\n[ \t]*(?=\n))", "\n".join(prose))
    return "".join(map(_without_spans, paragraphs))


def _without_spans(paragraph: str) -> str:
    if _UNPLAIN.search(paragraph):
        return paragraph
    left = _CODE.sub("", paragraph)
    return paragraph if "`" in left else left
