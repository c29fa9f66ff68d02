"""What content/ may hold: nothing that leaves the site, or that a browser runs."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from commands import tlsperf, tlsperf_site
from pages import zolas
from project import ROOT, write_small
from tlsperf.load.content import content_problems, page_content
from tlsperf.site import run

REPORT = "content/perf/2026-11-21-report/index.md"
OF_EDITORS = (".index.md.swp", "index.md~", "#index.md#", ".DS_Store")
FRONT = 'title = "t"\ndate = 2026-11-21'


def page(front: str = "", prose: str = "") -> str:
    return f"+++\n{FRONT}\n{front}\n+++\n\n{prose}\n"


def of_text(folder: Path, text: str, path: str = REPORT) -> list[str]:
    """What is wrong with a site that has this page, after its name."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode())
    return [line.removeprefix(str(file)) for line in content_problems(folder)]


@pytest.mark.parametrize(
    ("front", "found"),
    [
        ('aliases = ["../../x.html"]', "alias '../../x.html'"),
        ('aliases = ["perf/../../x"]', "alias 'perf/../../x'"),
        ('aliases = ["index.html"]', "alias 'index.html'"),
        ('aliases = ["perf/index.html"]', "alias 'perf/index.html'"),
        ('aliases = ["perf/2026-11-21-report"]', "alias 'perf/2026-11-21-report'"),
        ('path = "../x"', "key path"),
        ('slug = "x"', "key slug"),
        ('template = "compare.html"', "key template"),
        ("[extra.more]", "key extra.more"),
    ],
)
def test_front_matter_of_a_report_has_a_closed_list_of_keys(
    tmp_path: Path, front: str, found: str
) -> None:
    [problem] = of_text(tmp_path, page(front))
    assert problem.startswith(f":4: found the {found}, expected ")


@pytest.mark.parametrize(
    ("front", "found"),
    [
        ('template = "feed.json"', "found template 'feed.json'"),
        ('template = "../config.toml"', "found template '../config.toml'"),
        ('redirect_to = "https://evil.example/"', "found the key redirect_to"),
        ('path = "../x"', "found the key path"),
        ('aliases = ["style.css"]', "found the alias 'style.css'"),
    ],
)
def test_other_pages_name_a_template_and_no_address(tmp_path: Path, front: str, found: str) -> None:
    [problem] = of_text(tmp_path, page(front), "content/method/post.md")
    assert problem.startswith(f":4: {found}")


def test_a_page_in_no_section_has_no_alias(tmp_path: Path) -> None:
    [problem] = of_text(tmp_path, page('aliases = ["about.md/x"]'), "content/about.md")
    assert (
        problem == ":4: found the alias 'about.md/x', expected none, as the page is in no section"
    )


@pytest.mark.parametrize("line", ["# +++", 'description = "d" # +++  ', "+++  "])
def test_front_matter_ends_where_it_does_for_zola(tmp_path: Path, line: str) -> None:
    """What follows would be prose for Zola and a comment for us."""
    [problem] = of_text(tmp_path, page(f"{line}\n# <script>alert(1)</script>"))
    assert problem.startswith(":4: found +++ in the front matter")


@pytest.mark.parametrize(
    ("prose", "found"),
    [
        ("<script>alert(1)</script>", "<script>"),
        ("a <img src=x onerror=alert(1)> b", "<img"),
        ("<!-- a comment -->", "<!-- a comment -->"),
        ("</details>", "</details>"),
        ("<?x?>", "<?x?>"),
        ("<https://example.org/>", "<https://example.org/>"),
        (r"\`<b>\`", "<b>"),
        (r"\\<b>", "<b>"),
        ("` a\n`<b>`", "<b>"),
        ("`` `<b>", "<b>"),
        ("| `a | `x` <b> ` |\n|-|-|", "<b>"),
        ('[x](ok "`") `y` <b> `', "<b>"),
        ("# a ` <b> {#i`}", "<b>"),
        ("a ` <b> {.c`}\n===", "<b>"),
        ("- # a ` <b> {#i`}", "<b>"),
        ("~~~\n```\n~~~\n<b>\n```", "<b>"),
        ("````\n```\n````\n<b>\n```", "<b>"),
        ("[x]:\n```\n<b>\n```", "[x]:"),
        ('{{ diagram(text="\n```\n") }}\n<b>\n```', "{{ diagram("),
        ("`a\r\r<b>`", "<b>"),
        ("~~~ &quot;&gt;&lt;script&gt;alert(1)\n~~~", "&lt;script"),
        ('- ``` a"b\n', '``` a"b'),
        ("![x](https://evil.example/x.png)", "!["),
        ("![x](//evil.example/x.png)", "!["),
        (r"![a\](i.png)](https://evil.example/x.png)", "!["),
        (r"![`](i.png)`](https://evil.example/x.png) \`", "!["),
        ('![{{ s(a="](i.png)") }}](https://evil.example/x.png)', "!["),
        ("![x][y]", "!["),
        ("[x](javascript:alert(1))", "](javascript:alert(1"),
        ("[x](\njava&#115;cript:1)", "](\njava&#115;cript:1"),
        ("[x](<javascript:1>)", "](<javascript:1>"),
        ("[x](//evil.example)", "](//evil.example"),
        ("[x](/\\evil.example)", "](/\\evil.example"),
        ("[x](javascript%3A1:)", "](javascript%3A1:"),
        ("[x](data:text/html,x)", "](data:text/html,x"),
        ("[x]\n\n[x]: vbscript:1", "]: vbscript:1"),
        ("{{ diagram(name='x\" onload=\"alert(1)}', text=`t`) }}", "{{ diagram("),
        ("{{ table(id=['a']) }}", "{{ table("),
        ("{% table(id=1) %}x{% end %}", "{% table("),
    ],
)
def test_prose_has_no_html_and_links_only_to_pages(tmp_path: Path, prose: str, found: str) -> None:
    problems = of_text(tmp_path, page(prose=prose))
    line = 7 + prose.partition(found)[0].count("\n")
    of_line = [it for it in problems if it.startswith(f":{line}: found ")]
    assert any(repr(found)[1:-1] in it for it in of_line), problems


