"""The scripts of workflows and of a bench host, with stand-ins for programs that change things."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"


class Desk:
    """A folder of stand-ins that record their arguments and come first in PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()

    def program(self, name: str, text: str = "") -> None:
        path = self.folder / "bin" / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> "{self.folder}/calls"\n{text}\n')
        path.chmod(0o755)

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def run(
        self, script: Path, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            **(env or {}),
        }
        return subprocess.run(
            [str(script), *arguments], env=environment, capture_output=True, text=True
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- doctor --------------------------------------------------------------------------------------


def bare(desk: Desk, user: int, *more: str) -> dict[str, str]:
    """An environment for a user without the programs that the doctor looks for."""
    for name in ("bash", "sort", "head", "grep", "dirname", *more):
        path = desk.folder / "bin" / name
        if not path.exists():
            path.symlink_to(str(shutil.which(name)))
    desk.program("id", f"echo {user}")
    return {"PATH": str(desk.folder / "bin")}


def test_the_doctor_states_how_to_install_gnutls(desk: Desk) -> None:
    env = bare(desk, 0, "env")
    (desk.folder / "bin" / "python3").symlink_to(sys.executable)
    for answer in ("exit 1", 'echo "3.7.3"'):
        desk.program("pkg-config", answer)
        done = desk.run(SCRIPTS / "doctor", "--quiet", "more-libraries", env=env)
        assert done.returncode == 1
        assert "3.7.4 or later" in done.stderr
        assert "apt-get install libgnutls28-dev" in done.stderr
    desk.program("pkg-config", 'echo "3.10.0"')
    done = desk.run(SCRIPTS / "doctor", "more-libraries", env=env)
    assert "GnuTLS     3.10.0" in done.stdout
    assert "libgnutls28-dev" not in done.stderr


def test_the_doctor_lists_as_root_what_make_installs(desk: Desk) -> None:
    done = desk.run(SCRIPTS / "doctor", "test", env=bare(desk, 0))
    listed = [line.split()[-1] for line in done.stdout.splitlines() if "make test installs" in line]
    assert listed == ["valgrind", "strace", "clang", "chromium"]
    assert "missing: valgrind" not in done.stderr
    done = desk.run(SCRIPTS / "doctor", "test", env=bare(desk, 1000))
    for name in listed:
        assert f"missing: {name}" in done.stderr


def test_the_doctor_has_every_target_that_runs_it(desk: Desk) -> None:
    makefile = (ROOT / "Makefile").read_text()
    asked = set(re.findall(r"doctor-([a-z-]+)", makefile))
    listed = re.search(r"^\t@scripts/doctor (.*)$", makefile, re.MULTILINE)
    assert listed is not None
    assert set(listed[1].split()) == asked
    for task in asked:
        assert desk.run(SCRIPTS / "doctor", task, env=bare(desk, 0)).returncode == 1


# --- libraries, one or all ------------------------------------------------------------------------


def make_libraries(desk: Desk, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs `make more-libraries` with a stand-in for cargo, without its prerequisites."""
    desk.program("cargo", 'basename "$PWD"')
    before = ("-o", "doctor-more-libraries", "-o", ".venv/.build")
    make = Path(str(shutil.which("make")))
    return desk.run(make, "-C", str(ROOT), "--silent", *before, "more-libraries", *arguments)


def test_make_builds_all_libraries_with_workspaces_of_their_own_or_the_one_that_is_named(
    desk: Desk,
) -> None:
    build = "cargo build --release --locked --target-dir ../../target"
    own = desk.run(SCRIPTS / "libraries", "id", "own").stdout.split()
    assert len(own) > 2
    for arguments, libraries in (((), own), (("LIBRARY=wolfssl",), ["wolfssl"])):
        done = make_libraries(desk, *arguments)
        assert done.returncode == 0, done.stderr
        lines = [line for name in libraries for line in (f"{name}: {build}", name)]
        assert done.stdout.splitlines() == lines


def test_make_lists_the_existing_libraries(desk: Desk) -> None:
    done = make_libraries(desk, "LIBRARY=wolfsll")
    assert done.returncode != 0
    assert "found no bench/libraries/wolfsll/library.toml, expected one of rustls " in done.stderr
    assert desk.calls == []


# --- pin-versions --------------------------------------------------------------------------------


def test_versions_are_pinned_one_by_one(desk: Desk) -> None:
    desk.program("cargo")
    env = {"VERSIONS": "rustls@0.23.40  openssl-src@300.6.0+3.6.3"}
    assert desk.run(SCRIPTS / "pin-versions", env=env).returncode == 0
    update = "cargo update --manifest-path bench/Cargo.toml --precise"
    assert desk.calls == [f"{update} 0.23.40 rustls", f"{update} 300.6.0+3.6.3 openssl-src"]


def test_without_versions_the_lock_is_unchanged(desk: Desk) -> None:
    desk.program("cargo")
    assert desk.run(SCRIPTS / "pin-versions", env={"VERSIONS": ""}).returncode == 0
    assert desk.calls == []


@pytest.mark.parametrize(
    "word", ["$(touch${IFS}x)@1", "rustls@1;reboot", "--config=x@1", "rustls", "rustls@--x", "*@1"]
)
def test_an_invalid_version_is_rejected_before_anything_is_pinned(desk: Desk, word: str) -> None:
    desk.program("cargo")
    result = desk.run(SCRIPTS / "pin-versions", env={"VERSIONS": f"rustls@0.23.40 {word}"})
    assert result.returncode == 1
    assert f"found {word}, expected CRATE@VERSION" in result.stderr
    assert desk.calls == []


# --- open-issue ----------------------------------------------------------------------------------


@pytest.fixture
def proposal(tmp_path: Path) -> Path:
    path = tmp_path / "proposal.md"
    path.write_text("# New releases: rustls 1\n\nthe body\n")
    return path


def test_a_proposal_becomes_an_issue(desk: Desk, proposal: Path) -> None:
    desk.program(
        "gh", f'[ "$2" = list ] && echo "New releases: rustls 10" || cat > {desk.folder}/in'
    )
    assert desk.run(SCRIPTS / "open-issue", str(proposal)).returncode == 0
    assert desk.calls[1:] == ["gh issue create --title New releases: rustls 1 --body-file -"]
    assert (desk.folder / "in").read_text() == "\nthe body\n"


def test_a_proposal_is_made_once(desk: Desk, proposal: Path) -> None:
    desk.program("gh", 'echo "New releases: rustls 1"')
    result = desk.run(SCRIPTS / "open-issue", str(proposal))
    assert result.returncode == 0
    assert result.stdout == "exists already: New releases: rustls 1\n"
    assert len(desk.calls) == 1


def test_an_empty_proposal_makes_no_call_to_github(desk: Desk, proposal: Path) -> None:
    desk.program("gh")
    proposal.write_text("")
    assert desk.run(SCRIPTS / "open-issue", str(proposal)).stdout == "nothing is new\n"
    assert desk.calls == []


# --- fetch-source ---------------------------------------------------------------------------------

FORK = "rustls=https://example.org/owner/rustls"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def fetch(tmp_path: Path) -> Path:
    """The script in a folder of its own, because it fetches beside itself."""
    (tmp_path / "scripts").mkdir()
    return Path(shutil.copy(SCRIPTS / "fetch-source", tmp_path / "scripts"))


def test_a_fork_that_an_administrator_lists_is_fetched_at_its_commit(
    desk: Desk, fetch: Path
) -> None:
    desk.program("git")
    env = {"SOURCE": FORK, "REVISION": COMMIT, "SOURCES": f"openssl=https://example.org/o {FORK}"}
    assert desk.run(fetch, env=env).returncode == 0
    assert desk.calls == [
        "git init --quiet build/source",
        "git -C build/source fetch --quiet --depth 1 -- https://example.org/owner/rustls " + COMMIT,
        "git -C build/source -c advice.detachedHead=false checkout --quiet FETCH_HEAD",
    ]


def test_without_a_fork_nothing_is_fetched(desk: Desk, fetch: Path) -> None:
    desk.program("git")
    assert desk.run(fetch, env={"SOURCE": "", "REVISION": "", "SOURCES": ""}).returncode == 0
    assert desk.calls == []


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"SOURCES": ""}, "BENCH_SOURCES: it is empty"),
        ({"SOURCES": FORK + "-other"}, "expected one of the repository's variable"),
        ({"REVISION": "main"}, "found revision main, expected all 40 digits"),
        ({"REVISION": ""}, "found revision none, expected all 40 digits"),
        ({"SOURCE": "rustls=/etc"}, "expected LIBRARY=ADDRESS"),
        ({"SOURCE": "rustls=https://x --upload-pack=y"}, "expected LIBRARY=ADDRESS"),
    ],
)
def test_any_other_fork_is_rejected_before_anything_is_fetched(
    desk: Desk, fetch: Path, change: dict[str, str], expected: str
) -> None:
    desk.program("git")
    env = {"SOURCE": FORK, "REVISION": COMMIT, "SOURCES": FORK, **change}
    result = desk.run(fetch, env=env)
    assert result.returncode == 1
    assert expected in result.stderr
    assert desk.calls == []


# --- job-gate ------------------------------------------------------------------------------------

LET_IN = {
    "GITHUB_REPOSITORY": "owner/name",
    "GITHUB_EVENT_NAME": "workflow_dispatch",
    "GITHUB_WORKFLOW_REF": "owner/name/.github/workflows/bench.yml@refs/heads/main",
}


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    (tmp_path / "repository").write_text("owner/name\n")
    return Path(shutil.copy(SCRIPTS / "job-gate.sh", tmp_path))


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule"])
def test_the_gate_lets_in_bench_of_main(desk: Desk, gate: Path, event: str) -> None:
    assert desk.run(gate, env={**LET_IN, "GITHUB_EVENT_NAME": event}).returncode == 0


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_EVENT_NAME", "pull_request_target"),
        ("GITHUB_EVENT_NAME", "push"),
        ("GITHUB_REPOSITORY", "stranger/name"),
        ("GITHUB_WORKFLOW_REF", "owner/name/.github/workflows/bench.yml@refs/pull/7/merge"),
        ("GITHUB_WORKFLOW_REF", "owner/name/.github/workflows/bench.yml@refs/heads/topic"),
        ("GITHUB_WORKFLOW_REF", "owner/name/.github/workflows/ci.yml@refs/heads/main"),
        ("GITHUB_WORKFLOW_REF", "stranger/name/.github/workflows/bench.yml@refs/heads/main"),
    ],
)
def test_the_gate_rejects_everything_else(
    desk: Desk, gate: Path, variable: str, value: str
) -> None:
    result = desk.run(gate, env={**LET_IN, variable: value})
    assert result.returncode == 1
    assert f"refused: {variable} is '{value}'" in result.stderr


@pytest.mark.parametrize("variable", LET_IN)
def test_the_gate_rejects_jobs_that_do_not_identify_themselves(
    desk: Desk, gate: Path, variable: str
) -> None:
    without = {name: value for name, value in LET_IN.items() if name != variable}
    result = subprocess.run([str(gate)], env={"PATH": os.environ["PATH"], **without})
    assert result.returncode != 0


def test_the_gate_rejects_all_without_its_repository(desk: Desk, gate: Path) -> None:
    (gate.parent / "repository").unlink()
    assert desk.run(gate, env=LET_IN).returncode != 0


# --- bench-host ----------------------------------------------------------------------------------


@pytest.fixture
def host(desk: Desk, tmp_path: Path) -> Path:
    """A checkout with the script and a built program, on an otherwise empty machine."""
    checkout = tmp_path / "checkout"
    (checkout / "scripts").mkdir(parents=True)
    for name in ("bench-host", "job-gate.sh", "clean-host"):
        shutil.copy(SCRIPTS / name, checkout / "scripts")
    shutil.copy(SCRIPTS / "libraries", checkout / "scripts")
    for path in (ROOT / "bench" / "libraries").glob("*/library.toml"):
        (checkout / path.relative_to(ROOT)).parent.mkdir(parents=True)
        shutil.copy(path, checkout / path.relative_to(ROOT))
    release = checkout / "bench" / "target" / "release"
    release.mkdir(parents=True)
    program = release / "tlsbench"
    program.write_text('#!/bin/sh\necho "checked: $*"\n')
    program.chmod(0o755)
    state = tmp_path / "state"
    state.mkdir()
    desk.program("id", "[ $1 = --user ] && [ $# = 1 ] && echo 0")
    desk.program("dpkg-query", f'[ -e {state}/apt ] && echo "install ok installed"')
    desk.program("apt-get", f"touch {state}/apt")
    desk.program("getent", f"[ -e {state}/bench ]")
    desk.program("useradd", f"touch {state}/bench")
    desk.program("uname", "echo x86_64")
    toolchain = "$RUSTUP_HOME/toolchains/1.95.0-x86_64-unknown-linux-gnu"
    desk.program(
        "curl",
        f"while [ $1 != --output ]; do shift; done; echo 'mkdir -p {toolchain}' > $2",
    )
    desk.program("sha256sum", f"cat >> {state}/sums")
    desk.program("runuser")
    desk.program("stat", "echo admin")
    desk.program("visudo", "test -s ${3#--file=}")
    desk.program("systemctl")
    # Only root can change ownership.
    install = '"$@"'.replace("$@", "${kept[@]}")
    desk.program(
        "install",
        'for a; do case $a in --owner=*|--group=*);; *) kept+=("$a");; esac; done\n'
        f"PATH=${{PATH#*:}} command install {install}",
    )
    return checkout


def set_up(desk: Desk, host: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (desk.folder / "calls").unlink(missing_ok=True)
    root = str(desk.folder / "root")
    return desk.run(host / "scripts" / "bench-host", *arguments, env={"DESTDIR": root})


def test_a_bench_host_is_set_up_and_a_second_time_changes_nothing(desk: Desk, host: Path) -> None:
    first = set_up(desk, host, "owner/name")
    assert first.returncode == 0, first.stderr
    changes = [line for line in first.stdout.splitlines() if line.startswith("changed: ")]
    assert len(changes) == 10
    assert "checked: host check" in first.stdout
    root = desk.folder / "root"
    assert (root / "usr/local/sbin/tlsbench").stat().st_mode & 0o777 == 0o755
    assert (root / "etc/sudoers.d/tlsbench").stat().st_mode & 0o777 == 0o440
    assert (root / "etc/sudoers.d/tlsbench").read_text() == (
        "bench ALL=(root) NOPASSWD: "
        "/usr/local/sbin/tlsbench host tune, /usr/local/sbin/tlsbench host reset\n"
    )
    assert (root / "usr/local/lib/tlsperf/repository").read_text() == "owner/name\n"
    for name in ("job-gate.sh", "clean-host"):
        installed = root / "usr/local/lib/tlsperf" / name
        assert installed.read_bytes() == (SCRIPTS / name).read_bytes()
        assert installed.stat().st_mode & 0o777 == 0o755
    assert (root / "opt/actions-runner").stat().st_mode & 0o777 == 0o700
    sums = (desk.folder / "state" / "sums").read_text()
    assert sums.startswith("20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c  ")

    again = set_up(desk, host, "owner/name")
    assert again.returncode == 0, again.stderr
    assert "changed: " not in again.stdout
    assert not {line.split()[0] for line in desk.calls} & {"apt-get", "useradd", "curl", "install"}


def test_a_bench_host_has_what_the_libraries_need_of_the_system(desk: Desk, host: Path) -> None:
    library = host / "bench" / "libraries" / "newtls" / "library.toml"
    library.parent.mkdir()
    text = (ROOT / "bench/libraries/gnutls/library.toml").read_text()
    library.write_text(text.replace("libgnutls28-dev", "libnewtls-dev"))
    assert set_up(desk, host, "owner/name").returncode == 0
    looked_up = {line.split()[-1] for line in desk.calls if line.startswith("dpkg-query ")}
    assert {"build-essential", "cmake", "perl", "libgnutls28-dev", "libnewtls-dev"} <= looked_up


def unit_of(desk: Desk, host: Path) -> dict[str, list[str]]:
    """The lines of the runner's unit by key, after a successful set-up."""
    assert set_up(desk, host, "owner/name").returncode == 0
    path = desk.folder / "root" / "etc/systemd/system/bench-runner.service"
    lines = [line.split("=", 1) for line in path.read_text().splitlines() if "=" in line]
    return {key: [v for k, v in lines if k == key] for key, _ in lines}


def test_the_runner_accepts_the_path_of_its_hook(desk: Desk, host: Path) -> None:
    """actions/runner selects a shell by the suffix of the hook's path, and fails the job if it is
    not .sh, .ps1 or .js (src/Runner.Common/HostContext.cs, GetDefaultShellForScript).
    """
    variables = dict(v.split("=", 1) for v in unit_of(desk, host)["Environment"])
    hook = Path(variables["ACTIONS_RUNNER_HOOK_JOB_STARTED"])
    assert hook.is_absolute()
    assert hook.suffix == ".sh"
    installed = desk.folder / "root" / hook.relative_to("/")
    assert installed.read_bytes() == (SCRIPTS / "job-gate.sh").read_bytes()
    # As the runner calls it.
    called = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(installed)]
    for event, code in (("workflow_dispatch", 0), ("pull_request", 1)):
        env = {**os.environ, **LET_IN, "GITHUB_EVENT_NAME": event}
        assert subprocess.run(called, env=env).returncode == code


def test_no_file_or_process_of_a_job_survives_it(desk: Desk, host: Path) -> None:
    unit = unit_of(desk, host)
    assert unit["User"] == ["bench"]
    # Each start runs one job from a copy of the runner; all its processes are killed at its end.
    assert unit["ExecStartPre"] == ["+/usr/local/lib/tlsperf/clean-host"]
    assert unit["ExecStart"] == ["/var/lib/bench/runner/run.sh --once"]
    assert unit["Restart"] == ["always"]
    assert unit["KillMode"] == ["mixed"]
    # A job can write only to its home, which is emptied, and to files that end with the unit.
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["PrivateTmp"] == unit["RemoveIPC"] == unit["ProtectHome"] == ["yes"]
    assert unit["ReadWritePaths"] == ["/var/lib/bench /run"]
    assert unit["InaccessiblePaths"] == ["-/run/dbus -/run/lock -/run/user"]


def test_a_new_program_or_repository_is_all_that_changes(desk: Desk, host: Path) -> None:
    set_up(desk, host, "owner/name")
    with (host / "bench/target/release/tlsbench").open("a") as program:
        program.write("# newer\n")
    result = set_up(desk, host, "owner/other")
    changes = [line for line in result.stdout.splitlines() if line.startswith("changed: ")]
    assert changes == [
        "changed: /usr/local/sbin/tlsbench",
        "changed: /usr/local/lib/tlsperf/repository",
    ]


@pytest.mark.parametrize("repository", [(), ("name",), ("owner/name;reboot",), ("a/b/c",)])
def test_without_a_repository_nothing_is_done(
    desk: Desk, host: Path, repository: tuple[str, ...]
) -> None:
    result = set_up(desk, host, *repository)
    assert result.returncode == 1
    assert "usage: sudo scripts/bench-host OWNER/REPOSITORY" in result.stderr
    assert desk.calls == []


def test_only_root_may_set_up_a_bench_host(desk: Desk, host: Path) -> None:
    desk.program("id", '[ "$*" = "--user --name" ] && echo somebody || echo 1000')
    result = set_up(desk, host, "owner/name")
    assert "found user somebody, expected root" in result.stderr
    assert not (desk.folder / "root").exists()


def test_a_checkout_of_the_runners_own_is_rejected(desk: Desk, host: Path) -> None:
    desk.program("stat", "echo bench")
    result = set_up(desk, host, "owner/name")
    assert result.returncode == 1
    assert "this checkout belongs to bench" in result.stderr
    assert not (desk.folder / "root/usr/local/sbin/tlsbench").exists()


def test_another_rustup_than_the_pinned_one_is_not_run(desk: Desk, host: Path) -> None:
    desk.program("sha256sum", "exit 1")
    assert set_up(desk, host, "owner/name").returncode != 0
    assert not (desk.folder / "root/opt/rust/toolchains").exists()


# --- clean-host ----------------------------------------------------------------------------------


@pytest.fixture
def used_host(desk: Desk, tmp_path: Path) -> Path:
    """A bench host's files after a job that left some of its own."""
    root = tmp_path / "root"
    (root / "opt/actions-runner/bin").mkdir(parents=True)
    (root / "opt/actions-runner/run.sh").write_text("#!/bin/bash\n")
    (root / "opt/actions-runner/run.sh").chmod(0o755)
    (root / "opt/actions-runner/.runner").write_text("{}")
    home = root / "var/lib/bench"
    (home / ".cargo").mkdir(parents=True)
    (home / ".cargo/config.toml").write_text("[build]\nrustc-wrapper = '/tmp/bad'\n")
    (home / "runner").mkdir()
    (home / "runner/run.sh").write_text("bad")
    (home / "link").symlink_to(root / "opt")
    (root / "usr/local/sbin").mkdir(parents=True)
    program = root / "usr/local/sbin/tlsbench"
    program.write_text(f'#!/bin/sh\necho "tlsbench $*" >> "{tmp_path}/calls"\n')
    program.chmod(0o755)
    desk.program("pkill", "exit 1")  # no process to kill
    desk.program("chown")
    return root


def clean(desk: Desk, root: Path) -> subprocess.CompletedProcess[str]:
    return desk.run(SCRIPTS / "clean-host", env={"DESTDIR": str(root)})


def test_a_job_finds_the_runner_as_it_was_set_up_and_nothing_else(
    desk: Desk, used_host: Path
) -> None:
    done = clean(desk, used_host)
    assert done.returncode == 0, done.stderr
    home = used_host / "var/lib/bench"
    assert [path.name for path in home.iterdir()] == ["runner"]
    assert (home / "runner/run.sh").read_text() == "#!/bin/bash\n"
    assert (home / "runner/run.sh").stat().st_mode & 0o111
    assert (used_host / "opt/actions-runner/.runner").exists()  # a link is removed, not followed
    assert desk.calls == [
        "pkill --signal KILL --uid bench",
        "tlsbench host reset",
        f"chown --recursive bench:bench {home}/runner",
    ]


def test_no_job_starts_where_processes_of_the_last_one_cannot_be_ended(
    desk: Desk, used_host: Path
) -> None:
    desk.program("pkill", "exit 3")
    assert clean(desk, used_host).returncode != 0


def test_a_runner_that_is_not_registered_is_reported(desk: Desk, used_host: Path) -> None:
    (used_host / "opt/actions-runner/.runner").unlink()
    done = clean(desk, used_host)
    assert done.returncode == 1
    assert "found no registered runner" in done.stderr


# --- commit-report, open-pull-request ------------------------------------------------------------

REPORT = "2026-11-21-standard-x64"
CHECKED = "data/checked.json"
"""What a check may leave out: a draft must not add itself."""


WRITTEN = (
    f"data/runs/{REPORT}/run.toml",
    f"data/runs/{REPORT}/raw/records.jsonl.gz",
    *(f"content/perf/{REPORT}/{name}" for name in ("index.md", "page.json", "transfer.svg")),
    *("bench/Cargo.lock", "data/reports.json", "static/preview.png"),
)
"""What a draft writes and its pull request has."""
BUILT = (f"content/perf/{REPORT}/results.json", "content/hosts/x64/index.md", "data/index.csv")
"""Some of what `make site` builds beside it, which git ignores."""


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def repository(folder: Path, scripts: Sequence[str], files: Mapping[str, str]) -> Path:
    """Makes `origin.git` below the folder, as on GitHub, with these scripts and files."""
    source = folder / "source"
    for name in scripts:
        write(source, f"scripts/{name}", (SCRIPTS / name).read_text())
        (source / "scripts" / name).chmod(0o755)
    for name, text in files.items():
        write(source, name, text)
    git(source, "init", "--quiet", "--initial-branch=main")
    git(source, "add", "--all")
    git(source, "commit", "--quiet", "--message", "First")
    git(source, "commit", "--quiet", "--allow-empty", "--message", "Second")
    git(folder, "clone", "--quiet", "--bare", str(source), "origin.git")
    return folder / "origin.git"


def checkout(origin: Path, name: str) -> Path:
    """A shallow checkout beside its origin, as on GitHub."""
    git(origin.parent, "clone", "--quiet", "--depth=1", f"file://{origin}", name)
    return origin.parent / name


@pytest.fixture(scope="module")
def every_draft(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A shallow checkout in which `make draft` has written a report, beside its origin."""
    files = {
        "bench/Cargo.lock": "old",
        "static/preview.png": "old",
        CHECKED: "old",
        "data/runs/2025-01-01-earlier/raw/a.txt": "1",
        ".gitignore": (ROOT / ".gitignore").read_text(),
    }
    scripts = ("commit-report", "open-pull-request")
    origin = repository(tmp_path_factory.mktemp("drafted"), scripts, files)
    made = checkout(origin, "checkout")
    for path in (*WRITTEN, *BUILT, CHECKED):
        write(made, path, "new")
    for name, text in (("report", f"{REPORT}\n"), ("title", "A $(title)\n"), ("body.md", "x\n")):
        write(made, f"build/draft/{name}", text)
    return made


@pytest.fixture
def drafted(every_draft: Path, tmp_path: Path) -> Path:
    shutil.copytree(every_draft.parent / "origin.git", tmp_path / "origin.git")
    return Path(shutil.copytree(every_draft, tmp_path / "checkout"))


def propose(desk: Desk, drafted: Path) -> subprocess.CompletedProcess[str]:
    """Commits the draft, and opens the pull request from a separate checkout."""
    assert desk.run(drafted / "scripts/commit-report").returncode == 0
    fresh = checkout(desk.folder / "origin.git", "fresh")
    shutil.copytree(drafted / "build/proposal", fresh / "build/proposal")
    desk.program("gh")
    # The job that may push finds no other program.
    for name in ("git", "cat", "dirname", "bash", "env"):
        found = shutil.which(name)
        assert found
        (desk.folder / "bin" / name).symlink_to(found)
    return desk.run(fresh / "scripts/open-pull-request", env={"PATH": str(desk.folder / "bin")})


def test_a_draft_becomes_a_pull_request_with_all_that_was_written(
    desk: Desk, drafted: Path
) -> None:
    done = propose(desk, drafted)
    assert done.returncode == 0, done.stderr
    origin = desk.folder / "origin.git"
    changed = git(origin, "diff", "--name-only", "main", f"bench/{REPORT}").split()
    assert sorted(changed) == sorted(WRITTEN)
    assert desk.calls == [
        "gh auth setup-git",
        f"gh pr create --base main --head bench/{REPORT} --title A $(title) "
        "--body-file build/proposal/body.md",
        f"gh workflow run ci.yml --ref bench/{REPORT}",
    ]


@pytest.mark.parametrize(
    "path",
    [
        ".github/workflows/ci.yml",
        "scripts/open-pull-request",
        "data/runs/2025-01-01-earlier/raw/a.txt",
        "data/hosts/x64.toml",
        "templates/base.html",
        "static/evil.html",
    ],
)
def test_a_commit_that_changes_more_than_reports_is_not_pushed(
    desk: Desk, drafted: Path, path: str
) -> None:
    write(drafted, path, (drafted / path).read_text() + "\n" if (drafted / path).exists() else "x")
    done = propose(desk, drafted)
    assert done.returncode == 1
    assert "open-pull-request: refused: found " in done.stderr
    assert path in done.stderr
    assert git(desk.folder / "origin.git", "branch").split() == ["*", "main"]
    assert desk.calls == []


def test_a_link_or_a_program_among_a_reports_files_is_not_pushed(desk: Desk, drafted: Path) -> None:
    (drafted / "content/perf" / REPORT / "link").symlink_to("/etc/passwd")
    assert "120000" in propose(desk, drafted).stderr


@pytest.mark.parametrize("name", ["../main", "-x", "main x", ""])
def test_a_report_with_an_invalid_name_is_not_pushed(desk: Desk, drafted: Path, name: str) -> None:
    assert desk.run(drafted / "scripts/commit-report").returncode == 0
    (drafted / "build/proposal/report").write_text(name)
    done = desk.run(drafted / "scripts/open-pull-request")
    assert done.returncode == 1
    assert f"found the report '{name}'" in done.stderr
