"""Plays action.yml on this machine: the workflow of docs/pull-requests.md on trees of rustls.

`python tools/automation/rehearse_action.py` runs the steps of that workflow and those of the
action, with the rustls that is locked as the base: once with a pull request that changes no code,
once with one that adds 2% of instructions and an allocation to each record that is sent; then the
action alone, with two prefixes of the OpenSSL that is locked. Stand-ins: a checkout is a clone, `sudo` writes
down its arguments, and tlsbench is built already. The builds of both trees and the counts are real, of
one scenario.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from built import RELEASE, ROOT
from rehearse import (
    RehearsalError,
    commit,
    expect,
    filled,
    fork_of_rustls,
    lend,
    rehearsed,
    run,
    source_of,
)
from workflows import Step, read_action, workflow_in

PAGE: Final = ROOT / "docs" / "pull-requests.md"
ONLY: Final = "transfer/1.3/*"
CALL: Final = "        self.write_seq += 1;\n        self.message_encrypter\n"
SLOW: Final = """
#[inline(never)]
fn slow_on_purpose(seed: u64) -> u64 {
    core::hint::black_box(alloc::vec![seed as u8; 64]);
    (0..256).fold(seed, |sum, step| core::hint::black_box(sum ^ step))
}
"""
"""256 steps of 6 instructions in each of 64 records a MiB: 2% of what a MiB takes."""

# The package has no legacy provider, and its programs and modules are not needed.
OPTIONS: Final = "no-shared no-tests no-docs no-legacy no-apps no-module --libdir=lib"
SSL_WRITE: Final = "    ret = ssl_write_internal(s, buf, (size_t)num, 0, &written);\n"
"""In `SSL_write`, and also in others."""

WRITES_DOWN: Final = """\
#!/bin/sh
# Writes down its arguments: the rehearsal installs nothing.
echo "${0##*/} $*" >> "$REHEARSAL/installed"
"""
CARGO: Final = f"""\
#!/bin/sh
# What `make tlsbench` builds was built before the rehearsal and is lent.
case $* in
  "build --release --locked --workspace --bin tlsbench") exit 0 ;;
