"""The scripts that count main branches and keep their nights, with stand-ins for what builds."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import git
from project import NIGHTS, write_nights
from take_night import take
from test_scripts import ROOT, SCRIPTS, Desk, checkout, repository, write
from tlsperf.contract.errors import UserError
from tlsperf.contract.libraries import NAMES

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
ls data/nightly/main-branch/*/run.toml > /dev/null || exit 0
mkdir -p content/versions/nights-main-branch-rustls
ls data/nightly/main-branch > content/versions/nights-main-branch-rustls/index.md
if [ -e data/nightly/main-branch/2026-11-02-rustls ]; then
  mkdir -p content/versions/nights-main-branch-rustls-abc
  echo "# Slower" > content/versions/nights-main-branch-rustls-abc/issue.txt
fi
"""
TAKES = "#!/bin/bash\nexec cp -R build/night/$2/. data/nightly/main-branch\n"
"""Stands for Python, which takes a second to check a night of the library `$2`."""
CHECKS = f'#!/bin/bash\nexec {sys.executable} "$@"\n'
TAKE_NIGHT = ("tools/automation/take_night.py", "tools/automation/built.py")


@pytest.fixture(scope="module")
def first_origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    ignored = (ROOT / ".gitignore").read_text()
    files = {"content/versions/_index.md": "a person's", ".gitignore": ignored}
    libraries = [f"bench/libraries/{name}/library.toml" for name in ("gnutls", "openssl", "rustls")]
    files |= {name: (ROOT / name).read_text() for name in (*libraries, *TAKE_NIGHT)}
    scripts = ("add-nights", "commit-nights", "store-nights")
    return repository(tmp_path_factory.mktemp("nights"), scripts, files)


@pytest.fixture
def origin(first_origin: Path, tmp_path: Path) -> Path:
    """A repository with the scripts, and without a branch counts."""
    return Path(shutil.copytree(first_origin, tmp_path / "origin.git"))


def finder(desk: Desk, origin: Path, today: str, *, detached: bool = False) -> Path:
    """A checkout of the job that adds nights, on a day."""
    found = checkout(origin, f"find-{today}", detached=detached)
    write(found, ".venv/bin/tlsperf", TLSPERF, 0o755)
    write(found, ".venv/bin/python", TAKES, 0o755)
    date = f'case "$*" in *yesterday*) {shutil.which("date")} -d "{today} yesterday" +%F;; *) echo {today};; esac'
    write(desk.folder, "bin/date", f"#!/bin/bash\n{date}\n", 0o755)
    return found


def commit(
    desk: Desk, origin: Path, night: str, file: str = "run.toml", *, detached: bool = False
) -> Path:
    """The checkout of the job that has added a night."""
    found = finder(desk, origin, night[:10], detached=detached)
    write(found, f"build/night/{night[11:]}/{night}/{file}", night)
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


def keep(
    desk: Desk, origin: Path, night: str, file: str = "run.toml", *, detached: bool = False
) -> Path:
    """Adds a night and pushes it; the checkout that found it."""
    found = commit(desk, origin, night, file, detached=detached)
    done = store(desk, origin, found)
    assert done.returncode == 0, done.stderr
    return found


@pytest.mark.parametrize("detached", [False, True])
def test_nights_are_collected_on_their_own_branch(desk: Desk, origin: Path, detached: bool) -> None:
    """Also if nothing was counted in the first; the text of an issue is handed over once."""
    issues = []
    for day, file in ((1, "absent.toml"), (2, "run.toml"), (3, "run.toml")):
        found = keep(desk, origin, f"2026-11-0{day}-rustls", file, detached=detached)
        issues.append([path.name for path in (found / "build/nights/issues").iterdir()])
    assert issues == [[], ["nights-main-branch-rustls-abc.md"], []]
    assert git(origin, "ls-tree", "-r", "--name-only", "counts").split() == [
        "content/versions/nights-main-branch-rustls-abc/issue.txt",
        "content/versions/nights-main-branch-rustls/index.md",
        "data/nightly/main-branch/2026-11-01-rustls/absent.toml",
        "data/nightly/main-branch/2026-11-02-rustls/run.toml",
        "data/nightly/main-branch/2026-11-03-rustls/run.toml",
    ]
    assert git(origin, "rev-list", "--count", "counts").strip() == "3"
    assert set(desk.calls) == {"gh auth setup-git"}


