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

from commands import commit, git

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts"


def write(folder: Path, path: str, text: str, mode: int = 0o644) -> Path:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)
    (folder / path).chmod(mode)
    return folder / path


class Desk:
    """A folder of stand-ins that record their arguments and come first in PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "bin").mkdir()

    def program(self, name: str, text: str = "", path: str = "") -> None:
        recorded = f'#!/bin/bash\necho "{name} $*" >> "{self.folder}/calls"\n{text}\n'
        write(self.folder, path or f"bin/{name}", recorded, 0o755)

    def lend(self, *names: str) -> None:
        """Puts programs of this machine beside the stand-ins."""
        for name in names:
            path = self.folder / "bin" / name
            path.unlink(missing_ok=True)
            path.symlink_to(str(shutil.which(name)))

    @property
    def calls(self) -> list[str]:
        path = self.folder / "calls"
        return path.read_text().splitlines() if path.exists() else []

    def run(
        self, script: Path, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, **(env or {})}
        command = [str(script), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


# --- doctor --------------------------------------------------------------------------------------


def bare(desk: Desk, user: int, *more: str) -> dict[str, str]:
    """An environment for a user without the programs that the doctor looks for."""
    desk.lend("bash", "sort", "head", "grep", "dirname", *more)
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


COMPILERS = "cc c++ git cargo python3"


@pytest.mark.parametrize(
    ("target", "programs"),
    [
        ("tools", "python3"),
        ("site", "python3 node npm"),
        ("report", f"{COMPILERS} node npm"),
        ("setup", "python3 git node npm"),
        ("check", f"{COMPILERS} node npm"),
        ("test", f"{COMPILERS} node npm java unshare"),
        ("more-libraries", COMPILERS),
        ("nightly", f"{COMPILERS} node npm java unshare"),
    ],
)
def test_a_target_says_what_is_missing_before_it_begins(
    desk: Desk, target: str, programs: str
) -> None:
    """What libraries need of the system is not known without Python: see GnuTLS above."""
    env = bare(desk, 0, "awk", "cmp", "date", "make")
    make = ("--no-print-directory", "-C", str(ROOT), "VENV=build/none")
    done = desk.run(Path("make"), *make, target, env=env)
    assert done.returncode == 2
    assert set(re.findall(r"missing: (\S+) ", done.stderr)) == set(programs.split())
    assert done.stdout == ""
    assert f"for make {target}:" in desk.run(Path("make"), *make, "doctor", env=env).stdout


# --- an environment --------------------------------------------------------------------------------

PYTHON = """
case "$*" in
  --version) echo Python 3.11.2 ;;
  "-m venv --clear .venv") mkdir -p .venv/bin; ln -sf "{python}" .venv/bin/python; cp "{pip}" .venv/bin/pip ;;
