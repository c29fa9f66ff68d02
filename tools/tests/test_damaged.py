"""A damaged file gives one message, not a traceback, and stops only the commands that need it."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from commands import commit, tlsperf
from project import HOST, NOTE, OPENSSL, ROOT, RUSTLS, SMALL, files, write_small
from records import BULK
from test_compare import DEFINITION as PUBLISHED
from tlsperf.contract.errors import UserError
from tlsperf.contract.toml_text import MOST_BYTES, toml_table
from tlsperf.load.comparisons import read_definition, read_printed
from tlsperf.load.completion import implementations
from tlsperf.publish.render import render_reports

RUN = SMALL.id
PAGE = f"content/perf/{RUN}/index.md"
COMPARED = "data/comparisons/theirs.toml"
NOTES = NOTE.format(run="2026-01-01-x")
BETWEEN = {"run": RUN, "layout": "factor", "left": OPENSSL, "right": RUSTLS}
DEFINITION = PUBLISHED.format(**BETWEEN, errata="", scenarios='["bulk_*"]')
CONFIG = "title = 'x'\ndescription = 'y'\n{}\n"
HEAD = f'+++\ntitle = "x"\ndate = {RUN[:10]}\n'
DESCRIBED = f"data/runs/{RUN}/run.toml"
DECIDED = f'[extra.report]\nruns = ["{RUN}"]\n'


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("rendered")
    write_small(root)
    (root / "data" / "notes.toml").write_text(NOTES, encoding="utf-8")
    (root / COMPARED).parent.mkdir()
    (root / COMPARED).write_text(DEFINITION, encoding="utf-8")
    (root / "static").mkdir(exist_ok=True)
    shutil.copy(ROOT / "static" / "style.css", root / "static")
    render_reports(root, check=False)
    return root


FILES = (
    "config.toml",
    "data/notes.toml",
    f"data/hosts/{HOST}.toml",
    f"data/runs/{RUN}/run.toml",
    f"data/runs/{RUN}/raw/records.jsonl",
    COMPARED,
    PAGE,
)
CONTENTS = {
    "bytes": b"\xff\xfe\x00\x01",
    "nothing": b"",
    "a page": b"<html></html>",
    "no TOML": b"a = [1,\n",
    "a NUL": b"a = 1\n\0",
    "JSON": b'{"note": [{}]}',
    "other keys": b"another = 1\n",
}


def refused(root: Path, file: str, content: bytes) -> str:
    """The message of rendering with this content in a file; the file is restored."""
    path = root / file
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        with pytest.raises(UserError) as caught:
            render_reports(root, check=True)
    finally:
        path.write_bytes(before)
    return str(caught.value)


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
@pytest.mark.parametrize("file", FILES)
def test_a_file_with_other_content_is_reported(rendered: Path, file: str, content: bytes) -> None:
    message = refused(rendered, file, content)
    assert Path(file).name in message
    assert len(message.splitlines()) < 4


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("data/notes.toml", "note = 'x'\n", "notes.toml: found note 'x', expected [[note]]"),
        ("data/notes.toml", "note = 1\n", "notes.toml: found note 1, expected [[note]]"),
        ("data/notes.toml", "[note]\nid = 'n'\n", "notes.toml: found note {'id': 'n'}, expected"),
        ("data/notes.toml", "note = ['x']\n", "notes.toml: found note 'x', expected [[note]]"),
        ("data/notes.toml", f"{NOTES}mark = 1\n", "notes.toml: found note 'n': mark, expected"),
        ("data/notes.toml", f"{NOTES}scenarios = 'x'\n", "note 'n': scenarios, expected"),
        ("data/notes.toml", f"{NOTES}\n{NOTES}", "notes.toml: found note 'n' twice, expected"),
        ("config.toml", "title = 1\ndescription = ''\n", "config.toml: found title 1, expected"),
        ("config.toml", "title = 'x'\n", "config.toml: found description nothing, expected"),
        ("config.toml", CONFIG.format("extra = 3"), "config.toml: found extra 3, expected"),
        ("config.toml", CONFIG.format("extra.menu = 3"), "config.toml: found extra.menu 3, expect"),
        (
            "config.toml",
            CONFIG.format("extra.licences = ['MIT']"),
            "found extra.licences.0 'MIT', ",
        ),
        (
            "config.toml",
            CONFIG.format("extra.makers = [{name = 'x'}]"),
            "found extra.makers.0.affiliation nothing, expected",
        ),
        ("config.toml", CONFIG.format("extra.footer = 3"), "found extra.footer 3, expected"),
        (
            "config.toml",
            CONFIG.format("extra.repository = 'javascript:a'"),
            "found extra.repository",
        ),
        (
            "config.toml",
            CONFIG.format("extra.menu = [{name = 'x', path = 'javascript:a'}]"),
            "found extra.menu.0.path 'javascript:a', expected a page of the site, such as perf, or",
        ),
        (
            "config.toml",
            CONFIG.format("extra.colours = 'red'"),
            "config.toml: found extra.colours 'red', expected",
        ),
        (
            "config.toml",
            CONFIG.format("extra.colours = {light = {accent = 'red;}'}, dark = {}}"),
            "found extra.colours.light.accent 'red;}', expected a colour such as #7a2e1d",
        ),
        (
            "config.toml",
            CONFIG.format("extra.colours = {light = {acent = 'red'}, dark = {}}"),
            "config.toml: found the colour 'acent', expected accent (",
        ),
        (PAGE, f"{HEAD}extra = 1\n+++\n", "index.md: found no [extra.report]"),
        (PAGE, f"{HEAD}[extra]\nreport = 1\n+++\n", "index.md: found no [extra.report]"),
        (
            PAGE,
            f"{HEAD}{DECIDED}[extra]\ngenerated = 1\n+++\n",
            "index.md: found extra.generated 1, expected a table",
        ),
        (
            PAGE,
            f"{HEAD}{DECIDED}[extra.generated]\nfiles = 1\n+++\n",
            "index.md: found extra.generated.files 1, expected a list of names",
        ),
        (
            PAGE,
            f"{HEAD}{DECIDED}[extra.generated]\nfiles = [1]\n+++\n",
            "index.md: found extra.generated.files [1], expected a list of names",
        ),
        (PAGE, f"+++\ntitle = 1\ndate = {RUN[:10]}\n{DECIDED}+++\n", "index.md: found title 1"),
        (PAGE, f"+++\ntitle = 'x'\ndate = 'x'\n{DECIDED}+++\n", "index.md: found date 'x'"),
    ],
)
def test_a_file_with_a_wrong_value_is_reported_with_the_expected_one(
    rendered: Path, file: str, content: str, said: str
) -> None:
    assert said in refused(rendered, file, content.encode())


HOSTILE = {
    "a long dotted key": (f"\n{'a.' * 5000}a = 1\n", ":2: found values more than 10 deep"),
    "a long header": (f"[{'a.' * 5000}a]\n", ":1: found values more than 10 deep"),
    "nested arrays": (f"a = {'[' * 500}{']' * 500}\n", ":1: found values more than 10 deep"),
    "nested tables": (f"a = {'{a=' * 500}1{'}' * 500}\n", ":1: found values more than 10 deep"),
    "strings between": ("a = [''," * 500, ":1: found values more than 10 deep"),
    "a long number": (f"\nrounds = {'9' * 5000}\n", ":2: found a number of 5,000 digits"),
    "a long negative number": (f"seed = -{'9' * 5000}", ":1: found a number of 5,000 digits"),
    "a number of 65 bits": (f"host.cores = {2**64}\n", ": found host.cores of 65 bits, expected"),
    "a negative number": (f"a = [-{'9' * 4000}]\n", ": found a.0 of 13,288 bits, expected a n"),
    "a number in base 16": (f"a = 0x{'f' * 64}\n", ": found a of 256 bits, expected a number"),
    "infinity": ('a = "information"\nb = -inf', ": found b -inf, expected a number of 64 bits"),
    "a number beyond all": ("a = 1e999\n", ": found a inf, expected a number of 64 bits"),
    "a long file": ("#" * (MOST_BYTES + 1), ": found more than 4,194,304 characters, expected"),
    "the year 1": (f"id = '{RUN}'\ndate = 0001-01-01\n", ": found date datetime.date(1, 1, 1)"),
    "the year 9999": (f"id = '{RUN}'\ndate = '9999-12-31'\n", ": found date '9999-12-31'"),
}


@pytest.mark.parametrize(("content", "said"), HOSTILE.values(), ids=HOSTILE)
def test_what_no_honest_file_has_is_refused(rendered: Path, content: str, said: str) -> None:
    assert f"run.toml{said}" in refused(rendered, DESCRIBED, content.encode())


def test_a_text_of_dots_brackets_and_digits_is_read() -> None:
    odd = f"{'a.[{' * 50}{'9' * 50}"
    lines = [
        f"# {odd}",
        f"a = '{odd}' # {odd}",
        f"b = [{', '.join(['1.5'] * 50)}, 0.{'1' * 30}, {2**64 - 1}, -{2**64 - 1}]",
        f'c = """"\\""{odd}\n{odd}"""""',
        f"'{odd}' = '''{odd}'{odd}'''",
        f"{'9' * 50} = 1",
        "",
    ]
    assert toml_table("\n".join(lines), "f") == tomllib.loads("\n".join(lines))


@pytest.mark.parametrize("name", ["../../../README.md", "/etc/passwd", "a/b", "..", ""])
def test_rendering_removes_no_file_outside_a_reports_folder(rendered: Path, name: str) -> None:
    content = f"{HEAD}{DECIDED}[extra.generated]\nfiles = ['{name}']\n+++\n"
    assert f"extra.generated.files ['{name}']" in refused(rendered, PAGE, content.encode())


def test_a_published_table_that_is_not_text_is_reported(rendered: Path, tmp_path: Path) -> None:
    definition = read_definition(rendered / COMPARED)
    (tmp_path / definition.published).write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match=definition.published):
        read_printed(tmp_path / "theirs.toml", definition)


# --- what is damaged stops only the commands that need it ------------------------------------------

OTHER = f"2026-10-01{RUN[10:]}"
"""A run and its report of which nothing is damaged."""


class Damage(NamedTuple):
    """A file of the site of two reports, and what is there instead."""

    file: str
    content: bytes | None
    """None: a folder."""
    seen: str
    """What commands read when they see it."""
    said: str
    refused: Sequence[str]
    """The commands that need it."""


OF_REPORT = [
    f"show content/perf/{RUN}",
    f"export csv {RUN}",
    f"render {RUN}",
    "render",
    "build",
]
OF_RUN = [
    *(f"show data/runs/{RUN}", f"noise {RUN}", f"new {RUN} --slug b"),
    f"compare {RUN}/{OPENSSL} {RUN}/{RUSTLS}",
    *OF_REPORT,
]
DAMAGES = {
    "an empty run": Damage(DESCRIBED, b"", "runs", "found id nothing, expected a value", OF_RUN),
    "a run whose id is no id": Damage(
        DESCRIBED, 'id = "č"\n'.encode(), "runs", "found id 'č', expected text that", OF_RUN
    ),
    "a run that cannot be opened": Damage(DESCRIBED, None, "runs", "Is a directory", OF_RUN),
    "other raw output": Damage(
        f"data/runs/{RUN}/raw/records.jsonl", b"{}", "raw", "found 2 bytes, expected", OF_RUN[:-1]
    ),
    "a page without front matter": Damage(
        PAGE, b"text", "pages", "found no front matter", [*OF_REPORT, f"remove {RUN}"]
    ),
    "a page that cannot be opened": Damage(PAGE, None, "pages", "Is a directory", OF_REPORT),
    "what render made in another format": Damage(
        f"content/perf/{RUN}/page.json", b"{}", "changes", "found other content", []
    ),
    "a post without front matter": Damage(
        "content/blog.md", b"text", "texts", "found no front matter", ["render"]
    ),
    "a published table in another format": Damage(
        "data/comparisons/a.toml", b"a", "tables", "this is not TOML", ["render", "build"]
    ),
    "another host in another format": Damage("data/hosts/a.toml", b"a", "", "", []),
    "a file among runs": Damage("data/runs/notes.txt", b"a", "", "", []),
}
ON_OTHERS = {
    f"render --check {OTHER}": "runs pages tables texts",
    f"new {OTHER} --slug a": "runs pages tables",
    f"render {OTHER}": "runs pages tables texts",
    f"show data/runs/{OTHER}": "runs tables",
    f"show content/perf/{OTHER}": "runs pages tables",
    f"noise {OTHER}": "",
    f"compare {OTHER}/{OPENSSL} {OTHER}/{RUSTLS}": "runs",
    f"compare {OPENSSL} {RUSTLS}": "runs raw",
    f"export csv {OTHER}": "runs pages tables",
    f"render {OTHER[:10]}-a": "runs pages tables texts",
    f"remove {OTHER[:10]}-a": "runs pages",
    "summary HEAD": "changes",
    "import raw --out 2026-01-02-a --implementation openssl-1": "",
}
"""Commands on other things, and what they read besides: a predecessor, claims."""


CLAIMING = f"""\
+++
[[extra.claims]]
text = "rustls sends fastest"
holds = "transfer sending: rustls better than openssl"
reports = ["{RUN}", "{OTHER}"]
+++
Of all, rustls sends fastest.
"""
"""A page that claims something about both reports."""


@pytest.fixture
def damaged(two_reports: Path, tmp_path: Path, damage: Damage) -> Path:
    site = Path(shutil.copytree(two_reports, tmp_path / "site"))
    (site / "data" / "comparisons").mkdir()
    (site / "raw").write_text(BULK, encoding="utf-8")
    (site / "content" / "claims.md").write_text(CLAIMING, encoding="utf-8")
    commit(site)
    path = site / damage.file
    path.unlink(missing_ok=True)
    if damage.content is None:
        path.mkdir()
    else:
        path.write_bytes(damage.content)
    return site


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_command_on_other_things_does_its_work_and_warns_once(
    damaged: Path, damage: Damage, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command, reads in ON_OTHERS.items():
        done = tlsperf(damaged, *command.split())
        assert done.code == 0, f"{command}: {done.errors}"
        said = [line for line in done.errors.splitlines() if damage.file in line]
        assert len(said) == (damage.seen in reads.split()), f"{command}: {said}"
        for line in said:
            assert line.startswith(f"warning: {damage.file}:")
            assert damage.said in line
            assert line.endswith("; left out")
    assert RUN in (damaged / "data" / "reports.json").read_text("utf-8")
    monkeypatch.chdir(damaged)
    assert f"{OTHER}/{OPENSSL}" in implementations(OTHER), "as a shell completes it"


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_command_that_needs_what_is_damaged_says_so_in_a_line(
    damaged: Path, damage: Damage
) -> None:
    for command in damage.refused:
        done = tlsperf(damaged, *command.split())
        assert done.code == (2 if command.startswith("compare") else 1), command
        [said] = [line for line in done.errors.splitlines() if damage.file in line]
        assert said.startswith(f"tlsperf: {damage.file}"), command
        assert damage.said in said


def test_notes_are_named_by_their_place_in_the_project(two_reports: Path, tmp_path: Path) -> None:
    site = Path(shutil.copytree(two_reports, tmp_path / "site"))
    (site / "data" / "notes.toml").write_bytes(b"a")
    assert tlsperf(site, "show", RUN).errors.startswith("tlsperf: data/notes.toml: this is not T")


def test_changes_since_an_earlier_run_that_is_damaged_are_left_out(
    two_reports: Path, tmp_path: Path
) -> None:
    site = Path(shutil.copytree(two_reports, tmp_path / "site"))
    raw = f"data/runs/{OTHER}/raw/records.jsonl"
    (site / raw).unlink()
    warning = f"warning: {raw}: the raw file is missing; left out"
    for command in (of for of in OF_REPORT if not of.startswith(("render", "build"))):
        done = tlsperf(site, *command.split())
        assert (done.code, done.errors.splitlines()) == (0, [warning]), command
    done = tlsperf(site, "render", "--check", RUN)
    assert done.code == 1
    [warned, refused] = done.errors.splitlines()
    assert warned == warning
    assert f"found changes(), expected a predecessor that can be read: {raw}: " in refused


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (f"data/runs/{OTHER}/run.toml", "found id nothing"),
        (f"data/runs/{OTHER}/raw/records.jsonl", "found 0 bytes"),
        (f"content/perf/{OTHER}/index.md", "found no front matter"),
    ],
)
def test_changes_since_a_report_that_is_damaged_are_refused_with_its_file(
    two_reports: Path, tmp_path: Path, file: str, said: str
) -> None:
    site = Path(shutil.copytree(two_reports, tmp_path / "site"))
    before = files(site)
    (site / file).write_bytes(b"")
    for command in (f"render {RUN}", "render"):
        done = tlsperf(site, *command.split())
        assert done.code == 1
        [refused] = [line for line in done.errors.splitlines() if PAGE in line]
        assert "found changes(), expected a predecessor that can be read: " in refused
        assert f"{file}:" in refused
        assert said in refused
    changed = {name for name, data in files(site).items() if data != before[name]}
    assert changed == {file}
    assert "data/reports.json" not in tlsperf(site, "render", "--check").errors


def test_what_is_damaged_keeps_no_other_report_from_being_rendered_and_built(
    two_reports: Path, tmp_path: Path
) -> None:
    site = Path(shutil.copytree(two_reports, tmp_path / "site"))
    before = files(site)
    (site / DESCRIBED).write_bytes(b"")
    for name in ("page.json", "results.json"):
        (site / "content" / "perf" / OTHER / name).unlink()
    wrong = [site / "content" / "claims.md", site / "content" / "answers" / "_index.md"]
    for path, text in zip(wrong, (CLAIMING, "+++\n+++\nIt is faster.\n"), strict=True):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    said = tlsperf(site, "render")
    assert said.code == 1
    assert f"{DESCRIBED}: found id" in said.errors
    assert "content/answers/_index.md:3: found 'faster'" in said.errors
    assert tlsperf(site, "build").code == 1
    for path in wrong:
        path.unlink()
    after = files(site)
    folder = f"content/perf/{OTHER}/"
    assert {path: after[path] for path in before if path.startswith(folder)} == {
        path: data for path, data in before.items() if path.startswith(folder)
    }
    assert RUN.encode() not in after["data/index.csv"]
    assert OTHER.encode() in after["data/index.csv"]
    (site / DESCRIBED).write_bytes(before[DESCRIBED])
    for command in ("render", "build"):
        assert tlsperf(site, command).code == 0
    assert files(site) == before


def test_a_run_that_was_interrupted_says_what_it_holds_and_how_to_go_on(
    two_reports: Path, tmp_path: Path
) -> None:
    site = Path(shutil.copytree(two_reports, tmp_path / "site"))
    described = site / DESCRIBED
    text = described.read_text(encoding="utf-8")
    begun = described.with_name("run.partial.toml")
    begun.write_text(text.partition("[[files]]")[0], encoding="utf-8")
    described.unlink()
    shutil.rmtree(site / "content" / "perf" / RUN)
    raw = described.parent / "raw" / "records.jsonl"
    whole = raw.read_bytes().splitlines(keepends=True)
    second = [n for n, line in enumerate(whole) if b'"kind":"round"' in line][1]
    raw.write_bytes(b"".join(whole[:second])[:-9])  # a line is cut off
    figures = sum(b'"kind":"measurement"' in line for line in whole[:second])
    command = tomllib.loads(text)["tool"]["commands"][0]
    for name in (f"show {RUN}", f"new {RUN} --slug b", f"noise {RUN}"):
        done = tlsperf(site, *name.split())
        assert done.code == 1
        assert done.errors == (
            f"tlsperf: data/runs/{RUN}/run.partial.toml: the run is not complete, it holds "
            f"{figures} figures of 1 whole round; to resume it: {command}\n"
        )
    assert tlsperf(site, "show", f"data/runs/{OTHER}").errors == ""