@pytest.mark.parametrize(
    ("prose", "line", "expected"),
    [
        (
            "- a\n\n  ```\n  Vec<u8>\n  ```\n\n`a<b>`",
            9,
            "a block of code with ``` where its line begins",
        ),
        ("~~~\nVec<u8>\n~~~\n\n```\na<b>\n```", 7, "a block of code with ```, or"),
        ("[a]\n\n`Vec<u8>`\n\n[a]: https://example.org/", 11, "a link as [text](address)"),
        ("`Vec<u8>`\na \\*", 8, "a line without \\"),
        ('`Vec<u8>`\n[a](b "t")', 8, "a link without a title"),
        ("# `Vec<u8>` {#a}", 7, "a line without {"),
        ("a\n``Vec<u8>``", 8, "code in single `"),
        ("`a |\nVec<u8>`", 7, "code in single `"),
    ],
)
def test_what_hides_code_is_named_in_place_of_the_code(
    tmp_path: Path, prose: str, line: int, expected: str
) -> None:
    [problem] = of_text(tmp_path, page(prose=prose))
    assert problem.startswith(f":{line}: found ")
    assert f", expected {expected}" in problem


@pytest.mark.parametrize(
    "prose",
    [
        "`tlsperf show <run>` and a [link](@/data.md) [there](https://example.org/a?b=c)",
        "```rust\nVec<u8> [x](javascript:1)\n```\n\n1 < 2 <3",
        "````markdown\n```\n<b>\n```\n````",
        r"\<script\>\[x\](javascript:1)\![y]",
        "[a](#b) [c](results.csv) [d](schema/x.json) [e](../f/) [g](/data/)\n![h](i.png)",
        "[a](mailto:b@c.example) [d](results.csv?e=1) [f](g%20h.csv) ![i](j%20k.png)",
        "```c++\na<b>\n```\n\n```c#\na<b>\n```",
        '{{ table(id="a") }} {{ diagram(name="b", text="it\'s") }} {{ host() }}',
    ],
)
def test_markdown_with_code_is_accepted(tmp_path: Path, prose: str) -> None:
    assert of_text(tmp_path, page(prose=prose)) == []


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("<https://example.org/>", "a link as [text](address)"),
        ("a<b", "Markdown, &lt; in place of <"),
        ("<!-- more -->", "no comment: "),
    ],
)
def test_what_to_write_in_place_of_html_is_said(tmp_path: Path, prose: str, expected: str) -> None:
    [problem] = of_text(tmp_path, page(prose=prose))
    assert f", expected {expected}" in problem


@pytest.mark.parametrize("name", ["x.html", "x.svg", "x.js", "other.md", "sub/index.md", ".x.html"])
def test_the_folder_of_a_report_has_only_its_own_files(tmp_path: Path, name: str) -> None:
    stray = Path(REPORT).parent / name
    (tmp_path / stray).parent.mkdir(parents=True)
    (tmp_path / stray).write_text(page(), "utf-8")
    generated = '[extra.generated]\nfiles = ["x.html", "page.json", "chart.svg"]'
    for fine in ("page.json", "chart.svg", "results.csv", *OF_EDITORS):
        (tmp_path / REPORT).with_name(fine).touch()
    (tmp_path / REPORT).with_name(".#index.md").symlink_to("me@host.example.12:34")
    of_text(tmp_path, page(generated))
    [problem] = content_problems(tmp_path)
    assert problem.startswith(f"{tmp_path / stray}: found ")


@pytest.mark.parametrize(
    ("drawn", "found"),
    [
        ("<script>alert(1)</script>", "<script"),
        ('<x:script xmlns:x="http://www.w3.org/2000/svg"/>', "<x:script"),
        ('<g\nonload="alert(1)"/>', "\\nonload="),
        ('<g/onload="alert(1)"/>', "/onload="),
        ('<a xlink:href="javascript:1"/>', "<a"),
        ('<!DOCTYPE svg [<!ENTITY a "b">]>', "<!DOCTYPE"),
    ],
)
def test_a_drawing_that_a_page_lists_runs_nothing(tmp_path: Path, drawn: str, found: str) -> None:
    of_text(tmp_path, page('[extra.generated]\nfiles = ["a.svg"]'))
    drawing = (tmp_path / REPORT).with_name("a.svg")
    drawing.write_text(f"<svg>{drawn}</svg>", "utf-8")
    assert content_problems(tmp_path) == [
        f"{drawing}: found '{found}', expected what tlsperf draws: shapes, text"
    ]


