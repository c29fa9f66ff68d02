"""Rehearses bench.yml on this machine: measure, pack, import, draft, site, pull request.

`python tools/automation/rehearse.py` runs the very steps of the workflow file, job by job, each job
in a fresh clone as on GitHub, with stand-ins for what is GitHub's or a bench host's alone:

- a bare git repository in place of the one on GitHub, and a `gh` that writes down its arguments. It
  has the files of this checkout, with the reports of the made-up project (tools/tests/project.py)
  in place of the committed ones, and a suite of two short scenarios;
- actions: a checkout is a clone, an artifact is a folder, a set-up is already done;
- `sudo … tlsbench host tune|reset` is written down, so that this machine is left as it is;
- `cargo build` is done already, but for the build of a fork, which is made;
- the address of the fork leads to a repository here with the rustls that is locked;
- /proc/stat stands still, in a mount name space of the rehearsal's own, so that nothing else seems
  to run: what is measured is not kept, and a busy desk must not stop a rehearsal. Where the host
  is to be unfit, it moves again and the machine is kept busy.

The programs of `--programs` and the packages in .venv and node_modules are lent to the clones. With
`--all`, an unfit host is refused too, and a fork that is approved is built and measured. What the
scripts and `tlsperf draft` refuse is tested without a rehearsal (test_scripts.py, test_draft.py).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from built import RELEASE, ROOT, add_programs
from workflows import Job, Step, Workflow, read_workflow

HOST: Final = "x64"
SUITE: Final = "rehearsal"
"""Not quick, whose reports are left out of the pages over all reports."""
SHORT: Final = f"""\
schema = 1
name = "{SUITE}"
family = "main"
description = "Two short scenarios"
rounds = 1
measure_seconds = 0.05
warmup_seconds = 0.0
implementations = ["tls-rustls-aws-lc-rs", "tls-openssl"]

