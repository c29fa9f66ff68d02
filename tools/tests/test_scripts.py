"""The scripts of workflows and of a bench host, with stand-ins for what they would change."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"


class Desk:
    """A folder with programs that write down what they are told, and are found first."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()

    def program(self, name: str, text: str = "") -> None:
        path = self.folder / "bin" / name
        path.write_text(f'#!/bin/bash\necho "{name} $*" >> "{self.folder}/told"\n{text}\n')
        path.chmod(0o755)

    @property
    def told(self) -> list[str]:
        path = self.folder / "told"
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


def test_the_doctor_tells_how_to_get_gnutls(desk: Desk) -> None:
    for answer in ("exit 1", 'echo "3.7.3"'):
        desk.program("pkg-config", answer)
        done = desk.run(SCRIPTS / "doctor", "--quiet", "more-libraries")
        assert done.returncode == 1
        assert "3.7.4 or later" in done.stderr
        assert "apt-get install libgnutls28-dev" in done.stderr
    desk.program("pkg-config", 'echo "3.10.0"')
    done = desk.run(SCRIPTS / "doctor", "more-libraries")
    assert "GnuTLS     3.10.0" in done.stdout
    assert "libgnutls28-dev" not in done.stderr


# --- pin-versions --------------------------------------------------------------------------------


def test_versions_are_pinned_one_by_one(desk: Desk) -> None:
    desk.program("cargo")
    env = {"VERSIONS": "rustls@0.23.40  openssl-src@300.6.0+3.6.3"}
    assert desk.run(SCRIPTS / "pin-versions", env=env).returncode == 0
    update = "cargo update --manifest-path bench/Cargo.toml --precise"
    assert desk.told == [f"{update} 0.23.40 rustls", f"{update} 300.6.0+3.6.3 openssl-src"]


def test_no_versions_leave_the_lock_alone(desk: Desk) -> None:
    desk.program("cargo")
    assert desk.run(SCRIPTS / "pin-versions", env={"VERSIONS": ""}).returncode == 0
    assert desk.told == []


@pytest.mark.parametrize(
    "word", ["$(touch${IFS}x)@1", "rustls@1;reboot", "--config=x@1", "rustls", "rustls@--x", "*@1"]
)
def test_what_is_no_version_is_refused_before_anything_is_pinned(desk: Desk, word: str) -> None:
    desk.program("cargo")
    result = desk.run(SCRIPTS / "pin-versions", env={"VERSIONS": f"rustls@0.23.40 {word}"})
    assert result.returncode == 1
    assert f"found {word}, expected CRATE@VERSION" in result.stderr
    assert desk.told == []


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
    assert desk.told[1:] == ["gh issue create --title New releases: rustls 1 --body-file -"]
    assert (desk.folder / "in").read_text() == "\nthe body\n"


def test_a_proposal_is_made_once(desk: Desk, proposal: Path) -> None:
    desk.program("gh", 'echo "New releases: rustls 1"')
    result = desk.run(SCRIPTS / "open-issue", str(proposal))
    assert result.returncode == 0
    assert result.stdout == "known already: New releases: rustls 1\n"
    assert len(desk.told) == 1


def test_an_empty_proposal_asks_github_nothing(desk: Desk, proposal: Path) -> None:
    desk.program("gh")
    proposal.write_text("")
    assert desk.run(SCRIPTS / "open-issue", str(proposal)).stdout == "nothing is new\n"
    assert desk.told == []


# --- job-gate ------------------------------------------------------------------------------------

LET_IN = {
    "GITHUB_REPOSITORY": "owner/name",
    "GITHUB_EVENT_NAME": "workflow_dispatch",
    "GITHUB_WORKFLOW_REF": "owner/name/.github/workflows/bench.yml@refs/heads/main",
}


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    (tmp_path / "repository").write_text("owner/name\n")
    return Path(shutil.copy(SCRIPTS / "job-gate", tmp_path))


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
def test_the_gate_refuses_everything_else(
    desk: Desk, gate: Path, variable: str, value: str
) -> None:
    result = desk.run(gate, env={**LET_IN, variable: value})
    assert result.returncode == 1
    assert f"refused: {variable} is '{value}'" in result.stderr


@pytest.mark.parametrize("variable", LET_IN)
def test_the_gate_refuses_what_does_not_say_what_it_is(
    desk: Desk, gate: Path, variable: str
) -> None:
    without = {name: value for name, value in LET_IN.items() if name != variable}
    result = subprocess.run([str(gate)], env={"PATH": os.environ["PATH"], **without})
    assert result.returncode != 0


