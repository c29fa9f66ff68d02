"""The scripts that count main branches and keep their nights, with stand-ins for what builds."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from commands import git
from test_scripts import ROOT, SCRIPTS, Desk, checkout, repository, write

PUSHES = ("git", "cat", "dirname", "bash", "env")
"""All that the job which may push can find, besides gh."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- count-main ----------------------------------------------------------------------------------


TLSBENCH = """if [ "$1" = run ]; then
  if [ -e build/mains/rustls/broken ]; then echo "error: no method named x" >&2; exit 1; fi
  mkdir -p "${@: -1}"; echo counted > "${@: -1}/run.toml"
fi"""


@pytest.fixture
def counting(desk: Desk, tmp_path: Path) -> Path:
    """A checkout whose tlsbench records its arguments, and two trees as main branches."""
    checkout = tmp_path / "checkout"
    write(checkout, "scripts/count-main", (SCRIPTS / "count-main").read_text(), 0o755)
    for library in ("rustls", "openssl", "gnutls"):
        name = f"bench/libraries/{library}/library.toml"
        write(checkout, name, (ROOT / name).read_text())
    desk.program("tlsbench", TLSBENCH, path="checkout/bench/target/release/tlsbench")
    for library in ("rustls", "openssl"):
        tree = tmp_path / "mains" / library
        write(tree, "Configure", '#!/bin/sh\nmkdir -p prefix; echo "$*" > prefix/options\n', 0o755)
        write(tree, "Makefile", "all install_sw:\n\t@echo made >> prefix/options\n")
        git(tree, "init", "--quiet")
    return checkout


def count(desk: Desk, checkout: Path, library: str) -> subprocess.CompletedProcess[str]:
    return desk.run(
        checkout / "scripts/count-main", library, env={"MAINS": str(desk.folder / "mains")}
    )


def nights(checkout: Path) -> list[Path]:
    return sorted((checkout / "build/night").iterdir())


def test_a_main_branch_is_locked_then_counted(desk: Desk, counting: Path) -> None:
    assert count(desk, counting, "rustls").returncode == 0
    [night] = nights(counting)
    assert (night / "run.toml").read_text() == "counted\n"
    assert night.name.endswith("-rustls")
    assert desk.calls == [
        "tlsbench lock --suite nightly --library rustls",
        f"tlsbench run --suite nightly --library rustls --counter callgrind "
        f"--out build/night/{night.name}",
    ]


def test_openssl_is_installed_into_a_prefix_that_git_ignores(desk: Desk, counting: Path) -> None:
    assert count(desk, counting, "openssl").returncode == 0
    tree = counting / "build/mains/openssl"
    configured, *made = (tree / "prefix/options").read_text().splitlines()
    assert f"--prefix={tree}/prefix" in configured.split()
    assert made == ["made", "made"]
    assert "prefix" not in git(tree, "status", "--short")


@pytest.mark.parametrize("fetched", [True, False])
def test_a_branch_that_cannot_be_counted_is_absent_with_its_reason(
    desk: Desk, counting: Path, fetched: bool
) -> None:
    if fetched:
        write(desk.folder / "mains/rustls", "broken", "")
        assert count(desk, counting, "rustls").returncode == 0
        reason = "error: no method named x"
    else:
        reason = "fatal: could not resolve host"
        desk.program("git", f'echo "{reason}" >&2; exit 128')
        assert desk.run(counting / "scripts/count-main", "rustls").returncode == 0
        tree = "https://github.com/rustls/rustls build/mains"
        assert f"--depth 1 --branch main -- {tree}" in desk.calls[0]
    [night] = nights(counting)
    assert [path.name for path in night.iterdir()] == ["absent.toml"]
    absent = tomllib.loads((night / "absent.toml").read_text())
    assert absent == {"library": "rustls", "reason": reason}


@pytest.mark.parametrize(
    ("library", "expected"), [("nothing", "a folder of bench/libraries"), ("gnutls", "no [main]")]
)
def test_a_library_without_a_main_branch_is_rejected(
    desk: Desk, counting: Path, library: str, expected: str
) -> None:
    done = count(desk, counting, library)
    assert done.returncode == 1
    assert expected in done.stderr


# --- add-nights, commit-nights, store-nights -----------------------------------------------------

TLSPERF = """#!/bin/bash
[ "$1" = build ] || exit 0
ls data/nightly/main-branch/*/run.toml > /dev/null || exit 0
mkdir -p content/nightly/main-branch-rustls
ls data/nightly/main-branch > content/nightly/main-branch-rustls/index.md
if [ -e data/nightly/main-branch/2026-11-25-rustls ]; then
  mkdir -p content/nightly/main-branch-rustls-abc
  echo "# Slower" > content/nightly/main-branch-rustls-abc/issue.txt
fi
"""


@pytest.fixture(scope="module")
def first_origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ignored = (ROOT / ".gitignore").read_text()
    files = {"content/nightly/_index.md": "a person's", ".gitignore": ignored}
    scripts = ("add-nights", "commit-nights", "store-nights")
    return repository(tmp_path_factory.mktemp("nights"), scripts, files)


@pytest.fixture
def origin(first_origin: Path, tmp_path: Path) -> Path:
    """A repository with the scripts, and without a branch counts."""
    return Path(shutil.copytree(first_origin, tmp_path / "origin.git"))


