"""What templates print without escaping it: addresses of this site, HTML that Zola made, and texts
that were escaped. Tera escapes everything else, wherever a page shows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

TEMPLATES = Path(__file__).parents[2] / "templates"

ADDRESSES = (
    r"get_(?:url|taxonomy_url)\((?:[^()]|\([^()]*\))*\)"
    r"(?: \| (?:replace|trim_end_matches)\([^)]*\))*",
    r"(?:\w+\.)*permalink",
    r"link|(?:first|of|report)\.link|first_link|home|up|folder|compare|address|cell\.href",
    r"change\.explanation\.url",
)
"""Of this site, made of ids; those of strangers are http or https, without quotes (test_run.py)."""

ESCAPED = (
    r".* \| (?:escape_xml|json_encode)",
    r"[\w.]+ \| escape(?: \| replace\(from=.*, to=.*\))*",
)

MADE = (
    r"(?:page|section)\.content(?: \| trim_start_matches\(pat=[^)]*\))*|answer|lead|html",
    r'(?:content|own) \| replace\(from=page\.permalink ~ "#", to="#"\)',
    r"(?:wide|narrow) \| trim",
    r"drawing \| split\(pat='<g class=\"panels\">'\) \| last \| "
    r'replace\(from="</svg></g></svg>", to="</svg>"\) \| trim',
)
"""By Zola from Markdown, or by `tlsperf render`, whose drawings test_hostile.py reads."""

ALLOWED = re.compile("|".join(f"(?:{pattern})" for pattern in (*ADDRESSES, *ESCAPED, *MADE)))


def printed(text: str) -> Iterator[str]:
    """The expressions that a template prints."""
    for expression in re.findall(r"\{\{-?(.*?)-?\}\}", text, re.DOTALL):
        yield " ".join(expression.split())


def unescaped(text: str) -> list[str]:
    """The expressions printed as they are that are not among the allowed ones."""
    safe = [e for e in printed(text) if re.search(r"\|\s*safe\b", e)]
    return [e for e in safe if not ALLOWED.fullmatch(e.removesuffix("| safe").strip())]


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: path.name)
def test_a_template_prints_no_text_of_data_as_it_is(path: Path) -> None:
    assert unescaped(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("name", ["atom.xml", "rss.xml"])
def test_a_feed_prints_no_text_of_data_as_it_is(name: str) -> None:
    assert unescaped((TEMPLATES / name).read_text(encoding="utf-8")) == []


def test_every_text_in_a_json_feed_is_a_json_string() -> None:
    """Tera does not escape in a file that is neither HTML nor XML."""
    texts = [*printed((TEMPLATES / "feed.json").read_text(encoding="utf-8"))]
    assert len(texts) > 5
    dates = re.compile(r"page\.date \| date\(.*\)")
    others = [text for text in texts if not dates.fullmatch(text)]
    assert [text for text in others if not text.endswith("| json_encode | safe")] == []


@pytest.mark.parametrize(
    "text",
    [
        "{{ line.label | safe }}",
        "{{ group.name|safe }}",
        "{{- page.title | safe -}}",
        "{{ sentence | replace(from='a', to='b') | safe }}",
        "{{ label ~ page.permalink | safe }}",
        "{{ label | escape ~ other | safe }}",
    ],
)
def test_a_text_that_is_not_escaped_is_found(text: str) -> None:
    assert len(unescaped(text)) == 1
