"""Markdown and Zola show text from a run unchanged."""

from __future__ import annotations

import pytest

from tlsperf.contract.text import markdown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tlsbench 0.1.0", "tlsbench 0.1.0"),
        ("{{ warnings() }}", "&#123;&#123; warnings() &#125;&#125;"),
        ("{% raw %}", "&#123;% raw %&#125;"),
        ("<b>&lt;", r"\<b\>\&lt;"),
        ("[x](javascript:1)", r"\[x\](javascript:1)"),
        ("*a* _b_ `c` ~d~ | # ! $ \\", r"\*a\* \_b\_ \`c\` \~d\~ \| \# \! \$ \\"),
        ("one\n+++\n\n# two", r"one +++ \# two"),
    ],
)
def test_markup_is_escaped(text: str, expected: str) -> None:
    assert markdown(text) == expected