def commit(desk: Desk, origin: Path, night: str, file: str = "run.toml") -> Path:
    """The checkout of the job that has added a night."""
    found = checkout(origin, f"find-{night}")
    write(found, ".venv/bin/tlsperf", TLSPERF, 0o755)
    write(found, f"build/night/{night}/{file}", night)
    done = desk.run(found / "scripts/commit-nights")
    assert done.returncode == 0, done.stderr
    return found


def store(desk: Desk, origin: Path, found: Path) -> subprocess.CompletedProcess[str]:
    """Pushes from a checkout of its own, in which nothing else can be found."""
    fresh = checkout(origin, f"store-{found.name}")
    shutil.copytree(found / "build/nights", fresh / "build/nights")
    desk.program("gh")
    desk.lend(*PUSHES)
    return desk.run(fresh / "scripts/store-nights", env={"PATH": str(desk.folder / "bin")})


def keep(desk: Desk, origin: Path, night: str, file: str = "run.toml") -> Path:
    """Adds a night and pushes it; the checkout that found it."""
    found = commit(desk, origin, night, file)
    done = store(desk, origin, found)
    assert done.returncode == 0, done.stderr
    return found


def test_nights_are_collected_on_their_own_branch(desk: Desk, origin: Path) -> None:
    """Also if nothing was counted in the first; the text of an issue is handed over once."""
    issues = []
    for day, file in ((24, "absent.toml"), (25, "run.toml"), (26, "run.toml")):
        found = keep(desk, origin, f"2026-11-{day}-rustls", file)
        issues.append([path.name for path in (found / "build/nights/issues").iterdir()])
    assert issues == [[], ["main-branch-rustls-abc.md"], []]
    assert git(origin, "ls-tree", "-r", "--name-only", "counts").split() == [
        "content/nightly/main-branch-rustls-abc/issue.txt",
        "content/nightly/main-branch-rustls/index.md",
        "data/nightly/main-branch/2026-11-24-rustls/absent.toml",
        "data/nightly/main-branch/2026-11-25-rustls/run.toml",
        "data/nightly/main-branch/2026-11-26-rustls/run.toml",
    ]
    assert git(origin, "rev-list", "--count", "counts").strip() == "3"
    assert set(desk.calls) == {"gh auth setup-git"}


def test_without_a_night_nothing_is_committed(desk: Desk, origin: Path) -> None:
    done = desk.run(checkout(origin, "empty") / "scripts/commit-nights")
    assert done.returncode == 1
    assert "found no build/night" in done.stderr


def test_the_site_takes_the_nights_and_nothing_else_of_the_branch(desk: Desk, origin: Path) -> None:
    site = checkout(origin, "without")
    assert "no branch counts yet" in desk.run(site / "scripts/add-nights").stdout
    keep(desk, origin, "2026-11-24-rustls")
    site = checkout(origin, "site")
    assert desk.run(site / "scripts/add-nights").returncode == 0
    assert (site / "content/nightly/_index.md").read_text() == "a person's"
    assert (site / "data/nightly/main-branch/2026-11-24-rustls/run.toml").exists()


@pytest.fixture(scope="module")
def second_night(first_origin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout of the job that has added a second night, beside its origin."""
    folder = tmp_path_factory.mktemp("second")
    desk, origin = Desk(folder), Path(shutil.copytree(first_origin, folder / "origin.git"))
    keep(desk, origin, "2026-11-24-rustls")
    return commit(desk, origin, "2026-11-25-rustls")


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        "scripts/store-nights",
        "content/nightly/_index.md",
        "data/nightly/main-branch/2026-11-24-rustls/run.toml",
        "content/nightly/main-branch-rustls/link",
    ],
)
def test_a_commit_that_changes_more_than_new_nights_is_not_pushed(
    desk: Desk, second_night: Path, path: str
) -> None:
    origin = Path(shutil.copytree(second_night.parent / "origin.git", desk.folder / "origin.git"))
    found = Path(shutil.copytree(second_night, desk.folder / "found"))
    before = git(origin, "rev-parse", "counts")
    git(found, "switch", "--quiet", "--force", "counts")
    (found / path).parent.mkdir(parents=True, exist_ok=True)
    if path.endswith("link"):
        (found / path).symlink_to("/etc/passwd")
    else:
        (found / path).write_text("changed")
    git(found, "add", "--force", path)
    git(found, "commit", "--quiet", "--amend", "--no-edit")
    bundle = ("build/nights/counts.bundle", "counts", f"^{before.strip()}")
    git(found, "bundle", "create", "--quiet", *bundle)
    done = store(desk, origin, found)
    assert done.returncode == 1
    assert "store-nights: refused: found " in done.stderr
    assert path in done.stderr
    assert git(origin, "rev-parse", "counts") == before


def test_a_commit_on_another_state_of_the_branch_is_not_pushed(desk: Desk, origin: Path) -> None:
    late = commit(desk, origin, "2026-11-24-rustls")
    keep(desk, origin, "2026-11-25-rustls")
    done = store(desk, origin, late)
    assert done.returncode == 1
    assert "refused: found a commit on" in done.stderr