esac
exec '{shutil.which("cargo")}' "$@"
"""


@dataclass(frozen=True)
class Played:
    """A rehearsed job: what it printed, whether it failed, and its summary."""

    printed: str
    failed: bool
    summary: str


@dataclass(frozen=True)
class Stage:
    """The folder of the play, with `action`, `library` (the repository of rustls) and `bin`."""

    folder: Path

    @property
    def library(self) -> Path:
        return self.folder / "library"

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"


def set_stage(folder: Path) -> Stage:
    """Clones the action at HEAD, and makes a repository of rustls with one commit."""
    stage = Stage(folder)
    action = folder / "action"
    run(["git", "clone", "--quiet", "--depth=1", f"file://{ROOT}", str(action)])
    lend(action, RELEASE)
    fork_of_rustls(stage.library)
    (folder / "bin").mkdir()
    for name, text in (("sudo", WRITES_DOWN), ("cargo", CARGO)):
        path = folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)
    return stage


def play(stage: Stage, **inputs: str) -> Played:
    """Runs the job of the page on the newest commit of the library, as its pull request.

    `inputs` are given to the action beside those of the page, or instead of them.
    """
    (job,) = workflow_in(PAGE).jobs.values()
    shutil.rmtree(stage.workspace, ignore_errors=True)
    stage.workspace.mkdir()
    summary = stage.folder / "summary"
    summary.write_text("")
    printed = ""
    for step in job.steps:
        started = time.monotonic()
        if step.action == "actions/checkout":
            place = stage.workspace / step.inputs["path"]
            depth = f"--depth={step.inputs['fetch-depth']}"
            run(["git", "clone", "--quiet", depth, f"file://{stage.library}", str(place)])
        elif step.run is not None:
            run(["bash", "-e", "-o", "pipefail", "-c", step.run], cwd=stage.workspace)
        else:
            given = {name: str(value) for name, value in step.inputs.items()} | inputs
            text, failed = play_action(stage, given)
            printed += text
        print(f"--- {step.name}: {time.monotonic() - started:.1f} s", flush=True)
    return Played(printed, failed, summary.read_text("utf-8"))


def play_action(stage: Stage, given: dict[str, str]) -> tuple[str, bool]:
    """Runs the steps of the action; its output, and whether one failed."""
    folder = stage.folder / "action"
    action = read_action(folder / "action.yml")
    expect(action.required <= given.keys(), "the page gives all inputs that are required")
    values = {f"inputs.{name}": value for name, value in {**action.inputs, **given}.items()}
    values |= {"github.action_path": str(folder)}
    printed = ""
    for step in action.steps:
        if step.run is None:
            raise RehearsalError(f"the rehearsal does not know {step.uses}")
        result = shell(stage, step, values)
        printed += result.stdout
        print(result.stdout, end="", flush=True)
        if result.returncode != 0:
            return printed, True
        output = (stage.folder / "output").read_text("utf-8")
        for name, value in re.findall(r"^(\w+)=(.*)$", output, re.M):
            values[f"steps.{step.id}.outputs.{name}"] = value
    return printed, False


def shell(stage: Stage, step: Step, values: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Runs a shell step as the runner does."""
    output = stage.folder / "output"
    output.write_text("")
    environment = {
        **os.environ,
        "PATH": f"{stage.folder / 'bin'}:{os.environ['PATH']}",
        "REHEARSAL": str(stage.folder),
        "GITHUB_WORKSPACE": str(stage.workspace),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(stage.folder / "summary"),
    }
    environment |= {name: filled(value, values) for name, value in step.env.items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", step.run or ""],
        cwd=stage.workspace,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def refuse_wrong_inputs(stage: Stage) -> None:
    """What a workflow gets wrong ends in a message, and is never a command."""
    mark = stage.folder / "pwned"
    for inputs, said in (
        ({"library": f"$(touch {mark})"}, "library: found $(touch"),
        ({"base": f"; touch {mark}"}, "found no folder ; touch"),
        ({"only": f"`touch {mark}`"}, "no scenario of the suite"),
        ({"bound": f"1%;touch${{IFS}}{mark}"}, "invalid value '1%;touch"),
        ({"bound": "0.1%"}, "'0.1%' for '--bound <PERCENT>': expected at least 0.2%"),
    ):
        played = play(stage, **inputs)
        expect(played.failed and said in played.printed, f"refused: {inputs}")
        expect(not mark.exists(), "it is no command")


def install_openssl(stage: Stage) -> None:
    """Two prefixes in the workspace: `head` allocates once more in each `SSL_write`."""
    source = stage.folder / "openssl"
    shutil.copytree(source_of("openssl-src") / "openssl", source)
    base, head = (stage.workspace / name for name in ("openssl-base", "openssl-head"))
    make = ["make", "--silent", "--jobs=2"]
    run(["./Configure", *OPTIONS.split(), f"--prefix={base}"], cwd=source)
    run(make, cwd=source)
    run([*make, "install_sw"], cwd=source)
    path = source / "ssl" / "ssl_lib.c"
    before, name, after = path.read_text("utf-8").partition("\nint SSL_write(")
    expect(SSL_WRITE in after, "OpenSSL is as the rehearsal knows it")
    slow = "    OPENSSL_free(OPENSSL_malloc(4096));\n" + SSL_WRITE
    path.write_text(before + name + after.replace(SSL_WRITE, slow, 1), encoding="utf-8")
    run(make, cwd=source)
    run([*make, "install_sw", f"INSTALLTOP={head}", f"prefix={head}"], cwd=source)


def rehearse(folder: Path) -> None:
    """The whole play; RehearsalError where it does not go as written."""
    stage = set_stage(folder)
    commit(stage.library, stage.library / "README", "A change of words.\n")
    refuse_wrong_inputs(stage)

    played = play(stage, only=ONLY)
    expect(not played.failed, "a pull request that changes no code passes")
    print(played.summary)
    expect("**Of 2 rows, B takes more: nothing;" in played.summary, "its summary says so")
    installed = (folder / "installed").read_text("utf-8")
    expect("--no-install-recommends valgrind\n" in installed, "Valgrind is asked for")

    # The same base again, so that it is not built again.
    run(["git", "reset", "--quiet", "--hard", "HEAD~1"], cwd=stage.library)
    source = stage.library / "rustls" / "src" / "record_layer.rs"
    text = source.read_text("utf-8")
    expect(text.count(CALL) == 1, "rustls is as the rehearsal knows it")
    slow = CALL.replace(
        "self.message", "core::hint::black_box(slow_on_purpose(seq));\n        self.message"
    )
    source.write_text(text.replace(CALL, slow), encoding="utf-8")
    commit(stage.library, source, SLOW)
    played = play(stage, only=ONLY)
    expect(played.failed, "a pull request that takes 2% more instructions fails")
    print(played.summary)
    said = "more: instructions in 1, without cryptography in 1, allocations in 1;"
    expect(said in played.summary, "its summary says so")
    row = re.search(r"sending \(MiB\) \| [\d,]+ \| more \+(\d\.\d\d)%", played.summary)
    expect(row and 1.5 < float(row[1]) < 2.5, "it is sending that takes 2% more")
    first = re.search(r"\| function .*\n\|.*\n\| `(.*?)` \|", played.summary)
    expect(
        first and first[1] == "rustls::record_layer::slow_on_purpose", "the function comes first"
    )

    install_openssl(stage)
    (stage.folder / "summary").write_text("")
    inputs = {"library": "openssl", "base": "openssl-base", "head": "openssl-head", "only": ONLY}
    _, failed = play_action(stage, inputs)
    summary = (stage.folder / "summary").read_text("utf-8")
    print(summary)
    expect(failed, "a prefix whose SSL_write allocates once more fails")
    row = re.search(r"sending \(MiB\).*\| 192 \| more \+8\.33% ", summary)
    expect(row, "the 16 allocations more of a MiB are in the table")


def main() -> int:
    return rehearsed("the rehearsal of the action", rehearse)


if __name__ == "__main__":
    sys.exit(main())