esac
"""


@pytest.mark.parametrize(
    "event", ["nothing", "copied", "moved", "Python is another", "Python is gone"]
)
def test_an_environment_of_another_folder_or_python_is_made_anew(desk: Desk, event: str) -> None:
    here, there = desk.folder / "here", desk.folder / "there"
    of_tools = [f"tools/{name}" for name in ("requirements.txt", "pyproject.toml")]
    for path in ("Makefile", "scripts/doctor", *of_tools, "tools/requirements-build.txt"):
        write(here, path, (ROOT / path).read_text(), (ROOT / path).stat().st_mode)
    (here / "bench").mkdir()
    write(here, "scripts/cargo-config", '#!/bin/sh\necho "$PWD/$1"\n', 0o755)
    desk.program("pip", path="stands-for-pip")
    desk.program(
        "python3", PYTHON.format(python=sys.executable, pip=desk.folder / "stands-for-pip")
    )

    def installs(folder: Path) -> int:
        before = len(desk.calls)
        done = desk.run(Path("make"), "-C", str(folder), ".venv/.tools", ".venv/.build")
        assert done.returncode == 0
        assert (folder / "bench/.cargo/config.toml").read_text() == f"{folder}/.venv\n"
        return sum(call.startswith("pip install ") for call in desk.calls[before:])

    assert installs(here) == 3
    python = here / ".venv" / "bin" / "python"
    match event:
        case "copied":
            shutil.copytree(here, there, symlinks=True)
        case "moved":
            here.rename(there)
        case "Python is another":
            python.unlink()
            python.symlink_to("/bin/sh")
        case "Python is gone":
            python.unlink()
            python.symlink_to("/nowhere/python3")
    folder = there if there.exists() else here
    assert installs(folder) == (0 if event == "nothing" else 3)
    assert installs(folder) == 0


# --- a suite ---------------------------------------------------------------------------------------


def test_a_report_of_a_suite_that_does_not_exist_is_refused_before_anything_is_built(
    desk: Desk,
) -> None:
    desk.program("cargo")
    done = desk.run(Path("make"), "-C", str(ROOT), "report", "SUITE=standrd")
    assert done.returncode == 2
    assert (
        "SUITE=standrd: found no bench/suites/standrd.toml; near: standard; expected one of "
        in done.stderr
    )
    assert {"quick", "standard"} <= set(done.stderr.split())
    assert desk.calls == []


@pytest.mark.parametrize("answer", [0, 2])
def test_libraries_are_built_after_the_suite_was_read(desk: Desk, answer: int) -> None:
    """With a stand-in for cargo, and for the tlsbench that it builds."""
    desk.program("tlsbench", f"exit {answer}")
    desk.program("cargo")
    made = ("-o", ".venv/.build", f"RELEASE={desk.folder / 'bin'}", "SUITE=quick")
    done = desk.run(Path("make"), "-C", str(ROOT), *made, "libraries")
    build = "cargo build --release --locked --workspace"
    calls = [f"{build} --bin tlsbench", "tlsbench list --suite quick", build]
    assert desk.calls == (calls if answer == 0 else calls[:2])
    assert done.returncode == answer


def test_a_build_prints_its_messages_and_what_takes_long(desk: Desk) -> None:
    small = "   Compiling libc v0.2.1\n  Downloaded syn v2.0.1\n"
    shown = """\
   Compiling openssl-src v300.6.0
   Compiling tlsbench v0.1.0 (bench/runner)
