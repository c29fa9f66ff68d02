"""A user's mistake is rejected at once with the next step, and without a traceback.

The mistakes with `tlsbench` are tested in bench/runner/tests.
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from commands import tlsperf, tlsperf_site
from project import ARM, ROOT, ROW
from project import OLD as RUN
from records import BULK

MOST_SECONDS = 2.0
"""Limit of processor time, so that a busy machine does not fail the test."""
PAGE = f"content/perf/{RUN}/index.md"
TYPO = RUN.replace("server", "sevrer")


class Mistake(NamedTuple):
    """A mistake, what its message must say, and the exit code: 1, or 2 for a wrong command line."""

    command: str
    says: str
    change: Callable[[str], str] = str
    """A change of the text of the report's page."""
    folder: str = "."
    code: int = 1


def use(command: str, says: str) -> Mistake:
    return Mistake(command, says, code=2)


def put(before: str, after: str) -> Callable[[str], str]:
    def changed(text: str) -> str:
        assert before in text
        return text.replace(before, after, 1)

    return changed


def prose(text: str) -> Callable[[str], str]:
    return lambda page: f"{page}\n{text}\n"


CHECK = "render --check"
NEW = "--out data/runs/2026-01-02-a-run"
_SLUG = "--slug: found {}, expected lower-case letters, digits, hyphens and dots"
AT = "--base-url https://acme.example"
MISTAKES = {
    "a run is misspelt in the front matter": Mistake(
        CHECK,
        f"{PAGE}:13: found the run '{TYPO}', expected {RUN}",
        put(f'runs = ["{RUN}"]', f'runs = ["{TYPO}"]'),
    ),
    "a key is misspelt in the front matter": Mistake(
        CHECK, "the unknown key basline, expected baseline", put("baseline =", "basline =")
    ),
    "the front matter is no TOML": Mistake(
        CHECK, f"{PAGE}:2: this is not TOML: invalid value", put('title = "', "title = Example ")
    ),
    "the description is missing": Mistake(
        CHECK,
        "found no description, expected a sentence that",
        put("description =", "# description ="),
    ),
    "the description is empty": Mistake(
        CHECK,
        f"{PAGE}:4: found an empty description, expected a sentence that feeds",
        lambda page: "\n".join(
            'description = ""' if line.startswith("description") else line
            for line in page.split("\n")
        ),
    ),
    "a report is its own predecessor": Mistake(
        CHECK,
        "found the report as its own predecessor, expected an earlier report",
        put("[extra.report]", f'[extra.report]\nprevious = "{RUN}"'),
    ),
    "a change of the report has no text": Mistake(
        CHECK,
        f"{PAGE}: found history.0.text '', expected",
        put("[extra.report]", '[extra.report]\nhistory = [{date = 2026-10-02, text = ""}]'),
    ),
    "the previous report does not exist": Mistake(
        CHECK,
        "found the previous report '2025-01-01-x', expected",
        put("[extra.report]", '[extra.report]\nprevious = "2025-01-01-x"'),
    ),
    "the baseline is not one of the run's": Mistake(
        CHECK, "'openssl-3.5.6', expected openssl-3.5.5", put("openssl-3.5.5", "openssl-3.5.6")
    ),
    "a headline names no row": Mistake(
        CHECK,
        "picture: found the row or table",
        put("[extra.report]", f'[extra.report]\nheadlines = ["{ROW[:-3]}"]'),
    ),
    "a shortcode is misspelt": Mistake(
        CHECK, "found the shortcode tabel(), expected table (", prose('{{ tabel(id="transfer") }}')
    ),
    "a table does not exist": Mistake(
        CHECK,
        'found table(id="transfers"), expected transfer (there are also full-handshakes,',
        prose('{{ table(id="transfers") }}'),
    ),
    "a chart does not exist": Mistake(
        CHECK,
        'found chart(id="transfer"), expected a name',
        prose('{{ chart(id="transfer") }}'),
    ),
    "a row does not exist": Mistake(
        CHECK,
        f"found figure() with row '{ROW[:-3]}', expected {ROW}",
        prose(f'{{{{ figure(row="{ROW[:-3]}", implementation="openssl-3.5.5") }}}}'),
    ),
    "a ratio is of the baseline itself": Mistake(
        CHECK,
        f"found ratio() with 'openssl-3.5.5' in row '{ROW}', expected one with a ratio",
        prose(f'{{{{ ratio(row="{ROW}", implementation="openssl-3.5.5") }}}}'),
    ),
    "a number is typed": Mistake(
        CHECK, "found '1.7x', expected a claim that covers it", prose("It is 1.7x.")
    ),
    "a report is misspelt": Mistake(
        f"render {RUN[:-1]}", f"no report '{RUN[:-1]}': expected {RUN}"
    ),
    "a run to show is misspelt": Mistake(
        f"show {TYPO}", f"no run or report '{TYPO}': expected {RUN}"
    ),
    "a run for a new report is misspelt": Mistake(
        f"new data/runs/{TYPO}", f"no run '{TYPO}': expected {RUN}"
    ),
    "a report on the run exists": Mistake(
        f"new data/runs/{RUN}", "choose another name with --slug"
    ),
    "an implementation to compare is misspelt": use(
        "compare openssl-3.5.5 rustls-0.23.21", "expected rustls-0.23.20-aws-lc-rs"
    ),
    "a scenario to compare is none": use(
        "compare openssl-3.5.5 boringssl-29cd934 --scenario handsake",
        "--scenario handsake: none of\n  TLS 1.2 transfer",
    ),
    "a command is misspelt": use("rendr", "No such command 'rendr'. Did you mean 'render'"),
    "an option is misspelt": use("render --chek", "No such option: --chek"),
    "a file to import does not exist": use(
        f"import nothing.txt --implementation openssl-3.6.1 {NEW}",
        "FILE: nothing.txt: there is no such file",
    ),
    "a folder is imported": use(f"import data {NEW}", "FILE: found 'data', expected a file, not a"),
    "a file to import is of no known format": Mistake(
        f"import config.toml --implementation openssl-3.6.1 {NEW}",
        "config.toml: no line of a known format of docs/import.md",
    ),
    "an import names no run": use(
        "import one --implementation openssl-3.6.1", "--out, the run to make of them: data/runs/<"
    ),
    "an import goes outside of data/runs": use(
        "import one --implementation openssl-3.6.1 --out /tmp/2026-01-02-a-run",
        "expected a name, or a path data/runs/<name>",
    ),
    "an import names no implementation": Mistake(
        f"import one {NEW}", "--implementation is missing"
    ),
    "a library is misspelt": Mistake(
        f"import one --implementation opensl-3.6.1 {NEW}", "one of the libraries rustls, openssl"
    ),
    "a host is misspelt": Mistake(
        f"import one --implementation openssl-3.6.1 {NEW} --host exampel-host",
        "exampel-host.toml does not exist: expected example-host",
    ),
    "a format is misspelt": Mistake(
        f"import one --implementation openssl-3.6.1 {NEW} --from openssl-bench",
        "expected openssl-bench/2024 or openssl-bench/2023",
    ),
    "an archive does not exist": use("import x.tar.gz", "x.tar.gz: there is no such file"),
    "an archive is imported as a run of another name": use(
        f"import broken.tar.gz {NEW}", "broken.tar.gz: found an archive, which says what is in it"
    ),
    "an archive is imported with raw files": use(
        f"import broken.tar.gz one {NEW}", "expected archives alone"
    ),
    "an archive is none": Mistake("import broken.tar.gz", "expected an archive of `tlsbench pack`"),
    "a format to export is misspelt": Mistake(
        f"export benchfm {RUN}", "export benchfm: expected benchfmt (there are also bmf"
    ),
    "an export names no report": use("export bmf", "export: expected FORMAT and REPORT"),
    "a report to export is misspelt": Mistake(
        f"export bmf {RUN[:-1]}", f"no report '{RUN[:-1]}': expected {RUN}"
    ),
    "a report to remove is misspelt": Mistake(
        f"remove {RUN[:-1]}", f"no report '{RUN[:-1]}': expected {RUN}"
    ),
    "a run to show the noise of is misspelt": Mistake(
        f"noise {TYPO}", f"no run '{TYPO}': expected {RUN}"
    ),
    "the noise of a report is wanted": use(
        f"noise content/perf/{RUN}", "expected a name, or a path data/runs/<name>"
    ),
    "one implementation is compared with nothing": use(
        "compare openssl-3.6.1", "compare: expected two implementations, each [RUN/]IMPL"
    ),
    "published tables are printed as JSON": use(
        "compare --tables config.toml --format json",
        "--tables FILE with the format text, csv",
    ),
    "published tables are filtered": use(
        "compare --tables config.toml --scenario handshake",
        "--tables prints published tables: it takes only --format",
    ),
    "a least difference is no percentage": use(
        "compare openssl-3.5.5 rustls-0.23.20-aws-lc-rs --min-difference 5",
        "--min-difference: found '5', expected a percentage such as 5%",
    ),
    "figures are to be printed in an unknown format": use(
        f"show {RUN} --format table", "'table' is not one of 'text', 'csv', 'json', 'markdown'"
    ),
    "published tables do not exist": use(
        "compare --tables none.toml", "none.toml: there is no such file"
    ),
    "a claim is about figures of two hosts": Mistake(
        CHECK,
        "openssl-3.5.5 and openssl-3.6.1 are of two hosts",
        put(
            f'runs = ["{RUN}"]\nbaseline = "openssl-3.5.5"\n',
            f'runs = ["{RUN}", "{ARM}"]\nbaseline = "openssl-3.5.5"\n'
            '[[extra.claims]]\ntext = "suite server"\n'
            f'holds = "{ROW}: openssl-3.5.5 / openssl-3.6.1 in 1.."\n',
        ),
    ),
    "an archive to draft from does not exist": use(
        "draft none.tar.gz --suite config.toml", "ARCHIVE: none.tar.gz: there is no such file"
    ),
    "the suite of a draft does not exist": use(
        "draft broken.tar.gz --suite quick.toml", "--suite: quick.toml: there is no such file"
    ),
    "a commit to summarize from does not exist": Mistake(
        "summary origin/mian", "summary origin/mian: found no such commit, expected one that HEAD"
    ),
    "the folder is in no project": Mistake(
        "validate",
        "is in no folder with config.toml and data/; change to a checkout or a site",
        folder="..",
    ),
    "a name of a report has a space": use(f"new {RUN} --slug 'a b'", _SLUG.format("'a b'")),
    "a name of a report has a capital": use(f"new {RUN} --slug Slug", _SLUG.format("'Slug'")),
    "a name of a report leads to a folder": use(
        f"new {RUN} --slug ../../x", _SLUG.format("'../../x'")
    ),
    "a name of a report has another alphabet": use(f"new {RUN} --slug č", _SLUG.format("'č'")),
    "a name of a report is empty": use(f"new {RUN} --slug ''", _SLUG.format("''")),
    "a title is empty": use(
        f"new {RUN} --title ' '", "--title: found ' ', expected a line of text"
    ),
    "a title has two lines": use(
        f"new {RUN} --title 'One\ntwo'", r"--title: found 'One\ntwo', expected a line of text"
    ),
    "a report is of the future": use(
        f"new {RUN} --date 2031-01-01", "--date: found '2031-01-01', expected a date that is not in"
    ),
    "a date is not that of a calendar": use(
        f"new {RUN} --date 2026-02-30", "--date: found '2026-02-30', expected a date such as 2026-"
    ),
    "a date is of another form": use(
        f"new {RUN} --date 20261121", "--date: found '20261121', expected a date such as 2026-11-21"
    ),
    "a run for a new report has no name": use("new ''", "RUN: found '', expected a name"),
    "a report to render has no name": use("render ''", "REPORT: found '', expected a name"),
    "a run to show has no name": use("show ''", "RUN|REPORT: found '', expected a name"),
    "a run is imported without its date": use(
        "import one --out a-run", "--out: found 'a-run', expected a name in lower case that begins"
    ),
    "a run is imported under a name with capitals": use(
        "import one --out 2026-01-01-A-Run", "--out: found '2026-01-01-A-Run', expected a name in l"
    ),
    "a run is imported of no day": use(
        "import one --out 2026-13-01-a-run", "--out: found '2026-13-01', expected a date such as"
    ),
    "a host is a path": use(
        f"import one {NEW} --host ../x", "--host: found '../x', expected the id of a host"
    ),
    "a run is imported of the future": use(
        "import one --out 2031-01-01-x", "--out: found '2031-01-01', expected a date that is not in"
    ),
    "a run is imported of the year 1": use(
        "import one --out 0001-01-01-x", "--out: found '0001-01-01', expected a date from 2000 on"
    ),
    "a report is exported into a file": use(
        f"export csv {RUN} --out config.toml",
        "--out: found 'config.toml', expected a folder that can be written to",
    ),
    "a commit begins like an option": use(
        "summary -- --all", "COMMIT: found '--all', expected a commit, such as origin/main"
    ),
    "only changed reports are rendered": use(
        "render --changed", "--changed: expected --check beside it, and no report"
    ),
    "a value is missing": use(f"new {RUN} --slug", "Option '--slug' requires an argument"),
    "an argument is missing": use("new", "Missing argument 'RUN'. Try: tlsperf new --help"),
    "a shell is missing": use(
        "completions",
        "Missing argument 'SHELL'. Choose from: bash, zsh, fish. Try: tlsperf completions --help",
    ),
    "an argument is too many": use(
        f"show {RUN} {ARM}", f"Got unexpected extra argument(s) ({ARM}). Try: tlsperf show --help"
    ),
    "a word is not one of the known ones": use(
        "compare a b --estimator mean", "--estimator: 'mean' is not one of 'median', 'upper-median'"
    ),
    "a port is none": use(
        "site serve --port 80000", "--port: found '80000', expected a port from 1"
    ),
    "a port is no number": use(
        "site serve --port x", "--port: found 'x', expected a port from 1 to"
    ),
    "an address has no scheme": use(
        "site build --base-url example.org",
        "--base-url: found 'example.org', expected an address such as https://example.org/perf",
    ),
    "a site has no name": use(
        f"init acme --name '' {AT}", "--name: found '', expected a line of text"
    ),
    "a name of a site has two lines": use(
        f"init acme --name 'One\ntwo' {AT}", r"--name: found 'One\ntwo', expected a line of text"
    ),
    "an address of a new site is one of ftp": use(
        "init acme --name ACME --base-url ftp://acme.example",
        "--base-url: found 'ftp://acme.example', expected an address such as",
    ),
    "a new site is made where files are": Mistake(
        f"init data --name ACME {AT}", "data: found files, expected a new or an empty folder"
    ),
    "an action is misspelt": use(
        "site bild", "action: invalid choice: 'bild' (choose from 'build'"
    ),
}