def test_the_gate_refuses_all_without_its_repository(desk: Desk, gate: Path) -> None:
    (gate.parent / "repository").unlink()
    assert desk.run(gate, env=LET_IN).returncode != 0


# --- bench-host ----------------------------------------------------------------------------------


@pytest.fixture
def host(desk: Desk, tmp_path: Path) -> Path:
    """A checkout with the script and a program that is built, on a machine that has nothing."""
    checkout = tmp_path / "checkout"
    (checkout / "scripts").mkdir(parents=True)
    for name in ("bench-host", "job-gate"):
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
    # Ownership is root's to give.
    install = '"$@"'.replace("$@", "${kept[@]}")
    desk.program(
        "install",
        'for a; do case $a in --owner=*|--group=*);; *) kept+=("$a");; esac; done\n'
        f"PATH=${{PATH#*:}} command install {install}",
    )
    return checkout


def set_up(desk: Desk, host: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (desk.folder / "told").unlink(missing_ok=True)
    root = str(desk.folder / "root")
    return desk.run(host / "scripts" / "bench-host", *arguments, env={"DESTDIR": root})


def test_a_bench_host_is_set_up_and_a_second_time_changes_nothing(desk: Desk, host: Path) -> None:
    first = set_up(desk, host, "owner/name")
    assert first.returncode == 0, first.stderr
    changes = [line for line in first.stdout.splitlines() if line.startswith("changed: ")]
    assert len(changes) == 9
    assert "checked: host check" in first.stdout
    root = desk.folder / "root"
    assert (root / "usr/local/sbin/tlsbench").stat().st_mode & 0o777 == 0o755
    assert (root / "etc/sudoers.d/tlsbench").stat().st_mode & 0o777 == 0o440
    assert (root / "etc/sudoers.d/tlsbench").read_text() == (
        "bench ALL=(root) NOPASSWD: "
        "/usr/local/sbin/tlsbench host tune, /usr/local/sbin/tlsbench host reset\n"
    )
    assert (root / "usr/local/lib/tlsperf/repository").read_text() == "owner/name\n"
    gate = (root / "usr/local/lib/tlsperf/job-gate").read_bytes()
    assert gate == (SCRIPTS / "job-gate").read_bytes()
    unit = (root / "etc/systemd/system/bench-runner.service").read_text()
    assert "ACTIONS_RUNNER_HOOK_JOB_STARTED=/usr/local/lib/tlsperf/job-gate\n" in unit
    assert "User=bench\n" in unit
    sums = (desk.folder / "state" / "sums").read_text()
    assert sums.startswith("20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c  ")

    again = set_up(desk, host, "owner/name")
    assert again.returncode == 0, again.stderr
    assert "changed: " not in again.stdout
    assert not {line.split()[0] for line in desk.told} & {"apt-get", "useradd", "curl", "install"}


def test_a_bench_host_has_what_the_libraries_need_of_the_system(desk: Desk, host: Path) -> None:
    library = host / "bench" / "libraries" / "newtls" / "library.toml"
    library.parent.mkdir()
    text = (ROOT / "bench/libraries/gnutls/library.toml").read_text()
    library.write_text(text.replace("libgnutls28-dev", "libnewtls-dev"))
    assert set_up(desk, host, "owner/name").returncode == 0
    looked_up = {line.split()[-1] for line in desk.told if line.startswith("dpkg-query ")}
    assert {"build-essential", "cmake", "perl", "libgnutls28-dev", "libnewtls-dev"} <= looked_up


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
    assert desk.told == []


def test_others_than_root_are_sent_away(desk: Desk, host: Path) -> None:
    desk.program("id", '[ "$*" = "--user --name" ] && echo somebody || echo 1000')
    result = set_up(desk, host, "owner/name")
    assert "found user somebody, expected root" in result.stderr
    assert not (desk.folder / "root").exists()


def test_a_checkout_of_the_runners_own_is_refused(desk: Desk, host: Path) -> None:
    desk.program("stat", "echo bench")
    result = set_up(desk, host, "owner/name")
    assert result.returncode == 1
    assert "this checkout belongs to bench" in result.stderr
    assert not (desk.folder / "root/usr/local/sbin/tlsbench").exists()


def test_another_rustup_than_the_pinned_one_is_not_run(desk: Desk, host: Path) -> None:
    desk.program("sha256sum", "exit 1")
    assert set_up(desk, host, "owner/name").returncode != 0
    assert not (desk.folder / "root/opt/rust/toolchains").exists()