error: could not compile `libc`
"""
    desk.program("cargo", f"cat >&2 <<'END'\n{small}{shown}END\nexit 101")
    done = desk.run(SCRIPTS / "briefly", "cargo", "build")
    assert (done.returncode, done.stdout) == (101, shown)


# --- a release -----------------------------------------------------------------------------------


def test_a_release_lists_what_is_in_each_of_its_files(desk: Desk) -> None:
    """With stand-ins for what builds and lists; no path of the machine is in a list."""
    here, out = desk.folder / "here", "build/release"
    (here / "tools").mkdir(parents=True)
    write(here, "Makefile", (ROOT / "Makefile").read_text())
    licences = ("LICENSE", "LICENSE-APACHE", "LICENSE-ISC", "LICENSE-MIT")
    for name in ("bench/runner/Cargo.toml", "data/schema/run.json", "tools/x.py", *licences):
        write(here, name, "")
    write(here, ".gitignore", "/build/\n/.venv/\n")
    commit(here)
    desk.program("tlsbench", "echo tlsbench 1.2.3", path="here/.venv/tlsbench")
    desk.program("pip", f"touch {out}/tlsperf-1.2.3-py3-none-any.whl", path="here/.venv/bin/pip")
    listed = 'for it in runner libraries/x; do mkdir -p bench/$it; echo "file://$PWD/y" > bench/$it/sbom.json; done'
    desk.program("cargo-cyclonedx", listed, path="here/build/bin/cargo-cyclonedx")
    desk.program("cyclonedx-py", 'touch "${@: -1}"', path="here/.venv/bin/cyclonedx-py")
    (pinned,) = re.findall(
        r"^CARGO_CYCLONEDX_VERSION := (.*)", (here / "Makefile").read_text(), re.M
    )
    made = ("tlsbench", ".venv/.audit", f"build/bin/cargo-cyclonedx-{pinned}")
    old = [word for name in made for word in ("-o", name)]
    done = desk.run(Path("make"), "-C", str(here), *old, "RELEASE=.venv", "release")
    assert done.returncode == 0, done.stderr
    archive, wheel = f"tlsbench-1.2.3-{os.uname().machine}-linux", "tlsperf-1.2.3-py3-none-any"
    names = [f"{archive}.cdx.json", f"{archive}.tar.gz", f"{wheel}.cdx.json", f"{wheel}.whl"]
    assert sorted(path.name for path in (here / out).iterdir()) == names
    assert (here / out / names[0]).read_text() == "file:///y\n"
    assert git(here, "status", "--short") == ""


# --- libraries, one or all ------------------------------------------------------------------------


@pytest.mark.parametrize("wanted", ["", "wolfssl", "wolfsll"])
def test_make_builds_each_library_with_a_workspace_of_its_own_or_the_one_that_is_named(
    desk: Desk, wanted: str
) -> None:
    """With a stand-in for cargo, and without the prerequisites of `make more-libraries`."""
    own = desk.run(SCRIPTS / "libraries", "id", "own").stdout.split()
    assert len(own) > 2
    desk.program("cargo", 'basename "$PWD"')
    others = ("doctor-more-libraries", ".venv/.build", "build/gnutls/built")
    before = [word for name in others for word in ("-o", name)]
    wish = f"LIBRARY={wanted}"
    done = desk.run(Path("make"), "-C", str(ROOT), "--silent", *before, wish, "more-libraries")
    if wanted and wanted not in own:
        assert done.returncode != 0
        message = f"found no bench/libraries/{wanted}/library.toml, expected one of rustls "
        assert message in done.stderr
        assert desk.calls == []
    else:
        build = "cargo build --release --locked --target-dir ../../target"
        lines = [
            line for name in ([wanted] if wanted else own) for line in (f"{name}: {build}", name)
        ]
        assert done.stdout.splitlines() == lines


# --- scripts that configure a library -------------------------------------------------------------

LIBRARIES = ROOT / "bench" / "libraries"


def test_openssl_is_configured_with_the_words_of_upstream_and_the_flags_of_a_suite(
    desk: Desk,
) -> None:
    desk.program("perl", 'echo "${CFLAGS-none}"')
    prefix = desk.folder / "prefix"
    places = ("./Configure", f"--prefix={prefix}", "--openssldir=/usr/local/ssl")
    of_package = ("no-module", "no-comp", "no-legacy", "no-camellia", "-O2", "-w")
    words = (*places, "no-shared", *of_package, "linux-x86_64")
    done = desk.run(LIBRARIES / "openssl" / "perl", *words, env={"CFLAGS": "-O1 -g"})
    assert (done.returncode, done.stdout) == (0, "none\n")
    options = "no-shared no-module linux-x86_64"
    assert desk.calls == [f"perl {' '.join(places)} {options} -O1 -g"]
    assert (prefix / "configured").read_text() == f"{options}\n"


@pytest.mark.parametrize(
    ("project", "compiler", "chosen"),
    [("BoringSSL", "", True), ("BoringSSL", "gcc", False), ("AWSLC", "", False)],
)
def test_boringssl_is_configured_with_clang_unless_a_compiler_is_named(
    desk: Desk, project: str, compiler: str, chosen: bool
) -> None:
    desk.program("cmake")
    write(desk.folder, "CMakeLists.txt", f"project({project} NONE)\n")
    given = (str(desk.folder), "-DCMAKE_C_COMPILER=/usr/bin/cc", "-DCMAKE_BUILD_TYPE=Release")
    script = LIBRARIES / "boringssl" / "cmake"
    there = ("-c", 'cd "$1" && exec "$0" "$@"', str(script))
    done = desk.run(Path("sh"), *there, *given, env={"CC": compiler})
    assert done.returncode == 0, done.stderr
    (call,) = desk.calls
    assert call.startswith(f"cmake {' '.join(given)}")
    assert ("=clang" in call, "=clang++" in call) == (chosen, chosen)
    assert (desk.folder / "configured").read_text() == "-DCMAKE_BUILD_TYPE=Release\n"


# --- pin-versions --------------------------------------------------------------------------------

PIN = "cargo update --manifest-path bench/Cargo.toml --precise"


@pytest.mark.parametrize(
    ("versions", "calls"),
    [
        (
            "rustls@0.23.40  openssl-src@300.6.0+3.6.3",
            [f"{PIN} 0.23.40 rustls", f"{PIN} 300.6.0+3.6.3 openssl-src"],
        ),
        ("", []),
    ],
)
def test_versions_are_pinned_one_by_one(desk: Desk, versions: str, calls: list[str]) -> None:
    desk.program("cargo")
    assert desk.run(SCRIPTS / "pin-versions", env={"VERSIONS": versions}).returncode == 0
    assert desk.calls == calls


@pytest.mark.parametrize(
    "word", ["$(touch${IFS}x)@1", "rustls@1;reboot", "--config=x@1", "rustls", "rustls@--x", "*@1"]
)
def test_an_invalid_version_is_rejected_before_anything_is_pinned(desk: Desk, word: str) -> None:
    desk.program("cargo")
    result = desk.run(SCRIPTS / "pin-versions", env={"VERSIONS": f"rustls@0.23.40 {word}"})
    assert result.returncode == 1
    assert f"found {word}, expected CRATE@VERSION" in result.stderr
    assert desk.calls == []


# --- fetch-source ---------------------------------------------------------------------------------

FORK = "rustls=https://example.org/owner/rustls"
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def fetch(desk: Desk, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs the script in a folder of its own, because it fetches beside itself."""
    (desk.folder / "scripts").mkdir()
    desk.program("git")
    return desk.run(Path(shutil.copy(SCRIPTS / "fetch-source", desk.folder / "scripts")), env=env)