[[scenarios]]
operation = "handshake"
protocol = "1.3"
cipher_suite = "TLS_AES_256_GCM_SHA384"
key_exchange = "X25519"
certificate = ["ecdsa-p256", "rsa-2048"]
authentication = "server"
resumption = "none"
threads = 1
"""
"""The suite that is measured: what the steps do does not depend on how much it measures."""
MADE_UP: Final = """\
import sys
from pathlib import Path
from project import PROJECT_SOURCES, kept, make_site, write_project
make_site(Path(sys.argv[1]), kept("project", PROJECT_SOURCES, write_project))
"""
"""Writes the site of the made-up project to a folder."""
COMMITTED: Final = ("content/", "data/", "static/", "templates/", "tools/tests/", "config.toml")
"""What the site of the made-up project is in place of, and what no job needs."""
REPORT_ON_SITE: Final = "public/perf"
LENT: Final = (".venv", "node_modules")
PROGRAMS: Final = RELEASE.relative_to(ROOT)
"""Where the steps find programs."""
COMPILED: Final = Path("build") / "matrix" / "target"
"""What builds of forks share: a second rehearsal compiles no C again."""

SET_UPS: Final = {"actions/setup-python"}
STAT: Final = "/proc/stat"
STILL: Final = "TLSPERF_REHEARSAL_STILL"
"""Set in the name space whose mounts are ours: a copy of /proc/stat that does not change."""

GH: Final = """\
#!/bin/sh
# Stands for GitHub's command line: writes down its arguments, answers nothing.
{ printf 'gh'; printf ' [%s]' "$@"; echo; } >> "$REHEARSAL/gh"
for argument; do case $argument in *body.md) cat "$argument" >> "$REHEARSAL/body";; esac; done
"""
SUDO: Final = """\
#!/bin/sh
# Stands for sudo on a bench host, which lets the runner do these two things alone.
[ $# = 4 ] && [ "$1 $2 $3" = "--non-interactive /usr/local/sbin/tlsbench host" ] || exit 1
case $4 in tune|reset) echo "$4" >> "$REHEARSAL/sudo";; *) exit 1;; esac
"""
CARGO: Final = f"""\
#!/bin/sh
# Stands for cargo: what `make libraries` builds was built before the rehearsal and is lent.
case $* in
  "build --release --locked --workspace" | *" --bin tlsbench") exit 0 ;;
  *"--manifest-path "*/build/matrix/*) exec '{shutil.which("cargo")}' "$@" ;;
esac
echo "cargo: found $*, expected the build of make libraries, or of a fork" >&2
exit 1
"""
FORK: Final = "https://example.org/owner/rustls"


class RehearsalError(Exception):
    """A step that would fail on the day."""


def filled(text: object, values: Mapping[str, str]) -> str:
    """The text with the values of its expressions; an unknown one is an error."""

    def value(match: re.Match[str]) -> str:
        expression = match.group(1).strip()
        if expression not in values:
            raise RehearsalError(f"no value is known for the expression {expression}")
        return values[expression]

    return re.sub(r"\$\{\{(.*?)\}\}", value, str(text))


@dataclass
class Stage:
    """The folder with GitHub's stand-ins, and the values of expressions."""

    folder: Path
    workflow: Workflow
    programs: Path
    values: dict[str, str] = field(
        default_factory=lambda: {
            "inputs.suite || 'standard'": SUITE,
            "inputs.versions": "",
            "inputs.source": "",
            "inputs.revision": "",
            "vars.BENCH_SOURCES": "",
            "matrix.host": HOST,
            "github.token": "rehearsed",
        }
    )

    @property
    def origin(self) -> Path:
        return self.folder / "origin.git"

    def said(self, program: str) -> str:
        """The arguments of a stand-in so far."""
        path = self.folder / program
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def fill(self, text: object) -> str:
        return filled(text, self.values)

    def environment(self, *tables: Mapping[str, str]) -> dict[str, str]:
        """That of a step: this program's, the stand-ins first in PATH, then each table's."""
        environment = {
            **os.environ,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "REHEARSAL": str(self.folder),
            # The clones' own sources, though the lent .venv was installed from this checkout.
            "PYTHONPATH": "tools/src",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.file://{self.folder / 'fork'}.insteadOf",
            "GIT_CONFIG_VALUE_0": FORK,
        }
        for table in tables:
            environment |= {name: self.fill(value) for name, value in table.items()}
        return environment


def set_stage(folder: Path, programs: Path) -> Stage:
    """Makes the bare repository, whose main branch has one commit, and the stand-ins."""
    stage = Stage(folder, read_workflow(ROOT / ".github" / "workflows" / "bench.yml"), programs)
    write_state(state := folder / "state")
    run(["git", "init", "--quiet", "--initial-branch=main"], cwd=state)
    commit(state, state / "bench" / "suites" / f"{SUITE}.toml", SHORT, everything=True)
    run(["git", "clone", "--quiet", "--bare", str(state), str(stage.origin)])
    (folder / "bin").mkdir()
    for name, text in (("gh", GH), ("sudo", SUDO), ("cargo", CARGO)):
        path = folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)
    return stage


def write_state(state: Path) -> None:
    """Writes the files of this checkout to a folder, with the site of the made-up project."""
    paths = [str(ROOT / "tools" / part) for part in ("src", "tests")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    run([sys.executable, "-c", MADE_UP, str(state)], env=environment)
    listed = run(["git", "ls-files", "--cached", "--others", "--exclude-standard"]).splitlines()
    for name in ["data/libraries.toml", *(it for it in listed if not it.startswith(COMMITTED))]:
        if (ROOT / name).is_file() or (ROOT / name).is_symlink():
            (state / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, state / name, follow_symlinks=False)


def play(stage: Stage, job: Job, name: str | None = None, busy_from: str | None = None) -> Path:
    """Runs the steps of a job in a clone of its own, which it returns.

    As on GitHub, nothing but `always()` runs after a step that failed; then raises RehearsalError.
    With `busy_from`, the machine is busy from the step of that name on.
    """
    clone = stage.folder / (name or job.id)
    failure: str | None = None
    with ExitStack() as host:
        for step in job.steps:
            if failure and step.condition != "always()":
                continue
            if step.condition not in (None, "always()"):
                raise RehearsalError(
                    f"{step.name}: the rehearsal does not know if: {step.condition}"
                )
            started = time.monotonic()
            if step.name == busy_from:
                host.enter_context(busy())
            try:
                if step.run is None:
                    act(stage, step, clone, job)
                else:
                    environment = stage.environment(stage.workflow.env, job.env, step.env)
                    command = ["bash", "-e", "-o", "pipefail", "-c", step.run]
                    print(run(command, cwd=clone, env=environment), end="")
            except RehearsalError as error:
                failure = f"{job.id}: {step.name}: {error}"
            print(f"--- {job.id}: {step.name}: {time.monotonic() - started:.1f} s", flush=True)
    if failure:
        raise RehearsalError(failure)
    return clone


def act(stage: Stage, step: Step, clone: Path, job: Job) -> None:
    """The stand-in for an action of a job."""
    artifacts = stage.folder / "artifacts"
    match step.action:
        case "actions/checkout":
            run(["git", "clone", "--quiet", "--depth=1", f"file://{stage.origin}", str(clone)])
            lend(clone, stage.programs if job.self_hosted else None)
        case "actions/upload-artifact":
            target = artifacts / stage.fill(step.inputs["name"])
            shutil.copytree(clone / step.inputs["path"], target)
        case "actions/download-artifact":
            source = artifacts / stage.fill(step.inputs["name"])
            shutil.copytree(source, clone / step.inputs["path"], dirs_exist_ok=True)
        case action if action not in SET_UPS:
            raise RehearsalError(f"the rehearsal does not know the action {action}")


def lend(clone: Path, programs: Path | None) -> None:
    """Gives a clone what is built and installed here, and lets make see that it is up to date."""
    for name in LENT:
        if (ROOT / name).exists():
            (clone / name).symlink_to(ROOT / name)
    exclude = clone / ".git" / "info" / "exclude"
    exclude.write_text("".join(f"/{name}\n" for name in LENT))
    if programs:
        (ROOT / COMPILED).mkdir(parents=True, exist_ok=True)
        (clone / COMPILED).parent.mkdir(parents=True)
        (clone / COMPILED).symlink_to(ROOT / COMPILED)
        (clone / PROGRAMS).mkdir(parents=True)
        for path in programs.glob("tls*"):
            if not path.suffix and path.is_file():
                shutil.copy2(path, clone / PROGRAMS)
    # Older than the marks in .venv and node_modules, or make would install them from the clone.
    for path in (*(clone / "tools").glob("requirements*.txt"), clone / "tools" / "pyproject.toml"):
        os.utime(path, (0, 0))
    os.utime(clone / "package-lock.json", (0, 0))


def run(
    command: list[str],
    cwd: Path = ROOT,
    env: Mapping[str, str] | None = None,
) -> str:
    """The output of a command; RehearsalError with it where the command fails."""
    result = subprocess.run(
        command, cwd=cwd, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    if result.returncode != 0:
        raise RehearsalError(
            f"{' '.join(command)}: exit code {result.returncode}\n{result.stdout.rstrip()}"
        )
    return result.stdout


def expect(condition: object, message: str) -> None:
    if not condition:
        raise RehearsalError(message)
    print(f"ok: {message}", flush=True)


def rehearse(folder: Path, programs: Path, more: bool = False) -> None:
    """The play, with an unfit host and a fork if wanted; RehearsalError where it goes otherwise."""
    stage = set_stage(folder, programs)
    jobs = stage.workflow.jobs
    play(stage, jobs["measure"])
    expect(stage.said("sudo") == "tune\nreset\n", "the host is tuned once and reset once")
    clone = play(stage, jobs["draft"])
    report = (clone / "build" / "draft" / "report").read_text().strip()
    branch = f"bench/{report}"
    page = clone / REPORT_ON_SITE / report / "index.html"
    expect(page.exists(), f"the site has the report {report}")
    expect(not status(clone), "the checkout is clean after the commit")

    clone = play(stage, jobs["propose"])
    expect(not status(clone), "the checkout is clean after the pull request")
    changed = run(["git", "diff", "--name-only", "main", branch], cwd=stage.origin).splitlines()
    expect(
        {f"data/runs/{report}/run.toml", f"content/perf/{report}/page.json"} <= {*changed},
        "the branch has the run and its report",
    )
    check_branch(stage, branch)
    called = stage.said("gh")
    expect(
        f"[pr] [create] [--base] [main] [--head] [{branch}]" in called, "a pull request is opened"
    )
    expect(f"[workflow] [run] [ci.yml] [--ref] [{branch}]" in called, "ci.yml is started on it")
    body = stage.said("body")
    expect("| picture |" in body, "the pull request shows ratios")
    expect("arning" in body, "the pull request names warnings")

    if more:
        refuse_unfit_host(stage)
        measure_fork(stage)


def check_branch(stage: Stage, branch: str) -> None:
    """What ci.yml checks of generated files and of data, on the commit of the pull request."""
    clone = stage.folder / "checked"
    origin = f"file://{stage.origin}"
    run(["git", "clone", "--quiet", "--depth=1", "--branch", branch, origin, str(clone)])
    lend(clone, None)
    environment = stage.environment()
    for check in (["render", "--check"], ["validate"]):
        run([".venv/bin/tlsperf", *check], cwd=clone, env=environment)
        expect(True, f"tlsperf {' '.join(check)} passes on the branch")


def refuse_unfit_host(stage: Stage) -> None:
    """A host check that fails stops before measuring, and the host is reset all the same."""
    (stage.folder / "sudo").unlink()
    try:
        play(stage, stage.workflow.jobs["measure"], "unfit", busy_from="Check the host")
    except RehearsalError as error:
        print(error)
        expect("measure: Check the host" in str(error), "an unfit host is refused")
    else:
        raise RehearsalError("an unfit host was measured")
    expect(not (stage.folder / "unfit" / "build" / "run").exists(), "nothing was measured on it")
    expect(stage.said("sudo") == "reset\n", "it is reset without having been tuned")
    expect(not status(stage.folder / "unfit"), "the checkout is clean after that")


def measure_fork(stage: Stage) -> None:
    """With `source` and `revision`, a fork that an administrator lists is measured."""
    revision = fork_of_rustls(stage.folder / "fork")
    stage.values |= {
        "inputs.source": f"rustls={FORK}",
        "inputs.revision": revision,
    }
    artifact = stage.folder / "artifacts" / f"run-{HOST}"
    artifact.rename(artifact.with_name("published"))
    measure = stage.workflow.jobs["measure"]
    stage.values["vars.BENCH_SOURCES"] = f"openssl={FORK} rustls={FORK}"
    clone = play(stage, measure, "fork-measured")
    fetched = run(["git", "rev-parse", "HEAD"], cwd=clone / "build" / "source").strip()
    expect(fetched == revision, "the commit that was asked for is fetched")
    (archive,) = artifact.glob("*.tar.gz")
    reader = stage.folder / "reader"
    act(stage, measure.steps[0], reader, measure)
    tlsperf = [str(reader / ".venv" / "bin" / "tlsperf")]
    print(run([*tlsperf, "import", str(archive)], cwd=reader, env=stage.environment()))
    described = reader / "data" / "runs" / archive.name.removesuffix(".tar.gz") / "run.toml"
    measured = tomllib.loads(described.read_text(encoding="utf-8"))
    builds = [it["id"] for it in measured["implementations"] if it["library"] == "rustls"]
    expect(len(builds) == 2 and "local" in builds[1], "the fork is measured beside the release")
    expect(measured["suite"]["name"] == f"{SUITE}-part", "the run is no run of the suite")


def source_of(name: str) -> Path:
    """The folder of a package that is locked."""
    # Without the platform, cargo requires the packages of every other system too.
    platform = run(["rustc", "--print", "host-tuple"]).strip()
    command = ["cargo", "metadata", "--format-version=1", "--offline", "--locked"]
    command += ["--filter-platform", platform]
    metadata = json.loads(run([*command, "--manifest-path", str(ROOT / "bench" / "Cargo.toml")]))
    (package,) = (it for it in metadata["packages"] if it["name"] == name)
    return Path(package["manifest_path"]).parent


def fork_of_rustls(folder: Path) -> str:
    """Makes a repository with the rustls that is locked; returns its commit."""
    shutil.copytree(source_of("rustls"), folder / "rustls")
    run(["git", "init", "--quiet", str(folder)])
    run(["git", "add", "--all"], cwd=folder)
    commit(folder, folder / "README", "A fork.\n")
    return run(["git", "rev-parse", "HEAD"], cwd=folder).strip()


def commit(clone: Path, path: Path, text: str, everything: bool = False) -> None:
    """Adds a text to a file of the clone, as a commit; with all other files if that is wanted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(text)
    run(["git", "add", "--all" if everything else str(path)], cwd=clone)
    identity = ["-c", "user.name=rehearsal", "-c", "user.email=rehearsal@example.org"]
    run(["git", *identity, "commit", "--quiet", "--message", "Another"], cwd=clone)


def status(clone: Path) -> str:
    """What git sees as changed or new in a clone."""
    return run(["git", "status", "--porcelain", "--untracked-files=all"], cwd=clone)


def at_rest() -> int:
    """Starts this program again with a /proc/stat that does not change."""
    name_space = ["unshare", "--mount"]
    if os.getuid() != 0:
        name_space.append("--map-root-user")
    script = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    with tempfile.NamedTemporaryFile() as file:
        file.write(Path(STAT).read_bytes())
        file.flush()
        again = [sys.executable, *sys.argv]
        command = [*name_space, "bash", "-c", script, "rehearsal", file.name, STAT, *again]
        return subprocess.run(command, env={**os.environ, STILL: file.name}).returncode


@contextmanager
def busy() -> Iterator[None]:
    """Keeps every processor busy for a while, so that /proc/stat shows it."""
    run(["umount", STAT])
    loops = [
        subprocess.Popen(["bash", "-c", "while :; do :; done"]) for _ in range(os.cpu_count() or 1)
    ]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        run(["mount", "--bind", os.environ[STILL], STAT])


def rehearsed(name: str, rehearsal: Callable[[Path], None]) -> int:
    """Plays a rehearsal in a scratch folder; the exit status."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        try:
            rehearsal(Path(folder))
        except RehearsalError as error:
            print(f"rehearsal: {error}", file=sys.stderr)
            return 1
    print(f"{name} went as written, in {time.monotonic() - started:.0f} s")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Rehearses bench.yml on this machine.")
    parser.add_argument("--all", action="store_true", help="play an unfit host and a fork too")
    add_programs(parser)
    arguments = parser.parse_args()
    if STILL not in os.environ:
        return at_rest()
    return rehearsed(
        "the rehearsal", lambda folder: rehearse(folder, arguments.programs, arguments.all)
    )


if __name__ == "__main__":
    raise SystemExit(main())
