"""Ctrl-C ends a command without a traceback, a remaining process or a partial file."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from project import files
from tlsperf.publish.files import replace_file
from tlsperf.publish.processes import _interrupts_held_back

TLSPERF = Path(sys.executable).with_name("tlsperf")
SECONDS, PATIENCE = 60, 15
PROCESSES = 2 + min(os.cpu_count() or 1, 2)
"""The command, the resource tracker of Python, and one for each processor."""


def of_session(session: int) -> set[int]:
    """The running processes of a session."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of, *_ = path.read_text().rpartition(") ")[2].split()
        except OSError:
            continue  # the process has ended
        if int(of) == session and state != "Z":
            found.add(int(path.parent.name))
    return found


@pytest.fixture
def site(project: Path, tmp_path: Path) -> Path:
    """The made-up project without its charts, which a rendering would write again."""
    drawn = shutil.ignore_patterns("*.svg")
    return Path(shutil.copytree(project, tmp_path / "site", ignore=drawn))


@pytest.mark.parametrize("reports", [0, 1], ids=["as it starts", "when it has written a report"])
def test_an_interrupted_rendering_prints_no_traceback_and_leaves_no_process(
    site: Path, project: Path, reports: int
) -> None:
    before = files(site)
    command = subprocess.Popen(
        # Background processes of a shell ignore the signal, and so do their children.
        ["env", "--default-signal=INT", TLSPERF, "render"],
        cwd=site,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until = time.monotonic() + SECONDS
        while len(of_session(command.pid)) < PROCESSES:
            assert command.poll() is None, "it ended before other processes worked"
            assert time.monotonic() < until
            time.sleep(0.01)
        assert command.stdout
        for _ in range(reports):
            assert " written" in command.stdout.readline()
        os.killpg(command.pid, signal.SIGINT)  # to the whole group, as a terminal does
        try:
            _, errors = command.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:  # C code of a library may swallow one: press again
            os.killpg(command.pid, signal.SIGINT)
            _, errors = command.communicate(timeout=SECONDS)
        assert command.returncode == 130, errors
        said = "interrupted: the reports written so far stay; the same command goes on"
        assert errors == f"tlsperf: {said}\n"
        while of_session(command.pid):  # the resource tracker ends a moment later
            assert time.monotonic() < until, "a process is left"
            time.sleep(0.01)
        after, whole = files(site), files(project)
        assert before.items() <= after.items() < whole.items(), "a file is partial"
        assert (len(after) > len(before)) is (reports > 0)
    finally:
        for process in of_session(command.pid):
            os.kill(process, signal.SIGKILL)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Enables the signal, which background processes of a shell ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_signal_that_another_thread_takes_waits_for_a_process_to_start() -> None:
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)  # like numpy's, blocks no signal
    went_on = []

    def starting() -> None:
        with _interrupts_held_back():
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            went_on.append(True)

    other.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            starting()
    finally:
        ended.set()
        other.join()
    assert went_on
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "results.json"
    replace_file(path, b"old")
    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, b"new")
    assert [p.name for p in tmp_path.iterdir()] == ["results.json"]
    assert path.read_bytes() == b"old"