@pytest.mark.parametrize("source", [FORK, ""])
def test_a_fork_that_an_administrator_lists_is_fetched_at_its_commit(
    desk: Desk, source: str
) -> None:
    listed = f"openssl=https://example.org/o {FORK}"
    assert fetch(desk, SOURCE=source, REVISION=COMMIT, SOURCES=listed).returncode == 0
    address = "https://example.org/owner/rustls"
    fetched = [
        "git init --quiet build/source",
        f"git -C build/source fetch --quiet --depth 1 -- {address} {COMMIT}",
        "git -C build/source -c advice.detachedHead=false checkout --quiet FETCH_HEAD",
    ]
    assert desk.calls == (fetched if source else [])


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
    desk: Desk, change: dict[str, str], expected: str
) -> None:
    result = fetch(desk, **{"SOURCE": FORK, "REVISION": COMMIT, "SOURCES": FORK, **change})
    assert result.returncode == 1
    assert expected in result.stderr
    assert desk.calls == []


# --- job-gate ------------------------------------------------------------------------------------

WORKFLOWS = ".github/workflows"
LET_IN = {
    "GITHUB_REPOSITORY": "owner/name",
    "GITHUB_EVENT_NAME": "workflow_dispatch",
    "GITHUB_WORKFLOW_REF": f"owner/name/{WORKFLOWS}/bench.yml@refs/heads/main",
}


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    (tmp_path / "repository").write_text("owner/name\n")
    return Path(shutil.copy(SCRIPTS / "job-gate.sh", tmp_path))


@pytest.mark.parametrize("event", ["workflow_dispatch", "schedule"])
def test_the_gate_lets_in_bench_of_main(desk: Desk, gate: Path, event: str) -> None:
    assert desk.run(gate, env={**LET_IN, "GITHUB_EVENT_NAME": event}).returncode == 0
    (gate.parent / "repository").unlink()
    assert desk.run(gate, env=LET_IN).returncode != 0, "it does not know its repository"


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        *(("GITHUB_EVENT_NAME", it) for it in ("pull_request", "pull_request_target", "push")),
        ("GITHUB_REPOSITORY", "stranger/name"),
        ("GITHUB_WORKFLOW_REF", f"owner/name/{WORKFLOWS}/bench.yml@refs/pull/7/merge"),
        ("GITHUB_WORKFLOW_REF", f"owner/name/{WORKFLOWS}/bench.yml@refs/heads/topic"),
        ("GITHUB_WORKFLOW_REF", f"owner/name/{WORKFLOWS}/ci.yml@refs/heads/main"),
        ("GITHUB_WORKFLOW_REF", f"stranger/name/{WORKFLOWS}/bench.yml@refs/heads/main"),
        *((variable, "") for variable in LET_IN),
    ],
)
def test_the_gate_rejects_everything_else(
    desk: Desk, gate: Path, variable: str, value: str
) -> None:
    result = desk.run(gate, env={**LET_IN, variable: value})
    assert result.returncode == 1
    assert f"refused: {variable} is '{value}'" in result.stderr
    without = {name: of for name, of in LET_IN.items() if name != variable}
    assert subprocess.run([gate], env={"PATH": os.environ["PATH"], **without}).returncode != 0


# --- bench-host ----------------------------------------------------------------------------------