@pytest.mark.parametrize(
    "link",
    [
        *("content/perf/2026-11-21-report/x.png", "content/perf/x", "content/.#x.md"),
        *("static/x", "data/x", "static/data", "content", "static", "data"),
    ],
)
def test_no_link_is_followed(tmp_path: Path, link: str) -> None:
    if link != "content":
        of_text(tmp_path, page())
    (tmp_path / link).parent.mkdir(exist_ok=True)
    (tmp_path / link).symlink_to("/etc")
    assert content_problems(tmp_path) == [f"{tmp_path / link}: found a link, expected a file"]


def test_the_data_are_published_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "data").symlink_to("../data")
    assert content_problems(tmp_path) == []


def test_our_own_pages_are_accepted() -> None:
    assert content_problems(ROOT) == []


def test_each_command_refuses_and_names_the_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    write_small(site)
    path = next(site.glob("content/perf/*/index.md"))
    text = path.read_text("utf-8")
    path.write_text(text.replace("\n", '\naliases = ["../../x.html"]\n', 1), "utf-8")
    (site / "content" / "x.html").touch()
    also = "content/x.html: found another kind of file"
    said = f"{path.relative_to(site)}:2: found the alias '../../x.html'"
    for command in ("render --check", "render --check --changed", "validate", "validate --changed"):
        done = tlsperf(site, *command.split())
        assert done.code == 1
        assert said in done.errors, command
        assert also in done.errors, command
    assert said in tlsperf(site, "render", "--check", path.parent.name).errors
    monkeypatch.setattr("tlsperf.site.find_zola", lambda _: zolas.old())
    for action in ("build", "serve"):
        done = tlsperf_site(site, action)
        assert done.code == 1
        assert said in done.errors
    assert not (site / "public").exists()


PARTS = (
    *(
        "`",
        "``",
        "```",
        "````",
        "~~~",
        "\n",
        "\n\n",
        "\r",
        "<b>",
        "<b>",
        "<b>",
        "a",
        "x ",
        "[x](",
        ")",
    ),
    *(
        "[x]: ",
        '"',
        "'",
        "|",
        "|\n",
        "|-|-|\n",
        "\n|a|b|\n|-|-|\n",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
    ),
    *("\\", "# ", '{{ s(a="', '") }}', "{{ s(a=1) }}", "[^1]: ", "[^1]", "&#96;", "*", "\n```\n"),
    *(
        "\n```rust\n",
        "\n````\n",
        "\n  ```\n",
        " `",
        "` ",
        "`<b>`",
        "`<b>",
        "<b>`",
        "\u00a0\n",
        "\u2028",
    ),
    *(
        "[a](b)",
        "[j](javascript:q)",
        "[j]: javascript:q\n",
        "[j]",
        "\n---\n",
        "\n===\n",
        "[",
        "](",
        "]",
    ),
    *("](javascript:q)", "![i](https://evil/)", "\x0c", "\x00", "=", "~", "<!-- -->"),
    *("{#", "{.", "}", "\n# a ` <b> {#i", "](i.png)", "![a"),
)


@pytest.mark.zola
@pytest.mark.parametrize("zola", ["old", "current"])
@pytest.mark.parametrize("count", [60, pytest.param(400, marks=pytest.mark.nightly)])
def test_nothing_hides_from_the_check_in_what_looks_like_code(
    tmp_path: Path, zola: str, count: int
) -> None:
    """Zola makes no element and no such link of any page that is accepted."""
    for name, text in _site(random.Random(count), tmp_path, count):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(text.encode())
    run(getattr(zolas, zola)(), tmp_path, "build")
    made = [path.read_text("utf-8") for path in tmp_path.glob("public/method/*/index.html")]
    assert len(made) == count
    assert [it for it in made if "<b>" in it or '="javascript' in it or 'src="https' in it] == []


def _site(choose: random.Random, folder: Path, most: int) -> Iterator[tuple[str, str]]:
    yield "config.toml", 'base_url = "https://example.org"\n'
    yield "templates/shortcodes/s.html", "{{ a }}"
    for name in ("index", "section", "page"):
        yield f"templates/{name}.html", "{% if page %}{{ page.content | safe }}{% endif %}"
    yield "content/_index.md", "+++\n+++\n"
    yield "content/method/_index.md", "+++\n+++\n"
    tried, count = folder / "tried.md", 0
    while count < most:
        prose = "".join(choose.choice(PARTS) for _ in range(choose.randint(4, 18)))
        if "<b>" in prose or "script:" in prose or "evil" in prose:
            tried.write_bytes(page(prose=prose).encode())
            if not list(page_content(tried, Path("method", "tried.md"))):
                count += 1
                yield f"content/method/{count}.md", tried.read_bytes().decode()
