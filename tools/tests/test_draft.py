"""A packed run becomes a draft report; a rejected run leaves no files."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from project import ROOT, RUN, files, write_run
from test_archive import Members, archive_of, packed
from tlsperf.contract.errors import UserError
from tlsperf.load.run import raw_bytes, read_whole_run
from tlsperf.publish import draft
from tlsperf.publish.draft import draft_report

FAILED_CHECK = """
[[checks]]
check = "governor"
status = "warn"
found = "powersave"

[[checks]]
check = "load"
status = "fail"
found = "9.00 over the last minute"
fix = "end what runs besides"
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with only a suite, a host and the site's name."""
    root = tmp_path / "checkout"
    (root / "bench" / "suites").mkdir(parents=True)
    for name in ("standard", "quick"):
        text = f'name = "{name}"\ninclude = [{{ file = "_main.toml", size = 16 }}, "_other.toml"]\n'
        (root / "bench" / "suites" / f"{name}.toml").write_text(text)
    for name in ("_main", "_other"):
        (root / "bench" / "suites" / f"{name}.toml").write_text(f"# {name}\n")
    shutil.copy(ROOT / "config.toml", root)
    hosts = root / "data" / "hosts"
    hosts.mkdir(parents=True)
    shutil.copy(ROOT / "data" / "schema" / "host.example.toml", hosts / "example-host.toml")
    return root


@pytest.fixture
def members(tmp_path: Path, checkout: Path) -> Members:
    """The fixture's run, as if measured with the checkout's suite."""
    manifest = write_run(tmp_path / "bench-host") / "run.toml"
    files = [checkout / "bench/suites" / f"{name}.toml" for name in ("standard", "_main", "_other")]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()
    text = manifest.read_text().replace(
        'family = "main"', f'family = "main"\nsha256 = "{digest}"', 1
    )
    manifest.write_text(text)
    return packed(manifest.parent)


def suite(checkout: Path, name: str = "standard") -> Path:
    return checkout / "bench" / "suites" / f"{name}.toml"


def test_a_packed_run_becomes_a_report_and_the_text_of_a_pull_request(
    tmp_path: Path, checkout: Path, members: Members
) -> None:
    for damaged in ("data/runs/2026-01-01-a/run.toml", "content/perf/2026-01-01-a/index.md"):
        (checkout / damaged).parent.mkdir(parents=True)
        (checkout / damaged).write_text("damaged")
    page = draft_report(checkout, archive_of(tmp_path, members), suite(checkout))
    assert page == checkout / "content" / "perf" / RUN / "index.md"
    run = checkout / "data" / "runs" / RUN
    assert (run / "run.toml").read_bytes() == members[f"{RUN}/run.toml"]
    for file in read_whole_run(run).files:
        assert raw_bytes(run, file) == members[f"{RUN}/{file.path}"]
    assert (page.parent / "page.json").exists()
    output = checkout / "build" / "draft"
    assert (output / "report").read_text() == f"{RUN}\n"
    assert (output / "title").read_text().startswith("Report: rustls 0.23.37 vs OpenSSL 3.6.1")
    body = (output / "body.md").read_text()
    assert "| picture |" in body
    assert "Made-up figures, as an example of the format." in body
    assert f"content/perf/{RUN}/index.md" in body
    assert [path.name for path in (checkout / "build").iterdir() if path.is_dir()] == ["draft"]


def replaced(old: str, new: str) -> Callable[[Members], Members]:
    def edit(members: Members) -> Members:
        name = f"{RUN}/run.toml"
        assert old.encode() in members[name]
        return {**members, name: members[name].replace(old.encode(), new.encode(), 1)}

    return edit


def refused(
    tmp_path: Path, checkout: Path, members: Members, expected: str, name: str = "standard"
) -> None:
    archive = archive_of(tmp_path, members)
    before = files(checkout)
    with pytest.raises(UserError, match=expected):
        draft_report(checkout, archive, suite(checkout, name))
    assert files(checkout) == before
    assert not [path for path in (checkout / "build").iterdir() if path.is_dir()]


def test_a_run_of_another_suite_is_rejected(
    tmp_path: Path, checkout: Path, members: Members
) -> None:
    expected = "found a run of the suite standard, expected quick"
    refused(tmp_path, checkout, members, expected, name="quick")


@pytest.mark.parametrize("name", ["standard", "_main", "_other"])
def test_a_suite_that_was_changed_since_is_rejected(
    tmp_path: Path, checkout: Path, members: Members, name: str
) -> None:
    with suite(checkout, name).open("a") as file:
        file.write("rounds = 1\n")
    refused(tmp_path, checkout, members, "it was changed")


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (replaced("complete = true", "complete = false"), "expected a complete one"),
        (
            replaced("\n[[implementations]]", FAILED_CHECK + "\n[[implementations]]"),
            r"not fit to measure .*: load \(9.00 over the last minute; end what runs besides\)$",
        ),
        (replaced("boringssl-30cd935", "boringssl-0"), "found figures of 'boringssl-30cd935'"),
        (replaced('host_id = "example-host"', 'host_id = "nobody"'), "found host_id 'nobody'"),
    ],
)
def test_a_run_that_is_not_to_be_published_is_rejected(
    tmp_path: Path,
    checkout: Path,
    members: Members,
    edit: Callable[[Members], Members],
    expected: str,
) -> None:
    refused(tmp_path, checkout, edit(members), expected)


def test_a_changed_archive_is_rejected(tmp_path: Path, checkout: Path, members: Members) -> None:
    archive = archive_of(tmp_path, members)
    content = bytearray(archive.read_bytes())
    content[len(content) // 2] ^= 1
    archive.write_bytes(content)
    before = files(checkout)
    with pytest.raises(UserError, match="expected an archive"):
        draft_report(checkout, archive, suite(checkout))
    assert files(checkout) == before


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"content/perf/{RUN}/index.md", "this report exists"),
        (f"data/runs/{RUN}/run.toml", "exists already"),
    ],
)
def test_a_report_or_run_that_exists_is_kept(
    tmp_path: Path, checkout: Path, members: Members, path: str, expected: str
) -> None:
    (checkout / path).parent.mkdir(parents=True)
    (checkout / path).write_text("of another")
    refused(tmp_path, checkout, members, expected)


def test_a_rendering_that_fails_leaves_neither_run_nor_report(
    tmp_path: Path, checkout: Path, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> int:
        raise UserError("no room")

    monkeypatch.setattr(draft, "render_reports", fail)
    refused(tmp_path, checkout, members, "no room")