@pytest.fixture
def host(desk: Desk, tmp_path: Path) -> Path:
    """A checkout with the script and a built program, on an otherwise empty machine."""
    checkout = tmp_path / "checkout"
    copied = ("bench-host", "job-gate.sh", "clean-host", "libraries")
    libraries = (ROOT / "bench" / "libraries").glob("*/library.toml")
    for path in (*(SCRIPTS / name for name in copied), *libraries):
        write(checkout, str(path.relative_to(ROOT)), path.read_text(), path.stat().st_mode)
    program = '#!/bin/sh\necho "checked: $*"\n'
    write(checkout, "bench/target/release/tlsbench", program, 0o755)
    state = tmp_path / "state"
    state.mkdir()
    toolchain = "$RUSTUP_HOME/toolchains/1.95.0-x86_64-unknown-linux-gnu"
    kept = '"${kept[@]}"'
    for name, text in {
        "id": "[ $1 = --user ] && [ $# = 1 ] && echo 0",
        "dpkg-query": f'[ -e {state}/apt ] && echo "install ok installed"',
        "apt-get": f"touch {state}/apt",
        "getent": f"[ -e {state}/bench ]",
        "useradd": f"touch {state}/bench",
        "uname": "echo x86_64",
        "curl": f"while [ $1 != --output ]; do shift; done; echo 'mkdir -p {toolchain}' > $2",
        "sha256sum": f"cat >> {state}/sums",
        "runuser": "",
        "stat": "echo admin",
        "visudo": "test -s ${3#--file=}",
        "systemctl": "",
        # Only root can change ownership.
        "install": 'for a; do case $a in --owner=*|--group=*);; *) kept+=("$a");; esac; done\n'
        f"PATH=${{PATH#*:}} command install {kept}",
    }.items():
        desk.program(name, text)
    return checkout