@pytest.fixture(scope="module")
def rendered(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with one report, and a run of another host."""
    root = tmp_path_factory.mktemp("mistakes") / "project"
    for name in ("data/hosts", f"data/runs/{RUN}", f"data/runs/{ARM}"):
        shutil.copytree(project / name, root / name)
    shutil.copy(project / "config.toml", root)
    for command in (("new", RUN), ("render",)):
        assert tlsperf(root, *command).code == 0
    subprocess.run(["git", "init", "--quiet", root], check=True)
    shutil.copytree(ROOT / "templates" / "shortcodes", root / "templates" / "shortcodes")
    (root / "one").write_text(BULK)
    (root / "broken.tar.gz").write_bytes(b"no archive")
    return root


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_rejected_at_once_with_the_next_step(rendered: Path, name: str) -> None:
    mistake = MISTAKES[name]
    page = rendered / PAGE
    right = page.read_text(encoding="utf-8")
    try:
        page.write_text(mistake.change(right), encoding="utf-8")
        program, *arguments = shlex.split(mistake.command)
        folder = rendered / mistake.folder
        done = (
            tlsperf_site(folder, *arguments)
            if program == "site"
            else tlsperf(folder, program, *arguments)
        )
    finally:
        page.write_text(right, encoding="utf-8")
    assert done.code == mistake.code, done.errors
    assert mistake.says in done.errors
    first, *more = (line for line in done.errors.splitlines() if ": differs from" not in line)
    assert first.startswith("tlsperf")
    assert all(line.startswith("  ") for line in more), done.errors
    assert done.seconds < MOST_SECONDS
    assert not (rendered / "data/runs/2026-01-02-a-run").exists()


def test_valid_input_is_accepted_in_every_folder_of_a_project(rendered: Path) -> None:
    for folder, command in ((".", CHECK), ("content", "validate"), ("data/runs", "validate")):
        done = tlsperf(rendered / folder, *command.split())
        assert done.code == 0, done.out + done.errors


def test_make_check_rejects_the_same_mistakes_as_the_check_of_reports() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "check"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    commands = done.stdout.splitlines()
    for command in (CHECK, "validate"):
        assert [line for line in commands if line.startswith(f".venv/bin/tlsperf {command}")]


def test_all_mistakes_of_a_page_are_listed_together(rendered: Path) -> None:
    page = rendered / PAGE
    right = page.read_text(encoding="utf-8")
    page.write_text(put("description =", "# description =")(right) + "\n{{ nope() }}\n")
    try:
        done = tlsperf(rendered, "render")
    finally:
        page.write_text(right, encoding="utf-8")
    assert [line.split(": found ")[1].split(",")[0] for line in done.errors.splitlines()] == [
        "no description",
        "the shortcode nope()",
    ]


def test_the_version_is_printed_quickly(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [Path(sys.executable).with_name("tlsperf"), "--version"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "tools" / "src")},
        capture_output=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stdout.startswith("tlsperf 0.")
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1