def test_an_invalid_night_is_left_out_with_a_warning_and_the_others_are_stored(
    desk: Desk, origin: Path, made: Path
) -> None:
    """With the real check: of three, one counted, one is missing, one holds a file of 1 TiB."""
    found = finder(desk, origin, "2026-11-01")
    write(found, ".venv/bin/python", CHECKS, 0o755)
    write(found, "bench/libraries/boringssl/library.toml", "[main]\n")
    shutil.copytree(made / "2026-11-01-rustls", found / "build/night/rustls/2026-11-01-rustls")
    other = write(found, "build/night/openssl/2026-11-01-openssl/absent.toml", "")
    os.truncate(other, 1 << 40)
    summary = desk.folder / "summary"
    done = desk.run(found / "scripts/commit-nights", env={"GITHUB_STEP_SUMMARY": str(summary)})
    assert done.returncode == 0, done.stderr
    left_out = re.findall(r"Left out: the night of (\w+)", summary.read_text())
    assert left_out == ["boringssl", "openssl"]
    assert store(desk, origin, found).returncode == 0
    nights = git(origin, "ls-tree", "--name-only", "counts", "data/nightly/main-branch/").split()
    assert nights == ["data/nightly/main-branch/2026-11-01-rustls"]


def test_a_night_that_is_there_already_is_no_error_and_pushes_nothing(
    desk: Desk, origin: Path
) -> None:
    found = keep(desk, origin, "2026-11-01-rustls")
    before = git(origin, "rev-parse", "counts")
    again = found.rename(found.with_name("again"))  # as if all jobs were run again
    done = desk.run(again / "scripts/commit-nights")
    assert done.returncode == 0, done.stderr
    done = store(desk, origin, again)
    assert (done.returncode, done.stderr) == (0, "")
    assert git(origin, "rev-parse", "counts") == before


@pytest.mark.parametrize("has_earlier", [False, True])
def test_without_a_valid_night_nothing_is_committed(
    desk: Desk, origin: Path, has_earlier: bool
) -> None:
    if has_earlier:
        keep(desk, origin, "2026-11-01-rustls")
    found = finder(desk, origin, "2026-11-02")
    (found / "build/night").mkdir(parents=True)
    done = desk.run(found / "scripts/commit-nights")
    assert done.returncode == 1
    assert "found no valid night" in done.stderr
    assert not (found / "build/nights/counts.bundle").exists()


def test_without_a_night_nothing_is_committed(desk: Desk, origin: Path) -> None:
    done = desk.run(checkout(origin, "empty") / "scripts/commit-nights")
    assert done.returncode == 1
    assert "found no build/night" in done.stderr


def test_the_site_takes_the_nights_and_nothing_else_of_the_branch(desk: Desk, origin: Path) -> None:
    site = checkout(origin, "without")
    assert "no branch counts yet" in desk.run(site / "scripts/add-nights").stdout
    keep(desk, origin, "2026-11-01-rustls")
    site = checkout(origin, "site")
    assert desk.run(site / "scripts/add-nights").returncode == 0
    assert (site / "content/versions/_index.md").read_text() == "a person's"
    assert (site / "data/nightly/main-branch/2026-11-01-rustls/run.toml").exists()


@pytest.mark.parametrize("script", ["add-nights", "commit-nights"])
def test_a_branch_that_cannot_be_read_is_no_missing_branch(
    desk: Desk, origin: Path, script: str
) -> None:
    """The site would be published without its nights, or they would begin anew."""
    keep(desk, origin, "2026-11-01-rustls")
    fresh = checkout(origin, "fresh")
    (fresh / "build/night").mkdir(parents=True)
    git(fresh, "remote", "set-url", "origin", "file:///nowhere")
    done = desk.run(fresh / "scripts" / script)
    assert done.returncode == 1
    assert "no branch counts yet" not in done.stdout


# --- take_night ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten nights of rustls, as their job writes them."""
    root = tmp_path_factory.mktemp("made")
    write_nights(root)
    return root / "data" / "nightly" / NIGHTS


DAYS = ("2026-11-02", "2026-11-01")
NIGHT = "2026-11-02-rustls"


@pytest.fixture
def root(tmp_path: Path, made: Path) -> Path:
    """The night of 2 November in the folder of rustls, beside that of the day before."""
    stored = tmp_path / "data" / "nightly" / NIGHTS
    shutil.copytree(made / "2026-11-01-rustls", stored / "2026-11-01-rustls")
    shutil.copytree(made / NIGHT, tmp_path / "build" / "night" / "rustls" / NIGHT)
    return tmp_path