def set_up(desk: Desk, host: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    (desk.folder / "calls").unlink(missing_ok=True)
    root = str(desk.folder / "root")
    return desk.run(host / "scripts" / "bench-host", *arguments, env={"DESTDIR": root})


def changes(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stdout.splitlines() if line.startswith("changed: ")]


def test_a_bench_host_is_set_up_and_a_second_time_changes_nothing(desk: Desk, host: Path) -> None:
    first = set_up(desk, host, "owner/name")
    assert first.returncode == 0, first.stderr
    assert len(changes(first)) == 10
    assert "checked: host check" in first.stdout
    root = desk.folder / "root"
    for name, mode in {
        "usr/local/sbin/tlsbench": 0o755,
        "etc/sudoers.d/tlsbench": 0o440,
        "opt/actions-runner": 0o700,
        "usr/local/lib/tlsperf/job-gate.sh": 0o755,
        "usr/local/lib/tlsperf/clean-host": 0o755,
    }.items():
        assert (root / name).stat().st_mode & 0o777 == mode, name
        if "/lib/" in name:
            assert (root / name).read_bytes() == (SCRIPTS / Path(name).name).read_bytes()
    assert (root / "etc/sudoers.d/tlsbench").read_text() == (
        "bench ALL=(root) NOPASSWD: "
        "/usr/local/sbin/tlsbench host tune, /usr/local/sbin/tlsbench host reset\n"
    )
    assert (root / "usr/local/lib/tlsperf/repository").read_text() == "owner/name\n"
    sums = (desk.folder / "state" / "sums").read_text()
    assert sums.startswith("20a06e644b0d9bd2fbdbfd52d42540bdde820ea7df86e92e533c073da0cdd43c  ")

    again = set_up(desk, host, "owner/name")
    assert again.returncode == 0, again.stderr
    assert changes(again) == []
    assert not {line.split()[0] for line in desk.calls} & {"apt-get", "useradd", "curl", "install"}


def test_a_bench_host_has_what_the_libraries_need_of_the_system(desk: Desk, host: Path) -> None:
    text = (ROOT / "bench/libraries/gnutls/library.toml").read_text()
    new = text.replace("libgnutls28-dev", "libnewtls-dev")
    write(host, "bench/libraries/newtls/library.toml", new)
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
    expected = {
        "User": ["bench"],
        # Each start runs one job from a copy of the runner; all its processes are killed at its end.
        "ExecStartPre": ["+/usr/local/lib/tlsperf/clean-host"],
        "ExecStart": ["/var/lib/bench/runner/run.sh --once"],
        "Restart": ["always"],
        "KillMode": ["mixed"],
        # A job can write only to its home, which is emptied, and to files that end with the unit.
        "ProtectSystem": ["strict"],
        **{key: ["yes"] for key in ("PrivateTmp", "RemoveIPC", "ProtectHome")},
        "ReadWritePaths": ["/var/lib/bench /run"],
        "InaccessiblePaths": ["-/run/dbus -/run/lock -/run/user"],
    }
    assert expected.items() <= unit_of(desk, host).items()


def test_a_new_program_or_repository_is_all_that_changes(desk: Desk, host: Path) -> None:
    set_up(desk, host, "owner/name")
    with (host / "bench/target/release/tlsbench").open("a") as program:
        program.write("# newer\n")
    assert changes(set_up(desk, host, "owner/other")) == [
        "changed: /usr/local/sbin/tlsbench",
        "changed: /usr/local/lib/tlsperf/repository",
    ]


USAGE = "usage: sudo scripts/bench-host OWNER/REPOSITORY"
SOMEBODY = ("id", '[ "$*" = "--user --name" ] && echo somebody || echo 1000')


@pytest.mark.parametrize(
    ("repository", "stand_in", "error", "absent"),
    [
        *((name, None, USAGE, "") for name in ("", "name", "owner/name;reboot", "a/b/c")),
        ("owner/name", SOMEBODY, "found user somebody, expected root", ""),
        ("owner/name", ("stat", "echo bench"), "this checkout belongs to bench", "usr/local/sbin"),
        ("owner/name", ("sha256sum", "exit 1"), "", "opt/rust/toolchains"),
    ],
    ids=lambda value: value if isinstance(value, str) else value and value[0],
)
def test_what_would_make_an_unsafe_host_is_refused(
    desk: Desk,
    host: Path,
    repository: str,
    stand_in: tuple[str, str] | None,
    error: str,
    absent: str,
) -> None:
    """Another repository's name, user, owner of the checkout, or rustup than the pinned one."""
    if stand_in:
        desk.program(*stand_in)
    result = set_up(desk, host, *([repository] if repository else []))
    assert result.returncode != 0
    assert error in result.stderr
    assert not (desk.folder / "root" / absent).exists()


# --- clean-host ----------------------------------------------------------------------------------


@pytest.fixture
def used_host(desk: Desk, tmp_path: Path) -> Path:
    """A bench host's files after a job that left some of its own."""
    write(tmp_path, "root/opt/actions-runner/run.sh", "#!/bin/bash\n", 0o755)
    write(tmp_path, "root/opt/actions-runner/.runner", "{}")
    home = "root/var/lib/bench"
    write(tmp_path, f"{home}/.cargo/config.toml", "[build]\nrustc-wrapper = '/tmp/bad'\n")
    write(tmp_path, f"{home}/runner/run.sh", "bad")
    (tmp_path / home / "link").symlink_to(tmp_path / "root/opt")
    desk.program("tlsbench", path="root/usr/local/sbin/tlsbench")
    desk.program("pkill", "exit 1")  # no process to kill
    desk.program("chown")
    return tmp_path / "root"


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


def test_no_job_starts_beside_another_or_on_a_runner_that_is_not_registered(
    desk: Desk, used_host: Path
) -> None:
    registered = used_host / "opt/actions-runner/.runner"
    registered.rename(registered.with_name("elsewhere"))
    done = clean(desk, used_host)
    assert done.returncode == 1
    assert "found no registered runner" in done.stderr
    registered.with_name("elsewhere").rename(registered)
    desk.program("pkill", "exit 3")  # it cannot end a process of the last job
    assert clean(desk, used_host).returncode != 0


# --- commit-report, open-pull-request ------------------------------------------------------------

REPORT = "2026-11-21-standard-x64"
CHECKED = "data/checked.json"
"""What a check may leave out: a draft must not add itself."""


WRITTEN = (
    f"data/runs/{REPORT}/run.toml",
    f"data/runs/{REPORT}/raw/records.jsonl.gz",
    *(f"content/perf/{REPORT}/{name}" for name in ("index.md", "page.json", "ratios.svg")),
    *("bench/Cargo.lock", "data/reports.json", "static/preview.png"),
)
"""What a draft writes and its pull request has."""
BUILT = (f"content/perf/{REPORT}/results.json", "content/compare/newest.json", "data/index.csv")
"""Some of what `make site` builds beside it, which git ignores."""


def repository(folder: Path, scripts: Sequence[str], files: Mapping[str, str]) -> Path:
    """Makes `origin.git` below the folder, as on GitHub, with these scripts and files."""
    source = folder / "source"
    for name in scripts:
        write(source, f"scripts/{name}", (SCRIPTS / name).read_text(), 0o755)
    for name, text in files.items():
        write(source, name, text)
    commit(source)
    git(source, "commit", "--quiet", "--allow-empty", "--message", "Second")
    git(folder, "clone", "--quiet", "--bare", str(source), "origin.git")
    return folder / "origin.git"


def checkout(origin: Path, name: str, *, detached: bool = False) -> Path:
    """A checkout beside its origin as actions/checkout leaves one: shallow, with main in FETCH_HEAD."""
    main, folder = "refs/remotes/origin/main", origin.parent / name
    git(origin.parent, "init", "--quiet", name)
    git(folder, "remote", "add", "origin", f"file://{origin}")
    git(folder, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", f"+refs/heads/main:{main}")
    git(folder, "checkout", "--quiet", *(["--detach"] if detached else ["-B", "main"]), main)
    return folder


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
    desk.lend("git", "cat", "dirname", "bash", "env")
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
        "content/about.md",
        "content/perf/2025-01-01-earlier/index.md",
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


# --- build-gnutls --------------------------------------------------------------------------------


@pytest.fixture
def build_gnutls(tmp_path: Path) -> Path:
    """The script in an otherwise empty checkout, so that no test changes what is built in this one."""
    (tmp_path / "scripts").mkdir()
    return Path(shutil.copy(SCRIPTS / "build-gnutls", tmp_path / "scripts"))


def own_gnutls(desk: Desk) -> dict[str, str]:
    """PKG_CONFIG_PATH with the folder of a GnuTLS, after another one."""
    (desk.folder / "own").mkdir()
    (desk.folder / "own" / "gnutls.pc").touch()
    return {"PKG_CONFIG_PATH": f"/opt/other:{desk.folder / 'own'}"}


def test_a_gnutls_of_ones_own_is_not_built(desk: Desk, build_gnutls: Path) -> None:
    desk.program("pkg-config", "[ $1 != --modversion ] || echo 3.8.3")
    done = desk.run(build_gnutls, env=own_gnutls(desk))
    assert done.returncode == 0, done.stderr
    assert "GnuTLS 3.8.3 of PKG_CONFIG_PATH" in done.stdout
    assert not (desk.folder / "build").exists()


def test_a_gnutls_of_ones_own_that_is_too_old_is_named(desk: Desk, build_gnutls: Path) -> None:
    desk.program("pkg-config", "[ $1 = --modversion ] && echo 3.7.9")
    done = desk.run(build_gnutls, env=own_gnutls(desk))
    assert done.returncode == 1
    assert "found 3.7.9, expected GnuTLS 3.8 or later" in done.stderr


def elsewhere(desk: Desk, *more: str) -> dict[str, str]:
    """A machine that is not Debian, with what the build needs."""
    desk.lend("bash", "dirname", "rm", "mkdir", "sha256sum", *more)
    for name in ("cc", "make", "m4", "pkg-config", "xz"):
        desk.program(name)
    return {"PATH": str(desk.folder / "bin"), "PKG_CONFIG_PATH": "/opt/python/lib/pkgconfig"}


def test_another_source_than_was_pinned_is_not_built(desk: Desk, build_gnutls: Path) -> None:
    env = elsewhere(desk)
    desk.program("curl", 'while [ "$1" != --output ]; do shift; done; echo changed > "$2"')
    done = desk.run(build_gnutls, env=env)
    assert done.returncode == 1
    assert "gmp-6.3.0.tar.xz is another file than was pinned" in done.stderr
    assert not [call for call in desk.calls if call.startswith("make")]


def test_a_source_that_cannot_be_fetched_is_named_with_a_way_out(
    desk: Desk, build_gnutls: Path
) -> None:
    env = elsewhere(desk)
    desk.program("curl", "exit 6")
    done = desk.run(build_gnutls, env=env)
    assert done.returncode == 1
    assert "cannot fetch gmp-6.3.0.tar.xz" in done.stderr
    assert "PKG_CONFIG_PATH" in done.stderr


def test_what_the_build_of_gnutls_lacks_is_named(desk: Desk, build_gnutls: Path) -> None:
    env = elsewhere(desk)
    (desk.folder / "bin" / "m4").unlink()
    done = desk.run(build_gnutls, env=env)
    assert done.returncode == 1
    assert "m4 is missing" in done.stderr
