"""A sentence that compares, or has a number with a unit, needs a claim."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from project import NEW
from synthetic import TRANSFERS, Rates, loaded_run, report_of
from tlsperf.contract.errors import FormatError, UserError
from tlsperf.load.page import Document, read_document, read_page, read_pages
from tlsperf.publish.prose import broken, uncovered
from tlsperf.publish.render import render_reports
from tlsperf.report.claims import figures_of

HEAD = 'title = "A report"\ndescription = "Of libraries."\n'
SENDING = "transfer 1.2 sending: rustls / openssl in"


def page(folder: Path, prose: str, claims: str = "", head: str = HEAD) -> Document:
    path = folder / "index.md"
    path.write_text(f"+++\n{head}{claims}+++\n\n{prose}\n", encoding="utf-8")
    return read_document(path)


def claim(text: str, rest: str) -> str:
    return f'[[extra.claims]]\ntext = "{text}"\n{rest}\n'


def found(folder: Path, prose: str, claims: str = "", head: str = HEAD) -> list[str]:
    return [str(of) for of in uncovered(page(folder, prose, claims, head))]


@pytest.mark.parametrize(
    "words",
    [
        *("its server is slower than others", "half of it is not back", "it sends twice the data"),
        *("rustls' handshakes are as fast now", "a fifth of the memory", "rustls leads"),
        *(
            "the largest of all",
            "it takes more than before",
            "three times the bytes",
            "equally fast",
        ),
        *("1.70x of it", "8,292 MiB/s", "4.3% of it", "80 threads", "12 times", "5 ms", "3×"),
        "with no difference",
    ],
)
def test_words_that_compare_and_numbers_need_a_claim(tmp_path: Path, words: str) -> None:
    sentence = f"Well, {words}, as said."
    (first, *_) = found(tmp_path, sentence)
    assert "index.md:6: found " in first
    assert found(tmp_path, sentence, claim(f"Well, {words}", 'holds = "x: y in 1"')) == []
    assert found(tmp_path, sentence, claim("as said", 'holds = "x: y in 1"')) != []


@pytest.mark.parametrize(
    "prose",
    [
        'rustls sends {{ ratio(row="faster-than", implementation="best") }} in 5 {{ x(y="ms") }}',
        "“rustls is faster”, as they write",
        "> the original says faster",
        "`--faster`, `64 KiB` and [a thread](https://example.org/slower)",
        "```\nfaster\n```",
        "it does the same work with the same certificates, more or less",
        "TLS 1.3 handshakes of rustls 0.23.31",
        "## More figures\n\n{{ table(id='x') }}\n\nOther than these",
    ],
)
def test_code_quotations_and_shortcodes_need_none(tmp_path: Path, prose: str) -> None:
    assert found(tmp_path, prose) == []


def test_title_and_description_are_prose_and_generated_lines_are_not(tmp_path: Path) -> None:
    head = 'title = "rustls is faster"\ndescription = "In half the time."\n'
    generated = '[extra.generated]\nheadlines = ["1.2x faster"]\n'
    first, second = found(tmp_path, "", generated, head)
    assert "index.md:2: found 'faster'" in first
    assert "index.md:3: found 'half'" in second


def test_a_claims_text_is_found_over_lines_and_markup(tmp_path: Path) -> None:
    prose = "**rustls** sends\n[faster](@/x.md) than `x`, {{ figure(row='a') }} more than that."
    text = "rustls sends faster than x, … more than that."
    assert found(tmp_path, prose, claim(text, 'holds = "x: y in 1"')) == []


def test_claims_are_checked_against_the_results(tmp_path: Path) -> None:
    rates: Rates = {"openssl-1": {TRANSFERS[0]: 1000.0}, "rustls-2": {TRANSFERS[0]: 1100.0}}
    results = report_of(loaded_run("2026-11-21-a", rates), baseline="openssl-1").results
    prose = "rustls sends faster, [as they say](https://example.org/a)."

    def problems(rest: str, text: str = "sends faster", *, own: bool = True) -> list[str]:
        document = page(tmp_path, prose, claim(text, rest))
        figures = [figures_of(results)] if own else []
        found = broken(document, figures, {"2026-11-21-a": lambda: [figures_of(results)]})
        return [str(of) for of in found]

    elsewhere = 'reports = ["2026-11-21-a"]'
    document = page(tmp_path, prose, claim("sends faster", f'holds = "{SENDING} 1.2"\n{elsewhere}'))
    known = {"2026-11-21-a": lambda: [figures_of(results)]}
    assert broken(document, [], known, ["another"]) == []
    assert problems(f'holds = "{SENDING} 1.1"') == []
    assert problems(f'holds = "{SENDING} 1.1"\n{elsewhere}', own=False) == []
    assert problems('source = "https://example.org/a"') == []
    for rest, text, own, message in (
        (
            f'holds = "{SENDING} 1.2"',
            "sends faster",
            True,
            ":5: found the claim 'sends faster': it ",
        ),
        (
            f'holds = "{SENDING} 1.2"\n{elsewhere}',
            "sends faster",
            False,
            "report 2026-11-21-a: it ",
        ),
        (f'holds = "{SENDING} 1.1"', "sends more", True, "its text is not in the page"),
        (f'holds = "{SENDING} 1.1"', "sends faster", False, "its page has no results"),
        (f'holds = "{SENDING} 1.1"\nreports = ["x"]', "sends faster", True, "the report 'x'"),
        (f'holds = "nonsense"\n{elsewhere}', "sends faster", False, "rows, a colon and a check"),
        (
            'source = "https://example.org/b"',
            "sends faster",
            True,
            "no link to https://example.org/b",
        ),
        (
            'source = "https://example.org/"',
            "sends faster",
            True,
            "no link to https://example.org/,",
        ),
    ):
        (problem,) = problems(rest, text, own=own)
        assert message in problem


@pytest.mark.parametrize("rest", ["", 'holds = "x: y in 1"\nsource = "a"', "hold = 1"])
def test_a_claim_that_is_not_one_is_named_with_its_line(tmp_path: Path, rest: str) -> None:
    with pytest.raises(FormatError, match=r"index.md:7: found .*, expected"):
        page(tmp_path, "", claim("a", 'source = "b"') + claim("c", rest))


def test_claims_of_a_room_are_checked_with_those_of_reports(
    two_reports: Path, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(two_reports, tmp_path / "site"))
    post = root / "content" / "answers" / "_index.md"
    post.parent.mkdir(parents=True)
    ids = [of.id for of in read_pages(root)]
    about = f'holds = "transfer: rustls / openssl in 9"\nreports = ["{ids[0]}"]'
    claims = claim("is faster", about) + claim("is gone", about)
    post.write_text(f"+++\n{HEAD}{claims}+++\n\nIt is faster. It is slower.\n", encoding="utf-8")
    slower, claimed, gone = "_index.md:14: found 'slower'", f"report {ids[0]}: ", "its text is not"
    of_report = [claimed, gone, claimed]
    for names, said in ((ids[:1], of_report), ([], [slower, *of_report])):
        with pytest.raises(UserError) as error:
            render_reports(root, names, check=True)
        found = str(error.value).splitlines()
        assert all(part in line for part, line in zip(said, found, strict=True)), found
    assert render_reports(root, ids[1:], check=True) == 0, "nothing is said of it"


def test_the_project_of_tests_has_claims(project: Path) -> None:
    of = read_page(project / "content" / "perf" / NEW / "index.md")
    assert of.claims