def stored(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "data" / "nightly" / NIGHTS).iterdir())


def test_a_night_of_today_or_yesterday_is_taken_and_never_again(root: Path) -> None:
    take(root, "rustls", DAYS)
    assert stored(root) == ["2026-11-01-rustls", NIGHT]
    counted = root / "data" / "nightly" / NIGHTS / NIGHT / "run.toml"
    counted.write_text("kept")
    assert "not replaced" in take(root, "rustls", ("2026-11-03", "2026-11-02"))
    assert counted.read_text() == "kept"


def changed(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def foreign(night: Path) -> None:
    """Counts of rustls as the night of OpenSSL."""
    changed(night / "run.toml", NIGHT, "2026-11-02-openssl")
    night.rename(night.with_name("2026-11-02-openssl"))
    night.parent.rename(night.parent.with_name("openssl"))


def absent(night: Path, library: str = "rustls") -> None:
    shutil.rmtree(night)
    write(night, "absent.toml", f'library = "{library}"\nreason = "x"\n')


def emptied(night: Path) -> None:
    shutil.rmtree(night)
    night.mkdir()


def absent_and_more(night: Path) -> None:
    absent(night)
    write(night, "raw/x.html", "<script>")


def link_as_night(night: Path) -> None:
    night.rename(night.parent.parent / "x")
    night.symlink_to("../x")


def linked(night: Path) -> None:
    raw = night / "raw" / "records.jsonl"
    raw.rename(night.parent.parent / "elsewhere")
    raw.symlink_to(night.parent.parent / "elsewhere")


HOSTILE: dict[str, Callable[[Path], object]] = {
    "another library": lambda it: it.rename(it.with_name("2026-11-02-openssl")),
    "another library's counts": foreign,
    "another library's absence": lambda it: absent(it, "openssl"),
    "a later day": lambda it: it.rename(it.with_name("2026-11-03-rustls")),
    "a later day within": lambda it: changed(
        it / "run.toml", "date = 2026-11-02", "date = 2026-11-09"
    ),
    "a second night": lambda it: shutil.copytree(it, it.with_name("2026-11-01-openssl")),
    "a path": lambda it: it.rename(it.with_name("..rustls")),
    "no night": lambda it: shutil.rmtree(it),
    "nothing in it": emptied,
    "counted and absent": lambda it: write(it, "absent.toml", 'library = "rustls"\nreason = "x"\n'),
    "absent, and more": absent_and_more,
    "a link": linked,
    "a link as the night": link_as_night,
    "a pipe": lambda it: os.mkfifo(it / "raw" / "pipe.txt"),
    "a page": lambda it: write(it, "raw/x\n::error::.html", "<script>"),
    "a large file": lambda it: os.truncate(it / "raw" / "records.jsonl", 1 << 40),
    "many files": lambda it: [write(it, f"raw/{n}.txt", "") for n in range(101)],
    "not TOML": lambda it: (it / "run.toml").write_bytes(b"\xff\x00"),
    "another figure": lambda it: changed(it / "raw/records.jsonl", "900000", "900001"),
    "not counted": lambda it: changed(it / "run.toml", "[counter]", "[counters]"),
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_night_that_is_not_one_of_its_library_today_is_left_out(root: Path, hostile: str) -> None:
    HOSTILE[hostile](root / "build" / "night" / "rustls" / NIGHT)
    (folder,) = [path for path in (root / "build/night").iterdir() if path.name in NAMES]
    with pytest.raises(UserError):
        take(root, folder.name, DAYS)
    assert stored(root) == ["2026-11-01-rustls"]


@pytest.fixture(scope="module")
def second_night(first_origin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout of the job that has added a second night, beside its origin."""
    folder = tmp_path_factory.mktemp("second")
    desk, origin = Desk(folder), Path(shutil.copytree(first_origin, folder / "origin.git"))
    keep(desk, origin, "2026-11-01-rustls")
    return commit(desk, origin, "2026-11-02-rustls")


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        "scripts/store-nights",
        "content/versions/_index.md",
        "data/nightly/main-branch/2026-11-01-rustls/run.toml",
        "content/versions/nights-main-branch-rustls/link",
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
    late = commit(desk, origin, "2026-11-01-rustls")
    keep(desk, origin, "2026-11-02-rustls")
    done = store(desk, origin, late)
    assert done.returncode == 1
    assert "refused: found a commit on" in done.stderr
