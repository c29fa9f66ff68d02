"""The room of versions on the made-up site: what a reader without JavaScript can follow."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import parse_qsl, urlsplit

from pages.conftest import Built
from project import NIGHTS, OF_HISTORY, VERSIONS

ROOM = "versions/index.html"
PAGE = "versions/openssl/index.html"


def links(text: str) -> list[str]:
    return [unescape(href) for href in re.findall(r'<a [^>]*href="([^"]+)"', text)]


def test_the_room_says_first_what_changed_and_draws_each_library(site: Built) -> None:
    text = site.text(ROOM)
    said, picture = text.index("OpenSSL 3.5.5 sends faster"), text.index('class="picture"')
    assert said < picture < text.index("Defaults that changed")
    hrefs = links(text[said:])
    assert "../versions/openssl/" in hrefs
    assert f"../versions/nights-{NIGHTS}-rustls-aws-lc-rs/" in hrefs


def test_each_cell_of_a_matrix_opens_its_pair_in_compare(site: Built) -> None:
    text = site.text(PAGE)
    matrix = re.findall(r'<table class="matrix".*?</table>', text, re.DOTALL)
    assert len(matrix) == 1
    pairs = [dict(parse_qsl(urlsplit(href).query)) for href in links(matrix[0])]
    versions = [name for name in VERSIONS if name.startswith("openssl-")]
    assert [(pair["b"], pair["a"]) for pair in pairs] == [
        (older, newer) for at, older in enumerate(versions) for newer in versions[at + 1 :]
    ]
    assert f"../../perf/{OF_HISTORY}/" in links(text)


def test_a_page_of_nights_has_its_steps_and_the_text_of_an_issue(site: Built) -> None:
    folder = f"versions/nights-{NIGHTS}-rustls-aws-lc-rs"
    text = site.text(f"{folder}/index.html")
    [issue] = {href for href in links(text) if "2026-11-07-rustls" in href}
    assert "+2.00%" in text
    assert "−3.00%" in text
    step = site.text(f"versions/{issue.strip('./').rpartition('/')[2]}/index.html")
    assert "tlsbench compare" in step
    assert "../../versions/" in " ".join(links(step))
